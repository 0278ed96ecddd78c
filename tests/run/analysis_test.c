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

static struct naming names;
static struct transitions t;
static struct analysis a;

static void begin(void)
{
    struct failure f = {0};
    names = names_of_program(&program);
    transitions_init(&t, &names, 0);
    CHECK(analysis_init(&a, &t, 0, &f));
}

static void end(void)
{
    analysis_release(&a);
    transitions_release(&t);
}

/* What the next records are stamped with: M 0, P p, ns. */
static uint64_t now_ns;
static uint16_t cur_p;

static void emit(enum event_type type, uint32_t g, uint64_t x, uint32_t b, uint16_t c)
{
    struct event_rec r = {.time = now_ns * NS,
                          .a = x,
                          .b = b,
                          .g = g,
                          .type = (uint16_t)type,
                          .m = 0,
                          .p = cur_p,
                          .c = c};
    transitions_records(&t, &r, 1);
}
#include "sim/base/emit.h"

static void at(uint64_t ns) { now_ns = ns; }

static const ev_g g1 = {1}, g7 = {7}, nobody = {EVENT_NO_G};

static void g_new(ev_g g) { ev_g_create(g, 1, 1, nobody, EV_born_program, EV_place_runnext); }

static uint64_t spent(enum p_class c) { return a.ps[0][c] / NS; }

TEST_CASE(Analysis, ChargesAPsTimeToOneClassEach)
{
    begin();
    at(0);
    ev_p_start(false);
    at(10);
    g_new(g1);
    at(30);
    ev_g_start(g1, 20, false);
    at(100);
    ev_g_syscall_enter(g1, false);
    at(150);
    ev_g_syscall_exit(g1, 0, EV_place_none);
    at(156);
    ev_gc_assist_begin(g1);
    at(160);
    ev_gc_assist_end(g1, 4);
    at(170);
    ev_g_park(g1, 0, EV_wait_ChanReceive);
    at(180);
    ev_m_spin_begin();
    at(200);
    ev_m_spin_end(0, false);
    at(205);
    ev_p_stop();
    transitions_end(&t, 305 * NS);
    CHECK_EQ(spent(PC_SCHED), 30 + 10 + 5);
    CHECK_EQ(spent(PC_USER), 70 + 20 - 4);
    CHECK_EQ(spent(PC_GC), 4);
    CHECK_EQ(spent(PC_SYSCALL), 50);
    CHECK_EQ(spent(PC_SPIN), 20);
    CHECK_EQ(spent(PC_IDLE), 100);
    end();
}

TEST_CASE(Analysis, AnMThatStartedSpinningSpunSinceItsPStarted)
{
    begin();
    at(100);
    ev_p_start(true);
    at(140);
    ev_m_spin_end(0, true);
    at(150);
    ev_p_stop();
    CHECK_EQ(spent(PC_SPIN), 40);
    CHECK_EQ(spent(PC_SCHED), 10);
    end();
}

TEST_CASE(Analysis, APThatGomaxprocsTookAwayHasNoTime)
{
    begin();
    at(0);
    ev_p_resize(0, 3);
    at(100);
    ev_p_resize(0, 2);
    at(150);
    ev_p_resize(0, 3);
    transitions_end(&t, 250 * NS);
    CHECK_EQ(a.nps, 3);
    CHECK_EQ(a.ps[1][PC_IDLE] / NS, 250);
    CHECK_EQ(a.ps[2][PC_IDLE] / NS, 200);
    end();
}

TEST_CASE(Analysis, ThrottledAndWaitingForACpuLieOverWhatThePDid)
{
    begin();
    at(0);
    ev_p_start(false);
    g_new(g1);
    ev_g_start(g1, 0, false);
    at(10);
    ev_host_off_cpu(0, EV_off_taken, 0);
    at(30);
    ev_host_on_cpu(20, 0);
    at(35);
    ev_throttle_on(0, 0);
    at(95);
    ev_throttle_off(60, 0);
    at(97);
    ev_host_on_cpu(0, 0);
    transitions_end(&t, 100 * NS);
    CHECK_EQ(spent(PC_USER), 10 + 5 + 3);
    CHECK_EQ(spent(PC_NOCPU), 20 + 2);
    CHECK_EQ(spent(PC_THROTTLED), 60);
    end();
}

/* On a lock of the runtime: its P is with it, and does what it did. */
TEST_CASE(Analysis, AnMThatSleepsDoesNotWaitForACpuUntilItWakes)
{
    begin();
    at(0);
    ev_p_start(false);
    at(10);
    ev_host_off_cpu(0, EV_off_sleeps, 0);
    at(60);
    ev_host_on_cpu(20, 0);
    transitions_end(&t, 100 * NS);
    CHECK_EQ(spent(PC_SCHED), 40 + 40);
    CHECK_EQ(spent(PC_NOCPU), 20);
    end();
}

