/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines (iter.Pull): the instructions, and how the function of a coroutine may end. */
#ifndef MODEL_CORO_H
#define MODEL_CORO_H
#include "step.h"

static enum opres op_coronew(struct g *gp, const struct insn *in);
static enum opres coro_returns(struct g *gp);
static enum opres coro_panicked(struct g *gp);
static enum opres coro_goexit(struct g *gp);
static enum opres op_yield(struct g *gp, const struct insn *in);
static enum opres op_coronext(struct g *gp, const struct insn *in);
static enum opres op_corostop(struct g *gp, const struct insn *in);
#endif
