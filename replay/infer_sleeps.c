/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeps. A trace has when a sleeper was woken, not for how long it wanted to sleep; late wakes
 * come from busy Ps, which a replay at other settings has elsewhere.
 *
 * A timer's due time lies between the scheduler's look at that P before (due_low) and the wake.
 * The sleepers of one look are spread evenly between the two, in order. Where one length lies in
 * nine of ten intervals of a site, all of the site have it: the roundest number in the part that
 * most of them share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/infer.h"
#include "replay/overlap.h"
#include "sim/base/alloc.h"

enum { EPOLL_NS = 1000000, SITE_MIN = 3 };

/* A scheduler that wakes who waits for a channel has run its timer. */
static bool is_sleep(const struct recording *r, const struct rec_wait *w)
{
    if (w->how != HOW_TOKEN || w->waker != REC_NONE || w->woken == INT64_MAX ||
        w->site == REC_NONE || r->gs[w->g].system)
        return false;
    enum rec_leaf leaf = r->sites[w->site].leaf;
    return leaf == LEAF_SLEEP || (w->by_sched && (leaf == LEAF_SELECT || leaf == LEAF_CHANRECV));
}

/* An idle P looks when its poll's timeout is over, which is in milliseconds. */
static int64_t low_of(const struct rec_wait *w)
{
    int64_t low = w->due_low;
    if (low < w->woken - EPOLL_NS && !w->look_busy)
        low = w->woken - EPOLL_NS;
    return low > w->from ? low : w->from;
}

struct sleep {
    uint32_t wait, site;
    struct bounds is; /* of the length */
};

static int by_site(const void *pa, const void *pb)
{
    const struct sleep *a = pa, *b = pb;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->wait < b->wait ? -1 : a->wait > b->wait;
}

/* By the scheduler's look before (due_low), then by the wake: the sleepers of one look are
 * neighbours. */
static int by_wake(const void *pa, const void *pb)
{
    const struct rec_wait *a = *(const struct rec_wait *const *)pa,
                          *b = *(const struct rec_wait *const *)pb;
    if (a->due_low != b->due_low)
        return a->due_low < b->due_low ? -1 : 1;
    return a->woken < b->woken ? -1 : a->woken > b->woken;
}

static void spread(struct recording *r, uint64_t n)
{
    struct rec_wait **in = x_alloc((n + 1) * sizeof *in);
    uint64_t k = 0;
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        if (is_sleep(r, &r->waits[i]))
            in[k++] = &r->waits[i];
    qsort(in, k, sizeof *in, by_wake);
    for (uint64_t i = 0, end; i < k; i = end) {
        for (end = i + 1; end < k && in[end]->due_low == in[i]->due_low;)
            end++;
        for (uint64_t j = i; j < end; j++) {
            int64_t low = low_of(in[j]), room = in[j]->woken - low;
            int64_t due = low + room * (int64_t)(j - i + 1) / (int64_t)(end - i + 1);
            in[j]->sleep_ns = due - in[j]->from;
        }
    }
    free(in);
}

static uint64_t constants(struct recording *r, struct sleep *s, uint64_t n)
{
    uint64_t found = 0;
    struct bounds *b = x_alloc(n * sizeof *b);
    qsort(s, n, sizeof *s, by_site);
    for (uint64_t i = 0, end; i < n; i = end) {
        int64_t low = 0, high = 0;
        for (end = i + 1; end < n && s[end].site == s[i].site;)
            end++;
        size_t of = end - i;
        for (uint64_t k = i; k < end; k++)
            b[k - i] = s[k].is;
        size_t in = overlap_most(b, of, &low, &high);
        if (of < SITE_MIN || in * 10 < of * 9)
            continue;
        int64_t ns = overlap_roundest(low, high);
        for (uint64_t j = i; j < end; j++)
            r->waits[s[j].wait].sleep_ns = ns;
        found += of;
    }
    free(b);
    return found;
}

void infer_sleeps(struct recording *r, struct infer_found *f)
{
    struct sleep *s = NULL;
    uint64_t n = 0, room = 0;
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        struct rec_wait *w = &r->waits[i];
        if (!is_sleep(r, w))
            continue;
        X_ROOM(s, n, room, 64);
        s[n++] = (struct sleep){i, w->site, {low_of(w) - w->from, w->woken - w->from}};
    }
    spread(r, n);
    uint64_t constant = n > 0 ? constants(r, s, n) : 0;
    for (uint64_t i = 0; i < n; i++) {
        r->waits[s[i].wait].how = HOW_TIMER;
        r->waits[s[i].wait].level = 2;
    }
    f->count = f->of = n;
    f->confidence = n > 0 ? (int)(constant * 1000 / n) : 0;
    snprintf(f->text, sizeof f->text, "%llu of a constant length", (unsigned long long)constant);
    free(s);
}
