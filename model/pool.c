/* SPDX-License-Identifier: BSD-3-Clause */
/* sync/pool.go. Per P one private slot and a queue (poolqueue.c); what a collection finds is the
 * victim, which the next one drops. A G is pinned to its P (m.locks) while it is at a pool, so the
 * world does not stop meanwhile.
 *
 * Arrays of places and their rings are what Go leaves to the collector: they are kept with their
 * pool and used again by it, from the stop of the world on after which nobody can see them. */
#include "pool.h"
#include "lock.h"
#include "park.h"
#include "poolqueue.h"
#include "race.h"
#include "sync.h"

enum { POOL_PAD = 128 }; /* a place's: two lines, as in Go */

struct poolLocal {
    bool has_private;
    int64_t private; /* the P's, pinned */
    struct poolChain shared;
};

/* What local and victim point to. */
struct poolLocals {
    struct poolLocals *link; /* of lost, of spare */
    int32_t room;
    struct poolLocal *of; /* POOL_PAD apart */
};
_Static_assert(sizeof(struct poolLocal) <= POOL_PAD, "a place has its lines for itself");

static struct poolLocal *indexLocal(struct poolLocals *l, int32_t i)
{
    return (struct poolLocal *)((char *)l->of + (size_t)i * POOL_PAD);
}

static struct pool *pool_make(void)
{
    lock(&rt->objs->lock);
    if (rt->objs->pools == NULL)
        rt->objs->pools = host_alloc(sizeof *rt->objs->pools, 64);
    unlock(&rt->objs->lock);
    return host_alloc(sizeof(struct pool), 64);
}

/* Go: make([]poolLocal, size). Holds allPoolsMu. */
static struct poolLocals *locals_new(struct pool *o, int32_t size)
{
    struct poolLocals *l = o->spare;
    work(alloc);
    if (l != NULL && l->room >= size) {
        o->spare = l->link;
        return l;
    }
    l = host_alloc(sizeof *l, 64);
    l->of = host_alloc((size_t)size * POOL_PAD, POOL_PAD);
    l->room = size;
    return l;
}

/* ---- pinning ---- */

/* sync/pool.go pin: the place of the P that cannot be taken from us until pool_unpin. NULL, and
 * not pinned: there is none yet. In pinSlow local is stored before localSize, so whoever sees the
 * size sees places for it. */
static struct poolLocal *pool_pin(struct pool *o, int32_t *pid)
{
    struct m *mp = acquirem();
    *pid = ((struct p *)a_own(&mp->p))->id;
    int32_t s = a_load_acq(&o->localSize);
    struct poolLocals *l = a_load_rlx(&o->local);
    if (*pid < s)
        return indexLocal(l, *pid);
    releasem(mp);
    return NULL;
}

static void pool_unpin(void) { releasem(getm()); }

/* sync/pool.go pinSlow: the mutex may not be waited for while pinned. */
static enum opres pool_pinSlow(struct g *gp)
{
    push_step(gp, STEP_poolPinned);
    return mutex_lock(gp, &rt->objs->pools->allPoolsMu);
}

/* pinSlow's second half, pinned again and with the mutex: the place of this P, in a new array if
 * the old one is too small. The old one goes, with its values, to `lost`, because thieves may be
 * looking at it until the world stops. */
static struct poolLocal *pool_local(struct pool *o, int32_t pid)
{
    int32_t s = a_load_rlx(&o->localSize);
    struct poolLocals *l = a_load_rlx(&o->local);
    if (pid < s)
        return indexLocal(l, pid);
    if (l == NULL) {
        o->next = rt->objs->pools->allPools;
        rt->objs->pools->allPools = o;
    } else {
        l->link = o->lost;
        o->lost = l;
    }
    lock(&rt->sched.lock); /* runtime.GOMAXPROCS(0) */
    int32_t size = a_load_rlx(&rt->gomaxprocs);
    unlock(&rt->sched.lock);
    l = locals_new(o, size);
    a_store(&o->local, l);
    a_store_rel(&o->localSize, size);
    return indexLocal(l, pid);
}

/* ---- Put and Get ---- */

