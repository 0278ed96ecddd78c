/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_GRIDSHOW_H
#define GMPSIM_CLI_GRIDSHOW_H

/* A table for people, as JSON and as CSV; and what follows from it. */

#include "cli/grid.h"

struct cJSON;

enum grid_form { GRID_TEXT, GRID_JSON, GRID_CSV };

void grid_show(const struct table *t, enum grid_form form);
/* "GOMAXPROCS 2, go1.24": what tells a cell from the others of its table. */
const char *cell_label(const struct table *t, size_t cell, char *buf, size_t size);
/* The same without one of the axes. */
const char *cell_label_but(const struct table *t, size_t cell, int but, char *buf, size_t size);
/* What a grid is over, in the order in which labels say it. */
enum grid_axis { AXIS_PROCS, AXIS_PROFILE, AXIS_CPUS, AXIS_QUOTA, AXIS_RATE };
enum { GRID_AXES = AXIS_RATE + 1 };
const char *cell_words(const struct table *t, size_t cell, enum grid_axis axis, char *buf,
                       size_t size);
bool cells_agree(const struct table_cell *a, const struct table_cell *b, enum grid_axis axis);
bool table_varies(const struct table *t, enum grid_axis axis);
/* The percentile that people decide by: p99 where it counts, else the median. */
int grid_decisive(const struct table *t);
/* The worst exit status of the runs that count. */
int grid_status(const struct table *t);

/* ---- what follows (advice.c) ---- */

/* Sentences, a line each; to `list` as objects instead if that is not NULL. point: of the span that
 * matters. */
void advice_show(const struct table *t, int point, FILE *to, struct cJSON *list);
/* Of the cells that are given the same as this one, from it on: the one to choose for this point,
 * SIZE_MAX: none. */
size_t advice_best(const struct table *t, int point, size_t first);
/* Do their confidence intervals say that they differ? */
bool means_differ(struct mean a, struct mean b);
bool advice_same_given(const struct table_cell *a, const struct table_cell *b);

/* ---- a picture (gridplot.c) ---- */

/* Dies where it cannot be drawn. */
void grid_plot(const struct table *t, const char *out);

#endif
