/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what one line does: a mark that is taken back, a count that goes
 * down again, an answer for nothing. */

/* ---- who knows of a runnable G ---- */

/* On a queue a G is nobody's; between two queues it is the M's that moves it. */
static void belongs(struct m *mp)
{
    enum { MANY = 3 };
    struct p *pp = mp_p(mp);
    struct gQueue q = {0};
    bool inherit;
    struct g *gp = runnable();
    runq_own(gp);
    CHECK_EQ(gp->owner, mp->id + 1);
    runqput(pp, gp, /*next*/ false);
    CHECK_EQ(gp->owner, 0);
    CHECK(runqget(pp, &inherit) == gp);
    CHECK_EQ(gp->owner, mp->id + 1);
    for (int i = 0; i < MANY; i++) {
        gp = runnable();
        runq_own(gp);
        gQueue_pushBack(&q, gp);
    }
    runqputbatch(pp, &q);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(a_peek(runq_slot(pp, a_peek(&pp->runqhead) + (uint32_t)i))->owner, 0);
}

TEST_CASE(Rules, AGOnAQueueIsNobodys) { each_release(belongs); }

/* ---- timers of 1.14 and 1.15 ---- */

static int64_t earliest(struct timers *ts)
{
    return sleepUntil_scan(ts, a_peek(&ts->adjustTimers));
}

/* adjustTimers counts the timers that wait for an earlier place; while there is one, the first time
 * of the heap says nothing. */
static void counts_earlier(struct m *mp)
{
    enum { FIRST = 1000000000, LATER = 2000000000, EARLY = 500000000 };
    struct timers *ts = &mp_p(mp)->timers;
    if (!prof->per_p_timers || prof->timers_v2 || prof->timer_earliest)
        return;
    struct timer *first = timer_at(FIRST), *t = timer_at(LATER);
    CHECK_EQ(a_peek(&ts->adjustTimers), 0);
    CHECK_EQ(nobarrierWakeTime(ts), FIRST);
    (void)timer_modify(t, EARLY, 0, no_op, NULL, 0);
    CHECK_EQ(a_peek(&ts->adjustTimers), 1);
    CHECK(nobarrierWakeTime(ts) < EARLY); /* at once */
    CHECK_EQ(earliest(ts), EARLY);
    CHECK_EQ(timeSleepUntil(), EARLY);
    CHECK(timer_stop(t));
    CHECK_EQ(a_peek(&ts->adjustTimers), 0);
    CHECK_EQ(nobarrierWakeTime(ts), FIRST);
    CHECK(timer_stop(first));
}

TEST_CASE(Rules, ATimerThatIsStoppedIsNotCountedAsEarlier) { each_release(counts_earlier); }

/* What is left of a heap whose last timer was stopped is no time. */
static void nothing_left(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    if (!prof->per_p_timers || prof->timers_v2)
        return;
    (void)timer_stop(timer_at(1000000000));
    lock(&ts->mu);
    CHECK_EQ(runtimer(ts, nanotime()), -1);
    unlock(&ts->mu);
    CHECK_EQ(ts->n, 0);
}

TEST_CASE(Rules, AHeapOfStoppedTimersIsEmpty) { each_release(nothing_left); }

/* ---- sync.Pool ---- */

static void spares(struct m *mp)
{
    struct pool *o = pool_make();
    struct poolLocals *a = locals_new(o, PROCS), *b = locals_new(o, PROCS);
    (void)mp;
    locals_collect(o, a);
    locals_collect(o, b);
    CHECK(locals_new(o, PROCS) == b);
    CHECK(locals_new(o, PROCS) == a);
    CHECK(locals_new(o, PROCS) != a);
}

TEST_CASE(Rules, WhatAPoolHasNoUseForIsUsedAgain) { each_release(spares); }

/* ---- the collector ---- */

/* Marking is over: whoever came to wait for credit goes on. */
static void no_wait(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    enum opres r = OP_MCALL;
    a_store(&mp->curg, gp);
    CHECK(gcParkAssist(gp, &r));
    CHECK_EQ(r, OP_DONE);
    CHECK(rt->gc.assistQueue.head == NULL);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, NobodyWaitsForCreditAfterMarking) { each_release(no_wait); }

/* ---- descriptors ---- */

/* A timer set before the close finds another sequence number, and does nothing. */
static void closes(struct m *mp)
{
    struct pollDesc *pd = host_alloc(sizeof *pd, 64);
    (void)mp;
    netpollGenericInit();
    pd->rseq = 4;
    pd->wseq = 7;
    pollUnblock(pd);
    CHECK(pd->closing);
    CHECK_EQ(pd->rseq, 5);
    CHECK_EQ(pd->wseq, 8);
}

TEST_CASE(Rules, ACloseMakesDeadlinesStale) { each_release(closes); }

/* ---- channels, without waiting ---- */

static void tries_channels(struct m *mp)
{
    struct hchan *c;
    bool closed, received;
    int64_t v = 9;
    (void)mp;
    (void)chan_object(1, &c);
    CHECK(!chanrecv_nb(c, &v, &received));
    CHECK(!received);
    CHECK_EQ(v, 0);
    CHECK(chansend_nb(c, 5, &closed));
    CHECK(!chansend_nb(c, 6, &closed)); /* full */
    CHECK(!closed);
    CHECK(chanrecv_nb(c, &v, &received));
    CHECK(received);
    CHECK_EQ(v, 5);
    CHECK(!chansend_nb(NULL, 6, &closed));
    CHECK(!closed);
    CHECK(!chanrecv_nb(NULL, &v, &received));
    CHECK(!received);
}

TEST_CASE(Rules, ATryOfAChannelDoesNotWait) { each_release(tries_channels); }

/* ---- statuses ---- */

static void edges_of_statuses(struct m *mp)
{
    (void)mp;
    for (uint32_t s = 0; s < 32; s++) {
        CHECK(!gstatus_edge(12, s));
        CHECK(!gstatus_edge(s, 12));
        CHECK(!gstatus_edge(s + 12, Grunnable));
    }
}

TEST_CASE(Rules, ANumberThatIsNoStatusHasNoEdge) { each_release(edges_of_statuses); }

/* ---- counters ---- */

static void counts(struct m *mp)
{
    uint64_t parks = mp->counters[C_futexwakes];
    semawakeup(mp);
    CHECK_EQ(mp->counters[C_futexwakes], parks + 1);
    CHECK_EQ(a_peek(&mp->waitsema), 1);
}

TEST_CASE(Rules, AWakeUpIsCounted) { each_release(counts); }

/* ---- extra Ms ---- */

/* 1.26+: who is in a call without a P is counted, until it gives its M back. */
static void uncounts(struct m *mp)
{
    if (!prof->sys_block_on_exit)
        return;
    struct m *extra = host_alloc(sizeof *extra, 64);
    struct g *gp = g_of(Gsyscall);
    (void)mp;
    a_store(&sched->nGsyscallNoP, 3);
    dropm(extra, gp);
    CHECK_EQ(a_peek(&sched->nGsyscallNoP), 2);
    CHECK_EQ(readgstatus(gp), gdeadextra());
}

TEST_CASE(Rules, AnExtraMThatIsGivenBackIsInNoCall) { each_release(uncounts); }
