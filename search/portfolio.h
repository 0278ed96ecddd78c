/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_PORTFOLIO_H
#define GMPSIM_SEARCH_PORTFOLIO_H

/* Several searches of one scenario, a slice of each in turn and ever longer ones: what is quick to
 * find is found soon, whichever of them finds it. The same options give the same schedules in the
 * same order.
 *
 * Depth first goes through the schedules without a preemption, then those with up to one, and so on
 * up to what was asked for. */

#include "search/hunt.h"

struct search_slice {
    struct hunt_opts o;   /* its budget: o.runs_max; o.preemptions: up to so many, if deepens */
    bool deepens;         /* depth first: a bound after the other */
    uint64_t runs, steps; /* so far; of depth first, some more than once */
    uint64_t random_runs; /* without a limit cutting them */
    uint64_t longest, actors;
    uint32_t bound;    /* the one that is tried next */
    int64_t exhausted; /* every schedule with up to so many preemptions; -1: not even those */
    uint64_t exhausted_runs;
    bool whole;      /* ... and no schedule has more */
    uint64_t states; /* of states: every step from each of so many; 0: not all of them */
    bool done;       /* nothing is left to try */
    bool spent;      /* the budget is, and there is more to try */
};

enum { SLICES_MAX = 256 };

struct portfolio {
    struct search_slice slices[SLICES_MAX];
    uint32_t count;
    bool endless; /* until look says so: budgets do not count */
    uint64_t runs, steps, cut;
    int64_t took_ns;
    /* Called now and then; true: stop. May be NULL. */
    bool (*look)(void *arg, uint64_t runs);
    void *arg;
};

enum portfolio_end { PORTFOLIO_NOTHING, PORTFOLIO_FOUND, PORTFOLIO_DIVERGED, PORTFOLIO_FAILED };

/* False: there are as many as there may be. */
bool portfolio_add(struct portfolio *p, const struct hunt_opts *o);
/* *by: whose finding it is. PORTFOLIO_FAILED: f says why. */
enum portfolio_end portfolio_search(struct failure *f, struct portfolio *p, struct finding *out,
                                    const struct search_slice **by);

/* Was there a search that has tried all schedules of its world? */
bool portfolio_is_exhausted(const struct portfolio *p);

/* What was covered, a sentence per world and kind of search, without its full stop; false: there
 * are no more. */
bool portfolio_says(const struct portfolio *p, uint32_t *at, char *text, size_t size);

#endif
