/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of sim/real. See rt.h. */
#ifndef GMPSIM_RT_INT_H
#define GMPSIM_RT_INT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host.h"
#include "rt.h"
#include "sim/base/pages.h"

/* What a thread is doing, for the search for an idle world. Anything but BLOCKED may run again by
 * itself. */
enum { RT_AWAKE, RT_BLOCKED };
/* Where a thread is, for who makes a world stand still (sim/stress). Up to RT_SLEEPS it is outside
 * of the model: not there yet or on its way out, in user code, or asleep until it is woken. */
enum { RT_OUTSIDE, RT_COMPUTES, RT_SLEEPS, RT_INSIDE, RT_PARKED };

struct rt_chunk;
/* Records of one writer; the handler of a signal is a writer of its own, so that neither can break
 * the other's. */
struct rt_log {
    struct rt_chunk *last;            /* the writer's */
    struct rt_chunk *writes;          /* where the record goes that was begun; NULL: it is lost */
    int64_t latest;                   /* time of a record, in ns */
    _Atomic(struct rt_chunk *) first; /* set once, by the first record */
    _Atomic(bool) busy;               /* a record is on its way */
    struct rt_chunk *read;            /* the merger's, with what it has taken of it, and ... */
    uint32_t taken;
    uint64_t bound; /* ... the time before which there will be no more records */
};

struct rt_thread {
    _Atomic(int32_t)
        tid; /* 0: not yet running, -1: ended; a futex for those who wait for the start */
    int32_t id;
    void (*fn)(void *);
    void *arg;
    pthread_t pthread;
    sigjmp_buf end; /* the stop jumps here */
    /* > 0: inside a critical section of the host, where a stop must wait. Written by this thread
     * only. */
    volatile sig_atomic_t hold, deferred;
    volatile sig_atomic_t in_handler;
    _Atomic(bool) cut; /* a signal or a nudge came: level, used up by the next BURST_CUT */
    _Atomic(uint32_t) state;
    _Atomic(uint32_t) place;
    _Atomic(uint64_t) calls; /* blocking calls entered and left */
    struct rt_log log, handler_log;
    int pipe[2];       /* that its system calls of that kind read from, numbers + 1 */
    int32_t cpu_pid;   /* its CPU time since cpu_since is of this P; -1: of none */
    int64_t cpu_since; /* on its own CPU clock */
    struct rt_thread_stats stats;
    struct rt_thread *next_ended;
};

struct rt_world {
    struct rt_opts opts;
    int64_t epoch; /* CLOCK_MONOTONIC at the start, less 1; 0 before */
    cpu_set_t cpus;
    int32_t ncpu;
    struct sigaction old_sigurg, old_sigcont;
    _Atomic(uint32_t) continued, interrupted; /* SIGCONTs, and whether rt_interrupt was called */
    int64_t stopped_ns, steal_ns;
    _Atomic(int64_t) *p_cpu; /* of RT_PROCS_MAX */

    /* the end */
    _Atomic(uint32_t) why; /* 0 none; 1 being written; 2 + enum world_end; a futex for rt_run */
    _Atomic(bool) stopping;
    struct world_verdict verdict;
    char text[RT_TEXT_MAX];

    /* threads */
    struct rt_thread *threads;
    _Atomic(int32_t)
        nthreads;           /* slots taken; those below are complete except for pthread and tid */
    _Atomic(uint32_t) live; /* running or about to; a futex for the final wait */
    pthread_mutex_t ended_lock;
    struct rt_thread *ended;      /* to be joined */
    struct rt_thread outside;     /* the controlling thread, before and after the run */
    int64_t ran_ns;               /* until rt_end_: stopping the threads is not part of it */
    int64_t main_ns, main_cpu_ns; /* when main.main began, and what its thread had computed */
    event_sink_fn *sink;
    void *sink_arg;

    /* memory */
    char *memory;
    size_t memory_max;
    _Atomic(size_t) memory_used;
    _Atomic(uint64_t) seed;
};

OWN_DATA struct rt_world rt_world_;
extern _Thread_local struct rt_thread *rt_self_ __attribute__((tls_model("initial-exec")));

int64_t rt_steal_ns_(void);
int64_t rt_clock_(void); /* CLOCK_MONOTONIC in ns */
/* The clock of worlds that are recorded. */
void rt_tsc_init_(void);  /* some milliseconds, once per process */
void rt_tsc_start_(void); /* with W->epoch */
int64_t rt_now_about_(
    void); /* host_now(), but neighbouring instructions may be on its other side */
int32_t rt_tgkill_(int32_t tid, int sig);
bool rt_asleep_(int32_t tid); /* as the kernel sees it: nothing that wakes it has happened */
/* Raw futexes, private. Return 0 or a negative errno; wake returns the number woken. ns < 0: no
 * deadline. */
int32_t rt_futex_wait_(_Atomic(uint32_t) *addr, uint32_t val, int64_t ns);
int32_t rt_futex_wake_(_Atomic(uint32_t) *addr, uint32_t n);
void rt_block_signal_(bool block);

/* Around every section in which a jump out would leave the host's own state torn. Nests. */
void rt_hold_(void);
void rt_unhold_(void);
/* Around every system call that sleeps. */
void rt_sleeps_(bool forever);
void rt_awake_(void);
_Noreturn void rt_limit_(const char *text); /* a stated limit: not the simulator's fault */
/* Writes the verdict if it is the first, wakes rt_run. */
void rt_end_(enum world_end why, int kind, const char *text);

void rt_sleep_(int64_t ns);
void rt_burst_calibrate_(void);
void rt_sched_above_(pthread_attr_t *attr); /* of who must get through to a busy world */

bool rt_group_make_(struct failure *f);
bool rt_group_enter_(void);
void rt_group_leave_(void);
void rt_group_remove_(void);
int64_t rt_group_change_(int64_t now_ns);
void rt_group_stats_(struct rt_stats *s);

bool rt_env_init_(void);
void rt_env_free_(void);
void rt_env_start_(void);
void rt_env_stop_(void); /* ends and joins its thread */
bool rt_env_quiet_(void);
struct rt_thread *rt_env_thread_(void);

/* A pipe: numbers + 1 of its ends, zeros where there is none. */
bool rt_pipe_(int *ends, int flags);
void rt_pipe_close_(int *ends);
bool rt_fds_init_(void);
void rt_fds_free_(void);
void rt_calls_free_(void);

bool rt_log_init_(uint64_t records_max);
void rt_log_free_(void);
bool rt_log_hungry_(void); /* time to merge */
void rt_log_merge_(void);  /* on the controlling thread, while the world runs */
void rt_log_end_(void);    /* all that is left, when its threads have ended */
void rt_log_stats_(struct rt_stats *s);

#endif
