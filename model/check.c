/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler's invariants, looked at from outside between two points, when every M stands still.
 * What Go allows for a moment (a G known to one M only, a slot not published yet, a P in a local
 * variable) is allowed here by name, nothing else.
 *
 * They hold under weak memory models too: a_peek outside of any M sees the memory as it is when
 * every store has arrived. Each shared word is written by one M, or under one lock, or by
 * read-modify-writes, so its stores have one order, and each M stores in the order of its program.
 *
 *   status     every G has a legal one; the scan bit only where it may be
 *   queue      a runnable G is in one queue, or in limbo with one M, or in a slot about to be
 *              published; what is queued is runnable
 *   idle       idle Ps have no G and no M, idle Ms have neither P nor G; counts and masks agree
 *              when sched.lock is free
 *   wired      an M's P points back, unless one of the two is being taken apart
 *   conserved  with everybody asleep or computing, no G waits beside an idle P that nobody is about
 *              to use
 *   polling    ... heaps of timers are what they say of themselves, and nobody sleeps in the poller
 *              beyond a timer or without those who wait for the network */
#include "check.h"
#include "checkpoll.h"
#include "checkwait.h"
#include "gstatus.h"
#include "runq.h"
#include "rwmutex.h"

static const char *check_status(void)
{
    const uint32_t may_scan = 1u << Grunnable | 1u << Grunning | 1u << Gsyscall | 1u << Gwaiting |
                              1u << Gpreempted | 1u << Gleaked | 1u << Gdeadextra;
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
        uint32_t s = a_peek(&gp->atomicstatus), base = s & ~(uint32_t)Gscan;
        if (base == 5 || base == 7 || base > Gdeadextra)
            return check_says("a G has a status that does not exist", gp, NULL, NULL);
        if ((base == Gleaked && !prof->leaked_status) ||
            (base == Gdeadextra && !gdeadextra_exists()))
            return check_says("a G has a status of a later release", gp, NULL, NULL);
        if ((s & Gscan) != 0 && (may_scan >> base & 1) == 0)
            return check_says("a G has the scan bit where none may be", gp, NULL, NULL);
    }
    return NULL;
}

static bool is_runnable(struct g *gp)
{
    return (a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan) == Grunnable;
}

/* One place in which a G was found. A second one, or a G that is not runnable, is wrong. */
static const char *seen(struct g *gp)
{
    if (!is_runnable(gp))
        return check_says("a queued G is not runnable", gp, NULL, NULL);
    if (gp->check_seen)
        return check_says("a G is in two queues", gp, NULL, NULL);
    gp->check_seen = true;
    return NULL;
}

static const char *seen_ring(struct p *pp)
{
    uint32_t h = a_peek(&pp->runqhead), t = a_peek(&pp->runqtail);
    if (t - h > runq_cap(pp))
        return check_says("a ring holds more than its length", NULL, pp, NULL);
    for (uint32_t i = h; i != t; i++) {
        const char *bad = seen(a_peek(runq_slot(pp, i)));
        if (bad != NULL)
            return bad;
    }
    struct g *next = a_peek(&pp->runnext);
    return next != NULL ? seen(next) : NULL;
}

static const char *seen_list(struct g *gp)
{
    for (; gp != NULL; gp = gp->schedlink) {
        const char *bad = seen(gp);
        if (bad != NULL)
            return bad;
    }
    return NULL;
}

/* Written behind a tail and not published yet: runqput, runqputbatch and runqsteal between two
 * stores. */
static bool in_unpublished_slot(const struct g *gp)
{
    for (int32_t id = 0; id < rt->allp_len; id++) {
        struct p *pp = rt->allp[id];
        uint32_t h = a_peek(&pp->runqhead), t = a_peek(&pp->runqtail);
        for (uint32_t i = t; i != h + runq_cap(pp); i++)
            if (a_peek(runq_slot(pp, i)) == gp)
                return true;
    }
    return false;
}

static bool sched_locked(void)
{
    return prof->spinbit ? (a_peek(&sched->lock.word) & 1) != 0 : a_peek(&sched->lock.key) != 0;
}

static const char *check_queues(void)
{
    const char *bad = NULL;
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->check_seen = false;
    for (int32_t id = 0; bad == NULL && id < rt->allp_len; id++)
        bad = seen_ring(rt->allp[id]);
    if (bad == NULL && !sched_locked())
        bad = seen_list(sched->runq.head);
    if (bad == NULL && !sched_locked())
        bad = seen_list(sched->disabled.head);
    for (struct g *gp = rt->allgs; bad == NULL && gp != NULL; gp = gp->alllink)
        if (is_runnable(gp) && !gp->check_seen && gp->owner == 0 && !sched_locked() &&
            !in_unpublished_slot(gp))
            bad = check_says("a runnable G is nowhere", gp, NULL, NULL);
    return bad;
}

