/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_DPOR_H
#define GMPSIM_SIM_BASE_DPOR_H

/* Every schedule by turns, but of those that differ only in the order of turns which do not
 * conflict, one: source sets with sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014), by
 * running again from the start with another prefix. Nobody has to say how deep.
 *
 * The turns of a run and what each does are its events; one happened before another if a goroutine
 * did both, if they conflict (turn_conflicts), or if one made the other's goroutine runnable. Two
 * that conflict with nothing between them are a race; that the second could come first is noted
 * where the first was chosen. Time that jumps is a turn of its own, of somebody called the clock.
 *
 * At granularity op the same with threads in place of goroutines and an operation as a turn: two
 * conflict if they are about one address and not both only read. What else a thread does (kernel
 * calls, the clock), and anything while a timed event is pending, conflicts with all. A check that
 * looks at the world between operations does not see all of its states then.
 */

#include "sim/base/choose.h"

enum { DPOR_ACTORS = 64, DPOR_CLOCK = 63 };

struct dpor_done {
    uint32_t next; /* 1 + index, 0: none */
    uint8_t actor;
    struct turn_does does;
};

struct dpor_node {
    bool draw;        /* else a turn */
    bool forced;      /* time passed because nobody could go on */
    uint32_t n, pick; /* of a draw */
    uint8_t actor;    /* whose turn it is */
    uint32_t done_list;
    uint64_t enabled, backtrack, done, sleep; /* sets of actors */
    uint64_t woken;                           /* who could go on after it and not before */
    struct turn_does does;
    uint32_t clock[DPOR_ACTORS]; /* 1 + the last node of each that happened before, or is it */
};

struct strategy_dpor {
    struct strategy s;
    struct dpor_node *nodes;               /* nodes_max of them, the caller's memory */
    size_t nodes_max, depth, count, fresh; /* fresh: the first that is not as in the run before */
    struct dpor_done *dones;               /* dones_max of them, likewise */
    uint32_t dones_max, dones_used, dones_free;
    uint32_t goid[DPOR_ACTORS];
    uint32_t actors;
    /* Of the present run, from here: */
    uint64_t asleep, runnable;
    struct turn_does sleeps[DPOR_ACTORS];
    bool operations; /* and not turns */
    bool open;       /* the last event's turn is not over */
    bool redundant;  /* whatever comes has been seen: s.enough */
    /* ... to here. */
    bool exhausted, diverged;
    bool pruned; /* not a proof: a limit cut runs, or there were too many actors */
    uint64_t runs, classes;
};

void strategy_dpor_init(struct strategy_dpor *d, struct dpor_node *nodes, size_t nodes_max,
                        struct dpor_done *dones, uint32_t dones_max);

#endif
