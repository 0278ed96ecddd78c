/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_KEEP_H
#define GMPSIM_STORE_KEEP_H

/* What is done to a store beside recording into it. */

#include "store/store.h"

/* Removes the runs whose process is gone; the number of them, -1 if it failed. */
int store_remove_dead(struct store *s, struct failure *f);
/* Removes complete runs from first to last; the number of them, -1 if it failed. */
int store_remove(struct store *s, struct failure *f, int64_t first, int64_t last);
/* Removes a what-if grid, the number of its rows. */
int store_remove_grid(struct store *s, struct failure *f, int64_t grid);
/* Gives the room of what was removed back to the file system. */
bool store_vacuum(struct store *s, struct failure *f);
/* Looks at every page, row and reference; each complaint is a call of `tell`. The number of them,
 * -1 if it could not look. */
int store_check(struct store *s, struct failure *f, void (*tell)(void *arg, const char *what),
                void *arg);

#endif
