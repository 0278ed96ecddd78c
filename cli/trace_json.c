/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim trace info --json. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/out.h"
#include "cli/report.h"
#include "cli/trace.h"

enum { PPM = 1000000 };

static void number(cJSON *o, const char *name, int64_t value)
{
    cJSON_AddNumberToObject(o, name, (double)value);
}

static void id_number(cJSON *o, const char *name, uint64_t id)
{
    number(o, name, id == TRACE_NONE ? -1 : (int64_t)id);
}

static void add_counts(cJSON *o, const char *name, const struct totals *t, const struct counts *c)
{
    cJSON *list = cJSON_AddObjectToObject(o, name);
    for (size_t i = 0; i < c->count; i++)
        number(list, trace_name_of(t, c->list[i].name), (int64_t)c->list[i].count);
}

static void add_reasons(cJSON *o, const char *name, const struct totals *t, const struct reasons *r)
{
    cJSON *list = cJSON_AddObjectToObject(o, name);
    for (uint32_t i = 0; i < r->count; i++)
        number(list, trace_name_of(t, r->list[i].reason), r->list[i].ns);
}

static void add_hist(cJSON *o, const char *name, struct hist *h, bool buckets)
{
    cJSON *out = cJSON_AddObjectToObject(o, name);
    number(out, "n", (int64_t)h->count);
    number(out, "sum_ns", (int64_t)h->sum);
    number(out, "p50_ns", hist_percentile(h, 500000));
    number(out, "p90_ns", hist_percentile(h, 900000));
    number(out, "p99_ns", hist_percentile(h, 990000));
    number(out, "max_ns", h->count > 0 ? h->max : 0);
    cJSON_AddBoolToObject(out, "exact", hist_is_exact(h));
    if (!buckets)
        return;
    cJSON *list = cJSON_AddArrayToObject(out, "buckets");
    for (uint32_t i = 1; i + 1 < HIST_GO_BUCKETS; i++) {
        if (h->go[i] == 0)
            continue;
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(row, cJSON_CreateNumber((double)hist_go_bound(i)));
        cJSON_AddItemToArray(row, cJSON_CreateNumber((double)hist_go_bound(i + 1)));
        cJSON_AddItemToArray(row, cJSON_CreateNumber((double)h->go[i]));
        cJSON_AddItemToArray(list, row);
    }
}

static void add_changes(cJSON *o, const char *name,
                        const uint64_t changes[TRACE_STATES][TRACE_STATES])
{
    cJSON *list = cJSON_AddObjectToObject(o, name);
    for (int i = 0; i < TRACE_STATES; i++)
        for (int k = 0; k < TRACE_STATES; k++) {
            char text[64];
            if (changes[i][k] == 0)
                continue;
            snprintf(text, sizeof text, "%s->%s", trace_state_name((enum trace_state)i),
                     trace_state_name((enum trace_state)k));
            number(list, text, (int64_t)changes[i][k]);
        }
}

static void add_head(cJSON *o, const struct trace *trace, const char *path, const struct totals *t)
{
    const struct trace_info *info = trace_info_of(trace);
    cJSON_AddStringToObject(o, "file", path);
    number(o, "version", info->version);
    number(o, "bytes", (int64_t)info->bytes);
    number(o, "generations", (int64_t)info->generations);
    number(o, "first_generation", (int64_t)info->first_generation);
    cJSON_AddBoolToObject(o, "partial", info->partial);
    cJSON *notes = cJSON_AddArrayToObject(o, "notes");
    for (int i = 0; i < info->nnotes; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(info->notes[i]));
    number(o, "trace_start_ns", t->start);
    number(o, "trace_end_ns", t->now);
    number(o, "duration_ns", t->now - t->start);
    number(o, "events", (int64_t)t->events);
    number(o, "syncs", (int64_t)t->syncs);
    if (!info->has_clock)
        return;
    cJSON *clock = cJSON_AddObjectToObject(o, "clock");
    number(clock, "trace_ns", info->clock_ns);
    number(clock, "mono_ns", (int64_t)info->clock_mono_ns);
    number(clock, "unix_s", (int64_t)info->clock_unix_s);
    number(clock, "unix_ns", (int64_t)info->clock_unix_ns);
}

