/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_GOTRACE_H
#define GMPSIM_REPLAY_GOTRACE_H

/* Writes Go execution traces of the format from 1.22 on.
 *
 * What goes in is what comes out of a reader (trace.h): events in order, with the thread, P and
 * goroutine of each. The writer keeps the state that Go's reader will keep, counts the sequence
 * numbers, says at the start of each generation what everything was doing, and refuses by a failure
 * what that reader would refuse. Read back, the same events come out, with the same times; statuses
 * may come at other places.
 *
 * Strings and stacks are numbers of tables that the caller owns and that may grow meanwhile. */

#include "replay/trace.h"

struct names;
struct stacks;

struct gotrace_opts {
    int version;               /* of the header: 22, 23, 25 or 26; 0: 22 */
    uint64_t generation_bytes; /* a new generation after so many; 0: 32 MB */
    int64_t generation_ns;     /* ... or after so long; 0: no such rule */
    int64_t clock_unix_ns;     /* headers from 25 on: Unix time of the first event */
    int64_t begin_ns;          /* the trace's beginning; 0: with its first event */
    bool told;                 /* whoever appears was made in it: generations may begin at once */
};

struct gotrace;

/* "-" is standard output. NULL: f says why. */
struct gotrace *gotrace_open(struct failure *f, const char *path, const struct names *names,
                             const struct stacks *stacks, const struct gotrace_opts *o);
/* The events' effect without the events: what came before the part that is written. */
bool gotrace_skip(struct gotrace *w, struct failure *f, const struct trace_event *evs,
                  size_t count);
bool gotrace_put(struct gotrace *w, struct failure *f, const struct trace_event *evs, size_t count);
/* end_ns: the trace's end, if that is after its last event; what is open lasts until then. False:
 * something was refused before, or cannot be written. Frees w in any case. */
bool gotrace_close(struct gotrace *w, struct failure *f, int64_t end_ns);

#endif
