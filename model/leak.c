/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for leaked goroutines (1.26+, mgc.go findGoroutineLeaks): a collection that starts
 * from the goroutines that can run. One blocked on a channel, a lock, a WaitGroup or a Cond is
 * looked at only when somebody who can run is able to reach that object; who remains at the end
 * waits for ever.
 *
 * There is no memory to trace. What a goroutine can reach is what its program can still do: from
 * where it stands, the code that control may come to, functions it calls or starts included, and
 * the objects that this code names. Handles are plain values; a program that uses any has its
 * registers, buffers and variables searched for numbers that are one. So more is taken for
 * reachable than in Go, never less: a goroutine found here is one that nobody will ever wake.
 *
 * Everything but the changes of status happens at one moment of a stopped world, without a point.
 */
#include <string.h>

#include "gqueue.h"
#include "gstatus.h"
#include "objs.h"
#include "sema.h"
#include "stack.h"

struct leaks {
    uint64_t *code, *objects; /* bits: an instruction that may be reached, a handle */
    int64_t objects_room;
    uint32_t *todo; /* instructions to follow */
    uint32_t ntodo;
    struct g *fresh; /* found in this round, by schedlink; check_seen says found */
    bool handles, pools, contexts, timer_funcs; /* what the program has at all */
    bool everything;                            /* nothing can be told apart */
    bool verdict; /* asked at the end of a run (world_strand), not by a collection */
};

static bool bit_set(uint64_t *bits, int64_t at)
{
    uint64_t old = bits[at / 64], bit = UINT64_C(1) << (at % 64);
    bits[at / 64] = old | bit;
    return (old & bit) == 0;
}

static void leak_features(struct leaks *l, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    l->handles |= o->d > D_OBJ && in->d == OBJ_REG;
    l->pools |= in->op == OP_POOLGET || in->op == OP_POOLPUT;
    l->contexts |= in->op == OP_CTXNEW || in->op == OP_CTXTMO;
    l->timer_funcs |= in->op == OP_TIMER && in->d >= 0;
}

static struct leaks *leaks_new(void)
{
    const struct program *p = rt->prog;
    struct leaks *l = host_alloc(sizeof *l, 16);
    l->code = host_alloc(((size_t)p->ncode / 64 + 1) * sizeof *l->code, 16);
    l->todo = host_alloc(((size_t)p->ncode + 1) * sizeof *l->todo, 16);
    for (uint32_t pc = 0; pc < p->ncode; pc++)
        leak_features(l, &p->code[pc]);
    for (uint32_t i = 0; i < p->ncases; i++)
        l->handles |= p->cases[i].obj == OBJ_REG;
    return l;
}

/* Nothing is known yet, and there is a bit for every handle. */
static void leaks_reset(struct leaks *l)
{
    const int64_t made = rt->objs->made;
    if (made >= l->objects_room) {
        l->objects_room = 2 * made + 64;
        l->objects = host_alloc(((size_t)l->objects_room / 64 + 1) * sizeof *l->objects, 16);
    }
    memset(l->objects, 0, ((size_t)l->objects_room / 64 + 1) * sizeof *l->objects);
    memset(l->code, 0, ((size_t)rt->prog->ncode / 64 + 1) * sizeof *l->code);
    l->ntodo = 0;
    l->fresh = NULL;
    l->everything = l->handles && l->pools;
}

/* ---- finding ---- */

static void leak_live(struct leaks *l, struct g *gp)
{
    if (gp->check_seen)
        return;
    gp->check_seen = true;
    gp->schedlink = l->fresh;
    l->fresh = gp;
}

/* A select that another case has woken is still on its other queues. */
static void leak_list(struct leaks *l, const struct sudog *s)
{
    for (; s != NULL; s = s->next)
        if (!l->verdict || !s->isSelect || a_peek(&s->g->selectDone) == 0)
            leak_live(l, s->g);
}

static void leak_sema(struct leaks *l, const semaword *addr)
{
    for (const struct sudog *s = *sema_find(rootFor(addr), addr); s != NULL; s = s->waitlink)
        leak_live(l, s->g);
}

static void leak_mutex(struct leaks *l, const struct smutex *m) { leak_sema(l, &m->sema); }

static void leak_object(struct leaks *l, int64_t handle);
static void leak_ctx(struct leaks *l, struct ctx *c);

/* A number that may be a handle. */
static void leak_value(struct leaks *l, int64_t v)
{
    if (l->handles)
        leak_object(l, v);
}

