/* SPDX-License-Identifier: BSD-3-Clause */
/* Goroutines that timers made (time.AfterFunc, contexts' deadlines). Who armed the timer, and when,
 * leaves no event. We look at the goroutine that the made one wakes first, and take of
 *
 *   when that one began to wait, when it had been woken before, when it last woke somebody,
 *
 * and of the begin of the recording the moment from which the time to firing varies least over all
 * of the same function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/infer.h"
#include "replay/overlap.h"
#include "sim/base/alloc.h"

enum { EPOLL_NS = 1000000, FROM_BLOCK = 0, FROM_WAKE, FROM_POST, FROM_START, FROMS };

struct made {
    uint32_t g, by; /* by: whom it wakes first, REC_NONE */
    int64_t low, high;
    int64_t at[FROMS];    /* candidates; < 0: there is none */
    uint32_t wait[FROMS]; /* the wait or post that stands for it */
};

static uint32_t first_post(const struct recording *r, uint32_t g)
{
    struct rec_reader rd;
    struct rec_entry e;
    rec_rewind(&rd, r, g);
    while (rec_next(&rd, &e))
        if (e.what == REC_POST && !r->gs[r->waits[e.a].g].system)
            return (uint32_t)e.a;
    return REC_NONE;
}

/* A wait that one of those has ended of whom something is asked. */
struct wake {
    int64_t woken;
    uint32_t wait;
};

static int by_woken(const void *pa, const void *pb)
{
    const struct wake *a = pa, *b = pb;
    if (a->woken != b->woken)
        return a->woken < b->woken ? -1 : 1;
    return a->wait < b->wait ? -1 : a->wait > b->wait;
}

/* Ends with one that never was. */
static struct wake *wakes_of(const struct recording *r, const bool *asked)
{
    struct wake *all = NULL;
    uint32_t n = 0, room = 0;
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        const struct rec_wait *w = &r->waits[i];
        if (w->waker == REC_NONE || !asked[w->waker])
            continue;
        X_ROOM(all, n, room, 64);
        all[n++] = (struct wake){w->woken, i};
    }
    if (n > 0)
        qsort(all, n, sizeof *all, by_woken);
    X_ROOM(all, n, room, 64);
    all[n] = (struct wake){INT64_MAX, REC_NONE};
    return all;
}

/* Of every wait that somebody may be interested in, in their order: what its goroutine did last
 * before it. Waits are numbered in the order in which they began. */
static void candidates(struct recording *r, struct made **of, size_t nof)
{
    uint32_t *last_wait = x_alloc((r->ngs + 1) * sizeof *last_wait),
             *last_post = x_alloc((r->ngs + 1) * sizeof *last_post);
    bool *asked = x_alloc(r->ngs + 1);
    memset(last_wait, 0xff, (r->ngs + 1) * sizeof *last_wait);
    memset(last_post, 0xff, (r->ngs + 1) * sizeof *last_post);
    memset(asked, 0, r->ngs + 1);
    for (size_t i = 0; i < nof; i++)
        asked[of[i]->by] = true;
    struct wake *wakes = wakes_of(r, asked), *next = wakes;
    size_t at = 0;
    for (uint32_t i = 0; rec_is_wait(r, i) && at < nof; i++) {
        struct rec_wait *w = &r->waits[i];
        struct made *m = of[at]->wait[FROM_BLOCK] == i ? of[at++] : NULL;
        for (; next->wait != REC_NONE && next->woken <= w->from; next++)
            last_post[r->waits[next->wait].waker] = next->wait;
        if (m != NULL) {
            uint32_t before = last_wait[w->g], post = last_post[w->g];
            m->at[FROM_BLOCK] = w->from;
            m->at[FROM_WAKE] = before != REC_NONE ? r->waits[before].on : -1;
            m->wait[FROM_WAKE] = before;
            m->at[FROM_POST] = post != REC_NONE ? r->waits[post].woken : -1;
            m->wait[FROM_POST] = post;
        }
        last_wait[w->g] = i;
    }
    free(last_wait);
    free(last_post);
    free(asked);
    free(wakes);
}

static int by_first_post(const void *pa, const void *pb)
{
    const struct made *a = *(const struct made *const *)pa, *b = *(const struct made *const *)pb;
    return a->wait[FROM_BLOCK] < b->wait[FROM_BLOCK] ? -1
                                                     : a->wait[FROM_BLOCK] > b->wait[FROM_BLOCK];
}

static int by_function(const void *pa, const void *pb)
{
    const struct made *a = *(const struct made *const *)pa, *b = *(const struct made *const *)pb;
    return a->g < b->g ? -1 : a->g > b->g;
}

