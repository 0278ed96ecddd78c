/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_FLIP_H
#define GMPSIM_SEARCH_FLIP_H

/* Which two operations' order decides: of each pair that could have come the other way round, the
 * first is held back until the second is done, everybody else goes on as before, and the run is
 * judged. */

#include "search/history.h"

/* What was drawn, and in whose turn. */
struct flip_draws {
    struct flip_drawn {
        uint32_t goid, pick;
        bool used;
    } * drawn;
    size_t count, room;
};

void flip_draw(struct flip_draws *d, uint32_t goid, uint32_t pick);
void flip_draws_free(struct flip_draws *d);

struct flip {
    struct strategy s;
    const struct history *h;
    struct flip_draws *draws;
    uint32_t *order; /* goids, in the order that is wanted */
    bool *done;
    size_t count;
    int32_t first, second; /* rows; first ROW_NONE: as it was */
    int32_t at_second;     /* place of `second` in the order */
    uint32_t last;         /* whose turn it was */
    bool released, begun;
};

void flip_turn(struct flip *x, const struct turn_does *d);
/* Fills h->pair. */
void flip_all(struct flip *x, struct explored *e, struct history *h, struct flip_draws *draws,
              const char *what, uint64_t flips_max);

#endif
