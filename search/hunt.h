/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_HUNT_H
#define GMPSIM_SEARCH_HUNT_H

/* Runs of a scenario until one is a finding or the budget is spent; and what it takes to do a run
 * again. */

#include "search/explored.h"

enum hunt_strategy { HUNT_TIME, HUNT_RANDOM, HUNT_PCT, HUNT_DFS, HUNT_STRATEGIES };

struct hunt_opts {
    struct explored_opts world;
    enum hunt_strategy strategy;
    uint64_t seed;
    uint32_t depth;       /* of pct */
    uint32_t preemptions; /* of dfs */
    uint64_t runs_max;    /* 0: as many as the strategy has */
    int64_t for_ns;       /* real time; 0: no limit */
    /* Called now and then; true: stop. May be NULL. */
    bool (*look)(void *arg, uint64_t runs);
    void *arg;
};

/* A run that can be done again. */
struct finding {
    struct explored_opts world;
    struct verdict verdict;
    uint64_t fingerprint, steps;
    bool timed;             /* virtual time was told: other questions are asked then */
    struct answer *answers; /* malloc'ed */
    size_t count;
};

enum hunt_end { HUNT_FOUND, HUNT_EXHAUSTED, HUNT_SPENT, HUNT_DIVERGED };

struct hunt_result {
    enum hunt_end end;
    struct finding finding;    /* if HUNT_FOUND */
    uint64_t runs, steps, cut; /* cut: runs without a verdict */
    uint64_t longest, threads; /* questions of who goes on, of one run; most threads */
    int64_t took_ns;
};

const char *hunt_strategy_name(enum hunt_strategy s);
/* -1: no such name. */
int hunt_strategy_parse(const char *name);

bool hunt(struct failure *f, const struct hunt_opts *o, struct hunt_result *r);

/* Does it again. False: f says what went another way. *same: the same end and fingerprint. */
bool finding_replay(struct failure *f, const struct finding *x, struct verdict *v, bool *same);
void finding_release(struct finding *x);

#endif
