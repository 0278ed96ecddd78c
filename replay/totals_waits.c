/* SPDX-License-Identifier: BSD-3-Clause */
/* Run queues of a trace: how long goroutines were runnable and did not run, and whether a P was
 * idle meanwhile. Which queue a goroutine was in, a trace does not say.
 *
 * A clock runs while at least one P is idle and the world is not stopped; what it says at both ends
 * of a wait is how much of the wait need not have been. A stretch in which something could run
 * and a P was idle is an episode: always some microseconds long, as a thread has to wake. */
#include "replay/totals_int.h"

#include <stdlib.h>

static bool idle_runs(const struct totals_state *s) { return s->nidle > 0 && s->stw == 0; }

int64_t idle_clock(const struct totals *t, int64_t now)
{
    const struct totals_state *s = t->s;
    return s->idle_sum + (idle_runs(s) ? now - s->idle_since : 0);
}

/* Keeps the greatest: a heap with the least on top. */
static bool less_wait(const struct queue_wait *a, const struct queue_wait *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->begin > b->begin);
}

static void keep_wait(struct totals *t, struct queue_wait w)
{
    struct queue_wait *h = t->longest;
    size_t i;
    if (t->nlongest < WAITS_MAX) {
        i = t->nlongest++;
        for (; i > 0 && less_wait(&w, &h[(i - 1) / 2]); i = (i - 1) / 2)
            h[i] = h[(i - 1) / 2];
        h[i] = w;
        return;
    }
    if (!less_wait(&h[0], &w))
        return;
    for (i = 0; 2 * i + 1 < WAITS_MAX;) {
        size_t least = 2 * i + 1;
        if (least + 1 < WAITS_MAX && less_wait(&h[least + 1], &h[least]))
            least++;
        if (!less_wait(&h[least], &w))
            break;
        h[i] = h[least];
        i = least;
    }
    h[i] = w;
}

/* Few are kept, and most are shorter than all of those: the least of them is enough to know. */
static void keep_unused(struct totals *t, const struct unused *u)
{
    size_t least = 0;
    if (t->nunused < UNUSED_MAX) {
        t->unused[t->nunused++] = *u;
        return;
    }
    for (size_t i = 1; i < UNUSED_MAX; i++)
        if (t->unused[i].ns < t->unused[least].ns)
            least = i;
    if (t->unused[least].ns < u->ns)
        t->unused[least] = *u;
}

/* ---- episodes ---- */

static void unused_begin(struct totals *t, int64_t now)
{
    struct totals_state *s = t->s;
    const struct live_g *g = s->queue.next;
    s->unused_open = true;
    s->unused = (struct unused){.begin = now, .g = g->row->id, .name = g->row->name};
    s->unused.p = TRACE_NONE;
    for (size_t i = 0; i < t->nps; i++) {
        const struct live_p *p = id_find(&s->ps, t->ps[i].id);
        if (p->usable && t->ps[i].id < s->unused.p)
            s->unused.p = t->ps[i].id;
    }
}

static void unused_end(struct totals *t, int64_t now)
{
    struct totals_state *s = t->s;
    s->unused_open = false;
    s->unused.ns = now - s->unused.begin;
    if (s->unused.ns <= 0)
        return;
    t->unused_count++;
    t->unused_ns += s->unused.ns;
    hist_record(&t->unused_hist, s->unused.ns);
    keep_unused(t, &s->unused);
}

/* Called whenever the queue or the idle Ps changed: an episode may begin or end. */
static void changed(struct totals *t, int64_t now)
{
    struct totals_state *s = t->s;
    bool is = s->nqueue > 0 && idle_runs(s);
    if (is && !s->unused_open)
        unused_begin(t, now);
    if (!is && s->unused_open)
        unused_end(t, now);
    if (!is)
        return;
    s->unused.gs = s->nqueue > s->unused.gs ? (uint32_t)s->nqueue : s->unused.gs;
    s->unused.procs = s->nidle > s->unused.procs ? (uint32_t)s->nidle : s->unused.procs;
}

/* Brings the clock's sum up to now: whether it goes on may change here. */
static void clock_stop(struct totals *t, int64_t now)
{
    t->s->idle_sum = idle_clock(t, now);
    t->s->idle_since = now;
}

/* ---- queue ---- */

void queue_enter(struct totals *t, struct live_g *g, int64_t now)
{
    struct live_g *q = &t->s->queue;
    g->queued = g->since;
    g->idle_at = g->since < now ? 0 : idle_clock(t, now); /* runnable as the trace began */
    g->next = q;
    g->prev = q->prev;
    q->prev->next = g;
    q->prev = g;
    t->s->nqueue++;
    changed(t, now);
}

void queue_leave(struct totals *t, struct live_g *g, uint64_t p, int64_t now)
{
    int64_t idle = idle_clock(t, now) - g->idle_at;
    g->prev->next = g->next;
    g->next->prev = g->prev;
    t->s->nqueue--;
    changed(t, now);
    if (p == TRACE_NONE)
        return;
    int64_t begin = g->queued, ns = now - begin;
    hist_record(&t->queue, ns);
    if (g->unblocked)
        hist_record(&t->queue_unblocked, ns);
    g->row->idle_ns += idle;
    t->queue_idle_ns += idle;
    keep_wait(t, (struct queue_wait){.g = g->row->id,
                                     .name = g->row->name,
                                     .p = p,
                                     .begin = begin,
                                     .ns = ns,
                                     .idle_ns = idle});
}

/* ---- Ps ---- */

void p_idle(struct totals *t, struct live_p *p, bool idle, int64_t now)
{
    bool usable = idle && (t->s->procs == 0 || t->ps[p->at].id < t->s->procs);
    p->idle = idle;
    if (usable == p->usable)
        return;
    clock_stop(t, now);
    p->usable = usable;
    t->s->nidle += usable ? 1 : (uint64_t)-1;
    changed(t, now);
}

void procs_change(struct totals *t, uint64_t procs, int64_t now)
{
    t->s->procs = procs;
    for (size_t i = 0; i < t->nps; i++) {
        struct live_p *p = id_find(&t->s->ps, t->ps[i].id);
        p_idle(t, p, p->idle, now);
    }
}

void stw_change(struct totals *t, int delta, int64_t now)
{
    clock_stop(t, now);
    t->s->stw += (uint64_t)(int64_t)delta;
    changed(t, now);
}

/* ---- the end ---- */

static int longest_first(const void *a, const void *b)
{
    const struct queue_wait *x = a, *y = b;
    return less_wait(x, y) ? 1 : less_wait(y, x) ? -1 : 0;
}

static int most_unused_first(const void *a, const void *b)
{
    const struct unused *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void waits_end(struct totals *t, int64_t now)
{
    if (t->s->unused_open)
        unused_end(t, now);
    for (const struct live_g *g = t->s->queue.next; g != &t->s->queue; g = g->next)
        keep_wait(t, (struct queue_wait){.g = g->row->id,
                                         .name = g->row->name,
                                         .p = TRACE_NONE, /* it never ran again */
                                         .begin = g->queued,
                                         .ns = now - g->queued,
                                         .idle_ns = idle_clock(t, now) - g->idle_at});
    qsort(t->longest, t->nlongest, sizeof *t->longest, longest_first);
    qsort(t->unused, t->nunused, sizeof *t->unused, most_unused_first);
}
