/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what one line leaves that no run shows: marks for the next one,
 * limits met exactly, calls that Go makes when something cannot go on. */

/* ---- threads ---- */

/* The template thread is there before a G has its own thread; where a child process is on its way,
 * its making is a step of its own. */
static void locks_to_thread(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    a_store(&rt->newmHandoff.haveTemplateThread, 1u);
    rt->execLock = NULL;
    CHECK_EQ(step_lockOSThread(gp), OP_DONE);
    CHECK_EQ(gp->nkont, 0);
    CHECK(a_peek(&gp->lockedm) == mp && mp->lockedg == gp);
    CHECK_EQ(mp->lockedExt, 1);
    rt->execLock = host_alloc(sizeof *rt->execLock, 64);
    CHECK_EQ(step_lockOSThread(gp), OP_DONE); /* whoever reads the lock keeps its P */
    CHECK_EQ(gp->nkont, 0);
    CHECK_EQ(mp->lockedExt, 2);
    world_prof.rwmutex_reader_pinned = 0;
    CHECK_EQ(step_lockOSThread(gp), OP_DONE);
    CHECK_EQ(mp->lockedExt, 2);
    CHECK_EQ(gp->kont[0], STEP_templateCloned);
    CHECK_EQ(gp->kont[1], STEP_prologue);
    gp->nkont = 0;
    uint64_t threads = mp->counters[C_threads];
    CHECK_EQ(step_templateCloned(gp), OP_DONE);
    CHECK_EQ(mp->counters[C_threads], threads + 1);
    CHECK_EQ(mp->lockedExt, 3);
    CHECK_EQ(a_peek(&rt->execLock->readerCount), 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, TheTemplateThreadComesBeforeTheLock) { each_leak_world(27, locks_to_thread); }

/* A locked G that somebody found runnable: its thread comes back with a P, and has it. */
static void thread_returns(struct m *mp)
{
    struct g *gp = runnable();
    struct p *pp = pidle_next();
    mp->lockedg = gp;
    a_store(&gp->lockedm, mp);
    a_store(&rt->panicking, true); /* so that nobody asks who else could run */
    mp->nextp = pp;
    notewakeup(&mp->park);
    stoplockedm();
    CHECK_EQ(gp->owner, mp->id + 1);
    CHECK(mp_p(mp) == pp && mp->nextp == NULL);
    mp->lockedg = NULL;
    incidlelocked(-1);
}

TEST_CASE(LeftRules, AThreadThatComesBackHasItsG) { each_release(thread_returns); }

/* ---- panics ---- */

/* checkdead has nothing to say once somebody panics. */
static void is_panicking(struct m *mp)
{
    (void)mp;
    CHECK(!a_peek(&rt->panicking));
    CHECK_STR(crash_begin("one ", "two").text, "one two");
    CHECK(a_peek(&rt->panicking));
}

TEST_CASE(LeftRules, ACrashIsKnownAtOnce) { each_leak_world(27, is_panicking); }

static void goes_on(struct m *mp)
{
    static const int then[] = {
        [FRAME_PANIC] = STEP_panicNext,
        [FRAME_GOEXIT] = STEP_goexitDefers,
        [FRAME_RECOVERED] = STEP_recovered,
        [FRAME_DEFER] = -1,
        [FRAME_CALL] = -1,
        [FRAME_CGOCB] = -1,
        [FRAME_FINALIZER] = -1,
        [FRAME_CLEANUP] = -1,
    };
    (void)mp;
    for (int kind = 0; kind < (int)(sizeof then / sizeof *then); kind++) {
        struct g *gp = g_of(Grunning);
        defer_native_then(gp, (enum frame_kind)kind);
        CHECK_EQ(gp->nkont, then[kind] >= 0);
        CHECK(then[kind] < 0 || gp->kont[0] == then[kind]);
    }
}

TEST_CASE(LeftRules, ADeferredOnceGoesOnAsItsFrameDoes) { each_leak_world(27, goes_on); }

/* What lies behind the arguments is not the callee's. */
static void passes_arguments(struct m *mp)
{
    static const struct func funcs[] = {{"f", 0, 1, 5, 2, 0}};
    static const struct program p = {.funcs = funcs, .nfuncs = 1};
    struct g *gp = user(mp);
    static const int64_t args[] = {7, 8};
    rt->prog = &p;
    gp->func = 0;
    for (int i = 0; i < 3; i++)
        defer_add(gp, 0, args, 2)->args[2] = 99;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(defer_run(gp, FRAME_DEFER), OP_DONE);
        for (int k = 0; k < 5; k++)
            CHECK_EQ(regs(gp)[k], k < 2 ? args[k] : 0);
    }
    CHECK(gp->ext->defers == NULL);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, ADeferredCallHasItsArgumentsOnly) { each_leak_world(27, passes_arguments); }

/* A callback of a thread of C is locked to it for as long as it runs. */
static void leaves_callback(struct m *mp)
{
    for (int extra = 0; extra <= 1; extra++) {
        struct g *gp = user(mp);
        (void)g_ext(gp);
        gp->extra = extra;
        mp->lockedInt = 1;
        mp->lockedg = gp;
        a_store(&gp->lockedm, mp);
        CHECK_EQ(goexit_next(gp), OP_MCALL);
        CHECK_EQ(mp->lockedInt, !extra);
        CHECK_EQ(mp->lockedg == NULL, extra);
        mp->lockedInt = 0;
        mp->lockedg = NULL;
    }
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AGoexitLeavesTheThreadOfACallback) { each_leak_world(27, leaves_callback); }

/* So for the function of a Once: its frame is cleared, and filled with what it is called with. */
static void calls_once(struct m *mp)
{
    struct g *gp = user(mp);
    gp->func = 0;
    gp->pc = 1;
    for (int i = 0; i < 4; i++)
        regs(gp)[i] = 10 + i;
    CHECK_EQ(step_onceDo(gp), OP_DONE);
    CHECK_EQ(gp->func, 1);
    CHECK_EQ(regs(gp)[0], 11);
    for (int i = 1; i < 4; i++)
        CHECK_EQ(regs(gp)[i], 0);
    CHECK(gp->ext->defers != NULL && gp->ext->defers->once == object_at(1)->p);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AOncesFunctionHasItsArgumentsOnly)
{
    static const struct object_decl objects[] = {{"o", 0, OBJ_ONCE}};
    static const struct insn code[] = {{.op = OP_ONCE, .a = 1, .b = 1, .d = 0, .imm = 1},
                                       {.op = OP_RET, .a = NOREG},
                                       {.op = OP_RET, .a = NOREG}};
    static const struct func funcs[] = {{"main", 0, 2, 4, 0, 0}, {"f", 2, 3, 4, 1, 0}};
    static const struct program p = {
        .code = code, .ncode = 3, .funcs = funcs, .nfuncs = 2, .objects = objects, .nobjects = 1};
    world_program = &p;
    world(27, PROCS, &(struct host_opts){0}, calls_once);
    world_program = NULL;
}

/* Who recovered returns nothing: its result is 0. */
static void returns_nothing(struct m *mp)
{
    static const struct func funcs[] = {{"main", 0, 1, 3, 0, 0}, {"f", 1, 2, 3, 0, 0}};
    static const struct program p = {.funcs = funcs, .nfuncs = 2};
    struct g *gp = user(mp);
    rt->prog = &p;
    gp->func = 0;
    regs(gp)[2] = 5;
    frame_push(gp, 1, FRAME_CALL, 2);
    CHECK_EQ(step_recovered(gp), OP_DONE);
    CHECK_EQ(gp->func, 0);
    CHECK_EQ(regs(gp)[2], 0);
    regs(gp)[2] = 5;
    frame_push(gp, 1, FRAME_CALL, 2);
    regs(gp)[0] = 7;
    CHECK_EQ(op_ret(gp, &(struct insn){.op = OP_RET, .a = NOREG}), OP_DONE);
    CHECK_EQ(gp->func, 0);
    CHECK_EQ(regs(gp)[2], 0);
    frame_push(gp, 1, FRAME_CALL, 2);
    CHECK_EQ(regs(gp)[0], 0); /* of the next call */
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhoRecoveredReturnsNothing) { each_leak_world(27, returns_nothing); }

