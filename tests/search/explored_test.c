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
#include "sim/base/alloc.h"

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
    struct hunt_opts o = random_hunt(s, 1, RUNS);
    uint64_t copied[RUNS], own[RUNS];
    o.world.granularity = GRANULARITY_SYNC;
    fingerprints(&o, false, copied);
    fingerprints(&o, true, own);
    for (int i = 0; i < RUNS; i++)
        CHECK_EQ(copied[i], own[i]);
    scenario_free(s);
}

/* Signals arrive at threads that stand in the fast path of a verb, or not: the same comes of it. */
static const char signals[] =
    "{\"name\": \"signals\", \"why\": \"tight loops and a collection\","
    " \"objects\": {\"wg\": \"waitgroup\"},"
    " \"funcs\": {\"spin\": [{\"cpu\": \"30ms\", \"kind\": \"tight\"}, {\"done\": \"wg\"}]},"
    " \"main\": [{\"add\": \"wg\", \"n\": 3}, {\"go\": \"spin\"}, {\"go\": \"spin\"}, {\"go\": "
    "\"spin\"},"
    "            {\"gc\": true}, {\"wait\": \"wg\"}]}";

TEST_CASE(Explored, ARandomScheduleWithSignalsRepeats)
{
    static struct explored x;
    struct failure f = {0};
    struct scenario *s = load(signals);
    for (int procs = 1; procs <= 3; procs++) {
        struct hunt_opts o = random_hunt(s, procs, RUNS);
        struct strategy_random r;
        CHECK(explored_open(&f, &x, &o.world));
        strategy_random_init(&r, 3, RUNS);
        while (explored_run(&x, &r.s)) {
            struct strategy_replay again;
            uint64_t was = ex_fingerprint();
            size_t count;
            const struct answer *log = ex_answers(&count);
            struct answer *answers = x_alloc(count * sizeof *answers + 1);
            memcpy(answers, log, count * sizeof *answers);
            strategy_replay_init(&again, answers, count, true);
            CHECK(explored_run(&x, &again.s));
            CHECK(!again.diverged);
            CHECK_EQ(ex_fingerprint(), was);
            free(answers);
        }
        explored_close(&x);
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

/* What is about time is judged where nobody may be late; all else is judged everywhere. */
TEST_CASE(Hunt, AnExpectationAboutTimeIsForThoseOnTime)
{
    static const char *const ends[] = {"\"finishes\"}}", "\"finishes\", \"on_time\": true}}"};
    for (int on_time = 0; on_time < 2; on_time++)
        for (int how = 0; how < 3; how++) {
            char text[600];
            struct hunt_result r;
            snprintf(
                text, sizeof text,
                "{\"name\": \"x\", \"why\": \"a yield takes a while\", \"funcs\": {\"work\": "
                "[{\"cpu\": \"5ms\", \"kind\": \"nopreempt\"}]}, \"main\": [{\"go\": \"work\"}, "
                "{\"set\": \"a\", \"value\": \"now()\"}, {\"gosched\": true}, {\"set\": \"b\", "
                "\"value\": \"now()\"}, {\"assert\": \"b - a < 1ms\", \"text\": \"late\"}], "
                "\"expect\": {\"end\": %s",
                ends[on_time]);
            struct scenario *s = load(text);
            struct hunt_opts o = random_hunt(s, 1, 20);
            o.world.granularity = how == 2 ? GRANULARITY_SYNC : GRANULARITY_OP;
            o.world.late_max_ns = how == 0 ? 0 : 500000000;
            find(&o, &r);
            CHECK_EQ(r.end == HUNT_FOUND, how == 0 || !on_time);
            finding_release(&r.finding);
            scenario_free(s);
        }
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

/* Runs answers, and says what the run weighs: counted here, not by who shrinks. */
struct scales {
    struct strategy s;
    struct strategy_replay inner;
    struct shrink_weight w;
    uint64_t goroutines; /* a bit each */
};

static bool scales_begin(struct strategy *s)
{
    struct scales *k = (struct scales *)s;
    return k->inner.s.begin(&k->inner.s);
}

static uint32_t scales_pick(struct strategy *s, const struct choice *c)
{
    struct scales *k = (struct scales *)s;
    uint32_t pick = k->inner.s.pick(&k->inner.s, c);
    k->w.choices += pick != 0;
    k->w.preemptions += c->preempts && pick != 0 && pick < c->threads;
    return pick;
}

static void scales_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

static void scales_turn(void *arg, const struct turn_does *d)
{
    ((struct scales *)arg)->goroutines |= UINT64_C(1) << (d->goid % 64);
}

/* Gives the verdict. */
static const char *weigh(const struct finding *x, const struct answer *a, struct shrink_weight *out)
{
    static struct explored w;
    static char what[40];
    struct failure f = {0};
    struct scales k = {.s = {.name = "scales",
                             .wants_time = x->timed,
                             .begin = scales_begin,
                             .pick = scales_pick,
                             .end = scales_end}};
    struct explored_opts o = x->world;
    o.turn = scales_turn;
    o.turn_arg = &k;
    CHECK(explored_open(&f, &w, &o));
    strategy_replay_init(&k.inner, a, x->count, false);
    CHECK(explored_run(&w, &k.s));
    snprintf(what, sizeof what, "%s", w.verdict.what);
    k.w.steps = ex_steps();
    k.w.actors = o.granularity == GRANULARITY_OP ? (size_t)ex_threads()
                                                 : (size_t)__builtin_popcountll(k.goroutines);
    *out = k.w;
    explored_close(&w);
    return what;
}

/* Is it as bad and smaller when this answer becomes 0? */
static bool can_go(const struct finding *x, size_t i)
{
    struct shrink_weight before, now;
    struct answer *a = malloc(x->count * sizeof *a + 1);
    memcpy(a, x->answers, x->count * sizeof *a);
    CHECK_STR(weigh(x, a, &before), x->verdict.what);
    a[i] = answer_make(answer_kind(a[i]), answer_n(a[i]), 0);
    bool same = strcmp(weigh(x, a, &now), x->verdict.what) == 0;
    free(a);
    return same && shrink_compare(&now, &before) < 0;
}

static void small_one(const char *text, enum granularity g, size_t preemptions)
{
    struct scenario *s = load(text);
    struct hunt_opts o = random_hunt(s, 2, 20000);
    struct hunt_result r;
    struct shrink_result shrunk;
    struct failure f = {0};
    struct verdict v;
    bool same = false;
    o.world.granularity = g;
    for (o.seed = 1; o.seed <= 20; o.seed++) {
        find(&o, &r);
        CHECK(shrink(&f, &r.finding, 100000, &shrunk));
        CHECK(shrunk.minimal);
        CHECK(shrink_compare(&shrunk.after, &shrunk.before) <= 0);
        CHECK(g == GRANULARITY_OP || shrunk.after.preemptions == preemptions);
        CHECK(finding_replay(&f, &r.finding, &v, &same));
        CHECK(same);
        CHECK_STR(v.what, r.finding.verdict.what);
        for (size_t i = 0; i < r.finding.count; i++)
            if (answer_pick(r.finding.answers[i]) != 0)
                CHECK(!can_go(&r.finding, i));
        finding_release(&r.finding);
    }
    scenario_free(s);
}

/* Each of these takes one preemption, and no more, whatever schedule was found first. */
TEST_CASE(Shrink, NoSingleAnswerCanGo)
{
    small_one(abba, GRANULARITY_SYNC, 1);
    small_one(lost, GRANULARITY_SYNC, 1);
}

TEST_CASE(Shrink, NoSingleAnswerOfManyCanGo) { small_one(abba, GRANULARITY_OP, 0); }

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
