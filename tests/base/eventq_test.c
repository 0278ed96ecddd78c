/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the queue gives exactly the order of (time, seq), whatever the shape of the load.
 * Method: a naive model (a sorted array) goes through the same random operations, and after each
 * one the answers are compared. The loads are chosen so that every part of the queue is used: few
 * and many events, clusters, equal times, bursts before a far cluster, cancelling, both ends of 64
 * bits. */
#include "harness.h"

#include <string.h>

#include "sim/base/eventq.h"
#include "sim/base/rng.h"

enum { MODEL_MAX = 20000 };

struct item {
    uint64_t time, seq, payload;
    uint32_t handle;
};

/* Descending, as the first to come is taken from the end. */
static struct item model[MODEL_MAX];
static size_t model_n;

static struct arena arena;
static struct eventq *q;
static struct rng rng;
static uint64_t seq, now;

static int later(const struct item *a, const struct item *b)
{
    return a->time > b->time || (a->time == b->time && a->seq > b->seq);
}

static void model_push(struct item e)
{
    size_t low = 0, high = model_n; /* first place whose item is not later than e */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (later(&model[mid], &e))
            low = mid + 1;
        else
            high = mid;
    }
    memmove(model + low + 1, model + low, (model_n - low) * sizeof e);
    model[low] = e;
    model_n++;
}

static void begin(uint64_t seed)
{
    struct failure f = {0};
    arena_release(&arena);
    CHECK_EQ(arena_init(&arena, 256 << 20, 0, &f), 0);
    q = arena_new(&arena, struct eventq);
    eventq_init(q, &arena);
    rng_init(&rng, seed, RNG_USER, 0);
    model_n = 0;
    seq = 0;
    now = 0;
}

static void check_top(void)
{
    CHECK_EQ(eventq_count(q), model_n);
    CHECK_EQ(eventq_next_time(q), model_n ? model[model_n - 1].time : UINT64_MAX);
}

static void push(uint64_t time, uint64_t s, int with_handle)
{
    struct item e = {.time = time, .seq = s, .payload = rng_next(&rng)};
    uint32_t handle = eventq_push(q, time, s, e.payload);
    CHECK_NE(handle, 0);
    e.handle = with_handle ? handle : 0;
    model_push(e);
}

static uint64_t pop(void)
{
    struct event e;
    bool got = eventq_pop(q, &e);
    CHECK_EQ(got, model_n > 0);
    if (!got)
        return 0;
    struct item want = model[--model_n];
    CHECK_EQ(e.time, want.time);
    CHECK_EQ(e.seq, want.seq);
    CHECK_EQ(e.payload, want.payload);
    return e.time;
}

static void cancel_one(void)
{
    size_t i = rng_below(&rng, model_n);
    struct item e = model[i];
    if (!e.handle)
        return;
    CHECK(eventq_cancel(q, e.handle));
    CHECK(!eventq_cancel(q, e.handle));
    memmove(model + i, model + i + 1, (--model_n - i) * sizeof e);
}

static void drain(void)
{
    while (model_n)
        now = pop();
    check_top();
}

enum shape { EVEN, CLUSTERS, EQUAL, POWERS, BURSTS, SHAPES };

static uint64_t delay(enum shape shape)
{
    switch (shape) {
    case EVEN: return rng_below(&rng, 1000000);
    case CLUSTERS: /* far clusters of close events */
        return rng_below(&rng, 4) * 1000000000000u + rng_below(&rng, 50);
    case EQUAL: /* ties, ordered by seq only */ return rng_below(&rng, 3) * 1000;
    case POWERS: return (uint64_t)1 << rng_below(&rng, 44);
    case BURSTS:
        return rng_below(&rng, 10) ? rng_below(&rng, 300) : 10000000000u - rng_below(&rng, 2);
    case SHAPES: break;
    }
    return 0;
}

/* target: around how many events are pending; cancel: none, some, or most of what goes. */
static void random_load(enum shape shape, size_t target, int ops, int cancel)
{
    for (int i = 0; i < ops; i++) {
        uint64_t what = rng_below(&rng, 100);
        uint64_t more = cancel == 2 ? 48 : model_n < target ? 60 : 40;
        if (model_n + 2 < MODEL_MAX && what < more)
            push(now + delay(shape), seq++, cancel && rng_below(&rng, 4));
        else if (what < (cancel == 2 ? 58 : 90) || !model_n)
            now = model_n ? pop() : now;
        else if (cancel && what < 95)
            cancel_one();
        else {
            now = pop(); /* and again, later: as a timer with a period */
            push(now + delay(shape), seq++, cancel != 0);
        }
        check_top();
    }
    drain();
}

/* 1.8 million operations in all. */
TEST_CASE(Eventq, AgreesWithASortedArray)
{
    for (int shape = 0; shape < SHAPES; shape++)
        for (int cancel = 0; cancel < 3; cancel++) {
            begin((uint64_t)(shape * 3 + cancel));
            random_load((enum shape)shape, 5, 20000, cancel);
            random_load((enum shape)shape, 90, 40000, cancel);
            random_load((enum shape)shape, 800, 60000, cancel);
        }
    arena_release(&arena);
}

