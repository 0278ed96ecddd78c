/* SPDX-License-Identifier: BSD-3-Clause */
/* A result as JSON. Times are ns unless the name says otherwise; 64-bit hashes are text, as JSON's
 * numbers hold 53 bits. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/out.h"
#include "cli/report.h"
#include "sim/base/alloc.h"

static void number(cJSON *to, const char *name, uint64_t v)
{
    cJSON_AddNumberToObject(to, name, (double)v);
}

static cJSON *hist_json(struct hist *h)
{
    cJSON *o = cJSON_CreateObject();
    number(o, "count", h->count);
    cJSON_AddBoolToObject(o, "exact", hist_is_exact(h));
    if (h->count == 0)
        return o;
    cJSON_AddNumberToObject(o, "min", (double)h->min);
    cJSON_AddNumberToObject(o, "mean", (double)hist_mean(h));
    for (int k = 0; k < WHATIF_POINTS - 1; k++)
        cJSON_AddItemToObject(o, point_names[k],
                              point_counts((double)h->count, k)
                                  ? cJSON_CreateNumber((double)hist_percentile(h, point_ppm[k]))
                                  : cJSON_CreateNull());
    cJSON_AddNumberToObject(o, "max", (double)h->max);
    return o;
}

static cJSON *parts_json(const uint64_t ps[SP_COUNT], uint64_t count)
{
    cJSON *parts = cJSON_CreateObject();
    for (int p = 0; p < SP_COUNT; p++)
        if (ps[p] > 0)
            number(parts, span_part_names[p], ps[p] / 1000 / count);
    return parts;
}

static cJSON *blame_json(const struct run_blame *b, uint64_t count)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "part", span_part_names[b->part]);
    number(o, "ns", b->ps / 1000 / count);
    if (b->who != NULL)
        cJSON_AddStringToObject(o, "by", b->who);
    if (b->object != NULL)
        cJSON_AddStringToObject(o, "object", b->object);
    if (b->line != 0)
        number(o, "line", b->line);
    if (b->place != NULL)
        cJSON_AddStringToObject(o, "place", b->place);
    return o;
}

/* Means, ns: where the time of all spans of a name went, and that of the slow ones. */
static void add_went(cJSON *s, const struct run_attribution *w)
{
    if (w->slow == 0)
        return;
    cJSON_AddItemToObject(s, "parts", parts_json(w->all_ps, w->count));
    cJSON *slow = cJSON_AddObjectToObject(s, "slow"), *waits;
    number(slow, "count", w->slow);
    cJSON_AddItemToObject(slow, "parts", parts_json(w->slow_ps, w->slow));
    waits = cJSON_AddArrayToObject(slow, "waits");
    for (int i = 0; i < w->nblames; i++)
        cJSON_AddItemToArray(waits, blame_json(&w->blames[i], w->slow));
}

cJSON *report_spans_json(const struct run_result *r)
{
    cJSON *list = cJSON_CreateObject();
    for (size_t i = 0; i < r->nspans; i++) {
        cJSON *s = hist_json(r->spans[i].latency);
        number(s, "open", r->spans[i].open->count);
        cJSON_AddNumberToObject(s, "per_second", run_rate(r, r->spans[i].latency->count));
        add_went(s, &r->spans[i].went);
        cJSON_AddItemToObject(list, r->spans[i].name, s);
    }
    return list;
}

static cJSON *groups_json(const struct run_result *r)
{
    cJSON *list = cJSON_CreateObject();
    for (size_t i = 0; i < r->ngroups; i++) {
        const struct run_group *g = &r->groups[i];
        cJSON *o = cJSON_CreateObject();
        number(o, "created", g->created);
        number(o, "ended", g->exited);
        number(o, "running_ns", g->running_ps / 1000);
        number(o, "runnable_ns", g->runnable_ps / 1000);
        number(o, "waiting_ns", g->waiting_ps / 1000);
        number(o, "syscall_ns", g->syscall_ps / 1000);
        cJSON_AddItemToObject(o, "life", hist_json(g->life));
        cJSON_AddItemToObject(o, "wait", hist_json(g->wait));
        cJSON_AddItemToObject(list, g->name, o);
    }
    return list;
}

/* A million leaked goroutines are no report: the first ones, and how many there are. */
enum { LEFT_MAX = 1000 };

