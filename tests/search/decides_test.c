/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: what is said to decide how a run ends does: an order of two operations, of two goroutines
 * at one lock, of an operation and what somebody else had still to do, a choice; and a finding
 * among operations is told by turns. Method: textbook defects of which each is known, by name and
 * line.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "search/by_turns.h"
#include "search/history.h"

#define TWO "'main': [{'add': 'wg', 'n': 2}, {'go': 'one'}, {'go': 'two'}, {'wait': 'wg'}"

static struct scenario *load(const char *program)
{
    struct failure f = {0};
    static char text[4000];
    snprintf(text, sizeof text, "{\"name\": \"x\", \"why\": \"a test\", %s}", program);
    for (char *p = text; *p != 0; p++)
        if (*p == '\'')
            *p = '"';
    struct scenario *s = scenario_load(&f, "test.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}

static bool search(const struct scenario *s, enum granularity g, enum hunt_strategy strategy,
                   uint64_t runs, struct finding *out)
{
    struct failure f = {0};
    struct hunt_result r;
    struct hunt_opts o = {.world = {.scenario = s,
                                    .procs = 2,
                                    .seed = 1,
                                    .granularity = g,
                                    .late_max_ns = 500000000,
                                    .steps_max = 100000},
                          .strategy = strategy,
                          .seed = 1,
                          .runs_max = runs};
    CHECK(scenario_profile(&f, s, 0, &o.world.profile));
    if (!hunt(&f, &o, &r))
        FAIL_CASE("%s", f.text);
    *out = r.finding;
    return r.end == HUNT_FOUND;
}

/* The first line of what decides has these words. */
static void decides(const char *program, const char *words)
{
    struct failure f = {0};
    struct history h;
    struct finding x;
    char text[800];
    struct scenario *s = load(program);
    CHECK(search(s, GRANULARITY_SYNC, HUNT_RANDOM, 2000, &x));
    if (!history_make(&f, &x, 300, &h))
        FAIL_CASE("%s", f.text);
    if (h.npairs == 0)
        FAIL_CASE("nothing decides: %s", program);
    history_pair_text(&h, &h.pair[0], text, sizeof text);
    if (strstr(text, words) == NULL)
        FAIL_CASE("\"%s\" is not \"%s\": %s", text, words, program);
    history_free(&h);
    finding_release(&x);
    scenario_free(s);
}

/* The signal comes before the wait, under one lock. */
TEST_CASE(Decides, WhoHasTheLockFirst)
{
    decides("'objects': {'mu': 'mutex', 'c': {'cond': 'mu'}, 'wg': 'waitgroup'}, 'funcs': {"
            "'one': [{'lock': 'mu'}, {'wait': 'c'}, {'unlock': 'mu'}, {'done': 'wg'}],"
            "'two': [{'lock': 'mu'}, {'signal': 'c'}, {'unlock': 'mu'}, {'done': 'wg'}]}," TWO "]",
            "two: lock mu, line 1) before");
}

/* Between a load and a store under two locks comes another goroutine's lock. */
TEST_CASE(Decides, WhoComesInBetween)
{
    decides(
        "'objects': {'mu': 'mutex', 'v': 'var', 'wg': 'waitgroup'}, 'funcs': {\n"
        "'one': [{'lock': 'mu'}, {'load': 'v', 'into': 'x'}, {'unlock': 'mu'},\n"
        "{'lock': 'mu'}, {'store': 'v', 'value': 'x + 1'}, {'unlock': 'mu'}, {'done': 'wg'}],\n"
        "'two': [{'lock': 'mu'}, {'load': 'v', 'into': 'x'}, {'store': 'v', 'value': 'x + 1'},\n"
        "{'unlock': 'mu'}, {'done': 'wg'}]}," TWO
        ", {'load': 'v', 'into': 'x'}, {'assert': 'x == 2'}]",
        "two: lock mu, line 4) before ");
}

/* Both have looked before one has closed. */
TEST_CASE(Decides, ADefaultOnlyLooks)
{
    decides("'objects': {'c': 'chan', 'wg': 'waitgroup'}, 'funcs': {'shut': [\n"
            "{'select': [{'recv': 'c'}, {'default': [{'close': 'c'}]}]}, {'done': 'wg'}]},\n"
            "'main': [{'add': 'wg', 'n': 2}, {'go': 'shut', 'count': 2}, {'wait': 'wg'}]",
            "shut: close c, line 2); the other way round: it ends well");
}

/* The run has ended before others come to what they would have done. */
TEST_CASE(Decides, WhatDoesNotComeAnyMore)
{
    decides("'objects': {'n': 'var', 'wg': 'waitgroup'}, 'funcs': {'work': [{'add': 'wg'},\n"
            "{'atomic_add': 'n'}, {'done': 'wg'}]}, 'main': [{'go': 'work'}, {'wait': 'wg'},\n"
            "{'load': 'n', 'into': 'r', 'atomic': true}, {'assert': 'r == 1'}]",
            "work: atomic add n, line 2, which does not come any more; the other way round: it ends"
            " well");
}

TEST_CASE(Decides, WhatASelectTakes)
{
    decides(
        "'objects': {'a': {'chan': 1}, 'b': {'chan': 1}, 'n': 'var'}, 'main': [{'send': 'a'},\n"
        "{'send': 'b'}, {'select': [{'recv': 'a'}, {'recv': 'b', 'do': [{'store': 'n', 'value': "
        "1}]}]}, {'load': 'n', 'into': 'x'}, {'assert': 'x == 0'}]",
        "took recv b; had it taken recv a: it ends well");
}

/* ---- the page ---- */

static const char wrong_order[] =
    "'objects': {'v': 'var', 'wg': 'waitgroup'}, 'funcs': {\n"
    "'one': [{'atomic_add': 'v'}, {'atomic_add': 'v'}, {'done': 'wg'}],\n"
    "'two': [{'load': 'v', 'into': 'x', 'atomic': true}, {'load': 'v', 'into': 'y', 'atomic': "
    "true},\n"
    "{'assert': 'x != 1 || y != 2'}, {'done': 'wg'}]}," TWO "]";

TEST_CASE(Decides, WhoseAssertionItIs)
{
    struct scenario *s = load(wrong_order);
    struct finding x;
    CHECK(search(s, GRANULARITY_SYNC, HUNT_RANDOM, 2000, &x));
    CHECK(strstr(x.verdict.text, "[running]:\nmain.two (line 4)") != NULL);
    finding_release(&x);
    scenario_free(s);
}

TEST_CASE(Decides, WhatIsFoundAmongOperationsIsToldByTurns)
{
    struct failure f = {0};
    struct verdict v;
    struct finding x;
    bool found, same;
    struct scenario *s = load(wrong_order);
    CHECK(search(s, GRANULARITY_OP, HUNT_POS, 20000, &x));
    CHECK_EQ(x.world.granularity, GRANULARITY_OP);
    CHECK(finding_by_turns(&f, &x, &found));
    CHECK(found);
    CHECK_EQ(x.world.granularity, GRANULARITY_SYNC);
    CHECK_STR(x.verdict.what, "assertion");
    CHECK(finding_replay(&f, &x, &v, &same));
    CHECK(same);
    finding_release(&x);
    scenario_free(s);
}

/* ---- no finding ---- */

/* A select that is being woken is off one queue and on the others, and nobody has said so yet. */
TEST_CASE(Decides, WhoIsBeingWokenDoesNotLeak)
{
    struct finding x;
    struct scenario *s = load(
        "'objects': {'a': 'chan', 'b': 'chan'}, 'main': [{'go': [{'select': [{'send': 'a'}, "
        "{'recv': 'b'}]}]}, {'go': [{'close': 'b'}]}, {'sleep': '1ms'}]");
    if (search(s, GRANULARITY_OP, HUNT_POS, 4000, &x))
        FAIL_CASE("%s: %s", x.verdict.what, x.verdict.text);
    scenario_free(s);
}
