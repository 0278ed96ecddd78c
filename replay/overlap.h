/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_OVERLAP_H
#define GMPSIM_REPLAY_OVERLAP_H

/* Lengths of time of which only bounds are known: one number that fits most of them. */

#include <stddef.h>
#include <stdint.h>

struct bounds {
    int64_t low, high;
};

/* How many of them one number fits, and the range of such numbers. */
size_t overlap_most(const struct bounds *b, size_t n, int64_t *low, int64_t *high);
/* The order of two int64_t, for qsort. */
int overlap_by_length(const void *a, const void *b);
/* The number with the fewest digits in [low, high]. */
int64_t overlap_roundest(int64_t low, int64_t high);

#endif
