/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what only a look at the state shows: marks and counts in files
 * from arrivals.c to mp.c that no program's output depends on, or hardly ever does. */

/* A world that ends by a throw or a finding, and one that does not. */
static void world_ends(int release, enum world_end want, void (*fn)(struct m *))
{
    CHECK_EQ(world_until(UINT64_MAX, release, PROCS, &(struct host_opts){0}, fn), want);
    host_virt.close();
}

/* ---- arrivals ---- */

static void has_backlog(struct m *mp)
{
    static const struct {
        int kind;
        int64_t size;
        uint32_t want;
    } rows[] = {
        {ARRIVE_EVERY, 5000, ENV_BACKLOG},
        {ARRIVE_BURSTS, 5000, ENV_BACKLOG},
        {ARRIVE_CLOSED, 1, ENV_BACKLOG},
        {ARRIVE_CLOSED, ENV_BACKLOG, ENV_BACKLOG},
        {ARRIVE_CLOSED, ENV_BACKLOG + 1, 2 * ENV_BACKLOG},
        {ARRIVE_POSTED, 0, 4},
        {ARRIVE_POSTED, 4, 4},
        {ARRIVE_POSTED, 5, 8},
        {ARRIVE_POSTED, 17, 32},
        {ARRIVE_POSTED, (INT64_C(1) << 31) - 1, UINT32_C(1) << 31},
        {ARRIVE_POSTED, (INT64_C(1) << 31) + 1, UINT32_C(1) << 31}, /* there is no more */
    };
    (void)mp;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(
            env_backlog(&(struct arrivals){.kind = (uint8_t)rows[i].kind, .size = rows[i].size}),
            rows[i].want);
}

static void posts(struct m *mp)
{
    static const struct arrivals process = {.kind = ARRIVE_POSTED, .mode = POLL_R};
    static const int64_t after[] = {-5, 0, 1, 2, 1000}, want[] = {1, 1, 1, 2, 1000};
    struct pollfd *fd = netpoll_open(-1);
    (void)mp;
    fd->env.process = &process;
    env_only_told = true;
    for (int i = 0; i < 5; i++) {
        env_post(fd, after[i]);
        CHECK_EQ(env_told, host_now() + want[i]);
    }
    env_told = 0;
    env_schedule(ENV_NEVER, env_client, fd); /* nobody waits for it */
    CHECK_EQ(env_told, 0);
    env_schedule(ENV_NEVER - 1, env_client, fd);
    CHECK_EQ(env_told, ENV_NEVER - 1);
    env_only_told = false;
}

TEST_CASE(SeenRules, WhatComesFromOutsideHasRoomAndATime)
{
    world(27, PROCS, &(struct host_opts){0}, has_backlog);
    each_release(posts);
}

/* ---- who waits where ---- */

static void waits_where(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *gp = g_of(Gwaiting), *other = g_of(Gwaiting);
    struct coroutine *own = host_alloc(sizeof *own, 16), *called = host_alloc(sizeof *called, 16);
    (void)mp;
    g_ext(gp)->coro = own;
    gp->opobj = called;
    for (int bits = 0; bits < 4; bits++) {
        a_init(&own->gp, bits & 1 ? gp : other);
        a_init(&called->gp, bits & 2 ? gp : other);
        CHECK_EQ(waits_in_coroutine(gp), bits != 0);
    }
    gp->ext->coro = NULL;
    a_init(&called->gp, other);
    CHECK(!waits_in_coroutine(gp));
    a_init(&called->gp, gp);
    CHECK(waits_in_coroutine(gp));
    gp->opobj = NULL;
    CHECK(!waits_in_coroutine(gp));

    c->workers[0] = gp; /* where there is no pool it is nobody's place */
    gp->group = 1;
    CHECK(!waits_as_worker(gp));
    workers_push(gp);
    CHECK_EQ(waits_as_worker(gp), prof->gc_worker_pool);
}

TEST_CASE(SeenRules, ACoroutineAndAWorkerWaitInOnePlace) { each_release(waits_where); }

