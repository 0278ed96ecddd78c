/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_EXPLORE_SEARCH_H
#define TESTS_EXPLORE_SEARCH_H

/* The loop around ex_begin and ex_end: run until something is wrong, keep the schedule that shows
 * it. */

#include "sim/explore/explore.h"

struct search {
    void (*build)(void *arg); /* makes the world of one run */
    void (*check)(
        void *arg); /* after each run: ex_fail() what is wrong. NULL: throws and findings only */
    void *arg;
    uint64_t runs_max; /* 0: as many as the strategy has */
    bool once;         /* build is called once, and what it made is put back for each run */
};

struct search_result {
    uint64_t runs, cut, steps; /* cut: not those that ended in a known state */
    struct ex_totals totals;
    bool found;
    enum world_end why;
    char text[500];
    uint64_t fingerprint;
    struct answer *answers; /* the schedule, malloc'ed; NULL if nothing was found */
    size_t count;
};

/* Ends at the first finding (END_FINDING or END_THROWN after check). False: nothing was found. */
bool search_run(const struct search *s, struct strategy *st, struct search_result *r);
/* Runs the schedule of r once more, with a trace if ex_trace() is on. True: the same happens again.
 */
bool search_replay(const struct search *s, const struct search_result *r);
void search_result_release(struct search_result *r);

#endif
