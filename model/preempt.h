/* SPDX-License-Identifier: BSD-3-Clause */
/* Preemption by request and by signal, and suspending a single goroutine. */
#ifndef MODEL_PREEMPT_H
#define MODEL_PREEMPT_H
#include "step.h"

struct suspendGState {
    struct g *gp;
    bool dead, stopped;
};

static void sighandler(void *arg);
static COLD enum opres asyncPreempt2(struct g *gp);
static COLD enum opres newstack(struct g *gp);
/* Before what a function of the runtime still has to do, where a call in it may be its end for now:
 * the G goes on with `rest`. */
static void preemptible(struct g *gp, enum step rest);
static bool preemptone(struct p *pp);
static void preemptall(void);
static struct suspendGState suspendG(struct g *gp);
static void resumeG(struct suspendGState s);
#endif
