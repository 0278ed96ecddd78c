/* SPDX-License-Identifier: BSD-3-Clause */
/* The worlds of switches_test.c, each a program in which a rule shows. Assembled into `a`; for that
 * file alone. */
#ifndef TESTS_MODEL_SWITCHES_WORLDS_H
#define TESTS_MODEL_SWITCHES_WORLDS_H
#include "asm.h"

static struct as a;

enum { US = 1000, MS = 1000000, MB = 1 << 20 };

/* ---- pieces of programs ---- */

static void hog(int64_t ns) { as_op(&a, OP_CPU, CPU_nopreempt, NOREG, 0, -1, ns); }
static void tight(int64_t ns) { as_op(&a, OP_CPU, CPU_tight, NOREG, 0, -1, ns); }
static void alloc_live(int64_t mb) { as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, mb * MB); }
static void syscall_ns(int64_t ns) { as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, ns); }
static void procs_to(int64_t n) { as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, n); }

static int begin(const char *name, int nparams) { return as_func(&a, name, nparams, 4); }

static void end(void) { as_ret(&a); }

/* n times f, counted on a wait group. */
static void start_n(int f, int n, int wg)
{
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
    for (int i = 0; i < n; i++)
        as_go(&a, f, 0, 0);
}

/* A loop of n rounds around what follows, up to loop_end. Register 3 counts. */
static int loop_begin(int n)
{
    as_const(&a, 3, n);
    return as_here(&a);
}
static void loop_end(int l) { as_jump(&a, OP_LOOP, 3, 0, 0, l); }

/* ---- worlds ---- */

/* main computes without a call while f waits. */
static void w_tight(void)
{
    int f = begin("f", 0), late = as_label(&a);
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_jump(&a, OP_JGEI, 0, 0, 50 * MS, late);
    as_print(&a, "meanwhile ");
    end();
    as_place(&a, late);
    as_print(&a, "afterwards");
    end();
    begin("main", 0);
    as_go(&a, f, 0, 0);
    tight(60 * MS);
    as_sleep(&a, MS);
    end();
}

/* Goroutines that sleep, one after the other and at the same time. */
static void w_sleeps(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    int l = loop_begin(10);
    as_sleep(&a, 3 * MS);
    hog(20 * US);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    start_n(f, 6, wg);
    as_obj(&a, OP_WGWAIT, wg);
    as_sleep(&a, 30 * MS);
    end();
}

/* Long work and long sleeps by turns. */
static void w_work_and_rest(void)
{
    begin("main", 0);
    int l = loop_begin(5);
    hog(15 * MS);
    as_sleep(&a, 20 * MS);
    loop_end(l);
    end();
}

