/* SPDX-License-Identifier: BSD-3-Clause */
/* The pictures over time: run-queue length, what the Ps did, threads, throttling. Samples are
 * joined so that there is about one per pixel at most. A row stands for the time since the row
 * before; a step is drawn from a row's begin to the next row's, so the series ends with one more
 * row at its end. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"

enum { POINTS_MAX = 300, STATES = 8 };

/* ns per point; at least one sample's interval. */
static int64_t bucket(const struct plot *p)
{
    int64_t b = p->makespan_ns / POINTS_MAX;
    return b > 0 ? b : 1;
}

/* Samples with their true begin: that of the last one is shorter than its interval. */
#define SAMPLES                                                                                \
    "WITH s AS (SELECT *, lag(time_ns, 1, 0) OVER (ORDER BY time_ns) AS begin_ns FROM samples" \
    " WHERE run = ?1) "

static sqlite3_stmt *query_buckets(struct plot *p, const char *sql)
{
    sqlite3_stmt *st = plot_query(p, sql);
    if (st != NULL)
        sqlite3_bind_int64(st, 2, bucket(p));
    return st;
}

static void axes(struct plot *p, const char *what, const char *ylabel, int64_t unit,
                 const char *name)
{
    plot_begin(p, PLOT_HEIGHT, what, "");
    fprintf(p->gp,
            "set ylabel '%s'\nset key below left Left reverse samplen 2\n"
            "set format x '%%.10g %s'\nset xrange [0:%.9g]\n",
            ylabel, name, (double)p->makespan_ns / (double)unit);
}

/* ---- run queues ---- */

struct runq_row {
    double mean, most, global;
};

static void put_runq(struct plot *p, double at, const struct runq_row *r)
{
    fprintf(p->dat, "%.9g %.6g %.6g %.6g\n", at, r->mean, r->most, r->global);
}

static int write_runq(struct plot *p, int64_t unit)
{
    struct runq_row r = {0};
    int n = 0;
    sqlite3_stmt *st = query_buckets(
        p, SAMPLES "SELECT min(begin_ns), 1.0 * sum(runnable_area) / sum(time_ns - begin_ns),"
                   " max(runnable_max), avg(globrunq) FROM s WHERE time_ns > begin_ns"
                   " GROUP BY (time_ns - 1) / ?2 ORDER BY 1");
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        r = (struct runq_row){sqlite3_column_double(st, 1), sqlite3_column_double(st, 2),
                              sqlite3_column_double(st, 3)};
        put_runq(p, (double)sqlite3_column_int64(st, 0) / (double)unit, &r);
    }
    plot_done(p, st);
    if (n > 0)
        put_runq(p, (double)p->makespan_ns / (double)unit, &r);
    return n;
}

void plot_runq(struct plot *p)
{
    static const char what[] = "Runnable goroutines over time";
    const char *unit;
    int64_t u = plot_unit(p->makespan_ns, &unit);
    if (write_runq(p, u) == 0) {
        plot_nothing(p, what, "the run has no samples: it took no time");
        return;
    }
    axes(p, what, "goroutines", u, unit);
    int64_t most = plot_number(p, "SELECT max(runnable_max) FROM samples WHERE run = ?1", 0);
    plot_counts(p, "y", (double)most);
    fprintf(p->gp,
            "set yrange [0:%.6g]\n"
            "plot %s using 1:3 with fillsteps fs solid 1 noborder lc rgb '#c6dcec'"
            " title 'runnable, most', \\\n"
            "     '' using 1:2 with steps lw 2 lc rgb '%s' title 'runnable, mean'",
            most > 0 ? (double)most * 1.05 : 1, p->dat_name, colours[0]);
    if (plot_number(p, "SELECT max(globrunq) FROM samples WHERE run = ?1", -1) >= 0)
        fprintf(p->gp,
                ", \\\n     '' using 1:4 with steps lw 2 lc rgb '%s'"
                " title 'global queue, sampled'",
                colours[1]);
    fputc('\n', p->gp);
}

/* ---- utilisation ---- */

static const struct {
    const char *name, *colour;
} states[STATES] = {
    {"user code", "#0072B2"}, {"GC and runtime", "#009E73"}, {"scheduler", "#D55E00"},
    {"spinning", "#E69F00"},  {"system call", "#CC79A7"},    {"waits for a CPU", "#F0E442"},
    {"throttled", "#333333"}, {"idle", "#e4e4e4"},
};

