/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the sanitizers tell the truth on coroutines. That they are silent where nothing is wrong is
 * shown by all other tests; here is a mistake on a coroutine, and it must be seen. */
#include "harness.h"

#include <pthread.h>
#include <string.h>

#include "sim/base/coro.h"

static struct coro thread, coro;
static struct arena arena;
static struct stackpool *pool;
static volatile int nine = 9, shared;

/* Behind a volatile pointer, so that UBSan does not see the size and speak first. */
static char *volatile victim;

static void write_outside(void *arg)
{
    char local[8];
    memset(local, 0, sizeof local);
    coro_switch(&coro, &thread);
    victim = local;
    victim[nine] = 1;
    (void)arg;
    coro_exit_to(&coro, &thread);
}

static void race(void *arg)
{
    (void)arg;
    coro_switch(&coro, &thread);
    shared++;
    coro_exit_to(&coro, &thread);
}

static void *other_thread(void *arg)
{
    shared++;
    return arg;
}

static void begin(coro_fn *fn)
{
    struct failure f = {0};
    CHECK_EQ(arena_init(&arena, 1 << 20, stackpool_space(STACK_SIZE_DEFAULT, 1), &f), 0);
    pool = arena_new(&arena, struct stackpool);
    CHECK_EQ(stackpool_init(pool, &arena, STACK_SIZE_DEFAULT, 1, &f), 0);
    coro_init_thread(&thread);
    CHECK_EQ(stackpool_start(pool, &coro, fn, NULL), 0);
    coro_switch(&thread, &coro);
}

static void run_write_outside(void *arg)
{
    (void)arg;
    begin(write_outside);
    coro_switch(&thread, &coro);
}

static void run_race(void *arg)
{
    (void)arg;
    pthread_t other;
    begin(race);
    pthread_create(&other, NULL, other_thread, NULL);
    coro_switch(&thread, &coro);
    pthread_join(other, NULL);
}

TEST_CASE(Sanitizer, AddressSanitizerSeesAnOverflowOnACoroutine)
{
#if defined(GMPSIM_ASAN)
    static struct harness_child child;
    harness_fork(&child, run_write_outside, NULL);
    CHECK_HAS(child.err, "stack-buffer-overflow");
    CHECK_HAS(child.err, "write_outside");
    CHECK_HAS(child.err, "coro_main"); /* the whole stack of the coroutine, and no more */
#else
    (void)run_write_outside;
    SKIP_CASE("needs AddressSanitizer");
#endif
}

TEST_CASE(Sanitizer, ThreadSanitizerSeesARaceOnACoroutine)
{
#if defined(GMPSIM_TSAN)
    static struct harness_child child;
    harness_fork(&child, run_race, NULL);
    CHECK_HAS(child.err, "data race");
    CHECK_HAS(child.err, "sanitizer_test.c");
#else
    (void)run_race;
    SKIP_CASE("needs ThreadSanitizer");
#endif
}
