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
#include "sim/base/race.h"

/* What many goroutines that had not ended have in common: a million of them are few kinds. */
struct run_g_kind {
    const char *group;  /* its group, or else the name of its function */
    const char *func;   /* of the current frame */
    const char *status; /* Go's word: "waiting", "runnable", "running", "syscall", ... */
    const char *reason; /* Go's wait reason, "" when it does not wait */
    uint32_t line;      /* of the scenario, 0: not known */
    bool blocked;       /* it waits, and neither a timer nor a descriptor will wake it */
    bool stranded;      /* ... and nobody will ever be able to: it is leaked */
};

/* A goroutine of the program that had not ended when the world did. */
struct run_g {
    uint64_t goid;
    int64_t since_ns; /* waits since; virtual time */
    int64_t channel;  /* waits for this object of the program, a channel; -1 */
    const char *site; /* of a recorded goroutine: where it was; "" */
    const struct run_g_kind *is;
};

/* What the time of a span goes into. */
enum span_part {
    SP_RUNNING,
    SP_QUEUE,     /* runnable */
    SP_THROTTLED, /* running or runnable, on a P that is throttled */
    SP_NOCPU,     /* ... whose thread has no CPU */
    SP_LOCK,
    SP_CHANNEL, /* and select */
    SP_GROUP,   /* WaitGroup, Cond */
    SP_TIMER,
    SP_NETWORK,
    SP_SYSCALL,
    SP_ASSIST, /* work for the collector, and waits for it */
    SP_STOP,   /* the world was stopped */
    SP_BEFORE, /* from when it began, as it says, until somebody took it up */
    SP_HANDED, /* on its way from the goroutine that began it to the one that ended it */
    SP_OTHER,
    SP_COUNT
};
extern const char *const span_part_names[SP_COUNT]; /* "running", "run queue", ... */

/* Whose doing some of a span's time was. */
struct run_blame {
    enum span_part part;
    const char *who;    /* group: ran before it in the queue, or ended the wait; NULL: nobody */
    const char *object; /* that it waited on; NULL: it has no name */
    uint32_t line;      /* where it waited; 0: not known */
    const char *place;  /* ... in words; NULL: the line says it */
    uint64_t ps;
};

enum { BLAMES_MAX = 8 };

/* Where the time of the slow ones went: those from about the 99th percentile on. */
struct run_attribution {
    uint64_t count, slow;
    uint64_t all_ps[SP_COUNT], slow_ps[SP_COUNT];
    struct run_blame blames[BLAMES_MAX]; /* of the slow ones, longest first */
    int nblames;
};

struct run_span {
    const char *name;
    struct hist *latency; /* ns */
    struct hist *open;    /* of those that began and did not end: for how long now, ns */
    struct run_attribution went;
};

/* Sums over all goroutines of a group. */
struct run_group {
    const char *name;
    uint64_t created, exited;
    uint64_t running_ps, runnable_ps, waiting_ps, syscall_ps;
    struct hist *life; /* ns from go statement to end */
    struct hist *wait; /* ns from runnable to running, once per start */
};

/* A P is idle and a goroutine is runnable: work is not conserved meanwhile. Some of it is how Go is
 * (a goroutine in runnext, an M on its way up); lost and late wake-ups are seen here. */
struct idle_beside {
    uint64_t sum_ps, longest_ps;
};

/* Who of the program's goroutines was runnable for longest without running. */
struct run_starved {
    uint64_t goid; /* 0: nobody was runnable */
    const char *group;
    uint64_t since_ps, ps;
    uint8_t place; /* enum ev_place */
    uint16_t p;
    bool still; /* it had not run when the run ended */
};

/* Go's own bound: the global queue is looked at in every 61st round, and a round may last for a
 * slice of 10 ms. So long for each of those that are runnable at once. */
#define STARVED_PS (UINT64_C(61) * 10 * 1000000000)

struct run_result {
    enum world_end end;
    int kind;            /* enum finding_kind, FIND_NONE unless END_FINDING */
    int64_t exit_status; /* of FIND_EXIT; else 0 */
    const char *text;    /* of the finding, limit or broken rule; "" otherwise */
    const char *out;     /* the program's prints */
    size_t out_size;
    const char *sched; /* SCHED lines */
    size_t sched_size;
    uint64_t now_ps;    /* makespan: virtual time at the end */
    uint64_t warmup_ps; /* spans, histograms, sums and tallies are of what came after it */
    bool tallies_whole; /* counters and quota are of the whole run: threads stop for no warm-up */
    bool virtual_time;  /* its times and numbers are what a table of costs says */
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
    struct run_starved starved;
    uint64_t runnable_max, runnable_area; /* runnable goroutines: highest, and sum of count * ns */
    uint64_t nr_periods, nr_throttled, throttled_ps, cpu_ps;
    uint64_t main_ps, main_cpu_ps; /* when main.main began, and CPU time until then; 0: not known */
    uint64_t *p_cpu_ps;            /* real threads: measured CPU time of each P; else NULL */
    int32_t np_cpu;
    uint32_t threads;
    bool may_be_late;  /* the schedule may hold up who could go on */
    bool races_sought; /* data races were looked for: */
    const struct race_report *races;
    uint32_t nraces;
    const struct program *program; /* names what the races are about; NULL without any */
};

/* Seconds over which things were counted: from the warm-up to the end. */
double run_seconds(const struct run_result *r);
/* Of so many: how many a second. */
double run_rate(const struct run_result *r, uint64_t count);
/* The verdict in one or two words: "finished", "deadlock", "panic", ... */
const char *run_verdict(const struct run_result *r);
/* Did somebody wait for longer than STARVED_PS allows? Only where time and CPUs are the program's
 * own. */
bool run_is_starved(const struct run_result *r);

#endif
