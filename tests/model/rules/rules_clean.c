/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what is left behind: who gives something back, or ends, leaves it
 * as Go does, and nothing of the last user is seen by the next. */

static void off_the_list(struct m *mp)
{
    (void)mp;
    idle_none();
    for (int i = 2; i <= 4; i++)
        (void)pidleput(rt->allp[i], 0);
    for (int i = 4; i >= 2; i--) {
        CHECK(pidleget(0) == rt->allp[i]);
        CHECK(rt->allp[i]->link == NULL);
    }
}

TEST_CASE(CleanRules, AnIdlePThatIsTakenKnowsNobody) { each_release(off_the_list); }

static void sudogs_are_empty(struct m *mp)
{
    static const struct sudog empty;
    struct sudog *s = acquireSudog();
    (void)mp;
    memset(s, 0x5a, sizeof *s);
    releaseSudog(s);
    CHECK_EQ(mp_p(mp)->nsudog, 1);
    CHECK(acquireSudog() == s);
    CHECK_EQ(memcmp(s, &empty, sizeof empty), 0);
}

/* proc.go releaseSudog throws if one is not. */
TEST_CASE(CleanRules, ASudogComesBackEmpty) { each_release(sudogs_are_empty); }

static void runs_on(struct m *mp, struct g *gp)
{
    casgstatus(gp, Grunnable, Grunning);
    a_store(&mp->curg, gp);
    a_store(&gp->m, mp);
}

static void reborn(struct m *mp)
{
    struct g *gp = newproc1(/*parked*/ true, waitReasonSelect);
    CHECK_EQ(readgstatus(gp), Gwaiting);
    CHECK_EQ(gp->waitreason, waitReasonSelect);
    casgstatus(gp, Gwaiting, Grunnable);
    runs_on(mp, gp);
    gp->group = 7;
    gp->param = gp;
    gp->nkont = 3;
    mp->lockedg = gp;
    CHECK(!gdestroy(gp));
    CHECK(mp->lockedg == NULL);
    CHECK_EQ(readgstatus(gp), Gdead);
    CHECK_EQ(gp->waitreason, waitReasonZero);
    CHECK(gp->param == NULL);
    CHECK_EQ(gp->nkont, 0);
    CHECK(a_peek(&mp->curg) == NULL);
    bool inherit;
    int32_t before = a_peek(&sched->ngsys);
    CHECK(newsysproc(STEP_forcegc, NULL) == gp); /* nothing of the goroutine that it was */
    CHECK_EQ(a_peek(&sched->ngsys), before + 1);
    CHECK_EQ(gp->func, -1);
    CHECK_EQ(gp->group, -1);
    CHECK(runqget(mp_p(mp), &inherit) == gp);
    runs_on(mp, gp);
    CHECK(!gdestroy(gp));
    CHECK_EQ(gp->system, SYSTEM_NOT);
    CHECK_EQ(a_peek(&sched->ngsys), before);
}

TEST_CASE(CleanRules, AGThatDiedIsNobody) { each_release(reborn); }

/* Both kinds, by the way over the global lists; the last of those with stacks comes first. */
static void spilled(struct m *mp)
{
    enum { EACH = 3 };
    struct p *pp = mp_p(mp);
    for (int i = 0; i < 2 * EACH; i++) {
        struct g *gp = g_of(Gdead);
        gp->no_stack = i % 2 == 0;
        gList_push(&pp->gFree, gp);
    }
    gfspill(pp, 1);
    CHECK_EQ(pp->gFree.size, 0);
    CHECK_EQ(a_peek(&sched->gFree_n), 2 * EACH);
    for (int none = 0; none < 2; none++) {
        struct gList *list = none ? &sched->gFree_noStack : &sched->gFree_stack;
        CHECK_EQ(list->size, EACH);
        for (int i = 0; i < EACH; i++)
            CHECK_EQ(gList_pop(list)->no_stack, none);
        CHECK(gList_pop(list) == NULL);
    }
}

TEST_CASE(CleanRules, FreeGsAreSortedByTheirStacks) { each_release(spilled); }

