/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a counterexample reads as one: a column per thread, the place, the operation, the value,
 * and last the command. Method: the text of one, letter by letter (times are those of the built-in
 * cost table and so left out).
 */
#define _GNU_SOURCE /* fmemopen */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "toy.h"

static struct ex_event events[100];

/* The print without step, time, place in the file and fingerprint. */
static const char *print(size_t rows_max, int width)
{
    struct ex_print p = {.replay = "gmpsim replay x.sched", .rows_max = rows_max, .width = width};
    static char text[1 << 14];
    FILE *out = fmemopen(text, sizeof(text), "w");

    CHECK(out != NULL);
    ex_trace_print(out, &p);
    fclose(out);
    return text;
}

static void find(struct toy *t, enum mm_kind memory, struct search_result *r)
{
    static struct dfs_frame frames[1000];
    struct search s = toy_search(t);
    struct strategy_dfs d;

    toy_open(memory);
    strategy_dfs_init(&d, frames, 1000, 1);
    CHECK(search_run(&s, &d.s, r));
    ex_trace(events, 100);
    CHECK(search_replay(&s, r));
}

TEST_CASE(Trace, ShowsTheLostUpdateInColumns)
{
    struct toy t = {.threads = 2, .rounds = 1};
    struct search_result r;

    find(&t, MM_SC, &r);
    const char *text = print(0, 120);
    CHECK_HAS(text, "finding: lost update\n");
    CHECK_HAS(text, "memory sc, ");
    CHECK_HAS(text, "M0                                                M1\n");
    const char *first = strstr(text, "load total = 0");
    CHECK(first != NULL);
    const char *second = strstr(first + 1, "load total = 0");
    CHECK(second != NULL);
    const char *third = strstr(second, "store total := 1");
    CHECK(third != NULL);
    CHECK(strstr(third + 1, "store total := 1") != NULL);
    CHECK_HAS(text, "toy_add:");
    CHECK_HAS(text, "\nreplay: gmpsim replay x.sched\n");
    CHECK_STR(strstr(text, "replay:"), "replay: gmpsim replay x.sched\n");
    search_result_release(&r);
    ex_trace(NULL, 0);
    ex_free();
}

TEST_CASE(Trace, CanBeCutAndBeNarrow)
{
    struct toy t = {.threads = 2, .rounds = 1};
    struct search_result r;

    find(&t, MM_SC, &r);
    const char *text = print(2, 60);
    CHECK_HAS(text, "operations before)");
    CHECK_HAS(text, "M0   ");
    search_result_release(&r);
    ex_trace(NULL, 0);
    ex_free();
}

TEST_CASE(Trace, ShowsBuffersDrain)
{
    struct toy t = {.threads = 2, .rounds = 1};
    struct search_result r;

    CHECK_EQ(site_weaken("toy_add", VERB_store, true), 1);
    find(&t, MM_TSO, &r);
    const char *text = print(0, 120);
    CHECK_HAS(text, "~ total := 1 reaches memory\n");
    search_result_release(&r);
    site_weaken("toy_add", VERB_store, false);
    ex_trace(NULL, 0);
    ex_free();
}
