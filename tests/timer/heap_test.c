/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers from inside: random adds, changes, stops and looks against a list that is
 * searched, on one M and on several. What must hold: a timer fires once per time it was set, never
 * before it is due, never after a Stop that said true, in the order of the due times, and wakeTime
 * is never later than the earliest timer. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.c"
#include "run/host.h"
#include "sim/base/rng.h"

enum { TIMERS = 200, MOVES = 4000 };

struct naive {
    struct timer t;
    int64_t when, period; /* 0: not set */
};

static struct naive *naive;
static struct rng rng;
static int release_;
static const char *broken; /* what went wrong first; looked at when the world is over */

static void expect(bool ok, const char *text)
{
    if (!ok && broken == NULL)
        broken = text;
}

/* ---- one world ---- */

/* now 0: by the clock */
static struct timer_check check_at(struct p *pp, int64_t now)
{
    struct timer_check c = {.now = now};
    timers_check(pp, &c);
    return c;
}

static struct insn stop_code[] = {{OP_RET, NOREG, 0, 0, 0, 0}};
static struct func stop_func[] = {{"main", 0, 1, 1, 0, 0}};
static struct program nothing = {.code = stop_code, .funcs = stop_func, .ncode = 1, .nfuncs = 1};

static void world(int release, int procs, uint64_t seed, void (*m0_runs)(void *))
{
    struct profile f;
    struct failure why = {0};
    static struct core core;
    struct host host = host_virt;
    const struct host_opts o = {.seed = seed,
                                .ties_by_seed = true,
                                .throws_end_process = true,
                                .world = {.profile = &f, .program = &nothing, .procs = procs}};
    CHECK(profile_init(&f, release));
    release_ = release;
    broken = NULL;
    rng_init(&rng, seed, RNG_USER, (uint64_t)release);
    core = CORE;
    core.run_m0 = m0_runs;
    core.sighandler = NULL;
    host.core = &core;
    CHECK(world_open(&host, &why, &o));
    naive = host_alloc(TIMERS * sizeof *naive, 64);
    enum world_end end = host.run(UINT64_C(1000) * 1000000000000u);
    host.close();
    if (broken != NULL)
        FAIL_CASE("go1.%d, seed %d: %s", release, (int)seed, broken);
    CHECK_EQ(end, END_STOPPED);
}

/* ---- one M ---- */

static int64_t now_, last_when;
static int fired, overlooked;

/* 1.14 and 1.15 overlook a timer that wants an earlier place, when taking another one out moved it
 * to the front of the scan: it fires too late. */
static bool overlooks_in(int release) { return release == 14 || release == 15; }
static bool overlooks(void) { return overlooks_in(release_); }

static void on_fire(void *arg, uint64_t seq, int64_t delay);

static void naive_set(struct naive *n)
{
    bool pending = n->when > 0;
    n->when = now_ + 1 + (int64_t)rng_below(&rng, 10000);
    n->period = rng_below(&rng, 4) == 0 ? 1 + (int64_t)rng_below(&rng, 3000) : 0;
    bool said = timer_modify(&n->t, n->when, n->period, on_fire, n, 0);
    expect(said == pending, "modify said the wrong thing");
}

static void on_fire(void *arg, uint64_t seq, int64_t delay)
{
    struct naive *n = arg;
    (void)seq;
    expect(n->when > 0, "fired though not set");
    expect(n->when <= now_, "fired before it was due");
    expect(delay == now_ - n->when, "told a wrong delay");
    expect(n->when >= last_when || overlooks(), "fired out of order");
    last_when = n->when;
    fired++;
    n->when = n->period > 0 ? n->when + n->period * (1 + (now_ - n->when) / n->period) : 0;
    if (rng_below(&rng, 8) == 0)
        naive_set(n); /* no lock is held: a callback may use its own timer */
}

static int64_t naive_min(void)
{
    int64_t min = 0;
    for (int i = 0; i < TIMERS; i++)
        if (naive[i].when > 0 && (min == 0 || naive[i].when < min))
            min = naive[i].when;
    return min;
}

static void naive_stop(struct naive *n)
{
    bool said = timer_stop(&n->t);
    expect(said == (n->when > 0), "stop said the wrong thing");
    n->when = 0;
}

