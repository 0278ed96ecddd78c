/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a switch of goroutines on real threads does not ask the system's clock, and a clock that
 * jumps breaks nothing. Method: every call of clock_gettime by a thread of the world is counted
 * (--wrap), without sysmon, which has its own rhythm; so many switches more must ask no more often.
 * For a jump the world's clock gets ahead of the system's. */
#include <stdatomic.h>
#include <time.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;
static _Thread_local bool outside;         /* this thread looks at a clock while the world runs */
static atomic_int asked, jump_at;          /* ... at this question */
static atomic_llong ahead;                 /* in ns */
static atomic_bool asked_wall;             /* somebody wanted to know the time of day */
static const long long JUMP = 30000000000; /* half of what a world may take */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                           struct timespec *rest);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                           struct timespec *rest);

static void add(struct timespec *ts, long long ns)
{
    ns += (long long)ts->tv_sec * 1000000000 + ts->tv_nsec;
    *ts = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    int rc = __real_clock_gettime(clock, ts);

    if (!outside && atomic_fetch_add(&asked, 1) + 1 == atomic_load(&jump_at))
        atomic_store(&ahead, JUMP);
    if (clock == CLOCK_REALTIME)
        atomic_store(&asked_wall, true);
    if (clock == CLOCK_MONOTONIC)
        add(ts, atomic_load(&ahead));
    return rc;
}

/* Until a time of the world's clock. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                           struct timespec *rest)
{
    struct timespec until = *t;

    if (flags == TIMER_ABSTIME)
        add(&until, -atomic_load(&ahead));
    return __real_clock_nanosleep(clock, flags, &until, rest);
}

static void ignore(void *arg, const struct event_rec *recs, size_t count)
{
    (void)arg;
    (void)recs;
    (void)count;
}

/* How often a run of the program in `a` asked. */
static int asks(event_sink_fn *sink)
{
    outside = true;
    atomic_store(&asked, 0);
    atomic_store(&ahead, 0);
    as_run(&r, &a, (struct as_opts){.procs = 1, .rule = "sysmon", .value = 0, .sink = sink});
    CHECK_EQ((int)r.end, (int)END_STOPPED);
    return atomic_load(&asked);
}

/* Two goroutines, each of which yields n times. */
static void yielding(int64_t n)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 0, 1);
    as_const(&a, 0, n);
    int top = as_here(&a);
    as_op(&a, OP_GOSCHED, 0, 0, 0, 0, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, top);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2);
    as_go(&a, f, 0, 0);
    as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

/* n values go through a channel, of which each parks somebody. */
static void handing_over(int64_t n)
{
    as_init(&a);
    int c = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 2);
    int more = as_here(&a);
    as_op(&a, OP_RECV, 0, 1, 0, c, 0);
    as_jump(&a, OP_JNZ, 1, 0, 0, more);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_go(&a, f, 0, 0);
    as_const(&a, 0, n);
    int top = as_here(&a);
    as_op(&a, OP_SEND, 0, 0, 0, c, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, top);
    as_obj(&a, OP_CLOSE, c);
    as_ret(&a);
}

static const int FEW = 100, MANY = 3000;

static void check_asks(void (*program)(int64_t n))
{
    program(FEW);
    int few = asks(NULL);
    program(MANY);
    CHECK_EQ(asks(NULL), few);
}

/* A goroutine that wants to know the time n times: that is counted. */
static void asking(int64_t n)
{
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, n);
    int top = as_here(&a);
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, top);
    as_ret(&a);
}

TEST_CASE(Clock, IsNotAskedByWhoYields) { check_asks(yielding); }
TEST_CASE(Clock, IsNotAskedByWhoParksAndWakes) { check_asks(handing_over); }

TEST_CASE(Clock, IsAskedByWhoWantsToKnowTheTime)
{
    asking(MANY);
    CHECK_GE(asks(NULL), MANY);
}

/* ---- jumps ---- */

/* Sleepers, and one that computes, while the time is asked for. */
static void waiting(void)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 0, 2);
    as_const(&a, 0, 20);
    int top = as_here(&a);
    as_sleep(&a, 200000);
    as_cpu(&a, 50000);
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, top);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
    as_go(&a, f, 0, 0);
    as_go(&a, f, 0, 0);
    as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

/* Half a minute is gone: who waits for a time goes on, who computes does not take it for his work.
 * Nobody waits as long in earnest, or the world would end at its limit. */
TEST_CASE(Clock, AJumpIsAsIfTheTimeHadPassed)
{
    waiting();
    for (int at = 20; at < 60; at += 8) {
        atomic_store(&jump_at, at);
        outside = true;
        atomic_store(&asked, 0);
        atomic_store(&ahead, 0);
        as_run(&r, &a, (struct as_opts){.procs = 2});
        CHECK_EQ(atomic_load(&ahead), JUMP);
        CHECK_EQ((int)r.end, (int)END_STOPPED);
        CHECK_GE(r.now_ps / 1000, (uint64_t)JUMP);
    }
    atomic_store(&jump_at, 0);
}

/* So that a change of the date is nobody's concern. */
TEST_CASE(Clock, NobodyAsksForTheTimeOfDay)
{
    waiting();
    (void)asks(ignore);
    CHECK_EQ((int)r.end, (int)END_STOPPED);
    CHECK(!atomic_load(&asked_wall));
}
