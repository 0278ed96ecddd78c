/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of coroutines from an arena, with guard pages between, so that a world holds them and a
 * checkpoint can copy them (coro.h). */
#define _GNU_SOURCE
#include "sim/base/coro.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/arena_int.h"

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(low, high) 0
#endif

/* Tops differ by an odd number of cache lines: neighbours never share a set, 32 colours in all.
 * Measured: 64 coroutines 7.5 -> 4.0 ns a switch, even two 6.2 -> 4.0 (stores and loads at equal
 * offsets of different pages are taken for the same). */
enum { PAGE = 4096, COLOUR_STEP = 320, COLOUR_SPAN = 2048 };

static size_t stride_of(size_t stack_size)
{
    return (stack_size + PAGE - 1) / PAGE * PAGE + STACK_GUARD_SIZE;
}

size_t stackpool_space(size_t stack_size, uint32_t count_max)
{
    return stride_of(stack_size) * count_max;
}

static unsigned char *stack_low(const struct arena *a, uint32_t i)
{
    return a->base + a->top + a->stacks_stride * i + STACK_GUARD_SIZE;
}

/* Another geometry puts guard pages where stacks were: start over with nothing mapped. */
static int set_stride(struct arena *a, size_t stride, struct failure *f)
{
    if (a->stacks_stride == stride)
        return 0;
    size_t size = a->reserved - a->top;
    if (a->stacks_mapped && (madvise(a->base + a->top, size, MADV_DONTNEED) != 0 ||
                             mprotect(a->base + a->top, size, PROT_NONE) != 0))
        return fail(f, E_LIMIT, "cannot unmap the stacks: %s", strerror(errno));
    a->stacks_mapped = 0;
    a->stacks_stride = stride;
    return 0;
}

int stackpool_init(struct stackpool *sp, struct arena *a, size_t stack_size, uint32_t count_max,
                   struct failure *f)
{
    memset(sp, 0, sizeof *sp);
    if (stack_size < 4 * PAGE || stack_size > 1u << 30)
        return fail(f, E_LIMIT, "stack size: want %d .. 2^30 bytes, got %zu", 4 * PAGE, stack_size);
    if (count_max < 1 || count_max > STACK_COUNT_MAX)
        return fail(f, E_LIMIT, "threads: want 1 .. %d, got %u", STACK_COUNT_MAX, count_max);
    if (stackpool_space(stack_size, count_max) > a->reserved - a->top)
        return fail(f, E_LIMIT, "threads: %u stacks of %zu KiB do not fit the reserved range",
                    count_max, stack_size >> 10);
    int rc = set_stride(a, stride_of(stack_size), f);
    if (rc)
        return rc;
    struct stack *stacks = arena_array(a, struct stack, count_max);
    if (!stacks)
        return fail(f, a->failure.code, "%s", a->failure.text);
    *sp = (struct stackpool){.arena = a,
                             .stack_size = stride_of(stack_size) - STACK_GUARD_SIZE,
                             .count_max = count_max,
                             .stacks = stacks};
    a->stacks = sp;
    return 0;
}

static int map_stack(struct arena *a, size_t size)
{
    unsigned char *low = stack_low(a, a->stacks_mapped);
    if (mprotect(low, size, PROT_READ | PROT_WRITE) != 0)
        return fail(&a->failure, E_LIMIT, "the system gives no memory for thread %u: %s",
                    a->stacks_mapped + 1, strerror(errno));
    (void)VALGRIND_STACK_REGISTER(low, low + size);
    a->stacks_mapped++;
    return 0;
}

/* Index of a free mapped stack, or a negative fail code. */
static int take(struct stackpool *sp)
{
    struct arena *a = sp->arena;
    if (sp->free_head) {
        uint32_t i = sp->free_head - 1;
        sp->free_head = sp->stacks[i].next_free;
        return (int)i;
    }
    if (sp->count_made == sp->count_max)
        return fail(&a->failure, E_LIMIT, "limit of %u threads reached", sp->count_max);
    if (sp->count_made == a->stacks_mapped) {
        int rc = map_stack(a, sp->stack_size);
        if (rc)
            return rc;
    }
    return (int)sp->count_made++;
}

int stackpool_start(struct stackpool *sp, struct coro *c, coro_fn *fn, void *arg)
{
    int i = take(sp);
    if (i < 0) {
        arena_fail_(sp->arena);
        return i;
    }
    size_t colour = (size_t)i * COLOUR_STEP % COLOUR_SPAN;
    sp->stacks[i].coro = c;
    sp->count_used++;
    coro_init(c, stack_low(sp->arena, (uint32_t)i), sp->stack_size - colour, fn, arg);
    return 0;
}

void stackpool_end(struct stackpool *sp, struct coro *c)
{
    size_t at = arena_offset(sp->arena, c->stack) - sp->arena->top;
    uint32_t i = (uint32_t)(at / sp->arena->stacks_stride);
    if (i >= sp->count_made || sp->stacks[i].coro != c)
        throw("stackpool: not a coroutine of this pool");
    coro_release(c);
    sp->stacks[i] = (struct stack){.coro = NULL, .next_free = sp->free_head};
    sp->free_head = i + 1;
    sp->count_used--;
}

void stackpool_forget_(struct arena *a)
{
    struct stackpool *sp = a->stacks;
    if (!sp)
        return;
    for (uint32_t i = 0; i < sp->count_made; i++)
        if (sp->stacks[i].coro)
            coro_release(sp->stacks[i].coro);
    a->stacks = NULL;
}
