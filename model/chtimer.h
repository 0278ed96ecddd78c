/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers that feed a channel of the program that is there already: of recorded programs, whose
 * channels are declared. */
#ifndef MODEL_CHTIMER_H
#define MODEL_CHTIMER_H
#include "step.h"

static enum opres op_chtimer(struct g *gp, const struct insn *in);
static enum opres op_chstop(struct g *gp, const struct insn *in);
static enum opres op_chreset(struct g *gp, const struct insn *in);
#endif
