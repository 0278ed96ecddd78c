/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what one call leaves behind, in files that have no part of their
 * own. */

/* A G in front of the global queue is nobody's, as one behind it is. */
static void puts_in_front(struct m *mp)
{
    struct g *first = runnable(), *second = runnable();
    first->owner = second->owner = 1;
    lock(&sched->lock);
    globrunqput(first);
    globrunqputhead(second);
    unlock(&sched->lock);
    CHECK(sched->runq.head == second && sched->runq.tail == first);
    CHECK_EQ(first->owner + second->owner, 0);
    CHECK_EQ(a_peek(&sched->runqsize), 2);
    empty_queues(mp_p(mp));
}

TEST_CASE(FewRules, InFrontOfTheQueueAGIsNobodys) { each_release(puts_in_front); }

/* A thief has what it took: until it is in the thief's ring it is nobody else's to look for. */
static void owns_stolen(struct m *mp)
{
    for (uint32_t n = 1; n <= 4; n++) {
        put_n(rt->allp[0], n);
        struct g *gp = runqsteal(rt->allp[1], rt->allp[0], false);
        CHECK_EQ(gp->owner, mp->id + 1);
        for (int k = 0; k < 2; k++)
            empty_queues(rt->allp[k]);
    }
}

TEST_CASE(FewRules, WhatIsStolenIsTheThiefs) { each_release(owns_stolen); }

/* Who gives way is on the global queue; from 1.22 on somebody was told of it. */
static void goes_to_the_end(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    gp->unannounced = prof->gosched_wakep;
    a_store(&sched->npidle, 0);
    a_store(&sched->nmspinning, 1);
    put_n(mp_p(mp), 1);
    a_store(&mp_p(mp)->schedtick, 1u);
    goschedImpl(gp, /*preempted*/ false); /* the one in the ring is next */
    CHECK(sched->runq.head == gp);
    CHECK_EQ(gp->unannounced, prof->release < 22);
    a_store(&mp->curg, (struct g *)NULL);
    empty_queues(mp_p(mp));
}

TEST_CASE(FewRules, GoschedAnnouncesItsGFromGo122) { each_release(goes_to_the_end); }

static void flushes_cache(struct m *mp)
{
    struct p *pp = mp_p(mp);
    pp->gc.cache_left = 77;
    flush_mcache(pp);
    CHECK_EQ(pp->gc.cache_left, 0);
    CHECK(!take_bytes(pp, 0));
    CHECK(take_bytes(pp, 1));
}

TEST_CASE(FewRules, AFlushedCacheIsEmpty) { each_release(flushes_cache); }

/* One that runs finalizers or cleanups is the program's while it is in a function of it. */
static void is_system(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    for (int32_t func = -1; func <= 1; func++) {
        gp->func = func;
        gp->system = SYSTEM_NOT;
        CHECK(!isSystemGoroutine(gp));
        gp->system = SYSTEM_ALWAYS;
        CHECK(isSystemGoroutine(gp));
        gp->system = SYSTEM_SPECIALS;
        CHECK_EQ(isSystemGoroutine(gp), func < 0);
    }
}

TEST_CASE(FewRules, ASpecialsGoroutineIsTheProgramsInAFunction) { each_leak_world(27, is_system); }

static void resizes_to_nothing(struct m *mp)
{
    (void)mp;
    (void)procresize(0);
}

TEST_CASE(FewRules, ThereIsAlwaysAP)
{
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, resizes_to_nothing),
             END_THROWN);
    host_virt.close();
}

/* The first entry of a table is looked at like the others. */
TEST_CASE(FewRules, TheFirstObjectOfAProgramIsChecked)
{
    static const struct insn code[] = {{OP_RET, NOREG, 0, 0, 0, 0}};
    static const struct func funcs[] = {{"main", 0, 1, 1, 0, 0}};
    struct object_decl objects[] = {{"", 0, OBJ_MUTEX}, {"", 0, OBJ_MUTEX}};
    struct program p = {
        .code = code, .funcs = funcs, .objects = objects, .ncode = 1, .nfuncs = 1, .nobjects = 2};
    char text[256];
    CHECK(program_check(&p, text, sizeof text));
    for (int i = 0; i < 2; i++) {
        objects[i].kind = OBJ_KINDS;
        CHECK(!program_check(&p, text, sizeof text));
        objects[i].kind = OBJ_MUTEX;
        objects[i].param = 1; /* a mutex has none */
        CHECK(!program_check(&p, text, sizeof text));
        objects[i].param = 0;
    }
}

