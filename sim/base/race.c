/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/race.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

/* ---- tables ---- */

void race_begin(struct race *r)
{
    r->run++;
    r->full = false;
    r->words_used = r->thread_count = r->sync_count = r->var_count = 0;
    r->past_count = r->past_free = 0;
    r->report_count = 0;
}

void race_free(struct race *r)
{
    free(r->words);
    free(r->threads);
    free(r->slots);
    free(r->syncs);
    free(r->vars);
    free(r->pasts);
    *r = (struct race){0};
}

static uint32_t hash(uint64_t key, uint32_t room)
{
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32) & (room - 1);
}

/* What is stamped with another run is an empty place. */
static struct race_sync *sync_place(struct race *r, uint64_t key)
{
    uint32_t i = hash(key, r->sync_room);
    while (r->syncs[i].run == r->run && r->syncs[i].key != key)
        i = (i + 1) & (r->sync_room - 1);
    return &r->syncs[i];
}

static void syncs_grow(struct race *r)
{
    struct race_sync *old = r->syncs;
    uint32_t n = r->sync_room;
    r->sync_room = n != 0 ? 2 * n : 64;
    r->syncs = x_alloc(r->sync_room * sizeof *r->syncs);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].run == r->run)
            *sync_place(r, old[i].key) = old[i];
    free(old);
}

static struct race_sync *sync_of(struct race *r, uint64_t key)
{
    if (2 * r->sync_count >= r->sync_room)
        syncs_grow(r);
    struct race_sync *s = sync_place(r, key);
    if (s->run != r->run) {
        *s = (struct race_sync){.key = key, .run = r->run};
        r->sync_count++;
    }
    return s;
}

static struct race_var *var_place(struct race *r, uint64_t key)
{
    uint32_t i = hash(key, r->var_room);
    while (r->vars[i].run == r->run && r->vars[i].key != key)
        i = (i + 1) & (r->var_room - 1);
    return &r->vars[i];
}

static void vars_grow(struct race *r)
{
    struct race_var *old = r->vars;
    uint32_t n = r->var_room;
    r->var_room = n != 0 ? 2 * n : 64;
    r->vars = x_alloc(r->var_room * sizeof *r->vars);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].run == r->run)
            *var_place(r, old[i].key) = old[i];
    free(old);
}

static struct race_var *var_of(struct race *r, uint64_t key)
{
    if (2 * r->var_count >= r->var_room)
        vars_grow(r);
    struct race_var *v = var_place(r, key);
    if (v->run != r->run) {
        *v = (struct race_var){.key = key, .run = r->run};
        r->var_count++;
    }
    return v;
}

/* ---- clocks ---- */

/* Room for count words; new ones are 0. */
static void clock_reserve(struct race *r, struct race_clock *c, uint32_t count)
{
    if (count <= c->count)
        return;
    if (count > c->room) {
        uint32_t room = count < 4 ? 4 : count + count / 2;
        if (r->words_used + room > r->words_room) {
            r->words_room = 2 * (r->words_used + room);
            r->words = x_grow(r->words, r->words_room * sizeof *r->words);
        }
        if (c->count > 0)
            memcpy(r->words + r->words_used, r->words + c->at, c->count * sizeof *r->words);
        c->at = r->words_used;
        c->room = room;
        r->words_used += room;
    }
    memset(r->words + c->at + c->count, 0, (count - c->count) * sizeof *r->words);
    c->count = count;
}

static void clock_join(struct race *r, struct race_clock *to, const struct race_clock *from)
{
    clock_reserve(r, to, from->count);
    uint32_t *t = r->words + to->at;
    const uint32_t *f = r->words + from->at;
    for (uint32_t i = 0; i < from->count; i++)
        t[i] = f[i] > t[i] ? f[i] : t[i];
}

static uint32_t clock_of(const struct race *r, const struct race_clock *c, uint32_t slot)
{
    return slot < c->count ? r->words[c->at + slot] : 0;
}

/* ---- goroutines ---- */

static void clock_tick(struct race *r, uint32_t slot)
{
    r->words[r->threads[slot].clock.at + slot]++;
}

static void threads_add(struct race *r, uint32_t goid)
{
    uint32_t slot = r->thread_count++;
    X_ROOM(r->threads, slot, r->thread_room, 16);
    r->threads[slot] = (struct race_thread){.goid = goid};
    clock_reserve(r, &r->threads[slot].clock, slot + 1);
    clock_tick(r, slot);
}

