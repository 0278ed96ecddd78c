/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a P's run queue loses no G and gives none out twice, in every schedule and under every
 * memory model. Method: the core's own runqput, runqget, runqsteal (the model as one unit, so that
 * its statics are in reach) with a ring of four; an owner that follows a script, one or two
 * thieves; depth-first search. Then the same with an order taken away or a step left out, which
 * must be found: a search that finds nothing wrong has to be able to.
 */
#include "sim/base/fail.h"

#include "model/model.c"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "sim/base/dpor.h"
#include "sim/base/fingerprint.h"
#include "tests/explore/search.h"

enum { LATE_NS = 1000000, GS = 10, THIEVES_MAX = 2, PS = 1 + THIEVES_MAX };

struct setup {
    const char *owner; /* p: put at the tail, n: put next, g: get, d: drain, b: a batch of two;
                          before them a digit: so many are in the ring from the start */
    int thieves;
    bool steal_next;
    int gets;        /* that each thief makes from its own ring after a steal */
    int more_steals; /* and how often all of this after the first time */
};

static const struct setup *setup;
static const char *taken_back; /* a rule that is not as in the release, or NULL */
static const struct costs no_costs;
static size_t states_max; /* see ex_opts */
static int release = PROFILE_LATEST;
static struct g *gs;
static struct g *nobody; /* what an empty slot holds: a thief that reads it has read too early */
static struct p *ps[PS];
static struct m *ms[PS];
static int taken[GS + 1];
static int taker[GS + 1]; /* 1 + the M that took it last */

static uint32_t there(void)
{
    char c = setup->owner[0];
    return c >= '0' && c <= '9' ? (uint32_t)(c - '0') : 0;
}

static void take(struct g *gp)
{
    if (gp == nobody)
        throw("runq: a slot was read before it was written");
    taken[gp->goid]++;
    taker[gp->goid] = 1 + ((struct m *)getarg())->id;
}

static void owner(void *arg)
{
    struct p *pp = ps[0];
    uint64_t next = 1 + there();
    bool inherit;

    (void)arg;
    for (const char *c = setup->owner + (there() > 0); *c != '\0'; c++) {
        struct g *gp;
        struct gQueue q;
        switch (*c) {
        case 'p': runqput(pp, &gs[next++], /*next*/ false); break;
        case 'n': runqput(pp, &gs[next++], /*next*/ true); break;
        case 'g':
            gp = runqget(pp, &inherit);
            if (gp != NULL)
                take(gp);
            break;
        case 'b':
            q = (struct gQueue){0};
            gQueue_pushBack(&q, &gs[next++]);
            gQueue_pushBack(&q, &gs[next++]);
            runqputbatch(pp, &q);
            break;
        default:
            q = runqdrain(pp);
            while (!gQueue_empty(&q))
                take(gQueue_pop(&q));
        }
    }
}

static void steal(struct p *pp)
{
    bool inherit;
    struct g *gp = runqsteal(pp, ps[0], setup->steal_next);

    if (gp == NULL)
        return;
    take(gp);
    for (int i = 0; i < setup->gets; i++) {
        gp = runqget(pp, &inherit);
        if (gp != NULL)
            take(gp);
    }
}

static void thief(void *arg)
{
    struct m *mp = arg;

    for (int i = 0; i <= setup->more_steals; i++)
        steal(ps[mp->id]);
}

static void make_p(int i)
{
    ps[i] = p_new();
    ps[i]->id = i;
    a_init(&ps[i]->status, (uint32_t)Prunning);
    for (uint32_t s = 0; s < runq_cap(ps[i]); s++)
        a_init(runq_slot(ps[i], s), nobody);
    ms[i] = host_alloc(sizeof *ms[i], 64);
    ms[i]->id = i;
    rt->ms[i] = ms[i];
    a_init(&ms[i]->p, ps[i]);
    a_init(&ps[i]->m, ms[i]);
}

/* From the last slot on, so that it goes round. */
static void fill_ring(void)
{
    const uint32_t head = 3;
    if (there() == 0)
        return;
    for (uint32_t i = 0; i < there(); i++)
        a_init(runq_slot(ps[0], head + i), &gs[1 + i]);
    a_init(&ps[0]->runqhead, head);
    a_init(&ps[0]->runqtail, head + there());
}

