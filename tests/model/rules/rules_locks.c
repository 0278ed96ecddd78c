/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about the ranks of locks: which lock has which, and what Go's lists say
 * may be held under it, release by release. */

static void is_ranked(const struct mutex *l, enum lockrank rank)
{
    CHECK_EQ(l->rank_bit, rank == lockRankLeaf ? 0 : UINT64_C(1) << rank);
}

static void ranks_of_world(struct m *mp)
{
    (void)mp;
    is_ranked(&sched->lock, lockRankSched);
    is_ranked(&sched->gFree_lock, lockRankGFree);
    is_ranked(&sched->sudoglock, lockRankSudog);
    is_ranked(&sched->sysmonlock, lockRankSysmon);
    is_ranked(&rt->allpLock, lockRankAllp);
    is_ranked(&rt->allglock, lockRankAllg);
    is_ranked(&rt->newmHandoff.lock, lockRankNewmHandoff);
    is_ranked(&rt->computeMaxProcsLock, lockRankComputeMaxProcs);
    is_ranked(&rt->updateMaxProcsG.lock, lockRankUpdateMaxProcsG);
    is_ranked(&rt->trace.lock, lockRankTrace);
    is_ranked(&rt->gc.central, lockRankMheap);
    is_ranked(&rt->gc.assistLock, lockRankAssistQueue);
    is_ranked(&rt->gc.sweepWaiters, lockRankSweepWaiters);
    is_ranked(&rt->gc.sweepLock, lockRankSweep);
    is_ranked(&rt->gc.forcegcLock, lockRankForcegc);
    is_ranked(&rt->objs->stacklock, lockRankMheap);
    for (int64_t i = 0; i < prof->sema_roots; i++)
        is_ranked(&rt->objs->semtable[i].lock, lockRankRoot);
    for (int i = 0; i < PROCS; i++)
        is_ranked(&rt->allp[i]->timers.mu, lockRankTimers);
    is_ranked(&rt->netpoll->initlock, lockRankNetpollInit);
    is_ranked(&makechan(0)->lock, lockRankHchan);
    is_ranked(&cond_make(host_alloc(8, 8), OBJ_MUTEX, false)->notify.lock, lockRankNotifyList);
    is_ranked(&netpoll_open(-1)->pd.lock, lockRankPollDesc);
    struct finalizers *f = specials_new();
    is_ranked(&f->speciallock, lockRankMheapSpecial);
    is_ranked(&f->lock, lockRankFin);
    is_ranked(&f->cleanups.lock, lockRankCleanupQueue);
    struct timer *t = host_alloc(sizeof *t, 64);
    timer_init(t, no_op, NULL);
    if (prof->timers_v2)
        is_ranked(&t->mu, lockRankTimer);
    if (timer_sync_chans()) {
        struct timeTimer *tt = time_NewTimer(1000000000, makechan(1));
        is_ranked(&tt->sendLock, lockRankTimerSend);
        CHECK(time_Stop(tt));
    }
}

TEST_CASE(LockRules, EachLockHasItsRank) { each_release(ranks_of_world); }

/* ---- what may be held ---- */

static const char *const rank_names[] = {
#define LOCKRANK(name, ...) #name,
#include "model/lockrank.def"
#undef LOCKRANK
};

