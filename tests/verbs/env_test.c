/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the environment calls at its times and in order; the poller reports every readiness once,
 * in order, and loses no break. Method: scripts around one poller; a storm of breaks. */
#include "harness.h"
#include "verbs_world.h"

#include <string.h>

enum { CALLS = 20, STORM = 500 };
static const int64_t MS = 1000000;

struct outside {
    ATOMIC(uint32_t) stage, answered;
    int64_t called_at[CALLS];
    uint32_t order[CALLS], ncalls;
    uint32_t index[CALLS];
    void *arg_seen;
    struct poll_event ev[64];
    int32_t got, got2;
    int64_t began, ended;
    uint32_t breaks;
};
static struct outside *o;

static void begin(void)
{
    o = verbs_begin(sizeof *o, NULL);
    for (uint32_t i = 0; i < CALLS; i++)
        o->index[i] = i;
}

static void run(void (*body)(void *))
{
    begin();
    verbs_thread(body, o);
    CHECK_EQ(verbs_run(), END_IDLE);
}

/* ---- env_at ---- */

static void note_call(void *arg)
{
    uint32_t i = *(uint32_t *)arg;

    o->called_at[i] = host_now();
    o->order[o->ncalls++] = i;
    o->arg_seen = getarg();
}

/* Given in an order that is not that of the times; two at each time, in the order of env_at. */
static void ask_for_calls(void *arg)
{
    (void)arg;
    o->began = nanotime();
    for (uint32_t k = 0; k < CALLS; k++) {
        uint32_t i = k * 7 % CALLS;

        env_at(o->began + (1 + i / 2) * MS, note_call, &o->index[i]);
    }
}

TEST_CASE(Env, CallsComeInOrderAndNotBeforeTheirTime)
{
    run(ask_for_calls);
    CHECK_EQ(o->ncalls, CALLS);
    for (uint32_t k = 0; k < CALLS; k++) {
        CHECK_EQ(o->order[k] / 2, k / 2);
        CHECK_GE(o->called_at[k], o->began + (1 + k / 2) * MS);
    }
    CHECK_EQ(o->arg_seen, NULL);
    verbs_end();
}

static void ask_for_ties(void *arg)
{
    int64_t when = nanotime() + 2 * MS;

    (void)arg;
    for (uint32_t i = 0; i < CALLS; i++)
        env_at(when, note_call, &o->index[i]);
}

TEST_CASE(Env, CallsOfOneInstantComeInTheOrderOfAsking)
{
    run(ask_for_ties);
    CHECK_EQ(o->ncalls, CALLS);
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK_EQ(o->order[i], i);
    verbs_end();
}

static void call_and_ask_again(void *arg)
{
    uint32_t i = *(uint32_t *)arg;

    note_call(arg);
    if (i + 1 < CALLS)
        env_at(host_now() + 100000, call_and_ask_again, &o->index[i + 1]);
}

static void ask_in_the_past(void *arg)
{
    (void)arg;
    host_usleep(1000);
    env_at(0, call_and_ask_again, &o->index[0]);
}

TEST_CASE(Env, ACallMayAskForTheNextAndThePastIsNow)
{
    run(ask_in_the_past);
    CHECK_EQ(o->ncalls, CALLS);
    verbs_end();
}

/* ---- netpoll ---- */

static void poll_ready(void *arg)
{
    (void)arg;
    env_ready(5, 1, 1);
    env_ready(3, 2, 1);
    env_ready(9, 3, 1);
    o->got = netpoll_wait(0, o->ev, 64);
    o->got2 = netpoll_wait(0, o->ev + 10, 64 - 10);
}

TEST_CASE(Netpoll, ReadyDescriptorsComeOnceAndInOrder)
{
    run(poll_ready);
    CHECK_EQ(o->got, 3);
    CHECK_EQ(o->ev[0].fd, 5);
    CHECK_EQ(o->ev[0].mode, 1);
    CHECK_EQ(o->ev[1].fd, 3);
    CHECK_EQ(o->ev[1].mode, 2);
    CHECK_EQ(o->ev[2].fd, 9);
    CHECK_EQ(o->ev[2].mode, 3);
    CHECK_EQ(o->got2, 0);
    verbs_end();
}

static void poll_ready_again(void *arg)
{
    (void)arg;
    env_ready(5, 1, 1);
    o->got = netpoll_wait(0, o->ev, 64);
    env_ready(5, 2, 1);
    o->got2 = netpoll_wait(0, o->ev + 1, 63);
}

TEST_CASE(Netpoll, APolledDescriptorMayBecomeReadyAgain)
{
    run(poll_ready_again);
    CHECK_EQ(o->got, 1);
    CHECK_EQ(o->got2, 1);
    CHECK_EQ(o->ev[1].fd, 5);
    CHECK_EQ(o->ev[1].mode, 2);
    verbs_end();
}

static void poll_twice_ready(void *arg)
{
    (void)arg;
    env_ready(5, 1, 1);
    env_ready(6, 1, 1);
    env_ready(5, 2, 1);
    o->got = netpoll_wait(-1, o->ev, 64);
}

