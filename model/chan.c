/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels (chan.go). A value travels in the sudog of whoever waits: a sender's is what it sends, a
 * receiver's what it got.
 *
 * At least one of sendq and recvq is empty, but for an unbuffered channel on which one G both sends
 * and receives in one select. qcount > 0: recvq is empty. qcount < dataqsiz: sendq is empty. The
 * lock is dropped before goready, always. */
#include "chan.h"
#include "gqueue.h"
#include "lock.h"
#include "lockrank.h"
#include "objs.h"
#include "panic.h"
#include "park.h"
#include "race.h"

static void chan_init(struct hchan *c, int64_t size)
{
    lockInit(&c->lock, lockRankHchan);
    c->dataqsiz = (uint32_t)size;
    if (size > 0)
        c->buf = host_alloc((size_t)size * sizeof(int64_t), 16);
}

/* chan.go makechan, for a size that was checked. */
static struct hchan *makechan(int64_t size)
{
    struct hchan *c = host_alloc(sizeof *c, 16);
    chan_init(c, size);
    return c;
}

/* time.newTimer: the channel knows its timer before anybody can use it. */
static void chan_set_timer(struct hchan *c, struct timer *t) { c->timer = t; }

/* ---- the queues, under the channel's lock ---- */

static inline void waitq_enqueue(struct waitq *q, struct sudog *s)
{
    s->next = NULL;
    struct sudog *x = q->last;
    s->prev = x;
    if (x == NULL)
        a_store_rlx(&q->first, s);
    else
        x->next = s;
    q->last = s;
}

/* chan.go dequeue. A select's sudog counts only if this waker is the first to claim its G. */
static inline struct sudog *waitq_dequeue(struct waitq *q)
{
    for (;;) {
        struct sudog *s = a_own(&q->first);
        if (s == NULL)
            return NULL;
        struct sudog *y = s->next;
        a_store_rlx(&q->first, y);
        if (y == NULL) {
            q->last = NULL;
        } else {
            y->prev = NULL;
            s->next = NULL; /* marks it as removed, see waitq_remove */
        }
        if (s->isSelect && !a_cas(&s->g->selectDone, 0, 1))
            continue;
        return s;
    }
}

/* select.go dequeueSudoG. The sudog may be gone already. */
static void waitq_remove(struct waitq *q, struct sudog *s)
{
    struct sudog *x = s->prev, *y = s->next;
    if (x != NULL) {
        x->next = y;
        if (y != NULL)
            y->prev = x;
        else
            q->last = x;
    } else if (y != NULL) {
        y->prev = NULL;
        a_store_rlx(&q->first, y);
    } else if (a_own(&q->first) == s) { /* the only one; else off the queue already */
        a_store_rlx(&q->first, (struct sudog *)NULL);
        q->last = NULL;
    }
    s->next = s->prev = NULL;
}

static bool waitq_has(struct waitq *q, const struct sudog *s)
{
    return s->prev != NULL ? s->prev->next == s : a_peek(&q->first) == s;
}

/* Every case of a select, or the one operation, is on its channel's queue. */
static bool waits_on_channels(struct g *gp)
{
    for (struct sudog *s = gp->waiting; s != NULL; s = s->waitlink) {
        struct hchan *c = s->c;
        if (s->g != gp || !(waitq_has(&c->recvq, s) || waitq_has(&c->sendq, s)))
            return false;
    }
    return gp->waiting != NULL;
}

/* ---- the buffer, under the lock ---- */

static void buf_put(struct hchan *c, int64_t v)
{
    racenotify(c, c->sendx, NULL);
    c->buf[c->sendx] = v;
    if (++c->sendx == c->dataqsiz)
        c->sendx = 0;
    a_store_rlx(&c->qcount, a_own(&c->qcount) + 1);
}

static int64_t buf_get(struct hchan *c)
{
    racenotify(c, c->recvx, NULL);
    int64_t v = c->buf[c->recvx];
    c->buf[c->recvx] = 0;
    if (++c->recvx == c->dataqsiz)
        c->recvx = 0;
    a_store_rlx(&c->qcount, a_own(&c->qcount) - 1);
    return v;
}

