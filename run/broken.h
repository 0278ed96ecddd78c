/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_BROKEN_H
#define GMPSIM_RUN_BROKEN_H

/* A run in which an invariant broke is made again, traced: which operation broke it, who did that,
 * and what happened just before. The first run pays nothing for this. */

#include <stdio.h>

#include "run/run.h"

/* Seed, step (operations from the start of the run), virtual time; M, P and G with their statuses;
 * the last operations; `repeat`, the line that gives the run again. The options are those of the
 * run that broke, whose world is gone (run_free). */
void broken_report(FILE *to, const struct run_opts *o, const char *repeat);

#endif
