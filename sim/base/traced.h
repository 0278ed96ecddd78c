/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_TRACED_H
#define GMPSIM_SIM_BASE_TRACED_H

/* An atomic operation, as the hosts tell it that tell each one (sim/traced, sim/explore). */

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/event.h"
#include "sim/base/race.h"

enum traced_value { TRACED_UNSIGNED, TRACED_SIGNED, TRACED_POINTER };

struct traced_site {
    const char *file, *func;
    uint32_t line;
    const char *verb;  /* load, store, cas, xchg, xchg8, add, or, and */
    const char *order; /* as Go declares it: sc, acq, rel, rlx (a plain access in Go) */
    const char *field; /* as the source says it: "&pp->runqhead" */
    enum traced_value value;
};

struct traced_op {
    uint64_t number; /* from 1 */
    uint64_t time_ps;
    uint16_t m, p; /* EVENT_NO_M, EVENT_NO_P */
    const struct traced_site *site;
    const void *addr;
    uint64_t before, after;
    uint64_t wanted; /* cas: the value that it compares with */
    bool done;       /* false: a cas that failed */
};

/* Any may be NULL. Called on an M's stack, between two points. in_order: a record waits until
 * nothing can come before it, so that operations and records together are in the order of (time, M,
 * sequence); else it comes when it is made, by an M that may be ahead of the others. */
struct traced_to {
    void (*op)(void *arg, const struct traced_op *op);
    void (*event)(void *arg, const struct event_rec *rec);
    /* What orders goroutines (race.h), as it happens; m: the M that says so. */
    void (*order)(void *arg, uint16_t m, enum race_edge op, uint32_t goid, uint64_t with);
    void *arg;
    bool in_order;
};

/* How a value of this type reads; 5 is what GCC and clang call the class of pointers. */
#define TRACED_VALUE(v)                                                  \
    (__builtin_classify_type(v) == 5 ? TRACED_POINTER                    \
                                     : _Generic((v), int32_t             \
                                                : TRACED_SIGNED, int64_t \
                                                : TRACED_SIGNED, default \
                                                : TRACED_UNSIGNED))

#endif