static bool in_idle_mask(int32_t id)
{
    return (a_peek(&rt->idlepMask[id / 32]) >> (id % 32) & 1) != 0;
}

static const char *check_idle_ps(void)
{
    int32_t n = 0, bits = 0;
    for (struct p *pp = a_peek(&sched->pidle); pp != NULL; pp = pp->link, n++) {
        if (a_peek(&pp->status) != Pidle || a_peek(&pp->m) != NULL)
            return check_says("a P on the idle list is not idle", NULL, pp, NULL);
        if (a_peek(&pp->runqhead) != a_peek(&pp->runqtail) || a_peek(&pp->runnext) != NULL)
            return check_says("an idle P has Gs", NULL, pp, NULL);
        if (prof->masks && !in_idle_mask(pp->id))
            return check_says("an idle P is not in the idle mask", NULL, pp, NULL);
    }
    if (n != a_peek(&sched->npidle))
        return check_says("npidle is not the length of the idle list", NULL, NULL, NULL);
    for (int32_t id = 0; prof->masks && id < rt->allp_len; id++)
        bits += in_idle_mask(id);
    if (prof->masks && bits != n) /* who is on the list has its bit */
        return check_says("the idle mask has a P that is not idle", NULL, NULL, NULL);
    return NULL;
}

/* An M on the list sleeps or is on its way there; only one that sleeps has done its last unlock. */
static const char *check_idle_ms(void)
{
    int32_t n = 0;
    for (struct m *mp = sched->midle; mp != NULL; mp = mp->idle_next, n++) {
        if (a_peek(&mp->p) != NULL || a_peek(&mp->curg) != NULL || mp->spinning ||
            mp->lockedg != NULL || mp->nextp != NULL)
            return check_says("an idle M is not idle", NULL, NULL, mp);
        if (mp->blocked && mp->locks != 0)
            return check_says("an idle M sleeps with locks", NULL, NULL, mp);
    }
    if (n != sched->nmidle)
        return check_says("nmidle is not the length of the idle list", NULL, NULL, NULL);
    return NULL;
}

/* Whoever holds sched.lock may be in the middle of changing the lists. */
static const char *check_idle(void)
{
    if (a_peek(&sched->nmspinning) < 0)
        return check_says("nmspinning is negative", NULL, NULL, NULL);
    const char *bad = check_idle_ps();
    return bad != NULL ? bad : check_idle_ms();
}

/* A running G's M has a P that runs. Since 1.26 a G may be running for a moment before it has one,
 * or after that was given away; who stops the world marks its own P, and may change it next. */
static const char *check_running(struct g *gp, bool quiet)
{
    struct m *mp = a_peek(&gp->m);
    if (mp == NULL)
        return check_says("a running G has no M", gp, NULL, NULL);
    if (a_peek(&mp->curg) != gp)
        return check_says("a running G is not what its M runs", gp, NULL, mp);
    if (a_peek(&sched->gcwaiting) != 0 || (prof->sys_block_on_exit && !quiet))
        return NULL;
    struct p *pp = a_peek(&mp->p);
    if (pp == NULL || a_peek(&pp->m) != mp)
        return check_says("a running G's M has no P", gp, pp, mp);
    if (a_peek(&pp->status) != Prunning)
        return check_says("a running G's P does not run", gp, pp, mp);
    return NULL;
}

/* wirep stores m.p first, releasep clears it first; entersyscall and who takes its P clear p.m. */
static const char *check_wired(bool quiet)
{
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink) {
        struct p *pp = a_peek(&mp->p);
        struct m *back = pp != NULL ? a_peek(&pp->m) : mp;
        if (back != mp && back != NULL)
            return check_says("two Ms have the same P", NULL, pp, mp);
    }
    const char *bad = NULL;
    for (struct g *gp = rt->allgs; bad == NULL && gp != NULL; gp = gp->alllink)
        if ((a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan) == Grunning)
            bad = check_running(gp, quiet);
    return bad;
}

/* ---- a quiet world: every M is asleep or computing, so nobody is between two steps ---- */

/* How many places have pp: an M, the idle list, nextp, a stop, a system call. One is right. */
static int places_of(struct p *pp)
{
    uint32_t status = a_peek(&pp->status);
    bool stopping = a_peek(&sched->gcwaiting) != 0, idle = false;
    int given = 0, wired = 0;
    for (struct p *at = a_peek(&sched->pidle); at != NULL; at = at->link)
        idle |= at == pp;
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink) {
        given += mp->nextp == pp;
        wired += a_peek(&mp->p) == pp && a_peek(&pp->m) == mp;
    }
    bool held = wired == 1 && (status == Prunning || (status == Pgcstop && stopping));
    bool stopped = wired == 0 && status == Pgcstop && stopping;
    bool calling = wired == 0 && status == Psyscall && !prof->sys_block_on_exit;
    return held + stopped + calling + (idle && status == Pidle) + (given > 0 && status == Pidle) +
           (given > 1);
}

