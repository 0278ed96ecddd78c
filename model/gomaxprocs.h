/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMAXPROCS: its default, changes by the program and by sysmon, and what else stops the world. */
#ifndef MODEL_GOMAXPROCS_H
#define MODEL_GOMAXPROCS_H
#include "step.h"

static bool follows_quota(void);
static int32_t defaultGOMAXPROCS(void);
static void release_worldsema(struct g *gp);
static void release_world(struct g *gp);
static enum opres runtime_GOMAXPROCS(struct g *gp);
static enum opres runtime_ReadMemStats(struct g *gp);
static void defaultGOMAXPROCSUpdateEnable(void);
static void sysmonUpdateGOMAXPROCS(void);
#endif
