/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deep recording says, as instructions. A deed that may wait is put down when the next
 * entry is known: of a wait that nobody of the program ended (a timer of before the window) it is
 * left out, and the wait is replayed at its time. A select is the case that it took, for what the
 * program did afterwards depends on it, unless that goes with the item (infer_items.c). What did
 * not wait (TryLock, a select with a default) and succeeded is the deed that waits: items and locks
 * are as many as were recorded. */
#include <string.h>

#include "replay/tape_int.h"

static void receive(struct tp *t, uint32_t object)
{
    if (t->pending_item == REC_NONE) {
        tape_emit(t, OP_RECV, NOREG, NOREG, 0, (int32_t)object, 0);
        return;
    }
    int32_t select = tape_item_select(t);
    if (select >= 0)
        tape_emit(t, OP_SELECT, NOREG, NOREG, 0, select, 0);
    else
        tape_emit(t, OP_RECV, TAPE_VALUE, NOREG, 0, (int32_t)object, 0);
    tape_emit(t, OP_TAPECALL, TAPE_VALUE, 0, 0, 0, 0);
    tape_item_begin(t);
}

static void send(struct tp *t, uint32_t object, int64_t value)
{
    tape_emit(t, OP_CONST, TAPE_VALUE, 0, 0, 0, value);
    tape_emit(t, OP_SEND, TAPE_VALUE, 0, 0, (int32_t)object, 0);
}

static void operate(struct tp *t, enum op op, uint32_t object)
{
    if (t->o->no_deep || t->r->objects[object].tokens)
        return;
    switch (op) {
    case OP_SEND: send(t, object, t->pending_value); break;
    case OP_RECV: receive(t, object); break;
    default: tape_emit_obj(t, op, object); break;
    }
}

void tape_pending(struct tp *t)
{
    if (t->pending)
        operate(t, t->pending_op, t->pending_object);
    t->pending = false;
}

/* The item of a deed is known. The running time before a receive still belongs to the item
 * before. */
static void about(struct tp *t)
{
    tape_burn(t);
    t->pending_item = REC_NONE;
    t->pending_value = tape_item_value(t);
    if (!tape_item_is_dealt(t))
        return;
    tape_item_end(t);
    t->pending_item = t->item;
}

/* A deed that may wait. */
static void later(struct tp *t, enum op op, uint32_t object)
{
    about(t);
    t->pending = true;
    t->pending_op = op;
    t->pending_object = object;
}

static void now(struct tp *t, enum op op, uint32_t object)
{
    about(t);
    operate(t, op, object);
}

static void wg_add(struct tp *t, uint32_t object, int64_t n)
{
    if (t->o->no_deep)
        return;
    tape_burn(t);
    if (n == -1)
        tape_emit_obj(t, OP_WGDONE, object);
    else
        tape_emit(t, OP_WGADD, NOREG, 0, 0, (int32_t)object, n);
}

static void timer(struct tp *t, enum op op, int kind, uint32_t object, uint64_t ns)
{
    tape_burn(t);
    tape_emit(t, op, kind, op == OP_CHSTOP ? 0 : NOREG, 0, (int32_t)object, (int64_t)ns);
}

static void select_begin(struct tp *t) { t->ncases = 0; }

static void select_case(struct tp *t, uint32_t object, bool sends)
{
    if (t->ncases < TAPE_CASES)
        t->cases[t->ncases] = (struct tape_case){object, sends};
    t->ncases++;
}

/* The wait of the select, if it waited, is over. */
static void select_end(struct tp *t, int64_t chosen)
{
    if (chosen < 0 || chosen >= t->ncases || chosen >= TAPE_CASES || t->outside)
        return;
    const struct tape_case *c = &t->cases[chosen];
    if (c->object != REC_NONE)
        now(t, c->sends ? OP_SEND : OP_RECV, c->object);
}

static void after_func(struct tp *t, const struct rec_after *a)
{
    if (a->child == REC_NONE)
        return;
    tape_burn(t);
    tape_emit(t, OP_CONST, TAPE_FREE, 0, 0, 0, t->tape_of[a->child]);
    tape_emit(t, OP_TIMER, NOREG, NOREG, TAPE_FREE, (int32_t)t->func_of[a->child], a->ns);
}

/* The wait itself is for the recorded signal, however early that comes: the program waits because
 * of what it found under the lock, which is not in the recording. */
static void cond_wait(struct tp *t, uint32_t cond)
{
    if (!rec_has_mutex(t->r, &t->r->objects[cond]))
        return;
    t->relock = (uint32_t)t->r->objects[cond].param;
    now(t, OP_UNLOCK, t->relock);
}

/* The signal came before it slept: no wait follows, after which it takes the lock again. */
static void cond_is_over(struct tp *t)
{
    if (t->relock != REC_NONE)
        now(t, OP_LOCK, t->relock);
    t->relock = REC_NONE;
}

static void sleep_for(struct tp *t, int64_t ns)
{
    tape_burn(t);
    t->sleeps = ns;
}

/* A read that did not have to wait, and may have to now. */
static void fd_read(struct tp *t, uint32_t g)
{
    uint32_t i = t->io_at[g];
    if (i == REC_NONE || t->r->ios[i].deed + 1 != t->deed)
        return;
    t->io_at[g] = t->io_next[i];
    if (t->r->objects[t->r->ios[i].object].tokens)
        return;
    tape_burn(t);
    tape_take(t, t->r->ios[i].object, t->r->ios[i].takes);
}

static void once_ends(struct tp *t, uint32_t once)
{
    if (t->o->no_deep)
        return;
    tape_burn(t);
    tape_emit_obj(t, OP_WGDONE, once);
}

