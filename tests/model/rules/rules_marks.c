/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c that goes on where rules_seen.c ends: sudogs, contexts, GOMAXPROCS,
 * loops, finalizers and cleanups, the idle list, who waits for a lock, how main begins. */

/* ---- channels: what a sudog says ---- */

static void queues_sudogs(struct m *mp)
{
    struct waitq *q = host_alloc(sizeof *q, 16);
    struct sudog *s[3];
    (void)mp;
    for (int i = 0; i < 3; i++) {
        s[i] = host_alloc(sizeof *s[i], 16);
        s[i]->next = s[i]->prev = s[i]; /* from some other queue */
        waitq_enqueue(q, s[i]);
        CHECK(s[i]->next == NULL && s[i]->prev == (i > 0 ? s[i - 1] : NULL) && q->last == s[i]);
    }
    waitq_remove(q, s[1]);
    CHECK(s[1]->next == NULL && s[1]->prev == NULL);
    CHECK(s[0]->next == s[2] && s[2]->prev == s[0]);
    waitq_remove(q, s[1]); /* is off already */
    CHECK(a_peek(&q->first) == s[0] && q->last == s[2]);
    waitq_remove(q, s[0]);
    CHECK(s[0]->next == NULL && s[2]->prev == NULL && a_peek(&q->first) == s[2]);
    waitq_remove(q, s[2]);
    CHECK(a_peek(&q->first) == NULL && q->last == NULL);
}

static void has_clean_sudog(struct m *mp)
{
    struct g *gp = user(mp), *waits = g_of(Gwaiting);
    struct hchan *c = makechan(0);
    CHECK(c->buf == NULL);
    gp->param = c;
    releaseSudog(acquireSudog());
    mp_p(mp)->sudogcache->waitlink = mp_p(mp)->sudogcache; /* what nobody should see */
    mp_p(mp)->sudogcache->isSelect = true;
    struct sudog *s = chan_sudog(gp, c, 7);
    CHECK(s->waitlink == NULL && gp->waiting == s && gp->param == NULL && !s->isSelect);
    CHECK(s->g == gp && s->c == c && s->val == 7);
    s->g = waits; /* who waits at a channel that is closed receives 0 */
    waitq_enqueue(&c->recvq, s);
    a_store(&sched->nmspinning, 1);
    closechan_open(c);
    CHECK_EQ(s->val, 0);
    CHECK(!s->success && waits->param == s);
    CHECK_EQ(a_peek(&c->closed), 1);
    CHECK_EQ(readgstatus(waits), Grunnable);
    a_store(&mp->curg, (struct g *)NULL);
    empty_queues(mp_p(mp));
}

TEST_CASE(SeenRules, AQueueOfSudogsHasBothEnds) { each_release(queues_sudogs); }
TEST_CASE(SeenRules, ASudogSaysNothingOfItsLastUse) { each_release(has_clean_sudog); }

/* ---- contexts ---- */

static void ends_middle(struct m *mp)
{
    struct ctx *parent = host_alloc(sizeof *parent, 16), *c[4];
    (void)mp;
    for (int i = 0; i < 4; i++) {
        c[i] = host_alloc(sizeof *c[i], 16);
        ctx_link(c[i], parent);
    }
    ctx_cancel(c[1], CTX_CANCELED);
    CHECK(c[0]->next == c[2] && c[2]->prev == c[0] && parent->children == c[0]);
    ctx_cancel(c[3], CTX_CANCELED);
    CHECK(c[2]->next == NULL && parent->last == c[2]);
    ctx_cancel(c[0], CTX_CANCELED);
    CHECK(c[2]->prev == NULL && parent->children == c[2]);
    ctx_cancel(c[2], CTX_CANCELED);
    CHECK(parent->children == NULL && parent->last == NULL);
}

TEST_CASE(SeenRules, AContextLeavesItsSiblings) { each_leak_world(27, ends_middle); }

/* context.go WithDeadline: a child's deadline is the earlier one; WithCancel has its parent's. */
static struct ctx *made(struct g *gp, enum op op, int64_t parent, int64_t ns)
{
    regs(gp)[1] = parent;
    struct insn in = {
        .op = (uint8_t)op, .a = 0, .b = parent != 0 ? 1 : NOREG, .c = NOREG, .imm = ns};
    regs(gp)[0] = -1;
    CHECK_EQ(op == OP_CTXNEW ? op_ctxnew(gp, &in) : op_ctxtmo(gp, &in), OP_DONE);
    return object_at((uint64_t)regs(gp)[0])->p;
}

