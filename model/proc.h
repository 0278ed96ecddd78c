/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler: finding a G to run and running it. */
#ifndef MODEL_PROC_H
#define MODEL_PROC_H
#include "runtime2.h"

static inline void execute(struct g *gp, bool inheritTime);
static void claim_waiting(struct g *gp);
static bool pollWork(void);
static bool schedEnabled(const struct g *gp);
static void schedEnableUser(bool enable);
static void schedule(void);
#endif
