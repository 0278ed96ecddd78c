/* SPDX-License-Identifier: BSD-3-Clause */
/* What waking a thread cost on the machine of the recording, where nobody measured it there.
 *
 * Who wakes a goroutine while a P is idle also wakes a thread for that P, and pays for the call as
 * running time: the stretches behind such wakes are longer than those behind other wakes from the
 * same place, by as much as the call took. How long it took until the woken one ran, on a thread
 * that had slept, is call and latency together. At one P nobody wakes threads, so such a recording
 * says nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "replay/infer.h"
#include "replay/overlap.h"
#include "sim/base/alloc.h"

enum {
    WAKES_MIN = 30, /* to say anything */
    SITE_MIN = 5,   /* stretches of each kind at a place */
    STRETCHES_MAX = 1 << 18,
    OTHER_NS = 700, /* of a wake: what the scheduler does on both sides */
    CALL_MAX = 100000,
    LATENCY_MIN = 200
};

struct stretch {
    uint32_t site;
    bool woke; /* a thread, too */
    int64_t ns;
};

static int by_place(const void *pa, const void *pb)
{
    const struct stretch *a = pa, *b = pb;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->woke != b->woke)
        return a->woke ? 1 : -1;
    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* Is it a wake or a start? Then `s` is what is known of the stretch that follows. */
static bool begins(const struct recording *r, const struct rec_entry *e, struct stretch *s)
{
    if (e->what == REC_POST)
        *s = (struct stretch){r->waits[e->a].by_site, r->waits[e->a].woke_p, 0};
    else if (e->what == REC_GO)
        *s = (struct stretch){r->gs[e->a].go_site, r->gs[e->a].woke_p, 0};
    return e->what == REC_POST || e->what == REC_GO;
}

static size_t stretches(const struct recording *r, struct stretch *all)
{
    size_t n = 0;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_reader rd;
        struct rec_entry e;
        struct stretch s = {0};
        bool after = false;
        if (r->gs[g].system)
            continue;
        for (rec_rewind(&rd, r, g); rec_next(&rd, &e) && n < STRETCHES_MAX;) {
            if (after && e.what == REC_CPU) {
                s.ns = (int64_t)e.a;
                all[n++] = s;
            }
            after = begins(r, &e, &s);
        }
    }
    return n;
}

/* The medians' difference at each place, weighted by how often a thread was woken there; < 0: there
 * are too few. */
static int64_t call_of(struct stretch *all, size_t n)
{
    int64_t sum = 0, weight = 0;
    qsort(all, n, sizeof *all, by_place);
    for (size_t i = 0, end, woke; i < n; i = end) {
        for (end = i; end < n && all[end].site == all[i].site && !all[end].woke;)
            end++;
        for (woke = end; end < n && all[end].site == all[i].site;)
            end++;
        if (woke - i < SITE_MIN || end - woke < SITE_MIN)
            continue;
        int64_t of = (int64_t)(end - woke);
        sum += of * (all[woke + (end - woke) / 2].ns - all[i + (woke - i) / 2].ns);
        weight += of;
    }
    if (weight < WAKES_MIN)
        return -1;
    return sum < 0 ? 0 : sum / weight < CALL_MAX ? sum / weight : CALL_MAX;
}

/* The lower quartile: some have waited for others first. */
static int64_t usual(struct rec_samples *s)
{
    qsort(s->ns, s->count, sizeof *s->ns, overlap_by_length);
    return s->ns[s->count / 4];
}

void infer_calibrate(struct recording *r, struct infer_found *f)
{
    f->of = r->wakes.count;
    if (r->wakes.count < WAKES_MIN)
        return;
    struct stretch *all = x_alloc(STRETCHES_MAX * sizeof *all);
    int64_t wake = usual(&r->wakes), call = call_of(all, stretches(r, all));
    free(all);
    wake = wake > OTHER_NS ? wake - OTHER_NS : 0;
    if (call < wake / 8 || call > wake)
        call = wake / 2;
    r->wake_call_ns = call;
    r->wake_latency_ns = wake - call > LATENCY_MIN ? wake - call : LATENCY_MIN;
    f->count = f->of;
    f->confidence = 1000;
    snprintf(f->text, sizeof f->text, "%lld ns for the call, %lld ns until the thread runs",
             (long long)r->wake_call_ns, (long long)r->wake_latency_ns);
}
