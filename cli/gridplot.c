/* SPDX-License-Identifier: BSD-3-Clause */
/* A table as a picture: over the axis that has most values, a line per combination of the others.
 * Marked are the cells that the sentences call best, and of each line the knee: from where on more
 * (Ps, CPUs, quota) does not help by a tenth, or up to which load a latency is at most twice that
 * of the least load. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gridshow.h"
#include "cli/out.h"
#include "plots/plot.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

#define TENTH 1.10

struct drawing {
    const struct table *t;
    enum grid_axis axis;
    struct plot_grid g;
    int *x, *line; /* of each cell */
    size_t *of;    /* the cell at [line * nx + x], SIZE_MAX: none */
};

/* ---- the axis ---- */

/* What an axis is sorted by; what has no limit comes last. */
static double place(const struct table *t, size_t cell, enum grid_axis axis)
{
    const struct table_cell *c = &t->cells[cell];
    switch (axis) {
    case AXIS_PROCS: return t->counts[cell] > 0 ? table_run(t, cell, 0)->procs : c->procs;
    case AXIS_PROFILE: return c->release;
    case AXIS_CPUS: return c->cpus > 0 ? c->cpus : HUGE_VAL;
    case AXIS_QUOTA: return c->quota_us > 0 ? (double)c->quota_us : HUGE_VAL;
    case AXIS_RATE: return (double)c->rate_ppm;
    }
    return 0;
}

/* The first cell of each value, sorted. */
static int values_of(const struct table *t, enum grid_axis axis, size_t *first)
{
    int n = 0;
    for (size_t c = 0; c < t->ncells; c++) {
        int i = 0, at = n;
        while (i < n && !cells_agree(&t->cells[first[i]], &t->cells[c], axis))
            i++;
        if (i < n)
            continue;
        while (at > 0 && place(t, first[at - 1], axis) > place(t, c, axis)) {
            first[at] = first[at - 1];
            at--;
        }
        first[at] = c;
        n++;
    }
    return n;
}

static void choose_axis(struct drawing *d, size_t *first)
{
    static const enum grid_axis order[] = {AXIS_PROCS, AXIS_RATE, AXIS_QUOTA, AXIS_CPUS,
                                           AXIS_PROFILE};
    int most = 0;
    for (int i = 0; i < GRID_AXES; i++) {
        int n = values_of(d->t, order[i], first);
        if (n > most) {
            most = n;
            d->axis = order[i];
        }
    }
    d->g.nx = values_of(d->t, d->axis, first);
}

/* "GOMAXPROCS 4" is "4" on an axis that says what it is. */
static char *tic(const struct table *t, size_t cell, enum grid_axis axis)
{
    static const char *const said[GRID_AXES] = {"GOMAXPROCS ", "", "", "quota ", "rate "};
    char words[64];
    if (axis == AXIS_PROCS && t->cells[cell].policy[0] != 0)
        return x_strdup(t->cells[cell].policy);
    cell_words(t, cell, axis, words, sizeof words);
    size_t n = strlen(said[axis]);
    return x_strdup(strncmp(words, said[axis], n) == 0 ? words + n : words);
}

static void put_axis(struct drawing *d)
{
    static const char *const names[GRID_AXES] = {"GOMAXPROCS", "release", "CPUs of the host",
                                                 "CPU quota", "load, in times of the scenario's"};
    const struct table *t = d->t;
    size_t *first = x_alloc(t->ncells * sizeof *first);
    choose_axis(d, first);
    d->g.axis = names[d->axis];
    d->g.xs = x_alloc((size_t)d->g.nx * sizeof *d->g.xs);
    for (int i = 0; i < d->g.nx; i++) {
        d->g.xs[i] = tic(t, first[i], d->axis);
        for (size_t c = 0; c < t->ncells; c++)
            if (cells_agree(&t->cells[first[i]], &t->cells[c], d->axis))
                d->x[c] = i;
    }
    free(first);
}

static bool same_line(const struct drawing *d, size_t a, size_t b)
{
    for (int i = 0; i < GRID_AXES; i++)
        if (i != (int)d->axis && !cells_agree(&d->t->cells[a], &d->t->cells[b], (enum grid_axis)i))
            return false;
    return true;
}

