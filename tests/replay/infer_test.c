/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: each pass concludes what is so, and nothing where it is not so. Method: recordings made by
 * hand, one that has what the pass looks for and one with the opposite. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "model/prog.h"
#include "rec.h"
#include "sim/base/alloc.h"

enum { US = 1000, MS = 1000000 };

static struct infer_found found;

static void pass(void (*fn)(struct recording *, struct infer_found *))
{
    found = (struct infer_found){0};
    rec_done();
    fn(R, &found);
}

/* ---- wait groups ---- */

/* main starts three and waits; the last one that ends wakes it. */
static uint32_t three_workers(int64_t last_ends)
{
    rec_new();
    uint32_t site = rec_site(LEAF_WAITGROUP, "main.main");
    uint32_t m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    (void)rec_goroutine(m, "main.w", 1 * US, 40 * US);
    (void)rec_goroutine(m, "main.w", 2 * US, 60 * US);
    uint32_t last = rec_goroutine(m, "main.w", 3 * US, last_ends);
    return rec_wait(m, last, site, REASON_SyncWaitGroupWait, 5 * US, 80 * US);
}

TEST_CASE(Infer, WhoEndedBeforeAWaitGroupsWakeIsAMember)
{
    uint32_t w = three_workers(81 * US);
    uint32_t stranger = rec_goroutine(1, "main.other", 4 * US, 50 * US);
    uint32_t later = rec_goroutine(0, "main.w", 4 * US, 90 * US);
    pass(infer_waitgroups);
    CHECK_EQ(found.count, 1);
    CHECK_EQ(R->waits[w].how, HOW_OBJECT);
    CHECK_EQ(R->objects[R->waits[w].object].kind, OBJ_WAITGROUP);
    CHECK_EQ(R->objects[R->waits[w].object].members, 3);
    for (uint32_t g = 1; g <= 3; g++)
        CHECK_EQ(R->gs[g].done, R->waits[w].object);
    CHECK_EQ(R->gs[stranger].done, REC_NONE); /* another made it */
    CHECK_EQ(R->gs[later].done, REC_NONE);    /* it ended too late to be waited for */
}

TEST_CASE(Infer, AWakerThatLivesOnIsNoMember)
{
    uint32_t w = three_workers(INT64_MAX);
    pass(infer_waitgroups);
    CHECK_EQ(found.count, 0);
    CHECK_EQ(found.of, 1);
    CHECK_EQ(R->waits[w].how, HOW_TOKEN);
    for (uint32_t g = 1; g <= 3; g++)
        CHECK_EQ(R->gs[g].done, REC_NONE);
}

TEST_CASE(Infer, AWakeOfAMutexIsNoWaitGroup)
{
    uint32_t w = three_workers(81 * US);
    R->sites[R->waits[w].site].leaf = LEAF_MUTEX;
    pass(infer_waitgroups);
    CHECK_EQ(found.of, 0);
    CHECK_EQ(R->waits[w].how, HOW_TOKEN);
}

/* ---- connections of a deep recording ---- */

static uint32_t io(uint32_t object, uint32_t g, bool writes, uint64_t bytes, uint32_t wait)
{
    X_ROOM(R->ios, R->nios, R->ios_room, 16);
    R->ios[R->nios] = (struct rec_io){.object = object,
                                      .g = g,
                                      .deed = R->gs[g].deeds++,
                                      .wait = wait,
                                      .next = REC_NONE,
                                      .writes = writes,
                                      .bytes = bytes};
    return R->nios++;
}

/* A reader that waits once; what was written in parts it reads at once, and the other way round. */
TEST_CASE(Infer, AReadTakesTheWritesWhoseBytesItReads)
{
    rec_new();
    uint32_t site = rec_site(LEAF_READ, "main.read"),
             w = rec_goroutine(REC_NONE, "main.write", -1, INT64_MAX),
             g = rec_goroutine(REC_NONE, "main.read", -1, INT64_MAX),
             fd = rec_add_object(R, OBJ_FD, 0, 3, "");
    uint32_t wait = rec_wait(g, REC_NONE, site, REASON_IOWait, 10 * US, 50 * US);
    (void)io(fd, w, true, 100, REC_NONE);
    uint32_t first = io(fd, g, false, 60, wait), rest = io(fd, g, false, 40, REC_NONE);
    (void)io(fd, w, true, 10, REC_NONE);
    (void)io(fd, w, true, 20, REC_NONE);
    uint32_t both = io(fd, g, false, 30, REC_NONE), end = io(fd, g, false, 0, REC_NONE);
    pass(infer_network);
    CHECK_EQ(R->ios[first].takes, 1);
    CHECK_EQ(R->ios[rest].takes, 0);
    CHECK_EQ(R->ios[both].takes, 2);
    CHECK_EQ(R->ios[end].takes, 0);
    CHECK_EQ(R->waits[wait].how, HOW_NET);
    CHECK_EQ(R->waits[wait].object, fd);
    CHECK_EQ(R->waits[wait].takes, 1);
    CHECK_EQ(R->objects[fd].param, 3); /* so many arrive */
    CHECK(!R->objects[fd].tokens);
    CHECK_EQ(found.count, 1);
}

