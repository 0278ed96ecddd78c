/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_H
#define GMPSIM_H

/* libgmpsim: the Go scheduler, simulated, from C or C++.
 *
 *     char why[GMPSIM_ERROR_MAX];
 *     gmpsim_scenario *s = gmpsim_scenario_open("service.json", why);
 *     gmpsim_run *r = gmpsim_run_new(s);
 *     gmpsim_run_set(r, "procs", 4);
 *     gmpsim_run_set_profile(r, "go1.22");
 *     if (gmpsim_run_go(r, why) == GMPSIM_OK)
 *         printf("p99 %lld ns\n", (long long)gmpsim_span_percentile(r, "request", 990000));
 *     gmpsim_run_free(r);
 *     gmpsim_scenario_free(s);
 *
 * The same scenario, settings and seed give the same result and fingerprint on every machine.
 *
 * Several scenarios and runs may exist at once. Calls may come from any thread, but an object is
 * for one thread at a time; one run goes at a time, others wait. Nothing here ends the process:
 * without memory a call is GMPSIM_BAD. NULL where an object or a name is wanted is GMPSIM_BAD, too,
 * or the answer "not there". A scenario must outlive its runs. Text that a function returns belongs
 * to the object and lives as long as it. Functions that can fail write a sentence to `error`: room
 * for GMPSIM_ERROR_MAX bytes, or NULL. Link with -lgmpsim; of the static library also -lcjson -lm
 * -lpthread. pkg-config and find_package know it as gmpsim. */

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__ /* all else of the library is hidden */
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

enum { GMPSIM_ERROR_MAX = 512 };

enum gmpsim_status {
    GMPSIM_OK = 0,
    GMPSIM_BAD = 2,   /* a mistake in the input or the settings, or a stated limit */
    GMPSIM_BROKEN = 3 /* the simulator broke one of its own rules */
};

typedef struct gmpsim_scenario gmpsim_scenario;
typedef struct gmpsim_run gmpsim_run;

/* "0.1.0" */
const char *gmpsim_version(void);

/* ---- scenarios: the JSON language of docs/scenarios.md ---- */

/* NULL after a mistake: file:line:column and what is wrong. */
gmpsim_scenario *gmpsim_scenario_open(const char *path, char *error);
/* name stands for the file in messages; text need not end with 0. */
gmpsim_scenario *gmpsim_scenario_parse(const char *name, const char *text, size_t size,
                                       char *error);
void gmpsim_scenario_free(gmpsim_scenario *s);
const char *gmpsim_scenario_name(const gmpsim_scenario *s);

/* ---- a run ---- */

/* With the settings of the scenario. NULL: no memory. */
gmpsim_run *gmpsim_run_new(const gmpsim_scenario *s);
void gmpsim_run_free(gmpsim_run *r);

/* Settings, before gmpsim_run_go. GMPSIM_BAD: no such name, or out of range.
 *
 *   procs       GOMAXPROCS; 0: the release's default
 *   cpus        of the machine; 0: every thread has its own
 *   quota_us    CPU time per period for the whole program, from begin to end; 0: no limit
 *   memory      bytes that the simulated world may take of the process, 1 MiB or more (2 GiB)
 *   period_us   of the quota (100000)
 *   until_ns    stop at this virtual time; 0: an hour
 *   seed        any value */
int gmpsim_run_set(gmpsim_run *r, const char *name, uint64_t value);
/* "go1.13" to "go1.27", "latest". Takes rules set before back to those of the scenario. */
int gmpsim_run_set_profile(gmpsim_run *r, const char *profile);
/* One rule of the profile, e.g. "needspinning", 0. */
int gmpsim_run_set_rule(gmpsim_run *r, const char *rule, int64_t value);

/* "virtual" (which it is from the start), or "threads": the same core on real threads. Time is the
 * wall's there, no run is like another, and gmpsim_run_go refuses what is about virtual time. The
 * process has one more thread per M then, and SIGURG is the run's. */
int gmpsim_run_set_host(gmpsim_run *r, const char *host);

/* Runs it. May be called again, also with other settings: results are those of the last time. */
int gmpsim_run_go(gmpsim_run *r, char *error);

/* ---- results, after gmpsim_run_go was GMPSIM_OK ---- */

/* "finished", "deadlock", "panic", "time limit", ...; "not run" before. */
const char *gmpsim_verdict(const gmpsim_run *r);
/* What Go would have said, "" if nothing. */
const char *gmpsim_text(const gmpsim_run *r);
/* 1: what the scenario expects holds; 0: gmpsim_complaints says, a line each, what does not. */
int gmpsim_as_expected(const gmpsim_run *r);
const char *gmpsim_complaints(const gmpsim_run *r);
/* What the program printed; may hold any bytes, and a 0 follows. */
const char *gmpsim_output(const gmpsim_run *r, size_t *size);

/* 0 on real threads. */
uint64_t gmpsim_fingerprint(const gmpsim_run *r);
int64_t gmpsim_makespan_ns(const gmpsim_run *r);
/* By the names that `gmpsim run` prints: "switches", "stolen", ... -1: no such counter. */
int64_t gmpsim_counter(const gmpsim_run *r, const char *name);
/* By class: "user", "scheduler", "spinning", "gc", "syscall", "idle", "throttled", "no cpu": ns of
 * all Ps together. -1: no such class. */
int64_t gmpsim_p_time_ns(const gmpsim_run *r, const char *name);

/* How many spans of that name ended. -1: the scenario has no such span. */
int64_t gmpsim_span_count(const gmpsim_run *r, const char *span);
/* ns at or below which ppm millionths of them lie (990000: p99; 0: the fastest; 1000000: the
 * slowest). -1: no such span, or none ended. */
