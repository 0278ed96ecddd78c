/* SPDX-License-Identifier: BSD-3-Clause */
/* The second part about leak.c: what has yet to run reaches, the search as a whole, who is stranded
 * when a run ends. */

/* ---- finalizers and cleanups ---- */

static struct special *special_of(uint32_t func, int64_t arg)
{
    struct special *s = host_alloc(sizeof *s + 2 * sizeof s->args[0], 16);
    s->func = func;
    s->nargs = arg != 0;
    s->args[0] = arg != 0 ? arg : H_SEMA;
    s->args[1] = H_VAR; /* no argument */
    return s;
}

static void specials_reach(struct leaks *l, const char *code, const char *objects)
{
    leak_look_anew(l);
    leak_specials(l);
    finds(l, code, objects);
}

static void looks_at_specials(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_fresh(l, true);
    specials_reach(l, "", ""); /* there are none in this world */
    struct finalizers *f = rt->fin = host_alloc(sizeof *f, 64);
    f->cached = host_alloc((size_t)rt->allp_cap * sizeof *f->cached, 64);
    cleanups_init(&f->cleanups);
    specials_reach(l, "", "");
    f->live.head = special_of(0, 0);
    specials_reach(l, "0", "");
    f->live.head->next = special_of(1, H_CHAN);
    specials_reach(l, "0 40", "1");
    f->live.head = NULL;
    f->unswept.head = special_of(1, H_MUTEX);
    specials_reach(l, "40", "2");
    f->unswept.head = NULL;
    f->finq = special_of(2, H_ONCE);
    specials_reach(l, "60", "7");
    f->finq = NULL;
    f->taken = special_of(2, H_RWMUTEX);
    specials_reach(l, "60", "3");
    f->taken = NULL;
    for (int32_t id = 0; id < rt->allp_cap; id += rt->allp_cap - 1) {
        f->cached[id].head = special_of(1, H_COND);
        specials_reach(l, "40", "5");
        f->cached[id].head = NULL;
    }
    for (int i = 0; i < 3; i++) {
        struct cleanupBlock *b = block_new(&f->cleanups);
        for (int k = 0; k <= i; k++)
            block_put(b, k == 1 ? NULL : special_of((uint32_t)i, H_ONCE + i));
        b->cleanups[b->n] = special_of(0, H_CHAN); /* taken already */
        specials_reach(l,
                       i == 0   ? "0"
                       : i == 1 ? "0 40"
                                : "0 40 60",
                       i == 0   ? "7"
                       : i == 1 ? "7 8"
                                : "7 8 9");
    }
}

TEST_CASE(LeakRules, WhatHasYetToRunReachesItsArguments) { each_leak_world(25, looks_at_specials); }

/* ---- timers ---- */

static struct timer *pending(timer_fn f, void *arg)
{
    struct timer *t = host_alloc(sizeof *t, 64);
    timer_init(t, no_op, NULL);
    (void)timer_modify(t, 1000000000, 0, f, arg, 0);
    return t;
}

static void any_timers(struct m *mp)
{
    (void)mp;
    CHECK(!any_timer());
    struct timer *t = pending(no_op, NULL);
    CHECK(any_timer());
    moveTimers(&rt->allp[rt->allp_len - 1]->timers, &mp_p(mp)->timers);
    CHECK(any_timer());
    CHECK(timer_stop(t));
}

TEST_CASE(LeakRules, ATimerOfAnyPCounts) { each_leak_world(23, any_timers); }

static void functions_of_timers(struct m *mp)
{
    struct leaks *l;
    leak_code_[0] = (struct insn){.op = OP_TIMER, .d = 1};
    leak_code_[1] = (struct insn){.op = OP_TIMER, .d = -1};
    leak_code_[2] = (struct insn){.op = OP_CALL, .d = 0};
    leak_code_[LEAK_CODE - 1] = (struct insn){.op = OP_TIMER, .d = 2};
    leak_code_[LEAK_CODE] = (struct insn){.op = OP_TIMER, .d = 0}; /* of no program */
    l = leaks_new();
    for (int bits = 0; bits < 8; bits++) {
        bool funcs = bits & 1, timers = bits & 2, handles = bits & 4;
        a_store(&mp_p(mp)->timers.len, timers ? 1u : 0u);
        l->timer_funcs = funcs;
        leak_fresh(l, handles);
        leak_functions_of_timers(l);
        finds(l, funcs && timers ? "40 60" : "", "");
        CHECK_EQ(l->everything, funcs && timers && handles);
    }
}

TEST_CASE(LeakRules, WhatATimerMayCallIsReached) { each_leak_world(24, functions_of_timers); }

static void channels_of_runtime(struct m *mp)
{
    struct leaks *l = leaks_new();
    struct hchan *c;
    (void)mp;
    leak_fresh(l, false);
    (void)object_add(obj(H_MUTEX), OBJ_MUTEX);
    (void)chan_object(0, &c);
    (void)chan_object(0, &c);
    c->timer = host_alloc(sizeof *c->timer, 64);
    leak_channels_of_runtime(l);
    finds(l, "", timer_sync_chans() ? "13" : "12 13");
    l->contexts = true;
    leak_look_anew(l);
    leak_channels_of_runtime(l);
    finds(l, "", "12 13");
}

TEST_CASE(LeakRules, AChannelOfATimerOrContextIsReached)
{
    each_leak_world(22, channels_of_runtime);
}

static struct timeTimer *of_time(uint32_t func, int64_t arg)
{
    struct timeTimer *tt = timeTimer_alloc(makechan(1), 2);
    tt->func = func;
    tt->nargs = arg != 0;
    tt->args[0] = arg != 0 ? arg : H_VAR;
    tt->args[1] = H_VAR; /* no argument */
    return tt;
}

static void timers_reach(struct leaks *l, const char *code, const char *objects, const char *who)
{
    leak_look_anew(l);
    leak_timers(l);
    finds(l, code, objects);
    CHECK_STR(woken(), who);
}

static void does_timers(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_fresh(l, true);
    struct timeTimer *sends = of_time(0, 0);
    struct hchan *done;
    struct ctx *ctx = host_alloc(sizeof *ctx, 16);
    (void)waits_at_chan(&sends->c->recvq);
    a_init(&ctx->done_handle, chan_object(0, &done));
    (void)waits_at_chan(&done->recvq);
    int64_t context = object_add(ctx, OBJ_CONTEXT);
    l->verdict = true;
    timers_reach(l, "", "", "");
    struct timer *t = pending(sendTime, sends);
    timers_reach(l, "", "", "1");
    CHECK(timer_stop(t));
    timers_reach(l, "", "", "");
    t = pending(goFunc, of_time(0, 0));
    timers_reach(l, "0", "", "");
    CHECK(timer_stop(t));
    t = pending(goFunc, of_time(1, H_ONCE));
    timers_reach(l, "40", "7", "");
    CHECK(timer_stop(t));
    t = pending(goFunc, of_time(FUNC_STEP(STEP_ctxTimeout), context));
    timers_reach(l, "", "11 12", "2");
    CHECK(timer_stop(t));
    t = pending(no_op, of_time(1, H_ONCE)); /* a sleeper */
    timers_reach(l, "", "", "");
    CHECK(timer_stop(t));
    if (!prof->timers_v2)
        return;
    t = pending(goFunc, of_time(2, 0));
    moveTimers(&rt->allp[rt->allp_len - 1]->timers, &mp_p(mp)->timers);
    timers_reach(l, "60", "", "");
    CHECK(timer_stop(t));
}

/* 1.13 has them in buckets. */
static void does_buckets(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_fresh(l, true);
    timers_reach(l, "", "", "");
    for (int i = 0; i < timersLen; i += timersLen - 1) {
        struct timers *ts = &rt->timersBuckets[i].heap;
        struct timeTimer *tt = of_time(i == 0 ? 1 : 2, 0);
        tt->t.f = goFunc;
        tt->t.arg = tt;
        (void)heap_push(ts, &tt->t, 5);
        timers_reach(l, i == 0 ? "40" : "60", "", "");
        heap_pop(ts);
    }
}

TEST_CASE(LeakRules, AtTheEndATimerReachesWhatItWillDo)
{
    world_program = &leak_program;
    world(13, PROCS, &(struct host_opts){0}, does_buckets);
    each_leak_world(14, does_timers);
}

/* Is an M in the scheduler with a P? */
static void in_flight(struct m *mp)
{
    struct m *other = host_alloc(sizeof *other, 64);
    struct g *gp = g_of(Grunning);
    (void)mp;
    gp->func = 0;
    rt->allm = other;
    CHECK(!timers_in_flight()); /* no P */
    a_init(&other->p, rt->allp[1]);
    CHECK(timers_in_flight());
    a_init(&other->curg, gp);
    CHECK(!timers_in_flight());
    gp->system = SYSTEM_ALWAYS;
    CHECK(timers_in_flight());
    gp->system = SYSTEM_NOT;
    other->alllink = host_alloc(sizeof *other, 64);
    a_init(&other->alllink->p, rt->allp[2]);
    CHECK(timers_in_flight());
}

