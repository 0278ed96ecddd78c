/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: switches keep every register and local, stacks are pooled, bounded and guarded. */
#include "harness.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/coro.h"
#include "sim/base/rng.h"

#if defined(GMPSIM_TSAN)
enum { MANY = 500 }; /* its fibers are threads to it, and it has room for 8000 */
#else
enum { MANY = 4096 };
#endif

static struct arena arena;
static struct failure f;
static struct stackpool *pool;
static struct coro thread;
static struct coro coros[MANY];
static uint64_t results[MANY];

static void begin(size_t stack_size, uint32_t count)
{
    arena_release(&arena);
    fail_reset(&f);
    CHECK_EQ(arena_init(&arena, 16 << 20, stackpool_space(stack_size, count), &f), 0);
    pool = arena_new(&arena, struct stackpool);
    CHECK_EQ(stackpool_init(pool, &arena, stack_size, count, &f), 0);
    coro_init_thread(&thread);
}

/* Twelve values that live across the switch: more than there are callee-saved registers. */
static void juggle(void *arg)
{
    uint64_t me = (uint64_t)(uintptr_t)arg, v[12];
    for (uint64_t i = 0; i < 12; i++)
        v[i] = me * 100 + i;
    uint64_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], g = v[5], h = v[6], i = v[7];
    uint64_t j = v[8], k = v[9], l = v[10], m = v[11];
    for (;;) {
        results[me] =
            ((((((((((a * 3 + b) * 3 + c) * 3 + d) * 3 + e) * 3 + g) * 3 + h) * 3 + i) * 3 + j) *
                  3 +
              k) *
                 3 +
             l) *
                3 +
            m;
        coro_switch(&coros[me], &thread);
        a += b;
        b += c;
        c += d;
        d += e;
        e += g;
        g += h;
        h += i;
        i += j;
        j += k;
        k += l;
        l += m;
        m += a;
    }
}

/* The same without coroutines. */
static uint64_t juggled(uint64_t me, int rounds)
{
    uint64_t v[12], sum = 0;
    for (uint64_t i = 0; i < 12; i++)
        v[i] = me * 100 + i;
    for (int r = 0; r < rounds; r++) {
        sum = v[0];
        for (int i = 1; i < 12; i++)
            sum = sum * 3 + v[i];
        for (int i = 0; i < 12; i++)
            v[i] += v[(i + 1) % 12];
    }
    return sum;
}

TEST_CASE(Coro, RegistersSurvive)
{
    begin(STACK_SIZE_DEFAULT, 16);
    int rounds[16] = {0};
    for (uintptr_t i = 0; i < 16; i++)
        CHECK_EQ(stackpool_start(pool, &coros[i], juggle, (void *)i), 0);
    struct rng r;
    rng_init(&r, 1, RNG_USER, 0);
    for (int n = 0; n < 3000; n++) {
        uint64_t i = rng_below(&r, 16);
        coro_switch(&thread, &coros[i]);
        CHECK_EQ(results[i], juggled(i, ++rounds[i]));
    }
    arena_release(&arena);
}

/* Each passes a token to the next without the thread in between. */
static uint64_t hops;

static void relay(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg;
    for (uint64_t left = 100;; left--) {
        hops++;
        if (me == MANY - 1 && left == 1)
            coro_switch(&coros[me], &thread);
        coro_switch(&coros[me], &coros[(me + 1) % MANY]);
    }
}

TEST_CASE(Coro, ManyAlivePassAToken)
{
    begin(STACK_SIZE_DEFAULT, MANY);
    for (uintptr_t i = 0; i < MANY; i++)
        CHECK_EQ(stackpool_start(pool, &coros[i], relay, (void *)i), 0);
    CHECK_EQ(pool->count_used, MANY);
    hops = 0;
    coro_switch(&thread, &coros[0]);
    CHECK_EQ(hops, 100 * MANY);
    arena_release(&arena);
}

static void one_shot(void *arg)
{
    (*(int *)arg)++;
    coro_exit_to(&coros[0], &thread);
}

TEST_CASE(Coro, StacksAreUsedAgain)
{
    begin(STACK_SIZE_DEFAULT, 2);
    int runs = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(stackpool_start(pool, &coros[0], one_shot, &runs), 0);
        coro_switch(&thread, &coros[0]);
        stackpool_end(pool, &coros[0]);
    }
    CHECK_EQ(runs, 1000);
    CHECK_EQ(pool->count_made, 1);
    arena_release(&arena);
}

