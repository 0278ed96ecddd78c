/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about which cases of a select can go, and who is next in a queue of
 * semaphores. */

/* ---- select ---- */

enum { SEL_CHANS = 4 };
static struct hchan *sel_c[SEL_CHANS];
static uint16_t sel_poll[SEL_CHANS];

static void sel_fresh(void)
{
    for (int i = 0; i < SEL_CHANS; i++) {
        sel_c[i] = makechan(1);
        sel_c[i]->index = i;
        sel_poll[i] = (uint16_t)i;
    }
}

/* A sudog that waits there: of a select, which has been woken by another case, or of none. */
static void sel_waits(struct waitq *q, bool is_select, bool woken)
{
    struct sudog *s = acquireSudog();
    s->g = g_of(Gwaiting);
    s->isSelect = is_select;
    a_store(&s->g->selectDone, woken);
    waitq_enqueue(q, s);
}

static void who_is_a_peer(struct m *mp)
{
    struct waitq *q;
    (void)mp;
    sel_fresh();
    q = &sel_c[0]->recvq;
    CHECK(!select_peer(q));
    sel_waits(q, /*select*/ true, /*woken*/ true);
    CHECK(!select_peer(q));
    sel_waits(q, true, true);
    CHECK(!select_peer(q));
    sel_waits(q, true, false);
    CHECK(select_peer(q)); /* behind those */
    q = &sel_c[1]->recvq;
    sel_waits(q, true, false);
    CHECK(select_peer(q));
    q = &sel_c[2]->recvq;
    sel_waits(q, false, true); /* what a select left there says nothing of others */
    CHECK(select_peer(q));
}

TEST_CASE(SelectRules, WhoWasWokenByAnotherCaseIsNoPeer) { each_leak_world(27, who_is_a_peer); }

static void what_is_ready(struct m *mp)
{
    static const struct select_case cases[] = {{0, 0, 0, true}, {0, 0, 0, false}};
    struct selector s = {.cases = cases, .c = sel_c, .ncases = 2, .n = 2};
    (void)mp;
    for (int full = 0; full < 2; full++)
        for (int receiver = 0; receiver < 2; receiver++)
            for (int sender = 0; sender < 2; sender++)
                for (int closed = 0; closed < 2; closed++) {
                    sel_fresh();
                    sel_c[1] = sel_c[0];
                    if (full)
                        buf_put(sel_c[0], 5);
                    if (receiver)
                        sel_waits(&sel_c[0]->recvq, false, false);
                    if (sender)
                        sel_waits(&sel_c[0]->sendq, false, false);
                    a_store(&sel_c[0]->closed, (uint32_t)closed);
                    CHECK_EQ(select_ready(&s, 0), closed || receiver || !full);
                    CHECK_EQ(select_ready(&s, 1), closed || sender || full);
                }
}

TEST_CASE(SelectRules, ACaseIsReadyForAPeerOrTheBuffer) { each_leak_world(27, what_is_ready); }

/* By turns, drawn() takes the last of the ready ones: it comes first, the others stay in order. */
static void takes_by_turns(struct m *mp)
{
    static const struct select_case cases[SEL_CHANS] = {{.reg = 0}};
    struct selector s = {.cases = cases, .c = sel_c, .pollorder = sel_poll, .ncases = SEL_CHANS};
    (void)mp;
    for (unsigned ready = 0; ready < 1u << SEL_CHANS; ready++) {
        uint16_t want[SEL_CHANS], n = 0, last = 0;
        sel_fresh();
        s.n = SEL_CHANS;
        for (uint16_t i = 0; i < SEL_CHANS; i++)
            if ((ready >> i & 1) != 0) {
                buf_put(sel_c[i], 1);
                last = i;
            }
        want[n++] = last;
        for (uint16_t i = 0; i < SEL_CHANS; i++)
            if (i != last)
                want[n++] = i;
        select_turn(&s);
        for (int i = 0; i < SEL_CHANS; i++)
            CHECK_EQ(sel_poll[i], want[i]);
    }
}

TEST_CASE(SelectRules, ByTurnsTheDrawnCaseComesFirst) { each_leak_world(27, takes_by_turns); }

/* ---- semaphores ---- */

/* Three addresses of one root, each with waiters in line, and one that is put before the others of
 * its address. */
static void keeps_addresses(struct m *mp)
{
    enum { ADDRESSES = 3, EACH = 3 };
    struct semaRoot *root = host_alloc(sizeof *root, 64);
    semaword *addr = host_alloc(ADDRESSES * sizeof *addr, 64);
    (void)mp;
    for (int first = 0; first < ADDRESSES; first++) { /* which gets the hasty one */
        for (int k = 0; k < EACH; k++)
            for (int i = 0; i < ADDRESSES; i++) {
                struct sudog *s = acquireSudog();
                s->val = 10 * i + k;
                s->ticket = 1; /* of a turn before */
                sema_queue(root, &addr[i], s, /*lifo*/ false);
            }
        struct sudog *hasty = acquireSudog();
        hasty->val = 99;
        sema_queue(root, &addr[first], hasty, /*lifo*/ true);
        for (int i = 0; i < ADDRESSES; i++) {
            struct sudog *s = NULL;
            if (i == first)
                CHECK(sema_dequeue(root, &addr[i]) == hasty);
            for (int k = 0; k < EACH; k++) {
                s = sema_dequeue(root, &addr[i]);
                CHECK(s != NULL);
                CHECK_EQ(s->val, 10 * i + k);
                CHECK(s->next == NULL && s->prev == NULL && s->waitlink == NULL);
                CHECK_EQ(s->ticket, 0);
            }
            CHECK(sema_dequeue(root, &addr[i]) == NULL);
        }
        CHECK(root->heads == NULL);
    }
}

TEST_CASE(SemaRules, AnAddressHasItsOwnLine) { each_leak_world(27, keeps_addresses); }

/* ---- a list of Gs that become runnable ---- */

/* Nobody is idle: the own ring takes what it can, the global queue the rest. */
static void injects_many(struct m *mp)
{
    enum { MANY = RING + 5 };
    struct gList list = {0};
    struct p *pp = mp_p(mp);
    if (!prof->injectglist_local)
        return;
    a_store(&sched->npidle, 0);
    a_store(&sched->nmspinning, 1);
    for (int i = 0; i < MANY; i++)
        gList_push(&list, g_of(Gwaiting));
    injectglist(&list);
    CHECK(gList_empty(&list));
    CHECK_EQ(ring_size(pp), RING);
    CHECK_EQ(sched->runq.size, MANY - RING);
    CHECK_EQ(a_peek(&sched->runqsize), MANY - RING);
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        CHECK_EQ(readgstatus(gp), Grunnable);
    a_store(&sched->nmspinning, 0);
}

TEST_CASE(SelectRules, WhatIsInjectedIsNotLost) { each_release(injects_many); }

/* Before 1.15 an empty batch was no reason to look at anything. */
static void puts_nothing(struct m *mp)
{
    struct gQueue q = {0};
    uint64_t before = vm_now_;
    world_prof.grq_batch_unlocked = true;
    runqputbatch(mp_p(mp), &q);
    CHECK_EQ(vm_now_, before);
    world_prof.grq_batch_unlocked = false;
    runqputbatch(mp_p(mp), &q);
    CHECK_GT(vm_now_, before);
}

TEST_CASE(SelectRules, AnEmptyBatchTakesNoTime) { each_leak_world(27, puts_nothing); }