/* What came from outside, and what others wrote, too (sendfile), is as it was recorded. */
TEST_CASE(Infer, MoreReadThanWrittenIsNotTheProgramsAlone)
{
    rec_new();
    uint32_t site = rec_site(LEAF_READ, "main.read"),
             w = rec_goroutine(REC_NONE, "main.write", -1, INT64_MAX),
             g = rec_goroutine(REC_NONE, "main.read", -1, INT64_MAX),
             outside = rec_add_object(R, OBJ_FD, 0, 3, ""),
             fd = rec_add_object(R, OBJ_FD, 0, 3, "");
    uint32_t a = rec_wait(g, REC_NONE, site, REASON_IOWait, 10 * US, 50 * US),
             b = rec_wait(g, REC_NONE, site, REASON_IOWait, 60 * US, 90 * US);
    (void)io(outside, g, false, 60, a);
    (void)io(fd, w, true, 100, REC_NONE);
    (void)io(fd, g, false, 130, b);
    pass(infer_network);
    CHECK_EQ(R->waits[a].how, HOW_TOKEN);
    CHECK_EQ(R->waits[b].how, HOW_TOKEN);
    CHECK_EQ(R->objects[outside].param, 0);
    CHECK(R->objects[fd].tokens);
}

/* ---- collections ---- */

/* n that ended: 3 MB marked, 6 MB the next goal. */
static void collections(int n, int64_t goal_kb)
{
    rec_new();
    (void)rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    R->sums.gcs = 4;
    R->gc = (struct rec_gc){.paced = n,
                            .marked = n * INT64_C(3072),
                            .goal = n * goal_kb,
                            .worker_ns = n * INT64_C(2 * 3072 * 100),
                            .assist_ns = n * INT64_C(3072 * 100)};
}

TEST_CASE(Infer, WhatCollectionsMarkedAndTookIsHowFastTheyAre)
{
    collections(3, 6144);
    pass(infer_gc);
    CHECK(R->gc.replayed);
    CHECK_EQ(found.count, 3);
    CHECK_EQ(found.of, 4);
    CHECK_EQ(R->gc.live, 3 << 20);
    CHECK_EQ(R->gc.ns_per_kb, 300);
    CHECK_EQ(R->gc.percent, 100);
    collections(1, 3072 * 5);
    pass(infer_gc);
    CHECK_EQ(R->gc.percent, 375); /* and 400 would be 16 MB at least */
}

TEST_CASE(Infer, WithoutACollectionThatEndedNothingIsKnownOfIt)
{
    collections(0, 0);
    pass(infer_gc);
    CHECK(!R->gc.replayed);
    CHECK_EQ(found.count, 0);
}

/* ---- work by the clock ---- */

/* Selects at one place that a timer ends, each with some work behind it; then `stops` ends one. */
static uint32_t by_clock(int n, uint32_t stops)
{
    uint32_t site = rec_site(LEAF_SELECT, "main.sum"),
             g = rec_goroutine(REC_NONE, "main.sum", -1, INT64_MAX);
    for (int i = 0; i < n; i++) {
        uint32_t w = rec_wait(g, REC_NONE, site, REASON_Select, (2 * i) * MS, (2 * i + 2) * MS);
        R->waits[w].how = HOW_TIMER;
        rec_cpu(g, 10 * US);
    }
    if (stops != REC_NONE)
        (void)rec_wait(g, stops, site, REASON_Select, 2 * n * MS, (2 * n + 1) * MS);
    return g;
}

