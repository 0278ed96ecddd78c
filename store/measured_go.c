/* SPDX-License-Identifier: BSD-3-Clause */
/* What Go's scheduler says of itself: GODEBUG=schedtrace, and a dump of runtime/metrics, a line
 * "NAME: VALUE" each, as fmt prints it; of a histogram &{[counts] [buckets]}. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "store/measured_int.h"

enum { BUCKETS_MAX = 4096, PROCS_TOP = 4096 };

/* ---- schedtrace ---- */

static bool find_sched(struct source *s, struct line *l)
{
    while (source_line(s, l)) {
        skip_blanks(l);
        if (skip_word(l, "SCHED "))
            return true;
    }
    return false;
}

bool is_schedtrace(struct source *s)
{
    struct line l;
    return find_sched(s, &l);
}

struct sched_line {
    double ms, procs, idle, spinning, queued, ticks;
    bool has_ticks;
};

/* " name=" and its number. */
static bool field(struct source *s, const struct line *l, const char *name, double *v)
{
    size_t n = strlen(name);
    for (const char *p = l->at; (size_t)(l->end - p) > n; p++) {
        struct line at = {p + n, l->end};
        if (memcmp(p, name, n) == 0)
            return read_number(&at, v) || source_wrong(s, at.at, "want a number behind %s", name);
    }
    return source_wrong(s, l->at, "want %s...", name + 1);
}

/* "[ 1 0 2 ]": their sum. */
static bool list_sum(struct source *s, struct line *l, double *sum)
{
    double v;
    for (skip_blanks(l); l->at < l->end && *l->at != ']'; skip_blanks(l)) {
        if (!read_number(l, &v))
            return source_wrong(s, l->at, "want a number or ]");
        *sum += v;
    }
    return skip_word(l, "]") || source_wrong(s, l->at, "want ] at the end of the list");
}

static bool parse_sched(struct source *s, struct line l, struct sched_line *v)
{
    double global = 0;
    *v = (struct sched_line){0};
    if (!read_number(&l, &v->ms) || !skip_word(&l, "ms:"))
        return source_wrong(s, l.at, "want the time, as 1009ms:");
    if (!field(s, &l, " gomaxprocs=", &v->procs) || !field(s, &l, " idleprocs=", &v->idle) ||
        !field(s, &l, " spinningthreads=", &v->spinning) || !field(s, &l, " runqueue=", &global))
        return false;
    if (v->procs < 1 || v->procs > PROCS_TOP || v->idle > v->procs)
        return source_wrong(s, l.at, "want gomaxprocs from 1 to %d, and no more idle Ps",
                            PROCS_TOP);
    v->queued = global;
    const char *open = memchr(l.at, '[', (size_t)(l.end - l.at));
    if (open == NULL)
        return true; /* scheddetail: the Ps have lines of their own */
    l.at = open + 1;
    if (!list_sum(s, &l, &v->queued))
        return false;
    skip_blanks(&l);
    v->has_ticks = skip_word(&l, "schedticks=[");
    return !v->has_ticks || list_sum(s, &l, &v->ticks);
}

struct sched_sum {
    struct sched_line first, last;
    double lines, busy, queued;
    bool ticks; /* in every line */
};

static void sched_notes(struct source *s, const struct sched_sum *sum)
{
    source_note(s, "what goroutines did when they did not run: slept, waited for each other, for"
                   " the network; only how many Ps were busy");
    if (s->m->starts == 0)
        source_note(s, "how often goroutines were started: %s",
                    sum->ticks ? "there is one line only"
                               : "releases before 1.26 do not print schedticks");
    else
        source_note(s, "how long each ran: the mean is known, taken as exponential");
    source_note(s, "memory and the collector");
}

bool read_schedtrace(struct source *s)
{
    struct sched_sum sum = {.ticks = true};
    struct line l;
    s->m->format = "GODEBUG=schedtrace";
    while (find_sched(s, &l)) {
        struct sched_line v;
        if (!parse_sched(s, l, &v))
            return false;
        if (sum.lines > 0 && (v.ms < sum.last.ms || v.ticks < sum.last.ticks))
            return source_wrong(s, l.at, "time or schedticks go back: two programs in one file?");
        sum.ticks &= v.has_ticks;
        if (sum.lines++ == 0)
            sum.first = v;
        else { /* the first line is the program's start */
            double busy = v.procs - v.idle - v.spinning;
            sum.busy += busy > 0 ? busy : 0;
            sum.queued += v.queued;
        }
        sum.last = v;
    }
    if (sum.lines < 2)
        return source_wrong(s, s->text, "want more than one line of schedtrace");
    s->m->of_scheduler = true;
    s->m->procs = (int64_t)sum.last.procs;
    s->m->busy = sum.busy / (sum.lines - 1);
    s->m->queued = sum.queued / (sum.lines - 1);
    s->m->seconds = (sum.last.ms - sum.first.ms) / 1e3;
    if (sum.ticks && s->m->seconds > 0)
        s->m->starts = (sum.last.ticks - sum.first.ticks) / s->m->seconds;
    sched_notes(s, &sum);
    return true;
}

/* ---- runtime/metrics ---- */

