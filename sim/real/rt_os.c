/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs that are little more than a system call: clock, sleeps, futexes, bursts, memory, CPU
 * limits. */
#include "rt_int.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define W (&rt_world_)

static const int64_t SEC = 1000000000;

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SEC), .tv_nsec = (long)(ns % SEC)};
}

int64_t rt_clock_(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * SEC + ts.tv_nsec;
}

int32_t rt_tgkill_(int32_t tid, int sig)
{
    return (int32_t)syscall(SYS_tgkill, getpid(), tid, sig);
}

/* ---- futex ---- */

int32_t rt_futex_wait_(_Atomic(uint32_t) *addr, uint32_t val, int64_t ns)
{
    struct timespec ts = timespec_of(ns < 0 ? 0 : ns);
    long rc = syscall(SYS_futex, addr, FUTEX_WAIT_PRIVATE, val, ns < 0 ? NULL : &ts, NULL, 0);

    return rc < 0 ? -errno : 0;
}

int32_t rt_futex_wake_(_Atomic(uint32_t) *addr, uint32_t n)
{
    long rc = syscall(SYS_futex, addr, FUTEX_WAKE_PRIVATE, n > INT32_MAX ? INT32_MAX : (int)n, NULL,
                      NULL, 0);

    return rc < 0 ? -errno : (int32_t)rc;
}

/* Only a sleep without a deadline counts as blocked: from any other a thread comes back by
 * itself. */
void rt_sleeps_(bool forever)
{
    atomic_fetch_add(&rt_self_->calls, 1);
    atomic_store(&rt_self_->state, forever ? RT_BLOCKED : RT_AWAKE);
}

/* After every system call that slept. Its atomics are also where ThreadSanitizer runs the handler
 * of a signal that interrupted a call it does not know. */
void rt_awake_(void)
{
    atomic_store(&rt_self_->state, RT_AWAKE);
    atomic_fetch_add(&rt_self_->calls, 1);
}

void rt_futexsleep_(_Atomic(uint32_t) *addr, uint32_t val, int64_t ns)
{
    rt_self_->stats.futex_sleeps++;
    rt_sleeps_(ns < 0);
    rt_futex_wait_(addr, val, ns);
    rt_awake_();
}

void rt_futexwakeup_(_Atomic(uint32_t) *addr, uint32_t n)
{
    rt_self_->stats.futex_wakes++;
    rt_futex_wake_(addr, n);
}

/* ---- sleeping ---- */

void rt_osyield_(void) { sched_yield(); }

/* To an absolute time, so that signals do not stretch it. */
void rt_sleep_(int64_t ns)
{
    struct timespec until = timespec_of(rt_clock_() + ns);

    int err;

    do {
        rt_sleeps_(false);
        err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        rt_awake_();
    } while (err == EINTR);
}

void rt_usleep_(uint32_t us) { rt_sleep_((int64_t)us * 1000); }

/* ---- running ---- */

/* A burst reads the clock in a loop and adds up what passed between two readings. A gap of more
 * than GAP_NS means that the thread was off its CPU, and counts as GAP_NS: user code that is
 * descheduled makes no progress either. What is left when another reading would be too long, and
 * bursts that are shorter, run a counted loop; what a loop takes is measured in the shape in which
 * it runs then, short and between readings of the clock, and again while bursts go on: a CPU
 * changes its speed. */

enum {
    GAP_NS = 10000,
    OFF_CPU_NS = 50000, /* a longer gap becomes a record: somebody else had the CPU */
    LAST_READINGS = 3,  /* so many readings before the end the clock is no longer asked */
    PROBE_LOOPS = 400,
    PROBES = 64,
    PROBE_EVERY_NS = 20000000
};

static int64_t clock_cost_ns;             /* of one reading */
static _Atomic(int64_t) loops_per_1024ns; /* of the counted loop */
static _Atomic(int64_t) probe_at_ns;      /* when it is measured again */

static __attribute__((noinline)) void count_down(int64_t loops)
{
    for (int64_t i = 0; i < loops; i++)
        __asm__ volatile("" ::: "memory");
}

static int64_t time_of_loops(void)
{
    int64_t start = rt_clock_();

    count_down(PROBE_LOOPS);
    return rt_clock_() - start - clock_cost_ns;
}

static int64_t time_of_clock(void)
{
    int64_t start = rt_clock_();

    for (int i = 0; i < 64; i++)
        rt_clock_();
    return (rt_clock_() - start) / 65;
}

/* The smaller quartile of some readings: the machine was ours then, and no single reading that the
 * clock made too short decides. */
static int64_t good_of(int64_t (*measure)(void), int64_t *ns)
{
    for (int i = 0; i < PROBES; i++) {
        int64_t x = measure();
        int k = i;

        for (; k > 0 && ns[k - 1] > x; k--)
            ns[k] = ns[k - 1];
        ns[k] = x;
    }
    return ns[PROBES / 4] > 0 ? ns[PROBES / 4] : 1;
}

static void measure_loops(void)
{
    int64_t ns[PROBES], took = good_of(time_of_loops, ns);

    atomic_store_explicit(&loops_per_1024ns, PROBE_LOOPS * 1024 / took, memory_order_relaxed);
}

