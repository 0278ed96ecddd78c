/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of cells, the darker the more: latency over time, the run queue of each P over time, and
 * who took goroutines from whom. Only cells with something in them are drawn; the lightest colour
 * can still be told from the paper, since the rare one is what people look for. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"

enum {
    TIME_CELLS = 150,
    LATENCY_CELLS = 48,
    QUEUE_CELLS = 300,
    PS_MAX = 1024,
    MATRIX_MAX = 128, /* Ps side by side; more are taken together */
    NUMBERS_MAX = 16, /* Ps up to which a cell says its number */
    LOG_FROM = 20,
    NAME_COLUMNS = 60
};

struct cells {
    int nx, ny;
    double *v;
};

static struct cells cells_new(int nx, int ny)
{
    return (struct cells){nx, ny, x_alloc((size_t)nx * (size_t)ny * sizeof(double))};
}

static double *cell(const struct cells *c, int x, int y)
{
    return &c->v[(size_t)y * (size_t)c->nx + (size_t)x];
}

static double most_of(const struct cells *c)
{
    double most = 0;
    for (int i = 0; i < c->nx * c->ny; i++)
        most = c->v[i] > most ? c->v[i] : most;
    return most;
}

/* Where the cell in place i begins, along an axis. */
typedef double edge_fn(const void *arg, int i);

static void write_cells(struct plot *p, const struct cells *c, edge_fn *x_edge, const void *x_arg,
                        edge_fn *y_edge, const void *y_arg)
{
    plot_block(p);
    for (int y = 0; y < c->ny; y++)
        for (int x = 0; x < c->nx; x++)
            if (*cell(c, x, y) > 0) {
                double x0 = x_edge(x_arg, x), x1 = x_edge(x_arg, x + 1);
                double y0 = y_edge(y_arg, y), y1 = y_edge(y_arg, y + 1);
                fprintf(p->dat, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", (x0 + x1) / 2,
                        (y0 + y1) / 2, x0, x1, y0, y1, *cell(c, x, y));
            }
}

static void put_colours(struct plot *p, const struct cells *c, bool wide, const char *what)
{
    double most = most_of(c);
    wide &= most > LOG_FROM;
    fprintf(p->gp,
            "set palette defined (0 '#a6cfe8', 0.35 '#3f8fc4', 0.7 '#7a3b8f', 1 '#2d0a3a')\n"
            "set cblabel '%s'\nset cbrange [%s:%.6g]\nset cbtics nomirror\n%s",
            what, wide ? "1" : "0", most > 1 ? most : 1, wide ? "set logscale cb\n" : "");
    plot_counts(p, "cb", most);
}

static void put_plot(struct plot *p)
{
    fprintf(p->gp,
            "plot %s index 0 using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder lc palette"
            " notitle",
            p->dat_name);
}

static double linear(const void *arg, int i) { return *(const double *)arg * i; }

/* ---- latency over time ---- */

struct log_axis {
    double low, ratio; /* ns; between neighbours */
};

static double logarithmic(const void *arg, int i)
{
    const struct log_axis *a = arg;
    return a->low * pow(a->ratio, i);
}

static int place_of(const struct log_axis *a, int64_t ns, int cells)
{
    double at = floor(log((double)ns / a->low) / log(a->ratio));
    if (!(at > 0)) /* nor is it a number, on an axis of no length */
        return 0;
    return at < cells ? (int)at : cells - 1;
}

static int column_of(const struct plot *p, int64_t ns, int cells)
{
    if (ns < 0)
        return 0;
    double at = (double)ns / (double)p->makespan_ns * cells;
    return at < cells ? (int)at : cells - 1;
}

static const char *const spans_sql =
    "SELECT begin_ns, end_ns - begin_ns FROM spans WHERE run = ?1 AND name = ?2";
static const char *const lives_sql =
    "SELECT create_time_ns, end_time_ns - create_time_ns FROM goroutines WHERE run = ?1"
    " AND name = ?2 AND end_time_ns NOT NULL";

