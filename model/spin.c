/* SPDX-License-Identifier: BSD-3-Clause */
/* Spinning and waking: how work that became runnable finds an M, without waking more threads than
 * needed.
 *
 * A spinning M has no work and looks for some; sched.nmspinning counts them. Who makes a G runnable
 * calls wakep, which starts an M only if nobody spins. An M that stops spinning must look once more
 * after the decrement:
 *
 *   submitter: put G on a queue;  load nmspinning        finder: nmspinning -= 1;  load the queues
 *
 * One of the two sees the other's write (both sequentially consistent): no G is left behind. */
#include "spin.h"
#include "globrunq.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "netpoll.h"
#include "park.h"
#include "pidle.h"
#include "runq.h"
#include "stw.h"
#include "trace.h"

static inline void nmspinning_dec(void)
{
    if (a_add(&sched->nmspinning, -1) < 0)
        throw("negative nmspinning");
}

/* proc.go becomeSpinning. */
static void becomeSpinning(struct m *mp)
{
    mp->spinning = true;
    a_add(&sched->nmspinning, 1);
    if (prof->needspinning)
        a_store(&sched->needspinning, 0);
    mp->counters[C_spins]++;
    mp->since = record_now();
    ev_m_spin_begin();
}

/* proc.go wakep, 1.20+: takes the P first, under the lock; without one it leaves word in
 * needspinning. */
static void wakep_locked(void)
{
    if (a_load(&sched->nmspinning) != 0 || !a_cas(&sched->nmspinning, 0, 1))
        return;
    struct m *mp = acquirem();
    lock(&sched->lock);
    struct p *pp = pidlegetSpinning(0);
    if (pp == NULL) {
        nmspinning_dec();
        unlock(&sched->lock);
        releasem(mp);
        return;
    }
    unlock(&sched->lock);
    mp->counters[C_wakeps_started]++;
    startm(pp, /*spinning*/ true, /*lockheld*/ false);
    releasem(mp);
}

/* proc.go wakep. Up to 1.19 startm looks for the P; in 1.13 and 1.14 the callers tested npidle and
 * nmspinning. */
static void wakep(void)
{
    getm()->counters[C_wakeps]++;
    if (prof->wakep_locked) {
        wakep_locked();
        return;
    }
    if (a_load(&sched->npidle) == 0)
        return;
    if (a_load(&sched->nmspinning) != 0 || !a_cas(&sched->nmspinning, 0, 1))
        return;
    getm()->counters[C_wakeps_started]++;
    startm(NULL, /*spinning*/ true, /*lockheld*/ false);
}

/* The record that an M's spinning ended, with or without work. */
static void spun(const struct m *mp, bool found)
{
    ev_m_spin_end((uint64_t)(record_now() - mp->since), found);
}

/* proc.go resetspinning: the M found work; somebody else should look on. */
static void resetspinning(struct m *mp)
{
    if (!mp->spinning)
        throw("resetspinning: not a spinning m");
    mp->spinning = false;
    int32_t left = a_add(&sched->nmspinning, -1);
    if (left < 0)
        throw("findrunnable: negative nmspinning");
    spun(mp, /*found*/ true);
    if (prof->resetspinning_always || left == 0)
        wakep();
}

/* proc.go wakeNetPoller: somebody must know of a timer earlier than what the poller sleeps for. */
static void wakeNetPoller(int64_t when)
{
    if (a_load(&sched->lastpoll) == 0) {
        int64_t until = a_load(&sched->pollUntil);
        if (until == 0 || until > when)
            netpollBreak();
    } else if (prof->wake_poller_wakep) {
        wakep();
    }
}

enum handoff { HANDOFF_DONE, HANDOFF_START, HANDOFF_IDLE };

/* handoffp under sched.lock: nobody took the P yet. */
static enum handoff handoffp_locked(struct p *pp)
{
    if (a_load(&sched->gcwaiting) != 0) {
        gcstop_p(pp);
        return HANDOFF_DONE;
    }
    if (a_load_rlx(&pp->runSafePointFn) != 0 && a_cas(&pp->runSafePointFn, 1, 0))
        safepoint_done(pp);
    if (sched->runq.size != 0)
        return HANDOFF_START;
    if (a_load(&sched->npidle) == a_load_rlx(&rt->gomaxprocs) - 1 && a_load(&sched->lastpoll) != 0)
        return HANDOFF_START; /* the last P, and nobody polls the network */
    return HANDOFF_IDLE;
}

