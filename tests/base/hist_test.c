/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: Go's buckets bit by bit, exact percentiles up to the bound and the promised error after it.
 * Method: bounds against the formula of runtime/metrics, percentiles against a sorted array. */
#include "harness.h"

#include <stdlib.h>

#include "sim/base/dist.h"
#include "sim/base/hist.h"

static struct arena arena;

static struct hist *new_hist(uint32_t samples_max)
{
    struct failure f = {0};
    if (!arena.base)
        CHECK_EQ(arena_init(&arena, 256 << 20, 0, &f), 0);
    struct hist *h = arena_new(&arena, struct hist);
    hist_init(h, &arena, samples_max);
    return h;
}

/* The list that metrics.Read gives for /sched/latencies:seconds begins 0, 64, 128, 192, 256, 320
 * ... ns, has 162 counts and ends at 2^47 ns. */
TEST_CASE(Hist, BoundsAreThoseOfRuntimeMetrics)
{
    static const int64_t first[] = {INT64_MIN, 0, 64, 128, 192, 256, 320, 384, 448, 512, 640};
    CHECK_EQ(HIST_GO_BUCKETS, 162);
    for (uint32_t i = 0; i < sizeof first / sizeof first[0]; i++)
        CHECK_EQ(hist_go_bound(i), first[i]);
    CHECK_EQ(hist_go_bound(160), (int64_t)7 << 44);
    CHECK_EQ(hist_go_bound(161), (int64_t)1 << 47);
}

TEST_CASE(Hist, EveryBoundIsInItsOwnBucket)
{
    for (uint32_t i = 1; i < HIST_GO_BUCKETS; i++) {
        CHECK_EQ(hist_go_bucket(hist_go_bound(i)), i);
        CHECK_EQ(hist_go_bucket(hist_go_bound(i) - 1), i - 1);
        CHECK_GT(hist_go_bound(i), hist_go_bound(i - 1));
    }
    CHECK_EQ(hist_go_bucket(INT64_MAX), HIST_GO_BUCKETS - 1);
    CHECK_EQ(hist_go_bucket(INT64_MIN), 0);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum { VALUES = 5000 };

/* Fills h and returns the same values sorted; the caller frees. */
static int64_t *fill(struct hist *h, uint64_t seed)
{
    struct failure f = {0};
    struct dist d;
    struct rng r;
    int64_t *v = malloc(VALUES * sizeof *v);
    dist_lognormal(&d, 40000, 2500, &f);
    rng_init(&r, seed, RNG_USER, 0);
    for (int i = 0; i < VALUES; i++) {
        v[i] = dist_draw(&d, &r);
        hist_record(h, v[i]);
    }
    qsort(v, VALUES, sizeof *v, ascending);
    return v;
}

static const uint32_t ppms[] = {0, 1, 200, 1000, 100000, 500000, 900000, 990000, 999000, 1000000};

/* Nearest rank: the smallest value such that ppm millionths of the values are not above it. */
static int64_t nearest_rank(const int64_t *sorted, uint64_t n, uint32_t ppm)
{
    uint64_t rank = (n * ppm + 999999) / 1000000;
    return sorted[rank ? rank - 1 : 0];
}

TEST_CASE(Hist, ExactUpToTheBound)
{
    struct hist *h = new_hist(VALUES);
    int64_t *v = fill(h, 1);
    CHECK(hist_is_exact(h));
    for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++)
        CHECK_EQ(hist_percentile(h, ppms[i]), nearest_rank(v, VALUES, ppms[i]));
    hist_record(h, 5);
    CHECK(!hist_is_exact(h));
    free(v);
    arena_release(&arena);
}

/* Whatever digits they have in common, and with values between two looks. */
TEST_CASE(Hist, ExactOfAllSizes)
{
    struct rng r;
    rng_init(&r, 3, RNG_USER, 0);
    for (int bits = 1; bits <= 64; bits++) {
        struct hist *h = new_hist(VALUES);
        int64_t v[200];
        for (int n = 1; n <= 200; n++) {
            v[n - 1] = (int64_t)(rng_next(&r) << (64 - bits)) >> (64 - bits); /* of both signs */
            hist_record(h, v[n - 1]);
            if (n % 50 != 0)
                continue;
            qsort(v, (size_t)n, sizeof *v, ascending);
            for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++)
                CHECK_EQ(hist_percentile(h, ppms[i]), nearest_rank(v, (uint64_t)n, ppms[i]));
        }
        arena_release(&arena);
    }
}

TEST_CASE(Hist, WithinTheErrorAfterIt)
{
    struct hist *h = new_hist(100);
    int64_t *v = fill(h, 2);
    CHECK(!hist_is_exact(h));
    for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++) {
        int64_t want = nearest_rank(v, VALUES, ppms[i]), got = hist_percentile(h, ppms[i]);
        CHECK_GE(got, want);
        CHECK_LE(got, want + want / HIST_FINE_SUB);
    }
    free(v);
    arena_release(&arena);
}

TEST_CASE(Hist, FineBinsOfExtremes)
{
    struct hist *h = new_hist(0);
    hist_record(h, INT64_MAX);
    hist_record(h, -7);
    hist_record(h, 0);
    hist_record(h, 255);
    hist_record(h, 256);
    CHECK_EQ(hist_percentile(h, 0), -7);
    CHECK_EQ(hist_percentile(h, 600000), 255);
    CHECK_EQ(hist_percentile(h, 800000), 256);
    CHECK_EQ(hist_percentile(h, 1000000), INT64_MAX);
    CHECK_EQ(h->go[0], 1);
    CHECK_EQ(h->go[HIST_GO_BUCKETS - 1], 1);
    arena_release(&arena);
}

TEST_CASE(Hist, MergeIsTheSameAsRecordingEverything)
{
    for (uint32_t max = 100; max <= 2 * VALUES; max *= 100) {
        struct hist *a = new_hist(max), *b = new_hist(max), *both = new_hist(max);
        free(fill(a, 3));
        free(fill(b, 4));
        free(fill(both, 3));
        free(fill(both, 4));
        hist_merge(a, b);
        CHECK_EQ(a->count, 2 * VALUES);
        CHECK_EQ(hist_mean(a), hist_mean(both));
        CHECK_MEM(a->go, both->go, sizeof a->go);
        for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++)
            CHECK_EQ(hist_percentile(a, ppms[i]), hist_percentile(both, ppms[i]));
    }
    arena_release(&arena);
}

TEST_CASE(Hist, HowManyAreAtLeastSoLarge)
{
    for (uint32_t exact = 10; exact <= 2000; exact += 1990) {
        struct hist *h = new_hist(exact);
        CHECK_EQ(hist_from(h, 0), 0);
        for (int64_t i = 0; i < 1000; i++)
            hist_record(h, i);
        CHECK_EQ(hist_from(h, 0), 1000);
        CHECK_EQ(hist_from(h, 200), 800);
        CHECK_EQ(hist_from(h, 999999), 0);
        arena_release(&arena);
    }
}

TEST_CASE(Hist, Empty)
{
    struct hist *h = new_hist(10), *other = new_hist(10);
    CHECK_EQ(hist_percentile(h, 500000), 0);
    CHECK_EQ(hist_mean(h), 0);
    hist_merge(h, other);
    CHECK_EQ(h->count, 0);
    arena_release(&arena);
}
