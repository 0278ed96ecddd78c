/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the time of a span goes to what its goroutine did. Method: records written by hand, whose
 * parts can be done in the head; they add up to the span's length each time. */
#include "harness.h"
#include "run/attribution.h"

enum { NS = 1000, BEHIND_LOCK = 1 }; /* who parks is behind the instruction it waits in */

static const char *const groups[] = {"other", "worker"};
static const char *const spans[] = {"request"};
static const struct func funcs[] = {{.name = "main"}, {.name = "work"}};
static const struct object_decl objects[] = {{.name = "mu", .kind = OBJ_MUTEX}};
static const struct insn code[] = {{.op = OP_LOCK}, {.op = OP_NOP}};
static const uint32_t lines[] = {14, 15};
static const struct program program = {.code = code,
                                       .ncode = 2,
                                       .lines = lines,
                                       .objects = objects,
                                       .nobjects = 1,
                                       .groups = groups,
                                       .ngroups = 2,
                                       .spans = spans,
                                       .nspans = 1,
                                       .funcs = funcs,
                                       .nfuncs = 2};
static struct naming names;
static struct transitions t;
static struct attribution a;
static struct run_attribution went;
static uint64_t now_ns;
static uint16_t cur_p, cur_m;

static void emit(enum event_type type, uint32_t g, uint64_t x, uint32_t b, uint16_t c)
{
    struct event_rec r = {.time = now_ns * NS,
                          .a = x,
                          .b = b,
                          .g = g,
                          .type = (uint16_t)type,
                          .m = cur_m,
                          .p = cur_p,
                          .c = c};
    transitions_records(&t, &r, 1);
}
#include "sim/base/emit.h"

static const ev_g g1 = {1}, g2 = {2}, nobody = {EVENT_NO_G};

static void at(uint64_t ns, uint16_t p)
{
    now_ns = ns;
    cur_p = cur_m = p;
}

/* Two Ps, one CPU each; both goroutines exist and g2 runs on P1. */
static void begin(int32_t cpus)
{
    names = names_of_program(&program);
    transitions_init(&t, &names, attribution_extra(&names));
    t.cpus = cpus;
    attribution_init(&a, &t, 0);
    at(0, 0);
    ev_p_resize(0, 2);
    ev_p_start(false);
    at(0, 1);
    ev_p_start(false);
    ev_g_create(g1, 1, 1, nobody, EV_born_program, EV_place_ring);
    ev_g_create(g2, 1, 0, nobody, EV_born_program, EV_place_ring);
    ev_g_start(g2, 0, false);
    at(0, 0);
    ev_g_start(g1, 0, false);
}

static void end(uint64_t length)
{
    uint64_t sum = 0;
    transitions_end(&t, (now_ns + 1000) * NS);
    attribution_of(&a, 0, (int64_t)length, &went);
    for (int p = 0; p < SP_COUNT; p++)
        sum += went.slow_ps[p];
    CHECK_EQ(went.slow, 1);
    CHECK_EQ(sum, length * NS);
    attribution_release(&a);
    transitions_release(&t);
}

static uint64_t part(enum span_part p) { return went.slow_ps[p] / NS; }

TEST_CASE(Attribution, EachStateOfItsGoroutineIsAPart)
{
    begin(0);
    at(100, 0);
    ev_span_begin(g1, 7, 0);
    at(130, 0);
    ev_g_park(g1, BEHIND_LOCK, EV_wait_SyncMutexLock);
    at(190, 1);
    ev_g_ready(g1, g2, EV_place_ring);
    at(240, 1);
    ev_g_park(g2, EVENT_NO_PC, EV_wait_Sleep);
    at(260, 1);
    ev_g_start(g1, 70, false);
    at(265, 1);
    ev_gc_assist_begin(g1);
    at(275, 1);
    ev_gc_assist_end(g1, 10);
    at(280, 1);
    ev_g_syscall_enter(g1, false);
    at(295, 1);
    ev_g_syscall_exit(g1, 15, EV_place_none);
    at(300, 1);
    ev_span_end(g1, 7, 0);
    at(900, 1);
    ev_g_park(g1, EVENT_NO_PC, EV_wait_Sleep); /* it is over: nothing of this counts */
    end(200);
    CHECK_EQ(part(SP_RUNNING), 30 + 5 + 5 + 5);
    CHECK_EQ(part(SP_LOCK), 60);
    CHECK_EQ(part(SP_QUEUE), 70);
    CHECK_EQ(part(SP_ASSIST), 10);
    CHECK_EQ(part(SP_SYSCALL), 15);
    CHECK_EQ(went.nblames, 3);
    CHECK_EQ(went.blames[1].part, SP_LOCK);
    CHECK_STR(went.blames[1].object, "mu");
    CHECK_EQ(went.blames[1].line, 14);
    CHECK_STR(went.blames[1].who, "other");
    CHECK_STR(went.blames[0].who, "other"); /* ran on the P in whose queue it was */
}

