/* SPDX-License-Identifier: BSD-3-Clause */
/* The two pictures over time: run-queue length, and what the Ps did. Samples are joined so that
 * there is about one per pixel at most. */
#include <inttypes.h>
#include <sqlite3.h>

#include "plots/plot_int.h"

enum { POINTS_MAX = 300, STATES = 8 };

/* ns per point; at least one sample's interval. */
static int64_t bucket(const struct plot *p)
{
    int64_t b = p->makespan_ns / POINTS_MAX;
    return b > 0 ? b : 1;
}

static sqlite3_stmt *query_buckets(struct plot *p, const char *sql)
{
    sqlite3_stmt *st = plot_query(p, sql);
    if (st != NULL)
        sqlite3_bind_int64(st, 2, bucket(p));
    return st;
}

static void axes(struct plot *p, const char *what, const char *ylabel)
{
    plot_title(p, what);
    fprintf(p->gp, "set ylabel '%s'\nset key above center horizontal Left reverse\n", ylabel);
}

void plot_runq(struct plot *p)
{
    const char *unit;
    int64_t u = plot_unit(p->makespan_ns, &unit);
    sqlite3_stmt *st = query_buckets(
        p, "SELECT min(time_ns - interval_ns), 1.0 * sum(runnable_area) / sum(interval_ns),"
           " max(runnable_max), avg(globrunq), avg(ring)"
           " FROM samples WHERE run = ?1 GROUP BY (time_ns - 1) / ?2 ORDER BY 1");
    int n = 0;
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++)
        fprintf(p->dat, "%.9g %.6g %.6g %.6g %.6g\n",
                (double)sqlite3_column_int64(st, 0) / (double)u, sqlite3_column_double(st, 1),
                sqlite3_column_double(st, 2), sqlite3_column_double(st, 3),
                sqlite3_column_double(st, 4));
    plot_done(p, st);
    if (n == 0)
        plot_fail(p, "run %" PRId64 " has no samples", p->args->run);
    axes(p, "Runnable goroutines over time", "goroutines");
    fprintf(p->gp,
            "set xlabel 'virtual time (%s)'\nset xrange [0:%.9g]\nset yrange [0:*]\n"
            "set offsets 0, 0, graph 0.03, 0\n",
            unit, (double)p->makespan_ns / (double)u);
    fprintf(p->gp,
            "plot '%s' using 1:3 with fillsteps fs solid 1 noborder lc rgb '#c6dcec'"
            " title 'runnable, most', \\\n"
            "     '' using 1:2 with steps lw 2 lc rgb '%s' title 'runnable, mean', \\\n"
            "     '' using 1:4 with steps lw 2 lc rgb '%s' title 'in the global queue, sampled'\n",
            p->dat_name, colours[0], colours[1]);
}

/* ---- utilisation ---- */

static const struct {
    const char *column, *name, *colour;
} states[STATES] = {
    {"user_ns", "user code", "#0072B2"},      {"gc_ns", "GC and runtime", "#009E73"},
    {"scheduler_ns", "scheduler", "#D55E00"}, {"spinning_ns", "spinning", "#E69F00"},
    {"syscall_ns", "system call", "#CC79A7"}, {"no_cpu_ns", "waits for a CPU", "#F0E442"},
    {"throttled_ns", "throttled", "#333333"}, {"idle_ns", "idle", "#e4e4e4"},
};

/* Cumulative percent, one column per state. */
static int write_states(struct plot *p, int64_t unit, double share[STATES])
{
    sqlite3_stmt *st = query_buckets(
        p, "SELECT min(time_ns - interval_ns), sum(user_ns), sum(gc_ns), sum(scheduler_ns),"
           " sum(spinning_ns), sum(syscall_ns), sum(no_cpu_ns), sum(throttled_ns), sum(idle_ns)"
           " FROM samples WHERE run = ?1 GROUP BY (time_ns - 1) / ?2 ORDER BY 1");
    double all = 0;
    int n = 0;
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        double total = 0, sum = 0;
        for (int i = 0; i < STATES; i++)
            total += sqlite3_column_double(st, i + 1);
        int64_t begin = sqlite3_column_int64(st, 0);
        fprintf(p->dat, "%.9g", (double)(begin > 0 ? begin : 0) / (double)unit);
        for (int i = 0; i < STATES; i++) {
            sum += sqlite3_column_double(st, i + 1);
            share[i] += sqlite3_column_double(st, i + 1);
            fprintf(p->dat, " %.5g", total > 0 ? 100 * sum / total : 0.0);
        }
        fputc('\n', p->dat);
        all += total;
    }
    plot_done(p, st);
    for (int i = 0; i < STATES; i++)
        share[i] = all > 0 ? 100 * share[i] / all : 0;
    return n;
}

void plot_utilisation(struct plot *p)
{
    const char *unit;
    double share[STATES] = {0};
    int64_t u = plot_unit(p->makespan_ns, &unit);
    if (write_states(p, u, share) == 0)
        plot_fail(p, "run %" PRId64 " has no samples", p->args->run);
    axes(p, "What the Ps did", "share of all Ps (%)");
    fprintf(p->gp, "set xlabel 'virtual time (%s)'\nset yrange [0:100]\nset xrange [0:%.9g]\n",
            unit, (double)p->makespan_ns / (double)u);
    /* From the top of the stack down, each over the one before. */
    const char *comma = "plot";
    for (int i = STATES - 1; i >= 0; i--) {
        if (share[i] <= 0 && i != STATES - 1)
            continue;
        fprintf(p->gp,
                "%s '%s' using 1:%d with fillsteps fs solid 1 noborder lc rgb '%s'"
                " title '%s %.1f %%'",
                comma, p->dat_name, i + 2, states[i].colour, states[i].name, share[i]);
        comma = ", \\\n    ";
    }
    fputc('\n', p->gp);
}
