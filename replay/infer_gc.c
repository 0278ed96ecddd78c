/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector. What it did is not replayed: the model's does it again. Goroutines allocate what
 * the heap's rises say, each on the P where it was; what there is to mark is what collections left
 * on the heap; the rate is that at which workers and assists marked it; GOGC is the one that gives
 * the goals. When a collection begins, who works for it and who has to assist is the model's
 * business then. Without a collection that ended in the window nothing of this is known. */
#include <stdio.h>

#include "replay/infer.h"

enum { KB = 1024, HEAP_MIN_KB = 4096, PERCENT_MAX = 10000, RATE_MAX = 1000000 };

static int64_t at_most(int64_t x, int64_t most) { return x < most ? x : most; }

/* GOGC raises the goal above what was marked, and from 4 MB at least: the goal is the higher of the
 * two, so GOGC is the lower of what each would need. */
static int64_t percent_of(int64_t marked, int64_t goal)
{
    int64_t above = (goal - marked) * 100 / (marked > 0 ? marked : 1);
    int64_t least = (goal * 100 + HEAP_MIN_KB / 2) / HEAP_MIN_KB;
    int64_t percent = above < least ? above : least;
    return at_most(percent > 0 ? percent : 1, PERCENT_MAX);
}

void infer_gc(struct recording *r, struct infer_found *f)
{
    struct rec_gc *gc = &r->gc;
    f->of = r->sums.gcs;
    if (gc->paced == 0 || gc->marked == 0)
        return;
    int64_t marked = gc->marked / gc->paced, goal = gc->goal / gc->paced;
    gc->live = marked * KB;
    gc->percent = percent_of(marked, goal);
    gc->ns_per_kb = at_most((gc->worker_ns + gc->assist_ns) / gc->marked, RATE_MAX);
    gc->replayed = true;
    f->count = (uint64_t)gc->paced;
    f->of = f->of > f->count ? f->of : f->count;
    snprintf(f->text, sizeof f->text, "%lld KB to mark, %lld ns each, GOGC %lld", (long long)marked,
             (long long)gc->ns_per_kb, (long long)gc->percent);
}
