/* SPDX-License-Identifier: BSD-3-Clause */
/* A collection: sweep termination and the start of marking (one stop of the world), concurrent
 * marking, mark termination (another), concurrent sweeping. The starter is an allocating G,
 * runtime.GC, or the forced-GC helper; the last worker ends the cycle. gcsema is held for the whole
 * cycle, worldsema around the stops; up to 1.14 there is no gcsema and worldsema is held all the
 * time. */
#include "firsttouch.h"
#include "gomaxprocs.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "lockrank.h"
#include "newproc.h"
#include "note.h"
#include "objs.h"
#include "oslock.h"
#include "park.h"
#include "pool.h"
#include "proc.h"
#include "sema.h"
#include "spin.h"
#include "stw.h"

enum { SPAN_BYTES = 8192, SWEEP_BATCH = 10 };

static void gc_init(void)
{
    struct gcController *c = &rt->gc;
    lockInit(&c->central, lockRankMheap);
    lockInit(&c->assistLock, lockRankAssistQueue);
    lockInit(&c->sweepWaiters, lockRankSweepWaiters);
    lockInit(&c->sweepLock, lockRankSweep);
    lockInit(&c->forcegcLock, lockRankForcegc);
    a_init(&c->startSema, 1);
    a_init(&c->markDoneSema, 1);
    c->workers_cap = rt->allp_cap;
    c->workers = host_alloc((size_t)c->workers_cap * sizeof *c->workers, 8);
    gc_commit();
    specials_init();
}

static void gc_p_init(struct p *pp)
{
    pp->gc.mode = gcNotWorker;
    pp->gc.cache_left = 0;
}

static void gc_p_destroy(struct p *pp)
{
    if (rt->gc.phase != GCoff && prof->gcworker_preassign)
        throw("p destroy during a GC phase");
    pp->gc.cache_left = 0; /* the rest of the span goes back to the central list */
    specials_flush(pp, /*sweep*/ false);
    if (!prof->gc_worker_pool)
        bound_worker_dismiss(pp);
}

/* gcTrigger.test. */
static bool trigger_test(enum gcTrigger kind, int64_t n)
{
    struct gcController *c = &rt->gc;
    if (c->phase != GCoff)
        return false;
    switch (kind) {
    case gcTriggerHeap: {
        int64_t at = a_load(&c->trigger);
        return a_load(&c->heapLive) >= at;
    }
    case gcTriggerTime: {
        if (prof->gc_percent < 0)
            return false;
        int64_t last = a_load(&c->last_gc);
        return last != 0 && n - last > prof->forcegc_ns;
    }
    case gcTriggerCycle: return (int32_t)((uint32_t)n - a_load(&c->cycles)) > 0;
    }
    throw("gcTrigger: bad kind");
}

/* ---- sweeping ---- */

/* mgcsweep.go activeSweep. Sweepers are counted only in a program with finalizers or cleanups:
 * nobody else feels who sweeps last. */
static bool sweep_begin(struct finalizers *f)
{
    for (;;) {
        uint32_t state = a_load(&f->sweeping);
        if ((state & SWEEP_DRAINED) != 0)
            return false;
        if (a_cas(&f->sweeping, state, state + 1))
            return true;
    }
}

static void sweep_end(struct finalizers *f)
{
    uint32_t state = a_add(&f->sweeping, (uint32_t)-1);
    if (state == SWEEP_DRAINED && prof->cleanup_gs)
        cleanups_flush();
}

static bool isSweepDone(void)
{
    return rt->fin == NULL || a_load(&rt->fin->sweeping) == SWEEP_DRAINED;
}

/* The next span. */
static bool sweep_span(struct finalizers *f)
{
    struct gcController *c = &rt->gc;
    if (a_load(&c->sweepLeft) <= 0)
        return false;
    int64_t left = a_add(&c->sweepLeft, -1);
    if (left < 0)
        return false;
    work(sweep_span);
    if (f != NULL && left >= f->other_spans)
        sweep_special_span();
    return true;
}