TEST_CASE(LeakRules, WhoSchedulesMayHaveATimerInItsHands) { each_leak_world(27, in_flight); }

/* ---- who waits at the end ---- */

static void waits_at_end(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    (void)mp;
    gp->func = 0;
    gp->pc = 4;
    gp->waitreason = waitReasonChanReceive;
    for (int op = 0; op < OPS; op++) {
        leak_code_[3].op = (uint8_t)op;
        CHECK_EQ(leak_waits(gp), op >= OP_SEND && op <= OP_RELEASE);
    }
    leak_code_[3].op = OP_RECV;
    for (uint32_t status = 0; status < Gdeadextra; status++)
        for (uint32_t scan = 0; scan <= Gscan; scan += Gscan) {
            a_store(&gp->atomicstatus, status | scan);
            CHECK_EQ(leak_waits(gp), status == Gwaiting || status == Gleaked);
        }
    a_store(&gp->atomicstatus, (uint32_t)Gwaiting);
    for (int reason = 0; reason < WAITREASONS; reason++)
        for (int main = 0; main < 2; main++) {
            bool nil = reason == waitReasonSelectNoCases || reason == waitReasonChanReceiveNilChan;
            gp->waitreason = (uint8_t)reason;
            rt->main_g = main ? gp : NULL;
            CHECK_EQ(leak_waits(gp), reason != waitReasonSleep && !(main && nil));
            CHECK_EQ(leak_waits_for_nil(gp), nil || reason == waitReasonChanSendNilChan);
        }
    gp->waitreason = waitReasonChanReceive;
    gp->system = SYSTEM_ALWAYS;
    CHECK(!leak_waits(gp));
    gp->system = SYSTEM_NOT;
    gp->has_ext_wake = true;
    CHECK(!leak_waits(gp));
    gp->has_ext_wake = false;
    gp->func = -1;
    CHECK(!leak_waits(gp));
    gp->func = 1;
    leak_code_[0].op = OP_RECV;
    gp->pc = 1;
    CHECK(leak_waits(gp));
    gp->pc = 0;
    CHECK(!leak_waits(gp));
}

TEST_CASE(LeakRules, WhoWaitsInAnInstructionThatOthersEnd) { each_leak_world(27, waits_at_end); }

static void cancels_now(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    leak_code_[0].op = OP_CTXCANCEL;
    leak_code_[4].op = OP_CTXCANCEL;
    for (int func = -1; func < 2; func++)
        for (uint32_t pc = 0; pc < 6; pc++) {
            bool want = func < 0 || pc == 1 || pc == 5;
            gp->func = func;
            gp->pc = pc;
            a_store(&gp->atomicstatus, (uint32_t)Grunning);
            CHECK_EQ(leak_cancels(gp), want);
            a_store(&gp->atomicstatus, (uint32_t)Grunning | Gscan);
            CHECK_EQ(leak_cancels(gp), want);
            a_store(&gp->atomicstatus, (uint32_t)Gwaiting);
            CHECK(!leak_cancels(gp));
        }
    struct sudog s = {0};
    struct hchan *c = makechan(0);
    s.g = gp;
    s.c = c;
    CHECK(!is_being_woken(gp));
    gp->waiting = &s;
    CHECK(!is_being_woken(gp)); /* no select */
    s.isSelect = true;
    CHECK(is_being_woken(gp)); /* in no queue any more */
    waitq_enqueue(&c->recvq, &s);
    CHECK(!is_being_woken(gp));
}

TEST_CASE(LeakRules, WhoEndsContextsNowAndWhoIsOnItsWay) { each_leak_world(27, cancels_now); }

/* ---- the search ---- */

/* g1 runs and will send to the channel on which g2 waits, who will unlock the mutex for which g3
 * waits; g4 waits for the Once, and nobody has it. */
static void four_gs(struct leaks *l)
{
    struct hchan *c = obj(H_CHAN);
    leak_fresh(l, false);
    struct g *g1 = all_g(Grunning), *g2 = waits_at_chan(&c->recvq);
    struct g *g3 = waits_at_sema(&((struct smutex *)obj(H_MUTEX))->sema);
    struct g *g4 = waits_at_sema(&((struct once *)obj(H_ONCE))->m.sema);
    g1->pc = 1;
    g2->pc = F1 + 1;
    g3->pc = g4->pc = F2 + 1;
    g2->waitreason = waitReasonChanReceive;
    g3->waitreason = g4->waitreason = waitReasonSyncMutexLock;
    memset(leak_code_, 0, sizeof leak_code_);
    for (int i = 0; i < 3; i++)
        leak_code_[leak_funcs[i].end - 1].op = OP_RET;
    leak_code_[3] = (struct insn){.op = OP_SEND, .d = H_CHAN - 1};
    leak_code_[F1] = (struct insn){.op = OP_RECV, .d = H_CHAN - 1};
    leak_code_[F1 + 3] = (struct insn){.op = OP_UNLOCK, .d = H_MUTEX - 1};
    leak_code_[F2] = (struct insn){.op = OP_LOCK, .d = H_MUTEX - 1};
}