/* ---- since when a goroutine waits ---- */

static int64_t waits_since, began;

static bool does_not_park(struct g *gp, void *arg)
{
    (void)arg;
    waits_since = gp->waitsince;
    return false;
}

static void knows_since(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    mp->waitunlockf = does_not_park;
    began = host_now();
    park_m(gp);
    CHECK_GE(waits_since, began);
    CHECK(mp->waitunlockf == NULL);
    CHECK_EQ(readgstatus(gp), Grunning);
    CHECK_EQ(gp->waitsince, 0); /* it runs */
    a_store(&mp->curg, (struct g *)NULL);
}

static void knows_nothing_of_calls(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    gp->waitsince = 5;
    entersyscall(gp);
    CHECK_EQ(exitsyscall(gp), OP_DONE);
    CHECK_EQ(gp->waitsince, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AGKnowsSinceWhenItWaits)
{
    each_release(knows_since);
    each_release(knows_nothing_of_calls);
}

/* ---- preemption ---- */

static void may_be_preempted(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64);
    struct p *pp = rt->allp[1];
    struct g *gp = g_of(Grunning);
    (void)mp;
    a_store(&other->curg, gp);
    CHECK(!canPreemptM(other)); /* without a P */
    a_store(&other->p, pp);
    CHECK(!canPreemptM(other)); /* with one that does not run */
    a_store(&pp->status, (uint32_t)Prunning);
    CHECK(canPreemptM(other));
    a_store(&gp->atomicstatus, (uint32_t)Gsyscall);
    CHECK_EQ(canPreemptM(other), prof->release < 26); /* its P may be gone at any time */
    a_store(&other->curg, (struct g *)NULL);
    CHECK_EQ(canPreemptM(other), prof->release < 26);
    a_store(&pp->status, (uint32_t)Pidle);
}

TEST_CASE(LeftRules, WhoHasNoRunningPIsNotPreempted) { each_release(may_be_preempted); }

/* Who cannot stop now goes on, and is asked again by what holds it up. */
static void is_asked_later(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->stackguard0, GUARD_PREEMPT);
    mp->locks = 1;
    CHECK_EQ(newstack(gp), OP_DONE);
    CHECK_EQ(a_peek(&gp->stackguard0), GUARD_NORMAL);
    mp->locks = 0;
    a_store(&gp->stackguard0, GUARD_PREEMPT);
    CHECK_EQ(newstack(gp), OP_MCALL);
    CHECK_EQ(a_peek(&gp->stackguard0), GUARD_PREEMPT);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhoHoldsALockIsAskedLater) { each_release(is_asked_later); }

static void parks_preempted(struct m *mp)
{
    struct g *gp = user(mp), *next = runnable();
    a_store(&gp->m, mp);
    next->unannounced = true;
    runqput(mp_p(mp), next, /*next*/ true);
    preemptPark(gp);
    CHECK_EQ(readgstatus(gp), Gpreempted);
    CHECK_EQ(gp->waitreason, waitReasonPreempted);
    CHECK(a_peek(&gp->m) == NULL);
    CHECK(a_peek(&mp->curg) == next);
    CHECK(!next->unannounced); /* whoever is told of it would be told too late */
    CHECK_EQ(mp->counters[C_schedules], 1);
    a_store(&mp->curg, (struct g *)NULL);
}

/* From 1.26 on a P has the worker that it runs next; who finds other work gives it back. */
static void gives_worker_back(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = runnable();
    runqput(pp, gp, /*next*/ true);
    pp->gc.nextMarkWorker = g_of(Gwaiting);
    pp->gc.mode = gcDedicated;
    int64_t needed = a_peek(&rt->gc.dedicatedNeeded);
    schedule();
    CHECK(a_peek(&mp->curg) == gp);
    CHECK_EQ(pp->gc.nextMarkWorker == NULL, prof->gcworker_preassign);
    CHECK_EQ(a_peek(&rt->gc.dedicatedNeeded), needed + (prof->gcworker_preassign != 0));
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhoRunsSomethingElseGivesTheWorkerBack)
{
    for (int release = 24; release <= 27; release++)
        world(release, 1, &(struct host_opts){0}, gives_worker_back);
}

TEST_CASE(LeftRules, WhoIsStoppedSaysSo)
{
    for (int release = 14; release <= 27; release++)
        world(release, 1, &(struct host_opts){0}, parks_preempted);
}

static void begin_ns(void) { vm_now_ = (vm_now_ + 999) / 1000 * 1000; }

/* A second signal comes 5 us after the first one, whoever asks and how often. */
static void signals_again(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64);
    struct g *gp = g_of(Grunning);
    struct suspend_request r = {.next_signal = INT64_MAX};
    int64_t read = nanotime(), reading = host_now() - read, start = 0, took = 0;
    (void)mp;
    a_store(&gp->m, other);
    for (int i = 0; i < 3; i++) { /* caches */
        r.mp = NULL;
        begin_ns();
        start = host_now();
        suspend_running(gp, &r); /* not yet */
        took = host_now() - reading - start;
        CHECK_EQ(r.next_signal, INT64_MAX);
        CHECK_EQ(a_peek(&other->signalPending), 0);
    }
    a_store(&other->signalPending, 1); /* one is on its way to a thread that is not there */
    r = (struct suspend_request){0};
    begin_ns();
    start = host_now();
    suspend_running(gp, &r);
    CHECK_EQ(r.next_signal, start + took + 5000);
    CHECK(r.mp == other);
    a_store(&gp->preemptStop, false);
    a_store(&other->signalPending, 0);
    r.next_signal = 0;
    suspend_running(gp, &r); /* the handler has not run since */
    CHECK(a_peek(&gp->preemptStop));
    CHECK_EQ(r.next_signal, 0);
    CHECK_EQ(a_peek(&other->signalPending), 0);
}

TEST_CASE(LeftRules, SignalsAre5MicrosecondsApart) { each_leak_world(27, signals_again); }

/* ---- sync.Pool ---- */

static void loses_places(struct m *mp)
{
    static const int32_t procs[] = {2, 4, PROCS};
    uint32_t lost = 0;
    the_pool = pool_make();
    for (int i = 0; i < 3; i++) {
        a_store(&rt->gomaxprocs, procs[i]);
        move_to(mp, procs[i] - 1);
        put_value(1);
    }
    for (struct poolLocals *l = the_pool->lost; l != NULL; l = l->link)
        lost++;
    CHECK_EQ(lost, 2); /* thieves may be there until the next collection */
    poolCleanup();
    CHECK(the_pool->victim != NULL);
    victim_drop(the_pool);
    CHECK(the_pool->victim == NULL);
    CHECK_EQ(a_peek(&the_pool->victimSize), 0);
    move_to(mp, 0);
}

TEST_CASE(LeftRules, APoolKeepsWhatThievesMaySee) { each_leak_world(27, loses_places); }

static void allocates_rings(struct m *mp)
{
    struct poolChain *c = host_alloc(sizeof *c, 64);
    (void)mp;
    uint64_t before = vm_now_;
    CHECK_EQ(elt_new(c, 8)->len, 8);
    CHECK_EQ(vm_now_ - before, vm_hot.work[W_alloc]);
    before = vm_now_;
    poolChain_collect(c);
    CHECK_EQ(elt_new(c, 8)->len, 8); /* the same memory, but Go has none to use again */
    CHECK_GE(vm_now_ - before, vm_hot.work[W_alloc]);
}

TEST_CASE(LeftRules, ARingIsAnAllocation) { each_leak_world(27, allocates_rings); }

/* ---- programs ---- */

static bool is_good(const struct program *p, const char *text)
{
    static char said[256];
    bool good = program_check(p, said, sizeof said);
    if (!good)
        CHECK_HAS(said, text);
    return good;
}

/* time.AfterFunc calls with one argument at most; a timer's function finds its arguments in the
 * frame. */
