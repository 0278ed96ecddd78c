/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_JUDGE_H
#define GMPSIM_RUN_JUDGE_H

/* Does a result hold what its scenario expects? */

#include "run/result.h"

/* One complaint per call, without newline. */
typedef void judge_say(void *arg, const char *text);

/* How many expectations do not hold. Without any, a run must finish. The bug of the file may come,
 * and has to if it always does. release: of the run's profile. */
int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   judge_say *say, void *arg);

/* Is it the bug that the file describes ("bug")? Time is not looked at. */
bool scenario_is_bug(const struct scenario *s, int release, const struct run_result *r);

/* Of a run with other settings than the file's, about which its numbers say nothing: it must end,
 * or reach its time limit, or end in a way that the file expects of some release. 0 or 1. */
int scenario_check_end(const struct scenario *s, const struct run_result *r, judge_say *say,
                       void *arg);

/* scenario_check for one of many runs in which time is not what it is in virtual time: only how the
 * run ended, what it said and printed, and who is blocked. */
int scenario_check_any(const struct scenario *s, int release, const struct run_result *r,
                       judge_say *say, void *arg);

/* Goroutines that nobody can ever wake, where the file does not say who is blocked. */
int scenario_check_stranded(const struct scenario *s, int release, const struct run_result *r,
                            judge_say *say, void *arg);

/* Does the file say how long anybody may wait for his turn? */
bool scenario_bounds_starving(const struct scenario *s, int release);

/* Data races, which the file must expect ("end": "race") or they are complained about. */
int scenario_check_races(const struct scenario *s, int release, const struct run_result *r,
                         judge_say *say, void *arg);

#endif
