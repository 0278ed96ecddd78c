/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/flip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { ROWS_MAX = 600 };

/* ---- draws ---- */

void flip_draw(struct flip_draws *d, uint32_t goid, uint32_t pick)
{
    X_ROOM(d->drawn, d->count, d->room, 64);
    d->drawn[d->count++] = (struct flip_drawn){goid, pick, false};
}

void flip_draws_free(struct flip_draws *d)
{
    free(d->drawn);
    *d = (struct flip_draws){0};
}

static uint32_t drawn_before(struct flip_draws *d, uint32_t goid)
{
    for (size_t i = 0; i < d->count; i++)
        if (!d->drawn[i].used && d->drawn[i].goid == goid) {
            d->drawn[i].used = true;
            return d->drawn[i].pick;
        }
    return 0;
}

/* ---- the strategy ---- */

static bool flip_begin(struct strategy *s)
{
    struct flip *x = (struct flip *)s;
    bool first = !x->begun;
    x->begun = true;
    return first;
}

static size_t place_of(const struct flip *x, uint32_t goid)
{
    for (size_t i = 0; i < x->count; i++)
        if (!x->done[i] && x->order[i] == goid)
            return i;
    return x->count;
}

static bool is_held(const struct flip *x, uint32_t goid)
{
    return x->first != ROW_NONE && !x->released && goid == x->h->rows[x->first].goid &&
           place_of(x, goid) >= (size_t)x->first;
}

static void did(struct flip *x, uint32_t goid)
{
    size_t at = place_of(x, goid);
    x->last = goid;
    if (at == x->count)
        return;
    x->done[at] = true;
    x->released |= (int32_t)at == x->at_second;
}

void flip_turn(struct flip *x, const struct turn_does *d) { did(x, d->goid); }

/* The one whose next turn was the earliest in the old order; who is held back goes on only if
 * nobody else can; time passes only if not even that one can. */
static uint32_t pick_turn(struct flip *x, const struct choice *c)
{
    uint32_t best = 0;
    size_t best_at = SIZE_MAX;
    for (uint32_t k = 0; k < c->n; k++) {
        bool clock = c->clock && k == c->n - 1;
        uint32_t goid = clock ? 0 : c->turn->goid[c->first + k];
        size_t at = place_of(x, goid) + (clock && place_of(x, goid) == x->count);
        if (is_held(x, goid))
            at = x->count + 1 + !clock;
        if (at < best_at) {
            best_at = at;
            best = k;
        }
    }
    if (c->clock && best == c->n - 1)
        did(x, 0);
    return best;
}

static uint32_t flip_pick(struct strategy *s, const struct choice *c)
{
    struct flip *x = (struct flip *)s;
    if (c->kind == CHOICE_TURN)
        return pick_turn(x, c);
    uint32_t pick = c->kind == CHOICE_DRAW ? drawn_before(x->draws, x->last) : 0;
    return pick < c->n ? pick : 0;
}

static void flip_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

/* ---- one order ---- */

static void push(struct flip *x, int32_t row)
{
    if (row == x->second)
        x->at_second = (int32_t)x->count;
    x->order[x->count++] = x->h->rows[row].goid;
}

static void make_order(struct flip *x)
{
    int32_t n = (int32_t)x->h->count, i = 0;
    x->count = 0;
    x->at_second = ROW_NONE;
    if (x->first != ROW_NONE) {
        uint32_t held = x->h->rows[x->first].goid;
        for (; i < x->first; i++)
            push(x, i);
        for (int32_t k = x->first; k <= x->second; k++)
            if (x->h->rows[k].goid != held)
                push(x, k);
        for (int32_t k = x->first; k <= x->second; k++)
            if (x->h->rows[k].goid == held)
                push(x, k);
        i = x->second + 1;
    }
    for (; i < n; i++)
        push(x, i);
    memset(x->done, 0, x->count * sizeof *x->done);
    for (size_t k = 0; k < x->draws->count; k++)
        x->draws->drawn[k].used = false;
}

