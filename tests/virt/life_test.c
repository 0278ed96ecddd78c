/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: worlds begin and end as vm.h says; limits are messages; nothing calls malloc while a world
 * runs. Method: a world with a bit of everything, compared with itself when it is made again. */
#include "virt_world.h"

#include <stdlib.h>

#include "sim/base/coro.h"
#include "sim/virt/limits.h"

enum { PLAYERS = 6, FDS = 4 };

struct player {
    ATOMIC(uint32_t) key;
    uint32_t id, rounds;
    uint64_t sum;
};

struct mix {
    struct player player[PLAYERS];
    ATOMIC(uint64_t) total;
    uint32_t polled, spawned;
};

static struct mix *mix;

static void arrival(void *arg)
{
    uint32_t n = (uint32_t)(uintptr_t)arg;

    env_ready((int32_t)(n % FDS), 1 + n % 3, 1);
    emit(EV_NETPOLL_READY, 0, n, n % FDS, 0);
    if (n < 300)
        env_at(host_now() + 40000 + n * 7, arrival, (void *)(uintptr_t)(n + 1));
}

static void poller(void *arg)
{
    struct poll_event ev[8];

    (void)arg;
    while (mix->polled < 290) {
        int32_t n = netpoll_wait(-1, ev, 8);

        for (int32_t i = 0; i < n; i++)
            emit(EV_MARK, 0, (uint64_t)ev[i].fd, ev[i].mode, 0);
        mix->polled += (uint32_t)n;
    }
}

static void child(void *arg)
{
    struct player *p = arg;

    burst(2000 + p->id, BURST_CUT);
    a_add(&mix->total, 1);
}

static void play(void *arg)
{
    struct player *p = arg, *next = &mix->player[(p->id + 1) % PLAYERS];
    struct hostm *hm = host_alloc(sizeof *hm, 8);

    for (p->rounds = 0; p->rounds < 400; p->rounds++) {
        p->sum += host_seed64() % 1000;
        work_n(op, p->sum % 50);
        if (a_load(&p->key) == 0)
            futexsleep(&p->key, 0, 20000 + p->id);
        a_store(&p->key, 0u);
        a_store(&next->key, 1u);
        futexwakeup(&next->key, 1);
        p->sum += (uint64_t)burst(3000 + (int64_t)p->sum % 777,
                                  p->rounds % 3 ? BURST_CUT : BURST_WHOLE);
        if (p->rounds % 16 == p->id)
            signalm(world_hostm((int)next->id));
        if (p->rounds % 32 == 5)
            nudge(world_hostm((int)next->id));
        if (p->rounds % 64 == 9)
            newosproc(hm, child, p);
        if (p->rounds % 7 == 2)
            syscall_body(1500, p->rounds % 2 ? SYSCALL_SLEEP : SYSCALL_SPIN);
        if (p->rounds % 11 == 3)
            host_usleep(3);
        emit(EV_MARK, p->id, p->sum, p->rounds, 0);
    }
}

static void on_signal(void *arg)
{
    struct player *p = arg;

    p->sum++;
    a_add(&mix->total, 1);
}

static void mix_begin(struct vm_opts o)
{
    o.sighandler = on_signal;
    o.costs = &costs_builtin;
    mix = world_begin(&o, sizeof *mix);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        mix->player[i].id = i;
        world_thread(play, &mix->player[i]);
    }
    world_thread(poller, &mix->player[0]);
    env_at(5000, arrival, NULL);
}

