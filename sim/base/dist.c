/* SPDX-License-Identifier: BSD-3-Clause */
/* Every distribution is drawn by its inverse: one number p of the stream, u = (p + 1/2) / 2^64.
 * Simple, monotone in p, and a quantile to test against. Fixed point throughout: Q56 for logarithms
 * (they reach 64), Q44 for the rational approximations, Q32 for exponents. */
#include "sim/base/dist.h"

#include <stddef.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

enum { ONE_PPM = 1000000 };

#define LOG2_E_Q62 ((int64_t)6653256548922161245) /* 1 / ln 2 */
#define LN_2_Q62   ((int64_t)3196577161300663914)
#define Z99_Q32    ((int64_t)9991588036) /* P(Z < 2.3263...) = 0.99 */

/* ---- logarithm and power ---- */

#define ONE_Q62 ((int64_t)1 << 62)

enum { LOG_TERMS = 10, EXP_TERMS = 19 };

static const int64_t odd_inverse[LOG_TERMS] = {
    ONE_Q62,      ONE_Q62 / 3,  ONE_Q62 / 5,  ONE_Q62 / 7,  ONE_Q62 / 9,
    ONE_Q62 / 11, ONE_Q62 / 13, ONE_Q62 / 15, ONE_Q62 / 17, ONE_Q62 / 19};

/* 1 / k! */
#define F6  720
#define F12 (F6 * 7 * 8 * 9 * 10 * 11 * 12)
#define F18 ((int64_t)F12 * 13 * 14 * 15 * 16 * 17 * 18)
/* clang-format off */
static const int64_t factorial_inverse[EXP_TERMS] = {
    ONE_Q62, ONE_Q62, ONE_Q62 / 2, ONE_Q62 / 6, ONE_Q62 / 24, ONE_Q62 / 120, ONE_Q62 / F6,
    ONE_Q62 / (F6 * 7),
    ONE_Q62 / (F6 * 7 * 8),
    ONE_Q62 / (F6 * 7 * 8 * 9),
    ONE_Q62 / (F6 * 7 * 8 * 9 * 10),
    ONE_Q62 / (F6 * 7 * 8 * 9 * 10 * 11),
    ONE_Q62 / F12,
    ONE_Q62 / ((int64_t)F12 * 13),
    ONE_Q62 / ((int64_t)F12 * 13 * 14),
    ONE_Q62 / ((int64_t)F12 * 13 * 14 * 15),
    ONE_Q62 / ((int64_t)F12 * 13 * 14 * 15 * 16),
    ONE_Q62 / ((int64_t)F12 * 13 * 14 * 15 * 16 * 17),
    ONE_Q62 / F18};
/* clang-format on */

/* log2 of x * 2^-frac_bits in Q56, x > 0. The mantissa is brought to sqrt(1/2)..sqrt(2), where
 * ln m = 2 atanh s, s = (m - 1) / (m + 1), |s| < 0.172: ten terms are good to 2^-54. */
static int64_t log2_q56(u128 x, int frac_bits)
{
    int bits = x >> 64 ? 128 - __builtin_clzll((uint64_t)(x >> 64))
                       : 64 - __builtin_clzll((uint64_t)x);
    int64_t m = bits > 62 ? (int64_t)(x >> (bits - 62))
                          : (int64_t)(x << (62 - bits)); /* Q62, 1/2..1 */
    int exponent = bits - frac_bits;
    const int64_t one = ONE_Q62, sqrt_half = 3260954456333195553;
    if (m < sqrt_half) {
        m *= 2;
        exponent--;
    }
    int64_t s = (int64_t)(((i128)(m - one) * one) / ((i128)m + one));
    int64_t s2 = (int64_t)((i128)s * s >> 62), sum = 0;
    for (int i = LOG_TERMS - 1; i >= 0; i--)
        sum = (int64_t)((i128)sum * s2 >> 62) + odd_inverse[i];
    i128 ln = 2 * (i128)s * sum / one; /* Q62 */
    i128 log2 = ln * LOG2_E_Q62 / one; /* Q62 */
    return (int64_t)(log2 / 64) + ((int64_t)exponent * ((int64_t)1 << 56));
}

