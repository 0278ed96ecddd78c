/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the scheduler's small rules hold by themselves: counts, halves, caps, orders, limits.
 * Method: the core is compiled in here and its functions are called one by one on m0 of a virtual
 * world whose other Ps are idle; what a rule says is computed here in its own way. */
#include <host.h>

/* By turns, as on the explorer: the case answers (rules_turn.c). */
static bool by_turns;
static int turn_settles;
static int32_t asked(struct turn *t);
static void told(struct turn *t);
static uint32_t drawn(uint32_t n);
#undef turn_on
#undef turn_ask
#undef turn_does
#undef turn_settle
#undef turn_draw
#define turn_on()     by_turns
#define turn_ask(t)   asked(t)
#define turn_does(t)  told(t)
#define turn_settle() (void)turn_settles++
#define turn_draw(n)  drawn(n)

/* A program's draws, where somebody chooses (rules_interp.c). */
static bool draws_chosen;
static uint32_t choose_draw(uint32_t n, uint32_t fallback);
#undef program_draws
#undef draw
#define program_draws(n) (draws_chosen && (n) > 1)
#define draw(n, fallback) \
    (draws_chosen ? choose_draw((uint32_t)(n), (uint32_t)(fallback)) : (uint32_t)(fallback))

#include "rules_hooks.h"
#include "model/model.c"

#include <inttypes.h>
#include <stdio.h>

#include "harness.h"
#include "run/host.h"
#include "sim/base/dist.h"

enum { PROCS = 8, RING = 16 };

static void (*body)(struct m *mp);
static bool body_ended;                     /* and does not sleep at a lock for ever */
static uint64_t ids;                        /* of the Gs made here */
static const char *rule_off;                /* of the profile; NULL: none */
static int64_t rule_ranks;                  /* 1: the order of locks is checked */
static const struct program *world_program; /* NULL: an empty one */

static void on_m0(void *arg)
{
    struct m *mp = arg;
    schedinit(mp);
    body(mp);
    body_ended = true;
}

static enum world_end world_until(uint64_t until_ps, int release, int32_t procs,
                                  const struct host_opts *o, void (*fn)(struct m *))
{
    static const struct program empty;
    static struct profile profile;
    static struct core core;
    struct failure f = {0};
    struct host host = host_virt;
    struct host_opts with = *o;

    CHECK(profile_init(&profile, release));
    CHECK_EQ(profile_set(&profile, "ring_len", RING), 0);
    CHECK_EQ(profile_set(&profile, "lock_ranks", rule_ranks), 0);
    if (rule_off != NULL)
        CHECK_EQ(profile_set(&profile, rule_off, 0), 0);
    body = fn;
    body_ended = false;
    ids = 0;
    core = core_rules;
    core.run_m0 = on_m0;
    core.sighandler = NULL; /* nothing runs here but what the case calls */
    host.core = &core;
    with.world = (struct world_opts){.profile = &profile,
                                     .program = world_program != NULL ? world_program : &empty,
                                     .procs = procs,
                                     .output_max = o->world.output_max};
    host.close();
    if (!world_open(&host, &f, &with))
        FAIL_CASE("%s", f.text);
    return host.run(until_ps);
}

static void world(int release, int32_t procs, const struct host_opts *o, void (*fn)(struct m *))
{
    enum world_end end = world_until(UINT64_MAX, release, procs, o, fn);
    if (end == END_THROWN || end == END_FINDING)
        FAIL_CASE("%s", host_virt.verdict()->text);
    CHECK_EQ(end, END_IDLE);
    CHECK(body_ended);
    host_virt.close();
}

static void each_release(void (*fn)(struct m *))
{
    for (int release = 13; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, fn);
}

static struct g *g_of(uint32_t status)
{
    struct g *gp = host_alloc(sizeof *gp, 64);
    gp->goid = (uint32_t)++ids;
    a_init(&gp->atomicstatus, status);
    return gp;
}

static struct g *runnable(void) { return g_of(Grunnable); }

static void put_n(struct p *pp, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        runqput(pp, runnable(), /*next*/ false);
}

static uint32_t ring_size(struct p *pp) { return a_peek(&pp->runqtail) - a_peek(&pp->runqhead); }

/* The ring holds ids first, first + 1, ...: n of them. */
static void check_ring(struct p *pp, uint64_t first, uint32_t n)
{
    CHECK_EQ(ring_size(pp), n);
    for (uint32_t i = 0; i < n; i++)
        CHECK_EQ(a_peek(runq_slot(pp, a_peek(&pp->runqhead) + i))->goid, first + i);
}

