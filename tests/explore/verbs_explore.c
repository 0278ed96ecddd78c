/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of tests/verbs on the explored world: once as virtual time has it, or, with
 * GMPSIM_SEED, in a random order. */
#include "sim/base/fail.h"

#include "verbs_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explore/explore.h"

static struct hostm *hostms;
static int nthreads;
static bool open, ran;
static struct strategy_random random_strategy;

static struct strategy *strategy(void)
{
    const char *seed = getenv("GMPSIM_SEED");

    if (seed == NULL)
        return strategy_time();
    strategy_random_init(&random_strategy, strtoull(seed, NULL, 0), UINT64_MAX);
    return &random_strategy.s;
}

static uint64_t counts[EV_COUNT];

static void count(void *arg, const struct event_rec *recs, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        counts[recs[i].type]++;
}

void *verbs_begin(size_t size, const struct verbs_opts *opts)
{
    struct ex_opts o = {.steps_max = UINT64_C(1) << 26,
                        .answers_max = 1 << 24,
                        .until_ns = INT64_C(36000000000000),
                        .sink = count};
    struct failure f = {0};

    if (open)
        verbs_end();
    if (opts != NULL) {
        o.seed = opts->seed;
        o.sighandler = opts->sighandler;
        o.quota_us = opts->quota_us;
        o.period_us = opts->period_us;
        o.until_ns = opts->limit_ns != 0 ? opts->limit_ns : o.until_ns;
    }
    if (!ex_init(&f, &o) || !ex_begin(strategy()))
        abort();
    open = true;
    ran = false;
    nthreads = 0;
    memset(counts, 0, sizeof counts);
    hostms = host_alloc(sizeof(*hostms) * VERBS_THREADS_MAX, 64);
    return host_alloc(size, 64);
}

void verbs_thread(void (*fn)(void *), void *arg) { ex_start(verbs_hostm(nthreads++), fn, arg); }

struct hostm *verbs_hostm(int n) { return &hostms[n]; }

enum world_end verbs_run(void)
{
    enum world_end why = ex_run();

    ran = true;
    if (why == END_LIMIT) {
        fprintf(stderr, "cut: %s\n", ex_text());
        abort();
    }
    return why == END_DONE ? END_IDLE : why;
}

void verbs_end(void)
{
    if (ran)
        ex_end();
    ex_free();
    open = false;
}

int verbs_kind(void) { return ex_finding_kind(); }
const char *verbs_text(void) { return ex_text(); }
/* In a random order any thread may be late. */
bool verbs_exact(void) { return getenv("GMPSIM_SEED") == NULL; }
uint64_t verbs_events(uint32_t type) { return counts[type]; }
