/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the scheduler as a whole keeps its promises on 1 to 8 Ps: work spreads to idle Ps whatever
 * made it runnable, nobody is kept from running for long, a stop of the world is short. Method:
 * programs whose ideal duration is known, many releases and seeds; the virtual clock says how far
 * from the ideal a run is. */
#include "asm.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct as a;
static struct as_result r;
static int wg;

static const int64_t MS = 1000000;
static const int releases[] = {13, 14, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};
enum { RELEASES = sizeof releases / sizeof *releases, EACH = 4 };

static uint64_t counter(enum counter_id id) { return r.counters[id]; }

static void begin(void)
{
    as_init(&a);
    wg = as_object(&a, OBJ_WAITGROUP, 0);
}

/* func(0), func(1), ... n of them */
static void spawn(int func, int n)
{
    as_const(&a, 0, 0);
    int l = as_here(&a);
    as_go(&a, func, 0, 1);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_jump(&a, OP_JLTI, 0, 0, n, l);
}

static void main_begin(int n)
{
    as_func(&a, "main", 0, 8);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
}

static void main_end(void)
{
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

static void burn_and_end(int64_t ns)
{
    as_cpu(&a, ns);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
}

/* ---- work spreads: EACH ms of computing per P, made runnable in different ways ---- */

/* by go */
static void spawned(int n)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    main_end();
}

/* by one goroutine that closes a channel, long after every other P went idle */
static void closed(int n)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 1, 2);
    as_recv(&a, ch, 1);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    as_sleep(&a, 5 * MS);
    as_obj(&a, OP_CLOSE, ch);
    main_end();
}

/* by values that arrive one at a time, from a goroutine that goes on computing in between */
static void dealt(int n)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 1, 2);
    as_recv(&a, ch, 1);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    as_sleep(&a, 5 * MS);
    as_const(&a, 1, n);
    int l = as_here(&a);
    as_send(&a, ch, 1);
    as_cpu(&a, 2000);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    main_end();
}

/* by timers that are due together */
static void slept(int n)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    as_sleep(&a, 5 * MS);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    main_end();
}

/* by the start of the world, while they are runnable on one P */
static void restarted(int n)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    as_plain(&a, OP_GC);
    main_end();
}

/* the same, each in four parts with a yield between them */
static void yielding(int n)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    for (int i = 0; i < 3; i++) {
        as_cpu(&a, MS / 4);
        as_plain(&a, OP_GOSCHED);
    }
    burn_and_end(MS / 4);
    main_begin(n);
    spawn(f, n);
    main_end();
}

/* each spawns its share itself: a tree */
static void tree(int n)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    burn_and_end(MS);
    int g = as_func(&a, "g", 1, 2);
    for (int i = 0; i < EACH; i++)
        as_go(&a, f, 0, 1);
    as_ret(&a);
    main_begin(n);
    spawn(g, n / EACH);
    main_end();
}

/* Through a thread-locked goroutine that deals. */
static void locked_deals(int n)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 1, 2);
    as_recv(&a, ch, 1);
    burn_and_end(MS);
    main_begin(n);
    as_plain(&a, OP_LOCKOS);
    spawn(f, n);
    as_sleep(&a, 5 * MS);
    as_obj(&a, OP_CLOSE, ch);
    main_end();
}

/* by descriptors that get ready together: one M polls and injects the others */
static void delivered(int n)
{
    static const int64_t at_5ms[] = {5000000};
    begin();
    build_arrivals(
        &a.b, &(struct arrivals){.kind = ARRIVE_TIMES, .mode = 1, .times = at_5ms, .ntimes = 1});
    int fd0 = 0;
    for (int i = 0; i < n; i++) {
        int fd = as_object(&a, OBJ_FD, 0);
        fd0 = i == 0 ? fd : fd0;
    }
    int f = as_func(&a, "f", 1, 3);
    as_op(&a, OP_ADDI, 1, 0, 0, 0, fd0 + 1); /* its handle is its index + 1 */
    as_op(&a, OP_FDWAIT, 2, 1, 1, OBJ_REG, 0);
    burn_and_end(MS);
    main_begin(n);
    spawn(f, n);
    main_end();
}

static void spreads(void (*program)(int n), int64_t start_us, int64_t slack_us)
{
    for (int procs = 1; procs <= 8; procs *= 2) {
        program(EACH * procs);
        for (int i = 0; i < RELEASES; i++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                as_run(&r, &a,
                       (struct as_opts){.release = releases[i], .procs = procs, .seed = seed});
                CHECK_EQ(r.end, END_STOPPED);
                int64_t us = (int64_t)(r.now_ps / 1000000) - start_us;
                if (us > EACH * 1000 + slack_us)
                    FAIL_CASE("go1.%d, procs %d, seed %d: %d us in place of %d", releases[i], procs,
                              (int)seed, (int)us, EACH * 1000);
            }
    }
}

