/* SPDX-License-Identifier: BSD-3-Clause */
/* The global run queue. Everything here wants sched.lock held, unless its name says "looks". */
#ifndef MODEL_GLOBRUNQ_H
#define MODEL_GLOBRUNQ_H
#include "runtime2.h"

static inline bool globrunq_looks_empty(void);
static void globrunqput(struct g *gp);
static void globrunqputhead(struct g *gp);
static void globrunqputbatch(struct gQueue *batch);
static struct g *globrunqget_one(void);
static struct g *globrunqgetbatch(struct p *pp, struct gQueue *rest);
static void globrunq_put_rest(struct p *pp, struct gQueue *rest);
#endif