/* What timerproc does when it is awake (1.13). */
static void check_bucket(void)
{
    struct timersBucket *tb = &rt->timersBuckets[0];
    int64_t due = naive_min();
    last_when = 0;
    fired = 0;
    lock(&tb->heap.mu);
    while (tb->heap.n > 0 && tb->heap.heap[0].when <= now_)
        run_v0(tb, now_);
    unlock(&tb->heap.mu);
    expect((due != 0 && due <= now_) == (fired > 0), "timerproc ran the wrong timers");
    due = naive_min();
    expect(due == 0 || due > now_, "a due timer was left");
}

static void naive_check(void)
{
    if (release_ == 13) {
        check_bucket();
        return;
    }
    struct p *pp = a_own(&getm()->p);
    last_when = 0;
    int64_t due = naive_min();
    int64_t wake = timers_wakeTime(pp);
    /* 1.14, 1.15: with a timer that wants an earlier place the answer is "now", of the clock. */
    bool says_now = release_ < 16 && a_peek(&pp->timers.adjustTimers) > 0;
    expect(due == 0 || says_now || overlooked > 0 || (wake != 0 && wake <= due),
           "wakeTime is too late");
    /* With the lock held Go answers with the heap's head, which does not know of timers that want
     * an earlier place. */
    bool inexact = a_peek(&pp->timers.minWhenModified) != 0 || says_now;
    uint32_t length = pp->timers.n;
    fired = 0;
    struct timer_check c = check_at(pp, now_);
    inexact = inexact || fired > 0;
    expect((due != 0 && due <= now_) == (fired > 0) || overlooks(), "check ran the wrong timers");
    expect(c.ran == (fired > 0), "check says the wrong thing");
    due = naive_min();
    overlooked += due != 0 && due <= now_;
    expect(overlooked == 0 || overlooks(), "a due timer was left");
    if (overlooked > 0)
        return;
    expect(due == 0 || inexact || (c.pollUntil != 0 && c.pollUntil <= due),
           "pollUntil is too late");
    /* Go compares with the length before. */
    expect(a_peek(&pp->timers.zombies) <= (int32_t)(length / 4), "the owner left its litter");
}

static void one_m(void *arg)
{
    schedinit(arg);
    now_ = 1;
    for (int i = 0; i < TIMERS; i++)
        timer_init(&naive[i].t, on_fire, &naive[i]);
    for (int i = 0; i < MOVES; i++) {
        struct naive *n = &naive[rng_below(&rng, TIMERS)];
        switch (rng_below(&rng, 8)) {
        case 0: naive_stop(n); break;
        case 1:
            if (rng_below(&rng, 16) == 0) /* a lot of litter at once, and nothing due */
                for (int k = 0; k < TIMERS; k += 2)
                    naive_stop(&naive[k]);
            else
                now_ += (int64_t)rng_below(&rng, 500);
            naive_check();
            break;
        default: naive_set(n); break;
        }
    }
    for (int i = 0; i < TIMERS; i++)
        naive_stop(&naive[i]);
    now_ += 100000;
    naive_check();
    const struct timers *ts = release_ == 13 ? &rt->timersBuckets[0].heap
                                             : &a_own(&getm()->p)->timers;
    expect((ts->n == 0 && a_peek(&ts->len) == 0) || overlooked > 0,
           "stopped timers stay in the heap");
    expect(a_peek(&ts->zombies) == 0 || overlooked > 0, "the count of zombies is wrong");
    host_stop();
}

TEST_CASE(TimerHeap, AgainstASearchedList)
{
    for (int rel = 13; rel <= 27; rel++) {
        overlooked = 0;
        for (uint64_t seed = 1; seed <= (overlooks_in(rel) ? 40 : 5); seed++)
            world(rel, 1, seed, one_m);
        CHECK_EQ(overlooked > 0, overlooks_in(rel));
    }
}

/* ---- several Ms ---- */

/* Each M sets and stops timers of its own, any M's look may run them. credit: how often a timer may
 * still fire. */
struct shared {
    struct timer t;
    ATOMIC(int32_t) credit;
};

enum { SHARED = 24, WORKERS = 4, ROUNDS = 300 };
static struct shared *shared;
/* How the Ms of a test take turns. */
static struct {
    ATOMIC(int32_t) workers_left;
    ATOMIC(uint32_t) phase; /* odd: no timer is due later than BOUND */
    ATOMIC(int32_t) turn;   /* rounds begun */
    ATOMIC(int32_t) moved_turn;
} * turns;

