/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait groups. Who woke a WaitGroup.Wait was the last one to do Done; the others left no event, so
 * without this the waiter goes on when the recorded last one is early.
 *
 * Members: goroutines made by who made the waker, born before the wake, that ended between this
 * waiter's wake before and this one; and the waker. Each does Done when it ends. A goroutine that
 * ends in two such intervals belongs to the first wait that claims it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/infer.h"
#include "sim/base/alloc.h"

/* Goroutines by (creator, end): who may be members lie next to each other. */
struct ended {
    uint32_t creator, g;
    int64_t at;
};

static int by_creator(const void *pa, const void *pb)
{
    const struct ended *a = pa, *b = pb;
    if (a->creator != b->creator)
        return a->creator < b->creator ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->g < b->g ? -1 : a->g > b->g;
}

static bool is_candidate(const struct recording *r, const struct rec_wait *w)
{
    return w->level == 1 && w->how == HOW_TOKEN && w->waker != REC_NONE && w->site != REC_NONE &&
           r->sites[w->site].leaf == LEAF_WAITGROUP && !r->gs[w->g].system;
}

/* The first of them with this creator that ended at `at` or later. */
static size_t find(const struct ended *e, size_t n, uint32_t creator, int64_t at)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e[mid].creator < creator || (e[mid].creator == creator && e[mid].at < at))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static uint32_t join(struct recording *r, uint32_t g, uint32_t object)
{
    if (r->gs[g].done != REC_NONE || r->gs[g].ended == INT64_MAX)
        return 0;
    r->gs[g].done = object;
    return 1;
}

static uint32_t take_members(struct recording *r, const struct ended *e, size_t n,
                             const struct rec_wait *w, int64_t after, uint32_t object)
{
    uint32_t creator = r->gs[w->waker].creator, members = join(r, w->waker, object);
    for (size_t i = find(e, n, creator, after); i < n && e[i].creator == creator; i++) {
        if (e[i].at > w->woken)
            break;
        if (r->gs[e[i].g].born <= w->woken)
            members += join(r, e[i].g, object);
    }
    return members;
}

void infer_waitgroups(struct recording *r, struct infer_found *f)
{
    struct ended *e = x_alloc((r->ngs + 1) * sizeof *e);
    int64_t *before = x_alloc((r->ngs + 1) * sizeof *before); /* wake before, of each waiter */
    size_t n = 0;
    uint64_t members = 0;
    for (uint32_t g = 0; g < r->ngs; g++) {
        before[g] = 0;
        if (r->gs[g].ended != INT64_MAX && r->gs[g].creator != REC_NONE && !r->gs[g].system)
            e[n++] = (struct ended){r->gs[g].creator, g, r->gs[g].ended};
    }
    qsort(e, n, sizeof *e, by_creator);
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        struct rec_wait *w = &r->waits[i];
        if (!is_candidate(r, w))
            continue;
        f->of++;
        uint32_t object = rec_add_object(r, OBJ_WAITGROUP, 0, 1, "");
        uint32_t got = take_members(r, e, n, w, before[w->g], object);
        before[w->g] = w->woken;
        if (r->gs[w->waker].done != object) {
            r->nobjects--; /* its waker goes on, or belongs to another: nobody to say Done last */
            for (uint32_t g = 0; got > 0 && g < r->ngs; g++)
                if (r->gs[g].done == object)
                    r->gs[g].done = REC_NONE;
            continue;
        }
        r->objects[object].members = got;
        w->how = HOW_OBJECT;
        w->level = 2;
        w->object = object;
        members += got;
        f->count++;
    }
    f->confidence = f->of > 0 ? (int)(f->count * 1000 / f->of) : 0;
    snprintf(f->text, sizeof f->text, "%llu members", (unsigned long long)members);
    free(e);
    free(before);
}
