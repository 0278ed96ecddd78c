/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers as a program sees them: who runs them when, in which order the woken run, what Stop and
 * Reset say, how late a sleep is. Every expectation about order and results was recorded with real
 * toolchains (1.19 to 1.27), or read in the sources of the older releases. Programs print
 * microseconds; the checks read them back. */
#include <stdlib.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

enum { US = 1000, MS = 1000000 };

static void cpu_nopreempt(int64_t ns) { as_op(&a, OP_CPU, CPU_nopreempt, NOREG, 0, -1, ns); }
static void after_func(int reg, int64_t ns, int func)
{
    as_op(&a, OP_TIMER, reg, NOREG, NOREG, func, ns);
}
static void new_timer(int reg, int64_t ns) { as_op(&a, OP_TIMER, reg, NOREG, NOREG, -1, ns); }
static void timer_op(enum op op, int result, int timer, int64_t ns)
{
    as_op(&a, op, result, op == OP_TRESET ? NOREG : 0, timer, OBJ_REG, ns);
}
static void timer_chan(int reg, int timer) { as_op(&a, OP_TIMERC, reg, 0, timer, OBJ_REG, 0); }
static void recv_reg(int value, int chan) { as_op(&a, OP_RECV, value, NOREG, chan, OBJ_REG, 0); }

/* The time since the start of the world in microseconds, printed. */
static void print_us(int reg)
{
    as_op(&a, OP_NOW, reg, 0, 0, 0, 0);
    as_const(&a, reg + 1, US);
    as_op(&a, OP_DIV, reg, reg, reg + 1, 0, 0);
    as_print1(&a, "%d ", reg);
}

static void run(int release, int procs)
{
    as_run(&r, &a, (struct as_opts){.release = release, .procs = procs});
    CHECK_STR(r.text, "");
    CHECK_EQ(r.end, END_STOPPED);
}

/* The numbers that a program printed. */
static int64_t printed(int i)
{
    char *p = r.out;
    for (; i > 0; i--)
        strtoll(p, &p, 10);
    return strtoll(p, NULL, 10);
}
#define CHECK_BETWEEN(low, x, high)   \
    do {                              \
        CHECK_LE((int64_t)(low), x);  \
        CHECK_LE(x, (int64_t)(high)); \
    } while (0)

/* ---- order ---- */

static void sleepers(void)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "sleeper", 1, 2);
    as_op(&a, OP_ADDI, 1, 0, 0, 0, 1);
    as_op(&a, OP_MULI, 1, 1, 0, 0, MS);
    as_op(&a, OP_SLEEP, 0, 1, 0, -1, 0);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 5);
    for (int i = 1; i <= 5; i++) {
        as_const(&a, 0, i);
        as_go(&a, f, 0, 1);
    }
    as_sleep(&a, 100 * US);
    cpu_nopreempt(9 * MS);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

TEST_CASE(Timer, OverdueSleepersRunLastOneFirst)
{
    for (int rel = 13; rel <= 27; rel++) {
        sleepers();
        run(rel, 1);
        CHECK_STR(r.out, "5 1 2 3 4 ");
    }
}

TEST_CASE(Timer, OverdueAfterFuncsRunLastOneFirst)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0);
        int f = as_func(&a, "f", 1, 1);
        as_print1(&a, "%d ", 0);
        as_obj(&a, OP_WGDONE, wg);
        as_ret(&a);
        as_func(&a, "main", 0, 2);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 5);
        for (int i = 1; i <= 5; i++) {
            as_const(&a, 0, i);
            as_op(&a, OP_TIMER, 1, NOREG, 0, f, (i + 1) * MS);
        }
        as_sleep(&a, 100 * US);
        cpu_nopreempt(9 * MS);
        as_obj(&a, OP_WGWAIT, wg);
        as_ret(&a);
        run(rel, 1);
        CHECK_STR(r.out, "5 1 2 3 4 ");
    }
}

/* ---- who runs a timer ---- */

