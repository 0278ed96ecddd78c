/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_POOL_H
#define GMPSIM_SCENARIOS_POOL_H

/* Memory that is given back all at once. NULL never: out of memory ends the process with a message,
 * as before a run there is nothing to save. */
#include <stddef.h>

struct pool;
struct pool *pool_new(void);
void *pool_alloc(struct pool *p, size_t size); /* zeroed */
void *pool_grow(struct pool *p, void *old, size_t old_size, size_t size);
char *pool_text(struct pool *p, const char *s);
void pool_free(struct pool *p);

#endif
