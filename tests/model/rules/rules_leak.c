/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about leak.c: what code and which objects a search comes to, who waits
 * there, who is a suspect. A world with one object of each kind; what is found is compared as a
 * whole, bit by bit. */

/* Handles of the objects that the program declares. */
enum {
    H_CHAN = 1,
    H_MUTEX,
    H_RWMUTEX,
    H_WAITGROUP,
    H_COND,   /* over H_MUTEX */
    H_CONDRW, /* over H_RWMUTEX */
    H_ONCE,
    H_SEMA,
    H_VAR,
    H_BUFFER, /* a channel of two */
    H_DECLARED
};
static const struct object_decl leak_objects[] = {
    {"", 0, OBJ_CHAN},      {"", 0, OBJ_MUTEX},          {"", 0, OBJ_RWMUTEX},
    {"", 0, OBJ_WAITGROUP}, {"", H_MUTEX - 1, OBJ_COND}, {"", H_RWMUTEX - 1, OBJ_COND},
    {"", 0, OBJ_ONCE},      {"", 1, OBJ_SEMA},           {"", 0, OBJ_VAR},
    {"", 2, OBJ_CHAN},
};

enum { LEAK_CODE = 1000, F0 = 0, F1 = 40, F2 = 60, F_END = 80 };
static struct insn leak_code_[LEAK_CODE + 1]; /* of which the program has LEAK_CODE, or less */
static const struct func leak_funcs[] = {
    {"f0", F0, F1, 3, 0, 0},
    {"f1", F1, F2, 3, 0, 0},
    {"f2", F2, F_END, 3, 0, 0},
    {"none", F_END, F_END + 1, 3, 0, 0}, /* behind the last */
};
static const struct select_case leak_cases[] = {
    {H_MUTEX - 1, 0, 0, false}, /* of no select */
    {H_CHAN - 1, 0, 0, false},   {OBJ_REG, 0, 0, false},
    {H_BUFFER - 1, 0, 0, false}, {H_SEMA - 1, 0, 0, false}, /* of no select */
};
static const struct select_table leak_selects[] = {{1, 3, false}};
static struct program leak_program = {
    .code = leak_code_,
    .ncode = LEAK_CODE,
    .funcs = leak_funcs,
    .nfuncs = 3,
    .objects = leak_objects,
    .nobjects = H_DECLARED - 1,
    .selects = leak_selects,
    .nselects = 1,
    .cases = leak_cases,
    .ncases = 4,
};

static void each_leak_world(int first, void (*fn)(struct m *))
{
    world_program = &leak_program;
    for (int release = first; release <= 27; release++) {
        memset(leak_code_, 0, sizeof leak_code_); /* NOPs */
        world(release, PROCS, &(struct host_opts){0}, fn);
    }
    world_program = NULL;
}

static void leak_fresh(struct leaks *l, bool handles)
{
    l->handles = handles;
    leaks_reset(l);
    rt->allgs = rt->allgs_tail = NULL;
}

/* ---- sets as text: "1 4 77" ---- */

static const char *set_of(const uint64_t *bits, int64_t n)
{
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (int64_t i = 0; i < n; i++)
        if ((bits[i / 64] >> (i % 64) & 1) != 0)
            at += (size_t)snprintf(text + at, sizeof text - at, at > 0 ? " %d" : "%d", (int)i);
    return text;
}

static void finds(const struct leaks *l, const char *code, const char *objects)
{
    CHECK_STR(set_of(l->code, LEAK_CODE + 24), code);
    CHECK_STR(set_of(l->objects, 64), objects);
}

/* A G that waits at an object. */
static struct g *all_g(uint32_t status)
{
    struct g *gp = g_of(status);
    gp->func = 0;
    if (rt->allgs == NULL)
        rt->allgs = gp;
    else
        rt->allgs_tail->alllink = gp;
    rt->allgs_tail = gp;
    return gp;
}

static struct sudog *waiter(void)
{
    struct sudog *s = host_alloc(sizeof *s, 16);
    s->g = all_g(Gwaiting);
    return s;
}

