/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_PLAN_H
#define GMPSIM_SEARCH_PLAN_H

/* What a portfolio consists of: each strategy at each granularity for each GOMAXPROCS. */

#include "search/portfolio.h"

enum { PLAN_RUNS = 2000 /* schedules of a slice where nobody says how many */ };
/* Points of a slice where nobody gives it a budget: a second or so. */
#define PLAN_POINTS UINT64_C(10000000)

/* Lists with commas; NULL: nobody has said. */
struct plan_wish {
    const char *strategy;    /* or "portfolio" */
    const char *granularity; /* not said: both, but sync with a strategy that was */
    const char *procs;       /* not said: the scenario's, or 1 to 4 */
};

/* Nobody has said which strategies. */
bool plan_is_portfolio(const char *strategy);
/* Are these names of strategies? */
bool plan_strategies(struct failure *f, const char *list);
/* Adds what w wishes for base's scenario and profile. False: f says what is wrong. */
bool plan_add(struct failure *f, struct portfolio *p, const struct hunt_opts *base,
              const struct plan_wish *w);

#endif
