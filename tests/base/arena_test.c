/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: zeroed memory at stable places, a clear message at the limit, and a checkpoint that brings
 * back everything, running coroutines included. Method: fill, save, spoil, restore, compare. */
#define _DEFAULT_SOURCE /* sigaction */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/coro.h"
#include "sim/base/rng.h"
#if defined(GMPSIM_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static struct arena arena;
static struct failure f;

static void begin(size_t limit, size_t stacks)
{
    arena_release(&arena);
    fail_reset(&f);
    CHECK_EQ(arena_init(&arena, limit, stacks, &f), 0);
}

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Allocates sizes of many orders of magnitude; checks and spoils each piece. */
static void use(uint64_t seed, int count)
{
    struct rng r;
    rng_init(&r, seed, RNG_USER, 0);
    for (int i = 0; i < count; i++) {
        size_t size = rng_next(&r) >> (44 + rng_below(&r, 20)),
               align = (size_t)1 << rng_below(&r, 13);
        unsigned char *p = arena_alloc(&arena, size, align);
        CHECK(p != NULL);
        CHECK_EQ((uintptr_t)p % align, 0);
        CHECK(all_zero(p, size));
        CHECK(arena_at(&arena, arena_offset(&arena, p)) == p);
        memset(p, 0xa5, size);
    }
}

TEST_CASE(Arena, MemoryIsAlignedAndZero)
{
    begin(1 << 30, 0);
    use(1, 500);
    arena_reset(&arena);
    use(2, 500); /* what the first world left is gone */
    arena_reset(&arena);
    use(3, 3);
    arena_reset(&arena);
    use(4, 3);
    arena_release(&arena);
}

static int told;

static void on_fail(void *arg, const struct failure *failure)
{
    CHECK(arg == &told);
    CHECK_EQ(failure->code, E_LIMIT);
    told++;
}

TEST_CASE(Arena, TheLimitIsStated)
{
    begin(10 << 20, 0);
    arena_on_fail(&arena, on_fail, &told);
    told = 0;
    CHECK(arena_alloc(&arena, 10 << 20, 1) != NULL);
    CHECK_EQ(told, 0);
    CHECK(arena_alloc(&arena, 1, 1) == NULL);
    CHECK_EQ(told, 1);
    CHECK_STR(arena.failure.text,
              "memory limit of 10 MiB reached: 10485760 bytes are in use and 1 more are needed");
    CHECK(arena_array(&arena, uint64_t, SIZE_MAX / 2) == NULL);
    CHECK(arena_alloc(&arena, SIZE_MAX, 16) == NULL);
    CHECK_EQ(told, 3);
    arena_release(&arena);
}

TEST_CASE(Arena, AnImpossibleLimitIsRefused)
{
    struct arena a;
    fail_reset(&f);
    CHECK_EQ(arena_init(&a, SIZE_MAX / 2, 0, &f), -E_LIMIT);
    CHECK_HAS(f.text, "too high");
    fail_reset(&f);
    CHECK_EQ(arena_init(&a, (size_t)1 << 60, 0, &f), -E_LIMIT);
    CHECK_HAS(f.text, "cannot reserve");
    arena_release(&a);
}

TEST_CASE(Checkpoint, DataComesBackAndTheRestIsZero)
{
    struct checkpoint c = {0};
    begin(1 << 28, 0);
    static const size_t sizes[] = {100, 5000, 3 << 20};
    for (size_t i = 0; i < 3; i++) {
        unsigned char *p = arena_alloc(&arena, sizes[i], 8);
        memset(p, (int)i + 1, sizes[i]);
        size_t used = arena.used;
        CHECK_EQ(checkpoint_save(&c, &arena, &f), 0);
        for (int round = 0; round < 3; round++) {
            memset(arena.base, 0x77, arena.used);
            for (size_t j = 0; j < 3; j++)
                memset(arena_alloc(&arena, sizes[j], 8), 0x77, sizes[j]);
            checkpoint_restore(&c, &arena);
            CHECK_EQ(arena.used, used);
            CHECK_EQ(p[0], i + 1);
            CHECK_EQ(p[sizes[i] - 1], i + 1);
            CHECK(all_zero(arena.base + used, arena.committed - used));
        }
    }
    checkpoint_release(&c);
    arena_release(&arena);
}

static struct checkpoint watched;
static int faults;

static void on_write(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    faults++;
    if (!checkpoint_touched(&watched, info->si_addr))
        abort();
}

