/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/real/rt_int.h" /* first: it asks for all of libc */

#include <string.h>
#include <time.h>

#include "sim/stress/stress.h"

#define W (&rt_world_)

enum {
    SITES_FEW = 32, /* one of so many places is hot in a run ... */
    SITES_MANY = 8, /* ... or in another one */
    NEIGHBOURS = 16,
    HOT_OFTEN = 8, /* so many delays of a thread at a hot place come often, the later ones seldom */
    HOT_SLOTS = 64, /* for counting them; places that share one share what it allows */
    SLEEP_MAX_NS = 200000,
    PAUSE_MAX = 4000,
    FREEZE_STEP_NS = 50000,
    PARK_STEP_NS = 2000000,
    FOR_NOTHING = 16,     /* one in so many futex sleeps */
    FREEZE_STEPS = 200000 /* ten seconds */
};

static struct {
    uint64_t seed;            /* 0: nothing is disturbed */
    _Atomic(uint32_t) frozen; /* a futex */
    _Atomic(uint64_t) points, pauses, yields, sleeps, freezes;
} st;

/* Of one thread. */
static _Thread_local struct {
    uint64_t random, world;   /* the seed that it was drawn for */
    uint8_t often[HOT_SLOTS]; /* delays at hot places so far */
    uint32_t points;
} my;

void stress_begin(uint64_t seed)
{
    st.seed = seed * 2 + 1;
    atomic_store(&st.frozen, 0);
    atomic_store(&st.points, 0);
    atomic_store(&st.pauses, 0);
    atomic_store(&st.yields, 0);
    atomic_store(&st.sleeps, 0);
    atomic_store(&st.freezes, 0);
}

/* ---- delays ---- */

static uint64_t draw_random(void)
{
    my.random ^= my.random << 13;
    my.random ^= my.random >> 7;
    my.random ^= my.random << 17;
    return my.random;
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    return x ^ (x >> 29);
}

static void begin_thread(void)
{
    my.world = st.seed;
    my.random = scramble(st.seed + (uint64_t)(uint32_t)rt_self_->id * 0x9e3779b97f4a7c15u) | 1;
    memset(my.often, 0, sizeof my.often);
    my.points = 0;
}