TEST_CASE(LeftRules, WhatATimerCallsHasArguments)
{
    static const struct func funcs[] = {
        {"main", 0, 2, 4, 0, 0}, {"one", 2, 3, 4, 1, 0}, {"two", 3, 4, 4, 2, 0}};
    struct insn code[] = {{.op = OP_AFTERTO},
                          {.op = OP_RET, .a = NOREG},
                          {.op = OP_RET, .a = NOREG},
                          {.op = OP_RET, .a = NOREG}};
    const struct program p = {.code = code, .funcs = funcs, .ncode = 4, .nfuncs = 3};
    for (int32_t f = 1; f <= 2; f++)
        for (int n = 0; n <= 2; n++) {
            code[0] = (struct insn){.op = OP_AFTERTO, .b = (uint8_t)n, .d = f};
            CHECK_EQ(is_good(&p, "wrong number of arguments"), f == 1 && n == 1);
        }
    for (int32_t f = 1; f <= 2; f++)
        for (int from = 0; from <= 3; from++) {
            code[0] = (struct insn){
                .op = OP_TIMER, .a = 0, .b = NOREG, .c = (uint8_t)from, .d = f, .imm = 1};
            CHECK_EQ(is_good(&p, "arguments outside of the frame"), from + f <= 4);
        }
}

/* A function's number fits 16 bits. */
TEST_CASE(LeftRules, AProgramHas65535Functions)
{
    static const struct func with_parameter[] = {{"main", 0, 1, 1, 1, 0}};
    struct program p = {.funcs = with_parameter, .nfuncs = UINT16_MAX};
    CHECK(!is_good(&p, "no main function"));
    p.nfuncs++;
    CHECK(!is_good(&p, "too large"));
}

/* The second entry of a tape is named by where it is. */
TEST_CASE(LeftRules, AMistakeOnATapeHasAPlace)
{
    static uint8_t tape[64];
    static const struct insn code[] = {
        {.op = OP_RET, .a = NOREG}, {.op = OP_TAPEBEGIN}, {.op = OP_TAPE}, {.op = OP_JMP, .d = 2}};
    static const struct func funcs[] = {{"main", 0, 1, TAPE_REGS, 0, 0},
                                        {"plays", 1, 4, TAPE_REGS, 1, 0}};
    uint64_t starts[2] = {0};
    const struct insn good = {.op = OP_CONST, .a = TAPE_FREE, .imm = 5},
                      bad = {.op = OP_EVPOST, .imm = 9};
    size_t at = tape_put(tape, &good);
    starts[1] = at + tape_put(tape + at, &bad);
    const struct program p = {.code = code,
                              .funcs = funcs,
                              .ncode = 4,
                              .nfuncs = 2,
                              .tape = tape,
                              .tapes = starts,
                              .ntapes = 1};
    char want[80];
    snprintf(want, sizeof want, "byte %zu (EVPOST): no such event", at);
    CHECK(!is_good(&p, want));
    struct insn in;
    for (unsigned op = 0; op <= UINT8_MAX; op++) { /* codes that are none */
        tape[0] = (uint8_t)op;
        CHECK(op < TAPE_CODES || tape_read(tape, tape + sizeof tape, &in) == NULL);
    }
}

/* ---- queues ---- */

static void overflows_ring(struct m *mp)
{
    struct gQueue q = {0};
    struct p *pp = mp_p(mp);
    for (int i = 0; i < RING + 3; i++)
        gQueue_pushBack(&q, runnable());
    runqputbatch(pp, &q);
    CHECK_EQ(ring_size(pp), RING);
    CHECK_EQ(prof->grq_batch_unlocked ? q.size : sched->runq.size, 3); /* or the caller's to put */
    empty_queues(pp);
}

TEST_CASE(LeftRules, WhatDoesNotFitIsSeenToMove)
{
    for (int release = 14; release <= 27; release++) {
        moves_seen = 0;
        world(release, PROCS, &(struct host_opts){.sink = sees_moves, .moves = true},
              overflows_ring);
        CHECK_EQ(moves_seen, 3);
    }
}

/* ---- select ---- */

enum { MANY_CASES = 22 }; /* 33 words: one more than a block of 32 */
static const struct object_decl sel_objects[] = {{"c", 0, OBJ_CHAN}, {"d", 0, OBJ_CHAN}};
static struct select_case sel_cases[MANY_CASES];
static const struct select_table sel_tables[] = {{0, 1, false}, {0, MANY_CASES, true}};
static const struct insn sel_code[] = {{.op = OP_SELECT, .a = 0, .b = 1, .d = 0},
                                       {.op = OP_SELECT, .a = 0, .b = 1, .d = 1},
                                       {.op = OP_RET, .a = NOREG}};
static const struct func sel_funcs[] = {{"main", 0, 3, 3, 0, 0}};
static const struct program sel_program = {.code = sel_code,
                                           .ncode = 3,
                                           .funcs = sel_funcs,
                                           .nfuncs = 1,
                                           .objects = sel_objects,
                                           .nobjects = 2,
                                           .selects = sel_tables,
                                           .nselects = 2,
                                           .cases = sel_cases,
                                           .ncases = MANY_CASES};

static void selects(struct m *mp)
{
    enum { ORDER = 5, WORDS = 1 << ORDER };
    struct g *gp = user(mp);
    gp->func = 0;
    gp->pc = 1;
    CHECK_EQ(op_select(gp, &sel_code[0]), OP_MCALL);
    CHECK_EQ(gp->waitreason, waitReasonChanReceive); /* the compiler makes it a plain receive */
    unlock(&((struct hchan *)gp->waiting->c)->lock);
    int64_t *block = stackpool_get(ORDER), *next = stackpool_get(ORDER);
    CHECK(next == block + WORDS);
    for (int i = 0; i < WORDS; i++)
        next[i] = 0x5a;
    stackpool_put(block, ORDER);
    void *room = stackpool_get(ORDER + 1);
    stackpool_put(room, ORDER + 1);
    gp = user(mp);
    gp->func = 0;
    gp->pc = 2;
    CHECK_EQ(op_select(gp, &sel_code[1]), OP_DONE);
    CHECK_EQ(regs(gp)[0], -1);
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(next[i], 0x5a);             /* the arrays of the cases end before */
    CHECK(stackpool_get(ORDER + 1) == room); /* and are given back */
    a_store(&mp->curg, (struct g *)NULL);
}

/* Which of two cases of one channel is locked, and queued, first: what Go's own code gives. */
static void keeps_equal(struct m *mp)
{
    enum { MOST = 8 };
    static const struct {
        uint32_t n;
        int32_t key[MOST];
        uint16_t upward[MOST], downward[MOST]; /* the order in which they are asked */
    } rows[] = {
        {2, {0}, {1, 0}, {0, 1}},
        {3, {0}, {1, 2, 0}, {1, 0, 2}},
        {4, {0}, {1, 2, 3, 0}, {2, 1, 0, 3}},
        {6, {0}, {1, 2, 3, 4, 5, 0}, {4, 3, 2, 1, 0, 5}},
        {6, {0, 1, 0, 1, 0, 1}, {2, 4, 0, 5, 3, 1}, {0, 4, 2, 3, 1, 5}},
        {8, {2, 1, 1, 0, 0, 0, 2, 1}, {5, 4, 3, 2, 7, 1, 6, 0}, {5, 3, 4, 2, 7, 1, 0, 6}},
    };
    static struct hchan chans[MOST];
    struct hchan *c[MOST];
    uint16_t poll[MOST], order[MOST];
    (void)mp;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        for (int down = 0; down <= 1; down++) {
            uint32_t n = rows[row].n;
            struct selector s = {
                .c = c, .pollorder = poll, .lockorder = order, .ncases = n, .n = n};
            for (uint32_t i = 0; i < n; i++) {
                c[i] = &chans[i];
                chans[i].index = rows[row].key[i];
                poll[i] = (uint16_t)(down ? n - 1 - i : i);
            }
            select_lockorder(&s);
            for (uint32_t i = 0; i < n; i++)
                CHECK_EQ(order[i], (down ? rows[row].downward : rows[row].upward)[i]);
        }
}

