/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines (coro.go) and iter.Pull on top of them (iter/iter.go). A switch runs the other G at
 * once on the same M, in the same slice, without a queue. c.gp is the one of the two that does not
 * run. */
#include "coro.h"
#include "gstatus.h"
#include "newproc.h"
#include "objs.h"
#include "panic.h"
#include "park.h"
#include "race.h"
#include "runq.h"
#include "stack.h"

/* coro.go coroswitch_m's check: who is locked to its thread may switch only on the thread, and with
 * the locks, that the coroutine was made with. */
static void coro_check_thread(const struct coroutine *c, const struct m *mp, bool locked)
{
    if (!prof->coro_checks_thread || (c->mp == NULL && !locked))
        return;
    if (mp != c->mp || mp->lockedInt != c->lockedInt || mp->lockedExt != c->lockedExt)
        fatalthrow(a_own(&mp->curg), THROW_RUNTIME,
                   "coro: OS thread locking must match locking at coroutine creation");
}

static struct g *coro_swap(struct coroutine *c, struct g *self)
{
    for (;;) {
        struct g *next = a_load_rlx(&c->gp);
        if (next == NULL)
            throw("coroswitch on exited coro");
        if (a_cas(&c->gp, next, self))
            return next;
    }
}

static void coroswitch_m(struct g *gp)
{
    struct m *mp = getm();
    struct coroutine *c = gp->opobj;
    raceswitch(gp, a_own(&c->gp));
    bool locked = a_load_rlx(&gp->lockedm) != NULL;
    coro_check_thread(c, mp, locked);
    if (locked) /* the thread goes over to the other G */
        a_store_rlx(&gp->lockedm, (struct m *)NULL);
    if (c->exiting) {
        gp->ext->coro = NULL;
        (void)gdestroy(gp);
        gp = NULL;
    } else {
        gp->waitreason = waitReasonCoroutine;
        ev_g_park(rec_g(gp), gp->pc, EV_wait_Coroutine);
        if (!a_cas(&gp->atomicstatus, Grunning, Gwaiting))
            casgstatus(gp, Grunning, Gwaiting);
        a_store_rlx(&gp->m, (struct m *)NULL);
    }
    struct g *next = coro_swap(c, gp);
    a_store_rlx(&mp->curg, next);
    a_store_rlx(&next->m, mp);
    mp->since = record_now();
    ev_g_start(rec_g(next), 0, /*inherits_slice*/ true);
    if (!a_cas(&next->atomicstatus, Gwaiting, Grunning)) {
        casgstatus(next, Gwaiting, Grunnable);
        runq_own(next);
        casgstatus(next, Grunnable, Grunning);
        runq_disown(next);
    }
    if (locked) {
        mp->lockedg = next;
        a_store_rlx(&next->lockedm, mp);
    }
}

static enum opres coroswitch(struct g *gp, struct coroutine *c)
{
    gp->opobj = c;
    return mcall(coroswitch_m);
}

/* 1.22: newproc1 makes it runnable, and newcoro takes that back: nobody has seen it. */
static void coro_park_new(struct g *gp)
{
    gp->waitreason = waitReasonCoroutine;
    if (!a_cas(&gp->atomicstatus, Grunnable, Gwaiting))
        throw("newcoro: somebody has touched a new goroutine");
    runq_disown(gp);
}

/* coro.go newcoro. */
static enum opres op_coronew(struct g *gp, const struct insn *in)
{
    struct m *mp = getm();
    struct coroutine *c = host_alloc(sizeof *c, 16);
    struct g *self = newproc1(prof->newproc_parked, waitReasonCoroutine);
    if (!prof->newproc_parked)
        coro_park_new(self);
    self->group = GROUP_NONE;
    g_start_at(self, (uint32_t)in->d, regs(gp) + in->b, in->c);
    racecreate(self);
    push_step(self, STEP_coroStart);
    g_ext(self)->coro = c;
    ev_g_create(rec_g(self), in->d, self->group, rec_g(gp), EV_born_coroutine, EV_place_none);
    a_init(&c->gp, self);
    if (mp->lockedExt + mp->lockedInt != 0) {
        c->mp = mp;
        c->lockedExt = mp->lockedExt;
        c->lockedInt = mp->lockedInt;
    }
    regs(gp)[in->a] = object_add(c, OBJ_CORO);
    return OP_DONE;
}

