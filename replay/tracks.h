/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRACKS_H
#define GMPSIM_REPLAY_TRACKS_H

/* A recorded Go trace as a source of transitions (run/transitions.h): whoever listens hears of its
 * goroutines, Ps and stops as of a simulated run's; tasks and regions are spans. Goroutines are in
 * groups by the function that they began with. What somebody did when the trace began is put for
 * its first moment, however late the trace says so.
 *
 * The file is read twice: names, and who did what at first, come before the first event. So it has
 * to be a file. Threads are left out: a trace says where one is, not what it does. */

#include <stdbool.h>

#include "replay/trace.h"
#include "run/transitions.h"

struct tracks;

/* NULL: f says why, as for trace_open. `open` opens the file, each time anew. */
struct tracks *tracks_open(struct failure *f, struct trace *(*open)(struct failure *f, void *arg),
                           void *arg);
/* Good as long as the tracks; for transitions_init. */
const struct naming *tracks_names(const struct tracks *k);

/* Who wants to look now and then, between two events. May be NULL. */
struct tracks_pause {
    void *arg;
    /* All before this moment is put, nothing from it on; the next time to be asked, ps. */
    uint64_t (*at)(void *arg, uint64_t time);
    uint64_t first;
    void (*often)(void *arg); /* some thousand events were put */
};

/* All of it, and the end. False: the trace is broken; what came before it was put. */
bool tracks_put(struct tracks *k, struct transitions *to, const struct tracks_pause *pause,
                struct failure *f);
/* The listeners' number of the goroutine that Go calls so, the last one of them; EVENT_NO_G: there
 * is none. After tracks_put. */
uint32_t tracks_number(const struct tracks *k, uint64_t goid);
uint64_t tracks_end_ps(const struct tracks *k);
/* GOMAXPROCS as it was said last, else how many Ps there were; threads that did something. */
int32_t tracks_procs(const struct tracks *k);
uint32_t tracks_threads(const struct tracks *k);
int tracks_version(const struct tracks *k); /* 22 of "go 1.22 trace"; known at once */
/* Of the reader: notes, version. */
const struct trace_info *tracks_info(const struct tracks *k);
void tracks_close(struct tracks *k);

#endif
