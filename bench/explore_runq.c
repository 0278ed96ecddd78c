/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions per second of a run-queue test of 15, 29, 100 and 500 operations, each a choice drawn
 * at random or made depth first, with its checks: no value is taken twice, none is lost.
 * bench/relacy/ has the same test for another checker; an op of the table is an execution.
 *
 *   bench_explore_runq            tables
 *   bench_explore_runq --lines    a line a case, for bench/relacy/run.sh
 *
 * libs: gmpsim_explore
 */
#define _GNU_SOURCE /* clock_gettime */
#include "sim/base/fail.h"

#include "sim/explore/host.h"

#include "bench.h"
#include "sim/explore/explore.h"

enum { RING = 4, PUTS_MAX = 64, TAKERS = 2, FRAMES = 4096 };

/* Who puts does so `puts` times, and two others take `takes` times each. */
struct spec {
    const char *name;
    enum mm_kind memory;
    uint32_t puts, takes;
    uint64_t runs;
    enum { RANDOM, DEPTH_FIRST, FROM_THE_BEGINNING } how;
};

static struct queue {
    ATOMIC(uint32_t) head, tail, slot[RING];
} * q;
static const struct spec *spec;
static uint32_t put_count, taken[PUTS_MAX + 1];
static uint64_t operations;
static const struct ex_outside outside[] = {{&put_count, sizeof put_count}, {taken, sizeof taken}};

static void putter(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i <= spec->puts; i++) {
        uint32_t h = a_load_acq(&q->head), t = a_load_rlx(&q->tail);
        if (t - h >= RING)
            continue;
        a_store_rlx(&q->slot[t % RING], i);
        a_store_rel(&q->tail, t + 1);
        put_count++;
    }
}

static void taker(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < spec->takes; i++) {
        uint32_t h = a_load_acq(&q->head), t = a_load_acq(&q->tail);
        if (t == h)
            continue;
        uint32_t value = a_load_rlx(&q->slot[h % RING]);
        if (!a_cas_rel(&q->head, h, h + 1))
            continue;
        if (value == 0 || taken[value]++ != 0)
            ex_finding_(1, "a value was taken twice, or was none");
    }
}

static void build(void)
{
    q = host_alloc(sizeof *q, 64);
    a_init(&q->head, 0);
    a_init(&q->tail, 0);
    for (int i = 0; i < RING; i++)
        a_init(&q->slot[i], 0);
    ex_start(NULL, putter, NULL);
    for (int i = 0; i < TAKERS; i++)
        ex_start(NULL, taker, NULL);
}

static void check(void)
{
    uint32_t count = a_peek(&q->tail) - a_peek(&q->head);
    for (uint32_t i = 1; i <= spec->puts; i++)
        count += taken[i];
    if (ex_why() != END_DONE || count != put_count) {
        fprintf(stderr, "bench_explore_runq: %s\n",
                ex_why() != END_DONE ? ex_text() : "a value was lost");
        exit(1);
    }
}

static struct strategy *strategy_of(void)
{
    static struct strategy_random r;
    static struct strategy_dfs d;
    static struct dfs_frame frames[FRAMES];
    strategy_random_init(&r, 1, UINT64_MAX);
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    return spec->how == RANDOM ? &r.s : &d.s;
}

/* The world is built once, and put back for every execution. */
static void run(void *arg)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    struct failure f = {0};
    spec = arg;
    struct ex_opts o = {.memory = spec->memory,
                        .port = ports[spec->memory],
                        .ctrl = true,
                        .outside = outside,
                        .outside_count = 2,
                        .branches = spec->how == DEPTH_FIRST,
                        .memory_max = 1 << 24};
    struct strategy *s = strategy_of();
    if (!ex_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        exit(2);
    }
    operations = 0;
    put_count = 0;
    memset(taken, 0, sizeof taken);
    bench_begin();
    ex_begin_start(strategy_time());
    build();
    ex_to_first_points();
    if (ex_keep(&f) != 0)
        exit(2);
    for (uint64_t i = 0; i < spec->runs; i++) {
        ex_again(s);
        ex_run();
        check();
        operations += ex_steps();
        ex_end();
    }
    bench_end(spec->runs);
    ex_free();
}

static struct spec specs[] = {
    {"sc, random, 15 operations", MM_SC, 2, 1, 200000, RANDOM},
    {"sc, random, 29 operations", MM_SC, 4, 2, 100000, RANDOM},
    {"sc, random, 100 operations", MM_SC, 14, 7, 40000, RANDOM},
    {"sc, random, 500 operations", MM_SC, 64, 38, 8000, RANDOM},
    {"arm64, random, 15 operations", MM_ARM, 2, 1, 100000, RANDOM},
    {"arm64, random, 29 operations", MM_ARM, 4, 2, 50000, RANDOM},
    {"arm64, random, 100 operations", MM_ARM, 14, 7, 10000, RANDOM},
    {"arm64, random, 500 operations", MM_ARM, 64, 38, 2000, RANDOM},
    {"sc, depth first, 15 operations", MM_SC, 2, 1, 100000, DEPTH_FIRST},
    {"sc, from the beginning, 15 operations", MM_SC, 2, 1, 100000, FROM_THE_BEGINNING},
    {"sc, depth first, 29 operations", MM_SC, 4, 2, 100000, DEPTH_FIRST},
    {"sc, from the beginning, 29 operations", MM_SC, 4, 2, 100000, FROM_THE_BEGINNING},
    {"sc, depth first, 100 operations", MM_SC, 14, 7, 100000, DEPTH_FIRST},
    {"sc, from the beginning, 100 operations", MM_SC, 14, 7, 100000, FROM_THE_BEGINNING},
    {"arm64, depth first, 15 operations", MM_ARM, 2, 1, 50000, DEPTH_FIRST},
    {"arm64, from the beginning, 15 operations", MM_ARM, 2, 1, 50000, FROM_THE_BEGINNING},
    {"arm64, depth first, 29 operations", MM_ARM, 4, 2, 50000, DEPTH_FIRST},
    {"arm64, from the beginning, 29 operations", MM_ARM, 4, 2, 50000, FROM_THE_BEGINNING},
    {"arm64, depth first, 100 operations", MM_ARM, 14, 7, 50000, DEPTH_FIRST},
    {"arm64, from the beginning, 100 operations", MM_ARM, 14, 7, 50000, FROM_THE_BEGINNING},
};
enum { SPECS = sizeof specs / sizeof *specs };

int main(int argc, char **argv)
{
    struct bench_case cases[SPECS];
    if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
        for (int i = 0; i < SPECS; i++) {
            run(&specs[i]);
            printf("gmpsim %s\t%.1f\t%.0f\n", specs[i].name,
                   (double)operations / (double)specs[i].runs,
                   (double)bench_ops_ * 1e9 / (double)bench_ns_);
        }
        return 0;
    }
    for (int i = 0; i < SPECS; i++)
        cases[i] = (struct bench_case){specs[i].name, run, &specs[i]};
    bench_table("explorer: executions of a run-queue test, with checks", cases, SPECS,
                bench_reps(argc, argv, 5));
    return 0;
}
