/* SPDX-License-Identifier: BSD-3-Clause */
/* select (select.go). The compiler's special cases come first: no case, one case, one case with
 * default.
 *
 * pollorder is a random permutation of the cases whose channel is not nil: the first ready one
 * wins. lockorder is the same cases sorted by channel: all channels are locked together, so a
 * select sees one instant. A G that must wait has one sudog per case, chained in lockorder on
 * gp->waiting; the chain is all that survives the park. */
#include "select.h"
#include "chan.h"
#include "lock.h"
#include "objs.h"
#include "panic.h"
#include "park.h"
#include "race.h"
#include "rand.h"
#include "stack.h"
#include "turn.h"

enum { SELECT_INLINE = 16 };

struct selector {
    const struct select_case *cases;
    struct hchan **c; /* by case; NULL: nil */
    uint16_t *pollorder, *lockorder;
    uint32_t ncases, n; /* n: not nil */
};

static struct hchan *case_chan(struct g *gp, const struct select_case *k)
{
    if (k->obj >= 0)
        return objs_decl[k->obj];
    return object_slow(gp, regs(gp)[k->hreg], OBJ_CHAN);
}

static enum opres select_result(struct g *gp, int64_t chosen, bool ok)
{
    const struct insn *in = cur_insn(gp);
    set_reg(gp, in->a, chosen);
    set_reg(gp, in->b, ok);
    turn_took(gp->goid, chosen);
    return OP_DONE;
}

static bool select_peer(const struct waitq *q)
{
    const struct sudog *s = a_peek(&q->first);
    while (s != NULL && s->isSelect && a_peek(&s->g->selectDone) != 0)
        s = s->next; /* has been woken by another case */
    return s != NULL;
}

static bool select_ready(const struct selector *s, uint16_t k)
{
    struct hchan *c = s->c[k];
    if (a_peek(&c->closed) != 0)
        return true;
    return s->cases[k].send ? select_peer(&c->recvq) || buf_room(c)
                            : select_peer(&c->sendq) || a_peek(&c->qcount) > 0;
}

/* By turns nothing changes until the locks are held: the question is only which of the ready cases
 * is taken. That case comes first. */
static void select_turn(struct selector *s)
{
    uint32_t ready = 0, k = 0;
    for (uint32_t i = 0; i < s->n; i++)
        ready += select_ready(s, s->pollorder[i]);
    uint32_t pick = turn_select(ready);
    while (ready > 0 && (!select_ready(s, s->pollorder[k]) || pick-- > 0))
        k++;
    uint16_t first = s->pollorder[k];
    for (; k > 0; k--)
        s->pollorder[k] = s->pollorder[k - 1];
    if (s->n > 0)
        s->pollorder[0] = first;
}

/* A shuffle from the inside out; timer channels are brought up to date on the way. */
static void select_pollorder(struct g *gp, struct selector *s)
{
    for (uint32_t i = 0; i < s->ncases; i++) {
        s->c[i] = case_chan(gp, &s->cases[i]);
        if (s->c[i] == NULL)
            continue;
        if (s->c[i]->timer != NULL)
            timer_maybeRunChan(s->c[i]->timer, s->c[i]);
        uint32_t j = turn_on() ? s->n : cheaprandn(s->n + 1);
        s->pollorder[s->n] = s->pollorder[j];
        s->pollorder[j] = (uint16_t)i;
        s->n++;
    }
    if (turn_on())
        select_turn(s);
}

/* Go sorts by the channel's address; its index says as much and is the same in every run. */
static int32_t sortkey(const struct selector *s, uint16_t k) { return s->c[k]->index; }

/* A heap sort that begins with pollorder, so that cases on one channel come permuted. */
static void select_lockorder(struct selector *s)
{
    uint16_t *o = s->lockorder;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t j = i;
        int32_t key = sortkey(s, s->pollorder[i]);
        for (; j > 0 && sortkey(s, o[(j - 1) / 2]) < key; j = (j - 1) / 2)
            o[j] = o[(j - 1) / 2];
        o[j] = s->pollorder[i];
    }
    for (uint32_t i = s->n; i-- > 0;) {
        uint16_t last = o[i];
        int32_t key = sortkey(s, last);
        o[i] = o[0];
        uint32_t j = 0;
        for (uint32_t k = 1; k < i; k = j * 2 + 1) {
            if (k + 1 < i && sortkey(s, o[k]) < sortkey(s, o[k + 1]))
                k++;
            if (key >= sortkey(s, o[k]))
                break;
            o[j] = o[k];
            j = k;
        }
        o[j] = last;
    }
}