TEST_CASE(Infer, RoundsUntilSomebodySaysStopAreNotWaitedFor)
{
    rec_new();
    uint32_t m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX), g = by_clock(5, m);
    pass(infer_ticks);
    CHECK_EQ(found.count, 1);
    CHECK_EQ(R->nloops, 1);
    CHECK_EQ(R->loops[0].g, g);
    CHECK_EQ(R->loops[0].rounds, 5);
    CHECK_EQ(R->loops[0].first, 0);
    CHECK_EQ(R->loops[0].last, 10); /* five waits, five times of work */
}

TEST_CASE(Infer, RoundsForEverAreNotWaitedFor)
{
    rec_new();
    uint32_t g = by_clock(3, REC_NONE);
    uint32_t w = rec_wait(g, REC_NONE, R->nsites - 1, REASON_Select, 6 * MS, INT64_MAX);
    pass(infer_ticks);
    CHECK_EQ(R->waits[w].woken, INT64_MAX);
    CHECK_EQ(R->nloops, 1);
    CHECK_EQ(R->loops[0].last, 6);
}

TEST_CASE(Infer, RoundsThatEndByThemselvesAreWaitedFor)
{
    rec_new();
    (void)by_clock(5, REC_NONE); /* it counted to five */
    pass(infer_ticks);
    CHECK_EQ(found.of, 1);
    CHECK_EQ(R->nloops, 0);
}

TEST_CASE(Infer, OneRoundIsATimeout)
{
    rec_new();
    uint32_t m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    (void)by_clock(1, m);
    pass(infer_ticks);
    CHECK_EQ(found.of, 0);
    CHECK_EQ(R->nloops, 0);
}

TEST_CASE(Infer, RoundsAfterTheStopArePartOfWhatTheyFollow)
{
    rec_new();
    uint32_t m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX), g = by_clock(5, m);
    uint32_t w = rec_wait(g, REC_NONE, R->nsites - 1, REASON_Select, 20 * MS, 22 * MS);
    R->waits[w].how = HOW_TIMER;
    pass(infer_ticks);
    CHECK_EQ(R->nloops, 0);
}

static void operation(uint32_t g, enum rec_deed deed, uint64_t number, uint32_t object)
{
    rec_put(R, g, REC_DEED, (uint64_t)deed | number << 8, object == REC_NONE ? 0 : object + 1);
}

/* A deep one: a select of a ticker and of another channel takes this case. */
static void deep_select(uint32_t g, uint32_t ticker, uint32_t other, uint64_t taken)
{
    operation(g, DEED_select, 2, REC_NONE);
    operation(g, DEED_selrecv, 0, ticker);
    operation(g, DEED_selrecv, 0, other);
    operation(g, DEED_selected, taken + (UINT64_C(1) << 32), REC_NONE);
}

TEST_CASE(Infer, DeepRoundsAreThoseOfTheTicker)
{
    rec_new();
    uint32_t ticker = rec_add_object(R, OBJ_CHAN, 1, 3, "t"),
             stop = rec_add_object(R, OBJ_CHAN, 0, 3, "stop"),
             g = rec_goroutine(REC_NONE, "main.sum", -1, INT64_MAX);
    R->objects[ticker].timer = true;
    for (int i = 0; i < 4; i++)
        deep_select(g, ticker, stop, 0);
    deep_select(g, ticker, stop, 1);
    pass(infer_ticks);
    CHECK_EQ(R->nloops, 1);
    CHECK_EQ(R->loops[0].first, 0);
    CHECK_EQ(R->loops[0].last, 16); /* four entries each */
    CHECK(R->objects[ticker].looped);
    CHECK(!R->objects[stop].looped);
}

/* time.After: each select has a timer of its own. */
TEST_CASE(Infer, ASelectWithANewTimerEachTimeIsKnownByItsPlace)
{
    for (int moves = 0; moves < 2; moves++) {
        rec_new();
        uint32_t stop = rec_add_object(R, OBJ_CHAN, 0, 3, "stop"),
                 g = rec_goroutine(REC_NONE, "main.sum", -1, INT64_MAX);
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t timer = rec_add_object(R, OBJ_CHAN, 1, 3, "t");
            R->objects[timer].timer = true;
            operation(g, DEED_timer, 2 * MS, timer);
            rec_put(R, g, REC_SITE, moves != 0 ? i : 0, 0);
            deep_select(g, timer, stop, i == 3);
            operation(g, DEED_send, 0, stop);
        }
        pass(infer_ticks);
        CHECK_EQ(R->nloops, moves != 0 ? 0 : 1); /* four places: none of them again and again */
        if (moves != 0)
            continue;
        CHECK_EQ(R->loops[0].rounds, 3);
        CHECK_EQ(R->loops[0].first, 2);
        CHECK(R->loops[0].sends);
    }
}

