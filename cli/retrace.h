/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_RETRACE_H
#define GMPSIM_CLI_RETRACE_H

/* gmpsim replay of a recorded trace, and traces wherever a scenario is taken. */

#include "cli/axes.h"
#include "cli/machine.h"
#include "replay/replay.h"
#include "replay/trust.h"

struct retrace_args {
    struct machine m;
    struct run_opts o;
    struct replay rp;
    const char *window, *without;
    int64_t event_ns, wake_ns;
    bool json, anyway;
};

/* Lines for an option table, behind those of the machine. */
#define RETRACE_OPTS(a)                                                                         \
    {"window", "REGION", "only what happened in a region of that name", OPT_TEXT, &(a).window}, \
        {"without", "PASSES", "leave these conclusions out: sleeps,network ...", OPT_TEXT,      \
         &(a).without},                                                                         \
        {"event-cost", "TIME", "what an event of the tracer took (default 110ns)", OPT_TIME,    \
         &(a).event_ns},                                                                        \
    {                                                                                           \
        "wake-cost", "TIME", "what starting an idle P took of running time (default 4.3us)",    \
            OPT_TIME, &(a).wake_ns                                                              \
    }

/* By its first bytes. */
bool is_trace(const char *path);
/* A trace as a scenario, with every conclusion; dies of mistakes. *costs: those of the machine that
 * it was recorded on, as far as they are known. */
struct scenario *retrace_scenario(const char *path, struct costs *costs);
int replay_trace(struct retrace_args *a, const char *path);

/* For a grid of settings, if the file is a trace: says on standard error what answers about it
 * stand on; dies if they would be worthless, unless anyway. */
void retrace_trust(const char *path, const struct axis *procs, bool anyway);

#endif