static void sellock(const struct selector *s)
{
    struct hchan *last = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        struct hchan *c = s->c[s->lockorder[i]];
        if (c != last)
            lock(&c->lock);
        last = c;
    }
}

/* In reverse; a channel's lock is dropped at its first case, as it was taken. */
static void selunlock(const struct selector *s)
{
    for (uint32_t i = s->n; i-- > 0;) {
        struct hchan *c = s->c[s->lockorder[i]];
        if (i == 0 || s->c[s->lockorder[i - 1]] != c)
            unlock(&c->lock);
    }
}

/* select.go selparkcommit: each lock is read off before the drop, because the G may be running
 * after the last one. */
static bool selparkcommit(struct g *gp, void *unused)
{
    (void)unused;
    struct hchan *last = NULL;
    for (struct sudog *s = gp->waiting; s != NULL; s = s->waitlink) {
        if (s->c != last && last != NULL)
            unlock(&last->lock);
        last = s->c;
    }
    if (last != NULL)
        unlock(&last->lock);
    return true;
}

/* The channels of gp->waiting, in lock order. */
static void waiting_lock(struct g *gp)
{
    struct hchan *last = NULL;
    for (struct sudog *s = gp->waiting; s != NULL; s = s->waitlink) {
        if (s->c != last)
            lock(&((struct hchan *)s->c)->lock);
        last = s->c;
    }
}

/* Pass 1, one case. All channels are locked; when the case can go all are unlocked, a peer is
 * woken, and *res is set. */
static bool select_try_recv(struct g *gp, struct selector *s, uint32_t k, enum opres *res)
{
    struct hchan *c = s->c[k];
    uint8_t reg = s->cases[k].reg;
    struct sudog *peer = waitq_dequeue(&c->sendq);
    bool ok = true;
    int64_t v = 0;
    if (peer != NULL)
        v = recv_direct(c, peer);
    else if (a_own(&c->qcount) > 0)
        v = buf_get(c);
    else if (a_own(&c->closed) != 0)
        ok = false;
    else
        return false;
    if (!ok)
        raceacquire(&c->closed);
    selunlock(s);
    if (peer != NULL)
        wake_peer(peer);
    set_reg(gp, reg, v);
    *res = select_result(gp, k, ok);
    return true;
}

static bool select_try_send(struct g *gp, struct selector *s, uint32_t k, enum opres *res)
{
    struct hchan *c = s->c[k];
    int64_t v = regs(gp)[s->cases[k].reg];
    if (a_own(&c->closed) != 0) {
        selunlock(s);
        *res = gopanic_text(gp, PANIC_send_closed);
        return true;
    }
    struct sudog *peer = waitq_dequeue(&c->recvq);
    if (peer != NULL)
        send_direct(peer, v);
    else if (buf_room(c))
        buf_put(c, v);
    else
        return false;
    selunlock(s);
    if (peer != NULL)
        wake_peer(peer);
    *res = select_result(gp, k, false);
    return true;
}

/* Pass 2: nothing can go. The G enters every channel's queue and parks. */
static enum opres select_park(struct g *gp, struct selector *s)
{
    if (gp->waiting != NULL)
        throw("select: gp->waiting != nil");
    struct sudog **next = &gp->waiting;
    for (uint32_t i = 0; i < s->n; i++) {
        uint16_t k = s->lockorder[i];
        struct hchan *c = s->c[k];
        struct sudog *sg = acquireSudog();
        sg->g = gp;
        sg->isSelect = true;
        sg->index = k;
        sg->c = c;
        sg->val = s->cases[k].send ? regs(gp)[s->cases[k].reg] : 0;
        sg->waitlink = NULL;
        *next = sg;
        next = &sg->waitlink;
        waitq_enqueue(s->cases[k].send ? &c->sendq : &c->recvq, sg);
        if (c->timer != NULL)
            blockTimerChan(c);
    }
    gp->param = NULL;
    push_step(gp, STEP_selectgo);
    return gopark(gp, selparkcommit, NULL, waitReasonSelect);
}