/* sync/pool.go poolRaceAddr: who gets a value comes after whoever put it. */
static void pool_race(enum race_edge edge, const struct pool *o, int64_t v)
{
    if (race_on())
        race_tell(edge, race_curg(),
                  (uint64_t)(uintptr_t)o ^ ((uint64_t)v + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* sync/pool.go Put, pinned. */
static void put_pinned(struct poolLocal *l, int64_t v)
{
    if (l->has_private) {
        poolChain_pushHead(&l->shared, v);
        return;
    }
    l->private = v;
    l->has_private = true;
}

static bool take_private(struct poolLocal *l, int64_t *v)
{
    if (!l->has_private)
        return false;
    *v = l->private;
    l->has_private = false;
    return true;
}

/* The oldest of some P, those from this one on first. */
static bool pool_steal(struct poolLocals *l, int32_t size, int32_t from, int64_t *v)
{
    for (int32_t i = 0; i < size; i++)
        if (poolChain_popTail(&indexLocal(l, (from + i) % size)->shared, v))
            return true;
    return false;
}

/* sync/pool.go getSlow: other Ps' queues, then the victim, which is found empty once. */
static bool pool_getSlow(struct pool *o, int32_t pid, int64_t *v)
{
    int32_t size = a_load_acq(&o->localSize);
    struct poolLocals *l = a_load_rlx(&o->local);
    if (pool_steal(l, size, pid + 1, v))
        return true;
    size = a_load(&o->victimSize);
    if (pid >= size)
        return false;
    if (take_private(indexLocal(o->victim, pid), v) || pool_steal(o->victim, size, pid, v))
        return true;
    a_store(&o->victimSize, 0);
    return false;
}

/* sync/pool.go Get, pinned. */
static bool get_pinned(struct pool *o, struct poolLocal *l, int32_t pid, int64_t *v)
{
    *v = 0;
    return take_private(l, v) || poolChain_popHead(&l->shared, v) || pool_getSlow(o, pid, v);
}

/* The rest of the instruction that the G is at, pinned. */
static enum opres pool_pinned(struct g *gp, struct pool *o, struct poolLocal *l, int32_t pid)
{
    const struct insn *in = cur_insn(gp);
    int64_t v;
    if (in->op == OP_POOLPUT) {
        v = regs(gp)[in->a];
        pool_race(RACE_MERGE, o, v);
        put_pinned(l, v);
        pool_unpin();
        return OP_DONE;
    }
    bool hit = get_pinned(o, l, pid, &v);
    if (hit)
        pool_race(RACE_ACQUIRE, o, v);
    pool_unpin();
    regs(gp)[in->a] = v;
    set_reg(gp, in->b, hit);
    return OP_DONE;
}

/* sync/pool.go pinSlow, with the mutex held. The mutex is unlocked while pinned: so whoever waits
 * for it is readied and nobody yields to him. */
static enum opres step_poolPinned(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    struct pool *o = object_of(gp, in, in->c, OBJ_POOL);
    int32_t pid = ((struct p *)a_own(&acquirem()->p))->id;
    struct poolLocal *l = pool_local(o, pid);
    (void)mutex_unlock_inner(gp, &rt->objs->pools->allPoolsMu); /* orders nobody: race.Disable */
    return pool_pinned(gp, o, l, pid);
}

static enum opres pool_op(struct g *gp, struct pool *o)
{
    int32_t pid;
    struct poolLocal *l = pool_pin(o, &pid);
    return l == NULL ? pool_pinSlow(gp) : pool_pinned(gp, o, l, pid);
}

static enum opres pool_put(struct g *gp, struct pool *o) { return pool_op(gp, o); }
static enum opres pool_get(struct g *gp, struct pool *o) { return pool_op(gp, o); }

/* ---- the collection ---- */

static void locals_collect(struct pool *o, struct poolLocals *l)
{
    for (int32_t i = 0; i < l->room; i++) {
        indexLocal(l, i)->has_private = false;
        poolChain_collect(&indexLocal(l, i)->shared);
    }
    l->link = o->spare;
    o->spare = l;
}

static void victim_drop(struct pool *o)
{
    if (o->victim != NULL)
        locals_collect(o, o->victim);
    o->victim = NULL;
    a_store(&o->victimSize, 0);
}

static void lost_drop(struct pool *o)
{
    while (o->lost != NULL) {
        struct poolLocals *l = o->lost;
        o->lost = l->link;
        locals_collect(o, l);
    }
}

/* sync/pool.go poolCleanup, the world stopped: nobody is pinned. */
static void poolCleanup(void)
{
    struct pools *all = rt->objs->pools;
    if (all == NULL)
        return;
    for (struct pool *o = all->oldPools; o != NULL; o = o->next_old)
        victim_drop(o);
    all->oldPools = NULL;
    while (all->allPools != NULL) {
        struct pool *o = all->allPools;
        all->allPools = o->next;
        lost_drop(o);
        o->victim = a_load_rlx(&o->local);
        int32_t size = a_load_rlx(&o->localSize);
        a_store(&o->victimSize, size);
        a_store(&o->local, NULL);
        a_store(&o->localSize, 0);
        o->next_old = all->oldPools;
        all->oldPools = o;
    }
}
