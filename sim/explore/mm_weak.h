/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_MM_WEAK_H
#define GMPSIM_EXPLORE_MM_WEAK_H

/* What the weak memories keep, for mm_weak.c and for who asks whether two states are the same
 * (mm_same.c). */

#include "sim/explore/mm.h"

struct msg {
    uint64_t stamp, value;
    uint64_t sealed;       /* arm64: nothing of this location may come between stamp and sealed */
    uint32_t prev, next;   /* of the location */
    uint32_t older, newer; /* of the timeline; initial values are not on it */
    uint32_t view_len;     /* ppc64: locations in its view */
    bool locked;           /* the next message is the write of a read-modify-write that read this */
};

struct loc {
    void *addr;
    uint32_t first, last, count;
    unsigned size;
};

struct arm_thread {
    uint64_t r_old, w_old; /* latest seen, latest written */
    uint64_t r_new, w_new; /* later reads, writes come after this */
    uint64_t rel;          /* latest store-release: load-acquires come after it */
    uint64_t cap;          /* control dependencies: stores come after it */
};

struct arm_loc { /* of one thread at one location */
    uint64_t coh;
    uint64_t fwd, fwd_view; /* own latest store, and the view that a load forwarded from it has */
};

struct map {
    uint64_t at[MM_POWER_LOCS_MAX];
};

struct power_thread {
    struct map floor;   /* V: loads see nothing older */
    struct map bound;   /* P: stores carry it and come after it; floor <= bound */
    struct map seen;    /* C: own coherence */
    uint64_t bound_max; /* the latest stamp of bound */
};

struct weak {
    uint32_t generation, locs, msgs, free_msg, oldest, newest, threads;
    uint64_t last_stamp;
};

OWN_DATA struct weak weak;
OWN_DATA struct loc weak_locs[MM_LOCS_MAX];
OWN_DATA struct msg weak_msgs[MM_MSGS_MAX]; /* 0 is no message */
OWN_DATA struct arm_thread weak_arm[MM_THREADS_MAX];
OWN_DATA struct arm_loc weak_arm_loc[MM_LOCS_MAX][MM_THREADS_MAX];
OWN_DATA struct power_thread weak_power[MM_THREADS_MAX];
OWN_DATA struct map weak_sync_map;
OWN_DATA struct map *weak_views; /* of messages; mapped at first use */

static inline uint64_t max2(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Loads of a thread see nothing older. */
static inline uint64_t power_read_bound(int tid, uint32_t l)
{
    return max2(weak_power[tid].seen.at[l], weak_power[tid].floor.at[l]);
}

#endif
