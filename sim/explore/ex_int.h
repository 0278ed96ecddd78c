/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the explored world. Only sim/explore and its host.h look in here. */
#ifndef GMPSIM_EXPLORE_EX_INT_H
#define GMPSIM_EXPLORE_EX_INT_H

#include "sim/base/arena.h"
#include "sim/base/coro.h"
#include "sim/base/fingerprint.h"
#include "sim/explore/explore.h"

enum ex_wait { WAIT_NOT, WAIT_FUTEX, WAIT_SLEEP, WAIT_BURST, WAIT_SYSCALL, WAIT_POLL, WAIT_DEAD };

#define NEVER UINT64_MAX

struct ex_thread {
    struct coro coro;
    uint64_t now;     /* its clock, ps; while it runs, ex.now is */
    uint64_t wake_at; /* of a timed wait, else NEVER */
    uint64_t seq;     /* order of waiting */
    const void *futex;
    void *arg;
    void (*fn)(void *);
    uint64_t yield_switches;
    int id;
    int32_t p;
    enum ex_wait wait;
    uint8_t yields;
    bool yielded, signalled, cuttable, timed_out;
    bool chosen; /* to perform its next point: it goes on from a start or a wait */
};

struct ex_timer {
    uint64_t at, seq;
    void (*fn)(void *);
    void *arg;
};

struct ex_ready {
    int32_t fd;
    uint32_t mode;
};

struct ex {
    struct ex_thread *cur; /* NULL outside every thread */
    uint64_t now;          /* the running thread's clock, ps */
    uint64_t order;        /* when the last operation happened: nothing happens before it any more */
    uint64_t enabled;      /* threads that could run */
    uint64_t due;          /* the earliest timed event, NEVER */
    uint64_t steps, switches, seq;
    struct fingerprint fp;
    struct ex_event *trace;
    size_t trace_count, trace_max;
    const uint32_t *cost;  /* by ex_op */
    unsigned bits[OP_COUNT];
    uint32_t costs[OP_COUNT];

    struct ex_opts o;
    struct chooser ch;
    struct ex_thread threads[EX_THREADS_MAX];
    int thread_count;
    struct coro main;
    struct arena arena;
    struct stackpool stacks;
    size_t arena_mark;
    struct ex_timer timers[EX_EVENTS_MAX]; /* unordered */
    uint32_t timer_count;
    struct ex_ready ready[EX_READY_MAX];
    uint32_t ready_count;
    bool poll_broken;
    uint64_t seed_state;

    enum ex_why why;
    const char *text;
    int finding_kind;
    bool running;
    struct ex_totals totals;
    struct {
        const volatile void *addr;
        const char *name;
    } names[256];
    uint32_t name_count;
    const struct costs *cost_table;
};
extern struct ex ex;

static inline int ex_tid(void) { return ex.cur != NULL ? ex.cur->id : -1; }

/* The point: comes back when it is the calling thread's turn. */
void ex_point_(void);
/* The calling thread waits: until somebody wakes it or wake_at. True: the time ran out. */
bool ex_wait_(enum ex_wait how, uint64_t wake_at);
void ex_wake_(struct ex_thread *t, uint64_t at, bool timed_out);
struct ex_thread *ex_thread_new_(struct hostm *hm, void (*fn)(void *), void *arg);
/* Leaves the run for good. */
_Noreturn void ex_leave_(enum ex_why why, const char *text);
/* Adds ps to the calling thread's clock. */
static inline void ex_spend_(uint64_t ps) { ex.now += ps; }
void ex_due_update_(void);
void ex_note_(const struct ex_site *s, const void *addr, uint64_t value, uint64_t old, bool wrote,
              uint64_t stale_before, uint64_t moved_before);

#endif
