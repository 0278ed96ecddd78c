/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every switch of profile.def steers something. Method: a table with one row per switch: a
 * release, a world made for that switch, and what differs between a run with the rule and one
 * without. A switch without a row fails, and so does a row whose two runs agree. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"

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
    for (int i = 0; i < 8; i++) {
        a.arrivals[a.p.narrivals] = (struct arrivals){
            .kind = ARRIVE_TIMES, .mode = 1, .times = at, .ntimes = 3};
        fd[i] = as_object(&a, OBJ_FD, (int)a.p.narrivals++);
    }
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
    a.arrivals[a.p.narrivals] = (struct arrivals){
        .kind = ARRIVE_TIMES, .mode = 1, .times = at, .ntimes = 4};
    int fd = as_object(&a, OBJ_FD, (int)a.p.narrivals++);
    begin("main", 0);
    for (int i = 0; i < 4; i++) {
        as_op(&a, OP_FDREAD, 0, 1, 0, fd, 0);
        hog(MS);
    }
    end();
}

/* Short ones and yields all over the Ps. */
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
    a.code[a.p.ncode - 1].c = 0;
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

/* ---- the table ---- */

enum look { OUT, TEXT, ENDS, PRINT, TIME, COUNT };

/* The run with the rule compared to the one without: more, less, or not the same. */
enum { MORE = 1, LESS = -1, OTHER = 0 };

struct row {
    const char *rule;
    int release;
    void (*world)(void);
    enum look look; /* OUT what the program prints, TEXT of the finding, ENDS how, PRINT the
                       fingerprint of all events, TIME when it is over, COUNT a counter */
    int how;
    struct as_opts o;
    int counter;
};

