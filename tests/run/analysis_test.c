/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every nanosecond of a P and of a goroutine is in the right class. Method: records written
 * by hand, whose sums can be done in the head. */
#include "harness.h"
#include "run/analysis.h"

enum { NS = 1000 };

static const char *const groups[] = {"main", "worker"};
static const char *const spans[] = {"request"};
static const struct func funcs[] = {{.name = "main"}, {.name = "work"}};
static const struct program program = {
    .groups = groups, .ngroups = 2, .spans = spans, .nspans = 1, .funcs = funcs, .nfuncs = 2};

static struct analysis a;

static void begin(void)
{
    struct failure f = {0};
    CHECK(analysis_init(&a, &program, &f));
}

/* On M 0 with P p at `ns`. */
static void put_on(uint64_t ns, enum event_type type, uint16_t p, uint32_t g, uint64_t arg,
                   uint32_t b, uint16_t c)
{
    struct event_rec r = {
        .time = ns * NS, .a = arg, .b = b, .g = g, .type = (uint16_t)type, .m = 0, .p = p, .c = c};
    analysis_feed(&a, &r, 1);
}

static void put(uint64_t ns, enum event_type type, uint32_t g, uint64_t arg, uint16_t c)
{
    put_on(ns, type, 0, g, arg, 0, c);
}

static uint64_t spent(enum p_class c) { return a.ps[0].ps[c] / NS; }

TEST_CASE(Analysis, ChargesAPsTimeToOneClassEach)
{
    begin();
    put(0, EV_P_START, 0, 0, 0);
    put(10, EV_G_CREATE, 1, UINT64_C(2) << 32 | 1, 0);
    put(30, EV_G_START, 1, 20, 0);
    put(100, EV_G_SYSCALL_ENTER, 1, 0, 0);
    put(150, EV_G_SYSCALL_EXIT, 1, 0, 1);
    put(160, EV_GC_ASSIST, 1, 4, 0);
    put(170, EV_G_PARK, 1, 0, 14);
    put(180, EV_M_SPIN_BEGIN, 0, 0, 0);
    put(200, EV_M_SPIN_END, 0, 0, 0);
    put(205, EV_P_STOP, 0, 0, 0);
    analysis_until(&a, 305 * NS);
    CHECK_EQ(spent(PC_SCHED), 30 + 10 + 5);
    CHECK_EQ(spent(PC_USER), 70 + 20 - 4);
    CHECK_EQ(spent(PC_GC), 4);
    CHECK_EQ(spent(PC_SYSCALL), 50);
    CHECK_EQ(spent(PC_SPIN), 20);
    CHECK_EQ(spent(PC_IDLE), 100);
    analysis_release(&a);
}

TEST_CASE(Analysis, AnMThatStartedSpinningSpunSinceItsPStarted)
{
    begin();
    put(100, EV_P_START, 0, 0, 0);
    put(140, EV_M_SPIN_END, 0, 0, 1);
    put(150, EV_P_STOP, 0, 0, 0);
    CHECK_EQ(spent(PC_SPIN), 40);
    CHECK_EQ(spent(PC_SCHED), 10);
    analysis_release(&a);
}

TEST_CASE(Analysis, APThatGomaxprocsTookAwayHasNoTime)
{
    begin();
    put(0, EV_P_RESIZE, 0, 0, 3);
    put(100, EV_P_RESIZE, 0, 0, 2);
    put(150, EV_P_RESIZE, 0, 0, 3);
    analysis_until(&a, 250 * NS);
    CHECK_EQ(a.nps, 3);
    CHECK_EQ(a.ps[1].ps[PC_IDLE] / NS, 250);
    CHECK_EQ(a.ps[2].ps[PC_IDLE] / NS, 200);
    analysis_release(&a);
}

TEST_CASE(Analysis, ThrottledAndWaitingForACpuLieOverWhatThePDid)
{
    begin();
    put(0, EV_P_START, 0, 0, 0);
    put(0, EV_G_CREATE, 1, UINT64_C(2) << 32 | 1, 0);
    put(0, EV_G_START, 1, 0, 0);
    put_on(10, EV_HOST_OFF_CPU, 0, 0, 10, 1, 0);
    put(30, EV_HOST_ON_CPU, 0, 20, 0);
    put(35, EV_THROTTLE_ON, 0, 0, 0);
    put(95, EV_THROTTLE_OFF, 0, 60, 0);
    put(97, EV_HOST_ON_CPU, 0, 0, 0);
    analysis_until(&a, 100 * NS);
    CHECK_EQ(spent(PC_USER), 10 + 5 + 3);
    CHECK_EQ(spent(PC_NOCPU), 20 + 2);
    CHECK_EQ(spent(PC_THROTTLED), 60);
    analysis_release(&a);
}