/* mgcsweep.go sweepone; false: there is none left. */
static bool sweepone(void)
{
    struct finalizers *f = rt->fin;
    if (f != NULL && !sweep_begin(f))
        return false;
    bool any = sweep_span(f);
    if (f == NULL)
        return any;
    if (!any)
        a_or(&f->sweeping, SWEEP_DRAINED);
    sweep_end(f);
    return any;
}

/* Sweeps up to n spans; false: all are swept. */
static bool sweep_some(int64_t n)
{
    while (n > 0 && sweepone())
        n--;
    return n == 0;
}

/* mgcsweep.go finishsweep_m, with the world stopped. Spans without finalizers or cleanups are taken
 * for swept: what is left of them costs no time worth the name. */
static void finishsweep_m(void)
{
    while (rt->fin != NULL && sweepone())
        ;
    a_store(&rt->gc.sweepLeft, 0);
}

/* ---- starting ---- */

/* unlockf of the wait for a started goroutine. Whoever takes the G out of `starter` owes it the
 * wake; if we take it out ourselves, because a send came meanwhile, it does not stay parked. */
static bool starter_parked(struct g *gp, void *unused)
{
    (void)unused;
    struct gcController *c = &rt->gc;
    a_store(&c->starter, gp);
    if (a_load(&c->started) == 0)
        return true;
    return a_xchg(&c->starter, (struct g *)NULL) == NULL;
}

static enum opres step_gcEnabled(struct g *gp)
{
    struct gcController *c = &rt->gc;
    if (a_load(&c->started) > 0) {
        a_add(&c->started, -1);
        return OP_DONE;
    }
    push_step(gp, STEP_gcEnabled);
    return gopark(gp, starter_parked, NULL, waitReasonChanReceive);
}

/* Up to 1.15: the next P without a worker of its own. */
static struct p *next_unserved_p(void)
{
    struct gcController *c = &rt->gc;
    while (c->nworkers < a_load_rlx(&rt->gomaxprocs)) {
        struct p *pp = rt->allp[c->nworkers++];
        if (a_load_rlx(&pp->gc.bgWorker) == NULL)
            return pp;
    }
    return NULL;
}

/* gcBgMarkStartWorkers, one worker at a time: the starter waits until that one runs. */
static enum opres step_gcWorkers(struct g *gp)
{
    struct gcController *c = &rt->gc;
    struct p *bound = prof->gc_worker_pool ? NULL : next_unserved_p();
    if (bound == NULL && c->nworkers >= a_load_rlx(&rt->gomaxprocs))
        return OP_DONE;
    push_step(gp, STEP_gcWorkers);
    if (!prof->gc_start_by_chan)
        noteclear(&c->ready);
    (void)newsysproc(STEP_bgMarkWorkerStart, bound);
    if (prof->gc_start_by_chan)
        return step_gcEnabled(gp);
    return notetsleepg(gp, &c->ready, -1);
}

/* gcStart. gp->opobj holds the kind of trigger and gp->opval its argument, across the waits. */
static enum opres gcStart(struct g *gp, enum gcTrigger kind, int64_t n)
{
    gp->opobj = (void *)(uintptr_t)kind;
    gp->opval = n;
    push_step(gp, STEP_gcStartTest);
    return semacquire(gp, &rt->gc.startSema);
}

static enum opres step_gcStartTest(struct g *gp)
{
    if (!trigger_test((enum gcTrigger)(uintptr_t)gp->opobj, gp->opval)) {
        semrelease(&rt->gc.startSema);
        return OP_DONE;
    }
    rt->gc.mode = prof->gcstoptheworld == 1   ? gcForceMode
                  : prof->gcstoptheworld == 2 ? gcForceBlockMode
                                              : gcBackgroundMode;
    if (!prof->gc_worker_pool)
        rt->gc.nworkers = 0;
    push_step(gp, STEP_gcStartStop);
    push_step(gp, STEP_gcWorld);
    return prof->gcsema ? semacquire(gp, &rt->gcsema) : OP_DONE;
}

/* With gcsema held. The workers' step is pushed here, not in gcStart: a G has room for KONT_MAX. */
static enum opres step_gcWorld(struct g *gp)
{
    push_step(gp, STEP_gcWorkers);
    return semacquire(gp, &rt->worldsema);
}

