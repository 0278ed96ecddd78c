/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sim/base computes must be the same everywhere: one line "name fingerprint" per part.
 * libs: gmpsim_base
 */
#include "sim/base/arena.h"
#include "sim/base/dist.h"
#include "sim/base/eventq.h"
#include "sim/base/fingerprint.h"
#include "sim/base/hist.h"
#include "sim/base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 2000, SEED = 33 };

static struct fingerprint fp;
static struct failure failure;

static void begin(void) { fp_init(&fp); }

static void end(const char *name) { printf("%s %016" PRIx64 "\n", name, fp_value(&fp)); }

static void must(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "determinism: call failed with %d\n", rc);
    exit(1);
}

static void print_rng(void)
{
    struct rng r;

    begin();
    for (uint64_t index = 0; index < 8; index++) {
        rng_init(&r, SEED, RNG_USER, index);
        for (uint64_t n = 1; n < DRAWS; n++) {
            /* One draw per statement: the order of arguments differs between compilers. */
            fp_mix(&fp, rng_below(&r, n));
            fp_mix(&fp, rng_next(&r));
            fp_mix(&fp, (uint64_t)rng_range(&r, -(int64_t)n, (int64_t)n));
        }
    }
    end("rng");
}

static void print_dist(const char *name, const struct dist *d)
{
    struct rng r;

    begin();
    rng_init(&r, SEED, RNG_PROGRAM, 1);
    for (int i = 0; i < DRAWS; i++)
        fp_mix(&fp, (uint64_t)dist_draw(d, &r));
    for (uint64_t p = 1; p < 64; p++) /* both tails and the middle */
        fp_mix4(&fp, (uint64_t)dist_quantile(d, UINT64_C(1) << p),
                (uint64_t)dist_quantile(d, UINT64_MAX >> p),
                (uint64_t)dist_quantile(d, UINT64_MAX - (UINT64_MAX >> p)), p);
    end(name);
}

static void print_dists(void)
{
    static const struct dist_bin bins[] = {{0, 10, 5}, {100, 200, 1}, {1000, 1000, 7}};
    struct dist d;

    must(dist_fixed(&d, 250000, &failure));
    print_dist("dist.fixed", &d);
    must(dist_uniform(&d, 100, 1000000, &failure));
    print_dist("dist.uniform", &d);
    must(dist_exponential(&d, 1000000, &failure));
    print_dist("dist.exponential", &d);
    must(dist_lognormal(&d, 1000000, 750, &failure));
    print_dist("dist.lognormal", &d);
    must(dist_lognormal_p99(&d, 1000000, 9000000, &failure));
    print_dist("dist.lognormal-p99", &d);
    must(dist_pareto(&d, 1000, 1500, &failure));
    print_dist("dist.pareto", &d);
    must(dist_bimodal(&d, 100, 10000, 50000, &failure));
    print_dist("dist.bimodal", &d);
    must(dist_bins(&d, bins, 3, &failure));
    print_dist("dist.bins", &d);
}

static void print_fix(void)
{
    begin();
    for (uint64_t i = 1; i < DRAWS; i++) {
        uint64_t p = i * (UINT64_MAX / DRAWS);
        fp_mix4(&fp, (uint64_t)fix_log2(p), fix_exp2((int64_t)(i << 22), 3),
                (uint64_t)fix_normal_quantile(p), i);
    }
    end("fix");
}

/* Pushes, pops, replaces and cancels in a scheduler-like mix of near and far times. */
static void print_eventq(struct arena *a)
{
    struct eventq *q = arena_new(a, struct eventq);
    struct event e = {0};
    struct rng r;
    uint64_t now = 0, seq = 0;
    uint32_t handle = 0;

    begin();
    eventq_init(q, a);
    rng_init(&r, SEED, RNG_USER, 99);
    for (int i = 0; i < 20 * DRAWS; i++) {
        uint64_t at = now + rng_below(&r, rng_below(&r, 8) == 0 ? 10000000 : 3000);
        switch (rng_below(&r, eventq_count(q) < 300 ? 4 : 6)) {
        case 0:
        case 1: eventq_push(q, at, ++seq, (uint64_t)i); break;
        case 2: handle = eventq_push(q, at, ++seq, (uint64_t)i); break;
        case 3: fp_mix(&fp, handle && eventq_cancel(q, handle)); break;
        default:
            if (eventq_pop(q, &e))
                now = e.time;
            fp_mix4(&fp, e.time, e.seq, e.payload, eventq_next_time(q));
        }
    }
    while (eventq_pop(q, &e))
        fp_mix4(&fp, e.time, e.seq, e.payload, eventq_count(q));
    end("eventq");
}

static void print_hist(struct arena *a, uint32_t samples_max, const char *name)
{
    struct hist *h = arena_new(a, struct hist);
    struct dist d;
    struct rng r;

    begin();
    must(dist_lognormal(&d, 50000, 2000, &failure));
    rng_init(&r, SEED, RNG_USER, 7);
    hist_init(h, a, samples_max);
    for (int i = 0; i < DRAWS; i++)
        hist_record(h, dist_draw(&d, &r));
    for (uint32_t ppm = 0; ppm <= 1000000; ppm += 500)
        fp_mix(&fp, (uint64_t)hist_percentile(h, ppm));
    for (uint32_t i = 0; i < HIST_GO_BUCKETS; i++)
        fp_mix2(&fp, h->go[i], (uint64_t)hist_go_bound(i));
    fp_mix(&fp, (uint64_t)hist_mean(h));
    end(name);
}

int main(void)
{
    struct arena a;

    must(arena_init(&a, 64 << 20, 0, &failure));
    print_rng();
    print_dists();
    print_fix();
    print_eventq(&a);
    print_hist(&a, DRAWS, "hist.exact");
    print_hist(&a, 100, "hist.fine");
    arena_release(&a);
    return 0;
}
