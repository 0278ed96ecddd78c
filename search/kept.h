/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_KEPT_H
#define GMPSIM_SEARCH_KEPT_H

/* A finding in a file (sim/explore/schedule.h): what was run, on what, and the answers. */

#include "search/hunt.h"
#include "sim/explore/schedule.h"

/* What of the program decides about a run: its code, its objects and what they are called. */
uint64_t program_hash(const struct program *p);

/* path: of the scenario, as the command was given it. */
int finding_save(struct failure *f, const struct finding *x, const char *path,
                 struct schedule *out);

/* The scenario that a schedule names; NULL: it names none. */
const char *schedule_scenario(const struct schedule *s);
/* Everything but the scenario, which is there already. anyway: a difference of program, profile or
 * simulator is no mistake. */
bool finding_load(struct failure *f, const struct schedule *in, const struct scenario *s,
                  bool anyway, struct finding *x);

#endif
