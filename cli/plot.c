/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim plot. */
#include "plots/plot.h"

#include <string.h>

#include "cli/cli.h"
#include "replay/store.h"

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

int verb_plot(const struct verb *v, int argc, char **argv)
{
    struct plot_args a = {0};
    char out[64], text[PLOT_TEXT_MAX];
    struct failure f = {0};
    const struct opt table[] = {
        {"run", "N", "the run's number (default: the latest)", OPT_INT, &a.run},
        {"out", "FILE", "picture to write, .svg or .png (default PICTURE.svg)", OPT_TEXT, &a.out},
        {"from", "TIME", "where a timeline begins (virtual time)", OPT_TIME, &a.from_ns},
        {"to", "TIME", "... and ends", OPT_TIME, &a.to_ns},
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
    if (s == NULL || (a.run = store_run_id(s, &f, a.run)) == 0)
        cli_fail(&f);
    a.db = store_db(s);
    enum plot_result r = plot_draw(&a, text);
    store_close(s);
    if (r != PLOT_DRAWN)
        cli_die(EXIT_USAGE, "%s", text);
    puts(a.out);
    return EXIT_CLEAN;
}
