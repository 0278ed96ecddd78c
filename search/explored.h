/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_EXPLORED_H
#define GMPSIM_SEARCH_EXPLORED_H

/* A scenario on the explorer's host: its world is started once, and run again and again from the
 * program's first instruction, each time under the answers of a strategy.
 *
 *     explored_open(&f, &x, &o);
 *     while (explored_run(&x, strategy))
 *         if (x.verdict.kind == VERDICT_FINDING) ...
 *     explored_close(&x);
 *
 * One at a time in a process. */

#include "model/profile.h"
#include "run/result.h"
#include "scenarios/scenario.h"
#include "search/cycle.h"
#include "search/pairs.h"
#include "search/starved.h"
#include "sim/base/choose.h"
#include "sim/base/fail.h"
#include "sim/base/text.h"
#include "sim/explore/explore.h"

/* What start-up answers: they decide which threads are up when the program begins. */
enum explored_start {
    START_SETTLED, /* as in virtual time, and then until all other threads rest */
    START_TIME,    /* as in virtual time; a thread may be looking for work */
    START_RANDOM,  /* drawn from the seed */
    START_KINDS
};

enum granularity {
    GRANULARITY_OP,   /* every operation of the runtime is a point: for the scheduler itself */
    GRANULARITY_SYNC, /* turns of goroutines (model/turn.c): for programs */
    GRANULARITIES
};

struct explored_opts {
    const struct scenario *scenario;
    struct profile profile;
    int32_t procs; /* 0: the release's default */
    enum granularity granularity;
    enum mm_kind memory; /* of op; the other has no use for one */
    enum explored_start start;
    uint64_t seed; /* of start-up and of the runtime's own streams */
    struct faults faults;
    int64_t late_max_ns; /* see ex_opts; 0: time never jumps over who could run */
    int64_t until_ns;    /* 0: no limit */
    uint64_t steps_max;  /* points, or turns */
    bool checks;         /* of the invariants, before every point */
    bool no_races;       /* data races are not looked for */
    bool no_copy;        /* start-up is done again for every run */
    /* Of sync: is told of each turn before it; may be NULL. */
    void (*turn)(void *arg, const struct turn_does *d);
    void *turn_arg;
    struct pairs *pairs; /* of sync: which orders were seen; NULL: nobody asks */
};

enum verdict_kind {
    VERDICT_CLEAN,   /* what is expected holds */
    VERDICT_FINDING, /* it does not */
    VERDICT_NONE     /* a limit cut the run, or nobody knows how it goes on */
};

struct verdict {
    enum verdict_kind kind;
    char what[40];   /* "deadlock", "panic", "leak", ... */
    char text[4000]; /* Go's words, or what does not hold */
    bool known;      /* a finding: it is the bug that the file describes */
};

struct explored {
    struct explored_opts o;
    struct profile profile;   /* of the world */
    struct run_result result; /* of the last run */
    struct verdict verdict;   /* likewise */
    struct text_kept out;     /* what the program printed */
    struct cycle cycle;       /* of sync */
    struct starved starved;   /* of op, if the run went on fairly */
    char words[4096];         /* of result.text */
    bool copied, started;
    struct failure refused; /* what the last run ended for want of */
};

const char *explored_start_name(enum explored_start s);
const char *granularity_name(enum granularity g);

/* Why this program cannot be explored by turns; NULL: it can. */
const char *explored_no_turns(const struct program *p);

bool explored_open(struct failure *f, struct explored *x, const struct explored_opts *o);
void explored_close(struct explored *x);
/* The last run ended for want of memory: says so. */
bool explored_refused(struct failure *f, const struct explored *x);

/* One run. False: the strategy has nothing left to try, or there was no memory for the world
 * (refused says so, else its code is E_OK). The world may be looked at until the next
 * run. */
bool explored_run(struct explored *x, struct strategy *s);

/* Of operations: another limit of points, from the next run on. */
void explored_limit(struct explored *x, uint64_t points);
/* How long the last run was, in points: up to where it went on fairly, if it did. */
uint64_t explored_steps(void);

/* By turns, while a goroutine is chosen: all that decides what can come next, as one number; 0:
 * something else decides too (cycle.h). arg: a struct explored. */
uint64_t explored_state(void *arg);

#endif