TEST_CASE(LeftRules, CasesOfOneChannelKeepGosOrder) { each_leak_world(27, keeps_equal); }

TEST_CASE(LeftRules, ASelectHasRoomForItsCases)
{
    for (int i = 0; i < MANY_CASES; i++)
        sel_cases[i] = (struct select_case){i % 2, 0, 2, false};
    world_program = &sel_program;
    world(27, PROCS, &(struct host_opts){0}, selects);
    world_program = NULL;
}

/* What a select has woken up with is used up; a receive of a closed channel comes after the close. */
static void comes_back_of_select(struct m *mp)
{
    struct g *gp = user(mp);
    gp->func = 0;
    gp->pc = 2;
    struct sudog *s = acquireSudog();
    s->g = gp;
    s->c = host_alloc(sizeof(struct hchan), 64);
    gp->waiting = gp->param = s;
    CHECK_EQ(step_selectgo(gp), OP_DONE);
    CHECK(gp->param == NULL && gp->waiting == NULL);
    CHECK_EQ(mp_p(mp)->nsudog, 1);
    CHECK_EQ(a_peek(&gp->selectDone), 0);

    struct hchan *c[] = {makechan(1)};
    uint16_t order[] = {0};
    struct selector k = {
        .cases = sel_cases, .c = c, .pollorder = order, .lockorder = order, .ncases = 1, .n = 1};
    enum opres r;
    a_store(&c[0]->closed, 1u);
    races_told = true;
    race_told_with = 0;
    lock(&c[0]->lock);
    CHECK(select_try_recv(gp, &k, 0, &r));
    races_told = false;
    CHECK_EQ(race_told_edge, RACE_ACQUIRE);
    CHECK_EQ(race_told_with, (uint64_t)(uintptr_t)&c[0]->closed);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, ASelectThatComesBackIsDone)
{
    sel_cases[0] = (struct select_case){0, 0, 2, false};
    world_program = &sel_program;
    world(27, PROCS, &(struct host_opts){0}, comes_back_of_select);
    world_program = NULL;
}

/* ---- the runtime's own rwmutex ---- */

/* The last reader left before the writer looked at who waits: nobody has to wait. */
static void finds_nobody(struct m *mp)
{
    struct rtrwmutex *rw = host_alloc(sizeof *rw, 64);
    (void)mp;
    a_store(&rw->readerCount, 1);
    a_store(&rw->readerWait, -1);
    rtrw_lock(rw);
    CHECK_EQ(a_peek(&rw->readerWait), 0);
    CHECK(rw->writer == NULL);
}

static void unlocks_twice(struct m *mp)
{
    struct rtrwmutex *rw = host_alloc(sizeof *rw, 64);
    (void)mp;
    rtrw_unlock(rw);
}

static void runlocks_nothing(struct m *mp)
{
    mp->locks++; /* as if it had it */
    rtrw_runlock(host_alloc(sizeof(struct rtrwmutex), 64));
}

TEST_CASE(LeftRules, AWriterWaitsForReadersOnly)
{
    each_leak_world(27, finds_nobody);
    world_ends(27, END_THROWN, unlocks_twice);
    world_ends(27, END_THROWN, runlocks_nothing);
}

/* ---- an M for somebody ---- */

static void starts_nobody(struct m *mp)
{
    idle_none();
    a_store(&sched->npidle, 0);
    startm(NULL, /*spinning*/ false, /*lockheld*/ false);
    CHECK_EQ(mp->locks, 0);
    CHECK_EQ(mp->counters[C_threads], 0);
}

TEST_CASE(LeftRules, WithoutAPNoMIsStarted) { each_release(starts_nobody); }

/* By turns a call of C is time that passes. */
static void calls_c_by_turns(struct m *mp)
{
    static const struct insn in = {.op = OP_CGOCALL, .b = NOREG, .d = -1, .imm = 1000};
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    a_store(&sched->nmspinning, 1);
    by_turns = true;
    CHECK_EQ(op_cgocall(gp, &in), OP_MCALL);
    CHECK_EQ(op_exec(gp, &in), OP_MCALL); /* and so is one that loads another program */
    by_turns = false;
    CHECK_EQ(mp->counters[C_syscalls], 0);
    CHECK_EQ(readgstatus(gp), Grunning);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, ByTurnsACallOfCIsASleep) { each_leak_world(27, calls_c_by_turns); }

/* ---- who else is told ---- */

/* A P that goes idle takes its timers along: the poller has to be up for the first of them. */
static void tells_of_timers(struct m *mp)
{
    struct p *pp = mp_p(mp);
    if (!prof->netpoll_wakesig)
        return;
    netpollGenericInit();
    a_store(&sched->nmspinning, 1);
    struct timer *t = timer_at(SOON);
    a_store(&sched->nmspinning, 0);
    a_store(&sched->lastpoll, 0);
    a_store(&sched->pollUntil, INT64_C(2) * SOON);
    a_store(&rt->netpoll->wakeSig, 0u);
    (void)releasep();
    handoffp(pp);
    CHECK_EQ(a_peek(&rt->netpoll->wakeSig), 1);
    CHECK(pidle_next() == pp);
    acquirep(pp);
    a_store(&sched->lastpoll, 1);
    CHECK(timer_stop(t));
    empty_heap(&pp->timers);
}

TEST_CASE(LeftRules, AnIdlePsTimersBreakThePoll) { each_release(tells_of_timers); }

static void runs_at_each_p(struct m *mp)
{
    (void)mp;
    forEachP(nothing_to_do);
    CHECK(sched->safePointFn == NULL);
    CHECK_EQ(sched->safePointWait, 0);
}

TEST_CASE(LeftRules, NothingIsLeftOfASafePoint) { each_leak_world(13, runs_at_each_p); }

/* WaitGroup.Add releases what the counter's last one acquires: only who goes down says so. */
static void orders_done(struct m *mp)
{
    struct waitgroup *wg = host_alloc(sizeof *wg, 64);
    struct g *gp = g_of(Grunning);
    (void)mp;
    races_told = true;
    for (int64_t delta = 1; delta >= -1; delta--) {
        race_told_with = 0;
        CHECK_EQ(wg_add(gp, wg, delta), OP_DONE);
        CHECK_EQ(race_told_with != 0, delta < 0);
    }
    races_told = false;
}

TEST_CASE(LeftRules, OnlyADoneIsARelease) { each_leak_world(27, orders_done); }

/* ---- what is due exactly now ---- */

/* sysmon_round reads the clock at the same moment of each round; last_trace is what it read. */
static void is_due(struct m *mp)
{
    enum { EVERY = 1000000 };
    struct sysmon s = sleepy();
    int64_t at = 0, start;
    (void)mp;
    rt->schedtrace_ns = EVERY;
    for (int i = 0; i < 3; i++) { /* caches */
        s.last_trace = s.last_gomaxprocs = -(int64_t)10 * SECOND - prof->gomaxprocs_check_ns;
        begin_ns();
        start = host_now();
        sysmon_round(&s);
        at = s.last_trace - start;
    }
    for (int early = 0; early <= 1; early++) {
        begin_ns();
        int64_t now = host_now() + at, last = now - EVERY + early,
                quota = now - prof->gomaxprocs_check_ns + early;
        s.last_trace = last;
        s.last_gomaxprocs = quota;
        sysmon_round(&s);
        CHECK_EQ(s.last_trace, early ? last : now);
        CHECK_EQ(s.last_gomaxprocs, early || prof->release < 25 ? quota : now);
    }
    rt->schedtrace_ns = 0;
}

TEST_CASE(LeftRules, SysmonIsOnTime) { each_release(is_due); }

/* ---- timers ---- */

/* 1.23+: a heap with a timer out of order is made anew, a quarter of it being parents. */
static uint64_t adjust_ps(struct timers *ts, struct timer *t, int64_t to)
{
    (void)timer_modify(t, to, 0, no_op, NULL, 0);
    timers_lock(ts);
    uint64_t before = vm_now_;
    adjust(ts, 0, /*force*/ true);
    uint64_t took = vm_now_ - before;
    timers_unlock(ts);
    return took;
}

