/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about interp.c, objs.c and malloc.c: what an instruction does with its
 * operands at their limits, which of them panic, what a handle is, what an allocation takes. */

/* ---- panics ---- */

static struct {
    enum opres (*op)(struct g *, const struct insn *);
    struct insn in;
    int64_t R[4];
    const char *text; /* NULL: it does not */
} panic_row;

static void does_row(struct m *mp)
{
    struct g *gp = user(mp);
    gp->pc = AT + 1;
    leak_code_[AT] = panic_row.in;
    a_store(&gp->atomicstatus, (uint32_t)Grunning);
    memcpy(regs(gp), panic_row.R, sizeof panic_row.R);
    if (panic_row.in.op == OP_TRESET && panic_row.R[2] != 0) {
        panic_row.R[2] = 0;
        (void)op_ticker(gp, &(struct insn){.op = OP_TICKER, .a = 2, .b = NOREG, .imm = 1000000000});
    }
    CHECK_EQ(panic_row.op(gp, &leak_code_[AT]), OP_DONE);
    if (panic_row.text != NULL)
        FAIL_CASE("no panic: %s", panic_row.text);
    if (panic_row.in.op == OP_TRESET)
        CHECK_EQ(regs(gp)[0], 1); /* it had not run */
    a_store(&mp->curg, (struct g *)NULL);
}

static const struct {
    enum opres (*op)(struct g *, const struct insn *);
    struct insn in;
    int64_t reg[4];
    const char *text;
} panic_rows[] = {
    {op_ticker, {.op = OP_TICKER, .b = 1}, {0, 0}, "non-positive interval for NewTicker"},
    {op_ticker, {.op = OP_TICKER, .b = 1}, {0, -5}, "non-positive interval for NewTicker"},
    {op_ticker, {.op = OP_TICKER, .b = 1}, {0, 1}, NULL},
    {op_treset, {.op = OP_TRESET, .b = 1, .c = 2, .d = -1}, {0, 1, 0}, "nil pointer"},
    {op_treset, {.op = OP_TRESET, .b = 1, .c = 2, .d = -1}, {0, 0, 1}, "for Ticker.Reset"},
    {op_treset, {.op = OP_TRESET, .b = 1, .c = 2, .d = -1}, {0, 1, 1}, NULL},
    {op_shift, {.op = OP_SHL, .b = 1, .c = 2}, {0, 1, -1}, "negative shift amount"},
    {op_shift, {.op = OP_SHR, .b = 1, .c = 2}, {0, 1, 0}, NULL},
    {op_make, {.op = OP_MAKE, .b = OBJ_CHAN, .c = 2}, {0, 0, -1}, "makechan: size out of range"},
    {op_make, {.op = OP_MAKE, .b = OBJ_SEMA, .c = 2}, {0, 0, CHAN_SIZE_MAX + 1}, "makechan"},
    {op_make, {.op = OP_MAKE, .b = OBJ_SEMA, .c = 2}, {0, 0, CHAN_SIZE_MAX}, NULL},
    {op_make, {.op = OP_MAKE, .b = OBJ_FD, .c = 2}, {0, 0, -2}, "nil pointer"},
    {op_make, {.op = OP_MAKE, .b = OBJ_FD, .c = 2}, {0, 0, -1}, NULL},
    {op_make, {.op = OP_MAKE, .b = OBJ_FD, .c = 2}, {0, 0, 0}, "nil pointer"}, /* no process 0 */
    {op_make, {.op = OP_MAKE, .b = OBJ_COND, .c = 2}, {0, 0, 0}, "nil pointer"},
    {op_make, {.op = OP_MAKE, .b = OBJ_COND, .c = 2}, {0, 0, COND_RLOCKER}, "nil pointer"},
    {op_make,
     {.op = OP_MAKE, .b = OBJ_COND, .c = 2},
     {0, 0, H_CHAN},
     "a value is used as a handle"},
    {op_make, {.op = OP_MAKE, .b = OBJ_COND, .c = 2}, {0, 0, H_MUTEX}, NULL},
};