/* ---- items ---- */

static uint32_t item(uint32_t object, uint32_t g, bool sends)
{
    X_ROOM(R->items, R->nitems, R->items_room, 16);
    R->items[R->nitems] = (struct rec_item){
        .object = object, .g = g, .deed = R->gs[g].deeds++, .other = REC_NONE, .sends = sends};
    operation(g, sends ? DEED_send : DEED_recv, 0, object);
    return R->nitems++;
}

/* Two send jobs, one asks; who receives has taken them by a select of both channels, or not. */
static uint32_t hub(bool selects, uint32_t *job, uint32_t *question)
{
    rec_new();
    uint32_t jobs = rec_add_object(R, OBJ_CHAN, 1, 3, "jobs"),
             asks = rec_add_object(R, OBJ_CHAN, 1, 3, "asks"),
             a = rec_goroutine(REC_NONE, "main.a", -1, INT64_MAX),
             b = rec_goroutine(REC_NONE, "main.b", -1, INT64_MAX),
             g = rec_goroutine(REC_NONE, "main.hub", -1, INT64_MAX);
    for (int i = 0; i < 4; i++)
        (void)item(i == 2 ? asks : jobs, i % 2 == 0 ? a : b, true);
    X_ROOM(R->cases, R->ncases, R->cases_room, 16);
    R->cases[R->ncases++] = jobs;
    X_ROOM(R->cases, R->ncases, R->cases_room, 16);
    R->cases[R->ncases++] = asks;
    for (int i = 0; i < 4; i++) {
        uint32_t it = item(i == 2 ? asks : jobs, g, false);
        R->items[it].ncases = selects ? 2 : 0;
        *(i == 2 ? question : job) = it;
    }
    return g;
}

TEST_CASE(Infer, ASelectTakesTheItemsOfAllItsChannels)
{
    uint32_t job, question, g = hub(true, &job, &question);
    pass(infer_items);
    CHECK_EQ(found.count, 2);
    CHECK_EQ(R->gs[g].deals, R->items[job].object);
    CHECK(rec_is_dealt(R, &R->items[job]));
    CHECK(rec_is_dealt(R, &R->items[question]));
}

TEST_CASE(Infer, WhatIsReceivedAloneGoesWithTheItemBefore)
{
    uint32_t job, question;
    (void)hub(false, &job, &question);
    pass(infer_items);
    CHECK_EQ(found.count, 1);
    CHECK(rec_is_dealt(R, &R->items[job]));
    CHECK(!rec_is_dealt(R, &R->items[question]));
}

TEST_CASE(Infer, AChannelThatIsClosedIsNoneOfThem)
{
    uint32_t job, question;
    (void)hub(true, &job, &question);
    R->objects[R->items[question].object].closed = true; /* that one would be taken for ever */
    pass(infer_items);
    CHECK_EQ(found.count, 1);
    CHECK(!rec_is_dealt(R, &R->items[question]));
}

TEST_CASE(Infer, WhatSendersGaveUpIsNotDealt)
{
    for (uint32_t passed = 0; passed < 2; passed++) {
        uint32_t job, question;
        (void)hub(false, &job, &question);
        R->objects[R->items[job].object].passed = passed;
        pass(infer_items);
        CHECK_EQ(rec_is_dealt(R, &R->items[job]), passed == 0);
    }
}

TEST_CASE(Infer, OneChannelOfManyIsNotWhatAGoroutineLivesBy)
{
    for (uint32_t others = 4; others <= 40; others *= 10) {
        uint32_t job, question, g = hub(false, &job, &question);
        for (uint32_t i = 0; i < others; i++)
            (void)item(rec_add_object(R, OBJ_CHAN, 1, 3, "answer"), g, false);
        pass(infer_items);
        CHECK_EQ(rec_is_dealt(R, &R->items[job]), others == 4);
    }
}

