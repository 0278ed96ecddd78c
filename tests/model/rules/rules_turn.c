/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about turn.c: which instructions others can see and by which objects,
 * who is offered in which order, how who is chosen comes off its queue, what an answer does. */

/* ---- what an instruction does ---- */

enum { AT = 7, MADE_CHAN = 20, MADE, BY_REG = 2 };

/* A list of objects: handles, or the names of those that have none. */
static const char *objects_of(const struct turn_does *d)
{
    static const char *const names[] = {"", "all", "clock", "context", "output", "world"};
    static char text[256];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        int32_t o = d->object[i];
        const char *blank = i > 0 ? " " : "";
        at += (size_t)(o < 0 ? snprintf(text + at, sizeof text - at, "%s%s", blank, names[-o])
                             : snprintf(text + at, sizeof text - at, "%s%d", blank, (int)o));
    }
    return text;
}

/* Of what others can see: OP is a declared object d, or one by register (d = -1: R[c]); its handle
 * there; r reads, w writes, h: the second half; the objects. `all` is whatever it may be. */
static const struct {
    int op;
    int32_t d;
    int64_t reg;
    char kind;
    const char *objects;
} turn_rows[] = {
    {OP_SEND, 0, 0, 'w', "1"},
    {OP_RECV, 0, 0, 'w', "1"},
    {OP_RECV, -1, H_CHAN, 'w', "1"},
    {OP_RECV, -1, 0, 'w', ""}, /* nil */
    {OP_RECV, -1, -1, 'w', ""},
    {OP_RECV, -1, MADE_CHAN, 'w', "20 clock context"}, /* may be a timer's or a context's */
    {OP_RECV, -1, MADE + 2, 'w', ""},                  /* no such object yet */
    {OP_CLOSE, H_BUFFER - 1, 0, 'w', "10"},
    {OP_LEN, 0, 0, 'r', "1"},
    {OP_CAP, 0, 0, 'r', "1"},
    {OP_LEN, -1, MADE_CHAN, 'r', "20 clock context"},
    {OP_SELECT, 0, 0, 'w', "1 10"},
    {OP_SELECT, 0, H_CHAN, 'w', "1 10"}, /* each once */
    {OP_SELECT, 0, MADE_CHAN, 'w', "1 20 clock context 10"},
    {OP_LOCK, H_MUTEX - 1, 0, 'w', "2"},
    {OP_LOCK, -1, MADE, 'w', "21"},
    {OP_UNLOCK, H_MUTEX - 1, 0, 'w', "2"},
    {OP_TRYLOCK, H_MUTEX - 1, 0, 'w', "2"},
    {OP_RLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_RUNLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_WLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_WUNLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_TRYRLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_TRYWLOCK, H_RWMUTEX - 1, 0, 'w', "3"},
    {OP_WGADD, H_WAITGROUP - 1, 0, 'w', "4"},
    {OP_WGDONE, H_WAITGROUP - 1, 0, 'w', "4"},
    {OP_WGWAIT, H_WAITGROUP - 1, 0, 'w', "4"},
    {OP_CWAIT, H_COND - 1, 0, 'w', "2 5"}, /* it gives the lock up */
    {OP_CWAIT, H_CONDRW - 1, 0, 'w', "3 6"},
    {OP_CWAIT, -1, H_COND, 'w', "all 5"},
    {OP_CSIGNAL, H_COND - 1, 0, 'w', "5"},
    {OP_CBROADCAST, H_COND - 1, 0, 'w', "5"},
    {OP_ONCE, H_ONCE - 1, 0, 'w', "7"},
    {OP_ACQUIRE, H_SEMA - 1, 0, 'w', "8"},
    {OP_TRYACQUIRE, H_SEMA - 1, 0, 'w', "8"},
    {OP_RELEASE, H_SEMA - 1, 0, 'w', "8"},
    {OP_POOLGET, -1, MADE, 'w', "21"},
    {OP_POOLPUT, -1, MADE, 'w', "21"},
    {OP_TIMER, -1, 0, 'w', "clock"},
    {OP_TICKER, 0, 0, 'w', "clock"},
    {OP_AFTER, 0, 0, 'w', "clock"},
    {OP_TSTOP, -1, MADE, 'w', "21 clock"},
    {OP_TRESET, -1, MADE, 'w', "21 clock"},
    {OP_CHTIMER, H_BUFFER - 1, 0, 'w', "10 clock"},
    {OP_CHSTOP, H_BUFFER - 1, 0, 'w', "10 clock"},
    {OP_CHRESET, H_BUFFER - 1, 0, 'w', "10 clock"},
    {OP_CTXTMO, 0, 0, 'w', "context clock"},
    {OP_CTXCANCEL, -1, MADE, 'w', "context"},
    {OP_CTXERR, -1, MADE, 'r', "context"},
    {OP_FDREAD, -1, MADE, 'w', "21 clock"},
    {OP_FDWRITE, -1, MADE, 'w', "21 clock"},
    {OP_FDWAIT, -1, MADE, 'w', "21 clock"},
    {OP_FDDEADLINE, -1, MADE, 'w', "21 clock"},
    {OP_FDCLOSE, -1, MADE, 'w', "21 clock"},
    {OP_LOADP, H_VAR - 1, 0, 'r', "9"},
    {OP_LOADA, H_VAR - 1, 0, 'r', "9"},
    {OP_STOREP, H_VAR - 1, 0, 'w', "9"},
    {OP_STOREA, H_VAR - 1, 0, 'w', "9"},
    {OP_ADDA, H_VAR - 1, 0, 'w', "9"},
    {OP_SWAPA, H_VAR - 1, 0, 'w', "9"},
    {OP_CASA, H_VAR - 1, 0, 'w', "9"},
    {OP_CASA, -1, H_VAR, 'w', "9"},
    {OP_GO, 0, 0, 'w', "world"},
    {OP_GOMAXPROCS, 0, 0, 'w', "world"},
    {OP_GC, 0, 0, 'w', "world"},
    {OP_READMEM, 0, 0, 'w', "world"},
    {OP_LEAKS, 0, 0, 'w', "world"},
    {OP_NUMGOROUTINE, 0, 0, 'r', "world"},
    {OP_PRINT, 0, 0, 'w', "output"},
    {OP_EXIT, 0, 0, 'w', "all"},
};

