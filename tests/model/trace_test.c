/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the reader of an execution trace is woken by nobody and found by the scheduler. Method:
 * small programs in every release, with buffers of few events: what is printed, how a run ends, and
 * how many system calls the reader made. */
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

static void run(int release, struct as_opts o)
{
    o.release = release;
    as_run(&r, &a, o);
}

static void each_release(void (*fn)(int release))
{
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++)
        fn(release);
}

/* main yields n times between start and stop of a trace. */
static void yields(int n)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTART);
    as_const(&a, 3, n);
    int l = as_here(&a);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_plain(&a, OP_TRACESTOP);
    as_print(&a, "stopped");
    as_ret(&a);
}

static uint64_t writes(int release, int n)
{
    yields(n);
    run(release, (struct as_opts){.procs = 1, .rule = "trace_buf_events", .value = 10});
    CHECK_STR(r.out, "stopped");
    return r.counters[COUNTER_syscalls];
}

/* A buffer of ten events is one write, and four of them are the reader's own: the switch to it, and
 * its system call. A yield is two events. */
static void reads_all(int release)
{
    uint64_t few = writes(release, 50), many = writes(release, 550), more = many - few;
    if (more < 160 || more > 175)
        FAIL_CASE("go1.%d: 500 more yields are %d more writes", release, (int)more);
}

TEST_CASE(Trace, EveryBufferIsRead) { each_release(reads_all); }

/* A second start is an error that nothing comes of; after a stop there may be a new one. */
static void again(int release)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTOP);
    for (int i = 0; i < 3; i++) {
        as_plain(&a, OP_TRACESTART);
        as_plain(&a, OP_TRACESTART);
        as_op(&a, OP_NUMGOROUTINE, 0, 0, 0, 0, 0);
        as_print1(&a, "%d ", 0);
        as_plain(&a, OP_TRACESTOP);
    }
    as_ret(&a);
    for (int procs = 1; procs <= 3; procs++) {
        run(release, (struct as_opts){.procs = procs});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "2 2 2 ");
    }
}

TEST_CASE(Trace, MayBeStartedAgain) { each_release(again); }

/* The goroutines that sleep for the tracer (1.22+) keep a deadlock from being seen. */
static void dead(int release)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTART);
    as_recv(&a, ch, 0);
    as_ret(&a);
    run(release, (struct as_opts){.procs = 1, .until_ms = 2500});
    CHECK_EQ(r.end, release <= 21 ? END_FINDING : END_TIME);
    CHECK(release > 21 || strstr(r.text, "[trace reader (blocked)]") != NULL);
    CHECK_EQ(r.counters[COUNTER_timers_run] >= 25, release >= 22);
}

TEST_CASE(Trace, HidesADeadlockSince122) { each_release(dead); }

/* To 1.21 both ends stop the world; since 1.22 the start alone, and ends of generations ask each P.
 */
static void stops(int release)
{
    yields(1);
    run(release, (struct as_opts){.procs = 2});
    CHECK_EQ(r.counters[COUNTER_stws], release <= 21 ? 2 : 1);
}

TEST_CASE(Trace, StopsTheWorldOnceSince122) { each_release(stops); }

/* Traced all the time, with buffers that are full at once. */
static void busy(int release)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 2);
    int f = as_func(&a, "f", 0, 4);
    as_const(&a, 3, 40);
    int l = as_here(&a);
    as_send(&a, ch, 3);
    as_recv(&a, ch, 0);
    as_cpu(&a, 700);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 3000);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTART);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 8);
    for (int i = 0; i < 8; i++)
        as_go(&a, f, 0, 0);
    as_plain(&a, OP_GC);
    as_obj(&a, OP_WGWAIT, wg);
    as_plain(&a, OP_TRACESTOP);
    as_print(&a, "done");
    as_ret(&a);
    for (int procs = 1; procs <= 4; procs++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            run(release, (struct as_opts){.procs = procs,
                                          .seed = seed,
                                          .rule = "trace_buf_events",
                                          .value = 1 + (int64_t)seed * 7});
            CHECK_STR(r.out, "done");
        }
}

TEST_CASE(Trace, SurvivesLoad) { each_release(busy); }

/* Whoever finds the reader leaves what it was about to run to somebody else, whom it wakes: main,
 * put behind by its yields, does not wait while the reader writes for 5 ms. */
static void shares(int release)
{
    as_init(&a);
    as_func(&a, "main", 0, 6);
    as_plain(&a, OP_TRACESTART);
    as_sleep(&a, 20000000); /* the header is written */
    as_cpu(&a, 1000000);    /* nobody looks for work any more */
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    as_const(&a, 3, 50);
    int l = as_here(&a);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 2, 2, 1, 0, 0);
    as_print1(&a, "%d", 2);
    as_ret(&a);
    run(release, (struct as_opts){.procs = 2,
                                  .rule = "trace_buf_events",
                                  .value = 10,
                                  .rule2 = "trace_write_ns",
                                  .value2 = 5000000});
    CHECK_EQ(r.end, END_STOPPED);
    int64_t took = strtoll(r.out, NULL, 10);
    if (took <= 0 || took >= 1000000)
        FAIL_CASE("go1.%d: 50 yields took %lld ns", release, (long long)took);
}

TEST_CASE(Trace, WhoFindsTheReaderWakesAnother) { each_release(shares); }

/* n goroutines that each have an M to themselves, in a trace whose buffers never fill. */
static uint64_t writes_of_threads(int release, int n)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 0, 4);
    as_plain(&a, OP_LOCKOS);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_WGDONE, wg);
    as_plain(&a, OP_GOSCHED);
    as_plain(&a, OP_UNLOCKOS);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTART);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
    for (int i = 0; i < n; i++)
        as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_plain(&a, OP_TRACESTOP);
    as_print(&a, "stopped");
    as_ret(&a);
    run(release, (struct as_opts){.procs = 1});
    CHECK_STR(r.out, "stopped");
    return r.counters[COUNTER_syscalls];
}

/* What is in unfinished buffers at the end is read as well: that of the one P, since 1.22 that of
 * each M. */
static void flushes(int release)
{
    uint64_t few = writes_of_threads(release, 2), many = writes_of_threads(release, 6);
    if (many - few != (release >= 22 ? 4 : 0))
        FAIL_CASE("go1.%d: 4 more threads are %d more writes", release, (int)(many - few));
}

TEST_CASE(Trace, EndsWithTheBufferOfEveryM) { each_release(flushes); }
