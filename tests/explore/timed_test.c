/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the explorer's strategy `time` is the timed host with dedicated CPUs: the same operations
 * at the same instants with the same answers. Method: random programs over all verbs, run on both;
 * a table in which a cache line that is elsewhere costs nothing more, because the explorer has no
 * cache lines.
 */
#include "harness.h"
#include "timed.h"

#include "sim/base/fail.h"
#include "sim/explore/explore.h"

void timed_explore_open(uint64_t seed, const struct costs *costs, void (*sighandler)(void *))
{
    struct failure f = {0};
    struct ex_opts o = {.seed = seed, .costs = costs, .sighandler = sighandler};

    CHECK(ex_init(&f, &o));
    CHECK(ex_begin(strategy_time()));
}

void timed_explore_start(struct hostm *hm, void (*fn)(void *), void *arg) { ex_start(hm, fn, arg); }

void timed_explore_finish(void)
{
    enum world_end why = ex_run();

    ex_end();
    ex_free();
    CHECK(why == END_DONE || why == END_IDLE);
}

static struct costs exact_costs(void)
{
    struct costs c = costs_builtin;

    c.kind[COST_usleep_jitter] = 0; /* the explorer has none */
    for (int port = 0; port < PORT_COUNT; port++)
        for (int kind = 0; kind < ATOMIC_COUNT; kind++)
            c.atomic[port][kind].miss = c.atomic[port][kind].hit;
    return c;
}

static struct timed_log virt_log, explore_log;

static void compare_thread(uint64_t seed, uint32_t m)
{
    uint32_t count = virt_log.count[m];

    for (uint32_t i = 0; i < count && i < explore_log.count[m]; i++) {
        const struct timed_op *a = &virt_log.op[m][i], *b = &explore_log.op[m][i];

        if (a->at != b->at || a->value != b->value || a->op != b->op)
            FAIL_CASE("seed %llu, M%u, operation %u: virt %lld ns, op %u = %llu; explore %lld ns, "
                      "op %u = %llu",
                      (unsigned long long)seed, m, i, (long long)a->at, a->op,
                      (unsigned long long)a->value, (long long)b->at, b->op,
                      (unsigned long long)b->value);
    }
    CHECK_EQ(count, explore_log.count[m]);
}

/* How many operations were done. */
static uint32_t compare(uint64_t seed, const struct costs *costs, uint32_t ops)
{
    uint32_t done = 0;

    timed_virt_run(seed, costs, ops, &virt_log);
    timed_explore_run(seed, costs, ops, &explore_log);
    for (uint32_t m = 0; m <= TIMED_THREADS; m++) {
        compare_thread(seed, m);
        done += virt_log.count[m];
    }
    return done;
}

TEST_CASE(Timed, SameOperationsAtTheSameInstants)
{
    struct costs costs = exact_costs();
    uint32_t done = 0;

    for (uint64_t seed = 1; seed <= 300; seed++)
        done += compare(seed, &costs, 60);
    CHECK_GT(done, 300 * 100);
}

/* Everything at one instant: only the rules about ties are left. */
TEST_CASE(Timed, WithoutCostsToo)
{
    static const struct costs nothing;

    for (uint64_t seed = 1; seed <= 100; seed++)
        compare(seed, &nothing, 40);
}