TEST_CASE(InterpRules, OperandsThatPanic)
{
    world_program = &leak_program;
    for (size_t i = 0; i < sizeof panic_rows / sizeof *panic_rows; i++) {
        memset(leak_code_, 0, sizeof leak_code_);
        panic_row.op = panic_rows[i].op;
        panic_row.in = panic_rows[i].in;
        panic_row.text = panic_rows[i].text;
        memcpy(panic_row.R, panic_rows[i].reg, sizeof panic_row.R);
        enum world_end end = world_until(10000000000, 27, PROCS, &(struct host_opts){0}, does_row);
        CHECK_EQ(end == END_FINDING, panic_row.text != NULL);
        CHECK_EQ(body_ended, panic_row.text == NULL);
        if (panic_row.text != NULL)
            CHECK(strstr(host_virt.verdict()->text, panic_row.text) != NULL);
        host_virt.close();
    }
    world_program = NULL;
}

/* ---- handles ---- */

static void has_handles(struct m *mp)
{
    const uint64_t limit = (UINT64_C(64) << OBJ_CHUNKS) - 64;
    struct g *gp = g_of(Grunning);
    struct hchan *c;
    (void)mp;
    for (int i = 0; i < 3; i++) { /* what a select sorts by: declared or made, each its own */
        int64_t handle = chan_object(1, &c);
        CHECK_EQ(c->index, handle - 1);
        CHECK(object_at((uint64_t)handle)->p == c);
    }
    CHECK_EQ(((struct hchan *)objs_decl[H_CHAN - 1])->index, H_CHAN - 1);
    CHECK(object_at(0) == NULL);
    CHECK(object_at(limit) == NULL); /* the last one: not made */
    CHECK(object_at(limit + 1) == NULL);
    CHECK(object_at(UINT64_MAX) == NULL);
    struct cond *over = cond_over(gp, H_MUTEX);
    CHECK(over->L == objs_decl[H_MUTEX - 1] && over->rw == NULL && !over->rlocker);
    over = cond_over(gp, H_RWMUTEX);
    CHECK(over->rw == objs_decl[H_RWMUTEX - 1] && over->L == NULL && !over->rlocker);
    over = cond_over(gp, COND_RLOCKER + H_RWMUTEX);
    CHECK(over->rw == objs_decl[H_RWMUTEX - 1] && over->L == NULL && over->rlocker);
}

TEST_CASE(InterpRules, AHandleNamesOneObject) { each_leak_world(27, has_handles); }

static void makes_too_many(struct m *mp)
{
    (void)mp;
    rt->objs->made = (INT64_C(64) << OBJ_CHUNKS) - 64;
    (void)object_add(mp, OBJ_MUTEX);
}

TEST_CASE(InterpRules, ThereAreOnlySoManyHandles)
{
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, makes_too_many),
             END_THROWN);
    CHECK(strstr(host_virt.verdict()->text, "too many objects") != NULL);
    host_virt.close();
}

/* ---- operands ---- */

static void has_durations(struct m *mp)
{
    static const int64_t ns[] = {-3, -1, 0, 1, 2, 1000};
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        int64_t want = ns[i] > 0 ? ns[i] : 0;
        regs(gp)[1] = ns[i];
        CHECK_EQ(duration(gp, &(struct insn){.b = 1, .d = -1, .imm = 5}), want);
        CHECK_EQ(duration(gp, &(struct insn){.b = NOREG, .d = -1, .imm = ns[i]}), want);
        CHECK_EQ(weight(gp, 1, 5), want);
        CHECK_EQ(weight(gp, NOREG, ns[i]), want);
    }
}

TEST_CASE(InterpRules, ADurationIsNotNegative) { each_leak_world(27, has_durations); }

