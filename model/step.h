/* SPDX-License-Identifier: BSD-3-Clause */
/* How a G without a C stack blocks in the middle of an operation.
 *
 * An operation runs on the M's stack and returns OP_DONE, or arranges a switch to g0 (gopark,
 * gosched, goexit ... set m.mcallfn) and returns OP_MCALL at once, all the way up to the M's loop:
 * the place where Go does mcall. What has to happen after the wake is a *step*: before parking the
 * operation pushes the step's number; when the G runs again the interpreter pops and calls steps,
 * last pushed first, until none is left, then fetches the next instruction. A step may park again
 * or push more steps. So `push_step(gp, STEP_b); return a(gp);` means: a, then b. */
#ifndef MODEL_STEP_H
#define MODEL_STEP_H
#include "runtime2.h"

enum opres { OP_DONE, OP_MCALL };
typedef enum opres (*step_fn)(struct g *gp);

enum step {
    STEP_none,
#define STEP(name) STEP_##name,
#include "steps.def"
#undef STEP
    STEPS
};

static inline void push_step(struct g *gp, enum step s)
{
    if (gp->nkont == KONT_MAX)
        throw("push_step: too many steps");
    gp->kont[gp->nkont++] = (uint8_t)s;
}
#endif
