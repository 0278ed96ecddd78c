/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to be known of a recording's objects before a scenario is made of them.
 *
 * Conds. Who waits for one does so because of what it found under the lock, and that is in no
 * recording. Whoever changes it under the same lock and then signals is not too early for anybody:
 * a waiter that comes later finds the change. So such waits are for the recorded signal. A signal
 * by somebody who has not held the lock since the last one may be lost: there the Cond is real. So
 * it is where the source is at hand and nothing is looked at between Lock and Wait
 * (import_source.c).
 *
 * Channels whose items say what is done with them. When what a receiver does with an item is an
 * answer to who sent it, items keep their ways: another receiver would answer on the wrong channel.
 *
 * Channels that somebody was told of (import_made.c).
 *
 * Channels that are closed under a lock under which others send: whether they do is decided by what
 * they find there. A schedule in which the close comes first is none of this recording's. */
#include <string.h>

#include "model/prog.h"
#include "replay/import_int.h"
#include "sim/base/alloc.h"

/* ---- walking over deeds ---- */

struct walk {
    struct imp *t;
    uint32_t g, site;
    uint64_t held[IMP_HELD];     /* object + 1 */
    uint32_t taken_at[IMP_HELD]; /* the site */
    int nheld;
    struct imp_case cases[IMP_CASES];
    int ncases;
    uint32_t current[4];        /* items that it has, REC_NONE */
    uint32_t taken, taken_deed; /* what it took last: a lock, an item */
    int64_t time, taken_time;   /* now, if nobody took its P away since it last waited; then */
    bool taking;                /* its wait for that may follow */
    /* the deed at hand: */
    enum rec_deed deed; /* a select is the deed that it took */
    uint32_t object;
    int64_t number;
};

static void hold(struct walk *w, uint32_t object)
{
    if (w->nheld == IMP_HELD)
        return;
    w->taken_at[w->nheld] = w->site;
    w->held[w->nheld++] = (uint64_t)object + 1;
}

static void let_go(struct walk *w, uint32_t object)
{
    for (int i = w->nheld; i-- > 0;)
        if (w->held[i] == (uint64_t)object + 1) {
            w->held[i] = w->held[--w->nheld];
            w->taken_at[i] = w->taken_at[w->nheld];
            return;
        }
}

static void locks(struct walk *w)
{
    int change = rec_lock_change(w->deed);
    if (change > 0)
        hold(w, w->object);
    else if (change < 0)
        let_go(w, w->object);
}

/* Which deed it is; a select is known when it took something. False: nothing yet. */
static bool understand(struct walk *w, uint64_t a, uint64_t b)
{
    w->deed = (enum rec_deed)(a & 0xff);
    w->number = rec_signed(a >> 8);
    w->object = b != 0 ? (uint32_t)(b - 1) : REC_NONE;
    if (w->deed == DEED_select)
        w->ncases = 0;
    if (w->deed == DEED_selsend || w->deed == DEED_selrecv) {
        if (w->ncases < IMP_CASES)
            w->cases[w->ncases] = (struct imp_case){w->object, w->deed == DEED_selsend};
        w->ncases++;
    }
    if (w->deed != DEED_selected)
        return w->object != REC_NONE && w->deed != DEED_afterfunc && w->deed != DEED_selsend &&
               w->deed != DEED_selrecv;
    if (w->number < 0 || w->number >= w->ncases || w->number >= IMP_CASES)
        return false;
    w->object = w->cases[w->number].object;
    w->deed = w->cases[w->number].sends ? DEED_send : DEED_recv;
    return w->object != REC_NONE;
}

static void passes(struct walk *w, const struct rec_entry *e)
{
    if (e->what == REC_CPU || e->what == REC_SYS)
        w->time += (int64_t)e->a;
    if (e->what == REC_WAIT && w->t->r->waits[e->a].on != INT64_MAX)
        w->time = w->t->r->waits[e->a].on;
    if (e->what == REC_WAIT && w->taking)
        w->taken_time = w->time;
    w->taking = w->taking && e->what != REC_DEED;
}

