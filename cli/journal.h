/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_JOURNAL_H
#define GMPSIM_CLI_JOURNAL_H

/* The runs of a grid in a file, a line of JSON each, written as they end: what was killed goes on
 * where it was, and parts that ran elsewhere are put together. The first line says what grid it is;
 * a file of another grid is refused. */

#include "cli/grid.h"

struct journal {
    FILE *to;
    const char *path;
    const struct table *t;
};

/* Reads what is there into the table, and opens the file for more. hash: of all else that decides
 * what the runs are (the scenario's text, rules, costs). Dies. */
void journal_open(struct journal *j, const char *path, struct table *t, const char *hash);
void journal_put(struct journal *j, size_t cell, int64_t run, const struct whatif_run *w);
/* Dies when something could not be written. */
void journal_close(struct journal *j);

/* Puts these files together into a table of their own. Dies. */
void journals_merge(struct table *t, char *const *paths, int count);

#endif
