/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector as the scheduler feels it (gc.c). Included by runtime2.h. */
#ifndef MODEL_GC_H
#define MODEL_GC_H

struct gcp {
    struct g *nextMarkWorker; /* 1.26+ */
};

struct gcController {
    ATOMIC(uint32_t) blackenEnabled;
};

struct p;
struct g;
enum opres;

/* ---- for the scheduler ---- */
static void gc_init(void);                       /* once, before the first P */
static enum opres gc_enable(struct g *gp);       /* runtime.main: starts the system goroutines */
static void gc_p_init(struct p *pp);
static void gc_p_destroy(struct p *pp);
static bool gc_blacken(void);                    /* marking is on */
static struct g *gc_findRunnableWorker(struct p *pp, int64_t now); /* made runnable, in limbo */
static bool gc_shouldScheduleWorker(struct p *pp);
static struct g *gc_idleWorker(struct p *pp);    /* step 11: still waiting */
static struct g *gc_checkIdleNoP(struct p **pp); /* step 15c: still waiting; *pp taken from the idle list */
static void gc_releaseNextWorker(struct p *pp);  /* 1.26+ */
static bool gc_assignWaitingWorker(struct p *pp);
static void gc_wake_finalizers(void);            /* step 6 */
static void gc_sysmon(int64_t now);              /* periodic GC, scavenger */
static void gc_flushAssistCredit(struct g *gp);  /* gdestroy */

/* ---- for programs (interp.c) ---- */
static enum opres gc_alloc(struct g *gp, int64_t bytes, bool live); /* mallocgc */
static void gc_free(int64_t bytes);                                /* live memory becomes garbage */
static enum opres runtime_GC(struct g *gp);
#endif
