/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: with a chooser, whatever a rule or a seed would decide is asked, logged, and done again
 * from the log; who answers like virtual time changes nothing. Method: every strategy of choose.h
 * on worlds whose outcome depends on who was first; counts of schedules against factorials; runs
 * compared with runs without a chooser.
 */
#include "virt_world.h"

#include <string.h>

#include "sim/base/choose.h"

enum { ROUNDS = 20, ANSWERS = 1 << 16, FRAMES = 1 << 10 };

static struct shared {
    ATOMIC(uint32_t) count, lock, done;
    uint32_t order; /* of arrival, a decimal digit each */
} * s;

static struct answer answers[ANSWERS];
static struct dfs_frame frames[FRAMES];

static void lose_updates(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t seen = a_load(&s->count);

        a_store(&s->count, seen + 1);
        emit(EV_G_START, 1, seen, 0, 0);
    }
}

static void keep_updates(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (!a_cas(&s->lock, 0u, 1u))
            futexsleep(&s->lock, 1, i % 2 ? -1 : 5000);
        uint32_t seen = a_load(&s->count);
        a_store(&s->count, seen + 1);
        burst(100, BURST_CUT);
        a_store(&s->lock, 0u);
        futexwakeup(&s->lock, 1);
        emit(EV_G_START, 1, seen, 0, 0);
    }
    a_add(&s->done, 1);
}

/* One operation at an instant that all have in common. */
static void arrive(void *arg)
{
    host_usleep(10);
    a_add(&s->count, 1);
    s->order = s->order * 10 + (uint32_t)(uintptr_t)arg;
    burst(1000 * (int64_t)(uintptr_t)arg, BURST_WHOLE); /* so that the ends are no ties */
}

static void draw_once(void *arg)
{
    (void)arg;
    s->order = (uint32_t)draw(6, 5u);
}

struct outcome {
    uint64_t fingerprint;
    uint32_t count, order;
    size_t asked;
};

static struct chooser chooser;
static uintptr_t threads = 3;

/* That many threads that run fn. st NULL: without a chooser. */
static struct outcome run(void (*fn)(void *), struct strategy *st, struct vm_opts o)
{
    chooser = (struct chooser){st, answers, 0, ANSWERS};
    o.chooser = st != NULL ? &chooser : NULL;
    CHECK(st == NULL || st->begin(st));
    s = world_begin(&o, sizeof *s);
    for (uintptr_t i = 1; i <= threads; i++)
        world_thread(fn, (void *)i);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    if (st != NULL)
        st->end(st, true);
    return (struct outcome){world_stats().fingerprint, a_peek(&s->count), s->order, chooser.count};
}

static const struct vm_opts real_costs = {.costs = &costs_builtin};

/* What is said in `recorded` is done again. */
static void check_replay(void (*fn)(void *), struct outcome first, bool wants_time,
                         struct vm_opts o)
{
    static struct answer recorded[ANSWERS];
    struct strategy_replay replay;

    memcpy(recorded, answers, first.asked * sizeof *recorded);
    strategy_replay_init(&replay, recorded, first.asked, true);
    replay.s.wants_time = wants_time;
    struct outcome again = run(fn, &replay.s, o);
    CHECK(!replay.diverged);
    CHECK_EQ(again.fingerprint, first.fingerprint);
    CHECK_EQ(again.asked, first.asked);
    CHECK_EQ(again.count, first.count);
}

TEST_CASE(Choose, EveryPointIsAsked)
{
    struct strategy_random random;
    bool lost = false;

    strategy_random_init(&random, 1, UINT64_MAX);
    for (int i = 0; i < 20; i++) {
        struct outcome o = run(lose_updates, &random.s, real_costs);

        CHECK_GE(o.asked, 2 * ROUNDS * 2);
        CHECK_LE(o.count, 3 * ROUNDS);
        CHECK_GE(o.count, 2);
        lost |= o.count < 3 * ROUNDS / 2;
        check_replay(lose_updates, o, false, real_costs);
    }
    CHECK(lost);
    world_end();
}

TEST_CASE(Choose, SleepingAndWakingWorkUnderAnyOrder)
{
    struct strategy_random random;

    strategy_random_init(&random, 2, UINT64_MAX);
    for (int i = 0; i < 300; i++) {
        CHECK_EQ(run(keep_updates, &random.s, real_costs).count, 3 * ROUNDS);
        CHECK_EQ(a_peek(&s->done), 3);
    }
    world_end();
}