static void on_shared(void *arg, uint64_t seq, int64_t delay)
{
    struct shared *s = arg;
    (void)seq;
    expect(delay >= 0, "fired early");
    int32_t left = a_add(&s->credit, -1);
    expect(left >= 0, "fired though stopped, or twice");
}

static void set_shared(struct shared *s, int64_t in_ns)
{
    a_add(&s->credit, 1);
    int64_t now = nanotime();
    if (timer_modify(&s->t, now + in_ns, 0, on_shared, s, 0))
        a_add(&s->credit, -1); /* the setting before it is taken back */
}

static void play(struct shared *s, struct rng *r)
{
    if (rng_below(r, 2) == 0 && timer_stop(&s->t))
        a_add(&s->credit, -1);
    if (rng_below(r, 2) == 0)
        set_shared(s, INT64_C(1000000000)); /* the next setting wants an earlier place */
    set_shared(s, 1 + (int64_t)rng_below(r, rng_below(r, 2) == 0 ? 3000 : 30));
}

static void look(void)
{
    for (int32_t i = 0; i < rt->allp_len; i++)
        (void)check_at(rt->allp[i], 0);
}

static void worker(struct m *mp)
{
    struct rng r;
    rng_init(&r, 7, RNG_USER, (uint64_t)mp->id);
    for (int i = 0; i < ROUNDS; i++) {
        int k = mp->id + WORKERS * (int)rng_below(&r, SHARED / WORKERS);
        play(&shared[k], &r);
        if (rng_below(&r, 2) == 0)
            look();
    }
    a_add(&turns->workers_left, -1);
    while (a_load(&turns->workers_left) > 0)
        look();
}

static void second_m(void *arg)
{
    struct m *mp = arg;
    acquirep(rt->allp[mp->id]);
    worker(mp);
    thread_exit();
}

static void several_ms(void *arg)
{
    schedinit(arg);
    shared = host_alloc(SHARED * sizeof *shared, 64);
    for (int i = 0; i < SHARED; i++)
        timer_init(&shared[i].t, on_shared, &shared[i]);
    turns = host_alloc(sizeof *turns, 64);
    a_init(&turns->workers_left, WORKERS);
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ; /* the workers take the Ps themselves */
    unlock(&sched->lock);
    for (int i = 1; i < WORKERS; i++) {
        struct m *mp = host_alloc(sizeof *mp, 64);
        m_init(mp, i, MSTART_LOOP);
        newosproc(&mp->host, second_m, mp);
    }
    worker(arg);
    host_usleep(100000);
    look();
    for (int i = 0; i < SHARED; i++)
        expect(a_peek(&shared[i].credit) == 0, "a timer was lost");
    int32_t left = 0;
    for (int i = 0; i < WORKERS; i++)
        left += (int32_t)rt->allp[i]->timers.n;
    expect(left == 0, "fired timers stay in a heap");
    host_stop();
}

TEST_CASE(TimerHeap, SeveralMsSetStopAndRun)
{
    for (int rel = 14; rel <= 27; rel++)
        for (uint64_t seed = 1; seed <= 6; seed++)
            world(rel, WORKERS, seed, several_ms);
}

/* ---- somebody reads wakeTime while the owner adjusts (1.23+; older releases were too late for a
 * moment) ---- */

enum { BOUND = 1000000000 };
static struct naive *pair;

static void never(void *arg, uint64_t seq, int64_t delay)
{
    (void)arg;
    (void)seq;
    (void)delay;
    expect(false, "fired far too early");
}

static void observer(void *arg)
{
    struct m *mp = arg;
    acquirep(rt->allp[1]);
    while (a_load(&turns->workers_left) > 0) {
        uint32_t before = a_load(&turns->phase);
        int64_t wake = timers_wakeTime(rt->allp[0]);
        uint32_t after = a_load(&turns->phase);
        expect(before != after || before % 2 == 0 || (wake != 0 && wake <= BOUND),
               "wakeTime was too late for a moment");
    }
    (void)mp;
    thread_exit();
}

