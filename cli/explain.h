/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_EXPLAIN_H
#define GMPSIM_CLI_EXPLAIN_H

/* Why did it take so long? The chain of waits of the slowest span of a name, or of one goroutine.
 *
 * The run is done twice: once to find the span, once to write down what happened to its goroutine;
 * as runs repeat exactly, nothing has to be kept in between. */

#include "cli/machine.h"

/* Who can tell the same story more than once: a run that repeats, a recording. */
struct explain_source {
    void *arg;
    const struct naming *names;
    int64_t warmup_ns;  /* what began before is left out */
    bool starts;        /* it has the program's start in it */
    int64_t backoff_ns; /* for how long thieves leave runnext alone */
    /* Has listeners added, tells all, and ends the command if that cannot be. */
    void (*tell)(void *arg, void (*listen)(void *to, struct transitions *t), void *to);
    /* The listeners' number of a goroutine that people call so; NULL: the same. */
    uint32_t (*number)(void *arg, uint64_t goid);
};

/* Dies when there can be no such thing; before the run, which may take long. */
void explain_check(const struct naming *n, const char *what);
/* what: a span's name, or "g17". Dies when there is no such thing. */
void explain_of(const struct explain_source *s, const char *what);
void explain(const struct run_opts *o, const char *what);

#endif