static void count(_Atomic(uint64_t) *what)
{
    atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

static void sleep_at_random(uint64_t random)
{
    struct timespec ts = {.tv_nsec = (long)(random % SLEEP_MAX_NS)};

    count(&st.sleeps);
    rt_sleeps_(false);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
    rt_awake_();
}

static void delay(uint64_t random)
{
    uint64_t length = random >> 8;

    switch (random & 7) {
    case 0: sleep_at_random(length); break;
    case 1:
    case 2:
        count(&st.yields);
        sched_yield();
        break;
    default:
        count(&st.pauses);
        rt_procyield_((uint32_t)(length % PAUSE_MAX));
        break;
    }
}

/* In every other run it is not single places that are hot but neighbourhoods of the source: many a
 * mistake needs two delays in one protocol, one on each side. */
static bool is_hot(uint32_t site)
{
    uint64_t run = scramble(st.seed * 0x9e3779b97f4a7c15u);
    uint32_t one_in = (run & 1) != 0 ? SITES_FEW : SITES_MANY;

    return scramble(run + ((run & 2) != 0 ? site / NEIGHBOURS : site)) % one_in == 0;
}

/* A place that every operation comes by uses up its own delays, and no other's. */
static uint32_t how_seldom(uint32_t site)
{
    uint8_t *often = &my.often[site % HOT_SLOTS];

    if (*often >= HOT_OFTEN)
        return 128;
    ++*often;
    return 2;
}

static void disturb(uint32_t site)
{
    uint64_t random = draw_random();
    uint32_t one_in = 2048;

    if (is_hot(site))
        one_in = how_seldom(site);
    if (random % one_in == 0)
        delay(random / one_in);
}

/* ---- standing still ---- */

static bool wants_to_stop(const struct rt_thread *t)
{
    return atomic_load(&st.frozen) != 0 && !t->in_handler;
}

/* Until it may go on, or the world is over: what is broken must not be run. */
static void wait_frozen(struct rt_thread *t)
{
    rt_futex_wait_(&st.frozen, 1, PARK_STEP_NS);
    if (!atomic_load(&W->stopping))
        return;
    t->hold = 0;
    siglongjmp(t->end, 1);
}

/* Signals wait meanwhile: a handler changes the world. */
static void park(struct rt_thread *t)
{
    rt_hold_();
    while (atomic_load(&st.frozen) != 0) {
        atomic_store(&t->place, RT_PARKED);
        wait_frozen(t);
        atomic_store(&t->place, RT_INSIDE);
    }
    rt_unhold_();
}

void stress_in_(void)
{
    struct rt_thread *t = rt_self_;

    atomic_store(&t->place, RT_INSIDE);
    if (wants_to_stop(t))
        park(t);
}

void stress_out_(enum stress_out what)
{
    atomic_store(&rt_self_->place, what == ST_SLEEPS ? RT_SLEEPS : RT_COMPUTES);
}

void stress_point_(uint32_t site)
{
    struct rt_thread *t = rt_self_;

    if (t == &W->outside)
        return;
    if (st.seed != my.world)
        begin_thread();
    if (++my.points % 256 == 0)
        atomic_fetch_add_explicit(&st.points, 256, memory_order_relaxed);
    if (!t->in_handler && atomic_load_explicit(&t->place, memory_order_relaxed) != RT_INSIDE)
        stress_in_(); /* a thread's first */
    else if (wants_to_stop(t))
        park(t);
    disturb(site);
}

/* A thread that is in a call may be interrupted there: its handler waits too, and says so: the call
 * may be over. */
void stress_sighandler(void *arg, void (*handler)(void *arg))
{
    struct rt_thread *t = rt_self_;
    uint32_t place = atomic_load(&t->place);

    while (place < RT_INSIDE && atomic_load(&st.frozen) != 0) {
        atomic_store(&t->place, RT_PARKED);
        wait_frozen(t);
        atomic_store(&t->place, place);
    }
    handler(arg);
}

bool stress_wakes_for_nothing_(void) { return st.seed != 0 && draw_random() % FOR_NOTHING == 0; }

static bool is_inside(struct rt_thread *t, bool started)
{
    return started && atomic_load(&t->place) == RT_INSIDE;
}

static bool anybody_inside(void)
{
    int32_t n = atomic_load(&W->nthreads);

    for (int32_t i = 0; i < n; i++)
        if (is_inside(&W->threads[i], atomic_load(&W->threads[i].tid) > 0))
            return true;
    return is_inside(rt_env_thread_(), true);
}

/* A thread that was stopped at a point, has not come to its first, or was woken and has no CPU yet
 * is on its way. Where it is is asked last: who is parked is asleep for the kernel, too. */
static bool rests(struct rt_thread *t)
{
    int32_t tid = atomic_load(&t->tid);

    if (tid <= 0)
        return tid < 0;
    if (atomic_load(&t->place) == RT_COMPUTES)
        return true;
    return rt_asleep_(tid) && atomic_load(&t->place) == RT_SLEEPS;
}

bool stress_quiet(bool *forever)
{
    int32_t n = atomic_load(&W->nthreads), come_back = 0;

    *forever = false;
    if (atomic_load(&rt_env_thread_()->place) == RT_PARKED)
        return false;
    for (int32_t i = 0; i < n; i++) {
        struct rt_thread *t = &W->threads[i];

        if (!rests(t))
            return false;
        come_back += atomic_load(&t->tid) > 0 && atomic_load(&t->state) != RT_BLOCKED;
    }
    *forever = come_back <= 1 && rt_env_quiet_();
    return true;
}

bool stress_freeze(void)
{
    struct timespec step = {.tv_nsec = FREEZE_STEP_NS};

    atomic_store(&st.frozen, 1);
    for (int i = 0; anybody_inside(); i++) {
        if (i == FREEZE_STEPS || atomic_load(&W->why) != 0) {
            stress_thaw();
            return false;
        }
        if (rt_log_hungry_())
            rt_log_merge_(); /* whoever waits for room for a record is inside */
        clock_nanosleep(CLOCK_MONOTONIC, 0, &step, NULL);
    }
    count(&st.freezes);
    return true;
}

void stress_thaw(void)
{
    atomic_store(&st.frozen, 0);
    rt_futex_wake_(&st.frozen, UINT32_MAX >> 1);
}

void stress_stats(struct stress_stats *s)
{
    *s = (struct stress_stats){.points = atomic_load(&st.points),
                               .pauses = atomic_load(&st.pauses),
                               .yields = atomic_load(&st.yields),
                               .sleeps = atomic_load(&st.sleeps),
                               .freezes = atomic_load(&st.freezes)};
}
