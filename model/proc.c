/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of an M without work: schedule picks the next G, findRunnable knows where to look and
 * when to give up. The steps that comments number are findRunnable's seventeen, in Go's order. */
#include "proc.h"
#include "globrunq.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "netpoll.h"
#include "oslock.h"
#include "park.h"
#include "pidle.h"
#include "runq.h"
#include "spin.h"
#include "steal.h"
#include "stw.h"
#include "trace.h"
#include "turn.h"

struct found {
    struct g *gp;
    bool inherit; /* shares the slice of the G before it */
    bool tryWake; /* a system G: somebody else should go on looking */
};

/* proc.go execute. curg is set first: a request to preempt that comes before preempt is cleared is
 * wiped with it and does not hit another G. */
static inline void execute(struct g *gp, bool inheritTime)
{
    struct m *mp = getm();
    work(execute);
    a_store_rlx(&mp->curg, gp);
    a_store_rlx(&gp->m, mp);
    casgstatus(gp, Grunnable, Grunning);
    runq_disown(gp);
    int64_t now = record_begin();
    ev_g_start_at(now, rec_g(gp), (uint64_t)(now - gp->runnable_at), inheritTime);
    gp->waitsince = 0;
    gp->unannounced = false;
    a_store_rlx(&gp->preempt, false);
    a_store_rlx(&gp->stackguard0, GUARD_NORMAL);
    mp->counters[C_switches]++;
    mp->since = now;
    if (inheritTime)
        mp->counters[C_inherit]++;
    else
        tick(&mp_p(mp)->schedtick);
    if (a_peek(&rt->trace.on))
        trace_events(mp, 2); /* what ran here stopped, this one starts */
}

/* Takes a G whose only way out of waiting is this M's hand. */
static void claim_waiting(struct g *gp)
{
    casgstatus(gp, Gwaiting, Grunnable);
    made_runnable(gp);
    ev_g_ready(rec_g(gp), rec_g(NULL), EV_place_kept);
}

/* Step 5: every 61st tick the global queue goes first, or two Gs that respawn each other would
 * starve it. */
static inline struct g *fair_look(struct m *mp, struct p *pp)
{
    if (a_own(&pp->schedtick) % (uint32_t)prof->fair_period != 0 || turn_on() ||
        globrunq_looks_empty())
        return NULL;
    mp->counters[C_fair_looks]++;
    lock(&sched->lock);
    struct g *gp = globrunqget_one();
    unlock(&sched->lock);
    if (gp != NULL)
        mp->counters[C_fair_hits]++;
    return gp;
}

/* Step 8. */
static struct g *globrunq_look(struct p *pp)
{
    if (globrunq_looks_empty())
        return NULL;
    struct gQueue rest = {0};
    lock(&sched->lock);
    struct g *gp = globrunqgetbatch(pp, &rest);
    unlock(&sched->lock);
    globrunq_put_rest(pp, &rest);
    return gp;
}

/* The head of a poll result runs at once, the others are injected. */
static struct g *take_polled(struct gList *list, int32_t delta)
{
    struct g *gp = gList_pop(list);
    injectglist(list);
    netpollAdjustWaiters(delta);
    claim_waiting(gp);
    return gp;
}

/* Step 9: a look at the network before stealing. An optimisation only: one who blocks in netpoll
 * will see it too. */
static struct g *netpoll_look(void)
{
    if (!netpollinited() || !netpollAnyWaiters() || a_load(&sched->lastpoll) == 0)
        return NULL;
    if (prof->polling_net && a_xchg(&sched->pollingNet, 1) != 0)
        return NULL;
    struct gList list = {0};
    int32_t delta = netpoll(0, &list);
    if (prof->polling_net)
        a_store(&sched->pollingNet, 0);
    return gList_empty(&list) ? NULL : take_polled(&list, delta);
}

static bool all_others_idle(void)
{
    int32_t procs = a_load_rlx(&rt->gomaxprocs);
    return a_load(&sched->npidle) == procs - 1;
}

/* Step 10's gate: at most half of the busy Ps' number of Ms spins. Three loads, not atomic
 * together. */
static bool may_spin(struct m *mp)
{
    if (prof->steal_gives_up && all_others_idle())
        return false; /* 1.13: also if it spins already */
    if (mp->spinning)
        return true;
    int32_t spinning = a_load(&sched->nmspinning);
    int32_t procs = a_load_rlx(&rt->gomaxprocs);
    int32_t idle = a_load(&sched->npidle);
    return 2 * spinning < procs - idle;
}

