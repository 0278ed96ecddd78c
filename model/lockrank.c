/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock ranks (lockrank.go, lockrank_on.go): which locks may be held while another one is taken. Go
 * checks this only when built for it; here every acquisition is checked. */
#include "lockrank.h"

/* Sets of ranks from which lockrank.def puts its lists together. The number at the end of a name is
 * the column: 1 listed, 2 graph, 3 channels first. */
#define R(name) (UINT64_C(1) << lockRank##name)
#define BEFORE_SCHED_1                                                                   \
    (R(Sysmon) | R(Forcegc) | R(SweepWaiters) | R(AssistQueue) | R(Cpuprof) | R(Sweep) | \
     R(PollDesc))
#define BEFORE_SPECIAL_1                                                                 \
    ((BEFORE_SCHED_1 & ~(R(Forcegc) | R(SweepWaiters))) | R(Sched) | R(Allg) | R(Allp) | \
     R(Timers) | R(Hchan) | R(NotifyList))
#define BEFORE_MHEAP_1   (BEFORE_SPECIAL_1 | R(SweepWaiters) | R(Sudog) | R(Root) | R(Fin))
#define BEFORE_SCHED_2   (BEFORE_SCHED_1 | R(AllocmR) | R(ExecR))
#define BEFORE_NETPOLL_2 (BEFORE_SCHED_2 | R(Sched) | R(Allp) | R(Timers))
#define BEFORE_FIN_2     (BEFORE_NETPOLL_2 | R(Allg) | R(Hchan) | R(NotifyList))
#define BEFORE_MHEAP_2   (BEFORE_FIN_2 | R(NetpollInit) | R(Sudog) | R(Root) | R(Fin))
#define BEFORE_ALLOCM                                                             \
    (BEFORE_SCHED_1 | R(ComputeMaxProcs) | R(UpdateMaxProcsG) | R(CleanupQueue) | \
     R(StrongFromWeakQueue) | R(TimerSend) | R(Hchan))
#define BEFORE_SCHED_3 (BEFORE_ALLOCM | R(AllocmR) | R(ExecR))
#define BEFORE_TIMER   (R(Sysmon) | R(Sweep) | R(TimerSend) | R(PollDesc) | R(Hchan) | R(Timers))
#define BEFORE_FIN_3   (BEFORE_SCHED_3 | BEFORE_FIN_2 | R(Timer))
#define BEFORE_MHEAP_3 (BEFORE_FIN_3 | BEFORE_MHEAP_2)
#define LEAF           UINT64_MAX

enum { ORDER_LISTED, ORDER_GRAPH, ORDER_CHANNELS_FIRST, LOCK_ORDERS };

static const uint64_t lock_orders[LOCKRANKS][LOCK_ORDERS] = {
#define LOCKRANK(name, listed, graph, channels_first) {listed, graph, channels_first},
#include "lockrank.def"
#undef LOCKRANK
};

/* The column of lockrank.def. Timers go by themselves, so that the rewrite of 1.23 can be switched
 * off without the order of that release, or on in an older one; likewise the locks of 1.25. */
static uint64_t lockrank_held(enum lockrank rank)
{
    int order = prof->lock_order_graph ? ORDER_GRAPH : ORDER_LISTED;
    const uint64_t *held = lock_orders[rank];
    bool timers = rank == lockRankTimers || rank == lockRankTimer || rank == lockRankNetpollInit;
    if (timers && prof->timers_v2)
        return held[ORDER_CHANNELS_FIRST] & ~(prof->hchan_before_sched ? 0 : R(Hchan));
    if (timers)
        return held[order];
    if (prof->hchan_before_sched)
        return held[ORDER_CHANNELS_FIRST];
    uint64_t later = prof->timers_v2 ? R(TimerSend) : 0;
    if (prof->auto_gomaxprocs)
        later |= R(ComputeMaxProcs) | R(UpdateMaxProcsG);
    return held[order] | (held[ORDER_CHANNELS_FIRST] & later);
}

/* lockrank_on.go lockInit. A leaf is a lock that stands for something that Go does not rank. */
static void lockInit(struct mutex *l, enum lockrank rank)
{
    if (rank == lockRankLeaf)
        return;
    l->rank_bit = UINT64_C(1) << rank;
    l->ask = (prof->lock_ranks ? ~lockrank_held(rank) : 0) | l->rank_bit;
}

/* The rare part of lockrank_acquire: a broken order, or one more lock of a rank that is held. */
static COLD void lockrank_ask(struct m *mp, const struct mutex *l)
{
    uint32_t rank = (uint32_t)__builtin_ctzll(l->rank_bit);
    if (prof->lock_ranks && (mp->held & ~lockrank_held(rank)) != 0)
        throw("lock ordering problem");
    mp->again[rank]++;
    mp->nagain++;
}

/* lockrank_on.go acquireLockRank. False: lockrank_ask has to look closer. */
static inline bool lockrank_acquire(struct m *mp, const struct mutex *l)
{
    uint64_t held = mp->held;
    if (__builtin_expect((held & l->ask) != 0, 0))
        return false;
    mp->held = held | l->rank_bit;
    return true;
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
