/* SPDX-License-Identifier: BSD-3-Clause */
/* Ms for threads that C made, and calls from C into Go. */
#ifndef MODEL_EXTRAM_H
#define MODEL_EXTRAM_H
#include "step.h"

static void newextram(void);
static enum opres foreign_returns(struct g *gp);
static bool program_uses_cgo(const struct program *p);
static enum opres cgo_foreign(struct g *gp, uint32_t func, int64_t ns, const int64_t *arg,
                              uint32_t nargs);
#endif
