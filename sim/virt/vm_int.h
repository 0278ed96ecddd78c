/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of sim/virt share; sim/traced, sim/virt with a witness, looks in here too.
 *
 *   sched.c   who goes next: points, events, the run loop
 *   ready.c   the tree of threads that have a CPU
 *   thread.c  start, end, signals, bursts, sleeps
 *   futex.c   futexes
 *   cpu.c     host CPUs and their fair scheduler
 *   quota.c   CPU bandwidth control
 *   env.c     callbacks, descriptors, memory, seeds
 *   world.c   init, statistics
 *
 * States of a thread (enum vm_state) and who moves it:
 *
 *     (new) --start--> RUNNING <--> BURSTING              burst, end of it or cut [thread.c]
 *     RUNNING, BURSTING --> WAITING, THROTTLED            CPU taken away [cpu.c, quota.c]
 *     WAITING, THROTTLED --> RUNNING, BURSTING            CPU given [cpu.c]
 *     RUNNING --> SLEEPING --> RUNNING or WAITING         vm_block_, vm_wake_ [thread.c, cpu.c]
 *     RUNNING --> DEAD                                    thread_exit
 *
 * RUNNING: in the ready tree, or current, or standing in vm_dispatch_ on its own stack. Every other
 * state: not in the tree. BURSTING: `event` is the end of the burst. SLEEPING: `event` is the
 * timeout, 0 without one.
 */
#ifndef GMPSIM_VIRT_VM_INT_H
#define GMPSIM_VIRT_VM_INT_H

#include "sim/base/arena.h"
#include "sim/base/choose.h"
#include "sim/base/coro.h"
#include "sim/base/event.h"
#include "sim/base/eventq.h"
#include "sim/base/fail.h"
#include "sim/base/rng.h"
#include "sim/virt/hot.h"
#include "sim/virt/limits.h"
#include "sim/virt/vm.h"

#define VM_NEVER   UINT64_MAX
#define VM_NO_LEAF UINT32_MAX
#define VM_NO_CPU  UINT32_MAX

struct hostm;

enum vm_sleep { VM_SLEEP_NONE, VM_SLEEP_FUTEX, VM_SLEEP_TIME, VM_SLEEP_POLL, VM_SLEEP_SYSCALL };

struct vm_thread {
    struct vm_front f;
    struct coro coro;
    uint64_t clock; /* of its next point; while it is current vm_hot.now counts */
    bool pending;   /* a signal waits to be handled */
    bool handling;
    bool cut; /* the next burst ends at once */
    uint8_t state;
    uint32_t leaf; /* in the ready tree */

    uint32_t id, slot; /* creation order; place among the living, used again after death */
    void (*fn)(void *);
    struct hostm *hm;
    uint32_t event; /* handle: end of burst, timeout */

    /* Burst: end while BURSTING, else what is left of it after the CPU was taken away. */
    uint64_t burst_end, burst_left;
    bool cuttable;

    uint8_t sleep; /* enum vm_sleep */
    bool woken;    /* by somebody else than its timeout */
    bool brief;    /* so short that it stays on its CPU */
    uint64_t due;  /* of its timeout */
    const uint32_t *key;
    struct vm_thread *prev, *next; /* futex bucket, list of pollers, list of the dead */

    uint32_t cpu; /* the one it runs on, or ran on last */
    uint64_t vruntime, exec_start, wait_since;
    uint64_t cpu_ps, wait_ps, switches, migrations, preemptions, wakeups, signals;
};

/* Events. The payload is kind << 56 | argument (thread id, CPU, place in the arena). */
enum vm_event {
    VE_BURST,                    /* thread: its burst is over */
    VE_TIMEOUT,                  /* thread: slept long enough */
    VE_RUN,                      /* thread: a clock too far ahead for the ready tree */
    VE_SIGNAL,                   /* thread: SIGURG arrives */
    VE_ENV,                      /* callback */
    VE_BOOKKEEPING,              /* from here on: of no use to a world in which nobody can run */
    VE_PREEMPT = VE_BOOKKEEPING, /* CPU: somebody woken deserves it more */
    VE_SLICE,                    /* CPU: end of the slice */
    VE_QUOTA,                    /* CPU: out of runtime */
    VE_PERIOD,                   /* quota is refilled */
    VE_SLACK,                    /* returned runtime is handed to throttled CPUs */
    VE_UNTIL                     /* end of this vm_run */
};

struct vm_cpu {
    struct vm_thread *curr;
    uint64_t idle_since;
    uint64_t slice_start;
    bool slice_armed, throttled;
    int64_t runtime;   /* quota in hand, ps; below 0: owed */
    uint64_t charged;  /* curr's time up to here is taken off runtime */
    uint64_t quota_at; /* when VE_QUOTA is due; VM_NEVER: not armed */
    uint32_t quota_event;
    uint64_t throttled_at;
    uint32_t throttled_next;
};

struct vm_env_call {
    void (*fn)(void *);
    void *arg;
    struct vm_env_call *next_free;
};

