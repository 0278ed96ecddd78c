/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the host's CPUs are shared as docs/time.md says. Method: threads that burn, sleep and yield
 * on a few CPUs whose scheduler has round numbers; CPU times, waits and instants are known in
 * advance. All verbs are free unless a case says so. */
#include "virt_world.h"

struct burner {
    int64_t burst_ns;
    uint64_t count, done_at;
    ATOMIC(uint32_t) stop;
};

static struct burner *b;

static void burn(void *arg)
{
    struct burner *x = arg;

    for (uint64_t i = 0; i < x->count; i++)
        burst(x->burst_ns, BURST_CUT);
    x->done_at = vm_hot.now;
}

/* The same by passing points: 1 us of work between two. */
static void spin(void *arg)
{
    struct burner *x = arg;

    for (uint64_t i = 0; i < x->count; i++) {
        a_load_rlx(&x->stop);
        vm_hot.now += 1000000;
    }
    x->done_at = vm_hot.now;
}

static void begin(const struct vm_opts *opts, int threads)
{
    world_free_costs();
    b = world_begin(opts, sizeof *b * (size_t)threads);
}

static void hogs(int threads, int64_t burst_ns, uint64_t count, void (*fn)(void *))
{
    for (int i = 0; i < threads; i++) {
        b[i] = (struct burner){.burst_ns = burst_ns, .count = count};
        world_thread(fn, &b[i]);
    }
}

static uint64_t spread(int threads, uint64_t *sum)
{
    uint64_t low = UINT64_MAX, high = 0;

    *sum = 0;
    for (int i = 0; i < threads; i++) {
        uint64_t cpu = world_info(i).cpu_ps;

        low = cpu < low ? cpu : low;
        high = cpu > high ? cpu : high;
        *sum += cpu;
    }
    return high - low;
}

static void check_fair(void (*fn)(void *), int64_t burst_ns, int cpus, int threads)
{
    uint64_t sum, off;

    begin(&(struct vm_opts){.cpus = cpus}, threads);
    hogs(threads, burst_ns, UINT64_MAX, fn);
    CHECK_EQ(vm_run(2000 * PS_PER_MS), END_TIME);
    off = spread(threads, &sum);
    CHECK_GE(sum, 2000 * PS_PER_MS * (uint64_t)cpus - 2 * PS_PER_MS);
    CHECK_LE(sum, 2000 * PS_PER_MS * (uint64_t)cpus + 2 * PS_PER_MS);
    CHECK_LE(off, 9 * PS_PER_MS); /* what a new thread owes, and a latency */
    world_end();
}

TEST_CASE(Cpu, TwoCpusAndThreeHogsGiveTwoThirdsEach)
{
    check_fair(burn, 1000000000, 2, 3);
    check_fair(burn, 50000, 2, 3);
    check_fair(spin, 0, 2, 3);
}

TEST_CASE(Cpu, ManyHogsGetEqualShares)
{
    check_fair(burn, 3000000, 4, 7);
    check_fair(burn, 1000000000, 1, 5);
    check_fair(spin, 0, 3, 8);
}

TEST_CASE(Cpu, ABurstThatIsTornApartKeepsItsLength)
{
    uint64_t sum;

    begin(&(struct vm_opts){.cpus = 2}, 3);
    hogs(3, 100000000, 1, burn);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    sum = world_stats().cpu_ps;
    CHECK_EQ(sum, 3 * 100 * PS_PER_MS);
    for (int i = 0; i < 3; i++) {
        CHECK_GE(b[i].done_at, 140 * PS_PER_MS);
        CHECK_LE(b[i].done_at, 152 * PS_PER_MS);
    }
    world_end();
}

TEST_CASE(Cpu, DedicatedMeansNobodyWaits)
{
    begin(&(struct vm_opts){0}, 5);
    hogs(5, 10000000, 10, burn);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(b[i].done_at, 100 * PS_PER_MS);
    CHECK_EQ(world_stats().wait_ps, 0);
    world_end();
}

/* Latency 6 ms over two threads: slices of 3 ms, taken in turns, each switch costing 1 us. */
TEST_CASE(Cpu, SlicesAlternateAndSwitchesCost)
{
    begin(&(struct vm_opts){.cpus = 1}, 2);
    vm_hot.kind[COST_context_switch] = 1000000;
    hogs(2, 8500000, 1, burn);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    /* m0: 0, 6.002 and 12.004 to 14.504; m1: 3.001, 9.003 and, alone, 14.505 to 17.005. */
    CHECK_EQ(b[0].done_at, 14504000000);
    CHECK_EQ(b[1].done_at, 17005000000);
    CHECK_EQ(world_stats().cpu_ps, 17 * PS_PER_MS);
    CHECK_EQ(world_stats().wait_ps, (3001 + 3001 + 3000 + 3001 + 2501) * UINT64_C(1000000));
    world_end();
}

