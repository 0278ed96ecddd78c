/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What exploring costs: ns per operation when every operation is a choice, for strategies and
 * memory models, and complete executions per second of a small test by depth-first search.
 *
 * libs: gmpsim_explore
 */
#define _GNU_SOURCE /* clock_gettime */
#include "sim/base/fail.h"

#include "sim/explore/host.h"

#include "bench.h"
#include "sim/explore/explore.h"

enum { ROUNDS = 250, OPS_PER_ROUND = 4, RUNS = 200 };

static struct shared {
    ATOMIC(uint32_t) head, tail, slot[4];
} * sh;

static void worker(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t h = a_load_acq(&sh->head);
        a_store_rlx(&sh->slot[h & 3], i);
        a_store_rel(&sh->tail, h + 1);
        a_cas(&sh->head, h, h + 1);
    }
}

struct spec {
    enum mm_kind memory;
    int threads;
    bool time; /* strategy: virtual time, else random */
};

static void build(int threads, void (*fn)(void *))
{
    sh = host_alloc(sizeof(*sh), 8);
    a_init(&sh->head, 0);
    a_init(&sh->tail, 0);
    for (int i = 0; i < 4; i++)
        a_init(&sh->slot[i], 0);
    for (int i = 0; i < threads; i++)
        ex_start(NULL, fn, NULL);
}

static void open_world(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    struct ex_opts o = {
        .memory = memory, .port = ports[memory], .ctrl = true, .memory_max = 1 << 24};
    struct failure f = {0};

    if (!ex_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        exit(2);
    }
}

static void ops(void *arg)
{
    const struct spec *s = arg;
    struct strategy_random r;
    struct strategy *st = s->time ? strategy_time() : &r.s;
    int runs = s->memory >= MM_ARM ? RUNS / 10 : RUNS;

    strategy_random_init(&r, 1, UINT64_MAX);
    open_world(s->memory);
    bench_begin();
    for (int i = 0; i < runs; i++) {
        ex_begin(st);
        build(s->threads, worker);
        ex_run();
        ex_end();
    }
    bench_end((uint64_t)runs * (uint64_t)s->threads * ROUNDS * OPS_PER_ROUND);
    ex_free();
}

/* Two threads of five operations: one put, one take. */
static void taker(void *arg)
{
    (void)arg;
    uint32_t h = a_load_acq(&sh->head);
    uint32_t t = a_load_acq(&sh->tail);
    if (t != h) {
        a_load_rlx(&sh->slot[h & 3]);
        a_cas_rel(&sh->head, h, h + 1);
    }
}

static void putter(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t h = a_load_acq(&sh->head), t = a_load_rlx(&sh->tail);
        if (t - h < 4)
            a_store_rlx(&sh->slot[t & 3], i);
        a_store_rel(&sh->tail, t + 1);
    }
}

static void dfs(void *arg)
{
    const struct spec *s = arg;
    static struct dfs_frame frames[4096];
    struct strategy_dfs d;
    uint64_t runs = 0;

    strategy_dfs_init(&d, frames, 4096, DFS_UNBOUNDED);
    open_world(s->memory);
    bench_begin();
    while (runs < 300000 && ex_begin(&d.s)) {
        build(1, putter);
        ex_start(NULL, taker, NULL);
        ex_start(NULL, taker, NULL);
        ex_run();
        ex_end();
        runs++;
    }
    bench_end(runs);
    ex_free();
}

int main(void)
{
    static struct spec spec[] = {
        {MM_SC, 2, false},  {MM_SC, 3, false},  {MM_SC, 4, false},
        {MM_SC, 8, false},  {MM_SC, 16, false}, {MM_SC, 4, true},
        {MM_TSO, 4, false}, {MM_ARM, 4, false}, {MM_POWER, 4, false},
    };
    struct bench_case op_cases[] = {
        {"sc random 2 threads", ops, &spec[0]},  {"sc random 3 threads", ops, &spec[1]},
        {"sc random 4 threads", ops, &spec[2]},  {"sc random 8 threads", ops, &spec[3]},
        {"sc random 16 threads", ops, &spec[4]}, {"sc virtual time 4", ops, &spec[5]},
        {"tso random 4", ops, &spec[6]},         {"arm64 random 4", ops, &spec[7]},
        {"ppc64 random 4", ops, &spec[8]},
    };
    struct bench_case dfs_cases[] = {
        {"sc", dfs, &spec[0]},
        {"tso", dfs, &spec[6]},
        {"arm64", dfs, &spec[7]},
        {"ppc64", dfs, &spec[8]},
    };

    bench_table("explorer: ns per operation, every operation a choice", op_cases, 9, 7);
    bench_table("explorer: executions of put, put, take, take (about 15 operations), depth first",
                dfs_cases, 4, 3);
    return 0;
}
