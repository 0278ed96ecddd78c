/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariant about waiting: a G that waits has exactly one place where whoever wakes it will
 * look. Looked at only when every M is asleep or computing: then nobody is between leaving such a
 * place and being runnable, nor between entering it and the park.
 *
 *   walked    semaphores, Conds, weighted semaphores, the assist queue, who waits for a cycle
 *   looked up channels (from the G's sudogs), timers, poll descriptors, coroutines, the
 *             collector's own
 *   none      for ever: nil channels, empty selects; and who runs on g0 and calls itself waiting */
#include "checkwait.h"
#include "netpoll.h"
#include "objs.h"
#include "statusname.h"
#include "tape.h"
#include "wakeevent.h"

/* What is wrong and with whom. One text is enough: nobody looks on after a mistake. */
static char check_text[260];
static const char *check_says(const char *what, struct g *gp, struct p *pp, struct m *mp)
{
    char g[40] = "-", p[24] = "-", m[16] = "-";
    if (gp != NULL)
        snprintf(g, sizeof g, "%llu %s", (unsigned long long)gp->goid,
                 gstatus_name(a_peek(&gp->atomicstatus)));
    if (pp != NULL)
        snprintf(p, sizeof p, "%d %s", pp->id, pstatus_name(a_peek(&pp->status)));
    if (mp != NULL)
        snprintf(m, sizeof m, "%d", mp->id);
    snprintf(check_text, sizeof check_text, "%s (G %s, P %s, M %s)", what, g, p, m);
    return check_text;
}

/* Found on a queue. */
static const char *wait_seen(struct g *gp)
{
    uint32_t s = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    if (s != Gwaiting && s != Gleaked)
        return check_says("a G on a wait queue does not wait", gp, NULL, NULL);
    if (gp->check_seen)
        return check_says("a G is on two wait queues", gp, NULL, NULL);
    gp->check_seen = true;
    return NULL;
}

static const char *wait_seen_sudogs(struct sudog *s)
{
    const char *bad = NULL;
    for (; bad == NULL && s != NULL; s = s->next)
        bad = wait_seen(s->g);
    return bad;
}

static const char *wait_seen_gs(struct g *gp)
{
    const char *bad = NULL;
    for (; bad == NULL && gp != NULL; gp = gp->schedlink)
        bad = wait_seen(gp);
    return bad;
}

static const char *wait_seen_semas(void)
{
    const char *bad = NULL;
    for (int64_t i = 0; i < prof->sema_roots; i++)
        for (struct sudog *head = rt->objs->semtable[i].heads; head != NULL; head = head->next)
            for (struct sudog *s = head; bad == NULL && s != NULL; s = s->waitlink)
                bad = wait_seen(s->g);
    return bad;
}

static const char *wait_seen_objects(void)
{
    const char *bad = NULL;
    for (int64_t h = 1; bad == NULL && h <= rt->objs->made; h++) {
        const struct object *o = object_at((uint64_t)h);
        if (o != NULL && o->kind == OBJ_COND)
            bad = wait_seen_sudogs(((struct cond *)o->p)->notify.head);
        else if (o != NULL && o->kind == OBJ_SEMA)
            bad = wait_seen_sudogs(((struct weighted *)o->p)->head);
    }
    return bad;
}

static bool waits_for_timer(struct g *gp)
{
    struct timer *t = gp->ext != NULL ? gp->ext->sleep : NULL;
    if (t == NULL)
        return false;
    return prof->per_p_timers ? t->ts != NULL : t->v0.tb != NULL && t->v0.i >= 0;
}

static bool waits_as_worker(struct g *gp)
{
    struct gcController *c = &rt->gc;
    for (int32_t id = 0; id < rt->allp_len; id++)
        if (rt->allp[id]->gc.nextMarkWorker == gp || a_peek(&rt->allp[id]->gc.bgWorker) == gp)
            return true;
    uint32_t top = prof->gc_worker_pool ? (uint32_t)a_peek(&c->pool) : 0;
    struct g *at = top != 0 ? c->workers[top - 1] : NULL;
    while (at != NULL && at != gp)
        at = at->schedlink;
    return at != NULL;
}

/* A coroutine's own G, or whoever has called next on one. */
static bool waits_in_coroutine(struct g *gp)
{
    struct coroutine *own = gp->ext != NULL ? gp->ext->coro : NULL, *c = gp->opobj;
    return (own != NULL && a_peek(&own->gp) == gp) || (c != NULL && a_peek(&c->gp) == gp);
}

static bool waits_for_poller(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    return a_peek(poll_word(&fd->pd, op_mode(gp))) == (uintptr_t)gp;
}

static bool waits_on_g0(struct g *gp)
{
    struct m *mp = a_peek(&gp->m);
    return mp != NULL && a_peek(&mp->curg) == gp;
}

static bool waits_for_finalizers(struct g *gp)
{
    struct finalizers *f = rt->fin;
    if (f == NULL)
        return gp->system; /* a program without finalizers: for ever */
    bool waits = prof->fing_status ? (a_peek(&f->status) & fingWait) != 0 : a_peek(&f->fingwait);
    return f->fing == gp && waits;
}

/* In EVWAIT, of a recorded program: its wait reason is the recorded one and names no place here. */
static bool is_for_event(const struct g *gp)
{
    if (rt->events == NULL || isSystemGoroutine(gp) || gp->func < 0 || gp->nkont != 0)
        return false;
    struct insn in = prog_code[gp->pc - 1];
    if (in.op == OP_TAPE)
        (void)tape_get(rt->prog->tape + regs(gp)[TAPE_AT], &in);
    return in.op == OP_EVWAIT || in.op == OP_EVLOCK;
}

/* Is a G that no queue holds in the place that its wait reason names? A lone switch over the
 * reasons. */
static bool waits_elsewhere(struct g *gp)
{
    struct gcController *c = &rt->gc;
    if (is_for_event(gp))
        return event_waited_for(gp);
    switch ((enum waitreason)gp->waitreason) {
    case waitReasonChanReceiveNilChan:
    case waitReasonChanSendNilChan:
    case waitReasonSelectNoCases:
    case waitReasonGCScavengeWait: return gp->waiting == NULL;
    case waitReasonChanReceive: return waits_on_channels(gp) || a_peek(&c->starter) == gp;
    case waitReasonChanSend: return waits_on_channels(gp);
    case waitReasonSelect:
        return gp->waiting != NULL && gp->waiting->isSelect && waits_on_channels(gp);
    case waitReasonSleep: return waits_for_timer(gp);
    case waitReasonIOWait: return waits_for_poller(gp);
    case waitReasonCoroutine: return waits_in_coroutine(gp);
    case waitReasonGCWorkerIdle: return waits_as_worker(gp);
    case waitReasonGCSweepWait: return c->sweepParked && c->sweepG == gp;
    case waitReasonTraceReaderBlocked: return a_peek(&rt->trace.reader) == gp;
    case waitReasonFinalizerWait: return waits_for_finalizers(gp);
    case waitReasonForceGCIdle: return a_peek(&c->forcegcIdle) && c->forcegcG == gp;
    case waitReasonUpdateGOMAXPROCSIdle:
        return a_peek(&rt->updateMaxProcsG.idle) && rt->updateMaxProcsG.g == gp;
    case waitReasonTimerGoroutineIdle: return ((struct timersBucket *)gp->opobj)->rescheduling;
    case waitReasonGCAssistMarking:
    case waitReasonGarbageCollection:
    case waitReasonGarbageCollectionScan:
    case waitReasonGCMarkTermination:
    case waitReasonGCWorkerActive:
    case waitReasonStoppingTheWorld:
    case waitReasonTraceGoroutineStatus:
    case waitReasonTraceProcStatus:
    case waitReasonForEachP: return waits_on_g0(gp);
    default: return false; /* on a queue, or nowhere */
    }
}

static const char *check_waiting(void)
{
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->check_seen = false;
    const char *bad = wait_seen_semas();
    if (bad == NULL)
        bad = wait_seen_objects();
    if (bad == NULL)
        bad = wait_seen_gs(rt->gc.assistQueue.head);
    if (bad == NULL)
        bad = wait_seen_gs(rt->gc.sweepWaitList.head);
    if (bad == NULL && rt->fin != NULL)
        bad = wait_seen_gs(rt->fin->cleanups.sleeping.head);
    for (struct g *gp = rt->allgs; bad == NULL && gp != NULL; gp = gp->alllink) {
        uint32_t s = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
        if ((s == Gwaiting || s == Gleaked) && gp->check_seen + waits_elsewhere(gp) != 1)
            bad = check_says(gp->check_seen ? "a waiting G has two places to be woken from"
                                            : "nothing would wake a waiting G",
                             gp, NULL, NULL);
    }
    return bad;
}
