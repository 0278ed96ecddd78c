/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a scenario's schedules are searched from a copy of the world at the program's first
 * instruction, and what is found can be done again. Method: small kernels; the same runs from the
 * copy and from a start of their own; findings replayed, shrunk, written and read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/kept.h"
#include "search/shrink.h"

static const char abba[] =
    "{\"name\": \"abba\", \"why\": \"two locks in two orders\","
    " \"objects\": {\"a\": \"mutex\", \"b\": \"mutex\", \"wg\": \"waitgroup\"},"
    " \"funcs\": {\"one\": [{\"lock\": \"a\"}, {\"lock\": \"b\"}, {\"unlock\": \"b\"},"
    "                       {\"unlock\": \"a\"}, {\"done\": \"wg\"}],"
    "             \"two\": [{\"lock\": \"b\"}, {\"lock\": \"a\"}, {\"unlock\": \"a\"},"
    "                       {\"unlock\": \"b\"}, {\"done\": \"wg\"}]},"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"two\"},"
    "            {\"wait\": \"wg\"}]}";

/* A turn has one instruction: both load before one stores. */
static const char lost[] =
    "{\"name\": \"lost\", \"why\": \"an update gets lost\","
    " \"objects\": {\"v\": \"var\", \"wg\": \"waitgroup\"},"
    " \"funcs\": {\"inc\": [{\"load\": \"v\", \"into\": \"x\", \"atomic\": true},"
    "   {\"store\": \"v\", \"value\": \"x + 1\", \"atomic\": true}, {\"done\": \"wg\"}]},"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"inc\"}, {\"go\": \"inc\"},"
    "   {\"wait\": \"wg\"}, {\"load\": \"v\", \"into\": \"x\", \"atomic\": true},"
    "   {\"assert\": \"x == 2\", \"text\": \"both\"}]}";

static const char fine[] =
    "{\"name\": \"fine\", \"why\": \"two locks in one order\","
    " \"objects\": {\"a\": \"mutex\", \"b\": \"mutex\", \"wg\": \"waitgroup\"},"
    " \"funcs\": {\"one\": [{\"lock\": \"a\"}, {\"lock\": \"b\"}, {\"sleep\": \"1us\"},"
    "                       {\"unlock\": \"b\"}, {\"unlock\": \"a\"}, {\"done\": \"wg\"}]},"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"one\"},"
    "            {\"wait\": \"wg\"}]}";

static struct scenario *load(const char *text)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, "test.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}

static struct hunt_opts random_hunt(const struct scenario *s, int procs, uint64_t runs)
{
    struct failure f = {0};
    struct hunt_opts o = {.world = {.scenario = s,
                                    .procs = procs,
                                    .seed = 1,
                                    .late_max_ns = 1000000,
                                    .steps_max = 100000},
                          .strategy = HUNT_RANDOM,
                          .seed = 1,
                          .depth = 3,
                          .preemptions = 1,
                          .runs_max = runs};
    CHECK(scenario_profile(&f, s, 0, &o.world.profile));
    return o;
}

enum { RUNS = 30 };

static void fingerprints(const struct hunt_opts *o, bool no_copy, uint64_t out[RUNS])
{
    static struct explored x;
    struct failure f = {0};
    struct explored_opts w = o->world;
    struct strategy_random r;
    w.no_copy = no_copy;
    if (!explored_open(&f, &x, &w))
        FAIL_CASE("%s", f.text);
    strategy_random_init(&r, 7, RUNS);
    for (int i = 0; i < RUNS; i++) {
        CHECK(explored_run(&x, &r.s));
        out[i] = ex_fingerprint();
    }
    CHECK(!explored_run(&x, &r.s));
    explored_close(&x);
}

TEST_CASE(Explored, TheCopyOfTheStartIsTheStart)
{
    struct scenario *s = load(fine);
    static const enum mm_kind memories[] = {MM_SC, MM_TSO, MM_ARM, MM_POWER};
    for (int procs = 1; procs <= 3; procs++)
        for (int start = 0; start < START_KINDS; start++)
            for (int m = 0; m < 4; m++) {
                struct hunt_opts o = random_hunt(s, procs, RUNS);
                uint64_t copied[RUNS], own[RUNS];
                o.world.start = (enum explored_start)start;
                o.world.memory = memories[m];
                fingerprints(&o, false, copied);
                fingerprints(&o, true, own);
                for (int i = 0; i < RUNS; i++)
                    CHECK_EQ(copied[i], own[i]);
                CHECK(copied[0] != copied[1] || procs == 1);
            }
    scenario_free(s);
}

static void find(const struct hunt_opts *o, struct hunt_result *r)
{
    struct failure f = {0};
    if (!hunt(&f, o, r))
        FAIL_CASE("%s", f.text);
}

TEST_CASE(Hunt, FindsTheDeadlockAndItRepeats)
{
    struct scenario *s = load(abba);
    struct hunt_opts o = random_hunt(s, 2, 20000);
    struct failure f = {0};
    static const enum hunt_strategy strategies[] = {HUNT_RANDOM, HUNT_PCT, HUNT_DFS};
    for (int i = 0; i < 3; i++) {
        struct hunt_result r;
        struct verdict v;
        bool same = false;
        o.strategy = strategies[i];
        find(&o, &r);
        CHECK_EQ(r.end, HUNT_FOUND);
        CHECK_STR(r.finding.verdict.what, "deadlock");
        CHECK(finding_replay(&f, &r.finding, &v, &same));
        CHECK(same);
        CHECK_STR(v.what, "deadlock");
        finding_release(&r.finding);
    }
    scenario_free(s);
}

