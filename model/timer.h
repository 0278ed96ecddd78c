/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers (time.go), three generations behind one set of names. Included by runtime2.h.
 *
 *   1.13       timer_buckets.c  64 heaps, each served by a goroutine that sleeps in system calls
 *   1.14-1.22  timer_v1.c       a heap per P; a status word per timer, changed by CAS only
 *   1.23-      timer.c          a heap per P, a lock per timer, channel timers queued when needed
 *
 * timer_heap.c is the heap that all share; the functions below pick the generation (end of
 * timer.c). timesleep.c is package time: Sleep, Timer, Ticker, AfterFunc, After. Nothing here parks
 * except timeSleep.
 *
 * Locks: timers.mu is held while a heap is read or changed and dropped around a callback; timer.mu
 * (third generation) guards the timer's fields and is taken inside timers.mu; timeTimer.sendLock is
 * taken before both. */
#ifndef MODEL_TIMER_H
#define MODEL_TIMER_H

struct timer;
struct timeTimer;
struct timersBucket;

/* Runs on g0 (1.13: on timerproc) with no lock of the heap held. delay = how late it is. */
typedef void (*timer_fn)(void *arg, uint64_t seq, int64_t delay);

#define TIMER_MAX_WHEN INT64_MAX

enum { timerHeaped = 1, timerModified = 2, timerZombie = 4 };

struct timer {
    union {
        struct mutex mu; /* third generation */
        struct {
            ATOMIC(uint32_t) status; /* second generation: enum timer_status */
            uint32_t claimed;        /* what it was before timerModifying */
            int64_t nextwhen;        /* its owner is whoever made status Modifying */
        } v1;
        struct {
            struct timersBucket *tb; /* NULL: never added */
            int32_t i;               /* index in the bucket's heap */
        } v0;
    };
    ATOMIC(uint8_t) astate; /* copy of state at the last unlock */
    uint8_t state;          /* timerHeaped | timerModified | timerZombie */
    bool isChan;            /* embedded in a struct timeTimer that feeds a channel; immutable */
    uint8_t stale;          /* so many sends in flight were made stale (at most 255); sendLock */
    uint32_t blocked;       /* Gs blocked on the channel */
    int64_t when, period;
    timer_fn f;
    void *arg;
    uint64_t seq;
    struct timers *ts; /* the heap it is in (1.14+) */
};

struct timerWhen {
    struct timer *timer;
    int64_t when; /* what orders the heap; lags behind timer->when while the timer is modified */
};

/* The heap of one P (1.14+), or of one bucket (1.13, where mu is the bucket's lock). */
struct timers {
    struct mutex mu;
    struct timerWhen *heap;
    uint32_t n, cap;
    ATOMIC(uint32_t) len;            /* numTimers <=1.22 */
    ATOMIC(int32_t) zombies;         /* deletedTimers <=1.22 */
    ATOMIC(int64_t) minWhenHeap;     /* timer0When <=1.22 */
    ATOMIC(int64_t) minWhenModified; /* timerModifiedEarliest 1.16-1.22 */
    ATOMIC(int32_t) adjustTimers;    /* 1.14, 1.15 */
};

/* time.Timer or time.Ticker. */
struct timeTimer {
    struct timer t;
    struct hchan *c;
    struct mutex sendLock;     /* third generation, channel timers */
    ATOMIC(int32_t) isSending; /* same, not tickers */
    uint32_t func;             /* AfterFunc: what to start */
    int32_t group;
    uint32_t nargs;
    int64_t args[]; /* of func */
};

enum { timersLen = 64 }; /* buckets of 1.13 */

struct timersBucket {
    struct timers heap; /* its mu is the bucket's lock */
    struct g *gp;
    bool created, sleeping, rescheduling;
    int64_t sleepUntil;
    struct note waitnote;
};

/* Filled in where it is read: returned, it is copied by wide loads, which wait until the narrow
 * stores just before them are in the cache, 6 ns in each switch. */
struct timer_check {
    int64_t now, pollUntil;
    bool ran;
};

struct g;
struct p;
struct hchan;

