/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: time goes forward for everybody, and sleeps last. */
#include "harness.h"
#include "verbs_world.h"

enum { THREADS = 3, ROUNDS = 2000 };

struct times {
    ATOMIC(int64_t) latest; /* of all threads */
    ATOMIC(uint32_t) flag;
    int64_t t[8];
    uint32_t backwards[THREADS];
    uint32_t id[THREADS];
};
static struct times *t;

static void run_threads(void (*body)(void *), uint32_t n)
{
    t = verbs_begin(sizeof *t, NULL);
    for (uint32_t i = 0; i < n; i++) {
        t->id[i] = i;
        verbs_thread(body, &t->id[i]);
    }
    CHECK_EQ(verbs_run(), END_IDLE);
}

static void publish_latest(int64_t now)
{
    for (int64_t old = a_load(&t->latest); old < now; old = a_load(&t->latest))
        if (a_cas(&t->latest, old, now))
            return;
}

static void clock_reader(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t before = a_load(&t->latest);
        int64_t now = nanotime();

        t->backwards[me] += now < before;
        publish_latest(now);
    }
}

TEST_CASE(Time, NanotimeNeverGoesBackwardsBetweenThreads)
{
    run_threads(clock_reader, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(t->backwards[i], 0);
    CHECK_GT(a_peek(&t->latest), 0);
    verbs_end();
}

static void two_clocks(void *arg)
{
    (void)arg;
    t->t[0] = nanotime();
    t->t[1] = host_now();
    t->t[2] = record_now(); /* the worlds of these tests record */
    t->t[3] = nanotime();
}

TEST_CASE(Time, HostNowIsTheSameClock)
{
    run_threads(two_clocks, 1);
    CHECK_GE(t->t[0], 0);
    CHECK_LE(t->t[0], t->t[1]);
    CHECK_LE(t->t[1], t->t[2]);
    CHECK_LE(t->t[2], t->t[3]);
    verbs_end();
}

static void sleeps(void *arg)
{
    (void)arg;
    t->t[0] = nanotime();
    host_usleep(5000);
    t->t[1] = nanotime();
    host_usleep(0);
    t->t[2] = nanotime();
}

TEST_CASE(Time, UsleepSleepsAtLeastItsTime)
{
    run_threads(sleeps, 1);
    CHECK_GE(t->t[1] - t->t[0], 5000000);
    CHECK_GE(t->t[2], t->t[1]);
    if (verbs_exact())
        CHECK_LE(t->t[1] - t->t[0], 5200000);
    verbs_end();
}

/* Who spins with procyield or osyield lets the others do what it waits for. */
static void spinner(void *arg)
{
    if (*(uint32_t *)arg == 0) {
        host_usleep(2000);
        a_store(&t->flag, 1u);
        return;
    }
    while (a_load(&t->flag) == 0) {
        if (*(uint32_t *)arg == 1)
            procyield(30);
        else
            osyield();
    }
}

TEST_CASE(Time, SpinningEndsWhenAnotherActs)
{
    run_threads(spinner, 3);
    verbs_end();
}

static void works(void *arg)
{
    int n = 10;

    (void)arg;
    t->t[0] = host_now();
    work(schedule);
    work_n(runqgrab_slot, n);
    t->t[1] = host_now();
}

TEST_CASE(Time, WorkTakesNoNegativeTime)
{
    run_threads(works, 1);
    CHECK_GE(t->t[1], t->t[0]);
    if (verbs_exact())
        CHECK_GT(t->t[1], t->t[0]);
    verbs_end();
}
