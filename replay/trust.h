/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRUST_H
#define GMPSIM_REPLAY_TRUST_H

/* How far an answer about a recorded trace can be trusted: what it stands on, a range, and whether
 * it is worth anything. docs/accuracy.md has how often the truth was in it. */

#include "replay/replay.h"

enum { TRUST_NOTES = 12, TRUST_PARTS = 16 };

struct trust {
    /* Shares in permille. */
    int self;  /* makespan of the replay at the recorded settings, against the recording; signed */
    int order; /* waits of level 1: for the recorded wake, whatever order there is now */
    int early; /* ... whose wake had come before */
    int outside;    /* waits that nobody of the program ended */
    int net;        /* waits for what somebody of the program wrote to a descriptor */
    int locked;     /* ... of goroutines that are locked to their threads */
    int tracer;     /* of the running time: what the events of a deep recording took */
    int tries;      /* of operations of channels and locks: that would not wait, deep */
    int deadlines;  /* of the waits: timers set that did not go off, deep */
    int freed;      /* of the makespan: what would be saved if nobody kept to the recorded order */
    int serial;     /* ... what would be added if all that may be hidden came one after the other */
    int hidden;     /* of the running time: stretches of more than 1 ms without an event */
    int gc;         /* of the Ps' time: the collector's, which is not replayed */
    int kernel;     /* of running time and system calls: the calls */
    int os;         /* of the threads' time: ready, without a CPU; -1: nobody knows */
    int32_t procs;  /* that are asked about */
    int clock;      /* of the window: rounds by the clock that others wait for */
    bool other;     /* settings are not the recorded ones */
    bool quota;     /* asked about: what is left of a period when the program begins is not known */
    bool raised;    /* ... there are more Ps */
    uint64_t asked; /* how often the program asked how many Ps there are */
    /* Nine times of ten the truth is from so much below the answer, in permille of it, to so much
     * above; and why. */
    int below, above;
    struct trust_part {
        const char *why;
        int below, above;
    } parts[TRUST_PARTS];
    int nparts;
    bool worthless;
    char why[200]; /* ... because; and what to record instead */
    char notes[TRUST_NOTES][160];
    int nnotes;
};

/* What a question about a recording was answered with. */
struct trust_runs {
    struct agreement base; /* at the recorded settings */
    struct agreement is;   /* at those asked for */
    struct agreement free; /* ... with tape_opts.free; not finished: nobody knows */
    int32_t procs;
    bool other; /* settings are not the recorded ones */
};

/* The larger of below and above. */
int trust_width(const struct trust *t);
void trust_of(const struct replay *rp, const struct trust_runs *runs, struct trust *t);

#endif
