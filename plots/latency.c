/* SPDX-License-Identifier: BSD-3-Clause */
/* The share of slower ones over latency, both on log axes: the tail is what people look for. Of one
 * run a colour per span, of several a colour per run and a dash per span. Where there are more
 * spans than can be told apart, those with the slowest one are drawn, and the title says how many
 * are not. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"

enum { CURVES_MAX = 24, NAMES_MAX = 7, PPM = 1000000, NAME_COLUMNS = 36, FEW = 10 };
/* Where a curve begins to be of interest; most waits in run queues are next to nothing. */
enum { SPAN_FIRST_PPM = 10000, RUNQ_FIRST_PPM = 500000 };

struct names {
    char *of[NAMES_MAX];
    int n;
    int64_t others; /* spans that are not drawn */
    bool lives;     /* there are no spans: lives of goroutines are drawn */
};

struct curve {
    int64_t run;
    int run_at, name_at; /* name_at -1: the wait in run queues */
    const char *kind, *name;
    int64_t count, p99_ns, max_ns, low_ns;
};

/* ---- which ---- */

static void find_names(struct plot *p, struct names *out)
{
    char list[200], sql[400];
    plot_run_list(p, list, sizeof list);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM latencies WHERE run IN (%s) AND kind = 'span'"
             " AND max_ns > 0 AND ?1",
             list);
    out->lives = plot_number(p, sql, 0) == 0;
    snprintf(sql, sizeof sql,
             "SELECT name, count(*) OVER () FROM latencies WHERE run IN (%s) AND kind = '%s'"
             " AND max_ns > 0 AND ?1 GROUP BY name ORDER BY max(max_ns) DESC, name LIMIT %d",
             list, out->lives ? "life" : "span", NAMES_MAX);
    sqlite3_stmt *st = plot_query(p, sql);
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        out->others = sqlite3_column_int64(st, 1) - NAMES_MAX;
        out->of[out->n++] = x_strdup(name != NULL ? name : "");
    }
    plot_done(p, st);
}

/* A curve where the run has one. */
static void add_curve(struct plot *p, struct curve *out, int *n, int run_at, int name_at,
                      const char *kind, const char *name)
{
    p->run = p->args->runs[run_at];
    sqlite3_stmt *st = *n < CURVES_MAX
                           ? plot_query(p,
                                        "SELECT l.count, l.p99_ns, l.max_ns, (SELECT max(q.ns)"
                                        " FROM quantiles q WHERE q.run = l.run AND q.kind = l.kind"
                                        " AND q.name = l.name AND q.ppm <= ?4)"
                                        " FROM latencies l WHERE l.run = ?1 AND l.kind = ?2"
                                        " AND l.name = ?3 AND l.max_ns > 0")
                           : NULL;
    if (st == NULL)
        return;
    sqlite3_bind_text(st, 2, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, name, -1, SQLITE_STATIC);
    sqlite3_bind_int(st, 4, name_at < 0 ? RUNQ_FIRST_PPM : SPAN_FIRST_PPM);
    if (sqlite3_step(st) == SQLITE_ROW)
        out[(*n)++] = (struct curve){.run = p->run,
                                     .run_at = run_at,
                                     .name_at = name_at,
                                     .kind = kind,
                                     .name = name,
                                     .count = sqlite3_column_int64(st, 0),
                                     .p99_ns = sqlite3_column_int64(st, 1),
                                     .max_ns = sqlite3_column_int64(st, 2),
                                     .low_ns = sqlite3_column_int64(st, 3)};
    plot_done(p, st);
}

static int find_curves(struct plot *p, const struct names *names, struct curve *out)
{
    int n = 0;
    for (int k = 0; k < names->n; k++)
        for (int r = 0; r < p->args->nruns; r++)
            add_curve(p, out, &n, r, k, names->lives ? "life" : "span", names->of[k]);
    for (int r = 0; r < p->args->nruns; r++)
        add_curve(p, out, &n, r, -1, "runq_wait", "all");
    return n;
}

/* ---- data ---- */

static void put_point(const struct plot *p, int64_t ns, double slower)
{
    if (ns >= 0)
        fprintf(p->dat, "%" PRId64 " %.6g\n", ns > 0 ? ns : 1, slower);
}

/* A point (latency, share that is slower); at the maximum the share is that of one request. Of a
 * value that many had there are the first and the last. */
static void write_curve(struct plot *p, const struct curve *c)
{
    p->run = c->run;
    sqlite3_stmt *st = plot_query(p, "SELECT ppm, ns FROM quantiles WHERE run = ?1 AND kind = ?2"
                                     " AND name = ?3 ORDER BY ppm");
    if (st == NULL)
        return;
    sqlite3_bind_text(st, 2, c->kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, c->name, -1, SQLITE_STATIC);
    double least = c->count > 0 ? 1.0 / (double)c->count : 1, last = 1;
    int64_t at = -1, same = 0;
    plot_block(p);
    while (sqlite3_step(st) == SQLITE_ROW) {
        double slower = 1 - (double)sqlite3_column_int64(st, 0) / PPM;
        int64_t ns = sqlite3_column_int64(st, 1);
        same = ns == at ? same + 1 : 0;
        if (same == 0) {
            put_point(p, at, last);
            put_point(p, ns, slower < least ? least : slower);
        }
        at = ns;
        last = slower < least ? least : slower;
    }
    put_point(p, at, last);
    plot_done(p, st);
}