/* The first stop. */
static enum opres step_gcStartStop(struct g *gp)
{
    struct gcController *c = &rt->gc;
    stopTheWorldWithSema(EV_stw_sweep_term, /*pseudo_wait*/ false);
    finishsweep_m();
    poolCleanup();
    leaks_start();
    a_add(&c->cycles, 1);
    getm()->counters[C_gcs]++;
    gc_startCycle((enum gcTrigger)(uintptr_t)gp->opobj);
    if (c->mode != gcBackgroundMode)
        schedEnableUser(false);
    c->phase = GCmark;
    ev_gc_phase(rec_g(gp), a_peek(&c->cycles), EV_gcphase_mark);
    a_store(&c->blackenEnabled, 1);
    struct m *mp = acquirem();
    startTheWorldWithSema(EV_stw_sweep_term);
    if (prof->gcsema)
        semrelease(&rt->worldsema);
    releasem(mp);
    push_step(gp, STEP_gcStarted);
    /* While the users' Gs may not run, this one may not either. */
    return c->mode != gcBackgroundMode ? gosched(gp) : OP_DONE;
}

static enum opres step_gcStarted(struct g *gp)
{
    (void)gp;
    semrelease(&rt->gc.startSema);
    return OP_DONE;
}

/* ---- ending ---- */

static enum opres gcMarkDone(struct g *gp)
{
    push_step(gp, STEP_markDone);
    return semacquire(gp, &rt->gc.markDoneSema);
}

static bool marking_is_done(void)
{
    struct gcController *c = &rt->gc;
    if (c->phase != GCmark || a_load(&c->active) != 0)
        return false;
    return !gc_work_left();
}

static enum opres step_markDone(struct g *gp)
{
    if (!marking_is_done()) {
        semrelease(&rt->gc.markDoneSema);
        return OP_DONE;
    }
    push_step(gp, STEP_markTerm);
    return prof->gcsema ? semacquire(gp, &rt->worldsema) : OP_DONE;
}

static void flush_nothing(struct p *pp)
{
    (void)pp; /* Go empties write barrier buffers and local work; here work is in one pool, and what
                 counts is that every P passes a safe point */
    work(safepoint_fn);
}

/* forEachP with its caller marked waiting, so that nobody who wants to scan it waits for us while
 * we wait for him. */
static void ragged_barrier(struct g *gp, void (*fn)(struct p *), enum waitreason reason)
{
    casGToWaiting(gp, Grunning, reason);
    forEachP(fn);
    casgstatus(gp, Gwaiting, Grunning);
}

/* resetLive and commit: everything allocated during the cycle was marked. */
static void count_marked(void)
{
    struct gcController *c = &rt->gc;
    int64_t live = a_load(&c->heapLive);
    c->runway = live - c->allocatedInMark;
    c->heapMarked = a_load(&c->reachable);
    /* What packages made comes to the lists of spans when the first cycle empties caches. */
    int64_t others = a_peek(&c->cycles) > 1 ? prof->gc_spans : 0;
    a_store(&c->sweepLeft, live / SPAN_BYTES + others);
    a_store(&c->heapLive, c->heapMarked);
    gc_commit();
}

/* gcWakeAllAssists. */
static void wake_assists(void)
{
    struct gcController *c = &rt->gc;
    lock(&c->assistLock);
    struct gList list = {.head = c->assistQueue.head, .size = c->assistQueue.size};
    c->assistQueue = (struct gQueue){0};
    a_store_rlx(&c->nassist, 0);
    injectglist(&list);
    unlock(&c->assistLock);
}

/* gcSweep: in the background, or at once. */
static void gcSweep(void)
{
    struct gcController *c = &rt->gc;
    for (int32_t id = 0; c->mode == gcForceBlockMode && id < rt->allp_len; id++)
        specials_flush(rt->allp[id], /*sweep*/ true);
    while (c->mode == gcForceBlockMode && sweepone())
        ;
    if (c->mode == gcForceBlockMode)
        return;
    lock(&c->sweepLock);
    if (c->sweepParked) {
        c->sweepParked = false;
        ready(c->sweepG, /*next*/ true);
    }
    unlock(&c->sweepLock);
}