/* ---- coroutines ---- */

static struct coroutine *pull_of(struct g *inside)
{
    struct coroutine *c = host_alloc(sizeof *c, 16);
    a_init(&c->gp, inside);
    return c;
}

/* The thread goes over, with what it is locked to. */
static void switches(struct m *mp)
{
    for (int locked = 0; locked <= 1; locked++)
        for (int ends = 0; ends <= 1; ends++) {
            struct g *gp = user(mp), *next = g_of(Gwaiting);
            struct coroutine *c = pull_of(next);
            a_store(&gp->m, mp);
            if (locked) {
                a_store(&gp->lockedm, mp);
                mp->lockedg = gp;
                c->mp = mp;
            }
            gp->opobj = g_ext(gp)->coro = c;
            c->exiting = ends;
            int64_t before = host_now();
            mp->since = -1;
            coroswitch_m(gp);
            CHECK_GE(mp->since, before);
            CHECK_EQ(readgstatus(gp), ends ? Gdead : Gwaiting);
            CHECK_EQ(readgstatus(next), Grunning);
            CHECK(a_peek(&gp->m) == NULL && a_peek(&next->m) == mp && a_peek(&mp->curg) == next);
            CHECK(a_peek(&c->gp) == (ends ? NULL : gp));
            CHECK(gp->ext == NULL || gp->ext->coro == (ends ? NULL : c));
            CHECK(a_peek(&gp->lockedm) == NULL);
            CHECK(a_peek(&next->lockedm) == (locked ? mp : NULL));
            CHECK(mp->lockedg == (locked ? next : NULL));
            CHECK(ends || gp->waitreason == waitReasonCoroutine);
            mp->lockedg = NULL;
            a_store(&mp->curg, (struct g *)NULL);
        }
}

TEST_CASE(SeenRules, ASwitchTakesTheThreadAlong)
{
    for (int release = 23; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, switches);
}

/* coro.go: since 1.23 who is locked to a thread, or was made by somebody who is, may switch on that
 * thread alone, as often locked as then. */
static struct coroutine checked;
static bool seen_locked;
static void checks_thread(struct m *mp)
{
    (void)user(mp);
    checked.mp = checked.mp != NULL ? mp : NULL;
    mp->lockedInt = mp->lockedExt = 1;
    coro_check_thread(&checked, mp, seen_locked);
    mp->lockedInt = mp->lockedExt = 0;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ALockedGoroutineSwitchesOnItsThread)
{
    static struct m any;
    static const struct {
        struct coroutine c;
        bool locked, bad;
    } rows[] = {
        {{.mp = NULL}, false, false},
        {{.mp = NULL}, true, true},
        {{.mp = &any, .lockedInt = 1, .lockedExt = 1}, true, false},
        {{.mp = &any, .lockedInt = 1, .lockedExt = 1}, false, false},
        {{.mp = &any, .lockedInt = 0, .lockedExt = 1}, true, true},
        {{.mp = &any, .lockedInt = 1, .lockedExt = 0}, true, true},
    };
    world_program = &leak_program; /* a crash shows where its goroutine is */
    for (int release = 22; release <= 27; release++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            checked = rows[i].c;
            seen_locked = rows[i].locked;
            world_ends(release, release >= 23 && rows[i].bad ? END_FINDING : END_IDLE,
                       checks_thread);
        }
    world_program = NULL;
}

/* iter.go Pull, the function that is given to seq. */
static void yields(struct m *mp)
{
    struct g *gp = user(mp);
    struct coroutine *c = pull_of(g_of(Gwaiting));
    const struct insn in = {.op = OP_YIELD, .a = 0, .b = 1};
    g_ext(gp)->coro = c;
    regs(gp)[0] = 42;
    regs(gp)[1] = 7;
    c->done = true; /* stopped: false, at once */
    c->yieldNext = true;
    CHECK_EQ(op_yield(gp, &in), OP_DONE);
    CHECK_EQ(regs(gp)[1], 0);
    CHECK(c->yieldNext);
    c->done = false;
    CHECK_EQ(op_yield(gp, &in), OP_MCALL);
    CHECK(gp->opobj == c && gp->nkont == 1);
    CHECK_EQ(c->v, 42);
    CHECK(c->ok && !c->yieldNext);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AYieldHandsOneValueOver) { each_leak_world(23, yields); }