static void arm(struct recording *r, const struct made *m, int from, int64_t after_ns)
{
    static const uint8_t when[FROMS] = {WHEN_BLOCKS, WHEN_WAKES, WHEN_POSTS, WHEN_BLOCKS};
    struct rec_arm a = {.by = m->by, .child = m->g, .when = when[from], .after_ns = after_ns};
    a.wait = from == FROM_START ? REC_NONE : m->wait[from];
    if (from == FROM_START)
        a.by = REC_NONE; /* the replay's main goroutine */
    X_ROOM(r->arms, r->narms, r->arms_room, 64);
    r->arms[r->narms++] = a;
}

/* All of one function: the candidate that fits most of them with one length. */
static size_t choose(struct recording *r, struct made **m, size_t n)
{
    struct bounds *b = x_alloc((n + 1) * sizeof *b);
    size_t best = 0;
    int from = FROM_START;
    int64_t low = 0, high = 0;
    for (int c = 0; c < FROMS; c++) {
        int64_t l, h;
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (m[i]->at[c] >= 0 && m[i]->high > m[i]->at[c])
                b[k++] = (struct bounds){m[i]->low - m[i]->at[c], m[i]->high - m[i]->at[c]};
        size_t fits = k > 0 ? overlap_most(b, k, &l, &h) : 0;
        if (fits > best) {
            best = fits;
            from = c;
            low = l;
            high = h;
        }
    }
    bool constant = best * 10 >= n * 9 && n > 1;
    for (size_t i = 0; i < n; i++) {
        int c = m[i]->at[from] >= 0 ? from : FROM_START;
        int64_t own = (m[i]->low + m[i]->high) / 2 - m[i]->at[c];
        int64_t ns = constant && c == from ? overlap_roundest(low > 0 ? low : 1, high) : own;
        arm(r, m[i], c, ns > 0 ? ns : 1);
    }
    free(b);
    return constant ? n : 0;
}

static struct made made_of(struct recording *r, uint32_t g)
{
    struct rec_g *x = &r->gs[g];
    struct made m = {.g = g, .by = REC_NONE, .high = x->born, .at = {-1, -1, -1, 0}};
    m.low = x->born_low > x->born - EPOLL_NS ? x->born_low : x->born - EPOLL_NS;
    if (m.low < 0)
        m.low = 0;
    return m;
}

static int by_place(const void *pa, const void *pb)
{
    const struct rec_arm *a = pa, *b = pb;
    if (a->by != b->by)
        return a->by < b->by ? -1 : 1;
    if (a->wait != b->wait)
        return a->wait < b->wait ? -1 : 1;
    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return a->child < b->child ? -1 : a->child > b->child;
}

/* Goroutines of a name lie behind each other: names are few, and one text each. */
static size_t by_name(struct recording *r, struct made **m, size_t n)
{
    size_t constant = 0;
    struct made **same = x_alloc((n + 1) * sizeof *same);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (m[i] == NULL)
            continue;
        const char *name = r->gs[m[i]->g].name;
        for (size_t j = i; j < n; j++)
            if (m[j] != NULL && strcmp(r->gs[m[j]->g].name, name) == 0) {
                same[k++] = m[j];
                m[j] = NULL;
            }
        constant += choose(r, same, k);
    }
    free(same);
    return constant;
}

void infer_timers(struct recording *r, struct infer_found *f)
{
    struct made *all = NULL;
    size_t n = 0, room = 0, k = 0;
    for (uint32_t g = 0; g < r->ngs; g++)
        if (r->gs[g].by_timer && !r->gs[g].system && r->gs[g].creator == REC_NONE) {
            X_ROOM(all, n, room, 64);
            all[n++] = made_of(r, g);
        }
    f->of = f->count = n;
    if (n == 0)
        return;
    struct made **of = x_alloc(n * sizeof *of), **list = x_alloc(n * sizeof *list);
    size_t nof = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t post = first_post(r, all[i].g);
        list[k++] = &all[i];
        if (post == REC_NONE)
            continue;
        all[i].by = r->waits[post].g;
        all[i].wait[FROM_BLOCK] = post;
        of[nof++] = &all[i];
    }
    qsort(of, nof, sizeof *of, by_first_post);
    candidates(r, of, nof);
    qsort(list, k, sizeof *list, by_function);
    size_t constant = by_name(r, list, k);
    qsort(r->arms, r->narms, sizeof *r->arms, by_place);
    f->confidence = (int)(constant * 1000 / n);
    snprintf(f->text, sizeof f->text, "%zu with one length for their function", constant);
    free(all);
    free(of);
    free(list);
}
