/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the search that leaves out equal orders meets every end that a program can come to, and
 * fewer schedules. Method: random small programs, all schedules of each against those of dpor: the
 * same set of ends, outputs, stuck goroutines and races; counts by hand where they are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/explored.h"
#include "sim/base/alloc.h"
#include "sim/base/dpor.h"
#include "sim/base/fingerprint.h"

enum { ENDS_MAX = 4096, RUNS_MAX = 6000, FRAMES = 1 << 14, DONES = 1 << 14 };

static struct scenario *parse(const char *text)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, "x.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s in %s", f.text, text);
    return s;
}

/* ---- all ends of a program ---- */

struct ends {
    uint64_t end[ENDS_MAX];
    size_t count;
    uint64_t runs, classes;
    bool all; /* nothing was left out */
};

static uint64_t signature(const struct explored *x)
{
    struct fingerprint h;
    const struct run_result *r = &x->result;
    fp_init(&h);
    fp_mix_bytes(&h, x->verdict.what, strlen(x->verdict.what));
    fp_mix_bytes(&h, r->out, r->out_size);
    fp_mix2(&h, r->end, (uint64_t)r->kind);
    fp_mix2(&h, r->nraces > 0, r->ngs);
    for (size_t i = 0; i < r->ngs; i++) {
        fp_mix_bytes(&h, r->gs[i].is->group, strlen(r->gs[i].is->group));
        fp_mix_bytes(&h, r->gs[i].is->reason, strlen(r->gs[i].is->reason));
        fp_mix(&h, r->gs[i].is->line);
    }
    return fp_value(&h);
}

static void add(struct ends *e, uint64_t s)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->end[i] == s)
            return;
    CHECK(e->count < ENDS_MAX);
    e->end[e->count++] = s;
}

static void all_ends(const struct scenario *s, struct strategy *strategy, int64_t late,
                     struct ends *e)
{
    static struct explored x;
    struct failure f = {0};
    struct explored_opts o = {.scenario = s,
                              .procs = 2,
                              .granularity = GRANULARITY_SYNC,
                              .seed = 1,
                              .late_max_ns = late,
                              .steps_max = 2000};
    CHECK(scenario_profile(NULL, s, 0, &o.profile));
    if (!explored_open(&f, &x, &o))
        FAIL_CASE("%s", f.text);
    e->count = 0;
    e->runs = e->classes = 0;
    while (e->runs < RUNS_MAX && explored_run(&x, strategy)) {
        e->runs++;
        if (strategy->enough)
            continue;
        e->classes++;
        add(e, signature(&x));
    }
    explored_close(&x);
}

static void by_dfs(const struct scenario *s, int64_t late, struct ends *e)
{
    static struct dfs_frame frames[FRAMES];
    struct strategy_dfs d;
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    all_ends(s, &d.s, late, e);
    CHECK(!d.diverged);
    e->all = d.exhausted && !d.pruned;
}

static void by_dpor(const struct scenario *s, int64_t late, struct ends *e)
{
    struct dpor_node *nodes = x_alloc(FRAMES * sizeof *nodes);
    struct dpor_done *dones = x_alloc(DONES * sizeof *dones);
    static struct strategy_dpor d;
    strategy_dpor_init(&d, nodes, FRAMES, dones, DONES);
    all_ends(s, &d.s, late, e);
    CHECK(!d.diverged);
    e->all = d.exhausted && !d.pruned;
    free(nodes);
    free(dones);
}

static bool has(const struct ends *e, uint64_t end)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->end[i] == end)
            return true;
    return false;
}

/* ---- random programs ---- */

static struct evenly draws;

static uint32_t below(uint32_t n) { return evenly_below(evenly_next(&draws), n); }

static const char *statement(bool sleeps)
{
    static const char *const all[] = {
        "{\"lock\": \"m\"}, {\"load\": \"x\", \"into\": \"v\"}, {\"unlock\": \"m\"}",
        "{\"lock\": \"m\"}, {\"store\": \"x\", \"value\": 1}, {\"unlock\": \"m\"}",
        "{\"lock\": \"n\"}, {\"unlock\": \"n\"}",
        "{\"send\": \"c\", \"value\": 1}",
        "{\"recv\": \"c\", \"into\": \"r\"}",
        "{\"send\": \"d\", \"value\": 2}",
        "{\"recv\": \"d\", \"into\": \"r\"}",
        "{\"select\": [{\"recv\": \"c\"}, {\"recv\": \"d\"}, {\"default\": []}]}",
        "{\"select\": [{\"recv\": \"c\"}, {\"recv\": \"d\"}]}",
        "{\"atomic_add\": \"y\"}",
        "{\"load\": \"y\", \"into\": \"a\", \"atomic\": true}, {\"print\": \"%d\", \"args\": "
        "[\"a\"]}",
        "{\"store\": \"x\", \"value\": 3}",
        "{\"load\": \"x\", \"into\": \"b\"}, {\"if\": \"b == 1\", \"then\": [{\"atomic_add\": "
        "\"y\"}]}",
        "{\"rlock\": \"w\"}, {\"runlock\": \"w\"}",
        "{\"lock\": \"w\"}, {\"unlock\": \"w\"}",
        "{\"close\": \"d\"}",
        "{\"lock\": \"m\"}, {\"wait\": \"q\"}, {\"unlock\": \"m\"}",
        "{\"signal\": \"q\"}",
        "{\"sleep\": \"1ms\"}",
    };
    return all[below(sizeof all / sizeof *all - !sleeps)];
}