static void add_events(cJSON *o, const struct trace *trace, const struct totals *t)
{
    const struct trace_info *info = trace_info_of(trace);
    cJSON *kinds = cJSON_AddObjectToObject(o, "events_by_kind");
    uint64_t changes = t->kinds[TRACE_G] + t->kinds[TRACE_P];
    if (changes > 0)
        number(kinds, trace_kind_name(TRACE_G), (int64_t)changes);
    for (int k = TRACE_RANGE_BEGIN; k < TRACE_KINDS; k++)
        if (t->kinds[k] > 0)
            number(kinds, trace_kind_name((enum trace_kind)k), (int64_t)t->kinds[k]);
    cJSON *wire = cJSON_AddObjectToObject(o, "wire_events");
    for (unsigned i = 0; i < WIRE_TYPES; i++)
        if (info->wire_events[i] > 0)
            number(wire, trace_wire_name(i), (int64_t)info->wire_events[i]);
    add_changes(o, "g_transitions", t->g_changes);
    add_changes(o, "p_transitions", t->p_changes);
    add_counts(o, "block_reasons", t, &t->blocks);
    add_counts(o, "stop_reasons", t, &t->stops);
    add_counts(o, "metrics", t, &t->metrics);
    add_counts(o, "region_begins", t, &t->regions);
    add_counts(o, "task_begins", t, &t->tasks);
    number(o, "task_ends", (int64_t)t->task_ends);
    add_counts(o, "log_categories", t, &t->logs);
    number(o, "logs", (int64_t)t->kinds[TRACE_LOG]);
    number(o, "cpu_samples", (int64_t)t->samples);
    number(o, "gomaxprocs", (int64_t)t->procs_max);
    number(o, "num_goroutines", (int64_t)t->goroutines);
    number(o, "num_procs", (int64_t)t->nps);
    number(o, "num_threads", (int64_t)t->threads);
}