static void searches(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    four_gs(l);
    CHECK_EQ(leaks_trace(l), 2); /* g2, then g3 */
    CHECK_STR(woken(), "1 2 3");
    struct g *g1 = rt->allgs, *g4 = rt->allgs_tail;
    CHECK_EQ(leaks_trace(l), 2); /* the same once more */
    CHECK_STR(woken(), "1 2 3");
    for (int scan = 0; scan < 2; scan++) {
        a_store(&g1->atomicstatus, (uint32_t)Gdead | (scan ? (uint32_t)Gscan : 0));
        CHECK_EQ(leaks_trace(l), 0);
        CHECK_STR(woken(), "");
        a_store(&g1->atomicstatus, (uint32_t)Gdeadextra | (scan ? (uint32_t)Gscan : 0));
        CHECK_EQ(leaks_trace(l), 0);
        CHECK_STR(woken(), "");
    }
    a_store(&g1->atomicstatus, (uint32_t)Grunnable | Gscan);
    CHECK_EQ(leaks_trace(l), 2);
    l->handles = l->pools = true; /* then nothing can be told apart */
    CHECK_EQ(leaks_trace(l), 1);
    CHECK_STR(woken(), "1 2 3 4");
    l->handles = l->pools = false;
    rt->objs->pools = host_alloc(sizeof *rt->objs->pools, 16);
    struct g *g5 = waits_at_sema(&rt->objs->pools->allPoolsMu.sema);
    g5->waitreason = waitReasonSyncMutexLock;
    CHECK_EQ(leaks_trace(l), 2);
    CHECK_STR(woken(), "1 2 3 5");
    rt->fin = host_alloc(sizeof *rt->fin, 64);
    rt->fin->cached = host_alloc((size_t)rt->allp_cap * sizeof *rt->fin->cached, 64);
    rt->fin->finq = special_of(2, 0);
    leak_code_[F2 + 4] = (struct insn){.op = OP_ONCE, .d = H_ONCE - 1, .imm = 2};
    (void)leaks_trace(l);
    CHECK_STR(woken(), "1 2 3 4 5");
    (void)g4;
}

TEST_CASE(LeakRules, EachRoundFollowsWhoWasFoundInTheLast) { each_leak_world(26, searches); }

/* The verdict at the end of a run: main is no more, and a context that somebody is about to cancel
 * may be any. */
static void searches_at_end(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    four_gs(l);
    struct g *g1 = rt->allgs, *g2 = g1->alllink, *g3 = g2->alllink, *g4 = g3->alllink;
    l->verdict = true;
    g2->stranded = g3->stranded = g4->stranded = true;
    rt->main_g = g1;
    CHECK(!leak_is_suspect(l, g1, Grunning));
    CHECK(leak_is_suspect(l, g2, Gwaiting));
    (void)leaks_trace(l);
    CHECK_STR(woken(), "1 2 3");
    rt->main_returned = true;
    CHECK(leak_is_suspect(l, g1, Grunning));
    CHECK(!leak_is_suspect(l, all_g(Grunning), Grunning));
    rt->allgs_tail = g4;
    g4->alllink = NULL;
    (void)leaks_trace(l);
    CHECK_STR(woken(), "");
    rt->main_returned = false;
    leak_code_[0].op = OP_CTXCANCEL;
    (void)leaks_trace(l);
    CHECK_STR(woken(), "1 2 3 4");
    leak_code_[0].op = OP_NOP;
    struct timer *t = pending(goFunc, of_time(2, 0));
    leak_code_[F2 + 4] = (struct insn){.op = OP_ONCE, .d = H_ONCE - 1, .imm = 2};
    rt->main_returned = true;
    (void)leaks_trace(l);
    CHECK_STR(woken(), "3 4");
    CHECK(timer_stop(t));
}

TEST_CASE(LeakRules, AtTheEndMainIsNoMore) { each_leak_world(26, searches_at_end); }

/* A channel of a context, on which somebody waits who has its handle: a collection takes it for
 * reachable, the verdict only while an M is in the scheduler. */
