/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: with the explorer's seam set (vm_w_.pick), every point asks who goes next, and everything
 * else (sleeping, waking, events, ends) still works. Method: a picker that draws from a seed;
 * threads that lose updates when, and only when, they are interleaved. */
#include "virt_world.h"

#include "sim/base/rng.h"
#include "sim/virt/vm_int.h"

enum { ROUNDS = 20 };

static struct shared {
    ATOMIC(uint32_t) count, lock, done;
} * s;

static struct rng rng;
static uint64_t asked;

static struct vm_thread *draw_thread(struct vm_thread *self, bool runnable)
{
    struct vm_thread *ready[16];
    uint32_t n = vm_ready_list_(ready, 16), pick;

    asked++;
    for (uint32_t i = 1; i < n; i++)
        CHECK_LT(ready[i - 1]->f.rank, ready[i]->f.rank);
    CHECK(n > 0 || runnable);
    pick = (uint32_t)rng_below(&rng, n + runnable);
    return pick == n ? self : ready[pick];
}

static void lose_updates(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t seen = a_load(&s->count);

        a_store(&s->count, seen + 1);
    }
}

static void keep_updates(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (!a_cas(&s->lock, 0u, 1u))
            futexsleep(&s->lock, 1, i % 2 ? -1 : 5000);
        uint32_t seen = a_load(&s->count);
        a_store(&s->count, seen + 1);
        burst(100, BURST_CUT);
        a_store(&s->lock, 0u);
        futexwakeup(&s->lock, 1);
    }
    a_add(&s->done, 1);
}

static uint32_t run(void (*fn)(void *), uint64_t seed, enum vm_why want)
{
    s = world_begin(&(struct vm_opts){.costs = &costs_builtin}, sizeof *s);
    rng_init(&rng, seed, RNG_CHOOSE, 0);
    asked = 0;
    vm_w_.pick = draw_thread;
    for (int i = 0; i < 3; i++)
        world_thread(fn, NULL);
    CHECK_EQ(vm_run(UINT64_MAX), want);
    return a_peek(&s->count);
}

TEST_CASE(Pick, EveryPointIsAsked)
{
    bool lost = false;

    for (uint64_t seed = 0; seed < 20; seed++) {
        uint32_t count = run(lose_updates, seed, VM_IDLE);

        CHECK_GE(asked, 3 * ROUNDS * 2);
        CHECK_LE(count, 3 * ROUNDS);
        CHECK_GE(count, 2);
        lost |= count < 3 * ROUNDS / 2;
        CHECK_EQ(run(lose_updates, seed, VM_IDLE), count);
    }
    CHECK(lost);
    world_end();
}

TEST_CASE(Pick, SleepingAndWakingWorkUnderAnyOrder)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        CHECK_EQ(run(keep_updates, seed, VM_IDLE), 3 * ROUNDS);
        CHECK_EQ(a_peek(&s->done), 3);
    }
    world_end();
}
