/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_V1_INT_H
#define GMPSIM_REPLAY_V1_INT_H

/* A trace of Go 1.11 to 1.21 in memory: v1.c reads and merges it, v1_tell.c tells its events as
 * those of the newer format. */

#include "replay/trace_int.h"
#include "sim/base/map.h"

/* clang-format off */
enum v1_type {
    V1_BATCH = 1, V1_FREQUENCY, V1_STACK, V1_GOMAXPROCS, V1_PROC_START, V1_PROC_STOP,
    V1_GC_START, V1_GC_DONE, V1_STW_START, V1_STW_DONE, V1_SWEEP_START, V1_SWEEP_DONE,
    V1_GO_CREATE, V1_GO_START, V1_GO_END, V1_GO_STOP, V1_GO_SCHED, V1_GO_PREEMPT, V1_GO_SLEEP,
    V1_GO_BLOCK, V1_GO_UNBLOCK, V1_BLOCK_SEND, V1_BLOCK_RECV, V1_BLOCK_SELECT, V1_BLOCK_SYNC,
    V1_BLOCK_COND, V1_BLOCK_NET, V1_SYSCALL, V1_SYS_EXIT, V1_SYS_BLOCK, V1_GO_WAITING,
    V1_GO_IN_SYSCALL, V1_HEAP_ALLOC, V1_HEAP_GOAL, V1_TIMER_GOROUTINE, V1_FUTILE, V1_STRING,
    V1_START_LOCAL, V1_UNBLOCK_LOCAL, V1_EXIT_LOCAL, V1_START_LABEL, V1_BLOCK_GC,
    V1_ASSIST_START, V1_ASSIST_DONE, V1_TASK_CREATE, V1_TASK_END, V1_REGION, V1_LOG,
    V1_CPU_SAMPLE, V1_TYPES
};
/* clang-format on */

enum {
    FAKE_TIMER = 1000001,
    FAKE_NET,
    FAKE_SYSCALL,
    FAKE_GC,
    FAKE_PROFILE,
    STRING_MAX = 1000000,
    FRAMES_MAX = 1000,
    VALUES_MAX = 4 * FRAMES_MAX + 2
};

struct v1_event {
    int64_t time; /* ticks of the file, once merged ns */
    uint64_t g, args[3];
    uint32_t stack, text; /* text: of a log */
    int32_t p;
    uint8_t type;
    bool blocked; /* of a system call */
};

struct v1_proc; /* v1.c */

struct v1 {
    struct trace *t;
    struct v1_proc *procs;
    size_t nprocs;
    struct v1_event *samples;
    size_t nsamples, samples_room, samples_at;
    struct map strings, stacks, timers; /* by the file's numbers */
    size_t *stack_records;
    size_t nstack_records, stacks_room;
    uint64_t frequency;
    struct v1_event *events;
    size_t nevents, events_room, at;
    /* Telling them: */
    bool started;                  /* the preamble is over */
    struct id_table gs;            /* id -> index + 1 */
    struct map threads, seen, net; /* P -> thread; Ps seen; goroutines that wait for the network */
    struct id_table tasks;
    uint32_t stw_name, stw_kind, goroutines;
    struct map early; /* goroutines of the preamble of which nothing was said */
    size_t early_at;
};

/* The trace's number of what the file's tables have under this one; 0: nothing. */
uint32_t v1_string(const struct v1 *v, uint64_t id);
uint32_t v1_stack(const struct v1 *v, uint64_t id);

#endif
