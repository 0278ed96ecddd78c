/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deep recording says, one log event per operation: which object, and what was done to it
 * (rec_op.def). Its events come from overlays of package sync, of package time and of the runtime's
 * channels (cli/overlay.c), which know nothing of each other: a lock within an RWMutex, a Cond or a
 * Once speaks, too. What it says is left out here, for the model's own objects have such locks. */
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/record_int.h"

/* Whose inner lock the next operations of a goroutine may be about. */
enum rr_within { IN_NOTHING, IN_WLOCK, IN_WUNLOCK, IN_COND, IN_COND_WOKEN };

enum { ONCE_SIZE = 16 };

static const char texts[ROP_COUNT] = {
#define REC_OP(name, text, what) [ROP_##name] = text[0],
#include "replay/rec_op.def"
#undef REC_OP
};

static const uint8_t kinds[ROP_COUNT] = {
    [ROP_lock] = OBJ_MUTEX,       [ROP_lockslow] = OBJ_MUTEX,   [ROP_locked] = OBJ_MUTEX,
    [ROP_unlock] = OBJ_MUTEX,     [ROP_trylock] = OBJ_MUTEX,    [ROP_rlock] = OBJ_RWMUTEX,
    [ROP_runlock] = OBJ_RWMUTEX,  [ROP_wlock] = OBJ_RWMUTEX,    [ROP_wunlock] = OBJ_RWMUTEX,
    [ROP_trywlock] = OBJ_RWMUTEX, [ROP_tryrlock] = OBJ_RWMUTEX, [ROP_wgadd] = OBJ_WAITGROUP,
    [ROP_wgwait] = OBJ_WAITGROUP, [ROP_makechan] = OBJ_CHAN,    [ROP_send] = OBJ_CHAN,
    [ROP_recv] = OBJ_CHAN,        [ROP_trysend] = OBJ_CHAN,     [ROP_tryrecv] = OBJ_CHAN,
    [ROP_close] = OBJ_CHAN,       [ROP_selsend] = OBJ_CHAN,     [ROP_selrecv] = OBJ_CHAN,
    [ROP_condnew] = OBJ_COND,     [ROP_condwait] = OBJ_COND,    [ROP_signal] = OBJ_COND,
    [ROP_broadcast] = OBJ_COND,   [ROP_timer] = OBJ_CHAN,       [ROP_ticker] = OBJ_CHAN,
    [ROP_tstop] = OBJ_CHAN,       [ROP_treset] = OBJ_CHAN,      [ROP_once] = OBJ_ONCE,
    [ROP_oncebody] = OBJ_ONCE,    [ROP_oncedone] = OBJ_ONCE,
};

static enum rec_op op_of(char c)
{
    for (int op = 0; op < ROP_COUNT; op++)
        if (texts[op] == c)
            return (enum rec_op)op;
    return ROP_COUNT;
}

/* The object at that address: a new one when a channel is made there, or when what lay there was
 * something else. */
static uint32_t object_of(struct rr *b, enum rec_op op, uint64_t address, uint64_t number)
{
    struct recording *r = b->r;
    if (kinds[op] == 0 || address == 0)
        return REC_NONE;
    struct map_slot *s = map_put(&b->objects, address, 0);
    bool again = s->a != 0 && r->objects[s->a - 1].kind == kinds[op] && op != ROP_makechan;
    if (!again) {
        s->a = rec_add_object(r, kinds[op], 0, 3, "") + 1;
        r->objects[s->a - 1].address = address;
    }
    if (op == ROP_makechan)
        r->objects[s->a - 1].param = number <= INT32_MAX ? (int64_t)number : INT32_MAX;
    return s->a - 1;
}

static bool is_once_lock(struct rr *b, uint64_t address)
{
    for (uint64_t at = address - 4; at <= address && address - at <= ONCE_SIZE; at -= 4) {
        struct map_slot *s = map_find(&b->objects, at, 0);
        if (s != NULL && s->a != 0 && b->r->objects[s->a - 1].kind == OBJ_ONCE)
            return true;
    }
    return false;
}