TEST_CASE(Choose, WhoAnswersLikeVirtualTimeChangesNothing)
{
    void (*const worlds[])(void *) = {lose_updates, keep_updates, arrive, draw_once};
    struct vm_opts two = {.costs = &costs_builtin, .cpus = 2, .noise_permille = 300, .seed = 7};

    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        struct outcome plain = run(worlds[i], NULL, real_costs);
        struct outcome asked = run(worlds[i], strategy_time(), real_costs);
        CHECK_EQ(asked.fingerprint, plain.fingerprint);
        CHECK_EQ(asked.order, plain.order);
        CHECK_EQ(run(worlds[i], strategy_time(), two).fingerprint,
                 run(worlds[i], NULL, two).fingerprint);
    }
    world_end();
}

TEST_CASE(Choose, OnlyTiesAreAskedWhenTimeDecides)
{
    struct strategy_random random;
    uint32_t seen[1000] = {0}, different = 0;

    strategy_random_init(&random, 3, UINT64_MAX);
    random.s.wants_time = true;
    for (int i = 0; i < 100; i++) {
        struct outcome o = run(arrive, &random.s, (struct vm_opts){0});

        CHECK_LT(o.order, 1000);
        different += seen[o.order]++ == 0;
        for (size_t k = 0; k < o.asked; k++)
            CHECK_EQ(answer_kind(answers[k]), CHOICE_TIE);
        check_replay(arrive, o, true, (struct vm_opts){0});
        CHECK_EQ(s->order, o.order);
    }
    CHECK_EQ(different, 6); /* 3! */
    world_end();
}

TEST_CASE(Choose, DepthFirstOverTiesFindsEveryOrder)
{
    struct strategy_dfs d;
    struct costs exact = costs_builtin;
    uint32_t seen[1000] = {0}, different = 0;

    exact.kind[COST_usleep_jitter] = 0; /* or nobody arrives at the same time */
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    d.s.wants_time = true;
    threads = 2;
    while (!d.exhausted)
        different += seen[run(arrive, &d.s, (struct vm_opts){.costs = &exact}).order]++ == 0;
    threads = 3;
    CHECK(!d.pruned && !d.diverged);
    CHECK_EQ(different, 2);
    world_end();
}

TEST_CASE(Choose, ADrawIsAsked)
{
    struct strategy_random random;
    uint32_t seen = 0;

    CHECK_EQ(run(draw_once, NULL, real_costs).order, 5);
    strategy_random_init(&random, 4, UINT64_MAX);
    random.s.wants_time = true;
    for (int i = 0; i < 200; i++)
        seen |= 1u << run(draw_once, &random.s, real_costs).order;
    CHECK_EQ(seen, 63);
    world_end();
}

static void sleep_once(void *arg)
{
    (void)arg;
    futexsleep(&s->lock, 0, 1000000);
    s->order += host_now() == 0;
}

TEST_CASE(Choose, AFaultEndsASleepForNoReason)
{
    struct strategy_random random;
    struct vm_opts o = {.faults = true};
    uint32_t early = 0;
    enum { RUNS = 200 };

    strategy_random_init(&random, 5, UINT64_MAX);
    random.s.wants_time = true;
    for (int i = 0; i < RUNS; i++)
        early += run(sleep_once, &random.s, o).order;
    /* Three sleeps a run, of which one of FAULT_ONE_IN is expected to end early. */
    CHECK_GT(early, RUNS * 3 / FAULT_ONE_IN / 2);
    CHECK_LT(early, RUNS * 3 / FAULT_ONE_IN * 3 / 2);
    CHECK_EQ(run(sleep_once, NULL, o).order, 0);
    CHECK_EQ(run(sleep_once, strategy_time(), o).order, 0);
    world_end();
}

TEST_CASE(Choose, TooManyAnswersAreALimit)
{
    chooser = (struct chooser){strategy_time(), answers, 0, 3};
    s = world_begin(&(struct vm_opts){.chooser = &chooser}, sizeof *s);
    for (int i = 0; i < 3; i++)
        world_thread(lose_updates, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_LIMIT);
    CHECK_STR(vm_failure()->text, "more than 3 answers in one run");
    world_end();
}
