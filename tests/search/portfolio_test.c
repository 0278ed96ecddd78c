/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: slices take turns and none does a schedule twice; what is said to be covered was. Method:
 * the slices of small programs, against one search in one piece and counts by hand. */
#include "search/portfolio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct scenario *program(const char *main)
{
    static char text[2000];
    struct failure f = {0};
    snprintf(text, sizeof text,
             "{\"name\": \"x\", \"why\": \"a test\", \"objects\": {\"a\": \"mutex\", \"b\": "
             "\"mutex\", \"wg\": \"waitgroup\"}, \"funcs\": {\"one\": [{\"lock\": \"a\"}, "
             "{\"lock\": \"b\"}, {\"unlock\": \"b\"}, {\"unlock\": \"a\"}, {\"done\": \"wg\"}], "
             "\"two\": [{\"lock\": \"b\"}, {\"lock\": \"a\"}, {\"unlock\": \"a\"}, {\"unlock\": "
             "\"b\"}, {\"done\": \"wg\"}]}, \"main\": [%s], \"expect\": {\"blocked\": []}}",
             main);
    struct scenario *s = scenario_load(&f, "x.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}

#define GOOD                                                                                 \
    "{\"add\": \"wg\"}, {\"go\": \"one\"}, {\"wait\": \"wg\"}, {\"add\": \"wg\"}, {\"go\": " \
    "\"two\"}, {\"lock\": \"a\"}, {\"unlock\": \"a\"}, {\"wait\": \"wg\"}"
#define BAD "{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"two\"}, {\"wait\": \"wg\"}"

static struct hunt_opts opts(const struct scenario *s, enum hunt_strategy strategy, uint64_t runs)
{
    struct hunt_opts o = {.world = {.scenario = s,
                                    .procs = 2,
                                    .granularity = GRANULARITY_SYNC,
                                    .seed = 1,
                                    .steps_max = 10000},
                          .strategy = strategy,
                          .seed = 1,
                          .depth = 3,
                          .preemptions = 2,
                          .runs_max = runs};
    CHECK(scenario_profile(NULL, s, 0, &o.world.profile));
    return o;
}

static enum portfolio_end search(struct portfolio *p, struct finding *x)
{
    struct failure f = {0};
    const struct search_slice *by;
    *x = (struct finding){0};
    enum portfolio_end end = portfolio_search(&f, p, x, &by);
    if (end == PORTFOLIO_FAILED)
        FAIL_CASE("%s", f.text);
    return end;
}

TEST_CASE(Portfolio, ASliceGoesOnWhereItStopped)
{
    struct scenario *s = program(BAD);
    static struct portfolio p;
    struct finding x, alone;
    struct failure f = {0};
    p = (struct portfolio){0};
    struct hunt_opts o = opts(s, HUNT_RANDOM, 1000);
    o.seed = 3;
    struct hunt_result r;
    CHECK(hunt(&f, &o, &r));
    CHECK_EQ(r.end, HUNT_FOUND);
    alone = r.finding;
    CHECK(portfolio_add(&p, &o));
    CHECK_EQ(search(&p, &x), PORTFOLIO_FOUND);
    CHECK_EQ(p.runs, r.runs);
    CHECK_EQ(x.fingerprint, alone.fingerprint);
    finding_release(&x);
    finding_release(&alone);
    scenario_free(s);
}

TEST_CASE(Portfolio, SaysWhatWasCovered)
{
    struct scenario *s = program(GOOD);
    static struct portfolio p;
    struct finding x;
    char text[500];
    uint32_t at = 0;
    p = (struct portfolio){0};
    struct hunt_opts random = opts(s, HUNT_RANDOM, 690), dfs = opts(s, HUNT_DFS, 100000);
    CHECK(portfolio_add(&p, &random));
    CHECK(portfolio_add(&p, &dfs));
    p.slices[1].deepens = true;
    CHECK_EQ(search(&p, &x), PORTFOLIO_NOTHING);
    CHECK_EQ(p.slices[0].runs, 690);
    CHECK_EQ(p.slices[1].exhausted, 2);
    CHECK(!p.slices[1].whole);
    CHECK(portfolio_is_exhausted(&p));
    CHECK(portfolio_says(&p, &at, text, sizeof text));
    if (strstr(text, "every schedule with up to 2 preemptions") == NULL ||
        strstr(text, "690 random schedules: a bug that one in 100 shows") == NULL)
        FAIL_CASE("%s", text);
    CHECK(!portfolio_says(&p, &at, text, sizeof text));
    scenario_free(s);
}

TEST_CASE(Portfolio, SaysFromHowManyStatesAllWasTried)
{
    struct scenario *s = program(GOOD);
    static struct portfolio p;
    struct finding x;
    char text[500];
    uint32_t at = 0;
    p = (struct portfolio){0};
    struct hunt_opts o = opts(s, HUNT_STATES, 100000);
    CHECK(portfolio_add(&p, &o));
    CHECK_EQ(search(&p, &x), PORTFOLIO_NOTHING);
    CHECK(p.slices[0].states > 1);
    CHECK(!p.slices[0].whole);
    CHECK(!portfolio_is_exhausted(&p));
    CHECK(portfolio_says(&p, &at, text, sizeof text));
    if (strstr(text, "every step from each of ") == NULL)
        FAIL_CASE("%s", text);
    scenario_free(s);
}

TEST_CASE(Portfolio, AllSchedulesAreAllWithoutABoundThatCutsAny)
{
    struct scenario *s = program(GOOD);
    static struct portfolio p;
    struct finding x;
    p = (struct portfolio){0};
    struct hunt_opts dfs = opts(s, HUNT_DFS, 10000000);
    dfs.preemptions = 40;
    CHECK(portfolio_add(&p, &dfs));
    p.slices[0].deepens = true;
    CHECK_EQ(search(&p, &x), PORTFOLIO_NOTHING);
    CHECK(p.slices[0].whole);
    CHECK(p.slices[0].exhausted < 40);
    struct failure f = {0};
    struct hunt_result r;
    dfs.preemptions = DFS_UNBOUNDED;
    CHECK(hunt(&f, &dfs, &r));
    CHECK_EQ(r.end, HUNT_EXHAUSTED);
    CHECK_EQ(p.slices[0].exhausted_runs, r.runs);
    scenario_free(s);
}

TEST_CASE(Portfolio, ABudgetOfPointsEnds)
{
    struct scenario *s = program(GOOD);
    static struct portfolio p;
    struct finding x;
    p = (struct portfolio){0};
    struct hunt_opts o = opts(s, HUNT_RANDOM, UINT64_MAX);
    o.points_max = 200000;
    CHECK(portfolio_add(&p, &o));
    CHECK_EQ(search(&p, &x), PORTFOLIO_NOTHING);
    CHECK(p.slices[0].spent);
    CHECK(p.slices[0].steps >= 200000);
    CHECK(p.slices[0].steps < 210000);
    scenario_free(s);
}
