/* SPDX-License-Identifier: BSD-3-Clause */
/* A P's ring and runnext. The owner of the P calls runqput, runqget and runqdrain; runqsteal takes
 * from somebody else's. */
#ifndef MODEL_RUNQ_H
#define MODEL_RUNQ_H
#include "runtime2.h"

static void runq_own(struct g *gp);
static void runq_disown(struct g *gp);
static inline void moved(const struct g *gp, const struct p *pp, enum ev_place place);
static inline void moved_all(const struct gQueue *q, const struct p *pp, enum ev_place place);
static gslot *runq_slot(struct p *pp, uint32_t at);
static uint32_t runq_cap(const struct p *pp);
static bool runqempty(struct p *pp);
static inline void runqput(struct p *pp, struct g *gp, bool next);
static void runqputbatch(struct p *pp, struct gQueue *q);
static inline struct g *runqget(struct p *pp, bool *inherit);
static struct gQueue runqdrain(struct p *pp);
static struct g *runqsteal(struct p *pp, struct p *p2, bool stealRunNext);
#endif