/* ---- extra Ms ---- */

/* sched.ngsys: a G of an extra M is the system's until a callback has it. */
static void counts_system_gs(struct m *mp)
{
    (void)mp;
    int32_t before = a_peek(&sched->ngsys);
    uint64_t id = a_peek(&sched->goidgen);
    struct m *extra = oneNewExtraM();
    CHECK_EQ(a_peek(&sched->goidgen), id + 1);
    struct g *gp = extra->lockedg;
    CHECK_EQ(a_peek(&sched->ngsys), before + 1);
    CHECK(extra->isExtraInC);
    CHECK_EQ(extra->lockedInt, 1);
    needm(extra, gp);
    CHECK_EQ(a_peek(&sched->ngsys), before);
    CHECK(!extra->isExtraInC);
    CHECK_EQ(readgstatus(gp), Gsyscall);
    a_store(&rt->extraM.inuse, 1);
    a_store(&gp->preemptStop, true);
    uint32_t tick_before = extra->syscalltick;
    dropm(extra, gp);
    CHECK_EQ(a_peek(&sched->ngsys), before + 1);
    CHECK_EQ(extra->syscalltick, tick_before - (prof->release >= 22));
    CHECK(!a_peek(&gp->preemptStop));
    CHECK_EQ(a_peek(&rt->extraM.inuse), 0);
    CHECK_EQ(a_peek(&rt->extraM.length), 1);
    CHECK(getExtraM() == extra && extra->needextram);
    CHECK_EQ(a_peek(&rt->extraM.inuse), 1);
    CHECK_EQ(a_peek(&rt->extraM.length), 0);
    CHECK(getExtraM() == NULL);
    CHECK_EQ(a_peek(&rt->extraM.inuse), 1);
}

TEST_CASE(SeenRules, AnExtraMsGoroutineIsTheSystemsUntilItIsUsed)
{
    each_release(counts_system_gs);
}

/* cgocallbackg1: who took the last one makes another. */
static void replaces_extra(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    mp->needextram = true;
    CHECK_EQ(step_foreignCall(gp), OP_DONE);
    CHECK(!mp->needextram);
    CHECK_EQ(a_peek(&rt->extraM.length), 1);
    struct m *first = getExtraM();
    CHECK_EQ(step_foreignCall(gp), OP_DONE); /* not asked for */
    CHECK_EQ(a_peek(&rt->extraM.length), 0);
    putExtraM(first);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, WhoTookTheLastExtraMMakesAnother) { each_release(replaces_extra); }

/* Those at rest are taken last first, and each once. */
static void rests(struct m *mp)
{
    struct m *a = host_alloc(sizeof *a, 64), *b = host_alloc(sizeof *b, 64);
    (void)mp;
    CHECK(boundm_get() == NULL);
    for (int round = 0; round < 2; round++) {
        boundm_rest(a);
        boundm_rest(b);
        CHECK(boundm_get() == b);
        CHECK(boundm_get() == a);
        CHECK(boundm_get() == NULL);
    }
    CHECK_EQ(a_peek(&rt->extraM.length), 0);
}

TEST_CASE(SeenRules, ABoundMRestsOnAStack) { each_release(rests); }

/* ---- the collector ---- */

static void leaves_cache(struct m *mp)
{
    struct p *pp = rt->allp[3];
    (void)mp;
    pp->gc.cache_left = 5;
    gc_p_init(pp);
    CHECK_EQ(pp->gc.cache_left, 0);
    pp->gc.cache_left = 5;
    gc_p_destroy(pp);
    CHECK_EQ(pp->gc.cache_left, 0);
}