static const char *check_partition(void)
{
    for (int32_t id = 0; id < rt->allp_len; id++)
        if (places_of(rt->allp[id]) != 1)
            return check_says("everybody rests and a P is in no place or in two", NULL,
                              rt->allp[id], a_peek(&rt->allp[id]->m));
    return NULL;
}

/* nmspinning counts the Ms that spin; it differs only between two steps of one M. A thread that
 * starts spinning is not at rest before it does. */
static const char *check_spinning(void)
{
    int32_t n = 0;
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink) {
        n += mp->spinning;
        if (mp->spinning && a_peek(&mp->p) == NULL && mp->nextp == NULL)
            return check_says("a spinning M has no P", NULL, NULL, mp);
    }
    if (n != a_peek(&sched->nmspinning))
        return check_says("nmspinning is not the number of spinning Ms", NULL, NULL, NULL);
    return NULL;
}

/* An M that spins, was given a P and wakes up, or starts: it will look. */
static bool somebody_looks(void)
{
    if (a_peek(&sched->needspinning) != 0)
        return true;
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink) {
        struct p *pp = a_peek(&mp->p);
        if (mp->spinning || mp->nextp != NULL)
            return true;
        if (pp != NULL && a_peek(&mp->curg) == NULL && mp != rt->m0)
            return true; /* in the scheduler, with a P */
    }
    return false;
}

/* The Gs that one M alone knows: that M has to be on its way with them, so a still world has none.
 */
static const char *check_limbo(void)
{
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (is_runnable(gp) && !gp->check_seen)
            return check_says("everybody rests and a runnable G is in no queue", gp, NULL, NULL);
    return NULL;
}

/* Nobody is on the way to look. Up to 1.21 Gosched put a G on the global queue and woke nobody. */
static const char *check_conserved(void)
{
    if (a_peek(&sched->pidle) == NULL || a_peek(&sched->gcwaiting) != 0 || somebody_looks())
        return NULL;
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        if (!gp->unannounced)
            return check_says("work conservation: a G is in the global queue and a P is idle", gp,
                              a_peek(&sched->pidle), NULL);
    for (int32_t id = 0; id < rt->allp_len; id++) {
        struct p *pp = rt->allp[id];
        if (a_peek(&pp->runqhead) != a_peek(&pp->runqtail))
            return check_says("work conservation: a G is in a ring, a P is idle and nobody looks",
                              NULL, pp, NULL);
    }
    return NULL;
}

/* An M counts who locked its G to it. m0, whose G ended locked, waits for ever. */
static const char *check_locked(void)
{
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink)
        if (mp != rt->m0 && (mp->lockedExt != 0 || mp->lockedInt != 0) != (mp->lockedg != NULL))
            return check_says("an M is locked by nobody, or to nobody", mp->lockedg, NULL, mp);
    return NULL;
}

/* GODEBUG=gcstoptheworld: while the collector works nobody else does. */
static const char *check_disabled(void)
{
    if (prof->gcstoptheworld == 0 || !a_peek(&sched->disable_user))
        return NULL;
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (a_peek(&gp->atomicstatus) == Grunning && !isSystemGoroutine(gp))
            return check_says("a goroutine runs that may not", gp, NULL, a_peek(&gp->m));
    return NULL;
}

static const char *check_quiet(void)
{
    const char *bad = check_limbo();
    if (bad == NULL)
        bad = check_locked();
    if (bad == NULL)
        bad = check_disabled();
    if (bad == NULL)
        bad = check_partition();
    if (bad == NULL)
        bad = check_spinning();
    if (bad == NULL)
        bad = check_waiting();
    if (bad == NULL)
        bad = check_conserved();
    if (bad == NULL)
        bad = check_polling();
    return bad;
}

/* What is wrong with the world, or NULL. quiet: every M is asleep or in user code. Before main
 * starts there is not much of a world. */
static const char *world_check(bool quiet)
{
    if (!rt->mainStarted)
        return NULL;
    const char *bad = check_status();
    if (bad == NULL)
        bad = check_queues();
    if (bad == NULL && !sched_locked())
        bad = check_idle();
    if (bad == NULL)
        bad = check_wired(quiet);
    if (bad == NULL && quiet && !sched_locked() && !exec_is_held())
        bad = check_quiet();
    return bad;
}