bool is_go_metrics(struct source *s)
{
    struct line l;
    while (source_line(s, &l)) {
        skip_blanks(&l);
        skip_word(&l, "\"");
        if (skip_word(&l, "/sched/") || skip_word(&l, "/cpu/classes/") ||
            skip_word(&l, "/gc/heap/"))
            return line_has(&l, ":");
    }
    return false;
}

struct go_values {
    double gomaxprocs, total, idle, user, gc, allocs, live;
    bool has_waits;
    double wait_count;
};

/* Of a histogram: where so many of its values are reached. */
static double quantile(const double *counts, const double *bounds, size_t n, double of)
{
    double below = 0;
    for (size_t i = 0; i < n; i++) {
        below += counts[i];
        if (below >= of && counts[i] > 0)
            return isfinite(bounds[i + 1]) ? bounds[i + 1] : bounds[i];
    }
    return 0;
}

/* "[0 1 2]", with -Inf and +Inf. */
static bool read_list(struct source *s, struct line *l, double *list, size_t *n)
{
    const char *open = memchr(l->at, '[', (size_t)(l->end - l->at));
    if (open == NULL)
        return source_wrong(s, l->at, "want a histogram, as &{[counts] [buckets]}");
    l->at = open + 1;
    *n = 0;
    for (;;) {
        while (l->at < l->end && (*l->at == ' ' || *l->at == ','))
            l->at++;
        if (skip_word(l, "]"))
            return true;
        if (*n == BUCKETS_MAX)
            return source_wrong(s, l->at, "more than %d buckets", BUCKETS_MAX);
        double sign = skip_word(l, "-") ? -1 : 1;
        if (skip_word(l, "+Inf") || skip_word(l, "Inf"))
            list[(*n)++] = sign * INFINITY;
        else if (!read_number(l, &list[*n]))
            return source_wrong(s, l->at, "want a number or ]");
        else
            list[(*n)++] *= sign;
    }
}

static bool read_waits(struct source *s, struct line l, struct go_values *v)
{
    double *counts = x_alloc(2 * BUCKETS_MAX * sizeof *counts), *bounds = counts + BUCKETS_MAX;
    size_t n = 0, nbounds = 0;
    const char *at = l.at;
    bool ok = read_list(s, &l, counts, &n) && read_list(s, &l, bounds, &nbounds);
    if (ok && nbounds != n + 1)
        ok = source_wrong(s, at, "want one bucket's bound more than counts");
    if (ok) {
        v->has_waits = true;
        v->wait_count = 0;
        for (size_t i = 0; i < n; i++)
            v->wait_count += counts[i] > 0 ? counts[i] : 0;
        s->m->wait_p50_ns = 1e9 * quantile(counts, bounds, n, v->wait_count * 0.5);
        s->m->wait_p99_ns = 1e9 * quantile(counts, bounds, n, v->wait_count * 0.99);
    }
    free(counts);
    return ok;
}

static bool metric_line(struct source *s, struct line l, struct go_values *v)
{
    const struct {
        const char *name;
        double *to;
    } all[] = {{"/sched/gomaxprocs:threads", &v->gomaxprocs},
               {"/cpu/classes/total:cpu-seconds", &v->total},
               {"/cpu/classes/idle:cpu-seconds", &v->idle},
               {"/cpu/classes/user:cpu-seconds", &v->user},
               {"/cpu/classes/gc/total:cpu-seconds", &v->gc},
               {"/gc/heap/allocs:bytes", &v->allocs},
               {"/gc/heap/live:bytes", &v->live}};
    skip_blanks(&l);
    skip_word(&l, "\"");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!skip_word(&l, all[i].name))
            continue;
        while (l.at < l.end && strchr("\": \t=", *l.at) != NULL)
            l.at++;
        return read_number(&l, all[i].to) || source_wrong(s, l.at, "want a number");
    }
    return !skip_word(&l, "/sched/latencies:seconds") || !line_has(&l, "[") || read_waits(s, l, v);
}

bool read_go_metrics(struct source *s)
{
    struct go_values v = {0};
    struct line l;
    s->m->format = "a dump of runtime/metrics";
    s->m->of_scheduler = true;
    while (source_line(s, &l))
        if (!metric_line(s, l, &v))
            return false;
    if (v.gomaxprocs < 1 || v.gomaxprocs > PROCS_TOP)
        return source_wrong(s, s->text, "want /sched/gomaxprocs:threads, from 1 to %d", PROCS_TOP);
    if (v.total <= 0 || v.user < 0 || v.user > v.total)
        return source_wrong(s, s->text,
                            "want /cpu/classes/total:cpu-seconds and .../user:cpu-seconds (both are"
                            " known after a collection; since Go 1.20)");
    s->m->procs = (int64_t)v.gomaxprocs;
    s->m->seconds = v.total / v.gomaxprocs;
    s->m->busy = v.user / s->m->seconds;
    if (v.has_waits && v.wait_count > 0) {
        s->m->starts = v.wait_count / s->m->seconds;
        s->m->alloc_bytes = v.allocs / v.wait_count;
    } else
        source_note(s, "how often goroutines were started: /sched/latencies:seconds is not there");
    s->m->live_bytes = v.live;
    source_note(s, "what goroutines did when they did not run, and how long each ran: the mean is"
                   " known, taken as exponential");
    source_note(s, "when it was: the classes of CPU time are those of the last collection, all"
                   " numbers since the program's start");
    return true;
}
