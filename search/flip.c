/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/flip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { ROWS_MAX = 600 };

/* ---- draws ---- */

void flip_draw(struct flip_draws *d, uint32_t goid, uint32_t n, uint32_t pick, int32_t row)
{
    X_ROOM(d->drawn, d->count, d->room, 64);
    d->drawn[d->count++] = (struct flip_drawn){goid, n, pick, row, false};
}

void flip_draws_free(struct flip_draws *d)
{
    free(d->drawn);
    *d = (struct flip_draws){0};
}

/* The goroutine's next draw of the old run. */
static struct flip_drawn *drawn_before(struct flip_draws *d, uint32_t goid)
{
    for (size_t i = 0; i < d->count; i++)
        if (!d->drawn[i].used && d->drawn[i].goid == goid) {
            d->drawn[i].used = true;
            return &d->drawn[i];
        }
    return NULL;
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

/* Of the objects without a handle only the clock and the contexts count: the others are not of the
 * program. */
static bool same_object(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++)
            if (a[i] == b[k] &&
                (a[i] > 0 || a[i] == TURN_OBJECT_CLOCK || a[i] == TURN_OBJECT_CONTEXT))
                return true;
    return false;
}

/* Somebody else does what may have to do with the row that is held back. */
static void meet(struct flip *x, const struct turn_does *d)
{
    const struct history_row *r = &x->h->rows[x->first];
    if (!d->known || d->resumes || d->goid == r->goid || (d->reads && r->reads) ||
        !same_object(d->object, d->count, r->object, r->count))
        return;
    if (x->mets++ == 0)
        history_row_of(x->program, d, &x->met);
    x->released |= x->until == FLIP_MET;
}

/* What the select whose choice is made another way took. */
static void look_at_choice(struct flip *x)
{
    if (x->pending)
        x->chose = ex_took(x->draws->drawn[x->asked].goid, &x->took);
    x->pending = false;
}

void flip_turn(struct flip *x, const struct turn_does *d)
{
    look_at_choice(x);
    if (x->first != ROW_NONE && x->until != FLIP_SECOND && !x->released &&
        x->done[x->first] == false && (x->first == 0 || x->done[x->first - 1]))
        meet(x, d);
    did(x, d->goid);
}

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
    const struct flip_drawn *d = c->kind == CHOICE_DRAW ? drawn_before(x->draws, x->last) : NULL;
    x->pending = d != NULL && x->asked != ROW_NONE && d == &x->draws->drawn[x->asked];
    return d != NULL && d->pick < c->n ? d->pick : 0;
}

