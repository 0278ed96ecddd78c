/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_CAPACITY_H
#define GMPSIM_CLI_CAPACITY_H

/* How much load each cell of a grid takes while a promise about latency holds: the arrival rate is
 * doubled or halved until the promise breaks or holds, then the place between searched to 5 %. */

#include "cli/grid.h"

/* promise: "request:p99<20ms", or "p99<20ms" of the span with most time. Prints; gives the exit
 * status. Dies. */
int capacity_search(struct grid *g, const char *promise, int at_once, bool json);

#endif
