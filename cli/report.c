/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report.h"

#include <inttypes.h>
#include <string.h>

#include "run/judge.h"
#include "sim/base/text.h"

enum { GS_SHOWN = 20, PPM = 1000000, NAME_MIN = 24, NAME_MAX_COLUMNS = 48 };

static const char *const counter_names[COUNTER_COUNT] = {
#define COUNTER(name, what) #name,
#include "model/counters.def"
#undef COUNTER
};

static void complain(void *arg, const char *text)
{
    struct complaints *c = arg;
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s%s", used > 0 ? "\n" : "", text);
}

void complaints_of(const struct scenario *s, const struct run_opts *o, const struct run_result *r,
                   struct complaints *c)
{
    c->text[0] = 0;
    c->count = 0;
    if (r->end == END_TIME && o->until_ns > 0 && s->expects == NULL && r->stranded == 0)
        return; /* the user's own limit */
    c->count = scenario_check(s, o->profile.release, r, complain, c);
}

void complaints_of_end(const struct scenario *s, const struct run_result *r, struct complaints *c)
{
    c->text[0] = 0;
    c->count = scenario_check_end(s, r, complain, c);
}

int report_status(const struct run_result *r, const struct complaints *c)
{
    if (r->end == END_THROWN || (r->end == END_LIMIT && c->count > 0))
        return run_exit_code(r);
    return c->count > 0 ? EXIT_FINDING : EXIT_CLEAN;
}

/* ---- parts of the text ---- */

/* Columns of the longest name, within bounds. */
static int widest(int width, const char *name, int more)
{
    int columns = text_columns(name) + more;
    if (columns > NAME_MAX_COLUMNS)
        columns = NAME_MAX_COLUMNS;
    return columns > width ? columns : width;
}

static void print_hist(FILE *to, int width, const char *name, struct hist *h)
{
    if (h->count == 0)
        return;
    fputs("  ", to);
    text_cell(to, name, width);
    fprintf(to, " %10" PRIu64 " %9s %9s %9s %9s %9s\n", h->count,
            time_text(hist_percentile(h, PPM / 2)), time_text(hist_percentile(h, PPM / 10 * 9)),
            time_text(hist_percentile(h, PPM / 100 * 99)),
            time_text(hist_percentile(h, PPM / 1000 * 999)), time_text(h->max));
}

static void print_spans(FILE *to, const struct run_result *r)
{
    static const char life[] = ": life";
    int width = NAME_MIN;
    for (size_t i = 0; i < r->nspans; i++)
        width = widest(width, r->spans[i].name, 0);
    for (size_t i = 0; i < r->ngroups; i++)
        width = widest(width, r->groups[i].name, (int)strlen(life));
    fprintf(to, "\n%-*s %10s %9s %9s %9s %9s %9s\n", width + 2, "latency", "count", "p50", "p90",
            "p99", "p99.9", "max");
    for (size_t i = 0; i < r->nspans; i++)
        print_hist(to, width, r->spans[i].name, r->spans[i].latency);
    for (size_t i = 0; i < r->ngroups; i++) {
        char name[300];
        snprintf(name, sizeof name, "%s%s", text_cut(r->groups[i].name, width - (int)strlen(life)),
                 life);
        print_hist(to, width, name, r->groups[i].life);
    }
    print_hist(to, width, "run-queue wait", r->runq_wait);
}

static void print_groups(FILE *to, const struct run_result *r)
{
    int width = NAME_MIN;
    for (size_t i = 0; i < r->ngroups; i++)
        width = widest(width, r->groups[i].name, 0);
    fprintf(to, "\n%-*s %8s %8s %10s %10s %10s %10s\n", width + 2, "goroutines", "created", "ended",
            "running", "runnable", "waiting", "syscall");
    for (size_t i = 0; i < r->ngroups; i++) {
        const struct run_group *g = &r->groups[i];
        fputs("  ", to);
        text_cell(to, g->name, width);
        fprintf(
            to, " %8" PRIu64 " %8" PRIu64 " %10s %10s %10s %10s\n", g->created, g->exited,
            time_text((int64_t)(g->running_ps / 1000)), time_text((int64_t)(g->runnable_ps / 1000)),
            time_text((int64_t)(g->waiting_ps / 1000)), time_text((int64_t)(g->syscall_ps / 1000)));
    }
}

static void print_ps(FILE *to, const struct run_result *r)
{
    uint64_t total = 0;
    for (int c = 0; c < PC_COUNT; c++)
        total += r->p_ps[c];
    if (total == 0)
        return;
    fputs("\nPs ", to);
    for (int c = 0; c < PC_COUNT; c++)
        if (r->p_ps[c] > 0)
            fprintf(to, "  %s %.1f%%", p_class_names[c],
                    100.0 * (double)r->p_ps[c] / (double)total);
    fprintf(to, "\nrunnable goroutines: mean %.2f, max %" PRIu64 "\n",
            r->now_ps > 0 ? (double)r->runnable_area / ((double)r->now_ps / 1000) : 0.0,
            r->runnable_max);
    fprintf(to, "a P idle beside a runnable goroutine: %s, at most %s at a time\n",
            time_text((int64_t)(r->beside.sum_ps / 1000)),
            time_text((int64_t)(r->beside.longest_ps / 1000)));
    if (r->nr_periods > 0)
        fprintf(to, "quota: nr_periods %" PRIu64 ", nr_throttled %" PRIu64 ", throttled %s\n",
                r->nr_periods, r->nr_throttled, time_text((int64_t)(r->throttled_ps / 1000)));
}

