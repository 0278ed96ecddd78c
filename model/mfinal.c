/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.SetFinalizer, the queue that sweeping fills, and the one goroutine that empties it
 * (mfinal.go). Nobody wakes that goroutine when something is queued: an M that looks for work finds
 * the flags set (findRunnable, step 6) and puts it into its own runnext, ahead of everybody. */
#include "lock.h"
#include "lockrank.h"
#include "mp.h"
#include "newproc.h"
#include "objs.h"
#include "park.h"
#include "race.h"
#include "stack.h"

enum {
    SPECIALS_PER_SPAN = 128, /* objects of 64 bytes */
    FIN_BLOCK = 101          /* finalizers of one finBlock */
};
/* ---- specials ---- */

static bool program_has_specials(const struct program *p)
{
    for (uint32_t pc = 0; pc < p->ncode; pc++)
        if (p->code[pc].op == OP_FINALIZER || p->code[pc].op == OP_CLEANUP)
            return true;
    return false;
}

static struct finalizers *specials_new(void)
{
    struct finalizers *f = host_alloc(sizeof *f, 64);
    lockInit(&f->speciallock, lockRankMheapSpecial);
    lockInit(&f->lock, lockRankFin);
    a_init(&f->sweeping, SWEEP_DRAINED);
    f->cached = host_alloc((size_t)rt->allp_cap * sizeof *f->cached, 64);
    cleanups_init(&f->cleanups);
    return f;
}

static void specials_init(void)
{
    if (program_has_specials(rt->prog))
        rt->fin = specials_new();
}

static void specials_put(struct specials *l, struct special *s)
{
    s->next = NULL;
    if (l->tail != NULL)
        l->tail->next = s;
    else
        l->head = s;
    l->tail = s;
    l->n++;
}

/* Takes up to n off the front; gives the first. */
static struct special *specials_take(struct specials *l, int32_t n)
{
    struct special *first = l->head, *last = NULL;
    for (; n > 0 && l->head != NULL; n--) {
        last = l->head;
        l->head = last->next;
        l->n--;
    }
    if (last != NULL)
        last->next = NULL;
    if (l->head == NULL)
        l->tail = NULL;
    return first;
}

static uint32_t special_order(uint32_t nargs)
{
    return stack_order((uint32_t)sizeof(struct special) / 8 + nargs);
}

/* The object is in the span of its P; a full one is left behind. */
static void special_cache(struct special *s)
{
    struct specials *l = &rt->fin->cached[mp_p(getm())->id];
    specials_put(l, s);
    if (l->n < SPECIALS_PER_SPAN)
        return;
    lock(&rt->fin->speciallock);
    while (l->head != NULL)
        specials_put(&rt->fin->live, specials_take(l, 1));
    unlock(&rt->fin->speciallock);
}

/* mheap.go addspecial. */
static void addspecial(struct g *gp, const struct insn *in, bool cleanup)
{
    struct special *s = stackpool_get(special_order(in->b));
    s->rng = g_rand(gp);
    s->func = (uint32_t)in->d;
    s->nargs = in->b;
    s->cycle = a_load_rlx(&rt->gc.cycles);
    s->cleanup = cleanup;
    s->opens_block = false;
    for (uint32_t i = 0; i < in->b; i++)
        s->args[i] = regs(gp)[in->a + i];
    racerelease(s);
    lock(&rt->fin->speciallock); /* from mheap's specials */
    work(alloc);
    unlock(&rt->fin->speciallock);
    struct m *mp = acquirem();
    special_cache(s);
    releasem(mp);
}

/* Calls a special's function in a frame of its own; then the special is no longer needed. */
static void special_call(struct g *gp, struct special *s, enum frame_kind kind)
{
    frame_push(gp, s->func, kind, NOREG);
    raceacquire(s);
    gp->rng = s->rng;
    for (uint32_t i = 0; i < s->nargs; i++)
        regs(gp)[i] = s->args[i];
    stackpool_put(s, special_order(s->nargs));
}

/* The state of a goroutine of the runtime that will call functions of the program: between two of
 * them it is in none. */
static void special_goroutine(struct g *gp)
{
    gp->system = SYSTEM_SPECIALS;
    gp->fp = 0;
    gp->pc = rt->prog->ncode;
}

/* Was its object dropped before the last collection began? */
static bool special_is_due(const struct special *s)
{
    return (int32_t)(a_peek(&rt->gc.cycles) - s->cycle) > 0;
}

/* Sorts out the specials whose objects are garbage. Spans of small objects are swept first. */
static void specials_unsweep(void)
{
    struct finalizers *f = rt->fin;
    if (f == NULL)
        return;
    struct special *s = f->live.head, *next;
    f->live = (struct specials){0};
    for (; s != NULL; s = next) {
        next = s->next;
        specials_put(special_is_due(s) ? &f->unswept : &f->live, s);
    }
    f->other_spans = a_load(&rt->gc.sweepLeft);
    a_store(&rt->gc.sweepLeft,
            f->other_spans + (f->unswept.n + SPECIALS_PER_SPAN - 1) / SPECIALS_PER_SPAN);
    a_store(&f->sweeping, 0);
}

/* mfinal.go queuefinalizer. */
static void queuefinalizer(struct special *s)
{
    struct finalizers *f = rt->fin;
    if (rt->gc.phase != GCoff)
        throw("queuefinalizer during GC");
    lock(&f->lock);
    s->opens_block = f->finq_n++ % FIN_BLOCK == 0;
    s->next = f->finq;
    f->finq = s;
    if (!prof->fing_status)
        a_store_rlx(&f->fingwake, true);
    unlock(&f->lock);
    if (prof->fing_status)
        a_or(&f->status, fingWake);
}

