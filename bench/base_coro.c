/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutine switch against ucontext, and what a coroutine costs in memory.
 * libs: gmpsim_base
 *
 * A ring of coroutines passes the turn on, each from two functions down, as an M does from within a
 * host verb; "random" takes the next one by chance, so caches and predictors do not know it. */
#define _GNU_SOURCE
#include "bench/bench.h"

#include <ucontext.h>
#include <unistd.h>

#include "sim/base/coro.h"
#include "sim/base/rng.h"

enum { MAX = 4096, SWITCHES = 1 << 21, STACK = STACK_SIZE_DEFAULT };

static struct arena arena;
static struct stackpool *pool;
static struct coro thread, coros[MAX];
static ucontext_t thread_uc, ucs[MAX];
static uint16_t next_of[1 << 16];
static uint32_t count, left, at_random;

static inline uint32_t next(uint32_t i)
{
    return at_random ? next_of[left % (1 << 16)] % count : (i + 1 == count ? 0 : i + 1);
}

__attribute__((noinline)) static void hop(uint32_t i)
{
    uint32_t to = next(i);
    coro_switch(&coros[i], --left ? &coros[to] : &thread);
}

__attribute__((noinline)) static void verb(uint32_t i)
{
    hop(i);
    bench_keep(i);
}

static void body(void *arg)
{
    for (;;)
        verb((uint32_t)(uintptr_t)arg);
}

static void body_uc(int i)
{
    for (;;) {
        uint32_t to = next((uint32_t)i);
        swapcontext(&ucs[i], --left ? &ucs[to] : &thread_uc);
    }
}

static void new_world(uint32_t n)
{
    struct failure f = {0};
    if (!arena.base && arena_init(&arena, 64 << 20, stackpool_space(STACK, MAX), &f) != 0)
        exit(fail_exit_code(f.code));
    arena_reset(&arena);
    pool = arena_new(&arena, struct stackpool);
    if (stackpool_init(pool, &arena, STACK, MAX, &f) != 0)
        exit(fail_exit_code(f.code));
    coro_init_thread(&thread);
    for (uintptr_t i = 0; i < n; i++)
        stackpool_start(pool, &coros[i], body, (void *)i);
}

struct setup {
    uint32_t count, at_random;
};

static void run(void *arg)
{
    const struct setup *s = arg;
    count = s->count;
    at_random = s->at_random;
    new_world(count);
    left = count * 2 + 1000;
    coro_switch(&thread, &coros[0]);
    left = SWITCHES;
    bench_begin();
    coro_switch(&thread, &coros[0]);
    bench_end(SWITCHES);
}

static void run_uc(void *arg)
{
    const struct setup *s = arg;
    static char stacks[64][16384];
    count = s->count;
    at_random = s->at_random;
    for (uint32_t i = 0; i < count; i++) {
        getcontext(&ucs[i]);
        ucs[i].uc_stack.ss_sp = stacks[i];
        ucs[i].uc_stack.ss_size = sizeof stacks[i];
        makecontext(&ucs[i], (void (*)(void))body_uc, 1, (int)i);
    }
    left = SWITCHES / 16;
    bench_begin();
    swapcontext(&thread_uc, &ucs[0]);
    bench_end(SWITCHES / 16);
}

static void ended(void *arg)
{
    (void)arg;
    coro_exit_to(&coros[0], &thread);
}

static void run_life(void *arg)
{
    (void)arg;
    enum { LIVES = 1 << 17 };
    new_world(0);
    bench_begin();
    for (int i = 0; i < LIVES; i++) {
        stackpool_start(pool, &coros[0], ended, NULL);
        coro_switch(&thread, &coros[0]);
        stackpool_end(pool, &coros[0]);
    }
    bench_end(LIVES);
}

static size_t resident(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &size, &pages) != 2)
        exit(2);
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* What a shallow M and one that calls deep into the C library leave behind. */
static void shallow(void *arg) { verb((uint32_t)(uintptr_t)arg); }

static void deep(void *arg)
{
    char text[2048];
    snprintf(text, sizeof text, "%.1000d %s", 1, "a reporter prints from the stack of an M");
    bench_keep(text);
    shallow(arg);
}

static void memory(const char *name, coro_fn *fn)
{
    new_world(0);
    arena_release(&arena);
    new_world(0);
    size_t before = resident();
    count = MAX;
    at_random = 0;
    left = MAX;
    for (uintptr_t i = 0; i < MAX; i++)
        stackpool_start(pool, &coros[i], fn, (void *)i);
    coro_switch(&thread, &coros[0]);
    printf("  %-34s %10.0f bytes resident, %zu KiB of address space\n", name,
           (double)(resident() - before) / MAX, stackpool_space(STACK, 1) >> 10);
}

int main(int argc, char **argv)
{
    struct rng r;
    rng_init(&r, 1, RNG_USER, 0);
    for (size_t i = 0; i < sizeof next_of / sizeof next_of[0]; i++)
        next_of[i] = (uint16_t)rng_below(&r, MAX);
    static struct setup setups[] = {{64, 0},   {2, 0}, {8, 0},  {64, 0},  {1000, 0},
                                    {4096, 0}, {8, 1}, {64, 1}, {1000, 1}};
    struct bench_case cases[] = {
        {"ucontext, 64 in turn", run_uc, &setups[0]}, {"coro, 2 in turn", run, &setups[1]},
        {"coro, 8 in turn", run, &setups[2]},         {"coro, 64 in turn", run, &setups[3]},
        {"coro, 1000 in turn", run, &setups[4]},      {"coro, 4096 in turn", run, &setups[5]},
        {"coro, 8 at random", run, &setups[6]},       {"coro, 64 at random", run, &setups[7]},
        {"coro, 1000 at random", run, &setups[8]},    {"coro, start + end", run_life, NULL},
    };
    char title[80];
    snprintf(title, sizeof title, "coroutine switch (%s)", coro_kind());
    bench_table(title, cases, sizeof cases / sizeof cases[0], bench_reps(argc, argv, 7));
    printf("memory of one of %d coroutines\n", MAX);
    memory("that switched once", shallow);
    memory("that printed before", deep);
    return 0;
}
