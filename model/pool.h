/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.Pool. */
#ifndef MODEL_POOL_H
#define MODEL_POOL_H
#include "objs.h"

static struct pool *pool_make(void);
static void pool_put(struct pool *o, int64_t v);
static bool pool_get(struct pool *o, int64_t *v);
static void poolCleanup(void); /* GC: what was not used since the last GC is dropped */
#endif
