/* SPDX-License-Identifier: BSD-3-Clause */
/* What the timer generations share: the heap of (timer, when) pairs, the two atomics that summarise
 * a P's heap, the callback. */
#include "step.h"

static void badTimer(void) { throw("timer data corruption"); }

/* ---- the heap, 4-ary, ordered by timerWhen.when ---- */

static void heap_put(struct timers *ts, uint32_t i, struct timerWhen tw)
{
    ts->heap[i] = tw;
    if (!prof->per_p_timers)
        tw.timer->v0.i = (int32_t)i; /* a bucket deletes from the middle */
}

/* Old arrays stay behind in the arena; together they are smaller than the new one. */
static void heap_grow(struct timers *ts)
{
    uint32_t cap = ts->cap == 0 ? 8 : ts->cap * 2;
    struct timerWhen *heap = host_alloc(cap * sizeof *heap, _Alignof(struct timerWhen));
    for (uint32_t i = 0; i < ts->n; i++)
        heap[i] = ts->heap[i];
    ts->heap = heap;
    ts->cap = cap;
}

/* time.go siftUp. Returns where the entry ended up. */
static uint32_t siftUp(struct timers *ts, uint32_t i)
{
    struct timerWhen tw = ts->heap[i];
    if (tw.when <= 0)
        badTimer();
    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (tw.when >= ts->heap[parent].when)
            break;
        heap_put(ts, i, ts->heap[parent]);
        i = parent;
    }
    heap_put(ts, i, tw);
    return i;
}

/* The smallest of i's up to four children if it is smaller than when, else n. */
static uint32_t heap_child(const struct timers *ts, uint32_t i, int64_t when)
{
    uint32_t c = i * 4 + 1, end = c + 4 < ts->n ? c + 4 : ts->n, best = ts->n;
    for (; c < end; c++) {
        if (ts->heap[c].when < when) {
            when = ts->heap[c].when;
            best = c;
        }
    }
    return best;
}

/* time.go siftDown. */
static void siftDown(struct timers *ts, uint32_t i)
{
    struct timerWhen tw = ts->heap[i];
    if (tw.when <= 0)
        badTimer();
    for (;;) {
        uint32_t c = heap_child(ts, i, tw.when);
        if (c == ts->n)
            break;
        heap_put(ts, i, ts->heap[c]);
        i = c;
    }
    heap_put(ts, i, tw);
}

/* time.go initHeap. */
static void initHeap(struct timers *ts)
{
    if (ts->n <= 1)
        return;
    for (uint32_t i = (ts->n - 2) / 4 + 1; i-- > 0;)
        siftDown(ts, i);
}

static uint32_t heap_push(struct timers *ts, struct timer *t, int64_t when)
{
    work(timer_op);
    if (ts->n == ts->cap)
        heap_grow(ts);
    ts->heap[ts->n] = (struct timerWhen){t, when};
    return siftUp(ts, ts->n++);
}

/* Takes out the head: the last entry sinks from its place. */
static void heap_pop(struct timers *ts)
{
    work(timer_op);
    ts->n--;
    if (ts->n > 0) {
        ts->heap[0] = ts->heap[ts->n];
        siftDown(ts, 0);
        __builtin_prefetch(ts->heap[0].timer); /* the next to run: in a storm they are all cold */
    }
}

/* ---- what both per-P generations share ---- */

/* time.go updateMinWhenHeap, updateTimer0When. */
static void updateMinWhenHeap(struct timers *ts)
{
    a_store(&ts->minWhenHeap, ts->n == 0 ? 0 : ts->heap[0].when);
}

/* time.go updateMinWhenModified, updateTimerModifiedEarliest. The heap's lock is usually not held.
 */
static void updateMinWhenModified(struct timers *ts, int64_t when)
{
    for (;;) {
        int64_t old = a_load(&ts->minWhenModified);
        if (old != 0 && old < when)
            return;
        if (a_cas(&ts->minWhenModified, old, when))
            return;
    }
}

static struct timers *timers_own(void) { return &((struct p *)a_own(&getm()->p))->timers; }

/* The record has 32 bits for it: an hour. */
static uint32_t timer_late_us(int64_t delay)
{
    return delay < (int64_t)UINT32_MAX * 1000 ? (uint32_t)(delay / 1000) : UINT32_MAX;
}

/* Every callback: no lock is held. when is what it was due at, delay how late it is. */
static void timer_fire(timer_fn f, void *arg, uint64_t seq, int64_t when, int64_t delay)
{
    getm()->counters[C_timers_run]++;
    ev_timer_fire(when, timer_late_us(delay));
    f(arg, seq, delay);
}

/* The next time of a ticker: missed ticks are skipped, the phase is kept. */
static int64_t timer_next(int64_t when, int64_t period, int64_t now)
{
    int64_t missed = (now - when) / period;
    if (missed >= (TIMER_MAX_WHEN - when) / period)
        return TIMER_MAX_WHEN;
    return when + period * (1 + missed);
}
