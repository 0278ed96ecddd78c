/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_SIMTRACE_H
#define GMPSIM_REPLAY_SIMTRACE_H

/* A run's records as a Go execution trace: goroutines, Ps and threads as they went; stacks name the
 * functions of the scenario and their lines; system calls, the collector and stopped worlds; a
 * task for each span. Go's own tools open it. */

#include "model/prog.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"

struct simtrace;

/* file: the scenario's name, for stacks. generation_bytes: of gotrace_opts. NULL: f says why. */
struct simtrace *simtrace_open(struct failure *f, const char *path, const struct program *program,
                               const char *file, int32_t procs, uint64_t generation_bytes);
void simtrace_sink(void *s, const struct event_rec *recs, size_t count);
/* end_ps: the run's end. */
bool simtrace_close(struct simtrace *s, struct failure *f, uint64_t end_ps);

#endif
