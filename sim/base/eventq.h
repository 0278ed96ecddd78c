/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENTQ_H
#define GMPSIM_SIM_BASE_EVENTQ_H

/* The queue of future events, in exact order of (time, seq).
 *
 * The caller chooses seq (an M's id, or a counter) and keeps (time, seq) unique among the pending
 * events; then the order is total and the same everywhere. Time never goes back: pushing before the
 * time of the last event taken is a throw(). Memory comes from the arena, in chunks that are used
 * again; one thread at a time. How it works: eventq.c. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"

struct event {
    uint64_t time;
    uint64_t seq;
    uint64_t payload;
    uint32_t handle;
    uint32_t next; /* the queue's own */
};

/* What the sorted front holds in place of an event. */
struct eventq_entry {
    uint64_t time;
    uint64_t node; /* index of the event */
};

enum { EVENTQ_NEAR_MAX = 32 };

struct eventq {
    uint32_t near_count;
    uint32_t count;               /* live events */
    uint64_t last_time, last_seq; /* near holds exactly the events up to this key */
    uint64_t floor;               /* time of the last event taken */
    struct event *nodes;
    uint32_t free_head, nodes_count, nodes_max;
    uint32_t dead;              /* cancelled, still stored */
    struct eventq_wheel *wheel; /* made when near overflows for the first time */
    struct arena *arena;
    struct eventq_entry near[EVENTQ_NEAR_MAX]; /* descending: the first to come is the last */
};

void eventq_init(struct eventq *q, struct arena *a);

static inline uint32_t eventq_count(const struct eventq *q) { return q->count; }

/* The handle (never 0) is for eventq_cancel, which says whether the event was still pending. It is
 * dead once the event was taken or cancelled, and stays so for the next 2^10 uses of its index. */
uint32_t eventq_push(struct eventq *q, uint64_t time, uint64_t seq, uint64_t payload);
bool eventq_cancel(struct eventq *q, uint32_t handle);

/* Time of the first event, UINT64_MAX when empty: the horizon. */
uint64_t eventq_next_time(struct eventq *q);

/* Takes the first event. false when empty. */
bool eventq_pop(struct eventq *q, struct event *out);

#endif
