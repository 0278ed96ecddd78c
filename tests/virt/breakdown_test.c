/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: with the reference cost table the scheduler core costs what the work-stealing text breaks
 * down: stealing 4 Gs about 25 ns, 16 Gs about 35, a failed spin over 8 Ps about 100, a park and a
 * wake 1 to 2 us. Method: the core itself, compiled in here, with its functions called on threads
 * of a virtual world and the clock read before and after. */
#include "model.c"

#include "harness.h"
#include "run/host.h"

enum { PROCS = 8 };

static struct {
    uint32_t count;
    uint64_t took;
    struct m *thief;
    struct hostm hm;
    struct note note;
    uint64_t woken_at;
} * b;

static void begin(void (*fn)(void *))
{
    static const struct program empty;
    static struct profile latest;
    static struct core core;
    struct failure f = {0};
    struct host host = host_virt;

    core = CORE;
    core.run_m0 = fn;
    core.sighandler = NULL;
    host.core = &core;
    host.close();
    CHECK(profile_init(&latest, PROFILE_LATEST));
    if (!world_open(
            &host, &f,
            &(struct host_opts){.throws_end_process = true,
                                .world = {.profile = &latest, .program = &empty, .procs = PROCS}}))
        FAIL_CASE("%s", f.text);
    b = host_alloc(sizeof *b, 64);
}

static uint64_t end(void)
{
    uint64_t took;

    CHECK_EQ(host_virt.run(UINT64_MAX), END_IDLE);
    took = b->took / 1000;
    host_virt.close();
    return took;
}

/* ---- stealing ---- */

static void steal(void *arg)
{
    struct p *pp = rt->allp[1];
    struct g *gp;
    uint64_t before;

    (void)arg;
    for (uint32_t i = 0; i < b->count; i++) /* the thief's own ring is in its cache */
        a_store_rlx(runq_slot(pp, i), (struct g *)NULL);
    a_store(&pp->runqtail, 0u);
    before = vm_hot.now;
    gp = runqsteal(pp, rt->allp[0], false);
    b->took = vm_hot.now - before;
    if (gp == NULL || a_peek(&pp->runqtail) != b->count - 1)
        throw("the thief did not get half");
}

static void victim(void *arg)
{
    schedinit(arg);
    for (uint32_t i = 0; i < 2 * b->count; i++)
        a_store_rlx(runq_slot(rt->allp[0], i), (struct g *)host_alloc(sizeof(struct g), 64));
    a_store_rel(&rt->allp[0]->runqtail, 2 * b->count);
    b->thief = host_alloc(sizeof *b->thief, 64);
    b->thief->id = 1;
    newosproc(&b->hm, steal, b->thief);
}

static uint64_t steal_ns(uint32_t count)
{
    begin(victim);
    b->count = count;
    return end();
}

TEST_CASE(Breakdown, StealingCostsWhatTheTextSays)
{
    uint64_t four = steal_ns(4), sixteen = steal_ns(16);

    CHECK_GE(four, 22);
    CHECK_LE(four, 28);
    CHECK_GE(sixteen, 31);
    CHECK_LE(sixteen, 39);
}

/* ---- spinning ---- */

static void spin(void *arg)
{
    struct m *mp = arg;

    schedinit(mp);
    for (int32_t id = 1; id < PROCS; id++)
        pMask_clear(rt->idlepMask, id); /* they run, with empty queues */
    for (int i = 0; i < 2; i++) {       /* the first time warms the cache */
        uint64_t before = vm_hot.now;
        struct steal_result r = stealWork(1);

        b->took = vm_hot.now - before;
        if (r.gp != NULL)
            throw("found something");
    }
}

TEST_CASE(Breakdown, AFailedSpinOverEightPsCostsWhatTheTextSays)
{
    uint64_t took;

    begin(spin);
    took = end();
    CHECK_GE(took, 85);
    CHECK_LE(took, 115);
}

/* ---- parking: from the sleeper's decision to its first step after it, a waker being there ---- */

static void sleeper(void *arg)
{
    (void)arg;
    b->took = vm_hot.now;
    notesleep(&b->note);
    b->woken_at = vm_hot.now;
}

static void waker(void *arg)
{
    uint64_t parked, called;

    schedinit(arg);
    b->thief = host_alloc(sizeof *b->thief, 64);
    b->thief->id = 1;
    newosproc(&b->hm, sleeper, b->thief);
    host_usleep(1000); /* it sleeps by now */
    parked = vm_hot.kind[COST_futex_sleep];
    called = vm_hot.now;
    notewakeup(&b->note);
    host_usleep(1000); /* it has run by now */
    b->took = parked + b->woken_at - called;
}

TEST_CASE(Breakdown, ParkAndWakeCostOneToTwoMicroseconds)
{
    uint64_t took;

    begin(waker);
    took = end();
    CHECK_GE(took, 1000);
    CHECK_LE(took, 2000);
}
