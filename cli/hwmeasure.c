/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring by doing it. What is short is done many times between two looks at the clock. A line
 * that another CPU has: a second thread writes to each of some lines, then this one does the
 * operation on all of them, each after the one before is done.
 */
#include "cli/hwmeasure.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/fail.h"

enum {
    LINES = 64,
    LINE = 128,   /* bytes: two lines of 64 are fetched together */
    REPEAT = 512, /* of what is short */
    SOON_NS = 20000,
    LATER_NS = 400000,
    SLEEPS_MAX = 100
};

typedef _Atomic uint64_t word;
static struct {
    _Alignas(LINE) word w;
} lines[LINES];

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

static void wait_until(int64_t at)
{
    while (now() < at)
        ;
}

const char *hw_port(void)
{
#if defined __x86_64__
    return "amd64";
#elif defined __aarch64__
    return "arm64";
#elif defined __powerpc64__
    return "ppc64le";
#else
    return NULL;
#endif
}

static int by_value(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

static bool refused; /* the system gave no thread, or no descriptor */

static bool starts(pthread_t *t, void *(*fn)(void *))
{
    if (pthread_create(t, NULL, fn, NULL) == 0)
        return true;
    refused = true;
    return false;
}

/* ---- atomics ---- */

/* All lines, in an order that nobody fetches ahead. */
static uint64_t after(uint64_t i) { return (i * 29 + 17) % LINES; }

/* The next operation does not begin before this one is done: what waits for a line is not hidden by
 * what comes after it. */
static inline void apart(void)
{
#if defined __x86_64__
    __builtin_ia32_lfence();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Each does its operation once on line i and says which line is next. */
static uint64_t op_load(uint64_t i) { return atomic_load(&lines[i].w); }
static uint64_t op_load_rlx(uint64_t i)
{
    return atomic_load_explicit(&lines[i].w, memory_order_relaxed);
}
static uint64_t op_store(uint64_t i)
{
    uint64_t next = after(i);
    atomic_store(&lines[i].w, next);
    return next;
}
static uint64_t op_store_rlx(uint64_t i)
{
    uint64_t next = after(i);
    atomic_store_explicit(&lines[i].w, next, memory_order_relaxed);
    return next;
}
static uint64_t op_cas(uint64_t i)
{
    uint64_t next = after(i), expected = next;
    atomic_compare_exchange_strong(&lines[i].w, &expected, next);
    return next;
}
static uint64_t op_xchg(uint64_t i) { return atomic_exchange(&lines[i].w, after(i)); }
static uint64_t op_add(uint64_t i) { return atomic_fetch_add(&lines[i].w, 0); }
static uint64_t op_nothing(uint64_t i) { return i; }

static const struct op {
    const char *name;
    uint64_t (*once)(uint64_t i);
} ops[] = {{"load", op_load},   {"load_acq", op_load},   {"load_rlx", op_load_rlx},
           {"store", op_store}, {"store_rel", op_store}, {"store_rlx", op_store_rlx},
           {"cas", op_cas},     {"cas_rel", op_cas},     {"xchg", op_xchg},
           {"add", op_add}};

static void own_all(void)
{
    for (uint64_t i = 0; i < LINES; i++)
        atomic_store(&lines[i].w, after(i));
}

static int64_t time_of(const struct op *op, int rounds)
{
    uint64_t i = 0;
    int64_t began = now();
    for (int k = 0; k < rounds; k++)
        i = op->once(i);
    return (now() - began) * 1000 / rounds + (int64_t)(i / LINES); /* i is used */
}

static int64_t time_of_each(const struct op *op)
{
    uint64_t i = 0;
    int64_t began = now();
    for (int k = 0; k < LINES; k++) {
        i = op->once(i);
        apart();
    }
    return (now() - began) * 1000 / LINES + (int64_t)(i / LINES);
}

/* What the loop around an operation takes: the least that was seen. */
static int64_t time_of_loop(bool each)
{
    static const struct op nothing = {"", op_nothing};
    int64_t least = INT64_MAX;
    for (int i = 0; i < 100; i++) {
        int64_t ps = each ? time_of_each(&nothing) : time_of(&nothing, REPEAT);
        least = ps < least ? ps : least;
    }
    return least;
}

static _Atomic int turn; /* 1: the other one takes all lines; 0: this one; 2: the end */

static void *take_lines(void *arg)
{
    (void)arg;
    for (int t; (t = atomic_load(&turn)) != 2;)
        if (t == 1) {
            own_all();
            atomic_store(&turn, 0);
        }
    return NULL;
}

static int64_t time_of_miss(const struct op *op)
{
    atomic_store(&turn, 1);
    while (atomic_load(&turn) != 0)
        ;
    return time_of_each(op);
}

/* ---- what is short ---- */

static _Atomic uint32_t nobody;
static int epoll_fd, event_fd;

static long futex(_Atomic uint32_t *at, int op, uint32_t value)
{
    return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void do_clock(void) { (void)now(); }
static void do_yield(void) { sched_yield(); }
static void do_call(void) { syscall(SYS_getppid); }
static void do_wake_none(void) { futex(&nobody, FUTEX_WAKE, 1); }
static void do_fence(void) { atomic_thread_fence(memory_order_seq_cst); }
static void do_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield" ::: "memory");
#endif
}
static void do_poll(void)
{
    struct epoll_event e;
    epoll_wait(epoll_fd, &e, 1, 0);
}
static void do_break(void)
{
    uint64_t one = 1;
    if (write(event_fd, &one, sizeof one) == sizeof one)
        return;
    fprintf(stderr, "gmpsim: calibrate: an eventfd cannot be written to: %s\n", strerror(errno));
    exit(EXIT_USAGE);
}

static int64_t time_of_many(void (*f)(void), int rounds)
{
    int64_t began = now();
    for (int i = 0; i < rounds; i++)
        f();
    return (now() - began) * 1000 / rounds;
}

/* ---- threads ---- */

static _Atomic uint32_t slept_on;
static _Atomic int64_t ran_at;
static _Atomic bool ready, over;

static void *sleeper(void *arg)
{
    (void)arg;
    while (!atomic_load(&over)) {
        atomic_store(&ready, true);
        while (atomic_load(&slept_on) == 0)
            futex(&slept_on, FUTEX_WAIT, 0);
        atomic_store(&ran_at, now());
        atomic_store(&slept_on, 0);
    }
    return NULL;
}

struct wake {
    int64_t call, until; /* ns */
};

/* yields: the sleeper needs this very CPU to run. */
static struct wake wake_it(bool yields)
{
    atomic_store(&ran_at, 0);
    int64_t began = now();
    atomic_store(&slept_on, 1);
    futex(&slept_on, FUTEX_WAKE, 1);
    int64_t end = now();
    while (atomic_load(&ran_at) == 0)
        if (yields)
            sched_yield();
    return (struct wake){end - began, atomic_load(&ran_at) - began};
}

static struct wake wake_after(int64_t idle_ns)
{
    while (!atomic_load(&ready))
        ;
    atomic_store(&ready, false);
    wait_until(now() + idle_ns);
    return wake_it(false);
}

/* Of one that sleeps on this very CPU, which is busy: with us. */
static struct wake wake_here(void)
{
    while (!atomic_load(&ready))
        sched_yield();
    atomic_store(&ready, false);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, SOON_NS}, NULL);
    return wake_it(true);
}