static int64_t count_spans(struct plot *p, const struct plot_span *s, const struct log_axis *axis,
                           struct cells *c)
{
    int64_t n = 0;
    sqlite3_stmt *st = plot_query(p, s->is_life ? lives_sql : spans_sql);
    if (st != NULL)
        sqlite3_bind_text(st, 2, s->name, -1, SQLITE_STATIC);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        int64_t took = sqlite3_column_int64(st, 1);
        ++*cell(c, column_of(p, sqlite3_column_int64(st, 0), c->nx),
                place_of(axis, took > 0 ? took : 1, c->ny));
    }
    plot_done(p, st);
    return n;
}

/* A foreign store's spans may take for ever. */
static double within(int64_t ns, int64_t least)
{
    return (double)(ns < least ? least : ns > PLOT_TIME_MAX ? PLOT_TIME_MAX : ns);
}

static void draw_heatmap(struct plot *p, const struct plot_span *s)
{
    static const char what[] = "Latency over time: when it began, and how long it took";
    const char *unit;
    char more[300];
    struct log_axis axis = {.low = within(s->min_ns, 1) * 0.95};
    double high = within(s->max_ns, 2) * 1.05;
    axis.ratio = pow(high / axis.low, 1.0 / LATENCY_CELLS);
    struct cells c = cells_new(TIME_CELLS, LATENCY_CELLS);
    int64_t u = plot_unit(p->makespan_ns, &unit);
    double width = (double)p->makespan_ns / (double)u / TIME_CELLS;
    int64_t n = count_spans(p, s, &axis, &c);
    if (n == 0) {
        plot_nothing(p, what, "the run was recorded without its spans (--db-summary)");
    } else {
        snprintf(more, sizeof more, "%s%s: %" PRId64 ", from %s to %s",
                 s->is_life ? "life of " : "", text_cut(s->name, NAME_COLUMNS), n,
                 plot_time(s->min_ns), plot_time(s->max_ns));
        plot_begin(p, PLOT_HEIGHT, what, more);
        write_cells(p, &c, linear, &width, logarithmic, &axis);
        put_colours(p, &c, true, "so many began then and took so long");
        fputs("set logscale y\n", p->gp);
        plot_time_tics(p, "y", (int64_t)axis.low + 1, (int64_t)high);
        fprintf(p->gp, "set format x '%%.10g %s'\nset xrange [0:%.9g]\nset yrange [%.6g:%.6g]\n",
                unit, (double)p->makespan_ns / (double)u, axis.low, high);
        put_plot(p);
        fputc('\n', p->gp);
    }
    free(c.v);
}

void plot_heatmap(struct plot *p)
{
    struct plot_span s;
    if (plot_main_span(p, &s)) {
        draw_heatmap(p, &s);
        free(s.name);
    } else if (!p->failed) {
        plot_nothing(p, "Latency over time", "no spans, and no goroutine that ended");
    }
}

/* ---- run queues ---- */

/* Lane 0 is the global queue, then the Ps. The most in each cell; a sample stands for the time
 * since the one before. */
static void count_queues(struct plot *p, struct cells *c)
{
    sqlite3_stmt *st = plot_query(
        p, "WITH s AS (SELECT time_ns, lag(time_ns, 1, 0) OVER (ORDER BY time_ns) AS begin_ns,"
           " globrunq FROM samples WHERE run = ?1)"
           " SELECT begin_ns, time_ns, -1, globrunq FROM s WHERE globrunq > 0"
           " UNION ALL SELECT s.begin_ns, s.time_ns, q.p, q.ring FROM p_samples q JOIN s"
           " USING (time_ns) WHERE q.run = ?1");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        int64_t lane = sqlite3_column_int64(st, 2) + 1;
        int from = column_of(p, sqlite3_column_int64(st, 0), c->nx);
        int to = column_of(p, sqlite3_column_int64(st, 1) - 1, c->nx);
        double n = sqlite3_column_double(st, 3);
        for (int x = from; lane >= 0 && lane < c->ny && x <= to; x++)
            if (n > *cell(c, x, (int)lane))
                *cell(c, x, (int)lane) = n;
    }
    plot_done(p, st);
}

static double lane_edge(const void *arg, int i)
{
    (void)arg;
    return i - 1.5;
}

