/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_HITS_H
#define GMPSIM_CLI_HITS_H

/* Many runs, grouped by how they ended and by who was stuck then: where, in which wait. */

#include "cli/cli.h"

struct hit {
    char what[1000];
    uint64_t first_seed, count;
};

enum { HITS_MAX = 200 };

struct hits {
    struct hit hit[HITS_MAX];
    size_t count;
    uint64_t runs, others; /* others: runs that ended in yet other ways */
};

void hits_add(struct hits *h, const struct run_result *r, uint64_t seed);
/* The most frequent first; nothing if all runs ended well. */
void hits_print(FILE *to, struct hits *h);

#endif