static const struct vm_opts kinds[] = {
    {.seed = 1},
    {.seed = 2, .ties = VM_TIES_BY_SEED, .noise_permille = 100},
    {.seed = 3, .cpus = 2},
    {.seed = 4, .cpus = 3, .quota_us = 20000, .period_us = 10000},
    {.seed = 5, .quota_us = 15000, .period_us = 10000, .sched = {.tick_ns = 1000000}},
    {.seed = 6, .port = PORT_PPC64LE, .cpus = 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static uint64_t result(enum world_end why)
{
    struct fingerprint fp = {world_stats().fingerprint};

    fp_mix2(&fp, why, world_stats().now_ps);
    fp_mix2(&fp, a_peek(&mix->total), world_stats().cpu_ps);
    for (int i = 0; i < PLAYERS; i++)
        fp_mix2(&fp, mix->player[i].sum, mix->player[i].rounds);
    return fp_value(&fp);
}

TEST_CASE(Life, TheSameWorldTwiceIsTheSame)
{
    uint64_t seen[KINDS];

    for (int k = 0; k < KINDS; k++) {
        mix_begin(kinds[k]);
        seen[k] = result(vm_run(UINT64_MAX));
        CHECK_EQ(mix->player[0].rounds, 400);
        for (int i = 0; i < k; i++)
            CHECK_NE(seen[i], seen[k]);
    }
    for (int k = KINDS; k-- > 0;) {
        mix_begin(kinds[k]);
        CHECK_EQ(result(vm_run(UINT64_MAX)), seen[k]);
    }
    world_end();
}

/* ---- ends ---- */

static void eats_memory(void *arg)
{
    (void)arg;
    for (;;)
        host_alloc(100000, 64);
}

TEST_CASE(Life, TheMemoryLimitIsAMessage)
{
    world_begin(&(struct vm_opts){.memory_max = 64 << 20}, 0);
    world_thread(eats_memory, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_LIMIT);
    CHECK_EQ(vm_failure()->code, E_LIMIT);
    CHECK_EQ(vm_run(UINT64_MAX), END_LIMIT); /* and stays so */
    world_end();
}

static void spawns(void *arg)
{
    struct hostm *hm = host_alloc(sizeof *hm, 8);

    (void)arg;
    newosproc(hm, spawns, NULL);
    host_usleep(1000000000);
}

/* ThreadSanitizer has room for 8128 fibers. */
#ifdef GMPSIM_TSAN
enum { ALIVE_MAX = 5000 };
#else
enum { ALIVE_MAX = VM_THREADS_ALIVE_MAX };
#endif

TEST_CASE(Life, TheThreadLimitIsAMessage)
{
    world_begin(&(struct vm_opts){.threads_max = ALIVE_MAX}, 0);
    world_thread(spawns, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_LIMIT);
    CHECK_EQ(vm_failure()->code, E_LIMIT);
    CHECK_HAS(vm_failure()->text, "threads alive at once");
    CHECK_EQ(world_stats().threads, ALIVE_MAX);
    world_end();
    world_begin(&(struct vm_opts){.threads_max = 5}, 0);
    world_thread(spawns, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_LIMIT);
    CHECK_STR(vm_failure()->text, "more than 5 threads alive at once");
    world_end();
}

static void short_life(void *arg) { (void)arg; }

static void spawns_many(void *arg)
{
    struct hostm *hm = host_alloc(sizeof *hm, 8);

    (void)arg;
    for (int i = 0; i < 20000; i++) {
        newosproc(hm, short_life, NULL);
        host_usleep(100);
    }
}

TEST_CASE(Life, EndedThreadsLeaveRoomForNewOnes)
{
    size_t memory;

    world_begin(&(struct vm_opts){.costs = &costs_builtin}, 0);
    memory = world_stats().memory;
    world_thread(spawns_many, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(world_stats().threads, 20001);
    CHECK_EQ(world_stats().threads_alive, 0);
    CHECK_EQ(world_info(777).state, VM_DEAD);
    CHECK_LE(world_stats().memory - memory, 20001 * 64);
    world_end();
}

static void finds_in_callback(void *arg)
{
    (void)arg;
    finding(5, "found outside");
}

TEST_CASE(Life, AFindingOfTheEnvironmentEndsTheRun)
{
    world_begin(&(struct vm_opts){0}, 0);
    world_thread(spawns_many, NULL);
    env_at(3000000, finds_in_callback, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_FINDING);
    CHECK_EQ(vm_verdict()->kind, 5);
    CHECK_EQ(vm_verdict()->m, -1);
    CHECK_EQ(vm_verdict()->at_ps, 3 * PS_PER_MS);
    CHECK_STR(vm_verdict()->text, "found outside");
    world_end();
}

static void throws_in_callback(void *arg)
{
    (void)arg;
    throw("thrown outside");
}

TEST_CASE(Life, AThrowOfTheEnvironmentEndsTheRun)
{
    world_begin(&(struct vm_opts){0}, 0);
    env_at(3000000, throws_in_callback, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), END_THROWN);
    CHECK_STR(vm_verdict()->text, "thrown outside");
    world_end();
}

TEST_CASE(Life, AnEmptyWorldIsIdle)
{
    world_begin(&(struct vm_opts){.cpus = 2, .quota_us = 100000}, 0);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(world_stats().threads, 0);
    world_end();
}

static void sleeps_for_ever(void *arg)
{
    ATOMIC(uint32_t) *word = arg;

    futexsleep(word, 0, -1);
    a_store(word, 2u);
}

static void wakes(void *arg)
{
    ATOMIC(uint32_t) *word = arg;

    futexwakeup(word, 1);
}

/* Idle is not final: whoever embeds the world may bring something new. */
TEST_CASE(Life, AnIdleWorldGoesOnWhenSomethingComes)
{
    ATOMIC(uint32_t) *word = world_begin(&(struct vm_opts){0}, sizeof *word);

    world_thread(sleeps_for_ever, word);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(a_peek(word), 0);
    CHECK_EQ(world_info(0).state, VM_SLEEPING);
    world_thread(wakes, word);
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    CHECK_EQ(a_peek(word), 2);
    world_end();
}

/* ---- no malloc ---- */

#if !defined(GMPSIM_ASAN) && !defined(GMPSIM_TSAN) && defined(__GLIBC__)
/* Volatile: compilers know malloc and what it cannot change. */
static volatile bool forbidden;
static volatile uint64_t mallocs;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    mallocs += forbidden;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    mallocs += forbidden;
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    mallocs += forbidden;
    return __libc_realloc(p, size);
}

TEST_CASE(Life, ARunningWorldDoesNotAllocate)
{
    void *volatile p;

    forbidden = true;
    p = malloc(1);
    forbidden = false;
    free(p);
    CHECK_EQ(mallocs, 1); /* it would be seen */
    mallocs = 0;
    for (int k = 0; k < KINDS; k++) {
        mix_begin(kinds[k]);
        forbidden = true;
        (void)vm_run(UINT64_MAX);
        forbidden = false;
        CHECK_EQ(mallocs, 0);
    }
    world_end();
}
#endif

/* ---- options ---- */

TEST_CASE(Life, OptionsOutOfRangeAreMessages)
{
    static const struct {
        struct vm_opts opts;
        const char *says;
    } bad[] = {
        {{.cpus = -1}, "cpus: want 0 to 1024, got -1"},
        {{.cpus = 1025}, "cpus"},
        {{.quota_us = 10}, "quota_us: want 1000"},
        {{.quota_us = -5}, "quota_us"},
        {{.period_us = 999}, "period_us"},
        {{.period_us = 1000001}, "period_us"},
        {{.quota_slice_us = -1}, "quota_slice_us"},
        {{.port = (enum cost_port)7}, "port"},
        {{.ties = (enum vm_ties)2}, "ties"},
        {{.threads_max = 16385}, "threads_max"},
        {{.noise_permille = 1001}, "noise_permille"},
        {{.memory_max = 100}, "memory_max"},
        {{.sched = {.tick_ns = -1}}, "sched.tick_ns"},
    };

    vm_free();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct failure f = {0};

        CHECK(!vm_init(&f, &bad[i].opts));
        CHECK_HAS(f.text, bad[i].says);
        CHECK_EQ(f.code, E_USAGE);
    }
}