TEST_CASE(SeenRules, APThatComesOrGoesHasNoCache) { each_release(leaves_cache); }

/* GOGC=0 collects all the time, and periodically, too; below it never. */
static int64_t gogc;
static void triggers(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    world_prof.gc_percent = gogc;
    a_store(&c->last_gc, 1);
    CHECK_EQ(trigger_test(gcTriggerTime, 2 + prof->forcegc_ns), gogc >= 0);
    CHECK(!trigger_test(gcTriggerTime, 1 + prof->forcegc_ns));
    a_store(&c->last_gc, 0); /* there was none */
    CHECK(!trigger_test(gcTriggerTime, 2 + prof->forcegc_ns));
}

TEST_CASE(SeenRules, GogcOfZeroCollectsPeriodically)
{
    for (gogc = -1; gogc <= 1; gogc++)
        each_release(triggers);
}

/* gcController.startCycle, in Go by floating point: dedicated workers as near to the share as whole
 * Ps come; if that is off by more than 0.3 of it, not one too many, and the rest as a share. */
static void shares_of_ps(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (int percent = 1; percent <= 100; percent++)
        for (int procs = 1; procs <= 64; procs++) {
            double goal = procs * percent / 100.0;
            int dedicated = (int)(goal + 0.5);
            int off = 100 * dedicated - procs * percent; /* exactly 0.3 is near enough */
            bool far = 10 * (off < 0 ? -off : off) > 3 * procs * percent;
            dedicated -= far && off > 0;
            world_prof.gc_util_percent = percent;
            gc_startCycle_workers(procs, gcTriggerHeap);
            CHECK_EQ(a_peek(&c->dedicatedNeeded), dedicated);
            CHECK_EQ(c->fracNum * 100 * procs,
                     far ? (procs * percent - 100 * dedicated) * c->fracDen : 0);
        }
    for (int64_t mode = 1; mode <= 2; mode++) { /* GODEBUG=gcstoptheworld: all Ps mark */
        world_prof.gcstoptheworld = mode;
        gc_startCycle_workers(6, gcTriggerHeap);
        CHECK_EQ(a_peek(&c->dedicatedNeeded), 6);
        CHECK_EQ(c->fracNum, 0);
    }
}

TEST_CASE(SeenRules, TheShareOfThePsIsRounded)
{
    world(27, PROCS, &(struct host_opts){0}, shares_of_ps);
}

/* gcStart: the mode is GODEBUG's. */
static void has_mode(struct m *mp)
{
    static const int want[] = {gcBackgroundMode, gcForceMode, gcForceBlockMode, gcBackgroundMode};
    struct gcController *c = &rt->gc;
    struct g *gp = user(mp);
    for (int64_t mode = 0; mode <= 3; mode++) {
        world_prof.gcstoptheworld = mode;
        a_store(&c->heapLive, a_peek(&c->trigger));
        gp->opobj = (void *)(uintptr_t)gcTriggerHeap;
        gp->nkont = 0;
        a_store(&rt->gcsema, 1u);
        CHECK_EQ(step_gcStartTest(gp), OP_DONE);
        CHECK_EQ(c->mode, want[mode]);
        CHECK_EQ(gp->nkont, 2);
    }
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AnEnvironmentSettingStopsTheWorldForMarking) { each_release(has_mode); }

/* Who finds no worker for an idle P puts it back. */
static void finds_no_worker(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = NULL;
    let_go(mp);
    a_store(&c->blackenEnabled, 1);
    a_store(&c->remaining, 1000);
    c->idleMax = 1;
    int32_t idle = (int32_t)a_peek(&sched->npidle);
    CHECK(gc_checkIdleNoP(&pp) == NULL);
    CHECK_EQ((int32_t)a_peek(&sched->npidle), idle);
    CHECK_EQ(a_peek(&c->idleWorkers), 0);
    a_store(&c->blackenEnabled, 0);
}

TEST_CASE(SeenRules, APWithoutAWorkerIsIdleAgain) { each_release(finds_no_worker); }

