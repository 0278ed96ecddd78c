/* SPDX-License-Identifier: BSD-3-Clause */
/* Debts. What somebody forgets to do hangs no world and breaks no structure: the monitor, or the
 * next one who comes by, makes it good. So it is looked for while it is owed, in a world in which
 * everybody is asleep or computing.
 *
 *   at once   the last P that goes idle leaves somebody in the poller; whoever enters a system call
 *             wakes the monitor; a P in a system call is given to a stop of the world, an idle one
 *             to forEachP; a system call and a P taken from one have moved the P's tick
 *   by the    polls the network when nobody did for 10 ms, asks a goroutine to yield after its
 *   monitor   slice, takes the P of a long system call: each in its first round after it was due
 *
 * A debt of the monitor is counted in its own rounds and not in time: on a machine that others use
 * it is late, and owes nothing. */
#include "checkdue.h"
#include "check.h"
#include "checkpoll.h"
#include "checkwait.h"
#include "netpoll.h"
#include "rwmutex.h"
#include "step.h"

/* ---- at once ---- */

static bool is_in_syscall(const struct p *pp)
{
    if (!prof->sys_block_on_exit)
        return a_peek(&pp->status) == Psyscall;
    const struct m *mp = a_peek(&pp->m);
    const struct g *gp = mp != NULL ? a_peek(&mp->curg) : NULL;
    return a_peek(&pp->status) == Prunning && gp != NULL &&
           (a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan) == Gsyscall;
}

/* Since 1.26 a system call may begin beside a stop that did not see it: the monitor comes later. */
static const char *due_to_stop(struct p *pp)
{
    if (sched->stopwait > 0 && a_peek(&pp->status) == Psyscall)
        return check_says("a stop of the world waits for a P in a system call", NULL, pp, NULL);
    return NULL;
}

static const char *due_in_syscalls(void)
{
    bool stopping = a_peek(&sched->gcwaiting) != 0;
    const char *bad = NULL;
    for (int32_t id = 0; bad == NULL && id < rt->allp_len; id++) {
        struct p *pp = rt->allp[id];
        if (stopping)
            bad = due_to_stop(pp);
        else if (a_peek(&sched->sysmonwait) && is_in_syscall(pp))
            bad = check_says("a system call has a P and the monitor sleeps", NULL, pp, NULL);
    }
    return bad;
}

static const char *due_by_idle_ps(void)
{
    bool stopping = a_peek(&sched->gcwaiting) != 0 && sched->stopwait > 0;
    for (struct p *pp = a_peek(&sched->pidle); pp != NULL; pp = pp->link) {
        if (stopping)
            return check_says("a stop of the world waits and a P is idle", NULL, pp, NULL);
        if (sched->safePointWait > 0 && a_peek(&pp->runSafePointFn) != 0)
            return check_says("forEachP waits for an idle P", NULL, pp, NULL);
    }
    return NULL;
}

/* Who goes idle last spins before, so it knows of every timer. Up to 1.15 it is sysmon that looks
 * after them. */
static const char *due_in_poller(void)
{
    if (!prof->wake_poller_wakep || a_peek(&sched->lastpoll) == 0 ||
        a_peek(&rt->netpoll->inited) == 0 || a_peek(&sched->gcwaiting) != 0 || somebody_looks() ||
        a_peek(&sched->npidle) != a_peek(&rt->gomaxprocs))
        return NULL;
    bool waited_for = a_peek(&rt->netpoll->waiters) > 0;
    for (int32_t id = 0; !waited_for && id < rt->allp_len; id++)
        waited_for = heap_first(&rt->allp[id]->timers) != 0;
    if (waited_for)
        return check_says("work conservation: every P is idle and nobody polls", NULL, NULL, NULL);
    return NULL;
}

static bool leaves_syscall(const struct g *gp)
{
    uint32_t s = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool left = false;
    for (int i = 0; i < gp->nkont; i++)
        left |= gp->kont[i] == STEP_syscallExit;
    return s == Gsyscall || s == Gdeadextra || left;
}

/* The ticks of all Ps are at least the system calls that are over and the Ps that were taken: there
 * are more reasons for a tick. */
