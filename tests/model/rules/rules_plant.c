/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about plant.c: what is broken on purpose is one thing, the first of its
 * kind, and where there is nothing to break nothing is. */

static bool plants_quietly(enum core_plant what) { return plant_what(what, /*quiet*/ true); }

static void idle_none(void)
{
    lock(&sched->lock);
    while (pidleget(0) != NULL)
        ;
    unlock(&sched->lock);
}

static void plants_nothing(struct m *mp)
{
    (void)mp;
    idle_none();
    sched->midle = NULL;
    for (int what = 0; what <= PLANT_COUNT; what++)
        CHECK_EQ(plants_quietly((enum core_plant)what), what == PLANT_spinning);
    CHECK_EQ(a_peek(&sched->nmspinning), 1);
    CHECK(!plant_what(PLANT_spinning, /*quiet*/ false));
    CHECK_EQ(a_peek(&sched->nmspinning), 1);
    a_store(&sched->nmspinning, 0);
    for (int started = 0; started < 2; started++)
        for (int locked = 0; locked < 2; locked++) {
            rt->mainStarted = started;
            if (locked)
                lock(&sched->lock);
            CHECK_EQ(world_plant(PLANT_spinning, /*quiet*/ true), started && !locked);
            if (locked)
                unlock(&sched->lock);
        }
    a_store(&sched->nmspinning, 0);
}

TEST_CASE(Plants, WhereThereIsNothingNothingIsBroken) { each_release(plants_nothing); }

static void plants_gs(struct m *mp)
{
    rt->allgs = NULL;
    struct g *other = all_g(Grunnable), *first = all_g(Gwaiting), *next = all_g(Gwaiting);
    CHECK(plants_quietly(PLANT_status));
    CHECK_EQ(a_peek(&other->atomicstatus), Grunnable);
    CHECK_EQ(a_peek(&first->atomicstatus), 5);
    CHECK_EQ(a_peek(&next->atomicstatus), Gwaiting);

    first->waitreason = waitReasonChanReceive; /* it does not wait */
    next->waitreason = waitReasonChanSend;
    CHECK(!plants_quietly(PLANT_wait));
    struct g *receives = all_g(Gwaiting);
    receives->waitreason = waitReasonChanReceive;
    CHECK(!plant_what(PLANT_wait, /*quiet*/ false));
    CHECK_EQ(receives->waitreason, waitReasonChanReceive);
    CHECK(plants_quietly(PLANT_wait));
    CHECK_EQ(receives->waitreason, waitReasonSleep);
    CHECK_EQ(first->waitreason, waitReasonChanReceive);
    CHECK_EQ(next->waitreason, waitReasonChanSend);

    CHECK(!plants_quietly(PLANT_running)); /* nobody runs */
    a_store(&other->atomicstatus, (uint32_t)Grunning);
    CHECK(!plants_quietly(PLANT_running)); /* on no M */
    a_store(&other->m, mp);
    a_store(&mp->curg, other);
    CHECK(plants_quietly(PLANT_running));
    CHECK(a_peek(&mp->curg) == NULL);
}

TEST_CASE(Plants, OneGIsBroken) { each_release(plants_gs); }

static void plants_rings(struct m *mp)
{
    bool inherit;
    (void)mp;
    put_n(rt->allp[PROCS - 1], 3);
    (void)runqget(rt->allp[PROCS - 1], &inherit);
    CHECK(plants_quietly(PLANT_queue));
    CHECK_EQ(a_peek(&rt->allp[PROCS - 1]->runnext)->goid, 2);
    for (int i = 0; i < PROCS - 1; i++)
        CHECK(a_peek(&rt->allp[i]->runnext) == NULL);
    put_n(rt->allp[0], 1);
    put_n(rt->allp[1], 1);
    CHECK(plants_quietly(PLANT_queue));
    CHECK_EQ(a_peek(&rt->allp[0]->runnext)->goid, 4);
    CHECK(a_peek(&rt->allp[1]->runnext) == NULL);
    a_store(&rt->allp[PROCS - 1]->runnext, (struct g *)NULL);
    a_store(&rt->allp[0]->runnext, (struct g *)NULL);
    while (runqget(rt->allp[PROCS - 1], &inherit) != NULL ||
           runqget(rt->allp[0], &inherit) != NULL || runqget(rt->allp[1], &inherit) != NULL)
        ;
}

TEST_CASE(Plants, TheHeadOfTheFirstRingIsNextToo) { each_release(plants_rings); }

static void plants_ms(struct m *mp)
{
    struct m *m[3];
    (void)mp;
    for (int i = 0; i < 3; i++)
        m[i] = host_alloc(sizeof *m[i], 64);
    sched->midle = m[0];
    m[0]->idle_next = m[1];
    m[1]->idle_next = m[2];
    CHECK(!plants_quietly(PLANT_locks)); /* all are on their way there */
    CHECK(plants_quietly(PLANT_idle_m));
    CHECK(m[0]->spinning && !m[1]->spinning && !m[2]->spinning);
    m[1]->blocked = m[2]->blocked = true;
    CHECK(plants_quietly(PLANT_locks));
    CHECK_EQ(m[0]->locks, 0);
    CHECK_EQ(m[1]->locks, 1);
    CHECK_EQ(m[2]->locks, 0);
    sched->midle = NULL;
}

TEST_CASE(Plants, OneIdleMIsBroken) { each_release(plants_ms); }

static void plants_ps(struct m *mp)
{
    (void)mp;
    idle_none();
    lock(&sched->lock);
    (void)pidleput(rt->allp[3], 0);
    (void)pidleput(rt->allp[64], 0);
    (void)pidleput(rt->allp[32], 0);
    unlock(&sched->lock);
    CHECK(!plant_what(PLANT_lost_p, /*quiet*/ false));
    for (int left = 3; left > 0; left--) {
        CHECK_EQ(a_peek(&sched->npidle), left);
        for (int id = 0; id < rt->allp_len && prof->masks; id++)
            CHECK_EQ(pMask_read(rt->idlepMask, id),
                     (id == 3) | (id == 64 && left > 1) | (id == 32 && left > 2));
        CHECK(plants_quietly(PLANT_lost_p));
    }
    CHECK_EQ(a_peek(&sched->npidle), 0);
    CHECK(a_peek(&sched->pidle) == NULL);
    CHECK(!plants_quietly(PLANT_lost_p));
}

TEST_CASE(Plants, AnIdlePIsLost)
{
    for (int release = 13; release <= 27; release++)
        world(release, 70, &(struct host_opts){0}, plants_ps);
}
