/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRACE_H
#define GMPSIM_REPLAY_TRACE_H

/* Recorded Go execution traces, read: every header from 1.11 to 1.26, plain, gzip or zstd.
 *
 *     struct trace *t = trace_open(&f, path, NULL);
 *     while (trace_next(t, &f, &evs, &count) == TRACE_MORE)
 *         ...
 *     trace_close(t);
 *
 * Events come in the order of Go's own reader (internal/trace), in batches, with strictly
 * increasing times, as that reader's API shows them: a coroutine switch is three events, and a
 * trace of the old format (to 1.21) looks like one of the new. One generation lies in memory at a
 * time; of a trace of the old format, its bytes.
 *
 * What a rule of the format forbids is TRACE_BROKEN, with the byte offset and the reason. An
 * incomplete last generation is left out and noted, unless strict (then: broken); so is what Go
 * lets through though it makes no sense. Strings and stacks are the same numbers throughout the
 * trace, from 1 without gaps; 0 is "" and no stack. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/fail.h"

/* No goroutine, P, thread or task. */
#define TRACE_NONE UINT64_MAX
/* No index (struct trace_event, gx and idx). */
#define TRACE_NO_INDEX UINT32_MAX

enum trace_kind {
    TRACE_SYNC,         /* a generation begins, or the trace ends */
    TRACE_G,            /* goroutine `id` goes from -> to */
    TRACE_P,            /* P `id` goes from -> to */
    TRACE_RANGE_BEGIN,  /* `name` of `scope`, of `id`: collection, sweep, assist, stopped world */
    TRACE_RANGE_ACTIVE, /* was open when the generation began */
    TRACE_RANGE_END,    /* of a sweep: value bytes swept, value2 reclaimed */
    TRACE_METRIC,       /* `name` is now `value` */
    TRACE_LABEL,        /* goroutine `id` is labelled `name` */
    TRACE_TASK_BEGIN,   /* task `id`, `name`, parent `value` or TRACE_NONE */
    TRACE_TASK_END,     /* likewise; TRACE_NONE and "" if its begin was not seen */
    TRACE_REGION_BEGIN, /* `name` in task `id` (0: none), on goroutine g */
    TRACE_REGION_END,
    TRACE_LOG,        /* `name` (category) and `text`, task `id` */
    TRACE_SAMPLE,     /* the CPU profiler saw `stack` */
    TRACE_EXPERIMENT, /* event `wire` of an experiment: id, value, value2 as in the file */
    TRACE_KINDS
};

/* In the words of Go's API; of Ps: UNDETERMINED, NOT_EXIST, RUNNING, IDLE. */
enum trace_state {
    TRACE_UNDETERMINED, /* before the first word of it in the first generation */
    TRACE_NOT_EXIST,
    TRACE_RUNNABLE,
    TRACE_RUNNING,
    TRACE_WAITING,
    TRACE_SYSCALL,
    TRACE_IDLE,
    TRACE_STATES
};

enum trace_scope { TRACE_SCOPE_NONE, TRACE_SCOPE_GLOBAL, TRACE_SCOPE_G, TRACE_SCOPE_P };

/* Event types of the format that an event may come from (wire.def; old formats are given as these,
 * too): who wants to know a GoUnblock from a GoSwitch looks here. WIRE_GO_UNBLOCK and so on. */
enum trace_wire {
#define WIRE(number, NAME, name, nargs, stack, new_stack, string, string2) WIRE_##NAME = (number),
#include "replay/wire.def"
#undef WIRE
    WIRE_EXPERIMENTS = 128, /* from here on */
    WIRE_TYPES = 137
};

