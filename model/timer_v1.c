/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of Go 1.14 to 1.22 (time.go): a heap per P and a status word per timer.
 *
 * Whoever wants to touch a timer moves its status by CAS into one of the locking states (*) and
 * everybody else waits with osyield.
 *
 *   NoStatus   -> Modifying* -> Waiting              modtimer: into the current P's heap
 *   Removed    -> Modifying* -> Waiting
 *   Waiting    -> Running*   -> NoStatus, Waiting    runtimer (Waiting: it has a period)
 *   Waiting    -> Modifying* -> Deleted              deltimer; the heap is not touched
 *   Waiting    -> Modifying* -> ModifiedXX           modtimer; the new time is in nextwhen
 *   ModifiedXX -> Modifying* -> Deleted, ModifiedYY
 *   ModifiedXX -> Moving*    -> Waiting              the heap's owner puts it where it belongs
 *   Deleted    -> Modifying* -> ModifiedXX           modtimer brings it back
 *   Deleted    -> Removing*  -> Removed              the heap's owner takes it out
 *
 * Names as in Go; the fields of struct timers are named after the third generation: minWhenHeap is
 * timer0When, minWhenModified is timerModifiedEarliest, len is numTimers, zombies is deletedTimers.
 * A heap entry's copy of when is always exact. */
#include "lock.h"
#include "netpoll.h"
#include "park.h"
#include "preempt.h"
#include "spin.h"
#include "step.h"

enum timer_status {
    timerNoStatus,
    timerWaiting,
    timerRunning,
    timerDeleted,
    timerRemoving,
    timerRemoved,
    timerModifying,
    timerModifiedEarlier,
    timerModifiedLater,
    timerMoving,
};

static void status_set(struct timer *t, uint32_t from, uint32_t to)
{
    if (!a_cas(&t->v1.status, from, to))
        badTimer();
}

static void updateTimer0When(struct timers *ts) { updateMinWhenHeap(ts); }

/* time.go doaddtimer. The heap's lock is held, nobody else can touch t. */
static void doaddtimer(struct timers *ts, struct timer *t)
{
    if (!netpollinited())
        netpollGenericInit();
    if (t->ts != NULL)
        throw("doaddtimer: P already set in timer");
    t->ts = ts;
    if (heap_push(ts, t, t->when) == 0)
        a_store(&ts->minWhenHeap, t->when);
    a_add(&ts->len, 1);
}

static void timer_removed(struct timers *ts)
{
    if (a_add(&ts->len, -1) == 0 && prof->timer_earliest_reset)
        a_store(&ts->minWhenModified, (int64_t)0);
}

/* time.go dodeltimer. Returns the lowest index whose entry changed. */
static uint32_t dodeltimer(struct timers *ts, uint32_t i)
{
    struct timer *t = ts->heap[i].timer;
    if (t->ts != ts)
        throw("dodeltimer: wrong P");
    t->ts = NULL;
    work(timer_op);
    uint32_t last = --ts->n, changed = i;
    if (i != last) {
        ts->heap[i] = ts->heap[last];
        changed = siftUp(ts, i);
        siftDown(ts, i);
    }
    if (i == 0)
        updateTimer0When(ts);
    timer_removed(ts);
    return changed;
}

/* time.go dodeltimer0. */
static void dodeltimer0(struct timers *ts)
{
    struct timer *t = ts->heap[0].timer;
    if (t->ts != ts)
        throw("dodeltimer0: wrong P");
    t->ts = NULL;
    heap_pop(ts);
    updateTimer0When(ts);
    timer_removed(ts);
}

/* 1.14, 1.15 count the timers that wait for an earlier place; any such timer forces a locked scan.
 */
static void adjust_count(struct timers *ts, uint32_t status, int32_t d)
{
    if (!prof->timer_earliest && status == timerModifiedEarlier)
        a_add(&ts->adjustTimers, d);
}

