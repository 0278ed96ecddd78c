/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_DIST_H
#define GMPSIM_SIM_BASE_DIST_H

/* Distributions of durations in whole numbers: the same draw on every machine.
 *
 * Logarithm, power and normal quantile are fixed-point (Q32.32 outside, up to Q62 inside), good to
 * about nine digits, so quantiles are right to a nanosecond or a few parts in 10^9, whichever is
 * more. One draw takes one number of the stream. Results are 0..DIST_MAX. */

#include <stdint.h>

#include "sim/base/fail.h"
#include "sim/base/rng.h"

#define DIST_MAX ((int64_t)1 << 62)

enum dist_kind {
    DIST_FIXED,
    DIST_UNIFORM,     /* whole numbers low..high */
    DIST_EXPONENTIAL, /* by mean */
    DIST_LOGNORMAL,   /* by median and sigma, or by median and p99 */
    DIST_PARETO,      /* by minimum and alpha */
    DIST_BIMODAL,     /* high with probability p, else low */
    DIST_BINS,        /* empirical: weighted ranges */
};

/* One range of an empirical distribution: uniform over low..high, weight is relative. */
struct dist_bin {
    int64_t low, high;
    uint64_t weight;
};

struct dist {
    enum dist_kind kind;
    int64_t low;      /* fixed: value; uniform, bimodal: low; exponential: mean; lognormal: median;
                         pareto: minimum */
    int64_t high;     /* uniform, bimodal: high */
    uint64_t q32;     /* lognormal: sigma; pareto: 1/alpha; both Q32.32. bimodal: p * 2^32 */
    int64_t min, max; /* draws are clamped to these; 0 and DIST_MAX by default */
    const struct dist_bin *bins; /* the caller's, must outlive the dist */
    uint32_t bins_count;
    uint64_t bins_weight; /* sum */
};

/* Each checks its arguments: 0 or a negative fail code. */
int dist_fixed(struct dist *d, int64_t value, struct failure *f);
int dist_uniform(struct dist *d, int64_t low, int64_t high, struct failure *f);
int dist_exponential(struct dist *d, int64_t mean, struct failure *f);
int dist_lognormal(struct dist *d, int64_t median, uint32_t sigma_milli, struct failure *f);
int dist_lognormal_p99(struct dist *d, int64_t median, int64_t p99, struct failure *f);
int dist_pareto(struct dist *d, int64_t minimum, uint32_t alpha_milli, struct failure *f);
int dist_bimodal(struct dist *d, int64_t low, int64_t high, uint32_t high_ppm, struct failure *f);
int dist_bins(struct dist *d, const struct dist_bin *bins, uint32_t count, struct failure *f);
int dist_clamp(struct dist *d, int64_t min, int64_t max, struct failure *f);

int64_t dist_draw(const struct dist *d, struct rng *r);

/* The value at probability p / 2^64 (the inverse distribution function); what dist_draw does with
 * a uniform p. Bimodal and bins take p for the choice of the part and its remainder for the place.
 */
int64_t dist_quantile(const struct dist *d, uint64_t p);

/* Fixed-point helpers, exported because tests and cost noise want them. Q32.32 throughout. */
int64_t fix_log2(uint64_t x);            /* log2 of a positive integer */
uint64_t fix_exp2(int64_t x, int shift); /* 2^x * 2^shift, saturating, rounded down */
int64_t fix_normal_quantile(uint64_t p); /* z with P(Z < z) = (p + 1/2) / 2^64 */

#endif
