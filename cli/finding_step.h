/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_FINDING_STEP_H
#define GMPSIM_CLI_FINDING_STEP_H

/* Going through a finding's turns forwards and backwards by commands from standard input. */

#include "cli/finding_page.h"

void finding_step(const struct history *h, const char *file);

#endif
