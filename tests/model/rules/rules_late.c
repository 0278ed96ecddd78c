/* SPDX-License-Identifier: BSD-3-Clause */
/* The rest of rules_test.c, which includes this file: sysmon, the poller, descriptors, mutexes, the
 * collector, the quota. */

/* ---- sysmon ---- */

static void delays(struct m *mp)
{
    struct sysmon s = {0};
    (void)mp;
    int64_t want = 20;
    for (s.idle = 0; s.idle < 80; s.idle++) {
        sysmon_delay(&s);
        if (s.idle > 50)
            want = want * 2 > 10000 ? 10000 : want * 2;
        CHECK_EQ(s.delay_us, want);
    }
    s.idle = 0;
    sysmon_delay(&s);
    CHECK_EQ(s.delay_us, 20);
}

TEST_CASE(Rules, SysmonSleepsLongerAfter50IdleRounds) { each_release(delays); }

static void retakes(struct m *mp)
{
    enum { SLACK = 10000000 };
    struct p *pp = pidle_next();
    bool inherit;
    (void)mp;
    a_store(&pp->syscalltick, 5);
    CHECK(!retake_due(pp, false, 1000)); /* the first look remembers */
    CHECK_EQ(pp->sysmontick.syscalltick, 5);
    CHECK(!retake_due(pp, false, 1000 + SLACK - 1)); /* idle Ps are there for the others */
    CHECK(retake_due(pp, false, 1000 + SLACK));
    put_n(pp, 1);
    CHECK(retake_due(pp, false, 1001)); /* work waits behind the system call */
    (void)runqget(pp, &inherit);
    a_store(&sched->npidle, 0);
    CHECK(retake_due(pp, false, 1001)); /* nobody else would take new work */
    a_store(&sched->nmspinning, 1);
    CHECK(!retake_due(pp, false, 1001));
    a_store(&pp->syscalltick, 6);
    CHECK(!retake_due(pp, false, 1001 + SLACK)); /* another system call */
    CHECK(!retake_due(pp, true, 1001 + SLACK));
}

TEST_CASE(Rules, APIsTakenFromASystemCallWhenItIsNeeded) { each_release(retakes); }

static void slices(struct m *mp)
{
    enum { SLICE = 10000000 };
    struct p *pp = rt->allp[0];
    (void)mp;
    a_store(&pp->schedtick, 9);
    CHECK(!retake_slice(pp, 500));
    CHECK(!retake_slice(pp, 500 + SLICE - 1));
    CHECK(retake_slice(pp, 500 + SLICE));
    CHECK(retake_slice(pp, 600 + SLICE)); /* asked again until the tick moves */
    a_store(&pp->schedtick, 10);
    CHECK(!retake_slice(pp, 700 + SLICE));
    CHECK(!retake_slice(pp, 699 + 2 * SLICE));
    CHECK(retake_slice(pp, 700 + 2 * SLICE));
}

TEST_CASE(Rules, ASliceIsTenMillisecondsFromItsTick) { each_release(slices); }

/* Two requests before the handler ran are one signal; a handled one makes room. */
static void signals(struct m *mp)
{
    uint64_t before = mp->counters[C_preempt_signals];
    a_store(&mp->signalPending, 1);
    preemptM(mp);
    CHECK_EQ(mp->counters[C_preempt_signals], before);
    sighandler(mp);
    CHECK_EQ(a_peek(&mp->signalPending), 0);
    CHECK_EQ(a_peek(&mp->preemptGen), 1);
    struct g *gp = g_of(Grunning); /* nobody asked for it */
    a_store(&mp->curg, gp);
    mp->insafe = true;
    sighandler(mp);
    CHECK(!mp->asyncinject);
    a_store(&gp->preempt, true);
    sighandler(mp);
    CHECK(mp->asyncinject);
    mp->asyncinject = mp->insafe = false;
    mp->locks = 1;
    sighandler(mp);
    CHECK(!mp->asyncinject);
    mp->locks = 0;
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, OneSignalIsInFlightAndTakesOnlyWhoIsWanted) { each_release(signals); }

/* ---- who wakes the poller ---- */

static bool breaks(int64_t lastpoll, int64_t until, int64_t when)
{
    a_store(&sched->lastpoll, lastpoll);
    a_store(&sched->pollUntil, until);
    a_store(&rt->netpoll->wakeSig, 0u);
    wakeNetPoller(when);
    return a_peek(&rt->netpoll->wakeSig) != 0;
}

static void tells_poller(struct m *mp)
{
    (void)mp;
    if (!prof->netpoll_wakesig)
        return;
    netpollGenericInit();
    CHECK(breaks(0, 0, 100));    /* it sleeps without an end */
    CHECK(breaks(0, 200, 100));  /* it sleeps too long */
    CHECK(!breaks(0, 100, 100)); /* it wakes in time */
    CHECK(!breaks(0, 50, 100));
    a_store(&sched->nmspinning, 1); /* nobody polls: a spinner will look */
    CHECK(!breaks(1, 200, 100));
}

TEST_CASE(Rules, AnEarlierTimerBreaksThePoll) { each_release(tells_poller); }

