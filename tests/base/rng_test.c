/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the published generator, independent streams, no bias; the fingerprint notices everything.
 * Method: reference vectors, counting, flipping single bits. */
#include "harness.h"

#include "sim/base/fingerprint.h"
#include "sim/base/rng.h"

/* splitmix64 from seed 1234567 and xoshiro256** from state 1, 2, 3, 4: the numbers that the
 * authors' programs print. */
TEST_CASE(Rng, ReferenceVectors)
{
    uint64_t s = 1234567;
    CHECK_EQ(rng_splitmix(&s), 6457827717110365317u);
    CHECK_EQ(rng_splitmix(&s), 3203168211198807973u);
    CHECK_EQ(rng_splitmix(&s), 9817491932198370423u);
    struct rng r = {{1, 2, 3, 4}};
    CHECK_EQ(rng_next(&r), 11520u);
    CHECK_EQ(rng_next(&r), 0u);
    CHECK_EQ(rng_next(&r), 1509978240u);
    CHECK_EQ(rng_next(&r), 1215971899390074240u);
}

TEST_CASE(Rng, StreamsDiffer)
{
    struct rng a, b;
    for (uint64_t purpose = RNG_SCHED; purpose <= RNG_USER; purpose++)
        for (uint64_t index = 0; index < 50; index++) {
            rng_init(&a, 7, purpose, index);
            rng_init(&b, 7, purpose, index + 1);
            CHECK_NE(rng_next(&a), rng_next(&b));
            rng_init(&b, 7, purpose + 1, index);
            CHECK_NE(rng_next(&a), rng_next(&b));
            rng_init(&b, 8, purpose, index);
            CHECK_NE(rng_next(&a), rng_next(&b));
        }
}

/* 600000 draws of 6: each face 100000 times to within 5 standard deviations (1443). */
TEST_CASE(Rng, BelowIsEven)
{
    int count[6] = {0};
    struct rng r;
    rng_init(&r, 1, RNG_USER, 0);
    for (int i = 0; i < 600000; i++)
        count[rng_below(&r, 6)]++;
    for (int i = 0; i < 6; i++) {
        CHECK_GT(count[i], 100000 - 1443);
        CHECK_LT(count[i], 100000 + 1443);
    }
}

/* 3 * 2^62: without rejection the lower two thirds of the outputs would come twice as often in
 * part. */
TEST_CASE(Rng, BelowIsEvenForHugeBounds)
{
    uint64_t n = (uint64_t)3 << 62 | 1;
    int low = 0;
    struct rng r;
    rng_init(&r, 2, RNG_USER, 0);
    for (int i = 0; i < 300000; i++) {
        uint64_t x = rng_below(&r, n);
        CHECK_LT(x, n);
        low += x < n / 3;
    }
    CHECK_GT(low, 100000 - 1300);
    CHECK_LT(low, 100000 + 1300);
}

TEST_CASE(Rng, RangeReachesBothEnds)
{
    int seen[5] = {0};
    struct rng r;
    rng_init(&r, 3, RNG_USER, 0);
    for (int i = 0; i < 1000; i++) {
        int64_t x = rng_range(&r, -2, 2);
        CHECK_GE(x, -2);
        CHECK_LE(x, 2);
        seen[x + 2]++;
    }
    for (int i = 0; i < 5; i++)
        CHECK_GT(seen[i], 100);
    CHECK_EQ(rng_range(&r, 9, 9), 9);
    rng_range(&r, INT64_MIN, INT64_MAX);
}

static uint64_t print_of(const uint64_t *w, int items)
{
    struct fingerprint f;
    fp_init(&f);
    for (int i = 0; i < items; i++)
        fp_mix4(&f, w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
    return fp_value(&f);
}

TEST_CASE(Fingerprint, EveryBitCounts)
{
    uint64_t w[8] = {1, 2, 3, 4, 5, 6, 7, 8}, want = print_of(w, 2), changed = 0;
    for (int i = 0; i < 8; i++)
        for (int bit = 0; bit < 64; bit++) {
            w[i] ^= (uint64_t)1 << bit;
            uint64_t got = print_of(w, 2);
            CHECK_NE(got, want);
            changed += (uint64_t)__builtin_popcountll(got ^ want);
            w[i] ^= (uint64_t)1 << bit;
        }
    /* On average half of the bits change: 512 * 32 = 16384, standard deviation about 90. */
    CHECK_GT(changed, 16384 - 500);
    CHECK_LT(changed, 16384 + 500);
}

TEST_CASE(Fingerprint, OrderCounts)
{
    uint64_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {5, 6, 7, 8, 1, 2, 3, 4};
    CHECK_NE(print_of(a, 2), print_of(b, 2));
    uint64_t c[4] = {2, 1, 3, 4}, d[4] = {1, 2, 4, 3}, e[4] = {3, 4, 1, 2};
    CHECK_NE(print_of(a, 1), print_of(c, 1));
    CHECK_NE(print_of(a, 1), print_of(d, 1));
    CHECK_NE(print_of(a, 1), print_of(e, 1));
}

/* Counters are what runs are made of: no two of 2^17 nearby items collide (the chance is 2^-31). */
TEST_CASE(Fingerprint, NearbyItemsDoNotCollide)
{
    enum { N = 1 << 17, TABLE = 1 << 19 };
    static uint64_t table[TABLE];
    for (uint64_t i = 0; i < N; i++) {
        uint64_t w[4] = {i & 31, i >> 5 & 31, i >> 10 & 31, i >> 15};
        uint64_t x = print_of(w, 1), at = x % TABLE;
        for (; table[at]; at = (at + 1) % TABLE)
            CHECK_NE(table[at], x);
        table[at] = x;
    }
}

TEST_CASE(Fingerprint, Bytes)
{
    struct fingerprint a, b;
    for (uint64_t size = 0; size < 20; size++) {
        fp_init(&a);
        fp_init(&b);
        fp_mix_bytes(&a, "abcdefghijklmnopqrst", size);
        fp_mix_bytes(&b, "abcdefghijklmnopqrst", size + 1);
        CHECK_NE(fp_value(&a), fp_value(&b));
    }
    fp_init(&a);
    fp_mix_bytes(&a, "abcdefghijk", 11);
    fp_init(&b);
    fp_mix(&b, 11);
    fp_mix(&b, 0x6867666564636261u);
    fp_mix(&b, 0x6b6a69u);
    CHECK_EQ(fp_value(&a), fp_value(&b));
}
