/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that every verb touches, in one file-scope struct, and the fast path over it.
 *
 * A point is two loads and a compare: the running thread may pass it while its clock is below the
 * horizon, the earliest thing that anybody else will do. Everything else is in sched.c.
 */
#ifndef GMPSIM_VIRT_HOT_H
#define GMPSIM_VIRT_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costs.h"

/* What verbs need of a thread besides its clock; the head of struct vm_thread. */
struct vm_front {
    void *arg; /* NULL outside every M */
    uint64_t bit;
    uint64_t rank;    /* order among threads due at one instant */
    uint64_t spin_ps; /* spent spinning */
    uint16_t m, p;    /* names of the M and its P in records */
};

struct vm_hot {
    /* Of their own type: a store to any uint64_t of the model would otherwise force a reload. */
    unsigned long long now;     /* the running thread's clock, ps */
    unsigned long long horizon; /* it may perform points while now < horizon */
    uint64_t bit;               /* of the CPU it runs on, in the masks below */
    /* One mask per 64-byte line of the arena: the CPUs (modulo 64) that hold the line. One bit:
     * that CPU may write. */
    uint64_t *lines;
    uintptr_t arena_base;
    size_t arena_size;
    struct vm_front *front; /* of the running thread; outside every M that of nobody */
    struct cost_pair atomic[ATOMIC_COUNT]; /* the row of the world's port */
    uint32_t kind[COST_COUNT];
    uint32_t work[W_COUNT];
};

extern struct vm_hot vm_hot;

/* Lets everybody go who is due before the running thread; comes back when it is its turn. */
void vm_yield_(void);

#define VM_LIKELY(x) __builtin_expect(!!(x), 1)

static inline __attribute__((always_inline)) void vm_point_(void)
{
    if (!VM_LIKELY(vm_hot.now < vm_hot.horizon))
        vm_yield_();
}

/* The rest of the two below: another CPU has to give the line up, or there is no line. */
void vm_read_miss_(const volatile void *p, enum cost_atomic kind);
void vm_write_miss_(const volatile void *p, enum cost_atomic kind);

#define VM_INLINE static inline __attribute__((always_inline))

VM_INLINE void vm_read_(const volatile void *p, enum cost_atomic kind)
{
    uint64_t off = (uintptr_t)p - vm_hot.arena_base;

    if (VM_LIKELY(off < vm_hot.arena_size && vm_hot.lines[off >> 6] & vm_hot.bit))
        vm_hot.now += vm_hot.atomic[kind].hit;
    else
        vm_read_miss_(p, kind);
}

VM_INLINE void vm_write_(const volatile void *p, enum cost_atomic kind)
{
    uint64_t off = (uintptr_t)p - vm_hot.arena_base;

    if (VM_LIKELY(off < vm_hot.arena_size && vm_hot.lines[off >> 6] == vm_hot.bit))
        vm_hot.now += vm_hot.atomic[kind].hit;
    else
        vm_write_miss_(p, kind);
}

static inline void vm_first_(const volatile void *p)
{
    uint64_t off = (uintptr_t)p - vm_hot.arena_base;

    if (off < vm_hot.arena_size && vm_hot.bit)
        vm_hot.lines[off >> 6] = vm_hot.bit;
}

#endif
