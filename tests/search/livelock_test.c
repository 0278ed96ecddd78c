/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a program that goes round for ever is told from one that takes long, or waits for time.
 * Method: small programs, under several strategies.
 */
#include <string.h>

#include "harness.h"
#include "search/history.h"
#include "search/hunt.h"
#include "search/shrink.h"

#define PROGRAM(objects, funcs, main)                                    \
    "{\"name\": \"x\", \"why\": \"test\", \"objects\": {" objects "},\n" \
    " \"funcs\": {" funcs "},\n \"main\": [" main "]}"
#define SPIN                                                    \
    "\"spin\": [{\"loop\": \"forever\", \"do\": [\n"            \
    "  {\"load\": \"f\", \"into\": \"x\", \"atomic\": true},\n" \
    "  {\"if\": \"x == 1\", \"then\": [{\"break\": true}]}]}, {\"done\": \"wg\"}]"
#define OBJECTS "\"f\": \"var\", \"m\": \"mutex\", \"wg\": \"waitgroup\""
#define WAIT    "{\"add\": \"wg\", \"n\": 2}, {\"go\": \"spin\", \"count\": 2}, {\"wait\": \"wg\"}"

static struct scenario *loaded(const char *text)
{
    struct failure f = {0};
    struct scenario *sc = scenario_load(&f, "test.json", text, strlen(text));
    if (sc == NULL)
        FAIL_CASE("%s", f.text);
    return sc;
}

/* At two Ps, every goroutine a turn at a time. */
static struct hunt_opts opts_for(const struct scenario *sc, enum hunt_strategy s, uint64_t runs)
{
    struct failure f = {0};
    struct hunt_opts o = {.world = {.scenario = sc,
                                    .procs = 2,
                                    .seed = 1,
                                    .granularity = GRANULARITY_SYNC,
                                    .steps_max = 6000},
                          .strategy = s,
                          .seed = 1,
                          .runs_max = runs};
    CHECK(scenario_profile(&f, sc, 0, &o.world.profile));
    return o;
}

static void search(const char *text, enum hunt_strategy s, int64_t until_ns, struct hunt_result *r)
{
    struct failure f = {0};
    struct scenario *sc = loaded(text);
    struct hunt_opts o = opts_for(sc, s, 4);
    o.world.late_max_ns = 1000000;
    o.world.until_ns = until_ns;
    o.depth = 3;
    o.preemptions = 1;
    if (!hunt(&f, &o, r))
        FAIL_CASE("%s", f.text);
    if (r->end == HUNT_FOUND) {
        struct verdict v;
        bool same = false;
        CHECK(finding_replay(&f, &r->finding, &v, &same));
        CHECK(same);
        finding_release(&r->finding);
    }
    scenario_free(sc);
}

static const enum hunt_strategy strategies[] = {HUNT_TIME, HUNT_RANDOM, HUNT_PCT, HUNT_DFS};

static void goes_round(const char *text, const char *says)
{
    for (int i = 0; i < 4; i++) {
        struct hunt_result r;
        search(text, strategies[i], 0, &r);
        CHECK_EQ(r.end, HUNT_FOUND);
        CHECK_STR(r.finding.verdict.what, "livelock");
        CHECK_HAS(r.finding.verdict.text, says);
    }
}

static void does_not(const char *text, int64_t until_ns)
{
    for (int i = 0; i < 4; i++) {
        struct hunt_result r;
        search(text, strategies[i], until_ns, &r);
        CHECK(r.end != HUNT_FOUND);
    }
}

TEST_CASE(Livelock, NobodySetsTheFlag)
{
    goes_round(PROGRAM(OBJECTS, SPIN, WAIT), "in spin at line 2");
}

/* Who could set the variable that is waited for is stuck: where a strategy keeps somebody from his
 * turn for ever, the leak is what is left to say. */
TEST_CASE(Livelock, TheOneWhoCouldIsStuck)
{
    static const char text[] = PROGRAM(
        OBJECTS,
        SPIN ", \"set\": [{\"lock\": \"m\"}, {\"store\": \"f\", \"value\": 1,"
             " \"atomic\": true}]",
        "{\"lock\": \"m\"}, {\"go\": \"set\"}, " WAIT);
    int livelocks = 0;
    for (int i = 0; i < 4; i++) {
        struct hunt_result r;
        search(text, strategies[i], 0, &r);
        CHECK_EQ(r.end, HUNT_FOUND);
        livelocks += strcmp(r.finding.verdict.what, "livelock") == 0;
        CHECK(strcmp(r.finding.verdict.what, "livelock") == 0 ||
              strcmp(r.finding.verdict.what, "leak") == 0);
    }
    CHECK_GT(livelocks, 1);
}

