/* SPDX-License-Identifier: BSD-3-Clause */
/* The small parts of sim/base: what one record, one draw, one sample, one checkpoint costs.
 * libs: gmpsim_base
 *
 * Ratios are to one step of splitmix64, about the cheapest thing there is. */
#include "bench/bench.h"

#include "sim/base/dist.h"
#include "sim/base/event.h"
#include "sim/base/hist.h"

enum { OPS = 1 << 21, SLOW_OPS = 1 << 18, CHECKPOINTS = 1 << 14 };

static struct arena arena;
static struct failure failure;
static struct rng rng;

static void new_world(void)
{
    if (!arena.base && arena_init(&arena, (size_t)1 << 30, 0, &failure) != 0)
        exit(fail_exit_code(failure.code));
    arena_reset(&arena);
}

static void run_splitmix(void *arg)
{
    uint64_t state = 1, sum = 0;
    (void)arg;
    bench_begin();
    for (int i = 0; i < OPS; i++)
        sum += rng_splitmix(&state);
    bench_end(OPS);
    bench_keep(sum);
}

static void run_next(void *arg)
{
    uint64_t sum = 0;
    (void)arg;
    bench_begin();
    for (int i = 0; i < OPS; i++)
        sum += rng_next(&rng);
    bench_end(OPS);
    bench_keep(sum);
}

static void run_below(void *arg)
{
    uint64_t sum = 0;
    (void)arg;
    bench_begin();
    for (uint64_t i = 0; i < OPS; i++)
        sum += rng_below(&rng, i % 1000 + 1);
    bench_end(OPS);
    bench_keep(sum);
}

static void run_fingerprint(void *arg)
{
    struct fingerprint f;
    (void)arg;
    fp_init(&f);
    bench_begin();
    for (uint64_t i = 0; i < OPS; i++)
        fp_mix4(&f, i, i >> 3, i >> 5, i >> 7);
    bench_end(OPS);
    bench_keep(f.h);
}

static void sink(void *arg, const struct event_rec *recs, size_t n)
{
    *(uint64_t *)arg += recs[n - 1].time;
}

static void run_emit(void *arg)
{
    static struct event_log l;
    static uint64_t sum;
    new_world();
    event_log_init(&l, &arena, NULL);
    if (arg)
        event_log_sink(&l, sink, &sum, EVENT_BATCH_COUNT);
    bench_begin();
    for (uint64_t i = 0; i < OPS; i++) {
        event_emit(&l, i % 2 ? EV_MARK : EV_SPAN_BEGIN, i, event_who(1, 2), (uint32_t)i, i, 3, 4);
        bench_keep(l.next);
    }
    bench_end(OPS);
}

static void run_dist(void *arg)
{
    int64_t sum = 0;
    bench_begin();
    for (int i = 0; i < SLOW_OPS; i++)
        sum += dist_draw(arg, &rng);
    bench_end(SLOW_OPS);
    bench_keep(sum);
}

static void run_hist(void *arg)
{
    static struct hist h;
    new_world();
    hist_init(&h, &arena, arg ? OPS : 0);
    bench_begin();
    for (uint64_t i = 0; i < OPS; i++)
        hist_record(&h, (int64_t)(i * 0x9e3779b97f4a7c15u >> 40));
    bench_end(OPS);
}

static void run_checkpoint(void *arg)
{
    struct checkpoint c = {0};
    new_world();
    memset(arena_alloc(&arena, *(size_t *)arg, 64), 1, *(size_t *)arg);
    checkpoint_save(&c, &arena, &failure);
    bench_begin();
    for (int i = 0; i < CHECKPOINTS; i++) {
        checkpoint_save(&c, &arena, &failure);
        checkpoint_restore(&c, &arena);
    }
    bench_end(CHECKPOINTS);
    checkpoint_release(&c);
}

int main(int argc, char **argv)
{
    static struct dist exponential, lognormal, pareto;
    static size_t small = 1 << 10, middle = 16 << 10, large = 256 << 10;
    static int yes;
    rng_init(&rng, 1, RNG_USER, 0);
    dist_exponential(&exponential, 1000000, &failure);
    dist_lognormal(&lognormal, 1000000, 1000, &failure);
    dist_pareto(&pareto, 1000000, 1500, &failure);
    struct bench_case cases[] = {
        {"splitmix64", run_splitmix, NULL},
        {"rng_next", run_next, NULL},
        {"rng_below", run_below, NULL},
        {"fp_mix4", run_fingerprint, NULL},
        {"event_emit, records off", run_emit, NULL},
        {"event_emit, to a sink", run_emit, &yes},
        {"dist_draw, exponential", run_dist, &exponential},
        {"dist_draw, lognormal", run_dist, &lognormal},
        {"dist_draw, pareto", run_dist, &pareto},
        {"hist_record, fine bins", run_hist, NULL},
        {"hist_record, exact", run_hist, &yes},
        {"checkpoint save + restore, 1 KiB", run_checkpoint, &small},
        {"checkpoint save + restore, 16 KiB", run_checkpoint, &middle},
        {"checkpoint save + restore, 256 KiB", run_checkpoint, &large},
    };
    bench_table("parts of sim/base", cases, sizeof cases / sizeof cases[0],
                bench_reps(argc, argv, 5));
    return 0;
}
