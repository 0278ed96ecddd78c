/* SPDX-License-Identifier: BSD-3-Clause */
/* The weighted semaphore of golang.org/x/sync. */
#ifndef MODEL_WEIGHTED_H
#define MODEL_WEIGHTED_H
#include "objs.h"

static bool weighted_try(struct weighted *w, int64_t n);
static enum opres weighted_acquire(struct g *gp, struct weighted *w, int64_t n);
static enum opres weighted_release(struct g *gp, struct weighted *w, int64_t n);
#endif
