/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues and stacks of Gs, linked through schedlink; no locking of their own. */
#ifndef MODEL_GQUEUE_H
#define MODEL_GQUEUE_H
#include "runtime2.h"

static bool gQueue_empty(const struct gQueue *q);
static void gQueue_push(struct gQueue *q, struct g *gp);
static void gQueue_pushBack(struct gQueue *q, struct g *gp);
static void gQueue_pushBackAll(struct gQueue *q, struct gQueue *q2);
static struct g *gQueue_pop(struct gQueue *q);
static bool gList_empty(const struct gList *l);
static void gList_push(struct gList *l, struct g *gp);
static struct g *gList_pop(struct gList *l);
static void gList_pushAll(struct gList *l, struct gQueue *q);
static struct gQueue gList_toQueue(struct gList *l);
#endif