/* On a lock of the runtime: its P is with it, and does what it did. */
TEST_CASE(Analysis, AnMThatSleepsDoesNotWaitForACpuUntilItWakes)
{
    begin();
    put(0, EV_P_START, 0, 0, 0);
    put(10, EV_HOST_OFF_CPU, 0, 10, 0);
    put(60, EV_HOST_ON_CPU, 0, 20, 0);
    analysis_until(&a, 100 * NS);
    CHECK_EQ(spent(PC_SCHED), 40 + 40);
    CHECK_EQ(spent(PC_NOCPU), 20);
    analysis_release(&a);
}

TEST_CASE(Analysis, WhoWaitsForACpuThatIsThrottledIsThrottled)
{
    begin();
    a.cpus = 1;
    put(0, EV_P_RESIZE, 0, 0, 2);
    for (uint16_t p = 0; p < 2; p++) {
        put_on(0, EV_P_START, p, 0, 0, 0, 0);
        put_on(0, EV_M_SPIN_BEGIN, p, 0, 0, 0, 0);
    }
    put_on(10, EV_HOST_OFF_CPU, 1, 0, 0, 1, 0);
    put(30, EV_THROTTLE_ON, 0, 0, 0);
    put(80, EV_THROTTLE_OFF, 0, 0, 0);
    analysis_until(&a, 100 * NS);
    CHECK_EQ(a.ps[1].ps[PC_SPIN] / NS, 10);
    CHECK_EQ(a.ps[1].ps[PC_NOCPU] / NS, 20 + 20);
    CHECK_EQ(a.ps[1].ps[PC_THROTTLED] / NS, 50);
    analysis_release(&a);
}

TEST_CASE(Analysis, AnAssistTakesNoMoreThanItsStretch)
{
    uint64_t sums[PC_COUNT], before[PC_COUNT];
    begin();
    put(0, EV_P_START, 0, 0, 0);
    put(0, EV_G_CREATE, 1, UINT64_C(2) << 32 | 1, 0);
    put(0, EV_G_START, 1, 0, 0);
    analysis_ps_until(&a, 100 * NS, before);
    put(130, EV_GC_ASSIST, 1, 60, 0);
    analysis_ps_until(&a, 200 * NS, sums);
    CHECK_EQ((sums[PC_GC] - before[PC_GC]) / NS, 30);
    CHECK_EQ((sums[PC_USER] - before[PC_USER]) / NS, 70);
    analysis_release(&a);
}

TEST_CASE(Analysis, ASyscallsPIsIdleOnceItWasTakenAway)
{
    begin();
    put(0, EV_P_START, 0, 0, 0);
    put(0, EV_G_CREATE, 1, UINT64_C(2) << 32 | 1, 0);
    put(0, EV_G_START, 1, 0, 0);
    put(10, EV_G_SYSCALL_ENTER, 1, 0, 0);
    put_on(40, EV_P_RETAKE, EVENT_NO_P, 1, 0, 0, 0); /* from 1.26 on it names the goroutine */
    analysis_until(&a, 100 * NS);
    CHECK_EQ(spent(PC_SYSCALL), 30);
    CHECK_EQ(spent(PC_IDLE), 60);
    analysis_release(&a);
}

TEST_CASE(Analysis, AddsUpAGoroutinesStatesAndLife)
{
    begin();
    put(100, EV_G_CREATE, 7, UINT64_C(2) << 32 | 1, 0);
    put(130, EV_G_START, 7, 30, 0);
    put(180, EV_G_PARK, 7, 0, 14);
    put(280, EV_G_READY, 7, 0, 0);
    put(285, EV_G_START, 7, 5, 0);
    put(300, EV_G_EXIT, 7, 0, 0);
    const struct run_group *g = &a.groups[2];
    CHECK_STR(g->name, "worker");
    CHECK_EQ(g->created, 1);
    CHECK_EQ(g->exited, 1);
    CHECK_EQ(g->runnable_ps / NS, 35);
    CHECK_EQ(g->running_ps / NS, 65);
    CHECK_EQ(g->waiting_ps / NS, 100);
    CHECK_EQ(g->life->max, 200);
    CHECK_EQ(g->wait->max, 30);
    CHECK_EQ(g->wait->count, 2);
    CHECK_EQ(a.runnable, 0);
    CHECK_EQ(a.runnable_max, 1);
    CHECK_EQ(a.runnable_area, 35);
    CHECK_EQ(a.gs.count, 0);
    analysis_release(&a);
}

TEST_CASE(Analysis, ASpanMayHaveBegunEarlierThanItsRecord)
{
    begin();
    put_on(500, EV_SPAN_BEGIN, 0, 7, 42, 0, 0);
    put_on(500, EV_SPAN_BEGIN, 0, 7, 100, 0, 1);
    put_on(600, EV_SPAN_BEGIN, 0, 8, 43, 0, 0);
    put_on(900, EV_SPAN_END, 0, 7, 42, 0, 0);
    CHECK_EQ(a.span_stats[0].latency->max, 800);
    CHECK_EQ(a.span_stats[0].latency->count, 1);
    CHECK_EQ(a.span_stats[0].open, 1);
    analysis_release(&a);
}
