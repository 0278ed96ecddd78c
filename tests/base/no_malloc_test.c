/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: nothing here allocates after its init. Method: a small world uses every part, growing well
 * beyond its first size, while malloc ends the process. */
#include "harness.h"

#include <stdlib.h>

#include "no_malloc.h"
#include "sim/base/coro.h"
#include "sim/base/dist.h"
#include "sim/base/event.h"
#include "sim/base/eventq.h"
#include "sim/base/hist.h"

enum { COROS = 64, STACK = 64 << 10 };

static struct arena arena;
static struct stackpool pool;
static struct coro thread, coros[COROS];
static struct eventq queue;
static struct event_log event_log_;
static struct hist hist;
static uint64_t records;

static void count(void *arg, const struct event_rec *recs, size_t n)
{
    (void)recs;
    *(uint64_t *)arg += n;
}

static void body(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    struct failure f = {0};
    struct dist d;
    struct rng r;
    rng_init(&r, 1, RNG_USER, me);
    dist_lognormal(&d, 1000, 1500, &f);
    for (uint64_t i = 0; i < 2000; i++) {
        int64_t ns = dist_draw(&d, &r);
        hist_record(&hist, ns);
        uint32_t handle = eventq_push(&queue, queue.floor + (uint64_t)ns, i << 8 | me, me);
        event_emit(&event_log_, EV_MARK, i, 0, 0, (uint64_t)ns, 0, 0);
        if (i % 3 == 0)
            eventq_cancel(&queue, handle);
        else if (i % 3 == 1)
            eventq_pop(&queue, &(struct event){0});
        coro_switch(&coros[me], &coros[(me + 1) % COROS]);
    }
    coro_exit_to(&coros[me], &thread);
}

static void run_world(void)
{
    for (uintptr_t i = 0; i < COROS; i++)
        stackpool_start(&pool, &coros[i], body, (void *)i);
    coro_switch(&thread, &coros[0]);
    struct event e;
    while (eventq_pop(&queue, &e))
        records += e.payload == UINT64_MAX;
    hist_percentile(&hist, 990000);
    event_log_flush(&event_log_);
}

TEST_CASE(NoMalloc, AWorldNeverAllocates)
{
    struct failure f = {0};
    struct checkpoint c = {0};
    if (!no_malloc_works())
        SKIP_CASE("the allocator is not ours");
    CHECK_EQ(arena_init(&arena, 256 << 20, stackpool_space(STACK, COROS), &f), 0);
    CHECK_EQ(stackpool_init(&pool, &arena, STACK, COROS, &f), 0);
    coro_init_thread(&thread);
    no_malloc_begin();
    eventq_init(&queue, &arena);
    event_log_init(&event_log_, &arena, NULL);
    event_log_sink(&event_log_, count, &records, 100);
    hist_init(&hist, &arena, 50000);
    run_world();
    int rc = checkpoint_save(&c, &arena, &f);
    checkpoint_restore(&c, &arena);
    arena_reset(&arena);
    no_malloc_end();
    CHECK_EQ(rc, 0);
    CHECK_EQ(records, COROS * 2000);
    CHECK_EQ(hist.count, records);
    CHECK(!hist_is_exact(&hist));
    checkpoint_release(&c);
    arena_release(&arena);
}

static void allocate(void *arg)
{
    (void)arg;
    no_malloc_begin();
    void *volatile p = malloc(1);
    free(p);
}

TEST_CASE(NoMalloc, TheTrapWorks)
{
    static struct harness_child child;
    if (!no_malloc_works())
        SKIP_CASE("the allocator is not ours");
    harness_fork(&child, allocate, NULL);
    CHECK_EQ(child.signal, 6);
    CHECK_HAS(child.err, "malloc inside a running world");
}
