/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deep recording says, one log event per deed: which object, and what was done to it
 * (rec_deed.def). Its events come from overlays of package sync, of package time and of the
 * runtime's channels (cli/overlay.c), which know nothing of each other: a lock within an RWMutex, a
 * Cond or a Once speaks, too. What it says is left out here, for the model's own objects have such
 * locks. */
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/record_int.h"
#include "sim/base/alloc.h"

/* Whose inner lock the next deeds of a goroutine may be about. */
enum rr_within { IN_NOTHING, IN_WLOCK, IN_WUNLOCK, IN_COND, IN_COND_WOKEN };

enum { ONCE_LOCK = 4 /* where a Once has its own, in every release */, ADDRESS_BITS = 48 };

static const char texts[DEED_COUNT] = {
#define REC_DEED(name, text, what) [DEED_##name] = text[0],
#include "replay/rec_deed.def"
#undef REC_DEED
};

static const uint8_t kinds[DEED_COUNT] = {
    [DEED_lock] = OBJ_MUTEX,       [DEED_lockslow] = OBJ_MUTEX,   [DEED_locked] = OBJ_MUTEX,
    [DEED_unlock] = OBJ_MUTEX,     [DEED_trylock] = OBJ_MUTEX,    [DEED_rlock] = OBJ_RWMUTEX,
    [DEED_runlock] = OBJ_RWMUTEX,  [DEED_wlock] = OBJ_RWMUTEX,    [DEED_wunlock] = OBJ_RWMUTEX,
    [DEED_trywlock] = OBJ_RWMUTEX, [DEED_tryrlock] = OBJ_RWMUTEX, [DEED_wgadd] = OBJ_WAITGROUP,
    [DEED_wgwait] = OBJ_WAITGROUP, [DEED_makechan] = OBJ_CHAN,    [DEED_send] = OBJ_CHAN,
    [DEED_recv] = OBJ_CHAN,        [DEED_trysend] = OBJ_CHAN,     [DEED_tryrecv] = OBJ_CHAN,
    [DEED_close] = OBJ_CHAN,       [DEED_selsend] = OBJ_CHAN,     [DEED_selrecv] = OBJ_CHAN,
    [DEED_condnew] = OBJ_COND,     [DEED_condmutex] = OBJ_MUTEX,  [DEED_condwait] = OBJ_COND,
    [DEED_signal] = OBJ_COND,      [DEED_broadcast] = OBJ_COND,   [DEED_timer] = OBJ_CHAN,
    [DEED_ticker] = OBJ_CHAN,      [DEED_tstop] = OBJ_CHAN,       [DEED_treset] = OBJ_CHAN,
    [DEED_once] = OBJ_ONCE,        [DEED_oncebody] = OBJ_ONCE,    [DEED_oncedone] = OBJ_ONCE,
    [DEED_fdread] = OBJ_FD,        [DEED_fdgot] = OBJ_FD,         [DEED_fdwrite] = OBJ_FD,
};

static enum rec_deed deed_of(char c)
{
    for (int deed = 0; deed < DEED_COUNT; deed++)
        if (texts[deed] == c)
            return (enum rec_deed)deed;
    return DEED_COUNT;
}

static bool says_capacity(enum rec_deed deed)
{
    return deed == DEED_makechan || deed == DEED_send || deed == DEED_recv ||
           deed == DEED_trysend || deed == DEED_tryrecv || deed == DEED_selsend ||
           deed == DEED_selrecv;
}

/* The object at that address: a new one when a channel is made there, or when what lay there was
 * something else. */
