/* SPDX-License-Identifier: BSD-3-Clause */
/* The instructions on contexts. */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H
#include "step.h"

static enum opres op_ctxnew(struct g *gp, const struct insn *in);
static enum opres op_ctxtmo(struct g *gp, const struct insn *in);
static enum opres op_ctxcancel(struct g *gp, const struct insn *in);
static enum opres op_ctxdone(struct g *gp, const struct insn *in);
static enum opres op_ctxerr(struct g *gp, const struct insn *in);
#endif