static struct g *waits_at_sema(semaword *addr)
{
    struct sudog *s = waiter();
    sema_queue(rootFor(addr), addr, s, false);
    return s->g;
}

static struct g *waits_at_list(struct sudog **head)
{
    struct sudog *s = waiter();
    s->next = *head;
    *head = s;
    return s->g;
}

static struct g *waits_at_chan(struct waitq *q)
{
    struct sudog *s = waiter();
    waitq_enqueue(q, s);
    return s->g;
}

static void *obj(int64_t handle) { return object_at((uint64_t)handle)->p; }

/* The goids of the Gs that were found. */
static const char *woken(void)
{
    static char text[256];
    size_t at = 0;
    text[0] = 0;
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (gp->check_seen)
            at += (size_t)snprintf(text + at, sizeof text - at, at > 0 ? " %d" : "%d",
                                   (int)gp->goid);
    return text;
}

/* ---- the sets themselves ---- */

static void sets_bits(struct m *mp)
{
    uint64_t bits[4];
    (void)mp;
    for (int64_t i = 0; i < 256; i++) {
        char want[8];
        memset(bits, 0, sizeof bits);
        snprintf(want, sizeof want, "%d", (int)i);
        CHECK(bit_set(bits, i));
        CHECK(!bit_set(bits, i));
        CHECK_STR(set_of(bits, 256), want);
    }
}

TEST_CASE(LeakRules, ABitIsSetOnce) { each_leak_world(27, sets_bits); }

/* What comes behind the arrays in memory stays as it is, whatever is marked. */
static void has_room(struct m *mp)
{
    enum { GUARD = 64 };
    struct leaks *l = leaks_new();
    unsigned char *guard = host_alloc(GUARD, 1);
    (void)mp;
    memset(guard, 0x5a, GUARD);
    for (int round = 0; round < 3; round++) {
        while (rt->objs->made < 64 * (round + 1) * (round + 1))
            (void)object_add(NULL, OBJ_FD);
        l->ntodo = 5;
        l->fresh = g_of(Gdead);
        leaks_reset(l);
        unsigned char *behind = host_alloc(GUARD, 1);
        memset(behind, 0x5a, GUARD);
        CHECK_EQ(l->ntodo, 0);
        CHECK(l->fresh == NULL);
        CHECK_STR(set_of(l->code, LEAK_CODE), "");
        CHECK_STR(set_of(l->objects, rt->objs->made + 1), "");
        for (uint32_t pc = 0; pc <= LEAK_CODE; pc++) { /* the last is none */
            leak_code(l, pc);
            leak_code(l, pc);
        }
        CHECK_EQ(l->ntodo, LEAK_CODE);
        for (uint32_t i = 0; i < LEAK_CODE; i++)
            CHECK_EQ(l->todo[i], i);
        for (int64_t h = 1; h <= rt->objs->made; h++)
            CHECK(bit_set(l->objects, h));
        leaks_reset(l); /* in place: nothing new is made */
        CHECK_STR(set_of(l->code, LEAK_CODE), "");
        CHECK_STR(set_of(l->objects, rt->objs->made + 1), "");
        for (int i = 0; i < GUARD; i++)
            CHECK(guard[i] == 0x5a && behind[i] == 0x5a);
    }
}

TEST_CASE(LeakRules, ThereIsRoomForAllCodeAndObjects) { each_leak_world(27, has_room); }

/* ---- what a program has at all ---- */

static const struct {
    struct insn in;
    bool handles, pools, contexts, timers;
} features[] = {
    {{.op = OP_NOP}, 0, 0, 0, 0},
    {{.op = OP_SEND, .d = OBJ_REG}, 1, 0, 0, 0},
    {{.op = OP_SEND, .d = 0}, 0, 0, 0, 0},
    {{.op = OP_TIMER, .d = -1}, 0, 0, 0, 0},
    {{.op = OP_TIMER, .d = 0}, 0, 0, 0, 1},
    {{.op = OP_TIMER, .d = 1}, 0, 0, 0, 1},
    {{.op = OP_PANIC, .d = -1}, 0, 0, 0, 0},
    {{.op = OP_CPU, .d = -1}, 0, 0, 0, 0},
    {{.op = OP_POOLGET, .d = 0}, 0, 1, 0, 0},
    {{.op = OP_POOLPUT, .d = 0}, 0, 1, 0, 0},
    {{.op = OP_POOLPUT, .d = OBJ_REG}, 1, 1, 0, 0},
    {{.op = OP_CTXNEW}, 0, 0, 1, 0},
    {{.op = OP_CTXTMO}, 0, 0, 1, 0},
};

