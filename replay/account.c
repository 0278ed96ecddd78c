/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/account.h"

#include <stdlib.h>
#include <string.h>

bool account_open(struct failure *f, struct account *a,
                  struct trace *(*open)(struct failure *f, void *arg), void *arg, size_t extra)
{
    memset(a, 0, sizeof *a);
    if ((a->tracks = tracks_open(f, open, arg)) == NULL)
        return false;
    const struct naming *names = tracks_names(a->tracks);
    a->extra_at = attribution_extra(names) / sizeof(uint64_t);
    transitions_init(&a->transitions, names, attribution_extra(names) + extra);
    if (!analysis_init(&a->analysis, &a->transitions, 0, f)) {
        account_close(a);
        return false;
    }
    attribution_init(&a->attribution, &a->transitions, 0);
    return true;
}

bool account_read(struct account *a, const struct tracks_pause *pause, struct failure *f)
{
    struct run_result *q = &a->result;
    bool ok = tracks_put(a->tracks, &a->transitions, pause, f);
    q->end = END_RECORDED;
    q->text = q->out = q->sched = "";
    q->now_ps = tracks_end_ps(a->tracks);
    q->procs = tracks_procs(a->tracks);
    q->threads = tracks_threads(a->tracks);
    analysis_after_warmup(&a->analysis, q->now_ps, q);
    attribution_fill(&a->attribution, a->analysis.span_stats, a->analysis.nspans);
    analysis_fill(&a->analysis, q);
    return ok;
}

void account_close(struct account *a)
{
    attribution_release(&a->attribution);
    analysis_release(&a->analysis);
    transitions_release(&a->transitions);
    if (a->tracks != NULL)
        tracks_close(a->tracks);
    free(a->result.groups);
    memset(a, 0, sizeof *a);
}