TEST_CASE(Cpu, TheTickDelaysTheEndOfASlice)
{
    begin(&(struct vm_opts){.cpus = 1, .sched = {.tick_ns = 4000000}}, 2);
    hogs(2, 7000000, 1, burn);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(b[0].done_at, 11 * PS_PER_MS); /* 0-4, 8-11 */
    CHECK_EQ(b[1].done_at, 14 * PS_PER_MS);
    world_end();
}

/* 6 ms over 6 threads would be 1 ms: bursts of 2 ms would be torn apart. */
TEST_CASE(Cpu, ASliceIsNotShorterThanTheGranularity)
{
    for (int torn = 0; torn < 2; torn++) {
        begin(&(struct vm_opts){.cpus = 1, .sched = {.granularity_ns = torn ? 1 : 2000000}}, 6);
        hogs(6, 2000000, UINT64_MAX, burn);
        CHECK_EQ(vm_run(601 * PS_PER_MS), END_TIME);
        for (int i = 0; i < 6; i++) {
            CHECK_GE(world_info(i).preemptions, torn ? 90 : 45);
            CHECK_LE(world_info(i).preemptions, torn ? 110 : 55);
        }
        world_end();
    }
}

/* ---- waking ---- */

static void sleeper(void *arg)
{
    struct burner *x = arg;

    host_usleep((uint32_t)x->burst_ns);
    x->done_at = vm_hot.now;
    burst(500000, BURST_CUT);
    x->count = vm_hot.now;
}

/* A hog has 20 ms of virtual run time when the sleeper wakes; the sleeper is put half a latency
 * behind and takes the CPU at once. */
