/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_FINDING_H
#define GMPSIM_CLI_FINDING_H

/* What explore, replay and shrink share: a finding in words and in a file. */

#include "cli/out.h"
#include "search/kept.h"
#include "search/shrink.h"

/* "procs 2, go1.27, sc, start as in virtual time" */
const char *world_text(const struct explored_opts *o);
/* Seeds of a search: a number, or the hash of any text, such as a commit's id. */
uint64_t seed_of_text(const char *text);
/* Writes the schedule, dies of mistakes. scenario: its path. */
void finding_write(const struct finding *x, const char *scenario, const char *path);
/* A file's name as a word of a shell's line, in a static buffer. */
const char *finding_word(const char *path);
void finding_print(FILE *to, const struct finding *x, const struct shrink_result *shrunk);
cJSON *finding_json(const struct finding *x, const struct shrink_result *shrunk);

#endif