/* A number in what a crash says: with its sign, and all digits. */
static void writes_numbers(struct m *mp)
{
    (void)mp;
    static const int64_t numbers[] = {0, 7, -7, 10, -10, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char want[32];
        struct crash c = crash_begin("", "");
        uint32_t from = c.n;
        crash_int(&c, numbers[i]);
        (void)snprintf(want, sizeof want, "%" PRId64, numbers[i]);
        (void)crash_end(&c);
        CHECK_STR(c.text + from, want);
    }
}

TEST_CASE(FewRules, ACrashWritesNumbersWithTheirSign) { each_leak_world(27, writes_numbers); }

/* A note that nobody wakes is waited for as long as was said, at 0 not at all. */
static void sleeps_on_note(struct m *mp)
{
    struct note *n = host_alloc(sizeof *n, 64);
    for (int64_t ns = 0; ns <= 2000; ns += 1000) {
        int64_t before = nanotime();
        CHECK(!notetsleep(n, ns));
        CHECK_GE(nanotime(), before + ns);
        CHECK(!mp->blocked);
    }
    notewakeup(n);
    CHECK(notetsleep(n, 0));
    CHECK(notetsleep(n, -1));
}

TEST_CASE(FewRules, ANoteIsWaitedForSoLong) { each_release(sleeps_on_note); }

/* The timer of a declared channel: once or every so often, by register or not, and as it was made
 * when it is set again. */
