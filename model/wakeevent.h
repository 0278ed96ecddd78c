/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that happen once. */
#ifndef MODEL_WAKEEVENT_H
#define MODEL_WAKEEVENT_H
#include "step.h"

static void events_world_init(void);
static enum opres op_evwait(struct g *gp, const struct insn *in);
static enum opres op_evlock(struct g *gp, const struct insn *in);
static enum opres op_evpost(struct g *gp, const struct insn *in);
/* For the checks of a world that stands still. */
static bool event_waited_for(struct g *gp);
#endif
