/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about gcpacer.c: goals, triggers and ratios to the byte, and which P
 * gets which worker. */

/* ---- the pacer ---- */

static const struct {
    int64_t percent, marked, runway, goal, trigger;
} commits[] = {
    {100, 10485760, 0, 20971460, 20447175},        /* at most 95 % of the way */
    {100, 10485760, 10485700, 20971460, 17825750}, /* at least 70 % */
    {100, 10485760, 2097152, 20971460, 18874308},
    {100, 10485760, 524285, 20971460, 20447175},
    {100, 10485760, 3145710, 20971460, 17825750},
    {100, 0, 0, 4194300, 3984585}, /* the smallest heap */
    {100, 1048576, 0, 4194300, 4037010},
    {50, 104857600, 0, 157286400, 154664960},
    {200, 1048600, 0, 8388600, 8021600},
    {0, 1000, 0, 1000, 1000},
};

static void commits_goals(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        world_prof.gc_percent = commits[i].percent;
        c->heapMarked = commits[i].marked;
        c->runway = commits[i].runway;
        gc_commit();
        CHECK_EQ(c->goal, commits[i].goal);
        CHECK_EQ(a_peek(&c->trigger), commits[i].trigger);
    }
    world_prof.gc_percent = -1;
    gc_commit();
    CHECK_EQ(c->goal, INT64_MAX);
    CHECK_EQ(a_peek(&c->trigger), INT64_MAX);
}

static const struct {
    int64_t fanout, remaining, hidden, room, ratio;
} revisions[] = {
    {0, 1000000, 0, 1000000, 65536},
    {0, 1000000, 500000, 1000000, 65536}, /* what is hidden counts only with a fan-out */
    {2, 1000000, 500000, 1000000, 98304},
    {0, 3, 0, 65536, 1000},
    {0, 999, 0, 65536, 1000},
    {0, 1000, 0, 65536, 1000},
    {0, 1001, 0, 65536, 1001},
    {0, 65536, 0, 65535, 65536}, /* no room left: as if there were 64 KB */
    {0, 65536, 0, -5, 65536},
    {0, 65536, 0, 65537, 65535},
    {0, INT64_C(1) << 40, 0, 1 << 30, 1 << 26},
    {0, INT64_MAX, 0, 1 << 20, (INT64_MAX >> 17) >> 4},
    {0, (INT64_MAX >> 17) - 1, 0, 65536, (INT64_MAX >> 17) - 1}, /* as much as there can be */
    {0, (INT64_MAX >> 17) + 1, 0, 65536, INT64_MAX >> 17},
};

static void revises(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
        world_prof.gc_fanout = revisions[i].fanout;
        a_store(&c->remaining, revisions[i].remaining);
        a_store(&c->hidden, revisions[i].hidden);
        a_store(&c->heapLive, 7);
        c->goal = 7 + revisions[i].room;
        gc_revise();
        CHECK_EQ(a_peek(&c->assistRatio), revisions[i].ratio);
    }
    world_prof.gc_fanout = 0;
}

/* Variables come before stacks, and there are spans to sweep from the second cycle on. */
static void knows_the_program(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    world_prof.gc_bss_kb = 1;
    gc_startCycle(gcTriggerHeap);
    const struct g *data = c->fixedRoot.alllink, *bss = data->alllink;
    CHECK(is_variables(data) && data->opval == 0);
    CHECK(is_variables(bss) && bss->opval == 1024);
    CHECK(!is_variables(&c->fixedRoot) && !is_variables(rt->allgs));
    CHECK(bss->alllink == rt->allgs);
    gc_startCycle(gcTriggerHeap);
    CHECK(c->fixedRoot.alllink == data && data->alllink == bss); /* no others */
    world_prof.gc_bss_kb = 0;
    world_prof.gc_spans = 7;
    a_store(&c->heapLive, INT64_C(0));
    for (uint32_t cycle = 1; cycle <= 2; cycle++) {
        a_store(&c->cycles, cycle);
        count_marked();
        CHECK_EQ(a_peek(&c->sweepLeft), cycle == 2 ? 7 : 0);
        a_store(&c->heapLive, INT64_C(0));
    }
    world_prof.gc_spans = 0;
    a_store(&c->sweepLeft, INT64_C(0));
}

TEST_CASE(PacerRules, AProgramHasVariablesAndSpans) { each_release(knows_the_program); }

