/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/out.h"
#include "cli/report_tables.h"
#include "cli/waitsfor.h"
#include "run/judge.h"
#include "sim/base/text.h"

enum { GS_SHOWN = 20 };

static void complain(void *arg, const char *text)
{
    struct complaints *c = arg;
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s%s", used > 0 ? "\n" : "", text);
}

void complaints_of(const struct scenario *s, const struct run_opts *o, const struct run_result *r,
                   struct complaints *c)
{
    if (r->warmup_ps > 0) { /* the file's numbers are about all of the run */
        complaints_of_end(s, r, c);
        return;
    }
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

/* One table; nothing of one that is empty. */
static void print_table(FILE *to, enum report_table which, const struct run_result *r, bool all)
{
    struct sheet s;
    report_table(&s, which, r, all);
    if (sheet_rows(&s) > 0) {
        fputc('\n', to);
        sheet_print(to, &s);
    }
    sheet_release(&s);
}

double report_runnable(const struct run_result *r)
{
    return run_seconds(r) > 0 ? (double)r->runnable_area / (run_seconds(r) * 1e9) : 0;
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
    fprintf(to, "\nrunnable goroutines: mean %.2f, max %" PRIu64 "\n", report_runnable(r),
            r->runnable_max);
    fprintf(to, "a P idle beside a runnable goroutine: %s, at most %s at a time\n",
            time_text((int64_t)(r->beside.sum_ps / 1000)),
            time_text((int64_t)(r->beside.longest_ps / 1000)));
}

/* Of the first ones; JSON has all. */
static void print_p_cpu(FILE *to, const struct run_result *r)
{
    enum { SHOWN = 16 };
    if (r->p_cpu_ps == NULL)
        return;
    fputs("CPU time of", to);
    for (int32_t i = 0; i < r->np_cpu && i < SHOWN; i++)
        fprintf(to, "%s P%d %s", i > 0 ? "," : "", i, time_text((int64_t)(r->p_cpu_ps[i] / 1000)));
    fprintf(to, "%s\n", r->np_cpu > SHOWN ? ", ..." : "");
}

static void print_counters(FILE *to, const struct run_result *r, bool all)
{
    print_table(to, RT_COUNTERS, r, all);
    if (r->tallies_whole)
        fputs("  (the warm-up is in them, and in the quota's numbers)\n", to);
    if (!all)
        fputs("  (--counters: all of them)\n", to);
}

static void print_left(FILE *to, const struct run_result *r)
{
    if (r->ngs == 0 || (r->end == END_STOPPED && r->ngs == 1))
        return;
    print_table(to, RT_NOT_ENDED, r, false);
    if (r->ngs > GS_SHOWN)
        fprintf(to, "  ... and %zu more\n", r->ngs - GS_SHOWN);
}

/* Numbers of those that ended say little where many did not: the slow ones are among these. */
static void print_open(FILE *to, const struct run_result *r)
{
    for (size_t i = 0; i < r->nspans; i++) {
        const struct hist *open = r->spans[i].open, *ended = r->spans[i].latency;
        if (many_open((double)open->count, (double)ended->count))
            fprintf(to, "  %s: %" PRIu64 " more began and have not ended, the oldest for %s now\n",
                    text_cut(r->spans[i].name, SHEET_TEXT_MAX), open->count, time_text(open->max));
    }
}

/* What is counted from when on. */
static void print_warmup(FILE *to, const struct run_result *r)
{
    if (r->warmup_ps == 0)
        return;
    if (r->warmup_ps >= r->now_ps)
        fprintf(to, "warm-up %s: the run was over before, nothing is left to count\n",
                time_exact((int64_t)(r->warmup_ps / 1000)));
    else
        fprintf(to, "warm-up %s: what began before it is not counted; %s are\n",
                time_exact((int64_t)(r->warmup_ps / 1000)),
                time_text((int64_t)((r->now_ps - r->warmup_ps) / 1000)));
}

static void print_head(FILE *to, const struct machine *m, const struct run_opts *o,
                       const struct run_result *r, const struct complaints *c)
{
    fprintf(to, "%s%s: %s%s%s", out_bold(to), text_line(m->scenario->name), run_verdict(r),
            out_plain(to), r->text[0] != 0 ? ": " : "");
    text_put(to, TEXT_LINES, r->text);
    fputc('\n', to);
    if (c->text[0] != 0) {
        text_put(to, TEXT_LINES, c->text);
        fputc('\n', to);
    }
    if (c->count == 0 && m->scenario->expects != NULL)
        fputs(r->warmup_ps > 0 ? "ended as expected\n" : "as expected\n", to);
    fprintf(to, "\nmakespan %s   profile %s   procs %d   ", time_text((int64_t)(r->now_ps / 1000)),
            profile_name(o->profile.release), r->procs);
    if (o->cpus > 0)
        fprintf(to, "cpus %d", o->cpus);
    else
        fputs("cpus dedicated", to);
    if (o->host != NULL)
        fprintf(to, "   host %s%s, class %s", o->host->name, m->pin ? ", pinned" : "",
                machine_sched(o));
    if (o->quota_us > 0)
        fprintf(to, "   quota %.4g CPUs (%s per %s)", (double)o->quota_us / (double)o->period_us,
                time_exact(o->quota_us * 1000), time_exact(o->period_us * 1000));
    fprintf(to, "   seed %" PRIu64 "   threads %" PRIu32 "\n", o->seed, r->threads);
    print_warmup(to, r);
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
                 const struct run_result *r, const struct complaints *c, bool counters,
                 const struct waitsfor *waits)
{
    char line[4096];
    print_head(to, m, o, r, c);
    print_table(to, RT_LATENCY, r, false);
    print_open(to, r);
    report_slow(to, r);
    print_table(to, RT_GOROUTINES, r, false);
    print_ps(to, r);
    print_p_cpu(to, r);
    print_table(to, RT_QUOTA, r, false);
    print_counters(to, r, counters);
    print_left(to, r);
    if (waits != NULL) {
        fputc('\n', to);
        waitsfor_print(to, waits);
    }
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
        fprintf(to, "this is one schedule; `" GMPSIM_NAME " explore %s` searches\n",
                text_in(line, sizeof line, TEXT_SHELL, m->file));
}
