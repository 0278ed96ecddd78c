/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A virtual world, from outside: start it, run it, look at it, put it back.
 *
 * One world per process at a time. Life: vm_init, vm_start (m0), any number of vm_run, vm_free.
 * Between vm_run calls the world stands still: nothing of it is on the caller's stack, so it may be
 * saved and restored. vm_init allocates everything; from then to vm_free nothing calls malloc. All
 * calls come from one OS thread.
 */
#ifndef GMPSIM_VIRT_VM_H
#define GMPSIM_VIRT_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/ending.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"
#include "costs.h"

struct chooser;
struct hostm;

enum vm_ties {
    VM_TIES_BY_ID,  /* of two threads due at one instant the older goes first */
    VM_TIES_BY_SEED /* ... the one whose id comes first in a shuffle that the seed decides */
};

/* The host's scheduler of threads onto CPUs; a zero takes the default in parentheses. Nanoseconds.
 */
struct vm_sched_opts {
    int64_t latency_ns;     /* every runnable thread runs once in this time (6 ms) */
    int64_t granularity_ns; /* ... but a slice is not shorter than this (0.75 ms) */
    int64_t wakeup_ns;      /* a woken thread preempts if it is behind by more than this (1 ms) */
    int64_t tick_ns;        /* slices and quotas are looked at on multiples of this (1: when due) */
    bool fifo;              /* first come, first served, until it sleeps; nothing of the others */
    bool scale_by_cpus;     /* multiply the first three by 1 + log2(min(cpus, 8)), as Linux does */
};

/* From this moment on the group has another quota. */
struct vm_quota_change {
    int64_t at_ns, quota_us; /* 0: no limit any more */
};

struct vm_opts {
    uint64_t seed;
    int32_t cpus;           /* CPUs of the host; 0: dedicated, every thread has its own */
    int32_t ncpu_shown;     /* what host_ncpu says; 0: cpus, or 8 when dedicated */
    int64_t quota_us;       /* CPU time per period for the whole group; 0: no limit */
    int64_t period_us;      /* 0: 100000 */
    int64_t quota_slice_us; /* handed to a CPU at a time; 0: 5000 */
    const struct vm_quota_change *quota_changes; /* the caller's, as long as the world */
    uint32_t nquota_changes;
    struct vm_sched_opts sched;
    enum cost_port port;
    enum vm_ties ties;
    const struct costs *costs; /* NULL: costs_builtin */
    /* Threads alive at once; 0: VM_THREADS_ALIVE_MAX. A small one makes saving cheaper. */
    uint32_t threads_max;
    uint32_t noise_permille; /* share of the table's noise, from the seed; 0: none */
    bool records_cost;       /* a record takes W_record; else it is made in no time */
    uint32_t records_batch;  /* records per call of the sink; 0: EVENT_BATCH_COUNT */
    event_sink_fn *sink;     /* event records go here; NULL: records off */
    bool records_moves;      /* also those for listeners only (events.def) */
    void *sink_arg;
    /* Who answers what is otherwise decided by a rule or a seed; the caller's, and not part of what
     * is saved. NULL: nobody is asked, and points below the horizon cost next to nothing. See
     * choose.c for what is asked. */
    struct chooser *chooser;
    bool faults;       /* with a chooser: things may go wrong that may go wrong */
    size_t memory_max; /* of the arena; 0: VM_MEMORY_DEFAULT */
    bool catch_throws; /* vm_run returns END_THROWN in place of ending the process */
    void (*sighandler)(
        void *arg); /* what signalm runs on the thread; NULL: a signal only cuts bursts */
};

/* False: an option is out of range, or memory could not be had; f says what. */
bool vm_init(struct failure *f, const struct vm_opts *o);
/* A thread that exists from the start; m0 is the first. hm stays at its address as long as the
 * world. */
void vm_start(struct hostm *hm, void (*fn)(void *), void *arg);
/* Until the clock reaches until_ps, or the world ends before. Every record up to then has reached
 * the sink. */
enum world_end vm_run(uint64_t until_ps);
void vm_free(void);

/* From a sink, while the world runs: ends it with END_LIMIT, does not come back. Else nothing. */
void vm_limit(const char *text);

/* ---- looking ---- */

enum vm_state {
    VM_RUNNING,   /* has a CPU */
    VM_BURSTING,  /* has a CPU and does nothing but burn it until a known time */
    VM_WAITING,   /* could run, has no CPU */
    VM_THROTTLED, /* could run, its CPU ran out of quota */
    VM_SLEEPING,  /* futex, usleep, poll, blocking system call */
    VM_DEAD
};

struct vm_thread_info {
    int32_t id;
    enum vm_state state;
    int32_t cpu;      /* last CPU, -1 none yet */
    uint64_t cpu_ps;  /* time on a CPU */
    uint64_t spin_ps; /* of that, in procyield and osyield */
    uint64_t wait_ps; /* runnable without CPU, throttled included */
    uint64_t switches, migrations, preemptions, wakeups;
};

struct vm_stats {
    uint64_t now_ps;
    uint32_t threads, threads_alive;
    uint64_t switches; /* between threads, on the machine that simulates: coroutine switches */
    uint64_t events;   /* taken off the event queue */
    uint64_t cpu_ps, spin_ps, wait_ps;
    uint64_t main_ps, main_cpu_ps; /* when main.main began, and CPU time until then */
    uint64_t futex_sleeps, futex_wakes, signals;
    uint64_t nr_periods, nr_throttled,
        throttled_ps;     /* cpu.stat; throttled_ps adds up over CPUs as Linux does */
    uint64_t fingerprint; /* of events and values so far */
    size_t memory;        /* of the arena, used */
};

void vm_stats(struct vm_stats *s);
/* False when there is no thread of that id. */
bool vm_thread_info(int32_t id, struct vm_thread_info *i);
/* Every thread sleeps or burns its CPU until a known time: nobody is in the middle of something. */
bool vm_quiet(void);
const struct failure *vm_failure(void);       /* after END_LIMIT */
const struct world_verdict *vm_verdict(void); /* after END_FINDING or END_THROWN */

#endif