static void adjuster(void *arg)
{
    schedinit(arg);
    turns = host_alloc(sizeof *turns, 64);
    pair = host_alloc(2 * sizeof *pair, 64);
    a_init(&turns->workers_left, 1);
    a_init(&turns->phase, 0u);
    struct m *mp = host_alloc(sizeof *mp, 64);
    m_init(mp, 1, MSTART_LOOP);
    lock(&sched->lock);
    (void)pidleget(0);
    unlock(&sched->lock);
    for (int i = 0; i < 2; i++) {
        timer_init(&pair[i].t, never, NULL);
        (void)timer_modify(&pair[i].t, (2 + i) * (int64_t)BOUND, 0, never, NULL, 0);
    }
    newosproc(&mp->host, observer, mp);
    struct timers *ts = timers_own();
    for (int i = 0; i < 300; i++) {
        (void)timer_reset(&pair[1].t, BOUND - i, 0);
        a_add(&turns->phase, 1);
        timers_lock(ts);
        adjust(ts, 0, /*force*/ true);
        timers_unlock(ts);
        a_add(&turns->phase, 1);
        (void)timer_reset(&pair[1].t, 3 * (int64_t)BOUND, 0);
        timers_lock(ts);
        adjust(ts, 0, /*force*/ true);
        timers_unlock(ts);
    }
    a_store(&turns->workers_left, 0);
    host_stop();
}