static enum opres select_run(struct g *gp, struct selector *s, bool block)
{
    select_pollorder(gp, s);
    select_lockorder(s);
    work_n(select_case, s->ncases);
    sellock(s);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t k = s->pollorder[i];
        enum opres res = OP_DONE;
        if (s->cases[k].send ? select_try_send(gp, s, k, &res) : select_try_recv(gp, s, k, &res))
            return res;
    }
    if (!block) {
        selunlock(s);
        return select_result(gp, -1, false);
    }
    return select_park(gp, s);
}

/* Room for the arrays: on this stack while they are small. */
static enum opres selectgo(struct g *gp, const struct select_table *t)
{
    struct selector s = {.cases = &rt->prog->cases[t->first], .ncases = t->ncases};
    if (t->ncases <= SELECT_INLINE) {
        struct hchan *c[SELECT_INLINE];
        uint16_t order[2 * SELECT_INLINE];
        s.c = c;
        s.pollorder = order;
        s.lockorder = order + SELECT_INLINE;
        return select_run(gp, &s, !t->has_default);
    }
    uint32_t order = stack_order((uint32_t)t->ncases + t->ncases / 2u + 1);
    s.c = stackpool_get(order);
    s.pollorder = (uint16_t *)(s.c + t->ncases);
    s.lockorder = s.pollorder + t->ncases;
    enum opres res = select_run(gp, &s, !t->has_default);
    stackpool_put(s.c, order);
    return res;
}

/* What the compiler makes of a select with one case and default. */
static enum opres select_one_nb(struct g *gp, const struct select_case *k)
{
    struct hchan *c = case_chan(gp, k);
    bool flag;
    if (k->send) {
        bool sent = chansend_nb(c, regs(gp)[k->reg], &flag);
        return flag ? gopanic_text(gp, PANIC_send_closed) : select_result(gp, sent ? 0 : -1, false);
    }
    int64_t v;
    bool selected = chanrecv_nb(c, &v, &flag);
    if (selected)
        set_reg(gp, k->reg, v);
    return select_result(gp, selected ? 0 : -1, flag);
}

static enum opres op_select(struct g *gp, const struct insn *in)
{
    const struct select_table *t = &rt->prog->selects[in->d];
    if (t->ncases == 0)
        return t->has_default ? select_result(gp, -1, false)
                              : gopark(gp, NULL, NULL, waitReasonSelectNoCases);
    if (t->ncases == 1 && t->has_default)
        return select_one_nb(gp, &rt->prog->cases[t->first]);
    if (t->ncases > 1)
        return selectgo(gp, t);
    const struct select_case *k = &rt->prog->cases[t->first];
    struct hchan *c = case_chan(gp, k);
    if (!k->send)
        return chanrecv(gp, c, in);
    int64_t v = regs(gp)[k->reg];
    (void)select_result(gp, 0, false);
    return chansend(gp, c, v);
}

/* Pass 3: off the other queues; somebody else may have skipped our sudogs there meanwhile. They are
 * given back under the locks, so the channels must remember each other until they are unlocked, the
 * last one first. */
static enum opres step_selectgo(struct g *gp)
{
    waiting_lock(gp);
    a_store(&gp->selectDone, 0);
    struct sudog *woken = gp->param, *list = gp->waiting;
    gp->param = NULL;
    gp->waiting = NULL;
    const struct select_case *cases = &rt->prog->cases[rt->prog->selects[cur_insn(gp)->d].first];
    struct hchan *locked = NULL;
    int32_t chosen = -1;
    bool success = false;
    for (struct sudog *s = list, *next; s != NULL; s = next) {
        struct hchan *c = s->c;
        next = s->waitlink;
        if (c != locked) {
            c->locked_before = locked;
            locked = c;
        }
        if (c->timer != NULL)
            unblockTimerChan(c);
        if (s == woken) {
            chosen = s->index;
            success = s->success;
            if (!cases[chosen].send)
                set_reg(gp, cases[chosen].reg, s->val);
        } else {
            waitq_remove(cases[s->index].send ? &c->sendq : &c->recvq, s);
        }
        releaseSudog(s);
    }
    if (chosen < 0)
        throw("selectgo: bad wakeup");
    for (struct hchan *before; locked != NULL; locked = before) {
        before = locked->locked_before;
        unlock(&locked->lock);
    }
    if (cases[chosen].send && !success)
        return gopanic_text(gp, PANIC_send_closed);
    return select_result(gp, chosen, !cases[chosen].send && success);
}