/* What the checks before the local queue found (steps 1-6). <=1.18 has them in schedule, and
 * findrunnable has fewer. */
enum look { LOOK_ON, LOOK_AGAIN, LOOK_FOUND };

static inline bool stop_or_safepoint(struct p *pp)
{
    if (a_load(&sched->gcwaiting) != 0) {
        gcstopm();
        return true;
    }
    if (a_load_rlx(&pp->runSafePointFn) != 0)
        runSafePointFn();
    return false;
}

/* Step 3: nobody readies the reader of a trace. */
static COLD bool trace_look(struct found *f)
{
    f->gp = traceReader();
    if (f->gp == NULL)
        return false;
    claim_waiting(f->gp);
    f->tryWake = true;
    return true;
}

static inline bool system_look(struct m *mp, struct p *pp, int64_t *now, struct found *f)
{
    if (trace_active() && trace_look(f))
        return true;
    if (gc_blacken()) {
        f->gp = gc_findRunnableWorker(pp, now);
        if (f->gp != NULL) {
            f->tryWake = true;
            return true;
        }
    }
    f->gp = fair_look(mp, pp);
    return f->gp != NULL;
}

static inline enum look local_look(struct m *mp, struct p *pp, bool whole, struct timer_check *tc,
                                   struct found *f)
{
    if (stop_or_safepoint(pp))
        return LOOK_AGAIN;
    tc->now = 0;
    timers_check(pp, tc);
    if (whole && system_look(mp, pp, &tc->now, f))
        return LOOK_FOUND;
    if (rt->fin != NULL && (prof->checks_in_findrunnable || !whole))
        fin_look();
    f->gp = turn_on() ? turn_take(pp) : runqget(pp, &f->inherit);
    return f->gp != NULL ? LOOK_FOUND : LOOK_ON;
}

/* Step 15: an M that stops spinning looks once more at everything a submitter may have left,
 * because between the looks above and the decrement nobody would have been woken. Work without a P
 * to run it with ends the search: whoever has the Ps will look. Up to 1.16 an M that did not spin
 * looks as well, and goes on not spinning. */
static bool recheck(struct m *mp, struct p **allp, int32_t n, bool wasSpinning, struct found *f,
                    bool *again)
{
    if (prof->grq_recheck) {
        lock(&sched->lock);
        if (sched->runq.size != 0) {
            struct p *pp = pidlegetSpinning(0);
            if (pp != NULL) {
                struct gQueue rest = {0};
                f->gp = globrunqgetbatch(pp, &rest);
                unlock(&sched->lock);
                acquirep(pp);
                globrunq_put_rest(pp, &rest);
                becomeSpinning(mp);
                return true;
            }
        }
        unlock(&sched->lock);
    }
    struct p *pp = checkRunqsNoP(allp, n);
    if (pp != NULL) {
        acquirep(pp);
        if (wasSpinning)
            becomeSpinning(mp);
        *again = true;
        return true;
    }
    f->gp = gc_checkIdleNoP(&pp);
    if (f->gp != NULL) {
        acquirep(pp);
        if (wasSpinning)
            becomeSpinning(mp);
        claim_waiting(f->gp);
        return true;
    }
    return false;
}

/* After a blocking poll: a P for what came; since 1.14 also if nothing did, as it may have been a
 * timer's time. True: *f or *again is set; false: nothing to do but sleep. */
static bool polled_with_p(struct m *mp, int64_t now, struct gList *list, int32_t delta,
                          bool wasSpinning, struct found *f, bool *again)
{
    if (!prof->per_p_timers && gList_empty(list))
        return false;
    lock(&sched->lock);
    struct p *pp = pidleget(now);
    unlock(&sched->lock);
    if (pp == NULL) {
        injectglist(list);
        netpollAdjustWaiters(delta);
        return false;
    }
    acquirep(pp);
    if (!gList_empty(list)) {
        f->gp = take_polled(list, delta);
        return true;
    }
    if (wasSpinning)
        becomeSpinning(mp);
    *again = true;
    return true;
}

/* Is there anything to wait for in the poller? */
static bool polls(int64_t pollUntil)
{
    if (!netpollinited())
        return !prof->polls_when_inited;
    return netpollAnyWaiters() || pollUntil != 0;
}

/* Step 16: one M sleeps in the poller, until the earliest timer of any P. lastpoll == 0 says that
 * somebody does. */
