/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about gcwork.c: what marking takes and pays to the byte, who is asked to
 * help, when a worker looks whether it is wanted elsewhere. */

static void set_marking(bool on) { a_store(&rt->gc.blackenEnabled, on); }

static void takes_work(struct m *mp)
{
    static const int64_t rows[][3] = {{0, 5, 0}, {-3, 5, 0}, {1, 5, 1}, {5, 5, 5}, {6, 5, 5}};
    (void)mp;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a_store(&rt->gc.remaining, rows[i][0]);
        CHECK_EQ(take_work(rows[i][1]), rows[i][2]);
        CHECK_EQ(a_peek(&rt->gc.remaining), rows[i][0] - rows[i][2]);
    }
    for (int64_t fanout = 0; fanout <= 2; fanout++) { /* what was scanned points to so much */
        world_prof.gc_fanout = fanout;
        a_store(&rt->gc.remaining, INT64_C(0));
        a_store(&rt->gc.hidden, INT64_C(15));
        reveal(10);
        CHECK_EQ(a_peek(&rt->gc.remaining), fanout == 2 ? 15 : 10 * fanout);
        CHECK_EQ(a_peek(&rt->gc.hidden), fanout == 2 ? 0 : 15 - 10 * fanout);
    }
    world_prof.gc_fanout = 0;
    a_store(&rt->gc.remaining, INT64_C(0));
}

TEST_CASE(WorkRules, WorkIsTakenOnce) { each_leak_world(20, takes_work); }

/* ---- credit ---- */

static struct g *in_debt(int32_t debt)
{
    struct g *gp = g_of(Gwaiting);
    gp->gcAssistBytes = -debt;
    gQueue_pushBack(&rt->gc.assistQueue, gp);
    a_store(&rt->gc.nassist, rt->gc.assistQueue.size);
    return gp;
}

/* Two wait with debts of 10 and `second`; a byte of work pays ratio / 65536 bytes' debt. Then so
 * many wait, the first one of them owes `owes`, and so much work is credit. */
static const struct {
    int64_t ratio, work;
    int32_t second, waiting, owes;
    int64_t credit;
} flushes[] = {
    {RATIO_ONE, 9, 5, 2, 5, 0}, /* in part: it goes to the back */
    {RATIO_ONE, 10, 5, 1, 5, 0},
    {RATIO_ONE, 11, 5, 1, 4, 0},
    {RATIO_ONE, 11, 1, 0, 0, 0},
    {RATIO_ONE, 12, 1, 0, 0, 1},
    {RATIO_ONE, 14, 1, 0, 0, 3},
    {RATIO_ONE * 2, 22, 1, 0, 0, 0},
    {RATIO_ONE * 2, 26, 1, 0, 0, 4},
    {0, 11, 1, 0, 0, 0}, /* no ratio yet: byte for byte */
    {1, 1, 1, 0, 0, 0},  /* much for little */
};

static void flushes_credit(struct m *mp)
{
    struct gcController *c = &rt->gc;
    bool inherit;
    a_store(&sched->nmspinning, 1);
    for (size_t i = 0; i < sizeof flushes / sizeof *flushes; i++) {
        c->assistQueue = (struct gQueue){0};
        struct g *first = in_debt(10), *second = in_debt(flushes[i].second);
        a_store(&c->assistRatio, flushes[i].ratio);
        a_store(&c->bgScanCredit, INT64_C(0));
        gcFlushBgCredit(flushes[i].work);
        CHECK_EQ(c->assistQueue.size, flushes[i].waiting);
        CHECK_EQ(readgstatus(first), flushes[i].waiting < 2 ? Grunnable : Gwaiting);
        CHECK_EQ(readgstatus(second), flushes[i].waiting < 1 ? Grunnable : Gwaiting);
        CHECK_EQ(first->gcAssistBytes, flushes[i].waiting < 2 ? 0 : -1);
        CHECK_EQ(second->gcAssistBytes, -flushes[i].owes);
        if (flushes[i].waiting > 0)
            CHECK(c->assistQueue.head == second);
        if (flushes[i].ratio > 1)
            CHECK_EQ(a_peek(&c->bgScanCredit), flushes[i].credit);
        if (flushes[i].waiting < 2)
            CHECK_EQ(a_peek(&c->nassist), flushes[i].waiting);
        while (runqget(mp_p(mp), &inherit) != NULL)
            ;
    }
    c->assistQueue = (struct gQueue){0};
    a_store(&c->nassist, 0);
    a_store(&c->bgScanCredit, INT64_C(0));
    gcFlushBgCredit(7); /* nobody waits: all of it is credit */
    CHECK_EQ(a_peek(&c->bgScanCredit), 7);
}