/* AfterFunc(1 ms) prints the time; main burns burn_ms of the kind. */
static void one_timer_and_a_hog(enum cpu_kind kind, int64_t burn)
{
    as_init(&a);
    int f = as_func(&a, "f", 0, 2);
    print_us(0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    after_func(0, 1 * MS, f);
    as_op(&a, OP_CPU, (int)kind, NOREG, 0, -1, burn);
    as_sleep(&a, 5 * MS);
    as_ret(&a);
}

TEST_CASE(Timer, WaitsForTheSliceWhenEveryPIsBusy)
{
    for (int rel = 13; rel <= 27; rel++) {
        one_timer_and_a_hog(CPU_normal, 60 * MS);
        run(rel, 1);
        CHECK_BETWEEN(10000, printed(0), 21000);
    }
}

TEST_CASE(Timer, WaitsForTheEndOfATightLoopWithoutAsyncPreemption)
{
    for (int rel = 13; rel <= 27; rel++) {
        one_timer_and_a_hog(CPU_tight, 60 * MS);
        run(rel, 1);
        if (rel == 13)
            CHECK_BETWEEN(60000, printed(0), 62000);
        else
            CHECK_BETWEEN(10000, printed(0), 21000);
    }
}

/* 1.14 takes timers only from a P that does not run or was asked to yield: the slice must pass. */
TEST_CASE(Timer, IdlePRunsTheTimerOfABusyOne)
{
    for (int rel = 13; rel <= 27; rel++) {
        one_timer_and_a_hog(CPU_nopreempt, 60 * MS);
        run(rel, 2);
        if (rel == 14)
            CHECK_BETWEEN(10000, printed(0), 31000);
        else
            CHECK_BETWEEN(1000, printed(0), 2300);
    }
}

/* Another M sleeps in the poller until 100 ms when an earlier timer comes: it must hear of it,
 * whether the timer is new, its P's heap holds later ones, it is a goroutine's sleep, or an old
 * timer that was moved. */
enum earlier { EARLIER_NEW, EARLIER_SLEEP, EARLIER_RESET };

static void earlier_program(enum earlier how)
{
    as_init(&a);
    int f = as_func(&a, "f", 0, 2);
    print_us(0);
    as_ret(&a);
    int sleeper = as_func(&a, "sleeper", 0, 2);
    as_sleep(&a, 1 * MS);
    as_call(&a, f, 0, 0, NOREG);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_sleep(&a, 2 * MS);
    after_func(0, 100 * MS, f);
    after_func(1, 110 * MS, f);
    cpu_nopreempt(5 * MS); /* an idle M finds them and waits for them */
    if (how == EARLIER_NEW)
        after_func(1, 1 * MS, f);
    else if (how == EARLIER_RESET)
        timer_op(OP_TRESET, NOREG, 1, 1 * MS);
    else
        as_go(&a, sleeper, 0, 0);
    if (how == EARLIER_SLEEP)
        as_plain(&a, OP_GOSCHED); /* it parks on this P, and main goes on */
    cpu_nopreempt(30 * MS);
    as_sleep(&a, 5 * MS);
    as_ret(&a);
}

TEST_CASE(Timer, EarlierTimerBreaksThePoller)
{
    for (int rel = 16; rel <= 27; rel++)
        for (int how = EARLIER_NEW; how <= EARLIER_RESET; how++) {
            earlier_program((enum earlier)how);
            run(rel, 2);
            CHECK_BETWEEN(8000, printed(0), 11500);
        }
}

/* ---- how late ---- */

static void sleep_alone(int64_t ns)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    as_sleep(&a, 3 * MS); /* whatever a start does is over */
    as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
    as_sleep(&a, ns);
    as_op(&a, OP_NOW, 3, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 2, 3, 2, 0, 0);
    as_op(&a, OP_CONST, 3, 0, 0, 0, US);
    as_op(&a, OP_DIV, 2, 2, 3, 0, 0);
    as_print1(&a, "%d ", 2);
    as_ret(&a);
}

/* The poller sleeps whole milliseconds, at least one. 1.13 sleeps on a futex; in 1.14 and 1.15
 * sysmon wakes up when the timer is due and starts an M for it, which 1.16 no longer does. */
TEST_CASE(Timer, IdleSleepIsRoundedToTheMillisecondsOfEpoll)
{
    for (int rel = 13; rel <= 27; rel++) {
        sleep_alone(100 * US);
        run(rel, 1);
        if (rel <= 15)
            CHECK_BETWEEN(100, printed(0), 300);
        else
            CHECK_BETWEEN(1000, printed(0), 1300);
    }
}

