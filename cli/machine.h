/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_MACHINE_H
#define GMPSIM_CLI_MACHINE_H

/* The options that several commands share: which scenario on which machine, profile and seed. */

#include "cli/cli.h"
#include "sim/virt/costs.h"

struct cost_table;

struct machine {
    struct scenario *scenario;
    const char *file;
    char *path; /* the same, to be freed */
    /* as given */
    int64_t procs;
    const char *profile, *cpus, *quota, *costs, *memory, *port, *ties, *host, *sched;
    bool pin;
    struct host_threads threads;
    char *noise;
    int64_t period_ns, until_ns, warmup_ns, jitter_ns;
    const char *plant; /* of run alone */
    struct opt_list rules;
    struct opt_seed seed;
    bool quota_later;         /* quotas come from elsewhere: a period alone is no mistake */
    struct cost_table *table; /* NULL: the built-in one */
    struct costs costs_here;  /* what it says of the release that runs */
    struct costs recorded;    /* of the machine of a trace */
};

/* Was any option of the machine given? */
bool machine_is_said(const struct machine *m);

/* Lines for an option table. */
#define JITTER_OPT(m)                                                                     \
    {                                                                                     \
        "jitter", "TIME", "a random time of this mean before each statement", OPT_LENGTH, \
            &(m).jitter_ns                                                                \
    }

#define MACHINE_OPTS(m)                                                                           \
    {"procs", "N", "GOMAXPROCS (default: the scenario's, else the release's own)", OPT_COUNT,     \
     &(m).procs},                                                                                 \
        {"profile", "RELEASE", "Go release, go1.13 to go1.27 or latest", OPT_TEXT, &(m).profile}, \
        {"rule", "NAME=VALUE", "one rule of the profile; on and off for switches; repeatable",    \
         OPT_REPEATED, &(m).rules},                                                               \
        {"host", "HOST", "virtual time (default), or threads: the same core on real threads",     \
         OPT_TEXT, &(m).host},                                                                    \
        {"pin", NULL, "on threads: each stays on one CPU", OPT_FLAG, &(m).pin},                   \
        {"sched", "CLASS", "scheduling class of the threads, other or fifo", OPT_TEXT,            \
         &(m).sched},                                                                             \
        {"cpus", "N", "CPUs of the host, or dedicated: one per thread", OPT_TEXT, &(m).cpus},     \
        {"quota", "Q", "CPU quota: CPUs (1.5, 500m), time per period (150ms), none", OPT_TEXT,    \
         &(m).quota},                                                                             \
        {"period", "TIME", "period of the quota (default 100ms)", OPT_LENGTH, &(m).period_ns},    \
        {"seed", "SEED", "decimal, 0x... or random", OPT_SEED, &(m).seed},                        \
        {"costs", "FILE", "cost table (default: the reference table)", OPT_TEXT, &(m).costs},     \
        {"port", "ARCH", "costs of atomics of amd64, arm64 or ppc64le (default amd64)", OPT_TEXT, \
         &(m).port},                                                                              \
        {"noise", "WHAT", "on, off or 1 to 1000: times vary as measured (default on for many)",   \
         OPT_TEXT, &(m).noise},                                                                   \
        {"ties", "RULE", "threads due at one instant: by id (default) or seed", OPT_TEXT,         \
         &(m).ties},                                                                              \
        {"memory", "SIZE", "what the simulated world may take of yours (default 2GB)", OPT_TEXT,  \
         &(m).memory},                                                                            \
    {                                                                                             \
        "until", "TIME", "stop at this virtual time (default 1h)", OPT_LENGTH, &(m).until_ns      \
    }

/* Of the commands that count what a run did. */
#define WARMUP_OPT(m)                                                                   \
    {                                                                                   \
        "warmup", "TIME", "count only what begins after this virtual time", OPT_LENGTH, \
            &(m).warmup_ns                                                              \
    }

/* Several runs that differ in their seeds: with noise, unless the user said otherwise. */
void machine_of_many(const struct machine *m, struct run_opts *o);
/* Loads the scenario and makes options of one run of it; dies of mistakes. */
void machine_load(struct machine *m, const char *file, struct run_opts *o);
/* ... of one that is loaded; the file is its name in messages. */
void machine_load_scenario(struct machine *m, const char *file, struct scenario *s,
                           struct run_opts *o);
void machine_release_all(struct machine *m);
/* The release given as text; dies. */
int machine_release(const char *text);
/* 0: none. */
void machine_quota(const char *text, int64_t period_us, int64_t *quota_us);
int32_t machine_cpus(const char *text);
/* Sets NAME=VALUE; dies with a suggestion. */
void machine_rule(struct profile *p, const char *rule);
/* The arguments that give this run again, quoted for a shell: "FILE --procs 4 --profile go1.22
 * --seed 7". */
const char *machine_line(const struct machine *m, const struct run_opts *o, char *buf, size_t size);
/* The scheduling class of a run on real threads; NULL: it is in virtual time. */
const char *machine_sched(const struct run_opts *o);
/* On real threads nothing is the same the next time; else the command dies for `what`. */
void machine_want_virtual(const struct run_opts *o, const char *what, const char *why);
/* "go1.22", static. */
const char *profile_name(int release);

#endif
