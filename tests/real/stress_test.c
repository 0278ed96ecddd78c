/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a world on disturbed threads is made to stand still, its invariants are looked at, and what
 * is wrong is found. Method: each invariant that can be broken while Ms are at work is broken on
 * purpose; a loop that nobody can stop; a program that is right. */
#include <string.h>

#include "harness.h"
#include "run/oracle.h"
#include "run/run.h"
#include "sim/stress/stress.h"

static struct run r;

static const char *const busy =
    "{\"name\": \"busy\", \"why\": \"w\", \"procs\": 3, \"until\": \"50s\", \"objects\":"
    " {\"c\": \"chan\"}, \"funcs\": {\"a\": [{\"loop\": \"forever\", \"do\": [{\"send\":"
    " \"c\"}]}], \"b\": [{\"loop\": \"forever\", \"do\": [{\"recv\": \"c\"}, {\"gosched\": "
    "true}]}]},"
    " \"main\": [{\"go\": \"a\", \"count\": 4}, {\"go\": \"b\", \"count\": 4}, {\"sleep\": "
    "\"40s\"}]}";

static struct scenario *load(const char *text, struct run_opts *o, struct host_threads *t)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, "s.json", text, strlen(text));
    if (s == NULL || !run_opts_of(&f, s, 0, o))
        FAIL_CASE("%s", f.text);
    o->host = &host_stress;
    o->threads = t;
    return s;
}

static void go(const struct run_opts *o)
{
    struct failure f = {0};
    if (!run_all(&f, &r, o))
        FAIL_CASE("%s", f.text);
}

static void check_plant(enum core_plant what)
{
    struct host_threads t = {.plant = 1 + (int)what};
    struct run_opts o;
    struct scenario *s = load(busy, &o, &t);
    go(&o);
    CHECK_EQ(r.result.end, END_THROWN);
    CHECK(r.result.text[0] != 0);
    run_free(&r);
    scenario_free(s);
}

TEST_CASE(Stress, ABrokenStatusIsFound) { check_plant(PLANT_status); }
TEST_CASE(Stress, AForgottenGoroutineIsFound) { check_plant(PLANT_running); }
TEST_CASE(Stress, ATwiceQueuedGoroutineIsFound) { check_plant(PLANT_queue); }

TEST_CASE(Stress, ALoopThatNobodyStopsIsFoundByItsCpuTime)
{
    struct host_threads t = {.hang_ns = 100000000};
    struct run_opts o;
    struct scenario *s = load("{\"name\": \"l\", \"why\": \"w\", \"procs\": 1, \"until\": \"50s\","
                              " \"main\": [{\"cpu\": \"40s\", \"kind\": \"nopreempt\"}]}",
                              &o, &t);
    go(&o);
    CHECK_EQ(r.result.end, END_FINDING);
    CHECK(strstr(r.result.text, "stuck") != NULL);
    run_free(&r);
    scenario_free(s);
}

/* Nobody computes, and the monitor, which looks now and then, cannot help: a descriptor that never
 * becomes ready, and a poller that waits for it without an end. */
TEST_CASE(Stress, AWorldThatSleepsForEverIsFoundWithoutCpuTime)
{
    struct host_threads t = {.hang_ns = 100000000};
    struct run_opts o;
    struct scenario *s = load("{\"name\": \"l\", \"why\": \"w\", \"procs\": 2, \"until\": \"50s\","
                              " \"objects\": {\"f\": {\"fd\": {\"every\": \"1ms\", \"count\": 1}}},"
                              " \"main\": [{\"read\": \"f\"}, {\"read\": \"f\"}]}",
                              &o, &t);
    go(&o);
    CHECK_EQ(r.result.end, END_FINDING);
    CHECK(strstr(r.result.text, "all threads slept") != NULL);
    CHECK_LT(r.result.cpu_ps, UINT64_C(100000000000));
    run_free(&r);
    scenario_free(s);
}

/* Invariants that hold only when everybody rests are looked at here too. */
TEST_CASE(Stress, AnIdlePOnNoListIsFound)
{
    struct host_threads t = {.plant = 1 + (int)PLANT_lost_p};
    struct run_opts o;
    struct scenario *s = load("{\"name\": \"l\", \"why\": \"w\", \"procs\": 3, \"until\": \"50s\","
                              " \"main\": [{\"loop\": \"forever\", \"do\": [{\"cpu\": \"5ms\"}]}]}",
                              &o, &t);
    go(&o);
    CHECK_EQ(r.result.end, END_THROWN);
    CHECK(strstr(r.result.text, "everybody rests") != NULL);
    run_free(&r);
    scenario_free(s);
}

static void to_oracle(void *arg, const struct event_rec *recs, size_t count)
{
    oracle_feed(arg, recs, count);
}

TEST_CASE(Stress, AProgramThatIsRightIsLeftInPeace)
{
    static const char *const fan =
        "{\"name\": \"f\", \"why\": \"w\", \"procs\": 4, \"objects\": {\"wg\": \"waitgroup\","
        " \"mu\": \"mutex\"}, \"main\": [{\"add\": \"wg\", \"n\": 200}, {\"go\": [{\"with_lock\":"
        " \"mu\", \"do\": [{\"gosched\": true}]}, {\"sleep\": \"10us\"}, {\"done\": \"wg\"}], "
        "\"count\":"
        " 200}, {\"wait\": \"wg\"}, {\"print\": \"done\"}]}";
    struct host_threads t = {0};
    struct stress_stats st;
    struct run_opts o;
    struct scenario *s = load(fan, &o, &t);
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct oracle oracle;
        oracle_init(&oracle);
        o.seed = seed;
        o.sink = to_oracle;
        o.arg = &oracle;
        go(&o);
        CHECK_STR(run_verdict(&r.result), "finished");
        CHECK_STR(oracle.wrong, "");
        CHECK_LE(200, oracle.born);
        stress_stats(&st);
        CHECK_LT(1000, st.points);
        oracle_release(&oracle);
        run_free(&r);
    }
    scenario_free(s);
}

/* ---- the oracle of lives ---- */

static const char *wrong_of(const struct event_rec *recs, size_t count)
{
    static struct oracle o;
    static char text[sizeof o.wrong];
    oracle_init(&o);
    oracle_feed(&o, recs, count);
    memcpy(text, o.wrong, sizeof text);
    oracle_release(&o);
    return text;
}

TEST_CASE(Oracle, OneThreadAtATimeRunsAGoroutine)
{
    const struct event_rec twice[] = {{.type = EV_G_CREATE, .g = 7},
                                      {.type = EV_G_START, .g = 7, .m = 1, .time = 5000},
                                      {.type = EV_G_START, .g = 7, .m = 2, .time = 9000}};
    CHECK_STR(wrong_of(twice, 2), "");
    CHECK_STR(wrong_of(twice, 3), "goroutine 7 starts at 9 ns on M2, and M1 runs it");
    const struct event_rec dead[] = {{.type = EV_G_CREATE, .g = 7},
                                     {.type = EV_G_START, .g = 7, .m = 1},
                                     {.type = EV_G_EXIT, .g = 7, .m = 1},
                                     {.type = EV_G_START, .g = 7, .m = 1}};
    CHECK_STR(wrong_of(dead, 3), "");
    CHECK(strstr(wrong_of(dead, 4), "is not alive") != NULL);
}
