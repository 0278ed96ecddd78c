/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of runq_test.c, for the queue of a sync.Pool's P: an owner that pushes and pops at the head
 * by a script, thieves that pop at the tail, rings of two and then four. No value is lost and none
 * comes twice, in every schedule and under every memory model.
 */

struct pool_setup {
    struct setup base; /* owner: p push, g pop */
    int pops;          /* of each thief */
};

static const struct pool_setup *pool_setup;
static struct poolChain *chain;

static void take_value(int64_t v)
{
    if (v < 1 || v > GS)
        throw("pool: a slot was read before it was written");
    taken[v]++;
}

static void pool_owner(void *arg)
{
    int64_t value = 1, v;

    (void)arg;
    for (const char *c = setup->owner; *c != '\0'; c++)
        if (*c == 'p')
            poolChain_pushHead(chain, value++);
        else if (poolChain_popHead(chain, &v))
            take_value(v);
}

static void pool_thief(void *arg)
{
    int64_t v;

    (void)arg;
    for (int i = 0; i < pool_setup->pops; i++)
        if (poolChain_popTail(chain, &v))
            take_value(v);
}

static void build_pool(void *arg)
{
    pool_setup = arg;
    setup = &pool_setup->base;
    build_world();
    chain = host_alloc(sizeof *chain, 64);
    chain->head = elt_new(chain, 2);
    a_init(&chain->tail, chain->head);
    ex_start(&ms[0]->host, pool_owner, ms[0]);
    for (int i = 1; i <= setup->thieves; i++)
        ex_start(&ms[i]->host, pool_thief, ms[i]);
}

static void check_pool(void *arg)
{
    (void)arg;
    if (ex_why() != END_DONE) {
        if (ex_why() != END_LIMIT)
            ex_fail("the threads did not end");
        return;
    }
    for (const struct poolChainElt *d = chain->made; d != NULL; d = d->made) {
        uint64_t ptrs = a_peek(&d->headTail);
        for (uint32_t i = (uint32_t)ptrs; i != (uint32_t)(ptrs >> 32); i++)
            taken[a_peek(&d->vals[i & (d->len - 1)].val)]++;
    }
    uint64_t put = 0;
    for (const char *c = setup->owner; *c != '\0'; c++)
        put += *c == 'p';
    for (uint64_t i = 1; i <= GS; i++)
        if (taken[i] != (i <= put))
            ex_fail(taken[i] == 0 ? "a value was lost" : "a value came twice");
}

static const char *pool_search(const struct pool_setup *u, enum mm_kind memory,
                               uint32_t preemptions, uint64_t runs_max)
{
    struct search s = {build_pool, check_pool, (void *)(uintptr_t)u, runs_max, false};

    setup = &u->base;
    return search_with(s, u->base.owner, memory, preemptions);
}

static const struct pool_setup push_pop = {{"pg", 1, false, 0, 0}, 1};
static const struct pool_setup both_ends = {{"ppgg", 1, false, 0, 0}, 2};
static const struct pool_setup next_ring = {{"pppp", 1, false, 0, 0}, 2};
static const struct pool_setup slot_again = {{"ppgpg", 1, false, 0, 0}, 1};
static const struct pool_setup two_pop = {{"pppg", 2, false, 0, 0}, 2};

TEST_CASE(PoolQueue, NothingIsLostAndNothingComesTwice)
{
    CHECK_STR(pool_search(&push_pop, MM_SC, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(pool_search(&push_pop, MM_TSO, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(pool_search(&both_ends, MM_SC, 3, 0), "nothing");
    CHECK_STR(pool_search(&slot_again, MM_SC, 3, 0), "nothing");
}

TEST_CASE(PoolQueue, AFullRingIsFollowedByAnother)
{
    CHECK_STR(pool_search(&next_ring, MM_SC, 3, 0), "nothing");
    CHECK_STR(pool_search(&two_pop, MM_SC, 2, 0), "nothing");
    CHECK_STR(pool_search(&two_pop, MM_TSO, 1, 0), "nothing");
}

TEST_CASE(PoolQueue, WeakMemories)
{
    CHECK_STR(pool_search(&push_pop, MM_ARM, 2, 100000), "nothing");
    CHECK_STR(pool_search(&both_ends, MM_POWER, 1, 100000), "nothing");
    CHECK_STR(pool_search(&slot_again, MM_ARM, 2, 100000), "nothing");
}

/* The order that gives a slot to consumers: without it a search finds who reads it too early. */
TEST_CASE(PoolQueue, ASlotThatChangesHandsTooEarlyIsFound)
{
    CHECK_EQ(site_weaken("poolDequeue_pushHead", VERB_add, true), 1);
    CHECK_STR(pool_search(&push_pop, MM_SC, DFS_UNBOUNDED, 0), "nothing");
    CHECK_STR(pool_search(&push_pop, MM_ARM, 2, 100000),
              "pool: a slot was read before it was written");
    site_weaken("poolDequeue_pushHead", VERB_add, false);
}
