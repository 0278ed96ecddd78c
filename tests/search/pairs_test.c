/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: an order counts as seen when two goroutines did something to one object one after the
 * other, not both only reading. Method: turns by hand; a program searched in one and in all
 * schedules. */
#include <string.h>

#include "harness.h"
#include "search/explored.h"

static void turn(struct pairs *p, uint32_t goid, uint32_t pc, int32_t object, bool reads)
{
    pairs_turn(
        p,
        &(struct turn_does){
            .goid = goid, .pc = pc, .known = true, .reads = reads, .count = 1, .object = {object}});
}

static void check_sum(const struct pairs *p, uint64_t both, uint64_t one)
{
    struct pairs_sum sum = pairs_count(p);
    CHECK_EQ(sum.both, both);
    CHECK_EQ(sum.one, one);
}

TEST_CASE(Pairs, OrdersAreOfOneObjectAndOfTwoGoroutines)
{
    struct program program = {.ncode = 10};
    struct pairs p;
    uint64_t at = 0;
    uint32_t a, b;
    pairs_open(&p, &program);
    turn(&p, 1, 1, 7, false);
    turn(&p, 1, 2, 7, false); /* its own */
    turn(&p, 2, 3, 8, false); /* another object */
    check_sum(&p, 0, 0);
    turn(&p, 2, 4, 7, true); /* 2 before 4 */
    turn(&p, 3, 5, 7, true); /* both read */
    check_sum(&p, 0, 1);
    CHECK(pairs_next_one(&p, &at, &a, &b));
    CHECK_EQ(a, 2);
    CHECK_EQ(b, 4);
    CHECK(!pairs_next_one(&p, &at, &a, &b));
    pairs_begin(&p); /* what the run before did comes before nothing of this one */
    turn(&p, 1, 9, 7, false);
    check_sum(&p, 0, 1);
    pairs_begin(&p);
    turn(&p, 2, 4, 7, true);
    turn(&p, 1, 2, 7, false);
    check_sum(&p, 1, 0);
    pairs_close(&p);
    program.ncode = PAIRS_CODE_MAX + 1;
    pairs_open(&p, &program);
    turn(&p, 1, 1, 7, false);
    turn(&p, 2, 2, 7, false);
    check_sum(&p, 0, 0);
    pairs_close(&p);
}

static const char text[] =
    "{\"name\": \"x\", \"why\": \"a test\", \"objects\": {\"v\": \"var\", \"wg\": \"waitgroup\"},"
    " \"main\": [{\"add\": \"wg\", \"n\": 2},"
    " {\"go\": [{\"store\": \"v\", \"value\": 1, \"atomic\": true}, {\"done\": \"wg\"}]},"
    " {\"go\": [{\"store\": \"v\", \"value\": 2, \"atomic\": true}, {\"done\": \"wg\"}]},"
    " {\"wait\": \"wg\"}]}";

TEST_CASE(Pairs, AllSchedulesShowWhatOneDoesNot)
{
    static struct explored x;
    static struct dfs_frame frames[1 << 12];
    struct failure f = {0};
    struct strategy_dfs d;
    struct pairs p;
    struct scenario *s = scenario_load(&f, "x.json", text, strlen(text));
    CHECK(s != NULL);
    struct explored_opts o = {.scenario = s,
                              .procs = 1,
                              .granularity = GRANULARITY_SYNC,
                              .seed = 1,
                              .steps_max = 1000,
                              .pairs = &p};
    CHECK(scenario_profile(&f, s, 0, &o.profile));
    pairs_open(&p, &s->program);
    CHECK(explored_open(&f, &x, &o));
    strategy_dfs_init(&d, frames, 1 << 12, DFS_UNBOUNDED);
    CHECK(explored_run(&x, &d.s));
    CHECK_EQ(pairs_count(&p).both, 0);
    CHECK_LT(0, pairs_count(&p).one);
    while (explored_run(&x, &d.s))
        ;
    CHECK(d.exhausted);
    CHECK_LE(2, pairs_count(&p).both); /* the stores, and the two Done */
    explored_close(&x);
    pairs_close(&p);
    scenario_free(s);
}
