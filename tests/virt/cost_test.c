/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every verb costs what the table says, and a cache line costs more after another CPU had it.
 * Method: a table of distinct prices; the clock before and after one verb. */
#include "virt_world.h"

#include <string.h>

struct line {
    _Alignas(64) ATOMIC(uint64_t) word;
    ATOMIC(uint64_t) neighbour;
};

static struct line *lines;
static uint64_t took[64];

static void distinct_costs(void)
{
    world_free_costs();
    for (uint32_t port = 0; port < PORT_COUNT; port++)
        for (uint32_t i = 0; i < ATOMIC_COUNT; i++)
            world_costs.atomic[port][i] = (struct cost_pair){1000 * (port + 1) + i,
                                                             100000 * (port + 1) + i};
}

#define TOOK(verb)                     \
    __extension__({                    \
        uint64_t before_ = vm_hot.now; \
        (void)(verb);                  \
        vm_hot.now - before_;          \
    })

static void each_atomic(void *arg)
{
    struct line *l = arg;
    uint64_t *t = took, before;

    a_init(&l->word, 0u); /* the line is ours now */
    *t++ = TOOK(a_load(&l->word));
    *t++ = TOOK(a_load_acq(&l->word));
    *t++ = TOOK(a_load_rlx(&l->word));
    before = vm_hot.now;
    a_store(&l->word, 1u);
    *t++ = vm_hot.now - before;
    before = vm_hot.now;
    a_store_rel(&l->word, 1u);
    *t++ = vm_hot.now - before;
    before = vm_hot.now;
    a_store_rlx(&l->word, 1u);
    *t++ = vm_hot.now - before;
    *t++ = TOOK(a_cas(&l->word, 1u, 2u));
    *t++ = TOOK(a_cas_rel(&l->word, 1u, 2u)); /* fails, costs the same */
    *t++ = TOOK(a_xchg(&l->word, 2u));
    *t++ = TOOK(a_add(&l->word, 2u));
    before = vm_hot.now;
    a_fence();
    *t++ = vm_hot.now - before;
    *t++ = TOOK(a_or(&l->word, 2u));
    *t++ = TOOK(a_and(&l->word, 2u));
    *t++ = TOOK(a_xchg8(&l->word, 2u));
    *t++ = TOOK(a_peek(&l->word)) + TOOK(a_own(&l->word));
}

TEST_CASE(Costs, EachAtomicCostsItsRowOfThePort)
{
    for (uint32_t port = 0; port < PORT_COUNT; port++) {
        const uint64_t base = 1000 * (port + 1);

        distinct_costs();
        lines = world_begin(&(struct vm_opts){.port = (enum cost_port)port}, sizeof *lines);
        world_thread(each_atomic, lines);
        CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
        for (uint32_t i = 0; i < ATOMIC_COUNT; i++)
            CHECK_EQ(took[i], base + i);
        CHECK_EQ(took[ATOMIC_COUNT], base + ATOMIC_add);
        CHECK_EQ(took[ATOMIC_COUNT + 1], base + ATOMIC_add);
        CHECK_EQ(took[ATOMIC_COUNT + 2], base + ATOMIC_xchg);
        CHECK_EQ(took[ATOMIC_COUNT + 3], 0);
        world_end();
    }
}

/* ---- lines ---- */

static void step_to(uint64_t ps)
{
    if (vm_hot.now < ps)
        vm_hot.now = ps;
    a_fence();
}

/* Two threads take turns, a microsecond each. */
static void first(void *arg)
{
    struct line *l = arg;

    a_init(&l->word, 0u);
    took[0] = TOOK(a_load_rlx(&l->word)); /* hit: first touch was ours */
    step_to(2000000);
    took[2] = TOOK(a_load_rlx(&l->word)); /* hit: the other one only read */
    took[3] = TOOK(a_add(&l->word, 1u));  /* miss: the other one shares it */
    took[4] = TOOK(a_add(&l->word, 1u));  /* hit */
    step_to(4000000);
    took[6] = TOOK(a_load_rlx(&l->neighbour)); /* miss: same line, written by the other one */
    took[7] = TOOK(a_load_rlx(&l->word));      /* hit */
}

