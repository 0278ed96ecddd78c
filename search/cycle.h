/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_CYCLE_H
#define GMPSIM_SEARCH_CYCLE_H

/* Livelock: a run by turns that comes back to a state in which it was, though everybody who can go
 * on has had a turn meanwhile, and nothing else (timers, descriptors) will ever change it. States
 * are looked at from turn CYCLE_FROM on: what ends is over by then. What a shared variable holds is
 * no part of a state if nobody has read it since: so many rounds were counted in it.
 *
 * Starvation: somebody is passed over while others get on. Either in such a cycle, of which some
 * are in loops that have no end and others want to come to theirs; or he is woken over and over in
 * the middle of one instruction, and each time has to wait again. */

#include "run/window.h"
#include "sim/base/turn.h"

enum { CYCLE_FROM = 500 };

/* Who had a turn since the state was kept. */
struct cycle_g {
    uint32_t goid, pc; /* of the first of them */
    uint32_t woken;    /* how often it went on in the middle of the instruction at pc, and ... */
    bool moved;        /* ... did another one */
    size_t answers[2]; /* when it was woken so, the last but one time and the last */
};

struct cycle {
    struct look_live *live;  /* of the program's instructions */
    bool off;                /* not for this program */
    bool on_purpose;         /* who goes round has been told to */
    uint64_t hash, at, room; /* the kept state, its turn; for how many turns it is kept */
    int64_t var[LOOK_VARS_MAX];
    bool ages;                               /* somebody has waited for a lock since */
    uint64_t read;                           /* variables that were read since, by handle - 1 */
    uint32_t goid, pc;                       /* whose turn it was */
    struct cycle_g turns[LOOK_RUNNABLE_MAX]; /* who had one since */
    uint32_t count;
    uint32_t returns;                         /* of the kept state */
    size_t answers, again;                    /* when it was kept, and when it first came back */
    uint64_t length;                          /* of the cycle, in turns */
    bool closed;                              /* there is one */
    struct cycle_g passed[LOOK_RUNNABLE_MAX]; /* of the run: who was woken where last */
    uint32_t passed_count;
    uint32_t starved; /* goid of who is passed over; 0: nobody */
};

/* on_purpose: that it goes round is no finding, only that somebody starves. */
void cycle_open(struct cycle *c, const struct program *p, bool on_purpose);
void cycle_close(struct cycle *c);
/* A new run. */
void cycle_begin(struct cycle *c);
/* True: this turn closes a cycle, or somebody has starved. Of the explorer's world. */
bool cycle_closes(struct cycle *c, const struct program *p, const struct turn_does *d);
/* The state of the explorer's world between two turns; 0: nobody can tell. */
uint64_t cycle_state(const struct cycle *c, const struct program *p);
/* Does it go on in the middle of something that began with a turn of its own? */
bool cycle_is_half(const struct turn_does *d);
/* Afterwards, of a cycle: does somebody starve in it? */
void cycle_judge(struct cycle *c, const struct program *p, const struct run_result *r);
/* "livelock" or "starvation". */
const char *cycle_what(const struct cycle *c);
/* Its words: who goes round where. */
void cycle_text(const struct cycle *c, const struct run_result *r, char *buf, size_t size);

#endif
