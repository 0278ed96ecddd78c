/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the three classes of errors do what fail.h says. Method: children for what ends a process.
 */
#include "harness.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/fail.h"

TEST_CASE(Fail, KeepsTheFirstMessage)
{
    struct failure f = {0};
    CHECK_EQ(fail(&f, E_SCENARIO, "procs: want > 0, got %d", -3), -E_SCENARIO);
    CHECK_EQ(fail(&f, E_IO, "later"), -E_IO);
    CHECK_EQ(f.code, E_SCENARIO);
    CHECK_STR(f.text, "procs: want > 0, got -3");
    fail_prefix(&f, "%s:%d", "a.json", 7);
    CHECK_STR(f.text, "a.json:7: procs: want > 0, got -3");
    fail_reset(&f);
    fail_prefix(&f, "nothing");
    CHECK_STR(f.text, "");
    CHECK_EQ(fail(NULL, E_LIMIT, "nobody listens"), -E_LIMIT);
}

TEST_CASE(Fail, LongMessagesAreCut)
{
    struct failure f = {0};
    fail(&f, E_USAGE, "%0600d", 1);
    CHECK_EQ(strlen(f.text), sizeof f.text - 1);
    fail_prefix(&f, "file");
    CHECK_EQ(strlen(f.text), sizeof f.text - 1);
    CHECK_HAS(f.text, "file: 000");
}

TEST_CASE(Fail, ExitCodes)
{
    CHECK_EQ(fail_exit_code(E_OK), 0);
    CHECK_EQ(fail_exit_code(E_FINDING), 1);
    CHECK_EQ(fail_exit_code(-E_SCENARIO), 2);
    CHECK_EQ(fail_exit_code(E_LIMIT), 2);
    CHECK_EQ(fail_exit_code(E_INTERNAL), 3);
    CHECK_EQ(fail_exit_code(-E_BUDGET), 4);
}

static void just_throw(void *arg)
{
    (void)arg;
    throw("runqsteal: runq overflow");
}

static void report(void *arg, const struct throw_site *site)
{
    fprintf(stderr, "seed %d: %s\n", *(int *)arg, site->text);
}

static void throw_with_reporter(void *arg)
{
    throw_set_reporter(report, arg);
    throwf("G%d is on two queues", 5);
}

static void bad_report(void *arg, const struct throw_site *site)
{
    (void)arg, (void)site;
    throw("again");
}

static void throw_in_reporter(void *arg)
{
    throw_set_reporter(bad_report, arg);
    throw("first");
}

TEST_CASE(Fail, ThrowEndsTheProcess)
{
    static struct harness_child c;
    harness_fork(&c, just_throw, NULL);
    CHECK_EQ(c.code, EXIT_INTERNAL);
    CHECK_HAS(c.err, "internal error: runqsteal: runq overflow (fail_test.c:");
    CHECK_HAS(c.err, "just_throw)");
    int seed = 33;
    harness_fork(&c, throw_with_reporter, &seed);
    CHECK_EQ(c.code, EXIT_INTERNAL);
    CHECK_STR(c.err, "seed 33: G5 is on two queues\n");
    harness_fork(&c, throw_in_reporter, NULL);
    CHECK_EQ(c.code, EXIT_INTERNAL);
}

static jmp_buf out;
static char caught[100];

static void catch_it(void *arg, const struct throw_site *site)
{
    (void)arg;
    snprintf(caught, sizeof caught, "%s", site->text);
    throw_caught();
    longjmp(out, 1);
}

TEST_CASE(Fail, AReporterMayJumpOut)
{
    throw_set_reporter(catch_it, NULL);
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(out) == 0)
            throwf("number %d", i);
        char want[100];
        snprintf(want, sizeof want, "number %d", i);
        CHECK_STR(caught, want);
    }
    throw_set_reporter(NULL, NULL);
}
