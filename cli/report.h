/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_REPORT_H
#define GMPSIM_CLI_REPORT_H

/* A result for people and as JSON. */

#include "cli/machine.h"

struct cJSON;

/* The complaints of a scenario's expectations, one text with a line each. */
struct complaints {
    int count;
    char text[4096];
};
void complaints_of(const struct scenario *s, const struct run_opts *o, const struct run_result *r,
                   struct complaints *c);
/* Of a run with other settings than the file's: only about how it ended. */
void complaints_of_end(const struct scenario *s, const struct run_result *r, struct complaints *c);
/* Exit status of a run with these complaints. */
int report_status(const struct run_result *r, const struct complaints *c);

void report_text(FILE *to, const struct machine *m, const struct run_opts *o,
                 const struct run_result *r, const struct complaints *c);
struct cJSON *report_json(const struct machine *m, const struct run_opts *o,
                          const struct run_result *r, const struct complaints *c);

#endif