static void sets_channel_timers(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct g *gp = user(mp);
    struct insn in = {.op = OP_CHTIMER, .b = NOREG, .d = H_BUFFER - 1, .imm = FAR};
    a_store(&sched->nmspinning, 1);
    for (uint8_t ticker = 0; ticker <= 1; ticker++) {
        struct timeTimer **t = chtimer_of(&in);
        *t = NULL;
        in.a = ticker;
        in.b = NOREG;
        CHECK_EQ(op_chreset(gp, &in), OP_DONE); /* there is none yet */
        CHECK(*t == NULL);
        CHECK_EQ(op_chtimer(gp, &in), OP_DONE);
        CHECK_EQ((*t)->t.period, ticker ? FAR : 0);
        int64_t first = (*t)->t.when;
        CHECK(first > FAR && first < FAR + FAR / 2);
        in.b = 1;
        regs(gp)[1] = 3 * (int64_t)FAR;
        CHECK_EQ(op_chreset(gp, &in), OP_DONE);
        CHECK_EQ((*t)->t.period, ticker ? 3 * (int64_t)FAR : 0);
        CHECK_EQ(op_chstop(gp, &in), OP_DONE);
        CHECK(!time_Stop(*t));
    }
    regs(gp)[1] = -5;
    CHECK_EQ(chtimer_ns(gp, &in), 1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(FewRules, TheTimerOfAChannel) { each_leak_world(23, sets_channel_timers); }

/* Without the order of locks only one more of the same rank is asked about. */
static void has_ranks(struct m *mp)
{
    (void)mp;
    for (int rank = lockRankLeaf + 1; rank < lockRankLeaf + 10; rank++) {
        struct mutex l = {0};
        lockInit(&l, (enum lockrank)rank);
        CHECK_EQ(l.rank_bit, UINT64_C(1) << rank);
        CHECK_EQ(l.ask, l.rank_bit);
    }
    struct mutex leaf = {0};
    lockInit(&leaf, lockRankLeaf);
    CHECK_EQ(leaf.rank_bit + leaf.ask, 0);
}

TEST_CASE(FewRules, ALockAsksForItsOwnRank) { each_leak_world(27, has_ranks); }

/* How late a timer was, in whole us, as far as there are numbers. */
static void is_late(struct m *mp)
{
    (void)mp;
    CHECK_EQ(timer_late_us(0), 0);
    CHECK_EQ(timer_late_us(999), 0);
    CHECK_EQ(timer_late_us(1000), 1);
    CHECK_EQ(timer_late_us(INT64_C(4294967294999)), UINT32_MAX - 1);
    CHECK_EQ(timer_late_us(INT64_C(4294967295000)), UINT32_MAX);
    CHECK_EQ(timer_late_us(INT64_C(4294967297000)), UINT32_MAX);
    CHECK_EQ(timer_late_us(INT64_C(5000000000000)), UINT32_MAX);
    CHECK_EQ(timer_late_us(INT64_MAX), UINT32_MAX);
}

TEST_CASE(FewRules, LatenessHasALimit) { each_leak_world(27, is_late); }

/* A broken rule names who is concerned. */
static void names_all(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    CHECK_STR(check_says("wrong", gp, mp_p(mp), mp), "wrong (G 1 waiting, P 0 running, M 0)");
    CHECK_STR(check_says("wrong", NULL, NULL, NULL), "wrong (G -, P -, M -)");
}

TEST_CASE(FewRules, ABrokenRuleNamesWhoIsConcerned) { each_leak_world(27, names_all); }

/* The first handle that no chunk has, and what is far beyond it, name nothing. */
static void last_handle(struct m *mp)
{
    const uint64_t last = (UINT64_C(64) << OBJ_CHUNKS) - 64;
    uint64_t place;
    (void)mp;
    CHECK_EQ(object_chunk(last, &place), OBJ_CHUNKS - 1);
    struct object *any = host_alloc(sizeof *any, 16);
    a_store(&rt->objs->chunk[OBJ_CHUNKS - 1], any);
    CHECK(object_at(last) != NULL);
    CHECK(object_at(last - 100) != NULL);
    CHECK(object_at(last + 1) == NULL);
    CHECK(object_at(last + 70) == NULL);
    CHECK(object_at(last * 2) == NULL);
    CHECK(object_at(UINT64_MAX) == NULL);
    CHECK(object_at(0) == NULL);
    a_store(&rt->objs->chunk[OBJ_CHUNKS - 1], (struct object *)NULL);
}

TEST_CASE(FewRules, AHandleBehindTheLastIsNone) { each_leak_world(27, last_handle); }

/* proc.go schedtrace: the first line is at 0 ms; milliseconds are 10^6 ns, for a long time, too. */
static char sched_text[4096];

static void take_sched(void *arg, const char *text, size_t n)
{
    (void)arg;
    CHECK_LT(strlen(sched_text) + n, sizeof sched_text);
    strncat(sched_text, text, n);
}

static void says_when(struct m *mp)
{
    (void)mp;
    world_sched_line = take_sched;
    for (int i = 0; i < 2; i++) {
        sched_text[0] = 0;
        schedtrace(/*detailed*/ false);
        int64_t at = rt->trace_start_ns;
        CHECK_EQ(strncmp(sched_text, i == 0 ? "SCHED 0ms:" : "SCHED 2000000ms:", i == 0 ? 10 : 16),
                 0);
        CHECK_GT(at, 0);
        host_usleep(2000000000u - 1000); /* and what all else takes */
        while (nanotime() - at < 2000000000000)
            host_usleep(1);
    }
    world_sched_line = NULL;
}

TEST_CASE(FewRules, SchedLinesCountMillisecondsFromTheFirst) { each_leak_world(27, says_when); }

/* One of the others ran the function for this P: nothing is left to do. */
static int points_run;
static void count_point(struct p *pp)
{
    (void)pp;
    points_run++;
}

static void runs_safe_point_once(struct m *mp)
{
    struct p *pp = mp_p(mp);
    points_run = 0;
    sched->safePointFn = count_point;
    sched->safePointWait = 2;
    runSafePointFn();
    CHECK_EQ(points_run, 0);
    CHECK_EQ(sched->safePointWait, 2);
    a_store(&pp->runSafePointFn, 1u);
    runSafePointFn();
    runSafePointFn();
    CHECK_EQ(points_run, 1);
    CHECK_EQ(sched->safePointWait, 1);
    CHECK_EQ(a_peek(&pp->runSafePointFn), 0);
}

TEST_CASE(FewRules, APRunsTheSafePointFunctionOnce) { each_release(runs_safe_point_once); }

/* A second tape is called by its number; a number that none has does nothing. */
static void calls_tapes(struct m *mp)
{
    static const uint64_t tapes[] = {0, 30, 60};
    static const struct program played = {.tapes = tapes, .ntapes = 2};
    const struct insn in = {.op = OP_TAPECALL, .a = 5};
    struct g *gp = g_of(Grunning);
    int64_t *r = gp->inline_regs;
    (void)mp;
    rt->prog = &played;
    for (int64_t n = -1; n <= 3; n++) {
        bool there = n == 0 || n == 1;
        r[TAPE_NEXT] = 7;
        r[TAPE_BACK] = 8;
        r[5] = n;
        CHECK_EQ(op_tapecall(gp, &in), OP_DONE);
        CHECK_EQ(r[TAPE_NEXT], there ? (int64_t)tapes[n] : 7);
        CHECK_EQ(r[TAPE_BACK], there ? 7 : 8);
    }
    r[0] = 1; /* the last that there is */
    CHECK_EQ(op_tapebegin(gp, &(struct insn){.op = OP_TAPEBEGIN}), OP_DONE);
    CHECK_EQ(r[TAPE_AT], 30);
}

TEST_CASE(FewRules, ATapeThatIsNotThereIsNotCalled) { each_leak_world(27, calls_tapes); }

/* waitgroup.go Add: waiters and a counter that was 0 before is a misuse; so is any other change of
 * the state while they are woken, which is why it is not the misuse where there are none. */
static void misuses_wait_groups(struct m *mp)
{
    struct waitgroup *wg = host_alloc(sizeof *wg, 64);
    static const struct {
        int64_t counter, waiters, delta;
        int panics; /* 0: no */
    } rows[] = {{0, 0, 1, 0}, {0, 1, 1, 1},  {0, 3, 2, 1}, {1, 1, 1, 0},
                {5, 2, 3, 0}, {5, 2, -2, 0}, {0, 0, 0, 0}, {1, 0, -1, 0}};
    (void)mp;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct g *gp = g_of(Grunning);
        gp->ext = host_alloc(sizeof *gp->ext, 64);
        struct deferRecord *d = host_alloc(sizeof *d, 64); /* so a panic is not the end */
        d->once = host_alloc(sizeof *d->once, 64);
        mutex_lock(gp, &d->once->m);
        gp->ext->defers = d;
        a_store(&wg->state, (uint64_t)rows[i].counter << 32 | (uint64_t)rows[i].waiters);
        (void)wg_add(gp, wg, rows[i].delta);
        CHECK_EQ(gp->ext->panics != NULL, rows[i].panics);
        if (rows[i].panics)
            CHECK_EQ(gp->ext->panics->value, -1 - (int64_t)PANIC_wg_misuse);
    }
}

TEST_CASE(FewRules, AWaitGroupIsNotUsedAgainTooEarly) { each_leak_world(27, misuses_wait_groups); }

/* Ms in system calls without a P; C's own threads are none of them. */
static void counts_syscalls(struct m *mp)
{
    struct m *c = host_alloc(sizeof *c, 64);
    c->isExtraInC = true;
    for (int i = 1; i <= 3; i++) {
        addGSyscallNoP(mp);
        addGSyscallNoP(c);
        CHECK_EQ(a_peek(&sched->nGsyscallNoP), i);
    }
    for (int i = 2; i >= 0; i--) {
        decGSyscallNoP(mp);
        decGSyscallNoP(c);
        CHECK_EQ(a_peek(&sched->nGsyscallNoP), i);
    }
}

TEST_CASE(FewRules, OnlyGsWithoutAPAreCounted) { each_leak_world(27, counts_syscalls); }

/* Of an instruction that makes a descriptor, the arrival process is one that there is, or none. */
TEST_CASE(FewRules, ADescriptorHasAnArrivalProcessOrNone)
{
    static const struct func funcs[] = {{"main", 0, 2, 2, 0, 0}};
    static const struct arrivals two[2] = {{.kind = ARRIVE_TIMES, .mode = 1},
                                           {.kind = ARRIVE_TIMES, .mode = 1}};
    struct insn code[] = {{.op = OP_MAKE, .a = 0, .b = OBJ_FD, .c = NOREG},
                          {.op = OP_RET, .a = NOREG}};
    struct program p = {
        .code = code, .funcs = funcs, .ncode = 2, .nfuncs = 1, .arrivals = two, .narrivals = 2};
    char text[256];
    for (int64_t i = -3; i <= 4; i++) {
        code[0].imm = i;
        bool good = program_check(&p, text, sizeof text);
        if (good != (i >= -1 && i < 2))
            FAIL_CASE("%d: %s", (int)i, text);
    }
}

/* Times of arrivals do not go back, from the first on. */
TEST_CASE(FewRules, ArrivalsAreInOrder)
{
    static const int64_t rows[][3] = {{0, 0, 0}, {1, 2, 2}, {-1, 0, 0}, {5, 3, 9}, {5, 9, 3}};
    static const struct func funcs[] = {{"main", 0, 1, 1, 0, 0}};
    static const struct insn code[] = {{.op = OP_RET, .a = NOREG}};
    for (int i = 0; i < 5; i++) {
        const struct arrivals a = {.kind = ARRIVE_TIMES, .mode = 1, .times = rows[i], .ntimes = 3};
        const struct program p = {
            .code = code, .funcs = funcs, .ncode = 1, .nfuncs = 1, .arrivals = &a, .narrivals = 1};
        char text[256];
        CHECK_EQ(program_check(&p, text, sizeof text), i < 2);
    }
}

/* A switch is on or off. */
TEST_CASE(FewRules, ASwitchIsOnOrOff)
{
    struct profile f;
    CHECK(profile_init(&f, 27));
    CHECK_EQ(profile_set(&f, "wakep_locked", 0), 0);
    CHECK_EQ(profile_set(&f, "wakep_locked", 1), 0);
    CHECK_EQ(profile_set(&f, "wakep_locked", 2), -2);
    CHECK_EQ(profile_set(&f, "wakep_locked", -1), -2);
    CHECK_EQ(profile_set(&f, "sysmon", 2), -2);
    CHECK_EQ(profile_set(&f, "wakep_unlocked", 1), -1);
}