TEST_CASE(Analysis, WhoWaitsForACpuThatIsThrottledIsThrottled)
{
    begin();
    t.cpus = 1;
    at(0);
    ev_p_resize(0, 2);
    for (uint16_t p = 0; p < 2; p++) {
        cur_p = p;
        ev_p_start(false);
        cur_p = 0;
        cur_p = p;
        ev_m_spin_begin();
        cur_p = 0;
    }
    cur_p = 1;
    at(10);
    ev_host_off_cpu(0, EV_off_taken, 0);
    cur_p = 0;
    at(30);
    ev_throttle_on(0, 0);
    at(80);
    ev_throttle_off(0, 0);
    transitions_end(&t, 100 * NS);
    CHECK_EQ(a.ps[1][PC_SPIN] / NS, 10);
    CHECK_EQ(a.ps[1][PC_NOCPU] / NS, 20 + 20);
    CHECK_EQ(a.ps[1][PC_THROTTLED] / NS, 50);
    end();
}

TEST_CASE(Analysis, AnAssistIsInBothSamplesThatItIsIn)
{
    uint64_t sums[PC_COUNT], before[PC_COUNT];
    begin();
    at(0);
    ev_p_start(false);
    g_new(g1);
    ev_g_start(g1, 0, false);
    at(80);
    ev_gc_assist_begin(g1);
    analysis_ps_until(&a, 100 * NS, before);
    at(130);
    ev_gc_assist_end(g1, 60);
    analysis_ps_until(&a, 200 * NS, sums);
    CHECK_EQ(before[PC_GC] / NS, 20);
    CHECK_EQ((sums[PC_GC] - before[PC_GC]) / NS, 30);
    CHECK_EQ((sums[PC_USER] - before[PC_USER]) / NS, 70);
    end();
}

TEST_CASE(Analysis, ASyscallsPIsIdleOnceItWasTakenAway)
{
    begin();
    at(0);
    ev_p_start(false);
    g_new(g1);
    ev_g_start(g1, 0, false);
    at(10);
    ev_g_syscall_enter(g1, false);
    cur_p = EVENT_NO_P;
    at(40);
    ev_p_retake(g1, (ev_p){0}, EV_retake_sysmon);
    cur_p = 0;
    transitions_end(&t, 100 * NS);
    CHECK_EQ(spent(PC_SYSCALL), 30);
    CHECK_EQ(spent(PC_IDLE), 60);
    end();
}

TEST_CASE(Analysis, AddsUpAGoroutinesStatesAndLife)
{
    begin();
    at(100);
    g_new(g7);
    at(130);
    ev_g_start(g7, 30, false);
    at(180);
    ev_g_park(g7, 0, EV_wait_ChanReceive);
    at(280);
    ev_g_ready(g7, nobody, EV_place_ring);
    at(285);
    ev_g_start(g7, 5, false);
    at(300);
    ev_g_exit(g7);
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
    CHECK_EQ(t.gs.count, 0);
    end();
}

TEST_CASE(Analysis, ASpanMayHaveBegunEarlierThanItsRecord)
{
    begin();
    at(500);
    ev_span_since(g7, 100);
    ev_span_begin(g7, 42, 0);
    at(600);
    ev_span_begin((ev_g){8}, 43, 0);
    at(900);
    ev_span_end(g7, 42, 0);
    CHECK_EQ(a.span_stats[0].latency->max, 800);
    CHECK_EQ(a.span_stats[0].latency->count, 1);
    transitions_end(&t, 900 * NS);
    CHECK_EQ(a.span_stats[0].open->count, 1);
    end();
}

static void at_p(uint64_t ns, uint16_t p)
{
    now_ns = ns;
    cur_p = p;
}

/* Two Ps. g1 is born at 10 and waits until 40, g7 from 100 until P 1 has a thread again. */
TEST_CASE(Analysis, TheTimeThatNoWorkIsConservedIsKnown)
{
    begin();
    at_p(0, 0);
    ev_p_start(false);
    at_p(0, 1);
    ev_p_start(false);
    at_p(5, 1);
    ev_p_stop();
    at_p(10, 0);
    g_new(g1);
    at_p(40, 0);
    ev_g_start(g1, 30, false);
    at_p(100, 0);
    g_new(g7);
    at_p(105, 1);
    ev_p_start(true); /* it came for it */
    at_p(120, 1);
    ev_g_start(g7, 20, false);
    transitions_end(&t, 300 * NS);
    CHECK_EQ(a.beside.sum_ps, (30 + 5) * NS);
    CHECK_EQ(a.beside.longest_ps, 30 * NS);
    end();
    at_p(0, 0);
}