/* ---- inside ---- */

static enum opres coroexit(struct g *gp, struct coroutine *c)
{
    c->done = true;
    c->exiting = true;
    return coroswitch(gp, c);
}

/* Stopped before it began: the function is not even called. */
static enum opres step_coroStart(struct g *gp)
{
    struct coroutine *c = gp->ext->coro;
    return c->done ? coroexit(gp, c) : OP_DONE;
}

static enum opres coro_returns(struct g *gp)
{
    struct coroutine *c = gp->ext->coro;
    c->v = 0;
    c->ok = false;
    return coroexit(gp, c);
}

/* A panic that nobody inside recovered goes on in whoever called next or stop. */
static enum opres coro_panicked(struct g *gp)
{
    struct coroutine *c = gp->ext->coro;
    c->panic_kind = gp->ext->panics->kind;
    c->panic_value = gp->ext->panics->value;
    while (gp->ext->panics != NULL)
        panic_pop(gp);
    return coroexit(gp, c);
}

static enum opres coro_goexit(struct g *gp)
{
    struct coroutine *c = gp->ext->coro;
    c->goexit = true;
    return coroexit(gp, c);
}

static enum opres op_yield(struct g *gp, const struct insn *in)
{
    struct coroutine *c = gp->ext != NULL ? gp->ext->coro : NULL;
    if (c == NULL)
        return gopanic_text(gp, PANIC_no_coroutine);
    set_reg(gp, in->b, 0);
    if (c->done)
        return OP_DONE;
    if (!c->yieldNext)
        return gopanic_text(gp, PANIC_pull_yield);
    c->yieldNext = false;
    c->v = regs(gp)[in->a];
    c->ok = true;
    push_step(gp, STEP_coroYield);
    return coroswitch(gp, c);
}

static enum opres step_coroYield(struct g *gp)
{
    set_reg(gp, cur_insn(gp)->b, !gp->ext->coro->done);
    return OP_DONE;
}

/* ---- outside ---- */

static enum opres op_coronext(struct g *gp, const struct insn *in)
{
    struct coroutine *c = object_of(gp, in, in->c, OBJ_CORO);
    if (c == NULL)
        return gopanic_text(gp, PANIC_nil);
    if (c->yieldNext)
        return gopanic_text(gp, PANIC_pull_again);
    if (c->done) {
        set_reg(gp, in->a, 0);
        set_reg(gp, in->b, 0);
        return OP_DONE;
    }
    c->yieldNext = true;
    push_step(gp, STEP_coroBack);
    return coroswitch(gp, c);
}

static enum opres op_corostop(struct g *gp, const struct insn *in)
{
    struct coroutine *c = object_of(gp, in, in->c, OBJ_CORO);
    if (c == NULL)
        return gopanic_text(gp, PANIC_nil);
    if (c->done)
        return OP_DONE;
    c->done = true;
    push_step(gp, STEP_coroBack);
    return coroswitch(gp, c);
}

/* next or stop has come back. */
static enum opres step_coroBack(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    struct coroutine *c = object_of(gp, in, in->c, OBJ_CORO);
    c->yieldNext = false;
    if (c->panic_kind != PANIC_KIND_NONE)
        return gopanic(gp, (enum panic_kind)c->panic_kind, c->panic_value);
    if (c->goexit)
        return op_goexit(gp, in);
    if (in->op == OP_CORONEXT) {
        set_reg(gp, in->a, c->v);
        set_reg(gp, in->b, c->ok);
    }
    return OP_DONE;
}