/* ---- descriptors ---- */

static void unblocks(struct m *mp)
{
    struct pollDesc *pd = host_alloc(sizeof *pd, 64);
    struct g *gp = g_of(Gwaiting);
    int32_t delta = 0;
    (void)mp;
    CHECK(netpollunblock(pd, POLL_R, false, &delta) == NULL && a_peek(&pd->rg) == pdNil);
    CHECK(netpollunblock(pd, POLL_R, true, &delta) == NULL && a_peek(&pd->rg) == pdReady);
    CHECK(netpollunblock(pd, POLL_R, true, &delta) == NULL && a_peek(&pd->rg) == pdReady);
    CHECK(netpollunblock(pd, POLL_R, false, &delta) == NULL && a_peek(&pd->rg) == pdReady);
    a_store(&pd->rg, pdWait); /* an event on the way to the park: the commit fails */
    CHECK(netpollunblock(pd, POLL_R, true, &delta) == NULL && a_peek(&pd->rg) == pdReady);
    CHECK(!netpollblockcommit(gp, &pd->rg) && !netpollAnyWaiters());
    a_store(&pd->rg, pdWait);
    CHECK(netpollblockcommit(gp, &pd->rg) && netpollAnyWaiters());
    CHECK_EQ(delta, 0);
    CHECK(netpollunblock(pd, POLL_R, false, &delta) == gp && a_peek(&pd->rg) == pdNil);
    CHECK_EQ(delta, -1);
}

TEST_CASE(Rules, AnEventIsNeverLostAroundAPark) { each_release(unblocks); }

/* The sleeper's wake-up is not taken by somebody who only looks. */
static void leaves_breaks(struct m *mp)
{
    (void)mp;
    if (!prof->netpoll_wakesig)
        return;
    a_store(&rt->netpoll->wakeSig, 1u);
    netpoll_break_seen(0);
    CHECK_EQ(a_peek(&rt->netpoll->wakeSig), 1);
    netpoll_break_seen(-1);
    CHECK_EQ(a_peek(&rt->netpoll->wakeSig), 0);
}

TEST_CASE(Rules, ALookLeavesTheSleepersBreak) { each_release(leaves_breaks); }

/* ---- mutexes ---- */

static void spins_on_mutex(struct m *mp)
{
    bool inherit;
    for (int64_t iter = 0; iter < 6; iter++)
        for (int32_t idle = 0; idle < PROCS; idle++)
            for (int32_t spinning = 0; spinning < 4; spinning++) {
                a_store(&sched->npidle, idle);
                a_store(&sched->nmspinning, spinning);
                CHECK_EQ(sync_canSpin(iter), iter < 4 && PROCS > idle + spinning + 1);
            }
    a_store(&sched->npidle, 0);
    a_store(&sched->nmspinning, 0);
    put_n(mp_p(mp), 1);
    CHECK(!sync_canSpin(0));
    (void)runqget(mp_p(mp), &inherit);
    CHECK(sync_canSpin(0));
}

static void never_spins(struct m *mp)
{
    (void)mp;
    CHECK(!sync_canSpin(0));
    a_store(&sched->npidle, 0); /* all others run, on the one CPU */
    CHECK(!sync_canSpin(0));
}

TEST_CASE(Rules, AMutexSpinsWhileOthersRun)
{
    each_release(spins_on_mutex);
    for (int release = 13; release <= 27; release++)
        world(release, 4, &(struct host_opts){.cpus = 1}, never_spins);
}

static void tries_locks(struct m *mp)
{
    struct smutex *mu = host_alloc(sizeof *mu, 8);
    (void)mp;
    for (int32_t state = 0; state < 8; state++) {
        a_store(&mu->state, state | 1 << MUTEX_SHIFT);
        bool want = (state & (MUTEX_LOCKED | MUTEX_STARVING)) == 0;
        CHECK_EQ(mutex_trylock(mu), want);
        CHECK_EQ(a_peek(&mu->state), (state | 1 << MUTEX_SHIFT) | (want ? MUTEX_LOCKED : 0));
    }
    /* What a newcomer (and a woken one) wants the state to be. */
    for (int32_t old = 0; old < 64; old++)
        for (int starving = 0; starving <= 1; starving++) {
            int32_t next = lockSlow_next(old, starving, false);
            bool waits = (old & (MUTEX_LOCKED | MUTEX_STARVING)) != 0;
            CHECK_EQ(next >> MUTEX_SHIFT, (old >> MUTEX_SHIFT) + waits);
            CHECK_EQ(next & MUTEX_LOCKED, (old & MUTEX_STARVING) ? old & MUTEX_LOCKED : 1);
            CHECK_EQ(next & MUTEX_WOKEN, old & MUTEX_WOKEN);
            CHECK_EQ((next & MUTEX_STARVING) != 0,
                     (old & MUTEX_STARVING) != 0 || (starving && (old & MUTEX_LOCKED) != 0));
            if ((old & MUTEX_WOKEN) != 0)
                CHECK_EQ(lockSlow_next(old, starving, true), next & ~MUTEX_WOKEN);
        }
}

