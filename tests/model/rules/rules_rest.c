/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what is left: a heap with timers of all states put in order, CPU
 * quotas, deadlines as package net counts them, where a goroutine is shown. */

/* Of timers that wait for another place, that were stopped, and that are as they were, one look
 * makes a heap in order; what was looked at is not looked at again. */
static void adjusts(struct m *mp)
{
    enum { N = 24, FAR = 1000000000 };
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[N];
    uint32_t left = 0;
    a_store(&sched->nmspinning, 1);
    for (int i = 0; i < N; i++)
        t[i] = timer_at(FAR + i * 1000);
    for (int i = 3; i < N; i += 3)
        (void)timer_stop(t[i]);
    for (int i = 4; i < N; i += 3)
        (void)timer_modify(t[i], FAR / 2 + (N - i) * 1000, 0, no_op, NULL, 0);
    timers_lock(ts);
    adjust(ts, FAR, true);
    CHECK_EQ(a_peek(&ts->zombies), 0);
    CHECK_EQ(a_peek(&ts->minWhenModified), 0);
    CHECK_EQ(a_peek(&ts->minWhenHeap), ts->heap[0].when);
    for (uint32_t i = 0; i < ts->n; i++) {
        CHECK_EQ(ts->heap[i].timer->state, timerHeaped);
        CHECK_EQ(ts->heap[i].timer->when, ts->heap[i].when);
        CHECK(i == 0 || ts->heap[(i - 1) / 4].when <= ts->heap[i].when);
    }
    timers_unlock(ts);
    for (int i = 0; i < N; i++)
        left += t[i]->ts != NULL;
    CHECK_EQ(ts->n, left);
    CHECK_EQ(a_peek(&ts->len), left);
    CHECK_EQ(left, N - 7);
    for (int i = 0; i < N; i++)
        CHECK_EQ(timer_stop(t[i]), i < 3 || i % 3 != 0);
}

TEST_CASE(RestRules, AHeapIsPutInOrderAtOnce)
{
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, adjusts);
}

/* The last timer of a heap. */
static void pops_last(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    a_store(&sched->nmspinning, 1);
    struct timer *t = timer_at(1000000000);
    timers_lock(ts);
    heap_pop(ts);
    CHECK_EQ(ts->n, 0);
    ts->n = 1;
    timers_unlock(ts);
    CHECK(timer_stop(t));
}

TEST_CASE(RestRules, AHeapOfOneIsEmptied) { each_leak_world(23, pops_last); }

/* ---- quotas: rounded up, at least 2, at most the CPUs ---- */

static int32_t want_procs;
static void has_quota(struct m *mp)
{
    (void)mp;
    CHECK_EQ(quota_procs(8), want_procs);
    CHECK_EQ(defaultGOMAXPROCS(), prof->release >= 25 ? want_procs : 8);
}

TEST_CASE(RestRules, AQuotaIsRoundedUpAndAtLeastTwo)
{
    static const int64_t rows[][2] = {{1000, 2},   {100000, 2}, {199999, 2}, {200000, 2},
                                      {200001, 3}, {300000, 3}, {700001, 8}, {900000, 8}};
    for (int release = 24; release <= 27; release++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            want_procs = (int32_t)rows[i][1];
            world(release, PROCS,
                  &(struct host_opts){.cpus = 8, .quota_us = rows[i][0], .period_us = 100000},
                  has_quota);
        }
}

/* ---- deadlines of package net: none, now, later ---- */

static void means_deadlines(struct m *mp)
{
    struct pollfd *fd = netpoll_open(-1);
    (void)mp;
    a_store(&sched->nmspinning, 1);
    netpollGenericInit();
    for (int64_t d = -2; d <= 2; d++) {
        netpoll_set_deadline(fd, d, POLL_R);
        if (d > 0)
            CHECK_GT(fd->pd.rd, 0);
        else
            CHECK_EQ(fd->pd.rd, d < 0 ? 0 : -1);
        netpoll_set_deadline(fd, -1, POLL_R);
        CHECK_EQ(fd->pd.rd, 0);
        CHECK(!fd->pd.rrun);
    }
}

