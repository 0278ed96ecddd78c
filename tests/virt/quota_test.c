/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: CPU bandwidth control throttles and counts as Linux does. Method: loads whose figures in
 * cpu.stat are known by arithmetic: n CPUs that are always busy under a quota of q CPUs run for q/n
 * of each period and are throttled for the rest. */
#include "virt_world.h"

static void hog(void *arg)
{
    (void)arg;
    for (;;)
        burst(1000000000, BURST_CUT);
}

static void begin(const struct vm_opts *opts)
{
    world_free_costs();
    world_begin(opts, 0);
}

static void hogs(int n)
{
    for (int i = 0; i < n; i++)
        world_thread(hog, NULL);
}

static void check_busy(struct vm_opts o, int threads)
{
    const uint64_t periods = 20, period = 100 * PS_PER_MS;
    uint64_t running = (uint64_t)(o.cpus && o.cpus < threads ? o.cpus : threads);
    uint64_t quota = (uint64_t)o.quota_us * 1000000;
    struct vm_stats s;

    begin(&o);
    hogs(threads);
    /* One picosecond on, so that the last refill counts. */
    CHECK_EQ(vm_run(periods * period + 1), END_TIME);
    s = world_stats();
    CHECK_EQ(s.nr_periods, periods);
    CHECK_EQ(s.nr_throttled, periods);
    /* Each refill pays one nanosecond per CPU before the slices, so a little is owed from period to
     * period. */
    CHECK_GE(s.cpu_ps, periods * quota);
    CHECK_LE(s.cpu_ps, periods * quota + periods * running * 1000);
    CHECK_GE(s.throttled_ps, periods * (running * period - quota) - periods * running * 1000);
    CHECK_LE(s.throttled_ps, periods * (running * period - quota) + periods * running * 1000);
    world_end();
}

TEST_CASE(Quota, FourBusyCpusUnderAQuotaOfTwoAreThrottledHalfTheTime)
{
    check_busy((struct vm_opts){.cpus = 4, .quota_us = 200000}, 4);
    check_busy((struct vm_opts){.quota_us = 200000}, 4); /* dedicated */
}

TEST_CASE(Quota, OtherSharesToo)
{
    check_busy((struct vm_opts){.cpus = 1, .quota_us = 50000}, 1);
    check_busy((struct vm_opts){.cpus = 2, .quota_us = 50000}, 5);
    check_busy((struct vm_opts){.quota_us = 150000}, 16);
    check_busy((struct vm_opts){.cpus = 3, .quota_us = 200000, .quota_slice_us = 1000}, 3);
}

/* All four stop after 50 ms of the first period and go on at 100 ms. */
static uint64_t longest_gap[4];

static void watcher(void *arg)
{
    uint64_t *gap = arg, last = vm_hot.now;

    while (vm_hot.now < 500 * PS_PER_MS) {
        burst(100000, BURST_CUT);
        if (vm_hot.now - last > *gap)
            *gap = vm_hot.now - last;
        last = vm_hot.now;
    }
}

TEST_CASE(Quota, TheWholeGroupStandsStillUntilTheRefill)
{
    begin(&(struct vm_opts){.cpus = 4, .quota_us = 200000});
    for (int i = 0; i < 4; i++) {
        longest_gap[i] = 0;
        world_thread(watcher, &longest_gap[i]);
    }
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    for (int i = 0; i < 4; i++) {
        CHECK_GE(longest_gap[i], 45 * PS_PER_MS);
        CHECK_LE(longest_gap[i], 56 * PS_PER_MS); /* slices of 5 ms are not shared evenly */
    }
    world_end();
}

TEST_CASE(Quota, BelowTheQuotaNobodyIsThrottled)
{
    struct vm_stats s;

    begin(&(struct vm_opts){.cpus = 4, .quota_us = 200000});
    hogs(2);
    CHECK_EQ(vm_run(1000 * PS_PER_MS + 1), END_TIME);
    s = world_stats();
    CHECK_EQ(s.nr_periods, 10);
    CHECK_EQ(s.nr_throttled, 0);
    CHECK_EQ(s.throttled_ps, 0);
    CHECK_EQ(s.cpu_ps, 2 * 1000 * PS_PER_MS + 2);
    world_end();
}

