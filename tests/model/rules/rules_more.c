/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c that goes on where rules_left.c ends: queues, selects, who else is told,
 * what is due at this very nanosecond, traces, recorded programs. */

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

/* What a select has woken up with is used up; a receive comes after the close that ended it. */
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
