/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed host: what a simulated operation costs the machine that simulates.
 * libs: gmpsim_virt
 *
 * One atomic addition with nobody else due; then with n Ms busy, all adding to words of their own,
 * where every addition has to be put in order with everybody else's, so that each one is a switch;
 * a futex ping-pong; bursts; memory per M. */
#define _GNU_SOURCE /* clock_gettime */
#include "bench.h"

#include "sim/virt/host.h"
#include <stdbool.h>

#include "sim/virt/vm.h"

enum { THREADS_MAX = 4096 };

struct worker {
    struct hostm hm;
    struct worker *peer;
    uint32_t rounds;
    _Alignas(64) ATOMIC(uint64_t) word;
    ATOMIC(uint32_t) key;
};

static struct worker *workers;

static void begin(const struct vm_opts *opts)
{
    struct failure f = {0};

    if (!vm_init(&f, opts)) {
        fprintf(stderr, "%s\n", f.text);
        exit(2);
    }
    workers = host_alloc(sizeof *workers * THREADS_MAX, 64);
}

static void finish(void)
{
    enum world_end why = vm_run(UINT64_MAX);

    if (why != END_IDLE) {
        fprintf(stderr, "bench: the world ended with %s\n", world_end_name(why));
        exit(3);
    }
}

/* ---- additions ---- */

enum { OPS = 4000000 };

static void adder(void *arg)
{
    struct worker *w = arg;

    for (uint32_t i = 0; i < w->rounds; i++)
        a_add(&w->word, 1);
}

static void loader(void *arg)
{
    struct worker *w = arg;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < w->rounds; i++)
        sum += a_load(&w->word);
    bench_keep(sum);
}

struct busy {
    uint32_t threads;
    void (*fn)(void *);
};

static void run_busy(void *arg)
{
    const struct busy *b = arg;

    begin(&(struct vm_opts){0});
    for (uint32_t i = 0; i < b->threads; i++) {
        workers[i].rounds = OPS / b->threads;
        vm_start(&workers[i].hm, b->fn, &workers[i]);
    }
    bench_begin();
    finish();
    bench_end((uint64_t)(OPS / b->threads) * b->threads);
    vm_free();
}

static void run_plain(void *arg)
{
    static volatile uint64_t word;

    (void)arg;
    bench_begin();
    for (uint32_t i = 0; i < OPS; i++)
        __atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST);
    bench_end(OPS);
}

/* ---- futex ping-pong: one operation is a wake and a sleep ---- */

enum { ROUNDS = 100000 };

static void player(void *arg)
{
    struct worker *w = arg;

    for (uint32_t i = 0; i < w->rounds; i++) {
        while (a_load(&w->key) == 0)
            futexsleep(&w->key, 0, -1);
        a_store(&w->key, 0u);
        a_store(&w->peer->key, 1u);
        futexwakeup(&w->peer->key, 1);
    }
}

static void run_pingpong(void *arg)
{
    const struct vm_opts *opts = arg;

    begin(opts);
    for (uint32_t i = 0; i < 2; i++) {
        workers[i].rounds = ROUNDS;
        workers[i].peer = &workers[1 - i];
        vm_start(&workers[i].hm, player, &workers[i]);
    }
    a_init(&workers[0].key, 1u);
    bench_begin();
    finish();
    bench_end(2 * ROUNDS);
    vm_free();
}

/* ---- bursts of different lengths: each is an event ---- */

static void burster(void *arg)
{
    struct worker *w = arg;
    int64_t ns = 1000 + 37 * (int64_t)(w - workers);

    for (uint32_t i = 0; i < w->rounds; i++)
        burst(ns, BURST_CUT);
}

static void run_bursts(void *arg)
{
    const uint32_t threads = *(const uint32_t *)arg;

    begin(&(struct vm_opts){0});
    for (uint32_t i = 0; i < threads; i++) {
        workers[i].rounds = 400000 / threads;
        vm_start(&workers[i].hm, burster, &workers[i]);
    }
    bench_begin();
    finish();
    bench_end((uint64_t)(400000 / threads) * threads);
    vm_free();
}

/* ---- memory ---- */

static long resident_kb(void)
{
    long pages = 0, dummy;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%ld %ld", &dummy, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * 4;
}

static void sleeper(void *arg)
{
    struct worker *w = arg;

    while (a_load(&w->key) == 0)
        futexsleep(&w->key, 0, -1);
}

static void print_memory(void)
{
    struct vm_stats before, after;
    long rss;

    begin(&(struct vm_opts){0});
    vm_stats(&before);
    rss = resident_kb();
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        vm_start(&workers[i].hm, sleeper, &workers[i]);
    finish();
    vm_stats(&after);
    printf("memory of %d sleeping Ms: %zu bytes of arena and %ld KB resident each\n", THREADS_MAX,
           (after.memory - before.memory) / THREADS_MAX, (resident_kb() - rss) / THREADS_MAX);
    vm_free();
}

int main(int argc, char **argv)
{
    static struct busy b1 = {1, adder}, b1l = {1, loader}, b2 = {2, adder}, b8 = {8, adder},
                       b64 = {64, adder}, b256 = {256, adder}, b4096 = {4096, adder};
    static struct vm_opts dedicated, two = {.cpus = 2}, one = {.cpus = 1};
    static uint32_t n1 = 1, n8 = 8, n256 = 256;
    static const struct bench_case adds[] = {
        {"real atomic add, one thread", run_plain, NULL},
        {"simulated load, nobody else due", run_busy, &b1l},
        {"simulated add, nobody else due", run_busy, &b1},
        {"2 Ms busy, every add a switch", run_busy, &b2},
        {"8 Ms", run_busy, &b8},
        {"64 Ms", run_busy, &b64},
        {"256 Ms", run_busy, &b256},
        {"4096 Ms", run_busy, &b4096},
    };
    static const struct bench_case sleeps[] = {
        {"futex hop, dedicated CPUs", run_pingpong, &dedicated},
        {"futex hop, 2 CPUs", run_pingpong, &two},
        {"futex hop, 1 CPU", run_pingpong, &one},
        {"burst, 1 M", run_bursts, &n1},
        {"burst, 8 Ms", run_bursts, &n8},
        {"burst, 256 Ms", run_bursts, &n256},
    };
    int reps = bench_reps(argc, argv, 5);

    bench_table("simulated atomics", adds, sizeof adds / sizeof adds[0], reps);
    bench_table("sleeping and bursting", sleeps, sizeof sleeps / sizeof sleeps[0], reps);
    print_memory();
    return 0;
}