static void channel_of_a_context(struct m *mp)
{
    struct leaks *l = leaks_new();
    struct hchan *c;
    (void)mp;
    leak_fresh(l, false);
    (void)chan_object(0, &c);
    struct g *gp = waits_at_chan(&c->recvq);
    gp->waitreason = waitReasonChanReceive;
    gp->stranded = true;
    l->contexts = true;
    rt->allm = host_alloc(sizeof *rt->allm, 64);
    for (int bits = 0; bits < 4; bits++) {
        l->verdict = bits & 1;
        a_init(&rt->allm->p, (bits & 2) != 0 ? rt->allp[0] : NULL);
        CHECK_EQ(leaks_trace(l), bits != 1);
        CHECK_EQ(gp->check_seen, bits != 1);
    }
}

TEST_CASE(LeakRules, TheRuntimesChannelsAreReachableInACollection)
{
    each_leak_world(27, channel_of_a_context);
}

/* ---- marking, and the profile ---- */

static void marks(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    if (!prof->leaked_status)
        return;
    CHECK(!leaks_more()); /* nobody asked */
    leaks_start();
    CHECK(c->leaks == NULL && !c->leak_enabled);
    a_store(&c->leak_pending, true);
    c->leak_rounds = 7;
    c->leak_done = true;
    leaks_start();
    CHECK(c->leak_enabled && !c->leak_done && !a_peek(&c->leak_pending));
    CHECK_EQ(c->leak_rounds, 0);
    four_gs(c->leaks);
    struct g *g4 = rt->allgs_tail, *g5 = all_g(Gwaiting);
    g5->waitreason = waitReasonSelectNoCases;
    rt->main_g = g5;
    int64_t left = a_peek(&c->remaining);
    for (int round = 1; round <= 3; round++) {
        CHECK_EQ(readgstatus(g4), Gwaiting);
        CHECK(leaks_more()); /* two rounds find somebody, the third says so */
        CHECK_EQ(c->leak_done, round == 3);
        CHECK_EQ(a_peek(&c->remaining), left + round * ROOT_BYTES_PER_G);
    }
    CHECK(!leaks_more());
    CHECK_EQ(readgstatus(g4), Gleaked);
    CHECK_EQ(readgstatus(g5), Gwaiting); /* main may wait for ever on purpose */
    CHECK_EQ(readgstatus(rt->allgs->alllink), Gwaiting);
    g5->waitreason = waitReasonChanReceiveNilChan;
    leaks_mark();
    CHECK_EQ(readgstatus(g5), Gleaked); /* not so */
    a_store(&c->leak_pending, true);
    leaks_start();
    CHECK_EQ(readgstatus(g4), Gwaiting); /* forgotten */
    rt->main_g = g4;
    g5->waitreason = waitReasonSelectNoCases;
    leaks_mark();
    CHECK_EQ(readgstatus(g5), Gleaked); /* not main */
}

TEST_CASE(LeakRules, TheLastRoundNamesWhoIsLeaked) { each_leak_world(26, marks); }

static void strands(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    rt->allm = host_alloc(sizeof *rt->allm, 64); /* computes, or sleeps */
    four_gs(l);
    struct g *g2 = rt->allgs->alllink, *g4 = rt->allgs_tail;
    CHECK_EQ(world_strand(/*stopped*/ false), 1);
    CHECK(g4->stranded && !g2->stranded);
    CHECK_EQ(world_strand(/*stopped*/ true), 0); /* os.Exit */
    rt->main_g = rt->allgs;
    rt->main_returned = true;
    CHECK_EQ(world_strand(/*stopped*/ true), 3);
    CHECK_EQ(world_strand(/*stopped*/ false), 3);
    a_store(&rt->allgs->atomicstatus, (uint32_t)Gdead);
    for (struct g *gp = g2; gp != NULL; gp = gp->alllink)
        gp->waitreason = waitReasonSleep; /* nobody waits for a goroutine */
    CHECK(!anybody_waits());
    CHECK_EQ(world_strand(/*stopped*/ true), 0);
    g4->waitreason = waitReasonChanSendNilChan; /* at nothing: in no queue */
    struct g *g5 = all_g(Gwaiting);
    g5->pc = F2 + 1;
    g5->waitreason = waitReasonChanSend; /* ... nor is this one: on its way out of one */
    CHECK(anybody_waits());
    CHECK_EQ(world_strand(/*stopped*/ true), 1);
    CHECK(g4->stranded && !g5->stranded);
}

TEST_CASE(LeakRules, WhoIsStrandedAtTheEnd) { each_leak_world(26, strands); }