static const char *due_ticks(void)
{
    uint64_t ticks = 0, calls = 0;
    for (int32_t id = 0; id < rt->allp_cap; id++)
        if (rt->allp[id] != NULL)
            ticks += a_peek(&rt->allp[id]->syscalltick);
    for (int64_t id = 0; id < sched->mnext; id++)
        if (rt->ms[id] != NULL)
            calls += rt->ms[id]->counters[C_syscalls] + rt->ms[id]->counters[C_retakes];
    for (const struct g *gp = rt->allgs; ticks < calls && gp != NULL; gp = gp->alllink)
        ticks += leaves_syscall(gp);
    if (ticks < calls)
        return check_says("a system call is over and its P's tick is the same", NULL, NULL, NULL);
    return NULL;
}

/* ---- by the monitor ---- */

static uint64_t monitor_rounds(void)
{
    uint64_t n = 0;
    for (int64_t id = 0; id < sched->mnext; id++)
        if (rt->ms[id] != NULL)
            n += rt->ms[id]->counters[C_sysmon_ticks];
    return n;
}

/* The same debt as at the last look, and a whole round since: rounds are counted as they begin. */
static bool overdue(struct due *d, bool owed, struct due now)
{
    bool same = owed && d->owed && d->who == now.who && d->when == now.when && d->what == now.what;
    if (!same) {
        *d = now;
        d->owed = owed;
    }
    return same && now.round >= d->round + 2;
}

static const char *due_poll(struct core_due *seen, int64_t now, uint64_t round)
{
    int64_t last = a_peek(&sched->lastpoll);
    bool owed = a_peek(&rt->netpoll->inited) != 0 && last != 0 &&
                last + prof->netpoll_stale_ns < now;
    if (overdue(&seen->poll, owed, (struct due){.round = round, .when = last}))
        return check_says("the monitor does not poll the network", NULL, NULL, NULL);
    return NULL;
}

static const char *due_slice(struct core_due *seen, struct p *pp, int64_t now, uint64_t round)
{
    const struct sysmontick *pd = &pp->sysmontick;
    struct m *mp = a_peek(&pp->m);
    struct g *gp = mp != NULL ? a_peek(&mp->curg) : NULL;
    uint32_t tick = a_peek(&pp->schedtick);
    bool owed = a_peek(&pp->status) == Prunning && gp != NULL &&
                a_peek(&gp->atomicstatus) == Grunning && !a_peek(&gp->preempt) &&
                pd->schedtick == tick && pd->schedwhen + prof->slice_ns < now;
    /* A stop of the world between two looks may give the rest of its slice back to it. */
    struct due d = {.round = round, .who = gp};
    d.when = mp != NULL ? (int64_t)mp->counters[C_switches] : 0;
    d.what = (uint64_t)tick << 32 | a_peek(&pp->syscalltick);
    if (overdue(&seen->slices[pp->id], owed, d))
        return check_says("a G had its slice and nobody asked it to yield", gp, pp, mp);
    return NULL;
}

static const char *due_retake(struct core_due *seen, struct p *pp, int64_t now, uint64_t round)
{
    const struct sysmontick *pd = &pp->sysmontick;
    uint32_t tick = a_peek(&pp->syscalltick);
    bool owed = is_in_syscall(pp) && pd->syscalltick == tick &&
                pd->syscallwhen + prof->syscall_slack_ns < now;
    if (overdue(&seen->calls[pp->id], owed, (struct due){.round = round, .what = tick}))
        return check_says("the monitor leaves a P in a long system call", NULL, pp, NULL);
    return NULL;
}

static const char *due_by_monitor(struct core_due *seen)
{
    int64_t now = host_now();
    uint64_t round = monitor_rounds();
    const char *bad = due_poll(seen, now, round);
    for (int32_t id = 0; bad == NULL && id < rt->allp_len && id < DUE_PS; id++) {
        bad = due_slice(seen, rt->allp[id], now, round);
        if (bad == NULL)
            bad = due_retake(seen, rt->allp[id], now, round);
    }
    return bad;
}

static const char *world_due(struct core_due *seen, bool quiet)
{
    if (!rt->mainStarted || !quiet || sched_locked() || exec_is_held())
        return NULL;
    const char *bad = due_in_syscalls();
    if (bad == NULL)
        bad = due_by_idle_ps();
    if (bad == NULL)
        bad = due_in_poller();
    if (bad == NULL)
        bad = due_ticks();
    if (bad == NULL && prof->sysmon != 0)
        bad = due_by_monitor(seen);
    return bad;
}