static void looks_at_code(struct m *mp)
{
    (void)mp;
    leak_program.ncases = 2; /* none by handle */
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        for (uint32_t pc = 0; pc < 2; pc++) {
            leak_program.ncode = 2;
            memset(leak_code_, 0, sizeof leak_code_);
            leak_code_[pc] = features[i].in;
            leak_code_[2] = (struct insn){.op = OP_POOLPUT, .d = OBJ_REG}; /* of no program */
            const struct leaks *l = leaks_new();
            CHECK_EQ(l->handles, features[i].handles);
            CHECK_EQ(l->pools, features[i].pools);
            CHECK_EQ(l->contexts, features[i].contexts);
            CHECK_EQ(l->timer_funcs, features[i].timers);
        }
    memset(leak_code_, 0, sizeof leak_code_);
    for (uint32_t n = 0; n <= 4; n++) {
        leak_program.ncases = n;
        CHECK_EQ(leaks_new()->handles, n > 2);
    }
    leak_program.cases = leak_cases + 2;
    leak_program.ncases = 1; /* the first of all */
    CHECK(leaks_new()->handles);
    leak_program.cases = leak_cases;
    leak_program.ncode = LEAK_CODE;
    struct leaks *l = leaks_new();
    for (int bits = 0; bits < 4; bits++) {
        l->handles = bits & 1;
        l->pools = bits & 2;
        leaks_reset(l);
        CHECK_EQ(l->everything, bits == 3);
    }
}

TEST_CASE(LeakRules, WhatAProgramHasIsReadOffItsCode) { each_leak_world(27, looks_at_code); }

/* ---- instructions ---- */

static const struct {
    uint32_t pc;
    struct insn in;
    const char *code, *objects;
} reaches[] = {
    {3, {.op = OP_NOP}, "4", ""},
    {0, {.op = OP_NOP}, "1", ""},
    {LEAK_CODE - 1, {.op = OP_NOP}, "", ""},
    {3, {.op = OP_JMP, .d = 7}, "7", ""},
    {3, {.op = OP_JMP, .d = 0}, "0", ""},
    {3, {.op = OP_JZ, .d = 7}, "4 7", ""},
    {3, {.op = OP_LOOP, .d = 1}, "1 4", ""},
    {3, {.op = OP_RET, .d = 0}, "", ""},
    {3, {.op = OP_CALL, .d = 0}, "0 4", ""},
    {3, {.op = OP_CALL, .d = 1}, "4 40", ""},
    {3, {.op = OP_CALL, .d = 2}, "4 60", ""},
    {3, {.op = OP_GO, .d = 2}, "4 60", ""},
    {3, {.op = OP_DEFER, .d = 1}, "4 40", ""},
    {3, {.op = OP_TIMER, .d = -1}, "4", ""},
    {3, {.op = OP_TIMER, .d = 1}, "4 40", ""},
    {3, {.op = OP_SEND, .d = H_CHAN - 1}, "4", "1"},
    {3, {.op = OP_RECV, .d = H_BUFFER - 1}, "4", "10"},
    {3, {.op = OP_SEND, .d = OBJ_REG}, "4", ""},
    {3, {.op = OP_UNLOCK, .d = H_MUTEX - 1}, "4", "2"},
    {3, {.op = OP_LOADP, .d = H_VAR - 1}, "4", "9"},
    {3, {.op = OP_SELECT, .d = 0}, "4", "1 10"},
    {3, {.op = OP_ONCE, .d = H_ONCE - 1, .imm = 2}, "4 60", "7"},
    {3, {.op = OP_ONCE, .d = H_ONCE - 1, .imm = 0}, "0 4", "7"},
    {3, {.op = OP_ACQUIRE, .d = H_SEMA - 1, .imm = 2}, "4", "8"},
    {3, {.op = OP_CONST, .imm = H_SEMA}, "4", "8"},
    {3, {.op = OP_CONST, .imm = 0}, "4", ""},
    {3, {.op = OP_CONST, .imm = -1}, "4", ""},
    {3, {.op = OP_CONST, .imm = H_DECLARED}, "4", ""},
    {3, {.op = OP_ADDI, .imm = H_SEMA}, "4", ""},
    {3, {.op = OP_PRINT, .d = 0}, "4", ""},
    {3, {.op = OP_CPU, .d = 2}, "4", ""},
    {3, {.op = OP_SWITCH, .imm = 0}, "4", ""},
    {3, {.op = OP_SWITCH, .imm = 3}, "4 5 6 7", ""}, /* its three jumps, and what is behind them */
    {3, {.op = OP_TAPE}, "4", "1 2 3 4 5 6 7 8 9 10"},
};

