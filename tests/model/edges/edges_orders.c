/* SPDX-License-Identifier: BSD-3-Clause */
/* The second part of edges_test.c: which edges of Go's memory model each operation says, of what,
 * in which order (race.Acquire, race.Release ... where the runtime, sync and context have them). A
 * program does one operation after the other on one P; what is said is a text. */

enum { TEXT_MAX = 1 << 14, NAMES_MAX = 64, POOLED = 7 };

static struct as a2;
static char told[TEXT_MAX];
static size_t ntold;
static uint64_t names[NAMES_MAX];

static void put_text(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(told + ntold, sizeof told - ntold, fmt, args);
    va_end(args);
    CHECK(n >= 0 && (size_t)n < sizeof told - ntold);
    ntold += (size_t)n;
}

/* Goroutines by when they are heard of: main is g1, "-" is none. */
static void put_goid(uint64_t goid)
{
    int i = 0;
    if (goid == 0) {
        put_text(" -");
        return;
    }
    while (i < NAMES_MAX && names[i] != goid && names[i] != 0)
        i++;
    CHECK_LT(i, NAMES_MAX);
    names[i] = goid;
    put_text(" g%d", i + 1);
}

/* ---- which word of which object an address is ---- */

static const char *word_of_chan(const struct hchan *c, uint64_t at)
{
    static const char *const slots[] = {"[0]", "[1]", "[2]"};
    if (at == (uintptr_t)&c->closed)
        return "closed";
    if (at == (uintptr_t)&c->buf)
        return "";
    for (uint32_t i = 0; i < c->dataqsiz; i++)
        if (at == (uintptr_t)&c->buf[i])
            return slots[i];
    return NULL;
}

static const char *word_of_rwmutex(const struct rwmutex *rw, uint64_t at)
{
    return at == (uintptr_t)&rw->readerSem   ? "readerSem"
           : at == (uintptr_t)&rw->writerSem ? "writerSem"
           : at == (uintptr_t)&rw->w         ? "w"
                                             : NULL;
}

static const char *is(const volatile void *p, uint64_t at)
{
    return at == (uintptr_t)p ? "" : NULL;
}

static const char *word_of(const struct object *o, uint64_t at)
{
    const struct once *once = o->p;
    switch ((enum object_kind)o->kind) {
    case OBJ_CHAN: return word_of_chan(o->p, at);
    case OBJ_RWMUTEX: return word_of_rwmutex(o->p, at);
    case OBJ_ONCE: return at == (uintptr_t)&once->done ? "done" : is(&once->m, at);
    case OBJ_COND: return is(&((struct cond *)o->p)->notify, at);
    case OBJ_TIMER: return is(&((struct timerObject *)o->p)->t->t, at);
    case OBJ_CONTEXT: return is(&((struct ctx *)o->p)->err, at);
    case OBJ_POOL:
        return at == ((uintptr_t)o->p ^ (POOLED + 1) * UINT64_C(0x9e3779b97f4a7c15)) ? "" : NULL;
    default: return is(o->p, at);
    }
}

static const char *const kind_names[OBJ_KINDS] = {
    [OBJ_CHAN] = "chan",       [OBJ_MUTEX] = "mutex",
    [OBJ_RWMUTEX] = "rwmutex", [OBJ_WAITGROUP] = "waitgroup",
    [OBJ_COND] = "cond",       [OBJ_ONCE] = "once",
    [OBJ_SEMA] = "sema",       [OBJ_POOL] = "pool",
    [OBJ_VAR] = "var",         [OBJ_FD] = "fd",
    [OBJ_TIMER] = "timer",     [OBJ_CONTEXT] = "context",
    [OBJ_CORO] = "coro"};

static void put_place(uint64_t at)
{
    for (int64_t h = 1; h <= rt->objs->made; h++) {
        const struct object *o = object_at((uint64_t)h);
        const char *word = word_of(o, at);
        if (word != NULL) {
            put_text(" %s%d%s%s", kind_names[o->kind], (int)h, word[0] >= 'a' ? "." : "", word);
            return;
        }
    }
    put_text(at == 0 ? "" : at == (uintptr_t)&ioSync ? " io" : " other");
}

