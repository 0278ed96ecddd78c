/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_GENGO_H
#define GMPSIM_SCENARIOS_GENGO_H

/* A scenario as a Go program: gofmt-clean, for Go 1.19 and newer, with the same prints. CPU bursts
 * are calibrated loops; spans and marks are left out; descriptors are goroutines that sleep. */

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/fail.h"

/* false: the text is no scenario (f says why). */
bool scenario_gen_go(struct failure *f, const char *path, const char *text, size_t size, FILE *out);

#endif