struct vm_ready {
    uint64_t
        *node; /* node[1] is the root; leaves at capacity .. 2 * capacity - 1; VM_NEVER: empty */
    uint32_t count, capacity;
    uint32_t room;  /* the largest capacity that node has room for */
    uint64_t epoch; /* keys count time from here */
};

struct vm_bandwidth {
    bool on, active; /* active: the period timer runs */
    bool idle, slack_armed;
    uint64_t quota, period, slice; /* ps */
    uint64_t runtime;              /* in the pool */
    uint64_t period_end;
    uint32_t throttled_head, throttled_tail; /* CPUs, first come first served; VM_NO_CPU: none */
    uint64_t nr_periods, nr_throttled, throttled_ps;
};

struct vm_fds {
    uint8_t *mode;   /* ready and not yet polled */
    int32_t *next;   /* ready list, in the order of readiness; -1 ends it */
    uint64_t *since; /* ready so, ps */
    uint32_t count;  /* fds that the arrays have room for */
    int32_t head, tail;
    bool brk; /* the break descriptor is readable */
    struct vm_thread *pollers, *pollers_tail;
};

/* What vm_alloc_ gives the model; addresses. */
enum { VM_CHUNK = 16384 };
struct vm_chunk {
    uintptr_t at, end;
};

struct vm_world {
    bool exists;
    struct arena arena;
    struct vm_chunk chunk;
    unsigned long long *lines; /* the masks of hot.h; the first is the arena's first line's */
    struct stackpool stacks;
    struct eventq queue;
    uint64_t seq;         /* of the next event */
    uint32_t bookkeeping; /* events of the kinds from VE_BOOKKEEPING on */
    uint64_t next_ev;     /* time of the first event */
    struct vm_ready ready;

    struct coro main;
    struct vm_thread *at; /* on whose stack events happen; NULL: main's */
    bool running;         /* inside vm_run */
    bool over;            /* `why` says why; set by whoever ends this vm_run */
    enum world_end why;
    struct world_verdict verdict;
    uint64_t now; /* time of the last event or switch: what an observer between runs sees */

    struct vm_thread **thread; /* by rank */
    uint32_t threads, threads_room, alive;
    uint32_t threads_made;  /* records allocated */
    struct vm_thread *dead; /* stacks to give back, records to use again */
    struct vm_thread *free;
    uint32_t *rank_of; /* by id: the id itself, or what the seed says */

    struct vm_thread **bucket, **bucket_tail;
    uint32_t buckets; /* power of two */

    struct vm_fds fds;
    struct vm_env_call *env_free;
    uint32_t until_event;

    bool cpus_on; /* there is a vm_cpu per CPU: N CPUs or a quota, now or later */
    bool dedicated;
    struct vm_cpu *cpu;
    uint32_t cpus, cpus_room, busy;
    uint64_t *idle;          /* bitmap of idle CPUs */
    struct vm_thread **wait; /* heap of WAITING threads by (vruntime, rank) */
    uint32_t waiting;
    uint64_t min_vruntime;
    uint64_t latency, granularity, wakeup, tick; /* ps */
    struct vm_bandwidth bw;

    struct vm_opts opts;
    struct rng seeds, noise, ties;
    uint32_t quantiles[NOISE_COUNT][NOISE_QUANTILES];
    uint32_t jolted;               /* jolts that come once in a world and have come, a bit each */
    uint64_t stall_in;             /* computing time until the next interruption, ps */
    uint64_t main_ps, main_cpu_ps; /* when main.main began, and CPU time until then */
    struct failure failure;
    uint64_t events, futex_sleeps, futex_wakes, signals;
    uint64_t dead_switches, dead_cpu_ps, dead_spin_ps, dead_wait_ps; /* of threads that ended */
};

OWN_DATA struct vm_world vm_w_;
OWN_DATA struct event_log vm_log_;
uint64_t vm_settled_(void);
/* Called after each record that the host itself makes; NULL: nobody wants it (sim/traced). */
extern void (*vm_heard_)(void);

/* Whose m and p are EVENT_NO_M and EVENT_NO_P. */
OWN_DATA struct vm_front vm_nobody_;

/* The running thread; NULL outside every M. */
static inline struct vm_thread *vm_cur_(void)
{
    return vm_hot.front == &vm_nobody_ ? NULL : (struct vm_thread *)(void *)vm_hot.front;
}

/* sched.c */
void vm_dispatch_(struct vm_thread *self, bool runnable);
void vm_lower_horizon_(const struct vm_thread *t);
uint32_t vm_event_(uint64_t time, enum vm_event kind, uint64_t arg);
void vm_event_cancel_(enum vm_event kind, uint32_t *handle);
void vm_end_(enum world_end why);
_Noreturn void vm_leave_world_(enum world_end why);
void vm_signals_(struct vm_thread *t);

/* world.c; an arena_fail_fn. Comes back only outside vm_run. */
void vm_limit_(void *unused, const struct failure *f);