static void starts_cycle(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (int fanout = 0; fanout < 2; fanout++) {
        rt->allgs = NULL;
        struct g *first = all_g(Gwaiting), *last = all_g(Gwaiting);
        world_prof.gc_fanout = fanout;
        first->gcAssistBytes = last->gcAssistBytes = -5;
        a_store(&rt->allglen, (uint64_t)2);
        for (int i = 0; i < PROCS; i++)
            rt->allp[i]->gc.fractionalTime = 9;
        a_store(&c->heapLive, 5000000);
        a_store(&c->reachable, 3000000);
        c->goal = 6000000;
        a_store(&c->bgScanCredit, 8);
        a_store(&c->active, 8);
        a_store(&c->idleWorkers, 8);
        c->fracNum = c->fracDen = 77;
        int64_t before = host_now();
        gc_startCycle(gcTriggerHeap);
        CHECK(c->markStart >= before && c->markStart <= host_now());
        CHECK(first->gcAssistBytes == 0 && last->gcAssistBytes == 0);
        for (int i = 0; i < PROCS; i++)
            CHECK_EQ(rt->allp[i]->gc.fractionalTime, 0);
        CHECK_EQ(c->allocatedInMark, 5000000);
        CHECK_EQ(a_peek(&c->remaining), (fanout ? 0 : 3000000) + 2 * ROOT_BYTES_PER_G);
        CHECK_EQ(a_peek(&c->hidden), fanout ? 3000000 : 0);
        CHECK(a_peek(&c->rootNext) == &c->fixedRoot && c->fixedRoot.alllink == first);
        CHECK(c->rootLast == last);
        CHECK_EQ(a_peek(&c->bgScanCredit) + a_peek(&c->active) + a_peek(&c->idleWorkers), 0);
        CHECK(c->fracNum == 0 && c->fracDen == 1);
        CHECK_EQ(a_peek(&c->assistRatio),
                 (3000000 + 2 * (int64_t)ROOT_BYTES_PER_G) * 65536 / 1000000);
    }
    world_prof.gc_fanout = 0;
    world_prof.gcstoptheworld = 1; /* all mark */
    gc_startCycle_workers(6, gcTriggerHeap);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 6);
    CHECK(c->fracNum == 0 && c->fracDen == 1);
    CHECK_EQ(c->idleMax, prof->idle_gc_limit ? 0 : 6);
    world_prof.gcstoptheworld = 0;
}

TEST_CASE(PacerRules, GoalsAndTriggersToTheByte) { each_release(commits_goals); }
TEST_CASE(PacerRules, WhatAnAllocatedByteHasToPay) { each_release(revises); }
TEST_CASE(PacerRules, ACycleBeginsWithNothingOfTheLast) { each_release(starts_cycle); }

/* ---- workers ---- */

static void three_workers(struct g **w)
{
    struct gcController *c = &rt->gc;
    for (int i = 0; i < 3; i++) {
        w[i] = g_of(Gwaiting);
        w[i]->group = i + 1;
        c->workers[i] = w[i];
        workers_push(w[i]);
    }
    c->nworkers = 3;
}

static void stacks_workers(struct m *mp)
{
    struct g *w[3];
    (void)mp;
    uint64_t before = a_peek(&rt->gc.pool);
    three_workers(w);
    CHECK_EQ(a_peek(&rt->gc.pool), before + (UINT64_C(3) << 32) + 3); /* pushes are counted */
    for (int i = 2; i >= 0; i--) {
        CHECK(workers_pop() == w[i]);
        CHECK(w[i]->schedlink == NULL);
    }
    CHECK(workers_pop() == NULL);
    CHECK_EQ(a_peek(&rt->gc.pool), before + (UINT64_C(3) << 32));
}

static void fractions(struct m *mp)
{
    struct p *pp = rt->allp[1];
    (void)mp;
    rt->gc.markStart = 1000000;
    rt->gc.fracNum = 50;
    rt->gc.fracDen = 200; /* a quarter of the time */
    for (int64_t used = 0; used <= 6000; used += 1000)
        for (int64_t passed = -4000; passed <= 24000; passed += 4000) {
            pp->gc.fractionalTime = used;
            CHECK_EQ(fraction_used_up(pp, 1000000 + passed), passed > 0 && 4 * used > passed);
        }
    CHECK(fraction_used_up(pp, 1000001));
}

static void chooses(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = rt->allp[1];
    struct g *w[3];
    (void)mp;
    a_store(&c->dedicatedNeeded, 1);
    c->fracNum = 0;
    CHECK(choose_worker(pp, 5) == NULL); /* nothing to mark */
    a_store(&c->remaining, 1);
    CHECK(choose_worker(pp, 5) == NULL); /* no worker waits */
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 1);
    three_workers(w);
    pp->gc.mode = gcIdle;
    CHECK(choose_worker(pp, 5) == w[2]);
    CHECK_EQ(pp->gc.mode, gcDedicated);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 0);
    CHECK(choose_worker(pp, 5) == NULL); /* no more are needed */
    c->fracNum = 25;
    c->fracDen = 100;
    c->markStart = 1000;
    pp->gc.fractionalTime = 100000;
    CHECK(choose_worker(pp, 2000) == NULL); /* it had its share */
    pp->gc.fractionalTime = 0;
    CHECK(gc_assignWaitingWorker(pp, 2000));
    CHECK(pp->gc.nextMarkWorker == w[1]); /* the one above went back each time */
    CHECK_EQ(pp->gc.mode, gcFractional);
    CHECK(gc_assignWaitingWorker(rt->allp[2], 2000));
    CHECK(!gc_assignWaitingWorker(rt->allp[3], 2000));
    gc_releaseNextWorker(pp);
    CHECK(pp->gc.nextMarkWorker == NULL);
    gc_releaseNextWorker(pp);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 0);
    CHECK(workers_pop() == w[1] && workers_pop() == NULL);
    rt->allp[2]->gc.mode = gcDedicated; /* then one is needed again */
    gc_releaseNextWorker(rt->allp[2]);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 1);
}

