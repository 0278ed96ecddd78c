/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_tables.h"

#include <stdio.h>
#include <string.h>

#include "cli/grid.h"

enum { PS_PER_NS = 1000, PERCENT = 100, LEFT_SHOWN = 20 };

const char *const report_table_names[REPORT_TABLES + 1] = {
    "latency", "slow", "goroutines", "ps", "quota", "counters", "not-ended", NULL};

static int64_t ns(uint64_t ps) { return (int64_t)(ps / PS_PER_NS); }

/* ---- latency ---- */

static const struct sheet_column latency_columns[] = {
    {"latency", "name", 24, true},
    {"count", "count", 9, false},
    {"per second", "per_second", 10, false},
    {"p50", "p50_ns", 8, false},
    {"p90", "p90_ns", 8, false},
    {"p99", "p99_ns", 8, false},
    {"p99.9", "p999_ns", 8, false},
    {"max", "max_ns", 8, false},
};

static void put_latency(struct sheet *s, const struct run_result *r, const char *name,
                        struct hist *h)
{
    if (h->count == 0)
        return;
    sheet_text(s, name);
    sheet_count(s, h->count);
    sheet_real(s, run_rate(r, h->count));
    for (int k = 0; k < WHATIF_POINTS - 1; k++)
        if (point_counts((double)h->count, k))
            sheet_time(s, hist_percentile(h, point_ppm[k]));
        else
            sheet_none(s);
    sheet_time(s, h->max);
}

static void fill_latency(struct sheet *s, const struct run_result *r, bool all)
{
    (void)all;
    for (size_t i = 0; i < r->nspans; i++)
        put_latency(s, r, r->spans[i].name, r->spans[i].latency);
    for (size_t i = 0; i < r->ngroups; i++) {
        char name[300]; /* the kind first: a long name is cut at its end */
        snprintf(name, sizeof name, "life of %s", r->groups[i].name);
        put_latency(s, r, name, r->groups[i].life);
    }
    put_latency(s, r, "run-queue wait", r->runq_wait);
}

/* ---- where the time of spans went ---- */

static const struct sheet_column slow_columns[] = {
    {"slow spans", "span", 24, true},
    {"part", "part", 0, true},
    {"mean", "mean_ns", 8, false},
    {"mean of slow", "slow_mean_ns", 8, false},
    {"share of slow %", "slow_percent", 5, false},
};

static void fill_slow(struct sheet *s, const struct run_result *r, bool all)
{
    (void)all;
    for (size_t i = 0; i < r->nspans; i++) {
        const struct run_attribution *w = &r->spans[i].went;
        uint64_t sum = 0;
        for (int p = 0; p < SP_COUNT; p++)
            sum += w->slow_ps[p];
        for (int p = 0; w->slow > 0 && p < SP_COUNT; p++) {
            if (w->all_ps[p] == 0)
                continue;
            sheet_text(s, r->spans[i].name);
            sheet_text(s, span_part_names[p]);
            sheet_time(s, ns(w->all_ps[p] / w->count));
            sheet_time(s, ns(w->slow_ps[p] / w->slow));
            sheet_real(s, sum > 0 ? PERCENT * (double)w->slow_ps[p] / (double)sum : 0);
        }
    }
}

/* ---- goroutines ---- */

static const struct sheet_column group_columns[] = {
    {"goroutines", "group", 24, true},     {"created", "created", 8, false},
    {"ended", "ended", 8, false},          {"running", "running_ns", 9, false},
    {"runnable", "runnable_ns", 9, false}, {"waiting", "waiting_ns", 9, false},
    {"syscall", "syscall_ns", 9, false},
};

static void fill_groups(struct sheet *s, const struct run_result *r, bool all)
{
    (void)all;
    for (size_t i = 0; i < r->ngroups; i++) {
        const struct run_group *g = &r->groups[i];
        sheet_text(s, g->name);
        sheet_count(s, g->created);
        sheet_count(s, g->exited);
        sheet_time(s, ns(g->running_ps));
        sheet_time(s, ns(g->runnable_ps));
        sheet_time(s, ns(g->waiting_ps));
        sheet_time(s, ns(g->syscall_ps));
    }
}

/* ---- Ps, quota ---- */

static const struct sheet_column p_columns[] = {
    {"Ps", "class", 10, true},
    {"time", "time_ns", 9, false},
    {"%", "percent", 5, false},
};

static void fill_ps(struct sheet *s, const struct run_result *r, bool all)
{
    uint64_t sum = 0;
    for (int c = 0; c < PC_COUNT; c++)
        sum += r->p_ps[c];
    for (int c = 0; c < PC_COUNT; c++) {
        if (r->p_ps[c] == 0 && !all)
            continue;
        sheet_text(s, p_class_names[c]);
        sheet_time(s, ns(r->p_ps[c]));
        sheet_real(s, sum > 0 ? PERCENT * (double)r->p_ps[c] / (double)sum : 0);
    }
}