/* Whether the modes of one descriptor come together is the host's business; none may be lost. */
TEST_CASE(Netpoll, ModesOfOneDescriptorAddUp)
{
    uint32_t modes[7] = {0};

    run(poll_twice_ready);
    for (int32_t i = 0; i < o->got; i++) {
        CHECK(o->ev[i].fd == 5 || o->ev[i].fd == 6);
        modes[o->ev[i].fd] |= o->ev[i].mode;
    }
    CHECK_EQ(o->ev[0].fd, 5);
    CHECK_EQ(modes[5], 3);
    CHECK_EQ(modes[6], 1);
    verbs_end();
}

static void poll_with_little_room(void *arg)
{
    (void)arg;
    for (int32_t fd = 0; fd < 10; fd++)
        env_ready(fd, 1, 1);
    o->got = netpoll_wait(-1, o->ev, 4);
    o->got2 = netpoll_wait(-1, o->ev + 4, 60);
}

TEST_CASE(Netpoll, WhatDoesNotFitComesNextTime)
{
    run(poll_with_little_room);
    CHECK_EQ(o->got, 4);
    CHECK_EQ(o->got2, 6);
    for (int32_t fd = 0; fd < 10; fd++)
        CHECK_EQ(o->ev[fd].fd, fd);
    verbs_end();
}

static void poll_nothing(void *arg)
{
    (void)arg;
    o->began = nanotime();
    o->got = netpoll_wait(0, o->ev, 64);
    o->ended = nanotime();
    o->got2 = netpoll_wait(5 * MS, o->ev, 64);
    o->called_at[0] = nanotime();
}

TEST_CASE(Netpoll, APollReturnsAtOnceAndAWaitAtItsDeadline)
{
    run(poll_nothing);
    CHECK_EQ(o->got, 0);
    CHECK_EQ(o->got2, 0);
    CHECK_GE(o->called_at[0] - o->ended, 5 * MS);
    if (verbs_exact()) {
        CHECK_LT(o->ended - o->began, MS);
        CHECK_LT(o->called_at[0] - o->ended, 6 * MS);
    }
    verbs_end();
}

static void make_ready(void *arg)
{
    (void)arg;
    env_ready(7, 1, 1);
}

static void wait_for_env(void *arg)
{
    (void)arg;
    env_at(nanotime() + 5 * MS, make_ready, NULL);
    o->got = netpoll_wait(-1, o->ev, 64);
}

TEST_CASE(Netpoll, TheEnvironmentWakesABlockedWait)
{
    run(wait_for_env);
    CHECK_EQ(o->got, 1);
    CHECK_EQ(o->ev[0].fd, 7);
    verbs_end();
}

/* Blocks until a break came. */
static void wait_for_break(void)
{
    for (bool broken = false; !broken;) {
        int32_t n = netpoll_wait(-1, o->ev, 64);

        for (int32_t i = 0; i < n; i++)
            broken |= o->ev[i].fd == -1;
    }
    o->breaks++;
}

static void poller(void *arg)
{
    (void)arg;
    a_store(&o->stage, 1u);
    wait_for_break();
}

static void breaker(void *arg)
{
    (void)arg;
    while (a_load(&o->stage) == 0)
        osyield();
    host_usleep(10000);
    netpoll_wakeup();
}

TEST_CASE(Netpoll, ABreakEndsABlockedWait)
{
    begin();
    verbs_thread(poller, o);
    verbs_thread(breaker, &o->stage);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(o->breaks, 1);
    verbs_end();
}

static void break_then_wait(void *arg)
{
    (void)arg;
    netpoll_wakeup();
    netpoll_wakeup();
    o->got = netpoll_wait(0, o->ev, 64); /* does not block: leaves the break to one who does */
    wait_for_break();
    o->got2 = netpoll_wait(MS, o->ev, 64); /* two breaks are one */
}

TEST_CASE(Netpoll, ABreakWaitsForTheNextBlockingWait)
{
    run(break_then_wait);
    CHECK_EQ(o->breaks, 1);
    CHECK_EQ(o->got2, 0);
    verbs_end();
}

/* Each break is answered before the next is sent: one lost break would end the world idle. */
static void storm_poller(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i <= STORM; i++) {
        wait_for_break();
        a_store(&o->answered, i);
    }
}

static void storm_breaker(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i <= STORM; i++) {
        netpoll_wakeup();
        while (a_load(&o->answered) != i)
            osyield();
    }
    a_store(&o->stage, 2u);
}

/* Steals ready descriptors from under the blocked poller, as other Ms do. */
static void storm_stealer(void *arg)
{
    struct poll_event ev[4];

    (void)arg;
    while (a_load(&o->stage) != 2) {
        env_ready(1, 1, 1);
        netpoll_wait(0, ev, 4);
        osyield();
    }
}

TEST_CASE(Netpoll, NoBreakIsLostInAStorm)
{
    begin();
    verbs_thread(storm_poller, o);
    verbs_thread(storm_breaker, &o->stage);
    verbs_thread(storm_stealer, &o->answered);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(o->breaks, STORM);
    CHECK_EQ(a_peek(&o->stage), 2);
    verbs_end();
}