static void walk_all(struct imp *t, void look(struct walk *w))
{
    for (uint32_t g = 0; g < t->r->ngs; g++) {
        struct walk w = {
            .t = t, .g = g, .site = REC_NONE, .taken = REC_NONE, .time = t->r->gs[g].born};
        struct rec_reader rd;
        struct rec_entry e;
        memset(w.current, 0xff, sizeof w.current);
        t->g = g;
        t->deed = 0;
        for (rec_rewind(&rd, t->r, g); rec_next(&rd, &e);) {
            if (e.what == REC_GO)
                t->started[e.a] = t->deed;
            if (e.what == REC_SITE)
                w.site = (uint32_t)e.a;
            passes(&w, &e);
            if (e.what != REC_DEED)
                continue;
            imp_item(t);
            if (understand(&w, e.a, e.b)) {
                look(&w);
                locks(&w);
            }
        }
    }
}

static bool is_send(enum rec_deed deed) { return deed == DEED_send || deed == DEED_trysend; }
static bool is_recv(enum rec_deed deed) { return deed == DEED_recv || deed == DEED_tryrecv; }

/* ---- who sends and receives ---- */

static struct map roles; /* (object, goroutine) -> bit 0 sends, bit 1 receives */

static void look_at_makes(struct walk *w)
{
    if (w->deed == DEED_makechan)
        imp_made(w->t, w->object, w->site);
}

static void look_at_uses(struct walk *w)
{
    if (is_send(w->deed) || is_recv(w->deed) || w->deed == DEED_close)
        imp_uses(w->t, w->object);
}

static void look_at_gifts(struct walk *w)
{
    if (rec_lock_change(w->deed) < 0 || is_send(w->deed) || w->deed == DEED_close ||
        (w->deed == DEED_wgadd && w->number < 0))
        imp_gives(w->t, w->object, w->time);
}

static void look_at_news(struct walk *w)
{
    bool uses = is_send(w->deed) || is_recv(w->deed) || w->deed == DEED_close;
    if (uses)
        imp_learns(w->t, w->object, w->taken, w->taken_deed, w->taken_time);
    if (rec_lock_change(w->deed) > 0 || is_recv(w->deed) || w->deed == DEED_wgwait) {
        w->taken = w->object;
        w->taken_deed = w->t->deed;
        w->taken_time = w->time;
        w->taking = true;
    }
}

static void look_at_timers(struct walk *w)
{
    struct imp_object *o = &w->t->objects[w->object];
    if (w->deed != DEED_timer && w->deed != DEED_ticker && w->deed != DEED_tstop &&
        w->deed != DEED_treset)
        return;
    if (o->maker == REC_NONE && (w->deed == DEED_timer || w->deed == DEED_ticker))
        o->maker = w->g;
    o->multi_r |= o->maker != w->g;
}

static void look_at_roles(struct walk *w)
{
    struct imp_object *o = &w->t->objects[w->object];
    if (!is_send(w->deed) && !is_recv(w->deed))
        return;
    map_put(&roles, w->object, w->g)->a |= is_send(w->deed) ? 1 : 2;
    uint32_t *first = is_send(w->deed) ? &o->sender : &o->receiver;
    bool *several = is_send(w->deed) ? &o->multi_s : &o->multi_r;
    o->received += is_recv(w->deed);
    if (*first == REC_NONE)
        *first = w->g;
    *several |= *first != w->g;
}

/* ---- answers ---- */

static struct map answers; /* (channel << 32 | answered on, item) and, by itself, how many */

/* The goroutine has received t->item, which comes first in `current`: the last few, one of each
 * channel. */
static void take(struct walk *w)
{
    const struct rec_item *items = w->t->r->items;
    int at = 0;
    for (int i = 0; i < 4; i++)
        if (w->current[i] != REC_NONE && items[w->current[i]].object == w->object)
            at = i;
    for (int i = at; i > 0; i--)
        w->current[i] = w->current[i - 1];
    w->current[0] = w->t->item;
}

static void answer(struct walk *w, uint32_t item)
{
    const struct rec_item *it = &w->t->r->items[item];
    if (it->other == REC_NONE || it->object == w->object)
        return;
    struct map_slot *s = map_find(&roles, w->object, w->t->r->items[it->other].g);
    if (s == NULL || (s->a & 2) == 0)
        return;
    uint64_t key = (uint64_t)it->object << 32 | w->object;
    if (map_find(&answers, key, item + 1) != NULL)
        return;
    (void)map_put(&answers, key, item + 1);
    map_put(&answers, key, 0)->a++;
}

static void look_at_answers(struct walk *w)
{
    bool says = is_send(w->deed);
    if (is_recv(w->deed) && w->t->item != REC_NONE)
        take(w);
    for (int i = 0; says && i < 4; i++)
        if (w->current[i] != REC_NONE)
            answer(w, w->current[i]);
}

