/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world on real threads: set up, run, look, tear down. The shape is that of sim/virt/vm.h.
 *
 *     rt_init(&failure, &opts);
 *     rt_start(&m0->host, fn, arg);
 *     why = rt_run(timeout_ns);
 *     ...
 *     rt_free();
 *
 * One world at a time, and one controlling thread: the one that called rt_init. It is never a
 * thread of the world. rt_run returns when every thread of the world has ended and been joined,
 * whatever they were doing (running, spinning on an atomic, asleep in a futex, a burst or epoll):
 * a stop signal makes each jump to the end of its thread function. So what the world left in
 * memory may be read without locks until rt_free. A world that was stopped cannot go on: a time
 * limit is its end here, where the virtual host can be resumed.
 *
 * Nothing of this is deterministic. SIGURG belongs to the world while one exists.
 */
#ifndef GMPSIM_RT_H
#define GMPSIM_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/ending.h"
#include "sim/base/event.h"

struct hostm;

/* Every limit of the real host. */
enum {
    RT_THREADS_MAX = 1 << 16, /* created in one world, the ended ones included */
    RT_FDS_MAX = 1 << 20,     /* pollable descriptors: 0 .. RT_FDS_MAX - 1 */
    RT_PROCS_MAX = 1 << 16,   /* of host_set_p */
    RT_TIMERS_MAX = 1 << 20,  /* env_at calls pending at once */
    RT_TEXT_MAX = 1 << 16,    /* bytes of a verdict's text that are kept */
};

/* From this moment on the world has another quota. */
struct rt_quota {
    int64_t at_ns, quota_us; /* 0: none */
};

/* The scheduling class of the world's threads. A thread of a real-time class has no timer slack: it
 * wakes when its sleep is over, and not up to 50 us later. */
enum rt_sched { RT_SCHED_OWN /* that of the process */, RT_SCHED_OTHER, RT_SCHED_FIFO };

struct rt_opts {
    uint64_t seed;              /* of host_seed64 */
    void (*sighandler)(void *); /* runs in the signal handler of an M, with its arg; may be NULL */
    size_t memory_max;          /* bytes host_alloc can give; 0: 16 GiB */
    size_t stack_size;          /* of a thread; 0: 256 KiB */
    int32_t cpus; /* run on the first n CPUs of the process's mask; 0: on all of them */
    bool pin;     /* thread i stays on CPU i mod cpus */
    enum rt_sched sched;
    int64_t quota_us, period_us; /* what host_quota reports; 0: what this machine's cgroup says */
    int fatal_kind;        /* of the finding that a thread could not be created: Go's own words */
    int32_t refuse_thread; /* for tests: this thread is refused, as by the system; 0: none */
    bool group;            /* the world runs in a cgroup that has that quota */
    const struct rt_quota *quotas; /* changes of it; the caller's */
    uint32_t nquotas;
    int32_t threads_max; /* created in one world; 0: RT_THREADS_MAX */
    event_sink_fn
        *sink; /* takes the records of all threads in the order of time (ties: thread, then
                            order of emission), on the controlling thread, during rt_run */
    void *sink_arg;
    void (*tick)(void); /* called on the controlling thread about that often; NULL: never */
    int64_t tick_ns;
    uint64_t records_max; /* on their way at a time; 0: none are made, emit is one branch */
};

/* NULL opts: all zero. False: an option is out of range, or the system has no memory or
 * descriptor; f says what. */
bool rt_init(struct failure *f, const struct rt_opts *opts);
/* A thread that exists from the start; m0 is the first. hm stays at its address as long as the
 * world. */
void rt_start(struct hostm *hm, void (*fn)(void *), void *arg);
/* timeout_ns < 0: no limit. Once per world. */
enum world_end rt_run(int64_t timeout_ns);
void rt_free(void);
/* From a tick: the world ends with this finding, unless it has ended already. */
void rt_find(int kind, const char *text);
/* ... as if it had thrown. */
void rt_break(const char *text);
/* From a signal handler: the world ends as at its time limit. */
void rt_interrupt(void);
/* CPU time of the process so far, and time of the world. */
int64_t rt_cpu_ns(void);
int64_t rt_now_ns(void);

/* Around code of the embedder that a thread of the world calls (what takes its prints): one thread
 * at a time, and no stop or signal comes in the middle. It must not call a verb. */
void rt_outside_begin(void);
void rt_outside_end(void);

/* ---- looking, after rt_run ---- */

const struct world_verdict *rt_verdict(void);

struct rt_stats {
    int64_t ran_ns;               /* wall time from rt_run's start to the end */
    int64_t cpu_ns;               /* CPU time of all its threads */
    int64_t main_ns, main_cpu_ns; /* when main.main began, and CPU time until then; 0: it did not */
    uint64_t threads;             /* created */
    uint64_t futex_sleeps, futex_wakes, signals, polls;
    uint64_t voluntary, involuntary; /* context switches */
    int64_t steal_ns;                /* the hypervisor took from all CPUs meanwhile */
    int64_t stopped_ns; /* the process was stopped (SIGSTOP) for so long, all together */
    uint64_t nr_periods, nr_throttled, throttled_ns; /* of the cgroup */
    uint64_t records, records_lost;
    int64_t record_waits_ns; /* threads waited so long for room for a record, all together */
    size_t memory;           /* bytes host_alloc gave */
};

struct rt_thread_stats {
    int64_t cpu_ns;
    uint64_t futex_sleeps, futex_wakes, signals, polls;
    uint64_t voluntary, involuntary;
};

void rt_stats(struct rt_stats *s);
/* CPU time that threads spent from when they took P `pid` until they took another one (or ended):
 * system calls that began on it are its own. */
int64_t rt_p_cpu_ns(int32_t pid);
/* As `chrt` says it: "other", "fifo", ...; needs no world. */
const char *rt_sched_name(enum rt_sched sched);
/* CPUs that this process may use; needs no world. */
int32_t rt_cpus(void);
/* Of thread `id` (creation order, m0 is 0); false: there was no such thread. */
bool rt_thread_stats(int32_t id, struct rt_thread_stats *s);

#endif
