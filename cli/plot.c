/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim plot. */
#include "plots/plot.h"

#include <sqlite3.h>
#include <string.h>

#include "cli/out.h"
#include "cli/progress.h"
#include "store/store.h"

enum { STEPS_BETWEEN_LOOKS = 100000 }; /* of SQLite's virtual machine */

static void check_picture(const char *picture)
{
    const char *names[16] = {NULL};
    for (int i = 0; plot_pictures[i].name != NULL; i++) {
        if (strcmp(plot_pictures[i].name, picture) == 0)
            return;
        names[i] = plot_pictures[i].name;
    }
    const char *near = cli_nearest(picture, names);
    cli_die(EXIT_USAGE, "no picture '%s'; %s%s", picture,
            near != NULL ? "did you mean " : "there are latency, runq, utilisation and timeline",
            near != NULL ? near : "");
}

static int still_reading(void *arg)
{
    struct progress *p = arg;
    if (progress_due(p))
        progress_draw(p, 0, 0, "reading, %.0f s", progress_seconds(p));
    return 0;
}

static void print_json(const struct plot_args *a)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "picture", a->picture);
    cJSON_AddStringToObject(o, "file", a->out);
    cJSON_AddNumberToObject(o, "run", (double)a->runs[0]);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");
    for (int i = 0; i < a->nruns; i++)
        cJSON_AddItemToArray(runs, cJSON_CreateNumber((double)a->runs[i]));
    out_json(o);
}

/* Which runs: those that were named, else the latest. */
static void find_runs(struct plot_args *a, struct store *s, const struct opt_list *wanted)
{
    struct failure f = {0};
    if (wanted->count > PLOT_RUNS_MAX)
        cli_die(EXIT_USAGE, "--run: more than %d", PLOT_RUNS_MAX);
    for (int i = 0; i < wanted->count || i == 0; i++) {
        int64_t id = 0;
        if (wanted->count > 0 && (!parse_int(wanted->items[i], &id) || id == 0))
            cli_die(EXIT_USAGE, "--run: want a run's number, got '%s'", wanted->items[i]);
        if ((a->runs[a->nruns++] = store_run_id(s, &f, id)) == 0)
            cli_fail(&f);
    }
}

int verb_plot(const struct verb *v, int argc, char **argv)
{
    struct plot_args a = {0};
    struct opt_list runs = {0};
    bool json = false;
    struct progress reading;
    char out[64], text[PLOT_TEXT_MAX];
    struct failure f = {0};
    const struct opt table[] = {
        {"run", "N", "the run's number (default: the latest); repeatable, to compare", OPT_REPEATED,
         &runs},
        {"out", "FILE", "picture to write, .svg or .png (default PICTURE.svg)", OPT_TEXT, &a.out},
        {"from", "TIME", "where a timeline begins (virtual time)", OPT_TIME, &a.from_ns},
        {"to", "TIME", "... and ends", OPT_TIME, &a.to_ns},
        {"json", NULL, "what was drawn, as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 2, 2);
    a.picture = argv[first + 1];
    check_picture(a.picture);
    if (a.out == NULL) {
        snprintf(out, sizeof out, "%s.svg", a.picture);
        a.out = out;
    }
    struct store *s = store_open(&f, argv[first], STORE_READ);
    if (s == NULL)
        cli_fail(&f);
    find_runs(&a, s, &runs);
    a.db = store_db(s);
    progress_begin(&reading, GMPSIM_NAME " plot");
    sqlite3_progress_handler(a.db, STEPS_BETWEEN_LOOKS, still_reading, &reading);
    enum plot_result r = plot_draw(&a, text);
    progress_end(&reading);
    store_close(s);
    if (r != PLOT_DRAWN)
        cli_die(EXIT_USAGE, "%s", text);
    if (json)
        print_json(&a);
    else
        puts(a.out);
    return EXIT_CLEAN;
}