static void note_edge(enum race_edge edge, uint32_t goid, uint64_t with)
{
    static const char *const words[] = {"create", "acquire", "release", "merge",
                                        "hand",   "timer",   "end"};
    put_text("\n  %s", words[edge]);
    put_goid(goid);
    if (edge == RACE_CREATE || edge == RACE_HAND)
        put_goid(with);
    else
        put_place(with);
}

static void note_access(uint32_t goid, uint32_t pc, uint64_t at, int32_t object,
                        enum race_kind kind)
{
    static const char *const words[] = {"read", "write", "load", "store"};
    CHECK_EQ(prog_code[pc].op, rt->prog->code[pc].op);
    put_text("\n  %s", words[kind]);
    put_goid(goid);
    put_place(at);
    put_text(" of object %d, %s", (int)object, op_infos[prog_code[pc].op].name);
}

/* What the program prints: + and - switch the edges on and off, the rest are headings. */
static void take_heading(void *arg, const char *text, size_t size)
{
    (void)arg;
    if (*text == '+' || *text == '-')
        telling = *text == '+';
    else
        put_text("\n%.*s:", (int)size, text);
}

static void orders(const char *want)
{
    static struct profile profile;
    struct failure f = {0};
    struct host host = host_virt;
    host.core = &core_edges;
    CHECK(profile_init(&profile, PROFILE_LATEST));
    const struct host_opts o = {
        .seed = 1,
        .throws_end_process = true,
        .world = {.profile = &profile, .program = as_done(&a2), .procs = 1, .print = take_heading}};
    memset(names, 0, sizeof names);
    ntold = 0;
    CHECK(world_open(&host, &f, &o));
    CHECK_EQ(host.run(UINT64_MAX), END_STOPPED);
    telling = false;
    host.close();
    CHECK_STR(told, want);
}

/* ---- the programs ---- */

static int body_obj(enum op op, int obj)
{
    int f = as_func(&a2, "f", 0, 3);
    as_obj(&a2, op, obj);
    return f;
}

static void one(const char *what, enum op op, int ra, int rb, int32_t d, int64_t imm)
{
    as_print(&a2, what);
    as_op(&a2, op, ra, rb, 0, d, imm);
}

static void peer(const char *what, int f)
{
    as_print(&a2, what);
    as_go(&a2, f, 0, 0);
    as_plain(&a2, OP_GOSCHED);
}

static const char said_of_locks[] =
    "\nLock:\n  acquire g1 mutex1"
    "\nanother's Lock:\n  create g1 g2"
    "\nUnlock:\n  release g1 mutex1"
    "\nLock before it:\n  acquire g1 mutex1"
    "\nUnlock, handed over:\n  release g1 mutex1\n  acquire g2 mutex1\n  release g2 mutex1"
    "\nTryLock:\n  acquire g1 mutex1"
    "\nTryLock, locked:"
    "\nanother's Lock:\n  create g1 g3"
    "\nUnlock:\n  release g1 mutex1\n  acquire g3 mutex1\n  release g3 mutex1"
    "\nRLock:\n  acquire g1 rwmutex2.readerSem"
    "\nanother's WLock:\n  create g1 g4\n  acquire g4 rwmutex2.w"
    "\nRUnlock:\n  merge g1 rwmutex2.writerSem\n  acquire g4 rwmutex2.readerSem\n  acquire "
    "g4 rwmutex2.writerSem\n  release g4 rwmutex2.readerSem"
    "\nWLock:\n  acquire g1 rwmutex2.w\n  acquire g1 rwmutex2.readerSem\n  acquire g1 "
    "rwmutex2.writerSem"
    "\nanother's RLock:\n  create g1 g5"
    "\nTryRLock, locked:"
    "\nWUnlock:\n  release g1 rwmutex2.readerSem\n  acquire g5 rwmutex2.readerSem\n  merge "
    "g5 rwmutex2.writerSem"
    "\nTryWLock:\n  acquire g1 rwmutex2.w\n  acquire g1 rwmutex2.readerSem\n  acquire g1 "
    "rwmutex2.writerSem"
    "\nTryWLock, locked:"
    "\nWUnlock:\n  release g1 rwmutex2.readerSem"
    "\nTryRLock:\n  acquire g1 rwmutex2.readerSem"
    "\nRUnlock:\n  merge g1 rwmutex2.writerSem"
    "\nnothing is said:";

