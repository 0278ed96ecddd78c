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
#include "sim/base/coro.h" /* GMPSIM_ASAN */

/* What verbs need of a thread besides its clock; the head of struct vm_thread. */
struct vm_front {
    void *arg; /* goes to vm_hot while the thread runs */
    uint64_t bit;
    uint64_t rank;    /* order among threads due at one instant */
    uint64_t spin_ps; /* spent spinning */
    uint32_t who;     /* the M and its P in records (event_who) */
};

struct vm_hot {
    /* Of their own type: a store to any uint64_t of the model would otherwise force a reload. */
    unsigned long long now;     /* the running thread's clock, ps */
    unsigned long long horizon; /* it may perform points while now < horizon */
    unsigned long long bit;     /* of the CPU it runs on, in the masks below */
    /* One mask per 64-byte line of the arena: the CPUs (modulo 64) that hold the line. One bit:
     * that CPU may write. The address of the mask of the line at address 0, if there were one. */
    uintptr_t lines;
    void *arg;              /* the running thread's; NULL outside every M */
    struct vm_front *front; /* of the running thread; outside every M that of nobody */
    struct cost_pair atomic[ATOMIC_COUNT]; /* the row of the world's port */
    uint32_t kind[COST_COUNT];
    uint32_t work[W_COUNT];
};

extern struct vm_hot vm_hot;

/* Who answers what a rule or a seed decides otherwise; NULL: nobody (choose.c). */
extern struct chooser *vm_chooser_;

/* Lets everybody go who is due before the running thread; comes back when it is its turn. */
void vm_yield_(void);

#define VM_LIKELY(x) __builtin_expect(!!(x), 1)

static inline __attribute__((always_inline)) void vm_point_(void)
{
    if (!VM_LIKELY(vm_hot.now < vm_hot.horizon))
        vm_yield_();
}

/* The rest of the two below: another CPU has to give the line up. */
void vm_read_miss_(const volatile void *p, enum cost_atomic kind);
void vm_write_miss_(const volatile void *p, enum cost_atomic kind);

#define VM_INLINE static inline __attribute__((always_inline))

/* Every ATOMIC of a world is in its arena: no other address has a line. Only builds with
 * AddressSanitizer look. */
void vm_check_line_(const volatile void *p);

VM_INLINE unsigned long long *vm_line_(const volatile void *p)
{
#if defined(GMPSIM_ASAN)
    vm_check_line_(p);
#endif
    return (unsigned long long *)(vm_hot.lines + ((uintptr_t)p >> 6) * sizeof(long long));
}

VM_INLINE void vm_read_(const volatile void *p, enum cost_atomic kind)
{
    if (VM_LIKELY(*vm_line_(p) & vm_hot.bit))
        vm_hot.now += vm_hot.atomic[kind].hit;
    else
        vm_read_miss_(p, kind);
}

VM_INLINE void vm_write_(const volatile void *p, enum cost_atomic kind)
{
    if (VM_LIKELY(*vm_line_(p) == vm_hot.bit))
        vm_hot.now += vm_hot.atomic[kind].hit;
    else
        vm_write_miss_(p, kind);
}

static inline void vm_first_(const volatile void *p)
{
    if (vm_hot.bit)
        *vm_line_(p) = vm_hot.bit;
}

#endif