/* A sleeper's timer is on the P of a long computation. */
static void w_busy_timer(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int sleeper = begin("sleeper", 0);
    int l = loop_begin(20);
    as_sleep(&a, 100 * US);
    hog(30 * US);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int busy = begin("busy", 0);
    l = loop_begin(8);
    hog(700 * US);
    as_plain(&a, OP_GOSCHED);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    start_n(sleeper, 6, wg);
    start_n(busy, 3, wg);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* The M that was woken for f finds everybody idle when it gets there. */
static void w_all_idle(void)
{
    int never = as_object(&a, OBJ_CHAN, 0);
    int f = begin("f", 0);
    end();
    begin("main", 0);
    hog(MS);
    as_go(&a, f, 0, 0);
    as_recv(&a, never, 0);
    end();
}

/* w waits for longer than a millisecond, loses once to main, and then the mutex is handed over. */
static void w_starving(void)
{
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int w = begin("w", 0);
    as_obj(&a, OP_LOCK, mu);
    as_print(&a, "w ");
    as_obj(&a, OP_UNLOCK, mu);
    end();
    begin("main", 0);
    as_obj(&a, OP_LOCK, mu);
    as_go(&a, w, 0, 0);
    as_sleep(&a, 2 * MS);
    as_obj(&a, OP_UNLOCK, mu);
    as_obj(&a, OP_LOCK, mu);
    as_sleep(&a, MS);
    as_obj(&a, OP_UNLOCK, mu);
    as_print(&a, "main ");
    as_sleep(&a, MS);
    end();
}

/* Eight readers whose descriptors get ready at the same times; afterwards nobody reads. */
static void w_net_burst(void)
{
    static const int64_t at[] = {5 * MS, 10 * MS, 15 * MS};
    int wg = as_object(&a, OBJ_WAITGROUP, 0), fd[8], f[8];
    const struct arrivals thrice = {.kind = ARRIVE_TIMES, .mode = 1, .times = at, .ntimes = 3};
    for (int i = 0; i < 8; i++)
        fd[i] = as_object(&a, OBJ_FD, build_arrivals(&a.b, &thrice));
    for (int i = 0; i < 8; i++) {
        f[i] = begin("reader", 0);
        for (int n = 0; n < 3; n++) {
            as_op(&a, OP_FDREAD, 0, 1, 0, fd[i], 0);
            hog(40 * US);
        }
        as_obj(&a, OP_WGDONE, wg);
        end();
    }
    begin("main", 0);
    for (int i = 0; i < 8; i++)
        start_n(f[i], 1, wg);
    as_obj(&a, OP_WGWAIT, wg);
    int l = loop_begin(20);
    as_sleep(&a, 200 * US);
    loop_end(l);
    end();
}

/* A descriptor gets ready every 30 ms; whoever reads works a little. */
static void w_net_slow(void)
{
    static const int64_t at[] = {30 * MS, 60 * MS, 90 * MS, 120 * MS};
    const struct arrivals slow = {.kind = ARRIVE_TIMES, .mode = 1, .times = at, .ntimes = 4};
    int fd = as_object(&a, OBJ_FD, build_arrivals(&a.b, &slow));
    begin("main", 0);
    for (int i = 0; i < 4; i++) {
        as_op(&a, OP_FDREAD, 0, 1, 0, fd, 0);
        hog(MS);
    }
    end();
}

/* Short goroutines and yields all over the Ps. */
static void w_storm(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 0);
    int f = begin("f", 0);
    int l = loop_begin(6);
    as_cpu(&a, 900);
    as_plain(&a, OP_GOSCHED);
    as_send(&a, ch, 3);
    as_cpu(&a, 300);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int g = begin("g", 0);
    l = loop_begin(6);
    as_recv(&a, ch, 0);
    as_cpu(&a, 2500);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    for (int i = 0; i < 30; i++) {
        start_n(f, 1, wg);
        start_n(g, 1, wg);
        hog(500);
    }
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* Workers end one after the other, shortly after main started f and went on with its own work. */
static void w_spinners(void)
{
    int f = begin("f", 0), w[5];
    end();
    for (int i = 0; i < 5; i++) {
        w[i] = begin("w", 0);
        hog(300 * US + i * 500);
        end();
    }
    begin("main", 0);
    for (int i = 0; i < 5; i++)
        as_go(&a, w[i], 0, 0);
    hog(300 * US);
    for (int i = 0; i < 40; i++) {
        as_go(&a, f, 0, 0);
        hog(2 * US);
    }
    hog(150 * US);
    end();
}

/* main overflows its ring and yields; others take from the global queue. */
static void w_overflow(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    as_cpu(&a, 5 * US);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 700);
    int l = loop_begin(700);
    as_go(&a, f, 0, 0);
    loop_end(l);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* A collection with a lot to mark, and goroutines in the rings meanwhile. */
static void w_gc(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    int l = loop_begin(4);
    hog(3 * MS);
    as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, MB);
    as_plain(&a, OP_GOSCHED);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    alloc_live(20);
    as_plain(&a, OP_GC);
    start_n(f, 12, wg);
    as_plain(&a, OP_GC);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* A dedicated worker marks for longer than a slice on a P with goroutines in its ring. */
static void w_gc_ring(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    hog(30 * MS);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    as_plain(&a, OP_GC);
    start_n(f, 60, wg);
    alloc_live(60);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* bgsweep has much to do beside a main that computes. */
static void w_sweep(void)
{
    begin("main", 0);
    for (int i = 0; i < 3; i++)
        as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, 3 * MB);
    as_sleep(&a, 20 * MS);
    end();
}

/* The world stops while a worker marks that keeps its P. */
static void w_gc_and_trace(void)
{
    int gc = begin("gc", 0);
    as_plain(&a, OP_GC);
    end();
    begin("main", 0);
    alloc_live(40);
    as_plain(&a, OP_GC);
    as_go(&a, gc, 0, 0);
    hog(2 * MS);
    as_plain(&a, OP_READMEM);
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    end();
}

/* A trace ends while a worker marks that keeps its P. */
static void w_gc_and_trace_end(void)
{
    int gc = begin("gc", 0);
    as_plain(&a, OP_GC);
    end();
    begin("main", 0);
    alloc_live(40);
    as_plain(&a, OP_GC);
    as_plain(&a, OP_TRACESTART);
    as_go(&a, gc, 0, 0);
    hog(500 * US);
    as_plain(&a, OP_TRACESTOP);
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    end();
}

/* Nobody allocates: the periodic collection, beside idle Ps. */
static void w_forced_gc(void)
{
    begin("main", 0);
    alloc_live(20);
    as_plain(&a, OP_GC);
    as_sleep(&a, 40 * MS);
    end();
}

/* Two goroutines that both stop the world again and again. */
static void w_two_stoppers(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 1);
    as_op(&a, OP_NOW, 2, 0, 0, 0, 0);
    as_const(&a, 1, MS);
    as_op(&a, OP_SUB, 1, 1, 2, 0, 0);
    as_op(&a, OP_CPU, CPU_nopreempt, 1, 0, -1, 0); /* both begin at the same time */
    int l = loop_begin(4);
    as_plain(&a, OP_READMEM);
    as_print1(&a, "%d", 0);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2);
    as_const(&a, 0, 1);
    as_go(&a, f, 0, 1);
    as_const(&a, 0, 2);
    as_go(&a, f, 0, 1);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* The world stops while goroutines compute; which one goes on where? */
