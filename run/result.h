/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_RESULT_H
#define GMPSIM_RUN_RESULT_H

/* What one run of a scenario came to: filled by run/, checked by judge.c, printed by the command.
 * Everything it points to belongs to whoever ran the world and lives until run_free(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/api.h"
#include "scenarios/expect.h"
#include "sim/base/ending.h"
#include "sim/base/hist.h"

/* What many goroutines that had not ended have in common: a million of them are few kinds. */
struct run_g_kind {
    const char *group;  /* its group, or else the name of its function */
    const char *func;   /* of the current frame */
    const char *status; /* Go's word: "waiting", "runnable", "running", "syscall", ... */
    const char *reason; /* Go's wait reason, "" when it does not wait */
    uint32_t line;      /* of the scenario, 0: not known */
    bool blocked;       /* it waits, and neither a timer nor a descriptor will wake it */
    bool stranded;      /* ... and nobody who could is ever able to: it is leaked */
};

/* A goroutine of the program that had not ended when the world did. */
struct run_g {
    uint64_t goid;
    int64_t since_ns; /* waits since; virtual time */
    const struct run_g_kind *is;
};

struct run_span {
    const char *name;
    struct hist *latency; /* ns */
    uint64_t open;        /* began and did not end */
};

/* Sums over all goroutines of a group. */
struct run_group {
    const char *name;
    uint64_t created, exited;
    uint64_t running_ps, runnable_ps, waiting_ps, syscall_ps;
    struct hist *life; /* ns from go statement to end */
    struct hist *wait; /* ns from runnable to running, once per start */
};

/* A P is idle and a goroutine is runnable: no work is conserved meanwhile. Some of it is how Go is
 * (a goroutine in runnext, an M on its way up); lost and late wake-ups are seen here. */
struct idle_beside {
    uint64_t sum_ps, longest_ps;
};

struct run_result {
    enum world_end end;
    int kind;         /* enum finding_kind, FIND_NONE unless END_FINDING */
    const char *text; /* of the finding, limit or broken rule; "" otherwise */
    const char *out;  /* the program's prints */
    size_t out_size;
    const char *sched; /* SCHED lines */
    size_t sched_size;
    uint64_t now_ps;   /* makespan: virtual time at the end */
    bool virtual_time; /* its times and numbers are what a table of costs says */
    uint64_t voluntary, involuntary, steal_ps; /* as in host_stats */
    uint64_t stopped_ps;      /* real threads: the process was stopped from outside so long */
    uint64_t record_waits_ps; /* real threads waited so long for room for their records */
    uint64_t fingerprint;     /* 0 where runs do not repeat */
    uint64_t records;         /* events in the fingerprint */
    int32_t procs;            /* GOMAXPROCS at the end */
    uint64_t counters[COUNTER_COUNT];
    struct run_g *gs; /* not ended; by goid */
    size_t ngs;
    int32_t stranded;       /* of them, those that nobody can ever wake */
    struct run_span *spans; /* as many as the program names */
    size_t nspans;
    struct run_group *groups; /* those that had goroutines */
    size_t ngroups;
    struct hist *runq_wait; /* ns, all goroutines */
    uint64_t p_ps[PC_COUNT];
    struct idle_beside beside;
    uint64_t runnable_max, runnable_area; /* runnable goroutines: highest, and sum of count * ns */
    uint64_t nr_periods, nr_throttled, throttled_ps, cpu_ps;
    uint32_t threads;
};

/* The verdict in one or two words: "finished", "deadlock", "panic", ... */
const char *run_verdict(const struct run_result *r);

#endif
