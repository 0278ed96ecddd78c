/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about netpoll.c: how long a poll sleeps, what a descriptor says, and the
 * one or two timers of its deadlines. */

static void delays_of_polls(struct m *mp)
{
    static const int64_t rows[][2] = {{-5, -1},
                                      {-1, -1},
                                      {0, 0},
                                      {1, 1000000},
                                      {999999, 1000000},
                                      {1000000, 1000000},
                                      {1999999, 1000000},
                                      {2000000, 2000000},
                                      {INT64_C(999999999999999), INT64_C(999999999000000)},
                                      {INT64_C(1000000000000000), INT64_C(1000000000000000)},
                                      {INT64_MAX, INT64_C(1000000000000000)}};
    (void)mp;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(netpoll_delay(rows[i][0]), rows[i][1]);
}

TEST_CASE(PollRules, APollSleepsWholeMilliseconds) { each_leak_world(27, delays_of_polls); }

static struct pollDesc *desc(void) { return &netpoll_open(-1)->pd; }

static void says_errors(struct m *mp)
{
    struct pollDesc *pd = desc();
    (void)mp;
    for (int bits = 0; bits < 8; bits++) {
        int64_t closing = (bits & 1) != 0 ? pollErrClosing : pollNoError;
        pd->closing = bits & 1;
        pd->rd = (bits & 2) != 0 ? -1 : 0;
        pd->wd = (bits & 4) != 0 ? -1 : 5;
        publishInfo(pd);
        CHECK_EQ(netpollcheckerr(pd, POLL_R), closing != pollNoError ? closing
                                              : (bits & 2) != 0      ? pollErrTimeout
                                                                     : pollNoError);
        CHECK_EQ(netpollcheckerr(pd, POLL_W), closing != pollNoError ? closing
                                              : (bits & 4) != 0      ? pollErrTimeout
                                                                     : pollNoError);
    }
}

TEST_CASE(PollRules, ADescriptorIsClosedOrLate) { each_leak_world(27, says_errors); }

/* A G that waits for pd in this mode, counted. */
static struct g *parks_at(struct pollDesc *pd, enum poll_mode mode)
{
    struct g *gp = g_of(Gwaiting);
    a_store(poll_word(pd, mode), pdWait);
    CHECK(netpollblockcommit(gp, poll_word(pd, mode)));
    return gp;
}

static int32_t waiters(void) { return a_peek(&rt->netpoll->waiters); }

static void readies(struct m *mp)
{
    (void)mp;
    netpollGenericInit();
    for (uint32_t mode = 1; mode <= 3; mode++) {
        struct pollDesc *pd = desc();
        struct gList list = {0};
        struct g *rg = parks_at(pd, POLL_R), *wg = parks_at(pd, POLL_W);
        int32_t before = waiters(), n = (int32_t)((mode & 1) + (mode >> 1));
        int32_t delta = netpollready(&list, pd, mode);
        bool at_once = prof->netpoll_delta && !prof->waiters_after_ready;
        CHECK_EQ(delta, at_once ? 0 : -n);
        CHECK_EQ(waiters(), at_once ? before - n : before);
        if ((mode & 2) != 0)
            CHECK(gList_pop(&list) == wg); /* pushed last */
        if ((mode & 1) != 0)
            CHECK(gList_pop(&list) == rg);
        CHECK(gList_empty(&list));
        CHECK_EQ(a_peek(&pd->rg) == pdReady, (mode & 1) != 0);
        CHECK_EQ(a_peek(&pd->wg) == pdReady, (mode & 2) != 0);
    }
}

TEST_CASE(PollRules, AnEventIsForReadersAndWriters)
{
    each_release(readies);
    rule_off = "waiters_after_ready"; /* they are counted down as they are found */
    each_release(readies);
    rule_off = NULL;
}

static bool timer_runs(const struct timer *t, timer_fn f)
{
    return timer_pending(t) && t->ts != NULL && t->f == f;
}