/* Cumulative percent, one column per state. */
static void put_states(struct plot *p, double at, const double ns[STATES])
{
    double total = 0, sum = 0;
    for (int i = 0; i < STATES; i++)
        total += ns[i];
    fprintf(p->dat, "%.9g", at);
    for (int i = 0; i < STATES; i++) {
        sum += ns[i];
        fprintf(p->dat, " %.5g", total > 0 ? 100 * sum / total : 0.0);
    }
    fputc('\n', p->dat);
}

/* share: percent of the whole run. */
static int write_states(struct plot *p, int64_t unit, double share[STATES])
{
    double ns[STATES] = {0}, all = 0;
    int n = 0;
    sqlite3_stmt *st = query_buckets(
        p, SAMPLES "SELECT min(begin_ns), sum(user_ns), sum(gc_ns), sum(scheduler_ns),"
                   " sum(spinning_ns), sum(syscall_ns), sum(no_cpu_ns), sum(throttled_ns),"
                   " sum(idle_ns) FROM s WHERE time_ns > begin_ns"
                   " GROUP BY (time_ns - 1) / ?2 ORDER BY 1");
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        for (int i = 0; i < STATES; i++) {
            ns[i] = sqlite3_column_double(st, i + 1);
            share[i] += ns[i];
            all += ns[i];
        }
        put_states(p, (double)sqlite3_column_int64(st, 0) / (double)unit, ns);
    }
    plot_done(p, st);
    if (n > 0)
        put_states(p, (double)p->makespan_ns / (double)unit, ns);
    for (int i = 0; i < STATES; i++)
        share[i] = all > 0 ? 100 * share[i] / all : 0;
    return n;
}

void plot_utilisation(struct plot *p)
{
    static const char what[] = "What the Ps did";
    const char *unit, *comma = "plot";
    double share[STATES] = {0};
    int64_t u = plot_unit(p->makespan_ns, &unit);
    if (write_states(p, u, share) == 0) {
        plot_nothing(p, what, "the run has no samples: it took no time");
        return;
    }
    axes(p, what, "share of all Ps (%)", u, unit);
    fputs("set yrange [0:100]\nset key maxrows 2\n", p->gp);
    /* From the top of the stack down, each over the one before. */
    for (int i = STATES - 1; i >= 0; i--) {
        if (share[i] <= 0 && i != STATES - 1)
            continue;
        fprintf(p->gp,
                "%s %s using 1:%d with fillsteps fs solid 1 noborder lc rgb '%s'"
                " title '%s %.1f %%'",
                comma, p->dat_name, i + 2, states[i].colour, states[i].name, share[i]);
        comma = ", \\\n    ";
    }
    fputc('\n', p->gp);
}

/* ---- Ms ---- */

static int write_threads(struct plot *p, int64_t unit)
{
    double v[4] = {0};
    int n = 0;
    sqlite3_stmt *st = query_buckets(
        p, SAMPLES "SELECT min(begin_ns), max(ms), max(idle_ms), max(spinning_ms),"
                   " 1.0 * sum(spinning_ns) / sum(time_ns - begin_ns) FROM s"
                   " WHERE time_ns > begin_ns GROUP BY (time_ns - 1) / ?2 ORDER BY 1");
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        for (int i = 0; i < 4; i++)
            v[i] = sqlite3_column_double(st, i + 1);
        fprintf(p->dat, "%.9g %.6g %.6g %.6g %.6g\n",
                (double)sqlite3_column_int64(st, 0) / (double)unit, v[0], v[1], v[2], v[3]);
    }
    plot_done(p, st);
    if (n > 0)
        fprintf(p->dat, "%.9g %.6g %.6g %.6g %.6g\n", (double)p->makespan_ns / (double)unit, v[0],
                v[1], v[2], v[3]);
    return n;
}

void plot_threads(struct plot *p)
{
    static const char what[] = "Threads (Ms) over time";
    const char *unit;
    int64_t u = plot_unit(p->makespan_ns, &unit);
    if (write_threads(p, u) == 0) {
        plot_nothing(p, what, "the run has no samples: it took no time");
        return;
    }
    axes(p, what, "Ms", u, unit);
    plot_counts(p, "y", (double)plot_number(p, "SELECT max(ms) FROM samples WHERE run = ?1", 0));
    fprintf(p->gp,
            "set yrange [0:*]\nset offsets 0, 0, graph 0.05, 0\n"
            "plot %s using 1:2 with steps lw 2 lc rgb '%s' title 'all', \\\n",
            p->dat_name, colours[0]);
    if (!p->recorded)
        fprintf(p->gp,
                "     '' using 1:3 with steps lw 2 lc rgb '%s' title 'idle, sampled', \\\n"
                "     '' using 1:4 with steps lw 1 lc rgb '%s' title 'spinning, sampled', \\\n"
                "     '' using 1:5 with fillsteps fs transparent solid 0.4 noborder lc rgb '%s'"
                " title 'spinning, mean', \\\n",
                colours[5], colours[1], colours[4]);
    fprintf(p->gp, "     %d with lines dt 2 lw 1 lc rgb '#444444' title 'GOMAXPROCS'\n", p->procs);
}

