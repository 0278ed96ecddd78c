/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of Go 1.13 (time.go): 64 buckets, each a heap, a lock and a goroutine.
 *
 * timerproc runs what is due, then sleeps until the head is due: in a system call, on its note, so
 * it costs an M and a hand-off of its P every time. A new earliest timer wakes it.
 *
 *   not created -> running              the first timer of the bucket starts the goroutine
 *   running     -> sleeping             notetsleepg; sleepUntil says for how long
 *   running     -> rescheduling         no timer left: parked
 *   sleeping, rescheduling -> running   addtimerLocked of a new earliest timer; the time is up
 *
 * All of it under the bucket's lock. */
#include "lock.h"
#include "newproc.h"
#include "note.h"
#include "park.h"
#include "step.h"

static void timers_world_init(void)
{
    if (prof->per_p_timers)
        return;
    rt->timersBuckets = host_alloc(timersLen * sizeof(struct timersBucket),
                                   _Alignof(struct timersBucket));
}

/* time.go timer.assignBucket. */
static struct timersBucket *assignBucket(struct timer *t)
{
    const struct p *pp = a_own(&getm()->p);
    t->v0.tb = &rt->timersBuckets[(uint32_t)pp->id % timersLen];
    return t->v0.tb;
}

static void timerproc_start(struct timersBucket *tb)
{
    tb->created = true;
    tb->gp = newsysproc(STEP_timerproc, tb);
}

/* time.go addtimerLocked. */
static void addtimerLocked(struct timersBucket *tb, struct timer *t)
{
    if (heap_push(&tb->heap, t, t->when) != 0)
        return;
    if (tb->sleeping && tb->sleepUntil > t->when) {
        tb->sleeping = false;
        notewakeup(&tb->waitnote);
    }
    if (tb->rescheduling) {
        tb->rescheduling = false;
        goready(tb->gp);
    }
    if (!tb->created)
        timerproc_start(tb);
}

/* time.go deltimerLocked. False: it is not in the bucket. */
static bool deltimerLocked(struct timersBucket *tb, struct timer *t)
{
    struct timers *ts = &tb->heap;
    int32_t at = t->v0.i;
    if (at < 0 || (uint32_t)at >= ts->n || ts->heap[at].timer != t)
        return false;
    uint32_t i = (uint32_t)at, last = --ts->n;
    work(timer_op);
    if (i != last) {
        heap_put(ts, i, ts->heap[last]);
        (void)siftUp(ts, i);
        siftDown(ts, i);
    }
    return true;
}

/* time.go deltimer. The bucket is forgotten: what adds the timer again chooses anew, as Timer.Reset
 * and the poller do in Go. */
static bool stop_v0(struct timer *t)
{
    struct timersBucket *tb = t->v0.tb;
    if (tb == NULL)
        return false;
    lock(&tb->heap.mu);
    bool removed = deltimerLocked(tb, t);
    unlock(&tb->heap.mu);
    t->v0.tb = NULL;
    return removed;
}

/* time.go addtimer, modtimer. */
static bool modify_v0(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                      uint64_t seq)
{
    struct timersBucket *tb = t->v0.tb == NULL ? assignBucket(t) : t->v0.tb;
    lock(&tb->heap.mu);
    bool removed = deltimerLocked(tb, t);
    t->when = when;
    t->period = period;
    t->f = f;
    t->arg = arg;
    t->seq = seq;
    addtimerLocked(tb, t);
    unlock(&tb->heap.mu);
    return removed;
}

/* The head is due: out of the heap, or forward by its period. The lock is dropped around f. */
static void run_v0(struct timersBucket *tb, int64_t now)
{
    struct timers *ts = &tb->heap;
    struct timer *t = ts->heap[0].timer;
    int64_t when = t->when;
    if (t->period > 0) {
        t->when = timer_next(when, t->period, now);
        ts->heap[0].when = t->when;
        work(timer_op);
        siftDown(ts, 0);
    } else {
        heap_pop(ts);
        t->v0.i = -1;
    }
    timer_fn f = t->f;
    void *arg = t->arg;
    uint64_t seq = t->seq;
    unlock(&ts->mu);
    timer_fire(f, arg, seq, when, now - when);
    lock(&ts->mu);
}

/* time.go timerproc, one round of its loop. It runs as a goroutine: what f readies lands on the
 * P that timerproc is on. */
static enum opres step_timerproc(struct g *gp)
{
    struct timersBucket *tb = gp->opobj;
    struct timers *ts = &tb->heap;
    push_step(gp, STEP_timerproc);
    lock(&ts->mu);
    tb->sleeping = false;
    int64_t now = nanotime();
    while (ts->n > 0 && ts->heap[0].when <= now)
        run_v0(tb, now);
    if (ts->n == 0) {
        tb->rescheduling = true;
        return goparkunlock(gp, &ts->mu, waitReasonTimerGoroutineIdle);
    }
    int64_t delta = ts->heap[0].when - now;
    tb->sleeping = true;
    tb->sleepUntil = now + delta;
    noteclear(&tb->waitnote);
    unlock(&ts->mu);
    return notetsleepg(gp, &tb->waitnote, delta);
}

/* time.go timeSleepUntil. */
static int64_t timeSleepUntil_v0(void)
{
    int64_t next = TIMER_MAX_WHEN;
    for (int i = 0; i < timersLen; i++) {
        struct timersBucket *tb = &rt->timersBuckets[i];
        lock(&tb->heap.mu);
        if (tb->sleeping && tb->sleepUntil < next)
            next = tb->sleepUntil;
        unlock(&tb->heap.mu);
    }
    return next;
}

/* time.go timeSleep: the bucket's lock is held until the G is parked. */
static enum opres timeSleep_v0(struct g *gp, struct timer *t)
{
    struct timersBucket *tb = assignBucket(t);
    lock(&tb->heap.mu);
    addtimerLocked(tb, t);
    return goparkunlock(gp, &tb->heap.mu, waitReasonSleep);
}