TEST_CASE(RestRules, ADeadlineOfZeroIsNow) { each_release(means_deadlines); }

/* ---- where a goroutine is ---- */

static void shows(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    (void)mp;
    for (gp->func = 0; gp->func < 3; gp->func++)
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t entry = leak_funcs[gp->func].entry;
            gp->pc = entry + i;
            CHECK_EQ(shown_pc(&leak_program, gp), entry + (i > 0 ? i - 1 : 0));
        }
}

TEST_CASE(RestRules, AGIsShownAtItsLastInstruction) { each_leak_world(27, shows); }

/* ---- contexts ---- */

/* A cancel ends a tree and nothing that an earlier one had chained. */
static void ends_tree(struct m *mp)
{
    struct ctx *c = host_alloc(sizeof *c, 16), *other = host_alloc(sizeof *other, 16);
    struct ctx *child = host_alloc(sizeof *child, 16);
    (void)mp;
    ctx_link(child, c);
    c->mark = child->mark = other;
    ctx_cancel(c, CTX_CANCELED);
    CHECK_EQ(a_peek(&c->err), CTX_CANCELED);
    CHECK_EQ(a_peek(&child->err), CTX_CANCELED);
    CHECK_EQ(a_peek(&other->err), CTX_OK);
    CHECK(c->children == NULL && c->last == NULL);
}

TEST_CASE(RestRules, ACancelEndsItsTreeAlone) { each_leak_world(27, ends_tree); }

/* ---- checks of a world at rest ---- */

static void sees_each_p(struct m *mp)
{
    (void)mp;
    CHECK(check_partition() == NULL);
    for (int id = 0; id < PROCS; id++) {
        uint32_t was = a_peek(&rt->allp[id]->status);
        a_store(&rt->allp[id]->status, (uint32_t)Pdead);
        CHECK(check_partition() != NULL);
        a_store(&rt->allp[id]->status, was);
    }
    CHECK(check_partition() == NULL);
}

TEST_CASE(RestRules, EachPHasOnePlace) { each_release(sees_each_p); }

static void looks(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64);
    struct g *gp = g_of(Grunning);
    rt->allm = mp;
    mp->alllink = other;
    other->alllink = NULL;
    CHECK(!somebody_looks()); /* m0 has a P and is in user code, for all that is known */
    a_store(&sched->needspinning, 1);
    CHECK(somebody_looks());
    a_store(&sched->needspinning, 0);
    other->spinning = true;
    CHECK(somebody_looks());
    other->spinning = false;
    other->nextp = rt->allp[3];
    CHECK(somebody_looks());
    other->nextp = NULL;
    a_init(&other->p, rt->allp[3]);
    CHECK(somebody_looks()); /* in the scheduler, with a P */
    a_init(&other->curg, gp);
    CHECK(!somebody_looks());
    mp->alllink = NULL;
}

TEST_CASE(RestRules, WhoLooksForWork) { each_release(looks); }

/* ---- the template thread ---- */

static int template_threads(void)
{
    int n = 0;
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink)
        n += mp->mstartkind == MSTART_TEMPLATE;
    return n;
}

/* 1.14.4: who is first to need it makes it before he can be preempted; before, it is his to make
 * when he may have been (issue 38931). Nobody makes a second one. */
static void makes_template(struct m *mp)
{
    bool pinned = prof->template_thread_pinned;
    CHECK_EQ(startTemplateThread(), pinned);
    CHECK_EQ(template_threads(), pinned ? 1 : 0);
    CHECK_EQ(a_peek(&rt->newmHandoff.haveTemplateThread), 1);
    CHECK_EQ(mp->locks, 0);
    CHECK(startTemplateThread());
    CHECK_EQ(template_threads(), pinned ? 1 : 0);
}

TEST_CASE(Rules, TheTemplateThreadIsMadeOnceAndByWhoIsPinned)
{
    each_release(makes_template);
    rule_off = "template_thread_pinned";
    each_release(makes_template);
    rule_off = NULL;
}
