/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane per P: boxes are goroutines, a colour per group; thin below them is the P in the scheduler
 * (grey), spinning (orange) or in a system call (yellow), white is idle. Where the P's M has no CPU
 * all of it is faded, with a line through it.
 *
 * What is narrower than a pixel cannot be drawn, and of 128 Ps there would be too much of it: such
 * boxes of one lane are joined, a column of their group's colour as high as the share of the time
 * that they took. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"

enum {
    BOXES_PER_P = 150,
    BOXES_MAX = 1500,
    PIXELS = 1100,   /* of the time axis */
    COLUMNS = 30000, /* joined boxes, over all lanes */
    LABELS_MAX = 300,
    CHAR_PIXELS = 9,
    NAME_COLUMNS = 28,
    GROUPS = 8, /* with a colour of their own */
    LANES_MAX = 1024,
    LANE_PIXELS = 11,
    HEIGHT_MAX = 1600
};

static const char *const group_colours[GROUPS] = {"#0072B2", "#009E73", "#CC79A7", "#E69F00",
                                                  "#56B4E9", "#882255", "#999933", "#332288"};
/* On dark boxes names are white. */
static const bool is_dark[GROUPS] = {true, true, false, false, false, true, false, true};
static const char *const slowest_colour = "#D00000";
static const char *const runtime_colour = "#777777", *const scheduler_colour = "#bbbbbb",
                         *const spinning_colour = "#F5B84D", *const syscall_colour = "#F0E442",
                         *const throttled_colour = "#000000", *const no_cpu_colour = "#D55E00",
                         *const other_colour = "#c49a6c";
static const char nothing[] = "-1 -1 -1 -1 -1 -1 16777215\n"; /* a block is never empty */
static const char what_it_shows[] = "Which goroutine ran where: a colour per group";

/* Boxes of a lane that are too narrow, joined until the next column of pixels. */
struct joined {
    int64_t column, busy, most; /* ns: of all, and of the group that has most */
    const char *colour;
};

struct timeline {
    struct plot *p;
    int64_t from, to, unit, width; /* ns; width of a column */
    int64_t slowest;               /* the goroutine that the window was chosen for, 0: none */
    char why[200];                 /* how the window was chosen */
    struct group {
        char *name;
        const char *colour;
    } groups[GROUPS];
    int ngroups, labels, boxes;
    FILE *texts; /* labels, for the script */
    char *text;
    size_t text_size;
    bool others, runtime, joins, schedules, spins, syscalls;
    struct joined lanes[LANES_MAX];
};

/* ---- the window ---- */

/* A moment of the file, which may hold any number, within the run. */
static int64_t in_run(const struct timeline *t, int64_t ns)
{
    if (ns < 0)
        return 0;
    return ns < t->p->makespan_ns ? ns : t->p->makespan_ns;
}

static void around(struct timeline *t, int64_t begin, int64_t end)
{
    int64_t margin = (end - begin) / 20 + 1;
    t->from = begin > margin ? begin - margin : 0;
    t->to = end + margin < t->p->makespan_ns ? end + margin : t->p->makespan_ns;
}

static bool around_slowest(struct timeline *t)
{
    sqlite3_stmt *st = plot_query(t->p,
                                  "SELECT begin_ns, end_ns, name, key, g FROM spans WHERE run = ?1"
                                  " ORDER BY end_ns - begin_ns DESC, begin_ns LIMIT 1");
    bool is = st != NULL && sqlite3_step(st) == SQLITE_ROW;
    if (is) {
        int64_t begin = in_run(t, sqlite3_column_int64(st, 0));
        int64_t end = in_run(t, sqlite3_column_int64(st, 1));
        const char *name = (const char *)sqlite3_column_text(st, 2);
        around(t, begin, end);
        t->slowest = sqlite3_column_int64(st, 4);
        snprintf(t->why, sizeof t->why, "around the slowest request: %s %" PRId64 ", %s",
                 text_cut(name != NULL ? name : "", 40), (int64_t)sqlite3_column_int64(st, 3),
                 plot_time(end - begin));
    }
    plot_done(t->p, st);
    return is && t->to > t->from;
}