static void leak_chan(struct leaks *l, struct hchan *c)
{
    leak_list(l, a_peek(&c->recvq.first));
    leak_list(l, a_peek(&c->sendq.first));
    for (uint32_t i = 0; i < c->dataqsiz; i++)
        leak_value(l, c->buf[i]);
}

static void leak_rwmutex(struct leaks *l, struct rwmutex *rw)
{
    leak_mutex(l, &rw->w);
    leak_sema(l, &rw->writerSem);
    leak_sema(l, &rw->readerSem);
}

/* Whoever waits for an object that can be reached may be woken. */
static void leak_object(struct leaks *l, int64_t handle)
{
    const struct object *o = object_at((uint64_t)handle);
    if (o == NULL || o->p == NULL || !bit_set(l->objects, handle))
        return;
    switch ((enum object_kind)o->kind) {
    case OBJ_CHAN: leak_chan(l, o->p); break;
    case OBJ_MUTEX: leak_mutex(l, o->p); break;
    case OBJ_RWMUTEX: leak_rwmutex(l, o->p); break;
    case OBJ_WAITGROUP: leak_sema(l, &((struct waitgroup *)o->p)->sema); break;
    case OBJ_COND:
        leak_list(l, ((struct cond *)o->p)->notify.head);
        if (((struct cond *)o->p)->L != NULL)
            leak_mutex(l, ((struct cond *)o->p)->L);
        else
            leak_rwmutex(l, ((struct cond *)o->p)->rw);
        break;
    case OBJ_ONCE: leak_mutex(l, &((struct once *)o->p)->m); break;
    case OBJ_SEMA: leak_list(l, ((struct weighted *)o->p)->head); break;
    case OBJ_VAR: leak_value(l, (int64_t)a_peek(&((struct var *)o->p)->v)); break;
    case OBJ_TIMER: leak_value(l, ((struct timerObject *)o->p)->c); break;
    case OBJ_CONTEXT: leak_ctx(l, o->p); break;
    case OBJ_POOL:
    case OBJ_FD:
    case OBJ_CORO:
    case OBJ_KINDS: break;
    }
}

/* Who can reach a context can cancel it and all that were made of it. The tree is walked by
 * chaining it through `mark`, as ctx_mark does: at the end of a run no cancel is under way. */
static void leak_ctx(struct leaks *l, struct ctx *c)
{
    if (!l->verdict)
        return; /* a collection takes every channel of a context for reachable */
    c->mark = NULL;
    for (struct ctx *x = c; x != NULL; x = x->mark) {
        leak_object(l, a_peek(&x->done_handle));
        struct ctx **end = &x->mark, *rest = x->mark;
        for (struct ctx *k = x->children; k != NULL; k = k->next) {
            *end = k;
            end = &k->mark;
        }
        *end = rest;
    }
}

/* ---- following code ---- */

static void leak_code(struct leaks *l, uint32_t pc)
{
    if (pc < rt->prog->ncode && bit_set(l->code, pc))
        l->todo[l->ntodo++] = pc;
}

static void leak_func(struct leaks *l, int64_t func)
{
    if (func >= 0 && func < rt->prog->nfuncs)
        leak_code(l, rt->prog->funcs[func].entry);
}

static void leak_select(struct leaks *l, const struct select_table *t)
{
    for (uint32_t i = t->first; i < t->first + t->ncases; i++)
        if (rt->prog->cases[i].obj >= 0)
            leak_object(l, (int64_t)rt->prog->cases[i].obj + 1);
}

/* Any element of an array may be meant: what follows an index gives the array's place and how far
 * its elements are apart. An array in an array is some of all objects. */
static void leak_elements(struct leaks *l, uint32_t pc)
{
    const struct insn *in = &rt->prog->code[pc], *next = in + 1;
    int64_t apart = 1, base = 1, count = rt->prog->nobjects;
    if (next->op == OP_MULI)
        apart = (next++)->imm;
    if (next->op == OP_ADDI) {
        base = next->imm;
        count = in->imm;
    } else {
        apart = 1;
    }
    for (int64_t i = 0; i < count && i < rt->objs->made; i++)
        leak_object(l, base + i * apart);
}

/* What an instruction names, and where control may go from it. The next instruction is taken for
 * reachable always: that some never fall through would only find more leaks. */