TEST_CASE(Attribution, AQueueOfAThrottledPIsThrottling)
{
    begin(2);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    at(20, 0);
    ev_throttle_on(0, 0);
    at(60, 0);
    ev_throttle_off(40, 0);
    at(65, 0);
    ev_host_on_cpu(5, 0);
    at(70, 0);
    ev_g_gosched(g1, EV_place_ring);
    at(80, 0);
    ev_throttle_on(1, 0);
    at(90, 0);
    ev_throttle_off(10, 0);
    ev_host_on_cpu(0, 0);
    at(100, 0);
    ev_g_start(g1, 30, false);
    ev_span_end(g1, 7, 0);
    end(90);
    CHECK_EQ(part(SP_THROTTLED), 40 + 10);
    CHECK_EQ(part(SP_NOCPU), 5);
    CHECK_EQ(part(SP_QUEUE), 20);
    CHECK_EQ(part(SP_RUNNING), 10 + 5);
}

/* g2 holds the lock, and no CPU of the world may run. */
TEST_CASE(Attribution, ALockWhoseHolderIsThrottledIsThrottling)
{
    begin(2);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_park(g1, BEHIND_LOCK, EV_wait_SyncMutexLock);
    ev_p_stop();
    at(40, 1);
    ev_throttle_on(0, 0);
    at(90, 1);
    ev_throttle_off(50, 0);
    ev_host_on_cpu(0, 0);
    at(110, 1);
    ev_g_ready(g1, g2, EV_place_ring);
    ev_g_exit(g2);
    ev_g_start(g1, 0, false);
    ev_span_end(g1, 7, 0);
    end(100);
    CHECK_EQ(part(SP_THROTTLED), 50);
    CHECK_EQ(part(SP_LOCK), 50);
}

TEST_CASE(Attribution, AStopOfTheWorldIsAPartOfWhoRanAndWasToRun)
{
    begin(0);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    at(20, 1);
    ev_stw_stopped(nobody, 0, EV_stw_read_mem);
    at(50, 1);
    ev_stw_end(EV_stw_read_mem);
    at(60, 0);
    ev_span_end(g1, 7, 0);
    end(50);
    CHECK_EQ(part(SP_STOP), 30);
    CHECK_EQ(part(SP_RUNNING), 20);
}

/* A request that came at 12: g1 begins its span at 20 and at 50 wakes g2, which ends it. */
TEST_CASE(Attribution, ASpanIsHandedOver)
{
    begin(0);
    at(5, 1);
    ev_span_begin(g2, 1, 0);
    ev_span_end(g2, 1, 0);
    ev_g_park(g2, EVENT_NO_PC, EV_wait_ChanReceive);
    at(20, 0);
    ev_span_since(g1, 12);
    ev_span_begin(g1, 7, 0);
    at(50, 0);
    ev_g_ready(g2, g1, EV_place_ring);
    at(80, 1);
    ev_g_start(g2, 30, false);
    at(100, 1);
    ev_span_end(g2, 7, 0);
    end(88);
    CHECK_EQ(part(SP_HANDED), 50 - 12);
    CHECK_EQ(part(SP_QUEUE), 30);
    CHECK_EQ(part(SP_RUNNING), 20);
}

TEST_CASE(Attribution, WhatWasBeforeItsFirstStatementIsKnown)
{
    begin(0);
    at(200, 0);
    ev_span_since(g1, 150);
    ev_span_begin(g1, 7, 0);
    at(230, 0);
    ev_span_end(g1, 7, 0);
    end(80);
    CHECK_EQ(part(SP_BEFORE), 50);
    CHECK_EQ(part(SP_RUNNING), 30);
}

/* Nobody runs from 40 to 90: whatever was due then is late for want of quota, and what came before
 * is not. */
static void nobody_runs(void)
{
    at(40, 1);
    ev_throttle_on(0, 0);
    at(90, 1);
    ev_throttle_off(50, 0);
    ev_host_on_cpu(0, 0);
}

TEST_CASE(Attribution, ATimerThatIsLateForWantOfQuotaIsThrottling)
{
    begin(2);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_park(g1, EVENT_NO_PC, EV_wait_Sleep);
    ev_p_stop();
    nobody_runs();
    at(110, 1);
    ev_timer_fire(60, 0);
    ev_g_ready(g1, nobody, EV_place_ring);
    ev_g_exit(g2);
    ev_g_start(g1, 0, false);
    ev_span_end(g1, 7, 0);
    end(100);
    CHECK_EQ(part(SP_THROTTLED), 30);
    CHECK_EQ(part(SP_TIMER), 70);
}

TEST_CASE(Attribution, ADescriptorThatNobodyLookedAtIsThrottling)
{
    begin(2);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_park(g1, EVENT_NO_PC, EV_wait_IOWait);
    ev_p_stop();
    nobody_runs();
    at(110, 1);
    ev_netpoll_late(30, 4);
    ev_netpoll_late(50, 5);
    ev_netpoll_ready(g1, 5, EV_ready_read);
    ev_g_ready(g1, nobody, EV_place_ring);
    ev_g_exit(g2);
    ev_g_start(g1, 0, false);
    ev_span_end(g1, 7, 0);
    end(100);
    CHECK_EQ(part(SP_THROTTLED), 40);
    CHECK_EQ(part(SP_NETWORK), 60);
}

