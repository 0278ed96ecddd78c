/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the lost wake-up that Go's StoreRel prevents by being sequentially consistent: interleaving
 * alone cannot show it. Method: the handshake of wakep() and of an M that stops spinning, every
 * schedule. The producer publishes work, then looks for a spinner; the M says that it spins no
 * more, then looks for work. With a plain release store in the place of StoreRel (MOV on amd64, STR
 * on arm64) each may miss the other.
 */
#include "sim/base/fail.h"

#include <host.h>

#include "harness.h"
#include "tests/explore/search.h"

static struct queue {
    ATOMIC(uint32_t) tail, spinning, sleep;
    uint32_t done;
} * q;

/* runqput, then wakep. */
static void producer_put(void *arg)
{
    (void)arg;
    a_store_rel(&q->tail, 1);
    if (a_load(&q->spinning) != 0)
        return; /* somebody looks for work: he will find it */
    a_store(&q->sleep, 1);
    futexwakeup(&q->sleep, 1);
}

static bool take(void)
{
    if (a_load(&q->tail) == 0)
        return false;
    q->done++;
    return true;
}

/* findRunnable: gives up spinning, looks once more, sleeps. */
static void spinner(void *arg)
{
    (void)arg;
    a_add(&q->spinning, -1);
    while (!take())
        futexsleep(&q->sleep, 0, -1);
}

static void build(void *arg)
{
    (void)arg;
    q = host_alloc(sizeof(*q), 64);
    a_init(&q->spinning, 1);
    ex_start(NULL, spinner, NULL);
    ex_start(NULL, producer_put, NULL);
}

static void check(void *arg)
{
    (void)arg;
    if (ex_why() == END_IDLE)
        ex_fail("lost wake-up: work in the queue, and the M sleeps");
    else if (q->done != 1)
        ex_fail("work done twice or not at all");
}

/* Does some schedule lose the wake-up? */
static bool loses(enum mm_kind memory, bool weakened)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    static struct dfs_frame frames[1 << 12];
    struct ex_opts o = {
        .memory = memory, .port = ports[memory], .ctrl = true, .memory_max = 1 << 20};
    struct search s = {build, check, NULL, 0, false};
    struct search_result r;
    struct failure f = {0};
    struct strategy_dfs dfs;

    CHECK(ex_init(&f, &o));
    CHECK_EQ(site_weaken("producer_put", VERB_store_rel, weakened), 1);
    strategy_dfs_init(&dfs, frames, sizeof(frames) / sizeof(frames[0]), DFS_UNBOUNDED);
    bool found = search_run(&s, &dfs.s, &r);
    CHECK_EQ(r.cut, 0);
    CHECK(found || (dfs.exhausted && !dfs.pruned));
    CHECK(!found || search_replay(&s, &r));
    search_result_release(&r);
    site_weaken("producer_put", VERB_store_rel, false);
    ex_free();
    return found;
}

TEST_CASE(Wake, StoreRelLosesNoWakeUp)
{
    CHECK(!loses(MM_SC, false));
    CHECK(!loses(MM_TSO, false));
    CHECK(!loses(MM_ARM, false));
    CHECK(!loses(MM_POWER, false));
}

TEST_CASE(Wake, APlainReleaseStoreIsEnoughWhereThereIsNoBuffer) { CHECK(!loses(MM_SC, true)); }

TEST_CASE(Wake, APlainReleaseStoreLosesAWakeUpUnderTso) { CHECK(loses(MM_TSO, true)); }

TEST_CASE(Wake, APlainStoreLosesAWakeUpOnArm64) { CHECK(loses(MM_ARM, true)); }

/* Go's Load begins with SYNC on ppc64: the order is in the second half of the handshake. */
TEST_CASE(Wake, Ppc64HasItsBarrierInTheLoad) { CHECK(!loses(MM_POWER, true)); }