static void w_stops(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    as_cpu(&a, 4 * MS);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    start_n(f, 20, wg);
    int l = loop_begin(5);
    as_sleep(&a, 300 * US);
    procs_to(3);
    as_sleep(&a, 300 * US);
    procs_to(4);
    loop_end(l);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* Timers that are moved to an earlier time, and stopped, by others than their P. */
static void w_earlier(void)
{
    enum { N = 12 };
    int wg = as_object(&a, OBJ_WAITGROUP, 0), q = as_object(&a, OBJ_CHAN, N);
    int f = begin("fired", 0);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int mover = begin("mover", 0);
    as_recv(&a, q, 0);
    as_op(&a, OP_TRESET, NOREG, NOREG, 0, OBJ_REG, 300 * US);
    hog(50 * US);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2 * N);
    int l = loop_begin(N);
    as_op(&a, OP_TIMER, 0, NOREG, NOREG, f, 20 * MS);
    as_send(&a, q, 0);
    as_go(&a, mover, 0, 0);
    loop_end(l);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_TIMER, 0, NOREG, NOREG, f, 20 * MS);
    as_op(&a, OP_TSTOP, NOREG, 0, 0, OBJ_REG, 0);
    as_sleep(&a, MS);
    end();
}

/* Somebody sleeps in the poller; several set an earlier timer before it has woken. */
static void w_two_earlier(void)
{
    int f = begin("f", 0);
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_const(&a, 1, MS);
    as_op(&a, OP_SUB, 1, 1, 0, 0, 0);
    as_op(&a, OP_CPU, CPU_nopreempt, 1, 0, -1, 0); /* all end at the same time */
    as_sleep(&a, MS);
    end();
    begin("main", 0);
    for (int i = 0; i < 4; i++)
        as_go(&a, f, 0, 0);
    as_sleep(&a, 20 * MS);
    end();
}

/* A timer fires and is stopped afterwards: is its value still in the channel? */
static void w_stale_timer(void)
{
    begin("main", 0);
    as_op(&a, OP_TIMER, 0, NOREG, NOREG, -1, MS);
    as_sleep(&a, 2 * MS);
    as_op(&a, OP_TSTOP, NOREG, 0, 0, OBJ_REG, 0);
    as_op(&a, OP_TIMERC, 1, 0, 0, OBJ_REG, 0);
    int sel = as_select(&a, true);
    as_case(&a, false, OBJ_REG, 1, NOREG);
    as_op(&a, OP_SELECT, 2, NOREG, 0, sel, 0);
    as_print1(&a, "%d", 2);
    end();
}

