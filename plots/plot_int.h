/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_PLOT_INT_H
#define GMPSIM_PLOTS_PLOT_INT_H

/* Shared by the pictures. A picture writes blocks of data ("index" in gnuplot's words, two empty
 * lines between them) and a script that draws them. */

#include <stdarg.h>
#include <stdio.h>

#include "plots/plot.h"

struct sqlite3_stmt;

struct plot {
    const struct plot_args *args;
    FILE *gp, *dat;
    const char *dat_name; /* as the script says it */
    char title[300];      /* scenario, profile, machine, seed */
    int64_t makespan_ns;
    int32_t procs;
    int blocks; /* of data so far */
    bool failed;
    char *text;
};

enum { COLOURS = 8 };
/* Okabe and Ito's palette, which people with any kind of colour blindness can tell apart. */
extern const char *const colours[COLOURS];
extern const char *const grey;

void plot_fail(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* NULL after a failure. The run's number is bound to ?1. */
struct sqlite3_stmt *plot_query(struct plot *p, const char *sql);
void plot_done(struct plot *p, struct sqlite3_stmt *st);
/* The first column of the first row, or `otherwise`. */
int64_t plot_number(struct plot *p, const char *sql, int64_t otherwise);
/* Gives the block's index. */
int plot_block(struct plot *p);
/* set title: what the picture shows, and below it what was run. */
void plot_title(struct plot *p, const char *what);
/* A text as gnuplot's single-quoted string. */
const char *plot_quote(const char *text, char *buf, size_t size);
/* Of times up to ns: the unit's length and name. */
int64_t plot_unit(int64_t ns, const char **name);
/* A log axis of nanoseconds with units: set xtics (...). */
void plot_time_tics(struct plot *p, const char *axis, int64_t low_ns, int64_t high_ns);

typedef void plot_fn(struct plot *p);
plot_fn plot_latency, plot_runq, plot_utilisation, plot_timeline;

#endif