/* A batch that goes out when it is old enough: the timer is set at its first item. */
static uint32_t batches(bool set_at_each)
{
    rec_new();
    uint32_t in = rec_add_object(R, OBJ_CHAN, 1, 3, "in"),
             timer = rec_add_object(R, OBJ_CHAN, 1, 3, "timer"),
             a = rec_goroutine(REC_NONE, "main.a", -1, INT64_MAX),
             b = rec_goroutine(REC_NONE, "main.b", -1, INT64_MAX),
             g = rec_goroutine(REC_NONE, "main.gather", -1, INT64_MAX);
    R->objects[timer].timer = true;
    for (int i = 0; i < 4; i++)
        (void)item(in, i % 2 == 0 ? a : b, true);
    for (int i = 0; i < 4; i++) {
        (void)item(in, g, false);
        if (i == 0 || set_at_each) {
            operation(g, DEED_treset, 400, timer);
            R->gs[g].deeds++;
        }
        if (i == 3)
            (void)item(timer, g, false);
    }
    return g;
}

TEST_CASE(Infer, WhoWaitsForATimerOfAnotherItemGoesByWhatItHasSeen)
{
    uint32_t g = batches(false);
    pass(infer_items);
    CHECK_EQ(R->gs[g].deals, REC_NONE);
    g = batches(true);
    pass(infer_items);
    CHECK_EQ(R->gs[g].deals, 0);
}

/* ---- sleeps ---- */

/* n sleeps of a goroutine: of ns each, seen late by up to late_ns, or of random lengths. */
static void sleeps(int n, bool constant)
{
    int64_t at = 0;
    rec_new();
    uint32_t site = rec_site(LEAF_SLEEP, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX);
    for (int i = 0; i < n; i++) {
        int64_t ns = constant ? 250 * US : 100 * US + i * 137 * US, late = (i * 7919) % 90 * US;
        uint32_t w = rec_wait(g, REC_NONE, site, REASON_Sleep, at, at + ns + late);
        R->waits[w].due_low = at + ns + late - 100 * US; /* the look before */
        at += ns + late + 10 * US;
    }
    pass(infer_sleeps);
}

TEST_CASE(Infer, SleepsOfOneLengthHaveThatLength)
{
    sleeps(40, true);
    CHECK_EQ(found.count, 40);
    CHECK_EQ(found.confidence, 1000);
    for (uint32_t i = 0; i < R->nwaits; i++) {
        CHECK_EQ(R->waits[i].how, HOW_TIMER);
        CHECK_EQ(R->waits[i].sleep_ns, 250 * US);
    }
}

TEST_CASE(Infer, SleepsOfManyLengthsKeepTheirOwn)
{
    sleeps(40, false);
    CHECK_EQ(found.count, 40);
    CHECK_EQ(found.confidence, 0);
    for (uint32_t i = 0; i < R->nwaits; i++) {
        const struct rec_wait *w = &R->waits[i];
        CHECK_LE(w->woken - 100 * US - w->from, w->sleep_ns);
        CHECK_LE(w->sleep_ns, w->woken - w->from);
    }
}

/* Two sleepers of one look are woken one behind the other: their timers were due in that order,
 * evenly spread since the look before. */
TEST_CASE(Infer, SleepersOfOneLookAreSpread)
{
    rec_new();
    uint32_t site = rec_site(LEAF_SLEEP, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX),
             h = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX);
    uint32_t a = rec_wait(g, REC_NONE, site, REASON_Sleep, 0, 900 * US),
             b = rec_wait(h, REC_NONE, site, REASON_Sleep, 0, 901 * US);
    R->waits[a].due_low = R->waits[b].due_low = 300 * US;
    pass(infer_sleeps);
    CHECK_EQ(R->waits[a].sleep_ns, 500 * US);
    CHECK_LE(R->waits[b].sleep_ns, 701 * US);
    CHECK_LE(700 * US, R->waits[b].sleep_ns);
}

/* A P that runs one goroutine for 9 ms looks at its timers after that: the sleep was over at any
 * time since. A P that was idle looks when its poll is over. */
TEST_CASE(Infer, ABusyPLooksLate)
{
    rec_new();
    uint32_t site = rec_site(LEAF_SELECT, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX);
    uint32_t w = rec_wait(g, REC_NONE, site, REASON_Select, 0, 9000 * US);
    R->waits[w].by_sched = R->waits[w].look_busy = true;
    R->waits[w].due_low = 1000 * US;
    pass(infer_sleeps);
    CHECK_EQ(R->waits[w].how, HOW_TIMER);
    CHECK_EQ(R->waits[w].sleep_ns, 5000 * US);
    R->waits[w].how = HOW_TOKEN;
    R->waits[w].look_busy = false;
    R->waits[w].due_low = 1000 * US;
    pass(infer_sleeps);
    CHECK_EQ(R->waits[w].sleep_ns, 8500 * US);
}

