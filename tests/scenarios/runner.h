/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_SCENARIOS_RUNNER_H
#define GMPSIM_TESTS_SCENARIOS_RUNNER_H

/* Runs a scenario in this process and checks its expectations. */

#include "run/run.h"

/* What the runs of one scenario came to. */
struct verdict {
    int runs, complaints;
    uint64_t fingerprint; /* of all of them together: FNV-1a over theirs, as runs.py does it */
    char text[4096];      /* the complaints, a line each */
};

/* On that release, 0: on every profile that the scenario lists. out, if any, gets the prints of
 * the last run. */
void run_scenario(const struct scenario *s, int release, struct verdict *v, char *out, size_t size);

#endif