static void *run_once(void *arg)
{
    (void)arg;
    atomic_store(&ran_at, now());
    return NULL;
}

static struct wake start_thread(void)
{
    pthread_t t;
    atomic_store(&ran_at, 0);
    int64_t began = now();
    if (!starts(&t, run_once))
        return (struct wake){0, 0};
    int64_t end = now();
    while (atomic_load(&ran_at) == 0)
        ;
    int64_t at = atomic_load(&ran_at);
    pthread_join(t, NULL);
    return (struct wake){end - began, at - began};
}

static void on_signal(int sig)
{
    (void)sig;
    atomic_store(&ran_at, now());
}

static void *compute(void *arg)
{
    (void)arg;
    atomic_store(&ready, true);
    while (!atomic_load(&over))
        ;
    return NULL;
}

static pthread_t computing;

static struct wake send_signal(void)
{
    atomic_store(&ran_at, 0);
    wait_until(now() + SOON_NS);
    int64_t began = now();
    pthread_kill(computing, SIGURG);
    int64_t end = now();
    while (atomic_load(&ran_at) == 0)
        ;
    return (struct wake){end - began, atomic_load(&ran_at) - began};
}

/* ---- telling ---- */

static struct teller {
    void (*tell)(void *arg, const struct hw_entry *e);
    void *arg;
    int samples, cpus;
    struct hw_entry e, second; /* large */
    int64_t wall, cpu;
} T;

