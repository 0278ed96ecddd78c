/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_BY_TURNS_H
#define GMPSIM_SEARCH_BY_TURNS_H

/* A finding at granularity op is a thousand operations of the runtime. Most of what a program does
 * wrong shows by turns, too: then ten turns say it better. */

#include "search/hunt.h"

/* Looks by turns for a finding with the same verdict, in a few thousand schedules. *found: x is
 * that one now. Not looked for where operations are what it is about: another memory than sc,
 * faults, a broken rule of the scheduler. */
bool finding_by_turns(struct failure *f, struct finding *x, bool *found);

#endif
