/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a depth-first search whose runs begin at copies of the world on their way makes the same
 * runs as one whose runs begin at the beginning. Method: random threads over all kinds of verbs,
 * under every memory model and bound; all that is told of a run, in the order of runs. How often a
 * thread's code was gone through shows that copies were used. And one whose runs end in known
 * states counts the same number of schedules and comes to the same ends.
 */
#include "sim/base/fail.h"

#include "sim/explore/host.h"

#undef throw

#include "harness.h"
#include "sim/base/coro.h" /* GMPSIM_ASAN */
#include "sim/base/rng.h"
#include "sim/explore/explore.h"

enum { VARS = 3, THREADS = 3, CODE = 4, PROGRAMS = 60, RUNS = 1500, FRAMES = 4096 };
enum { MORE_RUNS = 20000, ENDS_MAX = 4096, COUNTED = 3 };

static struct {
    ATOMIC(uint32_t) v[VARS], key;
    uint32_t plain;
} * sh;
static uint64_t program_seed;
static uint32_t outside[THREADS + 1]; /* what threads change and the world does not hold */
static uint64_t gone_through, runs_max = RUNS;
static struct hostm started;
static bool counting;             /* two threads that count, not random ones */
static bool first_load, to_first; /* a thread begins with a load; which no run has to come to */

static void does(uint32_t what, uint32_t x, uint32_t *seen)
{
    __auto_type at = &sh->v[x % VARS];
    gone_through++;
    switch (what) {
    case 0: *seen = *seen * 31 + a_load_rlx(at); break;
    case 1: a_store_rlx(at, *seen + x); break;
    case 2: a_store_rel(at, x); break;
    case 3: *seen += a_cas(at, 0, x + 1); break;
    case 4: *seen += a_load_acq(at); break;
    case 5: *seen += (uint32_t)draw(3, 0); break;
    case 6: host_usleep(1 + x % 2); break;
    case 7: futexsleep(&sh->key, 0, 1000); break;
    case 8:
        a_store(&sh->key, 1);
        futexwakeup(&sh->key, 2);
        break;
    default: *(uint32_t *)host_alloc(8, 8) = sh->plain += 3; break;
    }
}

static void late(void *arg)
{
    (void)arg;
    a_store_rel(&sh->v[0], 77);
    outside[THREADS] += a_load(&sh->v[1]);
}

static void worker(void *arg)
{
    uint32_t me = *(const uint32_t *)arg, seen = 0;
    struct rng r;
    rng_init(&r, program_seed, RNG_SCHED, me);
    if (first_load)
        seen = a_load(&sh->v[0]);
    for (int i = 0; i < CODE; i++) {
        uint32_t what = (uint32_t)rng_below(&r, 10), x = (uint32_t)rng_below(&r, 7);
        does(what, x, &seen);
        outside[me] = outside[me] * 31 + seen;
    }
    if (me == 0 && program_seed % 3 == 0)
        newosproc(&started, late, NULL);
}

/* A count that others write over. */
static void counts(void *arg)
{
    (void)arg;
    for (int i = 0; i < COUNTED; i++) {
        uint32_t seen = a_load(&sh->v[0]);
        a_store(&sh->v[0], seen + 1);
    }
}

static void build(void)
{
    static const uint32_t ids[THREADS] = {0, 1, 2};
    sh = host_alloc(sizeof *sh, 64);
    for (int i = 0; i < VARS; i++)
        a_init(&sh->v[i], 0);
    a_init(&sh->key, 0);
    memset(outside, 0, sizeof outside);
    for (int i = 0; i < 2 && counting; i++)
        ex_start(NULL, counts, NULL);
    for (int i = 0; i < THREADS && !counting; i++)
        ex_start(NULL, worker, (void *)(uintptr_t)&ids[i]);
}

