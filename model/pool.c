/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.Pool: per P one private slot and a shared stack, of which the owner takes the newest and
 * others the oldest. Go's shared part is a lock-free chain of rings; here a lock per P stands for
 * it. What a pool keeps is dropped by the second GC after its last use. */
#include "pool.h"
#include "lock.h"
#include "lockrank.h"
#include "objs.h"
#include "park.h"

enum { POOL_SHARED = 128 };

struct poolLocal {
    bool has_private, has_victim;
    int64_t private, victim; /* owner P, pinned */
    struct mutex lock;       /* the fields below */
    uint32_t head, tail;     /* shared[tail .. head) */
    int64_t *shared;
};

static struct pool *pool_make(void)
{
    struct pool *o = host_alloc(sizeof *o, 16);
    size_t n = (size_t)rt->allp_cap;
    o->local = host_alloc(n * sizeof *o->local, 64);
    for (size_t i = 0; i < n; i++)
        lockInit(&o->local[i].lock, lockRankLeaf);
    lock(&rt->objs->lock);
    o->next = rt->objs->pools;
    rt->objs->pools = o;
    unlock(&rt->objs->lock);
    return o;
}

/* sync/pool.go Put. A full shared part grows in Go; here the value is dropped, as a GC might have
 * done. */
static void pool_put(struct pool *o, int64_t v)
{
    struct m *mp = acquirem();
    struct poolLocal *l = &o->local[((struct p *)a_own(&mp->p))->id];
    if (!l->has_private) {
        l->private = v;
        l->has_private = true;
    } else {
        lock(&l->lock);
        if (l->shared == NULL)
            l->shared = host_alloc(POOL_SHARED * sizeof(int64_t), 64);
        if (l->head - l->tail < POOL_SHARED)
            l->shared[l->head++ % POOL_SHARED] = v;
        unlock(&l->lock);
    }
    releasem(mp);
}

static bool pool_pop(struct poolLocal *l, bool newest, int64_t *v)
{
    lock(&l->lock);
    bool any = l->head != l->tail;
    if (any)
        *v = newest ? l->shared[--l->head % POOL_SHARED] : l->shared[l->tail++ % POOL_SHARED];
    unlock(&l->lock);
    return any;
}

/* sync/pool.go getSlow: the other Ps' shared parts, then what the last GC left over. */
static bool pool_get_slow(struct pool *o, int32_t pid, int64_t *v)
{
    int32_t n = a_load_rlx(&rt->gomaxprocs);
    for (int32_t i = 0; i < n; i++)
        if (pool_pop(&o->local[(pid + i + 1) % n], /*newest*/ false, v))
            return true;
    struct poolLocal *l = &o->local[pid];
    if (!l->has_victim)
        return false;
    *v = l->victim;
    l->has_victim = false;
    return true;
}

/* sync/pool.go Get. False: the pool is empty. */
static bool pool_get(struct pool *o, int64_t *v)
{
    struct m *mp = acquirem();
    int32_t pid = ((struct p *)a_own(&mp->p))->id;
    struct poolLocal *l = &o->local[pid];
    bool hit = true;
    *v = 0;
    if (l->has_private) {
        *v = l->private;
        l->has_private = false;
    } else {
        hit = pool_pop(l, /*newest*/ true, v) || pool_get_slow(o, pid, v);
    }
    releasem(mp);
    return hit;
}

/* sync/pool.go poolCleanup, the world stopped. Of the victims only the private ones are kept. */
static void poolCleanup(void)
{
    for (struct pool *o = rt->objs->pools; o != NULL; o = o->next)
        for (int32_t i = 0; i < rt->allp_cap; i++) {
            struct poolLocal *l = &o->local[i];
            l->has_victim = l->has_private;
            l->victim = l->private;
            l->has_private = false;
            l->head = l->tail = 0;
        }
}