TEST_CASE(Timer, SleepOfTwoAndAHalfMillisecondsPollsTwice)
{
    for (int rel = 13; rel <= 27; rel++) {
        sleep_alone(2500 * US);
        run(rel, 1);
        if (rel <= 15)
            CHECK_BETWEEN(2500, printed(0), 2700);
        else
            CHECK_BETWEEN(3000, printed(0), 3400);
    }
}

/* ---- Stop and Reset ---- */

/* case 0 = receive from the channel in reg, else default; prints the index: 0 there was a value, -1
 * none. */
static void poll_chan(int reg, int tmp)
{
    int s = as_select(&a, true);
    as_case(&a, false, OBJ_REG, reg, NOREG);
    as_op(&a, OP_SELECT, tmp, NOREG, 0, s, 0);
    as_print1(&a, "%d ", tmp);
}

static void print_op(enum op op, int timer, int64_t ns)
{
    timer_op(op, 10, timer, ns);
    as_print1(&a, "%d ", 10);
}

static void stop_and_reset_program(void)
{
    as_init(&a);
    int n = as_object(&a, OBJ_CHAN, 10);
    int f = as_func(&a, "f", 0, 1);
    as_send(&a, n, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 14);
    new_timer(0, 20 * MS);
    print_op(OP_TSTOP, 0, 0);
    print_op(OP_TSTOP, 0, 0);
    print_op(OP_TRESET, 0, 5 * MS);
    print_op(OP_TRESET, 0, 20 * MS);
    as_sleep(&a, 40 * MS);
    as_print(&a, "fired: ");
    print_op(OP_TSTOP, 0, 0);
    timer_chan(1, 0);
    poll_chan(1, 11);
    as_print(&a, "len: ");
    new_timer(0, 5 * MS);
    as_sleep(&a, 20 * MS);
    timer_chan(1, 0);
    as_op(&a, OP_LEN, 2, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_CAP, 3, 0, 1, OBJ_REG, 0);
    as_print2(&a, "%d %d ", 2);
    poll_chan(1, 11);
    poll_chan(1, 11);
    print_op(OP_TSTOP, 0, 0);
    as_print(&a, "reset: ");
    new_timer(0, 5 * MS);
    as_sleep(&a, 20 * MS);
    print_op(OP_TRESET, 0, 50 * MS);
    as_op(&a, OP_NOW, 4, 0, 0, 0, 0);
    timer_chan(1, 0);
    recv_reg(2, 1);
    as_op(&a, OP_NOW, 5, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 5, 5, 4, 0, 0);
    as_const(&a, 6, 10 * MS);
    as_op(&a, OP_DIV, 5, 5, 6, 0, 0);
    as_print1(&a, "%d ", 5);
    as_print(&a, "func: ");
    after_func(0, 5 * MS, f);
    print_op(OP_TSTOP, 0, 0);
    print_op(OP_TSTOP, 0, 0);
    print_op(OP_TRESET, 0, 5 * MS);
    as_recv(&a, n, NOREG);
    as_sleep(&a, MS);
    print_op(OP_TSTOP, 0, 0);
    print_op(OP_TRESET, 0, 5 * MS);
    as_recv(&a, n, NOREG);
    as_ret(&a);
}

#define STOP_RESET_OLD "1 0 0 1 fired: 0 0 len: 1 1 0 -1 0 reset: 0 0 func: 1 0 0 0 0 "
#define STOP_RESET_NEW "1 0 0 1 fired: 1 -1 len: 0 0 0 -1 0 reset: 1 5 func: 1 0 0 0 0 "

TEST_CASE(Timer, StopAndResetSayWhatGoSays)
{
    for (int rel = 13; rel <= 27; rel++)
        for (int procs = 1; procs <= 4; procs *= 4) {
            stop_and_reset_program();
            run(rel, procs);
            CHECK_STR(r.out, rel < 23 ? STOP_RESET_OLD : STOP_RESET_NEW);
        }
}

/* Who may be preempted in the middle, and is not, does the same (issues 44868 and 38070). */
TEST_CASE(Timer, UnpinnedStopAndResetSayTheSame)
{
    static const char *const rules[] = {"addtimer_pinned", "modtimer_pinned"};
    for (int rel = 14; rel < 23; rel++)
        for (int i = 0; i < 2; i++) {
            stop_and_reset_program();
            as_run(&r, &a, (struct as_opts){.release = rel, .rule = rules[i], .value = 0});
            CHECK_EQ(r.end, END_STOPPED);
            CHECK_STR(r.out, STOP_RESET_OLD);
        }
}