/* v * 2^x for x in Q32, rounded down, at most DIST_MAX. */
static int64_t mul_exp2(int64_t v, int64_t x)
{
    int64_t whole = x >> 32, rest = x - whole * ((int64_t)1 << 32); /* rest 0..1 in Q32 */
    int64_t t = (int64_t)((i128)rest * LN_2_Q62 >> 32), sum = 0;
    for (int k = EXP_TERMS - 1; k >= 0; k--)
        sum = (int64_t)((i128)sum * t >> 62) + factorial_inverse[k];
    u128 y = (u128)v * (u128)sum; /* Q62 */
    if (whole < -126)
        return 0;
    if (whole < 62)
        y >>= 62 - (whole < -65 ? -65 : whole);
    else if (v != 0)
        return DIST_MAX;
    return y > (u128)DIST_MAX ? DIST_MAX : (int64_t)y;
}

int64_t fix_log2(uint64_t x) { return log2_q56(x, 0) >> 24; }

uint64_t fix_exp2(int64_t x, int shift)
{
    return (uint64_t)mul_exp2(1, x + (int64_t)shift * ((int64_t)1 << 32));
}

/* ---- normal quantile: Wichura's AS 241, PPND16, in Q44 ---- */

/* A coefficient given as digits * 10^-places; both are exact. */
#define DEC(digits, pow10) ((int64_t)((i128)(digits) * ((i128)1 << 44) / (i128)(pow10)))
#define E14                100000000000000
#define E15                1000000000000000
#define E16                10000000000000000
#define E17                100000000000000000
#define E18                1000000000000000000

enum { TERMS = 8 };

static const int64_t central_num[TERMS] = {
    DEC(3387132872796366608, E18), DEC(1331416678917843774, E16), DEC(1971590950306551443, E15),
    DEC(1373169376550946112, E14), DEC(4592195393154987146, E14), DEC(6726577092700870085, E14),
    DEC(3343057558358812810, E14), DEC(2509080928730122673, E15)};
static const int64_t central_den[TERMS] = {(int64_t)1 << 44,
                                           DEC(4231333070160091125, E17),
                                           DEC(6871870074920579083, E16),
                                           DEC(5394196021424751108, E15),
                                           DEC(2121379430158659587, E14),
                                           DEC(3930789580009271061, E14),
                                           DEC(2872908573572194267, E14),
                                           DEC(5226495278852854561, E15)};
static const int64_t middle_num[TERMS] = {
    DEC(1423437110749683577, E18), DEC(4630337846156545296, E18), DEC(5769497221460691406, E18),
    DEC(3647848324763204605, E18), DEC(1270458252452368383, E18), DEC(241780725177450612, E18),
    DEC(22723844989269185, E18),   DEC(774545014278341, E18)};
static const int64_t middle_den[TERMS] = {(int64_t)1 << 44,
                                          DEC(2053191626637758822, E18),
                                          DEC(1676384830183803849, E18),
                                          DEC(689767334985100005, E18),
                                          DEC(148103976427480075, E18),
                                          DEC(15198666563616457, E18),
                                          DEC(547593808499534, E18),
                                          DEC(1050750072, E18)};
static const int64_t far_num[TERMS] = {DEC(6657904643501103777, E18), DEC(5463784911164114370, E18),
                                       DEC(1784826539917291336, E18), DEC(296560571828504891, E18),
                                       DEC(26532189526576123, E18),   DEC(1242660947388078, E18),
                                       DEC(27115555687435, E18),      DEC(201033439929, E18)};
static const int64_t far_den[TERMS] = {(int64_t)1 << 44,
                                       DEC(599832206555887938, E18),
                                       DEC(136929880922735805, E18),
                                       DEC(14875361290850615, E18),
                                       DEC(786869131145613, E18),
                                       DEC(18463183175101, E18),
                                       DEC(142151175832, E18),
                                       DEC(2044, E18)};

static int64_t polynomial(const int64_t *coefficient, int64_t x)
{
    int64_t sum = coefficient[TERMS - 1];
    for (int i = TERMS - 2; i >= 0; i--)
        sum = (int64_t)((i128)sum * x >> 44) + coefficient[i];
    return sum;
}

static int64_t ratio(const int64_t *num, const int64_t *den, int64_t x, int64_t times)
{
    return (int64_t)((i128)polynomial(num, x) * times / polynomial(den, x));
}