/* 40 pages and a bit; what random writes did is gone, and each page cost one fault, once. */
TEST_CASE(Checkpoint, OnlyWhatWasWrittenToComesBackWhenWatched)
{
    enum { PAGE = 4096, PAGES = 40, SIZE = PAGES * PAGE + 100, WRITES = 30 };
    struct sigaction sa = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO}, old;
    struct rng r;
    begin(1 << 20, 0);
    unsigned char *p = arena_alloc(&arena, SIZE, 1), seen[PAGES + 1] = {0};
    for (int i = 0; i < SIZE; i++)
        p[i] = (unsigned char)(i * 7);
    CHECK_EQ(checkpoint_save(&watched, &arena, &f), 0);
    CHECK(checkpoint_watch(&watched, &arena));
    sigaction(SIGSEGV, &sa, &old);
    rng_init(&r, 1, RNG_USER, 0);
    faults = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < WRITES; i++) {
            size_t at = rng_below(&r, round < 10 ? SIZE / 4 : SIZE);
            p[at]++;
            seen[at / PAGE] = 1;
        }
        memset(arena_alloc(&arena, 5000, 8), 0x77, 5000);
        checkpoint_restore(&watched, &arena);
        for (int i = 0; i < SIZE; i++)
            CHECK_EQ(p[i], (unsigned char)(i * 7));
    }
    int pages = 0;
    for (int i = 0; i < PAGES; i++)
        pages += seen[i];
    CHECK_EQ(faults, pages);
    checkpoint_unwatch(&watched);
    memset(p, 0, SIZE);
    CHECK_EQ(faults, pages);
    checkpoint_restore(&watched, &arena);
    CHECK_EQ(p[SIZE - 1], (unsigned char)((SIZE - 1) * 7));
    sigaction(SIGSEGV, &old, NULL);
    checkpoint_release(&watched);
    arena_release(&arena);
}

static void restore_nothing(void *arg)
{
    struct checkpoint empty = {0};
    checkpoint_restore(&empty, arg);
}

static void restore_another(void *arg)
{
    static struct arena small;
    struct checkpoint c = {0};
    (void)arena_alloc(arg, 900000, 8);
    checkpoint_save(&c, arg, &f);
    (void)arena_init(&small, 1 << 20, 0, &f);
    checkpoint_restore(&c, &small);
}

TEST_CASE(Checkpoint, MisuseIsAnInternalError)
{
    static struct harness_child child;
    begin(1 << 20, 0);
    harness_fork(&child, restore_nothing, &arena);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "holds nothing");
    harness_fork(&child, restore_another, &arena);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "another world");
    arena_release(&arena);
}

/* What failed stays failed: there is nothing worth going back to. */
TEST_CASE(Checkpoint, AFailedWorldIsNotSaved)
{
    struct checkpoint c = {0};
    begin(1 << 20, 0);
    CHECK(arena_alloc(&arena, 2 << 20, 1) == NULL);
    CHECK_EQ(checkpoint_save(&c, &arena, &f), -E_LIMIT);
    CHECK_HAS(f.text, "memory limit of 1 MiB reached");
    arena_release(&arena);
}

/* ---- coroutines in a checkpoint ---- */

enum { COROS = 8 };

struct world {
    struct coro main, coros[COROS];
    struct stackpool pool;
    uint64_t count[COROS];
};

static struct world *w;

/* Recursion leaves locals on the stack that must come back with it. */
static uint64_t walk(int i, int depth, uint64_t x)
{
    volatile uint64_t here = x * 31 + (uint64_t)depth;
    coro_switch(&w->coros[i], &w->main);
    if (depth)
        here += walk(i, depth - 1, here) * 7;
    coro_switch(&w->coros[i], &w->main);
    return here;
}

static void walker(void *arg)
{
    int i = (int)(intptr_t)arg;
    for (uint64_t n = 0;; n++)
        w->count[i] = w->count[i] * 1000003 + walk(i, (i + (int)n) % 9, n);
}

static void make_world(void)
{
    enum { STACK = 64 << 10 };
    begin(16 << 20, stackpool_space(STACK, COROS));
    w = arena_new(&arena, struct world);
    coro_init_thread(&w->main);
    CHECK_EQ(stackpool_init(&w->pool, &arena, STACK, COROS, &f), 0);
    for (int i = 0; i < COROS; i++)
        CHECK_EQ(stackpool_start(&w->pool, &w->coros[i], walker, (void *)(intptr_t)i), 0);
}

/* Runs steps in an order given by the seed; the result depends on every local of every stack. */
static uint64_t run(uint64_t seed, int steps)
{
    struct rng r;
    rng_init(&r, seed, RNG_USER, 0);
    for (int i = 0; i < steps; i++)
        coro_switch(&w->main, &w->coros[rng_below(&r, COROS)]);
    uint64_t sum = 0;
    for (int i = 0; i < COROS; i++)
        sum = sum * 31 + w->count[i];
    return sum;
}