TEST_CASE(Quota, NoQuotaNoPeriods)
{
    begin(&(struct vm_opts){.cpus = 2});
    hogs(2);
    CHECK_EQ(vm_run(1000 * PS_PER_MS), END_TIME);
    CHECK_EQ(world_stats().nr_periods, 0);
    world_end();
}

/* Runtime is taken off at ticks of 4 ms only, so a CPU overruns; the debt is paid from the next
 * refill: over many periods the group gets its quota, and an overrun more. */
TEST_CASE(Quota, TicksOverrunAndPayBack)
{
    struct vm_stats s;

    begin(&(struct vm_opts){.cpus = 2, .quota_us = 50000, .sched = {.tick_ns = 4000000}});
    hogs(2);
    CHECK_EQ(vm_run(5000 * PS_PER_MS + 1), END_TIME);
    s = world_stats();
    CHECK_EQ(s.nr_throttled, 50);
    CHECK_GE(s.cpu_ps, 50 * 50 * PS_PER_MS);
    CHECK_LE(s.cpu_ps, 50 * 50 * PS_PER_MS + 2 * 4 * PS_PER_MS);
    world_end();
}

/* ---- idle CPUs give runtime back, the timer stops ---- */

static void short_worker(void *arg)
{
    int64_t every_us = *(int64_t *)arg;

    for (;;) {
        burst(200000, BURST_CUT);
        host_usleep((uint32_t)every_us);
    }
}

/* Eight CPUs that each take 5 ms of the pool and use 0.2 ms: without giving back, a quota of 20 ms
 * would be gone at once. */
TEST_CASE(Quota, IdleCpusGiveRuntimeBack)
{
    static int64_t every_us = 20000;
    struct vm_stats s;

    begin(&(struct vm_opts){.quota_us = 20000});
    for (int i = 0; i < 8; i++)
        world_thread(short_worker, &every_us);
    CHECK_EQ(vm_run(1000 * PS_PER_MS), END_TIME);
    s = world_stats();
    CHECK_EQ(s.nr_throttled, 0);
    CHECK_GE(s.cpu_ps, 8 * 49 * PS_PER_MS / 5);
    world_end();
}

TEST_CASE(Quota, TheTimerStopsWhenNobodyRuns)
{
    static int64_t every_us = 10000000;
    uint64_t periods;

    begin(&(struct vm_opts){.cpus = 1, .quota_us = 50000});
    world_thread(short_worker, &every_us);
    CHECK_EQ(vm_run(9000 * PS_PER_MS), END_TIME);
    periods = world_stats().nr_periods;
    CHECK_GE(periods, 1);
    CHECK_LE(periods, 3);
    world_end();
}

/* Slices of 10 ms out of 53. Three threads take one each at once, go to sleep and give all but 1 ms
 * back. The hog takes its second one at 10 ms. The three wake at 18.5, use up their 1 ms and take a
 * slice each: the pool is empty, and the hog is throttled at 20. They end at 20.5 and give 8 ms
 * back each, more than a slice in all: 5 ms later the hog goes on, with these 24. */
static void late_and_short(void *arg)
{
    (void)arg;
    host_usleep(18500);
    burst(2000000, BURST_CUT);
}