static bool poll_until(struct m *mp, int64_t now, int64_t pollUntil, bool wasSpinning,
                       struct found *f, bool *again)
{
    if (!polls(pollUntil) || a_xchg(&sched->lastpoll, 0) == 0) {
        if (pollUntil != 0 && netpollinited()) {
            int64_t until = a_load(&sched->pollUntil);
            if (until == 0 || until > pollUntil)
                netpollBreak();
        }
        return false;
    }
    a_store(&sched->pollUntil, pollUntil);
    int64_t delay = -1;
    if (now == 0 && (prof->lastpoll_stale || pollUntil != 0))
        now = nanotime();
    if (pollUntil != 0)
        delay = pollUntil > now ? pollUntil - now : 0;
    mp->counters[C_netpoll_blocks]++;
    ev_netpoll_block(delay);
    struct gList list = {0};
    int32_t delta = netpoll(delay, &list);
    if (!prof->lastpoll_stale)
        now = nanotime();
    a_store(&sched->pollUntil, 0);
    a_store(&sched->lastpoll, now);
    return polled_with_p(mp, now, &list, delta, wasSpinning, f, again);
}

/* Step 14: gives up the P, unless there is work after all. */
static enum look give_up_p(struct m *mp, struct p *pp, int64_t *now, struct found *f)
{
    lock(&sched->lock);
    if (a_load(&sched->gcwaiting) != 0 || a_load_rlx(&pp->runSafePointFn) != 0) {
        unlock(&sched->lock);
        return LOOK_AGAIN;
    }
    if (sched->runq.size != 0) {
        struct gQueue rest = {0};
        f->gp = globrunqgetbatch(pp, &rest);
        unlock(&sched->lock);
        globrunq_put_rest(pp, &rest);
        return LOOK_FOUND;
    }
    if (prof->needspinning && !mp->spinning && a_load(&sched->needspinning) == 1) {
        becomeSpinning(mp); /* somebody has work and found no P: we were about to let one go */
        unlock(&sched->lock);
        return LOOK_AGAIN;
    }
    if (releasep() != pp)
        throw("findRunnable: wrong p");
    *now = pidleput(pp, *now);
    unlock(&sched->lock);
    return LOOK_ON;
}

/* Steps 14 to 17. LOOK_AGAIN: the M has a P again. */
static OUTLINE enum look idle(struct m *mp, struct p *pp, int64_t now, int64_t pollUntil,
                              struct found *f)
{
    struct p **allp = rt->allp;
    int32_t n = a_load_rlx(&rt->gomaxprocs);
    enum look l = give_up_p(mp, pp, &now, f);
    if (l != LOOK_ON)
        return l;
    bool wasSpinning = mp->spinning, again = false;
    if (wasSpinning) {
        mp->spinning = false;
        nmspinning_dec();
        spun(mp, /*found*/ false);
    }
    bool look = wasSpinning || !prof->recheck_only_if_spinning;
    if (look && recheck(mp, allp, n, wasSpinning, f, &again))
        return again ? LOOK_AGAIN : LOOK_FOUND;
    if (prof->masks && look)
        pollUntil = checkTimersNoP(allp, n, pollUntil);
    if (poll_until(mp, now, pollUntil, wasSpinning, f, &again))
        return again ? LOOK_AGAIN : LOOK_FOUND;
    stopm();
    return LOOK_AGAIN;
}

/* Steps 8 to 11: beyond the own P, still holding it. */
static OUTLINE enum look far_look(struct m *mp, struct p *pp, struct timer_check *tc,
                                  struct found *f)
{
    f->gp = globrunq_look(pp);
    if (f->gp == NULL)
        f->gp = netpoll_look();
    if (f->gp != NULL)
        return LOOK_FOUND;
    if (may_spin(mp)) {
        if (!mp->spinning)
            becomeSpinning(mp);
        struct steal_result r = stealWork(tc->now);
        f->gp = r.gp;
        f->inherit = r.inherit;
        if (r.gp != NULL)
            return LOOK_FOUND;
        if (r.newWork)
            return LOOK_AGAIN;
        tc->now = r.now;
        if (r.pollUntil != 0 && (tc->pollUntil == 0 || r.pollUntil < tc->pollUntil))
            tc->pollUntil = r.pollUntil;
    }
    if (gc_blacken()) {
        f->gp = gc_idleWorker(pp);
        if (f->gp != NULL) {
            claim_waiting(f->gp);
            return LOOK_FOUND;
        }
    }
    return LOOK_ON;
}

