/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/hist.h"

#include <string.h>

#include "sim/base/alloc.h"

enum { SAMPLES_MIN = 64, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void hist_init(struct hist *h, struct arena *a, uint32_t samples_max)
{
    memset(h, 0, sizeof *h);
    h->arena = a;
    h->samples_max = samples_max;
}

/* ---- Go's buckets ---- */

uint32_t hist_go_bucket(int64_t value)
{
    if (value < 0)
        return 0;
    unsigned length = value ? 64 - (unsigned)__builtin_clzll((uint64_t)value) : 0;
    unsigned top = length < HIST_GO_MIN_BITS ? HIST_GO_MIN_BITS : length;
    unsigned super = length < HIST_GO_MIN_BITS ? 0 : length - HIST_GO_MIN_BITS + 1;
    if (top >= HIST_GO_MAX_BITS)
        return HIST_GO_BUCKETS - 1;
    unsigned sub = (unsigned)(value >> (top - 1 - HIST_GO_SUB_BITS)) % (1u << HIST_GO_SUB_BITS);
    return 1 + (super << HIST_GO_SUB_BITS) + sub;
}

int64_t hist_go_bound(uint32_t bucket)
{
    if (bucket == 0)
        return INT64_MIN;
    if (bucket >= HIST_GO_BUCKETS - 1)
        return (int64_t)1 << (HIST_GO_MAX_BITS - 1);
    unsigned super = (bucket - 1) >> HIST_GO_SUB_BITS;
    int64_t sub = (bucket - 1) % (1u << HIST_GO_SUB_BITS);
    unsigned top = HIST_GO_MIN_BITS + (super ? super - 1 : 0);
    int64_t high = super ? (int64_t)1 << (top - 1) : 0;
    return high | sub << (top - 1 - HIST_GO_SUB_BITS);
}

/* ---- fine bins: as Go's, but 256 per power of two ---- */

static uint32_t fine_bin(int64_t value)
{
    uint64_t v = value < 0 ? 0 : (uint64_t)value;
    if (v < HIST_FINE_SUB)
        return (uint32_t)v;
    unsigned shift = 63 - (unsigned)__builtin_clzll(v) - HIST_FINE_BITS;
    return ((shift + 1) << HIST_FINE_BITS) + (uint32_t)(v >> shift) % HIST_FINE_SUB;
}

static int64_t fine_high(uint32_t bin)
{
    if (bin < HIST_FINE_SUB)
        return bin;
    unsigned shift = (bin >> HIST_FINE_BITS) - 1;
    uint64_t mantissa = HIST_FINE_SUB + bin % HIST_FINE_SUB + 1;
    return (int64_t)((mantissa << shift) - 1);
}

/* From now on no single values. */
static void go_fine(struct hist *h)
{
    if (h->fine)
        return;
    h->fine = arena_array(h->arena, uint64_t, HIST_FINE_BINS);
    if (!h->fine)
        x_failed();
    for (uint32_t i = 0; i < h->samples_count; i++)
        h->fine[fine_bin(h->samples[i])]++;
    h->samples_count = 0;
}

/* ---- samples ---- */

static int64_t *samples_new(struct hist *h, uint32_t capacity)
{
    int64_t *samples = arena_array(h->arena, int64_t, capacity);
    if (!samples)
        x_failed();
    return samples;
}

static void samples_grow(struct hist *h)
{
    uint32_t capacity = h->samples_capacity ? h->samples_capacity * 2 : SAMPLES_MIN;
    if (capacity > h->samples_max)
        capacity = h->samples_max;
    int64_t *samples = samples_new(h, capacity);
    if (h->samples_count)
        memcpy(samples, h->samples, h->samples_count * sizeof *samples);
    h->samples = samples;
    h->samples_capacity = capacity;
}

static void keep(struct hist *h, int64_t value)
{
    if (!h->fine && h->samples_count == h->samples_max)
        go_fine(h);
    if (h->fine) {
        h->fine[fine_bin(value)]++;
        return;
    }
    if (h->samples_count == h->samples_capacity)
        samples_grow(h);
    h->samples[h->samples_count++] = value;
    h->sorted = false;
}

static void widen(struct hist *h, int64_t min, int64_t max)
{
    if (!h->count || min < h->min)
        h->min = min;
    if (!h->count || max > h->max)
        h->max = max;
}

void hist_record(struct hist *h, int64_t value)
{
    widen(h, value, value);
    h->count++;
    h->sum += value;
    h->go[hist_go_bucket(value)]++;
    keep(h, value);
}

void hist_merge(struct hist *h, const struct hist *from)
{
    if (!from->count)
        return;
    widen(h, from->min, from->max);
    h->count += from->count;
    h->sum += from->sum;
    for (int i = 0; i < HIST_GO_BUCKETS; i++)
        h->go[i] += from->go[i];
    if (from->fine) {
        go_fine(h);
        for (int i = 0; i < HIST_FINE_BINS; i++)
            h->fine[i] += from->fine[i];
    } else {
        for (uint32_t i = 0; i < from->samples_count; i++)
            keep(h, from->samples[i]);
    }
}

/* Negative values are less. */
static unsigned digit(int64_t value, unsigned shift)
{
    return (unsigned)(((uint64_t)value ^ (uint64_t)1 << 63) >> shift) % DIGITS;
}

/* Stable, by the digit at `shift`. */
static void deal(const int64_t *from, int64_t *to, uint32_t n, unsigned shift)
{
    uint32_t at[DIGITS + 1] = {0};
    for (uint32_t i = 0; i < n; i++)
        at[digit(from[i], shift) + 1]++;
    for (int d = 0; d < DIGITS; d++)
        at[d + 1] += at[d];
    for (uint32_t i = 0; i < n; i++)
        to[at[digit(from[i], shift)]++] = from[i];
}

/* Digit by digit, without those that all values have in common. */
static void sort(struct hist *h)
{
    uint64_t differ = (uint64_t)h->min ^ (uint64_t)h->max;
    if (h->other_capacity < h->samples_capacity) {
        h->other = samples_new(h, h->samples_capacity);
        h->other_capacity = h->samples_capacity;
    }
    for (unsigned shift = 0; shift < 64 && differ >> shift != 0; shift += DIGIT_BITS) {
        int64_t *from = h->samples;
        deal(from, h->other, h->samples_count, shift);
        h->samples = h->other;
        h->other = from;
    }
    h->sorted = true;
}

int64_t hist_percentile(struct hist *h, uint32_t ppm)
{
    if (!h->count)
        return 0;
    __extension__ typedef unsigned __int128 u128;
    uint64_t rank = (uint64_t)(((u128)h->count * ppm + 999999) / 1000000);
    if (rank <= 1)
        return h->min;
    if (rank >= h->count)
        return h->max;
    if (!h->fine) {
        if (!h->sorted)
            sort(h);
        return h->samples[rank - 1];
    }
    uint32_t bin = 0;
    for (uint64_t seen = h->fine[0]; seen < rank; seen += h->fine[bin])
        bin++;
    int64_t high = fine_high(bin);
    return high < h->max ? high : h->max;
}

uint64_t hist_from(const struct hist *h, int64_t value)
{
    uint64_t n = 0;
    if (h->fine)
        for (uint32_t bin = fine_bin(value); bin < HIST_FINE_BINS; bin++)
            n += h->fine[bin];
    else
        for (uint32_t i = 0; i < h->samples_count; i++)
            n += h->samples[i] >= value;
    return n;
}

bool hist_is_exact(const struct hist *h) { return !h->fine; }

int64_t hist_mean(const struct hist *h)
{
    return h->count ? (int64_t)(h->sum / (int64_t)h->count) : 0;
}
