/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what an answer about a trace stands on is counted, widens its range, and makes it worthless
 * where it must. Method: recordings made by hand with one weakness each, and its opposite. */
#include <string.h>

#include "harness.h"
#include "rec.h"
#include "replay/trust.h"
#include "sim/base/alloc.h"

enum { MS = 1000000 };

static struct replay rp;
static struct agreement base, is;
static struct trust t;

/* A goroutine that runs n times for ns and waits in between for another. */
static void make(int n, int64_t ns, int procs)
{
    rec_new();
    uint32_t site = rec_site(LEAF_CHANRECV, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX),
             h = rec_goroutine(REC_NONE, "main.g", -1, INT64_MAX);
    for (int i = 0; i < n; i++) {
        rec_cpu(g, ns);
        rec_wait(g, h, site, REASON_ChanReceive, i * ns, i * ns + 1);
    }
    rec_done();
    R->procs = procs;
    R->length = n * ns;
    rp = (struct replay){.rec = R, .has_side = true};
    base = (struct agreement){
        .makespan = {100 * MS, 100 * MS}, .utilisation = {990, 990}, .finished = true};
    is = base;
}

static void ask(int32_t procs, bool other) { trust_of(&rp, &base, &is, procs, other, &t); }

TEST_CASE(Trust, AtTheRecordedSettingsTheRangeIsTheOwnError)
{
    make(40, 100000, 2);
    ask(2, false);
    int before = t.range;
    base.makespan[1] = 110 * MS;
    ask(2, false);
    CHECK_EQ(t.self, 100);
    CHECK_EQ(t.range, before + 100);
    CHECK(!t.worthless);
}

TEST_CASE(Trust, AReplayThatIsFarOffIsWorthless)
{
    make(40, 100000, 2);
    base.makespan[1] = 75 * MS;
    ask(4, true);
    CHECK(t.worthless);
    CHECK(strstr(t.why, "25.0 %") != NULL);
    base.makespan[1] = 85 * MS;
    ask(4, true);
    CHECK(!t.worthless);
    base.finished = false;
    ask(4, true);
    CHECK(t.worthless);
}

TEST_CASE(Trust, AnAnswerThatHasNoEndIsWorthless)
{
    make(40, 100000, 2);
    ask(4, true);
    CHECK(!t.worthless);
    is.finished = false;
    ask(4, true);
    CHECK(t.worthless);
    CHECK(strstr(t.why, "at these settings") != NULL);
}

TEST_CASE(Trust, WhoAsksForThePsMayStartMoreGoroutines)
{
    make(40, 100000, 1);
    R->deep = 10;
    ask(2, true);
    int range = t.range;
    R->asked = 1;
    ask(1, true); /* as many as were recorded */
    CHECK_LT(t.range, range + 100);
    ask(2, true); /* there were goroutines enough */
    CHECK_EQ(t.range, range + 100);
    CHECK(!t.worthless);
    is.utilisation[1] = 500;
    ask(2, true);
    CHECK(t.worthless);
    CHECK(strstr(t.why, "asks how many Ps") != NULL);
}

TEST_CASE(Trust, WhoIsAskedByTheClockWaitsAsOftenAsRecorded)
{
    make(40, 100000, 2); /* 4 ms */
    ask(4, true);
    int range = t.range;
    X_ROOM(R->loops, R->nloops, R->loops_room, 4);
    R->loops[R->nloops++] = (struct rec_loop){.rounds = 2, .from = MS, .until = 3 * MS};
    ask(4, true);
    CHECK_EQ(t.range, range); /* nobody waits for it */
    R->loops[0].sends = true;
    ask(4, true); /* nothing changes */
    CHECK_EQ(t.range, range);
    is.makespan[1] = 60 * MS;
    ask(4, true);
    CHECK_EQ(t.clock, 500);
    CHECK_EQ(t.range, range + 200);
}

TEST_CASE(Trust, LongStretchesAtOnePHideLocks)
{
    make(40, 2 * MS, 1);
    ask(2, true);
    CHECK_EQ(t.hidden, 1000);
    CHECK(t.worthless);
    ask(1, true); /* no more Ps than recorded */
    CHECK(!t.worthless);
    make(40, 2 * MS, 2);
    ask(4, true);
    CHECK(!t.worthless);
    make(40, 100000, 1);
    ask(2, true);
    CHECK_EQ(t.hidden, 0);
    CHECK(!t.worthless);
    make(40, 2 * MS, 1);
    R->deep = 10;
    ask(2, true);
    CHECK(!t.worthless);
}

TEST_CASE(Trust, IdlePsInTheRecordedOrderAreTheOrders)
{
    make(40, 100000, 1);
    is.utilisation[1] = 600;
    ask(2, true);
    CHECK_EQ(t.order, 1000);
    CHECK(t.worthless);
    is.utilisation[1] = 950;
    ask(2, true);
    CHECK(!t.worthless);
}

/* A Cond of a deep recording: its waits are for the recorded signals. */
TEST_CASE(Trust, TheRecordedOrderWidensADeepAnswerToo)
{
    make(40, 100000, 2);
    R->deep = 10;
    ask(2, true);
    int range = t.range;
    ask(4, true);
    CHECK_EQ(t.order, 1000);
    CHECK_EQ(t.range, range + 100);
}

TEST_CASE(Trust, WhatComesFromOutsideIsCounted)
{
    make(10, 100000, 2);
    ask(2, true);
    int range = t.range;
    for (uint32_t i = 0; i < 2; i++)
        R->waits[i].waker = REC_NONE;
    ask(2, true);
    CHECK_EQ(t.outside, 200);
    CHECK_EQ(t.range, range + 100);
    CHECK(!t.worthless);
    for (uint32_t i = 0; i < 5; i++)
        R->waits[i].waker = REC_NONE;
    ask(2, true);
    CHECK_EQ(t.range, range); /* an open load: what is asked is not the makespan */
    CHECK(!t.worthless);
}

TEST_CASE(Trust, AQuotaWidensTheRange)
{
    make(10, MS, 2);
    ask(1, true);
    int range = t.range;
    is.quota = true;
    ask(1, true);
    CHECK_EQ(t.range, range + 120);
}

TEST_CASE(Trust, TheCollectorsShareWidensTheRange)
{
    make(10, MS, 2);
    ask(1, true);
    int range = t.range;
    R->gc.worker_ns = 3 * MS; /* of 2 * 10 ms */
    R->gc.assist_ns = MS;
    ask(1, true);
    CHECK_EQ(t.gc, 200);
    CHECK_EQ(t.range, range + 100);
}