static void leak_insn(struct leaks *l, uint32_t pc)
{
    const struct insn *in = &rt->prog->code[pc];
    const struct op_info *o = &op_infos[in->op];
    if (o->d > D_OBJ && in->d >= 0)
        leak_object(l, (int64_t)in->d + 1);
    else if (o->d == D_TG)
        leak_code(l, (uint32_t)in->d);
    else if (o->d == D_FN || o->d == D_FO)
        leak_func(l, in->d);
    else if (o->d == D_SE)
        leak_select(l, &rt->prog->selects[in->d]);
    if (o->imm == IF)
        leak_func(l, in->imm);
    if (in->op == OP_CONST)
        leak_value(l, in->imm);
    if (in->op == OP_INDEX && pc + 2 < rt->prog->ncode)
        leak_elements(l, pc);
    if (in->op == OP_TAPE) /* what is left of the tapes is not looked at */
        for (int64_t i = 1; i <= rt->prog->nobjects; i++)
            leak_object(l, i);
    if (in->op == OP_SWITCH)
        for (int64_t i = 1; i <= in->imm; i++)
            leak_code(l, pc + 1 + (uint32_t)i);
    if (in->op != OP_JMP && in->op != OP_RET)
        leak_code(l, pc + 1);
}

static void leak_follow(struct leaks *l)
{
    while (l->ntodo > 0)
        leak_insn(l, l->todo[--l->ntodo]);
}

/* markroot of a stack: the instruction it is in, where its frames return to, deferred calls. */
static void leak_scan(struct leaks *l, struct g *gp)
{
    if (isSystemGoroutine(gp) || gp->func < 0)
        return; /* the runtime's own, or a context's: no program */
    const int64_t *stack = g_stack(gp);
    uint32_t fp = gp->fp, top = fp + rt->prog->funcs[gp->func].nregs;
    leak_code(l, gp->pc);
    if (gp->pc > 0)
        leak_code(l, gp->pc - 1);
    while (fp != 0) {
        leak_code(l, (uint32_t)stack[fp - 2]);
        fp = (uint32_t)stack[fp - 1];
    }
    for (uint32_t i = 0; i < top; i++)
        leak_value(l, stack[i]);
    for (struct deferRecord *d = gp->ext != NULL ? gp->ext->defers : NULL; d != NULL; d = d->link) {
        leak_func(l, d->func);
        for (uint32_t i = 0; i < d->nargs; i++)
            leak_value(l, d->args[i]);
        if (d->once != NULL)
            leak_mutex(l, &d->once->m);
    }
}

/* ---- the search ---- */

/* mgcmark.go internalBlocked: who waits for the runtime, for time or for the network is no suspect,
 * and semaphores only where the waiter is recorded. */
static bool leak_suspect(const struct g *gp, uint32_t status)
{
    if (status != Gwaiting || isSystemGoroutine(gp))
        return false;
    switch ((enum waitreason)gp->waitreason) {
    case waitReasonChanReceiveNilChan:
    case waitReasonChanSendNilChan:
    case waitReasonSelectNoCases:
    case waitReasonSelect:
    case waitReasonChanReceive:
    case waitReasonChanSend: return true;
    case waitReasonSyncCondWait:
    case waitReasonSyncWaitGroupWait:
    case waitReasonSyncMutexLock:
    case waitReasonSyncRWMutexLock:
    case waitReasonSyncRWMutexRLock: return prof->g_waiting_sema;
    default: return false;
    }
}

static bool any_timer(void)
{
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (timers_len(rt->allp[i]) > 0)
            return true;
    return false;
}

/* What finalizers and cleanups that have yet to run may reach. */
static void leak_special(struct leaks *l, const struct special *s)
{
    leak_func(l, s->func);
    for (uint32_t i = 0; i < s->nargs; i++)
        leak_value(l, s->args[i]);
}

static void leak_special_list(struct leaks *l, const struct special *s)
{
    for (; s != NULL; s = s->next)
        leak_special(l, s);
}

static void leak_specials(struct leaks *l)
{
    struct finalizers *f = rt->fin;
    if (f == NULL)
        return;
    leak_special_list(l, f->live.head);
    leak_special_list(l, f->unswept.head);
    leak_special_list(l, f->finq);
    leak_special_list(l, f->taken);
    for (int32_t id = 0; id < rt->allp_cap; id++)
        leak_special_list(l, f->cached[id].head);
    for (uint32_t id = 1; id <= f->cleanups.nblocks; id++) {
        const struct cleanupBlock *b = block_at(&f->cleanups, id);
        for (uint32_t i = 0; i < b->n; i++)
            if (b->cleanups[i] != NULL)
                leak_special(l, b->cleanups[i]);
    }
}

/* Channels that a timer or a context may send to or close, whoever has their handles. */
static void leak_channels_of_runtime(struct leaks *l)
{
    for (int64_t h = (int64_t)rt->prog->nobjects + 1; h <= rt->objs->made; h++) {
        const struct object *o = object_at((uint64_t)h);
        if (o->kind == OBJ_CHAN &&
            (l->contexts || !timer_sync_chans() || ((struct hchan *)o->p)->timer != NULL))
            leak_object(l, h);
    }
}