/* Without a wish: everything if that is little, else the slowest span; without spans, where most
 * goroutines were runnable. */
static void choose(struct timeline *t)
{
    const struct plot_args *a = t->p->args;
    t->from = a->from_ns;
    t->to = a->to_ns > 0 ? a->to_ns : t->p->makespan_ns;
    if (a->from_ns > 0 || a->to_ns > 0)
        return;
    int64_t boxes = plot_number(
        t->p, "SELECT count(*) FROM g_transitions WHERE run = ?1 AND from_state = 'running'", 0);
    int64_t most = (int64_t)t->p->procs * BOXES_PER_P;
    if (most > BOXES_MAX)
        most = BOXES_MAX;
    if (boxes <= most || around_slowest(t))
        return;
    int64_t length = t->p->makespan_ns / (boxes / most + 1);
    int64_t peak = plot_number(t->p,
                               "SELECT time_ns - interval_ns FROM samples WHERE run = ?1"
                               " ORDER BY runnable_max DESC, time_ns LIMIT 1",
                               0);
    if (peak > t->p->makespan_ns - length)
        peak = t->p->makespan_ns - length;
    around(t, peak > 0 ? peak : 0, (peak > 0 ? peak : 0) + length);
    snprintf(t->why, sizeof t->why, "where most goroutines were runnable");
}

static sqlite3_stmt *query_window(const struct timeline *t, const char *sql)
{
    sqlite3_stmt *st = plot_query(t->p, sql);
    if (st != NULL) {
        sqlite3_bind_int64(st, 2, t->from);
        sqlite3_bind_int64(st, 3, t->to);
    }
    return st;
}

/* ---- boxes ---- */

static void put_box(struct timeline *t, int64_t lane, int64_t begin, int64_t end, double half,
                    const char *colour)
{
    if (begin < t->from)
        begin = t->from;
    if (end > t->to)
        end = t->to;
    double u = (double)t->unit, y = (double)lane;
    fprintf(t->p->dat, "%.12g %.6g %.12g %.12g %.6g %.6g %ld\n",
            ((double)begin + (double)end) / 2 / u, y, (double)begin / u, (double)end / u, y - half,
            y + half, strtol(colour + 1, NULL, 16));
}

static void end_column(struct timeline *t, int64_t lane, double half)
{
    struct joined *j = &t->lanes[lane];
    if (j->busy == 0)
        return;
    double share = (double)j->busy / (double)t->width;
    int64_t begin = t->from + j->column * t->width;
    put_box(t, lane, begin, begin + t->width,
            half * (share > 1     ? 1
                    : share < 0.1 ? 0.1
                                  : share),
            j->colour);
    t->joins = true;
    j->busy = j->most = 0;
}

/* A box of its own, or a part of a column. Boxes of a lane come in the order of time. */
static void box(struct timeline *t, int64_t lane, int64_t begin, int64_t end, double half,
                const char *colour)
{
    if (lane < 0 || lane >= LANES_MAX || end <= begin)
        return;
    struct joined *j = &t->lanes[lane];
    int64_t column = (begin > t->from ? begin - t->from : 0) / t->width;
    if (j->busy > 0 && j->column != column)
        end_column(t, lane, half);
    if (end - begin >= t->width || colour == slowest_colour) {
        put_box(t, lane, begin, end, half, colour);
        return;
    }
    j->column = column;
    j->busy += end - begin;
    if (end - begin >= j->most) {
        j->most = end - begin;
        j->colour = colour;
    }
}

static void end_columns(struct timeline *t, double half)
{
    for (int64_t lane = 0; lane < LANES_MAX; lane++)
        end_column(t, lane, half);
}

/* ---- blocks ---- */