static void flush_mcache(struct p *pp)
{
    pp->gc.cache_left = 0;
    specials_flush(pp, /*sweep*/ true);
    work(safepoint_fn);
}

/* gcMarkDone after the second stop found more to mark: on with the world, and from the top. */
static enum opres mark_again(struct g *gp)
{
    getm()->preemptoff = NULL;
    startTheWorldWithSema(EV_stw_mark_term);
    semrelease(&rt->worldsema);
    push_step(gp, STEP_markDone);
    return OP_DONE;
}

/* The second stop, and gcMarkTermination. */
static enum opres step_markTerm(struct g *gp)
{
    struct gcController *c = &rt->gc;
    ragged_barrier(gp, flush_nothing, waitReasonGCMarkTermination);
    getm()->preemptoff = "gcing";
    stopTheWorldWithSema(EV_stw_mark_term, /*pseudo_wait*/ false);
    if (leaks_more())
        return mark_again(gp);
    c->leak_enabled = false;
    a_store(&c->blackenEnabled, 0);
    wake_assists();
    semrelease(&c->markDoneSema);
    schedEnableUser(true);
    c->phase = GCmarktermination;
    ev_gc_phase(rec_g(gp), a_peek(&c->cycles), EV_gcphase_termination);
    casGToWaiting(gp, Grunning, waitReasonGarbageCollection);
    count_marked();
    specials_unsweep();
    c->phase = GCoff;
    gcSweep();
    casgstatus(gp, Gwaiting, Grunning);
    getm()->preemptoff = NULL;
    ev_gc_phase(rec_g(gp), a_peek(&c->cycles), EV_gcphase_off);
    int64_t now = nanotime();
    a_store(&c->last_gc, now > 0 ? now : 1);
    lock(&c->sweepWaiters);
    injectglist(&c->sweepWaitList);
    unlock(&c->sweepWaiters);
    /* Until the Ps' caches are swept, sweeping is not over. */
    bool barrier = rt->fin != NULL && sweep_begin(rt->fin);
    startTheWorldWithSema(EV_stw_mark_term);
    if (prof->foreachp_pseudo_wait)
        ragged_barrier(gp, flush_mcache, waitReasonForEachP);
    else
        forEachP(flush_mcache);
    if (barrier)
        sweep_end(rt->fin);
    semrelease(&rt->worldsema);
    if (prof->gcsema)
        semrelease(&rt->gcsema);
    return OP_DONE;
}

/* ---- the sweeper ---- */

/* mgcsweep.go bgsweep: yields every ten spans (up to 1.18 after each), parks when all is clean. */
static enum opres step_bgsweep(struct g *gp)
{
    struct gcController *c = &rt->gc;
    push_step(gp, STEP_bgsweep);
    if (sweep_some(prof->goschedifbusy ? SWEEP_BATCH : 1))
        return goschedIfBusy(gp);
    lock(&c->sweepLock);
    if (a_load(&c->sweepLeft) > 0) {
        unlock(&c->sweepLock); /* a cycle ended meanwhile */
        return OP_DONE;
    }
    c->sweepParked = true;
    return goparkunlock(gp, &c->sweepLock, waitReasonGCSweepWait);
}

/* ---- runtime.GC ---- */

/* gcWaitOnMark: until the marking of cycle opval is over. */
static enum opres step_gcWaitOnMark(struct g *gp)
{
    struct gcController *c = &rt->gc;
    lock(&c->sweepWaiters);
    uint32_t marks = a_load(&c->cycles);
    if (c->phase != GCmark)
        marks++;
    if ((int32_t)(marks - (uint32_t)gp->opval) > 0) {
        unlock(&c->sweepWaiters);
        return OP_DONE;
    }
    push_step(gp, STEP_gcWaitOnMark);
    gList_push(&c->sweepWaitList, gp);
    return goparkunlock(gp, &c->sweepWaiters, waitReasonWaitForGCCycle);
}

