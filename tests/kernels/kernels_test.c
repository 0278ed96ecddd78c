/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: exploration finds each of the bugs of scenarios/kernels, with the goroutines that are stuck
 * and what for, and nothing in their fixed twins. Method: random turns until the first finding; all
 * turns with one preemption, and random ones, of the twin; a case per file, made by CMake. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "scenarios/expect.h"
#include "search/hunt.h"
#include "sim/base/choose.h"

enum { RUNS_MAX = 1000, ALWAYS_RUNS = 100, RANDOM_RUNS = 500, DFS_RUNS = 60000, OP_RUNS = 20 };

static struct scenario *load(const char *name)
{
    struct failure f = {0};
    char path[500];
    snprintf(path, sizeof path, KERNELS_DIR "/%s.json", name);
    struct scenario *s = scenario_load_file(&f, path);
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}

/* Is it a bug of the file that some schedule ends so? race: or that there is a data race. */
static bool has_bug(const struct scenario *s, bool race)
{
    for (const struct expect *e = s->bugs; e != NULL; e = e->next)
        if ((strcmp(e->end, "race") == 0) == race)
            return true;
    return false;
}

static struct hunt_opts opts_of(const struct scenario *s, enum hunt_strategy strategy,
                                uint64_t runs)
{
    struct hunt_opts o = {.world = {.scenario = s,
                                    .procs = s->procs,
                                    .granularity = GRANULARITY_SYNC,
                                    .seed = 1,
                                    .late_max_ns = 500000000,
                                    .steps_max = 100000},
                          .strategy = strategy,
                          .seed = 1,
                          .preemptions = 1,
                          .runs_max = runs};
    CHECK(scenario_profile(NULL, s, 0, &o.world.profile));
    o.world.until_ns = s->until_ns;
    return o;
}

static struct hunt_result hunted(const struct hunt_opts *o)
{
    struct failure f = {0};
    struct hunt_result r;
    if (!hunt(&f, o, &r))
        FAIL_CASE("%s", f.text);
    CHECK(r.end != HUNT_DIVERGED);
    return r;
}

/* Schedules until the first finding, which is the one of the file. A race that it has besides would
 * come first. */
static uint64_t first_of(const struct scenario *s, bool races)
{
    struct hunt_opts o = opts_of(s, HUNT_RANDOM, RUNS_MAX);
    o.world.no_races = !races;
    struct hunt_result r = hunted(&o);
    CHECK_EQ(r.end, HUNT_FOUND);
    if (!r.finding.verdict.known)
        FAIL_CASE("%s: not the bug of the file: %s", s->name, r.finding.verdict.text);
    finding_release(&r.finding);
    return r.runs;
}

static uint64_t first_hit(const struct scenario *s) { return first_of(s, !has_bug(s, false)); }

static void comes_always(const struct scenario *s)
{
    struct hunt_opts o = opts_of(s, HUNT_RANDOM, ALWAYS_RUNS);
    struct failure f = {0};
    static struct explored x;
    struct strategy_random random;
    if (!explored_open(&f, &x, &o.world))
        FAIL_CASE("%s", f.text);
    strategy_random_init(&random, 7, ALWAYS_RUNS);
    while (explored_run(&x, &random.s))
        if (x.verdict.kind == VERDICT_CLEAN ||
            (x.verdict.kind == VERDICT_FINDING && !x.verdict.known))
            FAIL_CASE("%s: once it did not come: %s", s->name, x.verdict.text);
    explored_close(&x);
}

void kernel_is_found(const char *name)
{
    struct scenario *s = load(name);
    CHECK(s->bugs != NULL);
    CHECK_LE(first_hit(s), (uint64_t)RUNS_MAX);
    if (has_bug(s, true))
        CHECK_LE(first_of(s, /*races*/ true), (uint64_t)RUNS_MAX);
    if (s->bug_always)
        comes_always(s);
    scenario_free(s);
}

static void is_clean(const struct scenario *s, const struct hunt_opts *o, enum hunt_end end)
{
    struct hunt_result r = hunted(o);
    if (r.end == HUNT_FOUND)
        FAIL_CASE("%s, %s: %s", s->name, hunt_strategy_name(o->strategy), r.finding.verdict.text);
    CHECK_EQ(r.end, end);
    CHECK_EQ(r.cut, 0);
}

void kernel_is_clean(const char *name)
{
    struct scenario *s = load(name);
    CHECK(s->bugs == NULL);
    struct hunt_opts all = opts_of(s, HUNT_DFS, DFS_RUNS);
    is_clean(s, &all, HUNT_EXHAUSTED);
    struct hunt_opts random = opts_of(s, HUNT_RANDOM, RANDOM_RUNS);
    is_clean(s, &random, HUNT_SPENT);
    struct hunt_opts ops = opts_of(s, HUNT_RANDOM, OP_RUNS);
    ops.world.granularity = GRANULARITY_OP;
    is_clean(s, &ops, HUNT_SPENT);
    scenario_free(s);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

TEST_CASE(Kernels, MedianOfSchedulesIsAtMostTen)
{
    uint64_t hits[200];
    size_t n = 0;
    for (; kernels[n] != NULL; n++) {
        struct scenario *s = load(kernels[n]);
        hits[n] = first_hit(s);
        scenario_free(s);
    }
    CHECK_LE(50, n);
    qsort(hits, n, sizeof *hits, by_size);
    CHECK_LE(hits[n / 2], 10);
}
