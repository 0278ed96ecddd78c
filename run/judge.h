/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_JUDGE_H
#define GMPSIM_RUN_JUDGE_H

/* Does a result hold what its scenario expects? */

#include "run/result.h"

/* One complaint per call, without newline. */
typedef void judge_say(void *arg, const char *text);

/* How many expectations do not hold. Without any, a run must finish. release: of the run's profile.
 */
int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   judge_say *say, void *arg);

#endif
