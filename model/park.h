/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking and waking of goroutines, and the switch to g0. */
#ifndef MODEL_PARK_H
#define MODEL_PARK_H
#include "step.h"

static inline struct m *acquirem(void);
static inline void repoison_guard(struct m *mp);
static inline void releasem(struct m *mp);
static enum opres mcall(mcall_fn fn);
static inline void dropg(struct m *mp);
static ev_g rec_curg(struct m *mp);
static inline enum ev_place next_place(void);
static inline enum opres gopark(struct g *gp, unlockf_fn unlockf, void *lockp,
                                enum waitreason reason);
static enum opres goparkunlock(struct g *gp, struct mutex *l, enum waitreason reason);
static inline void ready(struct g *gp, bool next);
static inline void goready(struct g *gp); /* ready(next=true) */
static inline void made_runnable(struct g *gp);
static enum opres gosched(struct g *gp); /* runtime.Gosched */
static void gopreempt_m(struct g *gp);
static enum opres goschedIfBusy(struct g *gp);
static enum opres goyield(struct g *gp);
static inline struct sudog *acquireSudog(void);
static inline void releaseSudog(struct sudog *s);
#endif
