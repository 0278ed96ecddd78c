/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_FLIP_H
#define GMPSIM_SEARCH_FLIP_H

/* What decides how a run ends. Of each two turns that could have come the other way round the first
 * is held back until the second is done, everybody else goes on as before, and the run is judged;
 * so are two goroutines that take one lock. A turn is held back, too, until somebody else does to
 * its object what may not come in this run at all: after its end, or in another branch. And a
 * choice, such as a select's, is made another way. */

#include "search/history.h"

/* What was drawn, and in whose turn. */
struct flip_draws {
    struct flip_drawn {
        uint32_t goid, n, pick;
        int32_t row; /* in which it was */
        bool used;
    } * drawn;
    size_t count, room;
};

void flip_draw(struct flip_draws *d, uint32_t goid, uint32_t n, uint32_t pick, int32_t row);
void flip_draws_free(struct flip_draws *d);

/* Until when the first row is held back. */
enum flip_until {
    FLIP_SECOND, /* the second row is done */
    FLIP_MET,    /* somebody else has done something about its object */
    FLIP_ALL     /* nobody else can go on */
};

struct flip {
    struct strategy s;
    const struct program *program;
    const struct history *h;
    struct flip_draws *draws;
    uint32_t *order; /* goids, in the order that is wanted */
    bool *done;
    size_t count;
    int32_t first, second; /* rows; first ROW_NONE: as it was */
    int32_t at_second;     /* place of `second` in the order */
    enum flip_until until;
    struct history_row met; /* what somebody else did first meanwhile; op OP_NOP: nothing */
    uint32_t mets;
    uint32_t last; /* whose turn it was */
    bool released, begun;
    int32_t asked;       /* the draw that is another one now; ROW_NONE */
    bool pending, chose; /* that draw has just been answered; what came of it is known: */
    int64_t took;
    struct history *out; /* the same as h */
    const char *what;    /* the verdict that is looked into */
    uint64_t flips_max;
};

void flip_turn(struct flip *x, const struct turn_does *d);
/* Fills h->pair. */
void flip_all(struct flip *x, struct explored *e, struct history *h, struct flip_draws *draws,
              const char *what, uint64_t flips_max);

#endif