int64_t gmpsim_span_percentile(gmpsim_run *r, const char *span, uint32_t ppm);

/* Goroutines of the program that had not ended. */
size_t gmpsim_left_count(const gmpsim_run *r);
typedef struct gmpsim_goroutine {
    uint64_t goid;
    const char *group;  /* or else the name of its function */
    const char *status; /* "waiting", "runnable", ... */
    const char *reason; /* Go's wait reason, "" when it does not wait */
    uint32_t line;      /* of the scenario, 0: not known */
    int blocked;        /* it waits, and no timer and no descriptor will wake it */
} gmpsim_goroutine;
/* index below gmpsim_left_count, else goid is 0. */
gmpsim_goroutine gmpsim_left(const gmpsim_run *r, size_t index);

/* ---- exploration: the schedules of a scenario searched for what must not happen ----
 *
 *     gmpsim_explore *x = gmpsim_explore_new(s);
 *     if (gmpsim_explore_go(x, why) == GMPSIM_OK && gmpsim_explore_found(x)) {
 *         puts(gmpsim_finding_page(x));
 *         gmpsim_schedule_save(x, "service.schedule", why);
 *     }
 *     gmpsim_explore_free(x);
 *
 * A finding is what the scenario's expect does not allow; where it is silent, any deadlock, leak,
 * panic, failed assertion or broken invariant (docs/exploration.md). The same settings find the
 * same. */

typedef struct gmpsim_explore gmpsim_explore;

/* NULL: no memory. A scenario must outlive it. */
gmpsim_explore *gmpsim_explore_new(const gmpsim_scenario *s);
void gmpsim_explore_free(gmpsim_explore *x);

/* Settings. GMPSIM_BAD: no such name, or out of range.
 *
 *   procs        GOMAXPROCS of op (the scenario's, or 1 to 4)
 *   runs         schedules per strategy, at most (2000, of op 200, or ten million points); 0: until
 *                a strategy comes to its end, if it has one
 *   for_ns       real time for all of it; 0: no limit
 *   seed         of strategies that draw (1)
 *   preemptions  of dfs: at most so many in a schedule (2)
 *   depth        of pct (3)
 *   max_steps    turns of one schedule; points, if granularity is "op" (100000)
 *   late_ns      ns, in all, by which those who could run may be late (500 ms)
 *   until_ns     a schedule ends at this virtual time; 0: the scenario's
 *   checks       1: the runtime's invariants before every point */
int gmpsim_explore_set(gmpsim_explore *x, const char *name, uint64_t value);
/*   strategy     "random", "pct", "pos", "surw", "fair", "dfs", "delay", "dpor", "states", "time",
 *                or several with commas; "" (the default): a slice of each, in ever longer rounds,
 *                as `gmpsim explore` does
 *   granularity  "sync" (goroutines take turns), "op" (operations of the runtime), "sync,op"; ""
 *                (the default): both, but "sync" if there is a strategy
 *   faults       what may go wrong, besides what the scenario says: "syscall=10s,spurious"
 *   memory       "sc", "tso", "arm64", "ppc64"; of op
 *   start        "settled", "time", "random"; of op
 *   profile      "go1.13" to "go1.27", "latest"; takes rules set before back */
int gmpsim_explore_set_text(gmpsim_explore *x, const char *name, const char *value);
int gmpsim_explore_set_rule(gmpsim_explore *x, const char *rule, int64_t value);

/* Searches, stops at the first finding and makes its schedule small. May be called again. */
int gmpsim_explore_go(gmpsim_explore *x, char *error);
/* Does the schedule of a file again, in place of a search. GMPSIM_BAD if the program, the profile
 * or the simulator is not the one that it was made with; `error` says what differs. */
int gmpsim_explore_replay(gmpsim_explore *x, const char *path, char *error);

/* 1: there is a finding. */
int gmpsim_explore_found(const gmpsim_explore *x);
/* 1: a strategy came to its end, and found nothing. */
int gmpsim_explore_exhausted(const gmpsim_explore *x);
uint64_t gmpsim_explore_schedules(const gmpsim_explore *x);
/* Where nothing was found: what was covered, a line for each kind of world. */
const char *gmpsim_explore_covered(const gmpsim_explore *x);

/* Of the finding; "" if there is none: "deadlock", "leak", ...; Go's words, or what of expect does
 * not hold; the page: who is stuck, what each goroutine did, whose order decides. */
const char *gmpsim_finding_verdict(const gmpsim_explore *x);
const char *gmpsim_finding_text(const gmpsim_explore *x);
const char *gmpsim_finding_page(const gmpsim_explore *x);
/* Goroutines that are stuck at the end of the finding; index as in gmpsim_left. */
size_t gmpsim_finding_stuck_count(const gmpsim_explore *x);
typedef struct gmpsim_stuck {
    uint64_t goid;
    const char *group, *reason; /* Go's wait reason */
    const char *object;         /* that it waits for, by name */
    uint32_t line;              /* of the scenario */
    uint64_t held_by;           /* goid of who has it; 0: nobody, or not known */
    uint32_t held_since;        /* line */
} gmpsim_stuck;
gmpsim_stuck gmpsim_finding_stuck(const gmpsim_explore *x, size_t index);

/* The finding's schedule, as a file for gmpsim_explore_replay and `gmpsim replay`. GMPSIM_BAD: no
 * finding, or the file cannot be written. */
int gmpsim_schedule_save(const gmpsim_explore *x, const char *path, char *error);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif
