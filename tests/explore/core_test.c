/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the whole core runs explored: programs end as they must in every schedule that is tried,
 * under every memory model. Method: small programs on two and three Ps, random schedules
 * (sanitizers off: some hundreds each) and depth-first search with one preemption; a run is
 * repeated from its schedule.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "run/host.h"
#include "sim/base/coro.h"
#include "tests/explore/search.h"

struct job {
    const struct program *program;
    int procs;
    char out[256];
    size_t nout;
    const char *want;
    struct profile prof;
};

static void take_print(void *arg, const char *text, size_t size)
{
    struct job *j = arg;

    if (size > sizeof j->out - 1 - j->nout)
        size = sizeof j->out - 1 - j->nout;
    memcpy(j->out + j->nout, text, size);
    j->nout += size;
    j->out[j->nout] = 0;
}

static void build(void *arg)
{
    struct job *j = arg;
    struct world_opts wo = {.profile = &j->prof,
                            .program = j->program,
                            .procs = j->procs,
                            .print = take_print,
                            .arg = j};

    j->nout = 0;
    j->out[0] = 0;
    world_build(&host_explore, &wo);
}

static void check(void *arg)
{
    struct job *j = arg;

    if (ex_why() == END_IDLE)
        ex_fail("every M waits, and the program has not ended");
    else if (ex_why() == END_STOPPED && strcmp(j->out, j->want) != 0)
        ex_fail("wrong output");
}

static void open_world(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    struct ex_opts o = {.memory = memory,
                        .port = ports[memory],
                        .ctrl = true,
                        .steps_max = 100000,
                        .eager_clock = true,
                        .sighandler = core_explore.sighandler,
                        .check = core_explore.check};
    struct failure f = {0};

    if (!ex_init(&f, &o))
        FAIL_CASE("%s", f.text);
}

static int runs(int n)
{
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
    n /= 20;
#endif
    const char *more = getenv("GMPSIM_EXPLORE_RUNS");
    return more != NULL ? atoi(more) : n;
}

static void explore(struct job *j, enum mm_kind memory, struct strategy *st, const char *what)
{
    static struct ex_event events[4000];
    struct search s = {build, check, j, 0, false};
    struct search_result r;

    profile_init(&j->prof, PROFILE_LATEST);
    profile_set(&j->prof, "ring_len", 4);
    open_world(memory);
    bool found = search_run(&s, st, &r);
    if (getenv("GMPSIM_EXPLORE_COUNTS") != NULL)
        fprintf(stderr, "%s %s: %llu runs, %llu cut, %llu points a run\n", what,
                mm_kind_name(memory), (unsigned long long)r.runs, (unsigned long long)r.cut,
                (unsigned long long)(r.steps / (r.runs + !r.runs)));
    if (found) {
        struct ex_print p = {.rows_max = 60, .width = 200};
        ex_trace(events, 4000);
        bool same = search_replay(&s, &r);
        ex_trace_print(stderr, &p);
        FAIL_CASE("%s %s, run %llu: %s: %s (%s); output \"%s\"", what, mm_kind_name(memory),
                  (unsigned long long)r.runs, world_end_name(r.why), r.text,
                  same ? "repeats" : "does not repeat", j->out);
    }
    CHECK_LE(r.cut * 20, r.runs);
    search_result_release(&r);
    ex_free();
}

/* The same search, which has to find something; the words of what it found. */
static const char *must_find(struct job *j, enum mm_kind memory, uint64_t runs_max,
                             struct search_result *r)
{
    struct search s = {build, check, j, 0, false};
    struct strategy_random st;

    profile_init(&j->prof, PROFILE_LATEST);
    profile_set(&j->prof, "ring_len", 4);
    open_world(memory);
    strategy_random_init(&st, 1, runs_max);
    if (!search_run(&s, &st.s, r))
        snprintf(r->text, sizeof(r->text), "nothing in %llu runs", (unsigned long long)r->runs);
    else if (!search_replay(&s, r))
        FAIL_CASE("does not repeat: %s", r->text);
    search_result_release(r);
    ex_free();
    return r->text;
}

static void explore_randomly(struct job *j, const char *what)
{
    for (int k = 0; k < MM_KINDS; k++) {
        struct strategy_random r;
        strategy_random_init(&r, 1, (uint64_t)runs(k < MM_ARM ? 300 : 100));
        explore(j, (enum mm_kind)k, &r.s, what);
    }
}