static void leak_functions_of_timers(struct leaks *l)
{
    if (!l->timer_funcs || !any_timer())
        return;
    l->everything |= l->handles; /* an argument may be one */
    for (uint32_t pc = 0; pc < rt->prog->ncode; pc++)
        if (rt->prog->code[pc].op == OP_TIMER)
            leak_func(l, rt->prog->code[pc].d);
}

/* ---- what timers will do ---- */

static void leak_timer_does(struct leaks *l, const struct timer *t)
{
    const struct timeTimer *tt = t->arg;
    if (t->f == sendTime)
        leak_chan(l, tt->c);
    if (t->f != goFunc)
        return; /* a sleeper is no suspect */
    if (tt->func == FUNC_STEP(STEP_ctxTimeout))
        leak_object(l, tt->args[0]);
    else
        leak_func(l, tt->func);
    for (uint32_t i = 0; i < tt->nargs; i++)
        leak_value(l, tt->args[i]);
}

static void leak_heap(struct leaks *l, const struct timers *ts)
{
    for (uint32_t i = 0; i < ts->n; i++)
        if (timer_pending(ts->heap[i].timer))
            leak_timer_does(l, ts->heap[i].timer);
}

/* An M in the scheduler may have a timer in its hands, which is in no heap any more. */
static bool timers_in_flight(void)
{
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink) {
        const struct g *gp = a_peek(&mp->curg);
        if (a_peek(&mp->p) != NULL && (gp == NULL || isSystemGoroutine(gp)))
            return true;
    }
    return false;
}

static void leak_timers(struct leaks *l)
{
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (rt->allp[i] != NULL)
            leak_heap(l, &rt->allp[i]->timers);
    for (int32_t i = 0; rt->timersBuckets != NULL && i < timersLen; i++)
        leak_heap(l, &rt->timersBuckets[i].heap);
}

/* gcStart and allGsSnapshotSortedForGC, in the first stop: what was found last time is forgotten.
 */
static void leaks_start(void)
{
    struct gcController *c = &rt->gc;
    if (!a_load(&c->leak_pending))
        return;
    a_store(&c->leak_pending, false);
    c->leak_enabled = true;
    c->leak_done = false;
    c->leak_rounds = 0;
    if (c->leaks == NULL)
        c->leaks = leaks_new();
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (readgstatus(gp) == Gleaked)
            casgstatus(gp, Gleaked, Gwaiting);
}

/* At the end of a run: who waits in an instruction that only others can end. main, if it has
 * returned, is no more; else it may wait for ever on purpose. */
static bool leak_waits(const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool nothing = gp->waitreason == waitReasonSelectNoCases ||
                   gp->waitreason == waitReasonChanReceiveNilChan;
    if ((status != Gwaiting && status != Gleaked) || isSystemGoroutine(gp) || gp->has_ext_wake ||
        gp->waitreason == waitReasonSleep || gp->func < 0 || gp->pc == 0 ||
        (gp == rt->main_g && nothing))
        return false;
    uint8_t op = prog_code[gp->pc - 1].op;
    return op >= OP_SEND && op <= OP_RELEASE;
}

/* Waits for nothing at all. */
static bool leak_waits_for_nil(const struct g *gp)
{
    return gp->waitreason == waitReasonSelectNoCases ||
           gp->waitreason == waitReasonChanReceiveNilChan ||
           gp->waitreason == waitReasonChanSendNilChan;
}

/* gp is in the middle of ending contexts: which ones, nobody else knows. */
static bool leak_cancels(const struct g *gp)
{
    return (a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan) == Grunning &&
           (gp->func < 0 || (gp->pc > 0 && prog_code[gp->pc - 1].op == OP_CTXCANCEL));
}

/* At the end of a run strand_suspects has marked the suspects. */
static bool leak_is_suspect(const struct leaks *l, const struct g *gp, uint32_t status)
{
    return l->verdict ? gp->stranded || (gp == rt->main_g && rt->main_returned)
                      : leak_suspect(gp, status);
}

/* Sets check_seen of every G that may ever run again. The roots are the Gs that are no suspects;
 * each round follows what the Gs of the round before can reach. Gives the number of rounds. */
