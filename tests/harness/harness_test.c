/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a check that fails makes the run fail and says where and with what values.
 * Method: run harness_fails, whose cases fail on purpose, and read its output. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct harness_child child;

static void run_fails(const char *name)
{
    char filter[100];
    const char *argv[] = {HARNESS_FAILS, filter, NULL};

    snprintf(filter, sizeof filter, "--gtest_filter=%s", name);
    harness_exec(&child, argv);
}

TEST_CASE(Harness, FailedEqSaysWhereAndBothValues)
{
    run_fails("Fails.Eq");
    CHECK_EQ(child.code, 1);
    CHECK_HAS(child.out, "fails.c:");
    CHECK_HAS(child.out, "want seven() == 8u");
    CHECK_HAS(child.out, "left:  7");
    CHECK_HAS(child.out, "right: 8");
    CHECK_HAS(child.out, "[  FAILED  ] Fails.Eq");
    CHECK(strstr(child.out, "the case went on") == NULL);
}

TEST_CASE(Harness, EveryFailingCaseFails)
{
    static const char *const names[] = {
        "Fails.SignedAgainstUnsigned",
        "Fails.Plain",
        "Fails.Str",
        "Fails.Null",
        "Fails.Has",
        "Fails.Mem",
        "Fails.Message",
        "Fails.Lt",
        "Fails.OnAnotherThread",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        run_fails(names[i]);
        CHECK_EQ(child.code, 1);
        CHECK_HAS(child.out, "fails.c:");
        CHECK_HAS(child.out, " 1 FAILED TEST");
    }
}

TEST_CASE(Harness, ARunGoesOnAfterAFailure)
{
    run_fails("Fails.*:Passes.*");
    CHECK_EQ(child.code, 1);
    CHECK_HAS(child.out, "10 FAILED TESTS");
    CHECK_HAS(child.out, "[       OK ] Passes.Plain");
    CHECK_HAS(child.out, "[  PASSED  ] 1 test.");
}

TEST_CASE(Harness, ASkipIsNotAFailure)
{
    run_fails("Passes.*");
    CHECK_EQ(child.code, 0);
    CHECK_HAS(child.out, "[  SKIPPED ] Passes.Skipped");
    CHECK_HAS(child.out, "not on this machine");
}

TEST_CASE(Harness, UnknownArgumentIsAnError)
{
    const char *argv[] = {HARNESS_FAILS, "--gtest_filter=Passes.Plain", "stray", NULL};

    harness_exec(&child, argv);
    CHECK_EQ(child.code, 2);
    CHECK_HAS(child.err, "stray");
}

TEST_CASE(Harness, ComparesAcrossTypes)
{
    int evaluated = 0;
    const uint8_t small = 200;

    CHECK_EQ(++evaluated, 1);
    CHECK_EQ(small, 200L);
    CHECK_LT(-1, 0u);
    CHECK_GT(UINT64_MAX, INT64_MAX);
    CHECK_LE(INT64_MIN, -1);
    CHECK_NE(&evaluated, NULL);
    CHECK_EQ(true, 1);
    CHECK_STR(NULL, NULL);
}

static void exits(void *arg)
{
    fputs("to out\n", stdout);
    fputs("to err\n", stderr);
    exit(*(int *)arg);
}

static void raises(void *arg)
{
    (void)arg;
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
}

TEST_CASE(Child, ReportsExitSignalAndOutput)
{
    int code = 3;

    harness_fork(&child, exits, &code);
    CHECK_EQ(child.code, 3);
    CHECK_EQ(child.signal, 0);
    CHECK_STR(child.out, "to out\n");
    CHECK_STR(child.err, "to err\n");

    harness_fork(&child, raises, NULL);
    CHECK_EQ(child.code, -1);
    CHECK_EQ(child.signal, SIGTERM);
}

TEST_CASE(Child, OutputBeyondTheBufferIsCutNotStuck)
{
    const char *argv[] = {"sh", "-c", "yes | head -c 200000; echo end >&2", NULL};

    harness_exec(&child, argv);
    CHECK_EQ(child.code, 0);
    CHECK_EQ(strlen(child.out), sizeof child.out - 1);
    CHECK_STR(child.err, "end\n");
}

TEST_CASE(Child, MissingProgramIs127)
{
    const char *argv[] = {"no-such-program-here", NULL};

    harness_exec(&child, argv);
    CHECK_EQ(child.code, 127);
}