static struct object_decl turn_decls[H_DECLARED - 1];

static struct turn_does look_at(struct g *gp)
{
    struct turn t = {.count = 2, .g = {NULL, gp}};
    struct turn_does d = {.turn = 77, .count = 3, .known = true, .reads = true};
    turn_look(&t, 1, &d);
    CHECK_EQ(d.turn, 0);
    CHECK_EQ(d.goid, gp->goid);
    return d;
}

static struct g *at_insn(struct insn in)
{
    struct g *gp = runnable();
    leak_code_[AT] = in;
    gp->pc = AT;
    return gp;
}

static void make_objects(void)
{
    while (rt->objs->made < MADE_CHAN - 1)
        (void)object_add(makechan(0), OBJ_MUTEX);
    (void)object_add(makechan(0), OBJ_CHAN);
    (void)object_add(makechan(0), OBJ_MUTEX); /* 21 is what the row says it is: no channel */
}

static void sees(struct m *mp)
{
    bool listed[OPS] = {false};
    (void)mp;
    make_objects();
    for (size_t i = 0; i < sizeof turn_rows / sizeof *turn_rows; i++) {
        int op = turn_rows[i].op;
        struct g *gp = at_insn((struct insn){.op = (uint8_t)op,
                                             .c = op == OP_CASA ? 1 : BY_REG,
                                             .imm = BY_REG,
                                             .d = turn_rows[i].d});
        regs(gp)[op == OP_SELECT ? 0 : BY_REG] = turn_rows[i].reg;
        regs(gp)[op == OP_CASA ? 1 : 3] = H_MUTEX;
        struct turn_does d = look_at(gp);
        CHECK_EQ(d.op, op);
        CHECK_EQ(d.pc, AT);
        CHECK(d.known && !d.resumes);
        CHECK_EQ(d.reads ? 'r' : 'w', turn_rows[i].kind);
        CHECK_STR(objects_of(&d), turn_rows[i].objects);
        listed[op] = true;
    }
    turn_decls[0].param = H_VAR - 1; /* the first object is one as well */
    struct turn_does first = {0};
    turn_cond_lock(&first, &(struct insn){.op = OP_CWAIT, .d = 0});
    CHECK_STR(objects_of(&first), "9");
    for (int op = 0; op < OPS; op++) { /* nobody else's business: not known, and no object */
        if (listed[op])
            continue;
        struct turn_does d = look_at(at_insn((struct insn){.op = (uint8_t)op, .d = 0}));
        CHECK(!d.known && !d.reads && !d.resumes);
        CHECK_EQ(d.count, 0);
    }
}