TEST_CASE(Orders, OfLocks)
{
    as_init(&a2);
    int mu = as_object(&a2, OBJ_MUTEX, 0), rw = as_object(&a2, OBJ_RWMUTEX, 0);
    int locks = body_obj(OP_LOCK, mu);
    as_obj(&a2, OP_UNLOCK, mu);
    as_ret(&a2);
    int reads = body_obj(OP_RLOCK, rw);
    as_obj(&a2, OP_RUNLOCK, rw);
    as_ret(&a2);
    int writes = body_obj(OP_WLOCK, rw);
    as_obj(&a2, OP_WUNLOCK, rw);
    as_ret(&a2);
    as_func(&a2, "main", 0, 3);
    as_print(&a2, "+");
    one("Lock", OP_LOCK, 0, 0, mu, 0);
    peer("another's Lock", locks);
    as_sleep(&a2, 2 * MS);
    one("Unlock", OP_UNLOCK, 0, 0, mu, 0);
    one("Lock before it", OP_LOCK, 0, 0, mu, 0);
    as_plain(&a2, OP_GOSCHED);
    one("Unlock, handed over", OP_UNLOCK, 0, 0, mu, 0);
    as_plain(&a2, OP_GOSCHED);
    one("TryLock", OP_TRYLOCK, 1, 0, mu, 0);
    one("TryLock, locked", OP_TRYLOCK, 1, 0, mu, 0);
    peer("another's Lock", locks);
    one("Unlock", OP_UNLOCK, 0, 0, mu, 0);
    as_plain(&a2, OP_GOSCHED);
    one("RLock", OP_RLOCK, 0, 0, rw, 0);
    peer("another's WLock", writes);
    one("RUnlock", OP_RUNLOCK, 0, 0, rw, 0);
    as_plain(&a2, OP_GOSCHED);
    one("WLock", OP_WLOCK, 0, 0, rw, 0);
    peer("another's RLock", reads);
    one("TryRLock, locked", OP_TRYRLOCK, 1, 0, rw, 0);
    one("WUnlock", OP_WUNLOCK, 0, 0, rw, 0);
    as_plain(&a2, OP_GOSCHED);
    one("TryWLock", OP_TRYWLOCK, 1, 0, rw, 0);
    one("TryWLock, locked", OP_TRYWLOCK, 1, 0, rw, 0);
    one("WUnlock", OP_WUNLOCK, 0, 0, rw, 0);
    one("TryRLock", OP_TRYRLOCK, 1, 0, rw, 0);
    one("RUnlock", OP_RUNLOCK, 0, 0, rw, 0);
    as_print(&a2, "-");
    one("nothing is said", OP_LOCK, 0, 0, mu, 0);
    as_ret(&a2);
    orders(said_of_locks);
}

static const char said_of_waits[] =
    "\nCond.Wait:\n  create g1 g2\n  acquire g2 mutex1\n  release g2 mutex1"
    "\nSignal:\n  merge g1 cond2\n  hand g1 g2\n  acquire g2 mutex1\n  release g2 mutex1"
    "\nSignal, nobody waits:"
    "\nCond.Wait:\n  create g1 g3\n  acquire g3 mutex1\n  release g3 mutex1"
    "\nBroadcast:\n  merge g1 cond2\n  hand g1 g3\n  acquire g3 mutex1\n  release g3 mutex1"
    "\nBroadcast, nobody waits:"
    "\nWaitGroup.Add:"
    "\nWaitGroup.Wait:\n  create g1 g4"
    "\nAdd(-1):\n  merge g1 waitgroup3"
    "\nDone:\n  merge g1 waitgroup3\n  acquire g4 waitgroup3"
    "\nWaitGroup.Wait at 0:\n  acquire g1 waitgroup3"
    "\nOnce.Do:\n  acquire g1 once4\n  release g1 once4.done\n  release g1 once4"
    "\nOnce.Do, done:\n  acquire g1 once4.done"
    "\nAcquire:\n  acquire g1 sema5\n  release g1 sema5"
    "\nTryAcquire:\n  acquire g1 sema5\n  release g1 sema5"
    "\nTryAcquire, nothing left:\n  acquire g1 sema5\n  release g1 sema5"
    "\nanother's Acquire:\n  create g1 g5\n  acquire g5 sema5\n  release g5 sema5"
    "\nRelease:\n  acquire g1 sema5\n  release g1 sema5\n  hand g1 g5"
    "\nPut:\n  acquire g1 other\n  merge g1 pool6"
    "\nGet:\n  acquire g1 pool6"
    "\nGet, empty:";