static cJSON *left_json(const struct run_result *r)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < r->ngs && i < LEFT_MAX; i++) {
        const struct run_g *g = &r->gs[i];
        cJSON *o = cJSON_CreateObject();
        number(o, "goid", g->goid);
        cJSON_AddStringToObject(o, "group", g->is->group);
        cJSON_AddStringToObject(o, "status", g->is->status);
        cJSON_AddStringToObject(o, "reason", g->is->reason);
        number(o, "line", g->is->line);
        cJSON_AddBoolToObject(o, "blocked", g->is->blocked);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static void add_output(cJSON *o, const struct run_result *r)
{
    char *text = x_alloc(r->out_size + 1);
    memcpy(text, r->out, r->out_size);
    cJSON_AddStringToObject(o, "output", text);
    free(text);
}

static cJSON *tallies_json(const char *const *names, const uint64_t *values, int n, uint64_t unit)
{
    cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < n; i++)
        number(o, names[i], values[i] / unit);
    return o;
}

static void add_settings(cJSON *o, const struct machine *m, const struct run_opts *ro,
                         const struct run_result *r)
{
    char line[4096], full[4200];
    cJSON_AddStringToObject(o, "scenario", m->scenario->name);
    cJSON_AddStringToObject(o, "file", m->file);
    cJSON_AddStringToObject(o, "host", ro->host != NULL ? ro->host->name : "virtual");
    cJSON_AddStringToObject(o, "profile", profile_name(ro->profile.release));
    cJSON_AddNumberToObject(o, "procs", r->procs);
    cJSON_AddNumberToObject(o, "cpus", ro->cpus);
    cJSON_AddNumberToObject(o, "quota_us", (double)ro->quota_us);
    cJSON_AddNumberToObject(o, "period_us", (double)ro->period_us);
    out_u64(o, "seed", ro->seed);
    snprintf(full, sizeof full, GMPSIM_NAME " run %s", machine_line(m, ro, line, sizeof line));
    cJSON_AddStringToObject(o, "repeat", full);
}

/* What the kernel says of the process and its threads. */
static void add_threads(cJSON *o, const struct machine *m, const struct run_opts *ro,
                        const struct run_result *r)
{
    cJSON_AddStringToObject(o, "sched", machine_sched(ro));
    cJSON_AddBoolToObject(o, "pinned", m->pin);
    number(o, "cpu_ns", r->cpu_ps / 1000);
    cJSON *ps = cJSON_AddArrayToObject(o, "p_cpu_ns");
    for (int32_t i = 0; i < r->np_cpu; i++) {
        uint64_t ns = r->p_cpu_ps[i] / 1000;
        cJSON_AddItemToArray(ps, cJSON_CreateNumber((double)ns));
    }
    number(o, "voluntary", r->voluntary);
    number(o, "involuntary", r->involuntary);
    number(o, "steal_ns", r->steal_ps / 1000);
    number(o, "stopped_ns", r->stopped_ps / 1000);
}

struct cJSON *report_json(const struct machine *m, const struct run_opts *ro,
                          const struct run_result *r, const struct complaints *c)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "verdict", run_verdict(r));
    cJSON_AddStringToObject(o, "text", r->text);
    cJSON_AddBoolToObject(o, "as_expected", c->count == 0);
    cJSON_AddStringToObject(o, "complaints", c->text);
    add_settings(o, m, ro, r);
    number(o, "makespan_ns", r->now_ps / 1000);
    number(o, "warmup_ns", r->warmup_ps / 1000);
    if (ro->host == NULL)
        out_hash(o, "fingerprint", r->fingerprint);
    else
        cJSON_AddNullToObject(o, "fingerprint");
    number(o, "threads", r->threads);
    if (ro->host != NULL)
        add_threads(o, m, ro, r);
    cJSON_AddItemToObject(o, "spans", report_spans_json(r));
    cJSON_AddItemToObject(o, "groups", groups_json(r));
    cJSON_AddItemToObject(o, "runq_wait", hist_json(r->runq_wait));
    number(o, "runnable_max", r->runnable_max);
    cJSON_AddNumberToObject(o, "runnable_mean", report_runnable(r));
    number(o, "idle_beside_runnable_ns", r->beside.sum_ps / 1000);
    number(o, "idle_beside_runnable_longest_ns", r->beside.longest_ps / 1000);
    cJSON_AddItemToObject(o, "p_ns", tallies_json(p_class_names, r->p_ps, PC_COUNT, 1000));
    cJSON_AddItemToObject(o, "counters",
                          tallies_json(counter_names, r->counters, COUNTER_COUNT, 1));
    number(o, "nr_periods", r->nr_periods);
    number(o, "nr_throttled", r->nr_throttled);
    number(o, "throttled_ns", r->throttled_ps / 1000);
    cJSON_AddItemToObject(o, "not_ended", left_json(r));
    number(o, "not_ended_more", r->ngs > LEFT_MAX ? r->ngs - LEFT_MAX : 0);
    add_output(o, r);
    return o;
}
