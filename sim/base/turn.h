/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_TURN_H
#define GMPSIM_SIM_BASE_TURN_H

/* Turns: whose goroutine's turn it is, on a host that decides among goroutines (docs/host.md). A
 * turn is one instruction that others can see, and all that the goroutine does until the next one.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    TURN_MAX = 64,        /* goroutines that are offered at once */
    TURN_OBJECTS_MAX = 8, /* that one instruction is known by */
    TURN_CLOCK = -1       /* the answer that nobody goes on until the next timed event */
};

/* Objects that have no handle. */
enum turn_object {
    TURN_OBJECT_ALL = -1,     /* whatever it may be */
    TURN_OBJECT_CLOCK = -2,   /* time, timers, descriptors */
    TURN_OBJECT_CONTEXT = -3, /* any context and its channel */
    TURN_OBJECT_OUTPUT = -4,
    TURN_OBJECT_WORLD = -5, /* the collector, GOMAXPROCS, the number of goroutines */
};

/* What a goroutine is about to do. */
struct turn_does {
    uint64_t turn; /* its number in the run, from 1; the host's */
    uint32_t goid;
    uint32_t pc; /* of the instruction */
    uint16_t op;
    bool known;                       /* false: it starts or goes on with something else first */
    bool resumes;                     /* the second half of an instruction that had to wait */
    bool reads;                       /* changes nothing that others can see */
    uint8_t count;                    /* of objects; 0: nobody else's business */
    int32_t object[TURN_OBJECTS_MAX]; /* handles, or enum turn_object */
};

struct turn {
    uint32_t count;
    bool preempts;    /* the first one runs, and could go on */
    int64_t timer_at; /* ns: the model's earliest timer, 0: none */
    uint32_t goid[TURN_MAX];
    /* Fills in what goroutine `index` is about to do; only while the question is asked. */
    void (*look)(const struct turn *t, uint32_t index, struct turn_does *out);
    void *g[TURN_MAX]; /* the model's */
};

/* May it matter which of the two comes first? What is not known matters always. */
bool turn_conflicts(const struct turn_does *a, const struct turn_does *b);

#endif