static void check_queue(const struct gQueue *q, uint64_t first, int32_t n)
{
    int32_t seen = 0;
    for (struct g *gp = q->head; gp != NULL; gp = gp->schedlink)
        CHECK_EQ(gp->goid, first + (uint64_t)seen++);
    CHECK_EQ(seen, n);
    CHECK_EQ(q->size, n);
}

/* Near the wrap of the counters. */
static void start_at(struct p *pp, uint32_t at)
{
    a_store(&pp->runqhead, at);
    a_store(&pp->runqtail, at);
}

/* ---- the ring ---- */

static void steals(struct m *mp)
{
    struct p *thief = rt->allp[1], *victim = rt->allp[0];
    (void)mp;
    for (uint32_t n = 1; n <= RING; n++) {
        uint64_t first = ids + 1;
        start_at(victim, UINT32_MAX - n);
        start_at(thief, UINT32_MAX - 2);
        put_n(victim, n);
        struct g *gp = runqsteal(thief, victim, false);
        uint32_t took = (n + 1) / 2;
        CHECK_EQ(gp->goid, first + took - 1); /* the newest of the batch */
        check_ring(thief, first, took - 1);
        check_ring(victim, first + took, n - took);
    }
    start_at(victim, 7);
    CHECK(runqsteal(thief, victim, true) == NULL);
}

TEST_CASE(Rules, AThiefTakesHalfRoundedUp) { each_release(steals); }

static void overflows(struct m *mp)
{
    struct p *pp = rt->allp[0];
    (void)mp;
    put_n(pp, RING);
    check_ring(pp, 1, RING);
    CHECK_EQ(sched->runq.size, 0);
    put_n(pp, 1); /* 17: the older half goes, and the new one behind it */
    check_ring(pp, RING / 2 + 1, RING / 2);
    CHECK_EQ(sched->runq.size, RING / 2 + 1);
    CHECK_EQ(sched->runq.tail->goid, RING + 1);
    CHECK_EQ(a_peek(&sched->runqsize), RING / 2 + 1);
    sched->runq.size--; /* without the new one they are in order */
    for (struct g *gp = sched->runq.head; gp != sched->runq.tail; gp = gp->schedlink)
        CHECK_EQ(gp->schedlink->goid, gp->goid == RING / 2 ? RING + 1u : gp->goid + 1);
}

TEST_CASE(Rules, AFullRingGivesItsOlderHalfAway) { each_release(overflows); }

static void runnexts(struct m *mp)
{
    struct p *pp = rt->allp[0];
    bool inherit = false;
    (void)mp;
    put_n(pp, 1);
    runqput(pp, runnable(), true);
    CHECK(!runqempty(pp));
    runqput(pp, runnable(), true); /* 2 goes to the tail */
    check_ring(pp, 1, 2);
    CHECK_EQ(runqget(pp, &inherit)->goid, 3);
    CHECK(inherit);
    CHECK_EQ(runqget(pp, &inherit)->goid, 1);
    CHECK(!inherit);
    CHECK_EQ(runqget(pp, &inherit)->goid, 2);
    CHECK(runqempty(pp));
    CHECK(runqget(pp, &inherit) == NULL);
    runqput(pp, runnable(), true);
    CHECK(!runqempty(pp)); /* only runnext */
}

TEST_CASE(Rules, RunnextComesFirstAndLendsItsSlice) { each_release(runnexts); }

/* What stealing a lone runnext takes, in ns. */
static int64_t runnext_steal_ns(struct p *victim)
{
    runqput(victim, runnable(), true);
    CHECK(runqsteal(rt->allp[1], victim, false) == NULL);
    int64_t before = nanotime();
    CHECK(runqsteal(rt->allp[1], victim, true) != NULL);
    return nanotime() - before;
}

static void backs_off(struct m *mp)
{
    struct p *own = rt->allp[0], *other = rt->allp[2];
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    CHECK_GE(runnext_steal_ns(own), 3000);
    CHECK_LT(runnext_steal_ns(other), 1000); /* idle */
    a_store(&gp->atomicstatus, (uint32_t)Gsyscall);
    if (prof->release >= 26)
        CHECK_LT(runnext_steal_ns(own), 1000);
    else
        CHECK_GE(runnext_steal_ns(own), 3000);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, ARunningVictimKeepsItsRunnextForAMoment) { each_release(backs_off); }