TEST_CASE(Orders, OfWaits)
{
    as_init(&a2);
    int mu = as_object(&a2, OBJ_MUTEX, 0), cond = as_object(&a2, OBJ_COND, mu);
    int wg = as_object(&a2, OBJ_WAITGROUP, 0), once = as_object(&a2, OBJ_ONCE, 0);
    int sema = as_object(&a2, OBJ_SEMA, 2), pool = as_object(&a2, OBJ_POOL, 0);
    int waits = body_obj(OP_LOCK, mu);
    as_obj(&a2, OP_CWAIT, cond);
    as_obj(&a2, OP_UNLOCK, mu);
    as_ret(&a2);
    int waits_wg = body_obj(OP_WGWAIT, wg);
    as_ret(&a2);
    int does = as_func(&a2, "does", 0, 2);
    as_ret(&a2);
    int wants = as_func(&a2, "wants", 0, 2);
    as_op(&a2, OP_ACQUIRE, NOREG, 0, 0, sema, 2);
    as_ret(&a2);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    peer("Cond.Wait", waits);
    one("Signal", OP_CSIGNAL, 0, 0, cond, 0);
    as_plain(&a2, OP_GOSCHED);
    one("Signal, nobody waits", OP_CSIGNAL, 0, 0, cond, 0);
    peer("Cond.Wait", waits);
    one("Broadcast", OP_CBROADCAST, 0, 0, cond, 0);
    as_plain(&a2, OP_GOSCHED);
    one("Broadcast, nobody waits", OP_CBROADCAST, 0, 0, cond, 0);
    one("WaitGroup.Add", OP_WGADD, NOREG, 0, wg, 2);
    peer("WaitGroup.Wait", waits_wg);
    one("Add(-1)", OP_WGADD, NOREG, 0, wg, -1);
    one("Done", OP_WGDONE, 0, 0, wg, 0);
    as_plain(&a2, OP_GOSCHED);
    one("WaitGroup.Wait at 0", OP_WGWAIT, 0, 0, wg, 0);
    as_print(&a2, "Once.Do");
    as_op(&a2, OP_ONCE, 0, 0, 0, once, does);
    as_print(&a2, "Once.Do, done");
    as_op(&a2, OP_ONCE, 0, 0, 0, once, does);
    one("Acquire", OP_ACQUIRE, NOREG, 0, sema, 1);
    one("TryAcquire", OP_TRYACQUIRE, 1, NOREG, sema, 1);
    one("TryAcquire, nothing left", OP_TRYACQUIRE, 1, NOREG, sema, 1);
    peer("another's Acquire", wants);
    one("Release", OP_RELEASE, NOREG, 0, sema, 2);
    as_plain(&a2, OP_GOSCHED);
    as_const(&a2, 1, POOLED);
    one("Put", OP_POOLPUT, 1, 0, pool, 0);
    one("Get", OP_POOLGET, 1, 2, pool, 0);
    one("Get, empty", OP_POOLGET, 1, 2, pool, 0);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_waits);
}

static int talks(enum op op, int ch)
{
    int f = as_func(&a2, "talks", 0, 2);
    if (op == OP_SEND)
        as_send(&a2, ch, 0);
    else
        as_recv(&a2, ch, 0);
    as_ret(&a2);
    return f;
}

static void select_one(const char *what, bool send, int ch)
{
    int sel = as_select(&a2, true);
    as_case(&a2, send, ch, 0, 0);
    as_print(&a2, what);
    as_op(&a2, OP_SELECT, NOREG, NOREG, 0, sel, 0);
}

