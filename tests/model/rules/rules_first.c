/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about the first and the last of all, memory that is touched for the
 * first time, and what came too early or too late. */

/* Every M's counters, from the first on. */
static void sums_counters(struct m *mp)
{
    uint64_t sums[COUNTER_COUNT + 1];
    for (int c = 0; c <= COUNTER_COUNT; c++)
        sums[c] = 99;
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

static const struct insn first_code[] = {{.op = OP_SELECT, .a = 0, .b = 1, .d = 0},
                                         {.op = OP_RET, .a = NOREG}};
static const struct func first_funcs[] = {{"main", 0, 2, 3, 0, 0}};

/* What the first instruction does is done, and the first case is looked at as the others are. */
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
    static struct profile profile;
    for (int release = 12; release <= 28; release++)
        CHECK_EQ(profile_init(&profile, release), release >= 13 && release <= 27);
    static const struct object_decl objects[] = {{"c", 0, OBJ_CHAN}, {"m", 0, OBJ_MUTEX}};
    static const struct select_table tables[] = {{0, 2, false}};
    for (int bad = -1; bad < 2; bad++) {
        struct select_case cases[] = {{0, 0, 1, false}, {0, 0, 1, false}};
        if (bad >= 0)
            cases[bad].obj = 1;
        struct program p = sel_program;
        p.objects = objects;
        p.selects = tables;
        p.nselects = 1;
        p.cases = cases;
        p.ncases = 2;
        p.code = first_code;
        p.funcs = first_funcs;
        p.ncode = 2;
        char text[256];
        CHECK_EQ(program_check(&p, text, sizeof text), bad < 0);
    }
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
    mp->incgo = true;
    unwindm(gp);
    CHECK_EQ(mp->lockedInt, 0);
    CHECK(mp->lockedg == NULL);
    CHECK(!mp->incgo); /* C is left, too */
    unwindm(gp);       /* once */
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
