/* SPDX-License-Identifier: BSD-3-Clause */
/* Parking, readying, yielding: how a running G gives up its M, and how somebody else makes it
 * runnable again.
 *
 * A parker has already linked itself on a wait queue and still holds that queue's lock. The lock is
 * dropped by unlockf, on g0, after the status is Gwaiting and after dropg: a waker, who needs the
 * lock, never sees a half parked G. */
#include "park.h"
#include "globrunq.h"
#include "firsttouch.h"
#include "gstatus.h"
#include "lock.h"
#include "proc.h"
#include "runq.h"
#include "spin.h"
#include "step.h"
#include "trace.h"

/* runtime1.go acquirem, releasem. m.locks != 0: not preemptible, and schedule() would be an error.
 */
static inline struct m *acquirem(void)
{
    struct m *mp = getm();
    mp->locks++;
    return mp;
}

/* newstack may have cleared the guard while locks was held; the request itself stays in g.preempt.
 */
static inline void repoison_guard(struct m *mp)
{
    if (mp->locks != 0)
        return;
    struct g *gp = a_own(&mp->curg); /* only this M writes it */
    if (gp != NULL && a_load_rlx(&gp->preempt))
        a_store_rlx(&gp->stackguard0, GUARD_PREEMPT);
}

static inline void releasem(struct m *mp)
{
    mp->locks--;
    repoison_guard(mp);
}

static enum opres mcall(mcall_fn fn)
{
    getm()->mcallfn = fn;
    return OP_MCALL;
}

/* proc.go dropg. Only after the status left running. */
static inline void dropg(struct m *mp)
{
    struct g *gp = a_own(&mp->curg);
    a_store_rlx(&gp->m, (struct m *)NULL);
    a_store_rlx(&mp->curg, (struct g *)NULL);
}

/* Who did it, for a record: the G that runs on this M; nobody while it is on g0. */
static ev_g rec_curg(struct m *mp)
{
    const struct g *gp = a_own(&mp->curg);
    return rec_g(gp);
}

/* Where runqput puts what is to run next. */
static inline enum ev_place next_place(void)
{
    return prof->no_sysmon_no_runnext && prof->sysmon == 0 ? EV_place_ring : EV_place_runnext;
}

/* proc.go park_m. */
static void park_m(struct g *gp)
{
    struct m *mp = getm();
    casgstatus(gp, Grunning, Gwaiting);
    mp->counters[C_parks]++;
    int64_t now = record_begin_after(0);
    gp->waitsince = now;
    ev_g_park_at(now, rec_g(gp), gp->pc, (enum ev_wait)gp->waitreason);
    dropg(mp);
    unlockf_fn unlockf = mp->waitunlockf;
    if (unlockf != NULL) {
        void *lock = mp->waitlock;
        mp->waitunlockf = NULL;
        mp->waitlock = NULL;
        if (!unlockf(gp, lock)) {
            casgstatus(gp, Gwaiting, Grunnable);
            made_runnable(gp);
            ev_g_ready(rec_g(gp), rec_g(NULL), EV_place_kept);
            execute(gp, /*inheritTime*/ true); /* never on a queue */
            return;
        }
    }
    schedule();
}

/* proc.go gopark. */
static inline enum opres gopark(struct g *gp, unlockf_fn unlockf, void *lockp,
                                enum waitreason reason)
{
    struct m *mp = acquirem();
    mp->waitunlockf = unlockf;
    mp->waitlock = lockp;
    gp->waitreason = (uint8_t)reason;
    releasem(mp);
    return mcall(park_m);
}

static bool parkunlock_c(struct g *gp, void *lockp)
{
    (void)gp;
    unlock(lockp);
    return true;
}

static enum opres goparkunlock(struct g *gp, struct mutex *l, enum waitreason reason)
{
    return gopark(gp, parkunlock_c, l, reason);
}

/* proc.go ready. */
static inline void ready(struct g *gp, bool next)
{
    struct m *mp = acquirem();
    uint32_t status = readgstatus(gp);
    if ((status & ~(uint32_t)Gscan) != Gwaiting)
        throw("ready: bad g->status");
    casgstatus(gp, Gwaiting, Grunnable);
    runq_own(gp);
    mp->counters[C_readies]++;
    int64_t now = record_begin_after(gp->waitsince);
    gp->runnable_at = now;
    ev_g_ready_at(now, rec_g(gp), rec_curg(mp), next ? next_place() : EV_place_ring);
    if (a_peek(&rt->trace.on))
        trace_events(mp, 1);
    runqput(a_own(&mp->p), gp, next);
    wakep();
    releasem(mp);
}

static inline void goready(struct g *gp) { ready(gp, /*next*/ true); }

static inline void made_runnable(struct g *gp)
{
    runq_own(gp);
    gp->runnable_at = record_now();
}

/* The record of a G that gave its M up and can run: preempted, or by Gosched. */
static void put_back(int64_t now, const struct g *gp, const struct m *mp, bool preempted,
                     enum ev_place place)
{
    if (preempted)
        ev_g_preempt_at(now, rec_g(gp), (uint64_t)(record_now() - mp->since), EV_preempt_slice,
                        place);
    else
        ev_g_gosched_at(now, rec_g(gp), place);
}