static void put_lines(struct drawing *d)
{
    const struct table *t = d->t;
    char label[200];
    d->g.lines = x_alloc(t->ncells * sizeof *d->g.lines);
    for (size_t c = 0; c < t->ncells; c++) {
        size_t like = 0;
        while (!same_line(d, like, c))
            like++;
        d->line[c] = like < c ? d->line[like] : d->g.nlines++;
        if (like == c)
            d->g.lines[d->line[c]] = x_strdup(
                cell_label_but(t, c, (int)d->axis, label, sizeof label));
    }
    d->of = x_alloc((size_t)d->g.nlines * (size_t)d->g.nx * sizeof *d->of);
    for (int i = 0; i < d->g.nlines * d->g.nx; i++)
        d->of[i] = SIZE_MAX;
    for (size_t c = 0; c < t->ncells; c++)
        d->of[d->line[c] * d->g.nx + d->x[c]] = c;
}

/* ---- panels ---- */

static struct plot_value *value(struct drawing *d, const struct plot_panel *panel, size_t cell)
{
    return &panel->values[d->line[cell] * d->g.nx + d->x[cell]];
}

static struct mean mean_of(const struct plot_value *v) { return (struct mean){v->mean, v->half}; }

/* From where on more does not help, in the order of the axis; -1: it cannot be said. */
static int knee(const struct drawing *d, const struct plot_panel *panel, int line)
{
    const struct plot_value *v = panel->values + line * d->g.nx;
    double best = -1, first = -1;
    int at = -1, n = 0, low = 0, high = 0;
    for (int x = 0; x < d->g.nx; x++) {
        if (v[x].mean <= 0)
            continue;
        first = n++ == 0 ? v[x].mean : first;
        low = v[low].mean <= 0 || v[x].mean < v[low].mean ? x : low;
        high = v[x].mean > v[high].mean ? x : high;
    }
    if (n < 3 || !means_differ(mean_of(&v[low]), mean_of(&v[high])))
        return -1;
    best = panel->is_time ? v[low].mean : v[high].mean;
    for (int x = 0; x < d->g.nx; x++) {
        bool good = panel->is_time ? v[x].mean <= best * TENTH : v[x].mean >= best / TENTH;
        if (v[x].mean <= 0)
            continue;
        if (d->axis == AXIS_RATE && panel->is_time && v[x].mean <= 2 * first)
            at = x;
        else if (d->axis != AXIS_RATE && good && at < 0)
            at = x;
    }
    return at;
}

static void mark_knees(struct drawing *d, const struct plot_panel *panel)
{
    for (int l = 0; d->axis != AXIS_PROFILE && l < d->g.nlines; l++) {
        int x = knee(d, panel, l);
        if (x >= 0)
            panel->values[l * d->g.nx + x].marks |= PLOT_ENOUGH;
    }
}

/* The cell with most throughput among those that are given the same. */
static size_t most_of(struct drawing *d, const struct plot_panel *panel, size_t first)
{
    size_t best = first;
    for (size_t c = first; c < d->t->ncells; c++)
        if (advice_same_given(&d->t->cells[c], &d->t->cells[first]) &&
            value(d, panel, c)->mean > value(d, panel, best)->mean)
            best = c;
    return best;
}

/* What no seed could tell apart has no best. */
static bool is_better(struct drawing *d, const struct plot_panel *panel, size_t best)
{
    for (size_t c = 0; c < d->t->ncells; c++)
        if (advice_same_given(&d->t->cells[c], &d->t->cells[best]) &&
            value(d, panel, c)->mean > 0 &&
            means_differ(mean_of(value(d, panel, c)), mean_of(value(d, panel, best))))
            return true;
    return false;
}

static void mark_best(struct drawing *d, const struct plot_panel *panel, int point)
{
    const struct table *t = d->t;
    for (size_t c = 0; c < t->ncells; c++) {
        size_t before = 0, best = SIZE_MAX;
        while (!advice_same_given(&t->cells[before], &t->cells[c]))
            before++;
        if (before == c)
            best = panel->is_time ? advice_best(t, point, c) : most_of(d, panel, c);
        if (best != SIZE_MAX && value(d, panel, best)->mean > 0 && is_better(d, panel, best))
            value(d, panel, best)->marks |= PLOT_BEST;
    }
}

