/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_CYCLE_H
#define GMPSIM_SEARCH_CYCLE_H

/* Livelock: a run by turns that comes back to a state in which it was, though everybody who can go
 * on has had a turn meanwhile, and nothing else (timers, descriptors) will ever change it. States
 * are looked at from turn CYCLE_FROM on: what ends is over by then. */

#include "run/window.h"
#include "sim/base/turn.h"

enum { CYCLE_FROM = 500 };

struct cycle {
    struct look_live *live;            /* of the program's instructions */
    bool off;                          /* not for this program */
    uint64_t hash, at, room;           /* the kept state, its turn; for how many turns it is kept */
    uint32_t goid, pc;                 /* whose turn it was */
    uint32_t turns[LOOK_RUNNABLE_MAX]; /* who had one since */
    uint32_t count;
    uint32_t returns; /* of the kept state */
    size_t answers;   /* when it was kept */
    uint64_t length;  /* of the cycle, in turns */
    bool closed;      /* there is one */
};

void cycle_open(struct cycle *c, const struct program *p);
void cycle_close(struct cycle *c);
/* A new run. */
void cycle_begin(struct cycle *c);
/* True: this turn closes a cycle. Of the explorer's world. */
bool cycle_closes(struct cycle *c, const struct program *p, const struct turn_does *d);
/* "livelock: ...": who goes round where. */
void cycle_text(const struct cycle *c, const struct run_result *r, char *buf, size_t size);

#endif