/* What a P did without a goroutine: 'r' in the scheduler, 'p' spinning, 's' in a system call. A P
 * that is spinning is in the scheduler, too: spinning is drawn over that. */
static void write_state(struct timeline *t, sqlite3_stmt *st)
{
    plot_block(t->p);
    fputs(nothing, t->p->dat);
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        const char *state = (const char *)sqlite3_column_text(st, 3);
        char is = state != NULL ? state[0] : 'r';
        t->schedules |= is == 'r';
        t->syscalls |= is == 's';
        t->spins |= is == 'p';
        box(t, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
            sqlite3_column_int64(st, 2), 0.2,
            is == 's'   ? syscall_colour
            : is == 'p' ? spinning_colour
                        : scheduler_colour);
    }
    end_columns(t, 0.2);
    plot_done(t->p, st);
}

static void write_ps(struct timeline *t)
{
    write_state(t, query_window(
                       t, "SELECT p, end_time_ns - duration_ns AS begin_ns, end_time_ns, from_state"
                          " FROM p_transitions WHERE run = ?1 AND from_state <> 'idle'"
                          " AND end_time_ns > ?2 AND end_time_ns - duration_ns < ?3"
                          " UNION ALL SELECT p, max(end_time_ns), ?3, to_state FROM p_transitions"
                          " WHERE run = ?1 GROUP BY p HAVING to_state <> 'idle'"
                          " AND max(end_time_ns) < ?3 ORDER BY 2"));
    bool has = plot_has_table(t->p, "p_spins");
    write_state(t, !has ? NULL
                        : query_window(t, "SELECT p, begin_ns, end_ns, 'p' FROM p_spins"
                                          " WHERE run = ?1 AND end_ns > ?2 AND begin_ns < ?3"
                                          " ORDER BY 2"));
}

#define RAN                                                                  \
    " FROM g_transitions t JOIN goroutines g ON g.run = t.run AND g.g = t.g" \
    " WHERE t.run = ?1 AND t.from_state = 'running' AND t.src_p IS NOT NULL" \
    " AND t.end_time_ns > ?2 AND t.end_time_ns - t.duration_ns < ?3"

/* The groups that ran most in this window; the runtime has its grey. */
static void find_groups(struct timeline *t)
{
    sqlite3_stmt *st = query_window(
        t, "SELECT g.name, sum(t.duration_ns), count(*) OVER ()" RAN
           " AND g.name <> 'runtime' GROUP BY g.name ORDER BY 2 DESC, 1 LIMIT 8");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW && t->ngroups < GROUPS) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        t->others = sqlite3_column_int64(st, 2) > GROUPS;
        t->groups[t->ngroups] = (struct group){x_strdup(name != NULL ? name : ""),
                                               group_colours[t->ngroups]};
        t->ngroups++;
    }
    plot_done(t->p, st);
}

static const char *colour_of(struct timeline *t, const char *name, int64_t g)
{
    if (g == t->slowest)
        return slowest_colour;
    for (int i = 0; i < t->ngroups; i++)
        if (strcmp(t->groups[i].name, name) == 0)
            return t->groups[i].colour;
    if (strcmp(name, "runtime") != 0)
        return other_colour;
    t->runtime = true;
    return runtime_colour;
}

/* Of a box that has room for it: "request 17", or "17". */
static void label(struct timeline *t, int64_t lane, int64_t begin, int64_t end, const char *name,
                  int64_t g, const char *colour)
{
    bool dark = colour == slowest_colour || colour == runtime_colour;
    for (int i = 0; i < GROUPS; i++)
        dark |= colour == group_colours[i] && is_dark[i];
    char text[100], quoted[310];
    if (begin < t->from)
        begin = t->from;
    if (end > t->to)
        end = t->to;
    double room = (double)(end - begin) / (double)(t->to - t->from) * PIXELS / CHAR_PIXELS;
    snprintf(text, sizeof text, "%s %" PRId64, text_cut(name, NAME_COLUMNS), g);
    if (text_columns(text) > room)
        snprintf(text, sizeof text, "%" PRId64, g);
    if (text_columns(text) > room || t->p->procs > 40 || t->labels++ >= LABELS_MAX)
        return;
    fprintf(t->texts, "set label %s at %.12g,%.6g center front tc rgb '%s' font ',12'\n",
            plot_quote(text, quoted, sizeof quoted),
            ((double)begin + (double)end) / 2 / (double)t->unit, (double)lane - 0.22,
            dark ? "white" : "black");
}

