/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_FINGERPRINT_H
#define GMPSIM_SIM_BASE_FINGERPRINT_H

/* A 64-bit fingerprint of everything that happened, in order.
 *
 *   h' = (rotl(h, 29) ^ x) * K       x = the words of the item, each times its own odd constant,
 *                                    rotated by its own amount, xored together
 *
 * For a fixed x the step is a bijection of h, and for a fixed h a bijection of each single word. So
 * two runs that differ in exactly one word of one item never have the same fingerprint, a
 * difference is never forgotten by what follows, and any other pair of different runs collides with
 * a chance of about 2^-64 (there is no defence against an adversary who chooses the events). The
 * order counts. Cost: a multiplication, a rotation and an xor on the critical path, about 1 ns. */

#include <stdint.h>

struct fingerprint {
    uint64_t h;
};

static inline uint64_t fp_rotl_(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline void fp_init(struct fingerprint *f) { f->h = 0x6a09e667f3bcc909u; }

static inline void fp_step_(struct fingerprint *f, uint64_t x)
{
    f->h = (fp_rotl_(f->h, 29) ^ x) * 0x9fb21c651e98df25u;
}

static inline void fp_mix(struct fingerprint *f, uint64_t a)
{
    fp_step_(f, a * 0xa0761d6478bd642fu);
}

/* fp_mix2 in two halves, for who knows `a` before: fp_first is linear, fp_first(a + b) being
 * fp_first(a) + fp_first(b). */
static inline uint64_t fp_first(uint64_t a) { return a * 0xa0761d6478bd642fu; }

static inline void fp_mix_second(struct fingerprint *f, uint64_t first, uint64_t b)
{
    fp_step_(f, first ^ fp_rotl_(b * 0xe7037ed1a0b428dbu, 31));
}

static inline void fp_mix2(struct fingerprint *f, uint64_t a, uint64_t b)
{
    fp_mix_second(f, fp_first(a), b);
}

static inline void fp_mix4(struct fingerprint *f, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    fp_step_(f,
             (a * 0xa0761d6478bd642fu ^ fp_rotl_(b * 0xe7037ed1a0b428dbu, 31)) ^
                 (fp_rotl_(c * 0x8ebc6af09c88c6e3u, 17) ^ fp_rotl_(d * 0x589965cc75374cc3u, 47)));
}

/* Length and bytes; byte order does not matter to the result. */
void fp_mix_bytes(struct fingerprint *f, const void *bytes, uint64_t size);

/* Every bit of the state into every bit of the answer. */
static inline uint64_t fp_value(const struct fingerprint *f)
{
    uint64_t z = f->h;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    return z ^ (z >> 32);
}

#endif
