/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the declared orders are as strong as Go's. Method: message passing with a plain payload
 * (on real threads ThreadSanitizer would call it a race if the flag did not order it), and store
 * buffering, whose forbidden outcome real hardware shows at once when a store is too weak. */
#include "harness.h"
#include "verbs_world.h"

enum { ROUNDS = 3000 };

struct pair {
    ATOMIC(uint32_t) flag;
    char gap1[60];
    ATOMIC(uint32_t) ack;
    char gap2[60];
    uint64_t payload; /* plain on purpose */
    uint64_t bad;
};
static struct pair *p;

static void sender(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        p->payload = i * 3u;
        a_store_rel(&p->flag, i);
        while (a_load_acq(&p->ack) != i)
            osyield();
    }
}

static void receiver(void *arg)
{
    (void)arg;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (a_load_acq(&p->flag) != i)
            osyield();
        p->bad += p->payload != i * 3u;
        p->payload = 0;
        a_store_rel(&p->ack, i);
    }
}

TEST_CASE(Order, AStoreRelPublishesWhatWentBefore)
{
    p = verbs_begin(sizeof *p, NULL);
    verbs_thread(sender, p);
    verbs_thread(receiver, &p->ack);
    CHECK_EQ(verbs_run(), VERBS_IDLE);
    CHECK_EQ(p->bad, 0);
    verbs_end();
}

/* A spinning lock whose acquire is a CAS and whose release is a CasRel: Go's pattern in runqget. */
static void cas_locker(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (!a_cas(&p->flag, 0u, 1u))
            osyield();
        p->payload++;
        if (!a_cas_rel(&p->flag, 1u, 0u))
            p->bad++;
    }
}

TEST_CASE(Order, CasAndCasRelMakeALock)
{
    p = verbs_begin(sizeof *p, NULL);
    verbs_thread(cas_locker, p);
    verbs_thread(cas_locker, &p->ack);
    CHECK_EQ(verbs_run(), VERBS_IDLE);
    CHECK_EQ(p->payload, 2 * ROUNDS);
    CHECK_EQ(p->bad, 0);
    verbs_end();
}

/* ---- store buffering: x = 1; r = y  ||  y = 1; q = x  may not end with r == q == 0 ---- */

enum how { BY_STORE, BY_STORE_REL, BY_FENCE, BY_XCHG, BY_ADD };

struct sb {
    ATOMIC(uint32_t) var[2 * 16]; /* var[0], var[16]: a line each */
    ATOMIC(uint32_t) arrived;
    uint32_t saw[2][ROUNDS];
    uint32_t id[2];
    enum how how;
};
static struct sb *b;

static uint32_t store_then_load(enum how how, uint32_t mine, uint32_t other, uint32_t x)
{
    switch (how) {
    case BY_STORE: a_store(&b->var[mine], x); return a_load(&b->var[other]);
    case BY_STORE_REL: a_store_rel(&b->var[mine], x); return a_load_acq(&b->var[other]);
    case BY_FENCE:
        a_store_rlx(&b->var[mine], x);
        a_fence();
        return a_load_rlx(&b->var[other]);
    case BY_XCHG: a_xchg(&b->var[mine], x); return a_load_rlx(&b->var[other]);
    case BY_ADD: a_add(&b->var[mine], 1); return a_load_rlx(&b->var[other]);
    }
    return 0;
}

/* Both meet before each round, so that they run it at the same time. */
static void meet(uint32_t round)
{
    a_add(&b->arrived, 1);
    for (uint32_t n = 0; a_load(&b->arrived) < 2 * round; n++)
        if (n > 200)
            osyield();
}

static void sb_thread(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    for (uint32_t i = 1; i <= ROUNDS; i++) {
        meet(i);
        b->saw[me][i - 1] = store_then_load(b->how, 16 * me, 16 * (1 - me), i);
    }
}

static void store_buffering(enum how how)
{
    b = verbs_begin(sizeof *b, NULL);
    b->how = how;
    for (uint32_t i = 0; i < 2; i++) {
        b->id[i] = i;
        verbs_thread(sb_thread, &b->id[i]);
    }
    CHECK_EQ(verbs_run(), VERBS_IDLE);
    for (uint32_t i = 0; i < ROUNDS; i++)
        CHECK(b->saw[0][i] > i || b->saw[1][i] > i); /* somebody saw this round's store */
    verbs_end();
}

TEST_CASE(Order, SequentialStoreThenLoad) { store_buffering(BY_STORE); }
TEST_CASE(Order, GoReleaseStoreThenAcquireLoadIsSequentialToo) { store_buffering(BY_STORE_REL); }
TEST_CASE(Order, AFenceKeepsAStoreBeforeALoad) { store_buffering(BY_FENCE); }
TEST_CASE(Order, AnExchangeKeepsItselfBeforeALoad) { store_buffering(BY_XCHG); }
TEST_CASE(Order, AnAddKeepsItselfBeforeALoad) { store_buffering(BY_ADD); }
