/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every atomic verb touches, and the verbs' fast path.
 *
 * A random schedule is a mispredicted jump per switch, and each further one costs as much as
 * everything else together. So the verbs are inline up to the point, ex_point_() ends in the
 * coroutine switch (a tail call), and a switch lands right in the code of the verb that the other
 * thread stopped in.
 */
#ifndef GMPSIM_EXPLORE_HOT_H
#define GMPSIM_EXPLORE_HOT_H

#include "sim/base/fingerprint.h"
#include "sim/base/own_data.h"
#include "sim/explore/mm.h"
#include "sim/explore/site.h"

struct ex_hot {
    bool plain;           /* memory is sc and nobody traces */
    bool turns;           /* the model asks at its turns (turn.c) */
    bool race;            /* data races are looked for */
    bool sync;            /* ... and goroutines are what is chosen among */
    const uint64_t *salt; /* of the running thread: its share of the fingerprint */
    uint64_t now;         /* its clock, ps */
    struct fingerprint fp;
    uintptr_t base; /* of the arena */
    size_t size;
    uint32_t cost[VERB_COUNT];
};
OWN_DATA struct ex_hot ex_hot;

/* The point: comes back when it is the calling thread's turn. */
void ex_point_(void);

uint64_t ex_peek_slow_(const void *addr, unsigned size);
uint64_t ex_load_slow_(const struct ex_site *s, const void *addr, unsigned size);
void ex_store_slow_(const struct ex_site *s, void *addr, unsigned size, uint64_t value);
uint64_t ex_rmw_slow_(const struct ex_site *s, void *addr, unsigned size, enum mm_rmw how,
                      uint64_t operand, uint64_t expect, bool *wrote);

#define EX_INLINE static inline __attribute__((always_inline))

/* Pointers into the world count by their offset, so that the fingerprint is the same everywhere. */
EX_INLINE uint64_t ex_value_(uint64_t value, unsigned size)
{
    uint64_t off = value - ex_hot.base;

    return size == sizeof(void *) && off < ex_hot.size ? off : value;
}

EX_INLINE void ex_did_(enum ex_verb verb, uint64_t value)
{
    fp_mix_second(&ex_hot.fp, *ex_hot.salt + fp_first(verb), value);
    ex_hot.now += ex_hot.cost[verb];
}

EX_INLINE void ex_did_rmw_(enum ex_verb verb, uint64_t old, unsigned size, bool wrote)
{
    ex_did_(verb, ex_value_(old, size) ^ (uint64_t)wrote << 63);
}

EX_INLINE uint64_t ex_peek_(const void *addr, unsigned size)
{
    return __builtin_expect(ex_hot.plain, 1) ? mm_raw_get(addr, size) : ex_peek_slow_(addr, size);
}

EX_INLINE uint64_t ex_load_(const struct ex_site *s, enum ex_verb verb, const void *addr,
                            unsigned size)
{
    ex_point_();
    if (__builtin_expect(!ex_hot.plain, 0))
        return ex_load_slow_(s, addr, size);
    uint64_t v = mm_raw_get(addr, size);
    ex_did_(verb, ex_value_(v, size));
    return v;
}

EX_INLINE void ex_store_(const struct ex_site *s, enum ex_verb verb, void *addr, unsigned size,
                         uint64_t value)
{
    ex_point_();
    if (__builtin_expect(!ex_hot.plain, 0)) {
        ex_store_slow_(s, addr, size, value);
        return;
    }
    mm_raw_put(addr, size, value);
    ex_did_(verb, ex_value_(value, size));
}

/* Returns the old value. */
EX_INLINE uint64_t ex_rmw_(const struct ex_site *s, enum ex_verb verb, void *addr, unsigned size,
                           enum mm_rmw how, uint64_t operand, uint64_t expect, bool *wrote)
{
    ex_point_();
    if (__builtin_expect(!ex_hot.plain, 0))
        return ex_rmw_slow_(s, addr, size, how, operand, expect, wrote);
    uint64_t old = mm_raw_get(addr, size);
    *wrote = how != RMW_CAS || old == mm_cut(expect, size);
    uint64_t v = mm_rmw_value(how, old, operand, size);
    mm_raw_put(addr, size, *wrote ? v : old); /* without a branch */
    ex_did_rmw_(verb, old, size, *wrote);
    return old;
}

#endif
