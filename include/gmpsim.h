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
 *   cpus        of the host; 0: every thread has its own
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

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif
