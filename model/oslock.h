/* SPDX-License-Identifier: BSD-3-Clause */
/* LockOSThread, and the hand-over of Ps between locked Ms and those that found their G. */
#ifndef MODEL_OSLOCK_H
#define MODEL_OSLOCK_H
#include "runtime2.h"

static void LockOSThread(struct g *gp);
static void lockOSThread_internal(struct g *gp);
static void UnlockOSThread(struct g *gp);
static void unlockOSThread_internal(struct g *gp);
static void incidlelocked(int32_t v);
static COLD void stoplockedm(void);
static COLD void startlockedm(struct g *gp);
#endif
