/* SPDX-License-Identifier: BSD-3-Clause */
/* Gs: birth, death and reuse. A dead G goes to its P's free list, 64 of them spill to the global
 * one; structs are never freed. */
#include "newproc.h"
#include "firsttouch.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "panic.h"
#include "park.h"
#include "proc.h"
#include "race.h"
#include "runq.h"
#include "spin.h"
#include "stack.h"
#include "step.h"
#include "trace.h"

/* proc.go allgadd. */
static void allgadd(struct g *gp)
{
    if (readgstatus(gp) == Gidle)
        throw("allgadd: bad status Gidle");
    lock(&rt->allglock);
    if (rt->allgs_tail != NULL)
        rt->allgs_tail->alllink = gp;
    else
        rt->allgs = gp;
    rt->allgs_tail = gp;
    uint64_t len = a_add(&rt->allglen, 1) - 1;
    if (len >= 8 && (len & (len - 1)) == 0)
        jolt(allgs); /* append to a full slice */
    unlock(&rt->allglock);
}

static struct g *malg(void)
{
    struct g *gp = host_alloc(sizeof *gp, _Alignof(struct g));
    work(malg);
    jolt(new_g);
    new_g(mp_p(getm()));
    new_stack(mp_p(getm()));
    casgstatus(gp, Gidle, Gdead);
    allgadd(gp);
    return gp;
}

/* sched.gFree_lock is held. */
static void gfree_count(void)
{
    a_store_rlx(&sched->gFree_n, sched->gFree_stack.size + sched->gFree_noStack.size);
}

/* stack.go stackfree, of a dead G. */
static void g_stackfree(struct g *gp)
{
    work(stackfree);
    g_free_frames(gp);
    gp->stack_grew = false;
    gp->no_stack = true;
}

static struct gext *g_ext(struct g *gp)
{
    if (gp->ext == NULL)
        gp->ext = host_alloc(sizeof *gp->ext, _Alignof(struct gext));
    return gp->ext;
}

/* Gs of P's free list go to the global ones until fewer than `keep` are left. The one that died
 * first ends on top, as in Go. */
static void gfspill(struct p *pp, int64_t keep)
{
    struct gQueue stackQ = {0}, noStackQ = {0};
    while (pp->gFree.size >= keep) {
        struct g *gp = gList_pop(&pp->gFree);
        gQueue_push(gp->no_stack ? &noStackQ : &stackQ, gp);
    }
    lock(&sched->gFree_lock);
    gList_pushAll(&sched->gFree_noStack, &noStackQ);
    gList_pushAll(&sched->gFree_stack, &stackQ);
    gfree_count();
    unlock(&sched->gFree_lock);
}

/* proc.go gfput. A stack that grew is not worth keeping. Spills down to one below gfree_keep: the
 * loop tests before it pops. */
static void gfput(struct p *pp, struct g *gp)
{
    if (readgstatus(gp) != Gdead)
        throw("gfput: bad status (not Gdead)");
    if (gp->stack_grew)
        g_stackfree(gp);
    gList_push(&pp->gFree, gp);
    if (pp->gFree.size >= prof->gfree_max)
        gfspill(pp, prof->gfree_keep);
}

/* proc.go gfget: the G that died last on this P comes first; from the global lists those with
 * stacks. */
static struct g *gfget(struct p *pp)
{
    while (gList_empty(&pp->gFree) && a_load_rlx(&sched->gFree_n) != 0) {
        lock(&sched->gFree_lock);
        while (pp->gFree.size < prof->gfree_keep) {
            struct g *gp = gList_pop(&sched->gFree_stack);
            if (gp == NULL)
                gp = gList_pop(&sched->gFree_noStack);
            if (gp == NULL)
                break;
            gList_push(&pp->gFree, gp);
        }
        gfree_count();
        unlock(&sched->gFree_lock);
    }
    struct g *gp = gList_pop(&pp->gFree);
    if (gp != NULL && gp->no_stack) {
        work(stackalloc);
        gp->no_stack = false;
    }
    return gp;
}

/* proc.go gfpurge: p.destroy. */
static void gfpurge(struct p *pp) { gfspill(pp, 1); }

/* mgcmark.go markrootFreeGStacks: a collection takes the stacks of the Gs that are on no P's list.
 */
static void markrootFreeGStacks(void)
{
    lock(&sched->gFree_lock);
    struct gList list = sched->gFree_stack;
    sched->gFree_stack = (struct gList){0};
    gfree_count();
    unlock(&sched->gFree_lock);
    if (gList_empty(&list))
        return;
    for (struct g *gp = list.head; gp != NULL; gp = gp->schedlink)
        g_stackfree(gp);
    struct gQueue q = gList_toQueue(&list);
    lock(&sched->gFree_lock);
    gList_pushAll(&sched->gFree_noStack, &q);
    gfree_count();
    unlock(&sched->gFree_lock);
}

