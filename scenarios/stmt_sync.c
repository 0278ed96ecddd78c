/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about sharing: locks and waiting, variables, objects made while it runs; and
 * coroutines. */
#include "scenarios/gengo_int.h"

/* ---- locks and waiting ---- */

/* Of a mutex, or the write lock of an RWMutex. */
#define MUTEX (KIND(OBJ_MUTEX) | KIND(OBJ_RWMUTEX))

static void emit_lock(struct cc *c, const struct expr *x, enum op op, enum op rw)
{
    struct target t = emit_object(c, x, MUTEX);
    bool write = x->is == X_OBJECT && x->kind == OBJ_RWMUTEX;
    uint32_t insn = build_op(&c->b, write ? rw : op, 0, 0, t.reg, t.obj, 0);
    if (x->is != X_OBJECT)
        kind_either(&c->b, x->at, t.reg, insn, OBJ_RWMUTEX, rw);
}

/* The block between Lock and Unlock. */
static void emit_with_lock(struct cc *c, const struct stmt *s)
{
    emit_lock(c, s->part[0].x, OP_LOCK, OP_WLOCK);
    emit_block(c, part_of(s, "do")->body);
    emit_lock(c, s->part[0].x, OP_UNLOCK, OP_WUNLOCK);
}

static void go_with_lock(struct gen *g, const struct stmt *s)
{
    const char *lock = gen_object(g, s->part[0].x, OBJ_MUTEX, 1);
    gen_line(g, "%s.Lock()", lock);
    gen_line(g, "{");
    gen_inner(g, part_of(s, "do")->body);
    gen_line(g, "}");
    gen_line(g, "%s.Unlock()", lock);
}

static void go_once(struct gen *g, const struct stmt *s)
{
    gen_line(g, "%s.Do(func() {", gen_object(g, s->part[0].x, OBJ_ONCE, 1));
    g->indent++;
    gen_call_line(g, "", part_of(s, "do")->callee, "");
    g->indent--;
    gen_line(g, "})");
}

