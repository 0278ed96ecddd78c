/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_GENGO_H
#define GMPSIM_SCENARIOS_GENGO_H

/* A scenario as a Go program: gofmt-clean, for Go 1.19 and newer, with the same prints. CPU bursts
 * are calibrated loops; spans and marks are left out; descriptors are goroutines that sleep. */

#include <stdio.h>

#include "scenarios/scenario.h"

void scenario_gen_go(const struct scenario *s, FILE *out);

/* The same as two files of a package, which measures itself from the start of its clock to the end
 * of main. GOMAXPROCS is the environment's; what is drawn is drawn from GMPSIM_SEED. Into the file
 * that GMPSIM_MEASURE names go lines of a name and numbers:
 *
 *     wall_ns N, cpu_ns N        of the run
 *     burst_permille N           CPU time of bursts of 100 us, over 100 us
 *     latency FROM_NS COUNT      a bucket of /sched/latencies:seconds that has any
 *
 * and if GMPSIM_TRACE names a file, the run's execution trace into that. */
void scenario_gen_go_measured(const struct scenario *s, FILE *out, FILE *measure);

#endif
