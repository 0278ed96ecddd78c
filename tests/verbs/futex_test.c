/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: futexes lose no wake-up, wake as many as asked and in the order of arrival, and time out.
 * Method: the two classic users, a mutex and a note, under load, and scripts for the details. */
#include "harness.h"
#include "verbs_world.h"

enum { THREADS = 4, ROUNDS = 2000 };
static const int64_t MS = 1000000;

struct futexes {
    ATOMIC(uint32_t) key;
    ATOMIC(uint32_t) ready;
    ATOMIC(uint32_t) asleep;
    ATOMIC(uint32_t) done;
    uint64_t counter; /* plain: the mutex guards it */
    int64_t began, ended;
    uint32_t order[THREADS];
    uint32_t id[THREADS];
    ATOMIC(uint32_t) ball;
};
static struct futexes *f;

static void run_threads(void (*body)(void *), uint32_t n)
{
    f = verbs_begin(sizeof *f, NULL);
    for (uint32_t i = 0; i < n; i++) {
        f->id[i] = i;
        verbs_thread(body, &f->id[i]);
    }
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&f->done), n);
}

/* ---- a mutex: 0 free, 1 locked, 2 locked and somebody may sleep ---- */

static void lock(void)
{
    if (a_cas(&f->key, 0u, 1u))
        return;
    while (a_xchg(&f->key, 2u) != 0)
        futexsleep(&f->key, 2, -1);
}

static void unlock(void)
{
    if (a_xchg(&f->key, 0u) == 2)
        futexwakeup(&f->key, 1);
}

static void mutex_user(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        lock();
        f->counter++;
        if (i % 64 == 0)
            osyield(); /* so that others run into the lock */
        unlock();
    }
    a_add(&f->done, 1);
}

TEST_CASE(Futex, AMutexOfFutexesExcludes)
{
    run_threads(mutex_user, THREADS);
    CHECK_EQ(f->counter, THREADS * ROUNDS);
    verbs_end();
}

/* ---- a ball between two threads, always by sleep and wake ---- */

static void player(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    for (int i = 0; i < ROUNDS; i++) {
        while (a_load(&f->ball) != me)
            futexsleep(&f->ball, 1 - me, -1);
        f->counter++;
        a_store(&f->ball, 1 - me);
        futexwakeup(&f->ball, 1);
    }
    a_add(&f->done, 1);
}

TEST_CASE(Futex, NoWakeUpIsLost)
{
    run_threads(player, 2);
    CHECK_EQ(f->counter, 2 * ROUNDS);
    verbs_end();
}

/* ---- details ---- */

static void sleep_on_another_value(void *arg)
{
    (void)arg;
    a_store(&f->key, 5u);
    futexsleep(&f->key, 4, -1);
    a_add(&f->done, 1);
}

TEST_CASE(Futex, SleepReturnsWhenTheValueDiffers)
{
    run_threads(sleep_on_another_value, 1);
    verbs_end();
}

static void sleep_with_deadline(void *arg)
{
    (void)arg;
    f->began = nanotime();
    futexsleep(&f->key, 0, 5 * MS);
    f->ended = nanotime();
    a_add(&f->done, 1);
}

TEST_CASE(Futex, SleepEndsAtItsDeadline)
{
    run_threads(sleep_with_deadline, 1);
    CHECK_GE(f->ended - f->began, 5 * MS);
    if (verbs_exact())
        CHECK_LE(f->ended - f->began, 6 * MS);
    verbs_end();
}

static void sleep_no_time(void *arg)
{
    (void)arg;
    futexsleep(&f->key, 0, 0);
    a_add(&f->done, 1);
}

TEST_CASE(Futex, ADeadlineOfZeroDoesNotSleepForEver)
{
    run_threads(sleep_no_time, 1);
    verbs_end();
}

static void wake_nobody(void *arg)
{
    (void)arg;
    futexwakeup(&f->key, 1);
    futexwakeup(&f->key, UINT32_MAX);
    a_add(&f->done, 1);
}

TEST_CASE(Futex, WakingNobodyIsNoError)
{
    run_threads(wake_nobody, 1);
    verbs_end();
}

/* Three go to sleep, each when the one before has been about it for fifty milliseconds; the fourth
 * then wakes one at a time. */
static void sleeper_or_waker(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    while (a_load(&f->asleep) != me)
        host_usleep(1000);
    if (me > 0)
        host_usleep(50000);
    if (me < THREADS - 1) {
        a_add(&f->asleep, 1);
        futexsleep(&f->key, 0, -1);
        f->order[a_load(&f->ready)] = me; /* the load: a futex alone orders no memory */
        a_add(&f->ready, 1);
    }
    for (uint32_t i = 0; me == THREADS - 1 && i < THREADS - 1; i++) {
        futexwakeup(&f->key, 1);
        while (a_load(&f->ready) != i + 1)
            osyield();
    }
    a_add(&f->done, 1);
}

TEST_CASE(Futex, FirstComeFirstWoken)
{
    run_threads(sleeper_or_waker, THREADS);
    for (uint32_t i = 0; i < THREADS - 1; i++)
        CHECK_EQ(f->order[i], i);
    verbs_end();
}

static void sleeper_or_wake_all(void *arg)
{
    if (*(uint32_t *)arg == 0) {
        while (a_load(&f->ready) != THREADS - 1)
            osyield();
        host_usleep(20000);
        a_store(&f->key, 1u);
        futexwakeup(&f->key, UINT32_MAX);
    } else {
        a_add(&f->ready, 1);
        while (a_load(&f->key) == 0)
            futexsleep(&f->key, 0, -1);
    }
    a_add(&f->done, 1);
}

TEST_CASE(Futex, OneWakeUpMayWakeAll)
{
    run_threads(sleeper_or_wake_all, THREADS);
    verbs_end();
}

/* The second sleeper is still there when one was woken: the world ends idle with it asleep. */
static void sleeper_or_wake_one(void *arg)
{
    if (*(uint32_t *)arg == 0) {
        host_usleep(30000);
        futexwakeup(&f->key, 1);
    } else {
        futexsleep(&f->key, 0, -1);
        a_add(&f->ready, 1);
    }
}

TEST_CASE(Futex, WakingOneLeavesTheOtherAsleep)
{
    f = verbs_begin(sizeof *f, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        f->id[i] = i;
        verbs_thread(sleeper_or_wake_one, &f->id[i]);
    }
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&f->ready), 1);
    verbs_end();
}
