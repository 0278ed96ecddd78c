/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_GENGO_H
#define GMPSIM_SCENARIOS_GENGO_H

/* A scenario as a Go program: gofmt-clean, for Go 1.19 and newer, with the same prints. CPU bursts
 * are calibrated loops; spans and marks are left out; descriptors are goroutines that sleep. */

#include <stdio.h>

#include "scenarios/scenario.h"

void scenario_gen_go(const struct scenario *s, FILE *out);

#endif