/* Main modules below go 1.23, or asynctimerchan=1, keep buffered channels until 1.26. */
TEST_CASE(Timer, OldChannelSemanticsOnRequestUntil126)
{
    static const char *const rules[] = {"main_go_line", "async_timer_chan"};
    for (int rel = 23; rel <= 27; rel++)
        for (int i = 0; i < 2; i++) {
            stop_and_reset_program();
            as_run(&r, &a,
                   (struct as_opts){.release = rel, .rule = rules[i], .value = i == 0 ? 22 : 1});
            CHECK_EQ(r.end, END_STOPPED);
            CHECK_STR(r.out, rel < 27 ? STOP_RESET_OLD : STOP_RESET_NEW);
        }
}

/* ---- tickers ---- */

/* Ticks at 20, 40, ...: main comes at 70, takes the one tick that waits, and the next comes at 80.
 */
TEST_CASE(Timer, TickerSkipsMissedTicksAndKeepsItsPhase)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        as_func(&a, "main", 0, 10);
        as_op(&a, OP_NOW, 5, 0, 0, 0, 0);
        as_const(&a, 6, 10 * MS);
        as_op(&a, OP_TICKER, 0, NOREG, 0, 0, 20 * MS);
        timer_chan(1, 0);
        as_sleep(&a, 70 * MS);
        for (int i = 0; i < 3; i++) {
            recv_reg(2, 1);
            as_op(&a, OP_SUB, 2, 2, 5, 0, 0);
            as_op(&a, OP_DIV, 2, 2, 6, 0, 0);
            as_op(&a, OP_NOW, 3, 0, 0, 0, 0);
            as_op(&a, OP_SUB, 3, 3, 5, 0, 0);
            as_op(&a, OP_DIV, 3, 3, 6, 0, 0);
            as_print2(&a, "%d@%d ", 2);
            if (i == 1)
                timer_op(OP_TRESET, NOREG, 0, 30 * MS);
        }
        timer_op(OP_TSTOP, NOREG, 0, 0);
        as_sleep(&a, 70 * MS);
        poll_chan(1, 3);
        as_ret(&a);
        run(rel, 1);
        CHECK_STR(r.out, "2@7 8@8 11@11 -1 ");
    }
}

/* ---- 1.13 ---- */

/* timerproc sleeps in a system call: that costs its thread the P, and it is no goroutine of the
 * user's. */
TEST_CASE(Timer, TimerprocHoldsAThreadAndIsASystemGoroutine)
{
    as_init(&a);
    int hog = as_func(&a, "hog", 0, 1);
    cpu_nopreempt(3 * MS);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_go(&a, hog, 0, 0);
    as_sleep(&a, 20 * MS);
    as_op(&a, OP_NUMGOROUTINE, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
    run(13, 1);
    CHECK_STR(r.out, "1");
    uint64_t old = r.counters[COUNTER_handoffs];
    run(16, 1);
    CHECK_STR(r.out, "1");
    CHECK_LT(r.counters[COUNTER_handoffs], old);
}

/* ---- timers and GOMAXPROCS ---- */

/* A goroutine on another P sets timers; then that P goes away. */
static void shrink_program(void)
{
    as_init(&a);
    int done = as_object(&a, OBJ_CHAN, 0), tmc = as_object(&a, OBJ_CHAN, 1),
        wake = as_object(&a, OBJ_CHAN, 1);
    int nop = as_func(&a, "nop", 0, 1);
    as_ret(&a);
    int waker = as_func(&a, "waker", 0, 1);
    as_send(&a, wake, 0);
    as_ret(&a);
    int other = as_func(&a, "other", 0, 4);
    for (int i = 0; i < 32; i++)
        after_func(NOREG, INT64_C(3600000) * MS, nop);
    new_timer(0, 20 * MS);
    timer_chan(1, 0);
    as_go(&a, waker, 0, 0);
    int s = as_select(&a, false);
    as_case(&a, false, OBJ_REG, 1, NOREG);
    as_case(&a, false, wake, 0, NOREG);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, s, 0);
    as_send(&a, tmc, 1);
    as_send(&a, done, 0);
    as_sleep(&a, 10 * MS);
    as_print(&a, "slept ");
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, other, 0, 0);
    cpu_nopreempt(4 * MS); /* the other P takes it */
    as_recv(&a, done, NOREG);
    as_sleep(&a, MS);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 1);
    as_recv(&a, tmc, 1);
    for (int i = 0; i < 5; i++) {
        as_sleep(&a, 10 * MS);
        poll_chan(1, 2);
    }
    as_print(&a, "blocking ");
    recv_reg(2, 1);
    as_print(&a, "got it");
    as_ret(&a);
}