static int32_t leaks_trace(struct leaks *l)
{
    leaks_reset(l);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->check_seen = false; /* of all, before a scan finds one */
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
        uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
        if (status != Gdead && status != Gdeadextra && !leak_is_suspect(l, gp, status)) {
            gp->check_seen = true;
            leak_scan(l, gp);
            l->everything |= l->verdict && leak_cancels(gp);
        }
    }
    leak_specials(l);
    if (rt->objs->pools != NULL)
        leak_mutex(l, &rt->objs->pools->allPoolsMu);
    if (l->verdict)
        leak_timers(l);
    if (!l->verdict || timers_in_flight()) {
        leak_functions_of_timers(l);
        leak_channels_of_runtime(l);
    }
    for (int64_t h = 1; l->everything && h <= rt->objs->made; h++)
        leak_object(l, h);
    int32_t rounds = 0;
    for (leak_follow(l); l->fresh != NULL; leak_follow(l), rounds++) {
        struct g *gp = l->fresh;
        l->fresh = NULL;
        for (; gp != NULL; gp = gp->schedlink)
            leak_scan(l, gp);
    }
    return rounds;
}

/* findGoroutineLeaks, when no more can be found: the suspects that remain. */
static void leaks_mark(void)
{
    struct gList leaked = {0};
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (!gp->check_seen && leak_suspect(gp, a_peek(&gp->atomicstatus)))
            gList_push(&leaked, gp);
    while (!gList_empty(&leaked)) {
        struct g *gp = gList_pop(&leaked);
        casgstatus(gp, Gwaiting, Gleaked);
        if (gp == rt->main_g && gp->waitreason == waitReasonSelectNoCases)
            casgstatus(gp, Gleaked, Gwaiting); /* main may wait for ever on purpose */
    }
}

/* gcMarkDone, when nothing is left to mark: Go looks for goroutines that have become reachable,
 * adds their stacks and marks on; when there are none, it names the leaked ones and marks those.
 * Here the answer is known at once, and the marking goes on as often. True: it goes on. */
static bool leaks_more(void)
{
    struct gcController *c = &rt->gc;
    if (!c->leak_enabled || c->leak_done)
        return false;
    if (c->leak_rounds++ >= leaks_trace(c->leaks)) {
        leaks_mark();
        c->leak_done = true;
    }
    a_add(&c->remaining, ROOT_BYTES_PER_G);
    return true;
}

/* ---- the verdict at the end of a run ---- */

/* Whoever wakes a select takes it off one queue and then, an operation later, says so; until its
 * goroutine runs it is on the others. */
static bool is_being_woken(struct g *gp)
{
    return gp->waiting != NULL && gp->waiting->isSelect && !waits_on_channels(gp);
}

/* Who waits in a queue. Others that wait are on their way out of one: a running M knows them. */
static bool strand_suspects(struct leaks *l)
{
    bool any = false;
    leaks_reset(l);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->check_seen = false;
    for (int64_t h = 1; h <= rt->objs->made; h++)
        leak_object(l, h);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
        gp->stranded = leak_waits(gp) && !is_being_woken(gp) &&
                       (gp->check_seen || leak_waits_for_nil(gp));
        any |= gp->stranded;
    }
    return any;
}

static bool anybody_waits(void)
{
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        if (leak_waits(gp))
            return true;
    return false;
}

/* Unlike a collection's, this search knows what a context and a timer can do, and looks at the
 * waits of every release. A program that has ended by os.Exit leaves nobody behind. */
static int32_t world_strand(bool stopped)
{
    int32_t n = 0;
    if (rt->objs == NULL || (stopped && !rt->main_returned))
        return 0;
    host_enter();
    struct leaks *l = anybody_waits() ? leaks_new() : NULL;
    if (l != NULL) {
        l->verdict = true;
        if (strand_suspects(l))
            (void)leaks_trace(l);
        for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
            gp->stranded &= !gp->check_seen;
            n += gp->stranded;
        }
    }
    host_leave();
    return n;
}

/* ---- the profile ---- */

/* goroutineLeakGC: collections until one of them has looked. Before 1.26 there is no such profile.
 */
static enum opres runtime_leakProfile(struct g *gp)
{
    if (!prof->goroutine_leaks) {
        set_reg(gp, cur_insn(gp)->a, -1);
        return OP_DONE;
    }
    a_store(&rt->gc.leak_pending, true);
    push_step(gp, STEP_leakProfile);
    return runtime_GC(gp);
}

static enum opres step_leakProfile(struct g *gp)
{
    if (a_load(&rt->gc.leak_pending)) {
        push_step(gp, STEP_leakProfile);
        return runtime_GC(gp);
    }
    int64_t n = 0;
    for (struct g *other = rt->allgs; other != NULL; other = other->alllink)
        n += readgstatus(other) == Gleaked;
    set_reg(gp, cur_insn(gp)->a, n);
    return OP_DONE;
}