/* Square root of a Q56 in Q44: bit by bit to 31 bits, then one step of Newton. */
static int64_t sqrt_q56_to_q44(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= x)
            root |= bit;
    if (!root)
        return 0;
    uint64_t r = root << 16;
    return (int64_t)((r + (uint64_t)(((u128)x << 32) / r)) / 2);
}

int64_t fix_normal_quantile(uint64_t p)
{
    const int64_t one = (int64_t)1 << 44, half = one / 2;
    int64_t q = (int64_t)(p >> 20) - half; /* Q44, -1/2..1/2 */
    int64_t limit = DEC(425, 1000), z;
    if (q >= -limit && q <= limit) {
        int64_t r = DEC(180625, 1000000) - (int64_t)((i128)q * q >> 44);
        z = ratio(central_num, central_den, r, q);
    } else {
        uint64_t tail = q < 0 ? p : ~p;
        int64_t minus_log2 = -log2_q56((u128)tail * 2 + 1, 65);
        int64_t r = sqrt_q56_to_q44((uint64_t)((i128)minus_log2 * LN_2_Q62 >> 62));
        z = r <= 5 * one ? ratio(middle_num, middle_den, r - DEC(16, 10), one)
                         : ratio(far_num, far_den, r - 5 * one, one);
        z = q < 0 ? -z : z;
    }
    return z / (1 << 12);
}

/* ---- constructors ---- */

static int set(struct dist *d, enum dist_kind kind, int64_t low, int64_t high, uint64_t q32)
{
    *d = (struct dist){.kind = kind, .low = low, .high = high, .q32 = q32, .max = DIST_MAX};
    return 0;
}

static int want(int64_t value, int64_t least, const char *what, struct failure *f)
{
    if (value < least || value > DIST_MAX)
        return fail(f, E_SCENARIO, "%s: want %lld .. 2^62, got %lld", what, (long long)least,
                    (long long)value);
    return 0;
}

int dist_fixed(struct dist *d, int64_t value, struct failure *f)
{
    int rc = want(value, 0, "duration", f);
    return rc ? rc : set(d, DIST_FIXED, value, value, 0);
}

int dist_uniform(struct dist *d, int64_t low, int64_t high, struct failure *f)
{
    int rc = want(low, 0, "uniform: low", f);
    if (!rc)
        rc = want(high, low, "uniform: high", f);
    return rc ? rc : set(d, DIST_UNIFORM, low, high, 0);
}

int dist_exponential(struct dist *d, int64_t mean, struct failure *f)
{
    int rc = want(mean, 0, "exponential: mean", f);
    return rc ? rc : set(d, DIST_EXPONENTIAL, mean, 0, 0);
}

int dist_lognormal(struct dist *d, int64_t median, uint32_t sigma_milli, struct failure *f)
{
    int rc = want(median, 0, "lognormal: median", f);
    if (!rc && sigma_milli > 20000)
        rc = fail(f, E_SCENARIO, "lognormal: sigma: want at most 20, got %u/1000", sigma_milli);
    return rc ? rc : set(d, DIST_LOGNORMAL, median, 0, ((uint64_t)sigma_milli << 32) / 1000);
}

int dist_lognormal_p99(struct dist *d, int64_t median, int64_t p99, struct failure *f)
{
    int rc = want(median, 1, "lognormal: median", f);
    if (!rc)
        rc = want(p99, median, "lognormal: p99", f);
    if (rc)
        return rc;
    int64_t log2_ratio = log2_q56((u128)p99, 0) - log2_q56((u128)median, 0);
    i128 ln_ratio = (i128)log2_ratio * LN_2_Q62 >> 62; /* Q56 */
    return set(d, DIST_LOGNORMAL, median, 0, (uint64_t)(ln_ratio * 256 / Z99_Q32));
}

int dist_pareto(struct dist *d, int64_t minimum, uint32_t alpha_milli, struct failure *f)
{
    int rc = want(minimum, 0, "pareto: minimum", f);
    if (!rc && (alpha_milli < 10 || alpha_milli > 1000000))
        rc = fail(f, E_SCENARIO, "pareto: alpha: want 0.01 .. 1000, got %u/1000", alpha_milli);
    return rc ? rc : set(d, DIST_PARETO, minimum, 0, ((uint64_t)1000 << 32) / alpha_milli);
}