TEST_CASE(Rules, TheStateOfAMutex) { each_release(tries_locks); }

/* ---- the collector ---- */

static void counts_workers(struct m *mp)
{
    static const struct {
        int32_t procs, dedicated, fraction; /* hundredths of a P, over all Ps */
    } want[] = {{1, 0, 25}, {2, 0, 50}, {3, 0, 75}, {4, 1, 0},  {5, 1, 0},  {6, 1, 50},
                {7, 2, 0},  {8, 2, 0},  {9, 2, 0},  {12, 3, 0}, {16, 4, 0}, {64, 16, 0}};
    struct gcController *c = &rt->gc;
    (void)mp;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int32_t procs = want[i].procs, dedicated = want[i].dedicated;
        gc_startCycle_workers(procs, gcTriggerHeap);
        CHECK_EQ(a_peek(&c->dedicatedNeeded), dedicated);
        CHECK_EQ(c->fracNum * 100 * procs, want[i].fraction * c->fracDen);
        CHECK_EQ(c->idleMax, prof->release >= 19 ? procs - dedicated : procs);
        gc_startCycle_workers(procs, gcTriggerTime);
        CHECK_EQ(c->idleMax, prof->release < 19 ? procs : dedicated > 0 ? 0 : 1);
    }
    c->idleMax = 3;
    for (int i = 0; i < 5; i++)
        CHECK_EQ(addIdleMarkWorker(), i < 3);
    CHECK_EQ(a_peek(&c->idleWorkers), 3);
    markWorkerStop(gcIdle);
    CHECK(addIdleMarkWorker());
    a_store(&c->dedicatedNeeded, 0);
    CHECK(!dec_if_positive());
    markWorkerStop(gcDedicated);
    CHECK(dec_if_positive());
    CHECK(!dec_if_positive());
}

TEST_CASE(Rules, AQuarterOfThePsCollects) { each_release(counts_workers); }

static void paces(struct m *mp)
{
    struct gcController *c = &rt->gc;
    (void)mp;
    for (int64_t mb = 1; mb <= 1024; mb *= 4) {
        c->heapMarked = mb << 20;
        int64_t goal = mb < 2 ? 4 << 20 : 2 * c->heapMarked, gap = goal - c->heapMarked;
        for (int64_t percent = 0; percent <= 100; percent += 5) {
            c->runway = gap / 100 * percent;
            gc_commit();
            CHECK_LE(goal - c->goal, 200);
            CHECK_LE(c->goal, goal);
            int64_t at = a_peek(&c->trigger) - c->heapMarked;
            int64_t from_end = percent < 5 ? 5 : percent > 30 ? 30 : percent;
            CHECK_LE(at, gap / 100 * (100 - from_end) + 4000);
            CHECK_GE(at, gap / 100 * (100 - from_end) - 4000);
        }
    }
    c->phase = GCoff;
    a_store(&c->last_gc, 1);
    CHECK(!trigger_test(gcTriggerTime, 1 + prof->forcegc_ns));
    CHECK(trigger_test(gcTriggerTime, 2 + prof->forcegc_ns));
    a_store(&c->heapLive, a_peek(&c->trigger) - 1);
    CHECK(!trigger_test(gcTriggerHeap, 0));
    a_store(&c->heapLive, a_peek(&c->trigger));
    CHECK(trigger_test(gcTriggerHeap, 0));
}

TEST_CASE(Rules, MarkingBeginsInTimeForTheGoal) { each_release(paces); }

static void spends_credit(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct g *gp = g_of(Grunning);
    const int64_t one = 1 << 16; /* one byte marked pays for one */
    (void)mp;
    a_store(&c->assistRatio, one);
    a_store(&c->blackenEnabled, 1);
    gcFlushBgCredit(1000);
    CHECK_EQ(a_peek(&c->bgScanCredit), 1000);
    gp->gcAssistBytes = -1500;
    CHECK_EQ(steal_credit(gp, 1500, 1500, one), 500); /* all there is, 500 remain to be marked */
    CHECK_EQ(a_peek(&c->bgScanCredit), 0);
    CHECK_EQ(gp->gcAssistBytes, -499);
    CHECK_EQ(steal_credit(gp, 500, 500, one), 500);
    gp->gcAssistBytes = 300;
    gc_flushAssistCredit(gp);
    CHECK_EQ(a_peek(&c->bgScanCredit), 300);
    CHECK_EQ(gp->gcAssistBytes, 0);
    gcBeginWork();
    gcBeginWork();
    CHECK(!gcEndWork()); /* one still works */
    CHECK(gcEndWork());
}

TEST_CASE(Rules, CreditIsSpentOnce) { each_release(spends_credit); }

