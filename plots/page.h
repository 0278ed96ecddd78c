/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_PAGE_H
#define GMPSIM_PLOTS_PAGE_H

/* Recorded runs as one HTML file that needs nothing else: no network, no other file. The data are
 * inlined, and made small first: of a long run every stretch of a part, and an overview of the
 * rest. The same database gives the same file. */

#include <stdint.h>
#include <stdio.h>

#include "plots/plot.h"

struct page_args {
    struct sqlite3 *db;
    int64_t runs[PLOT_RUNS_MAX];
    int nruns;
    int64_t from_ns, to_ns; /* of which every stretch is kept; to 0: chosen */
    int64_t stretches_max;  /* 0: PAGE_STRETCHES */
};

enum { PAGE_STRETCHES = 100000 };

/* False: text says why. */
bool page_write(const struct page_args *a, FILE *to, char text[PLOT_TEXT_MAX]);

#endif