/* Items keep their ways where some of them, not all, are answered on one channel. */
static void decide_pins(struct imp *t)
{
    for (size_t i = 0; i < answers.capacity; i++) {
        const struct map_slot *s = &answers.slots[i];
        if (s->used == 0 || s->key2 != 0)
            continue;
        struct imp_object *o = &t->objects[s->key >> 32];
        if ((o->multi_s || o->multi_r) && s->a < o->received && !o->pinned) {
            o->pinned = true;
            t->pins++;
        }
    }
}

/* ---- Conds ---- */

/* (cond, goroutine) -> has held the lock since its last signal */
static struct map changed;

static void look_at_conds(struct walk *w)
{
    struct recording *r = w->t->r;
    if (w->deed == DEED_lock || w->deed == DEED_trylock)
        map_put(&changed, w->object, w->g)->a = 1;
    if (w->deed != DEED_signal && w->deed != DEED_broadcast)
        return;
    int64_t m = r->objects[w->object].param;
    if (m < 0 || m >= r->nobjects)
        return;
    struct map_slot *s = map_put(&changed, (uint64_t)m, w->g);
    bool held = false;
    for (int i = 0; i < w->nheld; i++)
        held |= w->held[i] == (uint64_t)m + 1;
    if (s->a == 0 && !held)
        w->t->objects[w->object].real_cond = true;
    s->a = 0;
}

/* Where the goroutine took the lock that it holds. */
static uint32_t lock_site(const struct walk *w, uint64_t lock)
{
    for (int i = w->nheld; i-- > 0;)
        if (w->held[i] == lock + 1)
            return w->taken_at[i];
    return REC_NONE;
}

/* Whoever waits without looking loses every signal that came before. */
static void look_at_waits(struct walk *w)
{
    struct recording *r = w->t->r;
    if (w->deed != DEED_condwait || w->site == REC_NONE || w->t->objects[w->object].real_cond)
        return;
    uint32_t lock = lock_site(w, (uint64_t)r->objects[w->object].param);
    if (lock == REC_NONE || imp_wait_at(&r->sites[lock], &r->sites[w->site]) != WAIT_BLIND)
        return;
    w->t->objects[w->object].real_cond = true;
    w->t->blind = w->site + 1;
}

/* ---- closed under a lock ---- */

static void look_at_closes(struct walk *w)
{
    struct imp_object *o = &w->t->objects[w->object];
    if (w->deed == DEED_close && o->guards[0] == 0)
        memcpy(o->guards, w->held, (size_t)w->nheld * sizeof *w->held);
}

static void look_at_sends(struct walk *w)
{
    struct imp_object *o = &w->t->objects[w->object];
    bool common = false;
    if (!is_send(w->deed))
        return;
    for (int i = 0; i < IMP_HELD && o->guards[i] != 0; i++)
        for (int k = 0; k < w->nheld; k++)
            common |= o->guards[i] == w->held[k];
    o->guarded += common;
}

/* ---- all ---- */

static void link_items(struct imp *t)
{
    const struct recording *r = t->r;
    memset(t->item_at, 0xff, (r->ngs + 1) * sizeof *t->item_at);
    for (uint32_t i = r->nitems; i-- > 0;) {
        t->item_next[i] = t->item_at[r->items[i].g];
        t->item_at[r->items[i].g] = i;
    }
}

void imp_item(struct imp *t)
{
    uint32_t i = t->item_at[t->g];
    t->item = REC_NONE;
    if (i != REC_NONE && t->r->items[i].deed == t->deed) {
        t->item = i;
        t->item_at[t->g] = t->item_next[i];
    }
    t->deed++;
}

void imp_know(struct imp *t)
{
    static void (*const looks[])(struct walk *) = {look_at_makes,   look_at_uses,  look_at_gifts,
                                                   look_at_news,    look_at_roles, look_at_timers,
                                                   look_at_answers, look_at_conds, look_at_waits,
                                                   look_at_closes,  look_at_sends};
    t->ngiven = 0;
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        t->objects[i].sender = t->objects[i].receiver = t->objects[i].maker =
            t->objects[i].made_by = REC_NONE;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        link_items(t);
        walk_all(t, looks[i]);
    }
    decide_pins(t);
    link_items(t);
    map_release(&roles);
    map_release(&answers);
    map_release(&changed);
    roles = answers = changed = (struct map){0};
}