/* ---- script ---- */

static void curve_title(struct plot *p, const struct names *names, const struct curve *c, char *buf,
                        size_t size)
{
    char run[120] = "", label[110], text[400];
    const char *name = c->name_at < 0 ? "wait in run queues" : text_cut(c->name, NAME_COLUMNS);
    if (p->args->nruns > 1)
        snprintf(run, sizeof run, "%s: ", plot_run_label(p, c->run, label, sizeof label));
    bool p99 = c->count >= P99_COUNT;
    snprintf(text, sizeof text, "%s%s%s: %" PRId64 "%s%s, max %s", run,
             c->name_at >= 0 && names->lives ? "life of " : "", name, c->count, p99 ? ", p99 " : "",
             p99 ? plot_time(c->p99_ns) : "", plot_time(c->max_ns));
    plot_quote(text, buf, size);
}

static void write_plot(struct plot *p, const struct names *names, const struct curve *curves, int n)
{
    char title[700];
    bool several = p->args->nruns > 1;
    for (int i = 0; i < n; i++) {
        const struct curve *c = &curves[i];
        bool runq = c->name_at < 0;
        int colour = several ? c->run_at : c->name_at;
        int dash = runq ? 3 : several ? 1 + c->name_at % 5 : 1;
        curve_title(p, names, c, title, sizeof title);
        fprintf(p->gp, "%s %s index %d using 1:2 with %s lw %d dt %d lc rgb '%s' title %s",
                i == 0 ? "plot" : ", \\\n    ", p->dat_name, i,
                c->count < FEW ? "linespoints pt 7" : "lines", runq ? 2 : 3, dash,
                runq && !several ? "#555555" : colours[colour % COLOURS], title);
    }
    fputc('\n', p->gp);
}

/* From where curves begin to be of interest: what lies before is 'all' for most of them. */
static void axes(struct plot *p, const struct curve *curves, int n)
{
    int64_t low = INT64_MAX, high = 1, most = 1;
    for (int i = 0; i < n; i++) {
        int64_t first = curves[i].low_ns > 0 ? curves[i].low_ns : 1;
        if (first < low)
            low = first;
        if (curves[i].max_ns > high)
            high = curves[i].max_ns;
        if (curves[i].count > most)
            most = curves[i].count;
    }
    fputs("set logscale xy\nset ylabel 'share that is slower'\n"
          "set ytics ('all' 1, 'p50' 0.5, 'p90' 0.1, 'p99' 0.01, 'p99.9' 0.001,"
          " 'p99.99' 0.0001, 'p99.999' 0.00001)\n"
          "set key below left Left reverse maxcols 2 samplen 2\n",
          p->gp);
    plot_time_tics(p, "x", low, high);
    double least = 1.0 / (double)most;
    if (least < 1e-6)
        least = 1e-6;
    fprintf(p->gp, "set xrange [%.6g:%.6g]\nset yrange [%.3g:1.15]\n", (double)low * 0.8,
            (double)high * 1.25, n > 0 && least < 0.5 ? least * 0.9 : 0.1);
}

static void explain(struct plot *p, const struct names *names, char *buf, size_t size)
{
    char list[200];
    size_t n = 0;
    buf[0] = 0;
    if (p->args->nruns > 1)
        n += (size_t)snprintf(buf, size, "that is run %" PRId64 "; compared: runs %s%s",
                              p->args->runs[0], plot_run_list(p, list, sizeof list),
                              names->others > 0 ? "; " : "");
    if (names->others > 0 && n < size)
        snprintf(buf + n, size - n,
                 "%d spans with the slowest requests; %" PRId64 " more are not"
                 " drawn",
                 NAMES_MAX, names->others);
}

void plot_latency(struct plot *p)
{
    static const char what[] = "Latency: how many took longer";
    struct names names = {0};
    struct curve curves[CURVES_MAX];
    char more[400];
    find_names(p, &names);
    int n = find_curves(p, &names, curves);
    for (int i = 0; i < n; i++)
        write_curve(p, &curves[i]);
    p->run = p->args->runs[0];
    explain(p, &names, more, sizeof more);
    if (n == 0) {
        plot_nothing(p, what, "no spans, no goroutine that ended, and nothing that waited to run");
    } else {
        plot_begin(p, PLOT_HEIGHT, what, more);
        axes(p, curves, n);
        write_plot(p, &names, curves, n);
    }
    for (int i = 0; i < names.n; i++)
        free(names.of[i]);
}
