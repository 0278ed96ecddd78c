/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about stack.c and timesleep.c: where frames lie, what is copied when a
 * stack grows, when a sleeper and a channel are due. */

/* ---- the stream of draws ---- */

/* The first numbers of splitmix64 from seed 0, as published with it. */
static void draws(struct m *mp)
{
    static const uint64_t want[] = {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
                                    UINT64_C(0x06c45d188009454f), UINT64_C(0xf88bb8a8724c81ec)};
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(g_rand(gp), want[i]);
}

TEST_CASE(StackRules, AGDrawsFromSplitmix) { each_leak_world(27, draws); }

/* ---- blocks ---- */

static void sizes_blocks(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (uint32_t words = 1; words <= 5000; words++) {
        uint32_t order = 4;
        while ((UINT32_C(1) << order) < words)
            order++;
        CHECK_EQ(stack_order(words), order);
    }
    CHECK_EQ(stack_size(gp), GREGS_INLINE);
    for (uint8_t order = 4; order < 12; order++) {
        gp->stack_order = order;
        CHECK_EQ(stack_size(gp), 1 << order);
    }
}

static void pools_blocks(struct m *mp)
{
    (void)mp;
    for (uint32_t order = 4; order < 10; order++) {
        char *a = stackpool_get(order), *b = stackpool_get(order),
             *other = stackpool_get(order + 1);
        CHECK_GE(b - a, 8 << order);
        CHECK_GE(other - b, 8 << order);
        stackpool_put(a, order);
        stackpool_put(b, order);
        CHECK(stackpool_get(order + 1) != b);
        CHECK(stackpool_get(order) == b);
        CHECK(stackpool_get(order) == a);
        CHECK(stackpool_get(order) > (void *)other); /* a new one */
        stackpool_put(other, order + 1);
    }
}

TEST_CASE(StackRules, BlocksAreOfTwiceTheSizeAndUsedAgain)
{
    each_leak_world(27, sizes_blocks);
    each_leak_world(27, pools_blocks);
}

static int64_t stack_word(const struct g *gp, uint32_t i) { return g_stack(gp)[i]; }

static void resizes(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (uint32_t i = 0; i < GREGS_INLINE; i++)
        gp->inline_regs[i] = 100 + i;
    stack_resize(gp, 9, GREGS_INLINE - 1);
    CHECK_EQ(gp->stack_order, 4);
    int64_t *first = gp->grown;
    for (uint32_t i = 0; i < GREGS_INLINE; i++) /* one was not in use */
        CHECK_EQ(stack_word(gp, i), i < GREGS_INLINE - 1 ? 100 + i : 0);
    g_stack(gp)[15] = 115;
    stack_resize(gp, 17, 16);
    CHECK_EQ(gp->stack_order, 5);
    CHECK_EQ(stack_word(gp, 15), 115);
    CHECK_EQ(stack_word(gp, 2), 102);
    CHECK(stackpool_get(4) == first); /* given back */
    int64_t *second = gp->grown;
    g_free_frames(gp);
    CHECK_EQ(gp->stack_order, 0);
    g_free_frames(gp);
    CHECK(stackpool_get(5) == second);
    CHECK(stackpool_get(5) != second);
}

TEST_CASE(StackRules, WhatIsInUseIsCopied) { each_leak_world(27, resizes); }

/* What growing takes more than the two changes of status and the copy itself, in ps. */
static int64_t grow_ps(struct g *gp, uint32_t used, bool plain)
{
    gp->stack_order = 0;
    uint64_t start = vm_now_;
    if (plain) {
        casgstatus(gp, Grunning, Gcopystack);
        stack_resize(gp, 60, used);
        casgstatus(gp, Gcopystack, Grunning);
    } else {
        growstack(gp, 60, used);
        CHECK(gp->stack_grew);
    }
    return (int64_t)(vm_now_ - start);
}

