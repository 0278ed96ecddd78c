/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_ATTRIBUTION_H
#define GMPSIM_RUN_ATTRIBUTION_H

/* Where the time of spans went, of the slow ones above all. A listener of transitions.h.
 *
 * A goroutine that begins or ends spans has a *track*: the sum of what it did since then, by part.
 * A span's share is the difference of two states of its goroutine's track. Where another goroutine
 * ends a span than began it, its time is that of the one that ended it, from when that took it up
 * (it last woke, or ended another span); what was before is SP_HANDED: it lay in a channel or a
 * queue between them. The parts of a span add up to its length, to the picosecond.
 *
 * Which spans are slow is known when all are over, so sums are kept per class of length (64 for
 * each power of two), and the classes from the one with the 99th percentile up are the slow ones.
 */

#include "run/result.h"
#include "run/transitions.h"

struct attribution {
    const struct transitions *t;
    struct p_clock *ps; /* by P */
    size_t nps;
    struct world_clock {
        uint64_t sum, since; /* ps */
        bool goes;
    } stopped, frozen;       /* the world was; all Ps that would run were throttled */
    int nthrottled, ngoing;  /* Ps */
    uint64_t from_ps;        /* spans that began before it do not count */
    struct span_mark *marks; /* by place in t->open */
    size_t nmarks;
    struct span_classes *spans; /* by span */
    size_t nspans;
};

/* Bytes that it wants in every struct tr_g. */
size_t attribution_extra(const struct naming *names);
/* Listens to t. Nothing to do without spans. warmup_ps: of spans that began from then on. */
void attribution_init(struct attribution *a, struct transitions *t, uint64_t warmup_ps);
/* After transitions_end: what the spans of one name came to. p99: of their lengths, ns. */
void attribution_of(const struct attribution *a, size_t span, int64_t p99_ns,
                    struct run_attribution *out);
/* ... of all of them, whose lengths are known. */
void attribution_fill(const struct attribution *a, struct run_span *spans, size_t count);
void attribution_release(struct attribution *a);

#endif