/* Somebody waits on a timer's channel. */
static void w_timer_chan(void)
{
    begin("main", 0);
    as_op(&a, OP_AFTER, 0, NOREG, 0, 0, MS);
    as_op(&a, OP_RECV, NOREG, NOREG, 0, OBJ_REG, 0);
    end();
}

/* The start order of five goroutines. */
static void w_spawn_order(void)
{
    int f = begin("f", 1);
    as_print1(&a, "%d", 0);
    end();
    begin("main", 0);
    for (int i = 1; i <= 5; i++) {
        as_const(&a, 0, i);
        as_go(&a, f, 0, 1);
    }
    as_sleep(&a, MS);
    end();
}

/* Yields of two goroutines beside idle Ps. */
static void w_yields(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    int l = loop_begin(20);
    as_plain(&a, OP_GOSCHED);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    start_n(f, 2, wg);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* Threads of C call back; how many goroutines are there afterwards? */
static void w_foreign(void)
{
    int f = begin("callback", 0);
    as_sleep(&a, MS);
    end();
    begin("main", 0);
    for (int i = 0; i < 6; i++)
        as_op(&a, OP_CGOCB, 1, NOREG, NOREG, f, 1000);
    as_sleep(&a, 5 * MS);
    as_op(&a, OP_NUMGOROUTINE, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    end();
}

/* Goexit on a thread of C. */
static void w_foreign_goexit(void)
{
    int f = begin("callback", 0);
    as_plain(&a, OP_GOEXIT);
    end();
    begin("main", 0);
    as_op(&a, OP_CGOCB, 1, NOREG, NOREG, f, 1000);
    as_sleep(&a, 5 * MS);
    end();
}

/* Short callbacks, one soon after the other: an extra M that was given back comes back to its P. */
static void w_foreign_again(void)
{
    int f = begin("callback", 0);
    hog(500);
    end();
    begin("main", 0);
    for (int i = 0; i < 6; i++) {
        as_op(&a, OP_CGOCB, 1, NOREG, NOREG, f, 1000);
        hog(5 * US);
    }
    hog(3 * MS);
    end();
}

/* iter.Pull, and somebody locked to a thread who uses it from another. */
static int pull_body(void)
{
    int body = begin("body", 0);
    int l = loop_begin(5);
    as_op(&a, OP_YIELD, 3, NOREG, 0, 0, 0);
    loop_end(l);
    end();
    return body;
}

static void w_pull(void)
{
    int body = pull_body();
    begin("main", 0);
    as_op(&a, OP_CORONEW, 0, 0, 0, body, 0);
    for (int i = 0; i < 6; i++)
        as_op(&a, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    end();
}

static void w_pull_locked(void)
{
    int body = pull_body();
    begin("main", 0);
    as_op(&a, OP_CORONEW, 0, 0, 0, body, 0);
    as_plain(&a, OP_LOCKOS);
    as_op(&a, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    as_print(&a, "switched");
    end();
}

/* Deadlocks whose report names the reason. */
static void w_dead_mutex(void)
{
    int mu = as_object(&a, OBJ_MUTEX, 0);
    begin("main", 0);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_LOCK, mu);
    end();
}

static void w_dead_waitgroup(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    begin("main", 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* A panic that a deferred function recovers and raises again. */
static void w_repanic(void)
{
    int again = begin("again", 0);
    as_op(&a, OP_RECOVER, 0, 1, 0, 0, 0);
    as_op(&a, OP_PANIC, 1, 0, 0, -1, 0);
    end();
    begin("main", 0);
    as_op(&a, OP_DEFER, 0, 0, 0, again, 0);
    as_const(&a, 1, 7);
    as_op(&a, OP_PANIC, 1, 0, 0, -1, 0);
    end();
}

/* A deferred call dies, with another goroutine about. */
static void w_fatal(void)
{
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int other = begin("other", 0);
    end();
    int dies = begin("dies", 0);
    as_obj(&a, OP_UNLOCK, mu);
    end();
    begin("main", 0);
    as_go(&a, other, 0, 0);
    as_op(&a, OP_DEFER, 0, 0, 0, dies, 0);
    as_const(&a, 1, 7);
    as_op(&a, OP_PANIC, 1, 0, 0, -1, 0);
    end();
}

/* The first system call lasts until sysmon's second look at most; f wants the P meanwhile. */
static void w_first_call(void)
{
    int f = begin("f", 0);
    end();
    begin("main", 0);
    as_go(&a, f, 0, 0);
    syscall_ns(60 * US);
    end();
}

/* System calls on all Ps, short and long, with work behind them. */
static void w_syscalls(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int leaf = begin("leaf", 0);
    as_cpu(&a, 3 * US);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int f = begin("f", 0);
    int l = loop_begin(10);
    start_n(leaf, 1, wg);
    syscall_ns(2 * US);
    as_cpu(&a, 10 * US);
    start_n(leaf, 1, wg);
    syscall_ns(60 * US);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    start_n(f, 8, wg);
    as_obj(&a, OP_WGWAIT, wg);
    end();
}

/* One goroutine waits for ever on a channel, one on a WaitGroup; the profile is asked. */
static void w_leaks(void)
{
    int ch = as_object(&a, OBJ_CHAN, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = begin("f", 0);
    as_recv(&a, ch, 0);
    end();
    int g = begin("g", 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_obj(&a, OP_WGWAIT, wg);
    end();
    begin("main", 0);
    as_go(&a, f, 0, 0);
    as_go(&a, g, 0, 0);
    as_sleep(&a, MS);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    end();
}

/* What GOMAXPROCS is where nobody sets it. */
static void w_default_procs(void)
{
    begin("main", 0);
    as_op(&a, OP_GOMAXPROCS, 0, NOREG, 0, 0, 0);
    as_print1(&a, "%d", 0);
    end();
}

/* Long enough for a SCHED line in the middle of everything. */
static void w_schedtrace(void)
{
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = begin("f", 0);
    as_recv(&a, ch, 0);
    end();
    begin("main", 0);
    as_go(&a, f, 0, 0);
    hog(25 * MS);
    end();
}

/* Two goroutines pass a value on, others go into system calls, all of it traced. */
static void w_traced(void)
{
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 0);
    int ping = begin("ping", 0);
    int l = loop_begin(300);
    as_send(&a, ch, 3);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int pong = begin("pong", 0);
    l = loop_begin(300);
    as_recv(&a, ch, 0);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    int sys = begin("sys", 0);
    l = loop_begin(30);
    syscall_ns(60 * US);
    loop_end(l);
    as_obj(&a, OP_WGDONE, wg);
    end();
    begin("main", 0);
    as_plain(&a, OP_TRACESTART);
    start_n(ping, 1, wg);
    start_n(pong, 1, wg);
    start_n(sys, 3, wg);
    as_obj(&a, OP_WGWAIT, wg);
    as_plain(&a, OP_TRACESTOP);
    as_print(&a, "stopped");
    end();
}

/* ... for so long that a generation ends. */
static void w_traced_long(void)
{
    begin("main", 0);
    as_plain(&a, OP_TRACESTART);
    as_sleep(&a, 1500 * MS);
    as_plain(&a, OP_TRACESTOP);
    end();
}

/* ... while somebody else schedules all the time. */
static void w_traced_busy(void)
{
    int f = begin("f", 0);
    int l = as_here(&a);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_JMP, 0, 0, 0, l);
    end();
    begin("main", 0);
    as_plain(&a, OP_TRACESTART);
    as_go(&a, f, 0, 0);
    for (int i = 0; i < 5; i++) {
        as_sleep(&a, MS);
        as_plain(&a, OP_TRACESTOP);
        as_plain(&a, OP_TRACESTART);
    }
    end();
}

/* Nobody will ever send. */
static void w_traced_dead(void)
{
    int ch = as_object(&a, OBJ_CHAN, 0);
    begin("main", 0);
    as_plain(&a, OP_TRACESTART);
    as_recv(&a, ch, 0);
    end();
}
#endif
