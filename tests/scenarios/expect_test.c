/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: an expectation that does not hold is found, and says what came instead.
 * Method: one program, expectations of every kind, right and wrong. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "runner.h"

static const char *complaints(const char *body, const char *expect)
{
    static char text[1 << 13];
    static struct verdict v;
    struct failure f = {0};
    snprintf(
        text, sizeof text,
        "{\"name\": \"n\", \"why\": \"w\", \"profiles\": [\"go1.27\", \"go1.13\"], \"procs\": 1,\n"
        "\"until\": \"10min\",\n"
        "\"objects\": {\"c\": \"chan\", \"m\": \"mutex\"},\n\"main\": [%s],\n\"expect\": %s}",
        body, expect);
    struct scenario *s = scenario_load(&f, "t.json", text, strlen(text));
    CHECK_STR(f.text, "");
    run_scenario(s, 27, &v, NULL, 0);
    scenario_free(s);
    return v.text;
}

TEST_CASE(Expect, End)
{
    CHECK_STR(complaints("", "{\"end\": \"finishes\"}"), "");
    CHECK_STR(complaints("", "{\"end\": \"deadlock\"}"),
              "go1.27: expected the run to end with: deadlock; it ended with: finishes\n");
    CHECK_STR(complaints("{\"recv\": \"c\"}",
                         "{\"end\": \"deadlock\", \"text\": \"all goroutines are asleep\"}"),
              "");
    CHECK_HAS(complaints("{\"recv\": \"c\"}", "{\"end\": \"finishes\"}"),
              "it ended with: deadlock");
    CHECK_STR(complaints("{\"panic\": \"oh\"}", "{\"end\": \"panic\", \"text\": \"panic: oh\"}"),
              "");
    CHECK_HAS(complaints("{\"panic\": \"oh\"}", "{\"end\": \"panic\", \"text\": \"ah\"}"),
              "expected the text \"ah\"");
    CHECK_STR(complaints("{\"unlock\": \"m\"}",
                         "{\"end\": \"fatal\", \"text\": \"unlock of unlocked mutex\"}"),
              "");
    CHECK_STR(complaints("{\"assert\": \"1 == 2\"}", "{\"end\": \"assert\"}"), "");
    CHECK_STR(complaints("{\"exit\": 3}", "{\"end\": \"exit\"}"), "");
    CHECK_STR(
        complaints("{\"go\": [{\"recv\": \"c\"}]}, {\"sleep\": \"1ms\"}", "{\"end\": \"leak\"}"),
        "");
    CHECK_HAS(complaints("{\"sleep\": \"1ms\"}", "{\"end\": \"leak\"}"), "there are none");
}

TEST_CASE(Expect, OutputAndBlocked)
{
    CHECK_STR(complaints("{\"print\": \"a\"}, {\"print\": \"b\"}", "{\"output\": [\"a\", \"b\"]}"),
              "");
    CHECK_HAS(complaints("{\"print\": \"a\"}, {\"print\": \"b\"}", "{\"output\": [\"a\", \"c\"]}"),
              "the output differs in line 2");
    CHECK_HAS(complaints("{\"print\": \"a\"}", "{\"output\": [\"a\", \"b\"]}"), "line 2");
    CHECK_STR(complaints("{\"recv\": \"c\"}", "{\"end\": \"deadlock\", \"blocked\": [{\"group\": "
                                              "\"main\", \"reason\": \"chan receive\"}]}"),
              "");
    CHECK_HAS(complaints("{\"recv\": \"c\"}", "{\"end\": \"deadlock\", \"blocked\": [{\"group\": "
                                              "\"main\", \"reason\": \"select\"}]}"),
              "expected 1 of \"main\" blocked [select]; there are 0");
    CHECK_HAS(complaints("{\"go\": [{\"recv\": \"c\"}], \"group\": \"g\"}, {\"sleep\": \"1ms\"}",
                         "{\"end\": \"leak\", \"blocked\": []}"),
              "1 goroutines are blocked that were not expected to be: 1 of \"g\" [chan receive] at "
              "line ");
}

TEST_CASE(Expect, Order)
{
    const char *body =
        "{\"print\": \"a\"}, {\"print\": \"b\"}, {\"print\": \"a\"}, {\"print\": \"cc\"}";
    CHECK_STR(complaints(body, "{\"order\": [\"a\", \"cc\"]}"), "");
    CHECK_STR(complaints(body, "{\"order\": [\"b\", \"a\", \"cc\"]}"), "");
    CHECK_STR(complaints(body, "{\"order\": []}"), "");
    CHECK_STR(complaints(body, "{\"order\": [\"b\", \"a\", \"b\"]}"),
              "go1.27: expected the line \"b\" after \"a\"\n");
    CHECK_STR(complaints(body, "{\"order\": [\"a\", \"c\"]}"),
              "go1.27: expected the line \"c\"; it was not printed\n");
    CHECK_STR(complaints("", "{\"order\": [\"a\"]}"),
              "go1.27: expected the line \"a\"; it was not printed\n");
}

TEST_CASE(Expect, SchedLines)
{
    static const char *const body = "{\"cpu\": \"25ms\", \"kind\": \"nopreempt\"}";
    static const char line[] = "SCHED 14ms: gomaxprocs=1 idleprocs=0 threads=3 spinningthreads=0 "
                               "needspinning=1 idlethreads=1 runqueue=0 [ 1 ] schedticks=[ 4 ]";
    char expect[400];
    snprintf(expect, sizeof expect, "{\"sched\": [\"%s\"]}, \"schedtrace\": \"10ms\"", line);
    CHECK_STR(complaints(body, expect), "");
    CHECK_HAS(complaints(body, "{\"sched\": [\"SCHED 14ms\"]}, \"schedtrace\": \"10ms\""),
              "expected the line \"SCHED 14ms\"; it was not printed");
    CHECK_HAS(complaints(body, "{\"sched\": [\"SCHED 14ms\"]}"), "it was not printed");
}