static void each_turn_world(int first, void (*fn)(struct m *))
{
    struct program was = leak_program;
    memcpy(turn_decls, leak_objects, sizeof turn_decls);
    turn_decls[H_CONDRW - 1].param += COND_RLOCKER;
    leak_program.objects = turn_decls;
    each_leak_world(first, fn);
    leak_program = was;
}

TEST_CASE(TurnRules, AnInstructionIsKnownByItsObjects) { each_turn_world(26, sees); }

/* The second half of a send or receive, and of main, concerns nobody; any other does. */
static void sees_halves(struct m *mp)
{
    (void)mp;
    for (int step = 1; step < STEPS; step++)
        for (int deep = 0; deep <= 1; deep++) {
            bool local = !deep && (step == STEP_chansend || step == STEP_chanrecv ||
                                   step == STEP_mainReturns);
            struct g *gp = at_insn((struct insn){.op = OP_LOCK, .d = H_MUTEX - 1});
            gp->pc = AT + 1;
            gp->nkont = (uint8_t)(1 + deep);
            gp->kont[0] = STEP_burst;
            gp->kont[deep] = (uint8_t)step;
            CHECK_EQ(turn_is_local(gp), local);
            struct turn_does d = look_at(gp);
            CHECK(d.resumes);
            CHECK_EQ(d.pc, AT);
            CHECK_EQ(d.op, OP_LOCK);
            CHECK_EQ(d.known, !local);
            CHECK_STR(objects_of(&d), local ? "" : "2");
            leak_code_[AT].op = OP_RET; /* the end of a goroutine is everybody's */
            d = look_at(gp);
            CHECK(d.known);
            CHECK_STR(objects_of(&d), "all");
        }
    struct g *gp = at_insn((struct insn){.op = OP_LOCK});
    CHECK(turn_is_local(gp));
}

TEST_CASE(TurnRules, ASecondHalfMayBeNobodysBusiness) { each_turn_world(27, sees_halves); }

static void sees_system(struct m *mp)
{
    (void)mp;
    for (int i = 0; i < 2; i++) {
        struct g *gp = at_insn((struct insn){.op = OP_LOCK, .d = H_MUTEX - 1});
        if (i == 0)
            gp->func = -1;
        else
            gp->system = SYSTEM_ALWAYS;
        struct turn_does d = look_at(gp);
        CHECK(!d.known && !d.reads && !d.resumes);
        CHECK_EQ(d.op, OP_NOP);
        CHECK_STR(objects_of(&d), "all");
    }
}

TEST_CASE(TurnRules, TheRuntimesGoroutinesMayDoAnything) { each_turn_world(27, sees_system); }

static void has_room_for_objects(struct m *mp)
{
    struct turn_does d = {0};
    (void)mp;
    for (int i = 1; i <= TURN_OBJECTS_MAX; i++)
        for (int again = 0; again < 2; again++)
            turn_object(&d, i);
    CHECK_STR(objects_of(&d), "1 2 3 4 5 6 7 8");
    turn_object(&d, TURN_OBJECTS_MAX);
    CHECK_STR(objects_of(&d), "1 2 3 4 5 6 7 8");
    turn_object(&d, TURN_OBJECTS_MAX + 1);
    CHECK_STR(objects_of(&d), "all");
    turn_object(&d, 2); /* only what it counts is there */
    CHECK_STR(objects_of(&d), "all 2");
}

