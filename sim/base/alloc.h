/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_ALLOC_H
#define GMPSIM_SIM_BASE_ALLOC_H

/* Memory of whoever stands beside a world: the analysis, the store, the command. A world itself has
 * its arena. */

#include <stddef.h>

/* malloc, realloc and strdup that end the process with a message in place of returning NULL. */
void *x_alloc(size_t size);
void *x_grow(void *p, size_t size);
char *x_strdup(const char *text);

#endif
