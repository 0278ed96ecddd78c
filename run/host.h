/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_HOST_H
#define GMPSIM_RUN_HOST_H

/* A host: where a world lives. All run the same core behind this one interface, and this is the one
 * way to build a world.
 *
 *     world_open(&host_virt, &f, &opts);      the host's world, and the model in it
 *     end = host_virt.run(until_ps);          END_TIME: again, where the host resumes
 *     host_virt.stats(&s); look_...()         the world stands still
 *     host_virt.close();
 *
 * Each has a library of its own (gmpsim_host_<name>), so that a program that needs one host does
 * not carry the others. One world per process at a time, all calls from one thread. */

#include "model/api.h"
#include "sim/base/ending.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"

struct costs;
struct ex_opts;
struct strategy;
struct traced_to;
struct window;

/* From this moment on the host gives the program another quota. */
struct host_quota {
    int64_t at_ns, quota_us; /* 0: none */
};

enum { HOST_QUOTAS_MAX = 64 };

/* What only exploration knows. */
struct host_explore {
    struct strategy *strategy;  /* answers the questions of the run */
    const struct ex_opts *opts; /* memory model, port, faults, limits; what host_opts says too is
                                   taken from there. NULL: sequential, no faults */
    bool unchecked;             /* else the model's invariants are looked at before every point */
};

/* What only real threads know. */
struct host_threads {
    bool pin;        /* thread i stays on CPU i mod cpus */
    int sched;       /* enum rt_sched, their scheduling class; 0: that of the process */
    int plant;       /* host_stress: 1 + enum core_plant, an invariant to break; 0: none */
    int64_t hang_ns; /* host_stress: CPU time in which something has to happen; 0: 2 s */
};

/* Zeros are defaults. What a host does not know it leaves alone: whoever takes options from a user
 * refuses them before (run.c, host_refuses). */
struct host_opts {
    struct world_opts world;
    uint64_t seed;
    int32_t cpus; /* of the host; 0: each thread its own in virtual time, else what there are */
    int64_t quota_us, period_us; /* CPU time of all threads together; 0: no limit */
    const struct host_quota *quotas;
    uint32_t nquotas;
    size_t memory_max;   /* of the world; 0: the host's own limit */
    event_sink_fn *sink; /* the records, in the order of time; NULL: off */
    bool moves;          /* those of moves between queues too; of virtual time */
    void *sink_arg;
    bool throws_end_process; /* in virtual time: a throw() is not a way to end a run */
    /* who hears of every atomic operation; of host_traced and host_explore */
    const struct traced_to *traced;
    /* virtual time alone */
    const struct costs *costs;
    int port; /* enum cost_port */
    bool ties_by_seed;
    bool fifo; /* who has a CPU keeps it until he sleeps */
    uint32_t noise_permille;
    bool records_cost; /* as on a real machine */
    /* one host alone; may be NULL for the others */
    const struct host_explore *explore;
    const struct host_threads *threads;
};

struct host_stats {
    uint64_t now_ps;
    uint64_t fingerprint; /* 0: runs of this host do not repeat */
    uint64_t events;      /* that the fingerprint is of */
    uint64_t cpu_ps, spin_ps;
    uint64_t main_ps, main_cpu_ps; /* when main.main began, and CPU time until then */
    /* of real threads */
    uint64_t records_lost;
    uint64_t record_waits_ps;        /* threads waited so long for room for a record */
    uint64_t voluntary, involuntary; /* context switches */
    uint64_t steal_ps;               /* the hypervisor took, of all CPUs */
    uint64_t stopped_ps;             /* the process was stopped from outside */
    /* of all */
    uint64_t nr_periods, nr_throttled, throttled_ps; /* as in cpu.stat */
    uint32_t threads;                                /* created */
    size_t memory;                                   /* bytes of the world in use */
};

struct host {
    const char *name; /* as users say it: "virtual", "explore", "threads" */
    const struct core *core;
    const struct window *window; /* window.h, compiled for this host's layouts */
    bool repeats;                /* the same options give the same run */
    bool resumes;                /* after END_TIME, run() goes on */
    /* Replaces callbacks of world_opts by ones that this host's threads may call. NULL: no need. */
    void (*prepare)(struct world_opts *o);
    /* h: this host, or a copy of it with another core. */
    bool (*open)(const struct host *h, struct failure *f, const struct host_opts *o);
    void (*start)(struct hostm *hm, void (*fn)(void *), void *arg);
    /* Every record has reached the sink when it returns. */
    enum world_end (*run)(uint64_t until_ps);
    void (*close)(void);
    void (*stats)(struct host_stats *s);
    /* After END_FINDING, END_THROWN and END_LIMIT. */
    const struct world_verdict *(*verdict)(void);
    /* Measured CPU time of a P; NULL where CPU time is what the costs say. */
    uint64_t (*p_cpu_ps)(int32_t pid);
    /* Every thread sleeps or computes: nobody is in the middle of something. */
    bool (*quiet)(void);
    /* Where operations are told one by one, else NULL. stop_after: run() returns END_TIME when
     * operation `number` (0: none) and the plain code after it are done. stop_now: at once, from a
     * listener. stopped: run() returned for one of these. ops: how many there were. */
    void (*stop_after)(uint64_t number);
    void (*stop_now)(void);
    bool (*stopped)(void);
    uint64_t (*ops)(void);
};

/* host_traced is host_virt with a witness (opts.traced): the same run. host_stress is host_real,
 * disturbed, with the invariants looked at on the way. */
extern const struct host host_virt, host_traced, host_explore, host_real, host_stress;

/* False: f says why not, and nothing is left open. */
bool world_open(const struct host *h, struct failure *f, const struct host_opts *o);
/* The second half of world_open: the model's world in the host's, which is open and empty. For who
 * opens the host's by itself. */
void world_build(const struct host *h, const struct world_opts *o);
/* The host of the world that exists, or of the last one. */
const struct host *world_host(void);

/* Exploration: the run is over; an empty world again, built as at world_open, for the next one.
 * False: the strategy has nothing left to try. */
bool world_again(struct strategy *s);

#endif