/* ... the same without a quota: it was nobody's fault but the network's. */
TEST_CASE(Attribution, WithoutAQuotaALateLookIsNotThrottling)
{
    begin(0);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_park(g1, EVENT_NO_PC, EV_wait_IOWait);
    at(110, 1);
    ev_netpoll_late(50, 5);
    ev_netpoll_ready(g1, 5, EV_ready_read);
    ev_g_ready(g1, nobody, EV_place_ring);
    ev_g_exit(g2);
    ev_g_start(g1, 0, false);
    ev_span_end(g1, 7, 0);
    end(100);
    CHECK_EQ(part(SP_NETWORK), 100);
}

/* The request came at 20 and was read at 120: nobody ran from 40 to 90, at 95 g1 was woken and
 * queued. */
TEST_CASE(Attribution, WhatWasBeforeIsTakenApart)
{
    begin(2);
    at(5, 0);
    ev_span_begin(g1, 1, 0); /* from now on it is known what g1 does */
    ev_span_end(g1, 1, 0);
    at(10, 0);
    ev_g_park(g1, EVENT_NO_PC, EV_wait_IOWait);
    ev_p_stop();
    nobody_runs();
    at(95, 1);
    ev_g_ready(g1, nobody, EV_place_ring);
    at(115, 1);
    ev_g_exit(g2);
    ev_g_start(g1, 20, false);
    at(120, 1);
    ev_span_since(g1, 20);
    ev_span_begin(g1, 7, 0);
    at(130, 1);
    ev_span_end(g1, 7, 0);
    end(110);
    CHECK_EQ(part(SP_BEFORE), 20 + 5);
    CHECK_EQ(part(SP_THROTTLED), 50);
    CHECK_EQ(part(SP_QUEUE), 20);
    CHECK_EQ(part(SP_RUNNING), 5 + 10);
    CHECK_EQ(went.blames[0].part, SP_QUEUE);
    CHECK_STR(went.blames[0].who, "other");
}

/* A goroutine per request: the second one's birth is known, and so what it did before its span. */
TEST_CASE(Attribution, AGoroutineIsFollowedFromItsBirth)
{
    static const ev_g g3 = {3};
    begin(0);
    at(5, 0);
    ev_span_begin(g1, 1, 0);
    ev_span_end(g1, 1, 0);
    at(30, 1);
    ev_g_create(g3, 1, 1, g2, EV_born_program, EV_place_ring);
    ev_g_exit(g1);
    at(60, 0);
    ev_g_start(g3, 30, false);
    ev_span_since(g3, 20);
    ev_span_begin(g3, 7, 0);
    at(70, 0);
    ev_span_end(g3, 7, 0);
    end(50);
    CHECK_EQ(part(SP_BEFORE), 10);
    CHECK_EQ(part(SP_QUEUE), 30);
    CHECK_EQ(part(SP_RUNNING), 10);
}

/* Its thread is throttled in a system call, where it has no P. */
TEST_CASE(Attribution, AThrottledThreadInASystemCallIsThrottling)
{
    begin(2);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_syscall_enter(g1, false);
    at(20, EVENT_NO_P);
    cur_m = 0;
    ev_throttle_on(0, 0);
    at(60, EVENT_NO_P);
    cur_m = 0;
    ev_throttle_off(40, 0);
    at(70, 0);
    ev_g_syscall_exit(g1, 60, EV_place_none);
    ev_span_end(g1, 7, 0);
    end(60);
    CHECK_EQ(part(SP_THROTTLED), 40);
    CHECK_EQ(part(SP_SYSCALL), 20);
}

/* The waits of the outer span are those before the inner one, too; the inner one has its own. */
TEST_CASE(Attribution, SpansInsideOfOthersHaveTheirOwnWaits)
{
    begin(0);
    at(10, 0);
    ev_span_begin(g1, 7, 0);
    ev_g_park(g1, BEHIND_LOCK, EV_wait_SyncMutexLock);
    at(50, 1);
    ev_g_ready(g1, g2, EV_place_ring);
    at(50, 0);
    ev_g_start(g1, 0, false);
    ev_span_begin(g1, 8, 0);
    ev_g_park(g1, BEHIND_LOCK, EV_wait_SyncMutexLock);
    at(55, 1);
    ev_g_ready(g1, g2, EV_place_ring);
    at(55, 0);
    ev_g_start(g1, 0, false);
    ev_span_end(g1, 8, 0);
    at(60, 0);
    ev_span_end(g1, 7, 0);
    end(50);
    CHECK_EQ(went.nblames, 1);
    CHECK_EQ(went.blames[0].ps, 45 * NS);
}