/* main starts `count` goroutines that each send their number, and adds up what it receives. */
static void program_sum(struct as *a, int count)
{
    as_init(a);
    int ch = as_object(a, OBJ_CHAN, 0);
    int worker = as_func(a, "worker", 1, 4);
    as_send(a, ch, 0);
    as_ret(a);
    as_func(a, "main", 0, 8);
    as_const(a, 2, 0);
    for (int i = 1; i <= count; i++) {
        as_const(a, 0, i);
        as_go(a, worker, 0, 1);
    }
    for (int i = 1; i <= count; i++) {
        as_recv(a, ch, 1);
        as_op(a, OP_ADD, 2, 2, 1, 0, 0);
    }
    as_print1(a, "%d\n", 2);
    as_ret(a);
}

static struct as prog;

TEST_CASE(Core, SumOverAChannelOnTwoPs)
{
    program_sum(&prog, 3);
    struct job j = {.program = as_done(&prog), .procs = 2, .want = "6\n"};
    explore_randomly(&j, "sum");
}

TEST_CASE(Core, SumOverAChannelOnThreePs)
{
    program_sum(&prog, 6);
    struct job j = {.program = as_done(&prog), .procs = 3, .want = "21\n"};
    explore_randomly(&j, "sum");
}

TEST_CASE(Core, OnePreemptionAnywhere)
{
    static struct dfs_frame frames[1 << 16];
    struct strategy_dfs d;

    program_sum(&prog, 2);
    struct job j = {.program = as_done(&prog), .procs = 2, .want = "3\n"};
    strategy_dfs_init(&d, frames, 1 << 16, 1);
    d.draws_max = 2;
    d.runs_max = (uint64_t)runs(2000);
    explore(&j, MM_SC, &d.s, "sum");
}

/* The slot of the ring is published by StoreRel: with a plain store in its place a thief takes a G
 * that is not there. */
TEST_CASE(Core, AnUnpublishedSlotIsFound)
{
    struct search_result r;

#if defined(GMPSIM_ASAN)
    SKIP_CASE("the sanitizer ends the process at a wild pointer");
#endif
    program_sum(&prog, 6);
    struct job j = {.program = as_done(&prog), .procs = 3, .want = "21\n"};
    CHECK_EQ(site_weaken("runqput", VERB_store_rel, true), 1);
    CHECK_STR(must_find(&j, MM_SC, 200, &r), "nothing in 200 runs");
    CHECK_STR(must_find(&j, MM_ARM, 20000, &r), "memory fault: a wild pointer");
    CHECK_LE(r.runs, 5000);
    site_weaken("runqput", VERB_store_rel, false);
}

static uint64_t checks;

static const char *complain_at_turn_5(bool quiet)
{
    return !quiet && ++checks == 5 ? "the fifth turn is wrong" : NULL;
}

/* By turns the runtime's rules are looked at where somebody else may be next, and nowhere else. */
TEST_CASE(Core, ByTurnsACheckIsAskedBeforeATurn)
{
    struct as a;
    struct job j = {.want = ""};
    struct ex_opts o = {.sync = true, .steps_max = 100000, .check = complain_at_turn_5};
    struct failure f = {0};
    struct strategy_random r;
    program_sum(&a, 3);
    j.program = as_done(&a);
    j.procs = 1;
    CHECK(profile_init(&j.prof, PROFILE_LATEST));
    j.prof.sysmon = 0;
    checks = 0;
    CHECK(ex_init(&f, &o));
    strategy_random_init(&r, 1, 1);
    CHECK(ex_begin(&r.s));
    build(&j);
    CHECK_EQ(ex_run(), END_THROWN);
    CHECK_EQ(checks, 5);
    CHECK_LT(20, ex_steps()); /* points between them are none */
    CHECK_STR(ex_text(), "the fifth turn is wrong");
    ex_end();
    ex_free();
}

static const char *complain_at_100(bool quiet)
{
    (void)quiet;
    return ex_steps() == 100 ? "the hundredth point is wrong" : NULL;
}

/* A broken invariant ends the run at the point where it is seen. */
TEST_CASE(Core, ACheckEndsTheRunAtItsStep)
{
    struct as a;
    struct job j = {.want = ""};
    struct ex_opts o = {
        .steps_max = 100000, .sighandler = core_explore.sighandler, .check = complain_at_100};
    struct failure f = {0};
    struct strategy_random r;
    program_sum(&a, 3);
    j.program = as_done(&a);
    j.procs = 2;
    CHECK(profile_init(&j.prof, PROFILE_LATEST));
    CHECK(ex_init(&f, &o));
    strategy_random_init(&r, 1, 1);
    CHECK(ex_begin(&r.s));
    build(&j);
    CHECK_EQ(ex_run(), END_THROWN);
    CHECK_EQ(ex_steps(), 100);
    CHECK_STR(ex_text(), "the hundredth point is wrong");
    ex_end();
    ex_free();
}