static uint32_t object_of(struct rr *b, enum rec_deed deed, uint64_t address, uint64_t number)
{
    struct recording *r = b->r;
    if (kinds[deed] == 0 || address == 0)
        return REC_NONE;
    struct map_slot *s = map_put(&b->objects, address, 0);
    bool again = s->a != 0 && r->objects[s->a - 1].kind == kinds[deed] && deed != DEED_makechan;
    if (!again) {
        s->a = rec_add_object(r, kinds[deed], kinds[deed] == OBJ_COND ? -1 : 0, 3, "") + 1;
        r->objects[s->a - 1].address = address;
    }
    if (kinds[deed] == OBJ_CHAN && says_capacity(deed))
        r->objects[s->a - 1].param = number <= INT32_MAX ? (int64_t)number : INT32_MAX;
    return s->a - 1;
}

static bool is_once_lock(struct rr *b, uint64_t address)
{
    struct map_slot *s = map_find(&b->objects, address - ONCE_LOCK, 0);
    return s != NULL && s->a != 0 && b->r->objects[s->a - 1].kind == OBJ_ONCE;
}

/* The lock inside of something that has spoken for itself. */
static bool is_inner(struct rr *b, struct rr_g *x, enum rec_deed deed, uint64_t address)
{
    bool lock = deed == DEED_lock || deed == DEED_lockslow || deed == DEED_locked,
         unlock = deed == DEED_unlock;
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

static void set_within(struct rr_g *x, enum rec_deed deed, uint64_t address)
{
    switch (deed) {
    case DEED_wlock:
    case DEED_trywlock: x->within = IN_WLOCK; break;
    case DEED_wunlock: x->within = IN_WUNLOCK; break;
    case DEED_condnew: return;
    case DEED_condwait: x->within = IN_COND; return;
    default: x->within = IN_NOTHING; return;
    }
    x->within_at = address;
}

static bool may_wait(enum rec_deed deed)
{
    switch (deed) {
    case DEED_lock:
    case DEED_rlock:
    case DEED_wlock:
    case DEED_wgwait:
    case DEED_send:
    case DEED_recv:
    case DEED_select:
    case DEED_condwait:
    case DEED_sleep:
    case DEED_fdread:
    case DEED_once: return true;
    default: return false;
    }
}

static bool may_be_below_0(enum rec_deed deed)
{
    return deed == DEED_wgadd || deed == DEED_selected;
}

static bool has_address(enum rec_deed deed) { return kinds[deed] != 0 || deed == DEED_afterfunc; }

/* Digits behind the letter; a value that is no number is 0. Without them it is in the task, which
 * is then what is left. Of Add the number may be below 0. */
static uint64_t number_of(enum rec_deed deed, const char *digits, uint64_t *address)
{
    bool sign = may_be_below_0(deed);
    int64_t n;
    if (digits[0] != 0) {
        n = sign ? strtoll(digits, NULL, 10) : (int64_t)strtoull(digits, NULL, 10);
    } else if (has_address(deed)) {
        n = sign ? (int16_t)(*address >> ADDRESS_BITS) : (int64_t)(*address >> ADDRESS_BITS);
        *address &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    } else {
        n = (int64_t)*address;
        *address = 0;
    }
    return (uint64_t)n + (sign ? UINT64_C(1) << 32 : 0);
}

static void count(struct rec_object *o, int which, int32_t by)
{
    o->sum[which] += by;
    if (o->sum[which] < o->low[which])
        o->low[which] = o->sum[which];
}

static void sent(struct rec_object *o)
{
    o->sent = true;
    count(o, 0, 1);
}

/* A receive has its item when the goroutine does something else. */
static void received(struct rr *b, struct rr_g *x)
{
    struct rec_object *o = x->receives != 0 ? &b->r->objects[x->receives - 1] : NULL;
    if (o != NULL && !(o->closed && o->sum[0] <= 0) && !o->timer)
        count(o, 0, -1);
    x->receives = 0;
}

/* What the objects hold, in the recorded order. */
static void account(struct rr *b, struct rr_g *x, enum rec_deed deed, uint32_t object,
                    uint64_t number)
{
    struct rec_object *o = object != REC_NONE ? &b->r->objects[object] : NULL;
    switch (deed) {
    case DEED_lock:
    case DEED_trylock:
    case DEED_wlock:
    case DEED_trywlock: count(o, 0, 1); break;
    case DEED_unlock:
    case DEED_wunlock: count(o, 0, -1); break;
    case DEED_rlock:
    case DEED_tryrlock: count(o, 1, 1); break;
    case DEED_runlock: count(o, 1, -1); break;
    case DEED_wgadd: count(o, 0, (int32_t)((int64_t)number - (INT64_C(1) << 32))); break;
    case DEED_send:
    case DEED_trysend:
        if (o != NULL)
            sent(o);
        break;
    case DEED_recv:
    case DEED_tryrecv: x->receives = object != REC_NONE ? object + 1 : 0; break;
    case DEED_oncebody: o->first = (uint32_t)(x - b->gs); break;
    case DEED_close:
        if (o != NULL)
            o->closed = true;
        break;
    case DEED_timer:
    case DEED_ticker: o->timer = true; break;
    default: break;
    }
}

static void select_took(struct rr *b, struct rr_g *x, uint32_t taken)
{
    for (int i = 0; i < x->ncases; i++)
        if ((x->cases[i] & 1) != 0 && x->cases[i] != taken)
            b->r->objects[(x->cases[i] >> 1) - 1].passed++;
    if (x->select_wait != 0)
        b->r->waits[x->select_wait - 1].object = (taken >> 1) - 1;
    if ((taken & 1) != 0)
        sent(&b->r->objects[(taken >> 1) - 1]);
    else
        x->receives = taken >> 1;
}

/* The cases of the select that it is in; the chosen one is accounted for as what it is. */
static void select_case(struct rr *b, struct rr_g *x, enum rec_deed deed, uint32_t object,
                        uint64_t number)
{
    int64_t chosen = (int64_t)number - (INT64_C(1) << 32);
    if (deed == DEED_select)
        x->select_wait = x->ncases = 0;
    else if ((deed == DEED_selsend || deed == DEED_selrecv) && x->ncases < RR_CASES)
        x->cases[x->ncases++] = object != REC_NONE ? (object + 1) << 1 | (deed == DEED_selsend) : 0;
    else if (deed == DEED_selected && chosen >= 0 && chosen < x->ncases && x->cases[chosen] != 0)
        select_took(b, x, x->cases[chosen]);
}

/* When the item changed hands: of one that waited, when it was woken; a select knows only when it
 * runs again. */
static int64_t item_time(const struct rr *b, const struct rr_g *x, enum rec_deed deed)
{
    const struct rec_wait *w = deed == DEED_selected && x->select_wait != 0
                                   ? &b->r->waits[x->select_wait - 1]
                                   : NULL;
    return w != NULL && w->woken != INT64_MAX ? w->woken : b->now;
}

/* Keeps the item that a send or receive is about, before the deed goes to the tape. */
static void item(struct rr *b, uint32_t g, enum rec_deed deed, uint32_t object, bool sends)
{
    struct recording *r = b->r;
    if (!b->open || object == REC_NONE)
        return;
    X_ROOM(r->items, r->nitems, r->items_room, 64);
    r->items[r->nitems++] = (struct rec_item){.object = object,
                                              .g = g,
                                              .deed = r->gs[g].deeds,
                                              .other = REC_NONE,
                                              .at = item_time(b, &b->gs[g], deed),
                                              .sends = sends};
    b->gs[g].item = r->nitems;
}

/* The channels that the select of the item that g has just received could have received from. */
static void could_receive(struct rr *b, uint32_t g)
{
    struct recording *r = b->r;
    const struct rr_g *x = &b->gs[g];
    if (x->item == 0 || r->items[x->item - 1].sends)
        return;
    struct rec_item *it = &r->items[x->item - 1];
    it->cases = r->ncases;
    for (int i = 0; i < x->ncases; i++)
        if (x->cases[i] != 0 && (x->cases[i] & 1) == 0) {
            X_ROOM(r->cases, r->ncases, r->cases_room, 64);
            r->cases[r->ncases++] = (x->cases[i] >> 1) - 1;
            it->ncases++;
        }
}

static void items(struct rr *b, uint32_t g, enum rec_deed deed, uint32_t object, uint64_t number)
{
    struct rr_g *x = &b->gs[g];
    int64_t chosen = (int64_t)number - (INT64_C(1) << 32);
    x->item = 0;
    if (deed == DEED_send || deed == DEED_trysend)
        item(b, g, deed, object, true);
    else if (deed == DEED_recv || deed == DEED_tryrecv)
        item(b, g, deed, object, false);
    else if (deed == DEED_selected && chosen >= 0 && chosen < x->ncases && x->cases[chosen] != 0) {
        item(b, g, deed, (x->cases[chosen] >> 1) - 1, (x->cases[chosen] & 1) != 0);
        could_receive(b, g);
        x->item = 0; /* what it waits for next is something else */
    }
}

static void io(struct rr *b, uint32_t g, enum rec_deed deed, uint32_t object, uint64_t bytes)
{
    struct recording *r = b->r;
    struct rr_g *x = &b->gs[g];
    if (deed == DEED_fdread) {
        x->io_wait = REC_NONE;
        x->io_deed = b->open ? r->gs[g].deeds : REC_NONE;
    }
    if (!b->open || (deed != DEED_fdgot && deed != DEED_fdwrite))
        return;
    bool writes = deed == DEED_fdwrite;
    X_ROOM(r->ios, r->nios, r->ios_room, 64);
    r->ios[r->nios++] = (struct rec_io){.object = object,
                                        .g = g,
                                        .deed = writes ? r->gs[g].deeds : x->io_deed,
                                        .wait = writes ? REC_NONE : x->io_wait,
                                        .next = REC_NONE,
                                        .writes = writes,
                                        .bytes = bytes};
}

static void after_func(struct rr *b, uint32_t g, uint64_t address, uint64_t ns)
{
    struct recording *r = b->r;
    X_ROOM(r->afters, r->nafters, r->afters_room, 64);
    map_put(&b->afters, address, 0)->a = r->nafters + 1;
    r->afters[r->nafters++] = (struct rec_after){.g = g,
                                                 .child = REC_NONE,
                                                 .near = b->gs[g].last_object,
                                                 .at = b->now,
                                                 .ns = (int64_t)ns,
                                                 .stopped = INT64_MAX};
}

/* Stop of a timer without a channel: it makes no goroutine any more. */
static bool is_after(struct rr *b, enum rec_deed deed, uint64_t address)
{
    struct map_slot *s = deed == DEED_tstop || deed == DEED_treset
                             ? map_find(&b->afters, address, 0)
                             : NULL;
    if (s == NULL || s->a == 0)
        return false;
    b->r->afters[s->a - 1].stopped = b->now;
    return true;
}

/* A send to or receive from a nil channel waits for ever; every other deed that has an object is
 * nothing without one. */
static bool needs_object(enum rec_deed deed)
{
    return kinds[deed] != 0 && deed != DEED_send && deed != DEED_recv && deed != DEED_selsend &&
           deed != DEED_selrecv;
}

/* The mutex that waits on this Cond give back and take again. */
static void cond_has(struct rr *b, struct rr_g *x, uint32_t cond, uint64_t mutex)
{
    struct map_slot *m = map_find(&b->objects, mutex, 0);
    b->r->objects[cond].param = m != NULL && m->a != 0 ? (int64_t)m->a - 1 : -1;
    x->within_at = mutex;
}

void rr_op(struct rr *b, uint32_t g, uint64_t address, const char *text, uint32_t site)
{
    struct rr_g *x = &b->gs[g];
    enum rec_deed deed = deed_of(text[0]);
    if (deed == DEED_COUNT || text[0] == 0)
        return;
    uint64_t number = number_of(deed, text + 1, &address);
    if (deed == DEED_condmutex) {
        x->cond_mutex = address;
        return;
    }
    if (is_inner(b, x, deed, address) || is_after(b, deed, address))
        return;
    uint32_t object = object_of(b, deed, address, number);
    if (object == REC_NONE && needs_object(deed))
        return;
    set_within(x, deed, address);
    if (deed == DEED_condnew || (deed == DEED_condwait && x->cond_mutex != 0)) {
        cond_has(b, x, object, deed == DEED_condnew ? number : x->cond_mutex);
        x->cond_mutex = 0;
    }
    if (deed == DEED_condnew)
        return;
    if (deed != DEED_lockslow && deed != DEED_locked && deed != DEED_selsend &&
        deed != DEED_selrecv && deed != DEED_seldefault) {
        x->deed = may_wait(deed) ? (uint8_t)deed : (uint8_t)DEED_COUNT;
        x->deed_object = object;
    }
    b->r->deep++;
    b->r->asked += deed == DEED_procs && !b->closed;
    received(b, x);
    if (object != REC_NONE || kinds[deed] == 0)
        account(b, x, deed, object, number);
    select_case(b, x, deed, object, number);
    items(b, g, deed, object, number);
    io(b, g, deed, object, number);
    if (rec_is_bare(deed))
        site = x->deed_site > 0 ? x->deed_site - 1 : site;
    uint64_t with = object == REC_NONE ? 0 : (uint64_t)object + 1;
    if (deed == DEED_afterfunc) {
        if (!b->open)
            return;
        with = b->r->nafters;
        after_func(b, g, address, number);
    }
    if (object != REC_NONE)
        x->last_object = object;
    rr_deed(b, g, (uint64_t)deed | number << 8, with, site);
}

/* Does a wait at such a place belong to that deed? */
static bool fits(enum rec_deed deed, enum rec_leaf leaf)
{
    switch (deed) {
    case DEED_lock: return leaf == LEAF_MUTEX;
    case DEED_rlock: return leaf == LEAF_RLOCK;
    case DEED_wlock: return leaf == LEAF_RWLOCK;
    case DEED_wgwait: return leaf == LEAF_WAITGROUP;
    case DEED_send: return leaf == LEAF_CHANSEND;
    case DEED_recv: return leaf == LEAF_CHANRECV;
    case DEED_select: return leaf == LEAF_SELECT;
    case DEED_condwait: return leaf == LEAF_MUTEX; /* the wait for the lock, afterwards */
    case DEED_sleep: return leaf == LEAF_SLEEP;
    case DEED_once: return leaf == LEAF_MUTEX;
    default: return false;
    }
}

void rr_wait_begins(struct rr *b, uint32_t g, uint32_t wait)
{
    struct rr_g *x = &b->gs[g];
    struct rec_wait *w = &b->r->waits[wait];
    if (b->r->deep && x->deed == DEED_condwait && b->r->sites[w->site].leaf == LEAF_COND) {
        w->cond = true;
        w->object = x->deed_object;
        return;
    }
    if (x->deed == DEED_fdread && b->r->sites[w->site].leaf == LEAF_READ)
        x->io_wait = wait; /* what it waits for is known when it is over (infer_network.c) */
    if (!b->r->deep || x->deed == DEED_COUNT ||
        !fits((enum rec_deed)x->deed, b->r->sites[w->site].leaf))
        return;
    if (x->deed == DEED_select)
        x->select_wait = wait + 1;
    w->level = 3;
    w->how = HOW_OBJECT;
    w->object = x->deed_object;
}

void rr_wait_ends(struct rr *b, uint32_t g)
{
    struct rr_g *x = &b->gs[g];
    if (x->item != 0)
        b->r->items[x->item - 1].at = b->now;
    x->item = 0;
}

void rr_ops_release(struct rr *b)
{
    map_release(&b->objects);
    map_release(&b->afters);
}
