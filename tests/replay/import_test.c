/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the program that is made of a deep recording does what was recorded, and one that cannot is
 * refused. Method: recordings made by hand, each with one deed that asks for it. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "model/prog.h"
#include "rec.h"
#include "replay/import.h"
#include "replay/infer.h"
#include "sim/base/alloc.h"

static uint32_t root, other, site;

static void begin(void)
{
    rec_new();
    R->deep = 1;
    site = rec_site(LEAF_OTHER, "main.main");
    root = R->main_g = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    other = rec_goroutine(root, "main.f", 100, INT64_MAX);
}

static void deed(uint32_t g, enum rec_deed what, uint64_t number, uint32_t object)
{
    rec_put(R, g, REC_SITE, site, 0);
    rec_put(R, g, REC_DEED, (uint64_t)what | number << 8,
            object == REC_NONE ? 0 : (uint64_t)object + 1);
    R->gs[g].deeds++;
}

/* A send or receive of which the recording knows the other side, if there is one. */
static void item(uint32_t g, enum rec_deed what, uint32_t object, uint32_t other_side)
{
    X_ROOM(R->items, R->nitems, R->items_room, 64);
    R->items[R->nitems++] = (struct rec_item){.object = object,
                                              .g = g,
                                              .deed = R->gs[g].deeds,
                                              .other = other_side,
                                              .sends = what == DEED_send};
    deed(g, what, 0, object);
}

static bool is_the_program(struct failure *f)
{
    rec_done();
    return import_is_the_program(f, R, "x");
}

TEST_CASE(Import, AProgramThatDoesNotComeToItsEndIsRefused)
{
    struct failure f = {0};
    begin();
    uint32_t ch = rec_add_object(R, OBJ_CHAN, 0, 3, "");
    deed(root, DEED_recv, 0, ch);
    deed(other, DEED_send, 0, ch);
    CHECK(is_the_program(&f));

    begin();
    ch = rec_add_object(R, OBJ_CHAN, 0, 3, "");
    deed(root, DEED_recv, 0, ch);
    CHECK(!is_the_program(&f));
    CHECK_HAS(f.text, "deadlock, in 5 of 5 tries");
}

/* The signal came before it slept, so there is no wait; the lock is taken again all the same. */
TEST_CASE(Import, AWaitThatDidNotSleepTakesItsLockAgain)
{
    struct failure f = {0};
    begin();
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, ""),
             cond = rec_add_object(R, OBJ_COND, mu, 3, "");
    deed(root, DEED_lock, 0, mu);
    deed(root, DEED_condwait, 0, cond);
    deed(root, DEED_unlock, 0, mu);
    CHECK(is_the_program(&f));
    CHECK_STR(f.text, "");
}

/* Of two timers that are due, the goroutine is that of the one whose maker was about the very lock
 * that it takes; without that it is the one that was due first. */
static uint32_t made_by_second(bool near)
{
    struct infer_found found;
    begin();
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, "");
    R->afters = calloc(2, sizeof *R->afters);
    R->nafters = R->afters_room = 2;
    for (int i = 0; i < 2; i++)
        R->afters[i] = (struct rec_after){.g = root,
                                          .child = REC_NONE,
                                          .near = near && i == 1 ? mu : REC_NONE,
                                          .at = 10 + i,
                                          .ns = 50,
                                          .stopped = INT64_MAX};
    R->gs[other].by_timer = true;
    deed(other, DEED_lock, 0, mu);
    rec_done();
    infer_afters(R, &found);
    return R->afters[1].child;
}

TEST_CASE(Import, ATimersGoroutineIsAboutWhatItsMakerWasAbout)
{
    uint32_t with = made_by_second(true);
    CHECK_EQ(with, other);
    CHECK_EQ(made_by_second(false), REC_NONE);
}

/* ---- for people ---- */

static struct imported im;

/* What a person gets of the recording. */
static const char *read_as(void)
{
    struct failure f = {0};
    struct import_opts o = {.name = "x", .readable = true};
    rec_done();
    if (im.pool != NULL)
        imported_release(&im);
    if (!import_recording(&f, R, &o, &im))
        FAIL_CASE("%s", f.text);
    return im.text;
}