/* time.go deltimer. It may be in the heap of another P: that P takes it out. */
static bool deltimer(struct timer *t)
{
    for (;;) {
        uint32_t s = a_load(&t->v1.status);
        switch ((enum timer_status)s) {
        case timerWaiting:
        case timerModifiedLater:
        case timerModifiedEarlier: {
            struct m *mp = acquirem(); /* a preempted G must not hold up the P that runs the heap */
            if (a_cas(&t->v1.status, s, (uint32_t)timerModifying)) {
                struct timers *ts = t->ts; /* before others may change it */
                adjust_count(ts, s, -1);
                status_set(t, timerModifying, timerDeleted);
                releasem(mp);
                a_add(&ts->zombies, 1);
                return true;
            }
            releasem(mp);
            break;
        }
        case timerDeleted:
        case timerRemoving:
        case timerRemoved:
        case timerNoStatus: return false;
        case timerRunning:
        case timerMoving:
        case timerModifying: osyield(); break;
        }
    }
}

/* modtimer's first half: takes the status to Modifying with m.locks held. Returns what it was. */
static uint32_t modtimer_claim(struct timer *t, struct m **mpp)
{
    for (;;) {
        uint32_t s = a_load(&t->v1.status);
        switch ((enum timer_status)s) {
        case timerWaiting:
        case timerModifiedEarlier:
        case timerModifiedLater:
        case timerNoStatus:
        case timerRemoved:
        case timerDeleted:
            *mpp = acquirem();
            if (a_cas(&t->v1.status, s, (uint32_t)timerModifying))
                return s;
            releasem(*mpp);
            break;
        case timerRunning:
        case timerRemoving:
        case timerMoving:
        case timerModifying: osyield(); break;
        }
    }
}

/* The timer was in no heap: into the current P's. */
static void modtimer_add(struct timer *t, int64_t when, struct m *mp)
{
    t->when = when;
    struct timers *ts = timers_own();
    lock(&ts->mu);
    doaddtimer(ts, t);
    unlock(&ts->mu);
    status_set(t, timerModifying, timerWaiting);
    releasem(mp);
    wakeNetPoller(when);
}

/* The timer is in a heap, maybe another P's: leaves the new time for the heap's owner. */
static void modtimer_mark(struct timer *t, int64_t when, uint32_t old, struct m *mp)
{
    t->v1.nextwhen = when;
    uint32_t s = when < t->when ? timerModifiedEarlier : timerModifiedLater;
    struct timers *ts = t->ts;
    if (old != s) {
        adjust_count(ts, old, -1);
        adjust_count(ts, s, 1);
    }
    if (s == timerModifiedEarlier && prof->timer_earliest)
        updateMinWhenModified(ts, when);
    status_set(t, timerModifying, s);
    releasem(mp);
    if (s == timerModifiedEarlier)
        wakeNetPoller(when);
}

/* modtimer up to the new time. Returns what the status was. */
static uint32_t modtimer_begin(struct timer *t, int64_t period, timer_fn f, void *arg, uint64_t seq,
                               struct m **mpp)
{
    uint32_t s = modtimer_claim(t, mpp);
    if (s == timerDeleted)
        a_add(&t->ts->zombies, -1);
    t->period = period;
    t->f = f;
    t->arg = arg;
    t->seq = seq;
    return s;
}

static void modtimer_end(struct timer *t, int64_t when, uint32_t s, struct m *mp)
{
    if (s == timerNoStatus || s == timerRemoved)
        modtimer_add(t, when, mp);
    else
        modtimer_mark(t, when, s, mp);
}

static bool status_is_pending(uint32_t s)
{
    return s == timerWaiting || s == timerModifiedEarlier || s == timerModifiedLater;
}

/* time.go modtimer. True: it had not run. */
static bool modtimer(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                     uint64_t seq)
{
    struct m *mp;
    uint32_t s = modtimer_begin(t, period, f, arg, seq, &mp);
    modtimer_end(t, when, s, mp);
    return status_is_pending(s);
}

static enum opres step_modtimer(struct g *gp)
{
    struct timer *t = gp->opobj;
    modtimer_end(t, gp->opval, t->v1.claimed, acquirem());
    return OP_DONE;
}

/* modtimer of who may be preempted while the timer is timerModifying. */
static bool modtimer_unpinned(struct timer *t, int64_t when)
{
    struct m *mp;
    uint32_t s = modtimer_begin(t, 0, t->f, t->arg, t->seq, &mp);
    releasem(mp);
    struct g *gp = a_own(&mp->curg);
    t->v1.claimed = s;
    gp->opobj = t;
    gp->opval = when;
    preemptible(gp, STEP_modtimer);
    return status_is_pending(s);
}

