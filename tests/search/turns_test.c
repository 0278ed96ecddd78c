/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: by turns, whatever Go leaves open is a choice: who goes on, which ready case a select
 * takes, what the program draws, who still runs before main ends. Method: programs that print what
 * happened; all schedules; the set of outputs is what it has to be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/explored.h"

enum { OUTPUTS_MAX = 64, FRAMES = 1 << 16 };

static struct {
    char text[OUTPUTS_MAX][64];
    int count;
    uint64_t runs;
} seen;

static void note_output(const struct run_result *q)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)q->out_size, q->out);
    for (char *p = text; *p != 0; p++)
        if (*p == '\n')
            *p = ' ';
    for (int i = 0; i < seen.count; i++)
        if (strcmp(seen.text[i], text) == 0)
            return;
    CHECK_LT(seen.count, OUTPUTS_MAX);
    snprintf(seen.text[seen.count++], sizeof seen.text[0], "%s", text);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* All that a program can print, in order of the alphabet, with | between. ' for ". */
static const char *outputs(const char *program)
{
    static struct dfs_frame frames[FRAMES];
    static char all[OUTPUTS_MAX * 64];
    static struct explored x;
    struct failure f = {0};
    struct strategy_dfs d;
    char text[4000];
    snprintf(text, sizeof text, "{\"name\": \"turns\", \"why\": \"test\", %s}", program);
    for (char *p = text; *p != 0; p++)
        if (*p == '\'')
            *p = '"';
    struct scenario *s = scenario_load(&f, "turns.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    struct explored_opts o = {
        .scenario = s, .procs = 1, .granularity = GRANULARITY_SYNC, .seed = 1, .steps_max = 1000};
    CHECK(scenario_profile(&f, s, 0, &o.profile));
    CHECK(explored_open(&f, &x, &o));
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    memset(&seen, 0, sizeof seen);
    for (; explored_run(&x, &d.s); seen.runs++)
        note_output(&x.result);
    CHECK(d.exhausted && !d.pruned && !d.diverged);
    explored_close(&x);
    scenario_free(s);
    qsort(seen.text, (size_t)seen.count, sizeof seen.text[0], by_text);
    all[0] = 0;
    for (int i = 0; i < seen.count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? "|" : "",
                 seen.text[i]);
    return all;
}

TEST_CASE(Turns, AnyRunnableGoroutineMayBeNext)
{
    CHECK_STR(outputs("'objects': {'wg': 'waitgroup'},"
                      "'funcs': {'p': {'params': ['i'], 'do': [{'print': '%d', 'args': ['i']},"
                      "                                        {'done': 'wg'}]}},"
                      "'main': [{'add': 'wg', 'n': 3},"
                      "         {'go': 'p', 'count': 3, 'index': 'i', 'args': ['i']},"
                      "         {'wait': 'wg'}]"),
              "0 1 2 |0 2 1 |1 0 2 |1 2 0 |2 0 1 |2 1 0 ");
}

/* Who has yielded is on the global queue. */
TEST_CASE(Turns, WhoHasYieldedMayBeNext)
{
    CHECK_STR(outputs("'objects': {'wg': 'waitgroup'},"
                      "'funcs': {'p': {'params': ['i'], 'do': [{'gosched': true},"
                      "                                        {'print': '%d', 'args': ['i']},"
                      "                                        {'done': 'wg'}]}},"
                      "'main': [{'add': 'wg', 'n': 2},"
                      "         {'go': 'p', 'count': 2, 'index': 'i', 'args': ['i']},"
                      "         {'wait': 'wg'}]"),
              "0 1 |1 0 ");
}

TEST_CASE(Turns, SelectTakesAnyReadyCase)
{
    CHECK_STR(outputs("'objects': {'a': {'chan': 1}, 'b': {'chan': 1}, 'c': {'chan': 1}},"
                      "'main': [{'send': 'a', 'value': 1}, {'send': 'b', 'value': 2},"
                      "  {'select': [{'recv': 'a', 'do': [{'print': 'a'}]},"
                      "              {'recv': 'b', 'do': [{'print': 'b'}]},"
                      "              {'recv': 'c', 'do': [{'print': 'c'}]}]}]"),
              "a |b ");
    CHECK_EQ(seen.runs, 2);
    CHECK_STR(outputs("'objects': {'a': 'chan', 'b': 'chan'},"
                      "'funcs': {'w': [{'send': 'a', 'value': 1}],"
                      "          'v': [{'send': 'b', 'value': 1}]},"
                      "'main': [{'go': 'w'}, {'go': 'v'},"
                      "  {'select': [{'recv': 'a', 'do': [{'print': 'a'}, {'recv': 'b'}]},"
                      "              {'recv': 'b', 'do': [{'print': 'b'}, {'recv': 'a'}]},"
                      "              {'default': [{'print': '-'}]}]}]"),
              "- |a |b ");
}

TEST_CASE(Turns, ADrawOfFewValuesIsAChoice)
{
    CHECK_STR(outputs("'main': [{'random': [{'weight': 99, 'do': [{'print': 'often'}]},"
                      "                     {'do': [{'print': 'rarely'}]}]},"
                      "         {'set': 'x', 'value': 'rand(3)'},"
                      "         {'print': '%d', 'args': ['x']}]"),
              "often 0 |often 1 |often 2 |rarely 0 |rarely 1 |rarely 2 ");
}

TEST_CASE(Turns, OthersMayHaveTheirTurnBeforeMainEnds)
{
    CHECK_STR(outputs("'main': [{'go': [{'print': 'a'}, {'print': 'b'}]},"
                      "         {'defer': [{'print': 'main'}]}]"),
              "a b main |a main |a main b |main |main a |main a b ");
}

/* Sleepers wake in the order of time, where nobody may be late. */
TEST_CASE(Turns, TimePassesWhenNobodyCanGoOn)
{
    CHECK_STR(outputs("'main': [{'go': [{'sleep': '2ms'}, {'print': 'two'}]},"
                      "         {'go': [{'cpu': '1ms'}, {'print': 'one'}]},"
                      "         {'syscall': '3ms'}, {'print': 'three'}]"),
              "one two three ");
}

/* Who only looks gives way, so that a loop which waits by looking comes to its end. */
TEST_CASE(Turns, WhoOnlyLooksGivesWay)
{
    CHECK_STR(outputs("'objects': {'v': 'var'},"
                      "'main': [{'go': [{'store': 'v', 'value': 1, 'atomic': true}]},"
                      "         {'set': 'x', 'value': 0},"
                      "         {'while': 'x == 0', 'do': [{'load': 'v', 'into': 'x',"
                      "                                     'atomic': true}]},"
                      "         {'print': 'seen'}]"),
              "seen ");
}

/* A fractional worker waits for its share of time, while nobody else has a turn. */
TEST_CASE(Turns, ACollectionEnds)
{
    CHECK_STR(outputs("'main': [{'go': [{'print': 'a'}]}, {'gc': true}, {'print': 'b'}]"),
              "a b |b |b a ");
}