/* lockPartialOrder of lockrank.go in these releases, of the locks that the model has. */
static const struct {
    int release;
    enum lockrank rank;
    const char *held;
} partial_order[] = {
    {19, lockRankSysmon, ""},
    {19, lockRankForcegc, "Sysmon"},
    {19, lockRankSweepWaiters, ""},
    {19, lockRankSweep, ""},
    {19, lockRankAssistQueue, ""},
    {19, lockRankCpuprof, ""},
    {19, lockRankPollDesc, ""},
    {19, lockRankSched, "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc"},
    {19, lockRankAllg, "Sysmon Sched"},
    {19, lockRankAllp, "Sysmon Sched"},
    {19, lockRankTimers, "Sysmon PollDesc Sched Allp Timers"},
    {19, lockRankNetpollInit, "Timers"},
    {19, lockRankHchan, "Sweep Hchan"},
    {19, lockRankNotifyList, ""},
    {19, lockRankSudog, "Hchan NotifyList"},
    {19, lockRankRoot, ""},
    {19, lockRankFin, "Sysmon Sched Allg Timers Hchan"},
    {19, lockRankMheapSpecial,
     "Sysmon Sweep AssistQueue Cpuprof PollDesc Sched Allg Allp Timers Hchan "
     "NotifyList"},
    {19, lockRankTrace, "Sysmon Forcegc Sweep AssistQueue Sched Hchan Root"},
    {22, lockRankSysmon, ""},
    {22, lockRankForcegc, "Sysmon"},
    {22, lockRankSweepWaiters, ""},
    {22, lockRankSweep, ""},
    {22, lockRankAssistQueue, ""},
    {22, lockRankCpuprof, ""},
    {22, lockRankPollDesc, ""},
    {22, lockRankAllocmR, "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc"},
    {22, lockRankExecR, "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc"},
    {22, lockRankSched,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR"},
    {22, lockRankAllg,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched"},
    {22, lockRankAllp,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched"},
    {22, lockRankTimers,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allp Timers"},
    {22, lockRankNetpollInit,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allp Timers"},
    {22, lockRankHchan, "Sysmon Sweep Hchan"},
    {22, lockRankNotifyList, ""},
    {22, lockRankSudog, "Sysmon Sweep Hchan NotifyList"},
    {22, lockRankRoot, ""},
    {22, lockRankFin,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers Hchan NotifyList"},
    {22, lockRankMheap,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers NetpollInit Hchan NotifyList Sudog Root "
     "Fin"},
    {22, lockRankMheapSpecial,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers NetpollInit Hchan NotifyList Sudog Root "
     "Fin Mheap"},
    {22, lockRankTrace,
     "Sysmon Forcegc SweepWaiters Sweep AssistQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers NetpollInit Hchan NotifyList Sudog Root "
     "Fin Mheap"},
    {27, lockRankSysmon, ""},
    {27, lockRankForcegc, "Sysmon"},
    {27, lockRankComputeMaxProcs, "Sysmon"},
    {27, lockRankUpdateMaxProcsG, "Sysmon"},
    {27, lockRankSweepWaiters, ""},
    {27, lockRankSweep, ""},
    {27, lockRankAssistQueue, ""},
    {27, lockRankCleanupQueue, ""},
    {27, lockRankStrongFromWeakQueue, ""},
    {27, lockRankCpuprof, ""},
    {27, lockRankPollDesc, ""},
    {27, lockRankAllocmR,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc "
     "TimerSend Hchan"},
    {27, lockRankExecR,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc "
     "TimerSend Hchan"},
    {27, lockRankSched,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR TimerSend Hchan"},
    {27, lockRankAllg,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched TimerSend Hchan"},
    {27, lockRankAllp,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched TimerSend Hchan"},
    {27, lockRankTimers, "Sysmon Sweep PollDesc Timers TimerSend Hchan"},
    {27, lockRankTimer, "Sysmon Sweep PollDesc Timers TimerSend Hchan"},
    {27, lockRankTimerSend, ""},
    {27, lockRankNetpollInit, "Sysmon Sweep PollDesc Timers Timer TimerSend Hchan"},
    {27, lockRankHchan, "Sysmon Sweep TimerSend Hchan"},
    {27, lockRankNotifyList, ""},
    {27, lockRankSudog, "Sysmon Sweep TimerSend Hchan NotifyList"},
    {27, lockRankRoot, ""},
    {27, lockRankFin,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers Timer TimerSend Hchan NotifyList"},
    {27, lockRankMheap,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers Timer TimerSend NetpollInit Hchan "
     "NotifyList Sudog Root Fin"},
    {27, lockRankMheapSpecial,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers Timer TimerSend NetpollInit Hchan "
     "NotifyList Sudog Root Fin Mheap"},
    {27, lockRankTrace,
     "Sysmon Forcegc ComputeMaxProcs UpdateMaxProcsG SweepWaiters Sweep "
     "AssistQueue CleanupQueue StrongFromWeakQueue Cpuprof PollDesc AllocmR "
     "ExecR Sched Allg Allp Timers Timer TimerSend NetpollInit Hchan "
     "NotifyList Sudog Root Fin Mheap"},
};

static const char *names_of_ranks(uint64_t held)
{
    static char text[1024];
    size_t at = 0;
    text[0] = 0;
    for (int rank = 0; rank < LOCKRANKS; rank++)
        if ((held >> rank & 1) != 0)
            at += (size_t)snprintf(text + at, sizeof text - at, at > 0 ? " %s" : "%s",
                                   rank_names[rank]);
    return text;
}

static void is_gos_order(struct m *mp)
{
    (void)mp;
    for (size_t i = 0; i < sizeof partial_order / sizeof *partial_order; i++)
        if (partial_order[i].release == prof->release)
            CHECK_STR(names_of_ranks(lockrank_held(partial_order[i].rank)), partial_order[i].held);
}

/* The rewrite of timers without the order of its release: what was not known yet is not in it. */
static void is_mixed_order(struct m *mp)
{
    (void)mp;
    world_prof.hchan_before_sched = false;
    uint64_t timers = lockrank_held(lockRankTimers);
    CHECK_EQ(timers >> lockRankHchan & 1, 0);
    CHECK_EQ(timers >> lockRankTimerSend & 1, 1);
    CHECK_EQ(lockrank_held(lockRankTimer) >> lockRankHchan & 1, 0);
    CHECK_EQ(lockrank_held(lockRankNetpollInit) >> lockRankHchan & 1, 0);
    CHECK_EQ(lockrank_held(lockRankSched) >> lockRankHchan & 1, 0);
    CHECK_EQ(lockrank_held(lockRankSched) >> lockRankTimerSend & 1, 1);
    CHECK_EQ(lockrank_held(lockRankSched) >> lockRankComputeMaxProcs & 1, prof->release >= 25);
    CHECK_EQ(lockrank_held(lockRankSched) >> lockRankUpdateMaxProcsG & 1, prof->release >= 25);
    world_prof.timers_v2 = false;
    CHECK_EQ(lockrank_held(lockRankSched) >> lockRankTimerSend & 1, 0);
    CHECK_EQ(lockrank_held(lockRankTimers) >> lockRankSched & 1, 1);
    world_prof.hchan_before_sched = true;
    CHECK_EQ(lockrank_held(lockRankTimers) >> lockRankSched & 1, 1);
}

TEST_CASE(LockRules, WhatMayBeHeldIsGosOrder)
{
    each_release(is_gos_order);
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, is_mixed_order);
}

/* ---- what an M holds ---- */

static void takes_rank(struct m *mp, const struct mutex *l)
{
    if (!lockrank_acquire(mp, l))
        lockrank_ask(mp, l);
}

static void counts_held(struct m *mp)
{
    struct mutex a = {0}, b = {0}, leaf = {0};
    lockInit(&a, lockRankRoot);
    lockInit(&b, lockRankRoot);
    lockInit(&leaf, lockRankLeaf);
    const uint64_t root = UINT64_C(1) << lockRankRoot, before = mp->held;
    world_prof.lock_ranks = false; /* two of one rank */
    CHECK_EQ(a.ask & root, root);
    for (int round = 0; round < 2; round++) {
        takes_rank(mp, &a);
        CHECK_EQ(mp->held, before | root);
        CHECK_EQ(mp->nagain, 0);
        takes_rank(mp, &leaf);
        CHECK_EQ(mp->held, before | root);
        takes_rank(mp, &b);
        CHECK_EQ(mp->held, before | root);
        CHECK_EQ(mp->again[lockRankRoot], 1);
        CHECK_EQ(mp->nagain, 1);
        lockrank_release(mp, &leaf);
        CHECK_EQ(mp->nagain, 1);
        lockrank_release(mp, &a);
        CHECK_EQ(mp->held, before | root);
        CHECK_EQ(mp->again[lockRankRoot], 0);
        CHECK_EQ(mp->nagain, 0);
        lockrank_release(mp, &b);
        CHECK_EQ(mp->held, before);
    }
}

TEST_CASE(LockRules, LocksOfOneRankAreCounted) { each_release(counts_held); }

static void wrong_order(struct m *mp)
{
    struct mutex a = {0}, b = {0};
    lockInit(&a, lockRankTrace);
    lockInit(&b, lockRankSched);
    takes_rank(mp, &a);
    takes_rank(mp, &b);
}

TEST_CASE(LockRules, TheWrongOrderIsThrown)
{
    rule_ranks = 1;
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, wrong_order), END_THROWN);
    CHECK_STR(host_virt.verdict()->text, "lock ordering problem");
    host_virt.close();
    rule_ranks = 0;
    world(27, PROCS, &(struct host_opts){0}, wrong_order);
}