/* A deleted timer leaves the heap at index i. False: its status changed first. *changed as
 * dodeltimer's. */
static bool remove_deleted(struct timers *ts, uint32_t i, uint32_t *changed)
{
    struct timer *t = ts->heap[i].timer;
    if (!a_cas(&t->v1.status, (uint32_t)timerDeleted, (uint32_t)timerRemoving))
        return false;
    if (i == 0)
        dodeltimer0(ts);
    else
        *changed = dodeltimer(ts, i);
    status_set(t, timerRemoving, timerRemoved);
    a_add(&ts->zombies, -1);
    return true;
}

/* The modified timer at the head goes where it belongs. False: its status changed first. */
static bool move_head(struct timers *ts, uint32_t s)
{
    struct timer *t = ts->heap[0].timer;
    if (!a_cas(&t->v1.status, s, (uint32_t)timerMoving))
        return false;
    t->when = t->v1.nextwhen;
    dodeltimer0(ts);
    doaddtimer(ts, t);
    adjust_count(ts, s, -1);
    status_set(t, timerMoving, timerWaiting);
    return true;
}

/* time.go cleantimers: tidies the head only. Go (1.15+) also stops when the GC wants to stop this
 * G. */
static void cleantimers(struct timers *ts)
{
    uint32_t changed;
    while (ts->n > 0) {
        struct timer *t = ts->heap[0].timer;
        if (t->ts != ts)
            throw("cleantimers: bad p");
        uint32_t s = a_load(&t->v1.status);
        if (s == timerDeleted)
            (void)remove_deleted(ts, 0, &changed);
        else if (s == timerModifiedEarlier || s == timerModifiedLater)
            (void)move_head(ts, s);
        else
            return;
    }
}

static void addtimer_to(struct timers *ts, struct timer *t)
{
    int64_t when = t->when;
    lock(&ts->mu);
    cleantimers(ts);
    doaddtimer(ts, t);
    unlock(&ts->mu);
    wakeNetPoller(when);
}

/* The rest of addtimer, of who was not pinned: by now the heap may be another P's. */
static enum opres step_addtimer(struct g *gp)
{
    addtimer_to(gp->param, gp->opobj);
    return OP_DONE;
}

/* time.go addtimer: a timer that was never added. */
static void addtimer(struct timer *t)
{
    if (t->when <= 0)
        throw("timer when must be positive");
    if (a_load(&t->v1.status) != timerNoStatus)
        throw("addtimer called with initialized timer");
    a_store(&t->v1.status, (uint32_t)timerWaiting);
    if (!prof->addtimer_pinned) {
        struct g *gp = a_own(&getm()->curg);
        gp->opobj = t;
        gp->param = timers_own();
        preemptible(gp, STEP_addtimer);
        return;
    }
    struct m *mp = acquirem();
    addtimer_to(timers_own(), t);
    releasem(mp);
}

/* One entry of moveTimers. Any other status than the three that an idle heap can hold is an error.
 */
static void move_one(struct timers *dst, struct timer *t)
{
    for (;;) {
        uint32_t s = a_load(&t->v1.status);
        if (s == timerDeleted) {
            if (!a_cas(&t->v1.status, s, (uint32_t)timerRemoved))
                continue;
            t->ts = NULL;
            return; /* deletedTimers of the dying P is not corrected, as in Go */
        }
        if (s == timerModifying) {
            osyield(); /* its G will get there: acquirem */
            continue;
        }
        if (s != timerWaiting && s != timerModifiedEarlier && s != timerModifiedLater)
            badTimer();
        if (!a_cas(&t->v1.status, s, (uint32_t)timerMoving))
            continue;
        if (s != timerWaiting)
            t->when = t->v1.nextwhen;
        t->ts = NULL;
        doaddtimer(dst, t);
        status_set(t, timerMoving, timerWaiting);
        return;
    }
}

/* proc.go p.destroy and time.go moveTimers. The world is stopped, but the locks are taken: sysmon
 * may look. */
