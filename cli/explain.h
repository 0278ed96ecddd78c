/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_EXPLAIN_H
#define GMPSIM_CLI_EXPLAIN_H

/* Why did it take so long? The chain of waits of the slowest span of a name, or of one goroutine.
 *
 * The run is done twice: once to find the span, once to write down what happened to its goroutine;
 * as runs repeat exactly, nothing has to be kept in between. */

#include "cli/machine.h"

/* Dies when there can be no such thing; before the run, which may take long. */
void explain_check(const struct program *p, const char *what);
/* what: a span's name, or "g17". Dies when there is no such thing. */
void explain(const struct run_opts *o, const char *what);

#endif
