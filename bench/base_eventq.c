/* SPDX-License-Identifier: BSD-3-Clause */
/* The event queue against a binary heap, like against like: pop and push, and replacing the top.
 * libs: gmpsim_base
 *
 * Hold model: the queue keeps n events; each operation takes the first and pushes one at its time
 * plus an increment. Increments come from a table, so the generator costs the same for all.
 *   exponential     mean n * 1000 ps: n independent Poisson sources
 *   scheduler mix   70 % within 200 ns (an M's next shared operation), 20 % within 50 us (bursts,
 *                   sleeps of spinning Ms), 8 % at exactly 10 ms (ticks: many equal times), 2 % now
 */
#include "bench/bench.h"

#include "sim/base/eventq.h"
#include "sim/base/rng.h"

enum { INCREMENTS = 1 << 16, OPS = 1 << 19 };

static uint64_t increments[2][INCREMENTS];

/* ---- the peer ---- */

struct item {
    uint64_t time, seq, payload;
};

static struct item *heap;
static size_t heap_n;

static inline int before(const struct item *a, const struct item *b)
{
    return a->time < b->time || (a->time == b->time && a->seq < b->seq);
}

static void heap_sift_down(struct item e)
{
    size_t i = 0, child;
    while ((child = 2 * i + 1) < heap_n) {
        child += child + 1 < heap_n && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &e))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
}

static void heap_push(struct item e)
{
    size_t i = heap_n++;
    for (; i && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static struct item heap_pop(void)
{
    struct item top = heap[0], e = heap[--heap_n];
    if (heap_n)
        heap_sift_down(e);
    return top;
}

/* ---- cases ---- */

struct setup {
    int mix;
    size_t n;
};

static uint64_t increment(const struct setup *s, uint64_t i)
{
    uint64_t x = increments[s->mix][i % INCREMENTS];
    return s->mix ? x : x * s->n >> 16;
}

static void run_heap(void *arg)
{
    const struct setup *s = arg;
    heap = malloc((s->n + 1) * sizeof *heap);
    heap_n = 0;
    uint64_t seq = 0;
    for (size_t i = 0; i < s->n; i++, seq++)
        heap_push((struct item){increment(s, seq), seq, i});
    uint64_t warm = s->n * 2 + OPS / 4;
    for (uint64_t i = 0; i < warm + OPS; i++, seq++) {
        if (i == warm)
            bench_begin();
        struct item e = heap_pop();
        heap_push((struct item){e.time + increment(s, seq), seq, e.payload});
    }
    bench_end(OPS);
    bench_keep(heap[0].time);
    free(heap);
}

static void run_eventq(void *arg)
{
    const struct setup *s = arg;
    static struct arena a;
    struct failure f = {0};
    if (!a.base && arena_init(&a, (size_t)1 << 30, 0, &f) != 0)
        exit(fail_exit_code(f.code));
    arena_reset(&a);
    struct eventq *q = arena_new(&a, struct eventq);
    eventq_init(q, &a);
    uint64_t seq = 0;
    for (size_t i = 0; i < s->n; i++, seq++)
        eventq_push(q, increment(s, seq), seq, i);
    uint64_t warm = s->n * 2 + OPS / 4;
    for (uint64_t i = 0; i < warm + OPS; i++, seq++) {
        if (i == warm)
            bench_begin();
        struct event e;
        eventq_pop(q, &e);
        eventq_push(q, e.time + increment(s, seq), seq, e.payload);
    }
    bench_end(OPS);
    bench_keep(eventq_next_time(q));
}

/* -ln(u) in Q16, near enough: only the shape matters here. The leading zeros are -log2(u) but for
 * its fraction, which is taken as linear. */
static uint64_t exponential(struct rng *r)
{
    uint64_t u = rng_next(r) | 1, zeros = (uint64_t)__builtin_clzll(u);
    uint64_t rest = (~(u << zeros << 1)) >> 48;    /* 0..65535, falls as u rises */
    return ((zeros * 65536 + rest) * 45426) >> 16; /* log2 to ln */
}

static uint64_t scheduler_mix(struct rng *r)
{
    uint64_t kind = rng_below(r, 100);
    if (kind < 70)
        return rng_below(r, 200 * 1000);
    if (kind < 90)
        return rng_below(r, 50 * 1000 * 1000);
    return kind < 98 ? 10000000000u : 0;
}

static void print_pair(int mix, size_t pending, int reps)
{
    struct setup s = {mix, pending};
    struct bench_case cases[] = {{"binary heap", run_heap, &s}, {"eventq", run_eventq, &s}};
    char title[100];

    snprintf(title, sizeof title, "%s, %zu pending, pop + push",
             mix ? "scheduler mix" : "exponential", pending);
    bench_table(title, cases, 2, pending > 100000 ? (reps + 1) / 2 : reps);
}

int main(int argc, char **argv)
{
    struct rng r;
    rng_init(&r, 1, RNG_USER, 0);
    for (int i = 0; i < INCREMENTS; i++) {
        increments[0][i] = exponential(&r) * 1000;
        increments[1][i] = scheduler_mix(&r);
    }
    int reps = bench_reps(argc, argv, 5);
    static const size_t sizes[] = {8, 64, 1000, 10000, 100000, 1000000};
    for (int mix = 0; mix < 2; mix++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            print_pair(mix, sizes[i], reps);
    /* Their papers give 9.8 and 8.6 million events a second. */
    printf("published, on other machines, pop + push: ns-3 102 ns, Cimba 116 ns\n");
    return 0;
}