static bool buf_room(struct hchan *c) { return a_own(&c->qcount) < c->dataqsiz; }

/* ---- handing over ---- */

/* Second half of chan.go send and recv: the peer is off its queue and the lock is free. */
static void wake_peer(struct sudog *s)
{
    struct g *gp = s->g;
    gp->param = s;
    s->success = true;
    goready(gp);
}

/* The receiver s gets v; the caller unlocks and wakes. */
static void send_direct(struct sudog *s, int64_t v)
{
    racesend(s->c, s);
    s->val = v;
}

/* What a receiver gets when sender s waits: its value, or the head of a full buffer, whose slot
 * then takes the sender's. */
static int64_t recv_direct(struct hchan *c, struct sudog *s)
{
    if (c->dataqsiz == 0) {
        racesync(c, s);
        return s->val;
    }
    racenotify(c, c->recvx, NULL);
    racenotify(c, c->recvx, s);
    int64_t v = c->buf[c->recvx];
    c->buf[c->recvx] = s->val;
    if (++c->recvx == c->dataqsiz)
        c->recvx = 0;
    c->sendx = c->recvx;
    return v;
}

/* ---- sending ---- */

static struct sudog *chan_sudog(struct g *gp, struct hchan *c, int64_t v)
{
    work(chan_wait);
    struct sudog *s = acquireSudog();
    s->val = v;
    s->waitlink = NULL;
    s->g = gp;
    s->isSelect = false;
    s->c = c;
    gp->waiting = s;
    gp->param = NULL;
    return s;
}

static bool chanparkcommit(struct g *gp, void *chanlock)
{
    (void)gp;
    unlock(chanlock);
    return true;
}

static enum opres chan_park(struct g *gp, struct hchan *c, enum step then, enum waitreason reason)
{
    push_step(gp, then);
    return gopark(gp, chanparkcommit, &c->lock, reason);
}

/* chan.go full, without the lock. */
static bool chan_full(struct hchan *c)
{
    return c->dataqsiz == 0 ? a_load_rlx(&c->recvq.first) == NULL
                            : a_load_rlx(&c->qcount) == c->dataqsiz;
}

/* The part of chansend that needs no parking, with the lock held; drops it when it is done. */
enum chan_try { CHAN_DONE, CHAN_CLOSED, CHAN_BLOCK };
static inline enum chan_try send_buffer(struct hchan *c, int64_t ep)
{
    if (!buf_room(c))
        return CHAN_BLOCK;
    buf_put(c, ep);
    unlock_inline(&c->lock);
    return CHAN_DONE;
}

/* Somebody is on recvq; of a select that another channel has woken, maybe. */
static OUTLINE enum chan_try send_waiting(struct hchan *c, int64_t ep)
{
    struct sudog *s = waitq_dequeue(&c->recvq);
    if (s == NULL)
        return send_buffer(c, ep);
    send_direct(s, ep);
    unlock(&c->lock);
    wake_peer(s);
    return CHAN_DONE;
}

static inline enum chan_try send_locked(struct hchan *c, int64_t ep)
{
    if (a_own(&c->closed) != 0) {
        unlock(&c->lock);
        return CHAN_CLOSED;
    }
    return a_own(&c->recvq.first) != NULL ? send_waiting(c, ep) : send_buffer(c, ep);
}

static OUTLINE enum opres send_block(struct g *gp, struct hchan *c, int64_t ep)
{
    struct sudog *s = chan_sudog(gp, c, ep);
    waitq_enqueue(&c->sendq, s);
    return chan_park(gp, c, STEP_chansend, waitReasonChanSend);
}

/* chan.go chansend, block = true. */
static inline enum opres chansend(struct g *gp, struct hchan *c, int64_t ep)
{
    if (c == NULL)
        return gopark(gp, NULL, NULL, waitReasonChanSendNilChan);
    work(chan_op);
    lock_inline(&c->lock);
    switch (send_locked(c, ep)) {
    case CHAN_DONE: return OP_DONE;
    case CHAN_CLOSED: return gopanic_text(gp, PANIC_send_closed);
    case CHAN_BLOCK: return send_block(gp, c, ep);
    }
    return OP_DONE;
}

