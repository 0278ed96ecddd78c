/* SPDX-License-Identifier: BSD-3-Clause */
/* The goroutine side of the model, as the scheduler sees it: frames, the interpreter, semaphores. Included by model.c after
 * step.h; everything is static. */
#ifndef MODEL_INTERP_H
#define MODEL_INTERP_H
#include "step.h"

typedef ATOMIC(uint32_t) semaword; /* a semaphore is its counter; waiters are found by its address */

/* ---- frames (stack.c) ---- */
/* Functions that are no program code: a G that runs steps and ends. The argument is in gp->opval. */
enum { FUNC_NATIVE = 0xffff0000u, FUNC_CTXCANCEL = FUNC_NATIVE, FUNC_STEP /* + enum step: a system G */ };

/* newproc1: makes a fresh G (Gdead, kont empty) start in func; parent may be NULL. */
static void gostartcall(struct g *gp, const struct g *parent, uint32_t func, const int64_t *args, uint32_t nargs);
/* gfput: a stack that grew goes back to its pool; the G keeps its inline registers. */
static void gfreestack(struct g *gp);
static int32_t gfunc(const struct g *gp); /* function of the current frame, -1 for native code */

/* ---- semaphores (sema.c) ---- */
static enum opres semacquire(struct g *gp, semaword *addr); /* pushes its own step when it parks */
static enum opres semacquire1(struct g *gp, semaword *addr, bool lifo, enum waitreason reason);
static enum opres semrelease1(struct g *gp, semaword *addr, bool handoff); /* OP_MCALL: goyield */
static void semrelease(semaword *addr);

/* ---- objects (objs.c) ---- */
static void objs_world_init(void); /* after prof, prog and the locks; creates the declared objects */
static void poolCleanup(void);     /* GC: what was not used since the last GC is dropped */

/* ---- panics (panic.c) ---- */
/* Reports `fatal error: text` with the goroutine list's head and stops the world. */
static void fatalthrow(struct g *gp, const char *text);
#endif
