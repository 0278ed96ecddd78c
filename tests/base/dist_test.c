/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: integer distributions have the quantiles that mathematics gives them.
 * Method: the wanted numbers were computed with 50 decimal digits by an independent program (the
 * formula is beside each) and are compared to within the promise of dist.h; samples are compared
 * with quantiles by counting. */
#include "harness.h"

#include "sim/base/dist.h"

static struct failure f;

/* p of n in 64 bits. */
static uint64_t at(uint64_t p, uint64_t n)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)p << 64) / n);
}

/* Within 1 or 3 parts in 10^9. */
static void check_near(int64_t got, int64_t want)
{
    int64_t room = 1 + want / 300000000;
    if (got < want - room || got > want + room)
        FAIL_CASE("got %lld, want %lld", (long long)got, (long long)want);
}

TEST_CASE(Dist, FixedLogarithmAndPower)
{
    CHECK_EQ(fix_log2(1), 0);
    CHECK_EQ(fix_log2(1024), (int64_t)10 << 32);
    CHECK_EQ(fix_log2((uint64_t)1 << 63), (int64_t)63 << 32);
    /* log2(3) * 2^32 = 6807362105.8, log2(10) * 2^32 = 14267572527.8 */
    CHECK_EQ(fix_log2(3), 6807362105);
    CHECK_EQ(fix_log2(10), 14267572527);
    CHECK_EQ(fix_exp2(0, 0), 1);
    CHECK_EQ(fix_exp2((int64_t)10 << 32, 0), 1024);
    /* sqrt(2) * 2^40 = 1554944255987.7 */
    CHECK_EQ(fix_exp2((int64_t)1 << 31, 40), 1554944255987);
    CHECK_EQ(fix_exp2(-((int64_t)200 << 32), 0), 0);
    CHECK_EQ(fix_exp2((int64_t)200 << 32, 0), DIST_MAX);
}

TEST_CASE(Dist, PowerUndoesLogarithm)
{
    struct rng r;
    rng_init(&r, 3, RNG_USER, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t x = (rng_next(&r) >> rng_below(&r, 60)) >> 2 | 1;
        check_near((int64_t)fix_exp2(fix_log2(x), 0), (int64_t)x);
    }
}

/* z * 2^32 for p = 1/2, 3/4, 0.9, 0.99, 0.999, 1 - 10^-6, 1 - 10^-9 (inverse of the error function)
 */
TEST_CASE(Dist, NormalQuantiles)
{
    static const struct {
        uint64_t p, n;
        int64_t z;
    } rows[] = {
#include "normal_quantiles.inc"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t high = fix_normal_quantile(at(rows[i].p, rows[i].n));
        check_near(high, rows[i].z);
        int64_t low = fix_normal_quantile(at(rows[i].n - rows[i].p, rows[i].n));
        check_near(-low, rows[i].z);
    }
}

TEST_CASE(Dist, NormalQuantileRises)
{
    int64_t before = fix_normal_quantile(0);
    for (uint64_t i = 1; i < 200000; i++) {
        int64_t z = fix_normal_quantile(i * (UINT64_MAX / 200000));
        CHECK_GE(z, before);
        before = z;
    }
    CHECK_GE(fix_normal_quantile(UINT64_MAX), before);
}

/* -ln(1 - p) * 10^9 */
TEST_CASE(Dist, ExponentialQuantiles)
{
    struct dist d;
    CHECK_EQ(dist_exponential(&d, 1000000000, &f), 0);
    CHECK_EQ(dist_quantile(&d, 0), 0);
    check_near(dist_quantile(&d, at(1, 2)), 693147180);
    check_near(dist_quantile(&d, at(9, 10)), 2302585092);
    check_near(dist_quantile(&d, at(99, 100)), 4605170185);
    check_near(dist_quantile(&d, at(999, 1000)), 6907755278);
    check_near(dist_quantile(&d, at(999999, 1000000)), 13815510557);
    check_near(dist_quantile(&d, at(1, 1000000)), 1000);
    /* ln(2^65) * 10^9, the highest of all */
    check_near(dist_quantile(&d, UINT64_MAX), 45054566736);
}

/* median * exp(sigma z) */
TEST_CASE(Dist, LognormalQuantiles)
{
    struct dist d;
    CHECK_EQ(dist_lognormal(&d, 250000, 1000, &f), 0);
    check_near(dist_quantile(&d, at(1, 2)), 250000);
    check_near(dist_quantile(&d, at(99, 100)), 2560118);
    check_near(dist_quantile(&d, at(1, 100)), 24412);
    CHECK_EQ(dist_lognormal_p99(&d, 250000, 2000000, &f), 0);
    check_near(dist_quantile(&d, at(1, 2)), 250000);
    check_near(dist_quantile(&d, at(99, 100)), 2000000);
    CHECK_EQ(dist_lognormal(&d, 250000, 0, &f), 0);
    check_near(dist_quantile(&d, at(99, 100)), 250000);
}

