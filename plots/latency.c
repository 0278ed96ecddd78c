/* SPDX-License-Identifier: BSD-3-Clause */
/* The share of slower ones over latency, both on log axes: the tail is what people look for. */
#include <inttypes.h>
#include <sqlite3.h>

#include "plots/plot_int.h"

enum { CURVES_MAX = 8, PPM = 1000000, NAME_LEN = 120 };

struct curve {
    char kind[16], name[NAME_LEN];
    int64_t count, p99_ns;
};

/* Spans first; without any, the lives of goroutine groups. The wait in run queues always. */
static int find_curves(struct plot *p, struct curve *out)
{
    int n = 0;
    sqlite3_stmt *st = plot_query(
        p, "SELECT kind, name, count, p99_ns FROM latencies WHERE run = ?1 AND (kind = 'runq_wait'"
           " OR kind = CASE WHEN EXISTS (SELECT 1 FROM latencies WHERE run = ?1 AND kind = 'span')"
           " THEN 'span' ELSE 'life' END) AND max_ns > 0"
           " ORDER BY kind = 'runq_wait' DESC, count DESC LIMIT 8");
    while (st != NULL && n < CURVES_MAX && sqlite3_step(st) == SQLITE_ROW) {
        struct curve *c = &out[n++];
        snprintf(c->kind, sizeof c->kind, "%s", sqlite3_column_text(st, 0));
        snprintf(c->name, sizeof c->name, "%s", sqlite3_column_text(st, 1));
        c->count = sqlite3_column_int64(st, 2);
        c->p99_ns = sqlite3_column_int64(st, 3);
    }
    plot_done(p, st);
    return n;
}

/* A point (latency, share that is slower); at the maximum the share is that of one request. */
static void write_curve(struct plot *p, const struct curve *c)
{
    sqlite3_stmt *st = plot_query(p, "SELECT ppm, ns FROM quantiles WHERE run = ?1 AND kind = ?2"
                                     " AND name = ?3 ORDER BY ppm");
    if (st == NULL)
        return;
    sqlite3_bind_text(st, 2, c->kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, c->name, -1, SQLITE_STATIC);
    double least = 1.0 / (double)c->count;
    plot_block(p);
    while (sqlite3_step(st) == SQLITE_ROW) {
        double slower = (double)(PPM - sqlite3_column_int64(st, 0)) / PPM;
        int64_t ns = sqlite3_column_int64(st, 1);
        fprintf(p->dat, "%" PRId64 " %.6g\n", ns > 0 ? ns : 1, slower < least ? least : slower);
    }
    plot_done(p, st);
}

static void write_plot(struct plot *p, const struct curve *curves, int n)
{
    char name[NAME_LEN * 2 + 60], text[NAME_LEN + 60];
    const char *unit;
    for (int i = 0; i < n; i++) {
        const struct curve *c = &curves[i];
        bool runq = c->kind[0] == 'r';
        int64_t u = plot_unit(2 * c->p99_ns, &unit); /* 1.994 ms, not 1994 us */
        snprintf(text, sizeof text, "%s (%" PRId64 ", p99 %.4g %s)",
                 runq ? "wait in run queues" : c->name, c->count, (double)c->p99_ns / (double)u,
                 unit);
        fprintf(p->gp, "%s '%s' index %d using 1:2 with lines lw %d dt %d lc rgb '%s' title %s",
                i == 0 ? "plot" : ", \\\n    ", p->dat_name, i, runq ? 2 : 3, runq ? 2 : 1,
                runq ? "#555555" : colours[(i - 1) % COLOURS], plot_quote(text, name, sizeof name));
    }
    fputc('\n', p->gp);
}

void plot_latency(struct plot *p)
{
    struct curve curves[CURVES_MAX];
    int n = find_curves(p, curves);
    if (n == 0) {
        plot_fail(p, "run %" PRId64 " has no latencies: nothing ever waited", p->args->run);
        return;
    }
    for (int i = 0; i < n; i++)
        write_curve(p, &curves[i]);
    int64_t high = plot_number(p, "SELECT max(max_ns) FROM latencies WHERE run = ?1", 1000);
    int64_t low = plot_number(p,
                              "SELECT min(ns) FROM quantiles WHERE run = ?1 AND ns > 0"
                              " AND kind IN ('span', 'runq_wait', 'life')",
                              1);
    plot_title(p, "Latency: how many took longer");
    fputs("set logscale xy\nset xlabel 'latency'\nset ylabel 'share that is slower'\n", p->gp);
    fputs("set ytics ('all' 1, 'p50' 0.5, 'p90' 0.1, 'p99' 0.01, 'p99.9' 0.001,"
          " 'p99.99' 0.0001, 'p99.999' 0.00001)\nset key bottom left Left reverse opaque\n",
          p->gp);
    plot_time_tics(p, "x", low, high);
    fprintf(p->gp, "set xrange [%" PRId64 ":%.6g]\nset yrange [*:1]\n", low, (double)high * 1.3);
    write_plot(p, curves, n);
}
