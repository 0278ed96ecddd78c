/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_CHECK_H
#define GMPSIM_CLI_CHECK_H

#include "cli/cli.h"
#include "cli/shard.h"

/* What the first line of a journal says. */
#define CHECKED_WHAT "checked scenarios, 1"

/* Runs each file on every release that it names, `repeat` times, and says where the result is
 * not what the file expects, or not the same every time. Gives the exit status. */
int scenarios_check(char *const *paths, size_t count, int64_t repeat, bool json);
/* A part of them into a journal, which has what was done before it was killed; and all parts
 * together, told as if one machine had checked them. */
int scenarios_check_part(char *const *paths, size_t count, int64_t repeat,
                         const struct shard *shard, const char *journal);
int scenarios_check_merge(char *const *paths, int count, bool json);

#endif
