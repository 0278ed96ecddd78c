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
    CHECK_EQ(next->owner, 0);
    CHECK_EQ(mp->counters[C_switches], 1);
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
    r.mp = NULL;
    begin_ns();
    int64_t now = r.next_signal = host_now() + took; /* exactly then it may */
    suspend_running(gp, &r);
    CHECK_EQ(r.next_signal, now + 5000);
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
    CHECK(pool_local(the_pool, 3) == indexLocal(a_peek(&the_pool->local), 3)); /* there is one */
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
    CHECK(poolDequeue_pushHead(c->made, 5));
    CHECK_EQ(a_peek(&c->made->vals[0].used), 1);
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
