/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_SIDECAR_H
#define GMPSIM_REPLAY_SIDECAR_H

/* What lies beside a trace that `gmpsim record` made, in TRACE.gmpsim.json: what a trace does not
 * hold. Whoever has no such file gets zeros, and says so. */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/fail.h"

struct sidecar {
    char go[100]; /* "go1.26.1" */
    char kernel[140], command[1000], cpu_stat[1000];
    int32_t procs; /* asked for; 0: the program's own */
    int cpus, threads;
    bool deep;
    int64_t futex_wake_ns, wake_latency_ns, wake_deep_ns, deep_after_ns, sleep_late_ns;
    int64_t pause_ps; /* 0: not known */
    int64_t thread_run_ns,
        thread_wait_ns; /* of all threads together: on a CPU; ready without one */
};

/* Its fields, for who prints them; the caller deletes it. */
cJSON *sidecar_json(const struct sidecar *s);
bool sidecar_write(struct failure *f, const char *trace, const struct sidecar *s);
/* False: there is none (f is as it was), or f says what is wrong with it. */
bool sidecar_read(struct failure *f, const char *trace, struct sidecar *s);

#endif
