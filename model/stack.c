/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a G's program, on the G's own stack of words.
 *
 *   fp - 2   where to return: pc | func << 32
 *   fp - 1   caller's fp | result register << 32 | frame kind << 40
 *   fp ..    the function's registers
 *
 * The first frame has no header. The stack is the G's inline registers until it does not fit; then
 * a block of twice the size, up to Go's "stack overflow". Go grows by copying under the status
 * Gcopystack, which somebody who scans the G waits for. */
#include "stack.h"
#include "gstatus.h"
#include "lock.h"
#include "objs.h"
#include "panic.h"

enum { FRAME_HDR = 2, STACK_ORDER_MIN = 4 };

/* Blocks of 2^order words, free ones in a list per size (stack.go stackpool; its per-P caches are
 * left out). */
static void *stackpool_get(uint32_t order)
{
    struct objects *o = rt->objs;
    lock(&o->stacklock);
    void **block = o->stackfree[order];
    if (block != NULL)
        o->stackfree[order] = *block;
    unlock(&o->stacklock);
    return block != NULL ? (void *)block : host_alloc(sizeof(int64_t) << order, 16);
}

static void stackpool_put(void *block, uint32_t order)
{
    struct objects *o = rt->objs;
    lock(&o->stacklock);
    *(void **)block = o->stackfree[order];
    o->stackfree[order] = block;
    unlock(&o->stacklock);
}

static uint32_t stack_order(uint32_t words)
{
    return words <= 1u << STACK_ORDER_MIN ? STACK_ORDER_MIN
                                          : 32 - (uint32_t)__builtin_clz(words - 1);
}

static uint32_t stack_size(const struct g *gp)
{
    return gp->stack_order != 0 ? 1u << gp->stack_order : GREGS_INLINE;
}

static void g_free_frames(struct g *gp)
{
    if (gp->stack_order != 0)
        stackpool_put(gp->grown, gp->stack_order);
    gp->stack_order = 0;
}

/* Makes room for words; what is in use is kept. */
static void stack_resize(struct g *gp, uint32_t words, uint32_t used)
{
    uint32_t order = stack_order(words);
    int64_t *to = stackpool_get(order);
    for (uint32_t i = 0; i < used; i++)
        to[i] = g_stack(gp)[i];
    g_free_frames(gp);
    gp->grown = to;
    gp->stack_order = (uint8_t)order;
}

/* stack.go newstack's second half and copystack. */
static void growstack(struct g *gp, uint32_t words, uint32_t used)
{
    if (words > (rt->prog->stack_max != 0 ? rt->prog->stack_max : STACK_WORDS_MAX))
        fatalthrow(gp, THROW_RUNTIME, "stack overflow"); /* the world ends */
    casgstatus(gp, Grunning, Gcopystack);
    work(copystack);
    work_n(copystack_word, used);
    stack_resize(gp, words, used);
    gp->stack_grew = true;
    casgstatus(gp, Gcopystack, Grunning);
}

/* The next number of the G's own stream (splitmix64): what a program draws does not depend on the
 * schedule. */
static uint64_t g_rand(struct g *gp)
{
    uint64_t z = gp->rng += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* proc.go gostartcall: the G's first frame. */
static void g_start_at(struct g *gp, uint32_t func, const int64_t *args, uint32_t nargs)
{
    struct g *parent = a_own(&getm()->curg);
    gp->rng = parent != NULL ? g_rand(parent) : host_seed64();
    gp->fp = 0;
    if (func >= rt->prog->nfuncs) {
        gp->func = -1;
        push_step(gp, STEP_goexit1);
        push_step(gp, (enum step)(UINT32_MAX - func));
        gp->opval = nargs > 0 ? args[0] : 0;
        return;
    }
    const struct func *f = &rt->prog->funcs[func];
    if (f->nregs > stack_size(gp))
        stack_resize(gp, f->nregs, 0);
    gp->func = (int32_t)func;
    gp->pc = f->entry;
    for (uint32_t i = 0; i < f->nregs; i++)
        g_stack(gp)[i] = i < nargs ? args[i] : 0;
}

static enum frame_kind frame_kind(const struct g *gp)
{
    return gp->fp == 0 ? FRAME_CALL : (enum frame_kind)(g_stack(gp)[gp->fp - 1] >> 40 & 0xff);
}

/* Enters func: its registers are 0, the caller fills the parameters in. */
static void frame_push(struct g *gp, uint32_t func, enum frame_kind kind, uint8_t result)
{
    const struct func *f = &rt->prog->funcs[func];
    uint32_t top = gp->fp + (gp->func >= 0 ? rt->prog->funcs[gp->func].nregs : 0);
    uint32_t fp = top + FRAME_HDR, need = fp + f->nregs;
    if (need > stack_size(gp))
        growstack(gp, need, top);
    g_stack(gp)[fp - 2] = (int64_t)(gp->pc | (uint64_t)(uint32_t)gp->func << 32);
    g_stack(gp)[fp - 1] = (int64_t)(gp->fp | (uint64_t)result << 32 | (uint64_t)kind << 40);
    gp->fp = fp;
    gp->func = (int32_t)func;
    gp->pc = f->entry;
    for (uint32_t i = 0; i < f->nregs; i++)
        g_stack(gp)[fp + i] = 0;
}

static uint32_t frame_below(const struct g *gp, uint32_t fp)
{
    return (uint32_t)g_stack(gp)[fp - 1];
}

/* A callback from C becomes a plain call; false: it is none. */
static bool frame_uncall(struct g *gp, uint32_t fp)
{
    int64_t *link = &g_stack(gp)[fp - 1];
    if ((*link >> 40 & 0xff) != FRAME_CGOCB)
        return false;
    *link &= ~(INT64_C(0xff) << 40); /* FRAME_CALL */
    return true;
}

/* Back to the caller's frame; gives the result register. */
static uint8_t frame_pop(struct g *gp)
{
    uint64_t where = (uint64_t)g_stack(gp)[gp->fp - 2], link = (uint64_t)g_stack(gp)[gp->fp - 1];
    gp->pc = (uint32_t)where;
    gp->func = (int32_t)(where >> 32);
    gp->fp = (uint32_t)link;
    return (uint8_t)(link >> 32);
}
