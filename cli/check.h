/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_CHECK_H
#define GMPSIM_CLI_CHECK_H

#include "cli/cli.h"

/* Runs each on every release that it names, `repeat` times, and says where the result is not what
 * the file expects, or not the same every time. Gives the exit status. */
int scenarios_check(char *const *paths, size_t count, int64_t repeat, bool json);

#endif
