/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of Go 1.23 and later (time.go), and the entry points of every generation.
 *
 * A timer's state is three bits, guarded by its own lock; astate is their copy at the last unlock.
 *
 *   (none)            -> Heaped                   maybeAdd: somebody needs it to fire
 *   Heaped            -> Heaped|Modified          modify: the heap's copy of when is stale
 *   Heaped            -> Heaped|Modified|Zombie   stop; unlockAndRun of one without period
 *   Heaped            -> Heaped|Zombie            unblockTimerChan: nobody waits on its channel
 *   Heaped|Zombie     -> Heaped                   blockTimerChan, modify: wanted again
 *   Heaped|Modified   -> Heaped                   updateHeap at the head, adjust anywhere
 *   Heaped|...|Zombie -> (none)                   updateHeap, cleanHead, adjust: out of the heap
 *
 * Only the holder of the heap's lock moves entries, so stop and modify never touch the heap of
 * another P: they mark the timer and publish a lower bound (minWhenModified). wakeTime, read
 * without a lock, is the smaller of that and the heap's head.
 *
 * A timer with a channel is in a heap only while a G is blocked on the channel. Otherwise a
 * receive, len or select runs it when it looks (maybeRunChan). */
#include "chan.h"
#include "lock.h"
#include "lockrank.h"
#include "netpoll.h"
#include "objs.h"
#include "park.h"
#include "pidle.h"
#include "spin.h"

static struct timeTimer *timer_chan(struct timer *t)
{
    if (!t->isChan)
        badTimer();
    return (struct timeTimer *)t; /* its first member */
}

static void timers_lock(struct timers *ts) { lock(&ts->mu); }

/* len changes only here: pidleput must never see 0 for a heap whose only timer is taken out and put
 * back. */
static void timers_unlock(struct timers *ts)
{
    a_store(&ts->len, ts->n);
    unlock(&ts->mu);
}

static void timer_lock(struct timer *t) { lock(&t->mu); }

/* Publishes the state for those who look without the lock: cleanHead, adjust, run, maybeRunChan. */
static void timer_unlock(struct timer *t)
{
    a_store(&t->astate, t->state);
    unlock(&t->mu);
}

/* time.go timers.deleteMin. */
static void deleteMin(struct timers *ts)
{
    struct timer *t = ts->heap[0].timer;
    if (t->ts != ts)
        throw("wrong timers");
    t->ts = NULL;
    heap_pop(ts);
    updateMinWhenHeap(ts);
    if (ts->n == 0) /* no timer, so no modified one */
        a_store(&ts->minWhenModified, (int64_t)0);
}

/* time.go timer.updateHeap. Both locks are held, t is the head. True: the head changed. */
static bool updateHeap(struct timer *t)
{
    struct timers *ts = t->ts;
    if (ts == NULL || t != ts->heap[0].timer)
        badTimer();
    if ((t->state & timerZombie) != 0) {
        t->state = 0;
        a_add(&ts->zombies, -1);
        deleteMin(ts);
        return true;
    }
    if ((t->state & timerModified) != 0) {
        t->state &= (uint8_t)~timerModified;
        ts->heap[0].when = t->when;
        work(timer_op);
        siftDown(ts, 0);
        updateMinWhenHeap(ts);
        return true;
    }
    return false;
}

/* time.go timers.addHeap. The heap's lock is held or the world is stopped. */
static void addHeap(struct timers *ts, struct timer *t)
{
    if (!netpollinited())
        netpollGenericInit(); /* somebody must be able to sleep until a timer */
    if (t->ts != NULL)
        throw("ts set in timer");
    t->ts = ts;
    if (heap_push(ts, t, t->when) == 0)
        updateMinWhenHeap(ts);
}

/* time.go timer.needsAdd. */
static bool needsAdd(const struct timer *t)
{
    return (t->state & timerHeaped) == 0 && t->when > 0 && (!t->isChan || t->blocked > 0);
}

/* The tail of the heap is cheap to clean, and then a zombie at the head is not replaced by another
 * one. True: it was one. */
static bool cleanTail(struct timers *ts)
{
    struct timer *t = ts->heap[ts->n - 1].timer;
    if ((a_load(&t->astate) & timerZombie) == 0)
        return false;
    timer_lock(t);
    if ((t->state & timerZombie) != 0) {
        t->state = 0;
        t->ts = NULL;
        a_add(&ts->zombies, -1);
        ts->n--;
    }
    timer_unlock(t);
    return true;
}