static maskword *thief_over; /* in the world */

/* A thief that takes whatever is in runnext of P 0, again and again. */
static void thief_main(void *arg)
{
    (void)arg;
    while (a_load(thief_over) == 0) {
        struct g *next = a_load_rlx(&rt->allp[0]->runnext);
        if (next != NULL)
            (void)a_cas(&rt->allp[0]->runnext, next, (struct g *)NULL);
        procyield(1 + cheaprandn(5));
    }
}

static int64_t took_ns;
static void races_for_runnext(struct m *mp)
{
    struct m *thief = allocm(NULL, MSTART_LOOP, mReserveID());
    struct g *gp = runnable();
    bool inherit;
    (void)mp;
    thief_over = host_alloc(sizeof *thief_over, 64);
    newosproc(&thief->host, thief_main, thief);
    host_usleep(20); /* until it runs */
    int64_t start = nanotime();
    for (uint32_t i = 0; i < 20000; i++) {
        runqput(rt->allp[0], gp, true);
        procyield(1 + cheaprandn(9));
        (void)runqget(rt->allp[0], &inherit);
    }
    took_ns = nanotime() - start;
    a_store(thief_over, 1u);
}

/* Up to 1.17 the loser of that race looked at runnext once more, where nothing can be. */
TEST_CASE(Rules, WhoLosesItsRunnextDoesNotLookAgain)
{
    world(18, PROCS, &(struct host_opts){0}, races_for_runnext);
    int64_t once = took_ns;
    rule_off = "runnext_single_cas";
    world(18, PROCS, &(struct host_opts){0}, races_for_runnext);
    rule_off = NULL;
    CHECK(once != took_ns); /* a load more, a few dozen times */
}

static void puts_batches(struct m *mp)
{
    struct p *pp = rt->allp[0];
    bool inherit;
    (void)mp;
    for (uint32_t n = 1; n <= RING + 4; n++) {
        struct gQueue q = {0};
        uint64_t first = ids + 1;
        put_n(pp, 3);
        for (uint32_t i = 0; i < n; i++)
            gQueue_pushBack(&q, runnable());
        runqputbatch(pp, &q);
        uint32_t fit = n < RING - 3 ? n : RING - 3;
        check_ring(pp, first, fit + 3);
        struct gQueue *left = prof->release >= 25 ? &q : &sched->runq;
        check_queue(left, first + 3 + fit, (int32_t)(n - fit));
        if (prof->release < 25)
            CHECK_EQ(a_peek(&sched->runqsize), n - fit);
        while (gQueue_pop(&sched->runq) != NULL)
            ;
        while (runqget(pp, &inherit) != NULL)
            ;
    }
}

TEST_CASE(Rules, ABatchFillsTheRing) { each_release(puts_batches); }

static void drains(struct m *mp)
{
    struct p *pp = rt->allp[0];
    (void)mp;
    runqput(pp, runnable(), true);
    put_n(pp, 5);
    struct gQueue q = runqdrain(pp);
    check_queue(&q, 1, 6);
    CHECK(runqempty(pp));
}

TEST_CASE(Rules, ADrainedQueueIsEmptyAndInOrder) { each_release(drains); }

/* ---- the global queue ---- */

static void shares(struct m *mp)
{
    struct p *pp = rt->allp[0];
    bool inherit;
    (void)mp;
    for (int32_t n = 0; n <= 90; n++) {
        uint64_t first = ids + 1;
        struct gQueue rest = {0};
        lock(&sched->lock);
        for (int32_t i = 0; i < n; i++)
            globrunqput(runnable());
        struct g *gp = globrunqgetbatch(pp, &rest);
        unlock(&sched->lock);
        int32_t want = n / PROCS + 1;
        want = want > n ? n : want > RING / 2 ? RING / 2 : want;
        if (n == 0)
            CHECK(gp == NULL);
        else
            CHECK_EQ(gp->goid, first);
        globrunq_put_rest(pp, &rest);
        check_ring(pp, first + 1, want > 0 ? (uint32_t)want - 1 : 0);
        check_queue(&sched->runq, first + (uint64_t)want, n - want);
        CHECK_EQ(a_peek(&sched->runqsize), n - want);
        while (runqget(pp, &inherit) != NULL)
            ;
        while (gQueue_pop(&sched->runq) != NULL)
            ;
    }
}