static const struct row table[] = {
    {"async_preempt", 22, w_tight, OUT, OTHER, {0}, 0},
    {"per_p_timers", 22, w_sleeps, COUNT, LESS, {0}, COUNTER_gocreated},
    {"steal_gives_up", 13, w_all_idle, COUNT, LESS, {.procs = 2}, COUNTER_steals_tried},
    {"handoff_yields", 20, w_starving, OUT, OTHER, {0}, 0},
    {"injectglist_local", 16, w_net_burst, COUNT, LESS, {.procs = 2}, COUNTER_grq_puts},
    {"resetspinning_always", 15, w_spinners, COUNT, MORE, {.procs = 7}, COUNTER_wakeps},
    {"timers_steal_pass3", 15, w_busy_timer, PRINT, OTHER, {.procs = 3}, 0},
    {"sysmon_resets_delay", 15, w_work_and_rest, COUNT, MORE, {0}, COUNTER_sysmon_ticks},
    {"sysmon_sleeps_past_timers", 13, w_work_and_rest, COUNT, LESS, {0}, COUNTER_sysmon_ticks},
    {"sysmonlock", 22, w_work_and_rest, PRINT, OTHER, {0}, 0},
    {"sysmon_starts_m_for_timer", 15, w_busy_timer, PRINT, OTHER, {.procs = 3}, 0},
    {"gcsema", 15, w_gc_and_trace, OUT, OTHER, {.procs = 4}, 0},
    {"drain_stops_for_stw", 20, w_gc_and_trace, OUT, OTHER, {.procs = 4}, 0},
    {"lock_ranks", 24, w_timer_chan, ENDS, OTHER, {.rule2 = "hchan_before_sched", .value2 = 0}, 0},
    {"worldsema_handoff", 20, w_two_stoppers, OUT, OTHER, {.procs = 2}, 0},
    {"gc_worker_pool", 18, w_gc, PRINT, OTHER, {.procs = 4}, 0},
    {"masks", 20, w_storm, COUNT, LESS, {.procs = 8}, COUNTER_steals_tried},
    {"netpoll_wakesig", 20, w_two_earlier, PRINT, OTHER, {.procs = 8}, 0},
    {"timer_earliest", 20, w_earlier, PRINT, OTHER, {.procs = 4}, 0},
    {"timer_earliest_reset", 20, w_earlier, PRINT, OTHER, {.procs = 4}, 0},
    {"wake_poller_wakep", 20, w_sleeps, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"recheck_only_if_spinning", 18, w_spinners, PRINT, OTHER, {.procs = 7}, 0},
    {"runqdrain", 18, w_gc_ring, PRINT, OTHER, {.procs = 4}, 0},
    {"checks_in_findrunnable", 20, w_storm, PRINT, OTHER, {.procs = 4}, 0},
    {"idle_gc_limit",
     20,
     w_forced_gc,
     PRINT,
     OTHER,
     {.procs = 8, .rule2 = "forcegc_ns", .value2 = 5 * MS},
     0},
    {"steal_stride_div", 20, w_storm, PRINT, OTHER, {.procs = 8}, 0},
    {"lastpoll_stale", 20, w_net_slow, COUNT, MORE, {0}, COUNTER_netpolls},
    {"needspinning", 22, w_storm, PRINT, OTHER, {.procs = 2}, 0},
    {"wakep_locked", 22, w_spawn_order, TIME, MORE, {0}, 0},
    {"goschedifbusy", 20, w_sweep, COUNT, LESS, {.procs = 2}, COUNTER_grq_puts},
    {"sched_bools", 22, w_schedtrace, OUT, OTHER, {.scheddetail = true, .schedtrace_ms = 10}, 0},
    {"startidle_locked", 22, w_net_burst, PRINT, OTHER, {.procs = 4}, 0},
    {"extra_m_uncounted",
     22,
     w_foreign,
     ENDS,
     OTHER,
     {.procs = 2, .rule2 = "maxmcount", .value2 = 8},
     0},
    {"cgo_m_bound", 22, w_foreign, OUT, OTHER, {.procs = 2}, 0},
    {"gosched_wakep", 22, w_yields, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"grq_recheck", 22, w_overflow, PRINT, OTHER, {.procs = 4}, 0},
    {"netpoll_delta", 22, w_net_burst, COUNT, LESS, {.procs = 2}, COUNTER_netpolls},
    {"foreachp_pseudo_wait", 22, w_gc, TIME, OTHER, {.procs = 1}, 0},
    {"timers_v2", 24, w_sleeps, PRINT, OTHER, {.procs = 2}, 0},
    {"sync_timer_chan", 24, w_stale_timer, OUT, OTHER, {0}, 0},
    {"coro_checks_thread", 24, w_pull_locked, ENDS, OTHER, {0}, 0},
    {"inject_wakep", 24, w_net_burst, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"no_sysmon_no_runnext", 24, w_spawn_order, OUT, OTHER, {.rule2 = "sysmon", .value2 = 0}, 0},
    {"gc_start_by_chan", 24, w_gc, COUNT, LESS, {.procs = 2}, COUNTER_syscalls},
    {"hchan_before_sched", 24, w_timer_chan, ENDS, OTHER, {0}, 0},
    {"newproc_parked", 24, w_pull, TIME, LESS, {0}, 0},
    {"spinbit", 25, w_storm, PRINT, OTHER, {.procs = 8}, 0},
    {"goid_before_cas",
     25,
     w_storm,
     PRINT,
     OTHER,
     {.procs = 8, .rule2 = "goid_batch", .value2 = 1},
     0},
    {"gc_early_out", 25, w_gc, PRINT, OTHER, {.procs = 4}, 0},
    {"mutex_reasons", 25, w_dead_mutex, TEXT, OTHER, {0}, 0},
    {"wg_reason", 25, w_dead_waitgroup, TEXT, OTHER, {0}, 0},
    {"grq_batch_unlocked", 26, w_overflow, PRINT, OTHER, {.procs = 4}, 0},
    {"polling_net", 26, w_net_burst, PRINT, OTHER, {.procs = 4}, 0},
    {"auto_gomaxprocs",
     26,
     w_default_procs,
     OUT,
     OTHER,
     {.cpus = 8, .quota_us = 300000, .default_procs = true},
     0},
    {"stw_pseudo_wait_inside", 26, w_gc, PRINT, OTHER, {.procs = 1}, 0},
    {"schedticks_line", 26, w_schedtrace, OUT, OTHER, {.schedtrace_ms = 10}, 0},
    {"panic_repanicked", 26, w_repanic, TEXT, OTHER, {0}, 0},
    {"sys_block_on_exit", 26, w_syscalls, PRINT, OTHER, {.procs = 2}, 0},
    {"stw_runnext", 26, w_stops, COUNT, LESS, {.procs = 4}, COUNTER_grq_puts},
    {"m_affinity", 26, w_stops, PRINT, OTHER, {.procs = 4}, 0},
    {"pidle_reversed", 26, w_storm, PRINT, OTHER, {.procs = 4}, 0},
    {"backoff_not_in_syscall", 26, w_syscalls, PRINT, OTHER, {.procs = 4}, 0},
    {"gcworker_preassign", 26, w_gc, PRINT, OTHER, {.procs = 8}, 0},
    {"goroutine_leaks", 26, w_leaks, OUT, OTHER, {0}, 0},
    {"g_waiting_sema", 26, w_leaks, OUT, OTHER, {0}, 0},
    {"leaked_status",
     26,
     w_foreign,
     OUT,
     OTHER,
     {.procs = 2, .rule2 = "cgo_m_bound", .value2 = 0, .scheddetail = true, .schedtrace_ms = 3},
     0},
    {"retake_every_p", 26, w_tight, PRINT, OTHER, {.procs = 2}, 0},
    {"async_timer_chan_gone",
     27,
     w_stale_timer,
     OUT,
     OTHER,
     {.rule2 = "async_timer_chan", .value2 = 1},
     0},
    {"rng32", 27, w_storm, PRINT, OTHER, {.procs = 8}, 0},
    {"mlocks16", 27, w_schedtrace, OUT, OTHER, {.scheddetail = true, .schedtrace_ms = 10}, 0},
};

/* What no small program shows, and the case of rules_test.c that does. */
static const char *const elsewhere[][2] = {
    {"runnext_single_cas", "Rules.WhoLosesItsRunnextDoesNotLookAgain"},
};

static bool is_elsewhere(const char *rule)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i][0], rule) == 0)
            return true;
    return false;
}

