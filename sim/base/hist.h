/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_HIST_H
#define GMPSIM_SIM_BASE_HIST_H

/* A latency histogram: the buckets of Go's runtime/metrics for comparing with Go, and percentiles
 * that are better than buckets.
 *
 * Percentiles are exact (nearest rank) as long as at most samples_max values were recorded; from
 * there on the values live in log-linear bins and a percentile is the upper end of its bin: never
 * below the true value and above it by at most 1 part in HIST_FINE_SUB (0.4 %), clamped to max.
 * Memory from the arena; all whole numbers. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"

/* Go 1.21 and later: buckets start at 2^6 ns steps, 4 per power of two, up to 2^47 ns; one bucket
 * for negative values before them and one for the rest after them. */
enum {
    HIST_GO_MIN_BITS = 9,
    HIST_GO_MAX_BITS = 48,
    HIST_GO_SUB_BITS = 2,
    HIST_GO_BUCKETS = ((HIST_GO_MAX_BITS - HIST_GO_MIN_BITS + 1) << HIST_GO_SUB_BITS) + 2,
    HIST_FINE_BITS = 8,
    HIST_FINE_SUB = 1 << HIST_FINE_BITS,
    HIST_FINE_BINS = (64 - HIST_FINE_BITS) * HIST_FINE_SUB,
    HIST_SAMPLES_DEFAULT = 1 << 16,
};

struct hist {
    uint64_t count;
    int64_t min, max;
    __extension__ __int128 sum;
    uint64_t go[HIST_GO_BUCKETS];
    struct arena *arena;
    int64_t *samples; /* exact values, unordered; NULL once fine is in use */
    int64_t *other;   /* as many, for sorting; NULL until then */
    uint32_t samples_count, samples_capacity, samples_max, other_capacity;
    bool sorted;
    uint64_t *fine; /* HIST_FINE_BINS counters; negative values count as 0 */
};

void hist_init(struct hist *h, struct arena *a, uint32_t samples_max);
void hist_record(struct hist *h, int64_t value);

/* Adds everything of from to h. Exact only while both are and the sum fits. */
void hist_merge(struct hist *h, const struct hist *from);

/* Value at or below which ppm millionths of the values lie; 0 ppm is min, 1000000 max. 0 if empty.
 * Sorts the samples in place, hence not const. */
int64_t hist_percentile(struct hist *h, uint32_t ppm);
/* How many values are at least so large; as exact as percentiles. */
uint64_t hist_from(const struct hist *h, int64_t value);
bool hist_is_exact(const struct hist *h);
int64_t hist_mean(const struct hist *h); /* rounded down, 0 if empty */

/* The bucket of runtime/metrics: index 0 is underflow, HIST_GO_BUCKETS - 1 overflow. */
uint32_t hist_go_bucket(int64_t value);
/* Lower bound of a bucket in ns; INT64_MIN for bucket 0. Bucket i is [bound(i), bound(i+1)). */
int64_t hist_go_bound(uint32_t bucket);

#endif