int dist_bimodal(struct dist *d, int64_t low, int64_t high, uint32_t high_ppm, struct failure *f)
{
    int rc = want(low, 0, "bimodal: low", f);
    if (!rc)
        rc = want(high, low, "bimodal: high", f);
    if (!rc && high_ppm > ONE_PPM)
        rc = fail(f, E_SCENARIO, "bimodal: probability: want at most 1, got %u/1000000", high_ppm);
    return rc ? rc : set(d, DIST_BIMODAL, low, high, ((uint64_t)high_ppm << 32) / ONE_PPM);
}

int dist_bins(struct dist *d, const struct dist_bin *bins, uint32_t count, struct failure *f)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < count; i++) {
        int rc = want(bins[i].low, 0, "empirical: low", f);
        if (!rc)
            rc = want(bins[i].high, bins[i].low, "empirical: high", f);
        if (!rc && __builtin_add_overflow(weight, bins[i].weight, &weight))
            rc = fail(f, E_SCENARIO, "empirical: the weights add up to more than 2^64");
        if (rc)
            return rc;
    }
    if (!weight)
        return fail(f, E_SCENARIO, "empirical: want at least one bin with a weight");
    set(d, DIST_BINS, 0, 0, 0);
    d->bins = bins;
    d->bins_count = count;
    d->bins_weight = weight;
    return 0;
}

int dist_clamp(struct dist *d, int64_t min, int64_t max, struct failure *f)
{
    int rc = want(min, 0, "min", f);
    if (!rc)
        rc = want(max, min, "max", f);
    if (rc)
        return rc;
    d->min = min;
    d->max = max;
    return 0;
}

/* ---- quantiles ---- */

/* u in 0..n-1 for p in 0..2^64-1, and what is left of p, again in 0..2^64-1. */
static uint64_t split(uint64_t p, uint64_t n, uint64_t *rest)
{
    u128 product = (u128)p * n;
    *rest = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

static int64_t in_range(int64_t low, int64_t high, uint64_t p)
{
    uint64_t rest;
    return low + (int64_t)split(p, (uint64_t)(high - low) + 1, &rest);
}

/* -log2(1 - u) in Q56, not negative. */
static int64_t minus_log2_tail(uint64_t p)
{
    int64_t x = -log2_q56((u128)~p * 2 + 1, 65);
    return x < 0 ? 0 : x;
}

static int64_t exponential(int64_t mean, uint64_t p)
{
    i128 ln = (i128)minus_log2_tail(p) * LN_2_Q62 >> 62; /* Q56 */
    i128 x = ln * mean >> 56;
    return x > DIST_MAX ? DIST_MAX : (int64_t)x;
}

static int64_t lognormal(const struct dist *d, uint64_t p)
{
    i128 x = (i128)fix_normal_quantile(p) * (int64_t)d->q32 / ((int64_t)1 << 32); /* Q32 */
    return mul_exp2(d->low, (int64_t)(x * LOG2_E_Q62 >> 62));
}

static int64_t bins(const struct dist *d, uint64_t p)
{
    uint64_t rest, at = split(p, d->bins_weight, &rest);
    const struct dist_bin *b = d->bins;
    while (at >= b->weight)
        at -= b++->weight;
    /* at is a place of b->weight, rest a place between at and at + 1. */
    u128 place = (((u128)at << 64) + rest) / b->weight;
    return in_range(b->low, b->high, (uint64_t)place);
}

static int64_t unclamped(const struct dist *d, uint64_t p)
{
    switch (d->kind) {
    case DIST_FIXED: return d->low;
    case DIST_UNIFORM: return in_range(d->low, d->high, p);
    case DIST_EXPONENTIAL: return exponential(d->low, p);
    case DIST_LOGNORMAL: return lognormal(d, p);
    case DIST_PARETO:
        return mul_exp2(d->low, (int64_t)((i128)minus_log2_tail(p) * (int64_t)d->q32 >> 56));
    case DIST_BIMODAL: return (p >> 32) >= ((uint64_t)1 << 32) - d->q32 ? d->high : d->low;
    case DIST_BINS: return bins(d, p);
    }
    throw("dist: unknown kind");
}

int64_t dist_quantile(const struct dist *d, uint64_t p)
{
    int64_t x = unclamped(d, p);
    return x < d->min ? d->min : x > d->max ? d->max : x;
}

int64_t dist_draw(const struct dist *d, struct rng *r) { return dist_quantile(d, rng_next(r)); }