/* time.go timers.cleanHead. Go also stops when the GC wants to stop this G. */
static void cleanHead(struct timers *ts)
{
    while (ts->n > 0) {
        if (cleanTail(ts))
            continue;
        struct timer *t = ts->heap[0].timer;
        if (t->ts != ts)
            throw("bad ts");
        if ((a_load(&t->astate) & (timerModified | timerZombie)) == 0)
            return;
        timer_lock(t);
        bool updated = updateHeap(t);
        timer_unlock(t);
        if (!updated)
            return;
    }
}

/* time.go timers.wakeTime. adjust relies on the order of the two loads. */
static inline int64_t wakeTime_v2(struct timers *ts)
{
    int64_t next = a_load(&ts->minWhenModified);
    int64_t when = a_load(&ts->minWhenHeap);
    return when == 0 || (next != 0 && next < when) ? next : when;
}

/* time.go timer.maybeAdd. No lock is held: a heap's lock comes before a timer's. */
static void maybeAdd(struct timer *t)
{
    struct m *mp = acquirem(); /* the heap must stay the current P's until the timer is in */
    struct timers *ts = timers_own();
    timers_lock(ts);
    cleanHead(ts);
    timer_lock(t);
    int64_t when = 0;
    bool wake = false;
    if (needsAdd(t)) {
        t->state |= timerHeaped;
        when = t->when;
        int64_t wakeTime = wakeTime_v2(ts);
        wake = wakeTime == 0 || when < wakeTime;
        addHeap(ts, t);
    }
    timer_unlock(t);
    timers_unlock(ts);
    releasem(mp);
    if (wake)
        wakeNetPoller(when);
}

static void zombie_set(struct timer *t)
{
    if ((t->state & timerZombie) == 0) {
        t->state |= timerZombie;
        a_add(&t->ts->zombies, 1);
    }
}

static void zombie_clear(struct timer *t)
{
    if ((t->state & timerZombie) != 0) {
        t->state &= (uint8_t)~timerZombie;
        a_add(&t->ts->zombies, -1);
    }
}

/* Makes a send in flight stale. True: one was, and will not happen. Both locks of the timer are
 * held. A send that was stale before still counts in every release so far. */
static bool chan_invalidate(struct timer *t, int64_t period)
{
    t->seq++;
    if (period != 0)
        return false;
    int32_t sending = a_load(&timer_chan(t)->isSending);
    int32_t known = prof->stale_send_once ? t->stale : 0;
    t->stale = (uint8_t)(sending < UINT8_MAX ? sending : UINT8_MAX);
    return sending > known;
}

/* time.go timer.stop. It may be in the heap of another P, whose holder will take it out. */
static bool stop_v2(struct timer *t)
{
    if (t->isChan)
        lock(&timer_chan(t)->sendLock);
    timer_lock(t);
    if ((t->state & timerHeaped) != 0) {
        t->state |= timerModified;
        zombie_set(t);
    }
    bool pending = t->when > 0;
    t->when = 0;
    if (t->isChan && chan_invalidate(t, t->period))
        pending = true;
    timer_unlock(t);
    if (t->isChan) {
        unlock(&timer_chan(t)->sendLock);
        if (timerchandrain(timer_chan(t)->c))
            pending = true;
    }
    return pending;
}

/* A timer in a heap got a new time. True: it may be the earliest of that heap. */
static bool modify_heaped(struct timer *t)
{
    t->state |= timerModified;
    zombie_clear(t);
    int64_t min = a_load(&t->ts->minWhenModified);
    if (min != 0 && t->when >= min)
        return false;
    /* adjust may zero minWhenModified right after we lower it: then it must already see the bit. */
    a_store(&t->astate, t->state);
    updateMinWhenModified(t->ts, t->when);
    return true;
}