static int count(const char *in, const char *what)
{
    int n = 0;
    for (const char *p = in; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

/* A place of its own for each kind of statement: loops begin at places. */
static void at(uint32_t g, uint32_t place, enum rec_deed what, uint32_t object)
{
    while (R->nsites <= place + 10)
        (void)rec_site(LEAF_OTHER, "main.f");
    rec_put(R, g, REC_SITE, place + 10, 0);
    rec_put(R, g, REC_DEED, (uint64_t)what, (uint64_t)object + 1);
    R->gs[g].deeds++;
}

/* Two workers, three and six of nine items: one function, that receives until there are no more. */
TEST_CASE(Import, WorkersShareTheItemsOfAChannelThatIsClosed)
{
    begin();
    uint32_t ch = rec_add_object(R, OBJ_CHAN, 16, 3, ""), worker[2];
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, "");
    R->objects[ch].closed = true;
    for (uint32_t i = 0; i < 9; i++)
        item(root, DEED_send, ch, 1);
    deed(root, DEED_close, 0, ch);
    for (uint32_t k = 0; k < 2; k++) {
        worker[k] = rec_goroutine(root, "main.worker", 100, 1000);
        for (uint32_t i = 0; i < 3 + 3 * k; i++) {
            item(worker[k], DEED_recv, ch, 0);
            at(worker[k], 1, DEED_lock, mu);
            at(worker[k], 2, DEED_unlock, mu);
        }
        item(worker[k], DEED_recv, ch, REC_NONE);
    }
    const char *text = read_as();
    CHECK_EQ(count(text, "{\"range\": \"ch0\""), 1);
    CHECK_EQ(count(text, "worker~2"), 0);
    CHECK_EQ(count(text, "{\"go\": \"worker\""), 2);
    CHECK_EQ(count(text, "{\"recv\""), 0);
}

/* Rounds with a second lock or a send, 24 of them; `late`: all of those come last. */
static const char *rounds_with(enum rec_deed more, bool late, int n)
{
    begin();
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, ""),
             ch = rec_add_object(R, OBJ_CHAN, 1000, 3, ""),
             second = rec_add_object(R, OBJ_MUTEX, 0, 3, "");
    for (int i = 0; i < n; i++) {
        at(other, 1, DEED_lock, mu);
        at(other, 2, DEED_unlock, mu);
        if (late ? i < n / 2 : i % 2 == 0)
            continue;
        at(other, 3, more, more == DEED_send ? ch : second);
        if (more == DEED_lock)
            at(other, 4, DEED_unlock, second);
    }
    return read_as();
}

TEST_CASE(Import, RoundsThatDifferInLocksComeInAnyOrder)
{
    const char *text = rounds_with(DEED_lock, false, 24);
    CHECK_EQ(count(text, "{\"random\""), 0); /* each second one: a loop of two */
    CHECK_EQ(count(text, "{\"loop\": 12"), 1);
    begin();
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, ""),
             second = rec_add_object(R, OBJ_MUTEX, 0, 3, "");
    for (uint32_t i = 0, r = 1; i < 41; i++, r = r * 5 % 41) {
        at(other, 1, DEED_lock, mu);
        at(other, 2, DEED_unlock, mu);
        for (uint32_t k = 0; k < r % 3 && i < 40; k++) {
            at(other, 3, DEED_lock, second);
            at(other, 4, DEED_unlock, second);
        }
    }
    text = read_as();
    CHECK_EQ(count(text, "{\"random\""), 1);
    CHECK_EQ(count(text, "{\"weight\""), 3);
    CHECK_EQ(count(text, "{\"loop\": 40"), 1);
}

/* Who receives counts on what is sent: such rounds keep their order. */
TEST_CASE(Import, RoundsThatDifferInSendsStayAsTheyWere)
{
    const char *text = rounds_with(DEED_send, true, 24);
    CHECK_EQ(count(text, "{\"random\""), 0);
    CHECK_EQ(count(text, "{\"loop\""), 2);
}

TEST_CASE(Import, WhatComesLateStaysLate)
{
    const char *text = rounds_with(DEED_lock, true, 200);
    CHECK_EQ(count(text, "{\"random\""), 0);
    CHECK_EQ(count(text, "{\"loop\": 100,"), 2);
}

TEST_CASE(Import, ATimerOfOneGoroutineIsATimer)
{
    begin();
    uint32_t mine = rec_add_object(R, OBJ_CHAN, 1, 3, ""),
             shared = rec_add_object(R, OBJ_CHAN, 1, 3, "");
    R->objects[mine].timer = R->objects[shared].timer = true;
    deed(other, DEED_ticker, 1000, mine);
    deed(other, DEED_recv, 0, mine);
    deed(other, DEED_tstop, 0, mine);
    deed(other, DEED_timer, 2000, shared);
    deed(root, DEED_recv, 0, shared);
    const char *text = read_as();
    CHECK_EQ(count(text, "{\"ticker\": \"t0\", \"every\": \"1000ns\""), 1);
    CHECK_EQ(count(text, "{\"recv\": \"t0.C\""), 1);
    CHECK_EQ(count(text, "{\"stop\": \"t0\""), 1);
    CHECK_EQ(count(text, "{\"recv\": \"ch1\""), 1); /* two goroutines: a channel */
    CHECK_EQ(count(text, "{\"timer\""), 0);
}

/* Most bursts are short and a few long: the program takes as long as the recorded one. */
TEST_CASE(Import, WhatIsComputedKeepsItsMean)
{
    struct failure f = {0};
    struct import_end end;
    int64_t sum = 0;
    begin();
    uint32_t mu = rec_add_object(R, OBJ_MUTEX, 0, 3, "");
    for (int i = 0; i < 400; i++) {
        int64_t ns = i % 40 == 7 ? 2000000 : 1000 + i;
        rec_cpu(root, ns);
        sum += ns;
        at(root, 1, DEED_lock, mu);
        at(root, 2, DEED_unlock, mu);
    }
    const char *text = read_as();
    CHECK_EQ(count(text, "\"lognormal\""), 0);
    CHECK(import_try(&f, &im, "x", &end));
    CHECK_STR(end.verdict, "finished");
    CHECK(end.ns > sum * 7 / 10 && end.ns < sum * 13 / 10);
    imported_release(&im);
}
