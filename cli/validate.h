/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_VALIDATE_H
#define GMPSIM_CLI_VALIDATE_H

/* gmpsim validate: one program in virtual time, on real threads, and as Go program, measured beside
 * each other.
 *
 *   validate.c       options, what is to be run, in which order
 *   validate_take.c  one run of one source, as numbers
 *   validate_go.c    Go: which release, build, run, what the program says of itself
 *   validate_show.c  medians, distances, tables, JSON
 *   validate_plot.c  distributions as a picture */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenarios/scenario.h"
#include "store/costs_json.h"

/* METRIC(name, unit: 't' ns, 'n' a number, 'p' a permille; what it is) */
#define VALIDATE_METRICS(METRIC)                                                                \
    METRIC(makespan, 't', "from the begin of main.main to the end")                             \
    METRIC(cpu, 't', "CPU time of all threads, meanwhile")                                      \
    METRIC(watched, 't', "the makespan of the run in which goroutines were watched")            \
    METRIC(rate, 'n', "goroutines put on a thread, a second")                                   \
    METRIC(switches, 'n', "goroutines put on a thread")                                         \
    METRIC(parks, 'n', "goroutines that began to wait")                                         \
    METRIC(wakes, 'n', "goroutines that were woken")                                            \
    METRIC(created, 'n', "goroutines made")                                                     \
    METRIC(preempted, 'n', "goroutines whose slice was over")                                   \
    METRIC(yielded, 'n', "Gosched")                                                             \
    METRIC(taken, 'n', "goroutines that ran on another P than who made them runnable")          \
    METRIC(steals, 'n', "times that a P stole")                                                 \
    METRIC(stolen, 'n', "goroutines stolen")                                                    \
    METRIC(stolen_runnext, 'n', "... from runnext")                                             \
    METRIC(spins, 'n', "times a thread began to look for work")                                 \
    METRIC(thread_parks, 'n', "times a thread went to sleep for want of work")                  \
    METRIC(thread_wakes, 'n', "times a thread was woken to look for work")                      \
    METRIC(threads, 'n', "threads")                                                             \
    METRIC(running, 't', "goroutines ran, in all")                                              \
    METRIC(idle, 't', "Ps idle, in all")                                                        \
    METRIC(beside, 't', "a P idle beside a runnable goroutine, in all")                         \
    METRIC(beside_longest, 't', "... at a time")                                                \
    METRIC(wait_p50, 't', "wait in run queues")                                                 \
    METRIC(wait_p99, 't', "")                                                                   \
    METRIC(wake_p50, 't', "from a wake to running")                                             \
    METRIC(wake_p99, 't', "")                                                                   \
    METRIC(metrics_p50, 't', "wait in run queues by Go's runtime/metrics, one of 8 goroutines") \
    METRIC(metrics_p99, 't', "")                                                                \
    METRIC(startup, 't', "of the runtime, before main.main; in no other row")                   \
    METRIC(burst, 'p', "CPU time of bursts of 100us, over 100us")

enum metric {
#define METRIC(name, unit, what) V_##name,
    VALIDATE_METRICS(METRIC)
#undef METRIC
        V_COUNT
};

enum waits { D_WAIT, D_WAKE, D_COUNT };

enum { QUANTILES = 1000, WHY_MAX = 240, RUNS_MAX = 1000 };

/* What one run came to. Values that it does not know are NAN. */
struct taken {
    double value[V_COUNT];
    uint64_t count[D_COUNT];
    int64_t quantile[D_COUNT][QUANTILES]; /* ns, in the middle of each thousandth */
    char why[WHY_MAX];                    /* not "": nothing came of it */
};

struct go_tool {
    const char *path;
    char version[64]; /* "go1.23.5" */
    int release;
};

/* Each source is run twice: as it is, and with somebody who watches, which takes time. */
enum part {
    P_VIRTUAL,
    P_VIRTUAL_SEEN,
    P_VIRTUAL_GO,
    P_VIRTUAL_GO_SEEN,
    P_THREADS,
    P_THREADS_SEEN,
    P_GO,
    P_GO_SEEN,
    P_COUNT
};
enum source { S_VIRTUAL, S_THREADS, S_VIRTUAL_GO, S_GO, S_COUNT };

/* One program on one machine by the rules of one release. */
struct comparison {
    const char *path;
    struct scenario *scenario;
    int32_t procs, cpus;
    int release;
    const struct go_tool *go;    /* NULL: none, or none that can be compared */
    char program[4096];          /* that it built */
    char note[WHY_MAX];          /* why there is no Go; "" */
    struct taken *runs[P_COUNT]; /* NULL: the part is not run */
    char skipped[WHY_MAX];       /* not "": nothing can be said */
};

struct validation {
    struct comparison *of;
    size_t count;
    int nruns;
    uint64_t seed;
    int64_t until_ns;
    const struct cost_table *costs, *costs_go; /* NULL: the built-in table, costs */
    double max_error;                          /* percent; below 0: none */
    bool quiet;
    int cpu_permille; /* of the CPUs that this command and its programs could have had */
};

/* ---- validate_take.c ---- */

/* In a child process. false: it could not even be tried, a message is on stderr. */
bool take_part(const struct validation *v, const struct comparison *c, enum part part, int run,
               struct taken *to);
struct run_result;
struct tally;
/* What was counted of transitions, whatever their source. */
void take_tally(struct tally *c, const struct run_result *q, struct taken *to);

/* ---- validate_go.c ---- */

/* Dies. */
void go_ask(struct go_tool *go, const char *path);
/* Builds c->program in the folder, unless it is there. Dies. */
void go_build(struct comparison *c, const char *folder);
void go_take(const struct validation *v, const struct comparison *c, bool seen, int run,
             struct taken *to);
/* A folder of programs, with all that is in it. */
void go_remove(const char *folder);

/* ---- validate_show.c ---- */

/* The median of the n runs that know the value, and the bounds that it is within with 95 %. */
struct middle {
    double median, low, high;
    int n;
};
struct middle middle_of(const struct validation *v, const struct comparison *c, enum source s,
                        enum metric m);
/* Of the pooled distributions; NAN where one has none. */
double distance(const struct validation *v, const struct comparison *c, enum waits d, enum source a,
                enum source b);
enum source reference_of(const struct comparison *c, enum source s);
bool has_source(const struct comparison *c, enum source s);
const struct taken *seen_of(const struct comparison *c, enum source s);

void validate_text(const struct validation *v);
void validate_json(const struct validation *v);
/* No makespan is off by more than was allowed. */
bool validate_holds(const struct validation *v);

/* ---- validate_plot.c ---- */

/* Dies. */
void validate_plot(const struct validation *v, const char *path);

#endif