/* mheap.go freeSpecial, by a sweeper that owns pp. */
static void freeSpecial(struct special *s, struct p *pp)
{
    if (s->cleanup && prof->cleanup_gs)
        cleanup_enqueue(s, pp);
    else
        queuefinalizer(s);
    lock(&rt->fin->speciallock); /* what recorded it is free again */
    unlock(&rt->fin->speciallock);
}

/* mcache.go prepareForSweep: the span that the P allocates from is swept, and given back; or only
 * the latter. */
static void specials_flush(struct p *pp, bool sweep)
{
    struct finalizers *f = rt->fin;
    struct specials cached;
    if (f == NULL || f->cached[pp->id].head == NULL)
        return;
    cached = f->cached[pp->id];
    f->cached[pp->id] = (struct specials){0};
    while (cached.head != NULL) {
        struct special *s = specials_take(&cached, 1);
        if (sweep && special_is_due(s)) {
            freeSpecial(s, pp);
            continue;
        }
        lock(&f->speciallock);
        specials_put(&f->live, s);
        unlock(&f->speciallock);
    }
}

static void sweep_special_span(void)
{
    struct finalizers *f = rt->fin;
    lock(&f->speciallock);
    struct special *s = specials_take(&f->unswept, SPECIALS_PER_SPAN), *next;
    unlock(&f->speciallock);
    for (; s != NULL; s = next) {
        next = s->next;
        freeSpecial(s, mp_p(getm()));
    }
}

/* ---- the finalizer goroutine ---- */

/* mfinal.go createfing. */
static void createfing(void)
{
    struct finalizers *f = rt->fin;
    if (a_load(&f->status) == 0 && a_cas(&f->status, 0, fingCreated))
        (void)newsysproc(STEP_runFinalizers, NULL);
}

static bool fing_wanted(const struct finalizers *f)
{
    if (prof->fing_status)
        return (~a_load(&f->status) & (fingWait | fingWake)) == 0;
    return a_load_rlx(&f->fingwait) && a_load_rlx(&f->fingwake);
}

/* mfinal.go wakefing. */
static struct g *wakefing(void)
{
    struct finalizers *f = rt->fin;
    if (prof->fing_status)
        return a_cas(&f->status, fingCreated | fingWait | fingWake, fingCreated) ? f->fing : NULL;
    struct g *gp = NULL;
    lock(&f->lock);
    if (a_load_rlx(&f->fingwait) && a_load_rlx(&f->fingwake)) {
        a_store_rlx(&f->fingwait, false);
        a_store_rlx(&f->fingwake, false);
        gp = f->fing;
    }
    unlock(&f->lock);
    return gp;
}

static void fin_look(void)
{
    if (fing_wanted(rt->fin)) {
        struct g *gp = wakefing();
        if (gp != NULL)
            ready(gp, /*next*/ true);
    }
    if (prof->cleanup_gs && cleanups_needWake())
        cleanups_wake();
}

/* mfinal.go finalizercommit: only a goroutine that waits can be woken. */
static bool finalizercommit(struct g *gp, void *l)
{
    (void)gp;
    unlock(l);
    a_or(&rt->fin->status, fingWait);
    return true;
}

static enum opres fing_park(struct g *gp)
{
    struct finalizers *f = rt->fin;
    push_step(gp, STEP_takeFinalizers);
    if (prof->fing_status)
        return gopark(gp, finalizercommit, &f->lock, waitReasonFinalizerWait);
    f->fing = gp;
    a_store_rlx(&f->fingwait, true);
    return goparkunlock(gp, &f->lock, waitReasonFinalizerWait);
}

/* The next finalizer of those that were taken, newest first. */
static void finalizer_run(struct g *gp)
{
    struct finalizers *f = rt->fin;
    struct special *s = f->taken;
    if (s == NULL) {
        push_step(gp, STEP_takeFinalizers);
        return;
    }
    f->taken = s->next;
    f->block_ends = s->opens_block;
    if (prof->fing_status)
        a_or(&f->status, fingRunningFinalizer);
    special_call(gp, s, FRAME_FINALIZER);
}

/* The finalizer has returned. */
static enum opres finalizer_returns(struct g *gp)
{
    struct finalizers *f = rt->fin;
    if (prof->fing_status)
        a_and(&f->status, ~(uint32_t)fingRunningFinalizer);
    if (f->block_ends) { /* the block goes back */
        lock(&f->lock);
        unlock(&f->lock);
    }
    finalizer_run(gp);
    return OP_DONE;
}

static enum opres step_takeFinalizers(struct g *gp)
{
    struct finalizers *f = rt->fin;
    lock(&f->lock);
    f->taken = f->finq;
    f->finq = NULL;
    f->finq_n = 0;
    if (f->taken == NULL)
        return fing_park(gp);
    unlock(&f->lock);
    finalizer_run(gp);
    return OP_DONE;
}

/* mfinal.go runFinalizers. */
static enum opres step_runFinalizers(struct g *gp)
{
    struct finalizers *f = rt->fin;
    special_goroutine(gp);
    if (prof->fing_status) {
        lock(&f->lock);
        f->fing = gp;
        unlock(&f->lock);
    }
    return step_takeFinalizers(gp);
}

/* ---- for programs ---- */

/* mfinal.go SetFinalizer. */
static enum opres op_finalizer(struct g *gp, const struct insn *in)
{
    createfing();
    addspecial(gp, in, /*cleanup*/ false);
    return OP_DONE;
}