TEST_CASE(TimerHeap, WakeTimeIsNeverLateWhileTheOwnerAdjusts)
{
    for (int rel = 23; rel <= 27; rel++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            world(rel, 2, seed, adjuster);
}

/* The same race from the other side: a timer that is moved to an earlier place during one adjust is
 * seen when both are over. */

static void mover(void *arg)
{
    struct m *mp = arg;
    struct rng r;
    acquirep(rt->allp[mp->id]);
    rng_init(&r, 11, RNG_USER, 0);
    for (int i = 1; i <= 400; i++) {
        while (a_load(&turns->turn) < i)
            procyield(1);
        for (uint64_t n = rng_below(&r, 60); n > 0; n--)
            work(op);
        (void)timer_reset(&pair[1].t, BOUND, 0);
        a_store(&turns->moved_turn, i);
    }
    thread_exit();
}

static void adjust_in_turns(void *arg)
{
    schedinit(arg);
    turns = host_alloc(sizeof *turns, 64);
    pair = host_alloc(2 * sizeof *pair, 64);
    a_init(&turns->turn, 0);
    a_init(&turns->moved_turn, 0);
    struct m *mp = host_alloc(sizeof *mp, 64);
    m_init(mp, 1, MSTART_LOOP);
    lock(&sched->lock);
    (void)pidleget(0);
    unlock(&sched->lock);
    for (int i = 0; i < 2; i++) {
        timer_init(&pair[i].t, never, NULL);
        (void)timer_modify(&pair[i].t, (2 + i) * (int64_t)BOUND, 0, never, NULL, 0);
    }
    newosproc(&mp->host, mover, mp);
    struct timers *ts = timers_own();
    for (int i = 1; i <= 400; i++) {
        (void)timer_reset(&pair[1].t, 3 * (int64_t)BOUND, 0);
        timers_lock(ts);
        adjust(ts, 0, /*force*/ true);
        timers_unlock(ts);
        a_store(&turns->turn, i);
        work_n(op, 30);
        timers_lock(ts);
        adjust(ts, 0, /*force*/ true);
        timers_unlock(ts);
        while (a_load(&turns->moved_turn) < i)
            procyield(1);
        int64_t wake = wakeTime_v2(ts);
        expect(wake != 0 && wake <= BOUND, "a move was lost");
    }
    host_stop();
}

TEST_CASE(TimerHeap, AMoveDuringAnAdjustIsNotLost)
{
    for (int rel = 23; rel <= 27; rel++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            world(rel, 2, seed, adjust_in_turns);
}

/* ---- who is told of a new time ---- */

/* As if an M slept in the poller until then. True: op made somebody break it. */
static bool breaks(void)
{
    bool broke = a_xchg(&rt->netpoll->wakeSig, 0u) != 0;
    a_store(&sched->lastpoll, (int64_t)0);
    a_store(&sched->pollUntil, INT64_C(50000000000));
    return broke;
}

static void wakers(void *arg)
{
    schedinit(arg);
    struct timer *t = &naive[0].t;
    bool v2 = prof->timers_v2;
    for (int i = 0; i < 3; i++)
        timer_init(&naive[i].t, never, NULL);
    (void)breaks();
    (void)timer_modify(t, INT64_C(20000000000), 0, never, NULL, 0);
    expect(breaks(), "the first timer");
    (void)timer_modify(&naive[1].t, INT64_C(30000000000), 0, never, NULL, 0);
    expect(breaks() == !v2, "a later one: older releases always tell");
    (void)timer_modify(&naive[2].t, INT64_C(10000000000), 0, never, NULL, 0);
    expect(breaks(), "an earlier one");
    (void)timer_reset(t, INT64_C(40000000000), 0);
    expect(breaks() == v2, "moved to later: the new ones look only at what else was moved");
    (void)timer_reset(t, INT64_C(5000000000), 0);
    expect(breaks(), "moved to earlier");
    (void)timer_reset(t, INT64_C(60000000000), 0);
    (void)breaks();
    (void)timer_stop(t);
    expect(!breaks(), "stopped");
    struct timeTimer *tt = time_AfterFunc(1000, 0, NULL, 0, 0);
    expect(breaks(), "AfterFunc");
    (void)time_Stop(tt);
    host_stop();
}

TEST_CASE(TimerHeap, ThePollerIsTold)
{
    for (int rel = 15; rel <= 27; rel++)
        world(rel, 1, 1, wakers);
}

/* ---- Sleep ---- */

/* The timer is set by unlockf, when the G is parked: a thief may run it at once. */
static void sleeper(void *arg)
{
    struct m *mp = arg;
    schedinit(arg);
    struct g *gp = host_alloc(sizeof *gp, 64);
    enum opres res = timeSleep(gp, 1);
    expect(res == OP_MCALL, "a sleep parks");
    expect(timers_own()->n == 0, "the timer is set before the G is parked");
    expect(mp->waitunlockf != NULL && mp->waitunlockf(gp, mp->waitlock), "it stays parked");
    expect(timers_own()->n == 1, "no timer was set");
    expect(timeSleep(gp, 0) == OP_DONE && timeSleep(gp, -5) == OP_DONE, "no time, no sleep");
    host_stop();
}

TEST_CASE(TimerHeap, SleepSetsItsTimerWhenParked)
{
    for (int rel = 14; rel <= 27; rel++)
        world(rel, 1, 1, sleeper);
}

/* ---- channel timers (1.23+) ---- */

static struct timeTimer *chan_timer(int64_t d) { return time_NewTimer(d, makechan(1)); }

/* Nobody waits on it: it is in no heap, and a look makes it send. What it sent is taken back by
 * Stop. */
static void lazy_chan(void *arg)
{
    schedinit(arg);
    struct timeTimer *tt = chan_timer(1000);
    expect(timers_own()->n == 0, "a timer whose channel nobody waits on is in the heap");
    timer_maybeRunChan(&tt->t, tt->c);
    expect(a_peek(&tt->c->qcount) == 0, "sent before it was due");
    host_usleep(10);
    timer_maybeRunChan(&tt->t, tt->c);
    expect(a_peek(&tt->c->qcount) == 1, "a look at a due timer must make it send");
    expect(timer_stop(&tt->t), "the value was not received, so Stop says true");
    expect(a_peek(&tt->c->qcount) == 0, "Stop left a stale value");
    expect(!timer_stop(&tt->t), "stopped twice");
    (void)timer_reset(&tt->t, time_when(1000), 0);
    host_usleep(10);
    timer_maybeRunChan(&tt->t, tt->c);
    expect(timer_reset(&tt->t, time_when(1000000), 0), "Reset of an unreceived one says true");
    expect(a_peek(&tt->c->qcount) == 0, "Reset left a stale value");
    lock(&tt->c->lock);
    blockTimerChan(tt->c);
    expect(timers_own()->n == 1, "a waiter brings the timer into the heap");
    unblockTimerChan(tt->c);
    expect(a_peek(&timers_own()->zombies) == 1, "without a waiter it is on its way out");
    blockTimerChan(tt->c);
    expect(a_peek(&timers_own()->zombies) == 0, "the next waiter keeps it");
    unblockTimerChan(tt->c);
    unlock(&tt->c->lock);
    host_usleep(5000);
    (void)check_at(a_own(&getm()->p), 0);
    expect(timers_own()->n == 0 && a_peek(&tt->c->qcount) == 0, "nobody waits any more");
    timer_maybeRunChan(&tt->t, tt->c);
    expect(a_peek(&tt->c->qcount) == 1, "but it is still set");
    host_stop();
}

TEST_CASE(TimerHeap, ChannelTimersAreQueuedWhenSomebodyWaits)
{
    for (int rel = 23; rel <= 27; rel++)
        world(rel, 1, 1, lazy_chan);
}

/* Others run the timer while its owner stops it: after Stop no value comes, whatever it said. */
static struct timeTimer *stale;

static void stale_runner(void *arg)
{
    struct m *mp = arg;
    acquirep(rt->allp[mp->id]);
    while (a_load(&turns->workers_left) > 0)
        (void)check_at(rt->allp[0], 0);
    thread_exit();
}

static void stale_round(struct rng *r)
{
    struct hchan *c = stale->c;
    (void)timer_reset(&stale->t, time_when(1 + (int64_t)rng_below(r, 2000)), 0);
    for (uint64_t n = rng_below(r, 40); n > 0; n--)
        (void)nanotime();
    bool stopped = timer_stop(&stale->t);
    for (int i = 0; i < 20; i++) {
        uint32_t there = a_load(&c->qcount);
        expect(there == 0, "a value came after Stop");
    }
    int64_t ep;
    bool received;
    lock(&c->lock);
    unlock(&c->lock);
    (void)chanrecv_nb(c, &ep, &received);
    expect(!received, "a stale value was received");
    (void)stopped;
}

static void stale_owner(void *arg)
{
    struct rng r;
    schedinit(arg);
    rng_init(&r, 3, RNG_USER, 0);
    turns = host_alloc(sizeof *turns, 64);
    a_init(&turns->workers_left, 1);
    stale = chan_timer(1000000);
    lock(&stale->c->lock);
    blockTimerChan(stale->c); /* as if a G waited: the heap is in charge */
    unlock(&stale->c->lock);
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
    for (int i = 1; i < 3; i++) {
        struct m *mp = host_alloc(sizeof *mp, 64);
        m_init(mp, i, MSTART_LOOP);
        newosproc(&mp->host, stale_runner, mp);
    }
    for (int i = 0; i < 400; i++)
        stale_round(&r);
    a_store(&turns->workers_left, 0);
    host_stop();
}

TEST_CASE(TimerHeap, NoStaleSendAfterStop)
{
    for (int rel = 23; rel <= 27; rel++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            world(rel, 3, seed, stale_owner);
}

/* ---- deadlines ---- */

static void deadlines(void *arg)
{
    schedinit(arg);
    env_start(); /* no descriptor without a poller */
    struct pollfd *fd = netpoll_open(-1);
    struct pollDesc *pd = &fd->pd;
    struct p *pp = a_own(&getm()->p);
    pollSetDeadline(pd, 1000, POLL_R);
    uint64_t old = pd->rseq;
    pollSetDeadline(pd, INT64_C(1000000000), POLL_R);
    int64_t moved = pd->rd;
    netpollReadDeadline(pd, old, 0); /* it was in flight when the deadline moved */
    expect(pd->rd == moved && netpollcheckerr(pd, POLL_R) == pollNoError, "a stale deadline fired");
    netpollReadDeadline(pd, pd->rseq, 0);
    expect(pd->rd == -1 && netpollcheckerr(pd, POLL_R) == pollErrTimeout, "a deadline did nothing");
    expect(netpollcheckerr(pd, POLL_W) == pollNoError, "it was for reading only");
    pollSetDeadline(pd, 0, POLL_RW);
    expect(netpollcheckerr(pd, POLL_R) == pollNoError, "no deadline, no error");
    pollSetDeadline(pd, INT64_C(1000000000), POLL_W);
    netpollWriteDeadline(pd, pd->wseq, 0);
    expect(pd->wd == -1 && netpollcheckerr(pd, POLL_W) == pollErrTimeout, "no timeout of a write");
    expect(netpollcheckerr(pd, POLL_R) == pollNoError, "it was for writing only");
    pollSetDeadline(pd, 0, POLL_RW);
    host_usleep(3000000);
    (void)check_at(pp, 0);
    pollSetDeadline(pd, 1000, POLL_RW);
    expect(pd->rrun && !pd->wrun, "equal deadlines share a timer");
    if (prof->per_p_timers) {
        expect(pp->timers.n == 1, "one timer, not two");
        host_usleep(10);
        (void)check_at(pp, 0);
        expect(pd->rd == -1 && pd->wd == -1, "the shared timer serves both");
    }
    pollUnblock(pd);
    expect(netpollcheckerr(pd, POLL_W) == pollErrClosing, "closed");
    host_stop();
}

TEST_CASE(TimerHeap, DeadlineTimers)
{
    for (int rel = 13; rel <= 27; rel++)
        world(rel, 1, 1, deadlines);
}