static void grows(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    int64_t fixed = 0;
    a_store(&mp->curg, gp);
    for (int i = 0; i < 20; i++)
        stackpool_put(host_alloc(8 << 6, 64), 6);
    (void)grow_ps(gp, 1, true); /* caches */
    (void)grow_ps(gp, 1, false);
    fixed = grow_ps(gp, 1, false) - grow_ps(gp, 1, true);
    CHECK_GE(fixed, 200000); /* work.def */
    CHECK_LT(fixed, 230000);
    CHECK_EQ(readgstatus(gp), Grunning);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(StackRules, GrowingTakesItsTime) { each_leak_world(27, grows); }

static bool grew;
static void overflows_at(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    growstack(gp, 64, 0);
    grew = true;
    growstack(gp, 65, 0);
    grew = false;
}

static void overflows_late(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    growstack(gp, STACK_WORDS_MAX, 0);
    grew = true;
    growstack(gp, STACK_WORDS_MAX + 1, 0);
    grew = false;
}

TEST_CASE(StackRules, AStackHasALimit)
{
    void (*fns[])(struct m *) = {overflows_at, overflows_late};
    world_program = &leak_program;
    for (int i = 0; i < 2; i++) {
        leak_program.stack_max = i == 0 ? 64 : 0;
        grew = false;
        CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, fns[i]), END_FINDING);
        CHECK_HAS(host_virt.verdict()->text, "stack overflow");
        host_virt.close();
        CHECK(grew);
    }
    leak_program.stack_max = 0;
    world_program = NULL;
}

/* ---- the first frame ---- */

static const struct func wide_funcs[] = {{"six", 7, 8, GREGS_INLINE, 2, 0},
                                         {"seven", 8, 9, GREGS_INLINE + 1, 2, 0}};

static void starts(struct m *mp)
{
    static struct program wide;
    const int64_t args[] = {41, 42, 43};
    struct g *parent = g_of(Grunning), *gp = g_of(Grunning);
    wide = leak_program;
    wide.funcs = wide_funcs;
    wide.nfuncs = 2;
    rt->prog = &wide;
    a_store(&mp->curg, parent);
    for (uint32_t func = 0; func < 2; func++) {
        memset(gp->inline_regs, 0x77, sizeof gp->inline_regs);
        gp->fp = 9;
        uint64_t want = parent->rng + UINT64_C(0x9e3779b97f4a7c15);
        g_start_at(gp, func, args, 2);
        CHECK_EQ(parent->rng, want); /* the child's stream is drawn from the parent's */
        CHECK_EQ(gp->fp, 0);
        CHECK_EQ(gp->func, func);
        CHECK_EQ(gp->pc, 7 + func);
        CHECK_EQ(gp->nkont, 0);
        CHECK_EQ(gp->stack_order, func == 0 ? 0 : 4);
        for (uint32_t i = 0; i < GREGS_INLINE + func; i++)
            CHECK_EQ(stack_word(gp, i), i < 2 ? 41 + i : 0);
    }
    uint64_t rng = gp->rng;
    a_store(&mp->curg, (struct g *)NULL);
    uint64_t before = parent->rng;
    for (uint32_t nargs = 0; nargs < 2; nargs++) {
        struct g *step = g_of(Grunning);
        step->opval = 5;
        g_start_at(step, FUNC_STEP(STEP_ctxTimeout), args, nargs);
        CHECK_EQ(step->func, -1);
        CHECK_EQ(step->nkont, 2);
        CHECK_EQ(step->kont[0], STEP_goexit1);
        CHECK_EQ(step->kont[1], STEP_ctxTimeout);
        CHECK_EQ(step->opval, nargs == 1 ? 41 : 0);
        CHECK(step->rng != rng);
    }
    CHECK_EQ(parent->rng, before); /* nobody runs: the world's seed */
    struct g *last = g_of(Grunning);
    g_start_at(last, 2, args, 1); /* the first number that is no function */
    CHECK_EQ(last->func, -1);
    rt->prog = &leak_program;
}

TEST_CASE(StackRules, AGBeginsWithItsArguments) { each_leak_world(27, starts); }

/* ---- frames ---- */

