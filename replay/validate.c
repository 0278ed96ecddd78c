/* SPDX-License-Identifier: BSD-3-Clause */
/* A replay compared with its recording. */
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"
#include "run/run.h"

enum { PPM = 1000000 };

static int permille(int64_t of, int64_t all)
{
    return (int)(of > INT64_MAX / 1000 ? of / (all / 1000) : of * 1000 / all);
}

static void recorded(struct recording *r, struct agreement *a)
{
    a->makespan[0] = r->length;
    for (uint32_t g = 0; g < r->ngs; g++)
        if (!r->gs[g].system)
            a->cpu[0] += r->gs[g].cpu;
    if (r->gc.replayed)
        a->cpu[0] += r->gc.assist_ns;
    a->wait_p50[0] = hist_percentile(&r->runq_wait, PPM / 2);
    a->wait_p90[0] = hist_percentile(&r->runq_wait, PPM / 10 * 9);
    a->wait_p99[0] = hist_percentile(&r->runq_wait, PPM / 100 * 99);
    a->wait_sum[0] = (int64_t)r->runq_wait.sum;
    a->starts[0] = r->runq_wait.count;
    if (r->procs > 0 && r->length > 0)
        a->utilisation[0] = permille(a->cpu[0], r->length * r->procs);
}

static void replayed(const struct run_opts *o, const struct run_result *q, struct agreement *a)
{
    struct hist *h = q->runq_wait;
    a->finished = q->end == END_STOPPED;
    a->makespan[1] = q->nspans > 0 && q->spans[0].latency->count > 0 ? q->spans[0].latency->max
                                                                     : (int64_t)(q->now_ps / 1000);
    for (size_t i = 0; i < q->ngroups; i++)
        if (strcmp(q->groups[i].name, "runtime") != 0)
            a->cpu[1] += (int64_t)(q->groups[i].running_ps / 1000);
    a->wait_p50[1] = hist_percentile(h, PPM / 2);
    a->wait_p90[1] = hist_percentile(h, PPM / 10 * 9);
    a->wait_p99[1] = hist_percentile(h, PPM / 100 * 99);
    a->wait_sum[1] = (int64_t)h->sum;
    a->starts[1] = h->count;
    int32_t procs = q->procs > 0 ? q->procs : o->procs;
    if (procs > 0 && a->makespan[1] > 0)
        a->utilisation[1] = permille(a->cpu[1], a->makespan[1] * procs);
    a->early = q->counters[COUNTER_events_early];
    a->tokens = q->counters[COUNTER_events_waited];
}

void validate(const struct replay *rp, const struct run_opts *o, const struct run_result *q,
              struct agreement *a)
{
    *a = (struct agreement){0};
    recorded(rp->rec, a);
    a->quota = o->quota_us > 0 || o->nquotas > 0;
    replayed(o, q, a);
}