static const struct sheet_column quota_columns[] = {
    {"CPU quota", "group", 24, true},
    {"nr_periods", "nr_periods", 0, false},
    {"nr_throttled", "nr_throttled", 0, false},
    {"throttled_time", "throttled_time_ns", 0, false},
};

static void fill_quota(struct sheet *s, const struct run_result *r, bool all)
{
    (void)all;
    if (r->nr_periods == 0)
        return;
    sheet_text(s, "of the process");
    sheet_count(s, r->nr_periods);
    sheet_count(s, r->nr_throttled);
    sheet_time(s, ns(r->throttled_ps));
}

/* ---- counters ---- */

static const struct sheet_column counter_columns[] = {
    {"counters", "name", 16, true},
    {"count", "count", 9, false},
    {"per second", "per_second", 10, false},
    {"what", "what", 0, true},
};

/* What people look for first, in whole sentences' words. */
static const struct legend {
    enum counter_id counter;
    const char *what;
} that_matter[] = {
    {COUNTER_switches, "goroutines put on a thread"},
    {COUNTER_stolen, "goroutines that one P took from another's queue"},
    {COUNTER_overflows, "queues of a P that were full: half of each went to the global queue"},
    {COUNTER_preempted, "goroutines stopped when their time slice was over"},
    {COUNTER_syscall_slow, "system calls so long that the P went to others"},
    {COUNTER_threads, "threads made"},
    {COUNTER_mparks, "times a thread went to sleep for want of work"},
    {COUNTER_wakeps_started, "times a thread was woken to look for work"},
    {COUNTER_lock_contended, "waits for locks inside the runtime"},
    {COUNTER_gcs, "collections"},
    {COUNTER_assists, "times a goroutine was made to help the collector"},
    {COUNTER_stws, "times the world was stopped"},
};

static void put_counter(struct sheet *s, const struct run_result *r, int c, const char *what)
{
    sheet_text(s, counter_names[c]);
    sheet_count(s, r->counters[c]);
    if (r->tallies_whole)
        sheet_none(s);
    else
        sheet_real(s, run_rate(r, r->counters[c]));
    sheet_text(s, what);
}

static void fill_counters(struct sheet *s, const struct run_result *r, bool all)
{
    static const char *const whats[COUNTER_COUNT] = {
#define COUNTER(name, what) what,
#include "model/counters.def"
#undef COUNTER
    };
    for (size_t i = 0; !all && i < sizeof that_matter / sizeof *that_matter; i++)
        if (r->counters[that_matter[i].counter] > 0)
            put_counter(s, r, (int)that_matter[i].counter, that_matter[i].what);
    for (int c = 0; all && c < COUNTER_COUNT; c++)
        put_counter(s, r, c, whats[c]);
}

/* ---- who had not ended ---- */

static const struct sheet_column left_columns[] = {
    {"not ended", "goid", 0, true},   {"group", "group", 16, true}, {"status", "status", 0, true},
    {"waits for", "reason", 0, true}, {"line", "line", 0, false},   {"", "blocked", 0, true},
};

static void fill_left(struct sheet *s, const struct run_result *r, bool all)
{
    for (size_t i = 0; i < r->ngs && (all || i < LEFT_SHOWN); i++) {
        const struct run_g *g = &r->gs[i];
        char goid[32];
        snprintf(goid, sizeof goid, "g%llu", (unsigned long long)g->goid);
        sheet_text(s, goid);
        sheet_text(s, g->is->group);
        sheet_text(s, g->is->status);
        sheet_text(s, g->is->reason);
        if (g->is->line != 0)
            sheet_count(s, g->is->line);
        else
            sheet_none(s);
        sheet_text(s, g->is->blocked ? "blocked" : "not blocked");
    }
}

/* ---- all ---- */

#define COLUMNS(c) c, sizeof(c) / sizeof *(c)

void report_table(struct sheet *s, enum report_table which, const struct run_result *r, bool all)
{
    static const struct {
        const struct sheet_column *columns;
        size_t ncolumns;
        void (*fill)(struct sheet *s, const struct run_result *r, bool all);
    } of[REPORT_TABLES] = {
        [RT_LATENCY] = {COLUMNS(latency_columns), fill_latency},
        [RT_SLOW] = {COLUMNS(slow_columns), fill_slow},
        [RT_GOROUTINES] = {COLUMNS(group_columns), fill_groups},
        [RT_PS] = {COLUMNS(p_columns), fill_ps},
        [RT_QUOTA] = {COLUMNS(quota_columns), fill_quota},
        [RT_COUNTERS] = {COLUMNS(counter_columns), fill_counters},
        [RT_NOT_ENDED] = {COLUMNS(left_columns), fill_left},
    };
    sheet_init(s, report_table_names[which], of[which].columns, (int)of[which].ncolumns);
    of[which].fill(s, r, all);
}