TEST_CASE(Rules, APTakesItsShareOfTheGlobalQueue) { each_release(shares); }

/* A P that goes: its runnext, its ring in order, then what was there. */
static void destroys(struct m *mp)
{
    struct p *pp = rt->allp[5];
    (void)mp;
    for (int i = 0; i < 2; i++)
        globrunqput(runnable()); /* 1 2 */
    put_n(pp, 3);                /* 3 4 5 */
    runqput(pp, runnable(), true);
    for (int i = 0; i < 5; i++)
        gfput(pp, g_of(Gdead));
    lock(&sched->lock);
    p_destroy(pp);
    unlock(&sched->lock);
    static const uint64_t want[] = {6, 3, 4, 5, 1, 2};
    int n = 0;
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        CHECK_EQ(gp->goid, want[n++]);
    CHECK_EQ(n, 6);
    CHECK_EQ(sched->gFree_stack.size, 5);
    CHECK_EQ(a_peek(&pp->status), Pdead);
}

TEST_CASE(Rules, ADestroyedPGivesEverythingBack) { each_release(destroys); }

/* ---- dead Gs, sudogs, goids ---- */

static void frees(struct m *mp)
{
    struct p *pp = rt->allp[0];
    (void)mp;
    for (int i = 1; i <= 63; i++) {
        gfput(pp, g_of(Gdead));
        CHECK_EQ(pp->gFree.size, i);
    }
    gfput(pp, g_of(Gdead));
    CHECK_EQ(pp->gFree.size, 31);
    CHECK_EQ(sched->gFree_stack.size, 33);
    for (int i = 31; i > 0; i--)
        CHECK(gfget(pp) != NULL);
    CHECK_EQ(pp->gFree.size, 0);
    CHECK(gfget(pp) != NULL); /* 32 came, one of them is taken */
    CHECK_EQ(pp->gFree.size, 31);
    CHECK_EQ(sched->gFree_stack.size, 1);
    CHECK_EQ(a_peek(&sched->gFree_n), 1);
    for (int i = 0; i < 32; i++)
        CHECK(gfget(pp) != NULL);
    CHECK(gfget(pp) == NULL);
}

TEST_CASE(Rules, DeadGsSpillAt64AndComeBackBy32) { each_release(frees); }

static struct g *died(struct p *pp, bool stack_grew)
{
    struct g *gp = g_of(Gdead);
    gp->stack_grew = stack_grew;
    gfput(pp, gp);
    return gp;
}

static int64_t reuse_ns(struct p *pp, bool stack_grew)
{
    struct g *gp = died(pp, stack_grew);
    int64_t start = nanotime();
    CHECK(gfget(pp) == gp);
    return nanotime() - start;
}

/* Every other G had a stack that grew: what spills comes on two lists, and those with a stack come
 * back first, the one that died first on top. A collection takes the stacks of the rest. */
static void frees_stacks(struct m *mp)
{
    struct p *pp = mp_p(mp);
    struct g *dead[64];
    for (int i = 0; i < 64; i++)
        dead[i] = died(pp, i % 2 == 0);
    CHECK(dead[62]->no_stack && !dead[63]->no_stack);
    CHECK_EQ(sched->gFree_stack.size, 17);
    CHECK_EQ(sched->gFree_noStack.size, 16);
    CHECK(sched->gFree_stack.head == dead[31] && sched->gFree_noStack.head == dead[32]);
    struct p *other = rt->allp[1];
    struct g *first = gfget(other);
    CHECK_EQ(other->gFree.size, 31);
    CHECK(first == dead[60] && !first->no_stack); /* the last of the 15 without: it got one */
    CHECK_EQ(sched->gFree_noStack.size, 1);
    gfpurge(other);
    CHECK_EQ(sched->gFree_stack.size, 17);
    markroot(&rt->gc.fixedRoot);
    CHECK_EQ(sched->gFree_stack.size, 0);
    CHECK_EQ(sched->gFree_noStack.size, 32);
    CHECK_EQ(a_peek(&sched->gFree_n), 32);
    CHECK_EQ(pp->gFree.size, 31); /* those of a P keep theirs */
    int64_t more = reuse_ns(pp, true) - reuse_ns(pp, false);
    CHECK(more >= 29 && more <= 31); /* stackalloc's 30 ns; the clock has whole ones */
}

