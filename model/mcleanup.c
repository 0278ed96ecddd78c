/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.AddCleanup (mcleanup.go). In 1.24 cleanups run on the finalizer goroutine. Since 1.25
 * each P fills blocks of them while it sweeps, and full ones, or all when sweeping is over, go on a
 * stack for a number of goroutines: at most one per four Ps. An M that looks for work wakes as many
 * as there are blocks (findRunnable, step 6), and leaves word how many more are needed; these are
 * made by the next AddCleanup. */
#include "gqueue.h"
#include "lock.h"
#include "lockrank.h"
#include "newproc.h"
#include "objs.h"
#include "park.h"
#include "spin.h"

static void cleanups_init(struct cleanupQueue *q)
{
    lockInit(&q->lock, lockRankCleanupQueue);
    lockInit(&q->alloc_lock, lockRankLeaf);
    q->local = host_alloc((size_t)rt->allp_cap * sizeof(struct cleanupBlock *), 8);
}

static uint32_t block_room(void) { return prof->cleanup_small_blocks ? 20 : CLEANUPS_MAX; }

/* ---- blocks ---- */

static struct cleanupBlock *block_at(struct cleanupQueue *q, uint32_t id)
{
    uint32_t k = 31 - (uint32_t)__builtin_clz(id);
    return q->chunks[k] + (id - (1u << k));
}

static struct cleanupBlock *block_new(struct cleanupQueue *q)
{
    lock(&q->alloc_lock);
    uint32_t id = ++q->nblocks, k = 31 - (uint32_t)__builtin_clz(id);
    if (id == 1u << k)
        q->chunks[k] = host_alloc(((size_t)1 << k) * sizeof(struct cleanupBlock), 64);
    struct cleanupBlock *b = block_at(q, id);
    b->id = id;
    unlock(&q->alloc_lock);
    return b;
}

/* lfstack.go: a stack by CAS, whose top word has a count against the return of a block. */
static void lfstack_push(lfstack *head, struct cleanupBlock *b)
{
    uint64_t top = (uint64_t)++b->pushcnt << 32 | b->id;
    for (;;) {
        uint64_t old = a_load(head);
        a_store_rlx(&b->next, old);
        if (a_cas(head, old, top))
            return;
    }
}

static struct cleanupBlock *lfstack_pop(struct cleanupQueue *q, lfstack *head)
{
    for (;;) {
        uint64_t old = a_load(head);
        if (old == 0)
            return NULL;
        struct cleanupBlock *b = block_at(q, (uint32_t)old);
        uint64_t next = a_load(&b->next);
        if (a_cas(head, old, next))
            return b;
    }
}

static void block_put(struct cleanupBlock *b, struct special *s) { b->cleanups[b->n++] = s; }

/* cleanupBlock.take: as many from the end of b as there is room. */
static void block_take(struct cleanupBlock *a, struct cleanupBlock *b)
{
    uint32_t room = block_room() - a->n, n = b->n < room ? b->n : room;
    for (uint32_t i = 0; i < n; i++)
        block_put(a, b->cleanups[b->n - n + i]);
    b->n -= n;
}

/* ---- while sweeping ---- */

static void push_full(struct cleanupQueue *q, struct cleanupBlock *b)
{
    lfstack_push(&q->full, b);
    a_add(&q->workUnits, 1);
}

/* mcleanup.go cleanupQueue.enqueue, by a sweeper. */
static void cleanup_enqueue(struct special *s, struct p *pp)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    struct m *mp = acquirem();
    struct cleanupBlock **local = &q->local[pp->id], *b = *local;
    if (b == NULL) {
        if (a_load(&q->flushed))
            a_store(&q->flushed, false);
        b = lfstack_pop(q, &q->free);
        if (b == NULL)
            b = block_new(q);
        *local = b;
    }
    block_put(b, s);
    if (b->n == block_room()) {
        *local = NULL;
        push_full(q, b);
    }
    releasem(mp);
}

/* mcleanup.go cleanupQueue.flush: by the last sweeper. What the Ps have begun is put together. */
static void cleanups_flush(void)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    struct m *mp = acquirem();
    struct cleanupBlock *cb = NULL;
    uint64_t flushed = 0;
    for (int32_t id = 0; id < rt->allp_len; id++) {
        struct cleanupBlock *b = q->local[id];
        if (b == NULL)
            continue;
        q->local[id] = NULL;
        if (cb == NULL) {
            cb = b;
            continue;
        }
        block_take(cb, b);
        if (cb->n == block_room()) {
            lfstack_push(&q->full, cb);
            flushed++;
            cb = b;
            b = NULL;
        }
        if (b != NULL && b->n == 0)
            lfstack_push(&q->free, b);
    }
    if (cb != NULL) {
        lfstack_push(&q->full, cb);
        flushed++;
    }
    if (flushed != 0)
        a_add(&q->workUnits, flushed);
    a_store(&q->flushed, true);
    releasem(mp);
}