static const struct row *row_of(const char *rule)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].rule, rule) == 0)
            return &table[i];
    return NULL;
}

static void run(struct as_result *r, const struct row *row, bool on)
{
    struct as_opts o = row->o;
    as_init(&a);
    row->world();
    o.release = row->release;
    o.rule = row->rule;
    o.value = on;
    o.catch_throws = true;
    as_run(r, &a, o);
}

static int compare(uint64_t x, uint64_t y) { return x > y ? MORE : x < y ? LESS : 2; }

/* Does the run with the rule differ from the one without as the row says? */
static bool differs(const struct row *row, const struct as_result *with,
                    const struct as_result *without)
{
    int how = 2;
    switch (row->look) {
    case OUT: return strcmp(with->out, without->out) != 0;
    case TEXT: return strcmp(with->text, without->text) != 0;
    case ENDS: return with->end != without->end;
    case PRINT: return with->fingerprint != without->fingerprint;
    case TIME: how = compare(with->now_ps, without->now_ps); break;
    case COUNT: how = compare(with->counters[row->counter], without->counters[row->counter]); break;
    }
    return row->how == OTHER ? how != 2 : how == row->how;
}

static unsigned mistakes;
static void wrong(const char *rule, const char *what, const struct as_result *with,
                  const struct as_result *without)
{
    mistakes++;
    printf("%s: %s\n", rule, what);
    if (with != NULL)
        printf(
            "  with: end %d out \"%.300s\" text \"%.200s\"\n  without: end %d out \"%.300s\" text "
            "\"%.200s\"\n",
            with->end, with->out, with->text, without->end, without->out, without->text);
}

/* The rule is on in the row's release, so that the run with it is that release's. */
static void try_rule(const struct profile_rule *rule)
{
    static struct as_result with, without;
    const struct row *row = row_of(rule->name);
    if (row == NULL) {
        wrong(rule->name, "no world shows what it changes", NULL, NULL);
        return;
    }
    if (row->release < rule->first || row->release > rule->last)
        wrong(rule->name, "the row's release does not have it", NULL, NULL);
    run(&with, row, true);
    run(&without, row, false);
    if (!differs(row, &with, &without))
        wrong(rule->name, "the two runs do not differ as the table says", &with, &without);
}

TEST_CASE(Switches, EveryRuleChangesARun)
{
    mistakes = 0;
    for (size_t i = 0; i < profile_rules_count; i++)
        if (profile_rules[i].is_switch && !is_elsewhere(profile_rules[i].name))
            try_rule(&profile_rules[i]);
    CHECK_EQ(mistakes, 0);
}

/* And no row is about a rule that is gone. */
TEST_CASE(Switches, EveryRowIsOfARule)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct profile p;
        CHECK(profile_init(&p, table[i].release));
        CHECK_EQ(profile_set(&p, table[i].rule, 1), 0);
        CHECK(row_of(table[i].rule) == &table[i]); /* one row each */
    }
}

/* Worlds that end, whatever the rules. */
static void (*const robust[])(void) = {w_storm,    w_gc,       w_net_burst, w_syscalls,
                                       w_sleeps,   w_earlier,  w_stops,     w_foreign,
                                       w_starving, w_overflow, w_forced_gc};

/* What does not stand alone. The order of lock ranks is that of the code: with the other one the
 * check finds a mistake, which is what it is for. Timers in the heaps of Ps are never run by a
 * search that gives up when all others are idle, as in 1.13, and the timers of 1.23 want those
 * heaps. And the P of a callback that is over is taken by the scan bit of a goroutine that waits in
 * C (1.21+); one that is dead has none. */
static bool stands_alone(int release, const char *rule)
{
    if (strcmp(rule, "per_p_timers") == 0)
        return release >= 14 && release <= 22;
    if (strcmp(rule, "timers_v2") == 0)
        return release >= 14;
    if (strcmp(rule, "sys_block_on_exit") == 0)
        return release >= 21;
    return strcmp(rule, "hchan_before_sched") != 0 && strcmp(rule, "steal_gives_up") != 0;
}

/* Any rule can be taken out of any release, or put into it, and the scheduler still works. */
TEST_CASE(Switches, EachMayBeFlippedAlone)
{
    static struct as_result r;
    size_t world = 0;
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++)
        for (size_t i = 0; i < profile_rules_count; i++) {
            const struct profile_rule *rule = &profile_rules[i];
            if (!rule->is_switch || !stands_alone(release, rule->name))
                continue;
            bool on = release >= rule->first && release <= rule->last;
            as_init(&a);
            robust[world++ % (sizeof robust / sizeof *robust)]();
            as_run(&r, &a,
                   (struct as_opts){.release = release,
                                    .procs = 1 + (int)(world % 4),
                                    .rule = rule->name,
                                    .value = !on,
                                    .catch_throws = true});
            if (r.end != AS_STOPPED)
                FAIL_CASE("go1.%d, %s=%d, world %d: end %d, \"%s\"", release, rule->name, !on,
                          (int)((world - 1) % (sizeof robust / sizeof *robust)), r.end, r.text);
        }
}
