/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what small programs come to by turns and by operations is the same. Method: by turns every
 * schedule; by operations, on two and three Ps, every schedule with up to one preemption (draws as
 * 0), and random ones. Verdicts by operations are among those by turns (turns miss none), and those
 * by turns are met by operations (turns invent none). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/explored.h"
#include "sim/base/alloc.h"

enum { VERDICTS_MAX = 16, FRAMES = 1 << 16, RANDOM_RUNS = 400, TREE_RUNS = 20000 };

struct verdicts {
    char what[VERDICTS_MAX][40];
    int count;
    uint64_t runs;
};

static bool has(const struct verdicts *v, const char *what)
{
    for (int i = 0; i < v->count; i++)
        if (strcmp(v->what[i], what) == 0)
            return true;
    return false;
}

static void note(struct verdicts *v, const char *what)
{
    if (has(v, what))
        return;
    CHECK_LT(v->count, VERDICTS_MAX);
    snprintf(v->what[v->count++], sizeof v->what[0], "%s", what);
}

/* All that the strategy has, up to runs_max; true: that was all. */
static bool run_all(const struct scenario *s, enum granularity g, int procs, struct strategy *st,
                    uint64_t runs_max, struct verdicts *v)
{
    static struct explored x;
    struct failure f = {0};
    struct explored_opts o = {.scenario = s,
                              .procs = procs,
                              .granularity = g,
                              .seed = 1,
                              .steps_max = 20000,
                              .no_races = true};
    CHECK(scenario_profile(&f, s, 0, &o.profile));
    o.profile.sysmon = 0;
    if (!explored_open(&f, &x, &o))
        FAIL_CASE("%s", f.text);
    uint64_t runs = 0;
    bool more = true;
    while (runs < runs_max && (more = explored_run(&x, st))) {
        CHECK(x.verdict.kind != VERDICT_NONE);
        note(v, x.verdict.what);
        runs++;
    }
    v->runs += runs;
    explored_close(&x);
    return !more;
}

static void by_tree(const struct scenario *s, enum granularity g, int procs, uint32_t preemptions,
                    struct verdicts *v)
{
    static struct dfs_frame frames[FRAMES];
    struct strategy_dfs d;
    strategy_dfs_init(&d, frames, FRAMES, preemptions);
    d.draws_max = g == GRANULARITY_OP ? 1 : 0;
    CHECK(run_all(s, g, procs, &d.s, TREE_RUNS, v));
    CHECK(d.exhausted && !d.diverged);
}

static void compare(const char *program)
{
    static char text[4000];
    struct failure f = {0};
    struct verdicts turns = {0}, operations = {0};
    snprintf(text, sizeof text, "{\"name\": \"x\", \"why\": \"a test\", %s}", program);
    for (char *p = text; *p != 0; p++)
        if (*p == '\'')
            *p = '"';
    struct scenario *s = scenario_load(&f, "x.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    by_tree(s, GRANULARITY_SYNC, 1, DFS_UNBOUNDED, &turns);
    for (int procs = 2; procs <= 3; procs++) {
        struct strategy_random r;
        by_tree(s, GRANULARITY_OP, procs, procs == 2, &operations);
        strategy_random_init(&r, (uint64_t)procs, RANDOM_RUNS);
        run_all(s, GRANULARITY_OP, procs, &r.s, RANDOM_RUNS, &operations);
    }
    if (getenv("GMPSIM_EXPLORE_COUNTS") != NULL)
        fprintf(stderr, "%d verdicts: turns %d schedules, operations %d\n", turns.count,
                (int)turns.runs, (int)operations.runs);
    for (int i = 0; i < operations.count; i++)
        if (!has(&turns, operations.what[i]))
            FAIL_CASE("by turns there is no \"%s\": %s", operations.what[i], program);
    for (int i = 0; i < turns.count; i++)
        if (!has(&operations, turns.what[i]))
            FAIL_CASE("by operations there is no \"%s\": %s", turns.what[i], program);
    scenario_free(s);
}

#define START "{'add': 'wg', 'n': 2}, {'go': 'one'}, {'go': 'two'}, {'wait': 'wg'}"
#define DONE  ", {'done': 'wg'}]"

TEST_CASE(Granularity, LocksInTwoOrders)
{
    compare("'objects': {'a': 'mutex', 'b': 'mutex', 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'lock': 'a'}, {'lock': 'b'}, {'unlock': 'b'}, {'unlock': 'a'}" DONE ","
            "'two': [{'lock': 'b'}, {'lock': 'a'}, {'unlock': 'a'}, {'unlock': 'b'}" DONE "},"
            "'main': [" START "]");
}

TEST_CASE(Granularity, LocksInOneOrder)
{
    compare("'objects': {'a': 'mutex', 'b': 'mutex', 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'lock': 'a'}, {'lock': 'b'}, {'unlock': 'b'}, {'unlock': 'a'}" DONE ","
            "'two': [{'lock': 'a'}, {'unlock': 'a'}" DONE "},"
            "'main': [" START "]");
}

TEST_CASE(Granularity, SendOnAClosedChannel)
{
    compare("'objects': {'c': {'chan': 1}, 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'send': 'c', 'value': 1}" DONE ", 'two': [{'close': 'c'}" DONE "},"
            "'main': [" START "]");
}

TEST_CASE(Granularity, AnUpdateIsLost)
{
    compare("'objects': {'v': 'var', 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'load': 'v', 'into': 'x', 'atomic': true}, {'store': 'v', 'value': 'x + 1', "
            "'atomic': true}" DONE ","
            "'two': [{'load': 'v', 'into': 'x', 'atomic': true}, {'store': 'v', 'value': 'x + 1', "
            "'atomic': true}" DONE "},"
            "'main': [" START ", {'load': 'v', 'into': 'x', 'atomic': true},"
            " {'assert': 'x == 2', 'text': 'both'}]");
}

TEST_CASE(Granularity, ASignalThatNobodyWaitsFor)
{
    compare("'objects': {'m': 'mutex', 'q': {'cond': 'm'}}, 'funcs': {"
            "'one': [{'lock': 'm'}, {'signal': 'q'}, {'unlock': 'm'}]},"
            "'main': [{'go': 'one'}, {'lock': 'm'}, {'wait': 'q'}, {'unlock': 'm'}]");
}

TEST_CASE(Granularity, ASelectTakesEither)
{
    compare("'objects': {'c': {'chan': 1}, 'd': {'chan': 1}, 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'send': 'c', 'value': 1}" DONE ", 'two': [{'send': 'd', 'value': 1}" DONE "},"
            "'main': [" START
            ", {'select': [{'recv': 'c'}, {'recv': 'd', 'do': [{'recv': 'd'}]}]}]");
}