static void add_ranges(cJSON *o, const struct totals *t)
{
    cJSON *all = cJSON_AddObjectToObject(o, "ranges");
    for (size_t i = 0; i < t->nranges; i++) {
        cJSON *r = cJSON_AddObjectToObject(all, trace_name_of(t, t->ranges[i].name));
        number(r, "count", (int64_t)t->ranges[i].count);
        number(r, "total_ns", t->ranges[i].ns);
    }
    cJSON *gc = cJSON_AddArrayToObject(o, "gc_ranges");
    cJSON *stw = cJSON_AddArrayToObject(o, "stw_ranges");
    for (size_t i = 0; i < t->ngc_and_stw; i++) {
        const struct range_of *r = &t->gc_and_stw[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", trace_name_of(t, r->name));
        id_number(row, "g", r->id);
        number(row, "begin_ns", r->begin - t->start);
        number(row, "end_ns", r->end < 0 ? -1 : r->end - t->start);
        cJSON_AddItemToArray(r->scope == TRACE_SCOPE_GLOBAL ? gc : stw, row);
    }
}

static const char *const spent_names[SPENT_COUNT] = {"running", "runnable", "waiting", "syscall"};

static void add_spent(cJSON *o, const int64_t ns[SPENT_COUNT])
{
    for (int i = 0; i < SPENT_COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_ns", spent_names[i]);
        number(o, name, ns[i]);
    }
}

static void add_totals(cJSON *o, const struct totals *t)
{
    cJSON *all = cJSON_AddObjectToObject(o, "totals");
    number(all, "proc_running_ns", t->proc_running);
    add_spent(all, t->ns);
    number(all, "syscall_no_p_ns", t->syscall_no_p);
    add_reasons(all, "waiting_by_reason_ns", t, &t->waits);
    cJSON *ps = cJSON_AddArrayToObject(o, "procs");
    for (size_t i = 0; i < t->nps; i++) {
        const struct proc_total *p = &t->ps[i];
        cJSON *row = cJSON_CreateObject();
        id_number(row, "id", p->id);
        number(row, "running_ns", p->running);
        number(row, "idle_ns", p->idle);
        number(row, "starts", (int64_t)p->starts);
        number(row, "stops", (int64_t)p->stops);
        cJSON_AddStringToObject(row, "final_state", trace_state_name(p->state));
        cJSON_AddItemToArray(ps, row);
    }
}

static void add_goroutine(cJSON *list, const struct totals *t, const struct goroutine_total *g)
{
    cJSON *row = cJSON_CreateObject();
    id_number(row, "id", g->id);
    cJSON_AddStringToObject(row, "name", trace_name_of(t, g->name));
    cJSON_AddBoolToObject(row, "created_in_trace", !g->appeared);
    id_number(row, "creator", g->creator);
    number(row, "appear_ns", g->begin - t->start);
    number(row, "end_ns", g->ended ? g->end - t->start : -1);
    add_spent(row, g->ns);
    number(row, "syscall_no_p_ns", g->syscall_no_p);
    number(row, "runnable_while_p_idle_ns", g->idle_ns);
    add_reasons(row, "waiting_by_reason_ns", t, &g->waits);
    number(row, "starts", g->starts);
    number(row, "unblocks", g->unblocks);
    number(row, "blocks", g->blocks);
    number(row, "stops", g->stops);
    number(row, "syscalls", g->syscalls);
    number(row, "created", g->created);
    cJSON_AddStringToObject(row, "final_state", trace_state_name(g->state));
    cJSON_AddItemToArray(list, row);
}

static void add_goroutines(cJSON *o, const struct totals *t, int64_t rows)
{
    size_t count;
    uint32_t *list = trace_goroutines(t, (size_t)rows, &count);
    cJSON *out = cJSON_AddArrayToObject(o, "goroutines");
    for (size_t i = 0; i < count; i++)
        add_goroutine(out, t, totals_goroutine(t, list[i]));
    number(o, "goroutines_left_out", (int64_t)(t->goroutines - count));
    free(list);
}

static void add_waits(cJSON *o, struct totals *t, int64_t rows)
{
    add_hist(o, "sched_latency", &t->queue, true);
    add_hist(o, "unblock_latency", &t->queue_unblocked, false);
    cJSON *list = cJSON_AddArrayToObject(o, "longest_waits");
    for (size_t i = 0; i < t->nlongest && (int64_t)i < rows; i++) {
        const struct queue_wait *w = &t->longest[i];
        cJSON *row = cJSON_CreateObject();
        id_number(row, "g", w->g);
        cJSON_AddStringToObject(row, "name", trace_name_of(t, w->name));
        number(row, "begin_ns", w->begin - t->start);
        number(row, "waited_ns", w->ns);
        number(row, "while_p_idle_ns", w->idle_ns);
        id_number(row, "p", w->p);
        cJSON_AddItemToArray(list, row);
    }
    cJSON *unused = cJSON_AddObjectToObject(o, "work_conservation");
    number(unused, "episodes", (int64_t)t->unused_count);
    number(unused, "total_ns", t->unused_ns);
    number(unused, "runnable_while_p_idle_ns", t->queue_idle_ns);
    add_hist(unused, "episode", &t->unused_hist, true);
    list = cJSON_AddArrayToObject(unused, "longest");
    for (size_t i = 0; i < t->nunused && (int64_t)i < rows; i++) {
        const struct unused *u = &t->unused[i];
        cJSON *row = cJSON_CreateObject();
        number(row, "begin_ns", u->begin - t->start);
        number(row, "ns", u->ns);
        id_number(row, "g", u->g);
        cJSON_AddStringToObject(row, "name", trace_name_of(t, u->name));
        id_number(row, "p", u->p);
        number(row, "runnable", u->gs);
        number(row, "idle_ps", u->procs);
        cJSON_AddItemToArray(list, row);
    }
}

static void add_time(cJSON *row, const struct totals *t, const struct named_time *time)
{
    number(row, "begin_ns", time->begin - t->start);
    number(row, "ns", time->ns);
    id_number(row, "g", time->g);
    id_number(row, "task", time->task);
    add_spent(row, time->spent);
    number(row, "runnable_while_p_idle_ns", time->idle_ns);
    number(row, "elsewhere_ns", time->elsewhere);
    add_reasons(row, "waiting_by_reason_ns", t, &time->waits);
}

static void add_named(cJSON *o, const char *name, struct totals *t, bool task, int64_t rows)
{
    cJSON *list = cJSON_AddArrayToObject(o, name);
    for (size_t i = 0; i < t->nnamed; i++) {
        struct named_total *n = t->named[i];
        if (n->task != task)
            continue;
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", trace_name_of(t, n->name));
        number(row, "open", (int64_t)n->open);
        add_hist(row, "took", &n->took, false);
        cJSON *slowest = cJSON_AddArrayToObject(row, "slowest");
        for (size_t k = 0; k < n->nslowest && (int64_t)k < rows; k++) {
            cJSON *time = cJSON_CreateObject();
            add_time(time, t, &n->slowest[k]);
            cJSON_AddItemToArray(slowest, time);
        }
        cJSON_AddItemToArray(list, row);
    }
}

void trace_info_json(const struct trace *trace, const char *path, struct totals *t, int64_t rows,
                     const struct run_result *q)
{
    cJSON *o = cJSON_CreateObject();
    add_head(o, trace, path, t);
    add_events(o, trace, t);
    add_ranges(o, t);
    add_totals(o, t);
    add_waits(o, t, rows);
    add_named(o, "regions", t, false, rows);
    add_named(o, "tasks", t, true, rows);
    add_goroutines(o, t, rows);
    if (q != NULL)
        cJSON_AddItemToObject(o, "spans", report_spans_json(q));
    out_json(o);
}
