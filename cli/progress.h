/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_PROGRESS_H
#define GMPSIM_CLI_PROGRESS_H

/* One line on stderr that shows how far long work is: from the second second on, if stderr is a
 * terminal, and gone when the work is done. */

#include "cli/cli.h"

struct progress {
    const char *what;
    int64_t began_ns, drawn_ns;
    bool on, visible;
};

void progress_begin(struct progress *p, const char *what);
/* Is it time to draw again? Cheap. */
bool progress_due(const struct progress *p);
/* A bar of done of total (0: nobody knows the total), and a note. */
void progress_draw(struct progress *p, int64_t done, int64_t total, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
double progress_seconds(const struct progress *p);
void progress_end(struct progress *p);

/* The same for runs. */
struct progress_run {
    struct progress p;
    char of[160]; /* "run 3 of 10", "" */
    int64_t until_ns;
    int64_t run_at, runs; /* of several of that length; 0: one */
    uint64_t records;
};

/* Hears the records; also when it is off. */
void progress_sink(struct progress_run *r, const struct event_rec *recs, size_t count);

#endif