static const struct statement locks_statements[] = {
    {.field = {OBJECT("lock", MUTEX)},
     .what = "Mutex.Lock or RWMutex.Lock. Of a mutex, or the write lock of an RWMutex; so do "
             "`unlock`, `trylock`, `with_lock`.",
     .example = "{\"lock\": \"mu\"}",
     .op = OP_LOCK,
     .op2 = OP_WLOCK,
     .kind2 = OBJ_RWMUTEX,
     .go = "{lock}.Lock()"},
    {.field = {OBJECT("unlock", MUTEX)},
     .what = "Mutex.Unlock or RWMutex.Unlock.",
     .example = "{\"unlock\": \"mu\"}",
     .op = OP_UNLOCK,
     .op2 = OP_WUNLOCK,
     .kind2 = OBJ_RWMUTEX,
     .go = "{unlock}.Unlock()"},
    {.field = {OBJECT("trylock", MUTEX), NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "TryLock; into gets whether it locked.",
     .example = "{\"trylock\": \"mu\", \"into\": \"got\"}",
     .op = OP_TRYLOCK,
     .op2 = OP_TRYWLOCK,
     .kind2 = OBJ_RWMUTEX,
     .go = "{trylock}.TryLock()",
     .wrap = "simInt"},
    {.field = {OBJECT("with_lock", MUTEX), BLOCK("do")},
     .what = "The block between Lock and Unlock.",
     .example = "{\"with_lock\": \"mu\", \"do\": [{\"cpu\": \"1us\"}]}",
     .flow = FLOW_BLOCK,
     .emit = emit_with_lock,
     .gen = go_with_lock},
    {.field = {OBJECT("rlock", KIND(OBJ_RWMUTEX))},
     .what = "RWMutex.RLock.",
     .example = "{\"rlock\": \"rw\"}",
     .op = OP_RLOCK,
     .go = "{rlock}.RLock()"},
    {.field = {OBJECT("runlock", KIND(OBJ_RWMUTEX))},
     .what = "RWMutex.RUnlock.",
     .example = "{\"runlock\": \"rw\"}",
     .op = OP_RUNLOCK,
     .go = "{runlock}.RUnlock()"},
    {.field = {OBJECT("tryrlock", KIND(OBJ_RWMUTEX)), NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "RWMutex.TryRLock.",
     .example = "{\"tryrlock\": \"rw\", \"into\": \"got\"}",
     .op = OP_TRYRLOCK,
     .go = "{tryrlock}.TryRLock()",
     .wrap = "simInt"},
    {.field = {OBJECT("add", KIND(OBJ_WAITGROUP)), COUNT("n", SLOT_A, 1)},
     .what = "WaitGroup.Add(n), default 1.",
     .example = "{\"add\": \"wg\", \"n\": 10}",
     .op = OP_WGADD,
     .go = "{add}.Add(int({n}))"},
    {.field = {OBJECT("done", KIND(OBJ_WAITGROUP))},
     .what = "WaitGroup.Done.",
     .example = "{\"done\": \"wg\"}",
     .op = OP_WGDONE,
     .go = "{done}.Done()"},
    {.field = {OBJECT("wait", KIND(OBJ_WAITGROUP) | KIND(OBJ_COND))},
     .what = "WaitGroup.Wait or Cond.Wait. Of a WaitGroup, or of a cond whose mutex is locked.",
     .example = "{\"wait\": \"wg\"}",
     .op = OP_WGWAIT,
     .op2 = OP_CWAIT,
     .kind2 = OBJ_COND,
     .go = "{wait}.Wait()"},
    {.field = {OBJECT("signal", KIND(OBJ_COND))},
     .what = "Cond.Signal.",
     .example = "{\"signal\": \"not_empty\"}",
     .op = OP_CSIGNAL,
     .go = "{signal}.Signal()"},
    {.field = {OBJECT("broadcast", KIND(OBJ_COND))},
     .what = "Cond.Broadcast.",
     .example = "{\"broadcast\": \"not_empty\"}",
     .op = OP_CBROADCAST,
     .go = "{broadcast}.Broadcast()"},
    {.field = {OBJECT("once", KIND(OBJ_ONCE)), CALLEE("do"), ARGS},
     .what = "Once.Do.",
     .example = "{\"once\": \"o\", \"do\": \"init\"}",
     .op = OP_ONCE,
     .gen = go_once},
    {.field = {OBJECT("acquire", KIND(OBJ_SEMA)), COUNT("n", SLOT_A, 1)},
     .what =
         "Takes n (default 1) of a weighted semaphore. First come, first served: a large request "
         "is not overtaken.",
     .example = "{\"acquire\": \"slots\", \"n\": 2}",
     .op = OP_ACQUIRE,
     .go = "{acquire}.acquire({n})"},
    {.field = {OBJECT("tryacquire", KIND(OBJ_SEMA)), COUNT("n", SLOT_B, 1),
               NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "Takes n of a semaphore if it can; into gets whether.",
     .example = "{\"tryacquire\": \"slots\", \"into\": \"got\"}",
     .op = OP_TRYACQUIRE,
     .go = "{tryacquire}.try({n})"},
    {.field = {OBJECT("release", KIND(OBJ_SEMA)), COUNT("n", SLOT_A, 1)},
     .what = "Gives n (default 1) of a semaphore back.",
     .example = "{\"release\": \"slots\", \"n\": 2}",
     .op = OP_RELEASE,
     .go = "{release}.release({n})"},
    {.field = {OBJECT("pool_get", KIND(OBJ_POOL)), NAME("into", SLOT_A, KIND_ANY),
               NAME("ok", SLOT_B, KIND_NUMBER)},
     .what = "Pool.Get; ok tells whether there was something.",
     .example = "{\"pool_get\": \"buffers\", \"into\": \"b\", \"ok\": \"found\"}",
     .op = OP_POOLGET,
     .go = "simPoolGet({pool_get})"},
    {.field = {OBJECT("pool_put", KIND(OBJ_POOL)), VALUE("value", SLOT_A)},
     .what = "Pool.Put.",
     .example = "{\"pool_put\": \"buffers\", \"value\": \"b\"}",
     .op = OP_POOLPUT,
     .go = "{pool_put}.Put({value})"},
};
GROUP(locks, "Locks and waiting");

/* ---- shared variables ---- */

static void go_load(struct gen *g, const struct stmt *s)
{
    const struct part *into = part_of(s, "into"), *atomic = part_of(s, "atomic");
    if (into == NULL)
        return;
    bool plain = atomic == NULL || atomic->n == 0;
    gen_assign(
        g, into->name,
        gen_leaf(g, plain ? gen_variable(g, s->part[0].x)
                          : gen_text(g, "atomic.LoadInt64(%s)", gen_address(g, s->part[0].x))));
}

static void go_store(struct gen *g, const struct stmt *s)
{
    const struct part *atomic = part_of(s, "atomic");
    struct node *value = gen_int(g, gen_value(g, part_of(s, "value")->x));
    if (atomic != NULL && atomic->n != 0)
        gen_line(g, "atomic.StoreInt64(%s, %s)", gen_address(g, s->part[0].x),
                 gen_show(g, value, 2));
    else
        gen_line(g, "%s = %s", gen_variable(g, s->part[0].x), gen_show(g, value, 1));
}

static const struct statement variables_statements[] = {
    {.field = {OBJECT("load", KIND(OBJ_VAR)), NAME("into", SLOT_A, KIND_ANY),
               FLAG("atomic", SLOT_NONE)},
     .what = "Reads a variable. Plain unless `atomic`.",
     .example = "{\"load\": \"v\", \"into\": \"x\", \"atomic\": true}",
     .op = OP_LOADP,
     .op2 = OP_LOADA,
     .gen = go_load},
    {.field = {OBJECT("store", KIND(OBJ_VAR)), VALUE("value", SLOT_A), FLAG("atomic", SLOT_NONE)},
     .what = "Writes a variable. Plain unless `atomic`.",
     .example = "{\"store\": \"v\", \"value\": 1, \"atomic\": true}",
     .op = OP_STOREP,
     .op2 = OP_STOREA,
     .gen = go_store},
    {.field = {OBJECT("atomic_add", KIND(OBJ_VAR)), COUNT("value", SLOT_B, 1),
               NAME("into", SLOT_A, KIND_ANY)},
     .what = "Adds value (default 1) to a variable; into gets the new value.",
     .example = "{\"atomic_add\": \"hits\", \"value\": 2, \"into\": \"now\"}",
     .op = OP_ADDA,
     .go = "atomic.AddInt64({&atomic_add}, {value:2})"},
    {.field = {OBJECT("swap", KIND(OBJ_VAR)), VALUE("value", SLOT_B),
               NAME("into", SLOT_A, KIND_ANY)},
     .what = "Atomic exchange; into gets the old value.",
     .example = "{\"swap\": \"v\", \"value\": 0, \"into\": \"old\"}",
     .op = OP_SWAPA,
     .go = "atomic.SwapInt64({&swap}, {value:2})"},
    {.field = {OBJECT("cas", KIND(OBJ_VAR)), VALUE("old", SLOT_B), VALUE("new", SLOT_C),
               NAME("into", SLOT_A, KIND_ANY)},
     .what = "CompareAndSwap; into gets whether it did.",
     .example = "{\"cas\": \"v\", \"old\": 0, \"new\": 1, \"into\": \"won\"}",
     .op = OP_CASA,
     .go = "atomic.CompareAndSwapInt64({&cas}, {old:2}, {new:2})",
     .wrap = "simInt"},
};
GROUP(variables, "Shared variables");

/* ---- coroutines ---- */

static void go_pull(struct gen *g, const struct stmt *s)
{
    unsigned n = ++g->temps;
    gen_line(g, "p%u_ := simPull(func() {", n);
    g->indent++;
    gen_call_line(g, "", part_of(s, "from")->callee, "");
    g->indent--;
    gen_line(g, "})");
    gen_assign(g, s->part[0].name, gen_leaf(g, gen_text(g, "p%u_", n)));
}

static const struct statement coroutines_statements[] = {
    {.field = {NEW_NAME("pull", SLOT_A, KIND(OBJ_CORO)), CALLEE("from"), ARGS},
     .what = "iter.Pull: a coroutine over a function that yields.",
     .example = "{\"pull\": \"it\", \"from\": \"squares\", \"args\": [10]}",
     .op = OP_CORONEW,
     .gen = go_pull},
    {.field = {OBJECT("next", KIND(OBJ_CORO)), NAME("into", SLOT_A, KIND_ANY),
               NAME("ok", SLOT_B, KIND_NUMBER)},
     .what = "Resumes a coroutine. `ok`: there was a value.",
     .example = "{\"next\": \"it\", \"into\": \"x\", \"ok\": \"more\"}",
     .op = OP_CORONEXT,
     .go = "{next}.get()"},
    {.field = {OBJECT("stop_pull", KIND(OBJ_CORO))},
     .what = "Ends a coroutine.",
     .example = "{\"stop_pull\": \"it\"}",
     .op = OP_COROSTOP,
     .go = "{stop_pull}.stop()"},
    {.field = {VALUE("yield", SLOT_A), NAME("into", SLOT_B, KIND_NUMBER)},
     .what = "Inside a coroutine: hands a value out; into gets whether more is wanted.",
     .example = "{\"yield\": \"i * i\", \"into\": \"more\"}",
     .op = OP_YIELD,
     .go = "simYield({yield})"},
};
GROUP(coroutines, "Coroutines");

/* ---- objects made while it runs ---- */

static void emit_make(struct cc *c, const struct stmt *s)
{
    const struct shape *o = part_of(s, "as")->shape;
    uint8_t r = emit_into(c, s, "make", KIND(o->kind));
    int64_t param = o->kind == OBJ_FD ? -1 : o->param;
    if (o->kind == OBJ_COND)
        param = -o->param + (o->rlocker ? COND_RLOCKER : 0);
    if (o->arrivals != NULL)
        param = build_arrivals_of(c, o->arrivals);
    build_op(&c->b, OP_MAKE, r, (int)o->kind, NOREG, 0, param);
}

static void go_make(struct gen *g, const struct stmt *s)
{
    gen_assign(g, s->part[0].name,
               gen_call(g, "simAdd", gen_made(g, part_of(s, "as")->shape), NULL, NULL));
}

static const struct statement made_statements[] = {
    {.field = {NEW_NAME("make", SLOT_NONE, 0), SPECIAL("as", F_SHAPE)},
     .what = "A new object; the name gets its handle.",
     .example = "{\"make\": \"reply\", \"as\": {\"chan\": 1}}",
     .emit = emit_make,
     .gen = go_make},
};
GROUP(made, "Objects made while it runs");
