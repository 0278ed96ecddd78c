/* SPDX-License-Identifier: BSD-3-Clause */
/* The goroutine side of the model, as the scheduler sees it: frames, the interpreter, semaphores.
 * Included by model.c after step.h; everything is static. */
#ifndef MODEL_INTERP_H
#define MODEL_INTERP_H
#include "step.h"

typedef maskword semaword; /* a semaphore is its counter; waiters are found by its address */

/* ---- frames (stack.c) ---- */
/* Functions that are no program code but one step, with its argument in gp->opval; then the G ends.
 */
#define FUNC_STEP(s) (UINT32_MAX - (uint32_t)(s))

/* newproc: a fresh G (kont empty) will start in func; its stream of draws comes from the running
 * G's. */
static void g_start_at(struct g *gp, uint32_t func, const int64_t *args, uint32_t nargs);
/* gdestroy: a stack that grew goes back to its pool, the G keeps its inline registers. */
static void g_free_frames(struct g *gp);

/* ---- semaphores (sema.c) ---- */
static enum opres semacquire(struct g *gp, semaword *addr); /* pushes its own step when it parks */
static enum opres semacquire1(struct g *gp, semaword *addr, bool lifo, enum waitreason reason);
static enum opres semrelease1(struct g *gp, semaword *addr, bool handoff); /* OP_MCALL: goyield */
static void semrelease(semaword *addr);

/* ---- objects (objs.c) ---- */
static void objs_world_init(
    void);                     /* after prof, prog and the locks; creates the declared objects */
static void poolCleanup(void); /* GC: what was not used since the last GC is dropped */

/* ---- panics (panic.c) ---- */
/* Reports `fatal error: text` with the goroutine list's head and stops the world. */
/* Whose mistake it is: the program's, or one that the runtime cannot go on from. */
enum throw_type { THROW_USER, THROW_RUNTIME };
static void fatalthrow(struct g *gp, enum throw_type type, const char *text);
/* What Go prints when nobody can run: `fatal error: text` and every waiting goroutine with its
 * reason. */
static const char *deadlock_text(const char *text);
#endif
