/* SPDX-License-Identifier: BSD-3-Clause */
/* A what-if grid: a panel per percentile and one for throughput, a line per setting, a band where
 * its mean lies with 95 % confidence. The legend has a strip of its own below the panels, so that
 * it covers nothing. */
#include <string.h>

#include "plots/plot_int.h"

enum {
    LINES_MAX = 24, /* colours times dashes that can be told apart */
    COLUMNS = 2,    /* of panels */
    LEGEND_COLUMNS = 2,
    LABEL_COLUMNS = 40,
    TIC_COLUMNS_MAX = 24,
    PANEL_PIXELS = 330,
    LEGEND_PIXELS = 24, /* a line of it */
    TITLE_PIXELS = 95,
    AXIS_PIXELS = 450,
    CHAR_PIXELS = 9
};

static int lines_of(const struct plot_grid *g)
{
    return g->nlines < LINES_MAX ? g->nlines : LINES_MAX;
}

static const struct plot_value *value(const struct plot_grid *g, int panel, int line, int x)
{
    return &g->panels[panel].values[line * g->nx + x];
}

struct range {
    double low, high; /* of the means with their bands */
};

static struct range range_of(const struct plot_grid *g, int panel)
{
    struct range r = {0, 0};
    for (int l = 0; l < lines_of(g); l++)
        for (int x = 0; x < g->nx; x++) {
            const struct plot_value *v = value(g, panel, l, x);
            if (v->mean > 0 && (r.low <= 0 || v->mean < r.low))
                r.low = v->mean;
            if (v->mean + v->half > r.high)
                r.high = v->mean + v->half;
        }
    return r;
}

/* ---- data ---- */

/* Rows x, mean, low, high; of a log axis none is 0. */
static void write_line(struct plot *p, const struct plot_grid *g, int panel, int line, double unit)
{
    plot_block(p);
    for (int x = 0; x < g->nx; x++) {
        const struct plot_value *v = value(g, panel, line, x);
        double low = v->mean - v->half;
        if (v->mean < 0)
            continue;
        if (low < v->mean / 10)
            low = v->mean / 10;
        fprintf(p->dat, "%d %.9g %.9g %.9g\n", x, v->mean / unit, low / unit,
                (v->mean + v->half) / unit);
    }
    fputs("NaN NaN NaN NaN\n", p->dat); /* a block is never empty */
}

static void write_marks(struct plot *p, const struct plot_grid *g, int panel, unsigned mark,
                        double unit)
{
    plot_block(p);
    for (int l = 0; l < lines_of(g); l++)
        for (int x = 0; x < g->nx; x++)
            if ((value(g, panel, l, x)->marks & mark) != 0)
                fprintf(p->dat, "%d %.9g\n", x, value(g, panel, l, x)->mean / unit);
    fputs("NaN NaN\n", p->dat);
}

/* ---- script ---- */

/* Names on a slant where they would run into each other. */
static void put_x_axis(struct plot *p, const struct plot_grid *g)
{
    char quoted[300];
    bool slant;
    int columns = 0;
    fputs("set xtics (", p->gp);
    for (int x = 0; x < g->nx; x++) {
        const char *name = text_cut(g->xs[x], TIC_COLUMNS_MAX);
        if (text_columns(name) > columns)
            columns = text_columns(name);
        fprintf(p->gp, "%s%s %d", x > 0 ? ", " : "", plot_quote(name, quoted, sizeof quoted), x);
    }
    slant = (columns + 1) * CHAR_PIXELS * g->nx > AXIS_PIXELS;
    fprintf(p->gp, ") %s\nset bmargin %s\nset xrange [-0.25:%.2f]\n",
            slant ? "rotate by -30" : "norotate", slant ? "6.5" : "3.6", (double)g->nx - 0.75);
}

/* Logarithmic where it spans much; else from 0, so that lengths are what they look like. Gives what
 * the data are divided by. */
static double put_y_axis(struct plot *p, const struct plot_grid *g, int panel)
{
    struct range r = range_of(g, panel);
    const char *name = "";
    double unit = 1;
    if (!g->panels[panel].is_time || r.high <= 0) {
        fprintf(p->gp,
                "unset logscale y\nset ytics auto\nset format y '%%.6g'\nset yrange [0:%.6g]\n",
                r.high > 0 ? r.high * 1.1 : 1);
        return 1;
    }
    if (r.high / r.low > 8) {
        fputs("set logscale y\nset format y '%.6g'\n", p->gp);
        plot_time_tics(p, "y", (int64_t)(r.low * 0.7), (int64_t)(r.high * 1.5) + 1);
        fprintf(p->gp, "set yrange [%.6g:%.6g]\n", r.low * 0.7, r.high * 1.5);
        return 1;
    }
    unit = (double)plot_unit((int64_t)r.high, &name);
    fprintf(p->gp,
            "unset logscale y\nset ytics auto\nset format y '%%.6g %s'\nset yrange [0:%.6g]\n",
            name, r.high * 1.1 / unit);
    return unit;
}