void rt_burst_calibrate_(void)
{
    int64_t ns[PROBES];

    clock_cost_ns = good_of(time_of_clock, ns);
    measure_loops();
    atomic_store(&probe_at_ns, rt_clock_() + PROBE_EVERY_NS);
}

/* Now and then, as a part of a long burst: one reading of the quartile's kind. */
static void measure_again(int64_t now)
{
    int64_t due = atomic_load_explicit(&probe_at_ns, memory_order_relaxed), took, old, new;

    if (now < due || !atomic_compare_exchange_strong(&probe_at_ns, &due, now + PROBE_EVERY_NS))
        return;
    took = time_of_loops();
    old = atomic_load_explicit(&loops_per_1024ns, memory_order_relaxed);
    new = took > 0 ? PROBE_LOOPS * 1024 / took : old;
    if (new > old / 2 && new < old * 2) /* else it was interrupted */
        atomic_store_explicit(&loops_per_1024ns, (7 * old + new) / 8, memory_order_relaxed);
}

static bool take_cut(struct rt_thread *t)
{
    return atomic_load_explicit(&t->cut, memory_order_relaxed) && atomic_exchange(&t->cut, false);
}

static void run_by_count(int64_t ns)
{
    if (ns > 0)
        count_down(ns * atomic_load_explicit(&loops_per_1024ns, memory_order_relaxed) / 1024);
}

static int64_t run_by_clock(struct rt_thread *t, int64_t ns, bool cut)
{
    int64_t last = rt_clock_(), ran = 2 * clock_cost_ns,
            enough = ns - LAST_READINGS * clock_cost_ns;

    measure_again(last);
    while (ran < enough) {
        int64_t now = rt_clock_();

        ran += now - last < GAP_NS ? now - last : GAP_NS;
        if (__builtin_expect(now - last > OFF_CPU_NS, 0))
            ev_host_on_cpu((uint64_t)(now - last - GAP_NS), (uint16_t)sched_getcpu());
        last = now;
        if (cut && ran < enough && take_cut(t))
            return ns - ran;
    }
    run_by_count(ns - ran);
    return 0;
}

int64_t rt_burst_(int64_t ns, enum burst_how how)
{
    struct rt_thread *t = rt_self_;

    if (ns <= 0)
        return 0;
    if (how == BURST_CUT && take_cut(t))
        return ns;
    if (ns >= 2 * LAST_READINGS * clock_cost_ns)
        return run_by_clock(t, ns, how == BURST_CUT);
    run_by_count(ns);
    return 0;
}

/* ---- memory, seeds ---- */

void *rt_alloc_(size_t size, size_t align)
{
    size_t used = atomic_load(&W->memory_used), at;

    do {
        at = (used + align - 1) & ~(align - 1);
        if (at > W->memory_max || size > W->memory_max - at)
            rt_limit_("real threads: the world's memory limit is reached");
    } while (!atomic_compare_exchange_weak(&W->memory_used, &used, at + size));
    return W->memory + at;
}

/* splitmix64: the state is a counter, so one atomic add makes it a stream for many threads. */
uint64_t rt_seed64_(void)
{
    uint64_t z = atomic_fetch_add(&W->seed, 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- what the hypervisor took ---- */

/* Of all CPUs, since the system started; 0 where the kernel does not say. */
int64_t rt_steal_ns_(void)
{
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/stat", "re");

    if (!f)
        return 0;
    if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
        ticks = 0;
    fclose(f);
    return (int64_t)ticks * (SEC / sysconf(_SC_CLK_TCK));
}

/* ---- CPUs ---- */

int32_t rt_ncpu_(void) { return W->ncpu; }

/* Reads what fits of a small file; false if it cannot be read. */
static bool read_small(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f)
        return false;
    n = fread(buf, 1, size - 1, f);
    fclose(f);
    buf[n] = 0;
    return n > 0;
}

enum { GROUP_MAX = 4096 };

/* This process's cpu.max under cgroup 2 mounted at its usual place; else the mount's root. */
static bool read_cpu_max(char *buf, size_t size)
{
    char group[GROUP_MAX], path[GROUP_MAX + 64], *p, *end;

    if (read_small("/proc/self/cgroup", group, sizeof group) && (p = strstr(group, "0::"))) {
        end = strchr(p, '\n');
        snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/cpu.max",
                 end ? (int)(end - p - 3) : (int)strlen(p + 3), p + 3);
        if (read_small(path, buf, size))
            return true;
    }
    return read_small("/sys/fs/cgroup/cpu.max", buf, size);
}

/* "max 100000" has no number first: no limit. */
static bool parse_cpu_max(const char *text, int64_t *quota_us, int64_t *period_us)
{
    char *rest, *end;

    *quota_us = strtoll(text, &rest, 10);
    if (rest == text || *quota_us <= 0)
        return false;
    *period_us = strtoll(rest, &end, 10);
    return end != rest && *period_us > 0;
}

bool rt_quota_(int64_t *quota_us, int64_t *period_us)
{
    char text[128];
    bool limited;

    if (W->opts.quota_us > 0) {
        *quota_us = W->opts.quota_us;
        *period_us = W->opts.period_us > 0 ? W->opts.period_us : 100000;
        return true;
    }
    rt_hold_();
    limited = read_cpu_max(text, sizeof text) && parse_cpu_max(text, quota_us, period_us);
    rt_unhold_();
    return limited;
}
