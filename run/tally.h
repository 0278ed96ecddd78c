/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_TALLY_H
#define GMPSIM_RUN_TALLY_H

/* What the program's goroutines did, counted in the same way whatever the source: a run in virtual
 * time, one on real threads, or a trace of real Go. A listener (transitions.h). The runtime's own
 * goroutines do not count, nor those that write a trace. */

#include "run/transitions.h"
#include "sim/base/arena.h"
#include "sim/base/fail.h"
#include "sim/base/hist.h"

struct tally {
    const struct transitions *of;
    struct arena arena;
    struct hist wait;  /* ns, runnable to running, once per start */
    struct hist wake;  /* ns, of them those that had waited: from the wake on */
    uint64_t switches; /* starts */
    uint64_t parks, wakes, created;
    uint64_t preempted; /* their slice was over */
    uint64_t yielded;   /* Gosched */
    uint64_t taken;     /* ran on another P than that of who made them runnable */
    uint64_t running_ps;
    uint64_t began_ps; /* main.main did; what was before is the runtime's, and not counted */
    bool starting;     /* it has not yet */
    uint64_t tick_ps;  /* of the clock that times are read from; 0: any instant */
    uint32_t init_pc;  /* where the runtime's own part of main waits; EVENT_NO_PC: nowhere yet */
};

enum { TALLY_MAIN = 1 }; /* the goroutine that runs the runtime's main, then the program's */

/* from_start: the source tells of the runtime's start, too. */
bool tally_init(struct tally *c, struct transitions *t, bool from_start, struct failure *f);
void tally_release(struct tally *c);

#endif
