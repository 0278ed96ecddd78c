/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.Mutex, RWMutex, WaitGroup, Cond. */
#ifndef MODEL_SYNC_H
#define MODEL_SYNC_H
#include "objs.h"

static enum opres mutex_lock(struct g *gp, struct smutex *m);
static bool mutex_trylock(struct smutex *m);
static enum opres mutex_unlock(struct g *gp, struct smutex *m);
static enum opres rw_rlock(struct g *gp, struct rwmutex *rw);
static bool rw_tryrlock(struct rwmutex *rw);
static enum opres rw_runlock(struct g *gp, struct rwmutex *rw);
static enum opres rw_lock(struct g *gp, struct rwmutex *rw);
static enum opres rw_trylock(struct g *gp, struct rwmutex *rw, uint8_t reg);
static enum opres rw_unlock(struct g *gp, struct rwmutex *rw);
static enum opres wg_add(struct g *gp, struct waitgroup *wg, int64_t delta);
static enum opres wg_wait(struct g *gp, struct waitgroup *wg);
static enum opres cond_wait(struct g *gp, struct cond *c);
#endif