/* An AfterFunc's timer has no channel; a ticker that is set again says that it ran. */
static void has_timers(struct m *mp)
{
    struct g *gp = user(mp);
    CHECK_EQ(op_timer(gp, &(struct insn){.a = 0, .b = NOREG, .c = NOREG, .d = 0, .imm = 1000000}),
             OP_DONE);
    CHECK_EQ(op_timerc(gp, &(struct insn){.a = 1, .c = 0, .d = -1}), OP_DONE);
    CHECK_EQ(regs(gp)[1], 0);
    CHECK_EQ(op_tstop(gp, &(struct insn){.a = 1, .c = 0, .d = -1}), OP_DONE);
    CHECK_EQ(regs(gp)[1], 1);
    CHECK_EQ(op_timer(gp, &(struct insn){.a = 0, .b = NOREG, .d = -1, .imm = 1000000}), OP_DONE);
    CHECK_EQ(op_timerc(gp, &(struct insn){.a = 1, .c = 0, .d = -1}), OP_DONE);
    CHECK_EQ(object_at((uint64_t)regs(gp)[1])->kind, OBJ_CHAN);
    CHECK_EQ(op_tstop(gp, &(struct insn){.a = 1, .c = 0, .d = -1}), OP_DONE);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(InterpRules, OnlyATimerWithAChannelHasOne) { each_leak_world(23, has_timers); }

/* A read leaves what it read and when that came, or why not and no time. */
static void has_results(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (int64_t result = -2; result <= 1; result++) {
        leak_code_[AT] = (struct insn){.op = OP_FDREAD, .a = 0, .b = 1};
        gp->pc = AT + 1;
        gp->opval = result;
        gp->param = (void *)(intptr_t)77;
        regs(gp)[0] = regs(gp)[1] = 99;
        CHECK_EQ(step_fdResult(gp), OP_DONE);
        CHECK_EQ(regs(gp)[0], result);
        CHECK_EQ(regs(gp)[1], result < 0 ? 0 : 77);
    }
}

TEST_CASE(InterpRules, AReadThatFailsHasNoTime) { each_leak_world(27, has_results); }

/* C calls back: the thread is in C until the call is on, and not for its time. */
static void calls_back(struct m *mp)
{
    enum { ARG = 41 };
    struct g *gp = user(mp);
    const struct insn in = {.op = OP_CGOCB, .b = NOREG, .c = 2, .d = 1};
    leak_code_[AT] = in;
    gp->pc = AT + 1;
    regs(gp)[2] = ARG;
    (void)op_cgocb(gp, &in);
    CHECK(mp->incgo);
    CHECK_EQ(mp->lockedInt, 1); /* the G is this thread's meanwhile */
    CHECK(gp->nkont > 0 && gp->kont[0] == STEP_cgoCall);
    gp->nkont = 0;
    CHECK_EQ(step_cgoCall(gp), OP_DONE);
    CHECK(!mp->incgo);
    CHECK_EQ(regs(gp)[0], ARG);
    CHECK_EQ(gp->pc, F1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(InterpRules, ACallBackOutOfCIsNoC) { each_leak_world(27, calls_back); }

/* ---- draws ---- */

static uint32_t choices, choice, fallback_was;

static uint32_t choose_draw(uint32_t n, uint32_t fallback)
{
    choices = n;
    fallback_was = fallback;
    return choice < n ? choice : fallback;
}

/* The first two numbers of a G: e220a8397b1dcdaf, 6e789e6aa1b965f4 (AGDrawsFromSplitmix). */
static void draws_below(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (int64_t n = -1; n <= 1; n++)
        CHECK_EQ(rand_below(gp, n), 0);                              /* and no number is drawn */
    CHECK_EQ(rand_below(gp, INT64_C(1) << 32), INT64_C(0xe220a839)); /* of 64 bits */
    CHECK_EQ(rand_below(gp, UINT32_MAX), INT64_C(0x6e789e69));       /* of the upper 32 */
    gp = g_of(Grunning);
    CHECK_EQ(rand_below(gp, INT64_C(1) << 40), INT64_C(0xe220a8397b));
    CHECK_EQ(rand_below(gp, 16), 6);
}

TEST_CASE(InterpRules, ANumberBelowAnother) { each_leak_world(27, draws_below); }

static int64_t draws_of(struct dist *d, uint32_t takes)
{
    choice = takes;
    choices = fallback_was = UINT32_MAX;
    return draw_value(g_of(Grunning), d);
}

/* A distribution of up to eight values is a choice among them, the one that would have been drawn
 * is the fallback; of more values it is none. */
static void draws_values(struct m *mp)
{
    struct dist d;
    const uint64_t p = UINT64_C(0xe220a8397b1dcdaf);
    (void)mp;
    CHECK_EQ(dist_uniform(&d, 1, 8, NULL), 0);
    CHECK_EQ(draws_of(&d, 3), dist_quantile(&d, p)); /* nobody chooses */
    CHECK_EQ(choices, UINT32_MAX);
    draws_chosen = true;
    for (uint32_t i = 0; i < 8; i++)
        CHECK_EQ(draws_of(&d, i), 1 + i);
    CHECK_EQ(choices, 8);
    CHECK_EQ(fallback_was, dist_quantile(&d, p) - 1);
    CHECK_EQ(draws_of(&d, 8), dist_quantile(&d, p));
    CHECK_EQ(dist_uniform(&d, 1, 9, NULL), 0);
    CHECK_EQ(draws_of(&d, 0), dist_quantile(&d, p));
    CHECK_EQ(choices, UINT32_MAX);
    CHECK_EQ(dist_fixed(&d, 70, NULL), 0);
    CHECK_EQ(draws_of(&d, 0), 70);
    CHECK_EQ(choices, 1);
    CHECK_EQ(dist_bimodal(&d, 5, 9, 500000, NULL), 0);
    CHECK_EQ(draws_of(&d, 0) + draws_of(&d, 1), 5 + 9);
    CHECK_EQ(choices, 2);
    CHECK_EQ(draws_of(&d, 2), dist_quantile(&d, p));
    CHECK_EQ(dist_bimodal(&d, 5, 9, 16000, NULL), 0); /* one part of 64 sees it */
    CHECK_EQ(draws_of(&d, 0) + draws_of(&d, 1), 5 + 9);
    CHECK_EQ(dist_bimodal(&d, 5, 9, 7000, NULL), 0); /* none does */
    CHECK_EQ(draws_of(&d, 0), 5);
    CHECK_EQ(choices, 1);
    /* by parts of 64, each at its middle: bins of 128 */
    static const struct dist_bin middle[] = {{5, 5, 2}, {3, 3, 2}, {5, 5, 124}},
                                 first[] = {{3, 3, 1}, {5, 5, 63}},
                                 rare[] = {{5, 5, 88300}, {9, 9, 60}, {5, 5, 11640}},
                                 back[] = {{5, 5, 50}, {9, 9, 10}, {5, 5, 40}};
    CHECK_EQ(dist_bins(&d, middle, 3, NULL), 0);
    CHECK_EQ(draws_of(&d, 1), 3);
    CHECK_EQ(choices, 2);
    CHECK_EQ(dist_bins(&d, first, 2, NULL), 0);
    CHECK_EQ(draws_of(&d, 0), 3);
    CHECK_EQ(choices, 2);
    CHECK_EQ(dist_bins(&d, back, 3, NULL), 0);
    CHECK_EQ(draws_of(&d, 2), 5);
    CHECK_EQ(fallback_was, 0);
    CHECK_EQ(dist_bins(&d, rare, 3, NULL), 0); /* what would have been drawn is between two parts */
    CHECK_EQ(dist_quantile(&d, p), 9);
    CHECK_EQ(draws_of(&d, 0), 5);
    CHECK_EQ(fallback_was, 0);
    draws_chosen = false;
    CHECK_EQ(draws_of(&d, 0), 9);
}

TEST_CASE(InterpRules, ADrawOfFewValuesIsAChoice) { each_leak_world(27, draws_values); }

/* ---- allocation ---- */

static void takes_bytes(struct m *mp)
{
    static const struct {
        int64_t bytes, left, fresh, left_after;
    } rows[] = {
        {100, 100, 0, 0},         {100, 101, 0, 1},       {100, 99, 8192, 8092},
        {8192, 5, 8192, 0},       {8193, 5, 16384, 8191}, {16384, 5, 16384, 0},
        {32767, 5, 32768, 1},     {32768, 5, 32768, 0},   {32769, 5, 32769, 5}, /* large */
        {1000000, 9, 1000000, 9}, {0, 0, 0, 0},
    };
    struct p *pp = mp_p(mp);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t before = a_peek(&rt->gc.heapLive);
        pp->gc.cache_left = rows[i].left;
        CHECK_EQ(take_bytes(pp, rows[i].bytes), rows[i].fresh > 0);
        CHECK_EQ(a_peek(&rt->gc.heapLive) - before, rows[i].fresh);
        CHECK_EQ(pp->gc.cache_left, rows[i].left_after);
    }
    a_store(&rt->gc.reachable, INT64_C(10));
    gc_free(4);
    CHECK_EQ(a_peek(&rt->gc.reachable), 6);
    gc_free(6);
    CHECK_EQ(a_peek(&rt->gc.reachable), 0);
    a_store(&rt->gc.reachable, INT64_C(10));
    gc_free(11); /* more than there was: nothing is left */
    CHECK_EQ(a_peek(&rt->gc.reachable), 0);
    a_store(&rt->gc.reachable, INT64_C(10));
    CHECK_EQ(op_free(g_of(Grunning), &(struct insn){.b = NOREG, .d = -1, .imm = 3}), OP_DONE);
    CHECK_EQ(a_peek(&rt->gc.reachable), 7);
    lock(&rt->gc.central);
    unlock(&rt->gc.central);
}

TEST_CASE(InterpRules, AnAllocationComesFromTheCacheOrTheHeap) { each_leak_world(13, takes_bytes); }

static int64_t heap_at;

static void fills_heap(struct m *mp)
{
    struct g *gp = user(mp);
    mp_p(mp)->gc.cache_left = 0;
    a_store(&rt->gc.heapLive, heap_at);
    a_store(&rt->gc.trigger, INT64_MAX); /* no collection */
    gp->opval = MCACHE_BYTES;
    (void)step_mallocgc(gp);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(InterpRules, TheMachineHasATebibyte)
{
    world_program = &leak_program;
    for (int over = 0; over < 2; over++) {
        heap_at = (INT64_C(1) << 40) - MCACHE_BYTES + over;
        enum world_end end = world_until(10000000000, 27, PROCS, &(struct host_opts){0},
                                         fills_heap);
        CHECK_EQ(end == END_FINDING, over == 1);
        if (over)
            CHECK(strstr(host_virt.verdict()->text, "out of memory") != NULL);
        host_virt.close();
    }
    world_program = NULL;
}

/* The runtime's own draws are choices, too, but not by turns: what is next is asked there. */
static void draws_runtime(struct m *mp)
{
    (void)mp;
    draws_chosen = true;
    choice = 0;
    for (int turns_ = 0; turns_ <= 1; turns_++) {
        by_turns = turns_;
        choices = UINT32_MAX;
        (void)cheaprandn(7);
        CHECK_EQ(choices, turns_ ? UINT32_MAX : 7);
        choices = UINT32_MAX;
        (void)cheaprand_order();
        CHECK_EQ(choices == UINT32_MAX, turns_);
    }
    by_turns = draws_chosen = false;
}

TEST_CASE(InterpRules, TheRuntimesDrawsAreNoQuestionByTurns) { each_leak_world(27, draws_runtime); }