static void second(void *arg)
{
    struct line *l = arg;

    step_to(1000000);
    took[1] = TOOK(a_load_rlx(&l->word)); /* miss */
    step_to(3000000);
    took[5] = TOOK(a_add(&l->word, 1u)); /* miss */
}

TEST_CASE(Costs, ALineCostsMoreAfterAnotherCpuHadIt)
{
    const uint64_t hit = 1000, miss = 100000;

    distinct_costs();
    world_costs.atomic[0][ATOMIC_fence] = (struct cost_pair){0, 0};
    lines = world_begin(&(struct vm_opts){0}, sizeof *lines);
    world_thread(first, lines);
    world_thread(second, lines);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(took[0], hit + ATOMIC_load_rlx);
    CHECK_EQ(took[1], miss + ATOMIC_load_rlx);
    CHECK_EQ(took[2], hit + ATOMIC_load_rlx);
    CHECK_EQ(took[3], miss + ATOMIC_add);
    CHECK_EQ(took[4], hit + ATOMIC_add);
    CHECK_EQ(took[5], miss + ATOMIC_add);
    CHECK_EQ(took[6], miss + ATOMIC_load_rlx);
    CHECK_EQ(took[7], hit + ATOMIC_load_rlx);
    world_end();
}

/* ---- other verbs ---- */

static ATOMIC(uint32_t) * key;

static void each_other(void *arg)
{
    uint64_t *t = took, before = vm_hot.now;

    (void)arg;
#define NEXT                        \
    do {                            \
        *t++ = vm_hot.now - before; \
        before = vm_hot.now;        \
    } while (0)
    work(schedule);
    NEXT;
    work_n(runqgrab_slot, 16);
    NEXT;
    nanotime();
    NEXT;
    procyield(30);
    NEXT;
    osyield();
    NEXT;
    futexwakeup(key, 1);
    NEXT;
    futexsleep(key, 1, -1); /* does not sleep: *key is 0 */
    NEXT;
    syscall_body(5000, SYSCALL_SPIN);
    NEXT;
    syscall_body(5000, SYSCALL_SLEEP);
    NEXT;
    host_usleep(7);
    NEXT;
    futexsleep(key, 0, 9000);
    NEXT;
    burst(11, BURST_CUT);
    NEXT;
    netpoll_wait(0, NULL, 0);
    NEXT;
    netpoll_wakeup();
    NEXT;
    host_now();
    NEXT;
#undef NEXT
}

