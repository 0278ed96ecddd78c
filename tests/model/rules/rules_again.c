/* SPDX-License-Identifier: BSD-3-Clause */
/* The third part of rules_test.c: who is woken, what is used again, what outlives what. */

/* ---- preemption ---- */

static void parks_wanted(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    (void)asyncPreempt2(gp);
    CHECK(mp->mcallfn == gopreempt_m);
    (void)newstack(gp);
    CHECK(mp->mcallfn == gopreempt_m);
    a_store(&gp->preemptStop, true);
    (void)asyncPreempt2(gp);
    CHECK(mp->mcallfn == preemptPark);
    mp->mcallfn = NULL;
    (void)newstack(gp);
    CHECK(mp->mcallfn == preemptPark);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, WhoIsToBeSuspendedParks) { each_release(parks_wanted); }

/* ---- sysmon ---- */

static struct sysmon sleepy(void) { return (struct sysmon){.idle = 60, .delay_us = 10000}; }

static void wakes_sysmon(struct m *mp)
{
    struct sysmon s = sleepy();
    (void)mp;
    a_store(&sched->gcwaiting, 1); /* nothing runs */
    notewakeup(&sched->sysmonnote);
    sysmon_deep_sleep(&s, nanotime());
    CHECK_EQ(s.idle, 0);
    CHECK_EQ(s.delay_us, 20);
    CHECK(!a_peek(&sched->sysmonwait));
    s = sleepy();
    sysmon_deep_sleep(&s, nanotime()); /* until half of the time between forced collections */
    CHECK_EQ(s.idle, prof->sysmon_resets_delay ? 0 : 60);
    a_store(&sched->gcwaiting, 0);
    s = sleepy();
    sysmon_deep_sleep(&s, nanotime()); /* somebody runs: no sleep */
    CHECK_EQ(s.idle, 60);
}

TEST_CASE(Rules, AWakeUpMakesSysmonQuick) { each_release(wakes_sysmon); }

/* Up to 1.25 the state of a P says that it is in a system call. */
static void stays_quick(struct m *mp)
{
    struct p *pp = pidle_next();
    struct sysmon s = sleepy();
    (void)mp;
    sysmon_round(&s);
    CHECK_EQ(s.idle, 61);
    if (prof->sys_block_on_exit)
        return;
    a_store(&pp->status, Psyscall);
    pp->sysmontick.syscalltick = a_peek(&pp->syscalltick);
    pp->sysmontick.syscallwhen = nanotime() - 20000000; /* for long */
    a_store(&sched->gcwaiting, 1);                      /* who gets it: nobody */
    sched->stopwait = 2;
    sysmon_round(&s);
    CHECK_EQ(a_peek(&pp->status), Pgcstop);
    CHECK_EQ(s.idle, 0);
}

TEST_CASE(Rules, ARetakeKeepsSysmonQuick) { each_release(stays_quick); }

static void stops_following(struct m *mp)
{
    (void)mp;
    if (rt->updateMaxProcsG.g == NULL)
        rt->updateMaxProcsG.g = g_of(Gwaiting);
    a_store(&rt->updateMaxProcsG.idle, true);
    sched->customGOMAXPROCS = true;
    sysmonUpdateGOMAXPROCS();
    CHECK(a_peek(&rt->updateMaxProcsG.idle)); /* nobody was told */
}

TEST_CASE(Rules, WhoSetsGOMAXPROCSFollowsTheQuotaNoMore)
{
    for (int release = 25; release <= 27; release++)
        world(release, 2, &(struct host_opts){.cpus = 8}, stops_following);
}

/* ---- extra Ms ---- */

static void one_is_enough(struct m *mp)
{
    int64_t n = sched->mnext;
    (void)mp;
    newextram();
    newextram();
    CHECK_EQ(a_peek(&rt->extraM.length), 1);
    CHECK_EQ(a_peek(&rt->extraM.inuse), 0);
    CHECK_EQ(sched->mnext, n + 1);
}

TEST_CASE(Rules, AnExtraMIsMadeOnlyWhereThereIsNone) { each_release(one_is_enough); }

/* proc.go dropm: since 1.22 the M must not find the P it left in its last call. */
static void forgets_its_p(struct m *mp)
{
    (void)mp;
    newextram();
    struct m *extra = getExtraM();
    struct g *gp = extra->lockedg;
    needm(extra, gp);
    uint32_t tick = extra->syscalltick;
    dropm(extra, gp);
    CHECK_EQ(tick - extra->syscalltick, prof->release >= 22);
}

TEST_CASE(Rules, AnExtraMThatIsGivenBackForgetsItsP) { each_release(forgets_its_p); }

/* Since 1.21 extra Ms are not counted; but an M that is being made is not an extra one yet. */
static void one_too_many(struct m *mp)
{
    (void)mp;
    world_prof.maxmcount = sched->mnext - sched->nmfreed;
    newextram();
}