static void print_counters(FILE *to, const struct run_result *r)
{
    int shown = 0;
    fputs("\ncounters\n", to);
    for (int c = 0; c < COUNTER_COUNT; c++)
        if (r->counters[c] > 0)
            fprintf(to, "%s%-17s %10" PRIu64,
                    shown++ % 3 == 0 ? (shown > 1 ? "\n  " : "  ") : "   ", counter_names[c],
                    r->counters[c]);
    fputc('\n', to);
}

static void print_left(FILE *to, const struct run_result *r)
{
    if (r->ngs == 0 || (r->end == END_STOPPED && r->ngs == 1))
        return;
    fprintf(to, "\nnot ended: %zu goroutines\n", r->ngs);
    for (size_t i = 0; i < r->ngs && i < GS_SHOWN; i++) {
        const struct run_g *g = &r->gs[i];
        fprintf(to, "  goroutine %" PRIu64 " [%s] %s", g->goid,
                text_line(g->is->reason[0] != 0 ? g->is->reason : g->is->status),
                text_line(g->is->group));
        if (g->is->line != 0)
            fprintf(to, ", line %" PRIu32, g->is->line);
        fputs(g->is->blocked ? "\n" : ", not blocked\n", to);
    }
    if (r->ngs > GS_SHOWN)
        fprintf(to, "  ... and %zu more\n", r->ngs - GS_SHOWN);
}

static void print_head(FILE *to, const struct machine *m, const struct run_opts *o,
                       const struct run_result *r, const struct complaints *c)
{
    fprintf(to, "%s: %s%s", text_line(m->scenario->name), run_verdict(r),
            r->text[0] != 0 ? ": " : "");
    text_put(to, TEXT_LINES, r->text);
    fputc('\n', to);
    if (c->text[0] != 0) {
        text_put(to, TEXT_LINES, c->text);
        fputc('\n', to);
    }
    if (c->count == 0 && m->scenario->expects != NULL)
        fputs("as expected\n", to);
    fprintf(to, "\nmakespan %s   profile %s   procs %d   ", time_text((int64_t)(r->now_ps / 1000)),
            profile_name(o->profile.release), r->procs);
    if (o->cpus > 0)
        fprintf(to, "cpus %d", o->cpus);
    else
        fputs("cpus dedicated", to);
    if (o->host != NULL)
        fprintf(to, "   host %s%s", o->host->name, m->pin ? ", pinned" : "");
    if (o->quota_us > 0)
        fprintf(to, "   quota %.4g CPUs (%s per %s)", (double)o->quota_us / (double)o->period_us,
                time_exact(o->quota_us * 1000), time_exact(o->period_us * 1000));
    fprintf(to, "   seed %" PRIu64 "   threads %" PRIu32 "\n", o->seed, r->threads);
}

/* Who takes locks or waits for others may meet them in an order that this run did not have. */
static bool meets_others(const struct program *p)
{
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].op == OP_LOCK || p->code[i].op == OP_RLOCK || p->code[i].op == OP_WLOCK)
            return true;
    return false;
}

void report_text(FILE *to, const struct machine *m, const struct run_opts *o,
                 const struct run_result *r, const struct complaints *c)
{
    char line[4096];
    print_head(to, m, o, r, c);
    print_spans(to, r);
    print_groups(to, r);
    print_ps(to, r);
    print_counters(to, r);
    print_left(to, r);
    fputc('\n', to);
    if (o->host == NULL)
        fprintf(to, "fingerprint %016" PRIx64 "\n", r->fingerprint);
    if (o->host != NULL)
        fprintf(to,
                "CPU time %s, %" PRIu64 " switches of threads, %" PRIu64
                " of them not wanted, %s taken by the hypervisor\n",
                time_text((int64_t)(r->cpu_ps / 1000)), r->voluntary + r->involuntary,
                r->involuntary, time_text((int64_t)(r->steal_ps / 1000)));
    if (r->stopped_ps > 0)
        fprintf(to, "the process was stopped for %s: times are too long by it\n",
                time_text((int64_t)(r->stopped_ps / 1000)));
    if (r->record_waits_ps > 0)
        fprintf(to,
                "threads waited %s for room for their records: times are too long by some of it\n",
                time_text((int64_t)(r->record_waits_ps / 1000)));
    fprintf(to, "repeat: " GMPSIM_NAME " run %s\n", machine_line(m, o, line, sizeof line));
    if (report_status(r, c) == EXIT_CLEAN && r->end == END_STOPPED &&
        meets_others(&m->scenario->program))
        fprintf(to, "this is one schedule; `" GMPSIM_NAME " explore %s` searches\n", m->file);
}
