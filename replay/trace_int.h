/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRACE_INT_H
#define GMPSIM_REPLAY_TRACE_INT_H

/* What the files of the reader share.
 *
 *   input.c   bytes of the file, uncompressed
 *   intern.c  strings, frames and stacks of the whole trace by number
 *   wire.c    a generation: its batches by thread, its tables
 *   ids.c     tables by id
 *   order.c   the state machine that says which event may come next;
 *   ranges.c  its part of ranges, tasks, regions and metrics
 *   trace.c   the frontier of threads; what trace.h offers
 *   v1.c      the format up to Go 1.21: v1_tell.c has its events as those of the newer one */

#include "replay/trace.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- input.c ---- */

struct input;

/* NULL: f says why. */
struct input *input_open(struct failure *f, const char *path);
struct input *input_bytes(const void *bytes, size_t size);
/* False: f says why. *got 0: the end. */
bool input_read(struct input *in, struct failure *f, void *to, size_t size, size_t *got);
void input_close(struct input *in);

/* ---- intern.c ---- */

/* Equal contents get equal numbers, from 1 on in order of first appearance. */
struct interned {
    uint32_t *slots; /* numbers, 0 free; a power of two, at most half full */
    size_t capacity;
    uint32_t *hashes; /* by number */
    size_t count, room;
};

struct interned_string {
    const char *text;
    uint32_t size;
};

struct names {
    struct interned table;
    struct interned_string *strings;
    char **chunks; /* bytes; they stay where they are */
    size_t nchunks, left;
};

struct stack_at {
    size_t at;
    uint32_t count;
};

struct stacks {
    struct interned frame_table, stack_table;
    struct trace_frame *frames;
    struct stack_at *stacks;
    uint32_t *lists; /* of frame numbers, those of each stack in a row */
    size_t nlists, lists_room;
};

void names_init(struct names *n);
void names_release(struct names *n);
uint32_t names_put(struct names *n, const void *text, size_t size);
void stacks_init(struct stacks *s);
void stacks_release(struct stacks *s);
uint32_t stacks_frame(struct stacks *s, const struct trace_frame *frame);
uint32_t stacks_put(struct stacks *s, const uint32_t *frames, size_t count);

/* ---- wire.c ---- */

/* A number that a generation defines, and what it means: a number in names or stacks, plus 1. */
struct meaning {
    uint64_t id, offset;
    uint32_t is;
};

/* Numbers of a generation are small and nearly without gaps where a runtime wrote them: those lie
 * in `dense`. Else they are looked up in the sorted list. */
struct meanings {
    struct meaning *list;
    size_t count, room;
    uint32_t *dense;
    size_t ndense, dense_room;
};

static inline uint32_t meaning_of(const struct meanings *m, uint64_t id);
uint32_t meaning_searched(const struct meanings *m, uint64_t id);

/* What a number means, plus 1; 0: it is not defined. */
static inline uint32_t meaning_of(const struct meanings *m, uint64_t id)
{
    return LIKELY(id < m->ndense) ? m->dense[id] : meaning_searched(m, id);
}

struct batch {
    size_t at; /* of the payload in the window */
    uint64_t time;
    uint32_t size, next; /* of the same thread, NO_BATCH: none */
};

#define NO_BATCH UINT32_MAX

struct sample {
    int64_t time;
    uint64_t m, p, g, stack, offset;
};

/* The first frame that a generation has for a program counter is the one that counts. */
struct pc_slot {
    uint64_t pc;
    uint32_t frame; /* in gen.frames, plus 1; 0: free */
};

/* A frame as its generation has it: strings by the generation's numbers. */
struct gen_frame {
    uint64_t pc, func, file, line, offset;
    uint32_t number; /* in the whole trace, once all strings are known */
};

struct gen {
    uint64_t number;
    struct batch *batches;
    size_t nbatches, batches_room;
    struct thread **order; /* threads in the order of their first batch */
    size_t nthreads, threads_room;
    struct sample *samples; /* by time, from samples_at on */
    size_t nsamples, samples_room, samples_at;
    struct meanings strings, stacks;
    struct pc_slot *pcs;
    size_t pcs_capacity, npcs;
    struct gen_frame *frames;
    size_t nframes, frames_room;
    uint32_t *lists; /* of each stack: the number of frames, then those */
    size_t nlists, lists_room;
    bool has_events; /* an event batch, even an empty one */
    bool has_strings, has_frequency, has_clock, any;
    double ratio; /* ns per unit of time */
    /* The same if it is a whole number up to 1024, else 0. Exact, as in doubles. */
    uint64_t ratio_whole;
    uint64_t min_time;
    uint64_t clock_time, clock_mono, clock_s, clock_ns;
};

