/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_IMPORT_H
#define GMPSIM_REPLAY_IMPORT_H

/* A deep recording as a scenario in the language of docs/scenarios.md: a function per kind of
 * goroutine, a statement per deed, each on a line of its own that says where in the Go program
 * it was. For people who edit it from there, and for the explorer: there what decides a branch is
 * asked again, and a schedule in which the answer is not the recorded one ends (os.Exit). Without
 * either it is what was recorded, deed by deed. */

#include "replay/recording.h"
#include "scenarios/scenario.h"

struct import_opts {
    const char *name;
    int release;   /* 0: the recording's own */
    bool explore;  /* asks again what decides a branch, and has no times */
    bool readable; /* for people: loops, timers and channels as Go has them, not deed by deed */
};

struct imported {
    char *text; /* malloc'ed */
    size_t size;
    /* Of each line of the text, from 1 on, where in the Go program it was, or NULL. */
    const char **places;
    uint32_t nplaces;
    int64_t recorded_ns; /* how long the recording is */
    char notes[12][240]; /* what the recording could not know, as sentences */
    int nnotes;
    struct pool *pool;
};

/* False: f says why it cannot be. */
bool import_recording(struct failure *f, struct recording *r, const struct import_opts *o,
                      struct imported *out);
void imported_release(struct imported *im);

/* False: what is known of the program does not come to its end as the program did, as f says. */
bool import_is_the_program(struct failure *f, struct recording *r, const char *name);

/* How the program that was written runs, once. */
struct import_end {
    bool finished;
    int64_t ns;
    char verdict[120];
};
bool import_try(struct failure *f, const struct imported *im, const char *name,
                struct import_end *end);

/* For the explorer: the recording at `path` as a scenario. NULL: f says why not. The notes are a
 * text per line, of the scenario's pool. sure: it has been found to be the program. */
struct scenario *import_load(struct failure *f, const char *path, bool sure, const char **notes);

#endif
