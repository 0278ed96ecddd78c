/* SPDX-License-Identifier: BSD-3-Clause */
/* The select instruction. */
#ifndef MODEL_SELECT_H
#define MODEL_SELECT_H
#include "step.h"

static enum opres op_select(struct g *gp, const struct insn *in);
#endif
