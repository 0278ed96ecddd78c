/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_STATES_H
#define GMPSIM_SIM_BASE_STATES_H

/* Every step from every state: a schedule goes to some state that was seen, on the way on which it
 * was seen first, and takes a step there that none took before; then on, as long as there is such a
 * step. So no two schedules are the same, those that meet in a state are not gone on with twice,
 * and a state that only a rare order leads to is as likely to be gone on from as any other.
 *
 * Who asks knows the states. Where they are not known a state is what was answered so far, and none
 * is met twice. Two schedules that meet in a state may differ in what happened before what: data
 * races are for others to find. */

#include "sim/base/choose.h"

struct states_node {
    uint64_t key;
    uint64_t untried;      /* set of answers */
    uint32_t parent, pick; /* the question before it, and the answer that led here */
    uint32_t depth;        /* questions before it */
    uint32_t n;
};

struct strategy_states {
    struct strategy s;
    struct states_node *nodes; /* nodes_max of them, the caller's memory */
    uint32_t nodes_max, count;
    uint32_t *index;             /* 2 * nodes_max of them: 1 + a node's, by key; 0: none */
    uint32_t *open, open_count;  /* nodes_max: of those with something untried, and some others */
    uint32_t *way, way_max;      /* answers on the way to `target`; way_max of them */
    uint32_t way_length, target; /* of this run */
    uint32_t asked;              /* questions of this run */
    uint32_t at, pick;           /* the last question, and its answer */
    bool lost;                   /* it is not known any more where this run is */
    bool exhausted, pruned;      /* pruned: a limit left something out */
    struct evenly random;
    uint64_t seed;
    /* The state in which a goroutine is chosen; 0: not known. */
    uint64_t (*state)(void *arg);
    void *state_arg;
};

/* nodes_max: a power of two. */
void strategy_states_init(struct strategy_states *s, uint64_t seed, uint32_t nodes_max);
void strategy_states_free(struct strategy_states *s);

#endif
