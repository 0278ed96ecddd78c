/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a constant of a profile has a value with which a run ends, or it is refused. Method: each
 * constant that has a least value, one below it and at it, with a program that uses what it is
 * about: goroutines that end, channels and select, timers, collections. */
#include "asm.h"
#include "harness.h"

static struct as a;

static const struct {
    const char *name;
    int64_t least;
} least[] = {
    {"ring_len", 2},         {"fair_period", 1},   {"sema_roots", 1},
    {"goid_batch", 1},       {"gfree_max", 1},     {"sudog_cap", 1},
    {"netpoll_batch", 1},    {"sysmon_min_us", 1}, {"spinbit_tail_period", 1},
    {"sysmon_max_us", 1},    {"gc_percent", -1},   {"stw_repreempt_ns", 1},
    {"trace_buf_events", 1},
};

static void world(void)
{
    enum { N = 40 };
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 4);
    as_sleep(&a, 100000);
    as_cpu(&a, 20000);
    int sel = as_select(&a, false);
    as_case(&a, true, ch, NOREG, 1);
    as_case(&a, true, ch, NOREG, 1);
    as_op(&a, OP_SELECT, 2, NOREG, 0, sel, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, N);
    for (int i = 0; i < N; i++)
        as_go(&a, f, 0, 0);
    as_plain(&a, OP_GC);
    for (int i = 0; i < N; i++)
        as_recv(&a, ch, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_plain(&a, OP_GC);
    as_print(&a, "done");
    as_ret(&a);
}

static void run_at_least(const char *name, int64_t value, int release)
{
    static struct as_result r;
    as_init(&a);
    world();
    as_run(&r, &a,
           (struct as_opts){
               .release = release, .procs = 3, .rule = name, .value = value, .catch_throws = true});
    if (r.end != AS_STOPPED)
        FAIL_CASE("go1.%d, %s: end %d, \"%s\"", release, name, r.end, r.text);
    CHECK_STR(r.out, "done");
}

TEST_CASE(Profile, ConstantsHaveALeastValue)
{
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++) {
            struct profile p;
            CHECK(profile_init(&p, release));
            CHECK_EQ(profile_set(&p, least[i].name, least[i].least - 1), -2);
            CHECK_EQ(profile_set(&p, least[i].name, least[i].least), 0);
            run_at_least(least[i].name, least[i].least, release);
        }
}
