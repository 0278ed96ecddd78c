/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation: from the P's cache without a lock, from the central list under one when it is empty,
 * from the heap when large. Size classes are left out: the cache is a number of bytes. */
#include "lock.h"
#include "mp.h"
#include "objs.h"
#include "panic.h"
#include "park.h"

enum { MCACHE_BYTES = 8192, LARGE_BYTES = 32 << 10 };
/* A scenario's machine has 1 TiB of memory: a heap beyond it is out of memory, as in mheap.grow. */
static const int64_t heap_max = INT64_C(1) << 40;

/* Memory that the heap never had is full of zeros. What it had is cleared; the first time the
 * system has to give a page for it. */
static void clear_block(struct gcController *c, int64_t bytes)
{
    uint32_t kb = (uint32_t)(bytes / 1024), live = (uint32_t)(a_peek(&c->heapLive) / 1024) + kb;
    if (live > c->heapPeak) {
        c->heapPeak = live;
        return;
    }
    work_n(clear_kb, kb);
    if (c->heapWritten + (uint32_t)(c->heapMarked / 1024) < c->heapPeak) {
        work_n(fresh_kb, kb);
        c->heapWritten += kb;
    }
}

/* mcache.refill, and the large path. True: heapLive grew, the trigger is worth a look
 * (shouldhelpgc). */
static bool take_bytes(struct p *pp, int64_t bytes)
{
    struct gcController *c = &rt->gc;
    if (bytes <= pp->gc.cache_left) {
        pp->gc.cache_left -= bytes;
        return false;
    }
    int64_t fresh = bytes > LARGE_BYTES ? bytes
                                        : (bytes + MCACHE_BYTES - 1) / MCACHE_BYTES * MCACHE_BYTES;
    lock(&c->central);
    work(mcache_refill);
    clear_block(c, fresh);
    unlock(&c->central);
    a_add(&c->heapLive, fresh);
    if (bytes <= LARGE_BYTES)
        pp->gc.cache_left = fresh - bytes;
    return true;
}

/* mallocgc, after the debt is paid. */
static enum opres step_mallocgc(struct g *gp)
{
    int64_t bytes = gp->opval;
    struct m *mp = acquirem();
    mp->mallocing = 1;
    work(alloc);
    bool grew = take_bytes(mp_p(mp), bytes);
    mp->mallocing = 0;
    releasem(mp);
    if (grew && a_load_rlx(&rt->gc.heapLive) > heap_max) {
        fatalthrow(gp, THROW_RUNTIME, "runtime: out of memory (the simulated machine has 1024GB)");
        return OP_DONE;
    }
    if (grew && trigger_test(gcTriggerHeap, 0))
        return gcStart(gp, gcTriggerHeap, 0);
    return OP_DONE;
}

static enum opres gc_alloc(struct g *gp, int64_t bytes, bool live)
{
    if (live)
        a_add(&rt->gc.reachable, bytes);
    gp->opval = bytes;
    push_step(gp, STEP_mallocgc);
    if (!gc_blacken())
        return OP_DONE;
    int64_t debt = bytes < ASSIST_MAX ? bytes : ASSIST_MAX;
    gp->gcAssistBytes = gp->gcAssistBytes < -ASSIST_MAX ? gp->gcAssistBytes
                                                        : gp->gcAssistBytes - (int32_t)debt;
    return gcAssistAlloc(gp);
}

/* mallocgc of what the instruction makes. True: the goroutine has to assist, and the instruction
 * runs when that is paid. Not for who plays a tape: it says when the recorded goroutine did. */
static bool assists_first(struct g *gp, const struct insn *in, enum opres *r)
{
    enum { OBJECT_BYTES = 96 };
    bool paid = gp->paid;
    gp->paid = false;
    if (rt->gc.phase != GCmark || paid || in != prog_code + gp->pc - 1)
        return false;
    gp->gcAssistBytes -= OBJECT_BYTES;
    *r = gcAssistAlloc(gp);
    if (*r == OP_DONE && gp->nkont == 0)
        return false;
    gp->paid = true;
    gp->pc--;
    return true;
}

static void gc_free(int64_t bytes)
{
    int64_t left = a_add(&rt->gc.reachable, -bytes);
    if (left < 0)
        a_add(&rt->gc.reachable,
              -left); /* freed more than was held: the program's own arithmetic */
}
