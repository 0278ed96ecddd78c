/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_PAIRS_H
#define GMPSIM_SEARCH_PAIRS_H

/* Which orders a search by turns has seen: of two places of the program at which different
 * goroutines did something to one object, one after the other and not both only reading, did the
 * first come first, the second, or each in some schedule? What was seen in one order only was
 * either not tried the other way round, or cannot be. */

#include "model/prog.h"
#include "sim/base/turn.h"

enum { PAIRS_CODE_MAX = 4096, PAIRS_OBJECTS = 256 };

struct pairs {
    uint32_t ncode; /* 0: nothing is noted */
    uint64_t *seen; /* a bit for each ordered pair of instructions */
    struct pairs_last {
        int32_t object; /* 0: none */
        uint32_t goid, pc;
        bool reads;
    } last[PAIRS_OBJECTS]; /* of this run, by object */
};

/* Of a program with more than PAIRS_CODE_MAX instructions nothing is noted. */
void pairs_open(struct pairs *p, const struct program *program);
void pairs_close(struct pairs *p);
void pairs_begin(struct pairs *p); /* a new run */
void pairs_turn(struct pairs *p, const struct turn_does *d);

struct pairs_sum {
    uint64_t both, one; /* unordered pairs */
};
struct pairs_sum pairs_count(const struct pairs *p);
/* The next pair that was seen in this order only, from *at on (0 at first); false: no more. */
bool pairs_next_one(const struct pairs *p, uint64_t *at, uint32_t *first, uint32_t *second);

#endif