static struct hw_entry *begin(struct hw_entry *e, const char *name)
{
    *e = (struct hw_entry){.name = name, .in_table = true};
    T.wall = now();
    T.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return e;
}

static void end(struct hw_entry *e, bool slept)
{
    int64_t wall = now() - T.wall, cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - T.cpu;
    e->share = slept || wall <= 0 ? -1 : (int)(cpu * 1000 / wall);
    qsort(e->ps, (size_t)e->n, sizeof *e->ps, by_value);
    T.tell(T.arg, e);
}

static void put(struct hw_entry *e, int64_t ps)
{
    if (e->n < HW_SAMPLES_MAX)
        e->ps[e->n++] = ps > 0 ? ps : 0;
}

static void atomics(void)
{
    pthread_t other;
    bool two = T.cpus > 1;
    int64_t loop = time_of_loop(/*each*/ false), each = time_of_loop(/*each*/ true);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        struct hw_entry *e = begin(&T.e, ops[k].name);
        e->atomic = true;
        own_all();
        for (int i = 0; i < T.samples; i++)
            put(e, time_of(&ops[k], REPEAT) - loop);
        end(e, false);
    }
    atomic_store(&turn, 0);
    if (!two || !starts(&other, take_lines))
        return;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        struct hw_entry *e = begin(&T.e, ops[k].name);
        e->atomic = e->miss = true;
        for (int i = 0; i < T.samples; i++)
            put(e, time_of_miss(&ops[k]) - each);
        end(e, false);
    }
    atomic_store(&turn, 2);
    pthread_join(other, NULL);
}

static void short_ones(void)
{
    static const struct {
        const char *name;
        void (*f)(void);
        int rounds;
        bool in_table;
    } all[] = {{"nanotime", do_clock, REPEAT, true}, {"pause", do_pause, REPEAT, true},
               {"osyield", do_yield, 16, true},      {"futex_wake_none", do_wake_none, 16, true},
               {"epoll_poll", do_poll, 16, true},    {"epoll_break", do_break, 16, true},
               {"system call", do_call, 64, false},  {"fence", do_fence, REPEAT, false}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        struct hw_entry *e = begin(&T.e, all[k].name);
        e->in_table = all[k].in_table;
        for (int i = 0; i < T.samples; i++)
            put(e, time_of_many(all[k].f, all[k].rounds));
        end(e, false);
    }
}

/* Two entries of one measurement: the call, and from its end until the other one runs; of a new
 * thread, which is waited for, from its begin. */
static void pairs(const char *call, const char *until, bool thread, struct wake (*once)(void))
{
    struct hw_entry *a = begin(&T.e, call), *b = begin(&T.second, until);
    for (int i = 0; i < T.samples; i++) {
        struct wake w = once();
        put(a, w.call * 1000);
        put(b, (thread ? w.until : w.until - w.call) * 1000);
    }
    end(a, /*slept*/ thread);
    end(b, /*slept*/ thread);
}