/* Whom another thread woke without a P was not woken by a timer. */
TEST_CASE(Infer, ASelectThatNoSchedulerWokeDidNotSleep)
{
    rec_new();
    uint32_t site = rec_site(LEAF_SELECT, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX);
    uint32_t w = rec_wait(g, REC_NONE, site, REASON_Select, 0, 9000 * US);
    R->waits[w].by_sched = false;
    pass(infer_sleeps);
    CHECK_EQ(R->waits[w].how, HOW_TOKEN);
}

TEST_CASE(Infer, ASleeperThatAGoroutineWokeDidNotSleep)
{
    rec_new();
    uint32_t site = rec_site(LEAF_SLEEP, "main.f"),
             g = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX),
             h = rec_goroutine(REC_NONE, "main.g", -1, INT64_MAX);
    uint32_t w = rec_wait(g, h, site, REASON_Sleep, 0, 900 * US);
    pass(infer_sleeps);
    CHECK_EQ(found.of, 0);
    CHECK_EQ(R->waits[w].how, HOW_TOKEN);
}

/* ---- timers ---- */

/* Ten goroutines that timers start, each of which wakes main. armed_at is what main did when it
 * armed them: 0 it blocked, 1 it was woken before that, 2 it woke `other` in between. The time from
 * there to the firing is always the same, from the other two it varies. */
static void timers(int armed_at)
{
    rec_new();
    uint32_t site = rec_site(LEAF_SELECT, "main.main"),
             m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX),
             other = rec_goroutine(REC_NONE, "main.o", -1, INT64_MAX);
    int64_t at = 0;
    for (int i = 0; i < 10; i++) {
        int64_t vary = (i * 7919) % 400 * US;
        uint32_t before = rec_wait(m, other, site, REASON_Select, at, at + 100 * US);
        int64_t woken = at + 100 * US, posted = woken + 200 * US + vary;
        (void)rec_wait(other, m, site, REASON_Select, at, posted);
        int64_t block = posted + 300 * US + vary;
        int64_t from[3] = {block, woken, posted};
        int64_t fires = from[armed_at] + 3 * MS;
        uint32_t g = rec_goroutine(REC_NONE, "main.timeout", fires, fires + 5 * US);
        R->gs[g].by_timer = true;
        R->gs[g].born_low = fires - 50 * US;
        (void)rec_wait(m, g, site, REASON_Select, block, fires + 2 * US);
        at = fires + 100 * US + vary;
        (void)before;
    }
    pass(infer_timers);
}

TEST_CASE(Infer, ATimerWasArmedWhereTheTimeToFiringVariesLeast)
{
    static const uint8_t when[3] = {WHEN_BLOCKS, WHEN_WAKES, WHEN_POSTS};
    for (int armed_at = 0; armed_at < 3; armed_at++) {
        timers(armed_at);
        CHECK_EQ(found.count, 10);
        CHECK_EQ(found.confidence, 1000);
        CHECK_EQ(R->narms, 10);
        for (uint32_t i = 0; i < R->narms; i++) {
            CHECK_EQ(R->arms[i].when, when[armed_at]);
            CHECK_EQ(R->arms[i].by, 0);
            CHECK_EQ(R->arms[i].after_ns, 3 * MS);
        }
    }
}

TEST_CASE(Infer, AGoroutineThatAnotherMadeHasNoTimer)
{
    rec_new();
    uint32_t m = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    (void)rec_goroutine(m, "main.f", 1 * MS, 2 * MS);
    pass(infer_timers);
    CHECK_EQ(found.of, 0);
    CHECK_EQ(R->narms, 0);
}

/* ---- descriptors ---- */

/* Pairs of a writer and a reader; in each round all write, in some order, and then one look of the
 * poller wakes the readers, in the order of the writes or in reverse. */
static void rounds(int pairs, int n, bool reverse, bool system)
{
    uint32_t w[8], r[8];
    rec_new();
    uint32_t write = rec_site(LEAF_WRITE, "main.w"), read = rec_site(LEAF_READ, "main.r");
    for (int i = 0; i < pairs; i++) {
        w[i] = rec_goroutine(REC_NONE, "main.w", -1, INT64_MAX);
        r[i] = rec_goroutine(REC_NONE, "main.r", -1, INT64_MAX);
        R->gs[w[i]].system = system;
    }
    for (int k = 0; k < n; k++) {
        int64_t at = k * 10 * MS;
        int writes = pairs - (k % 3 == 2); /* the last round of three lacks one */
        for (int i = 0; i < pairs; i++)
            rec_write(w[(i + k) % pairs], write, at + (i + 2) * 100 * US,
                      at + (i + 2) * 100 * US + 20 * US);
        for (int i = 0; i < writes; i++) {
            int j = reverse ? writes - 1 - i : i;
            uint32_t x = rec_wait(r[(j + k) % pairs], REC_NONE, read, REASON_IOWait, at,
                                  at + 2 * MS + i * 100);
            R->waits[x].due_low = at + 1900 * US;
        }
    }
    pass(infer_network);
}

