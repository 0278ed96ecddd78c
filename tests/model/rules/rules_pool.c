/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about sync.Pool: where a value goes, who gets it, what a collection
 * leaves. */

static struct pool *the_pool;

/* As the instruction does: pinned, and with a place made if there is none. */
static struct poolLocal *place(int32_t *pid)
{
    struct poolLocal *l = pool_pin(the_pool, pid);
    if (l == NULL) {
        *pid = ((struct p *)a_own(&acquirem()->p))->id;
        l = pool_local(the_pool, *pid);
    }
    return l;
}

static void put_value(int64_t v)
{
    int32_t pid;
    put_pinned(place(&pid), v);
    pool_unpin();
}

/* 0: none. */
static int64_t get_value(void)
{
    int32_t pid;
    int64_t v;
    struct poolLocal *l = place(&pid);
    bool hit = get_pinned(the_pool, l, pid, &v);
    pool_unpin();
    CHECK_EQ(hit, v != 0);
    return v;
}

static void move_to(struct m *mp, int32_t pid) { a_store(&mp->p, rt->allp[pid]); }

static void survives_once(struct m *mp)
{
    (void)mp;
    the_pool = pool_make();
    for (int64_t v = 1; v <= 300; v++)
        put_value(v);
    poolCleanup();
    for (int64_t v = 1; v <= 300; v++) /* the private one, then the queue's oldest */
        CHECK_EQ(get_value(), v);
    CHECK_EQ(a_peek(&the_pool->victimSize), PROCS);
    CHECK_EQ(get_value(), 0);
    CHECK_EQ(a_peek(&the_pool->victimSize), 0); /* nobody looks there again */
    for (int64_t v = 1; v <= 9; v++)
        put_value(v);
    poolCleanup();
    poolCleanup();
    CHECK_EQ(get_value(), 0);
}

TEST_CASE(Rules, WhatAPoolKeepsSurvivesOneCollection) { each_release(survives_once); }

static void own_before_others(struct m *mp)
{
    the_pool = pool_make();
    for (int32_t pid = 0; pid < PROCS; pid++) {
        move_to(mp, pid);
        for (int64_t k = 1; k <= 3; k++)
            put_value(10 * pid + k);
    }
    move_to(mp, 2);
    static const int64_t want[] = {21, 23, 22}; /* private, newest, older */
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_EQ(get_value(), want[i]);
    for (int32_t i = 1; i < PROCS; i++) { /* the next P's oldest; its private one is not ours */
        CHECK_EQ(get_value(), (2 + i) % PROCS * 10 + 2);
        CHECK_EQ(get_value(), (2 + i) % PROCS * 10 + 3);
    }
    CHECK_EQ(get_value(), 0);
    put_value(99);
    poolCleanup();
    move_to(mp, 3);
    put_value(7);
    CHECK_EQ(get_value(), 7);
    CHECK_EQ(get_value(), 31); /* the victim's private one */
    CHECK_EQ(get_value(), 0);
    move_to(mp, 0);
}

TEST_CASE(Rules, APoolGivesOwnValuesFirstAndOthersOldest) { each_release(own_before_others); }

static void rings_double(struct m *mp)
{
    struct poolChain *c = host_alloc(sizeof *c, 64);
    int64_t v;
    (void)mp;
    for (int64_t i = 1; i <= 8 + 16 + 1; i++)
        poolChain_pushHead(c, i);
    CHECK_EQ(c->head->len, 32);
    CHECK_EQ(a_peek(&c->tail)->len, 8);
    for (int64_t i = 25; i >= 20; i--) { /* the newest first, across rings */
        CHECK(poolChain_popHead(c, &v));
        CHECK_EQ(v, i);
    }
    for (int64_t i = 1; i <= 9; i++) {
        CHECK(poolChain_popTail(c, &v));
        CHECK_EQ(v, i);
    }
    CHECK_EQ(a_peek(&c->tail)->len, 16); /* the empty first ring is out of the chain */
    CHECK(a_peek(&a_peek(&c->tail)->prev) == NULL);
    for (int64_t i = 19; i >= 10; i--) {
        CHECK(poolChain_popHead(c, &v));
        CHECK_EQ(v, i);
    }
    CHECK(!poolChain_popHead(c, &v));
    CHECK(!poolChain_popTail(c, &v));
    poolChain_collect(c);
    poolChain_pushHead(c, 1);
    CHECK_EQ(c->head->len, 8);
    CHECK(c->made->made == NULL); /* of those that were there before */
}

TEST_CASE(Rules, APoolsRingsDouble) { each_release(rings_double); }

/* A consumer that has taken the value and not yet given the slot back. */
static void slot_in_use(struct m *mp)
{
    struct poolChain *c = host_alloc(sizeof *c, 64);
    int64_t v;
    (void)mp;
    for (int64_t i = 1; i <= 8; i++)
        poolChain_pushHead(c, i);
    CHECK(poolChain_popTail(c, &v));
    a_store(&c->head->vals[0].used, 1);
    poolChain_pushHead(c, 9);
    CHECK_EQ(c->head->len, 16);
}

TEST_CASE(Rules, ASlotThatIsBeingEmptiedIsNotFilled) { each_release(slot_in_use); }

static void more_ps(struct m *mp)
{
    the_pool = pool_make();
    a_store(&rt->gomaxprocs, 2);
    for (int64_t v = 1; v <= 3; v++)
        put_value(v);
    CHECK_EQ(a_peek(&the_pool->localSize), 2);
    a_store(&rt->gomaxprocs, PROCS);
    move_to(mp, 1);
    CHECK_EQ(get_value(), 2); /* the array that there is will do for P 1 */
    move_to(mp, 2);
    CHECK_EQ(get_value(), 0); /* P 2 needs a larger one: what was in the old one is lost */
    CHECK_EQ(a_peek(&the_pool->localSize), PROCS);
    move_to(mp, 0);
    CHECK_EQ(get_value(), 0);
    CHECK(the_pool->lost != NULL);
    poolCleanup();
    CHECK(the_pool->lost == NULL);
    CHECK(the_pool->spare != NULL);
}

TEST_CASE(Rules, APoolsPlacesAreMadeAnewForMorePs) { each_release(more_ps); }

static void lists_pools(struct m *mp)
{
    struct pool *first = pool_make(), *second = pool_make();
    (void)mp;
    the_pool = first;
    put_value(1);
    the_pool = second;
    put_value(2);
    CHECK(rt->objs->pools->allPools == second);
    CHECK(second->next == first && first->next == NULL);
    poolCleanup(); /* of both */
    poolCleanup();
    CHECK_EQ(get_value(), 0);
    the_pool = first;
    CHECK_EQ(get_value(), 0);
}

TEST_CASE(Rules, ACollectionKnowsEveryPool) { each_release(lists_pools); }
