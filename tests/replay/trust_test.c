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
static struct agreement base, is, freed;
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
    is = freed = base;
}

static void ask(int32_t procs, bool other)
{
    struct trust_runs runs = {base, is, freed, procs, other};
    trust_of(&rp, &runs, &t);
}

TEST_CASE(Trust, AtTheRecordedSettingsTheRangeIsTheOwnError)
{
    make(40, 100000, 2);
    ask(2, false);
    int before = t.below;
    CHECK_EQ(t.above, before);
    base.makespan[1] = 110 * MS; /* so the truth is less than the answer */
    ask(2, false);
    CHECK_EQ(t.self, 100);
    CHECK_EQ(t.below, before + 100);
    CHECK_EQ(t.above, before);
    CHECK(!t.worthless);
    base.makespan[1] = 90 * MS;
    ask(2, false);
    CHECK_EQ(t.below, before);
    CHECK_EQ(t.above, before + 100);
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
    int range = t.above;
    R->asked = 1;
    ask(1, true); /* as many as were recorded */
    CHECK_LT(t.above, range + 100);
    ask(2, true); /* there were goroutines enough */
    CHECK_EQ(t.above, range + 100);
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
    int range = t.above;
    X_ROOM(R->loops, R->nloops, R->loops_room, 4);
    R->loops[R->nloops++] = (struct rec_loop){.rounds = 2, .from = MS, .until = 3 * MS};
    ask(4, true);
    CHECK_EQ(t.above, range); /* nobody waits for it */
    R->loops[0].sends = true;
    ask(4, true); /* nothing changes */
    CHECK_EQ(t.above, range);
    is.makespan[1] = 60 * MS;
    ask(4, true);
    CHECK_EQ(t.clock, 500);
    CHECK_EQ(t.above, range + 200);
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

/* A third of the running time may be under one lock: at worst that much comes one after the
 * other. */
TEST_CASE(Trust, WhatMayBeHiddenMayBeSerial)
{
    make(40, 100000, 1);
    ask(2, true);
    int below = t.below, above = t.above;
    CHECK_EQ(t.serial, 0);
    rec_cpu(1, 2 * MS); /* of 6 ms */
    rec_done();
    is.cpu[1] = 180 * MS; /* in 100 ms */
    ask(2, true);
    CHECK_EQ(t.hidden, 333);
    CHECK_EQ(t.serial, 266);
    CHECK_EQ(t.below, below);
    CHECK_EQ(t.above, above + 266);
    R->procs = 2; /* two would have met there */
    ask(4, true);
    CHECK_EQ(t.serial, 0);
}

/* Without the recorded order it would be over in 70 ms of 100: the truth may be anywhere between,
 * not above. */
TEST_CASE(Trust, TheRecordedOrderMayBeOnlyTheRecordings)
{
    make(40, 100000, 2);
    ask(4, true);
    int below = t.below, above = t.above;
    freed.makespan[1] = 70 * MS;
    ask(4, true);
    CHECK_EQ(t.freed, 300);
    CHECK_EQ(t.below, below + 300);
    CHECK_EQ(t.above, above);
    ask(2, false); /* at the recorded settings the order is what happened */
    CHECK_LT(t.below, below);
    freed.makespan[1] = 30 * MS;
    ask(4, true);
    CHECK(t.worthless);
    freed.finished = false; /* it panicked: nothing is known of it */
    ask(4, true);
    CHECK_EQ(t.freed, 0);
    CHECK(!t.worthless);
}

/* Of sends that must not wait those that could not be done are in no recording. */
TEST_CASE(Trust, WhatDoesNotWaitHangsOnTheClock)
{
    make(40, 100000, 2);
    R->deep = 10;
    uint32_t c = rec_add_object(R, OBJ_CHAN, 1, 3, "");
    rec_put(R, 0, REC_DEED, DEED_send, c + 1);
    rec_done();
    ask(4, true);
    int below = t.below, above = t.above;
    CHECK_EQ(t.tries, 0);
    rec_put(R, 0, REC_DEED, DEED_trysend, c + 1);
    rec_done();
    ask(4, true);
    CHECK_EQ(t.tries, 500);
    CHECK_EQ(t.below, below + 250);
    CHECK_EQ(t.above, above + 250);
}

/* The parts are told, and are the range. */
TEST_CASE(Trust, APartForEachReason)
{
    make(40, 100000, 2);
    base.makespan[1] = 110 * MS;
    freed.makespan[1] = 90 * MS;
    is.quota = true;
    ask(4, true);
    int below = 0, above = 0;
    for (int i = 0; i < t.nparts; i++) {
        below += t.parts[i].below;
        above += t.parts[i].above;
        CHECK(t.parts[i].why[0] != 0);
    }
    CHECK_EQ(below, t.below);
    CHECK_EQ(above, t.above);
    CHECK_EQ(t.nparts, 5);
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

TEST_CASE(Trust, WhatComesFromOutsideIsCounted)
{
    make(10, 100000, 2);
    ask(2, true);
    int range = t.above;
    for (uint32_t i = 0; i < 2; i++)
        R->waits[i].waker = REC_NONE;
    ask(2, true);
    CHECK_EQ(t.outside, 200);
    CHECK_EQ(t.above, range + 100);
    CHECK(!t.worthless);
    for (uint32_t i = 0; i < 5; i++)
        R->waits[i].waker = REC_NONE;
    ask(2, true);
    CHECK_EQ(t.above, range); /* an open load: what is asked is not the makespan */
    CHECK(!t.worthless);
}

TEST_CASE(Trust, AQuotaWidensTheRange)
{
    make(10, MS, 2);
    ask(1, true);
    int range = t.above;
    is.quota = true;
    ask(1, true);
    CHECK_EQ(t.above, range + 120);
}

TEST_CASE(Trust, TheCollectorsShareWidensTheRange)
{
    make(10, MS, 2);
    ask(1, true);
    int range = t.above;
    R->gc.worker_ns = 3 * MS; /* of 2 * 10 ms */
    R->gc.assist_ns = MS;
    ask(1, true);
    CHECK_EQ(t.gc, 200);
    CHECK_EQ(t.above, range + 100);
}