TEST_CASE(WorkRules, WhatIsMarkedPaysWhoWaitsInOrder) { each_leak_world(20, flushes_credit); }

/* An assist takes what credit there is, and marks the rest itself. */
static void steals_credit(struct m *mp)
{
    static const int64_t rows[][4] = {/* credit, work, left to do, paid */
                                      {-1, 100, 100, 0}, {0, 100, 100, 0},
                                      {1, 100, 99, 2}, /* a byte more, for who divides */
                                      {99, 100, 1, 100}, {100, 100, 0, 77}, /* the debt */
                                      {500, 100, 0, 77}};
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a_store(&rt->gc.bgScanCredit, rows[i][0]);
        gp->gcAssistBytes = 0;
        CHECK_EQ(steal_credit(gp, rows[i][1], 77, RATIO_ONE), rows[i][2]);
        CHECK_EQ(gp->gcAssistBytes, rows[i][3]);
        CHECK_EQ(a_peek(&rt->gc.bgScanCredit), rows[i][0] - (rows[i][1] - rows[i][2]));
    }
}

TEST_CASE(WorkRules, AnAssistTakesWhatOthersEarned) { each_leak_world(20, steals_credit); }

/* An assist of who owes nothing is none; else it pays for 64 KB of work at least. */
static void pays(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *gp = user(mp);
    const int64_t much = INT64_C(1) << 50;
    for (int32_t debt = -1; debt <= 1; debt++)
        for (int on = 0; on <= 1; on++) {
            set_marking(on);
            a_store(&c->assistRatio, INT64_C(2) * RATIO_ONE);
            a_store(&c->bgScanCredit, much);
            gp->gcAssistBytes = -debt;
            CHECK_EQ(gcAssistAlloc(gp), OP_DONE);
            bool owes = on && debt > 0;
            CHECK_EQ(gp->gcAssistBytes, owes ? -debt + OVER_ASSIST / 2 : -debt);
            CHECK_EQ(a_peek(&c->bgScanCredit), owes ? much - OVER_ASSIST : much);
        }
    gp->gcAssistBytes = -100000;
    a_store(&c->bgScanCredit, much);
    CHECK_EQ(gcAssistAlloc(gp), OP_DONE); /* more than 64 KB: what it owes */
    CHECK_EQ(gp->gcAssistBytes, 0);
    CHECK_EQ(a_peek(&c->bgScanCredit), much - 200000);
    gp->gcAssistBytes = -100;
    a_store(&c->assistRatio, INT64_C(0)); /* nothing to do: as little as can be said */
    a_store(&c->bgScanCredit, much);
    CHECK_EQ(gcAssistAlloc(gp), OP_DONE);
    CHECK_EQ(gp->gcAssistBytes, ASSIST_MAX - 100);
    CHECK_EQ(a_peek(&c->bgScanCredit), much - OVER_ASSIST);
    set_marking(false);
    a_store(&c->bgScanCredit, INT64_C(0));
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(WorkRules, AnAssistPaysForAtLeast64KB) { each_leak_world(20, pays); }

/* Where no bytes are left an assist takes roots: variables count, a stack does not. A worker's
 * roots are credit. */
static void assists_with_roots(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = mp_p(mp);
    struct g *gp = user(mp);
    world_prof.gc_data_kb = 3;
    world_prof.gc_bss_kb = 5;
    set_marking(true);
    a_store(&c->assistRatio, (int64_t)RATIO_ONE);
    a_store(&c->bgScanCredit, INT64_C(0));
    for (int worker = 0; worker <= 1; worker++) {
        gp->gcAssistBytes = 0;
        a_store(&c->remaining, INT64_C(0));
        roots_chain(&c->fixedRoot);
        struct g *data = c->fixedRoot.alllink, *bss = data->alllink;
        c->rootLast = bss;
        a_store(&c->rootNext, data);
        if (worker)
            gcDrain(gp, pp, gcDedicated, false);
        else
            CHECK(!assist_mark(gp, 3 * 1024, RATIO_ONE)); /* the other root is left */
        CHECK(a_peek(&c->rootNext) == (worker ? NULL : bss));
        CHECK_EQ(gp->gcAssistBytes, worker ? 0 : 1 + 3 * 1024);
        CHECK_EQ(a_peek(&c->bgScanCredit), worker * 8 * 1024);
    }
    set_marking(false);
    a_store(&c->bgScanCredit, INT64_C(0));
    world_prof.gc_data_kb = world_prof.gc_bss_kb = 0;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(WorkRules, AnAssistTakesRootsWhereNoBytesAreLeft)
{
    each_leak_world(20, assists_with_roots);
}

/* Who finds credit after it has shown itself goes on, and is in no queue. */
static void finds_credit(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *gp = user(mp);
    enum opres r;
    set_marking(true);
    struct g *other = in_debt(5);
    a_store(&c->bgScanCredit, INT64_C(1));
    CHECK(!gcParkAssist(gp, &r));
    CHECK(c->assistQueue.head == other && c->assistQueue.tail == other);
    CHECK(other->schedlink == NULL);
    CHECK_EQ(c->assistQueue.size, 1);
    set_marking(false);
    CHECK(gcParkAssist(gp, &r)); /* marking is over */
    lock(&c->assistLock);        /* nobody has it */
    unlock(&c->assistLock);
    c->assistQueue = (struct gQueue){0};
    a_store(&c->nassist, 0);
    a_store(&c->bgScanCredit, INT64_C(0));
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(WorkRules, WhoFindsCreditDoesNotWait) { each_leak_world(20, finds_credit); }

/* ---- workers ---- */

static void drains_work(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = user(mp);
    int64_t unchecked = 99999;
    a_store(&sched->npidle, 0);
    CHECK(!drain_over(gp, pp, gcIdle, true, &unchecked));
    CHECK_EQ(unchecked, 99999);
    unchecked++;
    CHECK(!drain_over(gp, pp, gcDedicated, true, &unchecked)); /* it has nothing else to do */
    CHECK_EQ(unchecked, 100000);
    CHECK(!drain_over(gp, pp, gcIdle, true, &unchecked)); /* no work: it goes on, and looks again */
    CHECK_EQ(unchecked, 0);
    put_n(pp, 1);
    unchecked = 100000;
    CHECK(drain_over(gp, pp, gcIdle, true, &unchecked));
    empty_queues(pp);
    /* one that marks a share of the time looks as seldom: here it has had too much of it */
    rt->gc.markStart = nanotime() + 1000000;
    unchecked = 99999;
    CHECK(!drain_over(gp, pp, gcFractional, true, &unchecked));
    unchecked++;
    CHECK(drain_over(gp, pp, gcFractional, true, &unchecked));
    CHECK_EQ(unchecked, 0);
    /* all that is marked is credit, to the byte */
    set_marking(true);
    for (int64_t n = 1; n <= 3 * DRAIN_BYTES; n = n * 3 + 1) {
        a_store(&rt->gc.rootNext, (struct g *)NULL);
        a_store(&rt->gc.bgScanCredit, INT64_C(0));
        a_store(&rt->gc.remaining, n);
        gcDrain(gp, pp, gcDedicated, false);
        CHECK_EQ(a_peek(&rt->gc.remaining), 0);
        CHECK_EQ(a_peek(&rt->gc.bgScanCredit), n);
    }
    set_marking(false);
    a_store(&rt->gc.bgScanCredit, INT64_C(0));
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(WorkRules, AnIdleWorkerLooksForWorkEvery100000Bytes) { each_leak_world(20, drains_work); }

/* A worker's mode is over with its round. */
static void ends_round(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = user(mp);
    set_marking(true);
    a_store(&rt->gc.rootNext, (struct g *)NULL);
    a_store(&rt->gc.remaining, INT64_C(0));
    a_store(&rt->gc.dedicatedNeeded, 0);
    pp->gc.mode = gcDedicated;
    CHECK(worker_body(gp, pp)); /* the last one, and nothing is left */
    CHECK_EQ(pp->gc.mode, gcNotWorker);
    CHECK_EQ(readgstatus(gp), Grunning);
    CHECK_EQ(a_peek(&rt->gc.dedicatedNeeded), 1); /* one is missing again */
    set_marking(false);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(WorkRules, AWorkersModeEndsWithItsRound) { each_leak_world(20, ends_round); }

/* Another P's M that runs a G; with two Ps there is no other to draw. */
static void enlists_other(struct m *mp)
{
    struct p *other = rt->allp[1];
    struct m *its = host_alloc(sizeof *its, 64);
    struct g *gp = g_of(Grunning);
    if (rt->allp_len == 1) {
        uint64_t rng = mp->rng;
        enlist_by_preemption();
        CHECK_EQ(mp->rng, rng); /* nobody to draw */
        return;
    }
    its->id = mp->id;
    a_store(&its->curg, gp);
    a_store(&its->signalPending, 1u); /* one is on its way: the host is not asked for one */
    a_store(&other->m, its);
    a_store(&rt->gc.dedicatedNeeded, 1);
    a_store(&sched->npidle, 0);
    for (int64_t left = 0; left <= 1; left++) {
        a_store(&rt->gc.remaining, left);
        share_work(1);
        CHECK(!a_peek(&gp->preempt)); /* it does not run */
        a_store(&other->status, (uint32_t)Prunning);
        share_work(1);
        CHECK_EQ(a_peek(&gp->preempt), left > 0); /* a byte is enough to ask */
        a_store(&other->status, (uint32_t)Pidle);
    }
    a_store(&other->m, (struct m *)NULL);
    a_store(&rt->gc.dedicatedNeeded, 0);
    a_store(&rt->gc.remaining, INT64_C(0));
}

TEST_CASE(WorkRules, WhoMakesWorkKnownAsksAnotherP)
{
    for (int release = 14; release <= 27; release++) {
        world(release, 1, &(struct host_opts){0}, enlists_other);
        world(release, 2, &(struct host_opts){0}, enlists_other);
    }
}

/* ---- who moves to another queue is recorded ---- */

static uint64_t moves_seen;

static void sees_moves(void *arg, const struct event_rec *recs, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        moves_seen += recs[i].type == EV_G_MOVE && recs[i].c == EV_place_global;
}

static void gives_ring(struct m *mp)
{
    struct p *pp = mp_p(mp);
    put_n(pp, 3);
    give_ring_away(pp);
    CHECK_EQ(ring_size(pp), 0);
    check_queue(&sched->runq, 1, 3);
    empty_queues(pp);
}

TEST_CASE(WorkRules, ARingThatIsGivenAwayIsSeenToMove)
{
    for (int release = 14; release <= 27; release++) {
        moves_seen = 0;
        world(release, PROCS, &(struct host_opts){.sink = sees_moves, .moves = true}, gives_ring);
        CHECK_EQ(moves_seen, 3);
    }
}
