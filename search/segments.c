/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/segments.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

void segments_reset(struct segments *s) { s->count = s->nothers = 0; }

void segments_free(struct segments *s)
{
    free(s->list);
    free(s->others);
    *s = (struct segments){0};
}

static struct segment *one_more(struct segments *s)
{
    if (s->count == s->room) {
        s->room = s->room * 2 + 256;
        s->list = x_grow(s->list, s->room * sizeof *s->list);
    }
    return &s->list[s->count++];
}

static void add_other(struct segments *s, struct answer a)
{
    if (s->nothers == s->others_room) {
        s->others_room = s->others_room * 2 + 64;
        s->others = x_grow(s->others, s->others_room * sizeof *s->others);
    }
    s->others[s->nothers++] = a;
}

void segments_copy(struct segments *to, const struct segments *from)
{
    segments_reset(to);
    for (size_t i = 0; i < from->count; i++)
        *one_more(to) = from->list[i];
    for (size_t i = 0; i < from->nothers; i++)
        add_other(to, from->others[i]);
}

void segments_add(struct segments *s, const struct choice *c, uint32_t pick)
{
    if (c->option == NULL)
        add_other(s, answer_make(c->kind, c->n, pick));
    else if (s->count > 0 && s->list[s->count - 1].who == c->option[pick])
        s->list[s->count - 1].points++;
    else
        *one_more(s) = (struct segment){.who = c->option[pick], .points = 1};
}

void segments_join(struct segments *s, size_t from, size_t to)
{
    size_t kept = 0;
    s->list[to].points += s->list[from].points;
    for (size_t i = 0; i < s->count; i++) {
        if (i == from)
            continue;
        if (kept > 0 && s->list[kept - 1].who == s->list[i].who)
            s->list[kept - 1].points += s->list[i].points;
        else
            s->list[kept++] = s->list[i];
    }
    s->count = kept;
}

size_t segments_next(const struct segments *s, size_t at)
{
    size_t i = at + 1;
    while (i < s->count && s->list[i].who != s->list[at].who)
        i++;
    return i < s->count ? i : s->count;
}

/* ---- the strategy ---- */

static bool segments_begin(struct strategy *s)
{
    struct strategy_segments *r = (struct strategy_segments *)s;
    r->next = r->next_other = r->done = 0;
    bool first = !r->begun;
    r->begun = true;
    return first;
}

static uint32_t option_of(const struct choice *c, uint32_t who)
{
    uint32_t k = 0;
    while (k < c->n && c->option[k] != who)
        k++;
    return k;
}

static uint32_t segments_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_segments *r = (struct strategy_segments *)s;
    if (c->option == NULL)
        return r->next_other < r->of->nothers ? answer_pick(r->of->others[r->next_other++]) % c->n
                                              : 0;
    for (; r->next < r->of->count; r->next++, r->done = 0) {
        const struct segment *g = &r->of->list[r->next];
        uint32_t k = option_of(c, g->who);
        if (k == c->n || r->done == g->points)
            continue;
        r->done++;
        return k;
    }
    return 0;
}

static void segments_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

void strategy_segments_init(struct strategy_segments *r, const struct segments *of)
{
    *r = (struct strategy_segments){.s = {.name = "segments",
                                          .begin = segments_begin,
                                          .pick = segments_pick,
                                          .end = segments_end},
                                    .of = of};
}