TEST_CASE(Cpu, AWokenThreadPreemptsAHog)
{
    begin(&(struct vm_opts){.cpus = 1}, 2);
    b[0] = (struct burner){.burst_ns = 100000000, .count = 1};
    b[1] = (struct burner){.burst_ns = 20000};
    world_thread(sleeper, &b[1]);
    world_thread(burn, &b[0]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(b[1].done_at, 20 * PS_PER_MS);
    CHECK_EQ(b[1].count, 20 * PS_PER_MS + PS_PER_MS / 2);
    CHECK_EQ(b[0].done_at, 100 * PS_PER_MS + PS_PER_MS / 2);
    world_end();
}

/* With a wake-up granularity above half the latency it has to wait for the end of the slice, that
 * is, for the next tick. */
TEST_CASE(Cpu, AWokenThreadThatIsNotFarBehindWaits)
{
    begin(&(struct vm_opts){.cpus = 1, .sched = {.wakeup_ns = 4000000, .tick_ns = 4000000}}, 2);
    b[0] = (struct burner){.burst_ns = 100000000, .count = 1};
    b[1] = (struct burner){.burst_ns = 21000};
    world_thread(sleeper, &b[1]);
    world_thread(burn, &b[0]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(b[1].done_at, 24 * PS_PER_MS);
    world_end();
}

/* The sleeper comes back when all others have had what they want, and they have had it one after
 * the other. */
TEST_CASE(Cpu, FirstComeFirstServedTakesNothingFromAnybody)
{
    begin(&(struct vm_opts){.cpus = 1, .sched = {.fifo = true}}, 3);
    b[0] = (struct burner){.burst_ns = 100000000, .count = 1};
    b[1] = (struct burner){.burst_ns = 21000};
    b[2] = (struct burner){.burst_ns = 50000000, .count = 1};
    world_thread(sleeper, &b[1]);
    world_thread(burn, &b[0]);
    world_thread(burn, &b[2]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(b[0].done_at, 100 * PS_PER_MS);
    CHECK_EQ(b[2].done_at, 150 * PS_PER_MS);
    CHECK_EQ(b[1].done_at, 150 * PS_PER_MS);
    world_end();
}

TEST_CASE(Cpu, SleepEarnsNoUnlimitedCredit)
{
    uint64_t sum;

    begin(&(struct vm_opts){.cpus = 1}, 2);
    b[0] = (struct burner){.burst_ns = 1000000000, .count = UINT64_MAX};
    b[1] = b[0];
    world_thread(burn, &b[0]);
    CHECK_EQ(vm_run(1000 * PS_PER_MS), END_TIME);
    world_thread(burn, &b[1]);
    CHECK_EQ(vm_run(1100 * PS_PER_MS), END_TIME);
    sum = world_info(1).cpu_ps;
    CHECK_GE(sum, 44 * PS_PER_MS);
    CHECK_LE(sum, 56 * PS_PER_MS);
    world_end();
}

static void hopper(void *arg)
{
    struct burner *x = arg;

    for (int i = 0; i < 10; i++) {
        host_usleep(1000);
        burst(1000, BURST_CUT);
    }
    x->done_at = vm_hot.now;
}

TEST_CASE(Cpu, AThreadComesBackToItsIdleCpu)
{
    begin(&(struct vm_opts){.cpus = 4}, 2);
    world_thread(hopper, &b[0]);
    world_thread(hopper, &b[1]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(b[0].done_at, 10 * (PS_PER_MS + 1000000));
    CHECK_EQ(world_stats().wait_ps, 0);
    world_end();
}

TEST_CASE(Cpu, MigrationCosts)
{
    begin(&(struct vm_opts){.cpus = 2}, 3);
    vm_hot.kind[COST_migration] = 5000000;
    hogs(3, 100000000, UINT64_MAX, burn);
    CHECK_EQ(vm_run(300 * PS_PER_MS), END_TIME);
    {
        uint64_t migrations = 0, sum;

        spread(3, &sum);
        for (int i = 0; i < 3; i++)
            migrations += world_info(i).migrations;
        CHECK_GT(migrations, 10);
        CHECK_GE(sum, 600 * PS_PER_MS - migrations * 5000000 - 10000000);
        CHECK_LE(sum, 600 * PS_PER_MS - migrations * 5000000 + 10000000);
    }
    world_end();
}

/* ---- sched_yield ---- */

static void yielder(void *arg)
{
    struct burner *x = arg;

    for (uint64_t i = 0; i < x->count; i++) {
        vm_hot.now += 1000000;
        osyield();
    }
    x->done_at = vm_hot.now;
}

TEST_CASE(Cpu, OsyieldLetsTheOtherRun)
{
    begin(&(struct vm_opts){.cpus = 1}, 2);
    hogs(2, 0, 1000, yielder);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    /* In turns of a microsecond, so that both come to their end together. */
    CHECK_EQ(b[0].done_at, 2000 * UINT64_C(1000000));
    CHECK_EQ(b[1].done_at, 2000 * UINT64_C(1000000));
    CHECK_GE(world_stats().switches, 2000);
    world_end();
}

static void spinner(void *arg)
{
    struct burner *x = arg;

    while (a_load(&x->stop) == 0)
        procyield(30);
    x->done_at = vm_hot.now;
}

static void stopper(void *arg)
{
    struct burner *x = arg;

    burst(1000000, BURST_CUT);
    a_store(&x->stop, 1u);
}

TEST_CASE(Cpu, SpinTimeIsCounted)
{
    begin(&(struct vm_opts){.cpus = 2}, 1);
    vm_hot.kind[COST_pause] = 10000;
    world_thread(spinner, &b[0]);
    world_thread(stopper, &b[0]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_GE(world_stats().spin_ps, PS_PER_MS);
    CHECK_LE(world_stats().spin_ps, PS_PER_MS + 300000);
    world_end();
}

/* A lock holder that lost its CPU: the spinner burns its slice, then the holder goes on. */
TEST_CASE(Cpu, ASpinnerWithoutASecondCpuSpinsForASlice)
{
    begin(&(struct vm_opts){.cpus = 1}, 1);
    vm_hot.kind[COST_pause] = 10000;
    world_thread(spinner, &b[0]);
    world_thread(stopper, &b[0]);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_GE(b[0].done_at, 4 * PS_PER_MS);
    CHECK_LE(b[0].done_at, 5 * PS_PER_MS);
    world_end();
}

/* ---- signals to a thread that has no CPU ---- */

static void nudger(void *arg)
{
    (void)arg;
    host_usleep(1000);
    nudge(world_hostm(0));
    nudge(world_hostm(1));
}

static void cut_once(void *arg)
{
    struct burner *x = arg;

    x->count = (uint64_t)burst(50000000, BURST_CUT);
    x->done_at = vm_hot.now;
}

TEST_CASE(Cpu, ANudgeWaitsForTheCpu)
{
    begin(&(struct vm_opts){.cpus = 1}, 2);
    world_thread(cut_once, &b[0]);
    world_thread(cut_once, &b[1]);
    world_thread(nudger, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    /* Nobody ran for longer than until shortly after the nudge. */
    CHECK_LE(world_stats().cpu_ps, 9 * PS_PER_MS);
    CHECK_GT(b[0].count, 40000000);
    CHECK_GT(b[1].count, 40000000);
    world_end();
}
