/* SPDX-License-Identifier: BSD-3-Clause */
/* The fourth part of rules_test.c: what is left behind, and both sides of each limit. */

/* ---- sysmon ---- */

/* It polls when nobody did for more than 10 ms, and not at 10 ms. */
static void polls_stale_network(struct m *mp)
{
    enum { STALE = 10000000, LAST = 5000 };
    (void)mp;
    netpollGenericInit();
    a_store(&sched->lastpoll, (int64_t)LAST);
    sysmon_netpoll(LAST + STALE);
    CHECK_EQ(a_peek(&sched->lastpoll), LAST);
    sysmon_netpoll(LAST + STALE + 1);
    CHECK_EQ(a_peek(&sched->lastpoll), LAST + STALE + 1);
    a_store(&sched->lastpoll, (int64_t)0); /* somebody sleeps in the poller */
    sysmon_netpoll(3 * STALE);
    CHECK_EQ(a_peek(&sched->lastpoll), 0);
}

TEST_CASE(Rules, SysmonPollsWhenNobodyDidForTenMilliseconds) { each_release(polls_stale_network); }

/* Half the time between forced collections, or until a timer is due. */
static void sleeps_a_minute(struct m *mp)
{
    const int64_t minute = 60000000000, slack = 10000000;
    struct sysmon s = sleepy();
    (void)mp;
    a_store(&sched->gcwaiting, 1);
    int64_t before = nanotime();
    sysmon_deep_sleep(&s, before);
    int64_t slept = nanotime() - before;
    CHECK_GE(slept, minute);
    CHECK_LT(slept, minute + slack);
}

TEST_CASE(Rules, SysmonsDeepSleepIsAMinute) { each_release(sleeps_a_minute); }

/* Up to 1.25: whoever takes a P out of a system call marks the call as over, by its tick; in
 * entersyscallblock the M itself does so. */
static void retakes_tick(struct m *mp)
{
    struct p *pp = pidle_next();
    (void)mp;
    a_store(&sched->gcwaiting, 1); /* the P goes to the stop and wakes nobody */
    sched->stopwait = 2;
    uint32_t tick_before = a_peek(&pp->syscalltick);
    CHECK(!retake_psyscall(pp)); /* in no system call */
    CHECK_EQ(a_peek(&pp->syscalltick), tick_before);
    a_store(&pp->status, (uint32_t)Psyscall);
    CHECK(retake_psyscall(pp));
    CHECK_EQ(a_peek(&pp->syscalltick), tick_before + 1);
}

TEST_CASE(Rules, ARetakenPCountsTheCallAsOver)
{
    for (int release = 13; release <= 25; release++)
        world(release, PROCS, &(struct host_opts){0}, retakes_tick);
}