/* A pixel between two boxes, which may have one colour; not of boxes that are hardly wider. */
static int64_t gap(const struct timeline *t, int64_t length)
{
    int64_t pixel = (t->to - t->from) / PIXELS;
    return length > 5 * pixel ? pixel : 0;
}

static void write_gs(struct timeline *t)
{
    sqlite3_stmt *st = query_window(
        t, "SELECT t.src_p, t.end_time_ns - t.duration_ns, t.end_time_ns, t.g, g.name" RAN
           " ORDER BY 2");
    plot_block(t->p);
    fputs(nothing, t->p->dat);
    for (; st != NULL && sqlite3_step(st) == SQLITE_ROW; t->boxes++) {
        int64_t lane = sqlite3_column_int64(st, 0), begin = sqlite3_column_int64(st, 1),
                end = sqlite3_column_int64(st, 2);
        const char *name = (const char *)sqlite3_column_text(st, 4);
        int64_t g = sqlite3_column_int64(st, 3);
        const char *colour = colour_of(t, name != NULL ? name : "", g);
        if (colour == slowest_colour && end - begin < t->width) /* to be seen */
            end = begin + t->width;
        box(t, lane, begin, end - gap(t, end - begin), 0.38, colour);
        label(t, lane, begin, end, name != NULL ? name : "", g, colour);
    }
    end_columns(t, 0.38);
    plot_done(t->p, st);
}

enum { THROTTLED = 1, NO_CPU = 2 };

/* Two blocks: what is faded, and the lines through it. Gives which kinds there are. */
static int write_stalls(struct timeline *t)
{
    int kinds = 0;
    bool has = plot_has_table(t->p, "p_stalls");
    for (int lines = 0; lines < 2; lines++) {
        sqlite3_stmt *st =
            !has ? NULL
                 : query_window(t, "SELECT p, begin_ns, ifnull(end_ns, ?3), why FROM p_stalls"
                                   " WHERE run = ?1 AND ifnull(end_ns, ?3) > ?2 AND begin_ns < ?3");
        plot_block(t->p);
        fputs(nothing, t->p->dat);
        while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
            const char *why = (const char *)sqlite3_column_text(st, 3);
            bool throttled = why != NULL && why[0] == 't';
            kinds |= throttled ? THROTTLED : NO_CPU;
            put_box(t, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                    sqlite3_column_int64(st, 2), lines == 0 ? 0.38 : 0.06,
                    throttled ? throttled_colour : no_cpu_colour);
        }
        plot_done(t->p, st);
    }
    return kinds;
}

/* ---- the script ---- */

static void legend(struct plot *p, const char *colour, const char *text)
{
    char quoted[200];
    fprintf(p->gp, ", \\\n     NaN with boxes fs solid 1 noborder lc rgb '%s' title %s", colour,
            plot_quote(text, quoted, sizeof quoted));
}

static void legends(struct timeline *t, int stalls)
{
    struct plot *p = t->p;
    for (int i = 0; i < t->ngroups; i++)
        legend(p, t->groups[i].colour, text_cut(t->groups[i].name, NAME_COLUMNS));
    if (t->slowest != 0)
        legend(p, slowest_colour, "the slowest request's goroutine");
    if (t->others)
        legend(p, other_colour, "other groups");
    if (t->runtime)
        legend(p, runtime_colour, "the runtime");
    if (t->schedules)
        legend(p, scheduler_colour, "thin: scheduler");
    if (t->spins)
        legend(p, spinning_colour, "thin: spinning");
    if (t->syscalls)
        legend(p, syscall_colour, "thin: system call");
    if (stalls & THROTTLED)
        legend(p, throttled_colour, "line: throttled");
    if (stalls & NO_CPU)
        legend(p, no_cpu_colour, "line: no CPU");
    fputc('\n', p->gp);
}