/* The bytes that are in memory: a generation, and what was read beyond it. The room behind them is
 * readable: a decoder may look too far. */
struct window {
    struct input *in;
    uint8_t *bytes;
    size_t have, used, room, max;
    uint64_t base; /* offset of bytes[0] in the trace */
    bool end;      /* of the input */
};

enum { WINDOW_SLACK = 128 };

enum gen_got { GEN_READ, GEN_NONE, GEN_BROKEN };

/* True: at least `want` bytes lie behind `used`, or the input has ended. */
bool window_fill(struct window *w, struct failure *f, size_t want);
/* Forgets what was used. */
void window_drop(struct window *w);
void window_release(struct window *w);

/* Reads the next generation. GEN_READ with f set: use it, then fail (what Go does with what is left
 * of a last generation). */
enum gen_got gen_read(struct trace *t, struct failure *f);
void gen_release(struct gen *g);

static inline int64_t gen_time(const struct gen *g, uint64_t units);

/* Beyond this a clock is broken; the sum of two still fits. */
#define TIME_MAX_NS (INT64_MAX / 4)
/* ... and an event so long after the first: a day. Sums over a trace's goroutines fit. */
#define SPAN_MAX_NS (INT64_C(86400) * 1000000000)

static inline int64_t gen_time(const struct gen *g, uint64_t units)
{
    if (LIKELY(g->ratio_whole != 0 && units < UINT64_C(1) << 43))
        return (int64_t)(units * g->ratio_whole);
    double ns = (double)units * g->ratio;
    return LIKELY(ns < (double)TIME_MAX_NS) ? (int64_t)ns : TIME_MAX_NS;
}

/* A varint of up to 10 bytes; the caller knows that as many are readable. What has more than 64
 * bits leads to wire_poison, where more zeros can be read: whoever then looks (wire_inside)
 * finds himself outside of the batch. */
extern const uint8_t wire_poison[64];
const uint8_t *wire_varint_long(const uint8_t *at, uint64_t *value);

static inline const uint8_t *wire_varint(const uint8_t *at, uint64_t *value)
{
    if (LIKELY(at[0] < 0x80)) {
        *value = at[0];
        return at + 1;
    }
    if (LIKELY(at[1] < 0x80)) {
        *value = (at[0] & 0x7fU) | (uint64_t)at[1] << 7;
        return at + 2;
    }
    if (LIKELY(at[2] < 0x80)) {
        *value = (at[0] & 0x7fU) | (at[1] & 0x7fU) << 7 | (uint64_t)at[2] << 14;
        return at + 3;
    }
    uint64_t slow; /* its own, so that the value itself can live in a register */
    at = wire_varint_long(at, &slow);
    *value = slow;
    return at;
}

/* Whether `next` lies behind `at`, and not beyond the end. */
static inline bool wire_inside(const uint8_t *at, const uint8_t *next, const uint8_t *end)
{
    return (uintptr_t)next - (uintptr_t)at <= (uintptr_t)end - (uintptr_t)at;
}

struct wire_type {
    const char *name;
    int8_t nargs; /* -1: no timed event */
    uint8_t stack, new_stack, string, string2;
};

extern const struct wire_type wire_types[256];
extern const uint8_t wire_args[256]; /* by type: 1 + how many; 0: no timed event */

enum { WIRE_ARGS_MAX = 4 };

/* ---- order.c ---- */

enum { STATUS_BAD, STATUS_RUNNABLE, STATUS_RUNNING, STATUS_SYSCALL, STATUS_WAITING, GSTATUSES };
enum { P_BAD, P_RUNNING, P_IDLE, P_SYSCALL, P_ABANDONED, PSTATUSES };

struct region {
    uint64_t task;
    uint32_t name;
};

/* What few goroutines have. */
struct more {
    uint32_t *ranges; /* open ones: 0 assist, else 1 + the kind of stopped world */
    uint32_t nranges, ranges_room;
    struct region *regions;
    uint32_t nregions, regions_room;
};

struct goroutine_state {
    uint64_t id, gen, seq;
    uint32_t index; /* TRACE_NO_INDEX: free */
    uint8_t status;
    union {
        struct more *more;
        struct goroutine_state *next_free;
    };
};

struct proc_state {
    uint64_t id, gen, seq;
    uint8_t status;
    bool sweeping;
};

/* A thread. What it runs is kept as id and as state: the state may have ended and serve another
 * goroutine meanwhile, its index tells. */
