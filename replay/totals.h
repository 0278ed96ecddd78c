/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TOTALS_H
#define GMPSIM_REPLAY_TOTALS_H

/* What a recorded trace says, summed up while it is read: times of goroutines and Ps, waits in run
 * queues and whether they had to be, ranges of the collector and of stopped worlds, and where the
 * time of regions and tasks went.
 *
 * An interval that is open when the trace begins counts from its first sync, one that is open at
 * its end up to its last event. Memory is that of the living goroutines and of a row for each that
 * ended, up to a limit; the sums are of all. */

#include "replay/trace.h"
#include "sim/base/arena.h"
#include "sim/base/hist.h"
#include "sim/base/map.h"

/* Time of a goroutine, or of some of its life, by what it was doing. */
enum spent { SPENT_RUNNING, SPENT_RUNNABLE, SPENT_WAITING, SPENT_SYSCALL, SPENT_COUNT };

struct reason_time {
    uint32_t reason; /* string of the trace */
    int64_t ns;
};

struct reasons {
    struct reason_time *list;
    uint32_t count, room;
};

struct goroutine_total {
    uint64_t id, creator; /* TRACE_NONE: not known */
    uint32_t name;        /* string: the outermost function of its first stack */
    bool appeared;        /* it was there when the trace began */
    bool ended;
    uint8_t state; /* enum trace_state, the last one */
    int64_t begin, end;
    int64_t ns[SPENT_COUNT];
    int64_t syscall_no_p; /* of its system calls: without a P */
    int64_t idle_ns;      /* of its waits in run queues: while some P was idle */
    struct reasons waits; /* of SPENT_WAITING */
    uint32_t starts, unblocks, blocks, stops, syscalls, created;
};

struct proc_total {
    uint64_t id;
    int64_t running, idle;
    uint64_t starts, stops;
    uint8_t state;
};

struct count_of {
    uint32_t name;
    uint64_t count;
};

struct counts {
    struct count_of *list;
    size_t count, room;
    struct map index;
};

/* Of what has a name, so many are told apart; the rest is one entry without (TRACE_NO_INDEX). */
enum { DISTINCT_MAX = 1000 };

/* A wait in a run queue. */
struct queue_wait {
    uint64_t g;
    uint32_t name; /* of the goroutine */
    uint64_t p;    /* where it ran then */
    int64_t begin, ns, idle_ns;
};

/* A stretch in which somebody could run, and a P was idle. */
struct unused {
    int64_t begin, ns;
    uint64_t g, p;      /* one that waited, and one that was idle, when it began */
    uint32_t name;      /* of the goroutine */
    uint32_t gs, procs; /* how many at most */
};

struct range_total {
    uint32_t name;
    uint64_t count;
    int64_t ns;
};

struct range_of {
    uint32_t name;
    uint8_t scope;
    uint64_t id;
    int64_t begin, end; /* -1: open */
};

/* A time that the program names: a region of a goroutine, or a task. */
struct named_time {
    int64_t begin, ns;
    uint64_t g, task;
    int64_t spent[SPENT_COUNT];
    int64_t idle_ns;   /* of SPENT_RUNNABLE, while some P was idle */
    int64_t elsewhere; /* of a task: no goroutine of it was known */
    struct reasons waits;
};

enum { SLOWEST_MAX = 100, WAITS_MAX = 50, UNUSED_MAX = 50, RANGES_MAX = 10000 };

struct named_total {
    uint32_t name;
    bool task;
    uint64_t open; /* that had not ended */
    struct hist took;
    struct named_time slowest[SLOWEST_MAX]; /* a heap, the least slow one first */
    size_t nslowest;
};

struct totals {
    const struct trace *trace;
    int64_t start, now;
    uint64_t events, syncs, kinds[TRACE_KINDS];
    uint64_t g_changes[TRACE_STATES][TRACE_STATES], p_changes[TRACE_STATES][TRACE_STATES];
    struct counts blocks, stops, regions, tasks, logs, metrics;
    uint64_t task_ends, samples, threads;
    uint64_t goroutines;   /* that there ever were */
    struct proc_total *ps; /* sorted by id by totals_end */
    size_t nps;
    int64_t ns[SPENT_COUNT], syscall_no_p, proc_running;
    struct reasons waits; /* all goroutines' */
    struct range_total *ranges;
    size_t nranges;
    struct range_of *gc_and_stw;
    size_t ngc_and_stw;
    uint64_t procs_max; /* greatest GOMAXPROCS that was said */
    /* Waits in run queues. */
    struct hist queue, queue_unblocked;
    struct queue_wait longest[WAITS_MAX]; /* heaps, the least first; sorted by totals_end */
    size_t nlongest;
    struct unused unused[UNUSED_MAX];
    size_t nunused;
    uint64_t unused_count;
    int64_t unused_ns, queue_idle_ns;
    struct hist unused_hist;
    struct named_total **named;
    size_t nnamed;
    struct totals_state *s; /* what is only needed on the way */
};

bool totals_init(struct failure *f, struct totals *t, const struct trace *trace);
/* A P that is idle as the trace begins, though that is said only later (see totals_look_ahead). */
void totals_idle_at_begin(struct totals *t, uint64_t p);
/* Reads the first generation of another reader of the same trace, and tells which Ps those are. */
void totals_look_ahead(struct totals *t, struct trace *first);
void totals_feed(void *t, const struct trace_event *evs, size_t count); /* a trace_sink_fn */
/* The row of a goroutine by its index; NULL: it ended, and there were too many to keep them all. */
const struct goroutine_total *totals_goroutine(const struct totals *t, uint32_t index);
/* Closes what is open and sorts. */
void totals_end(struct totals *t);
void totals_release(struct totals *t);

void counts_add(struct counts *c, uint32_t name);
void counts_release(struct counts *c);

#endif
