/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: points happen in the order of (clock, rank), however many threads there are and whatever
 * the fast path lets pass. Method: threads perform points whose costs come from a generator that
 * the test runs a second time in a naive way: look at all clocks, take the smallest. The order seen
 * and the naive one must be equal, point by point. */
#include "virt_world.h"

#include <stdlib.h>

#include "sim/base/rng.h"

enum { POINTS = 20000 };

struct walker {
    struct rng rng;
    uint32_t id, points;
    uint64_t coarse; /* costs are multiples of this: many ties */
    uint64_t far;    /* one cost in 64 is multiplied by this */
};

struct seen {
    uint64_t time;
    uint32_t id;
};

static struct walker *walkers;
static struct seen *seen;
static uint32_t seen_count;

static uint64_t next_cost(struct walker *w)
{
    uint64_t cost = rng_below(&w->rng, 8) * w->coarse;

    if (w->far && rng_below(&w->rng, 64) == 0)
        cost *= w->far;
    return cost;
}

static void walk(void *arg)
{
    struct walker *w = arg;

    for (uint32_t i = 0; i < w->points; i++) {
        uint64_t cost = next_cost(w);

        a_fence(); /* costs nothing here */
        seen[seen_count++] = (struct seen){vm_hot.now, w->id};
        vm_hot.now += cost;
    }
}

static void begin(const struct vm_opts *opts, uint32_t threads, uint64_t coarse, uint64_t far)
{
    world_begin(opts, 0);
    walkers = host_alloc(sizeof *walkers * threads, 64);
    seen = host_alloc(sizeof *seen * POINTS, 64);
    seen_count = 0;
    for (uint32_t i = 0; i < threads; i++) {
        walkers[i] = (struct walker){
            .id = i, .points = POINTS / threads, .coarse = coarse, .far = far};
        rng_init(&walkers[i].rng, opts->seed, RNG_USER, i);
        world_thread(walk, &walkers[i]);
    }
}

/* The naive order, by (clock, id). */
static void naive(struct seen *out, uint32_t threads, const struct walker *like, uint64_t seed)
{
    struct walker *w = calloc(threads, sizeof *w);
    uint64_t *clock = calloc(threads, sizeof *clock);

    for (uint32_t i = 0; i < threads; i++) {
        w[i] = *like;
        rng_init(&w[i].rng, seed, RNG_USER, i);
    }
    for (uint32_t n = 0; n < POINTS / threads * threads; n++) {
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < threads; i++)
            if (w[i].points && (best == UINT32_MAX || clock[i] < clock[best]))
                best = i;
        out[n] = (struct seen){clock[best], best};
        clock[best] += next_cost(&w[best]);
        w[best].points--;
    }
    free(w);
    free(clock);
}

static void compare(uint32_t threads, uint64_t coarse, uint64_t far)
{
    static struct seen want[POINTS];
    struct walker like = {.points = POINTS / threads, .coarse = coarse, .far = far};

    begin(&(struct vm_opts){.seed = threads}, threads, coarse, far);
    naive(want, threads, &like, threads);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(seen_count, POINTS / threads * threads);
    for (uint32_t i = 0; i < seen_count; i++) {
        CHECK_EQ(seen[i].time, want[i].time);
        CHECK_EQ(seen[i].id, want[i].id);
    }
    world_end();
}

TEST_CASE(Order, IsThatOfANaiveSort)
{
    static const uint32_t counts[] = {1, 2, 3, 5, 8, 16, 17, 64, 300};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        compare(counts[i], 1000, 0);
}

TEST_CASE(Order, OldestFirstAtOneInstant)
{
    compare(4, UINT64_C(1000000000), 0); /* eight different costs: nearly every point is a tie */
    compare(40, 0, 0);                   /* nothing but ties */
}

/* Clocks that are up to 84 s ahead of the others do not fit the keys of the ready tree. */
TEST_CASE(Order, HoldsForClocksFarApart)
{
    compare(2, 3 * PS_PER_MS, 4000);
    compare(9, 3 * PS_PER_MS, 4000);
    compare(64, 1, UINT64_C(1000000000000));
}

/* ---- ties by seed ---- */

static void note(void *arg)
{
    struct walker *w = arg;

    a_fence();
    seen[seen_count++] = (struct seen){vm_hot.now, w->id};
}

static uint64_t order_of_ties(uint64_t seed, uint32_t threads)
{
    struct fingerprint fp;

    world_begin(&(struct vm_opts){.seed = seed, .ties = VM_TIES_BY_SEED}, 0);
    walkers = host_alloc(sizeof *walkers * threads, 64);
    seen = host_alloc(sizeof *seen * POINTS, 64);
    seen_count = 0;
    for (uint32_t i = 0; i < threads; i++) {
        walkers[i].id = i;
        world_thread(note, &walkers[i]);
    }
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(seen_count, threads);
    fp_init(&fp);
    for (uint32_t i = 0; i < threads; i++)
        fp_mix(&fp, seen[i].id);
    world_end();
    return fp_value(&fp);
}

TEST_CASE(Order, TiesBySeedFollowTheSeed)
{
    uint64_t first = order_of_ties(1, 10), same = 0;

    CHECK_EQ(order_of_ties(1, 10), first);
    for (uint64_t seed = 2; seed < 12; seed++)
        same += order_of_ties(seed, 10) == first;
    CHECK_EQ(same, 0);
    CHECK_EQ(order_of_ties(7, 200), order_of_ties(7, 200));
}

/* ---- a run in pieces is the same run ---- */

static uint64_t fingerprint_in_pieces(uint64_t piece_ps)
{
    struct fingerprint fp;
    enum world_end why;
    uint64_t until = 0;

    begin(&(struct vm_opts){.seed = 5}, 7, 12345, 1000);
    do {
        until += piece_ps;
        why = vm_run(until);
        if (why == END_TIME)
            CHECK_EQ(world_stats().now_ps, until);
    } while (why == END_TIME);
    CHECK_EQ(why, END_IDLE);
    fp_init(&fp);
    for (uint32_t i = 0; i < seen_count; i++)
        fp_mix2(&fp, seen[i].time, seen[i].id);
    world_end();
    return fp_value(&fp);
}

TEST_CASE(Order, ARunInPiecesIsTheSameRun)
{
    uint64_t whole = fingerprint_in_pieces(UINT64_C(1) << 50);

    CHECK_EQ(fingerprint_in_pieces(1000000), whole);
    CHECK_EQ(fingerprint_in_pieces(777777), whole);
}
