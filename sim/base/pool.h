/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_POOL_H
#define GMPSIM_SIM_BASE_POOL_H

/* Memory that is given back all at once. It is never NULL: without memory x_failed is called
 * (alloc.h). */
#include <stddef.h>
#include <stdint.h>

struct pool;
struct pool *pool_new(void);
void *pool_alloc(struct pool *p, size_t size); /* zeroed */
void *pool_grow(struct pool *p, void *old, size_t old_size, size_t size);
/* release(arg) is called when the rest is given back. */
void pool_at_end(struct pool *p, void (*release)(void *arg), void *arg);
char *pool_text(struct pool *p, const char *s);
void pool_free(struct pool *p);

/* Room for one more element of a table that has `count` and room for `cap`. */
#define POOL_ROOM(pool, table, count, cap)                                 \
    do {                                                                   \
        uint32_t count_ = (count);                                         \
        if (count_ == (cap)) {                                             \
            (cap) = count_ != 0 ? count_ * 2 : 16;                         \
            (table) = pool_grow((pool), (table), count_ * sizeof *(table), \
                                (cap) * sizeof *(table));                  \
        }                                                                  \
    } while (0)

#endif
