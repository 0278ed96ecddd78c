/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim trace info as text. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli/report.h"
#include "cli/trace.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { NAME_COLUMNS = 44, BAR_COLUMNS = 40 };

static const char *const spent_names[SPENT_COUNT] = {"running", "runnable", "waiting",
                                                     "in syscalls"};

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_head(const struct trace *trace, const char *path, const struct totals *t)
{
    const struct trace_info *info = trace_info_of(trace);
    uint64_t appeared = 0;
    for (int to = 0; to < TRACE_STATES; to++)
        appeared += t->g_changes[TRACE_UNDETERMINED][to];
    uint64_t ended = 0;
    for (int from = 0; from < TRACE_STATES; from++)
        ended += t->g_changes[from][TRACE_NOT_EXIST];
    printf("%s: go 1.%d trace, %" PRIu64 " bytes, %" PRIu64 " generation%s, %s\n", text_line(path),
           info->version, info->bytes, info->generations, info->generations == 1 ? "" : "s",
           time_text(t->now - t->start));
    printf("  GOMAXPROCS %" PRIu64 ", %zu Ps, %" PRIu64 " threads, %" PRIu64 " events\n",
           t->procs_max, t->nps, t->threads, t->events);
    printf("  %" PRIu64 " goroutines: %" PRIu64 " there at the beginning, %" PRIu64
           " created, %" PRIu64 " ended\n",
           t->goroutines, appeared, t->goroutines - appeared, ended);
    for (int i = 0; i < info->nnotes; i++)
        printf("  note: %s\n", text_line(info->notes[i]));
}

static void print_events(const struct totals *t)
{
    printf("\nevents\n  %-14s %10" PRIu64 "\n", "transitions",
           t->kinds[TRACE_G] + t->kinds[TRACE_P]);
    for (int k = TRACE_RANGE_BEGIN; k < TRACE_KINDS; k++)
        if (t->kinds[k] > 0)
            printf("  %-14s %10" PRIu64 "\n", trace_kind_name((enum trace_kind)k), t->kinds[k]);
}

static void print_procs(const struct totals *t)
{
    int64_t idle = 0;
    for (size_t i = 0; i < t->nps; i++)
        idle += t->ps[i].idle;
    printf("\nPs: %s running (%.1f %% of their time), %s idle\n", time_text(t->proc_running),
           percent(t->proc_running, t->proc_running + idle), time_text(idle));
    for (size_t i = 0; i < t->nps && i < 16; i++)
        printf("  P%-6" PRIu64 " running %-9s idle %-9s %" PRIu64 " starts\n", t->ps[i].id,
               time_text(t->ps[i].running), time_text(t->ps[i].idle), t->ps[i].starts);
    if (t->nps > 16)
        printf("  ... and %zu more\n", t->nps - 16);
}

/* ---- goroutines ---- */

static void print_spent(const struct totals *t)
{
    printf("\ngoroutines: what they did, all together\n");
    for (int i = 0; i < SPENT_COUNT; i++)
        printf("  %-26s %10s\n", spent_names[i], time_text(t->ns[i]));
    if (t->syscall_no_p > 0)
        printf("  %-26s %10s\n", "  of it without a P", time_text(t->syscall_no_p));
    for (uint32_t i = 0; i < t->waits.count; i++) {
        const char *reason = trace_name_of(t, t->waits.list[i].reason);
        printf("  waiting: %-17s %10s\n", reason[0] != '\0' ? text_line(reason) : "(not said)",
               time_text(t->waits.list[i].ns));
    }
}

struct by_name {
    uint32_t name;
    uint64_t count;
    int64_t ns[SPENT_COUNT], idle_ns;
};

static int most_time_first(const void *a, const void *b)
{
    const struct by_name *x = a, *y = b;
    int64_t i = x->ns[SPENT_RUNNING] + x->ns[SPENT_RUNNABLE];
    int64_t k = y->ns[SPENT_RUNNING] + y->ns[SPENT_RUNNABLE];
    return i != k ? (i > k ? -1 : 1) : x->name < y->name ? -1 : x->name > y->name;
}

