/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.Pool. */
#ifndef MODEL_POOL_H
#define MODEL_POOL_H
#include "objs.h"

static struct pool *pool_make(void);
static enum opres pool_put(struct g *gp, struct pool *o); /* the instruction's value */
static enum opres pool_get(struct g *gp, struct pool *o); /* into the instruction's registers */
static void poolCleanup(void); /* GC: what was not used since the last GC is dropped */
#endif