TEST_CASE(TurnRules, TooManyObjectsAreAll) { each_turn_world(27, has_room_for_objects); }

/* ---- who is offered ---- */

enum { RINGS = 3, GLOBALS = 3 };
static struct g *in_next, *in_ring[RINGS], *in_global[GLOBALS];

/* One in runnext, three in the ring, whose counters wrap, three in the global queue. */
static void fill_queues(struct p *pp)
{
    start_at(pp, UINT32_MAX - 1);
    for (int i = 0; i < RINGS; i++)
        runqput(pp, in_ring[i] = runnable(), false);
    runqput(pp, in_next = runnable(), true);
    lock(&sched->lock);
    for (int i = 0; i < GLOBALS; i++)
        globrunqput(in_global[i] = runnable());
    unlock(&sched->lock);
}

static void empty_queues(struct p *pp)
{
    bool inherit;
    while (runqget(pp, &inherit) != NULL)
        ;
    sched->runq = (struct gQueue){0};
    globrunq_resized();
}

static void collects(struct m *mp)
{
    struct p *pp = mp_p(mp);
    static struct turn t;
    struct g *first = g_of(Grunning);
    fill_queues(pp);
    turn_collect(&t, pp, first);
    struct g *want[] = {first,      in_next,      in_ring[0],   in_ring[1],
                        in_ring[2], in_global[0], in_global[1], in_global[2]};
    CHECK_EQ(t.count, 8);
    for (uint32_t i = 0; i < t.count; i++) {
        CHECK(t.g[i] == want[i]);
        CHECK_EQ(t.goid[i], want[i]->goid);
    }
    turn_collect(&t, pp, in_ring[1]); /* once */
    CHECK_EQ(t.count, 7);
    CHECK(t.g[0] == in_ring[1] && t.g[1] == in_next && t.g[3] == in_ring[2]);
    turn_collect(&t, pp, NULL);
    CHECK_EQ(t.count, 7);
    CHECK(t.g[0] == in_next);
    CHECK(turn_system(&t) == NULL);
    in_next->system = SYSTEM_ALWAYS; /* also who is first */
    CHECK(turn_system(&t) == in_next);
    lock(&sched->lock);
    for (int i = 0; i < TURN_MAX; i++)
        globrunqput(runnable());
    unlock(&sched->lock);
    turn_collect(&t, pp, NULL);
    CHECK_EQ(t.count, TURN_MAX);
    empty_queues(pp);
}

TEST_CASE(TurnRules, AllWhoAreRunnableAreOfferedInTheOrderOfTheScheduler)
{
    each_turn_world(27, collects);
}

/* ---- off a queue ---- */

static uint32_t queued(struct p *pp)
{
    static struct turn t;
    turn_collect(&t, pp, NULL);
    return t.count;
}

static void dequeues(struct m *mp)
{
    struct p *pp = mp_p(mp);
    static struct turn t;
    for (uint32_t i = 0; i < 1 + RINGS + GLOBALS; i++) {
        fill_queues(pp);
        turn_collect(&t, pp, NULL);
        struct g *gp = t.g[i];
        CHECK(turn_dequeue(pp, gp) == gp);
        CHECK_EQ(gp->owner, mp->id + 1);
        CHECK(gp->schedlink == NULL);
        CHECK_EQ(a_peek(&pp->runnext) == NULL, i == 0);
        CHECK_EQ(ring_size(pp), i >= 1 && i <= RINGS ? RINGS - 1 : RINGS);
        CHECK_EQ(sched->runq.size, i > RINGS ? GLOBALS - 1 : GLOBALS);
        CHECK_EQ(a_peek(&sched->runqsize), sched->runq.size);
        for (uint32_t k = i; k + 1 < t.count; k++) /* the others, in their order */
            t.g[k] = t.g[k + 1];
        struct turn left;
        turn_collect(&left, pp, NULL);
        CHECK_EQ(left.count, t.count - 1);
        for (uint32_t k = 0; k < left.count; k++)
            CHECK(left.g[k] == t.g[k]);
        lock(&sched->lock); /* whoever comes now is the last */
        globrunqput(gp);
        unlock(&sched->lock);
        turn_collect(&left, pp, NULL);
        CHECK(left.g[left.count - 1] == gp);
        empty_queues(pp);
    }
}

