/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_HUNT_H
#define GMPSIM_SEARCH_HUNT_H

/* Runs of a scenario until one is a finding or the budget is spent; and what it takes to do a run
 * again. */

#include "search/explored.h"

enum hunt_strategy {
    HUNT_TIME,
    HUNT_RANDOM,
    HUNT_PCT,
    HUNT_POS,
    HUNT_SURW,
    HUNT_FAIR,
    HUNT_DFS,
    HUNT_DELAY,
    HUNT_DPOR,
    HUNT_STATES,
    HUNT_STRATEGIES
};

struct hunt_opts {
    struct explored_opts world;
    enum hunt_strategy strategy;
    uint64_t seed;
    uint32_t depth;       /* of pct */
    uint32_t preemptions; /* of dfs; of delay, delays */
    uint64_t first_run;   /* of a random strategy: it goes on with this one */
    uint64_t longest;     /* of runs before, for pct; 0: not known */
    uint64_t runs_max;    /* 0: as many as the strategy has */
    uint64_t points_max;  /* of all runs together; 0: no limit */
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
    size_t repeat; /* then the last so many come over and over; 0: none do */
};

enum hunt_end { HUNT_FOUND, HUNT_EXHAUSTED, HUNT_SPENT, HUNT_DIVERGED };

struct hunt_result {
    enum hunt_end end;
    struct finding finding;    /* if HUNT_FOUND */
    bool bounded;              /* exhausted but for what the bound left out */
    bool stopped;              /* look said so, or the time was over */
    uint64_t runs, steps, cut; /* cut: runs without a verdict */
    uint64_t redundant;        /* of dpor and states: runs that were cut, the rest was known */
    uint64_t states;           /* of states, if exhausted: so many */
    uint64_t actors;           /* of pct: most who were asked about in one run */
    uint64_t longest, threads; /* of one run: most answers (of pct: who goes on); most threads */
    int64_t took_ns;
};

const char *hunt_strategy_name(enum hunt_strategy s);
/* Does it go through all schedules within a bound? */
bool hunt_is_tree(enum hunt_strategy s);
/* -1: no such name. */
int hunt_strategy_parse(const char *name);

bool hunt(struct failure *f, const struct hunt_opts *o, struct hunt_result *r);

/* The strategy that answers as it did. */
void finding_answers(const struct finding *x, bool strict, struct strategy_replay *s);
/* Does it again. False: f says what went another way. *same: the same end and fingerprint. */
bool finding_replay(struct failure *f, const struct finding *x, struct verdict *v, bool *same);
/* Runs its answers as far as they fit, on what may be another program; near: and lists that are a
 * few answers longer or shorter at one place, as if so many turns had come in between or gone.
 * *found: a run is a finding, which out is then. */
bool finding_try(struct failure *f, const struct finding *x, bool near, struct finding *out,
                 bool *found);
void finding_release(struct finding *x);

#endif
