/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane per P: boxes are goroutines, one colour for each of them; grey below
 * them is the P in the scheduler, yellow in a system call, white idle. Where the P's M has no CPU
 * all of it is faded, with a line through it. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "plots/plot_int.h"

enum { BOXES_PER_P = 150, BOXES_MAX = 1500, LABEL_SHARE = 15, LABELS_MAX = 200 };

static const char *const runtime_colour = "#777777", *const scheduler_colour = "#bbbbbb",
                         *const syscall_colour = "#F0E442", *const throttled_colour = "#000000",
                         *const no_cpu_colour = "#D55E00";
static const char nothing[] = "-1 -1 -1 -1 -1 -1 16777215\n"; /* a block is never empty */

struct window {
    int64_t from, to; /* ns */
};

/* Without a wish: everything if that is little, else as much as can be told apart, from where the
 * slowest span began. */
static struct window choose(struct plot *p)
{
    struct window w = {p->args->from_ns, p->args->to_ns};
    if (w.to > w.from)
        return w;
    int64_t boxes = plot_number(
        p, "SELECT count(*) FROM g_transitions WHERE run = ?1 AND from_state = 'running'", 0);
    w.to = p->makespan_ns;
    int64_t most = (int64_t)p->procs * BOXES_PER_P;
    if (most > BOXES_MAX)
        most = BOXES_MAX;
    if (boxes <= most)
        return w;
    int64_t length = p->makespan_ns / (boxes / most + 1);
    int64_t slowest = plot_number(
        p,
        "SELECT begin_ns FROM spans WHERE run = ?1 ORDER BY end_ns - begin_ns DESC"
        " LIMIT 1",
        0);
    w.from = slowest > length / 10 ? slowest - length / 10 : 0;
    if (w.from > p->makespan_ns - length)
        w.from = p->makespan_ns - length;
    w.to = w.from + length;
    return w;
}

static sqlite3_stmt *query_window(struct plot *p, const struct window *w, const char *sql)
{
    sqlite3_stmt *st = plot_query(p, sql);
    if (st != NULL) {
        sqlite3_bind_int64(st, 2, w->from);
        sqlite3_bind_int64(st, 3, w->to);
    }
    return st;
}

static void box(struct plot *p, const struct window *w, int64_t unit, int64_t lane, int64_t begin,
                int64_t end, double half, const char *colour)
{
    if (begin < w->from)
        begin = w->from;
    if (end > w->to)
        end = w->to;
    double u = (double)unit, y = (double)lane;
    fprintf(p->dat, "%.12g %.6g %.12g %.12g %.6g %.6g %ld\n", (double)(begin + end) / 2 / u, y,
            (double)begin / u, (double)end / u, y - half, y + half, strtol(colour + 1, NULL, 16));
}

/* Ps in the scheduler and in system calls. */
static void write_ps(struct plot *p, const struct window *w, int64_t unit)
{
    sqlite3_stmt *st = query_window(
        p, w,
        "SELECT p, end_time_ns - duration_ns, end_time_ns, from_state FROM p_transitions"
        " WHERE run = ?1 AND from_state <> 'idle' AND end_time_ns > ?2"
        " AND end_time_ns - duration_ns < ?3"
        " UNION ALL SELECT p, max(end_time_ns), ?3, to_state FROM p_transitions"
        " WHERE run = ?1 GROUP BY p HAVING to_state <> 'idle' AND max(end_time_ns) < ?3");
    plot_block(p);
    fputs(nothing, p->dat);
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        box(p, w, unit, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
            sqlite3_column_int64(st, 2), 0.2,
            sqlite3_column_text(st, 3)[0] == 's' ? syscall_colour : scheduler_colour);
    plot_done(p, st);
}

static const char *const gs_sql =
    "SELECT t.src_p, t.end_time_ns - t.duration_ns, t.end_time_ns, t.g, g.name"
    " FROM g_transitions t JOIN goroutines g ON g.run = t.run AND g.g = t.g"
    " WHERE t.run = ?1 AND t.from_state = 'running' AND t.src_p IS NOT NULL"
    " AND t.end_time_ns > ?2 AND t.end_time_ns - t.duration_ns < ?3";

/* A pixel between two boxes, which may have one colour; not of boxes that are hardly wider. */
static int64_t gap(const struct window *w, int64_t length)
{
    int64_t pixel = (w->to - w->from) / 1100;
    return length > 5 * pixel ? pixel : 0;
}