TEST_CASE(Expect, OfTheWholeRun)
{
    const char *body = "{\"cpu\": \"90ms\"}, {\"sleep\": \"10ms\"}";
    CHECK_STR(complaints(body,
                         "{\"ps\": {\"user\": \">= 40%\", \"idle\": \"<= 60%\"}, \"throttled\": "
                         "\"== 0ms\", \"nr_throttled\": \"== 0\", \"runq_wait\": {\"max\": "
                         "\"< 1ms\"}}"),
              "");
    CHECK_HAS(complaints(body, "{\"ps\": {\"user\": \"< 40%\"}}"),
              "expected the Ps user < 40%; got ");
    CHECK_HAS(complaints(body, "{\"throttled\": \"> 1ms\"}"),
              "expected a throttled time > 1ms; got 0ns");
    CHECK_HAS(complaints(body, "{\"nr_throttled\": \">= 1\"}"),
              "expected nr_throttled >= 1; got 0");
    CHECK_HAS(complaints(body, "{\"runq_wait\": {\"count\": \"== 0\"}}"),
              "expected count(run-queue wait) == 0; got ");
}

TEST_CASE(Expect, Numbers)
{
    const char *body =
        "{\"loop\": 10, \"do\": [{\"span\": \"s\", \"do\": [{\"sleep\": \"1ms\"}]}]}";
    CHECK_STR(complaints(body, "{\"spans\": {\"s\": {\"count\": \"== 10\", \"p50\": \">= 1ms\", "
                               "\"max\": \"< 2ms\"}}}"),
              "");
    CHECK_HAS(complaints(body, "{\"spans\": {\"s\": {\"count\": \"== 9\"}}}"),
              "expected count(s) == 9; got 10");
    CHECK_HAS(complaints(body, "{\"spans\": {\"s\": {\"p99\": \"< 1us\"}}}"),
              "expected p99(s) < 1us; got 1.0");
    CHECK_STR(complaints(body, "{\"counters\": {\"timers_run\": \">= 10\", \"gcs\": \"== 0\"}, "
                               "\"makespan\": \"> 10ms\"}"),
              "");
    CHECK_HAS(complaints(body, "{\"counters\": {\"timers_run\": \"< 1\"}}"),
              "expected timers_run < 1; got ");
    CHECK_HAS(complaints(body, "{\"makespan\": \"< 10ms\"}"),
              "expected a makespan < 10ms; got 10.");
}

TEST_CASE(Expect, OfOtherProfilesDoNotCount)
{
    const char *first = "[{\"profiles\": [\"go1.13\"], \"end\": \"deadlock\"}, ";
    char text[200];
    snprintf(text, sizeof text, "%s{\"profiles\": \"go1.27\", \"end\": \"finishes\"}]", first);
    CHECK_STR(complaints("", text), "");
    snprintf(text, sizeof text, "%s{\"profiles\": \"latest\", \"end\": \"panic\"}]", first);
    CHECK_HAS(complaints("", text), "ended with: finishes");
}

/* Where no expectation is about the release, the run has to finish as if there were none. */
TEST_CASE(Expect, WithoutAnEntryForTheReleaseTheRunHasToFinish)
{
    const char *other = "[{\"profiles\": [\"go1.13\"], \"end\": \"deadlock\"}]";
    CHECK_STR(complaints("", other), "");
    CHECK_HAS(complaints("{\"select\": []}", other),
              "expected the run to end with: finishes; it ended with: deadlock");
    CHECK_HAS(complaints("{\"sleep\": \"1h\"}", other),
              "expected the run to end with: finishes; it ended with: time");
}

/* Whoever is runnable and not run for long, by Go's bound or the file's. */
TEST_CASE(Expect, Starvation)
{
#define BEHIND(kind, time) \
    "{\"go\": [{\"cpu\": \"" time "\", \"kind\": \"" kind "\"}]}, {\"gosched\": true}"
    CHECK_STR(complaints(BEHIND("normal", "10s"), "{\"end\": \"finishes\"}"), "");
    CHECK_HAS(complaints(BEHIND("nopreempt", "10s"), "{\"end\": \"finishes\"}"),
              "starved: goroutine 1 of \"main\" was runnable for 10.");
    CHECK_HAS(complaints(BEHIND("nopreempt", "10s"), "{\"end\": \"finishes\"}"),
              ", in the global queue; expected <= ");
    CHECK_STR(complaints(BEHIND("nopreempt", "10s"), "{\"starved\": \"< 11s\"}"), "");
    CHECK_STR(complaints(BEHIND("nopreempt", "5ms"), "{\"end\": \"finishes\"}"), "");
    CHECK_HAS(complaints(BEHIND("nopreempt", "5ms"), "{\"starved\": \"< 4ms\"}"),
              "; expected < 4ms");
    /* It still waits when the time is over. */
    CHECK_HAS(complaints("{\"go\": [{\"cpu\": \"11min\", \"kind\": \"nopreempt\"}]},"
                         " {\"gosched\": true}",
                         "{\"end\": \"time\"}"),
              "has been runnable for");
#undef BEHIND
}