/* Deeds that are one instruction on their object. */
static const struct plain {
    enum op op; /* OP_NOP: it is none of these */
    bool waits;
} plains[DEED_COUNT] = {
    [DEED_lock] = {OP_LOCK, true},        [DEED_trylock] = {OP_LOCK, false},
    [DEED_rlock] = {OP_RLOCK, true},      [DEED_tryrlock] = {OP_RLOCK, false},
    [DEED_wlock] = {OP_WLOCK, true},      [DEED_trywlock] = {OP_WLOCK, false},
    [DEED_unlock] = {OP_UNLOCK, false},   [DEED_runlock] = {OP_RUNLOCK, false},
    [DEED_wunlock] = {OP_WUNLOCK, false}, [DEED_wgwait] = {OP_WGWAIT, true},
    [DEED_send] = {OP_SEND, true},        [DEED_trysend] = {OP_SEND, false},
    [DEED_recv] = {OP_RECV, true},        [DEED_tryrecv] = {OP_RECV, false},
    [DEED_close] = {OP_CLOSE, false},
};

static void plain(struct tp *t, const struct plain *is, uint32_t object)
{
    if (is->waits)
        later(t, is->op, object);
    else
        now(t, is->op, object);
}

/* The deeds that are more than one instruction, or none. */
static void deep(struct tp *t, uint32_t g, enum rec_deed deed, uint64_t n, uint32_t o)
{
    const struct rec_object *object = o != REC_NONE ? &t->r->objects[o] : NULL;
    switch (deed) {
    case DEED_lockslow: t->spins = true; break;
    case DEED_wgadd: wg_add(t, o, rec_signed(n)); break;
    case DEED_select: select_begin(t); break;
    case DEED_selsend: select_case(t, o, true); break;
    case DEED_selrecv: select_case(t, o, false); break;
    case DEED_selected: select_end(t, rec_signed(n)); break;
    case DEED_condwait: cond_wait(t, o); break;
    case DEED_signal:
    case DEED_broadcast: break; /* whom it woke is in the recording */
    case DEED_sleep: sleep_for(t, (int64_t)n); break;
    case DEED_timer: timer(t, OP_CHTIMER, 0, o, n); break;
    case DEED_ticker: timer(t, OP_CHTIMER, 1, o, n); break;
    case DEED_tstop:
        if (object != NULL && object->timer && !object->looped) /* its rounds may not be over */
            timer(t, OP_CHSTOP, 0, o, 0);
        break;
    case DEED_treset:
        if (object != NULL && object->timer)
            timer(t, OP_CHRESET, 0, o, n);
        break;
    case DEED_fdread: fd_read(t, g); break;
    case DEED_fdwrite:
        if (object != NULL && !object->tokens && object->param > 0 && n > 0)
            t->io_post = o;
        break;
    case DEED_once:
        if (object != NULL && object->first != REC_NONE && object->first != g)
            later(t, OP_WGWAIT, o);
        break;
    case DEED_oncedone: once_ends(t, o); break;
    default: break;
    }
}

void tape_deep(struct tp *t, uint32_t g, uint64_t a, uint64_t b)
{
    enum rec_deed deed = (enum rec_deed)(a & 0xff);
    uint32_t o = b != 0 ? (uint32_t)(b - 1) : REC_NONE;
    tape_item(t, g);
    cond_is_over(t);
    if (deed != DEED_lockslow)
        t->spins = false;
    if (deed != DEED_selected)
        t->outside = false;
    if (deed == DEED_afterfunc)
        after_func(t, &t->r->afters[b]);
    else if (plains[deed].op == OP_NOP)
        deep(t, g, deed, a >> 8, o);
    else if (o != REC_NONE)
        plain(t, &plains[deed], o);
}

/* A wait of level 3 that nobody of the program ended, and no timer of the recording either. */
bool tape_is_outside(const struct tp *t, const struct rec_wait *w)
{
    if (w->waker != REC_NONE && !t->r->gs[w->waker].system)
        return false;
    if (w->reason == REASON_Sleep)
        return false;
    bool fed = w->object != REC_NONE && t->r->objects[w->object].timer;
    for (int i = 0; w->object == REC_NONE && i < t->ncases && i < TAPE_CASES; i++)
        fed |= t->cases[i].object != REC_NONE && t->r->objects[t->cases[i].object].timer;
    return !fed;
}

/* What there was when the window opened, by the root. */
void tape_objects_there(struct tp *t)
{
    for (uint32_t i = 0; i < t->r->nobjects; i++) {
        const struct rec_object *o = &t->r->objects[i];
        int32_t n = o->there[0];
        if (o->level != 3 || o->tokens || t->o->no_deep)
            continue;
        if (o->kind == OBJ_WAITGROUP && n > 0)
            tape_emit(t, OP_WGADD, NOREG, 0, 0, (int32_t)i, n);
        if (o->kind == OBJ_ONCE && o->first != REC_NONE)
            tape_emit(t, OP_WGADD, NOREG, 0, 0, (int32_t)i, 1);
        if (o->kind == OBJ_MUTEX && n > 0)
            tape_emit_obj(t, OP_LOCK, i);
        if (o->kind == OBJ_RWMUTEX && n > 0)
            tape_emit_obj(t, OP_WLOCK, i);
        for (int32_t k = 0; o->kind == OBJ_RWMUTEX && n <= 0 && k < o->there[1]; k++)
            tape_emit_obj(t, OP_RLOCK, i);
        for (int32_t k = 0; o->kind == OBJ_CHAN && k < n && n <= o->param; k++)
            send(t, i, NUMBER_EMPTY);
        if (o->kind == OBJ_CHAN && n > o->param && !o->closed && !o->timer)
            tape_emit_obj(t, OP_CLOSE, i); /* more came out than can have been in */
    }
}
