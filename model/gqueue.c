/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of Gs by schedlink: gQueue is FIFO, gList is LIFO (proc.go). A G is on at most one. */
#include "gqueue.h"

static bool gQueue_empty(const struct gQueue *q) { return q->head == NULL; }

static void gQueue_push(struct gQueue *q, struct g *gp)
{ /* at the head */
    gp->schedlink = q->head;
    q->head = gp;
    if (q->tail == NULL)
        q->tail = gp;
    q->size++;
}

static void gQueue_pushBack(struct gQueue *q, struct g *gp)
{
    gp->schedlink = NULL;
    if (q->tail != NULL)
        q->tail->schedlink = gp;
    else
        q->head = gp;
    q->tail = gp;
    q->size++;
}

/* Moves all of q2 behind q. */
static void gQueue_pushBackAll(struct gQueue *q, struct gQueue *q2)
{
    if (q2->tail == NULL)
        return;
    q2->tail->schedlink = NULL;
    if (q->tail != NULL)
        q->tail->schedlink = q2->head;
    else
        q->head = q2->head;
    q->tail = q2->tail;
    q->size += q2->size;
    *q2 = (struct gQueue){0};
}

static struct g *gQueue_pop(struct gQueue *q)
{
    struct g *gp = q->head;
    if (gp == NULL)
        return NULL;
    q->head = gp->schedlink;
    if (q->head == NULL)
        q->tail = NULL;
    q->size--;
    return gp;
}

static bool gList_empty(const struct gList *l) { return l->head == NULL; }

static void gList_push(struct gList *l, struct g *gp)
{
    gp->schedlink = l->head;
    l->head = gp;
    l->size++;
}

static struct g *gList_pop(struct gList *l)
{
    struct g *gp = l->head;
    if (gp == NULL)
        return NULL;
    l->head = gp->schedlink;
    l->size--;
    return gp;
}

/* Moves all of q before l (proc.go gList.pushAll). */
static void gList_pushAll(struct gList *l, struct gQueue *q)
{
    if (q->tail == NULL)
        return;
    q->tail->schedlink = l->head;
    l->head = q->head;
    l->size += q->size;
    *q = (struct gQueue){0};
}

/* The list as a queue, in list order. */
static struct gQueue gList_toQueue(struct gList *l)
{
    struct gQueue q = {.head = l->head, .size = l->size};
    for (struct g *gp = l->head; gp != NULL; gp = gp->schedlink)
        q.tail = gp;
    *l = (struct gList){0};
    return q;
}
