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

/* Where the time of the slow spans went. */
void report_slow(FILE *to, const struct run_result *r);
/* counters: all of them, not only those that matter. waits: NULL: nobody is stuck. */
struct waitsfor;
void report_text(FILE *to, const struct machine *m, const struct run_opts *o,
                 const struct run_result *r, const struct complaints *c, bool counters,
                 const struct waitsfor *waits);
/* How many goroutines were runnable, the mean over time. */
double report_runnable(const struct run_result *r);
/* The spans by name: percentiles, and where the time went. */
struct cJSON *report_spans_json(const struct run_result *r);
struct cJSON *report_json(const struct machine *m, const struct run_opts *o,
                          const struct run_result *r, const struct complaints *c);

#endif