TEST_CASE(Infer, AReaderWasWokenByItsWriter)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        rounds(4, 12, reverse, false);
        CHECK_EQ(found.count, found.of);
        for (uint32_t i = 0; i < R->nwrites; i++) {
            if (R->writes[i].object == REC_NONE)
                continue;
            uint32_t reader = R->writes[i].g + 1, seen = 0; /* they were made in pairs */
            for (uint32_t k = 0; k < R->nwaits; k++)
                if (R->waits[k].object == R->writes[i].object) {
                    CHECK_EQ(R->waits[k].g, reader);
                    seen++;
                }
            CHECK_LT(0, seen);
        }
    }
}

TEST_CASE(Infer, WritesOfTheRuntimeWakeNobody)
{
    rounds(4, 12, false, true);
    CHECK_EQ(found.count, 0);
    CHECK_LT(0, found.of);
}

TEST_CASE(Infer, AWriteBeforeTheReaderWaitedIsNotWhatWokeIt)
{
    rec_new();
    uint32_t write = rec_site(LEAF_WRITE, "main.w"), read = rec_site(LEAF_READ, "main.r");
    uint32_t w = rec_goroutine(REC_NONE, "main.w", -1, INT64_MAX),
             r = rec_goroutine(REC_NONE, "main.r", -1, INT64_MAX);
    rec_write(w, write, 10 * US, 20 * US);
    uint32_t x = rec_wait(r, REC_NONE, read, REASON_IOWait, 30 * US, 90 * US);
    pass(infer_network);
    CHECK_EQ(found.of, 1);
    CHECK_EQ(found.count, 0);
    CHECK_EQ(R->waits[x].how, HOW_TOKEN);
}

/* ---- what waking a thread costs ---- */

/* g wakes h; every other time an idle P is started for it, and then what follows takes `call` more
 * and h runs on another thread after 12 us. */
static void wakes_threads(int n, int64_t call)
{
    rec_new();
    uint32_t recv = rec_site(LEAF_CHANRECV, "main.h"), send = rec_site(LEAF_CHANSEND, "main.g"),
             g = rec_goroutine(REC_NONE, "main.g", -1, INT64_MAX),
             h = rec_goroutine(REC_NONE, "main.h", -1, INT64_MAX);
    for (int i = 0; i < n; i++) {
        uint32_t w = rec_wait(h, g, recv, REASON_ChanReceive, i * MS, i * MS + 10 * US);
        R->waits[w].by_site = send;
        R->waits[w].woke_p = i % 2 == 0;
        rec_cpu(g, 3 * US + i % 7 + (i % 2 == 0 ? call : 0));
        if (i % 2 == 0) {
            X_ROOM(R->wakes.ns, R->wakes.count, R->wakes.room, 64);
            R->wakes.ns[R->wakes.count++] = 12 * US + i % 5;
        }
    }
    pass(infer_calibrate);
}

TEST_CASE(Infer, WhatWakesOfThreadsTookIsWhatTheyCost)
{
    wakes_threads(200, 4 * US);
    CHECK_EQ(found.count, 100);
    CHECK_LE(3990, R->wake_call_ns);
    CHECK_LE(R->wake_call_ns, 4010);
    CHECK_LE(7000, R->wake_call_ns + R->wake_latency_ns);
    CHECK_LE(R->wake_call_ns + R->wake_latency_ns, 12 * US);
}

TEST_CASE(Infer, AFewWakesOfThreadsSayNothing)
{
    wakes_threads(20, 4 * US);
    CHECK_EQ(found.of, 10);
    CHECK_EQ(found.count, 0);
    CHECK_EQ(R->wake_latency_ns, 0);
}

/* Stretches that are as long without: what the call took of the wake is not known. */
TEST_CASE(Infer, ACallThatDoesNotShowIsHalfOfTheWake)
{
    wakes_threads(200, 0);
    CHECK_EQ(found.count, 100);
    CHECK_LE(llabs((long long)(R->wake_call_ns - R->wake_latency_ns)), 1);
}