/* The lock inside of something that has spoken for itself. */
static bool is_inner(struct rr *b, struct rr_g *x, enum rec_op op, uint64_t address)
{
    bool lock = op == ROP_lock || op == ROP_lockslow || op == ROP_locked, unlock = op == ROP_unlock;
    if (!lock && !unlock)
        return false;
    switch ((enum rr_within)x->within) {
    case IN_WLOCK: return lock && address == x->within_at;
    case IN_WUNLOCK: return unlock && address == x->within_at;
    case IN_COND:
        if (!unlock || address != x->within_at)
            return false;
        x->within = IN_COND_WOKEN;
        return true;
    case IN_COND_WOKEN: return lock && address == x->within_at;
    default: return is_once_lock(b, address);
    }
}

static void set_within(struct rr_g *x, enum rec_op op, uint64_t address, uint64_t number)
{
    switch (op) {
    case ROP_wlock:
    case ROP_trywlock: x->within = IN_WLOCK; break;
    case ROP_wunlock: x->within = IN_WUNLOCK; break;
    case ROP_condnew: x->within_at = number; return;
    case ROP_condwait: x->within = IN_COND; return;
    default: x->within = IN_NOTHING; return;
    }
    x->within_at = address;
}

static bool may_wait(enum rec_op op)
{
    switch (op) {
    case ROP_lock:
    case ROP_rlock:
    case ROP_wlock:
    case ROP_wgwait:
    case ROP_send:
    case ROP_recv:
    case ROP_select:
    case ROP_condwait:
    case ROP_sleep:
    case ROP_once: return true;
    default: return false;
    }
}

/* Digits behind the letter; a value that is no number is 0. */
static uint64_t number_in(const char *text) { return strtoull(text, NULL, 10); }

void rr_op(struct rr *b, uint32_t g, uint64_t address, const char *text, uint32_t site)
{
    struct rr_g *x = &b->gs[g];
    enum rec_op op = op_of(text[0]);
    if (op == ROP_COUNT)
        return;
    uint64_t number = text[0] != 0 ? number_in(text + 1) : 0;
    if (is_inner(b, x, op, address))
        return;
    uint32_t object = object_of(b, op, address, number);
    set_within(x, op, address, number);
    if (op == ROP_condnew) {
        struct map_slot *m = map_find(&b->objects, number, 0);
        b->r->objects[object].param = m != NULL && m->a != 0 ? (int64_t)m->a - 1 : -1;
        return;
    }
    if (op != ROP_lockslow && op != ROP_locked && op != ROP_selsend && op != ROP_selrecv &&
        op != ROP_seldefault) {
        x->op = may_wait(op) ? (uint8_t)op : (uint8_t)ROP_COUNT;
        x->op_object = object;
    }
    b->r->deep = true;
    uint64_t with = object == REC_NONE ? 0 : (uint64_t)object + 1;
    rr_did_op(b, g, (uint64_t)op | number << 8, with, site);
}

/* Does a wait at such a place belong to that operation? */
static bool fits(enum rec_op op, enum rec_leaf leaf)
{
    switch (op) {
    case ROP_lock: return leaf == LEAF_MUTEX;
    case ROP_rlock: return leaf == LEAF_RLOCK;
    case ROP_wlock: return leaf == LEAF_RWLOCK;
    case ROP_wgwait: return leaf == LEAF_WAITGROUP;
    case ROP_send: return leaf == LEAF_CHANSEND;
    case ROP_recv: return leaf == LEAF_CHANRECV;
    case ROP_select: return leaf == LEAF_SELECT;
    case ROP_condwait: return leaf == LEAF_COND || leaf == LEAF_MUTEX;
    case ROP_sleep: return leaf == LEAF_SLEEP;
    case ROP_once: return leaf == LEAF_MUTEX;
    default: return false;
    }
}

void rr_wait_begins(struct rr *b, uint32_t g, uint32_t wait)
{
    struct rr_g *x = &b->gs[g];
    struct rec_wait *w = &b->r->waits[wait];
    if (!b->r->deep || x->op == ROP_COUNT || !fits((enum rec_op)x->op, b->r->sites[w->site].leaf))
        return;
    w->level = 3;
    w->how = HOW_OBJECT;
    w->object = x->op_object;
}

void rr_ops_release(struct rr *b) { map_release(&b->objects); }
