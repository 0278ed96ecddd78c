/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_STARVED_H
#define GMPSIM_SEARCH_STARVED_H

/* Who starves among operations. A run that comes to its limit of points goes on fairly
 * (ex_go_fairly): each thread as virtual time has it, so that nobody is passed over by a schedule's
 * whim. Who could have gone on at the limit, and by the end of that long stretch has begun no
 * instruction, computed nothing and not been let run anew, though he still could, starves by what
 * the program or the scheduler does. */

#include "run/window.h"

struct starved {
    const struct program *program;
    uint64_t goid[LOOK_RUNNABLE_MAX]; /* who has not got on yet */
    uint32_t count, all;              /* all: at the limit */
    bool others;                      /* somebody has */
};

/* Of the explorer's world, at its limit. False: nobody there to be looked at. Else it goes on. */
bool starved_begin(struct starved *s, const struct program *p);
/* Afterwards: "starvation" or "livelock", and its words; NULL: neither. */
const char *starved_judge(const struct starved *s, const struct run_result *r, char *buf,
                          size_t size);

/* "goroutine 7 in worker at line 12", behind what stands before it; gives how long it is. */
size_t say_goroutine(const struct run_g *g, const char *before, char *buf, size_t size);

#endif