static void moveTimers_v1(struct timers *dst, struct timers *src)
{
    if (src->n == 0)
        return;
    lock(&dst->mu);
    lock(&src->mu);
    for (uint32_t i = 0; i < src->n; i++)
        move_one(dst, src->heap[i].timer);
    src->n = 0;
    a_store(&src->len, 0u);
    a_store(&src->zombies, 0);
    a_store(&src->minWhenHeap,
            (int64_t)0); /* timerModifiedEarliest stays, as in Go: one scan too many later */
    a_store(&src->adjustTimers, 0);
    unlock(&src->mu);
    unlock(&dst->mu);
}

/* time.go addAdjustedTimers. The `moved` timers wait in the free slots of the heap's array just
 * below end, last one lowest. */
static void addAdjustedTimers(struct timers *ts, uint32_t end, uint32_t moved)
{
    uint32_t first = end - moved;
    for (uint32_t i = 0; i < moved / 2; i++) {
        struct timerWhen tmp = ts->heap[first + i];
        ts->heap[first + i] = ts->heap[end - 1 - i];
        ts->heap[end - 1 - i] = tmp;
    }
    for (uint32_t i = 0; i < moved; i++) { /* the heap's end never passes the slot that is read */
        struct timer *t = ts->heap[first + i].timer;
        doaddtimer(ts, t);
        status_set(t, timerMoving, timerWaiting);
    }
}

/* 1.16 fixed two oversights of the scan: entries that siftUp brought before i were skipped, and a
 * time that fell into the scan was lost. */
static uint32_t rescan_from(uint32_t i, uint32_t changed)
{
    return prof->timer_earliest ? changed : i;
}

/* True: nothing in the heap wants an earlier place by now. */
static bool adjust_not_needed(struct timers *ts, int64_t now)
{
    if (!prof->timer_earliest)
        return ts->n == 0 || a_load(&ts->adjustTimers) == 0;
    int64_t first = a_load(&ts->minWhenModified);
    if (first == 0 || first > now)
        return true;
    a_store(&ts->minWhenModified, (int64_t)0);
    return false;
}

/* Takes a modified timer out of the heap for later. False: its status changed first. */
static bool adjust_take(struct timers *ts, uint32_t i, uint32_t s, uint32_t park, uint32_t *changed)
{
    struct timer *t = ts->heap[i].timer;
    if (!a_cas(&t->v1.status, s, (uint32_t)timerMoving))
        return false;
    t->when = t->v1.nextwhen;
    *changed = dodeltimer(ts, i);
    ts->heap[park] = (struct timerWhen){t, t->when};
    return true;
}

/* time.go adjusttimers: a full scan that puts modified timers where they belong and drops deleted
 * ones. */
static void adjusttimers(struct timers *ts, int64_t now)
{
    if (adjust_not_needed(ts, now))
        return;
    uint32_t end = ts->n, moved = 0, i = 0, changed = 0;
    while (i < ts->n) {
        struct timer *t = ts->heap[i].timer;
        if (t->ts != ts)
            throw("adjusttimers: bad p");
        uint32_t s = a_load(&t->v1.status);
        switch ((enum timer_status)s) {
        case timerDeleted:
            i = remove_deleted(ts, i, &changed) ? rescan_from(i, changed) : i + 1;
            break;
        case timerModifiedEarlier:
        case timerModifiedLater:
            if (!adjust_take(ts, i, s, end - 1 - moved, &changed)) {
                i++;
                break;
            }
            moved++;
            i = rescan_from(i, changed);
            if (!prof->timer_earliest && s == timerModifiedEarlier &&
                a_add(&ts->adjustTimers, -1) <= 0) {
                addAdjustedTimers(ts, end, moved);
                return;
            }
            break;
        case timerWaiting: i++; break;
        case timerModifying: osyield(); break;
        case timerNoStatus:
        case timerRunning:
        case timerRemoving:
        case timerRemoved:
        case timerMoving: badTimer();
        }
    }
    addAdjustedTimers(ts, end, moved);
}

/* proc.go nobarrierWakeTime. */
static int64_t nobarrierWakeTime(struct timers *ts)
{
    if (!prof->timer_earliest) {
        if (a_load(&ts->adjustTimers) > 0)
            return nanotime();
        return a_load(&ts->minWhenHeap);
    }
    int64_t next = a_load(&ts->minWhenHeap);
    int64_t adj = a_load(&ts->minWhenModified);
    return next == 0 || (adj != 0 && adj < next) ? adj : next;
}

/* time.go runOneTimer. Status Running; the heap's lock is dropped around f. */
static void runOneTimer(struct timers *ts, struct timer *t, int64_t now)
{
    timer_fn f = t->f;
    void *arg = t->arg;
    __builtin_prefetch(arg); /* f needs it after the heap is in order again */
    uint64_t seq = t->seq;
    int64_t when = t->when;
    if (t->period > 0) {
        t->when = timer_next(when, t->period, now);
        ts->heap[0].when = t->when;
        work(timer_op);
        siftDown(ts, 0);
        status_set(t, timerRunning, timerWaiting);
        updateTimer0When(ts);
    } else {
        dodeltimer0(ts);
        status_set(t, timerRunning, timerNoStatus);
    }
    unlock(&ts->mu);
    timer_fire(f, arg, seq, when, now - when);
    lock(&ts->mu);
}

/* time.go runtimer. 0: ran one; -1: the heap is empty; else when the head is due. */
static int64_t runtimer(struct timers *ts, int64_t now)
{
    uint32_t changed;
    for (;;) {
        struct timer *t = ts->heap[0].timer;
        if (t->ts != ts)
            throw("runtimer: bad p");
        uint32_t s = a_load(&t->v1.status);
        switch ((enum timer_status)s) {
        case timerWaiting:
            if (t->when > now)
                return t->when;
            if (a_cas(&t->v1.status, s, (uint32_t)timerRunning)) {
                runOneTimer(ts, t, now);
                return 0;
            }
            break;
        case timerDeleted:
            if (remove_deleted(ts, 0, &changed) && ts->n == 0)
                return -1;
            break;
        case timerModifiedEarlier:
        case timerModifiedLater: (void)move_head(ts, s); break;
        case timerModifying: osyield(); break;
        case timerNoStatus:
        case timerRunning:
        case timerRemoving:
        case timerRemoved:
        case timerMoving: badTimer();
        }
    }
}

/* What clearDeletedTimers does with one timer: kept entries are packed to the front and sifted up
 * there. */
struct clearing {
    uint32_t to;
    int32_t deleted, earlier;
    bool changed;
};

static void clear_keep(struct timers *ts, struct clearing *c, struct timer *t)
{
    ts->heap[c->to] = (struct timerWhen){t, t->when};
    (void)siftUp(ts, c->to);
}

/* False: its status changed first, or somebody holds it. */
static bool clear_one(struct timers *ts, struct clearing *c, struct timer *t)
{
    uint32_t s = a_load(&t->v1.status);
    switch ((enum timer_status)s) {
    case timerWaiting:
        if (c->changed)
            clear_keep(ts, c, t);
        c->to++;
        return true;
    case timerModifiedEarlier:
    case timerModifiedLater:
        if (!a_cas(&t->v1.status, s, (uint32_t)timerMoving))
            return false;
        t->when = t->v1.nextwhen;
        clear_keep(ts, c, t);
        c->to++;
        c->changed = true;
        c->earlier += s == timerModifiedEarlier;
        status_set(t, timerMoving, timerWaiting);
        return true;
    case timerDeleted:
        if (!a_cas(&t->v1.status, s, (uint32_t)timerRemoving))
            return false;
        t->ts = NULL;
        c->deleted++;
        c->changed = true;
        status_set(t, timerRemoving, timerRemoved);
        return true;
    case timerModifying: osyield(); return false;
    case timerNoStatus:
    case timerRunning:
    case timerRemoving:
    case timerRemoved:
    case timerMoving: badTimer();
    }
    return false;
}