/* Goroutines, and names on the boxes that have room. Gives how many boxes. */
static int write_gs(struct plot *p, const struct window *w, int64_t unit)
{
    sqlite3_stmt *st = query_window(p, w, gs_sql);
    int n = 0, labels = 0;
    plot_block(p);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; n++) {
        int64_t lane = sqlite3_column_int64(st, 0), begin = sqlite3_column_int64(st, 1),
                end = sqlite3_column_int64(st, 2), g = sqlite3_column_int64(st, 3);
        bool runtime = sqlite3_stricmp((const char *)sqlite3_column_text(st, 4), "runtime") == 0;
        box(p, w, unit, lane, begin, end - gap(w, end - begin), 0.38,
            runtime ? runtime_colour : colours[(uint64_t)g % (COLOURS - 2)]);
        if (begin < w->from)
            begin = w->from;
        if (end > w->to)
            end = w->to;
        if (end - begin < (w->to - w->from) / LABEL_SHARE || labels++ >= LABELS_MAX)
            continue;
        fprintf(p->gp, "set label 'g%" PRId64 "' at %.12g,%.6g center front tc rgb 'black'\n", g,
                (double)(begin + end) / 2 / (double)unit, (double)lane - 0.22);
    }
    plot_done(p, st);
    return n;
}

enum { THROTTLED = 1, NO_CPU = 2 };

/* Two blocks: what is faded, and the lines through it. Gives which kinds there are. */
static int write_stalls(struct plot *p, const struct window *w, int64_t unit)
{
    int kinds = 0;
    /* A store of an older version has none. */
    bool has = plot_number(p, "SELECT ?1 > 0 FROM sqlite_master WHERE name = 'p_stalls'", 0) > 0;
    for (int lines = 0; lines < 2; lines++) {
        sqlite3_stmt *st =
            !has ? NULL
                 : query_window(p, w,
                                "SELECT p, begin_ns, ifnull(end_ns, ?3), why FROM p_stalls"
                                " WHERE run = ?1 AND ifnull(end_ns, ?3) > ?2 AND begin_ns < ?3");
        plot_block(p);
        fputs(nothing, p->dat);
        while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
            bool throttled = sqlite3_column_text(st, 3)[0] == 't';
            kinds |= throttled ? THROTTLED : NO_CPU;
            box(p, w, unit, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                sqlite3_column_int64(st, 2), lines == 0 ? 0.38 : 0.06,
                throttled ? throttled_colour : no_cpu_colour);
        }
        plot_done(p, st);
    }
    return kinds;
}

static void legend(struct plot *p, const char *colour, const char *text)
{
    fprintf(p->gp, ", \\\n     NaN with boxes fs solid 1 noborder lc rgb '%s' title \"%s\"", colour,
            text);
}

static void axes(struct plot *p, const struct window *w, int64_t u, const char *unit)
{
    plot_title(p, "Which goroutine ran where: a colour per goroutine");
    fprintf(p->gp,
            "set xlabel 'virtual time (%s)'\nset ylabel 'P'\nset ytics 1\nset grid noytics\n"
            "set key above center horizontal Left reverse\n"
            "set xrange [%.12g:%.12g]\nset yrange [%d.5:-0.5]\n",
            unit, (double)w->from / (double)u, (double)w->to / (double)u, p->procs - 1);
}

void plot_timeline(struct plot *p)
{
    static const char *const layers[] = {"solid 1", "solid 1", "transparent solid 0.7", "solid 1"};
    const char *unit;
    struct window w = choose(p);
    int64_t u = plot_unit(w.to - w.from, &unit);
    write_ps(p, &w, u);
    if (write_gs(p, &w, u) == 0)
        plot_fail(p, "nothing ran between %" PRId64 " and %" PRId64 " ns of run %" PRId64, w.from,
                  w.to, p->args->run);
    int kinds = write_stalls(p, &w, u);
    axes(p, &w, u, unit);
    for (int i = 0; i < 4; i++)
        fprintf(p->gp,
                "%s '%s' index %d using 1:2:3:4:5:6%s with boxxyerror fs %s noborder lc rgb %s"
                " notitle",
                i == 0 ? "plot" : ", \\\n    ", p->dat_name, i, i != 2 ? ":7" : "", layers[i],
                i != 2 ? "variable" : "'white'");
    legend(p, runtime_colour, "a goroutine of the runtime");
    legend(p, scheduler_colour, "thin: scheduler");
    legend(p, syscall_colour, "thin: system call");
    if (kinds & THROTTLED)
        legend(p, throttled_colour, "line: throttled");
    if (kinds & NO_CPU)
        legend(p, no_cpu_colour, "line: no CPU");
    fputc('\n', p->gp);
}
