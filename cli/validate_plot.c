/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits in run queues, percentile by percentile: a panel for each of the comparisons whose
 * distributions are furthest apart, a line per source. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/validate.h"
#include "plots/plot.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

static const int percentiles[] = {10, 25, 50, 75, 90, 95, 99};
enum { NX = sizeof percentiles / sizeof *percentiles };

static double furthest(const struct validation *v, const struct comparison *c)
{
    double most = -1;
    for (int s = S_THREADS; s < S_COUNT; s++)
        if ((s == S_THREADS || s == S_GO) && has_source(c, (enum source)s)) {
            double far = distance(v, c, D_WAIT, reference_of(c, (enum source)s), (enum source)s);
            most = far > most ? far : most;
        }
    return most;
}

/* The median over the runs; below 0: nobody waited. */
static double at_percentile(const struct validation *v, const struct comparison *c, enum source s,
                            int percent)
{
    const struct taken *runs = has_source(c, s) ? seen_of(c, s) : NULL;
    double all[RUNS_MAX];
    int n = 0, quantile = percent * QUANTILES / 100;
    for (int i = 0; runs != NULL && i < v->nruns; i++) {
        if (runs[i].count[D_WAIT] == 0)
            continue;
        double x = (double)runs[i].quantile[D_WAIT][quantile];
        int at = n++;
        for (; at > 0 && all[at - 1] > x; at--)
            all[at] = all[at - 1];
        all[at] = x > 1 ? x : 1;
    }
    return n > 0 ? all[n / 2] : -1;
}

/* Of those that were compared, the most telling; gives how many. */
static int choose(const struct validation *v, const struct comparison **to)
{
    int n = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct comparison *c = &v->of[i];
        if (c->skipped[0] != 0)
            continue;
        int at = n < PLOT_PANELS ? n++ : PLOT_PANELS;
        for (; at > 0 && furthest(v, to[at - 1]) < furthest(v, c); at--)
            if (at < PLOT_PANELS)
                to[at] = to[at - 1];
        if (at < PLOT_PANELS)
            to[at] = c;
    }
    return n;
}

static void fill(const struct validation *v, const struct comparison *c, struct plot_panel *panel)
{
    char title[200];
    snprintf(title, sizeof title, "%.120s, %s%s%d Ps", c->scenario->name,
             c->go != NULL ? c->go->version : "", c->go != NULL ? ", " : "", c->procs);
    panel->title = x_strdup(title);
    panel->is_time = true;
    panel->values = x_alloc((size_t)NX * S_COUNT * sizeof *panel->values);
    for (int s = 0; s < S_COUNT; s++)
        for (int x = 0; x < NX; x++)
            panel->values[s * NX + x].mean = at_percentile(v, c, (enum source)s, percentiles[x]);
}

void validate_plot(const struct validation *v, const char *path)
{
    static char names[S_COUNT][32] = {"virtual time", "real threads", "virtual time, Go's costs",
                                      "real Go"};
    static char *lines[S_COUNT] = {names[0], names[1], names[2], names[3]};
    static char texts[NX][8], *xs[NX], text[PLOT_TEXT_MAX];
    const struct comparison *chosen[PLOT_PANELS];
    struct plot_grid g = {.what = "How long goroutines wait in run queues",
                          .title = "where virtual time and what was measured differ most",
                          .more = "",
                          .axis = "percentile",
                          .knee = "",
                          .xs = xs,
                          .lines = lines,
                          .nx = NX,
                          .nlines = S_COUNT};
    for (int x = 0; x < NX; x++) {
        snprintf(texts[x], sizeof texts[x], "%d", percentiles[x]);
        xs[x] = texts[x];
    }
    g.npanels = choose(v, chosen);
    for (int i = 0; i < g.npanels; i++)
        fill(v, chosen[i], &g.panels[i]);
    struct plot_args args = {.grid = &g, .picture = "whatif", .out = path};
    enum plot_result result = g.npanels > 0 ? plot_draw(&args, text) : PLOT_DRAWN;
    for (int i = 0; i < g.npanels; i++) {
        free((char *)(uintptr_t)g.panels[i].title);
        free(g.panels[i].values);
    }
    if (result == PLOT_FAILED)
        cli_die(EXIT_USAGE, "%s", text);
    if (result == PLOT_NO_GNUPLOT)
        fprintf(stderr, GMPSIM_NAME ": %s\n", text);
}
