/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_AXES_H
#define GMPSIM_CLI_AXES_H

/* The lists of a what-if grid, as people write them: "default,1-4,8", "go1.24..go1.27",
 * "500m,2,none", "0.5x..2x". */

#include "cli/cli.h"

enum { AXIS_MAX = 256 };

/* Values as texts, of which each is one setting. NULL: the scenario's own. */
struct axis {
    const char *given;
    char *values[AXIS_MAX];
    int count;
};

/* Each dies of a mistake. */
void axis_procs(struct axis *a);
void axis_profiles(struct axis *a);
void axis_plain(struct axis *a, const char *name); /* without ranges */
void axis_rates(struct axis *a);
void axis_release(struct axis *a);

/* "1.5x" in millionths; dies. */
int64_t rate_of(const char *text);

/* GOMAXPROCS by a word: default (the release's own), node (the machine's CPUs), automaxprocs (the
 * quota rounded down), go1.25 (the quota rounded up, at least 2). -1: it is no such word. quota_us
 * 0: none. */
int32_t procs_of_policy(const char *word, int32_t cpus, int64_t quota_us, int64_t period_us);

#endif