static struct wake wake_soon(void) { return wake_after(SOON_NS); }

/* With a thread that sleeps until it is woken. */
static void with_sleeper(void (*measure)(void))
{
    pthread_t t;
    atomic_store(&ready, false);
    atomic_store(&over, false);
    if (!starts(&t, sleeper))
        return;
    measure();
    while (!atomic_load(&ready))
        sched_yield();
    atomic_store(&over, true);
    atomic_store(&slept_on, 1);
    futex(&slept_on, FUTEX_WAKE, 1);
    pthread_join(t, NULL);
}

static void wakes(void)
{
    pairs("futex_wake", "wake_latency", false, wake_soon);
    struct hw_entry *e = begin(&T.e, HW_WAKE_LATER);
    e->in_table = false;
    for (int i = 0; i < T.samples && i < SLEEPS_MAX; i++) {
        struct wake w = wake_after(LATER_NS);
        put(e, (w.until - w.call) * 1000);
    }
    end(e, false);
}

static void wakes_here(void)
{
    struct hw_entry *e = begin(&T.e, "futex_wake_busy");
    for (int i = 0; i < T.samples; i++)
        put(e, wake_here().call * 1000);
    end(e, /*slept*/ true);
}

/* All on one CPU: that of this thread. */
static void busy_wakes(void)
{
    cpu_set_t all, one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    if (cpu < 0 || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    with_sleeper(wakes_here);
    sched_setaffinity(0, sizeof all, &all);
}

static void signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal}, old;
    atomic_store(&ready, false);
    atomic_store(&over, false);
    sigaction(SIGURG, &sa, &old);
    if (starts(&computing, compute)) {
        while (!atomic_load(&ready))
            ;
        pairs("signal_send", "signal_latency", false, send_signal);
        atomic_store(&over, true);
        pthread_join(computing, NULL);
    }
    sigaction(SIGURG, &old, NULL);
}

/* How much too late a sleep is over. */
static void sleeps(void)
{
    static const struct {
        const char *name;
        int64_t ns;
    } all[] = {{"sleep of 3 us, late", 3000},
               {"sleep of 20 us, late", 20000},
               {"sleep of 1 ms, late", 1000000},
               {"sleep of 10 ms, late", 10000000}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        struct hw_entry *e = begin(&T.e, all[k].name);
        e->in_table = false;
        int n = T.samples < SLEEPS_MAX ? T.samples : SLEEPS_MAX;
        for (int i = 0; i < (all[k].ns > 5000000 ? n / 5 + 1 : n); i++) {
            struct timespec t = {0, (long)all[k].ns};
            int64_t began = now();
            clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
            put(e, (now() - began - all[k].ns) * 1000);
        }
        end(e, true);
    }
}

/* What a short sleep takes of the CPU: to set its timer, to leave and to come back. */
static void sleeps_of_the_cpu(void)
{
    struct hw_entry *e = begin(&T.e, "usleep_busy");
    for (int i = 0; i < T.samples; i++) {
        int64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, SOON_NS}, NULL);
        put(e, (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) * 1000);
    }
    end(e, true);
}

bool hw_measure(int samples, void (*tell)(void *arg, const struct hw_entry *e), void *arg)
{
    cpu_set_t set;
    struct epoll_event ev = {.events = EPOLLPRI}; /* never comes */
    T.tell = tell;
    T.arg = arg;
    T.samples = samples < HW_SAMPLES_MAX ? samples : HW_SAMPLES_MAX;
    T.cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll_fd < 0 || event_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &ev) != 0)
        return false;
    refused = false;
    atomics();
    short_ones();
    if (T.cpus > 1) {
        with_sleeper(wakes);
        busy_wakes();
        pairs("thread_start", "thread_start_latency", true, start_thread);
        signals();
    }
    sleeps_of_the_cpu();
    sleeps();
    close(epoll_fd);
    close(event_fd);
    return !refused;
}
