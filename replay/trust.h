/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRUST_H
#define GMPSIM_REPLAY_TRUST_H

/* How far an answer about a recorded trace can be trusted: what it stands on, a range, and whether
 * it is worth anything. docs/accuracy.md has how often the truth was in it. */

#include "replay/replay.h"

enum { TRUST_NOTES = 10 };

struct trust {
    /* Shares in permille. */
    int self;  /* makespan of the replay at the recorded settings, against the recording; signed */
    int order; /* waits of level 1: for the recorded wake, whatever order there is now */
    int early; /* ... whose wake had come before */
    int outside;    /* waits that nobody of the program ended */
    int net;        /* waits for what somebody of the program wrote to a descriptor */
    int locked;     /* ... of goroutines that are locked to their threads */
    int tracer;     /* of the running time: what the events of a deep recording took */
    int hidden;     /* of the running time: stretches of more than 1 ms without an event */
    int gc;         /* of the Ps' time: the collector's, which is not replayed */
    int os;         /* of the threads' time: ready, without a CPU; -1: nobody knows */
    int32_t procs;  /* that are asked about */
    int clock;      /* of the window: rounds by the clock that others wait for */
    bool other;     /* settings are not the recorded ones */
    bool quota;     /* asked about: what is left of a period when the program begins is not known */
    bool raised;    /* ... there are more Ps */
    uint64_t asked; /* how often the program asked how many Ps there are */
    int range;      /* the truth is within this of the answer, nine times of ten */
    bool worthless;
    char why[200]; /* ... because; and what to record instead */
    char notes[TRUST_NOTES][160];
    int nnotes;
};

/* base: the agreement at the recorded settings; is: at those asked for. */
void trust_of(const struct replay *rp, const struct agreement *base, const struct agreement *is,
              int32_t procs, bool other, struct trust *t);

#endif
