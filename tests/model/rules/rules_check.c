/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about check.c: what each invariant lets pass, beside what it names
 * (ABrokenInvariantIsNamed). */

/* runtime2.go: 5 and 7 are no statuses, 10 and 11 are of 1.26; the scan bit goes with those that a
 * goroutine can be scanned in, and with the two of 1.26. */
static void knows_statuses(struct m *mp)
{
    static const bool exists[16] = {[0] = 1, [1] = 1, [2] = 1, [3] = 1,  [4] = 1,
                                    [6] = 1, [8] = 1, [9] = 1, [10] = 1, [11] = 1},
                      scans[16] = {[1] = 1, [2] = 1, [3] = 1, [4] = 1, [9] = 1, [10] = 1, [11] = 1};
    struct g *gp = all_g(Gdead);
    (void)mp;
    for (uint32_t status = 0; status < 16; status++)
        for (uint32_t scan = 0; scan <= Gscan; scan += Gscan) {
            bool good = exists[status] && (scan == 0 || scans[status]) &&
                        (status < Gleaked || prof->release >= 26);
            a_store(&gp->atomicstatus, status | scan);
            CHECK_EQ(check_status() == NULL, good);
        }
    a_store(&gp->atomicstatus, 7u);
    CHECK(!rt->mainStarted);
    CHECK(world_check(false) == NULL); /* before main there is not much of a world */
    rt->mainStarted = true;
    CHECK(world_check(false) != NULL);
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(CheckRules, StatusesAreThoseOfTheRelease) { each_release(knows_statuses); }

/* All lists are looked at, to their end, unless somebody is changing them. */
static void looks_at_lists(struct m *mp)
{
    (void)mp;
    struct gQueue *const lists[] = {&sched->runq, &sched->disabled};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) { /* one of three is not runnable */
            for (int n = 0; n < 3; n++)
                gQueue_pushBack(lists[k], all_g(n == i ? Gwaiting : Grunnable));
            CHECK_HAS(check_queues(), "a queued G is not runnable");
            lock(&sched->lock);
            CHECK(check_queues() == NULL);
            unlock(&sched->lock);
            *lists[k] = (struct gQueue){0};
            rt->allgs = rt->allgs_tail = NULL;
        }
}

TEST_CASE(CheckRules, EveryListIsLookedAtToItsEnd) { each_release(looks_at_lists); }

static void looks_at_masks(struct m *mp)
{
    (void)mp;
    if (!prof->masks)
        return;
    for (int32_t id = 0; id < rt->allp_len; id++)
        CHECK_EQ(in_idle_mask(id), rt->allp[id] != mp_p(mp));
    CHECK(check_idle_ps() == NULL);
    pMask_set(rt->idlepMask, rt->allp_len); /* no P: nobody looks there */
    CHECK(check_idle_ps() == NULL);
    pMask_clear(rt->idlepMask, rt->allp_len);
}

TEST_CASE(CheckRules, TheIdleMaskIsOfPs)
{
    for (int release = 13; release <= 27; release++) {
        world(release, PROCS, &(struct host_opts){0}, looks_at_masks);
        world(release, 40, &(struct host_opts){0}, looks_at_masks);
    }
}

/* Since 1.26 a G runs for a moment before it has a P: in a world at rest it has one. */
static void looks_at_running(struct m *mp)
{
    struct g *gp = user(mp);
    struct p *pp = mp_p(mp);
    for (int quiet = 0; quiet <= 1; quiet++) {
        a_store(&gp->m, mp);
        CHECK(check_running(gp, quiet) == NULL);
        a_store(&mp->p, (struct p *)NULL);
        CHECK_EQ(check_running(gp, quiet) == NULL, prof->release >= 26 && !quiet);
        a_store(&sched->gcwaiting, 1); /* who stops the world changes it */
        CHECK(check_running(gp, quiet) == NULL);
        a_store(&sched->gcwaiting, 0);
        a_store(&mp->p, pp);
    }
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(CheckRules, ARunningGHasAPWhenAllRest) { each_release(looks_at_running); }

/* A P is in one place: an M's, the idle list, or on its way to one M. */
static void looks_at_places(struct m *mp)
{
    struct p *pp = rt->allp[2], *own = mp_p(mp);
    CHECK_EQ(places_of(own), 1);
    CHECK_EQ(places_of(pp), 1); /* idle */
    struct m *one = allocm(NULL, MSTART_LOOP, mReserveID()),
             *two = allocm(NULL, MSTART_LOOP, mReserveID());
    one->nextp = pp;
    CHECK_EQ(places_of(pp), 2);
    a_store(&sched->pidle, (struct p *)NULL); /* no list: given to one, or to two */
    CHECK_EQ(places_of(pp), 1);
    two->nextp = pp;
    CHECK_EQ(places_of(pp), 2);
    one->nextp = two->nextp = NULL;
    CHECK_EQ(places_of(pp), 0);
    a_store(&pp->status, (uint32_t)Pgcstop);
    CHECK_EQ(places_of(pp), 0);
    a_store(&sched->gcwaiting, 1);
    CHECK_EQ(places_of(pp), 1);
    a_store(&sched->gcwaiting, 0);
    a_store(&pp->status, (uint32_t)Psyscall);
    CHECK_EQ(places_of(pp), prof->release < 26);
    a_store(&pp->status, (uint32_t)Pidle);
}

TEST_CASE(CheckRules, APIsInOnePlace) { each_release(looks_at_places); }

/* A G in any P's ring is work, also in the first one's. */
static void looks_at_rings(struct m *mp)
{
    for (int32_t id = 0; id < PROCS; id++) {
        bool inherit;
        CHECK(check_conserved() == NULL);
        put_n(rt->allp[id], 1);
        CHECK_HAS(check_conserved(), "a G is in a ring");
        (void)runqget(rt->allp[id], &inherit);
    }
    (void)mp;
}

TEST_CASE(CheckRules, WorkInARingIsWorkForAnIdleP) { each_release(looks_at_rings); }

static void counts_locks(struct m *mp)
{
    struct m *other = rt->m0;
    rt->m0 = NULL;
    CHECK(check_locked() == NULL);
    mp->lockedExt = 1;
    CHECK_HAS(check_locked(), "locked by nobody, or to nobody");
    mp->lockedg = all_g(Gwaiting);
    CHECK(check_locked() == NULL);
    mp->lockedExt = 0;
    CHECK_HAS(check_locked(), "locked by nobody, or to nobody");
    mp->lockedInt = 1;
    CHECK(check_locked() == NULL);
    mp->lockedg = NULL;
    rt->m0 = mp;
    CHECK(check_locked() == NULL); /* its G ended */
    mp->lockedInt = 0;
    rt->m0 = other;
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(CheckRules, AnMCountsWhoLockedIt) { each_release(counts_locks); }

static void knows_who_may_run(struct m *mp)
{
    struct profile stops = *prof;
    struct g *gp = all_g(Grunning);
    (void)mp;
    for (int set = 0; set < 2; set++)
        for (int disabled = 0; disabled < 2; disabled++) {
            world_prof.gcstoptheworld = set;
            a_store(&sched->disable_user, disabled != 0);
            CHECK_EQ(check_disabled() == NULL, !set || !disabled);
        }
    gp->system = true;
    CHECK(check_disabled() == NULL);
    a_store(&sched->disable_user, false);
    world_prof = stops;
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(CheckRules, WhoMayNotRunDoesNot) { each_release(knows_who_may_run); }