TEST_CASE(Rules, AnExtraMIsCountedWhileItIsMade)
{
    for (int release = 13; release <= 27; release++) {
        CHECK_EQ(world_until(UINT64_MAX, release, PROCS, &(struct host_opts){0}, one_too_many),
                 END_FINDING);
        host_virt.close();
    }
}

/* ---- Gs ---- */

static void uses_again(struct m *mp)
{
    struct g *dead = g_of(Gdead);
    gfput(mp_p(mp), dead);
    CHECK(newproc1(false, waitReasonZero) == dead);
    CHECK(newproc1(false, waitReasonZero) != dead);
}

TEST_CASE(Rules, DeadGsAreUsedAgain) { each_release(uses_again); }

/* ---- the order of locks ---- */

static bool may_hold(enum lockrank taken, enum lockrank held)
{
    return (lockrank_held(taken) >> held & 1) != 0;
}

/* Read off lockPartialOrder of lockrank.go: 1.19 by hand, 1.22 generated, 1.23 with channels and
 * timers the other way round. */
static const struct {
    enum lockrank taken, held;
    bool in19, in22, in23;
} edges[] = {
    {lockRankAllg, lockRankForcegc, false, true, true},
    {lockRankAllp, lockRankSweepWaiters, false, true, true},
    {lockRankAllp, lockRankSched, true, true, true},
    {lockRankTimers, lockRankAssistQueue, false, true, false},
    {lockRankTimers, lockRankSched, true, true, false},
    {lockRankTimers, lockRankAllg, false, false, false},
    {lockRankTimers, lockRankHchan, false, false, true},
    {lockRankTimer, lockRankTimer, false, false, false},
    {lockRankNetpollInit, lockRankPollDesc, false, true, true},
    {lockRankNetpollInit, lockRankSched, false, true, false},
    {lockRankHchan, lockRankSysmon, false, true, true},
    {lockRankHchan, lockRankTimers, false, false, false},
    {lockRankSudog, lockRankSysmon, false, true, true},
    {lockRankSudog, lockRankSched, false, false, false},
    {lockRankSched, lockRankHchan, false, false, true},
    {lockRankSched, lockRankSched, false, false, false},
    {lockRankMheap, lockRankForcegc, false, true, true},
    {lockRankMheap, lockRankTimer, false, false, true},
    {lockRankMheap, lockRankGFree, false, false, false},
    {lockRankGFree, lockRankMheap, true, true, true},
};

static void right_order(struct m *mp)
{
    (void)mp;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        bool want = prof->timers_v2          ? edges[i].in23
                    : prof->lock_order_graph ? edges[i].in22
                                             : edges[i].in19;
        if (may_hold(edges[i].taken, edges[i].held) != want)
            FAIL_CASE("go1.%d: edge %zu", prof->release, i);
    }
    CHECK_EQ(prof->lock_order_graph, prof->sched_bools); /* both since 1.20 */
}

TEST_CASE(Rules, WhatMayBeHeldIsTheReleasesOwn) { each_release(right_order); }

/* ---- the spin-bit mutex ---- */

static uint64_t word_of(const struct m *sleeper, uint64_t flags)
{
    return flags | (uint64_t)SLEEPING | ((uint64_t)sleeper->id + 1) << HEAD_SHIFT;
}

static struct m *idle_m(int32_t id)
{
    struct m *mp = host_alloc(sizeof *mp, 64);
    mp->id = id;
    rt->ms[id] = mp;
    return mp;
}

static struct mutex *free_mutex(void)
{
    struct mutex *l = host_alloc(sizeof *l, 64);
    lockInit(l, lockRankLeaf);
    return l;
}

static void keeps_hint(struct m *mp)
{
    struct mutex *l = free_mutex();
    if (!prof->spinbit)
        return;
    a_store(&l->word, word_of(mp, 0));
    lock(l);
    CHECK_EQ(a_peek(&l->word), word_of(mp, LOCKED));
}

TEST_CASE(Rules, TakingALockForgetsNoSleeper) { each_release(keeps_hint); }

/* Two sleepers and a spinner: one unlock in 16 wakes the one that has slept longest, the others
 * wake nobody. */
static void wakes_eldest(struct m *mp)
{
    enum { N = 3200 };
    struct mutex *l = free_mutex();
    struct m *top = idle_m(40), *bottom = idle_m(41);
    int woken = 0;
    (void)mp;
    if (!prof->spinbit)
        return;
    for (int i = 0; i < N; i++) {
        top->mWaitNext = (uint64_t)bottom->id + 1;
        bottom->mWaitNext = 0;
        a_store(&bottom->waitsema, 0u);
        a_store(&l->word, word_of(top, (uint64_t)LOCKED | SPINNING));
        unlock_spinbit(l);
        CHECK_EQ(a_peek(&top->waitsema), 0);
        CHECK_EQ(top->mWaitNext == 0, a_peek(&bottom->waitsema) == 1);
        woken += a_peek(&bottom->waitsema) == 1;
    }
    CHECK_GT(woken, N / 16 * 3 / 4);
    CHECK_GT(N / 16 * 5 / 4, woken);
}