static void follows(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    int64_t more = object_add(makechan(0), OBJ_CHAN); /* the program's own are declared */
    CHECK_EQ(more, H_DECLARED);
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
        if (reaches[i].in.op == OP_CONST && reaches[i].in.imm == more)
            continue;
        memset(leak_code_, 0, sizeof leak_code_);
        leak_code_[reaches[i].pc] = reaches[i].in;
        leak_fresh(l, /*handles*/ true);
        leak_insn(l, reaches[i].pc);
        finds(l, reaches[i].code, reaches[i].objects);
    }
    leak_code_[3] = (struct insn){.op = OP_CONST, .imm = H_SEMA};
    leak_fresh(l, /*handles*/ false);
    leak_insn(l, 3);
    finds(l, "4", "");
    for (int64_t func = -1; func <= 3; func++) {
        static const char *const entries[] = {"", "0", "40", "60", ""};
        leak_fresh(l, false);
        leak_func(l, func);
        finds(l, entries[func + 1], "");
    }
}

TEST_CASE(LeakRules, AnInstructionReachesWhatItNamesAndWhatIsNext) { each_leak_world(26, follows); }

static void follows_all(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_code_[5] = (struct insn){.op = OP_JZ, .d = 9};
    leak_code_[6] = (struct insn){.op = OP_SEND, .d = H_CHAN - 1};
    leak_code_[7] = (struct insn){.op = OP_RET};
    leak_code_[9] = (struct insn){.op = OP_CALL, .d = 1};
    leak_code_[10] = (struct insn){.op = OP_JMP, .d = 9};
    leak_code_[F1] = (struct insn){.op = OP_LOCK, .d = H_MUTEX - 1};
    leak_code_[F1 + 1] = (struct insn){.op = OP_RET};
    leak_fresh(l, false);
    leak_follow(l); /* nothing to do */
    finds(l, "", "");
    leak_code(l, 5);
    leak_follow(l);
    finds(l, "5 6 7 9 10 40 41", "1 2");
    CHECK_EQ(l->ntodo, 0);
}

TEST_CASE(LeakRules, AllThatControlMayComeToIsFollowed) { each_leak_world(27, follows_all); }

/* ---- objects ---- */

static void leak_look_anew(struct leaks *l)
{
    leaks_reset(l);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->check_seen = false;
}