TEST_CASE(Rules, DeadGsKeepAStackOfTheUsualSize) { each_release(frees_stacks); }

static void caches_sudogs(struct m *mp)
{
    enum { N = 300 };
    struct p *pp = mp_p(mp);
    struct sudog *s[N];
    for (int i = 0; i < N; i++)
        s[i] = acquireSudog();
    for (int i = 0; i < N; i++) {
        int32_t before = pp->nsudog;
        releaseSudog(s[i]);
        CHECK_EQ(pp->nsudog, before == 128 ? 65 : before + 1);
    }
    for (int i = 0; i < N; i++) {
        int32_t before = pp->nsudog;
        bool central = sched->sudogcache != NULL;
        (void)acquireSudog();
        if (before > 0)
            CHECK_EQ(pp->nsudog, before - 1);
        else
            CHECK_EQ(pp->nsudog, central ? 63 : 0);
    }
    CHECK(sched->sudogcache == NULL && pp->sudogcache == NULL);
}

TEST_CASE(Rules, SudogsSpillAndComeBackByHalf) { each_release(caches_sudogs); }

static void numbers_gs(struct m *mp)
{
    (void)mp;
    uint64_t next = 1;
    for (int round = 0; round < 3; round++)
        for (int p = 0; p < 3; p++)
            for (uint64_t i = 0; i < 16; i++) /* a P uses up its batch before it takes one */
                CHECK_EQ(next_goid(rt->allp[p]), next++);
    CHECK_EQ(next_goid(rt->allp[4]), next);
    CHECK_EQ(next_goid(rt->allp[2]), next + 16);
    CHECK_EQ(next_goid(rt->allp[4]), next + 1);
}

TEST_CASE(Rules, GoidsComeInBatchesOf16) { each_release(numbers_gs); }

/* ---- idle Ps and Ms ---- */

static void stacks_ps(struct m *mp)
{
    (void)mp;
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    CHECK_EQ(a_peek(&sched->npidle), 0);
    CHECK(pidlegetSpinning(0) == NULL);
    CHECK_EQ(a_peek(&sched->needspinning), prof->release >= 20);
    static const int order[] = {3, 5, 1, 7};
    for (int i = 0; i < 4; i++)
        (void)pidleput(rt->allp[order[i]], 0);
    CHECK_EQ(a_peek(&sched->npidle), 4);
    for (int i = 0; i < 4; i++) {
        if (prof->masks)
            CHECK(pMask_read(rt->idlepMask, order[3 - i]));
        if (prof->masks)
            CHECK(!pMask_read(rt->timerpMask, order[3 - i])); /* it has none */
        struct p *pp = pidleget(0);
        CHECK_EQ(pp->id, order[3 - i]);
        if (prof->masks)
            CHECK(!pMask_read(rt->idlepMask, pp->id) && pMask_read(rt->timerpMask, pp->id));
    }
    unlock(&sched->lock);
}

TEST_CASE(Rules, IdlePsAreAStackWithMasks) { each_release(stacks_ps); }

static void stacks_ms(struct m *mp)
{
    struct m *m[3];
    (void)mp;
    for (int i = 0; i < 3; i++) {
        m[i] = host_alloc(sizeof *m[i], 64);
        midle_push(m[i]);
        sched->nmidle++;
    }
    CHECK(mgetSpecific(m[1]) == m[1]);
    CHECK(mget() == m[2]);             /* the last one that slept */
    CHECK(mgetSpecific(m[0]) == NULL); /* alone on the list: as if it were not there */
    CHECK(mget() == m[0]);
    CHECK(mget() == NULL);
    CHECK_EQ(sched->nmidle, 0);
}

TEST_CASE(Rules, IdleMsAreAStack) { each_release(stacks_ms); }

/* ---- spinning ---- */

static void spins(struct m *mp)
{
    for (int32_t spinning = 0; spinning < PROCS; spinning++)
        for (int32_t idle = 0; idle < PROCS; idle++) {
            a_store(&sched->nmspinning, spinning);
            a_store(&sched->npidle, idle);
            mp->spinning = false;
            bool want = 2 * spinning < PROCS - idle;
            if (prof->release == 13 && idle == PROCS - 1)
                want = false;
            CHECK_EQ(may_spin(mp), want);
            mp->spinning = true;
            CHECK(may_spin(mp) || prof->release == 13);
        }
    mp->spinning = false;
}