static struct scenario *random_program(uint64_t seed, bool sleeps)
{
    static char text[4000];
    draws.state = seed * UINT64_C(0x9e3779b97f4a7c15);
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "{\"name\": \"x\", \"why\": \"a test\", \"objects\": {\"m\": \"mutex\", \"n\": \"mutex\", "
        "\"q\": {\"cond\": \"m\"}, \"w\": \"rwmutex\", \"c\": \"chan\", \"d\": {\"chan\": 1}, "
        "\"x\": \"var\", \"y\": "
        "\"var\"}, \"main\": [");
    for (uint32_t g = 0, gs = 2 + below(2); g < gs; g++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"go\": [");
        for (uint32_t k = 0, all = 1 + below(gs == 2 ? 3 : 2); k < all; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k > 0 ? ", " : "",
                                  statement(sleeps));
        n += (size_t)snprintf(text + n, sizeof text - n, "]}, ");
    }
    snprintf(text + n, sizeof text - n, "%s]}", statement(sleeps));
    return parse(text);
}

/* How many programs were exhausted both ways. */
static int compare(uint64_t first, uint64_t count, bool sleeps, int64_t late)
{
    static struct ends all, few;
    int done = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct scenario *s = random_program(seed, sleeps);
        by_dpor(s, late, &few);
        by_dfs(s, late, &all);
        CHECK(few.all || !all.all);
        for (size_t i = 0; all.all && i < all.count; i++)
            if (!has(&few, all.end[i]))
                FAIL_CASE("program %d: dpor misses an end: %zu of %zu", (int)seed, few.count,
                          all.count);
        for (size_t i = 0; all.all && i < few.count; i++)
            CHECK(has(&all, few.end[i]));
        if (all.all)
            CHECK_LE(few.runs, all.runs);
        done += all.all;
        scenario_free(s);
    }
    return done;
}

TEST_CASE(Dpor, MeetsEveryEndOfRandomPrograms) { CHECK_LE(15, compare(1, 30, false, 0)); }

TEST_CASE(Dpor, MeetsEveryEndOfProgramsThatSleep) { CHECK_LE(8, compare(1000, 20, true, 0)); }

TEST_CASE(Dpor, MeetsEveryEndWhenSomebodyMayBeLate)
{
    CHECK_LE(5, compare(2000, 20, true, 500000000));
}

/* ---- counts that are known ---- */

static uint64_t classes_of(const char *objects, const char *main)
{
    static struct ends e;
    static char text[2000];
    snprintf(text, sizeof text,
             "{\"name\": \"x\", \"why\": \"a test\", \"objects\": {%s}, \"main\": [%s]}", objects,
             main);
    struct scenario *s = parse(text);
    by_dpor(s, 0, &e);
    CHECK(e.all);
    scenario_free(s);
    return e.classes;
}

#define ADD(v) "{\"go\": [{\"atomic_add\": \"" v "\"}, {\"done\": \"wg\"}]}, "

TEST_CASE(Dpor, WhatDoesNotConflictIsOneSchedule)
{
    /* Done of one wait group three times, in any order: 3! */
    CHECK_EQ(classes_of("\"wg\": \"waitgroup\", \"a\": \"var\", \"b\": \"var\", \"c\": \"var\"",
                        "{\"add\": \"wg\", \"n\": 3}, " ADD("a") ADD("b")
                            ADD("c") "{\"wait\": \"wg\"}") <= 24,
             true);
    /* Loads conflict with nobody. */
    uint64_t two = classes_of("\"a\": \"var\", \"c\": {\"chan\": 2}",
                              "{\"go\": [{\"load\": \"a\", \"into\": \"v\", \"atomic\": true}, "
                              "{\"load\": \"a\", \"into\": \"v\", \"atomic\": true}, {\"send\": "
                              "\"c\", \"value\": 1}]}, {\"load\": \"a\", \"into\": \"v\", "
                              "\"atomic\": true}, {\"load\": \"a\", \"into\": \"v\", \"atomic\": "
                              "true}, {\"recv\": \"c\"}");
    CHECK_LE(two, 2); /* the receive before or after the send */
}
