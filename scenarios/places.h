/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_PLACES_H
#define GMPSIM_SCENARIOS_PLACES_H

/* Texts about a scenario that was made of something else (a recorded trace): its lines become
 * places of that. */

#include "scenarios/scenario.h"

/* Lines of the scenario become the places that they stand for, in place; text that has none stays.
 */
void scenario_tell(const struct scenario *s, char *text, size_t size);

/* The same of a whole page, where places are FILE:N, "line N", or " :N" at a line's end; malloc'ed.
 */
char *scenario_tell_page(const struct scenario *s, const char *file, const char *page);

#endif
