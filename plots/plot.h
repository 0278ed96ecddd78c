/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_PLOT_H
#define GMPSIM_PLOTS_PLOT_H

/* A recorded run as a picture. Reads the database and nothing else of the project; draws with
 * gnuplot, an external program. Beside the picture NAME.svg stand NAME.dat and NAME.gp, from which
 * gnuplot makes it again; they are written even where there is no gnuplot. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/* No run takes longer, ns: sums of a few moments fit into 64 bits. */
#define PLOT_TIME_MAX (INT64_MAX / 4)

enum { PLOT_TEXT_MAX = 500, PLOT_RUNS_MAX = 8, PLOT_PANELS = 4 };

/* A what-if grid: panels of lines over one axis. Everything is the caller's. */
enum plot_mark { PLOT_BEST = 1, PLOT_ENOUGH = 2 };

struct plot_value {
    double mean, half; /* of the 95 % confidence interval; mean below 0: there is none */
    unsigned marks;
};

struct plot_panel {
    const char *title;
    bool is_time;              /* in ns */
    struct plot_value *values; /* line by line, nx each */
};

struct plot_grid {
    const char *what, *title, *more, *axis, *knee; /* knee: what PLOT_ENOUGH means */
    char **xs, **lines;                            /* what they are called */
    int nx, nlines, npanels;
    struct plot_panel panels[PLOT_PANELS];
};

struct plot_args {
    struct sqlite3 *db;
    int64_t runs[PLOT_RUNS_MAX]; /* at least one */
    int nruns;
    const struct plot_grid *grid; /* of the picture "whatif", which needs no db */
    const char *span;             /* NULL: the one with most time */
    const char *picture;          /* one of plot_pictures */
    const char *out;              /* ends with .svg or .png */
    int64_t from_ns, to_ns;       /* of a picture over time; to 0: chosen, or the end */
};

enum plot_result {
    PLOT_DRAWN,
    PLOT_NO_GNUPLOT, /* .gp and .dat are there, the picture is not */
    PLOT_FAILED,
};

/* What of plot_args a picture knows. */
enum plot_takes {
    PLOT_RUNS = 1,   /* several of them */
    PLOT_SPAN = 2,   /* a span's name */
    PLOT_WINDOW = 4, /* from and to */
    PLOT_GRID = 8,   /* a grid, no run */
    PLOT_GRAPH = 16, /* drawn without gnuplot: an SVG, and beside it FILE.dot */
};

/* Names and what they show; ends with a NULL name. */
struct plot_picture {
    const char *name, *what;
    unsigned takes; /* enum plot_takes */
};
extern const struct plot_picture plot_pictures[];

/* text: what went wrong. */
enum plot_result plot_draw(const struct plot_args *a, char text[PLOT_TEXT_MAX]);

#endif