static const char said_of_channels[] =
    "\nanother receives:\n  create g1 g2"
    "\nsend:\n  release g1 chan1\n  acquire g2 chan1\n  release g2 chan1\n  acquire g1 chan1"
    "\nanother sends:\n  create g1 g3"
    "\nreceive:\n  release g1 chan1\n  acquire g3 chan1\n  release g3 chan1\n  acquire g1 chan1"
    "\nsend, buffered:\n  acquire g1 chan2[0]\n  release g1 chan2[0]"
    "\nreceive, buffered:\n  acquire g1 chan2[0]\n  release g1 chan2[0]"
    "\nanother receives, empty:\n  create g1 g4"
    "\nsend through the buffer:\n  acquire g1 chan2[1]\n  release g1 chan2[1]\n  acquire g4 "
    "chan2[1]\n  release g4 chan2[1]"
    "\nsend:\n  acquire g1 chan2[0]\n  release g1 chan2[0]"
    "\nsend:\n  acquire g1 chan2[1]\n  release g1 chan2[1]"
    "\nanother sends, full:\n  create g1 g5"
    "\nreceive, and its value takes the place:\n  acquire g1 chan2[0]\n  release g1 chan2[0]\n "
    " acquire g5 chan2[0]\n  release g5 chan2[0]"
    "\nselect: receive:\n  acquire g1 chan2[1]\n  release g1 chan2[1]"
    "\nselect: send:\n  acquire g1 chan2[1]\n  release g1 chan2[1]"
    "\nselect: full:";

TEST_CASE(Orders, OfChannels)
{
    as_init(&a2);
    int ch = as_object(&a2, OBJ_CHAN, 0), buf = as_object(&a2, OBJ_CHAN, 2);
    int receives = talks(OP_RECV, ch), sends = talks(OP_SEND, ch);
    int receives_buf = talks(OP_RECV, buf), sends_buf = talks(OP_SEND, buf);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    peer("another receives", receives);
    one("send", OP_SEND, 0, 0, ch, 0);
    as_plain(&a2, OP_GOSCHED);
    peer("another sends", sends);
    one("receive", OP_RECV, 1, NOREG, ch, 0);
    as_plain(&a2, OP_GOSCHED);
    one("send, buffered", OP_SEND, 0, 0, buf, 0);
    one("receive, buffered", OP_RECV, 1, NOREG, buf, 0);
    peer("another receives, empty", receives_buf);
    one("send through the buffer", OP_SEND, 0, 0, buf, 0);
    as_plain(&a2, OP_GOSCHED);
    one("send", OP_SEND, 0, 0, buf, 0);
    one("send", OP_SEND, 0, 0, buf, 0);
    peer("another sends, full", sends_buf);
    one("receive, and its value takes the place", OP_RECV, 1, NOREG, buf, 0);
    as_plain(&a2, OP_GOSCHED);
    select_one("select: receive", false, buf);
    select_one("select: send", true, buf);
    select_one("select: full", true, buf);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_channels);
}

static const char said_of_closing[] =
    "\nanother receives:\n  create g1 g2"
    "\nclose:\n  release g1 chan1.closed\n  acquire g2 chan1.closed"
    "\nreceive, closed:\n  acquire g1 chan1.closed"
    "\nselect: receive, closed:\n  acquire g1 chan1.closed"
    "\nsend:\n  acquire g1 chan2[0]\n  release g1 chan2[0]"
    "\nanother sends, full:\n  create g1 g3"
    "\nclose under it:\n  release g1 chan2.closed\n  acquire g3 chan2.closed";

TEST_CASE(Orders, OfClosing)
{
    as_init(&a2);
    int ch = as_object(&a2, OBJ_CHAN, 0), full = as_object(&a2, OBJ_CHAN, 1);
    int receives = talks(OP_RECV, ch);
    int recovers = as_func(&a2, "recovers", 0, 2);
    as_op(&a2, OP_RECOVER, 0, 1, 0, 0, 0);
    as_ret(&a2);
    int fails = as_func(&a2, "fails", 0, 2);
    as_op(&a2, OP_DEFER, 0, 0, 0, recovers, 0);
    as_send(&a2, full, 0);
    as_ret(&a2);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    peer("another receives", receives);
    one("close", OP_CLOSE, 0, 0, ch, 0);
    as_plain(&a2, OP_GOSCHED);
    one("receive, closed", OP_RECV, 1, NOREG, ch, 0);
    select_one("select: receive, closed", false, ch);
    one("send", OP_SEND, 0, 0, full, 0);
    peer("another sends, full", fails);
    one("close under it", OP_CLOSE, 0, 0, full, 0);
    as_plain(&a2, OP_GOSCHED);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_closing);
}