static size_t group_by_name(const struct totals *t, struct by_name **groups)
{
    struct map index = {0};
    size_t count = 0, room = 0;
    *groups = NULL;
    for (uint32_t i = 0; i < t->goroutines; i++) {
        const struct goroutine_total *g = totals_goroutine(t, i);
        if (g == NULL)
            continue;
        struct map_slot *s = map_put(&index, g->name, 0);
        if (s->a == 0) {
            X_ROOM(*groups, count, room, 64);
            (*groups)[count] = (struct by_name){.name = g->name};
            s->a = (uint32_t)++count;
        }
        assert(*groups != NULL);
        struct by_name *n = &(*groups)[s->a - 1];
        n->count++;
        n->idle_ns += g->idle_ns;
        for (int k = 0; k < SPENT_COUNT; k++)
            n->ns[k] += g->ns[k];
    }
    map_release(&index);
    if (count > 1)
        qsort(*groups, count, sizeof **groups, most_time_first);
    return count;
}

static void print_name(const struct totals *t, uint32_t name)
{
    const char *text = trace_name_of(t, name);
    text_cell(stdout, text[0] != '\0' ? text : "(no stack)", NAME_COLUMNS);
}

static void print_groups(const struct totals *t, int64_t rows)
{
    struct by_name *groups;
    size_t count = group_by_name(t, &groups);
    printf("\n  %-*s %8s %9s %9s %9s %9s\n", NAME_COLUMNS, "goroutines by function", "number",
           "running", "runnable", "waiting", "syscalls");
    for (size_t i = 0; i < count && (int64_t)i < rows; i++) {
        printf("  ");
        print_name(t, groups[i].name);
        printf(" %8" PRIu64, groups[i].count);
        for (int k = 0; k < SPENT_COUNT; k++)
            printf(" %9s", time_text(groups[i].ns[k]));
        printf("\n");
    }
    if ((int64_t)count > rows)
        printf("  ... and %zu more functions\n", count - (size_t)rows);
    free(groups);
}

static void print_goroutines(const struct totals *t, int64_t rows)
{
    size_t count;
    uint32_t *list = trace_goroutines(t, (size_t)rows, &count);
    printf("\n  %-*s %8s %9s %9s %9s %9s\n", NAME_COLUMNS, "busiest goroutines", "id", "running",
           "runnable", "waiting", "syscalls");
    for (size_t i = 0; i < count; i++) {
        const struct goroutine_total *g = totals_goroutine(t, list[i]);
        printf("  ");
        print_name(t, g->name);
        printf(" %8" PRIu64, g->id);
        for (int k = 0; k < SPENT_COUNT; k++)
            printf(" %9s", time_text(g->ns[k]));
        printf("\n");
    }
    if (t->goroutines > count)
        printf("  ... and %" PRIu64 " more goroutines\n", t->goroutines - count);
    free(list);
}

/* ---- waits ---- */

static void print_percentiles(struct hist *h)
{
    printf("p50 %s, p90 %s, p99 %s, max %s\n", time_text(hist_percentile(h, 500000)),
           time_text(hist_percentile(h, 900000)), time_text(hist_percentile(h, 990000)),
           time_text(h->count > 0 ? h->max : 0));
}

/* In the buckets of /sched/latencies:seconds. */
static void print_buckets(const struct hist *h)
{
    uint64_t most = 1;
    for (uint32_t i = 0; i < HIST_GO_BUCKETS; i++)
        most = h->go[i] > most ? h->go[i] : most;
    for (uint32_t i = 1; i + 1 < HIST_GO_BUCKETS; i++) {
        if (h->go[i] == 0)
            continue;
        printf("  %9s .. %-9s %9" PRIu64 " ", time_text(hist_go_bound(i)),
               time_text(hist_go_bound(i + 1)), h->go[i]);
        for (uint64_t k = 0; k < h->go[i] * BAR_COLUMNS / most; k++)
            putchar('#');
        putchar('\n');
    }
}