struct thread {
    uint64_t id, gid;
    struct goroutine_state *g;
    struct proc_state *p; /* NULL: none */
    uint32_t gx;
    /* In the generation at hand: */
    uint32_t first, last; /* batches */
    const uint8_t *start; /* of the event at hand */
    const uint8_t *args;  /* of it, behind its time */
    const uint8_t *next;  /* behind them, once they were looked at */
    const uint8_t *end;   /* of the batch */
    int64_t time;         /* of the event at hand */
    uint8_t type;
    bool listed; /* in gen.order */
};

struct id_slot {
    uint64_t key;
    void *state; /* NULL: free */
};

struct id_table {
    struct id_slot *slots;
    size_t capacity, count;
};

struct task {
    uint64_t parent;
    uint32_t name;
    struct task *next_free;
};

struct order {
    struct id_table gs, ps, ms, tasks;
    struct goroutine_state *free_gs;
    struct task *free_tasks;
    void **chunks; /* memory of the states */
    size_t nchunks, chunks_room, chunk_left;
    char *chunk_at;
    struct thread nobody; /* thread TRACE_NONE */
    uint32_t goroutines;  /* that there ever were */
    uint64_t gc_seq, initial_gen;
    enum { GC_UNKNOWN, GC_OFF, GC_ON } gc;
    uint32_t metric_procs, metric_heap, metric_goal; /* names */
    uint32_t range_gc, range_sweep, range_assist;    /* names */
    struct stw_name {
        uint32_t kind, name;
    } * stw_names; /* names of ranges */
    size_t nstw_names, stw_names_room;
};

enum advanced { ADV_YES, ADV_WAIT, ADV_BROKEN };

void order_init(struct trace *t);
void order_release(struct order *o);
struct thread *order_thread(struct order *o, uint64_t id);
/* Takes the thread's event at hand into the order, or says that another one has to come first. By
 * type of the event. */
typedef enum advanced order_fn(struct trace *t, struct thread *th, struct failure *f);
extern order_fn *const order_of[WIRE_TYPES];

static inline size_t slot_of(const struct id_table *t, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->capacity - 1);
}

static inline void *id_find(const struct id_table *t, uint64_t key)
{
    for (size_t at = slot_of(t, key);; at = (at + 1) & (t->capacity - 1)) {
        const struct id_slot *s = &t->slots[at];
        if (s->state == NULL || s->key == key)
            return s->state;
    }
}

/* ---- ids.c ---- */

void id_init(struct id_table *t);
void id_put(struct id_table *t, uint64_t key, void *state);
void id_take(struct id_table *t, uint64_t key);

/* ---- trace.c ---- */

enum { OUT_MAX = 256, OUT_SPARE = 8 };

struct head {
    int64_t time;
    struct thread *th;
};

struct v1;

struct trace {
    struct trace_opts opts;
    struct trace_info info;
    struct window window;
    struct names names;
    struct stacks stacks;
    struct gen gen;
    struct order order;
    struct v1 *v1;
    struct head *heap;
    size_t nheap, heap_room;
    int64_t last_time;
    int64_t time_max;   /* of any event: SPAN_MAX_NS after the first */
    int64_t clock_back; /* by how much the clock went back at most */
    uint64_t syncs, next_generation;
    bool had_strings;     /* the generation before had a table of strings */
    struct failure later; /* comes when the events before it are delivered */
    enum { AT_GENERATION, IN_GENERATION, AT_END, PAST_END } at;
    struct trace_event *out_at; /* the next one to fill */
    struct trace_event out[OUT_MAX + OUT_SPARE];
};

/* A sentence for info.notes; one that is there is not repeated. */
void trace_note(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copied: a compiler that makes it from zeros takes 30 cycles for it. */
extern const struct trace_event trace_blank;

/* The next event to fill, with its time after all others; everything else is zero or none. */
static inline struct trace_event *trace_put(struct trace *t, int64_t time, enum trace_kind kind)
{
    if (UNLIKELY(time <= t->last_time)) {
        if (t->last_time - time > t->clock_back)
            t->clock_back = t->last_time - time;
        time = t->last_time + 1;
    }
    t->last_time = time;
    struct trace_event *e = t->out_at++;
    *e = trace_blank;
    e->time = time;
    e->kind = (uint8_t)kind;
    return e;
}

/* A generation begins, or the trace ends. */
struct trace_event *trace_sync(struct trace *t, int64_t time);

/* ---- v1.c, v1_tell.c ---- */

/* The whole trace, behind its header. */
bool v1_read(struct trace *t, struct failure *f);
/* Fills t->out; false: there are no more events. */
bool v1_next(struct trace *t);
void v1_release(struct v1 *v);

#endif