/* All that is told of a run. */
static void tell(struct fingerprint *f)
{
    size_t count;
    const struct answer *a = ex_answers(&count);
    fp_mix2(f, ex_fingerprint(), ex_steps());
    fp_mix2(f, ex_why(), (uint64_t)ex_now());
    fp_mix2(f, count, (uint64_t)ex_threads());
    fp_mix_bytes(f, a, count * sizeof *a);
    fp_mix_bytes(f, outside, sizeof outside);
    fp_mix(f, sh->plain);
    for (int i = 0; i < VARS; i++)
        fp_mix(f, a_peek(&sh->v[i]));
}

/* Ways in which a run may end, each once. */
static struct ends {
    uint64_t end[ENDS_MAX];
    size_t count;
} * ends;

static void note_end(void)
{
    struct fingerprint f;
    fp_init(&f);
    fp_mix2(&f, ex_why(), sh->plain);
    fp_mix_bytes(&f, outside, sizeof outside);
    for (int i = 0; i < VARS; i++)
        fp_mix(&f, a_peek(&sh->v[i]));
    for (size_t i = 0; i < ends->count; i++)
        if (ends->end[i] == fp_value(&f))
            return;
    CHECK_LT(ends->count, ENDS_MAX);
    ends->end[ends->count++] = fp_value(&f);
}

struct searched {
    uint64_t told, runs, gone_through;
    struct ex_totals totals;
    bool exhausted, diverged;
};

/* Operations that take no time leave more states equal. */
static const struct costs no_costs;

static struct searched search(enum mm_kind memory, uint32_t bound, bool branches, size_t states)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    static struct dfs_frame frames[FRAMES];
    const struct ex_outside kept[] = {{outside, sizeof outside}, {&started, sizeof started}};
    struct ex_opts o = {.memory = memory,
                        .port = ports[memory],
                        .ctrl = true,
                        .eager_clock = true,
                        .memory_max = 1 << 20,
                        .outside = kept,
                        .outside_count = 2,
                        .branches = branches,
                        .states_max = states,
                        .costs = ends != NULL ? &no_costs : NULL};
    struct failure f = {0};
    struct strategy_dfs d;
    struct fingerprint told;
    uint64_t runs = 0;
    if (!ex_init(&f, &o))
        FAIL_CASE("%s", f.text);
    strategy_dfs_init(&d, frames, FRAMES, bound);
    fp_init(&told);
    CHECK(ex_begin_start(strategy_time()));
    build();
    if (to_first)
        ex_to_first_points();
    if (ex_keep(&f) != 0) {
        ex_free();
        SKIP_CASE("%s", f.text);
    }
    gone_through = 0;
    for (; runs < runs_max && ex_again(&d.s); runs++) {
        ex_run();
        tell(&told);
        if (ends != NULL && ex_why() != END_LIMIT)
            note_end();
        ex_end();
    }
    struct searched r = {fp_value(&told), runs, gone_through, {0}, d.exhausted, d.diverged};
    ex_totals(&r.totals);
    ex_free();
    return r;
}

TEST_CASE(Branches, TheSameRunsAsFromTheBeginning)
{
    uint64_t whole_gone = 0, some_gone = 0, all = 0;
    for (program_seed = 1; program_seed <= PROGRAMS; program_seed++) {
        enum mm_kind memory = (enum mm_kind)(program_seed % MM_KINDS);
        uint32_t bound = program_seed % 5 == 0 ? DFS_UNBOUNDED : (uint32_t)(program_seed % 5);
        struct searched whole = search(memory, bound, false, 0),
                        some = search(memory, bound, true, 0);
        CHECK(!whole.diverged && !some.diverged);
        CHECK_EQ(some.runs, whole.runs);
        CHECK_EQ(some.told, whole.told);
        CHECK_EQ(some.exhausted, whole.exhausted);
        whole_gone += whole.gone_through;
        some_gone += some.gone_through;
        all += whole.exhausted;
    }
    CHECK_GT(all, 5);
    CHECK_LT(some_gone, whole_gone / 2);
}

