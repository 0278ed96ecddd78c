/* SPDX-License-Identifier: BSD-3-Clause */
/* Gs: made, started, ended, kept for the next. */
#ifndef MODEL_NEWPROC_H
#define MODEL_NEWPROC_H
#include "step.h"

static void allgadd(struct g *gp);
static struct gext *g_ext(struct g *gp);
static void gfpurge(struct p *pp);
static void markrootFreeGStacks(void);
static struct g *newproc1(bool parked, enum waitreason reason);
/* The go statement. */
static inline struct g *newproc(uint32_t func, const int64_t *args, uint32_t nargs, int32_t group);
static struct g *newsysproc(enum step first, void *obj);
static bool gdestroy(struct g *gp);
static enum opres goexit(struct g *gp);
#endif
