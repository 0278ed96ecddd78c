/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_ARENA_H
#define GMPSIM_SIM_BASE_ARENA_H

/* The memory of one world: a reserved address range, committed as the world grows.
 *
 *   base                     used      committed              stacks            end
 *   |#### data, bump #########|.zeros...|  no access  ...      |[g][stk][g][stk] |
 *
 * Data grows from the bottom and is never freed one by one (type-stable, as Go's Gs, Ms and Ps
 * are). The region for coroutine stacks is carved from the top once, by stackpool_init() (coro.h).
 * Everything between used and committed is zero, so arena_alloc() need not clear.
 * A commit is one mprotect() for a growing step: no malloc, ever. One thread at a time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/fail.h"

struct stackpool;
struct fingerprint;

/* Called when the stated limit is crossed or the system has no memory. The failure is recorded
 * already. It should not return (the host leaves the world); if it does, arena_alloc gives NULL. */
typedef void arena_fail_fn(void *arg, const struct failure *f);

struct arena {
    unsigned char *base;
    size_t used;      /* bytes of data given out */
    size_t committed; /* bytes of data that can be touched */
    size_t limit;     /* bytes of data that the world may have; stacks have their own limit */
    size_t reserved;  /* bytes of address space */
    size_t top;       /* offset of the region for stacks; == reserved without stacks */
    struct stackpool *stacks;
    size_t stacks_stride;   /* distance of the stacks mapped so far, guard page included */
    uint32_t stacks_mapped; /* they survive resets and restores: mapping is slow */
    void *mapping;          /* what to unmap: base is aligned within it */
    size_t mapping_size;
    arena_fail_fn *on_fail;
    void *on_fail_arg;
    struct failure failure;
};

/* Reserves limit bytes for data plus stacks_size bytes of address space for stacks.
 * 0 or a negative fail code. */
int arena_init(struct arena *a, size_t limit, size_t stacks_size, struct failure *f);
/* Asks the system now for the first `size` bytes, or as many as the limit allows: until those are
 * used up no allocation fails. 0 or a negative fail code. */
int arena_commit(struct arena *a, size_t size, struct failure *f);
void arena_release(struct arena *a);

/* Gives everything back but keeps the reservation: the next world starts as after arena_init. */
void arena_reset(struct arena *a);

void arena_on_fail(struct arena *a, arena_fail_fn *fn, void *arg);

void *arena_alloc_slow_(struct arena *a, size_t size, size_t align);

/* Zeroed memory; align is a power of two, at most 4096. NULL only as said at arena_fail_fn. */
static inline void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    size_t at = (a->used + align - 1) & ~(align - 1);
    if (size > a->committed || at > a->committed - size)
        return arena_alloc_slow_(a, size, align);
    a->used = at + size;
    return a->base + at;
}

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define arena_array(a, type, n) ((type *)arena_array_((a), sizeof(type), (n), _Alignof(type)))
void *arena_array_(struct arena *a, size_t size, size_t count, size_t align);

/* A pointer's place in the world, the same in every process: what a hash or a record may hold. */
static inline uint64_t arena_offset(const struct arena *a, const void *p)
{
    return (uint64_t)((const unsigned char *)p - a->base);
}

static inline void *arena_at(const struct arena *a, uint64_t offset) { return a->base + offset; }

/* Does p point into the data or the stacks of this arena? */
/* A checkpoint is a copy of the world: data and the used part of every live stack.
 * Saved and restored from the stack of the OS thread, never from a coroutine of the world.
 * It keeps its own mapping, which grows and is used again by the next save. Restoring puts
 * everything back to its place, so pointers stay true; what was allocated later is zero again. */
struct checkpoint {
    unsigned char *mem;
    size_t size;     /* bytes in use, 0: holds nothing */
    size_t capacity; /* bytes mapped */
    /* While it is watched: the world's data, in whole pages, and a bit for each that was written
     * to. */
    unsigned char *watched; /* NULL: it is not */
    size_t pages;
    uint64_t *touched;
    bool refused; /* the system did not open a page that was written to */
};

int checkpoint_save(struct checkpoint *c, const struct arena *a, struct failure *f);
void checkpoint_restore(const struct checkpoint *c, struct arena *a);
/* ... where the data below this offset is as it was. */
void checkpoint_restore_from(const struct checkpoint *c, struct arena *a, size_t from);
void checkpoint_release(struct checkpoint *c);
/* The words of the data, from this offset on, that are others than in the copy. */
void checkpoint_mix(const struct checkpoint *c, const struct arena *a, size_t from,
                    struct fingerprint *f);

/* From now on restoring copies only pages that have ever been written to: a world that is put back
 * again and again touches the same few. Pages are write-protected until then, so whoever watches
 * has a handler of SIGSEGV that asks checkpoint_touched. To be called when the world is as it was
 * saved; the next save ends it. False: no memory, and everything is copied as before. */
bool checkpoint_watch(struct checkpoint *c, const struct arena *a);
void checkpoint_unwatch(struct checkpoint *c);
/* Was that the first write to a page? It can go on then. */
bool checkpoint_touched(struct checkpoint *c, const void *addr);

#endif