static void looks_at(struct leaks *l, int64_t handle, const char *want_woken, const char *objects)
{
    leak_look_anew(l);
    leak_object(l, handle);
    leak_object(l, handle); /* once is enough, and twice is no more */
    CHECK_STR(woken(), want_woken);
    CHECK_STR(set_of(l->objects, 64), objects);
    int n = 0;
    for (const struct g *gp = l->fresh; gp != NULL; gp = gp->schedlink)
        n += gp->check_seen;
    for (const struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        n -= gp->check_seen;
    CHECK_EQ(n, 0); /* each found one is on the list of this round, once */
}

static void finds_waiters(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_fresh(l, true);
    struct hchan *c = obj(H_CHAN), *b = obj(H_BUFFER);
    struct smutex *mu = obj(H_MUTEX);
    struct rwmutex *rw = obj(H_RWMUTEX);
    (void)waits_at_chan(&c->recvq); /* 1, and so on: each Gs number is what it waits for */
    (void)waits_at_chan(&c->recvq);
    (void)waits_at_chan(&c->sendq); /* 3 */
    (void)waits_at_sema(&mu->sema);
    (void)waits_at_sema(&mu->sema);   /* 5 */
    (void)waits_at_sema(&rw->w.sema); /* 6 */
    (void)waits_at_sema(&rw->writerSem);
    (void)waits_at_sema(&rw->readerSem);                                /* 8 */
    (void)waits_at_sema(&((struct waitgroup *)obj(H_WAITGROUP))->sema); /* 9 */
    (void)waits_at_list(&((struct cond *)obj(H_COND))->notify.head);
    (void)waits_at_list(&((struct cond *)obj(H_CONDRW))->notify.head); /* 11 */
    (void)waits_at_sema(&((struct once *)obj(H_ONCE))->m.sema);        /* 12 */
    (void)waits_at_list(&((struct weighted *)obj(H_SEMA))->head);      /* 13 */
    (void)waits_at_chan(&b->sendq);                                    /* 14 */
    looks_at(l, H_CHAN, "1 2 3", "1");
    looks_at(l, H_MUTEX, "4 5", "2");
    looks_at(l, H_RWMUTEX, "6 7 8", "3");
    looks_at(l, H_WAITGROUP, "9", "4");
    looks_at(l, H_COND, "4 5 10", "5");
    looks_at(l, H_CONDRW, "6 7 8 11", "6");
    looks_at(l, H_ONCE, "12", "7");
    looks_at(l, H_SEMA, "13", "8");
    looks_at(l, H_VAR, "", "9");
    looks_at(l, H_BUFFER, "14", "10");
    looks_at(l, 0, "", "");
    looks_at(l, -1, "", "");
    looks_at(l, H_DECLARED, "", "");
    looks_at(l, INT64_MAX, "", "");
    a_init(&((struct var *)obj(H_VAR))->v, (uint64_t)H_MUTEX);
    looks_at(l, H_VAR, "4 5", "2 9");
    b->buf[0] = H_ONCE;
    b->buf[1] = H_SEMA;
    looks_at(l, H_BUFFER, "12 13 14", "7 8 10");
    struct timerObject timer = {.c = H_WAITGROUP};
    CHECK_EQ(object_add(&timer, OBJ_TIMER), H_DECLARED);
    looks_at(l, H_DECLARED, "9", "4 11");
    CHECK_EQ(object_add(&timer, OBJ_FD), H_DECLARED + 1); /* is looked at as nothing */
    looks_at(l, H_DECLARED + 1, "", "12");
    CHECK_EQ(object_add(NULL, OBJ_MUTEX), H_DECLARED + 2);
    looks_at(l, H_DECLARED + 2, "", "");
    l->handles = false;
    looks_at(l, H_VAR, "", "9");
    looks_at(l, H_DECLARED, "", "11");
}

TEST_CASE(LeakRules, WhoWaitsForAnObjectIsFound) { each_leak_world(26, finds_waiters); }

/* In memory that looks like every kind an object is looked at as what it is, and no other. */
static void is_one_kind(struct m *mp)
{
    static const struct {
        uint8_t kind;
        const char *woken;
    } want[] = {{OBJ_MUTEX, "1"}, {OBJ_RWMUTEX, "1 2 3"}, {OBJ_WAITGROUP, "2"},
                {OBJ_COND, "4"},  {OBJ_ONCE, "2"},        {OBJ_SEMA, "5"},
                {OBJ_VAR, "6"},   {OBJ_TIMER, "7"},       {OBJ_CONTEXT, "7 8"},
                {OBJ_POOL, ""},   {OBJ_FD, ""},           {OBJ_CORO, ""}};
    struct leaks *l = leaks_new();
    unsigned char *p = host_alloc(1024, 64);
    struct hchan *a, *b, *d;
    struct ctx *child = host_alloc(sizeof *child, 16);
    struct smutex *free_lock = host_alloc(sizeof *free_lock, 16);
    (void)mp;
    leak_fresh(l, true);
    l->verdict = true;
    for (int i = 1; i <= 3; i++)
        (void)waits_at_sema((semaword *)(p + 4 * i));
    (void)waits_at_list(&((struct cond *)p)->notify.head);
    (void)waits_at_list(&((struct weighted *)p)->head);
    uint64_t first_word = (uint64_t)chan_object(0, &a);
    ((struct timerObject *)p)->c = chan_object(0, &b);
    a_init(&child->done_handle, chan_object(0, &d));
    CHECK(((struct ctx *)p)->children == NULL);
    ((struct ctx *)p)->children = child;
    (void)waits_at_chan(&a->recvq);
    (void)waits_at_chan(&b->recvq);
    (void)waits_at_chan(&d->recvq);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        leak_look_anew(l);
        if (want[i].kind == OBJ_COND)
            ((struct cond *)p)->L = free_lock;
        else
            a_init(&((struct var *)p)->v, first_word);
        leak_object(l, object_add(p, want[i].kind));
        CHECK_STR(woken(), want[i].woken);
    }
}

