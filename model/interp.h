/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter: runs m.curg until it needs g0. */
#ifndef MODEL_INTERP_H
#define MODEL_INTERP_H
#include "step.h"

static enum opres cgocallback_done(struct g *gp);
static void gogo(struct m *mp); /* runs m.curg until it needs g0 */
#endif