static const struct verdict *run_order(struct flip *x, struct explored *e, int32_t first,
                                       int32_t second)
{
    x->s = (struct strategy){
        .name = "flip", .begin = flip_begin, .pick = flip_pick, .end = flip_end};
    x->first = first;
    x->second = second;
    x->released = x->begun = false;
    x->last = 0;
    make_order(x);
    return explored_run(e, &x->s) ? &e->verdict : NULL;
}

/* ---- which orders ---- */

/* Of the objects without a handle only the clock and the contexts count: the others are not of the
 * program. */
static bool same_object(const struct history_row *a, const struct history_row *b)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            if (a->object[i] == b->object[k] &&
                (a->object[i] > 0 || a->object[i] == TURN_OBJECT_CLOCK ||
                 a->object[i] == TURN_OBJECT_CONTEXT))
                return true;
    return false;
}

static bool depends(const struct history_row *a, const struct history_row *b)
{
    return a->goid != b->goid && !(a->reads && b->reads) && same_object(a, b);
}

/* after[j * n + i]: j came after i whatever the schedule, given the order of the others. */
static bool *order_of(const struct history *h)
{
    size_t n = h->count;
    bool *after = x_alloc(n * n * sizeof *after + 1);
    memset(after, 0, n * n * sizeof *after);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            const struct history_row *a = &h->rows[i], *b = &h->rows[j];
            int column = history_column(h, b->goid);
            bool begun = column >= 0 && h->gs[column].begun_by == i;
            if (a->goid != b->goid && !begun && !depends(a, b))
                continue;
            after[j * n + i] = true;
            for (size_t k = 0; k < i; k++)
                after[j * n + k] |= after[i * n + k];
        }
    return after;
}

/* Nothing between them needs the one and is needed by the other. */
static bool are_adjacent(const bool *after, size_t n, size_t i, size_t j)
{
    for (size_t k = i + 1; k < j; k++)
        if (after[k * n + i] && after[j * n + k])
            return false;
    return true;
}

static void try_pair(struct flip *x, struct explored *e, struct history *h, size_t i, size_t j,
                     const char *what)
{
    h->flips++;
    const struct verdict *v = run_order(x, e, (int32_t)i, (int32_t)j);
    if (v == NULL || v->kind == VERDICT_NONE || !x->released || strcmp(v->what, what) == 0)
        return;
    struct history_pair *p = &h->pair[h->npairs++];
    *p = (struct history_pair){.first = (int32_t)i, .second = (int32_t)j};
    snprintf(p->instead, sizeof p->instead, "%s", v->kind == VERDICT_FINDING ? v->what : "");
}

static void try_pairs(struct flip *x, struct explored *e, struct history *h, const char *what,
                      uint64_t flips_max)
{
    bool *after = order_of(h);
    h->flips_done = true;
    for (size_t j = h->count; j-- > 0;)
        for (size_t i = j; i-- > 0;) {
            if (!depends(&h->rows[i], &h->rows[j]) || !are_adjacent(after, h->count, i, j))
                continue;
            h->flips_done = h->flips < flips_max && h->npairs < HISTORY_PAIRS_MAX;
            if (!h->flips_done) {
                free(after);
                return;
            }
            try_pair(x, e, h, i, j, what);
        }
    free(after);
}

void flip_all(struct flip *x, struct explored *e, struct history *h, struct flip_draws *draws,
              const char *what, uint64_t flips_max)
{
    if (h->count == 0 || h->count > ROWS_MAX)
        return;
    x->h = h;
    x->draws = draws;
    x->order = x_alloc(h->count * sizeof *x->order);
    x->done = x_alloc(h->count * sizeof *x->done);
    const struct verdict *v = run_order(x, e, ROW_NONE, ROW_NONE);
    if (v != NULL && v->kind == VERDICT_FINDING && strcmp(v->what, what) == 0)
        try_pairs(x, e, h, what, flips_max);
    free(x->order);
    free(x->done);
}