TEST_CASE(Rules, HalfAsManySpinAsAreBusy) { each_release(spins); }

static void wakes_nobody(struct m *mp)
{
    (void)mp;
    a_store(&sched->nmspinning, 1);
    wakep(); /* somebody spins */
    CHECK_EQ(a_peek(&sched->nmspinning), 1);
    CHECK_EQ(a_peek(&sched->npidle), PROCS - 1);
    a_store(&sched->nmspinning, 0);
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
    wakep(); /* no P to run it with */
    CHECK_EQ(a_peek(&sched->nmspinning), 0);
    CHECK_EQ(a_peek(&sched->needspinning), prof->release >= 20);
    becomeSpinning(getm());
    CHECK_EQ(a_peek(&sched->nmspinning), 1);
    CHECK_EQ(a_peek(&sched->needspinning), 0);
    getm()->spinning = false;
}

TEST_CASE(Rules, AWakeUpWithoutUseTakesItsCountBack) { each_release(wakes_nobody); }

/* Random order: each start visits every P once, every stride is coprime, all of them come up. */
static void visits(struct m *mp)
{
    (void)mp;
    for (uint32_t n = 1; n <= PROCS; n++) {
        uint32_t strides = 0, coprimes = 0;
        randomOrder_reset(&rt->stealOrder, n);
        for (uint32_t i = 1; i <= n; i++)
            coprimes |= (uint32_t)(gcd(i, n) == 1) << (i % n);
        for (uint32_t r = 0; r < 500; r++) {
            uint32_t seen = 0, last = n;
            struct randomEnum e = randomOrder_start(&rt->stealOrder, r);
            for (; e.i < n; randomEnum_next(&e)) {
                if (last < n)
                    strides |= 1u << ((e.pos + n - last) % n);
                seen |= 1u << e.pos;
                last = e.pos;
            }
            CHECK_EQ(seen, (1u << n) - 1);
        }
        if (n > 1)
            CHECK_EQ(strides, coprimes);
    }
}

TEST_CASE(Rules, ASearchVisitsEveryPOnceInManyOrders) { each_release(visits); }

/* ---- findRunnable without work: giving up the P, and the re-check ---- */

/* The idle list wants to know when, and a search that did not look at the clock knows it then. */
static void knows_the_time(struct m *mp)
{
    bool wants = prof->release >= 19;
    struct p *pp = pidleget(0);
    int64_t before = host_now(), put = pidleput(pp, 0), now = 0;
    CHECK_EQ(put != 0, wants);
    CHECK(!wants || put > before);
    CHECK_EQ(pidleput(pidleget(1), 5), 5);
    before = host_now();
    CHECK(pidleget(1) == pp);
    int64_t known = host_now() - before;
    (void)pidleput(pp, 1);
    before = host_now();
    CHECK(pidleget(0) == pp);
    CHECK_EQ(host_now() - before > known, wants);
    struct found f = {0};
    CHECK_EQ(give_up_p(mp, mp_p(mp), &now, &f), LOOK_ON);
    CHECK_EQ(now != 0, wants);
    acquirep(pp);
}

TEST_CASE(Rules, WhoGivesUpAPKnowsTheTime) { each_release(knows_the_time); }

static void gives_up(struct m *mp)
{
    struct found f = {0};
    struct p *pp = mp_p(mp);
    a_store(&sched->gcwaiting, 1);
    CHECK_EQ(give_up_p(mp, pp, &(int64_t){0}, &f), LOOK_AGAIN);
    a_store(&sched->gcwaiting, 0);
    a_store(&pp->runSafePointFn, 1);
    CHECK_EQ(give_up_p(mp, pp, &(int64_t){0}, &f), LOOK_AGAIN);
    a_store(&pp->runSafePointFn, 0);
    globrunqput(runnable());
    CHECK_EQ(give_up_p(mp, pp, &(int64_t){0}, &f), LOOK_FOUND);
    CHECK_EQ(f.gp->goid, 1);
    if (prof->release >= 20) {
        a_store(&sched->needspinning, 1);
        CHECK_EQ(give_up_p(mp, pp, &(int64_t){0}, &f), LOOK_AGAIN);
        CHECK(mp->spinning && a_peek(&sched->nmspinning) == 1);
        CHECK_EQ(a_peek(&sched->needspinning), 0);
        a_store(&sched->needspinning, 1); /* a spinner has looked and does not look for it again */
    }
    CHECK_EQ(give_up_p(mp, pp, &(int64_t){0}, &f), LOOK_ON);
    CHECK(mp_p(mp) == NULL);
    CHECK_EQ(a_peek(&sched->npidle), PROCS);
}

