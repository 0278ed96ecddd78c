/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An explored world must do the same everywhere: fingerprints of random runs under every memory
 * model, the number of schedules of a search, and which schedule a search finds first.
 * libs: gmpsim_explore
 */
#include "sim/base/fail.h"

#include "sim/explore/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/explore/search.h"

enum { THREADS = 3, ROUNDS = 6 };

static struct shared {
    ATOMIC(uint32_t) head, tail, sleep;
    ATOMIC(uint32_t *) slot[4];
    uint32_t value[THREADS];
} * s;

/* Every kind of verb, pointers among the values. */
static void worker(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t h = a_load_acq(&s->head);
        a_store_rlx(&s->slot[h & 3], &s->value[me]);
        a_store_rel(&s->tail, h + 1);
        if (!a_cas(&s->head, h, h + 1))
            procyield(10);
        uint32_t *p = a_load_rlx(&s->slot[(h + 1) & 3]);
        a_cas(&s->slot[i & 3], p, &s->value[me]);
        if (p == &s->value[me])
            a_xchg(&s->sleep, 1);
        if (draw(4, i) == 3)
            futexsleep(&s->sleep, 1, 1000);
        work(op);
        futexwakeup(&s->sleep, 1);
        a_store(&s->sleep, 0);
    }
}

static void build(void *arg)
{
    (void)arg;
    s = host_alloc(sizeof(*s), 64);
    for (uint32_t i = 0; i < THREADS; i++) {
        s->value[i] = i;
        ex_start(NULL, worker, &s->value[i]);
    }
}

static void open_world(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    struct ex_opts o = {
        .memory = memory, .port = ports[memory], .memory_max = 1 << 22, .eager_clock = true};
    struct failure f = {0};

    if (!ex_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        exit(2);
    }
}

static void random_runs(enum mm_kind memory)
{
    struct strategy_random r;
    struct fingerprint fp;
    struct ex_totals t;

    open_world(memory);
    strategy_random_init(&r, 33, 50);
    fp_init(&fp);
    while (ex_begin(&r.s)) {
        build(NULL);
        fp_mix(&fp, ex_run());
        fp_mix2(&fp, ex_fingerprint(), ex_steps());
        ex_end();
    }
    ex_totals(&t);
    printf("random %s %016" PRIx64 " answers %" PRIu64 "\n", mm_kind_name(memory), fp_value(&fp),
           t.answers);
    ex_free();
}

/* Some schedule that is not among the first. */
static void check(void *arg)
{
    (void)arg;
    if (ex_fingerprint() % 64 == 7)
        ex_fail("seven");
}

static void searched(enum mm_kind memory)
{
    static struct dfs_frame frames[4096];
    struct strategy_dfs d;
    struct search search = {build, check, NULL, 2000, false};
    struct search_result r;

    open_world(memory);
    strategy_dfs_init(&d, frames, 4096, 2);
    d.draws_max = 1; /* else the last thread's draws are all that 2000 runs vary */
    search_run(&search, &d.s, &r);
    printf("dfs %s runs %" PRIu64 " steps %" PRIu64 " found %d at %016" PRIx64 "\n",
           mm_kind_name(memory), r.runs, r.steps, r.found, r.fingerprint);
    search_result_release(&r);
    ex_free();
}

int main(void)
{
    for (int k = 0; k < MM_KINDS; k++) {
        random_runs((enum mm_kind)k);
        searched((enum mm_kind)k);
    }
    return 0;
}