TEST_CASE(Costs, EachVerbCostsItsEntry)
{
    uint64_t k[COST_COUNT], *t = took;

    world_free_costs();
    for (uint32_t i = 0; i < COST_COUNT; i++)
        world_costs.kind[i] = (uint32_t)(k[i] = 1000 * (i + 1));
    world_costs.kind[COST_deep_after] = 0;
    world_costs.kind[COST_timer_granule] = 1;
    world_costs.kind[COST_usleep_jitter] = 0;
    world_costs.work[W_schedule] = 3;
    world_costs.work[W_runqgrab_slot] = 5;
    key = world_begin(&(struct vm_opts){0}, sizeof *key);
    world_thread(each_other, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(*t++, 3);
    CHECK_EQ(*t++, 80);
    CHECK_EQ(*t++, k[COST_nanotime]);
    CHECK_EQ(*t++, 30 * k[COST_pause]);
    CHECK_EQ(*t++, k[COST_osyield]);
    CHECK_EQ(*t++, k[COST_futex_wake_none]);
    CHECK_EQ(*t++, k[COST_syscall_enter] + k[COST_syscall_exit]);
    CHECK_EQ(*t++, 5000000 + k[COST_syscall_enter] + k[COST_syscall_exit]);
    CHECK_EQ(*t++, 5000000 + k[COST_syscall_enter] + k[COST_syscall_exit]);
    CHECK_EQ(*t++, 7000000 + k[COST_usleep] + k[COST_timer_slack] + k[COST_timer_wake]);
    CHECK_EQ(*t++, 9000000 + k[COST_timer_slack] + k[COST_timer_wake] + k[COST_futex_return]);
    CHECK_EQ(*t++, 11000);
    CHECK_EQ(*t++, k[COST_epoll_poll]);
    CHECK_EQ(*t++, k[COST_epoll_break]);
    CHECK_EQ(*t++, 0);
    CHECK_EQ(world_info(0).state, VM_DEAD);
    world_end();
}

static void sleeper(void *arg)
{
    (void)arg;
    took[0] = TOOK(host_usleep(1300));
    took[1] = TOOK(host_usleep(20));
}

static void short_sleeper(void *arg)
{
    (void)arg;
    took[0] = TOOK(host_usleep(20));
    took[1] = TOOK(host_usleep(3));
}

/* The timer of a sleep runs while its thread still has the CPU: the sleep is no longer for it, but
 * for one that is shorter than that. */
TEST_CASE(Costs, ASleepTakesOfTheCpuWhatItsTimerDoes)
{
    const uint64_t after = 60000000 + 1000000;
    world_free_costs();
    world_costs.kind[COST_usleep_busy] = 12000000;
    world_costs.kind[COST_timer_slack] = 60000000;
    world_costs.kind[COST_wake_latency] = 1000000;
    world_begin(&(struct vm_opts){0}, 0);
    world_thread(short_sleeper, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(took[0], 20000000 + after);
    CHECK_EQ(took[1], 12000000 + after);
    world_end();
}

TEST_CASE(Costs, TimersGoOffOnTheirGranule)
{
    world_free_costs();
    world_costs.kind[COST_timer_granule] = 1000000000; /* 1 ms */
    world_begin(&(struct vm_opts){0}, 0);
    world_thread(sleeper, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(took[0], 2 * PS_PER_MS);
    CHECK_EQ(took[1], 1 * PS_PER_MS);
    world_end();
}

static void many_sleeps(void *arg)
{
    (void)arg;
    for (int i = 0; i < 64; i++)
        took[i] = TOOK(host_usleep(20)) - 20000000; /* long enough to leave the CPU */
}

/* No two of 64 sleeps end equally late, none by more than the table says; another seed, other
 * amounts. */
TEST_CASE(Costs, AShortSleepIsNeverTwiceTheSame)
{
    uint64_t first = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        world_free_costs();
        world_costs.kind[COST_usleep_jitter] = 2000000;
        world_begin(&(struct vm_opts){.seed = seed}, 0);
        world_thread(many_sleeps, NULL);
        CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
        for (int i = 0; i < 64; i++) {
            CHECK_LT(took[i], 2000000);
            CHECK(i == 0 || took[i] != took[i - 1]);
        }
        CHECK(took[0] != first);
        first = took[0];
        world_end();
    }
}

TEST_CASE(Costs, ALongSleepWakesSlower)
{
    world_free_costs();
    world_costs.kind[COST_wake_latency] = 1000;
    world_costs.kind[COST_wake_latency_deep] = 50000;
    world_costs.kind[COST_deep_after] = 100000000; /* 100 us */
    world_begin(&(struct vm_opts){0}, 0);
    world_thread(sleeper, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(took[0], 1300000000 + 51000);
    CHECK_EQ(took[1], 20000000 + 1000);
    world_end();
}

static ATOMIC(uint32_t) * door;

static void open_door(void)
{
    a_store(door, 1u);
    futexwakeup(door, 1);
}

/* CPU 0 computes until it wakes the sleeper of CPU 1. */
static void waker(void *arg)
{
    (void)arg;
    burst(1000000, BURST_WHOLE);
    open_door();
}

/* CPU 1: its thread computes long enough for the waiter to sleep deep, had the CPU slept too. */
static void busy_neighbour(void *arg)
{
    (void)arg;
    burst(999000, BURST_WHOLE);
}

static void waiter(void *arg)
{
    (void)arg;
    futexsleep(door, 0, -1);
    took[0] = vm_hot.now;
}

/* Goal: what the wake costs is decided by how long the CPU was idle that the thread gets, not by
 * how long the thread slept. Method: a thread sleeps for a millisecond, once while its CPU idles,
 * once while another thread uses that CPU until just before. */
TEST_CASE(Costs, ACpuThatWasBusyUntilJustNowWakesFast)
{
    uint64_t at[2];
    for (int busy = 0; busy < 2; busy++) {
        world_free_costs();
        world_costs.kind[COST_wake_latency] = 1000;
        world_costs.kind[COST_wake_latency_deep] = 50000000;
        world_costs.kind[COST_deep_after] = 100000000; /* 100 us */
        door = world_begin(&(struct vm_opts){.cpus = 2}, sizeof *door);
        world_thread(waiter, NULL);
        world_thread(waker, NULL);
        if (busy)
            world_thread(busy_neighbour, NULL);
        CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
        at[busy] = took[0];
        world_end();
    }
    CHECK_EQ(at[0] - at[1], 50000000);
}

/* CPU 1: still computes when the call begins, no longer when it would end. */
static void short_neighbour(void *arg)
{
    (void)arg;
    burst(1002000, BURST_WHOLE);
}

static void timed_waker(void *arg)
{
    (void)arg;
    burst(1000000, BURST_WHOLE);
    a_store(door, 1u);
    took[1] = vm_hot.now;
    futexwakeup(door, 1);
    took[2] = vm_hot.now;
}

/* Goal: a wake finds the CPUs as they are when the call begins. With one idle it has to be woken,
 * which takes who wakes 6 us; with none a wake is cheap, and the woken thread follows whoever
 * leaves first. A table without the cheap wake has all of it at the end. Method: the other CPU
 * computes until 2 us after the call began, or not at all. */
TEST_CASE(Costs, AWakeFindsTheCpusOfItsBegin)
{
    static const uint32_t cheap[] = {500000, 500000, 0 /* not known: no cheaper */};
    static const uint64_t runs_after[] = {15000000, 500000, 6000000};
    for (int busy = 0; busy < 3; busy++) {
        world_free_costs();
        world_costs.kind[COST_futex_wake] = 6000000;
        world_costs.kind[COST_futex_wake_busy] = cheap[busy];
        world_costs.kind[COST_wake_latency] = 9000000;
        struct vm_opts opts = {.cpus = 2, .sched.wakeup_ns = 1000000000 /* nobody is taken */};
        door = world_begin(&opts, sizeof *door);
        world_thread(waiter, NULL);
        world_thread(timed_waker, NULL);
        if (busy)
            world_thread(short_neighbour, NULL);
        CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
        CHECK_EQ(took[2] - took[1], busy == 1 ? 500000 : 6000000);
        CHECK_EQ(took[0] - took[1], runs_after[busy]);
        world_end();
    }
}

/* Goal: who was given a CPU gets to run before a wake takes it away again, however long it waited.
 * Method: two threads on two CPUs wake each other without end; a third one, that has had more than
 * both, wants a microsecond. */
enum { TURNS = 2000 };

static void in_turns(void *arg)
{
    uint32_t me = *(uint32_t *)arg;
    for (uint32_t i = 0; i < TURNS; i++) {
        while (a_load(&door[me]) == 0)
            futexsleep(&door[me], 0, -1);
        a_store(&door[me], 0u);
        a_store(&door[1 - me], 1u);
        futexwakeup(&door[1 - me], 1);
    }
    took[1] = vm_hot.now;
}

static void third(void *arg)
{
    (void)arg;
    burst(20000000, BURST_WHOLE);
    a_store(&door[0], 1u);
    futexwakeup(&door[0], 1);
    host_usleep(50);
    burst(1000, BURST_WHOLE);
    took[0] = vm_hot.now;
}

TEST_CASE(Cpus, WhoIsSwitchedToGetsToRun)
{
    static uint32_t both[] = {0, 1};
    world_free_costs();
    world_costs.kind[COST_context_switch] = 1200000;
    world_costs.kind[COST_futex_sleep] = 400000;
    world_costs.kind[COST_futex_wake] = 900000;
    world_costs.kind[COST_futex_return] = 100000;
    world_costs.kind[COST_wake_latency] = 1000000;
    door = world_begin(&(struct vm_opts){.cpus = 2}, 2 * sizeof *door);
    world_thread(in_turns, &both[0]);
    world_thread(in_turns, &both[1]);
    world_thread(third, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_LT(took[0], 20000000000 + 60000000);
    CHECK_LT(20000000000 + 1000000000, took[1]);
    world_end();
}

static void short_and_long(void *arg)
{
    (void)arg;
    took[0] = TOOK(host_usleep(3));
    took[1] = TOOK(host_usleep(20));
}

static void set_noise(enum cost_noise kind, uint32_t ps)
{
    for (int i = 0; i < NOISE_QUANTILES; i++)
        world_costs.noise[kind][i] = ps;
}

/* A sleep that ends before its CPU is at rest takes what that takes more, others do not; and a
 * table without `timer_wake` has timers wake as threads do, from deep idle, too. */
TEST_CASE(Costs, ATimerWakesFromWhatItsCpuHasComeTo)
{
    for (int own = 0; own < 2; own++) {
        world_free_costs();
        world_costs.kind[COST_wake_latency] = 1000000;
        world_costs.kind[COST_wake_latency_deep] = 5000000;
        world_costs.kind[COST_deep_after] = 1000000;
        world_costs.kind[COST_timer_wake] = own ? 2000000 : 0;
        set_noise(NOISE_brief, 7000000);
        for (int i = 0; i < NOISE_QUANTILES; i++)
            world_costs.noise[NOISE_timer_wake][i] = world_costs.noise[NOISE_wake_latency][i] =
                world_costs.noise[NOISE_wake_latency_deep][i] = 1000;
        world_begin(&(struct vm_opts){.noise_permille = 1000}, 0);
        world_thread(short_and_long, NULL);
        CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
        CHECK_EQ(took[0], 3000000 + 7000000 + (own ? 2000000 : 1000000));
        CHECK_EQ(took[1], 20000000 + (own ? 2000000 : 6000000));
        world_end();
    }
}

/* A thousand wakes whose latency is 1 us in the middle, half at least and four times at most. */
static uint64_t noisy_run(uint64_t seed, uint32_t permille, uint64_t sorted[64])
{
    static const uint32_t factors[NOISE_QUANTILES] = {500,  500,  500,  600,  800, 1000,
                                                      1200, 2000, 3000, 4000, 4000};
    struct fingerprint fp;

    world_free_costs();
    world_costs.kind[COST_wake_latency] = 1000000;
    memcpy(world_costs.noise[NOISE_wake_latency], factors, sizeof factors);
    world_begin(&(struct vm_opts){.seed = seed, .noise_permille = permille}, 0);
    world_thread(many_sleeps, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    world_end();
    fp_init(&fp);
    for (int i = 0; i < 64; i++)
        fp_mix(&fp, took[i]);
    for (int i = 0; i < 64; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > took[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = took[i];
    }
    return fp_value(&fp);
}

TEST_CASE(Costs, NoiseHasTheTablesQuantilesAndFollowsTheSeed)
{
    uint64_t v[64], other[64], one = noisy_run(1, 1000, v);

    CHECK_EQ(noisy_run(1, 1000, other), one);
    CHECK_NE(noisy_run(2, 1000, other), one);
    CHECK_GE(v[0], 500000);
    CHECK_LE(v[63], 4000000);
    CHECK_GT(v[32], 850000); /* 64 draws: the median is near the middle */
    CHECK_LT(v[32], 1150000);
    CHECK_LT(v[6], 750000);
    CHECK_GT(v[57], 1300000);
    CHECK_GT(v[62], 2000000);
}

TEST_CASE(Costs, AShareOfTheNoiseIsThatMuchFromTheMedian)
{
    uint64_t v[64], all[64];

    noisy_run(3, 1000, all);
    noisy_run(3, 250, v);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(v[i], (3 * 1000000 + all[i]) / 4);
    CHECK_EQ(noisy_run(3, 0, v), noisy_run(4, 0, all)); /* none: no seed, no noise */
    CHECK_EQ(v[0], 1000000);
    CHECK_EQ(v[63], 1000000);
}