/* pollFractionalWorkerExit: a cycle that began just now is no reason to stop. */
static void exceeds(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = mp_p(mp);
    c->fracNum = 1;
    c->fracDen = 4;
    pp->gc.fractionalTime = 0;
    int64_t look = nanotime();
    look = nanotime() - look; /* what one takes */
    for (int64_t delta = -2; delta <= 2; delta++) {
        c->markStart = pp->gc.workerStart = nanotime() + look - delta;
        CHECK_EQ(fraction_exceeded(pp), prof->fractional_stops_itself && delta <= 0);
    }
    for (int64_t more = -1; more <= 1000; more += 1001) { /* 1.2 quarters of 1 ms, in whole us */
        pp->gc.fractionalTime = 300000 + more;
        pp->gc.workerStart = nanotime() + look;
        c->markStart = pp->gc.workerStart - 1000000;
        CHECK_EQ(fraction_exceeded(pp), prof->fractional_stops_itself && more >= 1000);
        c->markStart -= 1000;
        pp->gc.fractionalTime = 301000; /* 1001 us would be 300.3 */
        pp->gc.workerStart = nanotime() + look;
        c->markStart = pp->gc.workerStart - 1004000;
        CHECK(!fraction_exceeded(pp));
    }
}

TEST_CASE(SeenRules, AFractionIsOfTheTimeSinceMarkingBegan) { each_release(exceeds); }

/* ---- queues and statuses ---- */

static void moves_lists(struct m *mp)
{
    struct gQueue q = {0};
    struct gList l = {0};
    (void)mp;
    gList_push(&l, runnable());
    for (int i = 0; i < 3; i++)
        gQueue_pushBack(&q, runnable());
    gList_pushAll(&l, &q);
    CHECK(q.head == NULL && q.tail == NULL && q.size == 0);
    CHECK_EQ(l.size, 4);
    struct gQueue all = gList_toQueue(&l);
    CHECK(l.head == NULL && l.size == 0);
    for (uint64_t id = 2; id <= 5; id++)
        CHECK_EQ(gQueue_pop(&all)->goid, id < 5 ? id : 1);
    CHECK(gQueue_empty(&all) && all.tail == NULL && all.size == 0);
}

TEST_CASE(SeenRules, WhatIsMovedIsGone) { world(27, PROCS, &(struct host_opts){0}, moves_lists); }

/* proc.go castogscanstatus: Go's switch, with 1.26's statuses. */
static uint32_t scan_from, scan_to;
static void takes_scan_bit(struct m *mp)
{
    struct g *gp = g_of(scan_from);
    (void)mp;
    CHECK(castogscanstatus(gp, scan_from, scan_to));
    CHECK_EQ(readgstatus(gp), scan_from | Gscan);
    casfrom_Gscanstatus(gp, scan_from | Gscan, scan_from);
    CHECK_EQ(readgstatus(gp), scan_from);
}

static void gives_scan_bit(struct m *mp)
{
    (void)mp;
    casfrom_Gscanstatus(g_of(scan_from), scan_from, scan_to);
}

TEST_CASE(SeenRules, TheScanBitIsTakenFromWhoCanBeScanned)
{
    static const int releases[] = {13, 25, 26, 27};
    for (int r = 0; r < 4; r++)
        for (scan_from = 0; scan_from < 12; scan_from++) {
            bool can = scan_from == Grunnable || scan_from == Grunning || scan_from == Gsyscall ||
                       scan_from == Gwaiting ||
                       (releases[r] >= 26 && (scan_from == Gleaked || scan_from == Gdeadextra));
            scan_to = scan_from | Gscan;
            world_ends(releases[r], can ? END_IDLE : END_THROWN, takes_scan_bit);
        }
    scan_from = Grunnable;
    scan_to = Grunning | Gscan;
    world_ends(27, END_THROWN, takes_scan_bit);
    scan_to = Grunnable; /* nobody has it */
    world_ends(27, END_THROWN, gives_scan_bit);
    scan_from = Grunnable | Gscan;
    world_ends(27, END_IDLE, gives_scan_bit);
    scan_to = Grunning;
    world_ends(27, END_THROWN, gives_scan_bit);
}

