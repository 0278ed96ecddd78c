/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: POS, SURW and delay bounding draw as published. Method: made-up threads of so many steps
 * each, asked by hand, thousands of times. */
#include <string.h>

#include "harness.h"
#include "sim/base/choose.h"

enum { THREADS = 3, STEPS_MAX = 8, RUNS = 12000 };

/* What step k of each thread is about; 0: nothing that anybody shares. */
struct made_up {
    int steps[THREADS];
    int32_t object[THREADS][STEPS_MAX];
};

static const struct made_up *made;
static int at[THREADS];

static void look(const struct turn *t, uint32_t index, struct turn_does *d)
{
    uint32_t id = t->goid[index] - 1;
    *d = (struct turn_does){.goid = id + 1, .known = true, .count = 1};
    d->object[0] = made->object[id][at[id]] != 0 ? made->object[id][at[id]] : 100 + (int32_t)id;
}

/* One run: the order of the threads' steps. */
static bool run(struct strategy *s, const struct made_up *m, char *order)
{
    int n = 0, running = -1;
    made = m;
    memset(at, 0, sizeof at);
    if (!s->begin(s))
        return false;
    for (;;) {
        struct turn t = {.look = look};
        int id[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int who = running >= 0 ? (running + i) % THREADS : i;
            if (at[who] < m->steps[who]) {
                id[t.count] = who;
                t.goid[t.count++] = (uint32_t)who + 1;
            }
        }
        if (t.count == 0)
            break;
        struct choice c = {.kind = CHOICE_TURN,
                           .n = t.count,
                           .threads = t.count,
                           .preempts = running >= 0 && id[0] == running,
                           .turn = &t};
        uint32_t pick = t.count > 1 ? s->pick(s, &c) : 0;
        if (s->did != NULL) { /* as the host does, also of what was no question */
            struct turn_does d;
            look(&t, pick, &d);
            d.turn = (uint64_t)n + 1;
            s->did(s, &d);
        }
        running = id[pick];
        at[running]++;
        order[n++] = (char)('a' + running);
    }
    order[n] = 0;
    s->end(s, true);
    return true;
}

static int hits(struct strategy *s, const struct made_up *m, const char *order)
{
    char got[THREADS * STEPS_MAX + 1];
    int n = 0;
    for (int i = 0; i < RUNS; i++) {
        CHECK(run(s, m, got));
        n += strcmp(got, order) == 0;
    }
    return n;
}

/* One step against five: six orders, the last of which is one in 32 by tossing coins. */
static const struct made_up one_and_five = {{1, 5, 0}, {{1}, {0, 0, 0, 0, 1}}};

TEST_CASE(Surw, AllInterleavingsAreAsLikely)
{
    static const char *const orders[] = {"abbbbb", "babbbb", "bbabbb",
                                         "bbbabb", "bbbbab", "bbbbba"};
    struct made_up m = {{1, 5, 0}, {{1}, {1, 1, 1, 1, 1}}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct strategy_surw s;
        strategy_surw_init(&s, 1, UINT64_MAX);
        int n = hits(&s.s, &m, orders[i]);
        CHECK(n > RUNS / 6 * 85 / 100 && n < RUNS / 6 * 115 / 100);
    }
}

/* Only the two steps on the object count: which of them is first is about even, not 1 in 6. */
TEST_CASE(Surw, StepsThatNobodySharesDoNotCount)
{
    struct strategy_surw s;
    strategy_surw_init(&s, 1, UINT64_MAX);
    int last = hits(&s.s, &one_and_five, "bbbbba");
    CHECK(last > RUNS / 5);
}

TEST_CASE(Pos, TheRareOrderIsOneInSix)
{
    struct strategy_pos pos;
    struct strategy_random random;
    strategy_pos_init(&pos, 1, UINT64_MAX);
    strategy_random_init(&random, 1, UINT64_MAX);
    int by_pos = hits(&pos.s, &one_and_five, "bbbbba");
    int by_random = hits(&random.s, &one_and_five, "bbbbba");
    CHECK(by_pos > RUNS / 6 * 85 / 100 && by_pos < RUNS / 6 * 115 / 100);
    CHECK(by_random < RUNS / 25);
}

TEST_CASE(Samplers, SeedAndRunDecide)
{
    char first[40], again[40];
    struct strategy_pos pos;
    struct strategy_surw surw;
    for (int i = 0; i < 50; i++) {
        strategy_pos_init(&pos, 7, UINT64_MAX);
        pos.run = (uint64_t)i;
        CHECK(run(&pos.s, &one_and_five, first));
        strategy_pos_init(&pos, 7, UINT64_MAX);
        pos.run = (uint64_t)i;
        CHECK(run(&pos.s, &one_and_five, again));
        CHECK_STR(first, again);
    }
    strategy_surw_init(&surw, 7, 10);
    for (int i = 0; i < 10; i++)
        CHECK(run(&surw.s, &one_and_five, first));
    CHECK(!run(&surw.s, &one_and_five, first));
}

/* Orders with at most so many delays: answer k passes over k. */
static uint64_t naive(int *left, int running, int most)
{
    uint64_t n = 0;
    int total = 0, cost = 0;
    for (int i = 0; i < THREADS; i++)
        total += left[i];
    if (total == 0)
        return 1;
    for (int i = 0; i < THREADS; i++) {
        int who = running >= 0 ? (running + i) % THREADS : i;
        if (left[who] == 0)
            continue;
        if (cost <= most) {
            left[who]--;
            n += naive(left, who, most - cost);
            left[who]++;
        }
        cost++;
    }
    return n;
}

TEST_CASE(Delay, EveryOrderWithSoManyDelaysOnce)
{
    static struct dfs_frame frames[1000];
    struct made_up m = {{2, 3, 2}, {{0}}};
    for (int most = 0; most < 6; most++) {
        struct strategy_dfs d;
        char order[40];
        int left[THREADS] = {2, 3, 2};
        uint64_t n = 0;
        strategy_dfs_init(&d, frames, 1000, (uint32_t)most);
        d.delays = true;
        while (run(&d.s, &m, order))
            n++;
        CHECK_EQ(n, naive(left, -1, most));
        CHECK(d.bounded);
    }
}

TEST_CASE(Pct, ItsBoundIsOneInNTimesKToTheDepthLessOne)
{
    CHECK_EQ(strategy_pct_bound(3, 100, 1), 3);
    CHECK_EQ(strategy_pct_bound(3, 100, 3), 30000);
    CHECK_EQ(strategy_pct_bound(3, 1000000, 9), UINT64_MAX);
}

TEST_CASE(Turn, WhatConflicts)
{
    struct turn_does a = {.known = true, .count = 1, .object = {1}}, b = a;
    CHECK(turn_conflicts(&a, &b));
    a.reads = b.reads = true;
    CHECK(!turn_conflicts(&a, &b));
    b.reads = false;
    b.object[0] = 2;
    CHECK(!turn_conflicts(&a, &b));
    b.object[0] = TURN_OBJECT_ALL;
    CHECK(turn_conflicts(&a, &b));
    b.known = false;
    b.count = 0;
    CHECK(turn_conflicts(&a, &b));
}
