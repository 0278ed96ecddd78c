/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OSMEASURE_H
#define GMPSIM_CLI_OSMEASURE_H

/* What waking a thread costs on this machine, now: it differs by a factor of ten between machines,
 * and a replay of what was recorded here stands and falls with it. Takes about 60 ms. */

#include <stdbool.h>
#include <stdint.h>

struct osmeasure {
    int64_t futex_wake_ns;   /* of whoever wakes a sleeper: the call */
    int64_t wake_latency_ns; /* from its end until the woken one runs, its CPU idle for a moment */
    int64_t wake_deep_ns;    /* ... idle for long: so much more */
    int64_t deep_after_ns;   /* what long is */
    int64_t sleep_late_ns;   /* a sleep of 200 us is over so much too late */
    int64_t pause_ps;        /* the instruction that spinning is made of; 0: not measured */
    int cpus;                /* that this process may use */
};

/* False: there is one CPU only, or no threads: everything is 0 but cpus. */
bool os_measure(struct osmeasure *m);

#endif