static void pays_for_heap(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct timers *ts = &mp_p(mp)->timers;
    unsigned long long *price = &vm_hot.work[W_timer_op], was = *price;
    a_store(&sched->nmspinning, 1);
    struct timer *first = timer_at(FAR);
    for (uint32_t n = 2; n <= 24; n++) {
        (void)timer_at(FAR + (int64_t)n * 1000);
        CHECK_EQ(ts->n, n);
        (void)adjust_ps(ts, first, 2 * (int64_t)FAR); /* caches */
        *price = 0;
        uint64_t free = adjust_ps(ts, first, FAR);
        *price = was;
        (void)adjust_ps(ts, first, 2 * (int64_t)FAR);
        CHECK_EQ(adjust_ps(ts, first, FAR) - free, was * (1 + n / 4));
    }
    empty_heap(ts);
}

TEST_CASE(LeftRules, AHeapIsMadeAnewParentByParent)
{
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, pays_for_heap);
}

static struct timersBucket *bucket(int i, bool sleeping, int64_t until)
{
    struct timersBucket *tb = &rt->timersBuckets[i];
    tb->created = true;
    tb->gp = g_of(Gwaiting);
    tb->sleeping = sleeping;
    tb->sleepUntil = until;
    return tb;
}

/* 1.13: sysmon asks the buckets whose goroutines sleep, and nobody is woken for the same time. */
static void asks_buckets(struct m *mp)
{
    struct timer t = {.when = 7};
    (void)mp;
    (void)bucket(0, false, 3);
    struct timersBucket *tb = bucket(1, true, 7);
    (void)bucket(2, true, 9);
    CHECK_EQ(timeSleepUntil(), 7);
    addtimerLocked(tb, &t);
    CHECK(tb->sleeping);
    CHECK_EQ(a_peek(&tb->waitnote.key), 0);
    CHECK(deltimerLocked(tb, &t));
    t.when = 6;
    addtimerLocked(tb, &t);
    CHECK(!tb->sleeping);
    CHECK(a_peek(&tb->waitnote.key) != 0);
    CHECK(deltimerLocked(tb, &t));
}

/* A timer that has run is in no heap; one with a period, be it a nanosecond, is. */
static void runs_head(struct m *mp)
{
    (void)mp;
    for (int64_t period = 0; period <= 2; period++) {
        struct timersBucket *tb = bucket(0, false, 0);
        struct timer t = {.when = 5, .period = period, .f = no_op};
        addtimerLocked(tb, &t);
        lock(&tb->heap.mu);
        run_v0(tb, 5);
        unlock(&tb->heap.mu);
        CHECK_EQ(tb->heap.n, period > 0);
        CHECK_EQ(t.v0.i, period > 0 ? 0 : -1);
        CHECK_EQ(t.when, 5 + period);
        empty_heap(&tb->heap);
    }
}

/* What is due at this very nanosecond is run, and nobody who runs timers sleeps. */
static void runs_what_is_due(struct m *mp)
{
    struct timersBucket *tb = bucket(0, true, 0);
    struct timers *ts = &tb->heap;
    int64_t at = 0;
    (void)mp;
    for (int i = 0; i < 3; i++) { /* when the goroutine reads the clock */
        begin_ns();
        int64_t start = host_now();
        lock(&ts->mu);
        at = nanotime() - start;
        unlock(&ts->mu);
    }
    for (int early = 0; early <= 1; early++) {
        struct g *gp = user(mp);
        struct timer t = {.f = no_op};
        gp->opobj = tb;
        tb->sleeping = true;
        begin_ns();
        t.when = host_now() + at + early;
        ts->n = 0;
        heap_grow(ts);
        ts->heap[ts->n++] = (struct timerWhen){.timer = &t, .when = t.when};
        (void)step_timerproc(gp);
        CHECK_EQ(ts->n, (uint32_t)early);
        CHECK_EQ(tb->sleeping, early);
        if (!early)
            unlock(&ts->mu); /* it parks with it */
    }
    empty_heap(ts);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, ABucketOf113)
{
    world(13, PROCS, &(struct host_opts){0}, asks_buckets);
    world(13, PROCS, &(struct host_opts){0}, runs_head);
    world(13, PROCS, &(struct host_opts){0}, runs_what_is_due);
}

/* 1.16 to 1.22: stopped timers at the head go, one after the other. */
static void removes_stopped(struct m *mp)
{
    enum { N = 9, FAR = 1000000000 };
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[N];
    a_store(&sched->nmspinning, 1);
    for (int stopped = 1; stopped < N; stopped++) {
        for (int i = 0; i < N; i++)
            t[i] = timer_at(FAR + i * 1000);
        for (int i = 0; i < stopped; i++)
            CHECK(timer_stop(t[i]));
        (void)timer_modify(t[N - 1], FAR / 2, 0, no_op, NULL, 0);
        lock(&ts->mu);
        adjusttimers(ts, FAR);
        unlock(&ts->mu);
        CHECK_EQ(ts->n, (uint32_t)(N - stopped));
        CHECK(ts->heap[0].timer == t[N - 1]);
        CHECK_EQ(a_peek(&ts->zombies), 0);
        empty_heap(ts);
    }
}

TEST_CASE(LeftRules, StoppedTimersAtTheHeadGo)
{
    for (int release = 16; release <= 22; release++)
        world(release, PROCS, &(struct host_opts){0}, removes_stopped);
}

/* Where Reset does not hold its M, it may be preempted half-way. */
static void resets_in_two_steps(struct m *mp)
{
    struct g *gp = user(mp);
    struct timeTimer *tt = timeTimer_alloc(NULL, 0);
    a_store(&gp->m, mp);
    a_store(&sched->nmspinning, 1);
    timeTimer_start(tt, SECOND, 0, no_op, NULL);
    CHECK(time_Reset(tt, 2 * (int64_t)SECOND));
    CHECK_EQ(gp->kont[0], STEP_modtimer);
    CHECK_EQ(gp->kont[1], STEP_prologue);
    gp->nkont = 0;
    CHECK_EQ(step_modtimer(gp), OP_DONE);
    CHECK(timer_stop(&tt->t));
    empty_heap(&mp_p(mp)->timers);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AnUnpinnedResetIsTwoSteps)
{
    rule_off = "modtimer_pinned";
    world(14, PROCS, &(struct host_opts){0}, resets_in_two_steps);
    world(22, PROCS, &(struct host_opts){0}, resets_in_two_steps);
    rule_off = NULL;
}

/* ---- the tracer ---- */

/* What is begun of a buffer is given to the reader, and nothing else. */
static void flushes_begun(struct m *mp)
{
    (void)mp;
    for (uint32_t used = 0; used <= 2; used++) {
        a_store(&rt->allp[1]->traced, used);
        uint32_t full = a_peek(&rt->trace.full[0]);
        flush_ps();
        CHECK_EQ(a_peek(&rt->trace.full[0]), full + (used > 0));
        CHECK_EQ(a_peek(&rt->allp[1]->traced), 0);
    }
}

static void traces_without_p(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64);
    (void)mp;
    a_store(&rt->trace.on, true);
    trace_events(other, 2); /* up to 1.21 the buffer is the P's */
    CHECK_EQ(a_peek(&other->traced[trace_slot()]), prof->release < 22 ? 0 : 2);
    a_store(&rt->trace.on, false);
    trace_events(other, 2);
    CHECK_EQ(a_peek(&other->traced[trace_slot()]), prof->release < 22 ? 0 : 2);
}

/* A buffer has 64 KB: 8192 events of eight bytes. */
static void fills_buffers(struct m *mp)
{
    uint32_t slot = trace_slot();
    maskword *used = prof->trace_generations ? &mp->traced[slot] : &mp_p(mp)->traced;
    a_store(&rt->trace.on, true);
    for (uint32_t n = 8191; n <= 8192; n++) {
        uint32_t full = a_peek(&rt->trace.full[slot]);
        a_store(used, n);
        trace_events(mp, 1);
        CHECK_EQ(a_peek(&rt->trace.full[slot]), full + (n == 8192));
        CHECK_EQ(a_peek(used), n == 8192 ? 1 : 8192);
    }
    a_store(&rt->trace.on, false);
    a_store(used, 0u);
}

