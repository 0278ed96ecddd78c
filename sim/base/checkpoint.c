/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a world: saved and put back at the same addresses (arena.h). */
#define _GNU_SOURCE
#include "sim/base/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/arena_int.h"
#include "sim/base/coro.h"
#include "sim/base/fingerprint.h"
#include "sim/base/pages.h"

#if defined(GMPSIM_ASAN)
#include <sanitizer/asan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#ifndef VALGRIND_MAKE_MEM_UNDEFINED
#define VALGRIND_MAKE_MEM_UNDEFINED(p, n) 0
#endif

/* Layout of a copy: head, data, then per live stack a piece and its bytes. All sizes are rounded up
 * to 8. */
struct head {
    size_t used;
    uint32_t pieces;
};

struct piece {
    unsigned char *stack, *from; /* its lowest byte; the lowest that is used */
    size_t size;
};

static size_t round8(size_t n) { return (n + 7) & ~(size_t)7; }

#if defined(GMPSIM_ASAN)
/* A stack has poisoned bytes between its variables, and which ones is part of its state: the shadow
 * is copied along. No memcpy, which would complain. */
static unsigned char *shadow_of(const unsigned char *p)
{
    size_t scale, offset;
    __asan_get_shadow_mapping(&scale, &offset);
    return (unsigned char *)(((uintptr_t)p >> scale) + offset);
}

