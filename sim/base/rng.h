/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_RNG_H
#define GMPSIM_SIM_BASE_RNG_H

/* Integer pseudo-random numbers: xoshiro256** (Blackman and Vigna), seeded by splitmix64.
 *
 * One seed decides the run; each purpose draws from a stream of its own, so that a new draw for one
 * purpose does not shift the others. A stream is (seed, purpose, index). Not for
 * secrets. */

#include <stdint.h>

/* The numbers are part of every schedule. */
enum rng_purpose {
    RNG_SCHED = 1,   /* the seeds that the model asks for (host_seed64) */
    RNG_CHOOSE = 2,  /* choose(n) of the random strategies */
    RNG_TIE = 3,     /* order of Ms whose clocks are equal */
    RNG_NOISE = 4,   /* host noise: wake latency, cost jitter */
    RNG_PROGRAM = 7, /* random branches and durations of the scenario; index: G or group */
    RNG_USER = 9,    /* anything else; index: the user's */
};

struct rng {
    uint64_t s[4];
};

static inline uint64_t rng_rotl_(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* One step of splitmix64: a bijection that mixes well; also good as a hash of an integer. */
static inline uint64_t rng_splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void rng_init(struct rng *r, uint64_t seed, uint64_t purpose, uint64_t index)
{
    uint64_t x = seed;
    x = rng_splitmix(&x) ^ (purpose * 0xd1342543de82ef95u);
    x = rng_splitmix(&x) ^ (index * 0xaf251af3b0f025b5u);
    for (int i = 0; i < 4; i++)
        r->s[i] = rng_splitmix(&x); /* never all zero: four outputs of a bijection differ */
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s, result = rng_rotl_(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl_(s[3], 45);
    return result;
}

/* 0..n-1, every value equally likely (Lemire's rejection). n == 0 means the full 64 bits. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    __extension__ typedef unsigned __int128 u128;
    if (n == 0)
        return rng_next(r);
    u128 m = (u128)rng_next(r) * n;
    if (__builtin_expect((uint64_t)m < n, 0)) {
        uint64_t reject = (0 - n) % n;
        while ((uint64_t)m < reject)
            m = (u128)rng_next(r) * n;
    }
    return (uint64_t)(m >> 64);
}

/* low..high, both included; low <= high. */
static inline int64_t rng_range(struct rng *r, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0: the full range */
    return (int64_t)((uint64_t)low + rng_below(r, span));
}

#endif