static void is_taken_over(struct m *mp)
{
    struct g *gp = g_of(Gpreempted), *other = g_of(Grunnable);
    (void)mp;
    gp->waitreason = 0;
    CHECK(casGFromPreempted(gp, Gpreempted, Gwaiting));
    CHECK_EQ(gp->waitreason, waitReasonPreempted);
    CHECK_EQ(readgstatus(gp), Gwaiting);
    CHECK(!casGFromPreempted(other, Gpreempted, Gwaiting));
    CHECK_EQ(readgstatus(other), Grunnable);
}

TEST_CASE(SeenRules, APreemptedGIsTakenOverAsOne) { each_release(is_taken_over); }

/* ---- the search for leaks ---- */

/* 129 instructions are two words and one bit. */
static void forgets_code(struct m *mp)
{
    (void)mp;
    leak_program.ncode = 129;
    struct leaks *l = leaks_new();
    leaks_reset(l);
    leak_code(l, 128);
    leak_code(l, 129);
    CHECK_STR(set_of(l->code, 192), "128");
    CHECK_EQ(l->ntodo, 1);
    leaks_reset(l);
    CHECK_STR(set_of(l->code, 192), "");
    leak_program.ncode = LEAK_CODE;
}

TEST_CASE(SeenRules, TheLastInstructionIsForgottenToo) { each_leak_world(27, forgets_code); }

/* ---- finalizers ---- */

static void has_specials(struct m *mp)
{
    struct g *gp = user(mp);
    (void)g_ext(gp);
    stack_resize(gp, 16, 0);
    gp->func = -1;
    for (uint32_t nargs = 0; nargs <= 40; nargs++)
        CHECK_GE((size_t)8 << special_order(nargs), sizeof(struct special) + 8 * nargs);
    CHECK_LT((size_t)4 << special_order(20), sizeof(struct special) + 8 * 20);
    struct special *s = stackpool_get(special_order(2));
    *s = (struct special){.func = 1, .nargs = 2, .rng = 0x1234567};
    s->args[0] = 5;
    s->args[1] = 6;
    gp->rng = 1;
    gp->fp = 9;
    special_goroutine(gp); /* between two it is in none */
    CHECK(gp->fp == 0 && gp->pc == rt->prog->ncode && gp->system == SYSTEM_SPECIALS);
    races_told = true; /* SetFinalizer comes before the finalizer */
    special_call(gp, s, FRAME_FINALIZER);
    races_told = false;
    CHECK_EQ(race_told_edge, RACE_ACQUIRE);
    CHECK_EQ(race_told_goid, gp->goid);
    CHECK_EQ(race_told_with, (uintptr_t)s);
    CHECK_EQ(gp->rng, 0x1234567);
    CHECK_EQ(gp->func, 1);
    CHECK_EQ(regs(gp)[0], 5);
    CHECK_EQ(regs(gp)[1], 6);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ASpecialHasRoomForItsArguments) { each_leak_world(27, has_specials); }

/* ---- Ms ---- */

static void reserves(struct m *mp)
{
    (void)mp;
    sched->mnext = rt->ms_cap - 1;
    sched->nmfreed = sched->mnext - 1;
    lock(&sched->lock);
    CHECK_EQ(mReserveID(), rt->ms_cap - 1);
    sched->mnext = 1;
    sched->nmfreed = 0;
    unlock(&sched->lock);
}

static void reserves_too_many(struct m *mp)
{
    (void)mp;
    sched->mnext = rt->ms_cap;
    sched->nmfreed = sched->mnext - 1; /* most of them are gone */
    (void)mReserveID();
}

TEST_CASE(SeenRules, ThereIsRoomForSoManyMs)
{
    world_ends(27, END_IDLE, reserves);
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, reserves_too_many),
             END_FINDING);
    CHECK_EQ(host_virt.verdict()->kind, FIND_LIMIT);
    host_virt.close();
}