/* proc.go findRunnable. Blocks until there is a G; the M's P may be another one afterwards. */
static inline struct found findRunnable(void)
{
    struct m *mp = getm();
    /* <=1.18: schedule looked at everything, findrunnable then starts with fewer checks and repeats
     * those only. */
    bool whole = true;
    for (;;) {
        struct found f = {0};
        struct timer_check tc;
        struct p *pp = a_own(&mp->p);
        work(findrunnable);
        enum look l = local_look(mp, pp, whole, &tc, &f);
        if (l == LOOK_ON && whole && !prof->checks_in_findrunnable) {
            whole = false;
            continue;
        }
        if (l == LOOK_ON)
            l = far_look(mp, pp, &tc, &f);
        if (l == LOOK_ON)
            l = idle(mp, pp, tc.now, tc.pollUntil, &f);
        if (l == LOOK_FOUND)
            return f;
    }
}

/* proc.go pollWork: is there anything to do for a P whose GC worker is idle-priority? */
static bool pollWork(void)
{
    if (!globrunq_looks_empty())
        return true;
    struct p *pp = a_own(&getm()->p);
    if (!runqempty(pp))
        return true;
    if (!netpollinited() || !netpollAnyWaiters() || a_load(&sched->lastpoll) == 0)
        return false;
    struct gList list = {0};
    int32_t delta = netpoll(0, &list);
    bool any = !gList_empty(&list);
    injectglist(&list);
    netpollAdjustWaiters(delta);
    return any;
}

/* ---- goroutines of the program may be forbidden to run (GODEBUG=gcstoptheworld) ---- */

/* proc.go schedEnabled. Whoever runs finalizers is not one of the runtime's here. */
static bool schedEnabled(const struct g *gp)
{
    return prof->gcstoptheworld == 0 || !a_load_rlx(&sched->disable_user) ||
           gp->system == SYSTEM_ALWAYS;
}

/* schedule's part: keeps one back that may not run. */
static bool sched_keep_back(struct g *gp)
{
    if (schedEnabled(gp))
        return false;
    lock(&sched->lock);
    bool kept = !schedEnabled(gp);
    if (kept) {
        gQueue_pushBack(&sched->disabled, gp);
        runq_disown(gp);
    }
    unlock(&sched->lock);
    return kept;
}

/* proc.go schedEnableUser. The world is stopped. */
static void schedEnableUser(bool enable)
{
    if (prof->gcstoptheworld == 0)
        return;
    lock(&sched->lock);
    bool change = a_load_rlx(&sched->disable_user) == enable;
    a_store_rlx(&sched->disable_user, !enable);
    int32_t n = change && enable ? sched->disabled.size : 0;
    if (n > 0)
        globrunqputbatch(&sched->disabled);
    unlock(&sched->lock);
    for (; n > 0 && a_load(&sched->npidle) != 0; n--)
        startm(NULL, /*spinning*/ false, /*lockheld*/ false);
}

/* proc.go schedule. Returns when m.curg is set and running: the M's loop then does what gogo does.
 */
static void schedule(void)
{
    struct m *mp = getm();
    mp->counters[C_schedules]++;
    if (mp->locks != 0)
        throw("schedule: holding locks");
    if (mp->lockedg != NULL) {
        stoplockedm();
        execute(mp->lockedg, /*inheritTime*/ false);
        return;
    }
    if (mp->incgo)
        throw("schedule: in cgo");
    for (;;) {
        struct p *pp = a_own(&mp->p);
        work(schedule);
        a_store_rlx(&pp->preempt, false);
        if (mp->spinning) {
            struct g *next = a_own(&pp->runnext);
            uint32_t h = a_own(&pp->runqhead);
            if (next != NULL || h != a_own(&pp->runqtail))
                throw("schedule: spinning with local work");
        }
        struct found f = findRunnable();
        if (prof->gcworker_preassign)
            gc_releaseNextWorker(a_own(&mp->p));
        if (mp->spinning)
            resetspinning(mp);
        if (sched_keep_back(f.gp))
            continue;
        if (f.tryWake)
            wakep();
        if (a_load_rlx(&f.gp->lockedm) != NULL) {
            startlockedm(f.gp); /* gives our P to the locked M and sleeps */
            continue;
        }
        execute(f.gp, f.inherit);
        return;
    }
}
