/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host's part of a run takes on this machine, and how much that varies: the "noise" of a
 * cost table. Run it as the programs run that are to be compared, under `chrt -f 1`, say.
 *
 *     cc -O2 -pthread -o measure measure.c && chrt -f 1 ./measure [ROUNDS]
 *
 * Prints eleven quantiles of each in picoseconds: 0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100 %. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 100000 };

static int rounds = 2000;
static int64_t values[ROUNDS_MAX], calls[ROUNDS_MAX];

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void spin_us(int64_t us)
{
    for (int64_t end = now() + us * 1000; now() < end;)
        ;
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *name, int64_t *v, int64_t less_ns)
{
    static const int at[] = {0, 10, 50, 100, 250, 500, 750, 900, 950, 990, 1000};
    qsort(v, (size_t)rounds, sizeof *v, by_value);
    printf("%s: [", name);
    for (int i = 0; i < 11; i++) {
        int64_t ns = v[(int64_t)at[i] * (rounds - 1) / 1000] - less_ns;
        printf("%s%lld", i ? ", " : "", (long long)(ns < 0 ? 0 : ns) * 1000);
    }
    printf("]\n");
}

static int64_t median(const int64_t *v)
{
    static int64_t copy[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++)
        copy[i] = v[i];
    qsort(copy, (size_t)rounds, sizeof *copy, by_value);
    return copy[rounds / 2];
}

/* ---- waking a thread that sleeps on a futex ---- */

static _Atomic uint32_t word, go;
static _Atomic int64_t woken_at;

static void *sleeper(void *arg)
{
    (void)arg;
    for (int i = 0; i < rounds; i++) {
        while (atomic_load(&word) == 0)
            futex(&word, FUTEX_WAIT, 0, NULL);
        atomic_store(&woken_at, now());
        atomic_store(&word, 0);
    }
    return NULL;
}

static void wakes(int64_t rest_us, const char *name)
{
    pthread_t t;
    pthread_create(&t, NULL, sleeper, NULL);
    for (int i = 0; i < rounds; i++) {
        spin_us(rest_us);
        atomic_store(&woken_at, 0);
        atomic_store(&word, 1);
        int64_t before = now();
        futex(&word, FUTEX_WAKE, 1, NULL);
        calls[i] = now() - before;
        int64_t at;
        while ((at = atomic_load(&woken_at)) == 0)
            ;
        values[i] = at - before;
    }
    pthread_join(t, NULL);
    int64_t call = median(calls);
    print("futex_wake", calls, 0);
    print(name, values, call);
}

/* ---- starting a thread as the runtime does ---- */

static _Atomic int64_t started_at;
static char *stack;

static int child(void *arg)
{
    (void)arg;
    atomic_store(&started_at, now());
    syscall(SYS_exit, 0);
    return 0;
}

static void starts(void)
{
    enum { SIZE = 65536 };
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND |
                      CLONE_THREAD;
    for (int i = 0; i < rounds; i++) {
        stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        atomic_store(&started_at, 0);
        int64_t before = now();
        if (clone(child, stack + SIZE - 64, flags, NULL) < 0) {
            perror("clone");
            exit(1);
        }
        calls[i] = now() - before;
        int64_t at;
        while ((at = atomic_load(&started_at)) == 0)
            ;
        values[i] = at - before;
        spin_us(50);
        munmap(stack, SIZE);
    }
    print("thread_start", calls, 0);
    print("thread_start_latency", values, 0);
}

/* ---- timers, signals, computing ---- */

static void timers(void)
{
    static _Atomic uint32_t never;
    for (int i = 0; i < rounds; i++) {
        struct timespec d = {0, 100000};
        int64_t before = now();
        futex(&never, FUTEX_WAIT, 0, &d);
        values[i] = now() - before - 100000;
    }
    print("timer_slack", values, 0);
    for (int i = 0; i < rounds; i++) {
        struct timespec d = {0, 20000};
        int64_t before = now();
        nanosleep(&d, NULL);
        values[i] = now() - before - 20000;
    }
    print("usleep", values, 0);
}

static _Atomic int64_t signal_at;
static void handler(int sig)
{
    (void)sig;
    atomic_store(&signal_at, now());
}

static _Atomic int busy_tid;
static void *busy(void *arg)
{
    (void)arg;
    atomic_store(&busy_tid, (int)syscall(SYS_gettid));
    while (atomic_load(&go) == 0)
        ;
    return NULL;
}

static void signals(void)
{
    pthread_t t;
    signal(SIGURG, handler);
    pthread_create(&t, NULL, busy, NULL);
    while (atomic_load(&busy_tid) == 0)
        ;
    for (int i = 0; i < rounds; i++) {
        spin_us(30);
        atomic_store(&signal_at, 0);
        int64_t before = now();
        syscall(SYS_tgkill, getpid(), busy_tid, SIGURG);
        calls[i] = now() - before;
        int64_t at;
        while ((at = atomic_load(&signal_at)) == 0)
            ;
        values[i] = at - before;
    }
    atomic_store(&go, 1);
    pthread_join(t, NULL);
    int64_t call = median(calls);
    print("signal_send", calls, 0);
    print("signal_latency", values, call);
}

/* Interruptions: gaps of more than a microsecond in a loop that does nothing but read the clock. */
static void stalls(void)
{
    int64_t begin = now(), last = begin, spent = 0;
    int n = 0;
    while (n < rounds && last - begin < 5000000000) {
        int64_t at = now();
        if (at - last > 1000) {
            values[n++] = at - last;
            spent += at - last;
        }
        last = at;
    }
    int want = rounds;
    printf("stall every %lld ns\n", (long long)((last - begin - spent) / (n ? n : 1)));
    rounds = n ? n : 1;
    print("stall", values, 0);
    rounds = want;
}

int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= ROUNDS_MAX)
        rounds = atoi(argv[1]);
    wakes(5, "wake_latency after 5 us");
    wakes(200, "wake_latency after 200 us");
    starts();
    timers();
    signals();
    stalls();
    return 0;
}
