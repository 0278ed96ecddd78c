/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with an item (infer_items.c) is a tape of its own. Its number is what is sent; who
 * receives it plays it and then goes on with its own. */
#include <stdlib.h>
#include <string.h>

#include "replay/tape_int.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

/* Tapes of items are numbered as they will be written: by goroutine, then in order. The last
 * receive of a goroutine has none, nor one of which nobody is known to have sent the item. */
void tape_items_number(struct tp *t, uint32_t first)
{
    const struct recording *r = t->r;
    size_t n = (size_t)r->nitems + 1;
    t->item_at = x_alloc((r->ngs + 1) * sizeof *t->item_at);
    t->item_next = x_alloc(n * sizeof *t->item_next);
    t->item_tape = x_alloc(n * sizeof *t->item_tape);
    memset(t->item_at, 0xff, (r->ngs + 1) * sizeof *t->item_at);
    memset(t->item_tape, 0, n * sizeof *t->item_tape);
    for (uint32_t i = r->nitems; i-- > 0;) {
        t->item_next[i] = t->item_at[r->items[i].g];
        t->item_at[r->items[i].g] = i;
    }
    for (uint32_t g = 0; g < r->ngs; g++) {
        uint32_t before = REC_NONE;
        for (uint32_t i = t->item_at[g]; i != REC_NONE; i = t->item_next[i]) {
            if (!rec_is_dealt(r, &r->items[i]))
                continue;
            if (before != REC_NONE && r->items[before].other != REC_NONE)
                t->item_tape[before] = first + t->nitems++;
            before = i;
        }
    }
    t->item_starts = x_alloc(((size_t)t->nitems + 1) * sizeof *t->item_starts);
    t->items_all = t->nitems;
    t->nitems = 0;
}

void tape_items_release(struct tp *t)
{
    free(t->item_at);
    free(t->item_next);
    free(t->item_tape);
    free(t->item_starts);
    spill_free(&t->items.bytes);
    free(t->selects);
    free(t->select_cases);
    map_release(&t->select_of);
}

void tape_item(struct tp *t, uint32_t g)
{
    uint32_t i = t->item_at[g];
    t->item = REC_NONE;
    if (i != REC_NONE && t->r->items[i].deed == t->deed) {
        t->item = i;
        t->item_at[g] = t->item_next[i];
    }
    t->deed++;
}

bool tape_item_is_dealt(const struct tp *t)
{
    return t->item != REC_NONE && rec_is_dealt(t->r, &t->r->items[t->item]);
}

static bool is_same(const struct tp *t, uint32_t table, const struct select_case *cases, uint32_t n)
{
    if (t->selects[table].ncases != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (t->select_cases[t->selects[table].first + i].obj != cases[i].obj)
            return false;
    return true;
}

static int32_t table_of(struct tp *t, const struct select_case *cases, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = hash * 1000003 + (uint64_t)cases[i].obj;
    struct map_slot *s = map_put(&t->select_of, hash, 0);
    if (s->a != 0 && is_same(t, s->a - 1, cases, n))
        return (int32_t)s->a - 1;
    X_ROOM(t->selects, t->nselects, t->selects_room, 64);
    t->selects[t->nselects] = (struct select_table){t->ncases_all, (uint16_t)n, false};
    for (uint32_t i = 0; i < n; i++) {
        X_ROOM(t->select_cases, t->ncases_all, t->select_cases_room, 64);
        t->select_cases[t->ncases_all++] = cases[i];
    }
    s->a = ++t->nselects;
    return (int32_t)s->a - 1;
}

int32_t tape_item_select(struct tp *t)
{
    const struct rec_item *it = &t->r->items[t->pending_item];
    struct select_case cases[UINT8_MAX];
    uint32_t n = 0;
    for (uint32_t i = 0; i < it->ncases; i++) {
        uint32_t c = t->r->cases[it->cases + i];
        const struct rec_object *o = &t->r->objects[c];
        if (o->dealt && !o->closed && !o->tokens)
            cases[n++] = (struct select_case){.obj = (int32_t)c, .reg = TAPE_VALUE};
    }
    return n > 1 && !t->r->objects[it->object].closed ? table_of(t, cases, n) : -1;
}

int64_t tape_item_value(const struct tp *t)
{
    if (t->item == REC_NONE || t->r->items[t->item].other == REC_NONE)
        return NUMBER_EMPTY;
    return t->item_tape[t->r->items[t->item].other];
}

/* The receive is down: what follows is done with its item, if it has a tape. */
void tape_item_begin(struct tp *t)
{
    if (t->item_tape[t->pending_item] == 0)
        return;
    t->to = &t->items;
    t->item_starts[t->nitems++] = t->items.used;
    t->site = REC_NONE;
}

void tape_item_end(struct tp *t)
{
    if (t->to != &t->items)
        return;
    tape_emit(t, OP_TAPEBACK, 0, 0, 0, 0, 0);
    t->to = &t->own;
    t->site = REC_NONE;
}
