/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_STEP_H
#define GMPSIM_CLI_STEP_H

/* Going through a run forwards and backwards by commands from standard input. */

#include "cli/look.h"
#include "run/run.h"

struct step_args {
    const struct run_opts *o;
    struct look_what what;
    int64_t at_ns;     /* where to begin */
    uint64_t after_op; /* ... or after which operation; 0: at_ns counts */
    int64_t step_ns;   /* 0: a step is a record of the scheduler */
};

void step_through(const struct step_args *a);

#endif
