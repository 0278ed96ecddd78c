/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TAPE_H
#define GMPSIM_REPLAY_TAPE_H

/* A recording as a program of the model (model/tape.h): every goroutine plays a tape. */

#include "model/prog.h"
#include "replay/recording.h"

struct tape_opts {
    int64_t event_ns; /* what one event of the tracer cost the goroutine */
    int64_t wake_ns;  /* what starting an idle P cost it, in running time; the model adds its own */
    bool no_deep;     /* deeds are left out, all of them */
    bool free;        /* nobody waits for the wake that was recorded: whatever the order */
    int64_t alloc_ns; /* what the model takes for an allocation, which is in the running time */
};

enum { TAPE_START_PERCENT = 40 }; /* of event_ns: what a goroutine's start took */

/* What the tracer took before an entry, in percent of tape_opts.event_ns. */
int tape_event_percent(const struct recording *r, const struct rec_entry *e);
/* ... and after it. */
int tape_event_after(const struct rec_entry *e);
/* The goroutine that the replay's main goroutine plays; REC_NONE: none. */
uint32_t tape_root(const struct recording *r);

/* Functions of the program are named as the goroutines' are; span 0 is the recording from its begin
 * until the last goroutine has done all that was recorded of it. The program's memory is the
 * pool's. */
const struct program *tape_program(const struct recording *r, const struct tape_opts *o,
                                   struct pool *pool);

#endif
