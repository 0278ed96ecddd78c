/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of asm.h under the explorer. */
#ifndef GMPSIM_TESTS_MODEL_RUN_EXPLORE_H
#define GMPSIM_TESTS_MODEL_RUN_EXPLORE_H

#include "asm.h"
#include "sim/explore/mm.h"

struct as_explore {
    int release, procs;
    enum mm_kind memory;
    uint64_t seed, runs;
    const char *out; /* what every run must print */
};

/* Runs the program in `runs` random schedules; the first one that goes wrong fails the case. */
void as_explore(struct as *a, struct as_explore e);
/* How many of the runs end with a finding. */
uint64_t as_explore_findings(struct as *a, struct as_explore e);

/* Breaks an invariant in each of the runs, some points after its start; every run in which that is
 * possible has to end with these words. How many those were. */
uint64_t as_explore_plant(struct as *a, struct as_explore e, enum core_plant what,
                          const char *words);

#endif
