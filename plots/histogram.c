/* SPDX-License-Identifier: BSD-3-Clause */
/* How many took how long, as a histogram over latency. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"
#include "sim/base/hist.h"

/* Room for five lines above the bars, of the height below. */
#define LABELS 0.42

enum { NAME_COLUMNS = 40 };

/* ---- histogram ---- */

/* The end of the bucket that begins at low. */
static int64_t bucket_end(int64_t low)
{
    uint32_t i = hist_go_bucket(low > 0 ? low : 0);
    return i + 1 < HIST_GO_BUCKETS ? hist_go_bound(i + 1) : low + 1;
}

struct bounds {
    int64_t low, high, most; /* ns, ns, count */
};

static int write_histogram(struct plot *p, const char *kind, const char *name, struct bounds *b)
{
    int n = 0;
    sqlite3_stmt *st = plot_query(p, "SELECT low_ns, count FROM histograms WHERE run = ?1"
                                     " AND kind = ?2 AND name = ?3 AND count > 0 ORDER BY 1");
    if (st != NULL) {
        sqlite3_bind_text(st, 2, kind, -1, SQLITE_STATIC);
        sqlite3_bind_text(st, 3, name, -1, SQLITE_STATIC);
    }
    plot_block(p);
    fputs("NaN NaN NaN NaN NaN NaN\n", p->dat); /* a block is never empty */
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        int64_t low = sqlite3_column_int64(st, 0), count = sqlite3_column_int64(st, 1);
        if (low > PLOT_TIME_MAX)
            continue;
        int64_t end = bucket_end(low), from = low > 1 ? low : 1;
        if (end <= from || end > PLOT_TIME_MAX)
            continue;
        fprintf(p->dat, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " 0.5 %" PRId64 "\n", from,
                count, from, end, count);
        b->low = b->low == 0 || from < b->low ? from : b->low;
        b->high = end > b->high ? end : b->high;
        b->most = count > b->most ? count : b->most;
    }
    plot_done(p, st);
    return n;
}

/* Lines at percentiles, their names one below the other: of a narrow distribution they would stand
 * in one place. */
static void put_percentiles(struct plot *p, const char *kind, const char *name)
{
    static const char *const names[] = {"p50", "p90", "p99", "p99.9", "slowest"};
    sqlite3_stmt *st = plot_query(
        p, "SELECT iif(count > 1, p50_ns, NULL), p90_ns, p99_ns, p999_ns, max_ns FROM latencies"
           " WHERE run = ?1 AND kind = ?2 AND name = ?3");
    if (st != NULL) {
        sqlite3_bind_text(st, 2, kind, -1, SQLITE_STATIC);
        sqlite3_bind_text(st, 3, name, -1, SQLITE_STATIC);
    }
    if (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        for (int i = 0; i < 5; i++) {
            int64_t ns = sqlite3_column_int64(st, i);
            if (sqlite3_column_type(st, i) == SQLITE_NULL || ns < 1)
                continue;
            fprintf(p->gp,
                    "set arrow from %" PRId64 ", graph 0 to %" PRId64
                    ", graph %.2f nohead dt 2 lc rgb '#444444' front\n"
                    "set label '%s %s ' at %" PRId64 ", graph %.2f right front\n",
                    ns, ns, 1.0 - 0.05 * i, names[i], plot_time(ns), ns, 0.98 - 0.05 * i);
        }
    plot_done(p, st);
}

static void put_bars(struct plot *p, int n)
{
    for (int i = 0; i < n; i++) {
        const char *colour = colours[i % COLOURS];
        char label[110], quoted[350];
        if (n == 1)
            fprintf(p->gp,
                    "plot %s index 0 using 1:2:3:4:5:6 with boxxyerror fs solid 0.8 noborder lc rgb"
                    " '%s' notitle",
                    p->dat_name, colour);
        else
            fprintf(p->gp,
                    "%s %s index %d using 1:2:3:4:5:6 with boxxyerror fs transparent solid 0.45"
                    " noborder lc rgb '%s' title %s",
                    i == 0 ? "plot" : ", \\\n    ", p->dat_name, i, colour,
                    plot_quote(plot_run_label(p, p->args->runs[i], label, sizeof label), quoted,
                               sizeof quoted));
    }
    fputc('\n', p->gp);
}

static void draw_histogram(struct plot *p, const struct plot_span *s)
{
    static const char what[] = "Histogram: how many took how long";
    const char *kind = s->is_life ? "life" : "span";
    struct bounds b = {0};
    char more[300];
    int rows = 0;
    for (int i = 0; i < p->args->nruns; i++) {
        p->run = p->args->runs[i];
        rows += write_histogram(p, kind, s->name, &b);
    }
    p->run = p->args->runs[0];
    if (rows == 0 || b.most == 0) {
        plot_nothing(p, what, "nothing was counted");
        return;
    }
    snprintf(more, sizeof more, "%s%s: %" PRId64 ", from %s to %s%s", s->is_life ? "life of " : "",
             text_cut(s->name, NAME_COLUMNS), s->count, plot_time(s->min_ns), plot_time(s->max_ns),
             p->args->nruns > 1 ? " (the first run); the buckets of runtime/metrics"
                                : "; the buckets of runtime/metrics");
    plot_begin(p, PLOT_HEIGHT, what, more);
    fprintf(p->gp,
            "set logscale xy\nset ylabel 'how many'\nset format y '%%.0f'\nset key below\n"
            "set xrange [%.6g:%.6g]\nset yrange [0.5:%.6g]\n",
            (double)b.low * 0.9, (double)b.high * 1.1,
            (double)b.most * pow((double)b.most * 2, LABELS));
    plot_time_tics(p, "x", b.low, b.high);
    if (p->args->nruns == 1)
        put_percentiles(p, kind, s->name);
    put_bars(p, p->args->nruns);
}

void plot_histogram(struct plot *p)
{
    struct plot_span s;
    if (plot_main_span(p, &s)) {
        draw_histogram(p, &s);
        free(s.name);
    } else if (!p->failed) {
        plot_nothing(p, "Histogram", "no spans, and no goroutine that ended");
    }
}