TEST_CASE(Spread, NewGoroutines) { spreads(spawned, 0, 400); }
TEST_CASE(Spread, ReceiversOfAClosedChannel) { spreads(closed, 5000, 400); }
TEST_CASE(Spread, ReceiversOneByOne) { spreads(dealt, 5000, 400); }
TEST_CASE(Spread, Sleepers) { spreads(slept, 5000, 400); }
TEST_CASE(Spread, ReadersOfReadyDescriptors) { spreads(delivered, 5000, 400); }
TEST_CASE(Spread, AfterAStopOfTheWorld) { spreads(restarted, 0, 800); }
TEST_CASE(Spread, Yielders) { spreads(yielding, 0, 900); }
TEST_CASE(Spread, ATree) { spreads(tree, 0, 400); }
TEST_CASE(Spread, FromALockedThread) { spreads(locked_deals, 5000, 400); }

/* ---- sysmon ---- */

static void run_one(int release, int procs)
{
    as_run(&r, &a, (struct as_opts){.release = release, .procs = procs});
    CHECK_EQ(r.end, END_STOPPED);
}

/* 50 rounds of 20 us, then doubled up to 10 ms: while one G computes for a second. */
TEST_CASE(Sysmon, LooksAHundredTimesASecond)
{
    begin();
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_CPU, CPU_tight, NOREG, 0, -1, 1000 * MS);
    as_ret(&a);
    for (int i = 0; i < RELEASES; i++) {
        run_one(releases[i], 1);
        CHECK_GE(counter(COUNTER_sysmon_ticks), 145);
        CHECK_LE(counter(COUNTER_sysmon_ticks), 170);
    }
}

TEST_CASE(Sysmon, SleepsWhileNothingRuns)
{
    begin();
    as_func(&a, "main", 0, 2);
    as_sleep(&a, 1000 * MS);
    as_ret(&a);
    for (int i = 0; i < RELEASES; i++) {
        run_one(releases[i], 4);
        CHECK_LE(counter(COUNTER_sysmon_ticks), 70);
    }
}

/* main wakes up from the network after sysmon went to sleep; then `waking` happens, and two tight
 * loops share the P, for which they need sysmon. */
static void hogs_after(int waking)
{
    begin();
    int f = as_func(&a, "hog", 1, 2);
    as_op(&a, OP_CPU, CPU_tight, NOREG, 0, -1, 60 * MS);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(2);
    if (waking == 1)
        as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 300 * MS); /* its P is taken and goes idle */
    else
        as_sleep(&a, 300 * MS);
    if (waking == 2)
        as_plain(&a, OP_GC);
    spawn(f, 2);
    main_end();
    for (int i = 1; i < RELEASES; i++) {
        run_one(releases[i], 1);
        CHECK_GE(counter(COUNTER_preempted), 5);
    }
}

TEST_CASE(Sysmon, IsBackForTightLoops)
{
    for (int waking = 0; waking <= 2; waking++)
        hogs_after(waking);
}

/* Short system calls beside a computing goroutine on one P: sysmon sees a new one each time. */
TEST_CASE(Sysmon, LeavesShortSystemCallsAlone)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    as_const(&a, 1, 2000);
    int l = as_here(&a);
    as_op(&a, OP_SYSCALL, 0, NOREG, 0, -1, 5000);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(2);
    spawn(f, 2);
    main_end();
    for (int i = 0; i < RELEASES; i++) {
        run_one(releases[i], 1);
        CHECK_LE(counter(COUNTER_retakes), 5);
    }
}

/* The periodic collection: every two minutes after the last one. */
TEST_CASE(Sysmon, CollectsEveryTwoMinutes)
{
    begin();
    as_func(&a, "main", 0, 2);
    as_plain(&a, OP_GC);
    as_sleep(&a, 310000 * MS);
    as_ret(&a);
    for (int i = 0; i < RELEASES; i++) {
        as_run(&r, &a, (struct as_opts){.release = releases[i], .procs = 2, .until_ms = 400000});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_EQ(counter(COUNTER_gcs), 3);
    }
}

/* ---- stops ---- */