static void put_panel(struct drawing *d, const char *title, enum measure what, int point)
{
    const struct table *t = d->t;
    struct plot_panel *panel = &d->g.panels[d->g.npanels];
    size_t n = (size_t)d->g.nlines * (size_t)d->g.nx;
    bool any = false;
    *panel = (struct plot_panel){title, what != OF_RATE, x_alloc(n * sizeof *panel->values)};
    for (size_t i = 0; i < n; i++) {
        size_t c = d->of[i];
        panel->values[i].mean = -1;
        if (c == SIZE_MAX || t->counts[c] == 0)
            continue;
        double count = table_stat(t, c, t->counts[c], t->span, OF_COUNT).mean;
        if (count == 0 || (panel->is_time && !point_counts(count, point)))
            continue;
        struct mean m = table_stat(t, c, t->counts[c], t->span, what);
        panel->values[i].mean = m.mean;
        panel->values[i].half = m.half;
        any = true;
    }
    if (!any) {
        free(panel->values);
        return;
    }
    mark_knees(d, panel);
    mark_best(d, panel, point);
    d->g.npanels++;
}

static void put_panels(struct drawing *d)
{
    enum { P50 = 0, P99 = 2, P999 = 3, MAX = 4 };
    put_panel(d, "p50", OF_POINT + (enum measure)P50, P50);
    put_panel(d, "p99", OF_POINT + (enum measure)P99, P99);
    put_panel(d, "p99.9", OF_POINT + (enum measure)P999, P999);
    if (d->g.npanels < PLOT_PANELS - 1) /* there are too few for the others */
        put_panel(d, "slowest", OF_POINT + (enum measure)MAX, MAX);
    put_panel(d, "per second", OF_RATE, P50);
}

/* ---- all ---- */

static void release(struct drawing *d)
{
    for (int i = 0; i < d->g.nx; i++)
        free(d->g.xs[i]);
    for (int i = 0; i < d->g.nlines; i++)
        free(d->g.lines[i]);
    for (int i = 0; i < d->g.npanels; i++)
        free(d->g.panels[i].values);
    free(d->g.xs);
    free(d->g.lines);
    free(d->x);
    free(d->line);
    free(d->of);
}

static void describe(const struct table *t, char *title, size_t title_size, char *more, size_t size)
{
    int64_t least = INT64_MAX, most = 0;
    char apart[60] = "";
    for (size_t c = 0; c < t->ncells; c++) {
        least = t->counts[c] < least ? t->counts[c] : least;
        most = t->counts[c] > most ? t->counts[c] : most;
    }
    if (!table_varies(t, AXIS_PROFILE) && t->ncells > 0)
        snprintf(apart, sizeof apart, " \xe2\x80\x94 %s", profile_name(t->cells[0].release));
    snprintf(title, title_size, t->span > 0 ? "%s%s, span %s" : "%s%s, %s",
             text_cut(t->scenario, 50), apart, text_cut(t->names[t->span], 40));
    if (least == most)
        snprintf(more, size, most == 1 ? "one seed" : "means over %lld seeds", (long long)most);
    else
        snprintf(more, size, "means over %lld to %lld seeds", (long long)least, (long long)most);
}

void grid_plot(const struct table *t, const char *out)
{
    char title[200], more[100], text[PLOT_TEXT_MAX];
    struct drawing d = {.t = t,
                        .g = {.what = "What if: latency and throughput over the settings"},
                        .x = x_alloc(t->ncells * sizeof *d.x),
                        .line = x_alloc(t->ncells * sizeof *d.line)};
    describe(t, title, sizeof title, more, sizeof more);
    d.g.title = title;
    d.g.more = more;
    put_axis(&d);
    d.g.knee = d.axis == AXIS_RATE ? "knee: up to there latency at most doubles"
                                   : "knee: more helps less than a tenth";
    put_lines(&d);
    put_panels(&d);
    struct plot_args a = {.picture = "whatif", .out = out, .grid = &d.g};
    enum plot_result r = d.g.npanels > 0 ? plot_draw(&a, text) : PLOT_FAILED;
    if (d.g.npanels == 0)
        snprintf(text, sizeof text, "the grid has nothing to draw");
    release(&d);
    if (r != PLOT_DRAWN)
        cli_die(EXIT_USAGE, "%s", text);
}