static void blocks_ticks(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    a_store(&gp->m, mp);
    uint32_t tick_before = a_peek(&pp->syscalltick);
    entersyscallblock(gp);
    CHECK_EQ(mp->syscalltick, tick_before);
    CHECK_EQ(a_peek(&pp->syscalltick), tick_before + 1);
    CHECK(mp_p(mp) == NULL);
    CHECK_EQ(readgstatus(gp), Gsyscall);
    CHECK_EQ(a_peek(&sched->npidle), PROCS);
    CHECK_EQ(mp->locks, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, ACallThatBlocksCountsItselfAtOnce) { each_release(blocks_ticks); }

/* ---- preemption ---- */

/* The G is asked, or (since the P is told as well) the P under it. */
static void wants_preempt(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    struct p *pp = mp_p(mp);
    for (int g_asked = 0; g_asked <= 1; g_asked++)
        for (int p_asked = 0; p_asked <= 1; p_asked++) {
            a_store(&gp->preempt, g_asked != 0);
            a_store(&pp->preempt, p_asked != 0);
            CHECK_EQ(wantAsyncPreempt(mp, gp), g_asked || p_asked);
            a_store(&gp->atomicstatus, (uint32_t)Gwaiting);
            CHECK(!wantAsyncPreempt(mp, gp));
            a_store(&gp->atomicstatus, (uint32_t)Grunning | Gscan);
            CHECK_EQ(wantAsyncPreempt(mp, gp), g_asked || p_asked);
            a_store(&gp->atomicstatus, (uint32_t)Grunning);
        }
}

TEST_CASE(Rules, ASignalTakesWhoWasAskedOrWhosePWas) { each_release(wants_preempt); }

/* ---- handing on ---- */

/* Nobody looks for work and no P is idle: the P goes to an M that spins, and that is what
 * needspinning asked for. */
static void satisfies_needspinning(struct m *mp)
{
    (void)mp;
    struct p *pp = pidle_next();
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
    a_store(&sched->needspinning, 1);
    handoffp(pp);
    CHECK_EQ(a_peek(&sched->nmspinning), 1);
    CHECK_EQ(a_peek(&sched->needspinning), prof->release < 20);
}

TEST_CASE(Rules, AHandOffToASpinnerIsWhatWasNeeded) { each_release(satisfies_needspinning); }

/* The re-check takes what any look at the global queue takes: the P's share, the rest of which
 * is on its ring. */
static void rechecks_a_batch(struct m *mp)
{
    struct found f = {0};
    bool again = false;
    let_go(mp);
    for (int i = 0; i < 3 * PROCS; i++)
        globrunqput(runnable());
    CHECK(recheck(mp, rt->allp, PROCS, /*wasSpinning*/ true, &f, &again));
    CHECK(!again);
    CHECK_EQ(f.gp->goid, 1);
    check_ring(mp_p(mp), 2, 3); /* 24 / 8 + 1, one of them in hand */
    check_queue(&sched->runq, 5, 3 * PROCS - 4);
}

TEST_CASE(Rules, ARecheckTakesTheShareOfAP)
{
    for (int release = 22; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, rechecks_a_batch);
}

/* ---- is everybody dead? ---- */

/* A thread of C that nobody made an M for is no reason to hope; but its M is counted. */
static void counts_extra(struct m *mp)
{
    (void)mp;
    newextram();
    CHECK_EQ(mcount(), 2);
    sched->nmidle = 1; /* m0 */
    lock(&sched->lock);
    checkdead();
    unlock(&sched->lock);
    sched->nmidle = 0;
}

static void counts_m0(struct m *mp)
{
    (void)mp;
    lock(&sched->lock);
    checkdead();
    unlock(&sched->lock);
}

TEST_CASE(Rules, AnExtraMIsNobodyWhoCouldRun)
{
    for (int release = 13; release <= 27; release++) {
        CHECK_EQ(world_until(UINT64_MAX, release, PROCS, &(struct host_opts){0}, counts_extra),
                 END_FINDING);
        host_virt.close();
        world(release, PROCS, &(struct host_opts){0}, counts_m0);
    }
}

/* ---- timers ---- */

static struct timer *timer_at(int64_t when)
{
    struct timer *t = host_alloc(sizeof *t, 64);
    timer_init(t, no_op, NULL);
    (void)timer_modify(t, when, 0, no_op, NULL, 0);
    return t;
}

/* Of equal children the first comes up. */
static void first_child_wins(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[6];
    if (!prof->per_p_timers)
        return;
    for (int i = 0; i < 6; i++)
        t[i] = timer_at(1000000000 + (i > 0));
    CHECK_EQ(heap_child(ts, 0, 1000000001 + 1), 1);
    CHECK_EQ(heap_child(ts, 0, 1000000001), ts->n); /* none is smaller */
    heap_pop(ts); /* t[5] goes to the top, and down to nobody: all are equal */
    CHECK(ts->heap[0].timer == t[5]);
    for (uint32_t i = 1; i < 5; i++)
        CHECK(ts->heap[i].timer == t[i]);
}

TEST_CASE(Rules, OfEqualTimersTheFirstChildIsTheSmallest) { each_release(first_child_wins); }

/* Who sleeps until some time need not be told of a timer at that same time. */
static void equal_wakes_nobody(struct m *mp)
{
    (void)mp;
    if (!prof->timers_v2)
        return;
    (void)timer_at(1000000000); /* the poller is set up, and knows */
    a_store(&sched->lastpoll, (int64_t)0);
    for (int64_t delta = -1; delta <= 1; delta++) {
        a_store(&sched->pollUntil, (int64_t)2000000000); /* too late for all of them */
        a_store(&rt->netpoll->wakeSig, 0u);
        struct timer *t = timer_at(1000000000 + delta);
        CHECK_EQ(a_peek(&rt->netpoll->wakeSig), delta < 0);
        (void)timer_stop(t);
        cleanHead(&mp_p(mp)->timers);
    }
}

TEST_CASE(Rules, ATimerThatIsNotTheFirstWakesNobody) { each_release(equal_wakes_nobody); }

/* ---- locks ---- */

/* A try that finds readers leaves nothing behind. */
static void tries_write(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    struct rwmutex *rw = host_alloc(sizeof *rw, 8);
    a_store(&mp->curg, gp);
    CHECK_EQ(rw_rlock(gp, rw), OP_DONE);
    CHECK_EQ(rw_trylock(gp, rw, NOREG), OP_DONE);
    CHECK_EQ(a_peek(&rw->w.state), 0);
    CHECK_EQ(a_peek(&rw->readerCount), 1);
    CHECK(rw_tryrlock(rw)); /* and lets more readers in */
    CHECK_EQ(rw_runlock(gp, rw), OP_DONE);
    CHECK_EQ(rw_runlock(gp, rw), OP_DONE);
    CHECK_EQ(rw_trylock(gp, rw, NOREG), OP_DONE);
    CHECK_EQ(a_peek(&rw->w.state), MUTEX_LOCKED);
    CHECK_EQ(a_peek(&rw->readerCount), -RWMUTEX_MAX_READERS);
    CHECK(!rw_tryrlock(rw));
    CHECK_EQ(rw_trylock(gp, rw, NOREG), OP_DONE); /* locked: as it was */
    CHECK_EQ(a_peek(&rw->w.state), MUTEX_LOCKED);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, ATryThatFailsLeavesTheLockAsItWas) { each_release(tries_write); }
