/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "sim/base/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/arena_int.h"
#include "sim/base/pages.h"

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    STEP_MIN = 256 << 10,      /* first commit: a small world stays small */
    STEP_MAX = 64 << 20,       /* and a big one does not commit half again of its size */
    CLEAR_BY_MEMSET = 1 << 20, /* above this it is cheaper to give pages back than to clear them */
};

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

int arena_init(struct arena *a, size_t limit, size_t stacks_size, struct failure *f)
{
    memset(a, 0, sizeof *a);
    if (limit > SIZE_MAX / 4 || stacks_size > SIZE_MAX / 4)
        return fail(f, E_LIMIT, "memory limit of %zu bytes is too high", limit);
    size_t data = round_up(limit ? limit : 1, PAGE), reserved = data + round_up(stacks_size, PAGE);
    size_t mapping_size = reserved + HUGE_PAGE; /* room to align the base */
    void *m = pages_map(mapping_size, /*usable*/ false);
    if (m == NULL)
        return fail(f, E_LIMIT, "cannot reserve %zu MiB of address space: %s", mapping_size >> 20,
                    strerror(errno));
    a->mapping = m;
    a->mapping_size = mapping_size;
    a->base = (unsigned char *)round_up((uintptr_t)m, HUGE_PAGE);
    a->limit = limit;
    a->reserved = reserved;
    a->top = data;
    return 0;
}

void arena_release(struct arena *a)
{
    if (!a->mapping)
        return;
    stackpool_forget_(a);
    pages_used(a->base, a->committed);
    pages_used(a->base + a->top, a->stacks_mapped * a->stacks_stride);
    pages_unmap(a->mapping, a->mapping_size);
    memset(a, 0, sizeof *a);
}

/* Makes [from, to) zero. Whole pages of a long range go back to the system. */
static void clear(struct arena *a, size_t from, size_t to)
{
    if (from >= to)
        return;
    size_t first = round_up(from, PAGE);
    if (to - from > CLEAR_BY_MEMSET) {
        size_t whole = (to - first) / PAGE * PAGE;
        if (madvise(a->base + first, whole, MADV_DONTNEED) == 0) {
            memset(a->base + from, 0, first - from);
            memset(a->base + first + whole, 0, to - first - whole);
            return;
        }
    }
    memset(a->base + from, 0, to - from);
}

void arena_reset(struct arena *a)
{
    stackpool_forget_(a);
    clear(a, 0, a->used);
    a->used = 0;
    fail_reset(&a->failure);
}

void arena_on_fail(struct arena *a, arena_fail_fn *fn, void *arg)
{
    a->on_fail = fn;
    a->on_fail_arg = arg;
}

void arena_fail_(struct arena *a)
{
    if (a->on_fail)
        a->on_fail(a->on_fail_arg, &a->failure);
}

static int commit(struct arena *a, size_t want)
{
    size_t step = a->committed / 2;
    step = step < STEP_MIN ? STEP_MIN : step > STEP_MAX ? STEP_MAX : step;
    size_t to = a->committed + step > want ? a->committed + step : want;
    to = round_up(to, to > HUGE_PAGE ? HUGE_PAGE : PAGE);
    if (to > a->top)
        to = a->top;
    unsigned char *at = a->base + a->committed;
    if (mprotect(at, to - a->committed, PROT_READ | PROT_WRITE) != 0)
        return fail(&a->failure, E_LIMIT, "the system gives no more memory at %zu MiB: %s",
                    a->committed >> 20, strerror(errno));
    if (to >
        2 * (size_t)HUGE_PAGE) /* a hint: millions of Gs in random order are bound by the TLB */
        (void)madvise(at, to - a->committed, MADV_HUGEPAGE);
    a->committed = to;
    return 0;
}

int arena_commit(struct arena *a, size_t size, struct failure *f)
{
    if (size <= a->committed || commit(a, size < a->limit ? size : a->limit) == 0)
        return 0;
    return fail(f, a->failure.code, "%s", a->failure.text);
}

void *arena_alloc_slow_(struct arena *a, size_t size, size_t align)
{
    if (align == 0 || (align & (align - 1)) != 0 || align > PAGE)
        throwf("arena: bad alignment %zu", align);
    size_t at = round_up(a->used, align);
    if (size > a->limit || at > a->limit - size) {
        fail(&a->failure, E_LIMIT,
             "memory limit of %zu MiB reached: %zu bytes are in use and %zu more are needed",
             a->limit >> 20, a->used, size);
        arena_fail_(a);
        return NULL;
    }
    if (at + size > a->committed && commit(a, at + size) != 0) {
        arena_fail_(a);
        return NULL;
    }
    a->used = at + size;
    return a->base + at;
}

void *arena_array_(struct arena *a, size_t size, size_t count, size_t align)
{
    size_t bytes;
    if (__builtin_mul_overflow(size, count, &bytes))
        bytes = SIZE_MAX; /* more than any limit: the message says so */
    return arena_alloc(a, bytes, align);
}

void arena_cut_(struct arena *a, size_t used)
{
    clear(a, used, a->used);
    a->used = used;
}
