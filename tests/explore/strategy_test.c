/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: each strategy tries what it says, all of it, and the same each time.
 * Method: counts of schedules against a naive enumeration; runs repeated; worlds that misbehave.
 */
#include <malloc.h>
#include <string.h>

#include "harness.h"
#include "toy.h"

enum { FRAMES = 1 << 12 };
static struct dfs_frame frames[FRAMES];
static struct search_result result;

static uint64_t schedules(const struct toy *t, uint32_t preemptions)
{
    struct search s = toy_search(t);
    struct strategy_dfs d;

    toy_open(MM_SC);
    strategy_dfs_init(&d, frames, FRAMES, preemptions);
    CHECK(!search_run(&s, &d.s, &result));
    CHECK(d.exhausted && !d.pruned && !d.diverged);
    ex_free();
    return d.runs;
}

/* Interleavings of threads with left[] points each that need at most `most` preemptions. */
static uint64_t naive(int threads, int *left, int running, int most)
{
    uint64_t n = 0;
    int total = 0;

    for (int t = 0; t < threads; t++)
        total += left[t];
    if (total == 0)
        return 1;
    for (int t = 0; t < threads; t++) {
        int cost = running >= 0 && left[running] > 0 && t != running;
        if (left[t] == 0 || cost > most)
            continue;
        left[t]--;
        n += naive(threads, left, t, most - cost);
        left[t]++;
    }
    return n;
}

TEST_CASE(Dfs, EveryInterleavingOnce)
{
    struct toy two = {.threads = 2, .rounds = 2, .ignore = true};
    struct toy three = {.threads = 3, .rounds = 1, .ignore = true};

    CHECK_EQ(schedules(&two, DFS_UNBOUNDED), 70);   /* 8 over 4 */
    CHECK_EQ(schedules(&three, DFS_UNBOUNDED), 90); /* 6! / 2!^3 */
}

TEST_CASE(Dfs, PreemptionBoundIsExact)
{
    struct toy three = {.threads = 3, .rounds = 2, .ignore = true};

    for (uint32_t most = 0; most < 8; most++) {
        int left[3] = {4, 4, 4};
        CHECK_EQ(schedules(&three, most), naive(3, left, -1, (int)most));
    }
}

/* Leaving a thread that yields is free. */
TEST_CASE(Dfs, YieldingIsNoPreemption)
{
    struct toy polite = {.threads = 2, .rounds = 1, .yields = true};
    struct toy rude = {.threads = 2, .rounds = 1};
    struct search s = toy_search(&polite), s2 = toy_search(&rude);
    struct strategy_dfs d;

    toy_open(MM_SC);
    strategy_dfs_init(&d, frames, FRAMES, 0);
    CHECK(!search_run(&s2, &d.s, &result));
    strategy_dfs_init(&d, frames, FRAMES, 0);
    CHECK(search_run(&s, &d.s, &result));
    CHECK_STR(result.text, "lost update");
    search_result_release(&result);
    ex_free();
}

TEST_CASE(Dfs, SaysWhenItLeavesSomethingOut)
{
    struct toy t = {.threads = 2, .rounds = 2, .ignore = true};
    struct search s = toy_search(&t);
    struct strategy_dfs d;

    toy_open(MM_SC);
    strategy_dfs_init(&d, frames, 3, DFS_UNBOUNDED);
    CHECK(!search_run(&s, &d.s, &result));
    CHECK(d.pruned);
    ex_free();
}

static int moods;

/* One thread more every other time: a world that does not repeat itself. */
static void moody(void *arg)
{
    struct toy *t = arg;

    t->threads = 2 + (moods++ & 1);
    toy_build(t);
}

TEST_CASE(Dfs, NoticesAWorldThatDoesNotRepeatItself)
{
    struct toy t = {.rounds = 1, .ignore = true};
    struct search s = {moody, NULL, &t, 0, false};
    struct strategy_dfs d;

    toy_open(MM_SC);
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    CHECK(!search_run(&s, &d.s, &result));
    CHECK(d.diverged);
    CHECK(!d.exhausted);
    ex_free();
}

/* ---- random ---- */

static uint64_t random_fingerprint(uint64_t seed, uint64_t run)
{
    struct toy t = {.threads = 3, .rounds = 10};
    struct strategy_random r;

    toy_open(MM_TSO);
    strategy_random_init(&r, seed, run + 1);
    r.run = run;
    CHECK(ex_begin(&r.s));
    toy_build(&t);
    CHECK_EQ(ex_run(), END_DONE);
    ex_end();
    uint64_t fp = ex_fingerprint();
    CHECK(!ex_begin(&r.s));
    ex_free();
    return fp;
}

TEST_CASE(Random, SeedAndRunDecide)
{
    CHECK_EQ(random_fingerprint(33, 5), random_fingerprint(33, 5));
    CHECK_NE(random_fingerprint(33, 5), random_fingerprint(33, 6));
    CHECK_NE(random_fingerprint(33, 5), random_fingerprint(34, 5));
}

TEST_CASE(Random, DrawsEvenly)
{
    struct toy t = {.threads = 2, .rounds = 1};
    struct search s = toy_search(&t);
    struct strategy_random r;
    uint64_t lost = 0;

    toy_open(MM_SC);
    strategy_random_init(&r, 1, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        lost += search_run(&s, &r.s, &result);
        search_result_release(&result);
    }
    ex_free();
    CHECK_EQ(r.run, 1000);
    /* Of 6 interleavings of two points each, 4 lose; drawn point by point they have 1/2. */
    CHECK_GT(lost, 400);
    CHECK_LT(lost, 600);
}

/* ---- time ---- */