/* How long `stop` takes, in ns, while others do `what`; the program prints it. */
static void stop_beside(enum op what, enum op stop)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    if (what == OP_SYSCALL)
        as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 80 * MS);
    else if (what == OP_CPU)
        as_op(&a, OP_CPU, CPU_tight, NOREG, 0, -1, 80 * MS);
    else
        as_sleep(&a, 80 * MS);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(3);
    spawn(f, 3);
    as_sleep(&a, 2 * MS);
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    if (stop == OP_GC)
        as_plain(&a, OP_GC);
    else
        as_op(&a, OP_GOMAXPROCS, 3, NOREG, 0, 0, 6);
    as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 3, 2, 1, 0, 0);
    as_print1(&a, "%d", 3);
    main_end();
}

TEST_CASE(Stop, IsShortWhateverOthersDo)
{
    static const enum op whats[] = {OP_SYSCALL, OP_CPU, OP_SLEEP};
    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 2; s++) {
            stop_beside(whats[w], s ? OP_GC : OP_GOMAXPROCS);
            for (int i = 1; i < RELEASES; i++) { /* 1.13 waits for the end of a tight loop */
                run_one(releases[i], 5);
                CHECK_LE(atoi(r.out), s ? 3 * MS : MS / 10);
            }
        }
}

/* Goroutines enter and leave system calls, park and spin while the world is stopped again and
 * again: every stop ends soon. */
TEST_CASE(Stop, EndsBesideShortSystemCalls)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    as_const(&a, 1, 300);
    int l = as_here(&a);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 300000);
    as_cpu(&a, 3000);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(6);
    spawn(f, 6);
    as_const(&a, 4, 0);
    as_const(&a, 5, 200);
    l = as_here(&a);
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    as_op(&a, OP_GOMAXPROCS, 3, NOREG, 0, 0, 3);
    as_op(&a, OP_GOMAXPROCS, 3, NOREG, 0, 0, 4);
    as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 3, 2, 1, 0, 0);
    as_op(&a, OP_MAX, 4, 4, 3, 0, 0);
    as_sleep(&a, MS / 10);
    as_jump(&a, OP_LOOP, 5, 0, 0, l);
    as_print1(&a, "%d", 4);
    main_end();
    for (int i = 1; i < RELEASES; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            as_run(&r, &a, (struct as_opts){.release = releases[i], .procs = 4, .seed = seed});
            CHECK_EQ(r.end, END_STOPPED);
            CHECK_LE(atoi(r.out), MS / 4);
        }
}

/* ---- small things ---- */

/* A yield wakes somebody since 1.22. */
TEST_CASE(Wake, AYieldWakesSince122)
{
    begin();
    as_func(&a, "main", 0, 2);
    as_const(&a, 1, 100);
    int l = as_here(&a);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_ret(&a);
    for (int i = 0; i < RELEASES; i++) {
        run_one(releases[i], 1);
        if (releases[i] >= 22)
            CHECK_GE(counter(COUNTER_wakeps), 100);
        else
            CHECK_LT(counter(COUNTER_wakeps), 50);
    }
}

/* The thread limit is exact: as many as were needed are enough, one less is fatal. */
TEST_CASE(Threads, LimitIsExact)
{
    begin();
    int f = as_func(&a, "f", 1, 2);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 50 * MS);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(20);
    spawn(f, 20);
    main_end();
    for (int i = 0; i < RELEASES; i++) {
        struct as_opts o = {.release = releases[i], .procs = 2, .rule = "maxmcount", .value = 1000};
        as_run(&r, &a, o);
        CHECK_EQ(r.end, END_STOPPED);
        o.value = (int64_t)counter(COUNTER_threads) + 1; /* and m0 */
        as_run(&r, &a, o);
        CHECK_EQ(r.end, END_STOPPED);
        o.value--;
        as_run(&r, &a, o);
        CHECK_EQ(r.end, END_FINDING);
        CHECK_HAS(r.text, "thread exhaustion");
    }
}

/* Who is locked twice stays on its thread after one unlock: each of its wakes is a hand-over. */
TEST_CASE(Threads, LockedGoroutinesNest)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 1, 2);
    as_plain(&a, OP_LOCKOS);
    as_plain(&a, OP_LOCKOS);
    as_plain(&a, OP_UNLOCKOS); /* still locked */
    for (int i = 0; i < 5; i++)
        as_recv(&a, ch, 1);
    as_plain(&a, OP_UNLOCKOS);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    main_begin(1);
    spawn(f, 1);
    for (int i = 0; i < 5; i++) {
        as_sleep(&a, MS);
        as_send(&a, ch, 1);
    }
    main_end();
    for (int i = 0; i < RELEASES; i++) {
        run_one(releases[i], 1);
        CHECK_GE(counter(COUNTER_locked_handoffs), 5);
    }
}