/* ---- waking ---- */

static uint32_t maxCleanupGs(void)
{
    int32_t n = a_load_rlx(&rt->gomaxprocs) / 4;
    return n > 1 ? (uint32_t)n : 1;
}

/* mcleanup.go cleanupQueue.needsWake. */
static bool cleanups_needWake(void)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    if (a_load(&q->workUnits) == 0)
        return false;
    if (a_load(&q->asleep) > 0)
        return true;
    uint32_t have = a_load(&q->ng);
    return have < maxCleanupGs();
}

/* mcleanup.go cleanupQueue.wake: one goroutine to a block. */
static void cleanups_wake(void)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    struct gList list = {0};
    lock(&q->lock);
    uint64_t units = a_load(&q->workUnits);
    uint32_t asleep = a_load(&q->asleep), wake = units < asleep ? (uint32_t)units : asleep;
    if (units > asleep) {
        uint32_t extra = (uint32_t)units - asleep, room = maxCleanupGs();
        room -= a_load(&q->ng);
        if (room > 0)
            a_add(&q->needg, extra < room ? extra : room);
    }
    if (wake > 0)
        a_add(&q->asleep, 0 - wake);
    for (; wake > 0; wake--)
        gList_push(&list, gList_pop(&q->sleeping));
    unlock(&q->lock);
    injectglist(&list);
}

/* ---- the goroutines ---- */

/* mcleanup.go cleanupQueue.needG and createGs. */
static bool cleanups_needG(struct cleanupQueue *q)
{
    uint32_t have = a_load(&q->ng);
    if (have >= maxCleanupGs())
        return false;
    return have == 0 || a_load(&q->needg) > 0;
}

static void cleanups_createGs(struct cleanupQueue *q)
{
    lock(&q->lock);
    uint32_t have = a_load(&q->ng), room = maxCleanupGs() - have;
    uint32_t need = a_xchg(&q->needg, 0);
    if (need > room)
        need = room;
    if (have == 0 && need == 0)
        need = 1;
    if (need > 0)
        a_add(&q->ng, need);
    unlock(&q->lock);
    for (; need > 0; need--)
        (void)newsysproc(STEP_runCleanups, NULL);
}

static bool tryTakeWork(struct cleanupQueue *q)
{
    for (;;) {
        uint64_t units = a_load(&q->workUnits);
        if (units == 0)
            return false;
        if (a_cas(&q->workUnits, units, units - 1))
            return true;
    }
}

/* beginRunningCleanups, endRunningCleanups. */
static void cleanups_running(struct cleanupQueue *q, int32_t change)
{
    struct m *mp = acquirem();
    a_add(&q->running, (uint32_t)change);
    releasem(mp);
}

/* The next cleanup of the goroutine's block, in order. */
static enum opres cleanup_run(struct g *gp)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    struct gext *x = gp->ext;
    struct cleanupBlock *b = x->cleanups;
    if (x->cleanup < b->n) {
        struct special *s = b->cleanups[x->cleanup];
        b->cleanups[x->cleanup++] = NULL;
        special_call(gp, s, FRAME_CLEANUP);
        return OP_DONE;
    }
    cleanups_running(q, -1);
    b->n = 0;
    lfstack_push(&q->free, b);
    push_step(gp, STEP_runCleanups);
    return OP_DONE;
}

/* mcleanup.go cleanupQueue.dequeue, and what runCleanups does with the block. */
static enum opres step_runCleanups(struct g *gp)
{
    struct cleanupQueue *q = &rt->fin->cleanups;
    special_goroutine(gp);
    while (!tryTakeWork(q)) {
        lock(&q->lock);
        a_add(&q->asleep, 1); /* before the second look: new work will find us */
        if (a_load(&q->workUnits) == 0) {
            gList_push(&q->sleeping, gp);
            push_step(gp, STEP_runCleanups);
            return goparkunlock(gp, &q->lock, waitReasonCleanupWait);
        }
        a_add(&q->asleep, (uint32_t)-1);
        unlock(&q->lock);
    }
    g_ext(gp)->cleanups = lfstack_pop(q, &q->full);
    gp->ext->cleanup = 0;
    cleanups_running(q, 1);
    return cleanup_run(gp);
}

/* mcleanup.go AddCleanup. */
static enum opres op_cleanup(struct g *gp, const struct insn *in)
{
    if (!prof->cleanup_gs)
        createfing();
    else if (cleanups_needG(&rt->fin->cleanups))
        cleanups_createGs(&rt->fin->cleanups);
    addspecial(gp, in, /*cleanup*/ true);
    return OP_DONE;
}