TEST_CASE(Checkpoint, CoroutinesGoOnWhereTheyWere)
{
    struct checkpoint early = {0}, late = {0};
    make_world();
    if (!coro_can_checkpoint()) {
        fail_reset(&f);
        CHECK_LT(checkpoint_save(&early, &arena, &f), 0);
        CHECK_HAS(f.text, "cannot copy coroutines");
        arena_release(&arena);
        return;
    }
    CHECK_EQ(checkpoint_save(&early, &arena, &f), 0); /* before they ever ran */
    uint64_t first = run(1, 333);
    CHECK_EQ(checkpoint_save(&late, &arena, &f), 0);
    uint64_t second = run(2, 500);
    CHECK_NE(first, second);
    for (int round = 0; round < 3; round++) {
        checkpoint_restore(&late, &arena);
        CHECK_EQ(run(2, 500), second);
        run(77, 91);
        checkpoint_restore(&early, &arena);
        CHECK_EQ(run(1, 333), first);
        CHECK_EQ(run(2, 500), second);
    }
    checkpoint_release(&early);
    checkpoint_release(&late);
    arena_release(&arena);
}

/* A coroutine that ended after the save lives again, one that began is gone. */
static void leaver(void *arg)
{
    (void)arg;
    w->count[0] += 1;
    coro_switch(&w->coros[0], &w->main);
    w->count[0] += 100;
    coro_exit_to(&w->coros[0], &w->main);
}

TEST_CASE(Checkpoint, BringsBackTheDead)
{
    struct checkpoint c = {0};
    make_world();
    if (!coro_can_checkpoint()) {
        arena_release(&arena);
        SKIP_CASE("a sanitizer keeps the frames");
    }
    stackpool_end(&w->pool, &w->coros[0]);
    CHECK_EQ(stackpool_start(&w->pool, &w->coros[0], leaver, NULL), 0);
    coro_switch(&w->main, &w->coros[0]);
    CHECK_EQ(checkpoint_save(&c, &arena, &f), 0);
    for (int round = 0; round < 3; round++) {
        coro_switch(&w->main, &w->coros[0]);
        CHECK_EQ(w->count[0], 101);
        stackpool_end(&w->pool, &w->coros[0]);
        CHECK_EQ(w->pool.count_used, COROS - 1);
        CHECK_EQ(stackpool_start(&w->pool, &w->coros[0], walker, NULL), 0);
        coro_switch(&w->main, &w->coros[0]);
        checkpoint_restore(&c, &arena);
        CHECK_EQ(w->count[0], 1);
        CHECK_EQ(w->pool.count_used, COROS);
    }
    checkpoint_release(&c);
    arena_release(&arena);
}

/* ASan's poison between the variables of a call that a run was cut in is no later run's. */
static void fills(unsigned char *bytes, size_t n) { memset(bytes, 1, n); }
static void (*volatile filler)(unsigned char *, size_t) = fills;

static void cut_in_a_call(int depth)
{
    unsigned char bytes[40];
    filler(bytes, sizeof bytes);
    if (depth > 0)
        cut_in_a_call(depth - 1);
    coro_switch(&w->coros[0], &w->main);
    filler(bytes, sizeof bytes);
}

static void diver(void *arg)
{
    (void)arg;
    coro_switch(&w->coros[0], &w->main);
    cut_in_a_call(5);
}

/* Of the stack's unused part. */
static bool has_poison(const struct coro *c)
{
#if defined(GMPSIM_ASAN)
    const unsigned char *used = coro_used_from(c);
    unsigned char *low = c->stack;
    return __asan_region_is_poisoned(low, (size_t)(used - low)) != NULL;
#else
    (void)c;
    return true;
#endif
}

TEST_CASE(Checkpoint, TakesThePoisonOfACutRunAway)
{
    struct checkpoint c = {0};
#if !defined(GMPSIM_ASAN)
    SKIP_CASE("AddressSanitizer's alone");
#endif
    make_world();
    stackpool_end(&w->pool, &w->coros[0]);
    CHECK_EQ(stackpool_start(&w->pool, &w->coros[0], diver, NULL), 0);
    coro_switch(&w->main, &w->coros[0]);
    CHECK(!has_poison(&w->coros[0]));
    CHECK_EQ(checkpoint_save(&c, &arena, &f), 0);
    coro_switch(&w->main, &w->coros[0]);
    checkpoint_restore(&c, &arena);
    CHECK(!has_poison(&w->coros[0]));
    checkpoint_release(&c);
    arena_release(&arena);
}
