/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a schedule of operations can be said as stretches of threads, which can be moved, and a
 * real finding gets smaller by it than by zeros.
 * Method: small lists; a defect that is found with 509 preemptions. */
#include <string.h>

#include "harness.h"
#include "search/segments.h"
#include "search/shrink.h"
#include "sim/base/coro.h"

static void went_on(struct segments *s, const char *who)
{
    for (; *who != 0; who++) {
        const uint8_t option[] = {(uint8_t)*who};
        const struct choice c = {.n = 1, .threads = 1, .option = option};
        segments_add(s, &c, 0);
    }
}

static const char *text_of(const struct segments *s)
{
    static char text[100];
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; k < s->list[i].points; k++)
            text[n++] = (char)s->list[i].who;
    text[n] = 0;
    return text;
}

TEST_CASE(Segments, TwoOfOneThreadBecomeOne)
{
    struct segments s = {0}, t = {0};
    went_on(&s, "aabcaab");
    CHECK_EQ(s.count, 5);
    CHECK_EQ(segments_next(&s, 0), 3);
    CHECK_EQ(segments_next(&s, 2), s.count);
    segments_copy(&t, &s);
    segments_join(&t, 3, 0);
    CHECK_STR(text_of(&t), "aaaabcb");
    segments_copy(&t, &s);
    segments_join(&t, 0, 3);
    CHECK_STR(text_of(&t), "bcaaaab");
    segments_free(&s);
    segments_free(&t);
}

/* What comes between two stretches is passed over where its thread cannot go on. */
TEST_CASE(Segments, WhoCannotGoOnIsPassedOver)
{
    struct segments s = {0};
    struct strategy_segments r;
    const uint8_t both[] = {'a', 'b'}, other[] = {'b', 'c'};
    const struct choice two = {.n = 2, .threads = 2, .option = both},
                        without_a = {.n = 2, .threads = 2, .option = other};
    went_on(&s, "aab");
    strategy_segments_init(&r, &s);
    CHECK(r.s.begin(&r.s));
    CHECK_EQ(r.s.pick(&r.s, &two), 0);
    CHECK_EQ(r.s.pick(&r.s, &without_a), 0); /* b's turn at once */
    CHECK_EQ(r.s.pick(&r.s, &two), 0);       /* nothing is left to say */
    CHECK(!r.s.begin(&r.s));
    segments_free(&s);
}

/* Zeros alone leave more than 100 preemptions of this defect's 509. */
TEST_CASE(Segments, AFindingGetsSmall)
{
    struct failure f = {0};
    struct hunt_result r;
    struct shrink_result small;
#if defined(GMPSIM_ASAN)
    SKIP_CASE("the sanitizer ends the process at a wild pointer");
#endif
    struct scenario *sc = scenario_load_file(&f, SCENARIOS_DIR
                                             "/history/global-queue-without-lock.json");
    if (sc == NULL)
        FAIL_CASE("%s", f.text);
    struct hunt_opts o = {.world = {.scenario = sc,
                                    .procs = sc->procs,
                                    .seed = 1,
                                    .granularity = GRANULARITY_OP,
                                    .late_max_ns = 200000,
                                    .until_ns = sc->until_ns,
                                    .steps_max = 1000000},
                          .strategy = HUNT_SURW,
                          .seed = 1,
                          .runs_max = 20000};
    CHECK(scenario_profile(&f, sc, 15, &o.world.profile));
    o.world.profile.batch_overflow_locked = 0;
    CHECK(hunt(&f, &o, &r));
    CHECK_EQ(r.end, HUNT_FOUND);
    CHECK(shrink(&f, &r.finding, 5000, &small));
    CHECK(small.minimal);
    CHECK_LT(small.after.preemptions, 30);
    finding_release(&r.finding);
    scenario_free(sc);
}
