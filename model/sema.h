/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores by address (sync's sleeping half), and the ticketed list of sync.Cond. */
#ifndef MODEL_SEMA_H
#define MODEL_SEMA_H
#include "objs.h"

static struct semaRoot *rootFor(const semaword *addr);
static struct sudog **sema_find(struct semaRoot *root, const semaword *addr);
static enum opres semacquire1(struct g *gp, semaword *addr, bool lifo, enum waitreason reason);
static enum opres semacquire(struct g *gp, semaword *addr); /* pushes its own step when it parks */
static void readyWithTime(struct sudog *s);
static enum opres semrelease1(struct g *gp, semaword *addr, bool handoff); /* OP_MCALL: goyield */
static void semrelease(semaword *addr);
static uint32_t notifyListAdd(struct notifyList *l);
static enum opres notifyListWait(struct g *gp, struct notifyList *l, uint32_t t);
static void notifyListNotifyAll(struct notifyList *l);
static void notifyListNotifyOne(struct notifyList *l);
#endif