static enum opres step_chansend(struct g *gp)
{
    struct sudog *s = gp->waiting;
    struct hchan *c = s->c;
    gp->waiting = NULL;
    gp->param = NULL;
    bool closed = !s->success;
    releaseSudog(s);
    if (!closed)
        return OP_DONE;
    if (a_load_rlx(&c->closed) == 0)
        throw("chansend: spurious wakeup");
    return gopanic_text(gp, PANIC_send_closed);
}

/* chan.go chansend, block = false. *closed: the channel is closed and the caller panics. */
static bool chansend_nb(struct hchan *c, int64_t ep, bool *closed)
{
    *closed = false;
    if (c == NULL)
        return false;
    if (a_load_rlx(&c->closed) == 0 && chan_full(c))
        return false;
    work(chan_op);
    lock(&c->lock);
    switch (send_locked(c, ep)) {
    case CHAN_DONE: return true;
    case CHAN_CLOSED: *closed = true; return false;
    case CHAN_BLOCK: unlock(&c->lock); return false;
    }
    return false;
}

/* For timers: their channels are never closed. */
static bool selectnbsend(struct hchan *c, int64_t ep)
{
    bool closed;
    return chansend_nb(c, ep, &closed);
}

/* ---- receiving ---- */

/* chan.go empty. */
static bool chan_empty(struct hchan *c)
{
    if (c->dataqsiz == 0)
        return a_load(&c->sendq.first) == NULL;
    if (c->timer != NULL)
        timer_maybeRunChan(c->timer, c);
    return a_load(&c->qcount) == 0;
}

static inline enum chan_try recv_buffer(struct hchan *c, int64_t *ep)
{
    if (a_own(&c->qcount) == 0)
        return CHAN_BLOCK;
    *ep = buf_get(c);
    unlock_inline(&c->lock);
    return CHAN_DONE;
}

/* Somebody is on sendq; of a select that another channel has woken, maybe. */
static OUTLINE enum chan_try recv_waiting(struct hchan *c, int64_t *ep)
{
    struct sudog *s = waitq_dequeue(&c->sendq);
    if (s == NULL)
        return recv_buffer(c, ep);
    *ep = recv_direct(c, s);
    unlock(&c->lock);
    wake_peer(s);
    return CHAN_DONE;
}

/* The part of chanrecv that needs no parking, with the lock held; drops it unless it returns
 * CHAN_BLOCK. *ep is 0 before, and stays so where nothing is received. */
static inline enum chan_try recv_locked(struct hchan *c, int64_t *ep)
{
    if (a_own(&c->closed) != 0) {
        if (a_own(&c->qcount) == 0) {
            raceacquire(&c->closed);
            unlock(&c->lock);
            return CHAN_CLOSED;
        }
    } else if (a_own(&c->sendq.first) != NULL) {
        return recv_waiting(c, ep);
    }
    return recv_buffer(c, ep);
}

/* The result of a RECV, or of a select with one case: the compiler makes a plain receive of it. */
static inline void recv_result(struct g *gp, const struct insn *in, int64_t v, bool ok)
{
    int64_t *R = regs(gp);
    if (in->op == OP_SELECT) {
        set_reg(gp, rt->prog->cases[rt->prog->selects[in->d].first].reg, v);
        v = 0;
    }
    if (in->a != NOREG)
        R[in->a] = v;
    if (in->b != NOREG)
        R[in->b] = ok;
}

static OUTLINE enum opres recv_block(struct g *gp, struct hchan *c)
{
    struct sudog *s = chan_sudog(gp, c, 0);
    waitq_enqueue(&c->recvq, s);
    if (c->timer != NULL)
        blockTimerChan(c);
    return chan_park(gp, c, STEP_chanrecv, waitReasonChanReceive);
}

/* chan.go chanrecv, block = true. The results go to the registers of the instruction; NULL: a
 * goroutine of the runtime, which wants none. */
