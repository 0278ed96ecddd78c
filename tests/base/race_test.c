/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: accesses that something orders are no race, all others are, and of a variable little is
 * kept. Method: two and three goroutines by hand. */
#include "sim/base/race.h"

#include "harness.h"

enum { X = 100, M = 200 };

static void access_of(struct race *r, uint32_t goid, uint32_t pc, enum race_kind kind)
{
    race_accesses(r, &(struct race_access){goid, pc, kind}, X, 1);
}

TEST_CASE(Race, UnorderedAccessesAreReportedOnceByPlace)
{
    struct race r = {0};
    race_begin(&r);
    for (int i = 0; i < 3; i++) {
        access_of(&r, 1, 10, RACE_WRITE);
        access_of(&r, 2, 20, RACE_READ);
    }
    CHECK_EQ(r.report_count, 1);
    CHECK_EQ(r.reports[0].first.pc, 10);
    CHECK_EQ(r.reports[0].second.goid, 2);
    access_of(&r, 3, 30, RACE_ATOMIC_WRITE);
    CHECK_EQ(r.report_count, 3); /* with the write, and with the read */
    race_free(&r);
}

TEST_CASE(Race, AReleaseOrdersWhatCameBeforeIt)
{
    struct race r = {0};
    race_begin(&r);
    access_of(&r, 1, 10, RACE_WRITE);
    race_tells(&r, RACE_RELEASE, 1, M);
    race_tells(&r, RACE_ACQUIRE, 2, M);
    access_of(&r, 2, 20, RACE_WRITE);
    CHECK_EQ(r.report_count, 0);
    access_of(&r, 1, 11, RACE_READ); /* after the release */
    CHECK_EQ(r.report_count, 1);
    race_free(&r);
}

TEST_CASE(Race, AReleaseForgetsAndAMergeKeeps)
{
    enum race_edge ops[] = {RACE_RELEASE, RACE_MERGE};
    for (uint32_t i = 0; i < 2; i++) {
        struct race r = {0};
        race_begin(&r);
        access_of(&r, 1, 10, RACE_WRITE);
        race_tells(&r, RACE_RELEASE, 1, M);
        race_tells(&r, ops[i], 2, M);
        race_tells(&r, RACE_ACQUIRE, 3, M);
        access_of(&r, 3, 30, RACE_READ);
        CHECK_EQ(r.report_count, 1 - i);
        race_free(&r);
    }
}

TEST_CASE(Race, OfOrderedAccessesOneIsKept)
{
    struct race r = {0};
    race_begin(&r);
    for (uint32_t g = 1; g <= 1000; g++) {
        if (g > 1)
            race_tells(&r, RACE_CREATE, g - 1, g);
        access_of(&r, g, g, g % 3 == 0 ? RACE_READ : RACE_WRITE);
    }
    CHECK_EQ(r.report_count, 0);
    CHECK_LE(r.past_count, 3);
    race_begin(&r); /* a new run knows nothing of it */
    access_of(&r, 7, 1, RACE_WRITE);
    CHECK_EQ(r.report_count, 0);
    race_free(&r);
}

TEST_CASE(Race, TooManyGoroutinesAreNotLookedAt)
{
    struct race r = {0};
    race_begin(&r);
    for (uint32_t g = 1; g <= RACE_GOROUTINES_MAX + 2; g++)
        access_of(&r, g, 1, RACE_ATOMIC_READ);
    CHECK(r.full);
    access_of(&r, RACE_GOROUTINES_MAX + 1, 2, RACE_WRITE);
    CHECK_EQ(r.report_count, 0);
    race_free(&r);
}