void plot_queues(struct plot *p)
{
    static const char what[] = "Run queues over time: each P's, and the global one";
    const char *unit;
    int64_t u = plot_unit(p->makespan_ns, &unit);
    int procs = p->procs < PS_MAX ? p->procs : PS_MAX;
    struct cells c = cells_new(QUEUE_CELLS, procs + 1);
    double width = (double)p->makespan_ns / (double)u / QUEUE_CELLS;
    if (p->makespan_ns > 0)
        count_queues(p, &c);
    if (most_of(&c) <= 0) {
        plot_nothing(p, what,
                     plot_untold(p, "no goroutine was in a queue when that was looked at"));
    } else {
        int want = procs * 11 + 260, tics = procs > 64 ? 16 : procs > 32 ? 4 : procs > 12 ? 2 : 1;
        plot_begin(p,
                   want < PLOT_HEIGHT ? PLOT_HEIGHT
                   : want > 1600      ? 1600
                                      : want,
                   what, "the most at the moments that were looked at");
        write_cells(p, &c, linear, &width, lane_edge, NULL);
        put_colours(p, &c, true, "goroutines in the queue");
        fprintf(p->gp,
                "set format x '%%.10g %s'\nset xrange [0:%.9g]\nset yrange [%d.5:-1.5]\n"
                "set ytics %d\nset ytics add ('global' -1)\nset ylabel 'P'\n",
                unit, (double)p->makespan_ns / (double)u, procs - 1, tics);
        put_plot(p);
        fputc('\n', p->gp);
    }
    free(c.v);
}

/* ---- steals ---- */

struct steals {
    int64_t times, goroutines;
    int together; /* Ps per cell */
};

static void count_steals(struct plot *p, struct cells *c, struct steals *s)
{
    sqlite3_stmt *st = plot_query(
        p, "SELECT p, from_p, count(*), sum(count) FROM steals WHERE run = ?1"
           " AND count > 0 GROUP BY p, from_p");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        int64_t by = sqlite3_column_int64(st, 0), from = sqlite3_column_int64(st, 1);
        if (by < 0 || by >= p->procs || from < 0 || from >= p->procs) /* GOMAXPROCS was larger */
            continue;
        s->times += sqlite3_column_int64(st, 2);
        s->goroutines += sqlite3_column_int64(st, 3);
        *cell(c, (int)by / s->together, (int)from / s->together) += sqlite3_column_double(st, 3);
    }
    plot_done(p, st);
}

static double matrix_edge(const void *arg, int i)
{
    const struct steals *s = arg;
    return (double)s->together * i - 0.5;
}

void plot_steals(struct plot *p)
{
    static const char what[] = "Steals: which P took goroutines from which";
    struct steals s = {.together = (p->procs + MATRIX_MAX - 1) / MATRIX_MAX};
    int n = (p->procs + s.together - 1) / s.together;
    char more[200];
    struct cells c = cells_new(n, n);
    count_steals(p, &c, &s);
    if (s.times <= 0) {
        plot_nothing(p, what, plot_untold(p, "no P took a goroutine from another"));
    } else {
        int64_t tried = plot_number(
            p, "SELECT value FROM counters WHERE run = ?1 AND name = 'steals_tried'", 0);
        snprintf(more, sizeof more,
                 "%" PRId64 " goroutines in %" PRId64 " steals; %" PRId64
                 " times a P was looked at",
                 s.goroutines, s.times, tried);
        plot_begin(p, 900, what, more);
        write_cells(p, &c, matrix_edge, &s, matrix_edge, &s);
        put_colours(p, &c, false, "goroutines");
        int tics = p->procs > 256  ? 64
                   : p->procs > 64 ? 16
                   : p->procs > 24 ? 4
                   : p->procs > 12 ? 2
                                   : 1;
        fprintf(p->gp,
                "set size ratio -1\nset xlabel 'taken by P'\nset ylabel 'from P'\n"
                "set xtics %d\nset ytics %d\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]\n",
                tics, tics, p->procs - 0.5, p->procs - 0.5);
        put_plot(p);
        if (p->procs <= NUMBERS_MAX)
            fprintf(p->gp,
                    ", \\\n     %s index 0 using 1:2:(sprintf('%%g', $7)):($7 > %g ? 0xffffff : 0)"
                    " with labels tc rgb variable notitle",
                    p->dat_name, most_of(&c) * 0.35);
        fputc('\n', p->gp);
    }
    free(c.v);
}
