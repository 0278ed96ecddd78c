/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_SHRINK_H
#define GMPSIM_SEARCH_SHRINK_H

/* A smaller finding with the same kind of verdict. An answer 0 is the dull one (choose.h), so
 * shrinking writes zeros: first in place of answers that are preemptions. Of two runs the smaller
 * one has fewer preemptions; of as many, fewer goroutines that took part (at op: threads); then
 * fewer answers that are not 0; then fewer steps. Trailing zeros need not be written. */

#include "search/hunt.h"

struct shrink_weight {
    size_t preemptions; /* somebody else went on, and who ran could have */
    size_t actors;      /* goroutines that had a turn; at op, threads */
    size_t choices;     /* answers that are not 0 */
    uint64_t steps;
};

/* < 0: a is smaller. */
int shrink_compare(const struct shrink_weight *a, const struct shrink_weight *b);

struct shrink_result {
    size_t answers_before, answers; /* up to the last that is not 0 */
    struct shrink_weight before, after;
    uint64_t runs; /* that it took */
    /* No single answer can go: with each of them 0 in turn, the finding is another or not smaller.
     */
    bool minimal;
};

/* Replaces x by a smaller one with the same verdict.what. runs_max: a budget. */
bool shrink(struct failure *f, struct finding *x, uint64_t runs_max, struct shrink_result *r);

size_t answers_that_matter(const struct answer *a, size_t count);

#endif