static void has_deadlines(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct g *gp = user(mp);
    a_store(&sched->nmspinning, 1);
    int64_t before = nanotime();
    struct ctx *far = made(gp, OP_CTXTMO, 0, 2 * (int64_t)FAR);
    int64_t handle = regs(gp)[0];
    CHECK(far->timer != NULL && far->deadline >= before + 2 * (int64_t)FAR);
    CHECK_EQ(made(gp, OP_CTXNEW, handle, 0)->deadline, far->deadline);
    struct ctx *later = made(gp, OP_CTXTMO, handle, 3 * (int64_t)FAR);
    CHECK(later->timer == NULL && later->deadline == far->deadline);
    CHECK_EQ(a_peek(&later->err), CTX_OK);
    struct ctx *of_later = made(gp, OP_CTXTMO, regs(gp)[0], FAR);
    CHECK(of_later->timer != NULL && of_later->deadline < far->deadline);
    struct ctx *soon = made(gp, OP_CTXTMO, handle, 1);
    CHECK(soon->timer != NULL);
    CHECK_EQ(a_peek(&soon->err), CTX_OK);
    struct ctx *now = made(gp, OP_CTXTMO, handle, 0);
    CHECK(now->timer == NULL);
    CHECK_EQ(a_peek(&now->err), CTX_DEADLINE);
    struct ctx *none = made(gp, OP_CTXNEW, 0, 0);
    CHECK(none->timer == NULL && none->deadline == 0);
    regs(gp)[0] = 9; /* Background's Done is nil */
    regs(gp)[1] = 0;
    CHECK_EQ(op_ctxdone(gp, &(struct insn){.op = OP_CTXDONE, .a = 0, .c = 1, .d = OBJ_REG}),
             OP_DONE);
    CHECK_EQ(regs(gp)[0], 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AContextHasTheEarlierDeadline) { each_leak_world(27, has_deadlines); }

/* A deadline that is the parent's to the nanosecond is no later one. */
static void has_equal_deadline(struct m *mp)
{
    enum { FAR = 1000000000 };
    struct g *gp = user(mp);
    a_store(&sched->nmspinning, 1);
    (void)made(gp, OP_CTXTMO, 0, 3 * (int64_t)FAR);
    int64_t handle = regs(gp)[0], look = nanotime();
    struct ctx *parent = object_at((uint64_t)handle)->p;
    look = nanotime() - look;
    for (int64_t delta = -1; delta <= 1; delta++) {
        parent->deadline = nanotime() + look + FAR + delta;
        struct ctx *c = made(gp, OP_CTXTMO, handle, FAR);
        CHECK_EQ(c->timer != NULL, delta >= 0);
        CHECK_EQ(c->deadline, parent->deadline - (delta > 0 ? delta : 0));
    }
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AnEqualDeadlineIsNotLater) { each_leak_world(27, has_equal_deadline); }

/* ---- GOMAXPROCS ---- */

/* A setting that came with 1.25 is on for modules whose go line says so. */
static void has_setting(struct m *mp)
{
    (void)mp;
    for (int64_t line = 24; line <= 26; line++)
        for (int64_t setting = 0; setting <= 1; setting++) {
            world_prof.main_go_line = line;
            CHECK_EQ(godebug_25(setting), prof->release >= 25 && line >= 25 && setting);
        }
}

TEST_CASE(SeenRules, AGoLineSwitchesWhatCameWithIt) { each_release(has_setting); }

/* By turns the number is only remembered; else all Ps there are room for can be had. */
static bool has_set_procs;
static void sets_procs(struct m *mp)
{
    static const int64_t asked_procs[] = {3, 0, -1, 1, 5}, told_procs[] = {PROCS, 3, 3, 3, 1};
    struct g *gp = user(mp);
    gp->pc = 1;
    by_turns = true;
    for (int i = 0; i < 5; i++) {
        leak_code_[0] = (struct insn){
            .op = OP_GOMAXPROCS, .a = 0, .b = NOREG, .imm = asked_procs[i]};
        CHECK_EQ(runtime_GOMAXPROCS(gp), OP_DONE);
        CHECK_EQ(regs(gp)[0], told_procs[i]);
    }
    CHECK_EQ(a_peek(&rt->gomaxprocs), PROCS);
    by_turns = false;
    leak_code_[0].imm = rt->allp_cap;
    CHECK_NE(runtime_GOMAXPROCS(gp), OP_MCALL); /* it has the semaphore */
    CHECK_EQ(gp->opval, rt->allp_cap);
    CHECK_EQ(regs(gp)[0], PROCS);
    leak_code_[0].imm = rt->allp_cap + 1;
    has_set_procs = true;
    (void)runtime_GOMAXPROCS(gp);
}

TEST_CASE(SeenRules, GomaxprocsHasALimit)
{
    world_program = &leak_program;
    for (int release = 13; release <= 27; release++) {
        has_set_procs = false;
        world_ends(release, END_FINDING, sets_procs);
        CHECK(has_set_procs);
    }
    world_program = NULL;
}

/* ---- is everybody dead? ---- */

/* proc.go checkdead: one M stands for the extra M of a program without cgo. */
static int dead_run, dead_extra, dead_cgo, dead_panics;
static void is_dead(struct m *mp)
{
    (void)mp;
    world_prof.iscgo = dead_cgo;
    sched->mnext = 4;
    sched->nmidle = 1;
    sched->nmidlelocked = 1;
    sched->nmsys = 2 - dead_run;
    a_store(&rt->extraM.length, (uint32_t)dead_extra);
    a_store(&rt->panicking, (uint32_t)dead_panics);
    lock(&sched->lock);
    checkdead();
    unlock(&sched->lock);
}

TEST_CASE(SeenRules, WithoutMsThatRunEverybodyIsDead)
{
    for (int bits = 0; bits < 8; bits++)
        for (dead_run = -1; dead_run <= 2; dead_run++) {
            dead_extra = bits & 1;
            dead_cgo = bits >> 1 & 1;
            dead_panics = bits >> 2;
            int hopes = dead_extra && !dead_cgo;
            world_ends(27,
                       dead_panics || dead_run > hopes ? END_IDLE
                       : dead_run < 0                  ? END_THROWN
                                                       : END_FINDING,
                       is_dead);
        }
}

/* ---- loops ---- */

/* A loop that began behind a call looked at the guard once; from its second round on it can be
 * left by a signal alone. */
static void loops(struct m *mp)
{
    struct g *gp = user(mp);
    leak_code_[0] = (struct insn){.op = OP_LOOP, .a = 0, .d = 0};
    leak_code_[1] = (struct insn){.op = OP_RET};
    a_store(&gp->m, mp);
    for (int called = 0; called <= 1; called++) {
        regs(gp)[0] = 2; /* one jump */
        mp->asyncinject = true;
        CHECK_EQ(run_plain(mp, gp, prog_code, called) == NULL, !called);
        a_store(&gp->atomicstatus, (uint32_t)Grunning);
        regs(gp)[0] = 3; /* two */
        mp->asyncinject = true;
        CHECK(run_plain(mp, gp, prog_code, called) == NULL);
        a_store(&gp->atomicstatus, (uint32_t)Grunning);
        mp->asyncinject = false;
    }
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ALoopIsLeftFromItsSecondRoundOn) { each_leak_world(14, loops); }

/* ---- finalizers and cleanups ---- */

static void adds_specials(struct m *mp)
{
    struct g *gp = user(mp);
    struct special *stale = stackpool_get(special_order(1));
    memset(stale, 1, sizeof *stale); /* every mark is set */
    stackpool_put(stale, special_order(1));
    rt->fin = specials_new();
    gp->rng = 77;
    regs(gp)[2] = 5;
    addspecial(gp, &(struct insn){.op = OP_FINALIZER, .a = 2, .b = 1, .d = 1}, false);
    struct special *s = rt->fin->cached[mp_p(mp)->id].head;
    CHECK(s == stale);
    CHECK(!s->opens_block && !s->cleanup);
    CHECK_EQ(s->func, 1);
    CHECK_EQ(s->nargs, 1);
    CHECK_EQ(s->args[0], 5);
    CHECK_EQ(s->cycle, a_peek(&rt->gc.cycles));
    CHECK_NE(s->rng, UINT64_C(0x0101010101010101));
    rt->fin = NULL;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ASpecialIsWrittenAnew) { each_leak_world(27, adds_specials); }

/* Two counts of goroutines for cleanups: those that run some, and those asleep. */
static void counts_cleanups(struct m *mp)
{
    struct g *gp = user(mp);
    rt->fin = specials_new();
    struct cleanupQueue *q = &rt->fin->cleanups;
    (void)g_ext(gp);
    gp->func = -1;
    struct cleanupBlock *b = block_new(q);
    push_full(q, b);
    b->n = 0; /* nothing in it: it goes back at once */
    a_store(&q->running, 3u);
    CHECK_EQ(step_runCleanups(gp), OP_DONE);
    CHECK_EQ(a_peek(&q->running), 3);
    CHECK_EQ(a_peek(&q->workUnits), 0);
    CHECK_EQ(a_peek(&q->asleep), 0);
    gp->nkont = 0;
    b = lfstack_pop(q, &q->free);
    struct special *s = stackpool_get(special_order(0));
    *s = (struct special){.func = 1};
    block_put(b, s);
    push_full(q, b);
    CHECK_EQ(step_runCleanups(gp), OP_DONE);
    CHECK_EQ(a_peek(&q->running), 4); /* until the block is empty */
    CHECK_EQ(gp->func, 1);
    q->local[rt->allp_len] = b; /* of a P that is no more */
    cleanups_flush();
    CHECK(q->local[rt->allp_len] == b);
    rt->fin = NULL;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, WhoRunsCleanupsIsCounted) { each_leak_world(25, counts_cleanups); }

/* ---- the idle list ---- */

static void leaves_idle_list(struct m *mp)
{
    struct m *m[3];
    (void)mp;
    for (int i = 0; i < 3; i++) {
        m[i] = host_alloc(sizeof *m[i], 64);
        midle_push(m[i]);
        CHECK(m[i]->onmidle && sched->midle == m[i]);
    }
    midle_remove(m[1]);
    CHECK(!m[1]->onmidle && m[1]->idle_prev == NULL && m[1]->idle_next == NULL);
    CHECK(m[2]->idle_next == m[0] && m[0]->idle_prev == m[2]);
    sched->nmidle = 2;
    CHECK(mget() == m[2] && mget() == m[0] && mget() == NULL);
    CHECK_EQ(sched->nmidle, 0);
    CHECK(!m[0]->onmidle && !m[2]->onmidle);
}

TEST_CASE(SeenRules, WhoLeavesTheIdleListIsNotOnIt) { each_release(leaves_idle_list); }

/* ---- locks ---- */

/* With several CPUs an M spins four times and yields once before it sleeps; with one it yields. */
static void locks_for_ever(struct m *mp)
{
    struct mutex *l = host_alloc(sizeof *l, 64);
    (void)mp;
    lock(l);
    procyields = osyields = 0;
    lock(l);
}

TEST_CASE(SeenRules, WhoWantsALockSpinsWhereOthersRun)
{
    for (int release = 13; release <= 27; release++)
        for (int cpus = 1; cpus <= 2; cpus++) {
            CHECK_EQ(world_until(UINT64_MAX, release, PROCS, &(struct host_opts){.cpus = cpus},
                                 locks_for_ever),
                     END_IDLE);
            CHECK(!body_ended);
            CHECK_EQ(procyields, cpus > 1 ? 4 : 0);
            CHECK_EQ(osyields, 1);
            host_virt.close();
        }
}

/* ---- the first object, and a search that came too early ---- */

static void reaches_first(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    struct g *gp = waits_at_chan(&((struct hchan *)obj(H_CHAN))->recvq);
    gp->waitreason = waitReasonChanReceive;
    rt->allgs = rt->allgs_tail = gp;
    struct hchan *last;
    (void)chan_object(0, &last);
    struct g *at_last = waits_at_chan(&last->recvq);
    at_last->waitreason = waitReasonChanReceive;
    l->handles = l->pools = true; /* whatever there is may be reached */
    (void)leaks_trace(l);
    CHECK(gp->check_seen && at_last->check_seen);
    l->handles = false;
    (void)leaks_trace(l);
    CHECK(!gp->check_seen && !at_last->check_seen);
    gp->pc = at_last->pc = 1; /* at the end of a run, both are stranded there */
    leak_code_[0] = (struct insn){.op = OP_RECV};
    CHECK(strand_suspects(l));
    CHECK(gp->stranded && at_last->stranded);
}

TEST_CASE(SeenRules, TheFirstObjectIsReachedAndTheLast) { each_leak_world(26, reaches_first); }

/* A collection that had begun before did not look. */
static void asks_again(struct m *mp)
{
    struct g *gp = user(mp);
    gp->pc = 1;
    leak_code_[0] = (struct insn){.op = OP_NOP, .a = 2};
    a_store(&rt->gc.leak_pending, true);
    CHECK_EQ(step_leakProfile(gp), OP_DONE);
    CHECK_EQ(gp->nkont, 2);
    CHECK_EQ(gp->kont[0], STEP_leakProfile);
    CHECK_EQ(gp->kont[1], STEP_gcForce);
    gp->nkont = 0;
    a_store(&rt->gc.leak_pending, false);
    regs(gp)[2] = 9;
    CHECK_EQ(step_leakProfile(gp), OP_DONE);
    CHECK_EQ(gp->nkont, 0);
    CHECK_EQ(regs(gp)[2], 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AProfileOfLeaksWaitsForItsCollection) { each_leak_world(26, asks_again); }

/* ---- main ---- */

/* Before main.main: package os has made three files, whose calls sysmon counts up to some release;
 * the finalizers' goroutine is there; and main is not locked to its thread any more. */
static void begins_main(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    lockOSThread_internal(gp);
    a_store(&sched->nmspinning, 1);
    uint64_t ticks = a_peek(&mp_p(mp)->syscalltick), gs = a_peek(&rt->allglen);
    mains = 0;
    memset(jolts_told, 0, sizeof jolts_told);
    CHECK_EQ(step_gcReady(gp), OP_DONE);
    CHECK_EQ(mains, 1);
    CHECK_EQ(jolts_told[NOISE_inits], 1);
    CHECK_EQ(jolts_told[NOISE_boot], 1);
    CHECK_EQ(a_peek(&mp_p(mp)->syscalltick), ticks + (prof->os_syscalls ? 3 : 0));
    CHECK_EQ(a_peek(&rt->allglen), gs + 1 + (prof->release >= 25)); /* the quota's follower */
    CHECK_EQ(mp->lockedInt, 0);
    CHECK(a_peek(&gp->lockedm) == NULL);
    a_store(&mp->curg, (struct g *)NULL);
    empty_queues(mp_p(mp));
}

TEST_CASE(SeenRules, MainBeginsOnce) { each_release(begins_main); }

/* ---- C's threads ---- */

/* Each callback of a thread that is new takes one extra M; what is in use is counted. */
static bool uses_extra;
static void calls_from_c(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    for (uint32_t n = 1; n <= 3; n++) {
        CHECK_EQ(cgo_foreign(gp, 0, INT64_C(1000000000000), NULL, 0), OP_DONE);
        CHECK_EQ(a_peek(&rt->extraM.inuse), n);
        CHECK_EQ(a_peek(&rt->extraM.length), 0);
        CHECK(!mp->incgo);
        CHECK_EQ(mp->counters[C_threads], n);
    }
    uses_extra = true;
}

TEST_CASE(SeenRules, AnExtraMInUseIsCountedOnce)
{
    for (int release = 13; release <= 27; release++) {
        uses_extra = false;
        world_program = &leak_program;
        CHECK_EQ(
            world_until(UINT64_C(1000000000), release, PROCS, &(struct host_opts){0}, calls_from_c),
            END_TIME);
        CHECK(uses_extra);
        host_virt.close();
        world_program = NULL;
    }
}

/* ---- who comes back from a channel ---- */

/* chan.go: the G waits on no sudog any more and has no param; a receiver has what it got. */
static void comes_back(struct m *mp)
{
    struct g *gp = user(mp);
    struct hchan *c = makechan(0);
    gp->pc = 1;
    leak_code_[0] = (struct insn){.op = OP_RECV, .a = 2, .b = 3};
    for (int ok = 0; ok <= 1; ok++) {
        struct sudog *s = chan_sudog(gp, c, 44 * ok);
        gp->param = s;
        s->success = ok;
        CHECK_EQ(step_chanrecv(gp), OP_DONE);
        CHECK(gp->waiting == NULL && gp->param == NULL);
        CHECK_EQ(regs(gp)[2], 44 * ok);
        CHECK_EQ(regs(gp)[3], ok);
    }
    struct sudog *s = chan_sudog(gp, c, 5);
    gp->param = s;
    s->success = true;
    CHECK_EQ(step_chansend(gp), OP_DONE);
    CHECK(gp->waiting == NULL && gp->param == NULL);
    a_store(&mp->curg, (struct g *)NULL);
}

/* Receivers, then senders, were told that nothing came of it; nobody is linked to another. */
static void closes_for_all(struct m *mp)
{
    struct hchan *c[2] = {makechan(0), makechan(0)};
    a_store(&sched->nmspinning, 1);
    for (int sends = 0; sends <= 1; sends++) {
        struct sudog *s[3];
        for (int i = 0; i < 3; i++) {
            s[i] = host_alloc(sizeof *s[i], 16);
            s[i]->g = g_of(Gwaiting);
            s[i]->val = 9;
            s[i]->success = true;
            waitq_enqueue(sends ? &c[sends]->sendq : &c[sends]->recvq, s[i]);
        }
        closechan_open(c[sends]);
        for (int i = 0; i < 3; i++) {
            CHECK(!s[i]->success && s[i]->g->param == s[i]);
            CHECK_EQ(s[i]->val, sends ? 9 : 0);
            CHECK_EQ(readgstatus(s[i]->g), Grunnable);
        }
    }
    empty_queues(mp_p(mp));
}

TEST_CASE(SeenRules, WhoWaitedAtAChannelDoesNoMore) { each_leak_world(13, comes_back); }
TEST_CASE(SeenRules, ACloseTellsEverybody) { each_release(closes_for_all); }

/* iter.go next, after the end: no value and no, whatever was there. */
static void pulls_nothing(struct m *mp)
{
    struct g *gp = user(mp);
    struct coroutine *c = pull_of(NULL);
    const struct insn in = {.op = OP_CORONEXT, .a = 2, .b = 3, .c = 1, .d = OBJ_REG};
    gp->pc = 1;
    leak_code_[0] = in;
    regs(gp)[1] = object_add(c, OBJ_CORO);
    regs(gp)[2] = regs(gp)[3] = 9;
    c->done = true;
    CHECK_EQ(op_coronext(gp, &in), OP_DONE);
    CHECK_EQ(regs(gp)[2], 0);
    CHECK_EQ(regs(gp)[3], 0);
    c->done = false;
    CHECK_EQ(op_coronext(gp, &in), OP_MCALL);
    CHECK(c->yieldNext);
    g_ext(gp)->coro = c; /* as the G inside: its function returns after it has yielded */
    c->v = 5;
    c->ok = true;
    CHECK_EQ(coro_returns(gp), OP_MCALL);
    CHECK(c->done && c->exiting);
    CHECK_EQ(step_coroBack(gp), OP_DONE);
    CHECK(!c->yieldNext);
    CHECK_EQ(regs(gp)[2], 0);
    CHECK_EQ(regs(gp)[3], 0);
    gp->ext->coro = NULL;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AfterTheEndThereIsNothingToPull) { each_leak_world(23, pulls_nothing); }

/* ---- a stopped world ---- */

/* While a G stops the world it cannot be preempted; afterwards it can. */
static void can_be_preempted(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    mp->preemptoff = "gcing";
    a_store(&rt->worldsema, 0u);
    release_worldsema(gp);
    CHECK(mp->preemptoff == NULL);
    CHECK_EQ(a_peek(&rt->worldsema), 1);
    a_store(&rt->gc.sweepLeft, 7);
    for (int left = 6; left >= 0; left--) {
        CHECK(sweep_span(NULL));
        CHECK_EQ(a_peek(&rt->gc.sweepLeft), left);
    }
    CHECK(!sweep_span(NULL));
    CHECK_EQ(a_peek(&rt->gc.sweepLeft), 0);
    a_store(&rt->gc.sweepLeft, 7);
    finishsweep_m();
    CHECK_EQ(a_peek(&rt->gc.sweepLeft), 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, WhoHadStoppedTheWorldCanBePreempted) { each_release(can_be_preempted); }

/* ---- timers of declared channels ---- */

static void resets_ticker(struct m *mp)
{
    struct g *gp = user(mp);
    const struct insn in = {.op = OP_CHTIMER, .a = 1, .b = NOREG, .d = H_BUFFER - 1, .imm = 1};
    struct timeTimer **t = chtimer_of(&in);
    a_store(&sched->nmspinning, 1);
    *t = NULL;
    CHECK_EQ(op_chtimer(gp, &in), OP_DONE);
    CHECK_EQ((*t)->t.period, 1);
    CHECK_EQ(op_chreset(gp, &in), OP_DONE);
    CHECK_EQ((*t)->t.period, 1);
    CHECK_EQ(op_chstop(gp, &in), OP_DONE);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ATickerStaysOneHoweverFast) { each_leak_world(23, resets_ticker); }

/* A callback of a thread of C is over: the thread is in a system call, and no lock keeps the M. */
static void returns_to_c(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->m, mp);
    lockOSThread_internal(gp);
    CHECK_EQ(foreign_returns(gp), OP_MCALL);
    CHECK(!mp->incgo && mp->isExtraInC && mp->exiting);
    CHECK_EQ(mp->lockedInt, 0);
    CHECK_EQ(readgstatus(gp), Gsyscall);
    mp->exiting = false;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, AfterACallbackTheThreadIsInC) { each_release(returns_to_c); }

/* ---- arrivals ---- */

/* Who is only told that it can write gets no requests; what does not fit is counted. */
static void delivers(struct m *mp)
{
    const struct arrivals writable = {.kind = ARRIVE_POSTED, .mode = POLL_W};
    const struct arrivals readable = {.kind = ARRIVE_POSTED, .mode = POLL_R};
    struct pollfd *fd = netpoll_open(-1);
    struct envfd *e = &fd->env;
    (void)mp;
    e->backlog = 4;
    e->stamp = host_alloc(e->backlog * sizeof *e->stamp, 64);
    env_only_told = true;
    e->process = &writable;
    env_deliver(fd, 3);
    CHECK_EQ(env_ready_told, 0);
    CHECK_EQ(a_peek(&e->arrived) + a_peek(&e->dropped), 0);
    e->process = &readable;
    for (int round = 0; round < 3; round++) {
        static const int fits[] = {3, 1, 0};
        env_deliver(fd, 3);
        CHECK_EQ(env_ready_told, fits[round]);
        CHECK_EQ(a_peek(&e->arrived), 3 + (round > 0));
        CHECK_EQ(a_peek(&e->dropped), round == 0 ? 0 : 3 * round - 1);
    }
    env_only_told = false;
    CHECK_EQ(env_sum(ENV_NEVER, 1), ENV_NEVER);
    CHECK_EQ(env_sum(1, ENV_NEVER), ENV_NEVER);
    CHECK_EQ(env_sum(ENV_NEVER - 1, 1), ENV_NEVER);
    CHECK_EQ(env_sum(3, 4), 7);
}

TEST_CASE(SeenRules, WhatDoesNotFitIsCounted) { each_release(delivers); }

/* Nothing comes at the end or after it, and not more than there are; of listed times each once. */
static void allows(struct m *mp)
{
    static const int64_t times[] = {5, 8};
    struct arrivals process = {.kind = ARRIVE_TIMES,
                               .end_ns = 100,
                               .count = 3,
                               .times = times,
                               .ntimes = 2,
                               .start_ns = 20};
    struct pollfd *fd = netpoll_open(-1);
    struct envfd *e = &fd->env;
    (void)mp;
    e->process = &process;
    e->zero = 1000;
    CHECK_EQ(env_allow(e, 1100, 1), 0);
    CHECK_EQ(env_allow(e, 1099, 1), 1);
    CHECK_EQ(env_allow(e, 1000, 5), 2);
    CHECK_EQ(env_allow(e, 1000, 5), 0);
    CHECK_EQ(e->made, 3);
    process.end_ns = process.count = 0; /* no limit */
    CHECK_EQ(env_allow(e, 5000, 5), 5);
    env_only_told = true;
    for (e->made = 0; e->made < 4; e->made++) {
        env_told = -1;
        env_next(fd, 0);
        CHECK_EQ(env_told, e->made < 2 ? 1020 + times[e->made] : -1);
    }
    env_only_told = false;
}

TEST_CASE(SeenRules, ArrivalsHaveLimits) { each_release(allows); }

/* ---- places to wait at ---- */

/* A buffer forgets what was taken out: it could be a handle. */
static void forgets_item(struct m *mp)
{
    struct hchan *c = makechan(2);
    int64_t v;
    bool received, closed;
    (void)mp;
    CHECK(chansend_nb(c, 8, &closed) && chansend_nb(c, 9, &closed));
    CHECK(chanrecv_nb(c, &v, &received) && received);
    CHECK(c->buf[0] == 0 && c->buf[1] == 9);
}

/* Who waits at a semaphore of any root is found there. */
static void sees_semas(struct m *mp)
{
    semaword *words = host_alloc(4096 * sizeof *words, 64);
    (void)mp;
    for (int64_t root = 0; root < prof->sema_roots; root += prof->sema_roots - 1) {
        semaword *addr = words;
        while (rootFor(addr) != &rt->objs->semtable[root])
            CHECK_LT(++addr - words, 4096);
        struct g *gp = waits_at_sema(addr);
        CHECK(wait_seen_semas() == NULL);
        CHECK(gp->check_seen);
        for (struct g *all = rt->allgs; all != NULL; all = all->alllink)
            all->check_seen = false;
    }
}

TEST_CASE(SeenRules, AnItemIsForgotten) { each_release(forgets_item); }
TEST_CASE(SeenRules, EveryRootIsLookedAt) { each_leak_world(27, sees_semas); }

/* A timer of any P is a hope. */
static int hopeful_p;
static void hopes(struct m *mp)
{
    (void)mp;
    rt->allgs = rt->allgs_tail = NULL;
    (void)all_g(Gwaiting);
    if (hopeful_p >= 0)
        a_store(&rt->allp[hopeful_p]->timers.len, 1u);
    sched->nmidle = 1;
    lock(&sched->lock);
    checkdead();
    unlock(&sched->lock);
    sched->nmidle = 0;
}

TEST_CASE(SeenRules, ATimerIsAHope)
{
    world_program = &leak_program;
    for (hopeful_p = -1; hopeful_p < PROCS; hopeful_p++)
        world_ends(27, hopeful_p < 0 ? END_FINDING : END_IDLE, hopes);
    world_program = NULL;
}

/* ---- coroutines that begin, and are stopped ---- */

static void makes_coroutine(struct m *mp)
{
    struct g *gp = user(mp), *fresh = runnable();
    fresh->owner = (int16_t)(mp->id + 1);
    coro_park_new(fresh);
    CHECK_EQ(fresh->owner, 0);
    CHECK_EQ(fresh->waitreason, waitReasonCoroutine);
    CHECK_EQ(readgstatus(fresh), Gwaiting);
    gp->pc = 1;
    for (int locks = 0; locks < 4; locks++) {
        mp->lockedExt = locks & 1 ? 3 : 0;
        mp->lockedInt = locks & 2 ? 5 : 0;
        CHECK_EQ(op_coronew(gp, &(struct insn){.op = OP_CORONEW, .a = 0, .d = 1}), OP_DONE);
        struct coroutine *c = object_at((uint64_t)regs(gp)[0])->p;
        CHECK(c->mp == (locks != 0 ? mp : NULL));
        CHECK_EQ(c->lockedExt, mp->lockedExt);
        CHECK_EQ(c->lockedInt, mp->lockedInt);
        CHECK_EQ(readgstatus(a_peek(&c->gp)), Gwaiting);
        const struct insn stop = {.op = OP_COROSTOP, .c = 0, .d = OBJ_REG};
        gp->nkont = 0;
        CHECK_EQ(op_corostop(gp, &stop), OP_MCALL);
        CHECK(c->done && gp->nkont == 1 && gp->kont[0] == STEP_coroBack);
        gp->nkont = 0;
        CHECK_EQ(op_corostop(gp, &stop), OP_DONE); /* once */
        CHECK_EQ(gp->nkont, 0);
    }
    mp->lockedExt = mp->lockedInt = 0;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(SeenRules, ACoroutineKnowsTheLocksOfItsMaker) { each_leak_world(23, makes_coroutine); }

/* ---- what a P leaves behind, and sweeping at once ---- */

static struct special *caches_special(struct p *pp)
{
    struct special *s = stackpool_get(special_order(0));
    *s = (struct special){.func = 1, .cycle = a_peek(&rt->gc.cycles)};
    specials_put(&rt->fin->cached[pp->id], s);
    return s;
}

/* A P that goes gives its span back unswept. */
static void leaves_specials(struct m *mp)
{
    struct p *pp = rt->allp[PROCS - 1];
    (void)mp;
    rt->fin = specials_new();
    struct special *s = caches_special(pp);
    a_store(&rt->gc.cycles, a_peek(&rt->gc.cycles) + 1); /* it is due */
    gc_p_destroy(pp);
    CHECK(rt->fin->live.head == s && rt->fin->cached[pp->id].head == NULL);
    CHECK(rt->fin->finq == NULL);
    rt->fin = NULL;
}

/* gcSweep where the world stays stopped for it: all spans, the Ps' own among them. */
static void sweeps_at_once(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (int forced = 1; forced >= 0; forced--) {
        rt->fin = specials_new();
        a_store(&rt->fin->sweeping, 0u);
        for (int32_t id = 0; id < PROCS; id++)
            (void)caches_special(rt->allp[id]);
        a_store(&c->cycles, a_peek(&c->cycles) + 1);
        c->mode = forced ? gcForceBlockMode : gcBackgroundMode;
        a_store(&c->sweepLeft, 5);
        c->sweepG = g_of(Gwaiting);
        c->sweepParked = true;
        a_store(&sched->nmspinning, 1);
        gcSweep();
        CHECK_EQ(c->sweepParked, forced); /* there is nothing left for it */
        CHECK_EQ(readgstatus(c->sweepG), forced ? Gwaiting : Grunnable);
        CHECK_EQ(a_peek(&c->sweepLeft), forced ? 0 : 5);
        CHECK_EQ(rt->fin->finq_n, forced ? PROCS : 0);
        rt->fin = NULL;
    }
}

TEST_CASE(SeenRules, APThatGoesGivesItsSpanBack) { each_leak_world(13, leaves_specials); }
TEST_CASE(SeenRules, AForcedSweepIsDoneAtOnce) { each_leak_world(13, sweeps_at_once); }

/* A batch on the global queue is nobody's, each of it. */
static void batch_is_nobodys(struct m *mp)
{
    struct gQueue batch = {0}, none = {0};
    for (int i = 0; i < 3; i++) {
        struct g *gp = runnable();
        runq_own(gp);
        gQueue_pushBack(&batch, gp);
    }
    lock(&sched->lock);
    globrunqputbatch(&batch);
    gQueue_pushBackAll(&sched->runq, &none); /* nothing is more */
    unlock(&sched->lock);
    check_queue(&sched->runq, 1, 3);
    CHECK_EQ(a_peek(&sched->runqsize), 3);
    CHECK_EQ(mp->counters[C_grq_puts], 3);
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        CHECK_EQ(gp->owner, 0);
    empty_queues(mp_p(mp));
}

TEST_CASE(SeenRules, ABatchIsNobodysOnTheQueue) { each_release(batch_is_nobodys); }

/* ---- counts of locks, debts of assists ---- */

/* lock_spinbit.go mutexMLocksDelta (1.27): m.locks tells locks from pins. */
static void weighs_locks(struct m *mp)
{
    struct mutex *a = host_alloc(sizeof *a, 64), *b = host_alloc(sizeof *b, 64);
    const int weight = prof->release >= 27 ? 16 : 1;
    lock(a);
    CHECK_EQ(mp->locks, weight);
    lock(b);
    (void)acquirem();
    CHECK_EQ(mp->locks, 2 * weight + 1);
    unlock(a);
    unlock(b);
    CHECK_EQ(mp->locks, 1);
    releasem(mp);
    CHECK_EQ(mp->locks, 0);
}

TEST_CASE(SeenRules, ALockWeighsSixteenPinsFromGo127) { each_release(weighs_locks); }

/* gcResetMarkState, of everybody; and startCycle forgets what was of the last one. */
static void forgets_debts(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *gp[3];
    (void)mp;
    rt->allgs = rt->allgs_tail = NULL;
    for (int i = 0; i < 3; i++) {
        gp[i] = all_g(Gwaiting);
        gp[i]->gcAssistBytes = 5 - 5 * i;
    }
    for (int i = 0; i < PROCS; i++)
        rt->allp[i]->gc.fractionalTime = 9;
    a_store(&c->bgScanCredit, 9);
    a_store(&c->active, 9);
    a_store(&c->idleWorkers, 9);
    gc_startCycle(gcTriggerHeap);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(gp[i]->gcAssistBytes, 0);
    for (int i = 0; i < PROCS; i++)
        CHECK_EQ(rt->allp[i]->gc.fractionalTime, 0);
    CHECK_EQ(a_peek(&c->bgScanCredit), 0);
    CHECK_EQ(a_peek(&c->active), 0);
    CHECK_EQ(a_peek(&c->idleWorkers), 0);
}

TEST_CASE(SeenRules, ACycleBeginsWithoutDebts) { each_leak_world(13, forgets_debts); }