/* ---- throttling ---- */

struct periods {
    double ns, together; /* of a period; how many of them are one bar */
    int count;
    double *any, *sum; /* per bar, ns: of at least one P, of all */
    int64_t until;     /* what is counted of `any` so far */
};

static void add_stretch(const struct periods *q, double *to, double begin, double end)
{
    double width = q->ns * q->together;
    for (int i = (int)(begin / width); i >= 0 && i < q->count && begin < end; i++) {
        double until = width * (i + 1) < end ? width * (i + 1) : end;
        to[i] += until - begin;
        begin = until;
    }
}

/* Stretches in the order of their begin, so that a moment counts once however many Ps stand. */
static int64_t count_throttling(struct plot *p, struct periods *q)
{
    int64_t n = 0;
    sqlite3_stmt *st = plot_query(
        p, "SELECT begin_ns, ifnull(end_ns, (SELECT makespan_ns FROM runs WHERE id = ?1))"
           " FROM p_stalls WHERE run = ?1 AND why = 'throttled' ORDER BY 1");
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        int64_t begin = sqlite3_column_int64(st, 0), end = sqlite3_column_int64(st, 1);
        if (begin < 0 || end > p->makespan_ns)
            continue;
        add_stretch(q, q->sum, (double)begin, (double)end);
        add_stretch(q, q->any, (double)(begin > q->until ? begin : q->until), (double)end);
        q->until = end > q->until ? end : q->until;
    }
    plot_done(p, st);
    return n;
}

static void draw_throttling(struct plot *p, const struct periods *q, const char *what, int64_t n)
{
    const char *unit, *part;
    char more[200];
    int64_t u = plot_unit(p->makespan_ns, &unit), v = plot_unit((int64_t)q->ns, &part);
    double width = q->ns * q->together;
    plot_block(p);
    for (int i = 0; i < q->count; i++)
        fprintf(p->dat, "%.9g %.6g %.6g %.9g\n", width * (i + 0.5) / (double)u,
                q->any[i] / q->together / (double)v, q->sum[i] / q->together / p->procs / (double)v,
                width / (double)u);
    snprintf(more, sizeof more, "a bar is %s of %s; throttled %" PRId64 " times",
             q->together > 1 ? "the mean of several periods" : "a period",
             plot_time((int64_t)q->ns), n);
    axes(p, what, "throttled", u, unit);
    fputs("set title ", p->gp);
    plot_title(p, what, more);
    fprintf(p->gp,
            "set format y '%%.10g %s'\nset yrange [0:%.6g]\nset xrange [0:%.9g]\n"
            "plot %s using 1:2:4 with boxes fs solid 0.9 noborder lc rgb '#333333'"
            " title 'at least one P', \\\n"
            "     '' using 1:3:4 with boxes fs solid 1 noborder lc rgb '%s'"
            " title 'mean of all Ps', \\\n"
            "     %.6g with lines dt 2 lc rgb '#444444' title 'the period'\n",
            part, q->ns * 1.05 / (double)v, width * q->count / (double)u, p->dat_name, colours[4],
            q->ns / (double)v);
}

void plot_throttling(struct plot *p)
{
    static const char what[] = "Throttling: how long of each period there was no quota left";
    int64_t us = plot_number(p, "SELECT period_us FROM runs WHERE id = ?1 AND quota_us > 0", 0);
    struct periods q = {.ns = (double)us * 1000, .together = 1};
    if (us <= 0 || us > PLOT_TIME_MAX / 1000) {
        plot_nothing(p, what, plot_untold(p, "the run had no CPU quota (--quota)"));
        return;
    }
    double all = (double)p->makespan_ns / q.ns;
    if (all > POINTS_MAX)
        q.together = (double)((int64_t)(all / POINTS_MAX) + 1);
    q.count = (int)(all / q.together) + 1;
    q.any = x_alloc((size_t)q.count * sizeof *q.any);
    q.sum = x_alloc((size_t)q.count * sizeof *q.sum);
    int64_t n = count_throttling(p, &q);
    if (n == 0)
        plot_nothing(p, what, "the quota was never used up");
    else
        draw_throttling(p, &q, what, n);
    free(q.any);
    free(q.sum);
}
