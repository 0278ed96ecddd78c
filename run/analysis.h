/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_ANALYSIS_H
#define GMPSIM_RUN_ANALYSIS_H

/* Transitions into times: per goroutine group, per span, per P, queue lengths. A listener
 * (transitions.h), so it adds up whatever a source puts; it keeps nothing per goroutine and nothing
 * per record.
 *
 *   goroutine   runnable -> running -> waiting | syscall | runnable ...   times add up per group
 *   P           one class at a time (p_class_of) */

#include <stdint.h>

#include "run/result.h"
#include "run/transitions.h"
#include "sim/base/arena.h"
#include "sim/base/fail.h"

struct analysis {
    const struct transitions *of;
    struct arena arena; /* histograms */
    struct run_group *groups;
    size_t ngroups;
    struct run_span *span_stats;
    size_t nspans;
    struct hist runq_wait;
    struct run_starved starved;
    uint64_t (*ps)[PC_COUNT]; /* by P id: ps, up to its last transition */
    size_t nps;
    uint64_t runnable, runnable_max;
    uint64_t runnable_peak;  /* since whoever wants to know set it to `runnable` */
    uint64_t runnable_since; /* ps */
    uint64_t runnable_area;  /* count * ns */
    uint64_t from_ps;        /* the warm-up ends: what began before it does not count */
    uint64_t mark_at;        /* when `before` is taken, ps; UINT64_MAX: it was, or never is */
    struct {
        uint64_t p_ps[PC_COUNT], area, beside_ps;
    } before;         /* sums at the end of the warm-up */
    uint32_t idle_ps; /* Ps that nobody has, now */
    struct idle_beside beside;
    uint64_t beside_at, beside_stretch; /* `beside` is known up to; how long it is so by then */
};

/* Listens to t, which must live longer. warmup_ps: counts from then on. */
bool analysis_init(struct analysis *a, struct transitions *t, uint64_t warmup_ps,
                   struct failure *f);
/* What the Ps did up to this moment, warm-up included, and a->runnable_area up to it. */
void analysis_ps_until(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT]);
/* What is counted from the end of the warm-up on: Ps, area, and idle Ps beside work. */
void analysis_after_warmup(struct analysis *a, uint64_t now_ps, struct run_result *to);
/* What it all came to; the histograms still belong to the analysis. q->groups is from malloc. */
void analysis_fill(struct analysis *a, struct run_result *q);
void analysis_release(struct analysis *a);

#endif
