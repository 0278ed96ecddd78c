/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of a plain recording. Who waited for a Mutex waited because somebody had it at that moment
 * on another P. If he had it only while he ran, he gives it back before he stops: at one P, where
 * goroutines take turns, nobody meets it. Not so if he waited for something else meanwhile, or
 * makes calls in which a P is taken from him. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/infer.h"
#include "sim/base/alloc.h"

enum { CALL_NS = 20000 }; /* sysmon takes the P of whoever is in the kernel for longer */

/* Who waited already when the window opened has no site. */
static bool is_lock(const struct recording *r, const struct rec_wait *w)
{
    enum rec_leaf leaf = w->site < r->nsites ? r->sites[w->site].leaf : LEAF_OTHER;
    return leaf == LEAF_MUTEX || leaf == LEAF_RLOCK || leaf == LEAF_RWLOCK;
}

static bool calls_for_long(const struct recording *r, uint32_t g)
{
    struct rec_reader rd;
    struct rec_entry e;
    for (rec_rewind(&rd, r, g); rec_next(&rd, &e);)
        if (e.what == REC_SYS && e.a > CALL_NS)
            return true;
    return false;
}

/* The waits for other things than locks: those of goroutine g are waits[first[g]] to before
 * waits[first[g + 1]], in order. */
struct others {
    uint32_t *first, *waits;
    bool *calls; /* by goroutine */
};

static void look(const struct recording *r, uint32_t nlocks, struct others *o)
{
    o->first = x_alloc(((size_t)r->ngs + 2) * sizeof *o->first);
    o->waits = x_alloc(((size_t)r->nwaits - nlocks + 1) * sizeof *o->waits);
    o->calls = x_alloc((size_t)r->ngs + 1);
    memset(o->first, 0, ((size_t)r->ngs + 2) * sizeof *o->first);
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        o->first[r->waits[i].g + 2] += !is_lock(r, &r->waits[i]);
    for (uint32_t g = 0; g < r->ngs; g++) {
        o->first[g + 2] += o->first[g + 1];
        o->calls[g] = calls_for_long(r, g);
    }
    for (uint32_t i = 0; rec_is_wait(r, i); i++) /* first[g + 1] ends as where g's end */
        if (!is_lock(r, &r->waits[i]))
            o->waits[o->first[r->waits[i].g + 1]++] = i;
}

/* The last one that began before the lock was free: is it of that time? */
static bool waited_meanwhile(const struct recording *r, const struct others *o,
                             const struct rec_wait *w)
{
    uint32_t low = o->first[w->waker], high = o->first[w->waker + 1], from = low;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->waits[o->waits[mid]].from < w->woken)
            low = mid + 1;
        else
            high = mid;
    }
    return low > from && r->waits[o->waits[low - 1]].on > w->from;
}

void infer_locks(struct recording *r, struct infer_found *f)
{
    struct others o;
    uint32_t locks = 0;
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        locks += is_lock(r, &r->waits[i]);
    if (locks == 0)
        return;
    look(r, locks, &o);
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        struct rec_wait *w = &r->waits[i];
        if (!is_lock(r, w) || w->level != 1 || w->waker == REC_NONE || w->woken == INT64_MAX)
            continue;
        f->of++;
        w->brief = !o.calls[w->waker] && !waited_meanwhile(r, &o, w);
        f->count += w->brief;
    }
    free(o.first);
    free(o.waits);
    free(o.calls);
    if (f->of > 0)
        snprintf(f->text, sizeof f->text, "nobody meets them at one P");
}
