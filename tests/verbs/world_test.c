/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: memory, seeds, draws, records and limits of a world; and its end: whoever ends it, however,
 * every thread stops wherever it is, and the next world starts clean. */
#include "harness.h"
#include "verbs_world.h"

enum { THREADS = 4, ALLOCS = 300 };

struct world {
    ATOMIC(uint32_t) stage, never;
    uint64_t seed[8];
    uint64_t drawn[64];
    void *block[THREADS][ALLOCS];
    uint32_t id[THREADS];
    uint32_t dirty[THREADS];
    int64_t quota_us, period_us;
    bool limited;
    struct poll_event ev[4];
};
static struct world *w;

static enum world_end run_with(const struct verbs_opts *opts, void (*body)(void *), uint32_t n)
{
    w = verbs_begin(sizeof *w, opts);
    for (uint32_t i = 0; i < n; i++) {
        w->id[i] = i;
        verbs_thread(body, &w->id[i]);
    }
    return verbs_run();
}

/* ---- memory ---- */

static void allocate(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    for (uint32_t i = 0; i < ALLOCS; i++) {
        size_t size = 1 + i % 100, align = (size_t)1 << i % 7;
        unsigned char *p = host_alloc(size, align);

        w->dirty[me] += (uintptr_t)p % align != 0;
        for (size_t k = 0; k < size; k++) {
            w->dirty[me] += p[k] != 0;
            p[k] = (unsigned char)(me + 1);
        }
        w->block[me][i] = p;
        a_add(&w->stage, 1);
    }
}

/* Each block still holds its owner's mark: no two overlap. */
TEST_CASE(World, MemoryIsZeroedAlignedAndNobodyElses)
{
    CHECK_EQ(run_with(NULL, allocate, 1), END_IDLE);
    CHECK_EQ(w->dirty[0], 0);
    CHECK_EQ(run_with(NULL, allocate, THREADS), END_IDLE);
    for (uint32_t me = 0; me < THREADS; me++) {
        CHECK_EQ(w->dirty[me], 0);
        for (uint32_t i = 0; i < ALLOCS; i++)
            for (size_t k = 0; k < 1 + i % 100; k++)
                CHECK_EQ(((unsigned char *)w->block[me][i])[k], me + 1);
    }
    verbs_end();
}

/* ---- seeds and draws ---- */

static void take_seeds(void *arg)
{
    (void)arg;
    for (int i = 0; i < 8; i++)
        w->seed[i] = host_seed64();
}

TEST_CASE(World, TheSeedDecidesTheSeedStream)
{
    const struct verbs_opts one = {.seed = 1}, two = {.seed = 2};
    uint64_t first[8];

    CHECK_EQ(run_with(&one, take_seeds, 1), END_IDLE);
    for (int i = 0; i < 8; i++)
        first[i] = w->seed[i];
    CHECK_EQ(run_with(&one, take_seeds, 1), END_IDLE);
    CHECK_MEM(w->seed, first, sizeof first);
    CHECK_EQ(run_with(&two, take_seeds, 1), END_IDLE);
    for (int i = 0; i < 8; i++) {
        CHECK_NE(w->seed[i], first[i]);
        CHECK_NE(first[i], first[(i + 1) % 8]);
    }
    verbs_end();
}

static void draw_some(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < 64; i++)
        w->drawn[i] = draw(1 + i, i);
}

TEST_CASE(World, ADrawIsBelowItsBound)
{
    CHECK_EQ(run_with(NULL, draw_some, 1), END_IDLE);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_LE(w->drawn[i], i);
    verbs_end();
}

/* ---- CPUs ---- */

static void read_quota(void *arg)
{
    (void)arg;
    w->limited = host_quota(&w->quota_us, &w->period_us);
    w->id[0] = (uint32_t)host_ncpu();
}

TEST_CASE(World, QuotaIsWhatTheWorldWasGiven)
{
    const struct verbs_opts opts = {.quota_us = 150000, .period_us = 50000};

    CHECK_EQ(run_with(&opts, read_quota, 1), END_IDLE);
    CHECK(w->limited);
    CHECK_EQ(w->quota_us, 150000);
    CHECK_EQ(w->period_us, 50000);
    CHECK_GE(w->id[0], 1);
    verbs_end();
}

/* ---- records ---- */

static void emit_some(void *arg)
{
    host_set_p((int32_t) * (uint32_t *)arg);
    for (int i = 0; i < 100; i++)
        emit(EV_MARK, i, i, 0, 0);
    emit(EV_PANIC, 1, 0, 0, 0);
}

TEST_CASE(World, EveryEventIsRecorded)
{
    CHECK_EQ(run_with(NULL, emit_some, THREADS), END_IDLE);
    CHECK_EQ(verbs_events(EV_MARK), 100 * THREADS);
    CHECK_EQ(verbs_events(EV_PANIC), THREADS);
    CHECK_EQ(verbs_events(EV_INJECT), 0);
    verbs_end();
}

/* ---- the end ---- */

enum { AT_LOAD, AT_FUTEX, AT_BURST, AT_USLEEP, AT_POLL, AT_SYSCALL, AT_TIMED_FUTEX, AT_COUNT };