struct trace_event {
    int64_t time; /* ns, of the trace's own clock; trace_info has the beginning */
    /* Thread, P and goroutine where it happened, as they were just before; TRACE_NONE. */
    uint64_t m, p, g;
    uint64_t id, value, value2; /* by kind, see above; of a TRACE_P by stealing, value: from whom */
    uint32_t gx;                /* index of g, see below */
    uint32_t idx;               /* index of the goroutine `id` */
    uint32_t stack;             /* of who did it */
    uint32_t new_stack;         /* of a goroutine that is created: its entry */
    /* Strings. Of a TRACE_G that stops running, name: the reason; of a stopped world, text: why. */
    uint32_t name, text;
    uint8_t kind;     /* enum trace_kind */
    uint8_t from, to; /* enum trace_state */
    uint8_t scope;    /* enum trace_scope */
    uint8_t wire;     /* enum trace_wire */
};

/* Goroutines are numbered from 0 without gaps in the order of appearance: an index is never used
 * again, as ids may be, so an array can hold what somebody knows of them. */

struct trace_frame {
    uint64_t pc, line;
    uint32_t func, file; /* strings */
};

struct trace_stack {
    const uint32_t *frames; /* numbers of frames, the innermost first */
    uint32_t count;
};

enum { TRACE_NOTES_MAX = 16 };

struct trace_info {
    int version;          /* 11 to 26: the N of "go 1.N trace" */
    uint64_t bytes;       /* of the trace, uncompressed, read so far */
    uint64_t generations; /* that were given, so far; of an old trace 1 */
    uint64_t first_generation;
    uint64_t wire_events[WIRE_TYPES]; /* events in the file by type, of the new format */
    int64_t start_ns, end_ns;         /* of the first sync; of the last event that is no sync */
    bool has_clock;                   /* headers from 1.25: a snapshot of the first generation */
    int64_t clock_ns;                 /* the trace's time of it */
    uint64_t clock_mono_ns, clock_unix_s, clock_unix_ns;
    /* What is odd, one sentence each: an incomplete last generation, a window, frequency 0 ... */
    int nnotes;
    char notes[TRACE_NOTES_MAX][200];
    bool partial; /* an incomplete last generation was left out */
};

struct trace_opts {
    bool strict;               /* refuse an incomplete last generation, as Go's reader does */
    uint64_t generation_bytes; /* largest generation (old trace: trace) in memory; 0: 2 GB */
};

struct trace;

/* "-" is standard input. NULL: f says why. o may be NULL. */
struct trace *trace_open(struct failure *f, const char *path, const struct trace_opts *o);
/* The bytes stay the caller's, and in place. */
struct trace *trace_open_bytes(struct failure *f, const void *bytes, size_t size,
                               const struct trace_opts *o);
void trace_close(struct trace *t);

enum trace_got { TRACE_MORE, TRACE_END, TRACE_BROKEN };
/* The next events, at least one: good until the next call. */
enum trace_got trace_next(struct trace *t, struct failure *f, const struct trace_event **evs,
                          size_t *count);

typedef void trace_sink_fn(void *arg, const struct trace_event *evs, size_t count);
/* All that are left. False: broken; the sink has seen what came before. */
bool trace_each(struct trace *t, struct failure *f, trace_sink_fn *sink, void *arg);

const struct trace_info *trace_info_of(const struct trace *t);

/* Ends with a NUL that is not part of it; may hold others. size may be NULL. */
const char *trace_string(const struct trace *t, uint32_t string, size_t *size);
size_t trace_strings(const struct trace *t); /* how many there are so far; numbers are below */
struct trace_stack trace_stack_of(const struct trace *t, uint32_t stack);
size_t trace_stacks(const struct trace *t);
struct trace_frame trace_frame_of(const struct trace *t, uint32_t frame);

/* The names that Go's API has. */
const char *trace_state_name(enum trace_state s);
const char *trace_kind_name(enum trace_kind k);
const char *trace_wire_name(unsigned wire);

/* A function of Go's standard library, by its name. */
bool trace_is_standard(const char *func);

/* A file that begins like this may be a trace: its header, or gzip's or zstd's. */
bool trace_looks_like(const void *bytes, size_t size);

#endif
