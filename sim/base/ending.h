/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_ENDING_H
#define GMPSIM_SIM_BASE_ENDING_H

/* How a world ended, and who said so: the same words on every host. */

#include <stdint.h>

#include "sim/base/fail.h"

enum world_end {
    END_STOPPED,  /* host_stop: the program ended */
    END_DONE,     /* every thread ended */
    END_IDLE,     /* threads wait and nothing will ever wake one */
    END_TIME,     /* the clock reached the limit */
    END_FINDING,  /* finding(): see the verdict */
    END_LIMIT,    /* a stated limit was crossed: memory, threads, steps of an exploration ... */
    END_THROWN,   /* throw(), or a broken invariant: the simulator's own fault */
    END_RECORDED, /* of no world: a recording of something else ended */
    WORLD_ENDS
};

/* After END_FINDING or END_THROWN. */
struct world_verdict {
    int kind;         /* as given to finding() */
    const char *text; /* as given; lives as long as the world */
    int32_t m;        /* the M that said so, -1: the environment or the host */
    uint64_t at_ps;
    struct throw_site site; /* of a throw */
};

/* For people: "finished", "time limit", "internal error", ... */
const char *world_end_name(enum world_end end);

#endif
