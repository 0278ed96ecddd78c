/* SPDX-License-Identifier: BSD-3-Clause */
/* The run queue's three hot paths twice: with the verbs of host.h, and as a person would write them
 * with C11 atomics. Each set is in a section of its own, so that the machine code can be compared
 * byte by byte (tests/real/seam_test.c) and timed (bench/real_runq.c). */
#ifndef GMPSIM_TESTS_REAL_SEAM_H
#define GMPSIM_TESTS_REAL_SEAM_H

#include <host.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* gcc would fold equal functions into one. */
#ifdef __clang__
#define SEAM_CODE(name) __attribute__((noinline, used, section(name))) static
#else
#define SEAM_CODE(name) __attribute__((noinline, used, no_icf, section(name))) static
#endif

enum { SEAM_RING = 256 };

struct item;

struct verb_ring {
    ATOMIC(uint32_t) head, tail;
    ATOMIC(struct item *) next;
    ATOMIC(struct item *) slot[SEAM_RING];
};

SEAM_CODE("seam_verb") bool verb_put(struct verb_ring *r, struct item *it, bool next)
{
    if (next) {
        struct item *old;

        do
            old = a_load_rlx(&r->next);
        while (!a_cas(&r->next, old, it));
        if (!old)
            return true;
        it = old;
    }
    uint32_t h = a_load_acq(&r->head);
    uint32_t t = a_load_rlx(&r->tail);

    if (t - h >= SEAM_RING)
        return false;
    a_store_rlx(&r->slot[t % SEAM_RING], it);
    a_store_rel(&r->tail, t + 1);
    return true;
}

SEAM_CODE("seam_verb") struct item *verb_get(struct verb_ring *r)
{
    struct item *next = a_load_rlx(&r->next);

    if (next && a_cas(&r->next, next, NULL))
        return next;
    for (;;) {
        uint32_t h = a_load_acq(&r->head);
        uint32_t t = a_load_rlx(&r->tail);

        if (t == h)
            return NULL;
        struct item *it = a_load_rlx(&r->slot[h % SEAM_RING]);

        if (a_cas_rel(&r->head, h, h + 1))
            return it;
    }
}

SEAM_CODE("seam_verb")
uint32_t verb_grab(struct verb_ring *victim, struct verb_ring *thief, uint32_t at)
{
    for (;;) {
        uint32_t h = a_load_acq(&victim->head);
        uint32_t t = a_load_acq(&victim->tail);
        uint32_t n = t - h;

        n -= n / 2;
        if (n == 0)
            return 0;
        if (n > SEAM_RING / 2)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            struct item *it = a_load_rlx(&victim->slot[(h + i) % SEAM_RING]);

            a_store_rlx(&thief->slot[(at + i) % SEAM_RING], it);
        }
        if (a_cas_rel(&victim->head, h, h + n))
            return n;
    }
}

struct hand_ring {
    _Atomic(uint32_t) head, tail;
    _Atomic(struct item *) next;
    _Atomic(struct item *) slot[SEAM_RING];
};

SEAM_CODE("seam_hand") bool hand_put(struct hand_ring *r, struct item *it, bool next)
{
    if (next) {
        struct item *old;

        do
            old = atomic_load_explicit(&r->next, memory_order_relaxed);
        while (!atomic_compare_exchange_strong(&r->next, &(struct item *){old}, it));
        if (!old)
            return true;
        it = old;
    }
    uint32_t h = atomic_load(&r->head);
    uint32_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);

    if (t - h >= SEAM_RING)
        return false;
    atomic_store_explicit(&r->slot[t % SEAM_RING], it, memory_order_relaxed);
    atomic_store(&r->tail, t + 1);
    return true;
}

SEAM_CODE("seam_hand") struct item *hand_get(struct hand_ring *r)
{
    struct item *next = atomic_load_explicit(&r->next, memory_order_relaxed);

    if (next && atomic_compare_exchange_strong(&r->next, &(struct item *){next}, NULL))
        return next;
    for (;;) {
        uint32_t h = atomic_load(&r->head);
        uint32_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);

        if (t == h)
            return NULL;
        struct item *it = atomic_load_explicit(&r->slot[h % SEAM_RING], memory_order_relaxed);
        uint32_t want = h;

        if (atomic_compare_exchange_strong(&r->head, &want, h + 1))
            return it;
    }
}

SEAM_CODE("seam_hand")
uint32_t hand_grab(struct hand_ring *victim, struct hand_ring *thief, uint32_t at)
{
    for (;;) {
        uint32_t h = atomic_load(&victim->head);
        uint32_t t = atomic_load(&victim->tail);
        uint32_t n = t - h;

        n -= n / 2;
        if (n == 0)
            return 0;
        if (n > SEAM_RING / 2)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            struct item *it = atomic_load_explicit(&victim->slot[(h + i) % SEAM_RING],
                                                   memory_order_relaxed);

            atomic_store_explicit(&thief->slot[(at + i) % SEAM_RING], it, memory_order_relaxed);
        }
        uint32_t want = h;

        if (atomic_compare_exchange_strong(&victim->head, &want, h + n))
            return n;
    }
}

extern const unsigned char __start_seam_verb[], __stop_seam_verb[];
extern const unsigned char __start_seam_hand[], __stop_seam_hand[];

static inline size_t seam_verb_size(void) { return (size_t)(__stop_seam_verb - __start_seam_verb); }

static inline size_t seam_hand_size(void) { return (size_t)(__stop_seam_hand - __start_seam_hand); }

#endif
