/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_SHRINK_H
#define GMPSIM_SEARCH_SHRINK_H

/* A finding with fewer answers that matter. An answer 0 is the dull one (choose.h), so a schedule
 * is small when few are not 0; trailing zeros need not be written. */

#include "search/hunt.h"

struct shrink_result {
    size_t answers_before, answers;     /* up to the last that is not 0 */
    size_t choices_before, choices;     /* that are not 0 */
    size_t switches_before, switches;   /* away from somebody who could have gone on */
    uint64_t steps_before, steps, runs; /* runs: that it took */
    bool minimal;                       /* no single answer can become 0: each was tried */
};

/* Replaces x by a smaller one with the same verdict.what. runs_max: a budget. */
bool shrink(struct failure *f, struct finding *x, uint64_t runs_max, struct shrink_result *r);

size_t answers_that_matter(const struct answer *a, size_t count);

#endif
