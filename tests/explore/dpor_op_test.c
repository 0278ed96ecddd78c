/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: of operations, the search that leaves out equal orders meets every end that a program can
 * come to. Method: random small programs of atomics, futexes and branches, all schedules of each
 * against those of dpor: the same set of ends, and no more schedules; counts that are known. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sim/base/alloc.h"
#include "sim/base/dpor.h"
#include "sim/base/fingerprint.h"
#include "sim/explore/host.h"
#include "tests/explore/search.h"

enum { VARS = 3, THREADS_MAX = 3, STATEMENTS_MAX = 5, ENDS_MAX = 512, FRAMES = 1 << 12 };
enum { RUNS_MAX = 200000 };

enum what { LOAD, STORE, ADD, CAS, XCHG, IF_ZERO, NAP, SLEEP, WAKE, YIELD, STOP, WHATS };

struct statement {
    enum what what;
    uint32_t var, value;
};

struct toy {
    int threads;
    int count[THREADS_MAX];
    struct statement s[THREADS_MAX][STATEMENTS_MAX];
};

static const struct toy *toy;
static struct world {
    ATOMIC(uint32_t) var[VARS];
    uint32_t seen[THREADS_MAX]; /* a digest of what each thread read */
} * w;
static struct hostm ms[THREADS_MAX];
static int ids[THREADS_MAX] = {0, 1, 2};

static void digest(int id, uint32_t value) { w->seen[id] = w->seen[id] * 31 + value + 1; }

/* False: the next statement is passed over. */
static bool perform(int id, const struct statement *s)
{
    switch (s->what) {
    case LOAD: digest(id, a_load(&w->var[s->var])); break;
    case STORE: a_store(&w->var[s->var], s->value); break;
    case ADD: digest(id, a_add(&w->var[s->var], 1)); break;
    case CAS: digest(id, a_cas(&w->var[s->var], 0, s->value)); break;
    case XCHG: digest(id, a_xchg(&w->var[s->var], s->value)); break;
    case IF_ZERO: return a_load(&w->var[s->var]) == 0;
    case NAP: host_usleep(s->value); break;
    case SLEEP: futexsleep(&w->var[s->var], 0, -1); break;
    case WAKE: futexwakeup(&w->var[s->var], 1); break;
    case YIELD: osyield(); break;
    case STOP: host_stop(); break;
    case WHATS: break;
    }
    return true;
}

static void run_thread(void *arg)
{
    int id = *(int *)arg;
    for (int i = 0; i < toy->count[id]; i++)
        i += !perform(id, &toy->s[id][i]);
}

static void build(void)
{
    w = host_alloc(sizeof *w, 64);
    for (int i = 0; i < VARS; i++)
        a_init(&w->var[i], 0);
    for (int i = 0; i < toy->threads; i++)
        ex_start(&ms[i], run_thread, &ids[i]);
}

/* ---- all ends ---- */

struct ends {
    uint64_t end[ENDS_MAX];
    size_t count;
    uint64_t runs, classes;
    bool all;
};

static uint64_t signature(void)
{
    struct fingerprint h;
    fp_init(&h);
    fp_mix(&h, ex_why());
    for (int i = 0; i < VARS; i++)
        fp_mix(&h, a_peek(&w->var[i]));
    for (int i = 0; i < toy->threads; i++)
        fp_mix2(&h, w->seen[i], ex_waits(i) != NULL);
    return fp_value(&h);
}

static void add(struct ends *e, uint64_t s)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->end[i] == s)
            return;
    CHECK_LT(e->count, ENDS_MAX);
    e->end[e->count++] = s;
}

static const struct costs no_costs;
static bool timeless; /* operations take no time, and naps may end at any */

static void all_ends(struct strategy *s, struct ends *e)
{
    struct ex_opts o = {.memory_max = 1 << 20,
                        .steps_max = 1000,
                        .eager_clock = timeless,
                        .costs = timeless ? &no_costs : NULL};
    struct failure f = {0};
    CHECK(ex_init(&f, &o));
    e->count = 0;
    e->runs = e->classes = 0;
    while (e->runs < RUNS_MAX && ex_begin(s)) {
        build();
        ex_run();
        e->runs++;
        if (!s->enough) {
            CHECK(ex_why() != END_LIMIT);
            add(e, signature());
            e->classes++;
        }
        ex_end();
    }
    ex_free();
}

static void by_dfs(const struct toy *t, struct ends *e)
{
    static struct dfs_frame frames[FRAMES];
    struct strategy_dfs d;
    toy = t;
    strategy_dfs_init(&d, frames, FRAMES, DFS_UNBOUNDED);
    all_ends(&d.s, e);
    CHECK(!d.diverged);
    e->all = d.exhausted && !d.pruned;
}