/* The page says who goes round once, and who is blocked meanwhile and by whom. */
TEST_CASE(Livelock, IsToldOnce)
{
    static const char text[] = PROGRAM(
        OBJECTS,
        SPIN ", \"set\": [{\"lock\": \"m\"}, {\"store\": \"f\", \"value\": 1,"
             " \"atomic\": true}]",
        "{\"lock\": \"m\"}, {\"go\": \"set\"}, " WAIT);
    struct failure f = {0};
    struct hunt_result r;
    struct history h;
    char page[20000] = "";
    struct scenario *sc = scenario_load(&f, "test.json", text, strlen(text));
    if (sc == NULL)
        FAIL_CASE("%s", f.text);
    struct hunt_opts o = {.world = {.scenario = sc,
                                    .procs = 2,
                                    .seed = 1,
                                    .granularity = GRANULARITY_SYNC,
                                    .late_max_ns = 1000000,
                                    .steps_max = 6000},
                          .strategy = HUNT_TIME,
                          .runs_max = 1};
    CHECK(scenario_profile(&f, sc, 0, &o.world.profile));
    CHECK(hunt(&f, &o, &r));
    CHECK_EQ(r.end, HUNT_FOUND);
    CHECK_HAS(r.finding.verdict.text, "blocked meanwhile: goroutine");
    CHECK(history_make(&f, &r.finding, 0, &h));
    FILE *to = tmpfile();
    CHECK(to != NULL);
    history_print(to, &h, "a.json", 80);
    rewind(to);
    CHECK_GT(fread(page, 1, sizeof page - 1, to), 0);
    fclose(to);
    CHECK_HAS(page, "waits for m (locked), held by g1 main");
    CHECK_HAS(page, "turns more like this one)");
    CHECK_LT(h.nstuck, 3);
    history_free(&h);
    finding_release(&r.finding);
    scenario_free(sc);
}

/* Time, or another goroutine that only has to have its turn, will end it. */
TEST_CASE(Livelock, NotWhereSomethingWillChange)
{
    does_not(PROGRAM(OBJECTS,
                     SPIN ", \"set\": [{\"sleep\": \"4ms\"}, {\"store\": \"f\", \"value\": 1,"
                          " \"atomic\": true}]",
                     "{\"go\": \"set\"}, " WAIT),
             0);
    does_not(PROGRAM(OBJECTS,
                     SPIN ", \"set\": [{\"loop\": 900, \"do\": [{\"lock\": \"m\"}, {\"unlock\":"
                          " \"m\"}]}, {\"store\": \"f\", \"value\": 1, \"atomic\": true}]",
                     "{\"go\": \"set\"}, " WAIT),
             0);
}

/* A program that is to run for some time goes round on purpose. */
TEST_CASE(Livelock, NotWhereTheFileSaysHowLong) { does_not(PROGRAM(OBJECTS, SPIN, WAIT), 3000000); }

/* ---- what is left of its schedule ---- */

static const char after_you[] = PROGRAM(
    "\"x\": \"var\", \"y\": \"var\", \"wg\": \"waitgroup\"",
    "\"one\": [{\"loop\": \"forever\", \"do\": [\n"
    "  {\"store\": \"x\", \"value\": 1, \"atomic\": true},\n"
    "  {\"load\": \"y\", \"into\": \"t\", \"atomic\": true},\n"
    "  {\"if\": \"t == 0\", \"then\": [{\"break\": true}]},\n"
    "  {\"store\": \"x\", \"value\": 0, \"atomic\": true}]},\n"
    " {\"store\": \"x\", \"value\": 0, \"atomic\": true}, {\"done\": \"wg\"}],\n"
    "\"other\": [{\"loop\": \"forever\", \"do\": [\n"
    "  {\"store\": \"y\", \"value\": 1, \"atomic\": true},\n"
    "  {\"load\": \"x\", \"into\": \"t\", \"atomic\": true},\n"
    "  {\"if\": \"t == 0\", \"then\": [{\"break\": true}]},\n"
    "  {\"store\": \"y\", \"value\": 0, \"atomic\": true}]},\n"
    " {\"store\": \"y\", \"value\": 0, \"atomic\": true}, {\"done\": \"wg\"}]",
    "{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"other\"}, {\"wait\": \"wg\"}");

/* Does the list, with or without what it repeats, still go round for ever? */
static bool goes_on(const struct finding *x, const struct answer *a, size_t count, size_t repeat)
{
    static struct explored w;
    struct failure f = {0};
    struct strategy_replay s;
    CHECK(explored_open(&f, &w, &x->world));
    finding_answers(x, /*strict*/ false, &s);
    s.answers = a;
    s.count = count;
    s.repeat = repeat;
    CHECK(explored_run(&w, &s.s));
    bool same = strcmp(w.verdict.what, x->verdict.what) == 0;
    explored_close(&w);
    return same;
}

/* Hundreds of preemptions become those of one round, and each answer of it is needed. */
TEST_CASE(Livelock, ShrinksToOneRound)
{
    struct failure f = {0};
    struct shrink_result small;
    struct hunt_result r;
    struct verdict v;
    bool same = false;
    struct scenario *sc = loaded(after_you);
    struct hunt_opts o = opts_for(sc, HUNT_FAIR, 20);
    CHECK(hunt(&f, &o, &r));
    CHECK_EQ(r.end, HUNT_FOUND);
    CHECK(shrink(&f, &r.finding, 5000, &small));
    const struct finding *x = &r.finding;
    CHECK_GT(small.before.preemptions, 100);
    CHECK_LE(small.after.preemptions, 4);
    CHECK(small.minimal && x->repeat > 0);
    CHECK_LE(x->count, 20);
    CHECK(finding_replay(&f, x, &v, &same) && same);
    CHECK(!goes_on(x, x->answers, x->count, 0));
    struct answer a[20];
    for (size_t i = 0; i < x->count; i++) {
        memcpy(a, x->answers, x->count * sizeof *a);
        a[i] = answer_make(answer_kind(a[i]), answer_n(a[i]), 0);
        CHECK(answer_pick(x->answers[i]) == 0 || !goes_on(x, a, x->count, x->repeat));
    }
    finding_release(&r.finding);
    scenario_free(sc);
}