static void print_waits(struct totals *t, int64_t rows)
{
    printf("\nwaits in run queues: %" PRIu64 ", ", t->queue.count);
    print_percentiles(&t->queue);
    print_buckets(&t->queue);
    if (t->nlongest == 0)
        return;
    printf("\n  %-*s %8s %10s %9s %9s  %s\n", NAME_COLUMNS, "longest of them", "id", "at", "waited",
           "P idle", "ran on");
    for (size_t i = 0; i < t->nlongest && (int64_t)i < rows; i++) {
        const struct queue_wait *w = &t->longest[i];
        printf("  ");
        print_name(t, w->name);
        printf(" %8" PRIu64 " %10s %9s %9s  ", w->g, time_text(w->begin - t->start),
               time_text(w->ns), time_text(w->idle_ns));
        if (w->p == TRACE_NONE)
            printf("(did not)\n");
        else
            printf("P%" PRIu64 "\n", w->p);
    }
}

static void print_unused(struct totals *t, int64_t rows)
{
    printf("\na P was idle while a goroutine could run: %" PRIu64
           " times, %s (%.2f %% of the time)",
           t->unused_count, time_text(t->unused_ns), percent(t->unused_ns, t->now - t->start));
    printf("\n  goroutines waited %s while one was idle, %.1f %% of all waits in run queues\n",
           time_text(t->queue_idle_ns), percent(t->queue_idle_ns, t->ns[SPENT_RUNNABLE]));
    if (t->unused_count == 0)
        return;
    printf("  how long each time: ");
    print_percentiles(&t->unused_hist);
    printf("\n  %-*s %8s %10s %9s  %s\n", NAME_COLUMNS, "longest of them; who waited first", "id",
           "at", "long", "idle");
    for (size_t i = 0; i < t->nunused && (int64_t)i < rows; i++) {
        const struct unused *u = &t->unused[i];
        printf("  ");
        print_name(t, u->name);
        printf(" %8" PRIu64 " %10s %9s  P%" PRIu64, u->g, time_text(u->begin - t->start),
               time_text(u->ns), u->p);
        if (u->procs > 1 || u->gs > 1)
            printf(" (up to %u Ps, %u goroutines)", u->procs, u->gs);
        printf("\n");
    }
}

/* ---- ranges, regions, tasks ---- */

static void print_ranges(const struct totals *t)
{
    if (t->nranges == 0)
        return;
    printf("\n  %-*s %8s %9s\n", NAME_COLUMNS, "collector and stopped worlds", "times", "in all");
    for (size_t i = 0; i < t->nranges; i++) {
        printf("  ");
        print_name(t, t->ranges[i].name);
        printf(" %8" PRIu64 " %9s\n", t->ranges[i].count, time_text(t->ranges[i].ns));
    }
}

static void print_named(struct totals *t, bool task, int64_t rows)
{
    bool any = false;
    for (size_t i = 0; i < t->nnamed && rows > 0; i++) {
        struct named_total *n = t->named[i];
        if (n->task != task)
            continue;
        if (!any)
            printf("\n  %-*s %8s %9s %9s %9s\n", NAME_COLUMNS, task ? "tasks" : "regions", "ended",
                   "p50", "p99", "max");
        any = true;
        rows--;
        printf("  ");
        print_name(t, n->name);
        printf(" %8" PRIu64 " %9s %9s %9s\n", n->took.count,
               time_text(hist_percentile(&n->took, 500000)),
               time_text(hist_percentile(&n->took, 990000)),
               time_text(n->took.count > 0 ? n->took.max : 0));
        if (n->open > 0)
            printf("    %" PRIu64 " had not ended\n", n->open);
    }
}

void trace_info_text(const struct trace *trace, const char *path, struct totals *t, int64_t rows,
                     const struct run_result *q)
{
    print_head(trace, path, t);
    print_events(t);
    print_procs(t);
    print_spent(t);
    print_groups(t, rows);
    print_goroutines(t, rows);
    print_waits(t, rows);
    print_unused(t, rows);
    print_ranges(t);
    print_named(t, /*task*/ false, rows);
    print_named(t, /*task*/ true, rows);
    if (q != NULL)
        report_slow(stdout, q);
}