TEST_CASE(Time, RunsTheThreadThatIsBehind)
{
    struct toy t = {.threads = 2, .rounds = 3};

    toy_open(MM_SC);
    CHECK(ex_begin(strategy_time()));
    toy_build(&t);
    CHECK_EQ(ex_run(), END_DONE);
    ex_end();
    /* Both load, both store, in step: every update of one thread is lost. */
    CHECK_EQ(toy_total(), 3);
    ex_free();
}

/* Store buffers drain at once: the run is that of sc. */
TEST_CASE(Time, TsoIsScWhenNobodyDelays)
{
    struct toy t = {.threads = 3, .rounds = 5};
    uint64_t fp[2];

    for (int i = 0; i < 2; i++) {
        toy_open(i == 0 ? MM_SC : MM_TSO);
        CHECK(ex_begin(strategy_time()));
        toy_build(&t);
        CHECK_EQ(ex_run(), END_DONE);
        ex_end();
        fp[i] = ex_fingerprint();
        ex_free();
    }
    CHECK_EQ(fp[0], fp[1]);
}

/* ---- replay ---- */

TEST_CASE(Replay, RepeatsARunUnderEveryModel)
{
    struct toy t = {.threads = 3, .rounds = 4};
    struct search s = toy_search(&t);

    for (int k = 0; k < MM_KINDS; k++) {
        struct strategy_random r;
        toy_open((enum mm_kind)k);
        strategy_random_init(&r, 7, 100);
        CHECK(search_run(&s, &r.s, &result));
        CHECK(search_replay(&s, &result));
        search_result_release(&result);
        ex_free();
    }
}

TEST_CASE(Replay, NoticesAScheduleOfAnotherWorld)
{
    struct toy t = {.threads = 3, .rounds = 4}, other = {.threads = 2, .rounds = 4};
    struct search s = toy_search(&t), so = toy_search(&other);
    struct strategy_random r;

    toy_open(MM_SC);
    strategy_random_init(&r, 7, 100);
    CHECK(search_run(&s, &r.s, &result));
    CHECK(!search_replay(&so, &result));
    search_result_release(&result);
    ex_free();
}

/* ---- limits, memory ---- */

static void spin(void *arg);

static void build_spin(void *arg)
{
    ex_start(NULL, spin, arg);
    ex_start(NULL, spin, arg);
}

TEST_CASE(Limits, AnEndlessRunIsCutAndSaysWhy)
{
    struct strategy_random r;

    toy_open(MM_SC);
    strategy_random_init(&r, 1, 2);
    CHECK(ex_begin(&r.s));
    build_spin(NULL);
    CHECK_EQ(ex_run(), END_LIMIT);
    CHECK_STR(ex_text(), "steps of one run");
    ex_end();
    ex_free();
}

TEST_CASE(Limits, RunningAllocatesNothing)
{
    struct toy t = {.threads = 4, .rounds = 50};
    struct strategy_random r;

    toy_open(MM_ARM);
    strategy_random_init(&r, 1, 20);
    struct mallinfo2 before = mallinfo2();
    while (ex_begin(&r.s)) {
        toy_build(&t);
        CHECK_EQ(ex_run(), END_DONE);
        ex_end();
    }
    struct mallinfo2 after = mallinfo2();
    CHECK_EQ(after.uordblks, before.uordblks);
    ex_free();
}

static void sleeper(void *arg);

/* With faults, a futexsleep that nobody ends may still return: the run ends; without, it is idle.
 */
TEST_CASE(Fault, AFutexSleepMayReturnForNoReason)
{
    for (int faults = 0; faults < 2; faults++) {
        struct ex_opts o = {.faults.on = {[FAULT_spurious] = faults}, .memory_max = 1 << 20};
        struct strategy_dfs d;
        int ended = 0, idle = 0;
        CHECK(ex_init(NULL, &o));
        strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
        while (ex_begin(&d.s)) {
            ex_start(NULL, sleeper, NULL);
            enum world_end why = ex_run();
            ended += why == END_DONE;
            idle += why == END_IDLE;
            ex_end();
        }
        CHECK_EQ(idle, 1);
        CHECK_EQ(ended, faults);
        ex_free();
    }
}

static void not_ready(void);
static void hasty(void *arg);
static void waker(void *arg);

/* Who does not look again after a futexsleep takes a spurious wake-up for his own. */
TEST_CASE(Fault, ASpuriousWakeUpFindsWhoDoesNotLookAgain)
{
    for (int faults = 0; faults < 2; faults++) {
        struct ex_opts o = {.faults.on = {[FAULT_spurious] = faults}, .memory_max = 1 << 20};
        struct strategy_dfs d;
        bool found = false;
        CHECK(ex_init(NULL, &o));
        strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
        while (ex_begin(&d.s)) {
            not_ready();
            ex_start(NULL, hasty, NULL);
            ex_start(NULL, waker, NULL);
            found |= ex_run() == END_THROWN;
            ex_end();
        }
        CHECK(d.exhausted);
        CHECK_EQ(found, faults);
        ex_free();
    }
}

/* Below the cases: host.h's throw would hide the harness's words otherwise. */
#include <host.h>

static ATOMIC(uint32_t) never, ready;

static void not_ready(void) { a_init(&ready, 0); }

static void hasty(void *arg)
{
    (void)arg;
    futexsleep(&ready, 0, -1);
    if (a_load(&ready) == 0)
        throw("it is not ready");
}

static void waker(void *arg)
{
    (void)arg;
    a_store(&ready, 1);
    futexwakeup(&ready, 1);
}

static void sleeper(void *arg)
{
    (void)arg;
    futexsleep(&never, 0, -1);
}

static void spin(void *arg)
{
    (void)arg;
    while (a_load(&never) == 0)
        continue;
}