static int height(const struct plot *p)
{
    int want = p->procs * LANE_PIXELS + 250;
    return want < PLOT_HEIGHT ? PLOT_HEIGHT : want > HEIGHT_MAX ? HEIGHT_MAX : want;
}

static void axes(struct timeline *t, const char *unit)
{
    struct plot *p = t->p;
    int tics = p->procs > 64 ? 8 : p->procs > 32 ? 4 : p->procs > 16 ? 2 : 1;
    if (t->joins) {
        size_t n = strlen(t->why);
        snprintf(t->why + n, sizeof t->why - n,
                 "%sshorter than %s: joined, as high as their share of the time", n > 0 ? "; " : "",
                 plot_time(t->width));
    }
    plot_begin(p, height(p), what_it_shows, t->why);
    fprintf(p->gp,
            "set format x '%%.10g %s'\nset ylabel 'P'\nset ytics %d\nset grid "
            "noytics\n"
            "set key below left Left reverse\n"
            "set xrange [%.12g:%.12g]\nset yrange [%d.5:-0.5]\n",
            unit, tics, (double)t->from / (double)t->unit, (double)t->to / (double)t->unit,
            p->procs - 1);
}

static void draw(struct timeline *t, const char *unit, int stalls)
{
    static const char *const layers[] = {"solid 1", "solid 1", "solid 1", "transparent solid 0.7",
                                         "solid 1"};
    struct plot *p = t->p;
    axes(t, unit);
    if (fflush(t->texts) != 0)
        plot_fail(p, "the system has no more memory");
    fwrite(t->text, 1, t->text_size, p->gp);
    for (int i = 0; i < 5; i++)
        fprintf(p->gp,
                "%s %s index %d using 1:2:3:4:5:6%s with boxxyerror fs %s noborder lc rgb %s"
                " notitle",
                i == 0 ? "plot" : ", \\\n    ", p->dat_name, i, i != 3 ? ":7" : "", layers[i],
                i != 3 ? "variable" : "'white'");
    legends(t, stalls);
}

void plot_timeline(struct plot *p)
{
    const char *unit;
    struct timeline *t = x_alloc(sizeof *t);
    t->p = p;
    t->texts = open_memstream(&t->text, &t->text_size);
    if (t->texts == NULL)
        plot_fail(p, "the system has no more memory");
    choose(t);
    int64_t length = t->to - t->from;
    if (p->failed) {
        ; /* said already */
    } else if (p->makespan_ns == 0) {
        plot_nothing(p, what_it_shows, "the run took no time");
    } else if (length <= 0) {
        plot_fail(p, "a timeline ends after it begins; run %" PRId64 " took %s", p->run,
                  plot_time(p->makespan_ns));
    } else {
        t->unit = plot_unit(length, &unit);
        t->width = length / PIXELS;
        if (t->width < length / (COLUMNS / (p->procs < COLUMNS ? p->procs : COLUMNS)))
            t->width = length / (COLUMNS / (p->procs < COLUMNS ? p->procs : COLUMNS));
        if (t->width == 0)
            t->width = 1;
        find_groups(t);
        write_ps(t);
        write_gs(t);
        if (t->boxes == 0)
            plot_fail(p, "nothing ran between %" PRId64 " and %" PRId64 " ns of run %" PRId64,
                      t->from, t->to, p->run);
        draw(t, unit, write_stalls(t));
    }
    for (int i = 0; i < t->ngroups; i++)
        free(t->groups[i].name);
    if (t->texts != NULL)
        fclose(t->texts);
    free(t->text);
    free(t);
}