static const char said_of_variables[] =
    "\nread:\n  read g1 var2 of object 1, LOADP"
    "\nwrite:\n  write g1 var2 of object 1, STOREP"
    "\nLoad:\n  load g1 var2 of object 1, LOADA\n  acquire g1 var2"
    "\nStore:\n  store g1 var2 of object 1, STOREA\n  release g1 var2"
    "\nAdd:\n  acquire g1 var2\n  store g1 var2 of object 1, ADDA\n  release g1 var2"
    "\nSwap:\n  acquire g1 var2\n  store g1 var2 of object 1, SWAPA\n  release g1 var2"
    "\nCompareAndSwap:\n  acquire g1 var2\n  store g1 var2 of object 1, CASA\n  release g1 var2"
    "\nCompareAndSwap, fails:\n  load g1 var2 of object 1, CASA\n  acquire g1 var2"
    "\nread, by handle:\n  read g1 var3 of object 2, LOADP";

TEST_CASE(Orders, OfVariables)
{
    as_init(&a2);
    as_object(&a2, OBJ_MUTEX, 0);
    int v = as_object(&a2, OBJ_VAR, 5), first = as_object(&a2, OBJ_VAR, 0);
    CHECK_EQ(v, 1);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    one("read", OP_LOADP, 1, 0, v, 0);
    one("write", OP_STOREP, 1, 0, v, 0);
    one("Load", OP_LOADA, 1, 0, v, 0);
    one("Store", OP_STOREA, 1, 0, v, 0);
    one("Add", OP_ADDA, 1, NOREG, v, 1);
    one("Swap", OP_SWAPA, 2, 1, v, 0);
    as_print(&a2, "CompareAndSwap"); /* R1 is what Add gave */
    as_op(&a2, OP_CASA, 3, 1, 0, v, 0);
    as_print(&a2, "CompareAndSwap, fails");
    as_op(&a2, OP_CASA, 3, 1, 0, v, 0);
    as_const(&a2, 3, first + 1);
    as_print(&a2, "read, by handle");
    as_op(&a2, OP_LOADP, 1, 0, 3, OBJ_REG, 0);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_variables);
}

static const char said_of_timers_and_contexts[] =
    "\nNewTimer:\n  merge g1 other"
    "\nreceive:\n  timer - timer2\n  acquire - chan1[0]\n  release - chan1[0]\n  acquire g1 "
    "chan1[0]\n  release g1 chan1[0]\n  end -"
    "\nReset:\n  merge g1 timer2"
    "\nStop:"
    "\nNewTicker:\n  merge g1 other"
    "\nTicker.Reset:\n  merge g1 timer4"
    "\nAfterFunc:\n  merge g1 other\n  timer - timer5\n  create - g2\n  end -"
    "\nWithCancel:"
    "\nErr:"
    "\ncancel:\n  release g1 context6\n  release g1 chan7.closed"
    "\nErr, canceled:\n  acquire g1 context6"
    "\nWithCancel of a canceled one:\n  acquire g1 context6\n  release g1 other"
    "\nits Done:\n  acquire g1 context8\n  release g1 chan9.closed"
    "\nWithTimeout:\n  merge g1 other\n  timer - other\n  create - g3\n  end -\n  release "
    "g3 context10";

