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

/* park.c */
static enum opres gopark(struct g *gp, unlockf_fn unlockf, void *lock, enum waitreason reason);
static enum opres goparkunlock(struct g *gp, struct mutex *l, enum waitreason reason);
static inline void goready(struct g *gp); /* ready(next=true) */
static inline void ready(struct g *gp, bool next);
static enum opres gosched(struct g *gp); /* runtime.Gosched */
static enum opres goyield(struct g *gp);
static enum opres goexit(struct g *gp);
static inline struct sudog *acquireSudog(void);
static inline void releaseSudog(struct sudog *s);

/* proc.c */
static struct g *newproc(uint32_t func, const int64_t *args, uint32_t nargs,
                         int32_t group); /* go statement */

/* lock.c, note.c */
static void lock(struct mutex *l);
static void unlock(struct mutex *l);

/* interp.c */
static void gogo(struct m *mp); /* runs m.curg until it needs g0 */
#endif