TEST_CASE(Timer, TimersOfADestroyedPMoveOn)
{
    for (int rel = 13; rel <= 27; rel++) {
        shrink_program();
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2, .until_ms = 1000});
        CHECK_HAS(r.out, "slept ");
    }
}

/* Seen in real Go 1.23.5 and 1.27.4: a channel timer that nobody waited on when its P was destroyed
 * is dropped from the heap without its astate being published, so a receive that does not block
 * takes it for queued and never runs it. */
TEST_CASE(Timer, PollingReceiveMissesAZombieOfADestroyedP)
{
    for (int rel = 19; rel <= 27; rel++) {
        shrink_program();
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2, .until_ms = 1000});
        if (rel < 23) {
            CHECK_HAS(r.out, " 0 ");
        } else {
            CHECK_HAS(r.out, "-1 -1 -1 -1 -1 blocking got it");
            CHECK_EQ(r.end, END_STOPPED);
        }
    }
}

/* ---- many ---- */

/* A sleep so short that its timer is due before the goroutine is parked, with other Ps eager to run
 * it. */
TEST_CASE(Timer, TheShortestSleepsWake)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0);
        int f = as_func(&a, "f", 0, 2);
        as_const(&a, 0, 100);
        int loop = as_here(&a);
        as_op(&a, OP_RANDI, 1, 0, 0, 0, 400);
        as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
        as_op(&a, OP_SLEEP, 0, 1, 0, -1, 0);
        as_jump(&a, OP_LOOP, 0, 0, 0, loop);
        as_obj(&a, OP_WGDONE, wg);
        as_ret(&a);
        as_func(&a, "main", 0, 1);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 8);
        for (int i = 0; i < 8; i++)
            as_go(&a, f, 0, 0);
        as_obj(&a, OP_WGWAIT, wg);
        as_ret(&a);
        run(rel, 4);
    }
}

/* Random sleeps on several Ps: none is lost, none is early, and an idle machine is late by no more
 * than epoll's rounding. */
TEST_CASE(Timer, NoneIsLostOrEarly)
{
    static const int releases[] = {13, 14, 16, 19, 22, 23, 27};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0), late = as_object(&a, OBJ_VAR, 0);
        int early = as_string(&a, "woke early");
        int f = as_func(&a, "f", 0, 6);
        as_const(&a, 0, 20);
        int loop = as_here(&a);
        as_op(&a, OP_RANDI, 1, 0, 0, 0, 5 * MS);
        as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
        as_op(&a, OP_SLEEP, 0, 1, 0, -1, 0);
        as_op(&a, OP_NOW, 3, 0, 0, 0, 0);
        as_op(&a, OP_SUB, 3, 3, 2, 0, 0);
        as_op(&a, OP_SUB, 3, 3, 1, 0, 0); /* lateness */
        as_const(&a, 4, 0);
        as_op(&a, OP_LE, 4, 4, 3, 0, 0);
        as_op(&a, OP_ASSERT, 4, 0, 0, early, 0);
        as_op(&a, OP_LOADA, 4, 0, 0, late, 0);
        as_op(&a, OP_MAX, 4, 4, 3, 0, 0);
        as_op(&a, OP_STOREA, 4, 0, 0, late, 0);
        as_jump(&a, OP_LOOP, 0, 0, 0, loop);
        as_obj(&a, OP_WGDONE, wg);
        as_ret(&a);
        as_func(&a, "main", 0, 4);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 30);
        for (int k = 0; k < 30; k++)
            as_go(&a, f, 0, 0);
        as_obj(&a, OP_WGWAIT, wg);
        as_op(&a, OP_LOADA, 0, 0, 0, late, 0);
        as_const(&a, 1, US);
        as_op(&a, OP_DIV, 0, 0, 1, 0, 0);
        as_print1(&a, "%d", 0);
        as_ret(&a);
        run(releases[i], 4);
        CHECK_BETWEEN(0, printed(0), 1600);
    }
}