__attribute__((no_sanitize_address, noinline)) static void copy_raw(
    volatile unsigned char *to, const volatile unsigned char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

static size_t stack_copy_size(size_t size) { return round8(size) + round8(size / 8); }

static void stack_save(unsigned char *to, const unsigned char *stack, size_t size)
{
    copy_raw(to, stack, size);
    copy_raw(to + round8(size), shadow_of(stack), size / 8);
}

static void stack_restore(unsigned char *stack, const unsigned char *from, size_t size)
{
    copy_raw(stack, from, size);
    copy_raw(shadow_of(stack), from + round8(size), size / 8);
}

/* Below is nobody's any more; but a run that was cut in the middle of a call has left its poison
 * there, and what is called without a frame of ASan's making would meet it. */
static void nothing_below(const struct piece *p)
{
    __asan_unpoison_memory_region(p->stack, (size_t)(p->from - p->stack));
}
#else
static void nothing_below(const struct piece *p) { (void)p; }

static size_t stack_copy_size(size_t size) { return round8(size); }

static void stack_save(unsigned char *to, const unsigned char *stack, size_t size)
{
    memcpy(to, stack, size);
}

static void stack_restore(unsigned char *stack, const unsigned char *from, size_t size)
{
    (void)VALGRIND_MAKE_MEM_UNDEFINED(stack, size); /* it thinks that popped frames are gone */
    memcpy(stack, from, size);
}
#endif

/* The used part of the stack of a coroutine that is not running. Starts at a multiple of 8, which
 * the shadow wants. */
static struct piece used_part(const struct coro *c)
{
    unsigned char *low = coro_used_from(c), *high = (unsigned char *)c->stack + c->size;
    low = (unsigned char *)((uintptr_t)low & ~(uintptr_t)7);
    return (struct piece){c->stack, low, (size_t)(high - low)};
}

static size_t size_needed(const struct arena *a)
{
    size_t n = round8(sizeof(struct head)) + round8(a->used);
    const struct stackpool *sp = a->stacks;
    for (uint32_t i = 0; sp && i < sp->count_made; i++)
        if (sp->stacks[i].coro)
            n += sizeof(struct piece) + stack_copy_size(used_part(sp->stacks[i].coro).size);
    return n;
}

static int reserve(struct checkpoint *c, size_t size, struct failure *f)
{
    if (size <= c->capacity)
        return 0;
    size_t capacity = (size + size / 2 + 4095) & ~(size_t)4095;
    void *m = c->mem ? mremap(c->mem, c->capacity, capacity, MREMAP_MAYMOVE)
                     : mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return fail(f, E_LIMIT, "no memory for a checkpoint of %zu MiB: %s", size >> 20,
                    strerror(errno));
    c->mem = m;
    c->capacity = capacity;
    return 0;
}

/* ---- pages that were written to ---- */

enum { PAGE = 4096, PAGES_PER_WORD = 64 };

static size_t touched_size(size_t pages)
{
    return (pages + PAGES_PER_WORD - 1) / PAGES_PER_WORD * sizeof(uint64_t);
}

bool checkpoint_watch(struct checkpoint *c, const struct arena *a)
{
    size_t pages = ((const struct head *)c->mem)->used / PAGE;
    checkpoint_unwatch(c);
    if (pages == 0)
        return false;
    uint64_t *touched = pages_map(touched_size(pages), /*usable*/ true);
    if (touched == NULL)
        return false;
    if (mprotect(a->base, pages * PAGE, PROT_READ) != 0) {
        pages_unmap(touched, touched_size(pages));
        return false;
    }
    c->watched = a->base;
    c->refused = false;
    c->pages = pages;
    c->touched = touched;
    return true;
}

void checkpoint_unwatch(struct checkpoint *c)
{
    if (c->watched == NULL)
        return;
    if (mprotect(c->watched, c->pages * PAGE, PROT_READ | PROT_WRITE) != 0)
        c->refused = true; /* whoever writes to one learns it: checkpoint_touched */
    pages_unmap(c->touched, touched_size(c->pages));
    c->watched = NULL;
    c->touched = NULL;
    c->pages = 0;
}

/* A page that cannot be opened alone (each is a mapping of its own then, and the system has a limit
 * of those) is opened with all others. */
bool checkpoint_touched(struct checkpoint *c, const void *addr)
{
    size_t page = ((uintptr_t)addr - (uintptr_t)c->watched) / PAGE;
    if (c->watched == NULL || page >= c->pages ||
        (c->touched[page / PAGES_PER_WORD] >> page % PAGES_PER_WORD & 1) != 0)
        return false;
    if (mprotect(c->watched + page * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0) {
        c->touched[page / PAGES_PER_WORD] |= UINT64_C(1) << page % PAGES_PER_WORD;
        return true;
    }
    memset(c->touched, 0xff, touched_size(c->pages));
    c->refused = mprotect(c->watched, c->pages * PAGE, PROT_READ | PROT_WRITE) != 0;
    return !c->refused;
}

/* The data, which begins at from; those before at_least are as they were. */
static void restore_data(const struct checkpoint *c, unsigned char *to, const unsigned char *from,
                         size_t at_least, size_t size)
{
    size_t whole = c->pages * PAGE;
    if (c->watched != to) {
        memcpy(to + at_least, from + at_least, size - at_least);
        return;
    }
    for (size_t word = 0; word * PAGES_PER_WORD < c->pages; word++)
        for (uint64_t rest = c->touched[word]; rest != 0; rest &= rest - 1) {
            size_t at = (word * PAGES_PER_WORD + (size_t)__builtin_ctzll(rest)) * PAGE;
            if (at < whole)
                memcpy(to + at, from + at, PAGE);
        }
    memcpy(to + whole, from + whole, size - whole);
}

int checkpoint_save(struct checkpoint *c, const struct arena *a, struct failure *f)
{
    checkpoint_unwatch(c);
    if (a->failure.code != E_OK)
        return fail(f, a->failure.code, "%s", a->failure.text);
    if (a->stacks && a->stacks->count_used && !coro_can_checkpoint())
        return fail(f, E_LIMIT,
                    "this build cannot copy coroutines (a sanitizer keeps their frames)");
    size_t size = size_needed(a);
    int rc = reserve(c, size, f);
    if (rc)
        return rc;
    struct head *h = (struct head *)c->mem;
    *h = (struct head){.used = a->used};
    unsigned char *to = c->mem + round8(sizeof *h);
    memcpy(to, a->base, a->used);
    to += round8(a->used);
    const struct stackpool *sp = a->stacks;
    for (uint32_t i = 0; sp && i < sp->count_made; i++) {
        if (!sp->stacks[i].coro)
            continue;
        struct piece piece = used_part(sp->stacks[i].coro);
        memcpy(to, &piece, sizeof piece);
        stack_save(to + sizeof piece, piece.from, piece.size);
        to += sizeof piece + stack_copy_size(piece.size);
        h->pieces++;
    }
    c->size = size;
    return 0;
}

void checkpoint_restore(const struct checkpoint *c, struct arena *a)
{
    checkpoint_restore_from(c, a, 0);
}

void checkpoint_restore_from(const struct checkpoint *c, struct arena *a, size_t at_least)
{
    if (!c->size)
        throw("checkpoint: holds nothing");
    const struct head *h = (const struct head *)c->mem;
    if (h->used > a->committed)
        throw("checkpoint: is of another world");
    const unsigned char *from = c->mem + round8(sizeof *h);
    if (a->used > h->used)
        arena_cut_(a, h->used);
    a->used = h->used;
    fail_reset(&a->failure); /* what had failed cannot be saved */
    restore_data(c, a->base, from, at_least, h->used);
    from += round8(h->used);
    for (uint32_t i = 0; i < h->pieces; i++) {
        struct piece piece;
        memcpy(&piece, from, sizeof piece);
        stack_restore(piece.from, from + sizeof piece, piece.size);
        nothing_below(&piece);
        from += sizeof piece + stack_copy_size(piece.size);
    }
}

/* Of whole words from `at` on; beyond the copy there are zeros. */
static void mix_words(const unsigned char *now, const unsigned char *then, size_t at, size_t end,
                      size_t kept, struct fingerprint *f)
{
    for (; at + 8 <= end; at += 8) {
        uint64_t is, was = 0;
        memcpy(&is, now + at, 8);
        if (at + 8 <= kept)
            memcpy(&was, then + at, 8);
        if (is != was)
            fp_mix2(f, at, is);
    }
}

void checkpoint_mix(const struct checkpoint *c, const struct arena *a, size_t from,
                    struct fingerprint *f)
{
    size_t kept = ((const struct head *)c->mem)->used, whole = c->pages * PAGE;
    const unsigned char *then = c->mem + round8(sizeof(struct head));

    fp_mix(f, a->used);
    from = round8(from);
    if (c->watched != a->base)
        whole = from;
    for (size_t at = from; at < whole; at = (at / PAGE + 1) * PAGE)
        if (c->touched[at / PAGE / PAGES_PER_WORD] >> at / PAGE % PAGES_PER_WORD & 1)
            mix_words(a->base, then, at, (at / PAGE + 1) * PAGE, kept, f);
    mix_words(a->base, then, whole > from ? whole : from, round8(a->used), kept, f);
}

void checkpoint_release(struct checkpoint *c)
{
    checkpoint_unwatch(c);
    if (c->mem)
        munmap(c->mem, c->capacity);
    memset(c, 0, sizeof *c);
}
