/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_EXPECT_H
#define GMPSIM_SCENARIOS_EXPECT_H

/* What must hold at the end of a run. */

#include "scenarios/result.h"
#include "scenarios/scenario.h"

/* One complaint per call, without newline. */
typedef void expect_say(void *arg, const char *text);

/* How many expectations do not hold. Without any, a run must finish. release: of the run's profile.
 */
int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   expect_say *say, void *arg);

/* How many objects "expect" has: more than one where releases differ. */
int scenario_expects(const struct scenario *s);

#endif