static void put_place(struct plot *p, const struct plot_grid *g, int panel, int height)
{
    int rows = (g->npanels + 1) / COLUMNS, below = rows - 1 - panel / COLUMNS;
    double bottom = height - TITLE_PIXELS - PANEL_PIXELS * rows + PANEL_PIXELS * below;
    fprintf(p->gp, "set origin %.6g,%.6g\nset size %.6g,%.6g\n",
            (double)(panel % COLUMNS) / COLUMNS, bottom / height,
            g->npanels > 1 ? 1.0 / COLUMNS : 1.0, (double)PANEL_PIXELS / height);
}

static void put_panel(struct plot *p, const struct plot_grid *g, int panel, int height)
{
    int n = lines_of(g), first = p->blocks;
    char quoted[400];
    put_place(p, g, panel, height);
    double unit = put_y_axis(p, g, panel);
    fprintf(p->gp, "set title %s\nplot", plot_quote(g->panels[panel].title, quoted, sizeof quoted));
    for (int l = 0; l < n; l++) {
        write_line(p, g, panel, l, unit);
        fprintf(p->gp,
                " %s index %d using 1:3:4 with filledcurves fs transparent solid %.3g noborder"
                " lc rgb '%s' notitle, \\\n    ",
                p->dat_name, first + l, n > 4 ? 0.72 / n : 0.18, colours[l % COLOURS]);
    }
    for (int l = 0; l < n; l++)
        fprintf(p->gp,
                " %s index %d using 1:2 with linespoints pt 7 ps 0.5 lw 2 dt %d lc rgb '%s'"
                " notitle, \\\n    ",
                p->dat_name, first + l, 1 + l / COLOURS, colours[l % COLOURS]);
    write_marks(p, g, panel, PLOT_ENOUGH, unit);
    write_marks(p, g, panel, PLOT_BEST, unit);
    fprintf(p->gp,
            " %s index %d using 1:2 with points pt 6 ps 1.8 lw 2 lc rgb '#000000' notitle, \\\n"
            "     %s index %d using 1:2 with points pt 3 ps 1.4 lw 2 lc rgb '#000000' notitle\n",
            p->dat_name, first + n, p->dat_name, first + n + 1);
}

static bool is_marked(const struct plot_grid *g, unsigned mark)
{
    for (int i = 0; i < g->npanels; i++)
        for (int v = 0; v < lines_of(g) * g->nx; v++)
            if ((g->panels[i].values[v].marks & mark) != 0)
                return true;
    return false;
}

static void put_legend(struct plot *p, const struct plot_grid *g, double share)
{
    char quoted[400];
    fprintf(p->gp,
            "set origin 0,0\nset size 1,%.6g\nunset title\nunset border\nunset tics\n"
            "unset xlabel\nunset ylabel\nunset grid\nunset logscale\nset xrange [0:1]\n"
            "set yrange [0:1]\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
            "set key center center horizontal Left reverse samplen 3 maxcols %d\nplot",
            share, LEGEND_COLUMNS);
    for (int l = 0; l < lines_of(g); l++)
        fprintf(p->gp,
                " NaN with linespoints pt 7 ps 0.5 lw 3 dt %d lc rgb '%s' title %s, \\\n    ",
                1 + l / COLOURS, colours[l % COLOURS],
                plot_quote(text_cut(g->lines[l], LABEL_COLUMNS), quoted, sizeof quoted));
    if (is_marked(g, PLOT_BEST))
        fputs(" NaN with points pt 3 ps 1.4 lw 2 lc rgb '#000000' title 'best, at 98 % of the most "
              "throughput', \\\n    ",
              p->gp);
    if (is_marked(g, PLOT_ENOUGH))
        fprintf(p->gp, " NaN with points pt 6 ps 1.8 lw 2 lc rgb '#000000' title %s, \\\n    ",
                plot_quote(g->knee, quoted, sizeof quoted));
    fputs(" NaN with filledcurves fs solid 0.18 noborder lc rgb '#000000'"
          " title '95 % confidence'\n",
          p->gp);
}

void plot_whatif(struct plot *p)
{
    const struct plot_grid *g = p->args->grid;
    char more[400], quoted[200];
    int legends = (lines_of(g) + 3 + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
    int legend = legends * LEGEND_PIXELS + 16;
    int height = TITLE_PIXELS + PANEL_PIXELS * ((g->npanels + 1) / COLUMNS) + legend;
    snprintf(p->title, sizeof p->title, "%s", g->title);
    snprintf(more, sizeof more, "%s", g->more);
    if (g->nlines > LINES_MAX)
        snprintf(more, sizeof more, "%s; %d more settings are not drawn", g->more,
                 g->nlines - LINES_MAX);
    plot_head(p, height);
    fputs("set multiplot title ", p->gp);
    plot_title(p, g->what, more);
    fprintf(p->gp,
            "set lmargin 11\nset rmargin 3\nset tmargin 2\nunset key\n"
            "set xlabel %s\n",
            plot_quote(g->axis, quoted, sizeof quoted));
    put_x_axis(p, g);
    for (int i = 0; i < g->npanels; i++)
        put_panel(p, g, i, height);
    put_legend(p, g, (double)legend / height);
    fputs("unset multiplot\n", p->gp);
}