static void one_reader(struct m *mp)
{
    struct g *gp = g_of(Gwaiting), *other = g_of(Gwaiting);
    (void)mp;
    a_store(&rt->trace.reader, other);
    CHECK(!reader_parks(gp, NULL));
    CHECK(a_peek(&rt->trace.reader) == other);
    a_store(&rt->trace.reader, (struct g *)NULL);
}

/* Where writing costs nothing the reader makes no system call. */
static void writes_for_nothing(struct m *mp)
{
    struct g *gp = user(mp);
    world_prof.trace_write_ns = 0;
    rt->trace.header = false;
    CHECK_EQ(step_readTrace(gp), OP_DONE);
    CHECK_EQ(readgstatus(gp), Grunning);
    CHECK_EQ(mp->counters[C_syscalls], 0);
    CHECK_EQ(gp->kont[0], STEP_readTrace);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhatATraceIsWrittenBy)
{
    for (int release = 13; release <= 21; release++)
        world(release, PROCS, &(struct host_opts){0}, flushes_begun);
    each_release(traces_without_p);
    each_release(fills_buffers);
    each_leak_world(22, one_reader);
    each_release(writes_for_nothing);
}

/* ---- recorded programs ---- */

static const struct program event_program = {
    .code = sel_code, .ncode = 3, .funcs = sel_funcs, .nfuncs = 1, .nevents = 1};

static void happens_twice(struct m *mp)
{
    static const struct insn post = {.op = OP_EVPOST}, wait = {.op = OP_EVWAIT};
    struct g *gp = user(mp);
    CHECK_EQ(op_evpost(gp, &post), OP_DONE);
    CHECK_EQ(op_evpost(gp, &post), OP_DONE); /* there is nobody to wake */
    CHECK_EQ(op_evwait(gp, &wait), OP_DONE);
    CHECK_EQ(mp->counters[C_events_waited], 1);
    CHECK_EQ(mp->counters[C_events_early], 1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AnEventThatHappenedWakesNobody)
{
    world_program = &event_program;
    each_release(happens_twice);
    world_program = NULL;
}

/* ---- semaphores with weights ---- */

/* Who asks for more than there ever is waits for ever, and holds nobody up. */
static void asks_too_much(struct m *mp)
{
    struct weighted *w = host_alloc(sizeof *w, 64);
    struct g *gp = user(mp);
    w->size = 3;
    CHECK_EQ(weighted_acquire(gp, w, 4), OP_MCALL);
    CHECK(w->head == NULL);
    CHECK(weighted_try(w, 3));
    CHECK(!weighted_try(w, 1));
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AWeightThatNobodyHasHoldsNobodyUp) { each_leak_world(27, asks_too_much); }

/* ---- the world ---- */

static void has_limit(struct m *mp)
{
    (void)mp;
    CHECK_EQ(rt->output_max, 77);
}

TEST_CASE(LeftRules, AWorldsOutputHasItsLimit)
{
    world(27, PROCS, &(struct host_opts){.world = {.output_max = 77}}, has_limit);
}

/* Every M's counters, from the first on. */
static void sums_counters(struct m *mp)
{
    uint64_t sums[COUNTER_COUNT + 1] = {[COUNTER_COUNT] = 99};
    mcommoninit(host_alloc(sizeof *mp, 64), -1, MSTART_LOOP);
    for (int64_t id = 0; id < sched->mnext; id++)
        for (int c = 0; rt->ms[id] != NULL && c < COUNTER_COUNT; c++)
            rt->ms[id]->counters[c] = (uint64_t)(c + 1);
    world_counters(sums);
    for (int c = 0; c < COUNTER_COUNT; c++)
        CHECK_EQ(sums[c], (uint64_t)(2 * (c + 1)));
    CHECK_EQ(sums[COUNTER_COUNT], 99);
}

TEST_CASE(LeftRules, AWorldsCountersAreThoseOfItsMs) { each_leak_world(27, sums_counters); }

/* A mask has a bit for each P there may be, and none of another mask. */
static void has_masks(struct m *mp)
{
    (void)mp;
    for (int32_t id = 0; id < rt->allp_len; id++) {
        pMask_set(rt->timerpMask, id);
        pMask_clear(rt->idlepMask, id);
    }
    for (int32_t id = 0; id < rt->allp_len; id++)
        CHECK(pMask_read(rt->timerpMask, id) && !pMask_read(rt->idlepMask, id));
    for (int32_t id = 0; id < rt->allp_len; id++) {
        pMask_clear(rt->timerpMask, id);
        pMask_set(rt->idlepMask, id);
        for (int32_t other = id + 1; other < rt->allp_len; other += 31)
            CHECK(pMask_read(rt->timerpMask, other) && !pMask_read(rt->idlepMask, other));
    }
}

TEST_CASE(LeftRules, AThousandPsHaveMasksOfTheirOwn)
{
    world(27, 1025, &(struct host_opts){0}, has_masks);
}

/* ---- memory that is touched for the first time ---- */

static void touches(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = g_of(Grunning);
    memset(&pp->touched, 0, sizeof pp->touched);
    memset(jolts_told, 0, sizeof jolts_told);
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t func = 0; func < 21; func++) {
            new_closure(pp, func);
            CHECK_EQ(jolts_told[NOISE_new_size], twice ? 21 : func + 1);
            CHECK_EQ(jolts_told[NOISE_flush], twice ? 21 : func + 1);
        }
    rt->main_g = gp;
    for (int id = 0; id < 2; id++) {
        memset(jolts_told, 0, sizeof jolts_told);
        first_wait(gp, rt->allp[id]);
        CHECK_EQ(jolts_told[NOISE_first_wait], 1);
        CHECK_EQ(jolts_told[NOISE_flush], id != 0 && prof->release < 22);
    }
    rt->main_g = NULL;
    memset(jolts_told, 0, sizeof jolts_told);
    new_g(NULL); /* without a P nothing is taken */
    new_stack(NULL);
    for (int kind = 0; kind < NOISE_COUNT; kind++)
        CHECK_EQ(jolts_told[kind], 0);
}

TEST_CASE(LeftRules, EachSizeIsTouchedOnce) { each_release(touches); }

/* ---- what came too early, or too late ---- */

/* What arrives later does not change when the first came. */
static void keeps_first(struct m *mp)
{
    static const struct arrivals process = {.kind = ARRIVE_POSTED, .mode = POLL_R};
    struct pollfd *fd = netpoll_open(-1);
    struct envfd *e = &fd->env;
    uint64_t request;
    int64_t when;
    (void)mp;
    e->process = &process;
    e->backlog = 4;
    e->stamp = host_alloc(4 * sizeof *e->stamp, 64);
    env_only_told = true;
    for (int i = 0; i < 3; i++) {
        a_store(&e->stamp[0], INT64_C(77));
        a_store(&e->arrived, UINT64_C(1));
        a_store(&e->taken, UINT64_C(0));
        env_deliver(fd, i + 2);
        CHECK(env_take(e, &request, &when));
        CHECK_EQ(when, 77);
        CHECK_EQ(a_peek(&e->dropped), i == 2);
    }
    env_only_told = false;
}

TEST_CASE(LeftRules, AFullBacklogKeepsItsFirst) { each_leak_world(27, keeps_first); }

/* iter.Pull: next within next. */
static void pulls_again(struct m *mp)
{
    struct g *gp = user(mp);
    struct coroutine *c = host_alloc(sizeof *c, 16);
    gp->func = 0;
    gp->pc = 1;
    regs(gp)[2] = object_add(c, OBJ_CORO);
    c->yieldNext = true;
    c->done = true;
    leak_code_[0] = (struct insn){.op = OP_CORONEXT, .a = 0, .b = 1, .c = 2, .d = OBJ_REG};
    (void)op_coronext(gp, &leak_code_[0]);
}