static void same_ends(const struct ends *some, const struct ends *all)
{
    CHECK_EQ(some->count, all->count);
    for (size_t i = 0; i < all->count; i++) {
        bool has = false;
        for (size_t k = 0; k < some->count; k++)
            has |= some->end[k] == all->end[i];
        CHECK(has);
    }
}

/* Of programs that can be searched to the end, both ways. */
TEST_CASE(Branches, KnownStatesStandForTheSameSchedules)
{
    static struct ends of_all, of_some;
    uint64_t all_runs = 0, some_runs = 0, compared = 0;
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
    SKIP_CASE("sanitizers forbid to read a stack as a whole");
#endif
    runs_max = MORE_RUNS;
    for (program_seed = 1; program_seed <= PROGRAMS; program_seed++) {
        enum mm_kind memory = (enum mm_kind)(program_seed % MM_KINDS);
        uint32_t bound = (uint32_t)(program_seed % 3);
        of_all.count = of_some.count = 0;
        ends = &of_all;
        struct searched all = search(memory, bound, true, 0);
        if (!all.exhausted)
            continue;
        ends = &of_some;
        struct searched some = search(memory, bound, true, 1 << 16);
        CHECK(some.exhausted && !some.diverged);
        CHECK_EQ(some.totals.schedules, all.runs);
        same_ends(&of_some, &of_all);
        all_runs += all.runs;
        some_runs += some.runs;
        compared++;
    }
    runs_max = RUNS;
    ends = NULL;
    CHECK_GT(compared, 20);
    CHECK_LT(some_runs, all_runs / 4 * 3);
}

/* Two threads that count to three without a lock come to 6, by one preemption also to 3, by two to
 * 4 and 5, and not by less than four to 2. */
TEST_CASE(Branches, WhatNeedsSoManyPreemptionsIsFoundWithStates)
{
    static const size_t ways[] = {1, 2, 4, 4, 5};
    static struct ends of_all, of_some;
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
    SKIP_CASE("sanitizers forbid to read a stack as a whole");
#endif
    counting = true;
    runs_max = MORE_RUNS;
    for (uint32_t bound = 0; bound < sizeof ways / sizeof *ways; bound++) {
        of_all.count = of_some.count = 0;
        ends = &of_all;
        struct searched all = search(MM_SC, bound, true, 0);
        ends = &of_some;
        struct searched some = search(MM_SC, bound, true, 1 << 16);
        CHECK(all.exhausted && some.exhausted);
        CHECK_EQ(some.totals.schedules, all.runs);
        CHECK_EQ(of_all.count, ways[bound]);
        same_ends(&of_some, &of_all);
    }
    counting = false;
    runs_max = RUNS;
    ends = NULL;
}

TEST_CASE(Branches, ThreadsThatStandAtTheirFirstPointDoTheSame)
{
    first_load = true;
    for (program_seed = 1; program_seed <= PROGRAMS; program_seed++) {
        enum mm_kind memory = (enum mm_kind)(program_seed % MM_KINDS);
        uint32_t bound = (uint32_t)(program_seed % 5);
        to_first = false;
        struct searched whole = search(memory, bound, program_seed % 2, 0);
        to_first = true;
        struct searched some = search(memory, bound, program_seed % 2, 0);
        CHECK_EQ(some.runs, whole.runs);
        CHECK_EQ(some.told, whole.told);
    }
    first_load = to_first = false;
}

TEST_CASE(Branches, TooMuchOutsideIsRefused)
{
    static char much[EX_OUTSIDE_MAX + 1];
    const struct ex_outside kept = {much, sizeof much};
    struct failure f = {0};
    CHECK(!ex_init(&f, &(struct ex_opts){.outside = &kept, .outside_count = 1}));
    CHECK_HAS(f.text, "8193 bytes outside");
}
