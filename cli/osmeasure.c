/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads on futexes, the median of some hundred wakes. The sleeper is woken a stated time
 * after it went to sleep: 20 us for a CPU that is idle for a moment, 400 us for a long one. */
#include "cli/osmeasure.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SHORT_NS = 20000,
    LONG_NS = 400000,
    ROUNDS_SHORT = 150,
    ROUNDS_LONG = 60,
    SLEEPS = 20,
    SLEEP_NS = 200000,
    DEEP_AFTER_NS = 50000,
    PAUSE_ROUNDS = 20,
    PAUSES = 1000
};

static inline void spin_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

struct pair {
    _Atomic uint32_t word;
    _Atomic int64_t woke_at;
    _Atomic bool ready, over;
};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_until(int64_t at)
{
    while (now() < at)
        ;
}

static long futex(_Atomic uint32_t *word, int op, uint32_t val)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, val, NULL, NULL, 0);
}

static void *sleeper(void *arg)
{
    struct pair *p = arg;
    while (!atomic_load(&p->over)) {
        atomic_store(&p->ready, true);
        while (atomic_load(&p->word) == 0)
            futex(&p->word, FUTEX_WAIT, 0);
        atomic_store(&p->woke_at, now());
        atomic_store(&p->word, 0);
    }
    return NULL;
}

static int by_value(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

static int64_t median(int64_t *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

/* Medians of the call and of the time from its begin until the sleeper runs. */
static void rounds(struct pair *p, int n, int64_t idle_ns, int64_t *call, int64_t *until)
{
    int64_t calls[ROUNDS_SHORT], untils[ROUNDS_SHORT];
    for (int i = 0; i < n; i++) {
        while (!atomic_load(&p->ready))
            ;
        atomic_store(&p->ready, false);
        wait_until(now() + idle_ns);
        atomic_store(&p->woke_at, 0);
        int64_t begin = now();
        atomic_store(&p->word, 1);
        futex(&p->word, FUTEX_WAKE, 1);
        int64_t end = now();
        while (atomic_load(&p->woke_at) == 0)
            if (now() > end + 10000000)
                break;
        calls[i] = end - begin;
        untils[i] = atomic_load(&p->woke_at) - begin;
    }
    *call = median(calls, n);
    *until = median(untils, n);
}

static int64_t sleep_late(void)
{
    int64_t late[SLEEPS];
    for (int i = 0; i < SLEEPS; i++) {
        struct timespec t = {0, SLEEP_NS};
        int64_t begin = now();
        nanosleep(&t, NULL);
        late[i] = now() - begin - SLEEP_NS;
    }
    return median(late, SLEEPS);
}

/* What spinning for a lock comes to. */
static int64_t pause_ps(void)
{
    int64_t took[PAUSE_ROUNDS];
    for (int i = 0; i < PAUSE_ROUNDS; i++) {
        int64_t begin = now();
        for (int k = 0; k < PAUSES; k++)
            spin_pause();
        took[i] = now() - begin;
    }
    return median(took, PAUSE_ROUNDS) * 1000 / PAUSES;
}

static int64_t positive(int64_t n) { return n > 0 ? n : 0; }

bool os_measure(struct osmeasure *m)
{
    struct pair p = {0};
    pthread_t t;
    cpu_set_t set;
    int64_t call, until, deep_call, deep_until;
    *m = (struct osmeasure){.cpus = 1, .deep_after_ns = DEEP_AFTER_NS};
    m->pause_ps = pause_ps();
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        m->cpus = CPU_COUNT(&set);
    if (m->cpus < 2 || pthread_create(&t, NULL, sleeper, &p) != 0)
        return false;
    rounds(&p, ROUNDS_SHORT, SHORT_NS, &call, &until);
    rounds(&p, ROUNDS_LONG, LONG_NS, &deep_call, &deep_until);
    while (!atomic_load(&p.ready))
        ;
    atomic_store(&p.over, true);
    atomic_store(&p.word, 1);
    futex(&p.word, FUTEX_WAKE, 1);
    pthread_join(t, NULL);
    m->futex_wake_ns = call;
    m->wake_latency_ns = positive(until - call);
    m->wake_deep_ns = positive(deep_until - until);
    m->sleep_late_ns = positive(sleep_late());
    return true;
}