TEST_CASE(LeftRules, ANextWithinNextPanics)
{
    world_program = &leak_program;
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, pulls_again), END_FINDING);
    CHECK_HAS(host_virt.verdict()->text, "next called again before yield");
    host_virt.close();
    world_program = NULL;
}

/* A ticker that is due for ever stays due for ever. */
TEST_CASE(LeftRules, ATickersNextTimeIsATime)
{
    CHECK_EQ(timer_next(10, 5, 10), 15);
    CHECK_EQ(timer_next(10, 5, 14), 15);
    CHECK_EQ(timer_next(10, 5, 15), 20);
    CHECK_EQ(timer_next(TIMER_MAX_WHEN - 10, 4, TIMER_MAX_WHEN - 10), TIMER_MAX_WHEN - 6);
    CHECK_EQ(timer_next(TIMER_MAX_WHEN - 3, 4, TIMER_MAX_WHEN - 3), TIMER_MAX_WHEN);
    CHECK_EQ(timer_next(10, TIMER_MAX_WHEN, 10), TIMER_MAX_WHEN);
}

/* Release of more than was taken panics, and leaves the semaphore free for who recovers. */
static struct weighted *too_light;
static void gives_too_much(struct m *mp)
{
    too_light = host_alloc(sizeof *too_light, 64);
    too_light->size = 3;
    (void)weighted_release(user(mp), too_light, 1);
}

TEST_CASE(LeftRules, AReleaseOfTooMuchPanics)
{
    world_program = &leak_program;
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, gives_too_much),
             END_FINDING);
    CHECK_HAS(host_virt.verdict()->text, "semaphore: released more than held");
    CHECK_EQ(a_peek(&too_light->lock.key), 0);
    host_virt.close();
    world_program = NULL;
}

/* GODEBUG=gcstoptheworld: while the collector works no goroutine of the program runs. */
static void says_who_runs(struct m *mp)
{
    struct g *gp = all_g(Grunning);
    a_store(&gp->m, mp);
    a_store(&mp->curg, gp);
    mp->lockedExt = 0;
    rt->mainStarted = true;
    world_prof.gcstoptheworld = 1;
    BROKEN(true, a_store(&sched->disable_user, true), "runs that may not",
           a_store(&sched->disable_user, false));
    a_store(&mp->curg, (struct g *)NULL);
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(LeftRules, ARestingWorldHasNobodyRunThatMayNot) { each_leak_world(27, says_who_runs); }

/* ---- the first of all ---- */

/* What the first instruction does is done. */
static void sees_first(struct m *mp)
{
    static const struct insn cgo[] = {{.op = OP_CGOCALL}},
                             procs[] = {{.op = OP_GOMAXPROCS, .b = NOREG, .imm = 100}};
    const struct program with_c = {.code = cgo, .ncode = 1}, with_ps = {.code = procs, .ncode = 1};
    int64_t min, max;
    (void)mp;
    CHECK(program_uses_cgo(&with_c));
    CHECK(!program_uses_cgo(&with_ps));
    CHECK_EQ(program_procs_max(&with_ps), 100);
    CHECK(profile_range("ring_len", &min, &max));
    CHECK_EQ(min, 2);
    CHECK_EQ(max, 65536);
    CHECK_EQ(a_peek(&rt->trace.advanceSema), 1);
}

TEST_CASE(LeftRules, TheFirstCounts) { each_release(sees_first); }

/* A number below 128 is a byte of a tape; whatever starts a goroutine or waits has a short form. */
TEST_CASE(LeftRules, TapesAreShort)
{
    uint8_t bytes[TAPE_ENTRY_MAX];
    for (uint64_t v = 0; v < 300; v++)
        CHECK_EQ(tape_put_number(bytes, v) - bytes, v < 128 ? 1 : 2);
    for (int op = 0; op < OPS; op++) {
        const struct op_info *o = &op_infos[op];
        const struct insn in = {.op = (uint8_t)op,
                                .a = tape_default(o->a),
                                .b = tape_default(o->b),
                                .c = tape_default(o->c),
                                .d = -1};
        (void)tape_put(bytes, &in);
        CHECK_EQ(bytes[0] >= TAPE_SHORT, op >= OP_GO);
    }
}

/* ---- collections ---- */

/* A cycle that is over is no reason for one. */
static void needs_cycle(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (uint32_t at = 7; at != UINT32_MAX; at = at == 7 ? UINT32_MAX - 1 : UINT32_MAX) {
        a_store(&c->cycles, at);
        for (uint32_t n = 0; n <= 2; n++)
            CHECK_EQ(trigger_test(gcTriggerCycle, (int64_t)(at - 1 + n)), n == 2);
    }
}

TEST_CASE(LeftRules, ACycleIsWantedUntilItBegan) { each_release(needs_cycle); }

/* A refill takes what clearing takes, a new span's and a large block's alike. */
static void pays_for_clearing(struct m *mp)
{
    struct p *pp = mp_p(mp);
    unsigned long long *price = &vm_hot.work[W_clear_kb], was = *price;
    rt->gc.heapPeak = 1 << 30;
    for (int64_t bytes = 1000; bytes <= 100000; bytes *= 100) {
        uint64_t took[2];
        for (int round = 0; round < 4; round++) {
            pp->gc.cache_left = 0;
            *price = round % 2 == 0 ? 0 : 1000000;
            uint64_t start = vm_now_;
            CHECK(take_bytes(pp, bytes));
            took[round % 2] = vm_now_ - start;
        }
        CHECK_EQ(took[1] - took[0], 1000000 * (bytes == 1000 ? 8 : 97));
    }
    *price = was;
    rt->gc.heapPeak = 0;
}

TEST_CASE(LeftRules, ARefillIsCleared) { each_leak_world(27, pays_for_clearing); }

/* ---- who stops whom ---- */

static void suspends_nobody(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    struct suspendGState s = suspendG(gp);
    (void)mp;
    CHECK(s.gp == gp && !s.dead && !s.stopped);
    a_store(&gp->atomicstatus, (uint32_t)Gidle);
    (void)suspendG(gp);
}

TEST_CASE(LeftRules, AGThatIsNotMadeYetIsNotStopped)
{
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, suspends_nobody),
             END_THROWN);
    CHECK_HAS(host_virt.verdict()->text, "invalid g status");
    host_virt.close();
}

/* From 1.26 on a P is taken from a system call only while its G is still there. */
static void blocks_exits(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64), *third = host_alloc(sizeof *third, 64);
    struct p *pp = rt->allp[1];
    struct g *gp = g_of(Gsyscall);
    struct syscallingThread t;
    (void)mp;
    a_store(&pp->status, (uint32_t)Prunning);
    a_store(&pp->m, other);
    a_store(&other->curg, gp);
    a_store(&other->p, pp);
    a_store(&gp->m, third); /* another M's by now */
    CHECK(!setBlockOnExitSyscall(pp, &t));
    CHECK_EQ(readgstatus(gp), Gsyscall);
    a_store(&gp->m, other);
    a_store(&other->p, rt->allp[2]);
    CHECK(!setBlockOnExitSyscall(pp, &t));
    CHECK_EQ(readgstatus(gp), Gsyscall);
    a_store(&other->p, pp);
    CHECK(setBlockOnExitSyscall(pp, &t));
    CHECK_EQ(readgstatus(gp), Gsyscall | Gscan);
    CHECK(t.gp == gp);
    a_store(&pp->status, (uint32_t)Pidle);
    a_store(&pp->m, (struct m *)NULL);
}

TEST_CASE(LeftRules, ACallIsHeldWhileItHasItsP)
{
    world(26, PROCS, &(struct host_opts){0}, blocks_exits);
    world(27, PROCS, &(struct host_opts){0}, blocks_exits);
}

/* ---- what waits no more ---- */