static enum opres runtime_GC(struct g *gp)
{
    gp->opval = a_load(&rt->gc.cycles);
    push_step(gp, STEP_gcForce);
    return step_gcWaitOnMark(gp);
}

static enum opres step_gcForce(struct g *gp)
{
    push_step(gp, STEP_gcSweepAll);
    push_step(gp, STEP_gcWaitOnMark);
    return gcStart(gp, gcTriggerCycle, gp->opval + 1);
}

static enum opres step_gcSweepAll(struct g *gp)
{
    if (a_load(&rt->gc.cycles) != (uint32_t)gp->opval || (!sweep_some(1) && isSweepDone()))
        return OP_DONE;
    push_step(gp, STEP_gcSweepAll);
    return gosched(gp);
}

/* ---- periodic ---- */

/* proc.go forcegchelper. */
static enum opres step_forcegc(struct g *gp)
{
    struct gcController *c = &rt->gc;
    lock(&c->forcegcLock);
    a_store(&c->forcegcIdle, true);
    push_step(gp, STEP_forcegcGo);
    return goparkunlock(gp, &c->forcegcLock, waitReasonForceGCIdle);
}

static enum opres step_forcegcGo(struct g *gp)
{
    push_step(gp, STEP_forcegc);
    return gcStart(gp, gcTriggerTime, nanotime());
}

static void gc_sysmon(int64_t now)
{
    struct gcController *c = &rt->gc;
    if (!trigger_test(gcTriggerTime, now) || !a_load(&c->forcegcIdle))
        return;
    lock(&c->forcegcLock);
    a_store(&c->forcegcIdle, false);
    struct gList list = {0};
    gList_push(&list, c->forcegcG);
    injectglist(&list);
    unlock(&c->forcegcLock);
}

static enum opres step_bgscavenge(struct g *gp)
{
    push_step(gp, STEP_bgscavenge);
    return gopark(gp, NULL, NULL, waitReasonGCScavengeWait);
}

static enum opres step_bgsweepStart(struct g *gp)
{
    started_send();
    return step_bgsweep(gp);
}

static enum opres step_bgscavengeStart(struct g *gp)
{
    started_send();
    return step_bgscavenge(gp);
}

/* runtime.main: init starts forcegchelper, gcenable the sweeper and the scavenger, and waits until
 * both run. */
static enum opres gc_enable(struct g *gp)
{
    rt->gc.forcegcG = newsysproc(STEP_forcegc, NULL);
    rt->gc.sweepG = newsysproc(STEP_bgsweepStart, NULL);
    (void)newsysproc(STEP_bgscavengeStart, NULL);
    push_step(gp, STEP_gcReady);
    push_step(gp, STEP_gcEnabled);
    push_step(gp, STEP_gcEnabled);
    return OP_DONE;
}

/* The finalizer goroutine of a program without finalizers. */
static enum opres step_fingIdle(struct g *gp)
{
    push_step(gp, STEP_fingIdle);
    return gopark(gp, NULL, NULL, waitReasonFinalizerWait);
}

enum { STANDARD_FILES = 3 };

/* os.NewFile, for stdin, stdout and stderr: where its fcntl is a system call like others, sysmon's
 * first look at this P finds a tick that it does not know. The calls' time is in `boot`. */
static void os_files(struct p *pp)
{
    if (prof->os_syscalls)
        a_init(&pp->syscalltick, a_peek(&pp->syscalltick) + STANDARD_FILES);
}

/* The rest of what happens before main.main. Package os sets finalizers of its files, which starts
 * their goroutine. */
static enum opres step_gcReady(struct g *gp)
{
    defaultGOMAXPROCSUpdateEnable();
    jolt(inits); /* what the packages set up before */
    main_stack_grew(mp_p(getm()));
    if (rt->fin != NULL)
        createfing();
    else
        (void)newsysproc(STEP_fingIdle, NULL);
    os_files(mp_p(getm()));
    jolt(boot); /* the rest of it */
    main_begins();
    main_makes(mp_p(getm()));
    unlockOSThread_internal(gp);
    return OP_DONE;
}
