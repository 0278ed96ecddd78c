/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_ATTRIBUTION_H
#define GMPSIM_RUN_ATTRIBUTION_H

/* Where the time of spans went, of the slow ones above all. A listener of transitions.h.
 *
 * A goroutine that begins or ends spans has a *track*: the sum of what it did since then, by part.
 * A span's share is the difference of two states of its goroutine's track. Where another goroutine
 * ends a span than began it, the parts are those of the goroutine that ended it, from when that one
 * took the work up (last woke, or ended another span); what was before is SP_HANDED: the work lay
 * in a channel or a queue between the two. The parts of a span add up to its length, to the
 * picosecond. Where `since` lets a span begin before its first statement, the parts begin when the
 * goroutine took the work up, if it did so after `since`, else at the statement; what was before is
 * SP_BEFORE.
 *
 * Nobody can be woken while all threads that would run are throttled, so that much of a wait is
 * throttling: of one for somebody else (a lock, a channel), and of one for something that was there
 * already (a timer that was due, a descriptor that was ready, a request that had come).
 *
 * Which spans are slow is known when all are over, so sums are kept per class of length (64 for
 * each power of two), and the classes from the one with the 99th percentile up are the slow ones.
 */

#include "run/result.h"
#include "run/transitions.h"

enum { FREEZES = 1024 };

struct attribution {
    const struct transitions *t;
    struct p_clock *ps; /* by P */
    size_t nps;
    struct world_clock {
        uint64_t sum, since; /* ps */
        bool goes;
    } stopped, frozen, *ms; /* the world was; some P was throttled and no other had a CPU */
    size_t nms;             /* ms: of an M, how long its CPU was throttled */
    int nthrottled, ngoing; /* Ps */
    int going;              /* clocks, of Ps, Ms and the world */
    uint64_t moves;         /* how often one stopped */
    /* The latest times in which the world was frozen, a ring: times that lie back are asked for. */
    struct freeze {
        uint64_t from, to, sum; /* ps; sum: up to `to` */
    } freezes[FREEZES];
    uint64_t nfreezes;
    bool *early; /* by group: its goroutines begin spans, so they are followed from their birth */
    size_t nearly;
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
