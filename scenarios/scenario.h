/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_SCENARIO_H
#define GMPSIM_SCENARIOS_SCENARIO_H

/* A scenario: a concurrent program, the machine it runs on, and what must hold at the end.
 * docs/scenarios.md has the language.
 *
 * scenario_load checks everything before anything runs; the program it makes is constant and lives
 * as long as the scenario. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "model/prog.h"
#include "sim/base/fail.h"
#include "sim/base/faults.h"

enum {
    SCENARIO_RULES_MAX = 32,
    SCENARIO_CPUS_MAX = 1024, /* as many as a simulated machine may have */
    SCENARIO_PROFILES_MAX = 16,
    SCENARIO_QUOTAS_MAX = 64,
    JITTER_TIMES_MAX = 10
};

struct scenario_rule {
    const char *name;
    int64_t value;
};

/* From this moment on the machine gives the program another quota. */
struct scenario_quota {
    int64_t at_ns, quota_us; /* 0: none */
};

/* What must hold at the end (expect.c). */
struct expect;
struct cc;

struct scenario {
    const char *name, *why;
    int profiles[SCENARIO_PROFILES_MAX]; /* releases it is meant for; the first is the default */
    int nprofiles;
    struct scenario_rule rules[SCENARIO_RULES_MAX];
    int nrules;
    int32_t procs;                 /* 0: the release's default */
    int32_t cpus;                  /* 0: dedicated */
    int64_t quota_us, period_us;   /* 0: none */
    struct scenario_quota *quotas; /* changes of it, in order of time */
    int nquotas;
    bool has_seed;
    uint64_t seed;
    int64_t until_ns;      /* 0: none */
    int64_t jitter_ns;     /* as it was read: see below */
    int64_t schedtrace_ns; /* SCHED lines that often; 0: none */
    bool scheddetail;
    struct faults faults;         /* that explore may let happen */
    const struct expect *expects; /* a list; NULL: finishes */
    const struct expect *bugs;    /* what some schedules come to; NULL: no bug is known */
    bool bug_always;              /* every schedule does */
    struct program program;
    /* Of a scenario that was made of something else: by line, the place there; NULL: none. */
    const char *const *places;
    uint32_t nplaces;
    int unknown_status;        /* ... and an exit with it: nobody knows what comes next; 0: none */
    const struct cc *compiled; /* the program before it was one (compile.h) */
    struct pool *pool;         /* owns everything above */
};

/* NULL: f says file:line:column and what is wrong. text need not end with 0. path is for messages.
 */
struct scenario *scenario_load(struct failure *f, const char *path, const char *text, size_t size);
struct scenario *scenario_load_file(struct failure *f, const char *path);
/* With statement jitter: before each statement its goroutine computes for a random time of that
 * mean (exponential, up to JITTER_TIMES_MAX of it), drawn from the run's seed. */
struct scenario *scenario_load_jittered(struct failure *f, const char *path, int64_t jitter_ns);
void scenario_free(struct scenario *s);

/* The profile of a run: the scenario's release and rules, or those of `release` when that is not 0.
 */
bool scenario_profile(struct failure *f, const struct scenario *s, int release,
                      struct profile *out);
/* Its rules alone. */
void scenario_rules(const struct scenario *s, struct profile *out);

#endif