/* proc.go checkIdleGCNoP, from the first thing that is missing to the last. */
static void idles(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *w[3];
    struct p *pp = NULL;
    (void)mp;
    c->idleMax = 2;
    a_store(&c->remaining, 1);
    CHECK(gc_checkIdleNoP(&pp) == NULL); /* no marking */
    a_store(&c->blackenEnabled, 1);
    a_store(&c->idleWorkers, 2);
    CHECK(gc_checkIdleNoP(&pp) == NULL); /* enough of them */
    a_store(&c->idleWorkers, 1);
    a_store(&c->remaining, 0);
    CHECK(gc_checkIdleNoP(&pp) == NULL); /* nothing to mark */
    a_store(&c->remaining, 1);
    int32_t idle = a_peek(&sched->npidle);
    struct p *top = a_peek(&sched->pidle);
    CHECK(gc_checkIdleNoP(&pp) == NULL); /* no worker: the P goes back */
    CHECK_EQ(a_peek(&sched->npidle), idle);
    CHECK_EQ(a_peek(&c->idleWorkers), 1);
    CHECK(a_peek(&sched->pidle) == top);
    three_workers(w);
    CHECK(gc_checkIdleNoP(&pp) == w[2]);
    CHECK(pp == top);
    CHECK_EQ(pp->gc.mode, gcIdle);
    CHECK_EQ(a_peek(&c->idleWorkers), 2);
    CHECK_EQ(a_peek(&sched->npidle), idle - 1);
    a_store(&c->idleWorkers, 0);
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
    CHECK(gc_checkIdleNoP(&pp) == NULL); /* no P */
    CHECK_EQ(a_peek(&c->idleWorkers), 0);
    lock(&sched->lock); /* it has let the lock go */
    unlock(&sched->lock);
}

static void pool_of_workers(void (*fn)(struct m *))
{
    for (int release = 16; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, fn);
}

TEST_CASE(PacerRules, WorkersWaitOnAStack) { pool_of_workers(stacks_workers); }
TEST_CASE(PacerRules, AFractionIsOfTheTimeThatPassed) { each_release(fractions); }
TEST_CASE(PacerRules, APIsGivenAWorkerWhileOneIsNeeded) { pool_of_workers(chooses); }
TEST_CASE(PacerRules, AnIdlePIsTakenForMarking) { pool_of_workers(idles); }

/* ---- what the heap's pages cost ---- */

static void rates_marking(struct m *mp)
{
    (void)mp;
    world_prof.gc_mark_ns_per_kb = 100;
    world_prof.gc_touch_ns_per_kb = 400;
    CHECK_EQ(scan_rate(1000, 0), 100);
    CHECK_EQ(scan_rate(1000, -5), 100); /* less than was marked */
    CHECK_EQ(scan_rate(1000, 250), 200);
    CHECK_EQ(scan_rate(1, 1), 500);
    CHECK_EQ(scan_rate(1000, 1000), 500);
}

static void clears_blocks(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    a_store(&c->heapLive, INT64_C(0));
    c->heapPeak = c->heapWritten = 0;
    c->heapMarked = 0;
    vm_hot.work[W_clear_kb] = 3;
    vm_hot.work[W_fresh_kb] = 5;
    uint64_t start = vm_now_;
    clear_block(c, 10 << 10); /* zeros of the system's */
    CHECK_EQ(c->heapPeak, 10);
    CHECK_EQ(c->heapWritten, 0);
    CHECK_EQ(vm_now_ - start, 0);
    clear_block(c, 10 << 10); /* again, from pages that it has not given yet */
    CHECK_EQ(c->heapPeak, 10);
    CHECK_EQ(c->heapWritten, 10);
    CHECK_EQ(vm_now_ - start, 10 * 3 + 10 * 5);
    clear_block(c, 10 << 10);
    CHECK_EQ(c->heapWritten, 10);
    CHECK_EQ(vm_now_ - start, 2 * 10 * 3 + 10 * 5);
    a_store(&c->heapLive, INT64_C(5) << 10);
    clear_block(c, 10 << 10);
    CHECK_EQ(c->heapPeak, 15);
    CHECK_EQ(c->heapWritten, 10);
    c->heapMarked = 5 << 10; /* what lives was written, too */
    a_store(&c->heapLive, INT64_C(0));
    clear_block(c, 10 << 10);
    CHECK_EQ(c->heapWritten, 10);
}

TEST_CASE(PacerRules, FreshPagesTakeLongerToMark) { each_release(rates_marking); }
TEST_CASE(PacerRules, MemoryIsClearedWhenItIsUsedAgain) { each_release(clears_blocks); }