static void frames(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    gp->func = 0;
    gp->pc = 11;
    gp->inline_regs[0] = 50;
    CHECK_EQ(frame_kind(gp), FRAME_CALL);
    frame_push(gp, 1, FRAME_CGOCB, 9); /* 3 + 2 + 3 words: does not fit in six */
    CHECK_EQ(gp->stack_order, 4);
    CHECK_EQ(gp->fp, 5);
    CHECK_EQ(gp->func, 1);
    CHECK_EQ(gp->pc, F1);
    CHECK_EQ(stack_word(gp, 0), 50);
    CHECK_EQ(frame_kind(gp), FRAME_CGOCB);
    CHECK_EQ(frame_below(gp, 5), 0);
    regs(gp)[0] = 51;
    gp->pc = F1 + 2;
    frame_push(gp, 2, FRAME_DEFER, 7); /* 13 words: fits */
    CHECK_EQ(gp->stack_order, 4);
    CHECK_EQ(gp->fp, 10);
    CHECK_EQ(frame_kind(gp), FRAME_DEFER);
    CHECK_EQ(frame_below(gp, 10), 5);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(regs(gp)[i], 0);
    CHECK(!frame_uncall(gp, 10));
    CHECK_EQ(frame_kind(gp), FRAME_DEFER);
    CHECK_EQ(frame_pop(gp), 7);
    CHECK_EQ(gp->fp, 5);
    CHECK_EQ(gp->func, 1);
    CHECK_EQ(gp->pc, F1 + 2);
    CHECK_EQ(regs(gp)[0], 51);
    g_stack(gp)[12] = 99; /* left by whoever was there */
    frame_push(gp, 2, FRAME_PANIC, 7);
    CHECK_EQ(regs(gp)[2], 0); /* registers begin as 0 */
    CHECK_EQ(frame_pop(gp), 7);
    CHECK(frame_uncall(gp, 5)); /* the callback becomes a call */
    CHECK_EQ(frame_kind(gp), FRAME_CALL);
    CHECK(!frame_uncall(gp, 5));
    CHECK_EQ(frame_pop(gp), 9);
    CHECK_EQ(gp->fp, 0);
    CHECK_EQ(gp->func, 0);
    CHECK_EQ(gp->pc, 11);
    gp->func = -1; /* from a step: no registers below */
    gp->stack_order = 0;
    frame_push(gp, 1, FRAME_CALL, 3);
    CHECK_EQ(gp->fp, 2);
    CHECK_EQ(gp->stack_order, 0); /* five words do */
    CHECK_EQ(frame_pop(gp), 3);
    CHECK_EQ(gp->func, -1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(StackRules, AFrameRemembersItsCaller) { each_leak_world(27, frames); }

/* ---- package time ---- */

static void knows_when(struct m *mp)
{
    (void)mp;
    for (int64_t d = -2; d <= 2; d++) {
        int64_t before = host_now(), when = time_when(d);
        CHECK(when >= before + (d > 0 ? d : 0) && when <= host_now() + (d > 0 ? d : 0));
    }
    CHECK_EQ(time_when(TIMER_MAX_WHEN), TIMER_MAX_WHEN);
    int64_t d = TIMER_MAX_WHEN - host_now() - 1000000;
    CHECK_LT(time_when(d), TIMER_MAX_WHEN); /* just fits */
    CHECK_EQ(time_when(d + 1000000), TIMER_MAX_WHEN);
}

TEST_CASE(TimeRules, ATimerIsDueAfterItsTime) { each_release(knows_when); }

static void sleeps(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct g *gp = g_of(Gwaiting);
    bool inherit;
    a_store(&sched->nmspinning, 1); /* no M comes for it */
    gp->has_ext_wake = true;
    goroutineReady(gp, 0, 0);
    CHECK(!gp->has_ext_wake);
    CHECK(runqget(mp_p(mp), &inherit) == gp);
    CHECK_EQ(readgstatus(gp), Grunnable);
    a_store(&gp->atomicstatus, (uint32_t)Grunning);
    a_store(&mp->curg, gp);
    CHECK_EQ(timeSleep(gp, 0), OP_DONE);
    CHECK_EQ(timeSleep(gp, -1), OP_DONE);
    CHECK(gp->ext == NULL && !gp->has_ext_wake);
    int64_t before = host_now();
    CHECK_EQ(timeSleep(gp, FAR), OP_MCALL);
    struct timer *t = gp->ext->sleep;
    CHECK(gp->has_ext_wake);
    CHECK(t != NULL);
    CHECK_EQ(gp->waitreason, waitReasonSleep);
    int64_t when = prof->per_p_timers ? gp->opval : t->when;
    CHECK(when >= before + FAR && when <= host_now() + FAR);
    if (prof->per_p_timers) {
        CHECK(mp->waitunlockf(gp, mp->waitlock));
        CHECK_EQ(t->when, when);
        CHECK_EQ(t->period, 0);
        CHECK(timer_stop(t));
        CHECK_EQ(timeSleep(gp, 2 * FAR), OP_MCALL);
        CHECK(gp->ext->sleep == t); /* a G keeps its timer */
    }
    mp->waitunlockf = NULL;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(TimeRules, ASleeperHasOneTimer)
{
    for (int release = 14; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, sleeps);
}

static void has_timer(struct m *mp)
{
    enum { D = 1000000 };
    const int64_t args[] = {7, 8};
    struct hchan *c;
    (void)mp;
    for (int ticks = 0; ticks < 2; ticks++) {
        (void)chan_object(1, &c);
        struct timeTimer *tt = ticks ? time_NewTicker(D, c) : time_NewTimer(D, c);
        CHECK(tt->c == c);
        CHECK_EQ(c->timer == &tt->t, timer_sync_chans());
        CHECK_EQ(tt->t.isChan, timer_sync_chans());
        CHECK_EQ(tt->t.period, ticks ? D : 0);
        CHECK(tt->t.f == sendTime && tt->t.arg == tt);
        CHECK(time_Stop(tt));
        CHECK(!time_Stop(tt));
        int64_t before = host_now();
        if (ticks)
            time_ResetTicker(tt, 2 * D);
        else
            CHECK(!time_Reset(tt, 2 * D));
        CHECK_EQ(tt->t.period, ticks ? 2 * D : 0);
        int64_t when = prof->per_p_timers && !prof->timers_v2 && tt->t.when < before + 2 * D
                           ? tt->t.v1.nextwhen
                           : tt->t.when;
        CHECK(when >= before + 2 * D && when <= host_now() + 2 * D);
        CHECK(time_Reset(tt, D)); /* it had not run */
        CHECK(time_Stop(tt));
        sendTime(tt, 0, 0);
        CHECK_EQ(a_peek(&c->qcount), 1);
        CHECK(c->buf[0] >= before && c->buf[0] <= host_now());
        (void)buf_get(c);
        before = host_now();
        sendTime(tt, 0, D); /* late: the value is when it was due */
        CHECK_EQ(c->buf[0] < before, prof->timers_v2);
        CHECK(c->buf[0] >= before - D);
    }
    struct timeTimer *tt = time_AfterFunc(D, 1, args, 2, 5),
                     *next = time_AfterFunc(D, 1, args, 0, 5);
    CHECK(tt->c == NULL && tt->func == 1 && tt->group == 5 && tt->nargs == 2);
    CHECK(tt->args[0] == 7 && tt->args[1] == 8);
    CHECK((char *)next >= (char *)&tt->args[2]);
    CHECK(tt->t.f == goFunc && tt->t.period == 0);
    CHECK(time_Stop(tt) && time_Stop(next));
    a_store(&sched->nmspinning, 1); /* no M comes for it */
    bool inherit;
    rt->prog = &leak_program;
    goFunc(tt, 0, 0);
    struct g *gp = runqget(mp_p(mp), &inherit);
    CHECK_EQ(gp->func, 1);
    CHECK_EQ(gp->group, 5);
    CHECK(g_stack(gp)[0] == 7 && g_stack(gp)[1] == 8);
}

TEST_CASE(TimeRules, ATimerKnowsWhatItIsToDo)
{
    world_program = &leak_program;
    for (int release = 14; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, has_timer);
    world_program = NULL;
}
