/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane per P: boxes are goroutines, each in a colour that its neighbours do not have; grey below
 * them is the P in the scheduler, yellow in a system call, white idle. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "plots/plot_int.h"

enum { BOXES_PER_P = 150, BOXES_MAX = 1500, LABEL_SHARE = 15, LABELS_MAX = 200 };

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
    fputs("-1 -1 -1 -1 -1 -1 16777215\n", p->dat); /* never empty */
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        box(p, w, unit, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
            sqlite3_column_int64(st, 2), 0.2,
            sqlite3_column_text(st, 3)[0] == 's' ? "#F0E442" : "#bbbbbb");
    plot_done(p, st);
}

static const char *const gs_sql =
    "SELECT t.src_p, t.end_time_ns - t.duration_ns, t.end_time_ns, t.g, g.name"
    " FROM g_transitions t JOIN goroutines g ON g.run = t.run AND g.g = t.g"
    " WHERE t.run = ?1 AND t.from_state = 'running' AND t.src_p IS NOT NULL"
    " AND t.end_time_ns > ?2 AND t.end_time_ns - t.duration_ns < ?3";

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
        box(p, w, unit, lane, begin, end, 0.38,
            runtime ? "#444444" : colours[(uint64_t)g % (COLOURS - 2)]);
        if (begin < w->from)
            begin = w->from;
        if (end > w->to)
            end = w->to;
        if (end - begin < (w->to - w->from) / LABEL_SHARE || labels++ >= LABELS_MAX)
            continue;
        fprintf(p->gp,
                "set label 'g%" PRId64 "' at %.12g,%" PRId64 " center front tc rgb 'white'\n", g,
                (double)(begin + end) / 2 / (double)unit, lane);
    }
    plot_done(p, st);
    return n;
}

void plot_timeline(struct plot *p)
{
    char title[700];
    const char *unit;
    struct window w = choose(p);
    int64_t u = plot_unit(w.to - w.from, &unit);
    write_ps(p, &w, u);
    if (write_gs(p, &w, u) == 0)
        plot_fail(p, "nothing ran between %" PRId64 " and %" PRId64 " ns of run %" PRId64, w.from,
                  w.to, p->args->run);
    fprintf(p->gp, "set title %s\n", plot_quote(p->title, title, sizeof title));
    fprintf(p->gp,
            "set xlabel \"virtual time (%s)\\na colour per goroutine, dark: the runtime's own;"
            " thin lane grey: P in the scheduler, yellow: in a system call, none: idle\"\n"
            "set ylabel 'P'\nunset key\nset ytics 1\nset grid noytics\n"
            "set xrange [%.12g:%.12g]\nset yrange [%d.5:-0.5]\n",
            unit, (double)w.from / (double)u, (double)w.to / (double)u, p->procs - 1);
    fprintf(
        p->gp,
        "plot '%s' index 0 using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder"
        " lc rgb variable, \\\n"
        "     '' index 1 using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder lc rgb variable"
        "\n",
        p->dat_name);
}