static void rings_again(struct m *mp)
{
    enum { SLOTS = 8 };
    struct poolChainElt *d = host_alloc(sizeof *d, 64);
    (void)mp;
    d->len = SLOTS;
    d->vals = host_alloc(SLOTS * sizeof *d->vals, 64);
    a_init(&d->headTail, 5);
    a_init(&d->next, d);
    a_init(&d->prev, d);
    for (int i = 0; i < SLOTS; i++)
        a_init(&d->vals[i].used, 1u);
    elt_clear(d);
    CHECK_EQ(a_peek(&d->headTail), 0);
    CHECK(a_peek(&d->next) == NULL);
    CHECK(a_peek(&d->prev) == NULL);
    for (int i = 0; i < SLOTS; i++)
        CHECK_EQ(a_peek(&d->vals[i].used), 0);
}

TEST_CASE(CleanRules, ARingThatIsUsedAgainIsNew)
{
    world(27, PROCS, &(struct host_opts){0}, rings_again);
}

/* A full ring has room again for who took from its head. */
static void rings_have_room(struct m *mp)
{
    struct poolChain *c = host_alloc(sizeof *c, 64);
    int64_t v;
    (void)mp;
    for (int64_t i = 0; i < 8; i++)
        poolChain_pushHead(c, i);
    struct poolChainElt *d = c->head;
    CHECK_EQ(d->len, 8);
    CHECK(!poolDequeue_pushHead(d, 9));
    CHECK(poolDequeue_popHead(d, &v));
    CHECK_EQ(v, 7);
    CHECK(poolDequeue_pushHead(d, 9));
    CHECK(poolDequeue_popHead(d, &v));
    CHECK_EQ(v, 9);
}

TEST_CASE(CleanRules, WhoTakesFromTheHeadMakesRoom)
{
    world(27, PROCS, &(struct host_opts){0}, rings_have_room);
}

/* A G is the M's that moves it, wherever it took it from. */
static void taken(struct m *mp)
{
    struct p *pp = mp_p(mp), *other = rt->allp[1];
    bool inherit;
    runqput(pp, runnable(), /*next*/ true);
    CHECK_EQ(runqget(pp, &inherit)->owner, mp->id + 1);
    runqput(pp, runnable(), /*next*/ true);
    put_n(pp, 2);
    struct gQueue q = runqdrain(pp);
    put_n(other, RING); /* a full one is no mistake */
    struct gQueue all = runqdrain(other);
    CHECK_EQ(all.size, RING);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(gQueue_pop(&q)->owner, mp->id + 1);
    put_n(other, 6);
    CHECK_EQ(runqsteal(pp, other, false)->owner, mp->id + 1); /* runs next */
    for (uint32_t i = 0; i < 2; i++)                          /* two are in the own ring */
        CHECK_EQ(a_peek(runq_slot(pp, a_peek(&pp->runqhead) + i))->owner, 0);
    struct g *kept = runnable();
    runq_own(kept);
    CHECK(!sched_keep_back(kept));
    CHECK_EQ(kept->owner, mp->id + 1);
    world_prof.gcstoptheworld = 2; /* who sweeps lets nobody run */
    a_store(&sched->disable_user, true);
    CHECK(sched_keep_back(kept));
    a_store(&sched->disable_user, false);
    world_prof.gcstoptheworld = 0;
    CHECK_EQ(kept->owner, 0);
    CHECK(sched->disabled.head == kept);
}

TEST_CASE(CleanRules, AGThatIsTakenIsTheTakers) { each_release(taken); }

/* Whoever waited at a Cond may wait anywhere next. */
static void waits_no_more(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    gp->waiting = acquireSudog();
    CHECK_EQ(step_notifyListWait(gp), OP_DONE);
    CHECK(gp->waiting == NULL);
    CHECK_EQ(mp_p(mp)->nsudog, 1);
}

TEST_CASE(CleanRules, WhoWaitedAtACondWaitsNoMore) { each_release(waits_no_more); }
