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

enum { PLOT_TEXT_MAX = 500, PLOT_RUNS_MAX = 8 };

struct plot_args {
    struct sqlite3 *db;
    int64_t runs[PLOT_RUNS_MAX]; /* at least one */
    int nruns;
    const char *picture;    /* one of plot_pictures */
    const char *out;        /* ends with .svg or .png */
    int64_t from_ns, to_ns; /* of a picture over time; to 0: chosen, or the end */
};

enum plot_result {
    PLOT_DRAWN,
    PLOT_NO_GNUPLOT, /* .gp and .dat are there, the picture is not */
    PLOT_FAILED,
};

/* Names and what they show; ends with a NULL name. */
struct plot_picture {
    const char *name, *what;
    bool compares; /* takes several runs */
};
extern const struct plot_picture plot_pictures[];

/* text: what went wrong. */
enum plot_result plot_draw(const struct plot_args *a, char text[PLOT_TEXT_MAX]);

#endif