TEST_CASE(TurnRules, WhoIsChosenComesOffItsQueue) { each_turn_world(27, dequeues); }

/* ---- questions ---- */

enum { ANSWERS = 4 };
static int32_t answers[ANSWERS];
static uint32_t offered[ANSWERS];
static bool preempts[ANSWERS];
static struct g *first_offered[ANSWERS];
static int nasked, ntold;
static struct turn_does told_last;

static int32_t asked(struct turn *t)
{
    CHECK_LT(nasked, ANSWERS);
    CHECK(t->look == turn_look);
    offered[nasked] = t->count;
    preempts[nasked] = t->preempts;
    first_offered[nasked] = t->g[0];
    return answers[nasked++];
}

static void told(struct turn *t)
{
    ntold++;
    CHECK_EQ(t->count, 1);
    t->look(t, 0, &told_last);
}

static uint32_t ndraws;

static uint32_t drawn(uint32_t n)
{
    ndraws++;
    return n - 1;
}

static void draws_cases(struct m *mp)
{
    (void)mp;
    ndraws = 0;
    CHECK_EQ(turn_select(0), 0);
    CHECK_EQ(turn_select(1), 0); /* no question */
    CHECK_EQ(ndraws, 0);
    CHECK_EQ(turn_select(2), 1);
    CHECK_EQ(turn_select(5), 4);
    CHECK_EQ(ndraws, 2);
}

TEST_CASE(TurnRules, OneCaseThatCanGoIsNoQuestion) { each_turn_world(27, draws_cases); }

static void answer(int32_t first, int32_t second)
{
    answers[0] = first;
    answers[1] = second;
    nasked = ntold = turn_settles = 0;
}

static void takes(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *stay = g_of(Grunning);
    answer(0, 0);
    CHECK(turn_take(pp) == NULL); /* nobody: no question */
    CHECK_EQ(nasked, 0);
    fill_queues(pp);
    answer(3, 0);
    CHECK(turn_take(pp) == in_ring[2]);
    CHECK(nasked == 1 && offered[0] == 7 && !preempts[0]);
    CHECK_EQ(turn_settles, 1); /* what the world knows by then is known before the question */
    CHECK(rt->turns.chosen);
    /* no answer: the clock goes on, and it is asked again */
    rt->turns.stay = in_ring[1];
    answer(TURN_CLOCK, 0);
    CHECK(turn_take(pp) == in_ring[1]);
    CHECK(nasked == 2 && preempts[0] && preempts[1]); /* who stays is still the first */
    CHECK(first_offered[0] == in_ring[1] && first_offered[1] == in_ring[1]);
    CHECK(rt->turns.stay == NULL);
    /* who was chosen while another one ran is no question, the runtime's come before him */
    rt->turns.next = in_global[1];
    rt->turns.stay = in_global[2];
    in_ring[0]->system = SYSTEM_ALWAYS;
    answer(0, 0);
    rt->turns.next = in_global[1];
    CHECK(turn_take(pp) == in_ring[0]);
    CHECK(rt->turns.next == NULL);
    CHECK(rt->turns.stay == in_global[2]);
    rt->turns.next = in_global[1];
    CHECK(turn_take(pp) == in_global[1]);
    CHECK_EQ(nasked, 0);
    /* a second half is asked about again before the next instruction */
    in_next->nkont = 1;
    in_next->kont[0] = STEP_mutexLock;
    rt->turns.next = in_next;
    CHECK(turn_take(pp) == in_next);
    CHECK(!rt->turns.chosen);
    rt->turns.stay = NULL;
    (void)stay;
    empty_queues(pp);
}

