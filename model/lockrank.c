/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock ranks (lockrank.go, lockrank_on.go): which locks may be held while another one is taken. Go
 * checks this only when built for it; here every acquisition is checked. Two orders matter for the
 * locks of the model: since 1.23 channels and timers rank before and after the scheduler's lock the
 * other way round. */
#include "runtime2.h"

#define R(name) (UINT64_C(1) << lockRank##name)

/* lockPartialOrder, 1.23 and later: what may be held. */
#define BEFORE_SCHED_V2                                                                    \
    (R(Sysmon) | R(Forcegc) | R(SweepWaiters) | R(AssistQueue) | R(Sweep) | R(TimerSend) | \
     R(PollDesc) | R(Hchan) | R(CleanupQueue))
#define BEFORE_TIMERS_V2 (R(Sysmon) | R(Sweep) | R(TimerSend) | R(PollDesc) | R(Hchan) | R(Timers))
#define ANYTHING         UINT64_MAX

static const uint64_t lockrank_v2[LOCKRANKS] = {
    [lockRankForcegc] = R(Sysmon),
    [lockRankHchan] = R(Sysmon) | R(Sweep) | R(TimerSend) | R(Hchan),
    [lockRankSched] = BEFORE_SCHED_V2,
    [lockRankAllg] = BEFORE_SCHED_V2 | R(Sched),
    [lockRankAllp] = BEFORE_SCHED_V2 | R(Sched),
    [lockRankSudog] = R(Sysmon) | R(Sweep) | R(TimerSend) | R(Hchan) | R(NotifyList),
    [lockRankTimers] = BEFORE_TIMERS_V2,
    [lockRankTimer] = BEFORE_TIMERS_V2,
    [lockRankNetpollInit] = BEFORE_TIMERS_V2 | R(Timer),
    [lockRankGFree] = BEFORE_SCHED_V2 | R(Sched),
    [lockRankFin] = BEFORE_SCHED_V2 | R(Sched) | R(Allg) | R(Allp) | R(NotifyList) | R(Timers) |
                    R(Timer),
    [lockRankMheapSpecial] = ANYTHING,
    [lockRankMheap] = ANYTHING,
    [lockRankTrace] = ANYTHING,
};

/* ... up to 1.22. */
static const uint64_t lockrank_v1[LOCKRANKS] = {
    [lockRankForcegc] = R(Sysmon),
    [lockRankSched] = R(Sysmon) | R(Forcegc) | R(SweepWaiters) | R(AssistQueue) | R(Sweep) |
                      R(PollDesc),
    [lockRankAllg] = R(Sysmon) | R(Sched),
    [lockRankAllp] = R(Sysmon) | R(Sched),
    [lockRankTimers] = R(Sysmon) | R(PollDesc) | R(Sched) | R(Allp) | R(Timers),
    [lockRankHchan] = R(Sweep) | R(Hchan),
    [lockRankNetpollInit] = R(Timers),
    [lockRankSudog] = R(Hchan) | R(NotifyList),
    [lockRankGFree] = R(Sched),
    [lockRankFin] = R(Sysmon) | R(Forcegc) | R(SweepWaiters) | R(AssistQueue) | R(Sweep) |
                    R(PollDesc) | R(Sched) | R(Allg) | R(Allp) | R(Timers) | R(Hchan) |
                    R(NotifyList),
    [lockRankMheapSpecial] = ANYTHING,
    [lockRankMheap] = ANYTHING,
    [lockRankTrace] = ANYTHING,
};

/* 1.23 changed two things: where channels rank, and where timers do. */
static uint64_t lockrank_held(enum lockrank rank)
{
    bool timers = rank == lockRankTimers || rank == lockRankTimer || rank == lockRankNetpollInit;
    if (timers && prof->timers_v2)
        return prof->hchan_before_sched ? lockrank_v2[rank] : lockrank_v2[rank] & ~R(Hchan);
    if (timers)
        return lockrank_v1[rank];
    uint64_t held = prof->hchan_before_sched ? lockrank_v2[rank] : lockrank_v1[rank];
    bool under_send = rank == lockRankSched || rank == lockRankHchan || rank == lockRankSudog;
    return prof->timers_v2 && under_send ? held | R(TimerSend) : held;
}

/* lockrank_on.go lockInit. A leaf is a lock that stands for something that Go does not rank. */
static void lockInit(struct mutex *l, enum lockrank rank)
{
    if (rank == lockRankLeaf)
        return;
    l->rank_bit = UINT64_C(1) << rank;
    l->ask = (prof->lock_ranks ? ~lockrank_held(rank) : 0) | l->rank_bit;
}

/* The rare part of the next: a broken order, or one more lock of a rank that is held. */
static COLD void lockrank_ask(struct m *mp, const struct mutex *l)
{
    uint32_t rank = (uint32_t)__builtin_ctzll(l->rank_bit);
    if (prof->lock_ranks && (mp->held & ~lockrank_held(rank)) != 0)
        throw("lock ordering problem");
    mp->again[rank]++;
    mp->nagain++;
}

/* lockrank_on.go acquireLockRank. */
static inline void lockrank_acquire(struct m *mp, const struct mutex *l)
{
    if (__builtin_expect((mp->held & l->ask) != 0, 0))
        lockrank_ask(mp, l);
    mp->held |= l->rank_bit;
}

/* lockrank_on.go lockRelease. */
static inline void lockrank_release(struct m *mp, const struct mutex *l)
{
    uint32_t rank;
    if (__builtin_expect(mp->nagain != 0, 0) && l->rank_bit != 0 &&
        mp->again[rank = (uint32_t)__builtin_ctzll(l->rank_bit)] != 0) {
        mp->again[rank]--;
        mp->nagain--;
        return;
    }
    mp->held &= ~l->rank_bit;
}
