/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_PERFETTO_H
#define GMPSIM_STORE_PERFETTO_H

/* What happened as a file for ui.perfetto.dev and chrome://tracing (Trace Event Format, JSON),
 * written while it happens.
 *
 *   Ps       a track each: who runs, the scheduler, spinning, system calls, no CPU, throttling;
 *            arrows from a wake to where the woken goroutine runs, and from a robbed P to the thief
 *   Ms       a track each: the P that it has, spinning, sleep in the poller
 *   groups   counters: how many of its goroutines run, are runnable, wait, are in system calls
 *   spans    asynchronous slices, which may overlap
 *   world    stops of the world and the collector's mark phases */

#include <stdbool.h>

#include "run/transitions.h"
#include "sim/base/fail.h"

struct perfetto;

/* NULL: f says why. "-" is standard output; a name that ends in .gz is a packed file, which the
 * page opens as well. What was before from_ns is not drawn, and no span that began before. */
struct perfetto *perfetto_open(struct failure *f, const char *path, int64_t from_ns);
void perfetto_listen(struct perfetto *p, struct transitions *t);
/* After transitions_end. False: something could not be written. */
bool perfetto_close(struct perfetto *p, struct failure *f);

#endif