static void build_world(void)
{
    rt = host_alloc(sizeof *rt, 64);
    sched = &rt->sched;
    profile_init(&world_prof, release);
    profile_set(&world_prof, "ring_len", 4);
    if (taken_back != NULL)
        profile_set(&world_prof, taken_back, 0);
    rt->ms = host_alloc(PS * sizeof *rt->ms, 8);
    rt->ms_cap = PS;
    init_locks();
    gs = host_alloc((GS + 1) * sizeof *gs, 64);
    nobody = &gs[0];
    for (uint64_t i = 0; i <= GS; i++) {
        gs[i].goid = (uint32_t)i;
        a_init(&gs[i].atomicstatus, (uint32_t)Grunnable);
        taken[i] = taker[i] = 0;
    }
    for (int i = 0; i <= setup->thieves; i++)
        make_p(i);
    fill_ring();
}

static void build(void *arg)
{
    setup = arg;
    build_world();
    ex_start(&ms[0]->host, owner, ms[0]);
    for (int i = 1; i <= setup->thieves; i++)
        ex_start(&ms[i]->host, thief, ms[i]);
}

/* What is still in a queue counts as taken once. */
static void count_rest(void)
{
    for (int i = 0; i <= setup->thieves; i++) {
        struct g *next = a_peek(&ps[i]->runnext);
        uint32_t tail = a_peek(&ps[i]->runqtail);
        if (next != NULL)
            taken[next->goid]++;
        for (uint32_t h = a_peek(&ps[i]->runqhead); h != tail; h++)
            taken[a_peek(runq_slot(ps[i], h))->goid]++;
    }
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        taken[gp->goid]++;
}

static struct fingerprint schedules_seen;

static void check(void *arg)
{
    uint64_t put = there();

    (void)arg;
    fp_mix(&schedules_seen, ex_fingerprint());
    if (ex_why() != END_DONE) {
        if (ex_why() != END_LIMIT)
            ex_fail("the threads did not end");
        return;
    }
    count_rest();
    for (const char *c = setup->owner; *c != '\0'; c++)
        put += *c == 'b' ? 2 : *c == 'p' || *c == 'n';
    for (uint64_t i = 1; i <= GS; i++)
        if (taken[i] != (i <= put))
            ex_fail(taken[i] == 0 ? "a G was lost" : "a G was taken twice");
}

static struct dfs_frame frames[1 << 16];
static struct search_result result;
static bool exhausted; /* the last search, within its bound */

static enum cost_port port_of_memory(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    return ports[memory];
}

/* A thief's sleep before it takes runnext may end while others can run; operations take no time, so
 * that whether it does is for the schedule to say. */
static struct ex_opts world_opts(void)
{
    return (struct ex_opts){.costs = &no_costs,
                            .eager_clock = true,
                            .late_max_ns = LATE_NS,
                            .steps_max = 20000,
                            .memory_max = 1 << 22};
}

static const char *search_with(struct search s, const char *what, enum mm_kind memory,
                               uint32_t preemptions)
{
    const struct ex_outside outside = {taken, sizeof taken}; /* who took it no check here asks */
    struct ex_opts o = world_opts();
    o.memory = memory;
    o.port = port_of_memory(memory);
    o.ctrl = true;
    o.outside = &outside;
    o.outside_count = 1;
    o.branches = true;
    o.states_max = states_max;
    struct failure f = {0};
    struct strategy_dfs dfs;

    if (!ex_init(&f, &o))
        FAIL_CASE("%s", f.text);
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN) /* far slower: a part of each search */
    if (s.runs_max == 0)
        s.runs_max = 3000;
#endif
    strategy_dfs_init(&dfs, frames, sizeof(frames) / sizeof(frames[0]), preemptions);
    bool found = search_run(&s, &dfs.s, &result);
    exhausted = dfs.exhausted && !dfs.pruned && !dfs.diverged && result.totals.forgotten == 0;
    if (found && !search_replay(&s, &result))
        FAIL_CASE("the schedule does not repeat: %s", result.text);
    if (!found && s.runs_max == 0)
        CHECK(exhausted);
    if (!found && s.runs_max == 0)
        CHECK_EQ(result.cut, 0);
    if (getenv("GMPSIM_EXPLORE_COUNTS") != NULL)
        fprintf(stderr,
                "%-10s thieves %d %-6s preemptions %5u: %9" PRIu64 " schedules, %10" PRIu64
                " points, %10" PRIu64 " states, %s\n",
                what, setup->thieves, mm_kind_name(memory), preemptions, result.runs, result.steps,
                result.totals.states, found ? result.text : "nothing wrong");
    search_result_release(&result);
    ex_free();
    return found ? result.text : "nothing";
}