TEST_CASE(Eventq, AgreesWithASortedArrayWhenLarge)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        begin(100 + (uint64_t)shape);
        for (int i = 0; i < 15000; i++)
            push(delay((enum shape)shape), seq++, i % 3 == 0);
        random_load((enum shape)shape, 15000, 30000, 1);
    }
    arena_release(&arena);
}

/* Peeking at a far cluster, then a burst before it: the wheel must not have moved on. */
TEST_CASE(Eventq, BurstBeforeAFarCluster)
{
    begin(7);
    for (int i = 0; i < 3000; i++)
        push(1000000 + rng_below(&rng, 10), seq++, 0);
    for (int round = 0; round < 200; round++) {
        check_top();
        for (int i = 0; i < 150; i++)
            push(now + 1 + rng_below(&rng, 400), seq++, 0);
        for (int i = 0; i < 150; i++)
            now = pop();
        check_top();
    }
    drain();
    arena_release(&arena);
}

/* Events at the time of the last one taken but with a smaller seq: the only way back. */
TEST_CASE(Eventq, SmallerSeqAtTheSameTime)
{
    begin(8);
    for (uint64_t i = 0; i < 2000; i++)
        push(50 + i % 2, ((uint64_t)1 << 40) + i * 4096, 0);
    pop();
    for (uint64_t i = 0; i < 500; i++)
        push(50, i * 77, 0);
    for (int i = 0; i < 100; i++)
        pop();
    for (uint64_t i = 0; i < 500; i++)
        push(50, 1000000 + i, 0);
    drain();
    arena_release(&arena);
}

TEST_CASE(Eventq, WholeRangeOfTimeAndSeq)
{
    begin(9);
    for (int i = 0; i < 300; i++) {
        push(rng_next(&rng), rng_next(&rng), 0);
        push(UINT64_MAX, UINT64_MAX - (uint64_t)i, 0);
        push(0, (uint64_t)i, 0);
    }
    drain();
    arena_release(&arena);
}

/* A queue of timeouts that are all cancelled does not grow, though none of them is ever first. */
TEST_CASE(Eventq, CancelledEventsAreSweptOut)
{
    begin(10);
    for (uint64_t i = 0; i < 100; i++)
        push(i, i, 0);
    size_t used = 0;
    for (uint64_t i = 1000; i < 200000; i++) {
        uint32_t handle = eventq_push(q, 1000000000 + i % 7 * i, i, 0);
        CHECK(eventq_cancel(q, handle));
        if (i == 10000)
            used = arena.used;
    }
    CHECK_EQ(eventq_count(q), 100);
    CHECK_EQ(arena.used, used);
    drain();
    arena_release(&arena);
}

/* Fewer dead than a sweep takes, all in one slot that popping comes to. */
TEST_CASE(Eventq, ASlotOfTheDeadIsPassedOver)
{
    begin(14);
    uint32_t handles[200];
    for (uint64_t i = 0; i < 100; i++)
        push(i, i, 0);
    for (uint64_t i = 0; i < 200; i++)
        handles[i] = eventq_push(q, 5000000 + i, 1000 + i, 0);
    push(6000000, 5000, 0);
    for (int i = 0; i < 200; i++)
        CHECK(eventq_cancel(q, handles[i]));
    while (model_n)
        pop(); /* without a look at the first one */
    check_top();
    arena_release(&arena);
}

TEST_CASE(Eventq, AHandleOfATakenEventIsDead)
{
    begin(11);
    uint32_t a = eventq_push(q, 10, 1, 0);
    struct event e;
    CHECK(eventq_pop(q, &e));
    CHECK_EQ(e.handle, a);
    CHECK(!eventq_cancel(q, a));
    uint32_t b = eventq_push(q, 20, 2, 0);
    CHECK_NE(a, b);
    CHECK(!eventq_cancel(q, a));
    CHECK(!eventq_cancel(q, 0));
    CHECK(!eventq_cancel(q, 12345));
    CHECK(eventq_cancel(q, b));
    CHECK(!eventq_pop(q, &e));
    arena_release(&arena);
}

static void push_into_the_past(void *arg)
{
    (void)arg;
    struct event e;
    eventq_push(q, 100, 0, 0);
    eventq_pop(q, &e);
    eventq_push(q, 99, 1, 0);
}

static void push_the_same_key(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++)
        eventq_push(q, 5, 5, 0);
}

TEST_CASE(Eventq, MisuseIsAnInternalError)
{
    static struct harness_child child;
    begin(13);
    harness_fork(&child, push_into_the_past, NULL);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "an event in the past");
    harness_fork(&child, push_the_same_key, NULL);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "the same time and seq");
    arena_release(&arena);
}
