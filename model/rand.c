/* SPDX-License-Identifier: BSD-3-Clause */
/* The per-M generator behind steal order, select order, treap tickets. Bit exact per release; only
 * the seed is ours. */
#include "rand.h"

/* stubs.go fastrand, rand.go cheaprand. */
static uint32_t cheaprand(void)
{
    struct m *mp = getm();
    if (prof->rng32) {
        uint32_t s = (uint32_t)mp->rng + 0x53c5ca59u;
        mp->rng = (mp->rng & ~(uint64_t)UINT32_MAX) | s;
        uint64_t x = (uint64_t)s * (s ^ 0x74743c1bu);
        return (uint32_t)(x >> 32) ^ (uint32_t)x;
    }
    mp->rng += UINT64_C(0xa0761d6478bd642f);
    unsigned __int128 x = (unsigned __int128)mp->rng * (mp->rng ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint32_t)(x >> 64) ^ (uint32_t)x;
}

/* cheaprandn: below n. */
static uint32_t cheaprandn(uint32_t n)
{
    uint64_t own = ((uint64_t)cheaprand() * n) >> 32;
    return (uint32_t)(turn_on() ? own : draw(n, own));
}

/* The start of a steal enumeration. What matters of it is the start and the stride: that many
 * answers an explorer has. */
static uint32_t cheaprand_order(void)
{
    uint32_t answers = rt->stealOrder.count * rt->stealOrder.ncoprimes;
    return turn_on() ? cheaprand() : (uint32_t)draw(answers, cheaprand());
}
