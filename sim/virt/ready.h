/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ready tree: the threads that have a CPU and wait for their turn, smallest (clock, rank)
 * first.
 *
 * A winner tree over 64-bit keys: 44 bits of time since `epoch`, 20 bits of rank. The running
 * thread is not in it, so the root is the horizon, and a switch is one replace at the root's leaf:
 * log2(n) loads and minima without a branch that could be mispredicted (a binary heap took 1.3
 * to 1.6 times as long with 8 and 64 threads). 44 bits are 17 s: the epoch moves along, and a clock
 * that is further ahead waits in the event queue (VE_RUN).
 */
#ifndef GMPSIM_VIRT_READY_H
#define GMPSIM_VIRT_READY_H

#include "sim/virt/vm_int.h"

enum { VM_RANK_BITS = 20 };
#define VM_RANK_MASK ((UINT64_C(1) << VM_RANK_BITS) - 1)
/* Clocks up to here after the epoch have a key; the rest of the range is there for what happens
 * before the epoch moves. */
#define VM_READY_SPAN (UINT64_C(1) << 43)

_Static_assert(VM_THREADS_MAX <= 1u << VM_RANK_BITS, "a rank fits");

static inline uint64_t vm_ready_key_(uint64_t clock, uint64_t rank)
{
    return (clock - vm_w_.ready.epoch) << VM_RANK_BITS | rank;
}

static inline uint64_t vm_ready_top_(void) { return vm_w_.ready.node[1]; }

static inline uint64_t vm_ready_time_(uint64_t key)
{
    return key == VM_NEVER ? VM_NEVER : (key >> VM_RANK_BITS) + vm_w_.ready.epoch;
}

static inline struct vm_thread *vm_ready_thread_(uint64_t key)
{
    return vm_w_.thread[key & VM_RANK_MASK];
}

/* Puts a key into a leaf and plays its matches up to the root; the new root. */
static inline uint64_t vm_ready_set_(uint32_t leaf, uint64_t key)
{
    uint64_t *node = vm_w_.ready.node;
    size_t i = (size_t)vm_w_.ready.capacity + leaf;

    node[i] = key;
    for (; i > 1; i >>= 1) {
        uint64_t other = node[i ^ 1];

        key = other < key ? other : key;
        node[i >> 1] = key;
    }
    return key;
}

#endif
