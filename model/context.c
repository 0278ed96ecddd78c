/* SPDX-License-Identifier: BSD-3-Clause */
/* Package context: a tree of things that can be canceled. A deadline is an AfterFunc, so its cancel
 * runs in a goroutine of its own. Go locks each context by a mutex and cancels children in the
 * random order of a map; here one lock guards all trees for the moment of a change, and children go
 * in the order of their creation. */
#include "context.h"
#include "chan.h"
#include "lock.h"
#include "objs.h"
#include "panic.h"
#include "race.h"

enum { CTX_OK, CTX_CANCELED, CTX_DEADLINE };

/* Ends c and the tree below it, parents first, and chains what it ended by their `mark`;
 * objs.ctxlock is held. */
static void ctx_mark(struct ctx *c, uint32_t err)
{
    c->mark = NULL;
    for (struct ctx *x = c; x != NULL; x = x->mark) {
        racerelease(&x->err);
        a_store(&x->err, err);
        x->close_done = x->done != NULL;
        struct ctx **end = &x->mark, *rest = x->mark;
        for (struct ctx *k = x->children; k != NULL; k = k->next) {
            *end = k;
            end = &k->mark;
        }
        *end = rest;
        x->children = x->last = NULL;
    }
}

static void ctx_unlink(struct ctx *c)
{
    struct ctx *p = c->parent;
    if (p == NULL || a_own(&p->err) != CTX_OK)
        return;
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        p->children = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
    else
        p->last = c->prev;
}

/* context.go cancelCtx.cancel. */
static void ctx_cancel(struct ctx *c, uint32_t err)
{
    lock(&rt->objs->ctxlock);
    bool first = a_own(&c->err) == CTX_OK;
    if (first) {
        ctx_unlink(c);
        ctx_mark(c, err);
    }
    unlock(&rt->objs->ctxlock);
    if (!first)
        return;
    for (struct ctx *x = c; x != NULL; x = x->mark)
        if (x->close_done)
            closechan_open(x->done);
    if (c->timer != NULL)
        (void)time_Stop(c->timer);
}

static enum opres step_ctxTimeout(struct g *gp)
{
    struct ctx *c = object_slow(gp, gp->opval, OBJ_CONTEXT);
    ctx_cancel(c, CTX_DEADLINE);
    return OP_DONE;
}

/* context.go propagateCancel. */
static void ctx_link(struct ctx *c, struct ctx *parent)
{
    c->parent = parent;
    if (parent == NULL)
        return;
    lock(&rt->objs->ctxlock);
    uint32_t err = a_own(&parent->err);
    if (err != CTX_OK) {
        raceacquire(&parent->err);
        racerelease(&c->err);
        a_store(&c->err, err);
    } else {
        c->prev = parent->last;
        if (parent->last != NULL)
            parent->last->next = c;
        else
            parent->children = c;
        parent->last = c;
    }
    unlock(&rt->objs->ctxlock);
}

static int64_t ctx_make(struct ctx *parent, int64_t deadline, struct ctx **out)
{
    struct ctx *c = host_alloc(sizeof *c, 16);
    c->deadline = deadline != 0 ? deadline : parent != NULL ? parent->deadline : 0;
    ctx_link(c, parent);
    *out = c;
    return object_add(c, OBJ_CONTEXT);
}

static struct ctx *ctx_arg(struct g *gp, uint8_t reg)
{
    return reg == NOREG ? NULL : object_slow(gp, regs(gp)[reg], OBJ_CONTEXT);
}

static enum opres op_ctxnew(struct g *gp, const struct insn *in)
{
    struct ctx *c;
    int64_t handle = ctx_make(ctx_arg(gp, in->b), 0, &c);
    regs(gp)[in->a] = handle;
    return OP_DONE;
}

/* context.go WithDeadlineCause. A parent that ends earlier makes the deadline pointless. */
static enum opres op_ctxtmo(struct g *gp, const struct insn *in)
{
    struct ctx *parent = ctx_arg(gp, in->b), *c;
    int64_t d = in->c != NOREG ? regs(gp)[in->c] : in->imm;
    int64_t when = time_when(d);
    bool pointless = parent != NULL && parent->deadline != 0 && parent->deadline < when;
    int64_t handle = ctx_make(parent, pointless ? 0 : when, &c);
    regs(gp)[in->a] = handle;
    if (pointless)
        return OP_DONE;
    if (d <= 0) {
        ctx_cancel(c, CTX_DEADLINE);
    } else if (a_load(&c->err) == CTX_OK) {
        c->timer = time_AfterFunc(d, FUNC_STEP(STEP_ctxTimeout), &handle, 1, GROUP_CONTEXT);
    }
    return OP_DONE;
}

static enum opres op_ctxcancel(struct g *gp, const struct insn *in)
{
    struct ctx *c = object_of(gp, in, in->c, OBJ_CONTEXT);
    if (c == NULL)
        return gopanic_text(gp, PANIC_nil);
    ctx_cancel(c, CTX_CANCELED);
    return OP_DONE;
}

/* context.go Done: the channel is made by the first who asks. */
static enum opres op_ctxdone(struct g *gp, const struct insn *in)
{
    struct ctx *c = object_of(gp, in, in->c, OBJ_CONTEXT);
    if (c == NULL) { /* Background never ends */
        regs(gp)[in->a] = 0;
        return OP_DONE;
    }
    if (a_load(&c->done_handle) != 0) {
        regs(gp)[in->a] = a_load(&c->done_handle);
        return OP_DONE;
    }
    enum opres r;
    if (assists_first(gp, in, &r))
        return r;
    struct hchan *ch;
    int64_t handle = chan_object(0, &ch);
    lock(&rt->objs->ctxlock);
    bool ours = c->done == NULL, ended = a_own(&c->err) != CTX_OK;
    if (ours) {
        c->done = ch;
        a_store(&c->done_handle, handle);
    }
    if (ended)
        raceacquire(&c->err);
    unlock(&rt->objs->ctxlock);
    if (ours && ended)
        closechan_open(ch);
    regs(gp)[in->a] = a_load(&c->done_handle);
    return OP_DONE;
}

static enum opres op_ctxerr(struct g *gp, const struct insn *in)
{
    struct ctx *c = object_of(gp, in, in->c, OBJ_CONTEXT);
    uint32_t err = c == NULL ? CTX_OK : a_load(&c->err);
    if (err != CTX_OK)
        raceacquire(&c->err);
    regs(gp)[in->a] = err;
    return OP_DONE;
}