static void by_dpor(const struct toy *t, struct ends *e)
{
    struct dpor_node *nodes = x_alloc(FRAMES * sizeof *nodes);
    struct dpor_done *dones = x_alloc(FRAMES * sizeof *dones);
    static struct strategy_dpor d;
    toy = t;
    strategy_dpor_init(&d, nodes, FRAMES, dones, FRAMES);
    all_ends(&d.s, e);
    CHECK(!d.diverged);
    e->all = d.exhausted && !d.pruned;
    free(nodes);
    free(dones);
}

static bool has(const struct ends *e, uint64_t end)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->end[i] == end)
            return true;
    return false;
}

/* ---- random programs ---- */

static void random_toy(struct toy *t, uint64_t seed, uint32_t kinds)
{
    struct evenly draws = {seed * UINT64_C(0x9e3779b97f4a7c15)};
    t->threads = 2 + (int)evenly_below(evenly_next(&draws), 2);
    for (int i = 0; i < t->threads; i++) {
        t->count[i] = 1 + (int)evenly_below(evenly_next(&draws), t->threads == 2 ? 5 : 3);
        for (int k = 0; k < t->count[i]; k++)
            t->s[i][k] = (struct statement){(enum what)evenly_below(evenly_next(&draws), kinds),
                                            evenly_below(evenly_next(&draws), VARS),
                                            1 + evenly_below(evenly_next(&draws), 2)};
    }
}

static void compare(uint64_t first, uint64_t count, uint32_t kinds, uint64_t *all_runs,
                    uint64_t *few_runs)
{
    static struct ends all, few;
    static struct toy t;
    *all_runs = *few_runs = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        random_toy(&t, seed, kinds);
        by_dfs(&t, &all);
        by_dpor(&t, &few);
        CHECK(all.all && few.all);
        CHECK_LE(few.runs, all.runs);
        CHECK_EQ(few.count, all.count);
        for (size_t i = 0; i < all.count; i++)
            if (!has(&few, all.end[i]))
                FAIL_CASE("program %d: dpor misses an end", (int)seed);
        *all_runs += all.runs;
        *few_runs += few.runs;
    }
}

TEST_CASE(DporOp, MeetsEveryEndOfRandomPrograms)
{
    uint64_t all, few;
    compare(1, 300, NAP, &all, &few);
    CHECK_LE(10 * few, all);
}

TEST_CASE(DporOp, MeetsEveryEndWithNapsThatMayEndAtAnyTime)
{
    uint64_t all, few;
    timeless = true;
    compare(9000, 300, SLEEP, &all, &few);
    CHECK_LE(10 * few, all);
    compare(12000, 300, WHATS, &all, &few);
    timeless = false;
}

TEST_CASE(DporOp, MeetsEveryEndWithKernelCallsAndStops)
{
    uint64_t all, few;
    compare(5000, 300, WHATS, &all, &few);
    CHECK_LE(2 * few, all);
}

/* ---- counts that are known ---- */

TEST_CASE(DporOp, ClassesAreCountedOnce)
{
    static struct ends e;
    /* Two that only read, and one that writes elsewhere: one class. */
    struct toy t = {3,
                    {2, 2, 1},
                    {{{LOAD, 0, 0}, {LOAD, 1, 0}}, {{LOAD, 0, 0}, {LOAD, 1, 0}}, {{STORE, 2, 1}}}};
    by_dpor(&t, &e);
    CHECK_EQ(e.classes, 1);
    CHECK_EQ(e.runs, 1);
    /* Three adds to one word: 3! */
    t = (struct toy){3, {1, 1, 1}, {{{ADD, 0, 0}}, {{ADD, 0, 0}}, {{ADD, 0, 0}}}};
    by_dpor(&t, &e);
    CHECK_EQ(e.classes, 6);
    /* Store buffering: x=1 y? | y=1 x?: the reads before or after the writes, not both before. */
    t = (struct toy){2, {2, 2}, {{{STORE, 0, 1}, {LOAD, 1, 0}}, {{STORE, 1, 1}, {LOAD, 0, 0}}}};
    by_dpor(&t, &e);
    CHECK_EQ(e.classes, 3);
    CHECK_EQ(e.count, 3);
    /* A failed swap reads: the second and third of three fail, whoever they are. */
    t = (struct toy){3, {1, 1, 1}, {{{CAS, 0, 1}}, {{CAS, 0, 1}}, {{CAS, 0, 1}}}};
    by_dpor(&t, &e);
    CHECK_EQ(e.classes, 3);
}