TEST_CASE(Rules, APIsGivenUpOnlyWithoutWork) { each_release(gives_up); }

/* m0 has just given its P up; then `prepare` left work somewhere. What does the re-check say? */
static bool rechecks(struct m *mp, struct found *f, bool *again)
{
    *f = (struct found){0};
    *again = false;
    mp->spinning = false;
    a_store(&sched->nmspinning, 0);
    return recheck(mp, rt->allp, PROCS, /*wasSpinning*/ true, f, again);
}

static void let_go(struct m *mp)
{
    lock(&sched->lock);
    (void)pidleput(releasep(), 0);
    unlock(&sched->lock);
    mp->spinning = false;
}

static void looks_again(struct m *mp)
{
    struct found f;
    bool again, inherit;
    lock(&sched->lock);
    struct p *busy = pidleget(0);
    a_store(&busy->status, (uint32_t)Prunning);
    unlock(&sched->lock);
    let_go(mp);
    CHECK(!rechecks(mp, &f, &again)); /* nothing anywhere */
    CHECK(mp_p(mp) == NULL);

    put_n(busy, 1);
    CHECK(rechecks(mp, &f, &again) && again); /* on a ring: search again, spinning, with a P */
    CHECK(mp_p(mp) != NULL && mp->spinning && a_peek(&sched->nmspinning) == 1);
    CHECK(runqget(busy, &inherit) != NULL);
    let_go(mp);

    globrunqput(runnable()); /* on the global queue: since 1.22 */
    CHECK_EQ(rechecks(mp, &f, &again), prof->release >= 22);
    if (prof->release >= 22) {
        CHECK(f.gp != NULL && mp->spinning && a_peek(&sched->nmspinning) == 1);
        let_go(mp);
    }
    while (globrunqget_one() != NULL)
        ;

    put_n(busy, 1); /* work, but no P: word is left, and the search is over */
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
    CHECK(!rechecks(mp, &f, &again));
    CHECK_EQ(a_peek(&sched->needspinning), prof->release >= 20);
}

TEST_CASE(Rules, WhoStopsSpinningLooksAgain) { each_release(looks_again); }

static void looks_for_gc(struct m *mp)
{
    struct found f;
    bool again;
    struct g *worker = g_of(Gwaiting);
    rt->gc.workers[0] = worker;
    rt->gc.nworkers = worker->group = 1;
    workers_push(worker);
    for (int i = 0; i < PROCS; i++)
        a_store(&rt->allp[i]->gc.bgWorker, worker); /* up to 1.15 it is the P's */
    a_store(&rt->gc.blackenEnabled, 1);
    a_store(&rt->gc.remaining, 1 << 20);
    rt->gc.idleMax = 1;
    let_go(mp);
    CHECK(rechecks(mp, &f, &again) && !again);
    CHECK(f.gp == worker && mp_p(mp) != NULL && mp->spinning);
    CHECK_EQ(readgstatus(worker), Grunnable);
    CHECK_EQ(mp_p(mp)->gc.mode, gcIdle);
    CHECK_EQ(a_peek(&rt->gc.idleWorkers), 1);
    let_go(mp);
    a_store(&worker->atomicstatus, (uint32_t)Gwaiting);
    workers_push(worker);
    CHECK(!rechecks(mp, &f, &again)); /* no more than idleMax */
}

TEST_CASE(Rules, WhoStopsSpinningTakesIdleGcWork) { each_release(looks_for_gc); }

static struct p *pidle_next(void)
{
    lock(&sched->lock);
    struct p *pp = pidleget(0);
    unlock(&sched->lock);
    return pp;
}

static void nothing_to_do(struct p *pp) { (void)pp; }

