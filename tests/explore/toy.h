/* SPDX-License-Identifier: BSD-3-Clause */
/* A small world for tests of the explorer: up to four threads that each add to a counter in two
 * steps, the classic lost update. */
#ifndef GMPSIM_TESTS_EXPLORE_TOY_H
#define GMPSIM_TESTS_EXPLORE_TOY_H

#include "tests/explore/search.h"

struct toy {
    int threads, rounds;
    bool atomic; /* a_add in place of load and store */
    bool yields; /* osyield between the two */
    bool ignore; /* a lost update is fine */
};

/* Opens a world of this memory; ends the case when that fails. */
void toy_open(enum mm_kind memory);
void toy_build(void *toy);
void toy_check(void *toy); /* "lost update" */
uint32_t toy_total(void);
struct search toy_search(const struct toy *t);

#endif