TEST_CASE(TurnRules, WhoIsNextIsAsked) { each_turn_world(27, takes); }

static void gives_way(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *gp = at_insn((struct insn){.op = OP_LOCK, .d = H_MUTEX - 1});
    const struct insn *in = &leak_code_[AT], plain = {.op = OP_ADD};
    fill_queues(pp);
    answer(0, 0);
    by_turns = false;
    CHECK(!turn_gives_way(gp, in));
    by_turns = true;
    CHECK(!turn_gives_way(gp, &plain)); /* nobody sees it */
    CHECK_EQ(nasked, 0);
    rt->turns.chosen = true; /* it was its turn: once */
    the_turn.look = NULL;
    CHECK(!turn_gives_way(gp, in));
    CHECK(nasked == 0 && ntold == 1 && !rt->turns.chosen);
    CHECK_EQ(told_last.goid, gp->goid);
    CHECK_STR(objects_of(&told_last), "2");
    CHECK(!turn_gives_way(gp, in)); /* it goes on */
    CHECK(nasked == 1 && ntold == 1 && offered[0] == 8 && preempts[0]);
    CHECK(rt->turns.next == NULL && rt->turns.stay == NULL);
    answer(2, 0);
    CHECK(turn_gives_way(gp, in));
    CHECK(rt->turns.next == in_ring[0] && rt->turns.stay == NULL);
    rt->turns.next = NULL;
    answer(TURN_CLOCK, 0);
    CHECK(turn_gives_way(gp, in));
    CHECK(rt->turns.next == NULL && rt->turns.stay == gp);
    rt->turns.stay = NULL;
    answer(0, 0);
    in_ring[1]->system = SYSTEM_ALWAYS; /* runs first, and is no question */
    CHECK(turn_gives_way(gp, in));
    CHECK(nasked == 0 && rt->turns.stay == gp);
    in_ring[1]->system = SYSTEM_NOT;
    rt->turns.stay = NULL;
    /* the end of main: what others do before it counts */
    rt->turns.chosen = true;
    CHECK(!turn_gives_way_at_end(gp));
    CHECK(nasked == 0 && !rt->turns.chosen);
    CHECK(!turn_gives_way_at_end(gp));
    CHECK_EQ(nasked, 1);
    answer(1, 0);
    CHECK(turn_gives_way_at_end(gp));
    CHECK(rt->turns.next == in_next);
    rt->turns.next = NULL;
    by_turns = false;
    CHECK_EQ(queued(pp), 7); /* nobody came off a queue */
    empty_queues(pp);
}

TEST_CASE(TurnRules, WhoRunsIsAskedBeforeWhatOthersSee) { each_turn_world(27, gives_way); }

/* Time has passed: timers that are due run, and who waits for a descriptor that is ready goes on.
 */
static void passes_time(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct pollDesc *pd = desc();
    if (!prof->injectglist_local)
        return; /* another M takes it at once */
    netpollGenericInit();
    a_store(&pd->open, 1u);
    a_store(&sched->npidle, 0); /* nobody else is started for it */
    a_store(&sched->nmspinning, 1);
    uint64_t polls = mp->counters[C_netpolls];
    turn_time_passed(pp); /* nobody waits: nobody looks */
    CHECK_EQ(mp->counters[C_netpolls], polls);
    struct g *gp = parks_at(pd, POLL_R);
    int32_t before = waiters();
    set_events(1, &(struct poll_event){.fd = pd->fd, .mode = POLL_R});
    turn_time_passed(pp);
    CHECK_EQ(mp->counters[C_netpolls], polls + 1);
    CHECK_EQ(waited_ns, 0); /* without waiting */
    CHECK_EQ(waiters(), prof->netpoll_delta ? before - 1 : before);
    CHECK_EQ(readgstatus(gp), Grunnable);
    CHECK_EQ(queued(pp), 1);
    empty_queues(pp);
}

TEST_CASE(TurnRules, WhoWaitsForADescriptorGoesOnWhenTimeHasPassed)
{
    each_turn_world(14, passes_time);
}
