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
/* The worst exit status of the runs that count. */
int grid_status(const struct table *t);

/* ---- what follows (advice.c) ---- */

/* Sentences, a line each; to `list` as objects instead if that is not NULL. point: of the span that
 * matters. */
void advice_show(const struct table *t, int point, FILE *to, struct cJSON *list);

#endif