/* minimum * (1 - p)^(-1 / alpha) */
TEST_CASE(Dist, ParetoQuantiles)
{
    struct dist d;
    CHECK_EQ(dist_pareto(&d, 1000000, 1500, &f), 0);
    CHECK_EQ(dist_quantile(&d, 0), 1000000);
    check_near(dist_quantile(&d, at(1, 2)), 1587401);
    check_near(dist_quantile(&d, at(99, 100)), 21544346);
    check_near(dist_quantile(&d, at(999999, 1000000)), 10000000000);
    CHECK_EQ(dist_pareto(&d, 1000000, 10, &f), 0); /* alpha 0.01: the tail has no end */
    CHECK_EQ(dist_quantile(&d, UINT64_MAX), DIST_MAX);
}

TEST_CASE(Dist, UniformBimodalAndBins)
{
    struct dist d;
    CHECK_EQ(dist_uniform(&d, 10, 19, &f), 0);
    CHECK_EQ(dist_quantile(&d, 0), 10);
    CHECK_EQ(dist_quantile(&d, at(1, 2)), 15);
    CHECK_EQ(dist_quantile(&d, UINT64_MAX), 19);
    CHECK_EQ(dist_bimodal(&d, 100, 9000, 10000, &f), 0);
    CHECK_EQ(dist_quantile(&d, at(98, 100)), 100);
    CHECK_EQ(dist_quantile(&d, at(992, 1000)), 9000);
    static const struct dist_bin bins[] = {{0, 9, 1}, {100, 100, 2}, {200, 299, 1}, {5, 5, 0}};
    CHECK_EQ(dist_bins(&d, bins, 4, &f), 0);
    CHECK_EQ(dist_quantile(&d, 0), 0);
    CHECK_EQ(dist_quantile(&d, at(1, 8)), 5);
    CHECK_EQ(dist_quantile(&d, at(1, 2)), 100);
    CHECK_EQ(dist_quantile(&d, at(7, 8)), 250);
    CHECK_EQ(dist_quantile(&d, UINT64_MAX), 299);
    CHECK_EQ(dist_clamp(&d, 50, 260, &f), 0);
    CHECK_EQ(dist_quantile(&d, 0), 50);
    CHECK_EQ(dist_quantile(&d, UINT64_MAX), 260);
}

/* Of 100000 draws, those below the quantile at k/16 are k/16 of all to within 5 standard deviations
 * (790 at the middle). */
static void check_draws(const struct dist *d)
{
    enum { DRAWS = 100000, PARTS = 16 };
    int below[PARTS] = {0};
    int64_t quantile[PARTS];
    struct rng r;
    for (uint64_t k = 0; k < PARTS; k++)
        quantile[k] = dist_quantile(d, at(k, PARTS));
    rng_init(&r, 12, RNG_USER, 0);
    for (int i = 0; i < DRAWS; i++) {
        int64_t x = dist_draw(d, &r);
        for (int k = 1; k < PARTS; k++)
            below[k] += x < quantile[k];
    }
    for (int k = 1; k < PARTS; k++) {
        CHECK_GT(below[k], DRAWS / PARTS * k - 800);
        CHECK_LT(below[k], DRAWS / PARTS * k + 800);
    }
}

TEST_CASE(Dist, DrawsFollowTheQuantiles)
{
    struct dist d;
    dist_uniform(&d, 0, 1000000000, &f);
    check_draws(&d);
    dist_exponential(&d, 1000000000, &f);
    check_draws(&d);
    dist_lognormal(&d, 1000000000, 700, &f);
    check_draws(&d);
    dist_pareto(&d, 1000000000, 1200, &f);
    check_draws(&d);
}

TEST_CASE(Dist, BadArgumentsAreTheUsersMistake)
{
    struct dist d;
    static const struct dist_bin empty = {1, 2, 0}, turned = {2, 1, 1};
    CHECK_LT(dist_fixed(&d, -1, &f), 0);
    CHECK_EQ(f.code, E_SCENARIO);
    CHECK_HAS(f.text, "got -1");
    fail_reset(&f);
    CHECK_LT(dist_uniform(&d, 5, 4, &f), 0);
    CHECK_LT(dist_exponential(&d, INT64_MAX, &f), 0);
    CHECK_LT(dist_lognormal(&d, 5, 20001, &f), 0);
    CHECK_LT(dist_lognormal_p99(&d, 5, 4, &f), 0);
    CHECK_LT(dist_lognormal_p99(&d, 0, 4, &f), 0);
    CHECK_LT(dist_pareto(&d, 5, 0, &f), 0);
    CHECK_LT(dist_bimodal(&d, 1, 2, 1000001, &f), 0);
    CHECK_LT(dist_bins(&d, &empty, 1, &f), 0);
    CHECK_LT(dist_bins(&d, &turned, 1, &f), 0);
    fail_reset(&f);
}