TEST_CASE(LeakRules, AnObjectIsLookedAtAsWhatItIs) { each_leak_world(27, is_one_kind); }

static void one_of_eight(struct m *mp)
{
    struct leaks *l = leaks_new();
    struct sudog *s = waiter();
    (void)mp;
    for (int bits = 0; bits < 8; bits++) {
        bool verdict = bits & 1, select = bits & 2, done = bits & 4;
        leak_fresh(l, false);
        rt->allgs = s->g;
        s->g->check_seen = false;
        l->verdict = verdict;
        s->isSelect = select;
        a_init(&s->g->selectDone, done);
        leak_list(l, s);
        CHECK_EQ(s->g->check_seen, !(verdict && select && done));
    }
}

TEST_CASE(LeakRules, ASelectThatIsWokenIsInNoQueueAtTheEnd) { each_leak_world(26, one_of_eight); }

static struct ctx *ctx_with_waiter(struct ctx *parent)
{
    struct ctx *c = host_alloc(sizeof *c, 16);
    struct hchan *done = makechan(0);
    ctx_link(c, parent);
    a_init(&c->done_handle, object_add(done, OBJ_CHAN));
    (void)waits_at_chan(&done->recvq);
    return c;
}

/*   1 - 2 - 4      Whoever can cancel one of them ends those below it. */
/*     \ 3   5 */
static void cancels(struct m *mp)
{
    struct leaks *l = leaks_new();
    (void)mp;
    leak_fresh(l, false);
    struct ctx *other = ctx_with_waiter(NULL), *c[5];
    c[0] = ctx_with_waiter(NULL);
    c[1] = ctx_with_waiter(c[0]);
    c[2] = ctx_with_waiter(c[0]);
    c[3] = ctx_with_waiter(c[1]);
    c[4] = ctx_with_waiter(c[1]);
    for (int i = 0; i < 5; i++) {
        static const char *const below[] = {"2 3 4 5 6", "3 5 6", "4", "5", "6"};
        l->verdict = true;
        c[i]->mark = other; /* left from somebody's cancel */
        leak_look_anew(l);
        leak_ctx(l, c[i]);
        CHECK_STR(woken(), below[i]);
        l->verdict = false;
        leak_look_anew(l);
        leak_ctx(l, c[i]);
        CHECK_STR(woken(), "");
    }
}

TEST_CASE(LeakRules, WhoCanCancelReachesTheWholeTree) { each_leak_world(26, cancels); }

/* ---- goroutines ---- */

/* Two frames: f1 called at instruction 11 of f0, with a deferred call each. */
static struct g *in_two_frames(void)
{
    struct g *gp = all_g(Gwaiting);
    (void)g_ext(gp);
    stack_resize(gp, 16, 0);
    gp->func = 0;
    gp->pc = 12;
    g_stack(gp)[0] = H_MUTEX;
    frame_push(gp, 1, FRAME_CALL, NOREG);
    gp->pc = F1 + 5;
    regs(gp)[2] = H_ONCE;
    regs(gp)[3] = H_SEMA; /* behind the frame */
    return gp;
}