/* ready.c */
void vm_ready_init_(void);
void vm_ready_add_(struct vm_thread *t);
void vm_ready_remove_(struct vm_thread *t);
void vm_ready_rebase_(void);

/* choose.c: all of it only when vm_chooser_ */
uint32_t vm_choose_(const struct choice *c);
/* Who goes next; self stands in vm_dispatch_ and could, or is NULL. `at`: the first instant at
 * which anybody is due. */
struct vm_thread *vm_choose_tie_(struct vm_thread *self, uint64_t at);
struct vm_thread *vm_choose_thread_(struct vm_thread *self);
bool vm_fault_(void);

/* thread.c */
void vm_thread_new_(struct hostm *hm, void (*fn)(void *), void *arg, uint64_t at);
struct vm_thread *vm_thread_by_id_(uint32_t id);
/* The current thread sleeps until somebody wakes it, or `until` (VM_NEVER: no timeout). */
void vm_block_(enum vm_sleep sleep, uint64_t until);
/* A sleeping thread becomes runnable at `at`: gets a CPU after the wake latency, or waits for one.
 */
void vm_wake_(struct vm_thread *t, uint64_t at);
/* ... because its timeout is over. */
void vm_timed_out_(struct vm_thread *t, uint64_t at);
/* By the current thread, which pays for it. */
void vm_futex_wake_(struct vm_thread *t);
/* t has a CPU and goes on at `at`: with its burst if one is left, else with its code. */
void vm_continue_(struct vm_thread *t, uint64_t at);
/* t loses its CPU at `at` or, if it is in the middle of an operation, right after that; returns
 * when. */
uint64_t vm_interrupt_(struct vm_thread *t, uint64_t at);
void vm_burst_over_(struct vm_thread *t, uint64_t at);
void vm_signal_arrives_(struct vm_thread *t, uint64_t at);
/* CPU time of the current thread that nothing but the end of a slice can interrupt, in the kernel.
 */
void vm_burn_(uint64_t ps);

/* Interrupts every other thread that is on a CPU, which takes the current one ps. False: there is
 * none. */
bool vm_interrupt_others_(uint64_t ps);

/* noise.c */
/* The cost that this noise is of, as it is this time. */
uint64_t vm_noise_cost_(enum cost_noise kind);
/* ... and what lies at this place among all that it may be, for what comes of one cause. */
enum { NOISE_MIDDLE = 500000, NOISE_WHOLE = 1000000 }; /* of parts that a draw distinguishes */
uint64_t vm_noise_place_(void);
uint64_t vm_noise_cost_at_(enum cost_noise kind, uint64_t place);
/* A time of its own; 0 in a world without noise. */
uint64_t vm_noise_time_(enum cost_noise kind);

/* futex.c */
void vm_futex_init_(void);
void vm_futex_forget_(struct vm_thread *t);

/* cpu.c: all of it only when vm_w_.cpus_on */
void vm_cpus_init_(void);
void vm_cpu_add_(uint32_t slot);
/* A new or woken thread wants a CPU. */
void vm_cpu_place_(struct vm_thread *t, uint64_t at, bool is_new);
/* Since when the CPU that t would get now has been idle; VM_NEVER: all are busy. */
uint64_t vm_cpu_idle_since_(const struct vm_thread *t);
/* A thread that sleeps or ended gives its CPU up. */
void vm_cpu_leave_(struct vm_thread *t, uint64_t at);
void vm_cpu_run_(uint32_t cpu, struct vm_thread *t, uint64_t at);
void vm_cpu_yield_(void);
void vm_cpu_preempt_(uint32_t cpu, uint64_t at);
void vm_cpu_slice_(uint32_t cpu, uint64_t at);
/* CPU time of t up to `at`, into its accounts and its CPU's. */
void vm_cpu_charge_(struct vm_thread *t, uint64_t at);
void vm_record_throttled_(const struct vm_thread *t, uint64_t at, uint64_t period);
void vm_record_unthrottled_(const struct vm_thread *t, uint64_t at, uint64_t ps);
/* t sees only at `at` that a descriptor has been ready since then. */
void vm_record_late_(const struct vm_thread *t, uint64_t at, uint64_t since, uint32_t fd);
uint64_t vm_tick_up_(uint64_t at);

/* quota.c: all of it only when vm_w_.bw.on; what is under way when a quota ends, ends by itself */
void vm_quota_init_(void);
/* May this CPU run its thread from `at` on? If not, it is throttled. */
bool vm_quota_begin_(uint32_t cpu, uint64_t at);
void vm_quota_charge_(uint32_t cpu, uint64_t at);
void vm_quota_idle_(uint32_t cpu, uint64_t at);
void vm_quota_out_(uint32_t cpu, uint64_t at);
void vm_quota_period_(uint64_t at);
void vm_quota_slack_(uint64_t at);

/* env.c */
void vm_env_init_(void);
void vm_env_call_(uint64_t offset);
void vm_poll_forget_(struct vm_thread *t);

#endif
