/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Futexes: a thread that sleeps on a word is in the list of the word's bucket, in the order of
 * arrival; a wake takes the first ones with that key. The hash is of the place in the arena and
 * only decides which list: nothing depends on it but speed.
 */
#include "sim/virt/vm_int.h"

#include "sim/virt/host.h"

void vm_futex_init_(void)
{
    struct vm_world *w = &vm_w_;

    w->buckets = 64;
    w->bucket = arena_array(&w->arena, struct vm_thread *, w->buckets);
    w->bucket_tail = arena_array(&w->arena, struct vm_thread *, w->buckets);
}

static uint32_t bucket_of(const uint32_t *key)
{
    uint64_t at = arena_offset(&vm_w_.arena, key) >> 2;

    return (uint32_t)((at * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (vm_w_.buckets - 1);
}

static void append(struct vm_thread *t)
{
    uint32_t b = bucket_of(t->key);

    t->next = NULL;
    t->prev = vm_w_.bucket_tail[b];
    if (t->prev)
        t->prev->next = t;
    else
        vm_w_.bucket[b] = t;
    vm_w_.bucket_tail[b] = t;
}

/* As many lists as threads, so that a list is short however many sleep on keys of their own. */
static void grow(void)
{
    struct vm_world *w = &vm_w_;
    struct vm_thread **was = w->bucket;
    uint32_t count = w->buckets;

    if (w->alive <= w->buckets)
        return;
    w->bucket = arena_array(&w->arena, struct vm_thread *, 2 * (size_t)count);
    w->bucket_tail = arena_array(&w->arena, struct vm_thread *, 2 * (size_t)count);
    w->buckets = 2 * count;
    for (uint32_t b = 0; b < count; b++)
        for (struct vm_thread *t = was[b], *next; t; t = next) {
            next = t->next;
            append(t);
        }
}

void vm_futex_forget_(struct vm_thread *t)
{
    uint32_t b = bucket_of(t->key);

    if (t->prev)
        t->prev->next = t->next;
    else
        vm_w_.bucket[b] = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        vm_w_.bucket_tail[b] = t->prev;
    t->next = t->prev = NULL;
}

void vm_futexsleep_(const uint32_t *addr, uint32_t val, int64_t ns)
{
    struct vm_thread *t = vm_cur_();
    uint64_t until = VM_NEVER;

    vm_point_();
    vm_read_(addr, ATOMIC_load);
    if (*addr != val) {
        vm_hot.now += (uint64_t)vm_hot.kind[COST_syscall_enter] + vm_hot.kind[COST_syscall_exit];
        return;
    }
    if (vm_chooser_ && vm_fault_())
        return;
    vm_w_.futex_sleeps++;
    if (ns >= 0 && (uint64_t)ns < VM_TIME_MAX_PS / 1000)
        until = vm_hot.now + (uint64_t)ns * 1000;
    vm_hot.now += vm_hot.kind[COST_futex_sleep];
    grow();
    t->key = addr;
    append(t);
    vm_block_(VM_SLEEP_FUTEX, until);
    vm_hot.now += vm_hot.kind[COST_futex_return];
}

void vm_futexwakeup_(const uint32_t *addr, uint32_t n)
{
    struct vm_thread *t, *next;
    uint32_t woken = 0;

    vm_point_();
    for (t = vm_w_.bucket[bucket_of(addr)]; t && woken < n; t = next) {
        next = t->next;
        if (t->key != addr)
            continue;
        woken++;
        vm_futex_wake_(t);
    }
    vm_w_.futex_wakes += woken;
    if (woken == 0)
        vm_hot.now += vm_hot.kind[COST_futex_wake_none];
}