/* time.go timer.modify. */
static bool modify_v2(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                      uint64_t seq)
{
    if (t->isChan)
        lock(&timer_chan(t)->sendLock);
    timer_lock(t);
    int64_t oldPeriod = t->period;
    t->period = period;
    if (f != NULL) {
        t->f = f;
        t->arg = arg;
        t->seq = seq;
    }
    bool pending = t->when > 0;
    t->when = when;
    bool wake = (t->state & timerHeaped) != 0 && modify_heaped(t);
    bool add = needsAdd(t);
    if (t->isChan && chan_invalidate(t, oldPeriod))
        pending = true;
    timer_unlock(t);
    if (t->isChan) {
        if (timerchandrain(timer_chan(t)->c))
            pending = true;
        unlock(&timer_chan(t)->sendLock);
    }
    if (add)
        maybeAdd(t);
    if (wake)
        wakeNetPoller(when);
    return pending;
}

/* One entry of adjust. True: the heap order is broken now; *gone: the last entry took its place. */
static bool adjust_one(struct timers *ts, uint32_t i, bool *gone)
{
    struct timer *t = ts->heap[i].timer;
    *gone = false;
    if (t->ts != ts)
        throw("bad ts");
    if ((a_load(&t->astate) & (timerModified | timerZombie)) == 0)
        return false;
    timer_lock(t);
    bool changed = true;
    if ((t->state & timerHeaped) == 0)
        badTimer();
    if ((t->state & timerZombie) != 0) {
        a_add(&ts->zombies, -1);
        t->state = 0;
        t->ts = NULL;
        ts->heap[i] = ts->heap[--ts->n];
        *gone = true;
    } else if ((t->state & timerModified) != 0) {
        ts->heap[i].when = t->when;
        t->state &= (uint8_t)~timerModified;
    } else {
        changed = false;
    }
    timer_unlock(t);
    return changed;
}

/* time.go timers.adjust: puts every modified timer in its place. minWhenHeap takes over
 * minWhenModified's bound before that is zeroed, so that wakeTime is never too late, and is made
 * exact at the end. A concurrent modify either is seen by the scan (it published astate first) or
 * lowers minWhenModified after the zeroing. */
static void adjust(struct timers *ts, int64_t now, bool force)
{
    if (!force) {
        int64_t first = a_load(&ts->minWhenModified);
        if (first == 0 || first > now)
            return;
    }
    int64_t bound = wakeTime_v2(ts);
    a_store(&ts->minWhenHeap, bound);
    a_store(&ts->minWhenModified, (int64_t)0);
    bool changed = false;
    for (uint32_t i = 0; i < ts->n;) {
        bool gone;
        if (adjust_one(ts, i, &gone))
            changed = true;
        if (!gone)
            i++;
    }
    if (changed) {
        work_n(timer_op, 1 + ts->n / 4);
        initHeap(ts);
    }
    updateMinWhenHeap(ts);
}

/* The send of a channel timer whose locks are dropped. sendLock is held across it; stop and modify
 * change seq under both locks, so a changed seq says that this firing must not be seen. */
static void run_chan(struct timer *t, timer_fn f, void *arg, uint64_t seq, int64_t when,
                     int64_t delay)
{
    struct timeTimer *tt = timer_chan(t);
    lock(&tt->sendLock);
    if (t->period == 0 && a_add(&tt->isSending, -1) < 0)
        throw("mismatched isSending updates");
    if (t->stale > 0)
        t->stale--;
    if (t->seq == seq)
        timer_fire(f, arg, seq, when, delay);
    unlock(&tt->sendLock);
}

/* time.go timer.unlockAndRun. t is locked and is unlocked; its heap, if any, is locked, dropped
 * around f and locked again. */
static void unlockAndRun(struct timer *t, int64_t now)
{
    if ((t->state & (timerModified | timerZombie)) != 0)
        badTimer();
    timer_fn f = t->f;
    void *arg = t->arg;
    __builtin_prefetch(arg); /* f needs it after the heap is in order again */
    uint64_t seq = t->seq;
    int64_t when = t->when, delay = now - when;
    struct timers *ts = t->ts;
    t->when = t->period > 0 ? timer_next(when, t->period, now) : 0;
    if ((t->state & timerHeaped) != 0) {
        t->state |= timerModified;
        if (t->when == 0)
            zombie_set(t);
        updateHeap(t);
    }
    if (t->isChan && t->period == 0 && a_add(&timer_chan(t)->isSending, 1) < 0)
        throw("too many concurrent timer firings");
    timer_unlock(t);
    if (ts != NULL)
        timers_unlock(ts);
    if (t->isChan)
        run_chan(t, f, arg, seq, when, delay);
    else
        timer_fire(f, arg, seq, when, delay);
    if (ts != NULL)
        timers_lock(ts);
}

/* time.go timers.run. 0: ran one; -1: the heap is empty; else when the head is due. */
static int64_t run_v2(struct timers *ts, int64_t now)
{
    for (;;) {
        if (ts->n == 0)
            return -1;
        struct timerWhen tw = ts->heap[0];
        struct timer *t = tw.timer;
        if (t->ts != ts)
            throw("bad ts");
        if ((a_load(&t->astate) & (timerModified | timerZombie)) == 0 && tw.when > now)
            return tw.when;
        timer_lock(t);
        if (updateHeap(t)) {
            timer_unlock(t);
            continue;
        }
        if ((t->state & timerHeaped) == 0 || (t->state & timerModified) != 0)
            badTimer();
        int64_t when = t->when;
        if (when > now) {
            timer_unlock(t);
            return when;
        }
        unlockAndRun(t, now);
        return 0;
    }
}

/* Only the owner cleans its heap of zombies, to keep thieves off the lock. */
static bool many_zombies(struct timers *ts)
{
    if (ts != timers_own())
        return false;
    int32_t zombies = a_load(&ts->zombies);
    return zombies > (int32_t)(a_load(&ts->len) / 4);
}

/* The part of timers.check that has something to do. */
static void run_due_v2(struct timers *ts, struct timer_check *c)
{
    timers_lock(ts);
    if (ts->n > 0) {
        adjust(ts, c->now, /*force*/ false);
        while (ts->n > 0) {
            int64_t tw = run_v2(ts, c->now);
            if (tw != 0) {
                c->pollUntil = tw > 0 ? tw : 0;
                break;
            }
            c->ran = true;
        }
        if (many_zombies(ts))
            adjust(ts, c->now, /*force*/ true);
    }
    timers_unlock(ts);
}

/* time.go timers.check. */
static inline void check_v2(struct timers *ts, struct timer_check *c)
{
    int64_t next = wakeTime_v2(ts);
    if (next == 0)
        return;
    if (c->now == 0)
        c->now = nanotime();
    if (c->now < next && !many_zombies(ts))
        c->pollUntil = next;
    else
        run_due_v2(ts, c);
}

/* time.go timers.take. The world is stopped: no locks. As in Go, astate keeps its old value: a
 * zombie that is dropped here still looks Heaped to maybeRunChan until somebody locks the timer. */
static void take_v2(struct timers *ts, struct timers *src)
{
    if (src->n == 0)
        return;
    for (uint32_t i = 0; i < src->n; i++) {
        struct timer *t = src->heap[i].timer;
        t->ts = NULL;
        if ((t->state & timerZombie) != 0) {
            t->state = 0;
        } else {
            t->state &= (uint8_t)~timerModified;
            addHeap(ts, t);
        }
    }
    src->n = 0;
    a_store(&src->zombies, 0);
    a_store(&src->minWhenHeap, (int64_t)0);
    a_store(&src->minWhenModified, (int64_t)0);
    a_store(&src->len, 0u);
    a_store(&ts->len, ts->n);
}

/* time.go timer.maybeRunChan: a channel operation looks at c. No lock is held. */
static OUTLINE void timer_maybeRunChan(struct timer *t, struct hchan *c)
{
    (void)c;
    if ((a_load(&t->astate) & timerHeaped) != 0)
        return; /* the heap's owner is in charge */
    timer_lock(t);
    int64_t now = nanotime();
    if ((t->state & timerHeaped) != 0 || t->when == 0 || t->when > now) {
        timer_unlock(t);
        return;
    }
    unlockAndRun(t, now);
}

/* time.go blockTimerChan: a G is about to park on c, whose lock (and maybe those of other channels)
 * is held. */
static void blockTimerChan(struct hchan *c)
{
    struct timer *t = c->timer;
    timer_lock(t);
    t->blocked++;
    if ((t->state & timerHeaped) != 0 && t->when > 0)
        zombie_clear(t);
    bool add = needsAdd(t);
    timer_unlock(t);
    if (add)
        maybeAdd(t);
}

/* time.go unblockTimerChan. The last one leaves: out of the heap, but when stays, so that a later
 * look can run it. */
static void unblockTimerChan(struct hchan *c)
{
    struct timer *t = c->timer;
    timer_lock(t);
    if (!t->isChan || t->blocked == 0)
        badTimer();
    t->blocked--;
    if (t->blocked == 0 && (t->state & timerHeaped) != 0)
        zombie_set(t);
    timer_unlock(t);
}

/* time.syncTimer. GODEBUG=asynctimerchan=1, the default below go 1.23, gives plain buffered
 * channels; 1.27 took it away. */
static bool timer_sync_chans(void)
{
    if (!prof->timers_v2 || !prof->sync_timer_chan)
        return false;
    return prof->async_timer_chan_gone || (prof->async_timer_chan == 0 && prof->main_go_line >= 23);
}

/* ---- the entry points: by generation ---- */

static void timers_init(struct timers *ts) { lockInit(&ts->mu, lockRankTimers); }

static void timer_init(struct timer *t, timer_fn f, void *arg)
{
    *t = (struct timer){.f = f, .arg = arg};
    if (prof->timers_v2)
        lockInit(&t->mu, lockRankTimer);
}

static inline void timers_check(struct p *pp, struct timer_check *c)
{
    c->pollUntil = 0;
    c->ran = false;
    if (prof->timers_v2)
        check_v2(&pp->timers, c);
    else if (prof->per_p_timers)
        checkTimers(pp, c);
}

static int64_t timers_wakeTime(struct p *pp)
{
    if (prof->timers_v2)
        return wakeTime_v2(&pp->timers);
    return prof->per_p_timers ? nobarrierWakeTime(&pp->timers) : 0;
}

static uint32_t timers_len(struct p *pp) { return a_load(&pp->timers.len); }

/* proc.go updateTimerPMask (1.16-1.22), the first lines of pidleput (1.23+). sched.lock is held. A
 * timer may be added meanwhile only by the P itself or by a P-less M, never to an idle P: 1.22 and
 * older did not rely on it. */
static void updateTimerPMask(struct p *pp)
{
    if (a_load(&pp->timers.len) > 0)
        return;
    if (prof->timers_v2) {
        pMask_clear(rt->timerpMask, pp->id);
        return;
    }
    lock(&pp->timers.mu);
    if (a_load(&pp->timers.len) == 0)
        pMask_clear(rt->timerpMask, pp->id);
    unlock(&pp->timers.mu);
}

static void moveTimers(struct timers *dst, struct timers *src)
{
    if (prof->timers_v2)
        take_v2(dst, src);
    else if (prof->per_p_timers)
        moveTimers_v1(dst, src);
}

static int64_t timeSleepUntil(void)
{
    if (!prof->per_p_timers)
        return timeSleepUntil_v0();
    int64_t next = TIMER_MAX_WHEN;
    lock(&rt->allpLock); /* keeps allp as it is */
    for (int32_t i = 0; i < rt->allp_len; i++) {
        struct p *pp = rt->allp[i];
        if (pp == NULL)
            continue; /* procresize grew allp and has not made this one yet */
        int64_t w = prof->timers_v2 ? wakeTime_v2(&pp->timers) : sleepUntil_v1(&pp->timers);
        if (w != 0 && w < next)
            next = w;
    }
    unlock(&rt->allpLock);
    return next;
}

static bool timer_pending(const struct timer *t)
{
    if (prof->timers_v2)
        return (t->state & timerZombie) == 0;
    return !prof->per_p_timers || pending_v1(t);
}

static bool timer_stop(struct timer *t)
{
    if (prof->timers_v2)
        return stop_v2(t);
    return prof->per_p_timers ? deltimer(t) : stop_v0(t);
}

static bool timer_modify(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                         uint64_t seq)
{
    if (when <= 0)
        throw("timer when must be positive");
    if (period < 0)
        throw("timer period must be non-negative");
    if (prof->timers_v2)
        return modify_v2(t, when, period, f, arg, seq);
    if (f == NULL) {
        f = t->f;
        arg = t->arg;
        seq = t->seq;
    }
    if (prof->per_p_timers)
        return modtimer(t, when, period, f, arg, seq);
    return modify_v0(t, when, period, f, arg, seq);
}

static bool timer_reset(struct timer *t, int64_t when, int64_t period)
{
    return timer_modify(t, when, period, NULL, NULL, 0);
}
