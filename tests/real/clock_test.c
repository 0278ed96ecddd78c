/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a switch of goroutines on real threads asks the clock for records alone. Method: every call
 * of clock_gettime by a thread of the world is counted (--wrap), without sysmon, which has its own
 * rhythm; so many switches more must ask no more often. */
#include <stdatomic.h>
#include <time.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;
static _Thread_local bool outside; /* this thread looks at a clock while the world runs */
static atomic_int asked;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (!outside)
        atomic_fetch_add(&asked, 1);
    return __real_clock_gettime(clock, ts);
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
    CHECK_GT(asks(ignore), MANY);
}

TEST_CASE(Clock, IsNotAskedByWhoYields) { check_asks(yielding); }
TEST_CASE(Clock, IsNotAskedByWhoParksAndWakes) { check_asks(handing_over); }
