/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim plot. */
#include "plots/plot.h"

#include <string.h>

#include "cli/db.h"
#include "cli/gridshow.h"
#include "cli/out.h"
#include "cli/recorded.h"

static unsigned takes_of(const char *picture)
{
    const char *names[32] = {NULL};
    for (int i = 0; plot_pictures[i].name != NULL; i++)
        names[i] = plot_pictures[i].name;
    return plot_pictures[cli_choice("no picture", picture, names)].takes;
}

/* An option that the picture does not know. */
static void refuse(unsigned takes, unsigned what, bool given, const char *option)
{
    char names[200] = "";
    size_t n = 0;
    if (!given || (takes & what) != 0)
        return;
    for (int i = 0; plot_pictures[i].name != NULL; i++)
        if ((plot_pictures[i].takes & what) != 0 && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "",
                                  plot_pictures[i].name);
    cli_die(EXIT_USAGE, "%s: of these pictures only: %s", option, names);
}

static void print_json(const struct plot_args *a)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "picture", a->picture);
    cJSON_AddStringToObject(o, "file", a->out);
    if (a->nruns > 0)
        cJSON_AddNumberToObject(o, "run", (double)a->runs[0]);
    cJSON_AddItemToObject(o, "runs", recorded_runs_json(a->runs, a->nruns));
    out_json(o);
}

/* The picture of a grid instead of runs. */
static void plot_grid(const char *db, const struct plot_args *a, int64_t grid)
{
    struct table t = {0};
    struct store *s = db_to_read(db);
    grid_load(s, grid, &t);
    table_choose_span(&t, a->span);
    grid_plot(&t, a->out);
    table_release(&t);
    store_close(s);
}

static void plot_runs(const char *db, struct plot_args *a, const struct opt_list *runs)
{
    char text[PLOT_TEXT_MAX];
    struct recorded from;
    a->db = recorded_open(&from, db, runs, a->runs, &a->nruns, PLOT_RUNS_MAX);
    recorded_read(&from, GMPSIM_NAME " plot");
    enum plot_result r = plot_draw(a, text);
    recorded_close(&from);
    if (r != PLOT_DRAWN)
        cli_die(EXIT_USAGE, "%s", text);
}

int command_plot(const struct command *v, int argc, char **argv)
{
    struct plot_args a = {0};
    struct opt_list runs = {0};
    bool json = false;
    int64_t grid = 0;
    char out[64];
    const struct opt table[] = {
        {"run", "N", "the run's number (default: the latest); repeatable, to compare", OPT_REPEATED,
         &runs},
        {"out", "FILE", "picture to write, .svg or .png (default PICTURE.svg)", OPT_TEXT, &a.out},
        {"from", "TIME", "where a timeline begins (virtual time)", OPT_TIME, &a.from_ns},
        {"to", "TIME", "... and ends", OPT_TIME, &a.to_ns},
        {"grid", "N", "whatif: the grid's number (default: the latest)", OPT_COUNT, &grid},
        {"span", "NAME", "heatmap, histogram, whatif: of which (default: with most time)", OPT_TEXT,
         &a.span},
        {"json", NULL, "what was drawn, as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 2, 2);
    a.picture = argv[first + 1];
    unsigned takes = takes_of(a.picture);
    if (a.out == NULL) {
        snprintf(out, sizeof out, "%s.svg", a.picture);
        a.out = out;
    }
    bool is_grid = (takes & PLOT_GRID) != 0;
    if (is_grid && runs.count > 0)
        cli_die(EXIT_USAGE, "--run: the picture is of a grid (--grid)");
    refuse(takes, PLOT_GRID, grid > 0, "--grid");
    refuse(takes, PLOT_SPAN, a.span != NULL, "--span");
    refuse(takes, PLOT_WINDOW, a.from_ns > 0 || a.to_ns > 0, "--from and --to");
    if (is_grid)
        plot_grid(argv[first], &a, grid);
    else
        plot_runs(argv[first], &a, &runs);
    if (json)
        print_json(&a);
    else
        puts(a.out);
    return EXIT_CLEAN;
}