/* Up to 1.15 a P runs its own worker and no other. */
static void binds_workers(struct m *mp)
{
    struct gcController *c = &rt->gc;
    struct p *pp = rt->allp[1];
    struct g *own = g_of(Gwaiting), *late = g_of(Gwaiting);
    (void)mp;
    own->opobj = late->opobj = pp;
    CHECK(bound_worker_parked(own));
    CHECK(!bound_worker_parked(late)); /* came back too late: the P has one */
    CHECK(bound_worker_parked(own));   /* parks again, with nothing to attach to */
    own->group = pp->id + 1;
    CHECK(worker_p(own) == pp);
    a_store(&c->blackenEnabled, 1);
    a_store(&c->remaining, 1 << 20);
    a_store(&c->dedicatedNeeded, 2);
    CHECK(gc_findRunnableWorker(rt->allp[2], &(int64_t){1}) == NULL);
    CHECK_EQ(a_peek(&c->dedicatedNeeded), 2);
    CHECK(gc_findRunnableWorker(pp, &(int64_t){1}) == own);
    CHECK_EQ(pp->gc.mode, gcDedicated);
    CHECK_EQ(readgstatus(own), Grunnable);
    a_store(&own->atomicstatus, (uint32_t)Gwaiting);
    a_store(&c->dedicatedNeeded, 0);
    CHECK(gc_findRunnableWorker(pp, &(int64_t){1}) == NULL); /* nobody is needed */
    lock(&sched->lock);
    p_destroy(pp);
    unlock(&sched->lock);
    CHECK(sched->runq.tail == own && readgstatus(own) == Grunnable);
    CHECK(a_peek(&pp->gc.bgWorker) == NULL);
}

TEST_CASE(Rules, AWorkerOfAPRunsThereAlone)
{
    for (int release = 13; release <= 15; release++)
        world(release, PROCS, &(struct host_opts){0}, binds_workers);
}

static uint32_t status_inside;
static void look_inside(struct p *pp)
{
    (void)pp;
    status_inside = readgstatus(a_own(&getm()->curg));
}

static void waits_in_barrier(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    ragged_barrier(gp, look_inside, waitReasonGCMarkTermination);
    CHECK_EQ(status_inside, Gwaiting); /* so that a worker who wants to scan it can */
    CHECK_EQ(readgstatus(gp), Grunning);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, TheBarriersCallerCallsItselfWaiting) { each_release(waits_in_barrier); }