/* The slot of a goroutine; a new one has no past. */
static uint32_t slot_of(struct race *r, uint32_t goid)
{
    X_REACH(r->slots, r->slot_room, goid, goid < 64 ? 128 : 2 * goid);
    struct race_slot *s = &r->slots[goid];
    if (s->run == r->run)
        return s->slot;
    if (r->thread_count == RACE_GOROUTINES_MAX) {
        r->full = true;
        return 0;
    }
    *s = (struct race_slot){r->run, r->thread_count};
    threads_add(r, goid);
    return s->slot;
}

/* ---- what orders ---- */

/* All that has happened in `from` has happened in `to`. */
static void hand_over(struct race *r, uint32_t from, uint32_t to)
{
    clock_join(r, &r->threads[to].clock, &r->threads[from].clock);
    clock_tick(r, from);
}

void race_tells(struct race *r, enum race_edge edge, uint32_t goid, uint64_t with)
{
    uint32_t me = slot_of(r, goid);
    struct race_sync *s = NULL;
    if (r->full)
        return;
    if (edge == RACE_CREATE || edge == RACE_HAND) {
        uint32_t other = slot_of(r, (uint32_t)with);
        if (!r->full)
            hand_over(r, me, other);
        return;
    }
    s = sync_of(r, with);
    if (edge == RACE_ACQUIRE) {
        clock_join(r, &r->threads[me].clock, &s->clock);
        return;
    }
    if (edge == RACE_RELEASE)
        s->clock.count = 0;
    clock_join(r, &s->clock, &r->threads[me].clock);
    clock_tick(r, me);
}

void race_becomes(struct race *r, uint32_t goid, uint64_t key)
{
    uint32_t me = slot_of(r, goid);
    if (r->full)
        return;
    struct race_clock *c = &r->threads[me].clock;
    uint32_t time = clock_of(r, c, me);
    c->count = 0;
    clock_join(r, c, &sync_of(r, key)->clock);
    clock_reserve(r, c, me + 1);
    r->words[c->at + me] = time + 1;
}

/* ---- accesses ---- */

static bool is_atomic(enum race_kind k) { return k >= RACE_ATOMIC_READ; }
static bool is_write(enum race_kind k) { return k == RACE_WRITE || k == RACE_ATOMIC_WRITE; }

static bool conflict(enum race_kind a, enum race_kind b)
{
    return (is_write(a) || is_write(b)) && !(is_atomic(a) && is_atomic(b));
}

/* An access of kind a stands for an ordered earlier one of kind b: whatever could still race with b
 * races with a too. */
static bool stands_for(enum race_kind a, enum race_kind b)
{
    return a == RACE_WRITE || a == b || (a == RACE_ATOMIC_WRITE && b == RACE_ATOMIC_READ);
}

static bool same_pair(const struct race_report *x, const struct race_report *y)
{
    return x->object == y->object &&
           ((x->first.pc == y->first.pc && x->second.pc == y->second.pc) ||
            (x->first.pc == y->second.pc && x->second.pc == y->first.pc));
}

static void report(struct race *r, int32_t object, const struct race_past *past,
                   const struct race_access *now)
{
    struct race_report x = {object, {r->threads[past->slot].goid, past->pc, past->kind}, *now};
    for (uint32_t i = 0; i < r->report_count; i++)
        if (same_pair(&r->reports[i], &x))
            return;
    if (r->report_count < RACE_REPORTS_MAX)
        r->reports[r->report_count++] = x;
}

static uint32_t past_new(struct race *r)
{
    uint32_t i = r->past_free;
    if (i != 0) {
        r->past_free = r->pasts[i - 1].next;
        return i;
    }
    X_ROOM(r->pasts, r->past_count, r->past_room, 64);
    return ++r->past_count;
}

void race_accesses(struct race *r, const struct race_access *a, uint64_t key, int32_t object)
{
    uint32_t me = slot_of(r, a->goid);
    if (r->full)
        return;
    const struct race_clock *c = &r->threads[me].clock;
    struct race_var *v = var_of(r, key);
    for (uint32_t *link = &v->first; *link != 0;) {
        uint32_t i = *link;
        struct race_past *p = &r->pasts[i - 1];
        bool before = p->time <= clock_of(r, c, p->slot);
        if (!before && conflict(p->kind, a->kind))
            report(r, object, p, a);
        if (before && stands_for(a->kind, p->kind)) {
            *link = p->next;
            p->next = r->past_free;
            r->past_free = i;
        } else {
            link = &p->next;
        }
    }
    uint32_t i = past_new(r);
    r->pasts[i - 1] = (struct race_past){v->first, me, clock_of(r, c, me), a->pc, a->kind};
    v->first = i;
}