static void acquires_late(struct m *mp)
{
    struct g *gp = user(mp);
    semaword *addr = host_alloc(64, 64);
    struct sudog *s = acquireSudog();
    s->g = gp;
    s->c = addr;
    gp->waiting = s;
    a_store(addr, 1u); /* released meanwhile */
    CHECK_EQ(semacquire_round(gp, s, addr), OP_DONE);
    CHECK(gp->waiting == NULL);
    CHECK_EQ(a_peek(&rootFor(addr)->nwait), 0);
    CHECK_EQ(mp_p(mp)->nsudog, 1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhoAcquiredWaitsNoMore) { each_release(acquires_late); }

/* A send on a closed channel panics, and leaves the channel to others. */
static void sends_late(struct m *mp)
{
    struct hchan *c = makechan(1);
    (void)mp;
    a_store(&c->closed, 1u);
    lock(&c->lock);
    CHECK_EQ(send_locked(c, 5), CHAN_CLOSED);
    CHECK_EQ(a_peek(&c->lock.key), 0);
    CHECK_EQ(a_peek(&c->qcount), 0);
}

TEST_CASE(LeftRules, ASendOnAClosedChannelLeavesItFree) { each_release(sends_late); }

/* ---- names ---- */

static void has_names(struct m *mp)
{
    static const char *const names[] = {"idle", "running", "syscall", "gcstop", "dead", "?", "?"};
    (void)mp;
    for (uint32_t i = 0; i < 7; i++)
        CHECK_STR(pstatus_name(i), names[i]);
}

TEST_CASE(LeftRules, AStatusHasAName)
{
    static const struct func funcs[] = {{"main", 0, 1, 1, 0, 0}};
    const struct insn none = {.op = OPS};
    const struct program p = {.code = &none, .funcs = funcs, .ncode = 1, .nfuncs = 1};
    each_leak_world(27, has_names);
    CHECK(!is_good(&p, "instruction 0 (?): no such instruction"));
}

/* ---- Ps ---- */

/* A P that is made has nothing of its last life, and what a look at its timers says is new. */
static void is_new(struct m *mp)
{
    struct p *pp = rt->allp[3];
    struct timer_check c = {.now = nanotime(), .pollUntil = 5, .ran = true};
    (void)mp;
    timers_check(pp, &c);
    CHECK(!c.ran);
    CHECK_EQ(c.pollUntil, 0);
    pp->gc.cache_left = 100;
    pp->gc.mode = gcDedicated;
    p_init(pp, 3);
    CHECK_EQ(pp->gc.cache_left, 0);
    CHECK_EQ(pp->gc.mode, gcNotWorker);
    CHECK_EQ(a_peek(&pp->status), Pgcstop);
    a_store(&pp->status, (uint32_t)Pidle);
    if (prof->masks)
        pMask_set(rt->idlepMask, 3);
}

TEST_CASE(LeftRules, APThatIsMadeIsNew) { each_release(is_new); }

/* From 1.26 on whoever is in a call without a P is counted. */
static void blocks_in_call(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    int64_t before = a_peek(&sched->nGsyscallNoP);
    entersyscallblock(gp);
    CHECK_EQ(a_peek(&sched->nGsyscallNoP), before + (prof->release >= 26));
    CHECK_EQ(readgstatus(gp), Gsyscall);
    CHECK(a_peek(&mp->p) == NULL);
    CHECK_EQ(exitsyscall(gp), OP_DONE);
    CHECK_EQ(a_peek(&sched->nGsyscallNoP), before);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, WhoBlocksInACallHasNoP) { each_release(blocks_in_call); }

/* ---- callbacks that end by a panic ---- */

/* The frames of the program between two callbacks are none themselves. */
static void unwinds(struct m *mp)
{
    static const struct func funcs[] = {{"f", 0, 1, 2, 0, 0}};
    static const struct program p = {.funcs = funcs, .nfuncs = 1};
    struct g *gp = user(mp);
    rt->prog = &p;
    gp->func = 0;
    (void)g_ext(gp);
    mp->lockedInt = 1;
    mp->lockedg = gp;
    a_store(&gp->lockedm, mp);
    frame_push(gp, 0, FRAME_CGOCB, NOREG);
    frame_push(gp, 0, FRAME_CALL, NOREG);
    unwindm(gp);
    CHECK_EQ(mp->lockedInt, 0);
    CHECK(mp->lockedg == NULL);
    unwindm(gp); /* once */
    CHECK_EQ(mp->lockedInt, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, ACallbackIsLeftOnce) { each_leak_world(27, unwinds); }

static void yields_outside(struct m *mp)
{
    struct g *gp = user(mp);
    gp->func = 0;
    gp->pc = 1;
    struct coroutine *c = g_ext(gp)->coro = host_alloc(sizeof *c, 16);
    a_init(&c->gp, g_of(Gwaiting));
    gp->opobj = c;
    CHECK_EQ(op_yield(gp, &(struct insn){.op = OP_YIELD}), OP_MCALL);
    CHECK_EQ(c->panic_kind, PANIC_KIND_TEXT); /* which whoever pulls gets */
    CHECK(gp->ext->panics == NULL);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AYieldBeforeANextPanics) { each_leak_world(23, yields_outside); }

static void exits(struct m *mp)
{
    (void)op_exit(user(mp), &(struct insn){.op = OP_EXIT, .imm = 3});
}

/* Who ends the world says with what. */
TEST_CASE(LeftRules, AnExitHasAStatus)
{
    world_program = &leak_program;
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, exits), END_FINDING);
    CHECK_HAS(host_virt.verdict()->text, "exit status 3");
    CHECK_EQ(core_rules.exit_status(), 3);
    host_virt.close();
    world_program = NULL;
}

/* As often unlocked as locked; once more is nothing. */
static void unlocks_thread(struct m *mp)
{
    struct g *gp = user(mp);
    UnlockOSThread(gp);
    CHECK_EQ(mp->lockedExt, 0);
    lock_external(gp);
    lock_external(gp);
    UnlockOSThread(gp);
    CHECK(mp->lockedExt == 1 && mp->lockedg == gp);
    UnlockOSThread(gp);
    CHECK(mp->lockedExt == 0 && mp->lockedg == NULL && a_peek(&gp->lockedm) == NULL);
    UnlockOSThread(gp);
    CHECK_EQ(mp->lockedExt, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(LeftRules, AThreadIsUnlockedAsOftenAsLocked) { each_release(unlocks_thread); }

/* Arrivals are drawn as a goroutine draws: splitmix64, one stream per descriptor. */
static void draws_alike(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    struct envfd e = {.rng = 12345};
    (void)mp;
    gp->rng = 12345;
    for (int i = 0; i < 50; i++)
        CHECK_EQ(env_rand(&e), g_rand(gp));
}

TEST_CASE(LeftRules, ArrivalsAreDrawnFromSplitmix) { each_leak_world(27, draws_alike); }

/* Without sysmon nobody ends a slice: from some release on nobody is put ahead then. */
static void has_next_place(struct m *mp)
{
    (void)mp;
    for (int sysmon_on = 0; sysmon_on <= 1; sysmon_on++)
        for (int rule = 0; rule <= 1; rule++) {
            world_prof.sysmon = sysmon_on;
            world_prof.no_sysmon_no_runnext = rule;
            CHECK_EQ(next_place(), rule && !sysmon_on ? EV_place_ring : EV_place_runnext);
        }
}

TEST_CASE(LeftRules, WithoutSysmonNobodyIsPutAhead) { each_leak_world(27, has_next_place); }

/* From 1.20 on who finds no idle P says that somebody should spin once there is one. */
static void wants_spinner(struct m *mp)
{
    idle_none();
    a_store(&sched->npidle, 0);
    wakep_locked();
    CHECK_EQ(a_peek(&sched->nmspinning), 0);
    CHECK_EQ(a_peek(&sched->needspinning), prof->needspinning != 0);
    CHECK_EQ(mp->locks, 0);
    CHECK_EQ(a_peek(&sched->lock.key), 0);
    a_store(&sched->needspinning, 0);
    lock(&sched->lock);
    CHECK(pidlegetSpinning(0) == NULL);
    unlock(&sched->lock);
    CHECK_EQ(a_peek(&sched->needspinning), prof->needspinning != 0);
}

TEST_CASE(LeftRules, WhoFindsNoIdlePWantsASpinnerLater) { each_release(wants_spinner); }