static const char *search_for(const struct setup *u, enum mm_kind memory, uint32_t preemptions,
                              uint64_t runs_max)
{
    setup = u;
    return search_with((struct search){build, check, (void *)(uintptr_t)u, runs_max, /*once*/ true},
                       u->owner, memory, preemptions);
}

/* That the last search has tried, each by itself or as one of those after a known state. */
static uint64_t schedules(void)
{
    return result.totals.states != 0 ? result.totals.schedules : result.runs;
}

static const struct setup put_get = {"pg", 1, false, 0, 0};
static const struct setup three = {"ppg", 1, false, 1, 0};
static const struct setup overflow = {"ppppp", 1, false, 0, 0};
static const struct setup next = {"nng", 1, true, 0, 0};
static const struct setup drain = {"ppd", 1, false, 1, 0};
static const struct setup two_thieves = {"ppgp", 2, false, 1, 0};
static const struct setup two_thieves_next = {"npg", 2, true, 0, 0};
static const struct setup reuse = {"ppggppgp", 1, false, 0, 0};

/* All schedules, without a bound. */
TEST_CASE(Runq, OwnerAndThiefEverySchedule)
{
    CHECK_STR(search_for(&put_get, MM_SC, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(search_for(&three, MM_SC, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(search_for(&put_get, MM_TSO, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(search_for(&put_get, MM_ARM, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(search_for(&put_get, MM_POWER, DFS_UNBOUNDED, 0), "nothing");
}

TEST_CASE(Runq, RingOverflowAndReuse)
{
    CHECK_STR(search_for(&overflow, MM_SC, 4, 0), "nothing");
    CHECK_STR(search_for(&overflow, MM_TSO, 1, 0), "nothing");
    CHECK_STR(search_for(&reuse, MM_SC, 4, 0), "nothing");
}

TEST_CASE(Runq, RunnextAndDrain)
{
    CHECK_STR(search_for(&next, MM_SC, 4, 0), "nothing");
    CHECK_STR(search_for(&drain, MM_SC, 4, 0), "nothing");
    CHECK_STR(search_for(&next, MM_TSO, 2, 0), "nothing");
}

TEST_CASE(Runq, TwoThievesFourPreemptions)
{
    CHECK_STR(search_for(&two_thieves, MM_SC, 4, 0), "nothing");
    CHECK_STR(search_for(&two_thieves_next, MM_SC, 4, 0), "nothing");
}

/* Releases between which a rule of the queue changed, and the first one. */
TEST_CASE(Runq, TwoThievesOfEveryRelease)
{
    static const int releases[] = {13, 17, 18, 25, 26, 27};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        release = releases[i];
        CHECK_STR(search_for(&two_thieves, MM_SC, 3, 0), "nothing");
        CHECK_STR(search_for(&two_thieves_next, MM_SC, 3, 0), "nothing");
    }
    release = PROFILE_LATEST;
}

TEST_CASE(Runq, TwoThievesWeakMemories)
{
    for (int memory = MM_TSO; memory < MM_KINDS; memory++)
        CHECK_STR(search_for(&two_thieves, (enum mm_kind)memory, 3, 60000), "nothing");
}

TEST_CASE(Runq, WeakMemories)
{
    CHECK_STR(search_for(&three, MM_ARM, 2, 200000), "nothing");
    CHECK_STR(search_for(&three, MM_POWER, 2, 200000), "nothing");
}

/* The order that publishes a slot: without it a thief sees the tail and not the slot. */
TEST_CASE(Runq, PublishingWithAPlainStoreIsFound)
{
    struct weaker {
        enum mm_kind memory;
        const char *found;
    } cases[] = {
        {MM_SC, "nothing"}, /* interleaving alone shows nothing */
        {MM_TSO, "nothing"},
        {MM_ARM, "runq: a slot was read before it was written"},
        {MM_POWER, "runq: a slot was read before it was written"},
    };
    CHECK_EQ(site_weaken("runqput", VERB_store_rel, true), 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_STR(search_for(&put_get, cases[i].memory, DFS_UNBOUNDED, 0), cases[i].found);
    site_weaken("runqput", VERB_store_rel, false);
}

/* ---- one of equal orders ---- */

enum { ENDS_MAX = 4096, NODES = 1 << 10, DONES = 1 << 14 };

static struct ends {
    uint64_t end[ENDS_MAX];
    size_t count;
    uint64_t runs;
    bool all;
} * ends;

/* Who took what, and what lies where. */
static void note_end(void *arg)
{
    struct fingerprint h;

    check(arg);
    if (ex_why() == END_LIMIT)
        return;
    fp_init(&h);
    fp_mix(&h, ex_why());
    fp_mix_bytes(&h, ex_text(), strlen(ex_text()));
    for (int i = 1; i <= GS; i++)
        fp_mix2(&h, (uint64_t)taken[i], (uint64_t)taker[i]);
    for (int i = 0; i <= setup->thieves; i++) {
        fp_mix2(&h, a_peek(&ps[i]->runqhead), a_peek(&ps[i]->runqtail));
        fp_mix(&h, a_peek(&ps[i]->runnext) != NULL ? a_peek(&ps[i]->runnext)->goid : 0);
    }
    uint64_t end = fp_value(&h);
    for (size_t i = 0; i < ends->count; i++)
        if (ends->end[i] == end)
            return;
    CHECK_LT(ends->count, ENDS_MAX);
    ends->end[ends->count++] = end;
}

static void all_ends(const struct setup *u, struct strategy *st, struct ends *e)
{
    struct ex_opts o = world_opts();
    struct failure f = {0};
    setup = u;
    ends = e;
    *e = (struct ends){0};
    CHECK(ex_init(&f, &o));
    while (ex_begin(st)) {
        build((void *)(uintptr_t)u);
        ex_run();
        note_end(NULL);
        ex_end();
        e->runs++;
    }
    ex_free();
}

static void by_dpor(const struct setup *u, struct ends *e, uint64_t *classes)
{
    static struct dpor_node nodes[NODES];
    static struct dpor_done dones[DONES];
    static struct strategy_dpor d;
    strategy_dpor_init(&d, nodes, NODES, dones, DONES);
    all_ends(u, &d.s, e);
    CHECK(!d.diverged);
    e->all = d.exhausted && !d.pruned;
    *classes = d.classes;
    if (getenv("GMPSIM_EXPLORE_COUNTS") != NULL)
        fprintf(stderr, "%-10s thieves %d: %" PRIu64 " schedules, %" PRIu64 " classes, %zu ends\n",
                u->owner, u->thieves, e->runs, d.classes, e->count);
}

/* Without a bound, and each end that all schedules come to. */
static void same_ends(const struct setup *u)
{
    static struct ends few, all;
    struct strategy_dfs dfs;
    uint64_t classes;
    by_dpor(u, &few, &classes);
    CHECK(few.all);
    strategy_dfs_init(&dfs, frames, sizeof(frames) / sizeof(frames[0]), DFS_UNBOUNDED);
    all_ends(u, &dfs.s, &all);
    CHECK(dfs.exhausted && !dfs.pruned && !dfs.diverged);
    CHECK_LE(few.runs, all.runs);
    CHECK_EQ(few.count, all.count);
    for (size_t i = 0; i < all.count; i++) {
        bool has = false;
        for (size_t k = 0; k < few.count; k++)
            has |= few.end[k] == all.end[i];
        CHECK(has);
    }
}

static const struct setup two_takes = {"pp", 1, false, 0, 1};
static const struct setup next_steal = {"nn", 1, true, 0, 0};

TEST_CASE(Runq, OneOfEqualOrdersMeetsEveryEnd)
{
    same_ends(&put_get);
#if !defined(GMPSIM_ASAN) && !defined(GMPSIM_TSAN)
    same_ends(&next_steal);
    same_ends(&two_takes);
#endif
}

/* Put, put against take, take: 15 graphs are what an optimal search of this test needs, where all
 * orders are hundreds of thousands. */
TEST_CASE(Runq, PutPutTakeTakeInThirtySchedules)
{
    static struct ends e;
    uint64_t classes;
    by_dpor(&two_takes, &e, &classes);
    CHECK(e.all);
    CHECK_LE(e.runs, 30);
    CHECK_LE(classes, 30);
}

/* Every schedule, where depth first has a bound. */
TEST_CASE(Runq, EveryScheduleOfLongerScripts)
{
    static const struct setup *const longer[] = {&three, &next,        &drain,           &overflow,
                                                 &reuse, &two_thieves, &two_thieves_next};
    static struct ends e;
    uint64_t classes;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        by_dpor(longer[i], &e, &classes);
        CHECK(e.all);
    }
}

/* ---- runqempty ---- */

static const struct setup one_looks = {"", 1, false, 0, 0};

/* G 1 is in runnext; 2 displaces it into the ring and is taken: one G is there at every moment. */
static void displaces(void *arg)
{
    bool inherit;

    (void)arg;
    runqput(ps[0], &gs[2], /*next*/ true);
    if (runqget(ps[0], &inherit) != &gs[2])
        throw("runqget: runnext comes first");
}

static void looks(void *arg)
{
    (void)arg;
    if (runqempty(ps[0]))
        throw("runqempty: a G was there all the time");
}

static void build_look(void *arg)
{
    setup = arg;
    build_world();
    a_init(&ps[0]->runnext, &gs[1]);
    ex_start(&ms[0]->host, displaces, ms[0]);
    ex_start(&ms[1]->host, looks, ms[1]);
}

static void check_look(void *arg)
{
    (void)arg;
    if (ex_why() != END_DONE && ex_why() != END_LIMIT)
        ex_fail("the threads did not end");
}

TEST_CASE(Runq, IsNotEmptyWhileAGMovesInside)
{
    struct search s = {build_look, check_look, (void *)(uintptr_t)&one_looks, 0, false};

    setup = &one_looks;
    for (int memory = MM_SC; memory < MM_KINDS; memory++)
        CHECK_STR(search_with(s, "looks", (enum mm_kind)memory, DFS_UNBOUNDED), "nothing");
}

/* Before fcd7c02c70 the tail was read once: the ring is looked at before 2 displaces 1 into it, and
 * runnext after 2 is gone. */
TEST_CASE(Runq, ThreeLoadsOverlookAGThatMovesInside)
{
    struct search s = {build_look, check_look, (void *)(uintptr_t)&one_looks, 0, false};

    setup = &one_looks;
    taken_back = "runqempty_rereads";
    CHECK_STR(search_with(s, "looks", MM_SC, 1), "runqempty: a G was there all the time");
    taken_back = NULL;
}

/* ---- a batch that is too long, while somebody else uses the global queue ---- */

static const struct setup two_put = {"pppppp", 1, false, 0, 0};

static void puts_batch(void *arg)
{
    struct gQueue q = {0};

    (void)arg;
    for (int i = 1; i <= 5; i++)
        gQueue_pushBack(&q, &gs[i]);
    runqputbatch(ps[0], &q);
}

static void puts_global(void *arg)
{
    (void)arg;
    lock(&sched->lock);
    globrunqput(&gs[6]);
    unlock(&sched->lock);
}

static void build_batch(void *arg)
{
    setup = arg;
    build_world();
    ex_start(&ms[0]->host, puts_batch, ms[0]);
    ex_start(&ms[1]->host, puts_global, ms[1]);
}

TEST_CASE(Runq, WhatDoesNotFitGoesAwayUnderTheLock)
{
    struct search s = {build_batch, check, (void *)(uintptr_t)&two_put, 0, false};

    setup = &two_put;
    release = 24; /* later ones leave the rest to the caller */
    CHECK_STR(search_with(s, "batch", MM_SC, DFS_UNBOUNDED), "nothing");
    taken_back = "batch_overflow_locked";
    CHECK_STR(search_with(s, "batch", MM_SC, 1), "a G was lost");
    taken_back = NULL;
    release = PROFILE_LATEST;
}

#include "poolqueue_cases.c"

#include "orders_cases.c"

#include "protocol_cases.c"
