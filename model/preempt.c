/* SPDX-License-Identifier: BSD-3-Clause */
/* Preemption: a request is a flag and a poisoned stack guard, noticed at the next function
 * prologue; since 1.14 also a signal, which takes the G off its M at almost any instruction. */
#include "preempt.h"
#include "gstatus.h"
#include "park.h"
#include "proc.h"
#include "step.h"

static bool async_preempt_on(void) { return prof->async_preempt && prof->async_preempt_off == 0; }

/* preempt.go canPreemptM. */
static bool canPreemptM(struct m *mp)
{
    if (mp->locks != 0 || mp->mallocing != 0 || mp->preemptoff != NULL)
        return false;
    struct p *pp = a_load_rlx(&mp->p);
    if (pp == NULL || a_load_rlx(&pp->status) != Prunning)
        return false;
    if (!prof->sys_block_on_exit)
        return true;
    struct g *gp = a_own(&mp->curg);
    return gp != NULL && (readgstatus(gp) & ~(uint32_t)Gscan) != Gsyscall;
}

/* signal_unix.go preemptM. At most one in flight per M. */
static void preemptM(struct m *mp)
{
    if (!a_cas(&mp->signalPending, 0, 1))
        return;
    getm()->counters[C_preempt_signals]++;
    ev_m_signal(rec_m(mp));
    signalm(&mp->host);
}

/* preempt.go wantAsyncPreempt. */
static bool wantAsyncPreempt(struct m *mp, struct g *gp)
{
    struct p *pp = a_load_rlx(&mp->p);
    if (!a_load_rlx(&gp->preempt) && (pp == NULL || !a_load_rlx(&pp->preempt)))
        return false;
    return (readgstatus(gp) & ~(uint32_t)Gscan) == Grunning;
}

/* signal_unix.go doSigPreempt, in the handler on the M that was interrupted. insafe stands for
 * isAsyncSafePoint's look at the PC: only the program's own code, and only where the scenario says
 * so. */
static void sighandler(void *arg)
{
    host_enter();
    struct m *mp = arg;
    struct g *gp = a_own(&mp->curg);
    if (gp != NULL && wantAsyncPreempt(mp, gp) && mp->insafe && canPreemptM(mp))
        mp->asyncinject = true; /* the burst ends and the G calls asyncPreempt2 */
    a_add(&mp->preemptGen, 1);
    a_store(&mp->signalPending, 0);
    host_leave();
}

/* proc.go preemptPark: for suspendG only; nobody owns the wake until the suspender takes it. */
static void preemptPark(struct g *gp)
{
    struct m *mp = getm();
    gp->waitreason = waitReasonPreempted;
    casGToPreemptScan(gp, Grunning, Gscan | Gpreempted);
    ev_g_park(rec_g(gp), gp->pc, EV_wait_Preempted);
    dropg(mp); /* with the scan bit held: the suspender must not see a half dropped G */
    casfrom_Gscanstatus(gp, Gscan | Gpreempted, Gpreempted);
    schedule();
}

/* preempt.go asyncPreempt2. */
static COLD enum opres asyncPreempt2(struct g *gp)
{
    getm()->asyncinject = false;
    return mcall(a_load_rlx(&gp->preemptStop) ? preemptPark : gopreempt_m);
}

/* stack.go newstack, as far as it is about preemption: the guard was poisoned. OP_DONE: the G goes
 * on. */
static COLD enum opres newstack(struct g *gp)
{
    struct m *mp = getm();
    if (!canPreemptM(mp)) {
        a_store_rlx(&gp->stackguard0, GUARD_NORMAL); /* releasem and unlock poison it again */
        return OP_DONE;
    }
    return mcall(a_load_rlx(&gp->preemptStop) ? preemptPark : gopreempt_m);
}

/* The prologue of a function that the runtime calls. */
static enum opres step_prologue(struct g *gp)
{
    return a_load_rlx(&gp->stackguard0) != GUARD_NORMAL ? newstack(gp) : OP_DONE;
}

static void preemptible(struct g *gp, enum step rest)
{
    push_step(gp, rest);
    push_step(gp, STEP_prologue);
}