static inline enum opres chanrecv(struct g *gp, struct hchan *c, const struct insn *in)
{
    if (c == NULL)
        return gopark(gp, NULL, NULL, waitReasonChanReceiveNilChan);
    work(chan_op);
    if (c->timer != NULL)
        timer_maybeRunChan(c->timer, c);
    lock_inline(&c->lock);
    int64_t v = 0;
    enum chan_try t = recv_locked(c, &v);
    if (t == CHAN_BLOCK)
        return recv_block(gp, c);
    if (in != NULL)
        recv_result(gp, in, v, t == CHAN_DONE);
    return OP_DONE;
}

static enum opres step_chanrecv(struct g *gp)
{
    struct sudog *s = gp->waiting;
    struct hchan *c = s->c;
    if (c->timer != NULL)
        unblockTimerChan(c);
    gp->waiting = NULL;
    gp->param = NULL;
    if (gp->func >= 0)
        recv_result(gp, cur_insn(gp), s->val, s->success);
    releaseSudog(s);
    return OP_DONE;
}

/* chan.go chanrecv, block = false. False: nothing to receive. *received false: closed. */
static bool chanrecv_nb(struct hchan *c, int64_t *ep, bool *received)
{
    *ep = 0;
    *received = false;
    if (c == NULL)
        return false;
    if (c->timer != NULL)
        timer_maybeRunChan(c->timer, c);
    if (chan_empty(c)) {
        if (a_load(&c->closed) == 0)
            return false;
        if (chan_empty(c)) { /* a value may have come between the two looks */
            raceacquire(&c->closed);
            return true;
        }
    }
    work(chan_op);
    lock(&c->lock);
    enum chan_try t = recv_locked(c, ep);
    if (t == CHAN_BLOCK)
        unlock(&c->lock);
    *received = t == CHAN_DONE;
    return t != CHAN_BLOCK;
}

/* ---- the rest ---- */

/* chan.go closechan, after its checks and with the lock held: collects all receivers, then all
 * senders, on a LIFO list. */
static void close_locked(struct hchan *c)
{
    racerelease(&c->closed);
    a_store_rlx(&c->closed, 1);
    struct gList list = {0};
    struct sudog *s;
    while ((s = waitq_dequeue(&c->recvq)) != NULL) {
        raceacquireg(s->g, &c->closed);
        s->val = 0;
        s->g->param = s;
        s->success = false;
        gList_push(&list, s->g);
    }
    while ((s = waitq_dequeue(&c->sendq)) != NULL) {
        raceacquireg(s->g, &c->closed);
        s->g->param = s;
        s->success = false;
        gList_push(&list, s->g);
    }
    unlock(&c->lock);
    struct g *gp;
    while ((gp = gList_pop(&list)) != NULL) {
        gp->schedlink = NULL;
        goready(gp);
    }
}

static void closechan_open(struct hchan *c)
{
    work(chan_op);
    lock(&c->lock);
    close_locked(c);
}

/* chan.go closechan. */
static enum opres closechan(struct g *gp, struct hchan *c)
{
    if (c == NULL)
        return gopanic_text(gp, PANIC_close_nil);
    work(chan_op);
    lock(&c->lock);
    if (a_own(&c->closed) != 0) {
        unlock(&c->lock);
        return gopanic_text(gp, PANIC_close_closed);
    }
    close_locked(c);
    return OP_DONE;
}

/* chan.go timerchandrain: Stop and Reset take a stale value back. */
static bool timerchandrain(struct hchan *c)
{
    if (a_load(&c->qcount) == 0)
        return false;
    lock(&c->lock);
    bool any = false;
    while (a_own(&c->qcount) > 0) {
        any = true;
        (void)buf_get(c);
    }
    unlock(&c->lock);
    return any;
}

/* chan.go chanlen, chancap. A synchronous timer channel looks unbuffered. */
static int64_t chanlen(struct hchan *c)
{
    return c == NULL || c->timer != NULL ? 0 : a_load_rlx(&c->qcount);
}

static int64_t chancap(struct hchan *c) { return c == NULL || c->timer != NULL ? 0 : c->dataqsiz; }