/* Both directions, and how one timer becomes two and one again. */
static void sets_deadlines(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct pollDesc *pd = desc();
    (void)mp;
    a_store(&sched->nmspinning, 1);
    netpollGenericInit();
    pollSetDeadline(pd, FAR, POLL_R);
    CHECK(pd->rrun && !pd->wrun && pd->rd > FAR && pd->wd == 0);
    CHECK(timer_runs(&pd->rt, netpollReadDeadline));
    CHECK(pd->rseq == 0 && pd->wseq == 0);
    pollSetDeadline(pd, 2 * (int64_t)FAR, POLL_W);
    CHECK(pd->rrun && pd->wrun && pd->wd > pd->rd);
    CHECK(timer_runs(&pd->wt, netpollWriteDeadline));
    CHECK(pd->rseq == 0 && pd->wseq == 0); /* the reader's timer is as it was */
    pollSetDeadline(pd, 3 * (int64_t)FAR, POLL_R | POLL_W);
    CHECK(pd->rd == pd->wd && pd->rrun && !pd->wrun);
    CHECK(pd->rseq == 1 && pd->wseq == 1); /* the old ones find nothing */
    CHECK(pd->rt.f == netpollDeadline && pd->rt.seq == 1);
    pollSetDeadline(pd, 4 * (int64_t)FAR, POLL_W);
    CHECK(pd->rrun && pd->wrun && pd->rseq == 2 && pd->wseq == 1);
    CHECK(pd->rt.f == netpollReadDeadline && pd->rt.seq == 2);
    CHECK(pd->wt.f == netpollWriteDeadline && pd->wt.seq == 1);
    pollSetDeadline(pd, 0, POLL_W);
    CHECK(pd->rrun && !pd->wrun && pd->wd == 0 && pd->rseq == 2 && pd->wseq == 2);
    pollSetDeadline(pd, 0, POLL_W); /* nothing runs: nothing changes */
    CHECK(pd->rseq == 2 && pd->wseq == 2);
    struct g *rg = parks_at(pd, POLL_R), *wg = parks_at(pd, POLL_W);
    int32_t before = waiters();
    pollSetDeadline(pd, -1, POLL_R | POLL_W); /* in the past: who waits goes on */
    CHECK(!pd->rrun && !pd->wrun && pd->rseq == 3 && pd->wseq == 2);
    CHECK_EQ(readgstatus(rg), Grunnable);
    CHECK_EQ(readgstatus(wg), Grunnable);
    CHECK_EQ(waiters(), before - 2);
    CHECK_EQ(netpollcheckerr(pd, POLL_R), pollErrTimeout);
    pd->closing = true;
    pollSetDeadline(pd, FAR, POLL_R);
    CHECK(pd->rd == -1 && !pd->rrun);
    lock(&pd->lock); /* it has let the lock go */
    unlock(&pd->lock);
    bool inherit;
    while (runqget(mp_p(mp), &inherit) != NULL)
        ;
}

/* A timer that fires: for one direction or both, and not with an old number. */
static void deadlines_pass(struct m *mp)
{
    bool inherit;
    a_store(&sched->nmspinning, 1);
    for (int read = 0; read < 2; read++)
        for (int write = !read; write < 2; write++)
            for (int old = 0; old < 2; old++) {
                struct pollDesc *pd = desc();
                pd->rd = pd->wd = 5;
                pd->rrun = true;
                pd->wrun = !read;
                pd->rseq = 8;
                pd->wseq = 9;
                struct g *rg = parks_at(pd, POLL_R), *wg = parks_at(pd, POLL_W);
                int32_t before = waiters();
                uint64_t seq = (read ? 8u : 9u) + (old ? 1u : 0u);
                (read && write ? netpollDeadline
                 : read        ? netpollReadDeadline
                               : netpollWriteDeadline)(pd, seq, 0);
                bool rwoken = read && !old, wwoken = write && !old;
                CHECK_EQ(readgstatus(rg) == Grunnable, rwoken);
                CHECK_EQ(readgstatus(wg) == Grunnable, wwoken);
                CHECK_EQ(pd->rd, rwoken ? -1 : 5);
                CHECK_EQ(pd->wd, wwoken ? -1 : 5);
                CHECK_EQ(netpollcheckerr(pd, POLL_R), rwoken ? pollErrTimeout : pollNoError);
                CHECK_EQ(netpollcheckerr(pd, POLL_W), wwoken ? pollErrTimeout : pollNoError);
                CHECK_EQ(waiters(), before - rwoken - wwoken);
                lock(&pd->lock);
                unlock(&pd->lock);
                while (runqget(mp_p(mp), &inherit) != NULL)
                    ;
            }
}

TEST_CASE(PollRules, EqualDeadlinesShareATimer)
{
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, sets_deadlines);
}
TEST_CASE(PollRules, ADeadlineThatPassesWakesItsSide) { each_release(deadlines_pass); }

/* Deadlines of 1 ns and of none; who has none is not late. */
static void deadlines_at_the_edge(struct m *mp)
{
    struct pollDesc *pd = desc();
    bool run = false;
    uint64_t seq = 4;
    (void)mp;
    netpollGenericInit();
    a_store(&sched->nmspinning, 1);
    deadline_timer(pd, &pd->rt, &run, &seq, 1, true, netpollReadDeadline);
    CHECK(run && timer_runs(&pd->rt, netpollReadDeadline));
    CHECK_EQ(pd->rt.when, 1);
    deadline_timer(pd, &pd->rt, &run, &seq, 0, true, netpollReadDeadline);
    CHECK(!run && !timer_pending(&pd->rt));
    CHECK_EQ(seq, 5);
    struct g *rg = parks_at(pd, POLL_R), *wg = parks_at(pd, POLL_W);
    pollSetDeadline(pd, 0, POLL_R | POLL_W);
    CHECK_EQ(readgstatus(rg), Gwaiting);
    CHECK_EQ(readgstatus(wg), Gwaiting);
}

TEST_CASE(PollRules, ADeadlineIsATimeAboveZero)
{
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, deadlines_at_the_edge);
}