TEST_CASE(Hunt, FindsNothingWhereNothingIs)
{
    struct scenario *s = load(fine);
    struct hunt_opts o = random_hunt(s, 2, 500);
    struct hunt_result r;
    find(&o, &r);
    CHECK_EQ(r.end, HUNT_SPENT);
    CHECK_EQ(r.runs, 500);
    CHECK_EQ(r.cut, 0);
    o.strategy = HUNT_PCT;
    find(&o, &r);
    CHECK_EQ(r.end, HUNT_SPENT);
    scenario_free(s);
}

/* By turns some ten questions are a run, and the search comes to an end. */
TEST_CASE(Hunt, TurnsAreExhausted)
{
    struct scenario *s = load(fine), *bad = load(lost);
    struct hunt_opts o = random_hunt(s, 1, 0);
    struct hunt_result r;
    o.world.granularity = GRANULARITY_SYNC;
    o.world.steps_max = 1000;
    o.strategy = HUNT_DFS;
    o.preemptions = DFS_UNBOUNDED;
    find(&o, &r);
    CHECK_EQ(r.end, HUNT_EXHAUSTED);
    CHECK_EQ(r.cut, 0);
    CHECK_GT(r.runs, 50);
    CHECK_LT(r.longest, 60);
    o.world.scenario = bad;
    o.preemptions = 1;
    find(&o, &r);
    CHECK_EQ(r.end, HUNT_FOUND);
    CHECK_STR(r.finding.verdict.what, "assertion");
    finding_release(&r.finding);
    o.preemptions = 0;
    find(&o, &r);
    CHECK_EQ(r.end, HUNT_EXHAUSTED);
    scenario_free(s);
    scenario_free(bad);
}

/* Is the verdict the same when this answer becomes 0? */
static bool can_go(const struct finding *x, size_t i)
{
    static struct explored w;
    struct failure f = {0};
    struct strategy_replay r;
    struct answer *a = malloc(x->count * sizeof *a + 1);
    memcpy(a, x->answers, x->count * sizeof *a);
    a[i] = answer_make(answer_kind(a[i]), answer_n(a[i]), 0);
    CHECK(explored_open(&f, &w, &x->world));
    strategy_replay_init(&r, a, x->count, false);
    CHECK(explored_run(&w, &r.s));
    bool same = strcmp(w.verdict.what, x->verdict.what) == 0;
    size_t n, choices = 0, before = 0;
    const struct answer *now = ex_answers(&n);
    for (size_t k = 0; k < n; k++)
        choices += answer_pick(now[k]) != 0;
    for (size_t k = 0; k < x->count; k++)
        before += answer_pick(x->answers[k]) != 0;
    explored_close(&w);
    free(a);
    return same && choices < before;
}

TEST_CASE(Shrink, NoSingleAnswerCanGo)
{
    struct scenario *s = load(abba);
    struct hunt_opts o = random_hunt(s, 2, 20000);
    struct hunt_result r;
    struct shrink_result shrunk;
    struct failure f = {0};
    struct verdict v;
    bool same = false;
    find(&o, &r);
    CHECK(shrink(&f, &r.finding, 100000, &shrunk));
    CHECK(shrunk.minimal);
    CHECK_LT(shrunk.choices, shrunk.choices_before);
    CHECK(finding_replay(&f, &r.finding, &v, &same));
    CHECK(same);
    CHECK_STR(v.what, "deadlock");
    for (size_t i = 0; i < r.finding.count; i++)
        if (answer_pick(r.finding.answers[i]) != 0)
            CHECK(!can_go(&r.finding, i));
    finding_release(&r.finding);
    scenario_free(s);
}

TEST_CASE(Kept, AScheduleIsReadAsItWasWritten)
{
    static struct schedule out;
    struct scenario *s = load(abba);
    struct scenario *other = load(fine);
    struct hunt_opts o = random_hunt(s, 2, 20000);
    struct hunt_result r;
    struct finding x;
    struct failure f = {0};
    find(&o, &r);
    schedule_init(&out);
    CHECK_EQ(finding_save(&f, &r.finding, "abba.json", &out), 0);
    CHECK_STR(schedule_scenario(&out), "abba.json");
    CHECK(finding_load(&f, &out, s, false, &x));
    CHECK_EQ(x.count, r.finding.count);
    CHECK_EQ(memcmp(x.answers, r.finding.answers, x.count * sizeof *x.answers), 0);
    CHECK_EQ(x.fingerprint, r.finding.fingerprint);
    CHECK_EQ(x.world.procs, 2);
    finding_release(&x);
    CHECK(!finding_load(&f, &out, other, false, &x));
    CHECK(strstr(f.text, "the program has changed") != NULL);
    schedule_release(&out);
    finding_release(&r.finding);
    scenario_free(s);
    scenario_free(other);
}