TEST_CASE(Quota, WhatIdleCpusGiveBackGoesToTheThrottled)
{
    struct vm_stats s;

    begin(&(struct vm_opts){.cpus = 4, .quota_us = 53000, .quota_slice_us = 10000});
    hogs(1);
    for (int i = 0; i < 3; i++)
        world_thread(late_and_short, NULL);
    CHECK_EQ(vm_run(25 * PS_PER_MS), END_TIME);
    CHECK_EQ(world_info(0).state, VM_THROTTLED);
    CHECK_EQ(vm_run(26 * PS_PER_MS), END_TIME);
    CHECK_EQ(world_info(0).state, VM_BURSTING);
    CHECK_EQ(vm_run(99 * PS_PER_MS), END_TIME);
    s = world_stats();
    CHECK_EQ(world_info(0).cpu_ps, 44 * PS_PER_MS);
    CHECK_EQ(s.throttled_ps, 55 * PS_PER_MS);
    CHECK_EQ(s.cpu_ps, 50 * PS_PER_MS);
    world_end();
}

TEST_CASE(Quota, HostQuotaSaysWhatIsSet)
{
    int64_t quota = 0, period = 0;

    begin(&(struct vm_opts){.quota_us = 150000, .period_us = 50000});
    CHECK(vm_quota_(&quota, &period));
    CHECK_EQ(quota, 150000);
    CHECK_EQ(period, 50000);
    world_end();
    begin(&(struct vm_opts){.cpus = 3});
    CHECK(!vm_quota_(&quota, &period));
    CHECK_EQ(vm_ncpu_(), 3);
    world_end();
}

/* Four busy CPUs; a quota of two until 1 s, of three until 2 s, then none, then of one. */
TEST_CASE(Quota, ChangesAtAMoment)
{
    static const struct vm_quota_change changes[] = {
        {1000000000, 300000}, {2000000000, 0}, {3000000000, 100000}};
    static const uint64_t cpus[] = {2, 3, 4, 1};

    begin(&(struct vm_opts){
        .cpus = 4, .quota_us = 200000, .quota_changes = changes, .nquota_changes = 3});
    hogs(4);
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t begin_ps = (i * 1000 + 100) * PS_PER_MS, cpu;

        CHECK_EQ(vm_run(begin_ps), END_TIME); /* the write itself has filled the pool once more */
        cpu = world_stats().cpu_ps;
        CHECK_EQ(vm_run(begin_ps + 900 * PS_PER_MS), END_TIME);
        CHECK_GE(world_stats().cpu_ps - cpu, cpus[i] * 900 * PS_PER_MS - PS_PER_MS / 10);
        CHECK_LE(world_stats().cpu_ps - cpu, cpus[i] * 900 * PS_PER_MS + PS_PER_MS / 10);
    }
    CHECK_EQ(world_stats().nr_periods, 19 + 9); /* before 2 s, and after 3 s before 4 s */
    world_end();
}

TEST_CASE(Quota, ALargerOneLetsTheThrottledRunAtOnce)
{
    static const struct vm_quota_change later = {70000000, 400000};

    begin(&(struct vm_opts){
        .cpus = 4, .quota_us = 200000, .quota_changes = &later, .nquota_changes = 1});
    hogs(4);
    CHECK_EQ(vm_run(69 * PS_PER_MS), END_TIME);
    CHECK_EQ(world_info(0).state, VM_THROTTLED);
    CHECK_EQ(vm_run(99 * PS_PER_MS), END_TIME);
    CHECK_EQ(world_info(0).state, VM_BURSTING);
    CHECK_EQ(world_stats().throttled_ps, 4 * 20 * PS_PER_MS);
    world_end();
}

TEST_CASE(Quota, BeginsLaterWithDedicatedCpus)
{
    static const struct vm_quota_change later = {100000000, 100000};
    struct failure f = {0};
    static const struct vm_quota_change small = {1, 1};

    begin(&(struct vm_opts){.quota_changes = &later, .nquota_changes = 1});
    hogs(2);
    CHECK_EQ(vm_run(200 * PS_PER_MS), END_TIME);
    CHECK_GE(world_stats().cpu_ps, 300 * PS_PER_MS);
    CHECK_LE(world_stats().cpu_ps, 301 * PS_PER_MS);
    world_end();
    CHECK(!vm_init(&f, &(struct vm_opts){.quota_changes = &small, .nquota_changes = 1}));
}