/* proc.go goschedImpl. preempted: by the slice or by a stop of the world, not by Gosched. */
static void goschedImpl(struct g *gp, bool preempted)
{
    struct m *mp = getm();
    struct p *pp = a_own(&mp->p);
    casgstatus(gp, Grunning, Grunnable);
    runq_own(gp);
    int64_t now = record_begin_after(0);
    gp->runnable_at = now;
    dropg(mp);
    bool first = prof->stw_runnext && preempted && a_load(&sched->gcwaiting) != 0;
    put_back(now, gp, mp, preempted, first ? next_place() : EV_place_global);
    if (first) {
        runqput(pp, gp, /*next*/ true); /* first on its P when the world starts again */
    } else {
        gp->unannounced = !prof->gosched_wakep;
        lock(&sched->lock);
        globrunqput(gp);
        unlock(&sched->lock);
    }
    if (prof->gosched_wakep && rt->mainStarted)
        wakep();
    schedule();
}

static void gosched_m(struct g *gp) { goschedImpl(gp, /*preempted*/ false); }
static enum opres gosched(struct g *gp)
{
    (void)gp;
    return mcall(gosched_m);
}

static void gopreempt_m(struct g *gp)
{
    getm()->counters[C_preempted]++;
    goschedImpl(gp, /*preempted*/ true);
}

/* proc.go goschedIfBusy (1.20+): background work yields only when every P is busy. */
static enum opres goschedIfBusy(struct g *gp)
{
    if (prof->goschedifbusy && !a_load_rlx(&gp->preempt) && a_load(&sched->npidle) > 0)
        return OP_DONE;
    return gosched(gp);
}

/* proc.go goyield_m: to the tail of the own ring, without wakep. */
static void goyield_m(struct g *gp)
{
    struct m *mp = getm();
    struct p *pp = a_own(&mp->p);
    casgstatus(gp, Grunning, Grunnable);
    made_runnable(gp);
    ev_g_preempt(rec_g(gp), (uint64_t)(record_now() - mp->since), EV_preempt_handoff,
                 EV_place_ring);
    dropg(mp);
    runqput(pp, gp, /*next*/ false);
    schedule();
}

static enum opres goyield(struct g *gp)
{
    (void)gp;
    return mcall(goyield_m);
}

/* In runs, as Go's lie in spans of their size: what is not shared between Ms stays together, and
 * the virtual host keeps nothing of its lines. A run is an eighth of those before it, so a small
 * world stays small. */
static COLD struct sudog *new_sudog(struct p *pp)
{
    if (pp->nsudogspan == 0) {
        pp->nsudogspan = 1 + pp->sudogs_made / 8;
        pp->sudogspan = host_alloc(pp->nsudogspan * sizeof(struct sudog), _Alignof(struct sudog));
    }
    pp->nsudogspan--;
    pp->sudogs_made++;
    return pp->sudogspan++;
}

/* Half of what the P's cache may hold, from the central list. */
static COLD void sudogs_refill(struct p *pp)
{
    lock(&sched->sudoglock);
    while (pp->nsudog < (int32_t)prof->sudog_cap / 2 && sched->sudogcache != NULL) {
        struct sudog *s = sched->sudogcache;
        sched->sudogcache = s->next;
        s->next = pp->sudogcache;
        pp->sudogcache = s;
        pp->nsudog++;
    }
    unlock(&sched->sudoglock);
}

/* proc.go acquireSudog. */
static inline struct sudog *acquireSudog(void)
{
    struct m *mp = acquirem();
    struct p *pp = a_own(&mp->p);
    first_wait(a_own(&mp->curg), pp);
    if (pp->sudogcache == NULL)
        sudogs_refill(pp);
    struct sudog *s = pp->sudogcache;
    if (s == NULL) {
        s = new_sudog(pp);
    } else {
        pp->sudogcache = s->next;
        pp->nsudog--;
    }
    s->next = NULL;
    releasem(mp);
    return s;
}

/* A full cache moves half of itself to the central list. */
static COLD void sudogs_spill(struct p *pp)
{
    lock(&sched->sudoglock);
    while (pp->nsudog > (int32_t)prof->sudog_cap / 2) {
        struct sudog *down = pp->sudogcache;
        pp->sudogcache = down->next;
        pp->nsudog--;
        down->next = sched->sudogcache;
        sched->sudogcache = down;
    }
    unlock(&sched->sudoglock);
}

/* proc.go releaseSudog. */
static inline void releaseSudog(struct sudog *s)
{
    struct m *mp = acquirem();
    struct p *pp = a_own(&mp->p);
    *s = (struct sudog){0};
    if (pp->nsudog >= (int32_t)prof->sudog_cap)
        sudogs_spill(pp);
    s->next = pp->sudogcache;
    pp->sudogcache = s;
    pp->nsudog++;
    releasem(mp);
}