/* 1.26+: what a P was promised goes back to the pool when it is let go. */
static void gives_back(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = mp_p(mp);
    struct g *worker = g_of(Gwaiting);
    worker->group = 1;
    c->workers[0] = worker;
    pp->gc.nextMarkWorker = worker;
    pp->gc.mode = gcDedicated;
    a_store(&c->dedicatedNeeded, 0);
    CHECK(releasep() == pp);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), prof->release >= 26);
    CHECK(pp->gc.nextMarkWorker == (prof->release >= 26 ? NULL : worker));
    pp->gc.nextMarkWorker = NULL;
    acquirep(pp);
    CHECK(pp->oldm == (prof->release >= 26 ? mp : NULL));
}

TEST_CASE(SeenRules, APThatIsLetGoHasNoWorkerPromised) { each_release(gives_back); }

/* An M has two Gs of its own, g0 and gsignal. */
static void allocates_m(struct m *mp)
{
    struct p *pp = mp_p(mp);
    pp->touched.gs = 0;
    struct m *nmp = allocm(NULL, MSTART_LOOP, -1);
    CHECK_EQ(pp->touched.gs + 0, 2);
    CHECK(mp_p(mp) == pp && rt->allm == nmp);
    CHECK_EQ(mp->locks, 0);
}

TEST_CASE(SeenRules, AnMHasTwoGs) { each_release(allocates_m); }

/* ---- each look is a new one; the timers of declared channels ---- */

static void looks_anew(struct m *mp)
{
    semaword *addr = host_alloc(sizeof *addr, 64);
    (void)mp;
    rt->allgs = rt->allgs_tail = NULL;
    (void)waits_at_sema(addr);
    CHECK(check_waiting() == NULL);
    CHECK(check_waiting() == NULL);
    (void)all_g(Gwaiting); /* nowhere */
    CHECK(check_waiting() != NULL);
}

TEST_CASE(SeenRules, WhoWasSeenWaitingIsLookedForAgain) { each_leak_world(27, looks_anew); }

static void has_channel_timers(struct m *mp)
{
    struct g *gp = user(mp);
    CHECK(chtimer_of(&(struct insn){.d = -1}) == NULL);
    CHECK(chtimer_of(&(struct insn){.d = 0}) == rt->chtimers);
    CHECK(chtimer_of(&(struct insn){.d = H_BUFFER - 1}) == rt->chtimers + H_BUFFER - 1);
    for (int64_t ns = -1; ns <= 2; ns++) /* time goes on */
        CHECK_EQ(chtimer_ns(gp, &(struct insn){.b = NOREG, .imm = ns}), ns > 1 ? ns : 1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ADeclaredChannelHasATimer) { each_leak_world(27, has_channel_timers); }

/* ---- who follows the quota ---- */

/* Once the program has said how many Ps it wants, the goroutine that follows the quota ends. */
static void follows_quota_no_more(struct m *mp)
{
    for (int custom = 0; custom <= 1; custom++) {
        struct g *gp = user(mp);
        a_store(&gp->m, mp);
        a_store(&rt->worldsema, 0u);
        a_store(&rt->gcsema, 0u);
        sched->customGOMAXPROCS = custom;
        rt->updateMaxProcsG.procs = PROCS;
        CHECK_EQ(step_updateProcsStop(gp), custom ? OP_MCALL : OP_DONE);
        CHECK_EQ(gp->nkont, custom ? 0 : 1);
        CHECK(custom || gp->kont[0] == STEP_updateProcsIdle);
        CHECK_EQ(a_peek(&rt->worldsema) + a_peek(&rt->gcsema), 2);
        a_store(&mp->curg, (struct g *)NULL);
    }
    sched->customGOMAXPROCS = false;
}

TEST_CASE(SeenRules, WhoFollowsTheQuotaEndsWhenToldHowManyPs)
{
    each_leak_world(25, follows_quota_no_more);
}