/* Stays in one verb for good. */
static void stuck(void *arg)
{
    uint32_t where = *(uint32_t *)arg;

    a_add(&w->stage, 1);
    for (;;) {
        switch (where) {
        case AT_LOAD: a_load(&w->never); break;
        case AT_FUTEX: futexsleep(&w->never, 0, -1); break;
        case AT_BURST: burst(INT64_C(3600000000000), BURST_WHOLE); break;
        case AT_USLEEP: host_usleep(1000000000); break;
        case AT_POLL: netpoll_wait(-1, w->ev, 4); break;
        case AT_SYSCALL: syscall_body(INT64_C(3600000000000), SYSCALL_SLEEP); break;
        case AT_TIMED_FUTEX: futexsleep(&w->never, 0, INT64_C(3600000000000)); break;
        default: break;
        }
    }
}

static void ending(void (*end)(void *), void *arg)
{
    static uint32_t where[AT_COUNT];

    for (uint32_t i = 0; i < AT_COUNT; i++) {
        where[i] = i;
        verbs_thread(stuck, &where[i]);
    }
    verbs_thread(end, arg);
}

static void await_all(void)
{
    while (a_load(&w->stage) < AT_COUNT)
        osyield();
    host_usleep(1000);
}

static void stop(void *arg)
{
    (void)arg;
    await_all();
    host_stop();
}

TEST_CASE(End, HostStopEndsEveryThreadWhereverItIs)
{
    w = verbs_begin(sizeof *w, NULL);
    ending(stop, w);
    CHECK_EQ(verbs_run(), END_STOPPED);
    CHECK_EQ(a_peek(&w->stage), AT_COUNT);
    verbs_end();
}

static void find(void *arg)
{
    (void)arg;
    await_all();
    finding(7, "all goroutines are asleep");
    a_store(&w->never, 1u); /* not reached on an M */
}

TEST_CASE(End, AFindingStopsTheWorldAndSaysWhat)
{
    w = verbs_begin(sizeof *w, NULL);
    ending(find, w);
    CHECK_EQ(verbs_run(), END_FINDING);
    CHECK_EQ(verbs_kind(), 7);
    CHECK_STR(verbs_text(), "all goroutines are asleep");
    CHECK_EQ(a_peek(&w->never), 0);
    verbs_end();
}

static void find_outside(void *arg)
{
    (void)arg;
    finding(9, "said the environment");
}

static void ask_env(void *arg)
{
    (void)arg;
    await_all();
    env_at(nanotime() + 1000000, find_outside, NULL);
}

TEST_CASE(End, TheEnvironmentMayFindToo)
{
    w = verbs_begin(sizeof *w, NULL);
    ending(ask_env, w);
    CHECK_EQ(verbs_run(), END_FINDING);
    CHECK_EQ(verbs_kind(), 9);
    CHECK_STR(verbs_text(), "said the environment");
    verbs_end();
}

static void break_invariant(void *arg)
{
    (void)arg;
    await_all();
    throw("runqsteal: runq overflow");
}

TEST_CASE(End, AThrowStopsTheWorldAndSaysWhat)
{
    w = verbs_begin(sizeof *w, NULL);
    ending(break_invariant, w);
    CHECK_EQ(verbs_run(), END_THROWN);
    CHECK_HAS(verbs_text(), "runqsteal: runq overflow");
    verbs_end();
}

static void nothing(void *arg) { (void)arg; }

TEST_CASE(End, ATimeLimitEndsTheWorld)
{
    const struct verbs_opts opts = {.limit_ns = 20000000};

    w = verbs_begin(sizeof *w, &opts);
    ending(nothing, w);
    CHECK_EQ(verbs_run(), END_TIME);
    verbs_end();
}

/* Everybody asleep, and nobody there to wake: not an end of time, but of hope. */
static void sleep_for_good(void *arg)
{
    if (*(uint32_t *)arg % 2)
        netpoll_wait(-1, w->ev, 4);
    for (;;)
        futexsleep(&w->never, 0, -1);
}

TEST_CASE(End, AWorldWhereNobodyCanRunIsIdle)
{
    CHECK_EQ(run_with(NULL, sleep_for_good, THREADS), END_IDLE);
    verbs_end();
}

static void last_words(void *arg)
{
    if (*(uint32_t *)arg == 0)
        host_stop();
    finding(1, "too late or first");
}

TEST_CASE(End, TheFirstVerdictWins)
{
    for (int i = 0; i < 20; i++) {
        enum world_end why = run_with(NULL, last_words, THREADS);

        CHECK(why == END_STOPPED || why == END_FINDING);
        if (why == END_FINDING)
            CHECK_STR(verbs_text(), "too late or first");
        verbs_end();
    }
}

TEST_CASE(End, ManyWorldsInOneProcess)
{
    for (int i = 0; i < 50; i++) {
        w = verbs_begin(sizeof *w, NULL);
        CHECK_EQ(a_peek(&w->stage), 0);
        ending(i % 2 ? stop : find, w);
        CHECK_EQ(verbs_run(), i % 2 ? END_STOPPED : END_FINDING);
        verbs_end();
    }
}