TEST_CASE(Orders, OfTimersAndContexts)
{
    as_init(&a2);
    int f = as_func(&a2, "f", 0, 2);
    as_ret(&a2);
    as_func(&a2, "main", 0, 5);
    as_print(&a2, "+");
    as_print(&a2, "NewTimer");
    as_op(&a2, OP_TIMER, 1, NOREG, NOREG, -1, MS);
    as_op(&a2, OP_TIMERC, 2, 0, 1, OBJ_REG, 0);
    as_print(&a2, "receive");
    as_op(&a2, OP_RECV, 3, NOREG, 2, OBJ_REG, 0);
    as_print(&a2, "Reset");
    as_op(&a2, OP_TRESET, NOREG, NOREG, 1, OBJ_REG, MS);
    as_print(&a2, "Stop");
    as_op(&a2, OP_TSTOP, NOREG, 0, 1, OBJ_REG, 0);
    as_print(&a2, "NewTicker");
    as_op(&a2, OP_TICKER, 1, NOREG, 0, 0, MS);
    as_print(&a2, "Ticker.Reset");
    as_op(&a2, OP_TRESET, NOREG, NOREG, 1, OBJ_REG, MS);
    as_op(&a2, OP_TSTOP, NOREG, 0, 1, OBJ_REG, 0);
    as_print(&a2, "AfterFunc");
    as_op(&a2, OP_TIMER, 1, NOREG, NOREG, f, MS);
    as_sleep(&a2, 2 * MS);
    as_print(&a2, "WithCancel");
    as_op(&a2, OP_CTXNEW, 1, NOREG, 0, 0, 0);
    as_op(&a2, OP_CTXDONE, 2, 0, 1, OBJ_REG, 0);
    as_print(&a2, "Err");
    as_op(&a2, OP_CTXERR, 3, 0, 1, OBJ_REG, 0);
    as_print(&a2, "cancel");
    as_op(&a2, OP_CTXCANCEL, 0, 0, 1, OBJ_REG, 0);
    as_print(&a2, "Err, canceled");
    as_op(&a2, OP_CTXERR, 3, 0, 1, OBJ_REG, 0);
    as_print(&a2, "WithCancel of a canceled one");
    as_op(&a2, OP_CTXNEW, 4, 1, 0, 0, 0);
    as_print(&a2, "its Done");
    as_op(&a2, OP_CTXDONE, 2, 0, 4, OBJ_REG, 0);
    as_print(&a2, "WithTimeout");
    as_op(&a2, OP_CTXTMO, 1, NOREG, NOREG, 0, MS);
    as_sleep(&a2, 2 * MS);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_timers_and_contexts);
}

static const char said_of_coroutines_and_finalizers[] =
    "\niter.Pull:\n  create g1 g2"
    "\nnext:\n  hand g1 g2\n  hand g2 g1"
    "\nnext, the end:\n  hand g1 g2\n  hand g2 g1"
    "\nSetFinalizer:\n  release g1 other"
    "\nit runs:";

TEST_CASE(Orders, OfCoroutinesAndFinalizers)
{
    as_init(&a2);
    int yields = as_func(&a2, "yields", 0, 3);
    as_op(&a2, OP_YIELD, 0, 1, 0, 0, 0);
    as_ret(&a2);
    int fin = as_func(&a2, "fin", 0, 2);
    as_ret(&a2);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    as_print(&a2, "iter.Pull");
    as_op(&a2, OP_CORONEW, 0, 0, 0, yields, 0);
    as_print(&a2, "next");
    as_op(&a2, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    as_print(&a2, "next, the end");
    as_op(&a2, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    as_print(&a2, "-");
    as_op(&a2, OP_FINALIZER, 0, 0, 0, fin, 0); /* makes the goroutine that runs them */
    as_plain(&a2, OP_GC);
    as_sleep(&a2, MS);
    as_print(&a2, "+");
    as_print(&a2, "SetFinalizer");
    as_op(&a2, OP_FINALIZER, 0, 0, 0, fin, 0);
    as_print(&a2, "-");
    as_plain(&a2, OP_GC);
    as_print(&a2, "+");
    as_print(&a2, "it runs");
    as_sleep(&a2, MS);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_coroutines_and_finalizers);
}

static const char said_of_descriptors_and_c[] = "\nRead:\n  acquire g1 io"
                                                "\nWrite:\n  merge g1 io"
                                                "\na callback on this thread:"
                                                "\na callback on another thread:\n  hand g1 g2";

TEST_CASE(Orders, OfDescriptorsAndC)
{
    static const int64_t soon[] = {MS};
    const struct arrivals x = {.kind = ARRIVE_TIMES, .mode = 1, .times = soon, .ntimes = 1};
    as_init(&a2);
    int fd = as_object(&a2, OBJ_FD, build_arrivals(&a2.b, &x));
    int back = as_func(&a2, "back", 0, 2);
    as_ret(&a2);
    as_func(&a2, "main", 0, 4);
    as_print(&a2, "+");
    one("Read", OP_FDREAD, 1, 2, fd, 0);
    one("Write", OP_FDWRITE, 3, 1, fd, 0);
    as_print(&a2, "a callback on this thread");
    as_op(&a2, OP_CGOCB, 0, NOREG, NOREG, back, 1000);
    as_print(&a2, "a callback on another thread");
    as_op(&a2, OP_CGOCB, 1, NOREG, NOREG, back, 1000);
    as_sleep(&a2, MS);
    as_print(&a2, "-");
    as_ret(&a2);
    orders(said_of_descriptors_and_c);
}