/* handoffp: the timers of a P that goes idle. when: the earliest, 0 if there is none. */
static void tell_poller(int64_t when)
{
    if (when != 0)
        wakeNetPoller(when);
}

/* proc.go handoffp: finds a use for a P that its M had to leave. Works without a P. */
static void handoffp(struct p *pp)
{
    getm()->counters[C_handoffs]++;
    ev_p_handoff(rec_p(pp));
    if (!runqempty(pp) || !globrunq_looks_empty()) {
        startm(pp, /*spinning*/ false, /*lockheld*/ false);
        return;
    }
    if (prof->trace_reader_handoff && trace_active() && traceReaderAvailable() != NULL) {
        startm(pp, /*spinning*/ false, /*lockheld*/ false);
        return;
    }
    if (gc_blacken() && gc_shouldScheduleWorker(pp)) {
        startm(pp, /*spinning*/ false, /*lockheld*/ false);
        return;
    }
    int32_t lookers = a_load(&sched->nmspinning);
    lookers += a_load(&sched->npidle);
    if (lookers == 0 && a_cas(&sched->nmspinning, 0, 1)) {
        if (prof->needspinning)
            a_store(&sched->needspinning, 0);
        startm(pp, /*spinning*/ true, /*lockheld*/ false);
        return;
    }
    bool early = !prof->wake_poller_wakep; /* wakep wants the lock */
    lock(&sched->lock);
    enum handoff what = handoffp_locked(pp);
    int64_t when = 0;
    if (what == HANDOFF_IDLE) {
        when = timers_wakeTime(pp); /* the P may be gone once it is on the list */
        if (early)
            tell_poller(when);
        (void)pidleput(pp, 0);
    }
    unlock(&sched->lock);
    if (what == HANDOFF_START)
        startm(pp, /*spinning*/ false, /*lockheld*/ false);
    else if (!early)
        tell_poller(when);
}

/* injectglist's startIdle: n Ms, not spinning, each with a P. Before 1.20.6 the P was in nobody's
 * hands that checkdead knows of until startm had the lock again. */
static void startIdle(int32_t n)
{
    for (; n > 0; n--) {
        if (!prof->wakep_locked) {
            if (a_load(&sched->npidle) == 0)
                return;
            startm(NULL, /*spinning*/ false, /*lockheld*/ false);
            continue;
        }
        struct m *mp = acquirem();
        lock(&sched->lock);
        struct p *pp = pidlegetSpinning(0);
        if (pp == NULL) {
            unlock(&sched->lock);
            releasem(mp);
            return;
        }
        if (!prof->startidle_locked)
            unlock(&sched->lock);
        startm(pp, /*spinning*/ false, prof->startidle_locked);
        if (prof->startidle_locked)
            unlock(&sched->lock);
        releasem(mp);
    }
}

static void put_global(struct gQueue *q)
{
    lock(&sched->lock);
    globrunqputbatch(q);
    unlock(&sched->lock);
}

/* The records of injected Gs, made before anybody else can see these. */
static void injected(const struct gQueue *q, enum ev_place place)
{
    for (const struct g *gp = q->head; gp != NULL; gp = gp->schedlink)
        ev_g_ready(rec_g(gp), rec_g(NULL), place);
}

static void inject_global(struct gQueue *q)
{
    injected(q, EV_place_global);
    put_global(q);
}

/* proc.go injectglist: a list of waiting Gs becomes runnable, as many on the global queue as there
 * are idle Ps to take them. */
static void injectglist(struct gList *list)
{
    if (gList_empty(list))
        return;
    struct m *mp = getm();
    struct gQueue q = gList_toQueue(list);
    for (struct g *gp = q.head; gp != NULL; gp = gp->schedlink) {
        casgstatus(gp, Gwaiting, Grunnable);
        made_runnable(gp);
    }
    ev_inject((uint32_t)q.size);
    struct p *pp = a_own(&mp->p);
    int32_t n = q.size;
    if (pp == NULL || !prof->injectglist_local) {
        inject_global(&q);
        startIdle(n);
        return;
    }
    int32_t npidle = a_load(&sched->npidle);
    struct gQueue global = {0};
    for (n = 0; n < npidle && !gQueue_empty(&q); n++)
        gQueue_pushBack(&global, gQueue_pop(&q));
    if (n > 0) {
        inject_global(&global);
        startIdle(n);
    }
    if (!gQueue_empty(&q)) {
        injected(&q, EV_place_ring);
        runqputbatch(pp, &q);
        if (!gQueue_empty(&q))
            put_global(&q);
    }
    if (prof->inject_wakep)
        wakep();
}
