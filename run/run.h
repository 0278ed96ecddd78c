/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_RUN_H
#define GMPSIM_RUN_RUN_H

/* One run of a program on one of the hosts, from options to a result.
 *
 * run_start, then run_to any number of times, then run_end and, when the result was read,
 * run_free. One run per process at a time (there is one world). run_all does the lot. */

#include "model/profile.h"
#include "run/result.h"
#include "scenarios/scenario.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"
#include "sim/base/text.h"
#include "sim/traced/traced.h"
#include "run/analysis.h"
#include "run/attribution.h"
#include "run/host.h"
#include "run/names.h"
#include "run/transitions.h"

/* About six million goroutines; a runaway program is stopped within half a minute. */
#define RUN_MEMORY_DEFAULT (INT64_C(2) << 30)
/* What a program prints is kept until the run is judged. */
#define RUN_OUTPUT_MAX (UINT64_C(64) << 20)

struct run_opts {
    const struct host *host; /* NULL: virtual time */
    struct profile profile;
    const struct program *program;
    int32_t procs; /* 0: the release's default */
    int32_t cpus;  /* 0: dedicated */
    int64_t quota_us, period_us;
    const struct scenario_quota *quotas; /* changes of it; who sets quota_us anew drops them */
    int nquotas;
    uint64_t seed;
    int64_t until_ns;      /* 0: an hour */
    int64_t memory_max;    /* of the world, bytes; 0: RUN_MEMORY_DEFAULT */
    int64_t warmup_ns;     /* what began before it does not count in the result; 0: all does */
    int64_t schedtrace_ns; /* 0: none */
    bool scheddetail;
    bool attribution;          /* where the time of spans went: struct run_span's `went` */
    bool no_analysis;          /* records off: the fastest run; times and spans stay empty */
    const struct costs *costs; /* NULL: the built-in table */
    int port;                  /* enum cost_port */
    bool ties_by_seed;         /* else by id */
    bool fifo;                 /* CPUs: first come, first served */
    uint32_t noise_permille;   /* of the measured noise of the cost table; 1000: all of it */
    bool records_cost;         /* a record takes what the cost table says, as on a real machine */
    bool plants; /* breaks an invariant on purpose, as soon after this time as it can */
    enum core_plant plant;
    uint64_t plant_ps;
    bool output_passes; /* prints go to `print` alone, however many; else the result keeps them */
    /* All may be NULL. */
    void (*print)(void *arg, const char *text, size_t size);
    void (*sched_line)(void *arg, const char *text, size_t size);
    const struct traced_to *traced;     /* hears of every atomic operation; the run is the same */
    const struct host_explore *explore; /* host_explore: who answers, and under which memory */
    const struct host_threads *threads; /* host_real */
    event_sink_fn *sink;                /* sees every batch of records after the analysis */
    void (*listen)(void *arg, struct transitions *t); /* before the first batch */
    bool moves; /* records of moves between queues too, where the host makes them */
    void *arg;
};

struct run {
    struct run_opts opts;
    struct naming names;
    struct transitions transitions;
    struct analysis analysis;
    struct attribution attribution;
    struct run_result result;
    struct text_kept out, sched; /* what the program printed; SCHED lines */
    enum world_end why;
    struct host_quota quotas[SCENARIO_QUOTAS_MAX];
    uint64_t check_at; /* when the invariants are looked at next, ps */
    uint64_t good_ops; /* of a traced run: operations up to the last look that found nothing */
    uint64_t warm_at;  /* when the warm-up ends, ps; UINT64_MAX: it has */
    struct run_tallies {
        uint64_t counters[COUNTER_COUNT];
        uint64_t nr_periods, nr_throttled, throttled_ps;
    } before;           /* as they were when it ended */
    uint64_t plant_at;  /* when a plant is tried next, ps */
    const char *broken; /* which invariant was, when a look found one */
    bool weakened;      /* a switch is not as its release has it: such a break is a finding */
    bool deaf;          /* records are dropped: there is no memory for what they come to */
    bool ended, has_world;
    char text[1 << 16];
};

/* One quota from begin to end. */
void run_set_quota(struct run_opts *o, int64_t quota_us);

/* From a scenario: its profile (or `release` if not 0), machine and seed; all may be changed. */
bool run_opts_of(struct failure *f, const struct scenario *s, int release, struct run_opts *o);
/* True: no world can be made with this profile, f says why. */
bool run_rules_refused(struct failure *f, const struct profile *p);

bool run_start(struct failure *f, struct run *r, const struct run_opts *o);
/* True: the world stands at this time. False: it has ended before. */
bool run_to(struct run *r, uint64_t until_ps);
/* Of a run whose host tells operations one by one: up to its operation `number`, from 1, or to
 * where a listener says run_stop_now. False: it has ended before. */
bool run_after_op(struct run *r, uint64_t number);
/* From a listener: stop when the plain code that is under way is done. */
void run_stop_now(void);
/* The run stands where a listener or run_after_op stopped it. */
bool run_stopped(void);
/* The world's clock. */
uint64_t run_now_ps(void);
/* Fills r->result; the world is still there to look at (window.h). */
void run_end(struct run *r);
/* The world goes, the result stays: the next run may start. run_free does it if nobody did. */
void run_free_world(struct run *r);
void run_free(struct run *r);
/* For the handler of x_on_failure: a world that runs ends as at any limit, and this does not come
 * back; else nothing. */
void run_no_memory(void);

bool run_all(struct failure *f, struct run *r, const struct run_opts *o);

/* An invariant broke, by the simulator's own fault or under a changed rule. */
bool run_is_broken(const struct run_result *r);

/* Exit status of the command for this result, expectations of a scenario left out. */
int run_exit_code(const struct run_result *r);

#endif