/* time.go clearDeletedTimers: the owner's clean-up when more than a quarter is deleted. */
static void clearDeletedTimers(struct timers *ts)
{
    if (prof->timer_earliest)
        a_store(&ts->minWhenModified, (int64_t)0);
    struct clearing c = {0};
    work_n(timer_op, 1 + ts->n / 4);
    for (uint32_t i = 0; i < ts->n; i++) {
        struct timer *t = ts->heap[i].timer;
        while (!clear_one(ts, &c, t))
            ;
    }
    a_add(&ts->zombies, -c.deleted);
    a_add(&ts->len, (uint32_t)-c.deleted);
    if (!prof->timer_earliest)
        a_add(&ts->adjustTimers, -c.earlier);
    ts->n = c.to;
    updateTimer0When(ts);
}

static bool own_and_littered(struct timers *ts, uint32_t n)
{
    return ts == timers_own() && a_load(&ts->zombies) > (int32_t)(n / 4);
}

/* True: nothing to do for now; *r is complete. */
static bool check_early_out(struct timers *ts, struct timer_check *r)
{
    if (!prof->timer_earliest && a_load(&ts->adjustTimers) != 0)
        return false;
    int64_t next = prof->timer_earliest ? nobarrierWakeTime(ts) : a_load(&ts->minWhenHeap);
    if (next == 0)
        return true;
    if (r->now == 0)
        r->now = nanotime();
    if (r->now >= next)
        return false;
    if (ts == timers_own()) {
        int32_t deleted = a_load(&ts->zombies);
        if (deleted > (int32_t)(a_load(&ts->len) / 4))
            return false;
    }
    r->pollUntil = next;
    return true;
}

/* proc.go checkTimers. */
static void checkTimers(struct p *pp, struct timer_check *c)
{
    struct timers *ts = &pp->timers;
    if (check_early_out(ts, c))
        return;
    lock(&ts->mu);
    if (ts->n > 0) {
        adjusttimers(ts, c->now);
        if (c->now == 0)
            c->now = nanotime(); /* 1.14, 1.15 came here without looking at the clock */
        while (ts->n > 0) {
            int64_t tw = runtimer(ts, c->now);
            if (tw != 0) {
                c->pollUntil = tw > 0 ? tw : 0;
                break;
            }
            c->ran = true;
        }
    }
    if (own_and_littered(ts, ts->n))
        clearDeletedTimers(ts);
    unlock(&ts->mu);
}

/* 1.14, 1.15: modified timers are not summarised, so the heap is read under its lock. */
static int64_t sleepUntil_scan(struct timers *ts, int32_t earlier)
{
    int64_t next = TIMER_MAX_WHEN;
    lock(&ts->mu);
    for (uint32_t i = 0; i < ts->n; i++) {
        struct timer *t = ts->heap[i].timer;
        uint32_t s = a_load(&t->v1.status);
        bool modified = s == timerModifiedEarlier || s == timerModifiedLater;
        if (s == timerWaiting || modified) {
            int64_t when = modified ? t->v1.nextwhen : t->when;
            if (when < next)
                next = when;
        }
        if (s == timerModifiedEarlier)
            earlier--;
        if (earlier <= 0)
            break;
    }
    unlock(&ts->mu);
    return next;
}

/* One P's share of time.go timeSleepUntil. 0: none. */
static int64_t sleepUntil_v1(struct timers *ts)
{
    if (!prof->timer_earliest) {
        int32_t earlier = a_load(&ts->adjustTimers);
        return earlier == 0 ? a_load(&ts->minWhenHeap) : sleepUntil_scan(ts, earlier);
    }
    return nobarrierWakeTime(ts);
}

/* proc.go shouldStealTimers (1.14, 1.15): only from a P whose own M cannot run them soon. Go also
 * says no when that M holds locks; m.locks is nobody's to read here, and the answer would only be
 * later. */
static bool shouldStealTimers(struct p *p2)
{
    if (a_load_rlx(&p2->status) != Prunning)
        return true;
    struct m *mp = a_load_rlx(&p2->m);
    if (mp == NULL)
        return false;
    struct g *gp = a_load_rlx(&mp->curg);
    if (gp == NULL)
        return false;
    uint32_t status = a_load_rlx(&gp->atomicstatus);
    return status == Grunning && a_load_rlx(&gp->preempt);
}

/* timer_pending for a timer that was added to a heap. */
static bool pending_v1(const struct timer *t)
{
    uint32_t s = a_peek(&t->v1.status);
    return s != timerDeleted && s != timerRemoved && s != timerNoStatus;
}