/* proc.go preemptone. Best effort: the G may have stopped, or another one may run by now. */
static bool preemptone(struct p *pp)
{
    struct m *mp = a_load_rlx(&pp->m);
    if (mp == NULL || mp == getm())
        return false;
    struct g *gp = a_load_rlx(&mp->curg);
    if (gp == NULL)
        return false;
    if (prof->sys_block_on_exit && (readgstatus(gp) & ~(uint32_t)Gscan) == Gsyscall)
        return false;
    getm()->counters[C_preempt_requests]++;
    ev_g_preempt_request(rec_g(gp), rec_p(pp));
    a_store_rlx(&gp->preempt, true);
    a_store_rlx(&gp->stackguard0, GUARD_PREEMPT);
    nudge(&mp->host);
    if (async_preempt_on()) {
        a_store_rlx(&pp->preempt, true);
        preemptM(mp);
    }
    return true;
}

/* proc.go preemptall. */
static void preemptall(void)
{
    for (int32_t i = 0; i < rt->allp_len; i++) {
        struct p *pp = rt->allp[i];
        if (a_load_rlx(&pp->status) == Prunning)
            (void)preemptone(pp);
    }
}

/* What suspendG remembers of the last request, so that it does not signal an M twice for nothing.
 */
struct suspend_request {
    struct m *mp;
    uint32_t gen;
    int64_t next_signal;
};

static void suspend_running(struct g *gp, struct suspend_request *r)
{
    struct m *mp = a_load_rlx(&gp->m);
    if (a_load_rlx(&gp->preemptStop) && a_load_rlx(&gp->preempt) &&
        a_load(&gp->stackguard0) == GUARD_PREEMPT && r->mp == mp && mp != NULL &&
        a_load(&mp->preemptGen) == r->gen)
        return;
    if (!castogscanstatus(gp, Grunning, Gscan | Grunning))
        return;
    a_store_rlx(&gp->preemptStop, true);
    a_store_rlx(&gp->preempt, true);
    a_store(&gp->stackguard0, GUARD_PREEMPT);
    mp = a_load_rlx(&gp->m);
    uint32_t gen = a_load(&mp->preemptGen);
    bool async = r->mp != mp || r->gen != gen;
    r->mp = mp;
    r->gen = gen;
    casfrom_Gscanstatus(gp, Gscan | Grunning, Grunning);
    nudge(&mp->host);
    if (!async_preempt_on() || !async)
        return;
    int64_t now = nanotime();
    if (now < r->next_signal)
        return;
    r->next_signal = now + 5000;
    preemptM(mp);
}

/* One try. True: *s is the result. */
static bool suspend_try(struct g *gp, struct suspend_request *r, struct suspendGState *s)
{
    uint32_t status = readgstatus(gp);
    switch (status) {
    case Gdead:
    case Gdeadextra: s->dead = true; return true;
    case Gpreempted:
        if (!casGFromPreempted(gp, Gpreempted, Gwaiting))
            return false;
        s->stopped = true; /* we owe it a ready() */
        status = Gwaiting;
        break;
    case Grunnable:
    case Gsyscall:
    case Gwaiting:
    case Gleaked: break;
    case Grunning: suspend_running(gp, r); return false;
    case Gcopystack: return false;
    default:
        if ((status & Gscan) == 0)
            throw("suspendG: invalid g status");
        return false;
    }
    if (!castogscanstatus(gp, status, status | Gscan))
        return false;
    a_store_rlx(&gp->preemptStop, false);
    a_store_rlx(&gp->preempt, false);
    a_store_rlx(&gp->stackguard0, GUARD_NORMAL);
    s->gp = gp;
    return true;
}

/* preempt.go suspendG: brings gp to a safe point and holds its scan bit. Busy-waits; the caller
 * must itself be preemptible, or two that suspend each other would never end. */
static struct suspendGState suspendG(struct g *gp)
{
    struct g *self = a_own(&getm()->curg);
    if (self != NULL && readgstatus(self) == Grunning)
        throw("suspendG from non-preemptible goroutine");
    const int64_t yield_delay_ns = 10000;
    struct suspend_request r = {0};
    struct suspendGState s = {0};
    int64_t next_yield = 0;
    for (bool first = true; !suspend_try(gp, &r, &s); first = false) {
        int64_t now = nanotime();
        if (first)
            next_yield = now + yield_delay_ns;
        if (now < next_yield) {
            procyield(10);
        } else {
            osyield();
            next_yield = nanotime() + yield_delay_ns / 2;
        }
    }
    return s;
}

/* preempt.go resumeG. */
static void resumeG(struct suspendGState s)
{
    if (s.dead)
        return;
    uint32_t status = readgstatus(s.gp);
    casfrom_Gscanstatus(s.gp, status, status & ~(uint32_t)Gscan);
    if (s.stopped)
        ready(s.gp, /*next*/ true);
}