static void flip_end(struct strategy *s, bool complete)
{
    (void)complete;
    look_at_choice((struct flip *)s);
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
    if (x->first != ROW_NONE && x->until == FLIP_SECOND) {
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
                                       int32_t second, enum flip_until until)
{
    x->s = (struct strategy){
        .name = "flip", .begin = flip_begin, .pick = flip_pick, .end = flip_end};
    x->first = first;
    x->second = second;
    x->until = until;
    x->released = x->begun = false;
    x->last = 0;
    x->met = (struct history_row){.op = OP_NOP};
    x->mets = 0;
    make_order(x);
    return explored_run(e, &x->s) ? &e->verdict : NULL;
}

/* ---- which orders ---- */

static bool depends(const struct history_row *a, const struct history_row *b)
{
    return a->goid != b->goid && !(a->reads && b->reads) &&
           same_object(a->object, a->count, b->object, b->count);
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

static bool is_full(const struct flip *x) { return x->h->npairs == HISTORY_PAIRS_MAX; }

/* May one more order be run? */
static bool may_run(struct flip *x)
{
    struct history *h = x->out;
    if (h->flips >= x->flips_max || is_full(x))
        h->flips_done = false;
    else
        h->flips++;
    return h->flips_done;
}

/* The run that just was ends in another way: so this decides. */
static bool ends_otherwise(const struct flip *x, const struct verdict *v)
{
    return v != NULL && v->kind != VERDICT_NONE && strcmp(v->what, x->what) != 0;
}

static struct history_pair *keep(struct flip *x, enum decides kind, int32_t first, int32_t second,
                                 const struct verdict *v)
{
    struct history_pair *p = &x->out->pair[x->out->npairs++];
    *p = (struct history_pair){.kind = kind, .first = first, .second = second};
    snprintf(p->instead, sizeof p->instead, "%s", v->kind == VERDICT_FINDING ? v->what : "");
    return p;
}

/* ---- two rows ---- */

static void try_pair(struct flip *x, struct explored *e, size_t i, size_t j)
{
    const struct verdict *v = run_order(x, e, (int32_t)i, (int32_t)j, FLIP_SECOND);
    if (ends_otherwise(x, v) && x->released)
        (void)keep(x, DECIDES_ORDER, (int32_t)i, (int32_t)j, v);
}

/* Both take one lock, and neither has taken it in between. Unlock comes after lock whatever the
 * schedule, so they are no neighbours; held back is who would have it first. */
static bool take_one_lock(const struct history *h, const struct history_row *a,
                          const struct history_row *b, int32_t i, int32_t j)
{
    const struct history_hold *first = NULL, *second = NULL;
    for (size_t k = 0; k < h->nholds; k++) {
        const struct history_hold *t = &h->holds[k];
        if (t->row == i && t->goid == a->goid)
            first = t;
        if (first == NULL || t->object != first->object || t->row <= i || t->row > j)
            continue;
        if (t->row == j && t->goid == b->goid)
            second = t;
        else if (t->goid == a->goid || t->goid == b->goid)
            return false;
    }
    return second != NULL && a->goid != b->goid && !(first->shared && second->shared);
}

static void try_pairs(struct flip *x, struct explored *e)
{
    const struct history *h = x->h;
    bool *after = order_of(h);
    for (size_t j = h->count; j-- > 0;)
        for (size_t i = j; i-- > 0;) {
            const struct history_row *a = &h->rows[i], *b = &h->rows[j];
            bool near = depends(a, b) && are_adjacent(after, h->count, i, j);
            if (!near && !take_one_lock(h, a, b, (int32_t)i, (int32_t)j))
                continue;
            if (!may_run(x)) {
                free(after);
                return;
            }
            try_pair(x, e, i, j);
        }
    free(after);
}

/* ---- one row, and what others would do first ---- */

static bool is_in_pair(const struct history *h, int32_t row)
{
    for (size_t i = 0; i < h->npairs; i++)
        if (h->pair[i].first == row || h->pair[i].second == row)
            return true;
    return false;
}

/* The same instruction of the same goroutine, behind row i. */
static int32_t row_of(const struct history *h, int32_t i, const struct history_row *met)
{
    for (int32_t k = i + 1; k < (int32_t)h->count; k++)
        if (h->rows[k].goid == met->goid && h->rows[k].pc == met->pc)
            return k;
    return ROW_NONE;
}

static bool try_row(struct flip *x, struct explored *e, int32_t i, enum flip_until until)
{
    const struct verdict *v = run_order(x, e, i, ROW_NONE, until);
    if (!ends_otherwise(x, v) || x->mets == 0)
        return false;
    struct history_pair *p = keep(x, DECIDES_BEFORE, i, row_of(x->h, i, &x->met), v);
    p->other = x->met;
    p->others = until == FLIP_ALL ? x->mets - 1 : 0;
    return true;
}

/* Only where no two rows decide, and one is enough. */
static void try_rows(struct flip *x, struct explored *e)
{
    const struct history *h = x->h;
    for (int32_t i = (int32_t)h->count; i-- > 0 && h->npairs == 0;) {
        const struct history_row *r = &h->rows[i];
        bool stuck = r->waits && r->woken_by == ROW_NONE;
        if (r->goid == 0 || stuck || r->count == 0 || is_in_pair(h, i))
            continue;
        for (int until = FLIP_MET; until <= FLIP_ALL; until++)
            if (!may_run(x) || try_row(x, e, i, (enum flip_until)until))
                break;
    }
}

/* ---- choices ---- */

static void try_draw(struct flip *x, struct explored *e, struct flip_drawn *d, uint32_t pick)
{
    uint32_t was = d->pick;
    d->pick = pick;
    const struct verdict *v = run_order(x, e, ROW_NONE, ROW_NONE, FLIP_SECOND);
    d->pick = was;
    if (!ends_otherwise(x, v))
        return;
    struct history_pair *p = keep(x, DECIDES_CHOICE, d->row, ROW_NONE, v);
    p->other.chose = x->chose;
    p->other.took = x->took;
}

static void try_draws(struct flip *x, struct explored *e)
{
    for (size_t k = x->draws->count; k-- > 0;) {
        struct flip_drawn *d = &x->draws->drawn[k];
        x->asked = (int32_t)k;
        for (uint32_t pick = 0; pick < d->n; pick++) {
            if (pick == d->pick || d->row == ROW_NONE)
                continue;
            if (!may_run(x))
                return;
            try_draw(x, e, d, pick);
        }
    }
    x->asked = ROW_NONE;
}

/* ---- all ---- */

void flip_all(struct flip *x, struct explored *e, struct history *h, struct flip_draws *draws,
              const char *what, uint64_t flips_max)
{
    if (h->count == 0 || h->count > ROWS_MAX)
        return;
    x->h = x->out = h;
    x->program = h->program;
    x->draws = draws;
    x->what = what;
    x->flips_max = flips_max;
    x->asked = ROW_NONE;
    x->order = x_alloc(h->count * sizeof *x->order);
    x->done = x_alloc(h->count * sizeof *x->done);
    const struct verdict *v = run_order(x, e, ROW_NONE, ROW_NONE, FLIP_SECOND);
    if (v != NULL && v->kind == VERDICT_FINDING && strcmp(v->what, what) == 0) {
        h->flips_done = true;
        try_draws(x, e);
        try_pairs(x, e);
        try_rows(x, e);
    }
    free(x->order);
    free(x->done);
}