/* goids come in batches per P: dense on a P, not ordered between Ps. */
static uint32_t next_goid(struct p *pp)
{
    if (pp->goidcache == pp->goidcacheend) {
        uint64_t last = a_add(&sched->goidgen, (uint64_t)prof->goid_batch);
        pp->goidcache = last - (uint64_t)prof->goid_batch + 1;
        pp->goidcacheend = last + 1;
    }
    return (uint32_t)pp->goidcache++;
}

/* proc.go newproc1, up to the program counter. The G comes back runnable, in limbo, or waiting when
 * parked. */
static struct g *newproc1(bool parked, enum waitreason reason)
{
    struct m *mp = acquirem();
    struct p *pp = a_own(&mp->p);
    work(newproc);
    struct g *gp = gfget(pp);
    if (gp == NULL)
        gp = malg();
    if (readgstatus(gp) != Gdead)
        throw("newproc1: new g is not Gdead");
    if (prof->goid_before_cas)
        gp->goid = next_goid(pp);
    if (parked)
        gp->waitreason = (uint8_t)reason;
    casgstatus(gp, Gdead, parked ? Gwaiting : Grunnable);
    if (!parked)
        made_runnable(gp);
    if (!prof->goid_before_cas)
        gp->goid = next_goid(pp);
    mp->counters[C_gocreated]++;
    if (a_peek(&rt->trace.on))
        trace_events(mp, 1);
    releasem(mp);
    return gp;
}

/* proc.go newproc: the go statement. The new G goes to runnext; the creator keeps running. */
static inline struct g *newproc(uint32_t func, const int64_t *args, uint32_t nargs, int32_t group)
{
    struct m *mp = getm();
    struct g *gp = newproc1(/*parked*/ false, waitReasonZero);
    gp->group = group;
    g_start_at(gp, func, args, nargs);
    racecreate(gp);
    ev_g_create(rec_g(gp), (int32_t)func, group, rec_curg(mp), EV_born_program, next_place());
    runqput(a_own(&mp->p), gp, /*next*/ true);
    if (rt->mainStarted)
        wakep();
    return gp;
}

/* A G of the runtime itself: it runs steps, no program; obj is what they find in gp.opobj. */
static struct g *newsysproc(enum step first, void *obj)
{
    struct g *gp = newproc1(/*parked*/ false, waitReasonZero);
    gp->system = SYSTEM_ALWAYS;
    gp->func = gp->group = -1;
    a_add(&sched->ngsys, 1);
    gp->opobj = obj;
    gp->func = -1;
    push_step(gp, first);
    ev_g_create(rec_g(gp), -1, -1, rec_curg(getm()), EV_born_runtime, next_place());
    runqput(a_own(&getm()->p), gp, /*next*/ true);
    if (rt->mainStarted)
        wakep();
    return gp;
}

/* The last words of gdestroy for a G whose thread the runtime itself still holds: one that C has
 * made. Since 1.23 this is only about the G that the thread is locked to. */
static void check_locked_exit(const struct g *gp, const struct m *mp, bool locked)
{
    if (mp->lockedInt == 0 || (prof->gdestroy_locked && !locked))
        return;
    if (!prof->gdestroy_locked)
        fatalthrow(NULL, THROW_RUNTIME, "internal lockOSThread error");
    else if (prof->goexit_extra_text && gp->extra)
        fatalthrow(NULL, THROW_RUNTIME,
                   "runtime.Goexit called in a thread that was not created by the Go runtime");
    else
        fatalthrow(NULL, THROW_RUNTIME, "exited a goroutine internally locked to the OS thread");
}

/* proc.go gdestroy [goexit0 <=1.21]. True: the M was locked to it and has to end. */
static bool gdestroy(struct g *gp)
{
    struct m *mp = getm();
    struct p *pp = a_own(&mp->p);
    casgstatus(gp, Grunning, Gdead);
    ev_g_exit(rec_g(gp));
    if (isSystemGoroutine(gp))
        a_add(&sched->ngsys, -1);
    if (gp == rt->main_g)
        rt->main_g = NULL; /* by Goexit: whoever gets this struct is not main */
    bool locked = a_load_rlx(&gp->lockedm) != NULL;
    a_store_rlx(&gp->lockedm, (struct m *)NULL);
    mp->lockedg = NULL;
    a_store_rlx(&gp->preempt, false);
    a_store_rlx(&gp->preemptStop, false);
    gp->system = SYSTEM_NOT;
    gp->has_ext_wake = false;
    gp->waitreason = waitReasonZero;
    gp->param = NULL;
    gp->has_timer = false;
    gp->nkont = 0;
    gc_flushAssistCredit(gp);
    dropg(mp);
    mp->counters[C_goexited]++;
    check_locked_exit(gp, mp, locked);
    work(goexit);
    gfput(pp, gp);
    return locked;
}

/* proc.go goexit0. */
static void goexit0(struct g *gp)
{
    if (gdestroy(gp)) {
        mexit(getm()); /* mstart0 returns */
        return;
    }
    schedule();
}

static enum opres goexit(struct g *gp)
{
    (void)gp;
    return mcall(goexit0);
}
