/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_SEGMENTS_H
#define GMPSIM_SEARCH_SEGMENTS_H

/* A schedule of operations as who went on for how many points, one after the other. An answer of
 * the log means another thread when somebody else is able; a segment means its thread. So segments
 * can be moved: two of one thread become one, and what lay between comes before or after. */

#include "sim/base/choose.h"

struct segment {
    uint32_t who; /* an option of CHOICE_THREAD or CHOICE_FLUSH, not an answer */
    uint32_t points;
};

struct segments {
    struct segment *list;
    size_t count, room;
    struct answer *others; /* all other answers, in order */
    size_t nothers, others_room;
};

void segments_reset(struct segments *s);
void segments_free(struct segments *s);
void segments_copy(struct segments *to, const struct segments *from);
/* The strategy's answer to this question. */
void segments_add(struct segments *s, const struct choice *c, uint32_t pick);
/* Segment `from` becomes part of segment `to`, of the same thread; those that then lie side by side
 * become one. */
void segments_join(struct segments *s, size_t from, size_t to);
/* The next one of the same thread; count: there is none. */
size_t segments_next(const struct segments *s, size_t at);

/* Lets the threads go on as the segments say; who cannot is passed over. */
struct strategy_segments {
    struct strategy s;
    const struct segments *of;
    size_t next, next_other;
    uint32_t done; /* points of segment `next` */
    bool begun;
};
void strategy_segments_init(struct strategy_segments *r, const struct segments *of);

#endif