static void hands_world_over(struct m *mp)
{
    struct g *gp = g_of(Grunning), *waiter = g_of(Gwaiting);
    struct sudog s = {.g = waiter};
    struct semaRoot *root = rootFor(&rt->worldsema);
    a_store(&mp->curg, gp);
    a_store(&sched->nmspinning, 1); /* no M comes for the waiter */
    a_store(&rt->worldsema, 0u);
    a_store(&rt->gcsema, 0u);
    a_add(&root->nwait, 1);
    sema_queue(root, &rt->worldsema, &s, false);
    release_world(gp);
    CHECK_EQ(readgstatus(waiter), Grunnable);
    CHECK_EQ(s.ticket, prof->release >= 16); /* before, whoever comes first has it */
    CHECK_EQ(a_peek(&rt->worldsema), prof->release < 16);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(Rules, TheWorldIsHandedOverSince116) { each_release(hands_world_over); }

/* ---- the return from a system call ---- */

/* Somebody holds the scan bit for ever: how far does the G come? */
static void returns_to_a_held_bit(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    a_store(&gp->m, mp);
    entersyscall(gp);
    a_store(&gp->atomicstatus, (uint32_t)Gsyscall | Gscan);
    (void)exitsyscall(gp);
}

TEST_CASE(Rules, TheTickComesBeforeRunning)
{
    for (int release = 13; release <= 27; release++) {
        CHECK_EQ(
            world_until(10000000, release, PROCS, &(struct host_opts){0}, returns_to_a_held_bit),
            END_TIME);
        CHECK_EQ(a_peek(&rt->allp[0]->syscalltick), release <= 25); /* then: running, P, tick */
        host_virt.close();
    }
}

/* ---- the spin-bit mutex ---- */

/* Twenty times: a locked word with one sleeper, who is not really there. */
static int64_t unlock_ns(struct mutex *l, struct m *sleeper, void (*fn)(struct mutex *))
{
    int64_t before = nanotime();
    for (int i = 0; i < 20; i++) {
        sleeper->mWaitNext = 0;
        a_store(&sleeper->waitsema, 0u);
        a_store(&l->word, (uint64_t)LOCKED | SLEEPING | ((uint64_t)sleeper->id + 1) << HEAD_SHIFT);
        fn(l);
    }
    return nanotime() - before;
}

/* What Go does, operation by operation: the first exchange of the list cannot succeed, because it
 * expects the word without the bit that was just set in it. */
static void unlock_as_go(struct mutex *l)
{
    (void)a_xchg8(&l->word, 0);
    uint64_t v = a_load(&l->word);
    (void)cheaprandn(16);
    CHECK(a_cas(&l->word, v, v | STACK_LOCKED));
    CHECK(!a_cas(&l->word, v, (uint64_t)0));
    v = a_load(&l->word);
    CHECK(a_cas(&l->word, v, (uint64_t)0));
    semawakeup(rt->ms[0]);
}

static void unlocks(struct m *mp)
{
    struct mutex *l = host_alloc(sizeof *l, 64);
    if (!prof->spinbit)
        return;
    (void)unlock_ns(l, mp, unlock_as_go); /* cache lines come here */
    int64_t model = unlock_ns(l, mp, unlock_spinbit), go = unlock_ns(l, mp, unlock_as_go);
    CHECK_LE(model, go + 2); /* an exchange more or less would be 100 ns */
    CHECK_LE(go, model + 2);
    CHECK_EQ(a_peek(&l->word), 0);
}

TEST_CASE(Rules, AnUnlockTriesTheListOnceInVain) { each_release(unlocks); }

/* ---- the checks of check.c ---- */

/* Breaks, looks, mends: exactly this is said, and nothing before and after. */
#define BROKEN(quiet, breaks, words, mends)   \
    do {                                      \
        CHECK(world_check(quiet) == NULL);    \
        breaks;                               \
        CHECK_HAS(world_check(quiet), words); \
        mends;                                \
    } while (0)

static void breaks_gs(struct m *mp)
{
    rt->mainStarted = true; /* before, nothing is looked at */
    bool inherit;
    struct p *pp = mp_p(mp);
    struct g *gp = g_of(Gdead);
    allgadd(gp);
    BROKEN(false, a_store(&gp->atomicstatus, 5u), "status that does not exist",
           a_store(&gp->atomicstatus, (uint32_t)Gdead));
    BROKEN(false, a_store(&gp->atomicstatus, (uint32_t)Gdead | Gscan), "scan bit where none may be",
           a_store(&gp->atomicstatus, (uint32_t)Gdead));
    if (!prof->leaked_status)
        BROKEN(false, a_store(&gp->atomicstatus, (uint32_t)Gleaked), "status of a later release",
               a_store(&gp->atomicstatus, (uint32_t)Gdead));
    gp->owner = 0;
    BROKEN(false, a_store(&gp->atomicstatus, (uint32_t)Grunnable), "nowhere (G 1 runnable,",
           a_store(&gp->atomicstatus, (uint32_t)Gdead));
    gp->owner = 1;
    BROKEN(true, a_store(&gp->atomicstatus, (uint32_t)Grunnable), "everybody rests",
           a_store(&gp->atomicstatus, (uint32_t)Gdead));
    BROKEN(false, runqput(pp, gp, false), "a queued G is not runnable (G 1 dead,",
           (void)runqget(pp, &inherit));
    a_store(&gp->atomicstatus, (uint32_t)Grunnable);
    runqput(pp, gp, false);
    BROKEN(false, runqput(pp, gp, false), "in two queues", (void)runqget(pp, &inherit));
    BROKEN(false, runqput(pp, gp, true), "in two queues", (void)runqget(pp, &inherit));
    BROKEN(false, a_store(&pp->runqhead, a_peek(&pp->runqtail) - RING - 1), "more than its length",
           a_store(&pp->runqhead, a_peek(&pp->runqtail) - 1));
}

static void breaks_idle(struct m *mp)
{
    rt->mainStarted = true; /* before, nothing is looked at */
    struct p *pp = rt->allp[3];
    struct m *idle = host_alloc(sizeof *idle, 64);
    bool inherit;
    (void)mp;
    BROKEN(false, a_store(&pp->status, (uint32_t)Prunning),
           "idle list is not idle (G -, P 3 running,", a_store(&pp->status, (uint32_t)Pidle));
    BROKEN(false, runqput(pp, runnable(), false), "an idle P has Gs", (void)runqget(pp, &inherit));
    BROKEN(false, runqput(pp, runnable(), true), "an idle P has Gs", (void)runqget(pp, &inherit));
    if (prof->masks)
        BROKEN(false, pMask_clear(rt->idlepMask, 3), "not in the idle mask",
               pMask_set(rt->idlepMask, 3));
    if (prof->masks) /* P 0 is m0's */
        BROKEN(false, pMask_set(rt->idlepMask, 0), "has a P that is not idle",
               pMask_clear(rt->idlepMask, 0));
    BROKEN(false, (void)a_add(&sched->npidle, 1), "npidle is not", (void)a_add(&sched->npidle, -1));
    BROKEN(false, sched->nmidle++, "nmidle is not", sched->nmidle--);
    BROKEN(false, a_store(&sched->nmspinning, -1), "negative", a_store(&sched->nmspinning, 0));
    midle_push(idle);
    sched->nmidle++;
    BROKEN(false, idle->spinning = true, "an idle M is not idle", idle->spinning = false);
    BROKEN(false, idle->nextp = pp, "an idle M is not idle", idle->nextp = NULL);
    BROKEN(false, a_store(&idle->p, pp), "an idle M is not idle",
           a_store(&idle->p, (struct p *)NULL));
    idle->locks = 1;
    BROKEN(false, idle->blocked = true, "an idle M sleeps with locks", idle->blocked = false);
    (void)mget();
}

static void breaks_wiring(struct m *mp)
{
    rt->mainStarted = true; /* before, nothing is looked at */
    struct m *other = allocm(NULL, MSTART_LOOP, mReserveID());
    struct g *gp = g_of(Grunning);
    struct p *pp = mp_p(mp);
    allgadd(gp);
    a_store(&mp->curg, gp);
    a_store(&gp->m, mp);
    BROKEN(false, a_store(&other->p, pp), "two Ms have the same P",
           a_store(&other->p, (struct p *)NULL));
    BROKEN(false, a_store(&gp->m, other), "a running G is not what its M runs",
           a_store(&gp->m, mp));
    BROKEN(false, a_store(&mp->curg, (struct g *)NULL), "a running G is not what its M runs",
           a_store(&mp->curg, gp));
    BROKEN(false, a_store(&gp->m, (struct m *)NULL), "a running G has no M", a_store(&gp->m, mp));
    BROKEN(true, a_store(&mp->p, (struct p *)NULL), "a running G's M has no P",
           a_store(&mp->p, pp));
    BROKEN(true, a_store(&pp->status, (uint32_t)Pidle), "a running G's P does not run",
           a_store(&pp->status, (uint32_t)Prunning));
    CHECK(world_check(true) == NULL);
    a_store(&mp->curg, (struct g *)NULL);
    a_store(&gp->atomicstatus, (uint32_t)Gdead);
}

/* What holds only when everybody rests: m0 computes, another M has a P and computes as well. */
static void breaks_rest(struct m *mp)
{
    rt->mainStarted = true;
    struct m *other = allocm(NULL, MSTART_LOOP, mReserveID());
    struct g *gp = g_of(Grunning);
    struct p *busy = pidle_next();
    bool inherit;
    CHECK_HAS(world_check(true), "a P is in no place");
    allgadd(gp);
    a_store(&busy->m, other);
    a_store(&other->p, busy);
    a_store(&other->curg, gp);
    a_store(&gp->m, other);
    a_store(&busy->status, (uint32_t)Prunning);
    BROKEN(true, other->nextp = a_peek(&sched->pidle), "or in two", other->nextp = NULL);
    BROKEN(true, a_store(&sched->nmspinning, 1), "not the number of spinning Ms",
           a_store(&sched->nmspinning, 0));
    BROKEN(true, other->spinning = true, "not the number of spinning Ms", other->spinning = false);
    struct m *third = allocm(NULL, MSTART_LOOP, mReserveID());
    third->spinning = true;
    a_store(&sched->nmspinning, 1);
    CHECK_HAS(world_check(true), "a spinning M has no P");
    third->spinning = false;
    a_store(&sched->nmspinning, 0);
    BROKEN(true, runqput(busy, runnable(), false), "in a ring, a P is idle",
           (void)runqget(busy, &inherit));
    struct g *queued = runnable();
    allgadd(queued);
    lock(&sched->lock);
    globrunqput(queued);
    unlock(&sched->lock);
    CHECK_HAS(world_check(true), "in the global queue and a P is idle");
    queued->unannounced = true; /* as by Gosched up to 1.21 */
    CHECK(world_check(true) == NULL);
    queued->unannounced = false;
    CHECK(world_check(false) == NULL);
    lock(&sched->lock);
    CHECK(world_check(true) == NULL); /* whoever has the lock is about to do something */
    (void)globrunqget_one();
    unlock(&sched->lock);
    (void)mp;
}

TEST_CASE(Rules, ABrokenInvariantIsNamed)
{
    each_release(breaks_gs);
    each_release(breaks_idle);
    each_release(breaks_wiring);
    each_release(breaks_rest);
}

static void waits_for(struct g *gp, enum waitreason reason) { gp->waitreason = (uint8_t)reason; }

/* A G that waits, and each place that it may wait in: missing, there, and one too many. */
static void waiting_places(struct m *mp)
{
    rt->mainStarted = true;
    struct g *gp = g_of(Gwaiting);
    struct sudog one = {.g = gp}, two = {.g = gp};
    semaword *addr = &rt->gcsema;
    struct semaRoot *root = rootFor(addr);
    (void)mp;
    waits_for(gp, waitReasonSelectNoCases);
    allgadd(gp);
    for (enum waitreason r = 0; r <= waitReasonCoroutine; r++)
        if (r != waitReasonChanReceiveNilChan && r != waitReasonChanSendNilChan &&
            r != waitReasonSelectNoCases && r != waitReasonGCScavengeWait &&
            r != waitReasonIOWait && r != waitReasonTimerGoroutineIdle)
            BROKEN(true, waits_for(gp, r), "nothing would wake a waiting G (G 1 waiting,",
                   waits_for(gp, waitReasonSelectNoCases));
    BROKEN(true, sema_queue(root, addr, &one, false), "two places to be woken from",
           waits_for(gp, waitReasonSyncMutexLock));
    BROKEN(true, sema_queue(root, addr, &two, false), "on two wait queues",
           (void)sema_dequeue(root, addr));
    BROKEN(true, a_store(&gp->atomicstatus, (uint32_t)Gdead), "on a wait queue does not wait",
           a_store(&gp->atomicstatus, (uint32_t)Gwaiting));
    BROKEN(true, (void)sema_dequeue(root, addr), "nothing would wake",
           waits_for(gp, waitReasonSelectNoCases));
    CHECK(world_check(true) == NULL);
}

static void waiting_on_channels(struct m *mp)
{
    rt->mainStarted = true;
    struct hchan *c[2] = {makechan(0), makechan(0)};
    struct g *gp = g_of(Gwaiting);
    struct sudog two = {.g = gp, .c = c[1], .isSelect = true};
    struct sudog one = {.g = gp, .c = c[0], .isSelect = true, .waitlink = &two};
    (void)mp;
    waits_for(gp, waitReasonSelect);
    allgadd(gp);
    gp->waiting = &one;
    waitq_enqueue(&c[0]->recvq, &one);
    waitq_enqueue(&c[1]->sendq, &two);
    BROKEN(true, waitq_remove(&c[1]->sendq, &two), "nothing would wake",
           waitq_enqueue(&c[1]->sendq, &two));
    BROKEN(true, waitq_remove(&c[0]->recvq, &one), "nothing would wake",
           waitq_enqueue(&c[0]->recvq, &one));
    BROKEN(true, one.g = NULL, "nothing would wake", one.g = gp);
    CHECK(world_check(false) == NULL);
    CHECK(world_check(true) == NULL);
    BROKEN(true, waits_for(gp, waitReasonSelectNoCases), "nothing would wake",
           waits_for(gp, waitReasonSelect));
    BROKEN(true, rt->gc.sweepWaitList = ((struct gList){gp, 1}), "two places",
           rt->gc.sweepWaitList = (struct gList){0});
    BROKEN(true, rt->gc.assistQueue = ((struct gQueue){gp, gp, 1}), "two places",
           rt->gc.assistQueue = (struct gQueue){0});
}

TEST_CASE(Rules, AWaitingGHasOnePlace)
{
    each_release(waiting_places);
    each_release(waiting_on_channels);
}

/* ---- finalizers and cleanups ---- */

static struct g *finalizer_g(void)
{
    struct finalizers *f = rt->fin = specials_new();
    f->fing = g_of(Gwaiting);
    a_store(&f->status, fingCreated | fingWait | fingWake);
    a_store(&f->fingwait, true);
    a_store(&f->fingwake, true);
    return f->fing;
}

/* fing goes ahead of the P's own queue, once; up to 1.18 only when that queue is empty. */
static void finalizer_comes_first(struct m *mp)
{
    struct g *fing = finalizer_g(), *gp = runnable();
    bool first = prof->checks_in_findrunnable;
    runqput(mp_p(mp), gp, /*next*/ true);
    for (int i = 0; i < 2; i++) {
        struct found f = findRunnable();
        CHECK(f.gp == ((i == 0) == first ? fing : gp));
        CHECK(f.gp != fing || f.inherit);
    }
    a_store(&fing->atomicstatus, (uint32_t)Gwaiting); /* it waits again, and nothing is queued */
    if (prof->fing_status)
        a_or(&rt->fin->status, fingWait);
    else
        a_store(&rt->fin->fingwait, true);
    runqput(mp_p(mp), gp, /*next*/ false);
    CHECK(findRunnable().gp == gp);
}

TEST_CASE(Rules, TheFinalizerGoroutineComesFirst)
{
    for (int release = 13; release <= 27; release++)
        world(release, 1, &(struct host_opts){0}, finalizer_comes_first);
}

static struct cleanupBlock *filled(struct cleanupQueue *q, uint32_t n)
{
    static struct special s;
    struct cleanupBlock *b = block_new(q);
    while (b->n < n)
        block_put(b, &s);
    return b;
}

/* What the Ps have begun becomes as few blocks as it fits in; emptied ones are free. */
static void joins_blocks(struct m *mp)
{
    (void)mp;
    rt->fin = specials_new();
    struct cleanupQueue *q = &rt->fin->cleanups;
    uint32_t room = block_room(), total = 0;
    static const uint32_t parts[] = {3, 0, 18, 5, 0, 19, 2};
    for (int32_t id = 0; id < 7; id++) {
        total += parts[id];
        q->local[id] = parts[id] != 0 ? filled(q, parts[id]) : NULL;
    }
    cleanups_flush();
    uint32_t want = (total + room - 1) / room, full = 0, sum = 0, free = 0;
    CHECK_EQ(a_peek(&q->workUnits), want);
    CHECK(a_peek(&q->flushed));
    for (struct cleanupBlock *b; (b = lfstack_pop(q, &q->full)) != NULL; sum += b->n)
        full++;
    for (struct cleanupBlock *b; (b = lfstack_pop(q, &q->free)) != NULL; free++)
        CHECK_EQ(b->n, 0);
    CHECK_EQ(full, want);
    CHECK_EQ(sum, total);
    CHECK_EQ(full + free, 5);
}

TEST_CASE(Rules, BlocksOfCleanupsAreJoined) { each_release(joins_blocks); }

/* As many goroutines as blocks are woken; the next AddCleanup is to make the missing ones, up to a
 * quarter of the Ps. */
static void wakes_cleaners(struct m *mp)
{
    struct cleanupQueue *q = &(rt->fin = specials_new())->cleanups;
    struct g *one = g_of(Gwaiting);
    CHECK(!cleanups_needWake());
    CHECK(cleanups_needG(q));
    a_store(&q->workUnits, 3);
    CHECK(cleanups_needWake()); /* there are fewer goroutines than there may be */
    a_store(&q->ng, PROCS / 4);
    CHECK(!cleanups_needWake());
    CHECK(!cleanups_needG(q));
    a_store(&q->ng, 1);
    CHECK(!cleanups_needG(q));
    gList_push(&q->sleeping, one);
    a_store(&q->asleep, 1);
    a_store(&sched->npidle, 0); /* nobody is to run them */
    a_store(&sched->nmspinning, 1);
    cleanups_wake();
    CHECK_EQ(a_peek(&q->asleep), 0);
    CHECK_EQ(a_peek(&one->atomicstatus), Grunnable);
    CHECK_EQ(a_peek(&q->needg), 1);
    CHECK(cleanups_needG(q));
    cleanups_createGs(q);
    CHECK_EQ(a_peek(&q->ng), 2);
    CHECK_EQ(a_peek(&q->needg), 0);
    (void)mp;
}

TEST_CASE(Rules, CleanupGoroutinesAreWokenByTheBlock)
{
    for (int release = 25; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, wakes_cleaners);
}

/* ---- who may not run ---- */

/* Goroutines of the program, and those that run its finalizers, go on a list while the collector
 * marks, and from there in order to the global queue. */
static void keeps_back(struct m *mp)
{
    struct g *user = runnable(), *fing = runnable(), *worker = runnable();
    (void)mp;
    world_prof.gcstoptheworld = 1;
    fing->system = SYSTEM_SPECIALS;
    fing->func = -1;
    worker->system = SYSTEM_ALWAYS;
    CHECK(!sched_keep_back(user));
    schedEnableUser(false);
    CHECK(sched_keep_back(user));
    CHECK(sched_keep_back(fing));
    CHECK(!sched_keep_back(worker));
    check_queue(&sched->disabled, user->goid, 2);
    CHECK_EQ(user->owner, 0);
    a_store(&sched->npidle, 0); /* nobody is to run them */
    schedEnableUser(true);
    CHECK_EQ(sched->disabled.size, 0);
    check_queue(&sched->runq, user->goid, 2);
    CHECK(!sched_keep_back(user));
}

TEST_CASE(Rules, WhoMayNotRunIsKeptBack) { each_release(keeps_back); }

/* ---- enlisting ---- */

static void enlists(struct m *mp)
{
    struct p *busy = rt->allp[PROCS - 1];
    struct m *other = host_alloc(sizeof *other, 64);
    struct g *gp = g_of(Grunning);
    uint64_t wakeps = mp->counters[C_wakeps];
    a_store(&other->curg, gp);
    a_store(&busy->m, other);
    a_store(&busy->status, (uint32_t)Prunning);
    enlistWorker(); /* nobody is needed */
    CHECK_EQ(mp->counters[C_wakeps], wakeps);
    rt->gc.idleMax = 1;
    a_store(&sched->nmspinning, 1);
    enlistWorker(); /* an idle worker is, and somebody looks already */
    CHECK_EQ(mp->counters[C_wakeps], wakeps);
    a_store(&rt->gc.dedicatedNeeded, 1);
    CHECK(!a_peek(&gp->preempt));
    for (int i = 0; i < 50; i++)
        enlistWorker(); /* nobody is to be woken: five tries each to find the one P that runs */
    CHECK(a_peek(&gp->preempt));
    CHECK_EQ(mp->counters[C_wakeps], wakeps);
}

TEST_CASE(Rules, EnlistingPreemptsARunningP)
{
    rule_off = "async_preempt";
    each_release(enlists);
    rule_off = NULL;
}

/* ---- the quota ---- */

static int32_t default_procs;
static void asks_quota(struct m *mp)
{
    (void)mp;
    default_procs = defaultGOMAXPROCS();
}

static int32_t quota(int release, int32_t cpus, int64_t quota_us)
{
    world(release, 1, &(struct host_opts){.cpus = cpus, .quota_us = quota_us}, asks_quota);
    return default_procs;
}

TEST_CASE(Rules, TheQuotaIsRoundedUpToTwoAtLeast)
{
    CHECK_EQ(quota(27, 8, 0), 8);
    CHECK_EQ(quota(27, 8, 250000), 3);
    CHECK_EQ(quota(27, 8, 300000), 3);
    CHECK_EQ(quota(27, 8, 50000), 2);
    CHECK_EQ(quota(27, 8, 100000), 2);
    CHECK_EQ(quota(27, 4, 900000), 4);
    CHECK_EQ(quota(27, 1, 100000), 1);
    CHECK_EQ(quota(24, 8, 250000), 8);
}

/* ---- the core's door ---- */

static void shows_the_world(struct m *mp)
{
    (void)mp;
    CHECK(core_rules.runtime() == rt);
    CHECK_EQ(core_rules.gomaxprocs(), PROCS);
    CHECK_EQ(core_rules.exit_status(), 0);
    rt->exit_status = 125;
    CHECK_EQ(core_rules.exit_status(), 125);
    rt->exit_status = 0;
}

TEST_CASE(Rules, TheCoreShowsTheWorldThatRuns) { each_release(shows_the_world); }
