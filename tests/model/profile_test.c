/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a constant of a profile has a value with which a run goes well, or it is refused. Method:
 * each constant at both ends of its range, next to the lower one, and one beyond either, with a
 * program that uses what they are about: goroutines that end, channels and select, timers, mutexes,
 * system calls, collections. */
#include "asm.h"
#include "harness.h"

static struct as a;

static void world(void)
{
    enum { N = 70 }; /* a P keeps 63 dead ones */
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 0);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int f = as_func(&a, "f", 0, 4);
    as_sleep(&a, 100000);
    as_obj(&a, OP_LOCK, mu);
    as_cpu(&a, 20000);
    as_obj(&a, OP_UNLOCK, mu);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 30000);
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

/* It ends; or, with something very slow, has not after 10 s; or there are too few threads. */
static void runs_with(const char *name, int64_t value, int release)
{
    static struct as_result r;
    as_init(&a);
    world();
    as_run(&r, &a,
           (struct as_opts){.release = release,
                            .procs = 3,
                            .rule = name,
                            .value = value,
                            .until_ms = 10000,
                            .catch_throws = true});
    if (r.end == END_STOPPED)
        CHECK_STR(r.out, "done");
    else if (r.end != END_TIME && !(r.end == END_FINDING && r.kind == FIND_THREADS))
        FAIL_CASE("go1.%d, %s: end %d, \"%s\"", release, name, r.end, r.text);
}

static void at_its_ends(const char *name, int release)
{
    struct profile p;
    int64_t min, max;
    CHECK(profile_init(&p, release));
    CHECK(profile_range(name, &min, &max));
    CHECK_EQ(profile_set(&p, name, min - 1), -2);
    CHECK_EQ(profile_set(&p, name, max + 1), -2);
    CHECK_EQ(profile_set(&p, name, max), 0);
    runs_with(name, min, release);
    if (profile_set(&p, name, min + 1) == 0)
        runs_with(name, min + 1, release);
    runs_with(name, max, release);
}

TEST_CASE(Profile, EveryConstantAtBothEnds)
{
    static const int releases[] = {13, 19, 27};
    for (size_t i = 0; i < profile_rules_count; i++)
        for (size_t k = 0; !profile_rules[i].is_switch && k < sizeof releases / sizeof *releases;
             k++)
            at_its_ends(profile_rules[i].name, releases[k]);
}

TEST_CASE(Profile, ARingIsAPowerOfTwo)
{
    struct profile p;
    int64_t min, max;
    CHECK(profile_init(&p, PROFILE_LATEST));
    CHECK_EQ(profile_set(&p, "ring_len", 6), -2);
    CHECK_EQ(profile_set(&p, "ring_len", 8), 0);
    CHECK(!profile_range("ring", &min, &max));
    CHECK_EQ(profile_set(&p, "ring", 8), -1);
}

TEST_CASE(Profile, NamesOfReleases)
{
    static const char *const bad[] = {"",     "go",   "1",    "go1.",  "1.2",      "1.12",
                                      "1.28", "1.2x", "2.20", "1.200", "gogo1.20", "Latest"};
    CHECK_EQ(profile_parse("go1.13"), PROFILE_FIRST);
    CHECK_EQ(profile_parse("1.24"), 24);
    CHECK_EQ(profile_parse("latest"), PROFILE_LATEST);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(profile_parse(bad[i]), -1);
}