/* ---- locked threads ---- */

TEST_CASE(Infer, LockedIsWhoseThreadGetsAPJustForIt)
{
    rec_new();
    uint32_t locked = rec_goroutine(REC_NONE, "main.l", -1, INT64_MAX),
             alone = rec_goroutine(REC_NONE, "main.a", -1, INT64_MAX),
             moves = rec_goroutine(REC_NONE, "main.m", -1, INT64_MAX);
    R->gs[locked].starts = R->gs[alone].starts = R->gs[moves].starts = 100;
    R->gs[locked].fresh = 95;
    R->gs[locked].run_by = 1;
    R->gs[alone].fresh = 10; /* the same thread always, but it finds its goroutine itself */
    R->gs[alone].run_by = 2;
    R->gs[moves].fresh = 95;
    pass(infer_locked);
    CHECK_EQ(found.count, 1);
    CHECK(R->gs[locked].locked);
    CHECK(!R->gs[alone].locked);
    CHECK(!R->gs[moves].locked);
}

/* ---- what no schedule can satisfy ---- */

TEST_CASE(Infer, AConclusionThatCannotBeIsTakenBack)
{
    rec_new();
    uint32_t write = rec_site(LEAF_WRITE, "main.w"), read = rec_site(LEAF_READ, "main.r");
    uint32_t g = rec_goroutine(REC_NONE, "main.g", -1, INT64_MAX);
    uint32_t x = rec_wait(g, REC_NONE, read, REASON_IOWait, 30 * US, 90 * US);
    rec_write(g, write, 100 * US, 110 * US); /* its own write, after the wait */
    uint32_t fd = rec_add_object(R, OBJ_FD, 1, 2, "");
    R->waits[x].how = HOW_NET;
    R->waits[x].object = R->writes[0].object = fd;
    pass(infer_feasible);
    CHECK_EQ(found.count, 1);
    CHECK_EQ(R->waits[x].how, HOW_OUTSIDE);
}

TEST_CASE(Infer, AConclusionThatCanBeStays)
{
    rounds(4, 12, false, false);
    struct infer_found f = {0};
    infer_feasible(R, &f);
    CHECK_EQ(f.count, 0);
    three_workers(81 * US);
    pass(infer_waitgroups);
    infer_feasible(R, &f);
    CHECK_EQ(f.count, 0);
}

/* g wakes h out of a lock at 200: it had that only while it ran, or slept with it. */
static bool brief(int64_t sleeps, int64_t wakes, int64_t calls_ns, enum rec_leaf leaf)
{
    rec_new();
    uint32_t lock = rec_site(leaf, "main.f"), sleep = rec_site(LEAF_SLEEP, "main.g"),
             g = rec_goroutine(REC_NONE, "main.g", -1, INT64_MAX),
             h = rec_goroutine(REC_NONE, "main.f", -1, INT64_MAX);
    struct infer_found f = {0};
    uint32_t w = REC_NONE;
    if (sleeps < 100)
        (void)rec_wait(g, REC_NONE, sleep, REASON_Sleep, sleeps, wakes);
    w = rec_wait(h, g, lock, REASON_SyncMutexLock, 100, 200);
    if (sleeps >= 100)
        (void)rec_wait(g, REC_NONE, sleep, REASON_Sleep, sleeps, wakes);
    if (calls_ns > 0)
        rec_put(R, g, REC_SYS, (uint64_t)calls_ns, sleep);
    rec_done();
    infer_locks(R, &f);
    CHECK_EQ(f.count, R->waits[w].brief);
    return R->waits[w].brief;
}

TEST_CASE(Locks, WhoHadItOnlyWhileHeRan)
{
    CHECK(brief(10, 90, 0, LEAF_MUTEX));
    CHECK(brief(200, 300, 0, LEAF_RWLOCK));   /* afterwards */
    CHECK(!brief(10, 120, 0, LEAF_MUTEX));    /* it slept when h came */
    CHECK(!brief(150, 180, 0, LEAF_RLOCK));   /* ... while h waited */
    CHECK(!brief(10, 90, 30000, LEAF_MUTEX)); /* in the kernel: its P may be taken */
    CHECK(brief(10, 90, 3000, LEAF_MUTEX));
    CHECK(!brief(10, 90, 0, LEAF_CHANRECV)); /* no lock */
}
