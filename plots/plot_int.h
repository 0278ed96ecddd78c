/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_PLOT_INT_H
#define GMPSIM_PLOTS_PLOT_INT_H

/* Shared by the pictures. A picture writes blocks of data ("index" in gnuplot's words, two empty
 * lines between them) and a script that draws them. */

#include <stdarg.h>
#include <stdio.h>

#include "plots/plot.h"
#include "sim/base/text.h"

struct sqlite3_stmt;

struct plot {
    const struct plot_args *args;
    int64_t run;     /* the first, or the one that is being drawn */
    FILE *gp, *dat;  /* of a graph: the SVG and the DOT */
    char *dat_name;  /* as the script says it, quoted */
    char title[400]; /* scenario, profile, machine, seed of that run */
    int64_t makespan_ns;
    int32_t procs;
    int blocks; /* of data so far */
    bool failed;
    bool recorded; /* a Go trace, which knows no queues, steals, idle Ms and quotas */
    char *text;
};

/* p99 of fewer values would be the slowest, which is said anyway. */
enum { P99_COUNT = 100 };
enum { COLOURS = 8, PLOT_WIDTH = 1200, PLOT_HEIGHT = 700 };
/* Okabe and Ito's palette, which people with any kind of colour blindness can tell apart. */
extern const char *const colours[COLOURS];

void plot_fail(struct plot *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Why a picture is empty, unless it is that a Go trace does not tell what is drawn. */
const char *plot_untold(const struct plot *p, const char *why);
/* Reads what the run p->run is; title, makespan and procs are of it from now on. */
void plot_read_run(struct plot *p, int64_t run);
/* NULL after a failure. The run's number is bound to ?1. */
struct sqlite3_stmt *plot_query(struct plot *p, const char *sql);
void plot_done(struct plot *p, struct sqlite3_stmt *st);
/* The first column of the first row, or `otherwise`. */
int64_t plot_number(struct plot *p, const char *sql, int64_t otherwise);
bool plot_has_table(struct plot *p, const char *name);
/* "1, 4": the runs that were asked for, for SQL. */
const char *plot_run_list(const struct plot *p, char *buf, size_t size);
/* "run 4 (go1.26, 2 Ps)": with what tells it from the others that were asked for. */
const char *plot_run_label(struct plot *p, int64_t run, char *buf, size_t size);
/* The span that a picture is of: the one asked for, else the one with most time; without spans the
 * life of a group's goroutines. False: there is none, or it failed. The name is the caller's. */
struct plot_span {
    bool is_life;
    char *name;
    int64_t count, min_ns, max_ns;
};
bool plot_main_span(struct plot *p, struct plot_span *out);
/* Gives the block's index. */
int plot_block(struct plot *p);
/* The head of the script: size, and a title that says what the picture shows and below it what was
 * run; `more` is a third line, "" for none. */
void plot_begin(struct plot *p, int height, const char *what, const char *more);
/* The two halves of it: everything but the title, and the title's text. */
void plot_head(struct plot *p, int height);
void plot_title(struct plot *p, const char *what, const char *more);
/* A picture that says why there is nothing to see. */
void plot_nothing(struct plot *p, const char *what, const char *why);
/* A text as gnuplot's single-quoted string. */
const char *plot_quote(const char *text, char *buf, size_t size);
/* Of times up to ns: the unit's length and name. */
int64_t plot_unit(int64_t ns, const char **name);
/* "91.2 ms", in one of four static buffers. */
const char *plot_time(int64_t ns);
/* An axis of what there is no half of. */
void plot_counts(struct plot *p, const char *axis, double most);
/* A log axis of nanoseconds with units: set xtics (...). */
void plot_time_tics(struct plot *p, const char *axis, int64_t low_ns, int64_t high_ns);

typedef void plot_fn(struct plot *p);
plot_fn plot_latency, plot_histogram, plot_heatmap, plot_runq, plot_queues, plot_steals,
    plot_utilisation, plot_threads, plot_throttling, plot_waits, plot_wakes, plot_timeline,
    plot_whatif;

#endif