/* ---- for the scheduler (proc.c, sysmon.c, stw.c) ---- */
static void timers_world_init(void); /* once, after the profile is set and before the first P */
static void timers_init(struct timers *ts); /* p.init, for a new struct p */
/* timers.check, checkTimers <=1.22; nothing in 1.13. c->now: 0 asks the clock if needed. */
static inline void timers_check(struct p *pp, struct timer_check *c);
static int64_t timers_wakeTime(struct p *pp); /* 0: none */
static uint32_t timers_len(struct p *pp);     /* racy */
/* pidleput: clears the bit when the heap is empty (1.16+). */
static void updateTimerPMask(struct p *pp);
static void moveTimers(struct timers *dst, struct timers *src); /* p.destroy, world stopped */
static int64_t timeSleepUntil(void);         /* TIMER_MAX_WHEN: no timer; takes allpLock */
static bool shouldStealTimers(struct p *p2); /* 1.14, 1.15 */

/* Is it in a heap, and will it run? For who looks at a world that stands still. */
static bool timer_pending(const struct timer *t);

/* ---- for users of timers inside the runtime ---- */
static void timer_init(struct timer *t, timer_fn f, void *arg);
static bool timer_stop(struct timer *t); /* true: it had not run */
/* f NULL keeps f, arg and seq. true: it had not run. */
static bool timer_modify(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                         uint64_t seq);
static bool timer_reset(struct timer *t, int64_t when, int64_t period);

/* ---- for channels (chan.c, select.c): hooks of hchan.timer, which is NULL unless the channel is
 * synchronous (1.23+) ---- */
/* Before an operation looks at c, its lock not held. */
static void timer_maybeRunChan(struct timer *t, struct hchan *c);
static void blockTimerChan(struct hchan *c);   /* a G parks on c, its lock held */
static void unblockTimerChan(struct hchan *c); /* it is off c, lock held */
static bool timer_sync_chans(void);            /* does this world have such channels at all */

/* ---- package time (timesleep.c) ---- */
static enum opres timeSleep(struct g *gp, int64_t ns);
static int64_t time_when(int64_t d); /* now + d, saturated */
/* What a timer of a channel and one of AfterFunc do; arg is the struct timeTimer. */
static void sendTime(void *arg, uint64_t seq, int64_t delay);
static void goFunc(void *arg, uint64_t seq, int64_t delay);
static struct timeTimer *time_NewTimer(int64_t d, struct hchan *c);
/* d > 0, else the caller panics first. */
static struct timeTimer *time_NewTicker(int64_t d, struct hchan *c);
static struct timeTimer *time_AfterFunc(int64_t d, uint32_t func, const int64_t *args,
                                        uint32_t nargs, int32_t group);
static bool time_Stop(struct timeTimer *t);
static bool time_Reset(struct timeTimer *t, int64_t d);
static void time_ResetTicker(struct timeTimer *t, int64_t d);

/* ---- timer_buckets.c for the others ---- */
static bool stop_v0(struct timer *t);
static bool modify_v0(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                      uint64_t seq);
static int64_t timeSleepUntil_v0(void);
static enum opres timeSleep_v0(struct g *gp, struct timer *t);

/* ---- timer_heap.c for the others ---- */
static void badTimer(void);
static void heap_put(struct timers *ts, uint32_t i, struct timerWhen tw);
static uint32_t siftUp(struct timers *ts, uint32_t i);
static void siftDown(struct timers *ts, uint32_t i);
static void initHeap(struct timers *ts);
static uint32_t heap_push(struct timers *ts, struct timer *t, int64_t when);
static void heap_pop(struct timers *ts);
static void updateMinWhenHeap(struct timers *ts);
static void updateMinWhenModified(struct timers *ts, int64_t when);
static struct timers *timers_own(void);
static void timer_fire(timer_fn f, void *arg, uint64_t seq, int64_t when, int64_t delay);
static int64_t timer_next(int64_t when, int64_t period, int64_t now);

/* ---- timer_v1.c for the others ---- */
static bool pending_v1(const struct timer *t);
static bool deltimer(struct timer *t);
static bool modtimer(struct timer *t, int64_t when, int64_t period, timer_fn f, void *arg,
                     uint64_t seq);
static void addtimer(struct timer *t);
static bool modtimer_unpinned(struct timer *t, int64_t when);
static void moveTimers_v1(struct timers *dst, struct timers *src);
static int64_t nobarrierWakeTime(struct timers *ts);
static void checkTimers(struct p *pp, struct timer_check *c);
static int64_t sleepUntil_v1(struct timers *ts);

#endif
