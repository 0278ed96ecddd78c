/* SPDX-License-Identifier: BSD-3-Clause */
/* AfterFuncs of a deep recording: it says when one was made, for how long, and when it was stopped.
 * Timers go off in the order in which they are due, so the goroutine that a timer made belongs to
 * the earliest due one that has made none and was not stopped before. Near its time a timer may
 * have been stopped or not; so one is preferred whose maker had been about the very object that
 * the goroutine turns to first (a context is locked when its timer is made, and when it goes off).
 */
#include <stdio.h>
#include <stdlib.h>

#include "replay/infer.h"
#include "sim/base/alloc.h"

/* The timer was set up to so long before the event that says so. */
enum { SLACK_NS = 20000 };
/* No timer is later than this. */
enum { LATE_NS = 1000000000 };

static int by_due(const void *pa, const void *pb)
{
    const struct rec_after *a = *(struct rec_after *const *)pa, *b = *(struct rec_after *const *)pb;
    int64_t x = a->at + a->ns, y = b->at + b->ns;
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

/* The object of the goroutine's first deed; REC_NONE: it has none. */
static uint32_t first_object(const struct recording *r, uint32_t g)
{
    struct rec_reader rd;
    struct rec_entry e;
    for (rec_rewind(&rd, r, g); rec_next(&rd, &e);)
        if (e.what == REC_DEED && e.b != 0 && (e.a & 0xff) != DEED_afterfunc)
            return (uint32_t)(e.b - 1);
    return REC_NONE;
}

static struct rec_after *find(const struct recording *r, struct rec_after **by, uint32_t n,
                              uint32_t g)
{
    struct rec_after *earliest = NULL;
    int64_t born = r->gs[g].born;
    uint32_t object = first_object(r, g);
    for (uint32_t i = 0; i < n && by[i]->at + by[i]->ns <= born + SLACK_NS; i++) {
        if (by[i]->child != REC_NONE || by[i]->at > born)
            continue;
        if (object != REC_NONE && by[i]->near == object)
            return by[i];
        if (earliest == NULL && by[i]->stopped > by[i]->at + by[i]->ns)
            earliest = by[i];
    }
    return earliest;
}

void infer_afters(struct recording *r, struct infer_found *f)
{
    struct rec_after **by = x_alloc((r->nafters + 1) * sizeof(struct rec_after *));
    for (uint32_t i = 0; i < r->nafters; i++)
        by[i] = &r->afters[i];
    uint32_t first = 0;
    qsort(by, r->nafters, sizeof *by, by_due);
    for (uint32_t g = 0; g < r->ngs && r->nafters > 0; g++) {
        if (!r->gs[g].by_timer || r->gs[g].system || r->gs[g].born < 0)
            continue;
        while (first < r->nafters && (by[first]->child != REC_NONE ||
                                      by[first]->at + by[first]->ns + LATE_NS < r->gs[g].born))
            first++;
        struct rec_after *a = find(r, by + first, r->nafters - first, g);
        f->of++;
        if (a == NULL)
            continue;
        a->child = g;
        r->gs[g].creator = a->g;
        f->count++;
    }
    f->confidence = f->of > 0 ? (int)(f->count * 1000 / f->of) : 0;
    snprintf(f->text, sizeof f->text, "of the goroutines that timers made");
    free(by);
}
