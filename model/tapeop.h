/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded goroutines: what plays a tape (tape.h). */
#ifndef MODEL_TAPEOP_H
#define MODEL_TAPEOP_H
#include "step.h"
#include "tape.h"

static enum opres op_tapebegin(struct g *gp, const struct insn *in);
static enum opres op_tapezero(struct g *gp, const struct insn *in);
static enum opres op_tapecall(struct g *gp, const struct insn *in);
static enum opres op_tapeback(struct g *gp, const struct insn *in);
static enum opres op_tape(struct g *gp, const struct insn *in);
static enum opres op_sleepto(struct g *gp, const struct insn *in);
static enum opres op_afterto(struct g *gp, const struct insn *in);
#endif
