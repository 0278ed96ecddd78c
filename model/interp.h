/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter: runs m.curg until it needs g0. */
#ifndef MODEL_INTERP_H
#define MODEL_INTERP_H
#include "step.h"

static enum opres cgocallback_done(struct g *gp);
/* An instruction that is neither a jump nor arithmetic nor a call. */
static enum opres interp_do(struct g *gp, const struct insn *in);
static inline void gogo(struct m *mp); /* runs m.curg until it needs g0 */
#endif