static void hands_off(struct m *mp)
{
    struct p *pp = pidle_next();
    (void)mp;
    CHECK_EQ(handoffp_locked(pp), HANDOFF_IDLE);
    globrunqput(runnable());
    CHECK_EQ(handoffp_locked(pp), HANDOFF_START);
    (void)globrunqget_one();
    sched->safePointFn = nothing_to_do;
    sched->safePointWait = 2;
    a_store(&pp->runSafePointFn, 1);
    CHECK_EQ(handoffp_locked(pp), HANDOFF_IDLE);
    CHECK_EQ(sched->safePointWait, 1);
    CHECK_EQ(a_peek(&pp->runSafePointFn), 0);
    a_store(&sched->npidle, PROCS - 1); /* the last P polls the network, unless somebody does */
    CHECK_EQ(handoffp_locked(pp), HANDOFF_START);
    a_store(&sched->lastpoll, 0);
    CHECK_EQ(handoffp_locked(pp), HANDOFF_IDLE);
    a_store(&sched->gcwaiting, 1);
    sched->stopwait = 2;
    CHECK_EQ(handoffp_locked(pp), HANDOFF_DONE);
    CHECK_EQ(sched->stopwait, 1);
    CHECK_EQ(a_peek(&pp->status), Pgcstop);
}

TEST_CASE(Rules, AHandedOffPHasFiveUses) { each_release(hands_off); }

static void polls_work(struct m *mp)
{
    bool inherit;
    struct p *pp = mp_p(mp);
    CHECK(!pollWork());
    globrunqput(runnable());
    CHECK(pollWork());
    (void)globrunqget_one();
    put_n(pp, 1);
    CHECK(pollWork());
    (void)runqget(pp, &inherit);
    CHECK(!pollWork());
}

TEST_CASE(Rules, IdleWorkersGiveWay) { each_release(polls_work); }

static void yields_if_busy(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    CHECK_EQ(goschedIfBusy(gp), prof->goschedifbusy ? OP_DONE : OP_MCALL);
    a_store(&gp->preempt, true);
    CHECK_EQ(goschedIfBusy(gp), OP_MCALL);
    a_store(&gp->preempt, false);
    a_store(&sched->npidle, 0);
    CHECK_EQ(goschedIfBusy(gp), OP_MCALL);
}

TEST_CASE(Rules, BackgroundWorkYieldsWhenAllAreBusy) { each_release(yields_if_busy); }

static void executes(struct m *mp)
{
    struct p *pp = mp_p(mp);
    for (int inherit = 0; inherit <= 1; inherit++) {
        struct g *gp = runnable();
        uint32_t ticks = a_peek(&pp->schedtick);
        a_store(&gp->preempt, true);
        a_store(&gp->stackguard0, (uint32_t)GUARD_PREEMPT);
        execute(gp, inherit);
        CHECK_EQ(a_peek(&pp->schedtick), ticks + !inherit);
        CHECK(!a_peek(&gp->preempt));
        CHECK_EQ(a_peek(&gp->stackguard0), GUARD_NORMAL);
        CHECK_EQ(readgstatus(gp), Grunning);
        a_store(&mp->curg, (struct g *)NULL);
    }
}

TEST_CASE(Rules, ASliceBeginsWithATickAndWithoutARequest) { each_release(executes); }

/* A request that came while locks were held shows when the last one is released. */
static void repoisons(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    (void)acquirem();
    (void)acquirem();
    a_store(&gp->preempt, true); /* newstack has cleared the guard */
    releasem(mp);
    CHECK_EQ(a_peek(&gp->stackguard0), GUARD_NORMAL);
    releasem(mp);
    CHECK_EQ(a_peek(&gp->stackguard0), GUARD_PREEMPT);
    CHECK(canPreemptM(mp));
    (void)acquirem();
    CHECK(!canPreemptM(mp));
    releasem(mp);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, ARequestOutlivesTheLocksThatHideIt) { each_release(repoisons); }

/* The other parts: one translation unit, because the model is inside it. */
#include "rules_late.c"
#include "rules_again.c"
#include "rules_edges.c"
#include "rules_pool.c"
#include "rules_small.c"
#include "rules_leak.c"
#include "rules_leak_end.c"
#include "rules_plant.c"
#include "rules_stack.c"
#include "rules_locks.c"
#include "rules_print.c"
#include "rules_pacer.c"
#include "rules_poll.c"
#include "rules_rest.c"
#include "rules_fd.c"
#include "rules_turn.c"
#include "rules_interp.c"
#include "rules_timer.c"
#include "rules_gcwork.c"
#include "rules_seen.c"
#include "rules_marks.c"
#include "rules_check.c"
#include "rules_due.c"
#include "rules_few.c"
#include "rules_clean.c"
#include "rules_rwmutex.c"
#include "rules_panic.c"
#include "rules_select.c"
#include "rules_left.c"
#include "rules_more.c"
#include "rules_first.c"