TEST_CASE(Rules, OneUnlockIn16WakesWhoSleptLongest) { each_release(wakes_eldest); }

/* ---- channels, timers, pools ---- */

static void refuses_closed(struct m *mp)
{
    struct hchan *c = makechan(1);
    bool closed = true;
    (void)mp;
    CHECK(chansend_nb(c, 1, &closed));
    CHECK(!closed);
    CHECK(!chansend_nb(c, 2, &closed)); /* full */
    CHECK(!closed);
    closechan_open(c);
    CHECK(!chansend_nb(c, 2, &closed));
    CHECK(closed);
}

TEST_CASE(Rules, ASendToAClosedChannelPanicsFullOrNot) { each_release(refuses_closed); }

static void no_op(void *arg, uint64_t seq, int64_t delay)
{
    (void)arg;
    (void)seq;
    (void)delay;
}

/* Equal times do not overtake on the way up; who is added last stays behind its parents. */
static void keeps_places(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[6];
    if (!prof->timers_v2)
        return;
    for (int i = 0; i < 6; i++) {
        t[i] = host_alloc(sizeof *t[i], 64);
        timer_init(t[i], no_op, NULL);
        (void)timer_modify(t[i], 1000000000, 0, no_op, NULL, 0);
    }
    for (uint32_t i = 0; i < 6; i++)
        CHECK(ts->heap[i].timer == t[i]);
}

TEST_CASE(Rules, EqualTimersDoNotOvertake) { each_release(keeps_places); }

static void moves_timers(struct m *mp)
{
    struct timers *from = &mp_p(mp)->timers, *to = &rt->allp[1]->timers;
    if (!prof->timers_v2)
        return;
    for (int i = 0; i < 3; i++) {
        struct timer *t = host_alloc(sizeof *t, 64);
        timer_init(t, no_op, NULL);
        (void)timer_modify(t, 1000000000 - i, 0, no_op, NULL, 0);
    }
    moveTimers(to, from);
    CHECK_EQ(from->n, 0);
    CHECK_EQ(a_peek(&from->len), 0);
    CHECK_EQ(to->n, 3);
    CHECK_EQ(a_peek(&to->len), 3);
    CHECK_EQ(to->heap[0].when, 1000000000 - 2);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(to->heap[i].timer->ts == to);
}

TEST_CASE(Rules, TheTimersOfAPThatGoesArrive) { each_release(moves_timers); }

/* ---- the reader of a trace ---- */

/* With so many full buffers and such marks, does the scheduler find a reader that waits? To 1.21
 * for a buffer and at the end; since 1.22 when it was told of work or is behind in a generation
 * that is flushed; at the end alone only to 1.24, because it would find nothing yet. */
static bool reader_wanted(bool full, bool told, bool behind, bool ends)
{
    if (!prof->trace_generations)
        return full || ends;
    return told || behind || (ends && !prof->trace_reader_waits);
}

static void set_trace(bool full, bool told, bool behind, bool ends, struct g *reader)
{
    struct tracer *tr = &rt->trace;
    a_store(&tr->full[0], full);
    a_store(&tr->workAvailable, told);
    a_store(&tr->readerGen, (uint64_t)4);
    a_store(&tr->flushedGen, (uint64_t)(behind ? 4 : 3));
    a_store(&tr->shutdown, ends);
    a_store(&tr->reader, reader);
}

static void wants_reader(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    (void)mp;
    for (int bits = 0; bits < 16; bits++) {
        bool full = bits & 1, told = bits & 2, behind = bits & 4, ends = bits & 8;
        bool wanted = reader_wanted(full, told, behind, ends);
        set_trace(full, told, behind, ends, NULL);
        CHECK(traceReader() == NULL); /* it does not wait */
        set_trace(full, told, behind, ends, gp);
        CHECK_EQ(traceReader() == gp, wanted);
        CHECK_EQ(a_peek(&rt->trace.reader) == NULL, wanted); /* nobody finds it twice */
    }
}

TEST_CASE(Rules, TheReaderOfATraceIsFoundWhenThereIsSomething) { each_release(wants_reader); }

/* ReadTrace's unlockf: the reader shows itself, and looks once more for what came after its last
 * look and before it could be found. */
static void parks_reader(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    (void)mp;
    for (int bits = 0; bits < 16; bits++) {
        bool full = bits & 1, told = bits & 2, behind = bits & 4, ends = bits & 8;
        bool stays = !reader_wanted(full, told, behind, ends);
        set_trace(full, told, behind, ends, NULL);
        CHECK_EQ(reader_parks(gp, NULL), stays);
        CHECK_EQ(a_peek(&rt->trace.reader) == gp, stays);
    }
}

TEST_CASE(Rules, TheReaderOfATraceLooksOnceMoreBeforeItSleeps)
{
    for (int release = 20; release <= 27; release++) /* before, it shows itself under the lock */
        world(release, PROCS, &(struct host_opts){0}, parks_reader);
}
