/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_EXPECT_H
#define GMPSIM_SCENARIOS_EXPECT_H

/* What must hold at the end of a run, as the scenario says it. expect.c compiles it; whoever has a
 * result judges by it (run/judge.h). */

#include "scenarios/scenario.h"

/* What a P did with its time. */
enum p_class {
    PC_USER,      /* ran the program's goroutines */
    PC_SCHED,     /* was in the scheduler, not spinning */
    PC_SPIN,      /* looked for work */
    PC_GC,        /* ran goroutines of the runtime, or assisted the collector */
    PC_SYSCALL,   /* its goroutine was in a system call and it was not taken away */
    PC_IDLE,      /* nobody had it */
    PC_THROTTLED, /* its M ran out of CPU quota */
    PC_NOCPU,     /* its M waited for a CPU */
    PC_COUNT
};
extern const char *const p_class_names[PC_COUNT + 1]; /* then NULL */

enum relation { REL_LT, REL_LE, REL_EQ, REL_GE, REL_GT };

struct condition {
    struct condition *next;
    const char *name; /* counter, or span */
    const char *stat; /* p50, p99, p99.9, max, count; NULL for a counter */
    const char *text; /* as in the file: "< 2ms" */
    enum relation rel;
    int64_t value;
};

struct blocked {
    struct blocked *next;
    const char *group, *reason;
    int64_t count;
};

/* What only virtual time can promise: elsewhere it is reported, not judged. */
enum expect_virtual {
    VIRTUAL_NOTHING,
    VIRTUAL_NUMBERS, /* counters, shares, times and SCHED lines; not exact counts of spans */
    VIRTUAL_ALL
};

struct expect {
    struct expect *next;
    enum expect_virtual in_virtual;
    bool on_time;   /* holds while nobody who could go on is late */
    bool one_order; /* holds for the order in which the scheduler takes goroutines, not for any */
    int profiles[SCENARIO_PROFILES_MAX];
    int nprofiles; /* 0: all */
    const char *end, *text, *output;
    struct lines {
        const char **line;
        size_t count;
    } order, sched; /* in this order, with others between */
    struct blocked *blocked;
    bool has_blocked;
    struct condition *counters, *ps, *spans, *runq_wait, *makespan, *starved, *throttled,
        *nr_throttled;
};

/* Is a run judged by what it prints? */
bool scenario_expects_output(const struct scenario *s);

#endif
