/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of objects: those the program declares, made at the start, and those it makes while it
 * runs. */
#include "objs.h"
#include "chan.h"
#include "extram.h"
#include "lock.h"
#include "lockrank.h"
#include "netpoll.h"
#include "panic.h"
#include "pool.h"

/* Where the object of a handle is: chunk k has the handles 1 + 64 * (2^k - 1) and so many more. */
static inline uint32_t object_chunk(uint64_t handle, uint64_t *place)
{
    uint64_t n = handle + 63;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(n);
    *place = n ^ UINT64_C(1) << log;
    return log - 6;
}

/* Under the lock, or before the world runs. */
static int64_t object_put(struct objects *o, void *p, uint8_t kind)
{
    uint64_t place;
    int64_t handle = ++o->made;
    uint32_t k = object_chunk((uint64_t)handle, &place);
    if (k >= OBJ_CHUNKS)
        throw("too many objects");
    struct object *chunk = a_own(&o->chunk[k]);
    if (chunk == NULL) {
        chunk = host_alloc((size_t)(UINT64_C(64) << k) * sizeof *chunk, 16);
        a_store(&o->chunk[k], chunk);
    }
    chunk[place] = (struct object){p, kind};
    return handle;
}

static int64_t object_add(void *p, uint8_t kind)
{
    struct objects *o = rt->objs;
    lock(&o->lock);
    int64_t handle = object_put(o, p, kind);
    unlock(&o->lock);
    return handle;
}

/* A chunk is there before the handles of its objects are: no order is needed to look. */
static const struct object *object_at(uint64_t handle)
{
    uint64_t place;
    if (handle - 1 >= (UINT64_C(64) << OBJ_CHUNKS) - 64)
        return NULL;
    const struct object *chunk = a_own(&rt->objs->chunk[object_chunk(handle, &place)]);
    return chunk != NULL ? &chunk[place] : NULL;
}

static void *object_slow(struct g *gp, int64_t handle, uint8_t kind)
{
    const struct object *e = object_at((uint64_t)handle);
    if (e != NULL && e->kind == kind)
        return e->p;
    if (handle != 0)
        fatalthrow(gp, THROW_USER,
                   "a value is used as a handle of an object that it does not name");
    return NULL;
}

static struct cond *cond_make(void *lock, uint8_t kind, bool rlocker)
{
    struct cond *c = host_alloc(sizeof *c, 16);
    c->L = kind == OBJ_MUTEX ? lock : NULL;
    c->rw = kind == OBJ_MUTEX ? NULL : lock;
    c->rlocker = rlocker;
    lockInit(&c->notify.lock, lockRankNotifyList);
    return c;
}

static struct weighted *weighted_make(int64_t size)
{
    struct weighted *w = host_alloc(sizeof *w, 16);
    lockInit(&w->lock, lockRankLeaf);
    w->size = size;
    return w;
}

/* A variable has a cache line of its own: false sharing would be an accident of the declaration
 * order. */
static struct var *var_make(int64_t value)
{
    struct var *v = host_alloc(sizeof *v, 64);
    a_init(&v->v, (uint64_t)value);
    return v;
}

/* Of all kinds but a Cond. */
static void *object_new(uint8_t kind, int64_t param)
{
    switch ((enum object_kind)kind) {
    case OBJ_CHAN: return makechan(param);
    case OBJ_MUTEX: return host_alloc(sizeof(struct smutex), 8);
    case OBJ_RWMUTEX: return host_alloc(sizeof(struct rwmutex), 8);
    case OBJ_WAITGROUP: return host_alloc(sizeof(struct waitgroup), 8);
    case OBJ_ONCE: return host_alloc(sizeof(struct once), 8);
    case OBJ_SEMA: return weighted_make(param);
    case OBJ_POOL: return pool_make();
    case OBJ_VAR: return var_make(param);
    case OBJ_FD: return netpoll_open((int32_t)param);
    case OBJ_COND:
    case OBJ_TIMER:
    case OBJ_CONTEXT:
    case OBJ_CORO:
    case OBJ_KINDS: break;
    }
    throw("object_new: kind");
}

static void objs_world_init(void)
{
    const struct program *prog = rt->prog;
    if (program_uses_cgo(prog))
        world_prof.iscgo = 1;
    struct objects *o = rt->objs = host_alloc(sizeof *o, 64);
    lockInit(&o->lock, lockRankLeaf);
    lockInit(&o->ctxlock, lockRankLeaf);
    lockInit(&o->stacklock, lockRankMheap);
    o->semtable = host_alloc((size_t)prof->sema_roots * sizeof *o->semtable, 64);
    for (int64_t i = 0; i < prof->sema_roots; i++)
        lockInit(&o->semtable[i].lock, lockRankRoot);
    void **decl = host_alloc((prog->nobjects + 1) * sizeof *decl, 64);
    prog_code = prog->code;
    objs_decl = decl;
    for (uint32_t i = 0; i < prog->nobjects; i++) {
        const struct object_decl *d = &prog->objects[i];
        if (d->kind != OBJ_COND)
            decl[i] = object_new(d->kind, d->param);
        if (d->kind == OBJ_CHAN)
            ((struct hchan *)decl[i])->index = (int32_t)i;
    }
    for (uint32_t i = 0; i < prog->nobjects; i++) {
        const struct object_decl *d = &prog->objects[i];
        int64_t lock = d->param & (COND_RLOCKER - 1);
        if (d->kind == OBJ_COND)
            decl[i] = cond_make(decl[lock], prog->objects[lock].kind, d->param >= COND_RLOCKER);
        (void)object_put(o, decl[i], d->kind);
    }
}

/* A channel made while the program runs; its index is what a select sorts by. */
static int64_t chan_object(int64_t size, struct hchan **c)
{
    *c = makechan(size);
    int64_t handle = object_add(*c, OBJ_CHAN);
    (*c)->index = (int32_t)(handle - 1);
    return handle;
}

/* A Cond over the lock with this handle; NULL: there is none. */
static struct cond *cond_over(struct g *gp, int64_t lock)
{
    bool rlocker = lock >= COND_RLOCKER;
    int64_t handle = rlocker ? lock - COND_RLOCKER : lock;
    const struct object *o = object_at((uint64_t)handle);
    uint8_t kind = rlocker || (o != NULL && o->kind == OBJ_RWMUTEX) ? OBJ_RWMUTEX : OBJ_MUTEX;
    void *L = object_slow(gp, handle, kind);
    return L != NULL ? cond_make(L, kind, rlocker) : NULL;
}

static enum opres op_make(struct g *gp, const struct insn *in)
{
    int64_t param = in->c != NOREG ? regs(gp)[in->c] : in->imm;
    uint8_t kind = in->b;
    void *made = NULL;
    if (kind == OBJ_CHAN || kind == OBJ_SEMA) {
        if (param < 0 || param > CHAN_SIZE_MAX)
            return gopanic_text(gp, PANIC_makechan);
    } else if (kind == OBJ_COND) {
        made = cond_over(gp, param);
        if (made == NULL)
            return gopanic_text(gp, PANIC_nil);
    } else if (kind == OBJ_FD && (param < -1 || param >= rt->prog->narrivals)) {
        return gopanic_text(gp, PANIC_nil);
    }
    struct hchan *c;
    int64_t handle = kind == OBJ_CHAN
                         ? chan_object(param, &c)
                         : object_add(made != NULL ? made : object_new(kind, param), kind);
    regs(gp)[in->a] = handle;
    return OP_DONE;
}
