/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_GRID_H
#define GMPSIM_CLI_GRID_H

/* A grid of settings: its cells, the runs of each, and what they come to. A table is what remains
 * of a grid without its scenario: it can be written to a journal, read back and merged. */

#include "cli/axes.h"
#include "cli/machine.h"
#include "store/whatif.h"

enum { GRID_RUNS_MAX = 100000 };

/* The settings of a cell, as numbers. */
struct table_cell {
    int32_t release, cpus;
    int32_t procs;   /* asked for; 0: the default */
    char policy[16]; /* the word it was asked by, "" */
    int64_t quota_us, rate_ppm;
    bool own; /* the file's own settings: what it expects is about this cell */
};

struct table {
    char *scenario, *file;
    int64_t period_us, until_ns, warmup_ns;
    uint64_t seed; /* of run 0 */
    int64_t runs;  /* at most, per cell */
    size_t ncells, nseries;
    struct table_cell *cells;
    char **names; /* of series: the wait in run queues, then the spans */
    size_t size;  /* of a run */
    unsigned char *of;
    unsigned char *have; /* per run: is it there */
    int64_t *counts;     /* per cell: how many of its first runs count */
    /* A cell ends when its numbers are known this well (0: after all runs), these points of the
     * spans and their rates (a bit each). */
    double precision;
    uint32_t points;
    size_t span; /* the series that matters most */
};

const struct whatif_run *table_run(const struct table *t, size_t cell, int64_t run);
void table_put(struct table *t, size_t cell, int64_t run, const struct whatif_run *w);
/* How many runs of the cell are there without a gap. */
int64_t table_prefix(const struct table *t, size_t cell);
void table_alloc(struct table *t); /* when ncells, nseries and runs are known */
void table_release(struct table *t);
/* From a store; grid 0: its latest. Its period is not known then. Dies. */
void grid_load(struct store *s, int64_t grid, struct table *t);

/* ---- numbers ---- */

struct mean {
    double mean, half; /* of the 95 % confidence interval of the mean */
};

enum measure {
    OF_MAKESPAN,
    OF_USER, /* millionths of the Ps' time */
    OF_THROTTLED,
    OF_COUNT,
    OF_OPEN,
    OF_LATE,
    OF_RATE, /* per second */
    OF_POINT /* and up: the points of a series */
};

/* Over the first n runs. */
struct mean table_stat(const struct table *t, size_t cell, int64_t n, size_t series,
                       enum measure what);
/* How many of the cell's first runs count: the fewest, from 3 on, after which its numbers are known
 * as well as was asked for. 0: it is not known yet. Depends on the runs alone, not on which came
 * first. */
int64_t table_decide(const struct table *t, size_t cell);
/* Without a name the span with most time in all; without spans the wait in run queues. Dies. */
void table_choose_span(struct table *t, const char *name);
/* Is a percentile of so many worth printing? p99.9 of 200 is the maximum. */
bool point_counts(double count, int point);
/* Did so many not end that the numbers of those that did say little? */
bool many_open(double open, double ended);
extern const char *const point_names[WHATIF_POINTS];
extern const uint32_t point_ppm[WHATIF_POINTS - 1]; /* max has none */

/* ---- a grid ---- */

struct grid {
    struct machine m;
    struct run_opts o; /* of the file and the options that are not axes */
    struct axis procs, profile, cpus, quota, rate;
    int64_t promise_ns; /* of a capacity: what its spans have to keep; else 0 */
    struct table t;
};

/* After the machine was loaded: cells, and the table for at most `runs` of each. Dies. */
void grid_build(struct grid *g, int64_t runs);
/* One run of a cell, at times its own rate; false: with a message on stderr. */
bool grid_run(const struct grid *g, size_t cell, int64_t run, int64_t rate_ppm,
              struct whatif_run *out);
void grid_release(struct grid *g);

#endif