TEST_CASE(Coro, TheNumberOfThreadsHasAStatedLimit)
{
    begin(STACK_SIZE_DEFAULT, 3);
    for (uintptr_t i = 0; i < 3; i++)
        CHECK_EQ(stackpool_start(pool, &coros[i], juggle, (void *)i), 0);
    CHECK_EQ(stackpool_start(pool, &coros[3], juggle, NULL), -E_LIMIT);
    CHECK_STR(arena.failure.text, "limit of 3 threads reached");
    stackpool_end(pool, &coros[1]); /* never ran */
    CHECK_EQ(stackpool_start(pool, &coros[3], juggle, (void *)3), 0);
    coro_switch(&thread, &coros[3]);
    CHECK_EQ(results[3], juggled(3, 1));
    arena_release(&arena);
}

TEST_CASE(Coro, BadPoolsAreRefused)
{
    struct stackpool p;
    begin(STACK_SIZE_DEFAULT, 3);
    CHECK_EQ(stackpool_init(&p, &arena, 100, 3, &f), -E_LIMIT);
    fail_reset(&f);
    CHECK_EQ(stackpool_init(&p, &arena, STACK_SIZE_DEFAULT, STACK_COUNT_MAX + 1, &f), -E_LIMIT);
    fail_reset(&f);
    CHECK_EQ(stackpool_init(&p, &arena, STACK_SIZE_DEFAULT, 4, &f), -E_LIMIT);
    CHECK_HAS(f.text, "do not fit");
    arena_release(&arena);
}

/* A world after a reset, with another geometry: guard pages move. */
TEST_CASE(Coro, ResetAndAnotherStackSize)
{
    begin(256 << 10, 8);
    for (size_t size = 256 << 10; size >= 64 << 10; size /= 2) {
        for (uintptr_t i = 0; i < 8; i++)
            CHECK_EQ(stackpool_start(pool, &coros[i], juggle, (void *)i), 0);
        for (int i = 0; i < 8; i++)
            coro_switch(&thread, &coros[i]);
        CHECK_EQ(results[7], juggled(7, 1));
        arena_reset(&arena);
        pool = arena_new(&arena, struct stackpool);
        CHECK_EQ(stackpool_init(pool, &arena, size / 2, 8, &f), 0);
    }
    arena_release(&arena);
}

/* depth never reaches 0; the compiler does not know. */
static int deeper(volatile int *depth)
{
    volatile char page[4096];
    page[0] = 1;
    return --*depth ? deeper(depth) + page[0] : 0;
}

static void overflow(void *arg) { deeper(arg); }

static void run_overflow(void *arg)
{
    (void)arg;
    volatile int depth = INT_MAX;
    stackpool_start(pool, &coros[0], juggle, NULL);
    stackpool_start(pool, &coros[1], overflow, (void *)&depth);
    coro_switch(&thread, &coros[0]);
    coro_switch(&thread, &coros[1]);
}

/* The stack below belongs to another coroutine: without a guard page this would end well. */
TEST_CASE(Coro, OverflowHitsTheGuardPage)
{
    static struct harness_child child;
    begin(STACK_SIZE_DEFAULT, 2);
    harness_fork(&child, run_overflow, NULL);
    CHECK(child.signal == 11 || child.code != 0); /* a sanitizer reports and exits */
    arena_release(&arena);
}

static void come_back(void *arg) { (void)arg; }

static void run_come_back(void *arg)
{
    (void)arg;
    stackpool_start(pool, &coros[0], come_back, NULL);
    coro_switch(&thread, &coros[0]);
}

TEST_CASE(Coro, ReturningIsAnInternalError)
{
    static struct harness_child child;
    begin(STACK_SIZE_DEFAULT, 1);
    harness_fork(&child, run_come_back, NULL);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "returned");
    arena_release(&arena);
}

static void say_hello(void *arg)
{
    snprintf(arg, 64, "%s %d %.3s", "hello from a coroutine", 42, "abcdef");
    coro_exit_to(&coros[0], &thread);
}

/* The C library wants the stack aligned. */
TEST_CASE(Coro, TheCLibraryWorksOnCoroutines)
{
    char text[64];
    begin(STACK_SIZE_DEFAULT, 1);
    CHECK_EQ(stackpool_start(pool, &coros[0], say_hello, text), 0);
    coro_switch(&thread, &coros[0]);
    CHECK_STR(text, "hello from a coroutine 42 abc");
    arena_release(&arena);
}
