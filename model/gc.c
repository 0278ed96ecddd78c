/* SPDX-License-Identifier: BSD-3-Clause */
#include "interp.h"

static void gc_init(void) {}
static enum opres gc_enable(struct g *gp) { (void)gp; gomaxprocs_updater_start(); return OP_DONE; }
static void gc_p_init(struct p *pp) { (void)pp; }
static void gc_p_destroy(struct p *pp) { (void)pp; }
static bool gc_blacken(void) { return a_load_rlx(&rt->gc.blackenEnabled) != 0; }
static struct g *gc_findRunnableWorker(struct p *pp, int64_t now) { (void)pp; (void)now; return NULL; }
static bool gc_shouldScheduleWorker(struct p *pp) { (void)pp; return false; }
static struct g *gc_idleWorker(struct p *pp) { (void)pp; return NULL; }
static struct g *gc_checkIdleNoP(struct p **pp) { (void)pp; return NULL; }
static void gc_releaseNextWorker(struct p *pp) { (void)pp; }
static bool gc_assignWaitingWorker(struct p *pp) { (void)pp; return false; }
static void gc_wake_finalizers(void) {}
static void gc_sysmon(int64_t now) { (void)now; }
static void gc_flushAssistCredit(struct g *gp) { (void)gp; }
static enum opres gc_alloc(struct g *gp, int64_t bytes, bool live) { (void)gp; (void)bytes; (void)live; work(alloc); return OP_DONE; }
static void gc_free(int64_t bytes) { (void)bytes; }
static enum opres runtime_GC(struct g *gp) { (void)gp; return OP_DONE; }
