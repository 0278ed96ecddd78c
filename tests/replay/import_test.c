/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the program that is made of a deep recording does what was recorded, and one that cannot is
 * refused. Method: recordings made by hand, each with one deed that asks for it. */
#include <stdlib.h>

#include "harness.h"
#include "model/prog.h"
#include "rec.h"
#include "replay/import.h"
#include "replay/infer.h"

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