static struct deferRecord *defers(struct g *gp, int32_t func, uint32_t nargs, int64_t arg)
{
    struct deferRecord *d = host_alloc(sizeof *d + 4 * sizeof d->args[0], 16);
    d->link = gp->ext->defers;
    d->func = (uint32_t)func;
    d->nargs = nargs;
    d->args[0] = arg;
    d->args[1] = H_VAR; /* no argument */
    gp->ext->defers = d;
    return d;
}

static void scans(struct m *mp)
{
    struct leaks *l = leaks_new();
    struct once *once = obj(H_ONCE);
    (void)mp;
    leak_fresh(l, true);
    struct g *waits = waits_at_sema(&once->m.sema), *gp = in_two_frames();
    leak_look_anew(l);
    leak_scan(l, gp);
    finds(l, "12 44 45", "2 7");
    defers(gp, 2, 1, H_SEMA);
    defers(gp, 1, 0, H_RWMUTEX);
    leak_look_anew(l);
    leak_scan(l, gp);
    finds(l, "12 40 44 45 60", "2 7 8");
    CHECK(waits->check_seen);
    g_stack(gp)[gp->fp + 2] = 0;
    leak_look_anew(l);
    leak_scan(l, gp);
    CHECK(!waits->check_seen);
    defers(gp, 3, 0, 0)->once = once; /* no function: what ends the Once */
    leak_look_anew(l);
    leak_scan(l, gp);
    finds(l, "12 40 44 45 60", "2 8");
    CHECK(waits->check_seen);
    gp->system = SYSTEM_ALWAYS;
    leak_look_anew(l);
    leak_scan(l, gp);
    finds(l, "", "");
    struct g *plain = all_g(Gwaiting);
    plain->func = -1;
    leak_look_anew(l);
    leak_scan(l, plain);
    finds(l, "", "");
    plain->func = 0;
    for (plain->pc = 0; plain->pc < 3; plain->pc++) {
        static const char *const at[] = {"0", "0 1", "1 2"};
        leak_look_anew(l);
        leak_scan(l, plain);
        finds(l, at[plain->pc], "");
    }
}

TEST_CASE(LeakRules, AGoroutineReachesItsFramesAndDeferredCalls) { each_leak_world(27, scans); }

/* mgcmark.go internalBlocked. */
static bool is_blocked_by(enum waitreason w)
{
    switch (w) {
    case waitReasonChanReceiveNilChan:
    case waitReasonChanSendNilChan:
    case waitReasonSelect:
    case waitReasonSelectNoCases:
    case waitReasonChanReceive:
    case waitReasonChanSend: return true;
    case waitReasonSyncCondWait:
    case waitReasonSyncMutexLock:
    case waitReasonSyncRWMutexRLock:
    case waitReasonSyncRWMutexLock:
    case waitReasonSyncWaitGroupWait: return world_prof.g_waiting_sema != 0;
    default: return false;
    }
}

static void suspects(struct m *mp)
{
    struct g *gp = g_of(Gwaiting);
    (void)mp;
    for (int sema = 0; sema < 2; sema++)
        for (int reason = 0; reason < WAITREASONS; reason++) {
            world_prof.g_waiting_sema = sema;
            gp->waitreason = (uint8_t)reason;
            gp->system = SYSTEM_NOT;
            CHECK_EQ(leak_suspect(gp, Gwaiting), is_blocked_by((enum waitreason)reason));
            CHECK(!leak_suspect(gp, Grunnable));
            CHECK(!leak_suspect(gp, Gleaked));
            gp->system = SYSTEM_ALWAYS;
            CHECK(!leak_suspect(gp, Gwaiting));
        }
}

TEST_CASE(LeakRules, WhoWaitsForTheRuntimeIsNoSuspect) { each_leak_world(27, suspects); }
