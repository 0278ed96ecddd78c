/* SPDX-License-Identifier: BSD-3-Clause */
/* The frontier: the next event of every thread of a generation, and which of them comes first.
 *
 * Time only proposes; order.c decides. The frontier is an array heap laid out, sifted and, where
 * the earliest event has to wait, sorted exactly as that of Go's reader, so that events of equal
 * times come in its order, too.
 *
 * A thread goes on as long as it is the earliest: then nothing has to be sifted. */
#include "replay/trace_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { HEADER_SIZE = 16, WINDOW_MAX_MB = 2048 };

const struct trace_event trace_blank = {
    .m = TRACE_NONE, .p = TRACE_NONE, .g = TRACE_NONE, .gx = TRACE_NO_INDEX, .idx = TRACE_NO_INDEX};

void trace_note(struct trace *t, const char *fmt, ...)
{
    char text[sizeof t->info.notes[0]];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (int i = 0; i < t->info.nnotes; i++)
        if (strcmp(t->info.notes[i], text) == 0)
            return;
    if (t->info.nnotes < TRACE_NOTES_MAX)
        memcpy(t->info.notes[t->info.nnotes++], text, sizeof text);
}

/* ---- open and close ---- */

static const int versions[] = {11, 19, 21, 22, 23, 25, 26};

static bool header_check(struct trace *t, struct failure *f)
{
    struct window *w = &t->window;
    if (!window_fill(w, f, HEADER_SIZE))
        return false;
    if (w->have == 0) {
        fail(f, E_TRACE, "byte 0: the file is empty, no Go execution trace");
        return false;
    }
    char text[HEADER_SIZE + 1] = "";
    memcpy(text, w->bytes, w->have < HEADER_SIZE ? w->have : HEADER_SIZE);
    unsigned n;
    char expected[HEADER_SIZE + 1];
    if (w->have < HEADER_SIZE || sscanf(text, "go 1.%2u trace", &n) != 1) {
        fail(f, E_TRACE, "byte 0: no Go execution trace: it begins with \"go 1.N trace\"");
        return false;
    }
    memset(expected, 0, sizeof expected);
    snprintf(expected, sizeof expected, "go 1.%u trace", n);
    if (memcmp(expected, text, HEADER_SIZE) != 0) {
        fail(f, E_TRACE, "byte 0: no Go execution trace: its header is damaged");
        return false;
    }
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        if ((unsigned)versions[i] == n) {
            t->info.version = (int)n;
            w->used = HEADER_SIZE;
            return true;
        }
    }
    fail(f, E_TRACE,
         "byte 0: header go 1.%u: Go writes 1.11, 1.19, 1.21, 1.22, 1.23, 1.25 and 1.26, "
         "and older ones are not read",
         n);
    return false;
}

static struct trace *open_input(struct failure *f, struct input *in, const struct trace_opts *o)
{
    struct trace *t = x_alloc(sizeof *t);
    memset(t, 0, offsetof(struct trace, out));
    if (o != NULL)
        t->opts = *o;
    t->window.in = in;
    t->window.max = t->opts.generation_bytes != 0 ? (size_t)t->opts.generation_bytes
                                                  : (size_t)WINDOW_MAX_MB << 20;
    names_init(&t->names);
    stacks_init(&t->stacks);
    order_init(t);
    if (!header_check(t, f) || (t->info.version < 22 && !v1_read(t, f))) {
        trace_close(t);
        return NULL;
    }
    return t;
}

struct trace *trace_open(struct failure *f, const char *path, const struct trace_opts *o)
{
    struct input *in = input_open(f, path);
    struct trace *t = in != NULL ? open_input(f, in, o) : NULL;
    if (t == NULL)
        fail_prefix(f, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    return t;
}

struct trace *trace_open_bytes(struct failure *f, const void *bytes, size_t size,
                               const struct trace_opts *o)
{
    struct input *in = input_bytes(bytes, size);
    if (in == NULL) {
        fail(f, E_LIMIT, "no memory to unpack");
        return NULL;
    }
    return open_input(f, in, o);
}

void trace_close(struct trace *t)
{
    if (t == NULL)
        return;
    window_release(&t->window);
    gen_release(&t->gen);
    order_release(&t->order);
    names_release(&t->names);
    stacks_release(&t->stacks);
    v1_release(t->v1);
    free(t->heap);
    free(t);
}

/* ---- events of a thread ---- */

enum { NEXT_YES, NEXT_NONE, NEXT_BROKEN };

/* No event is later than SPAN_MAX_NS after the first. */
static int64_t in_span(const struct trace *t, int64_t time)
{
    return time <= t->time_max ? time : t->time_max;
}

/* The thread's next batch. */
static bool next_batch(const struct trace *t, struct thread *th)
{
    if (th->first == NO_BATCH)
        return false;
    const struct batch *b = &t->gen.batches[th->first];
    th->first = b->next;
    th->next = t->window.bytes + b->at;
    th->end = th->next + b->size;
    th->time = in_span(t, gen_time(&t->gen, b->time));
    return true;
}

/* The thread's next event: its type and its time. The arguments are looked at by whoever knows how
 * many there are. Numbers are read without a look at the end of the batch: the window goes on
 * behind it, and what went too far is found afterwards. */
static inline __attribute__((always_inline)) int next_event(struct trace *t, struct thread *th,
                                                            struct failure *f)
{
    uint64_t dt;
    if (UNLIKELY(th->next == th->end) && !next_batch(t, th))
        return NEXT_NONE;
    const uint8_t *at = th->start = th->next;
    uint8_t type = th->type = *at;
    const uint8_t *args = th->args = wire_varint(at + 1, &dt);
    int64_t time = th->time + gen_time(&t->gen, dt);
    th->time = LIKELY(time <= t->time_max) ? time : t->time_max;
    if (LIKELY(wire_args[type] != 0 && wire_inside(at, args, th->end))) {
        t->info.wire_events[type]++;
        return NEXT_YES;
    }
    fail(f, E_TRACE, "byte %" PRIu64 ": event type %u: %s",
         t->window.base + (uint64_t)(at - t->window.bytes), type,
         wire_args[type] == 0 ? "no event of a thread" : "its time is cut by the end of its batch");
    return NEXT_BROKEN;
}

/* ---- the heap ---- */

static size_t sift_up(struct head *heap, size_t i)
{
    while (i > 0 && heap[(i - 1) / 2].time > heap[i].time) {
        struct head h = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = h;
        i = (i - 1) / 2;
    }
    return i;
}

static void sift_down(struct head *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = 2 * i + 2;
        if (left < n && heap[left].time < heap[least].time)
            least = left;
        if (right < n && heap[right].time < heap[least].time)
            least = right;
        if (least == i)
            return;
        struct head h = heap[i];
        heap[i] = heap[least];
        heap[least] = h;
        i = least;
    }
}

static void heap_update(struct trace *t, size_t i)
{
    if (sift_up(t->heap, i) == i)
        sift_down(t->heap, t->nheap, i);
}

/* Goes through the root, as Go's does; that decides where equals come to lie. */
static void heap_remove(struct trace *t, size_t i)
{
    struct head *heap = t->heap;
    for (; i > 0; i = (i - 1) / 2) {
        struct head h = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = h;
    }
    heap[0] = heap[--t->nheap];
    sift_down(heap, t->nheap, 0);
}

/* By time; equals stay in order. */
static void heap_sort(struct trace *t)
{
    struct head *heap = t->heap;
    for (size_t i = 1; i < t->nheap; i++) {
        struct head h = heap[i];
        size_t at = i;
        for (; at > 0 && heap[at - 1].time > h.time; at--)
            heap[at] = heap[at - 1];
        heap[at] = h;
    }
}

/* ---- generations ---- */

struct trace_event *trace_sync(struct trace *t, int64_t time)
{
    struct trace_event *e = trace_put(t, time, TRACE_SYNC);
    e->id = ++t->syncs;
    if (t->syncs == 1)
        t->info.start_ns = t->info.end_ns = e->time;
    return e;
}

static bool gen_install(struct trace *t, struct failure *f)
{
    struct gen *g = &t->gen;
    if (t->info.generations == 1)
        t->time_max = gen_time(g, g->min_time) + SPAN_MAX_NS;
    if (g->nthreads > t->heap_room) {
        t->heap_room = g->nthreads * 2;
        t->heap = x_grow(t->heap, t->heap_room * sizeof *t->heap);
    }
    t->nheap = 0;
    for (size_t i = 0; i < g->nthreads; i++) {
        struct thread *th = g->order[i];
        th->next = th->end = NULL;
        int got = next_event(t, th, f);
        if (got == NEXT_BROKEN)
            return false;
        if (got == NEXT_NONE)
            continue;
        t->heap[t->nheap] = (struct head){.time = th->time, .th = th};
        sift_up(t->heap, t->nheap++);
    }
    if (t->info.generations == 1 && g->number > 1)
        trace_note(t,
                   "begins with generation %" PRIu64 ": a window of a longer trace, or not the "
                   "first trace of its process",
                   g->number);
    if (t->order.initial_gen == 0 && t->nheap > 0)
        t->order.initial_gen = g->number;
    struct trace_event *e = trace_sync(t, in_span(t, gen_time(g, g->min_time)));
    e->value = g->number;
    return true;
}

/* The next generation, or the end. */
static void begin_generation(struct trace *t)
{
    struct failure f = {.code = E_OK};
    enum gen_got got = gen_read(t, &f);
    t->later = f;
    if (got == GEN_READ) {
        fail_reset(&f);
        t->at = gen_install(t, &f) ? IN_GENERATION : AT_END;
        if (f.code != E_OK)
            t->later = f;
        return;
    }
    trace_sync(t, t->last_time);
    t->at = AT_END;
}

static void put_sample(struct trace *t, struct sample *s)
{
    struct trace_event *e = trace_put(t, in_span(t, s->time), TRACE_SAMPLE);
    e->m = s->m;
    e->p = s->p;
    e->g = e->id = s->g;
    e->wire = WIRE_CPU_SAMPLE;
    struct goroutine_state *g = s->g != TRACE_NONE ? id_find(&t->order.gs, s->g) : NULL;
    e->gx = e->idx = g != NULL ? g->index : TRACE_NO_INDEX;
    uint32_t stack = meaning_of(&t->gen.stacks, s->stack);
    if (stack == 0)
        trace_note(t, "a CPU sample names stack %" PRIu64 ", which is not defined", s->stack);
    else
        e->stack = stack - 1;
}

/* ---- events in order ---- */

static bool stuck(struct trace *t, struct failure *f)
{
    const struct thread *th = t->heap[0].th;
    const uint8_t *at = th->args;
    char args[100] = "";
    for (int i = 0, n = 0; i < wire_types[th->type].nargs && n < 80; i++) {
        uint64_t arg;
        at = wire_varint(at, &arg);
        n += snprintf(args + n, sizeof args - (size_t)n, " %" PRIu64, arg);
    }
    fail(f, E_TRACE,
         "byte %" PRIu64 ": no order: %s%s of thread %" PRId64
         " and the next events of %zu other threads all wait for something before them",
         t->window.base + (uint64_t)(th->start - t->window.bytes), wire_types[th->type].name, args,
         (int64_t)th->id, t->nheap - 1);
    return false;
}

/* The event of element i is in the order: its thread's next one. */
static bool after(struct trace *t, size_t i, struct failure *f)
{
    struct thread *th = t->heap[i].th;
    int got = next_event(t, th, f);
    t->heap[i].time = th->time;
    if (got == NEXT_YES)
        heap_update(t, i);
    else if (got == NEXT_NONE)
        heap_remove(t, i);
    return got != NEXT_BROKEN;
}

/* The earliest event has to wait: the first of the others that need not. */
static bool advance_other(struct trace *t, struct failure *f)
{
    heap_sort(t);
    for (size_t i = 1; i < t->nheap; i++) {
        enum advanced a = order_of[t->heap[i].th->type](t, t->heap[i].th, f);
        if (a == ADV_BROKEN)
            return false;
        if (a == ADV_YES)
            return after(t, i, f);
    }
    return stuck(t, f);
}

/* Up to when the root's thread may go on by itself. */
static int64_t limit_of(const struct trace *t)
{
    int64_t limit = INT64_MAX;
    for (size_t i = 1; i < 3 && i < t->nheap; i++)
        limit = t->heap[i].time < limit ? t->heap[i].time : limit;
    if (t->gen.samples_at < t->gen.nsamples && t->gen.samples[t->gen.samples_at].time < limit)
        limit = t->gen.samples[t->gen.samples_at].time;
    return limit;
}

/* Events of the root's thread for as long as it is the earliest. */
static bool advance_root(struct trace *t, struct failure *f)
{
    struct thread *th = t->heap[0].th;
    int64_t limit = limit_of(t);
    do {
        enum advanced a = order_of[th->type](t, th, f);
        if (UNLIKELY(a != ADV_YES)) {
            t->heap[0].time = th->time;
            return a == ADV_WAIT && advance_other(t, f);
        }
        int got = next_event(t, th, f);
        if (UNLIKELY(got != NEXT_YES)) {
            if (got == NEXT_NONE)
                heap_remove(t, 0);
            return got == NEXT_NONE;
        }
    } while (th->time <= limit && t->out_at < t->out + OUT_MAX);
    t->heap[0].time = th->time;
    sift_down(t->heap, t->nheap, 0);
    return true;
}

/* Fills t->out as far as the generation goes. */
static void fill(struct trace *t)
{
    struct gen *g = &t->gen;
    struct failure f = {.code = E_OK};
    while (t->out_at < t->out + OUT_MAX) {
        bool sample = g->samples_at < g->nsamples &&
                      (t->nheap == 0 || g->samples[g->samples_at].time < t->heap[0].time);
        if (UNLIKELY(sample)) {
            put_sample(t, &g->samples[g->samples_at++]);
        } else if (t->nheap == 0) {
            t->at = t->later.code == E_OK ? AT_GENERATION : AT_END;
            if (t->at == AT_END)
                trace_sync(t, t->last_time);
            return;
        } else if (UNLIKELY(!advance_root(t, &f))) {
            t->later = f;
            t->at = AT_END;
            return;
        }
    }
}

static void end_notes(struct trace *t)
{
    if (t->clock_back > 1000000)
        trace_note(t,
                   "clocks disagree: events that come later by the order carry times up to "
                   "%" PRId64 " ms earlier",
                   t->clock_back / 1000000);
    if (t->last_time - t->info.start_ns >= SPAN_MAX_NS)
        trace_note(t, "what carries times more than a day after the first event is put there");
}

enum trace_got trace_next(struct trace *t, struct failure *f, const struct trace_event **evs,
                          size_t *count)
{
    t->out_at = t->out;
    while (t->out_at == t->out && t->at != AT_END && t->at != PAST_END) {
        if (t->v1 != NULL)
            t->at = v1_next(t) ? IN_GENERATION : AT_END;
        else if (t->at == AT_GENERATION)
            begin_generation(t);
        else
            fill(t);
    }
    *evs = t->out;
    *count = (size_t)(t->out_at - t->out);
    if (*count > 0) {
        const struct trace_event *last = t->out_at - 1;
        if (last->kind != TRACE_SYNC)
            t->info.end_ns = last->time;
        else if (*count > 1)
            t->info.end_ns = last[-1].time;
        return TRACE_MORE;
    }
    t->at = PAST_END;
    end_notes(t);
    if (t->later.code == E_OK)
        return TRACE_END;
    if (f != NULL && f->code == E_OK)
        *f = t->later;
    return TRACE_BROKEN;
}

bool trace_each(struct trace *t, struct failure *f, trace_sink_fn *sink, void *arg)
{
    const struct trace_event *evs;
    size_t count;
    enum trace_got got;
    while ((got = trace_next(t, f, &evs, &count)) == TRACE_MORE)
        sink(arg, evs, count);
    return got == TRACE_END;
}

/* ---- what else trace.h offers ---- */

const struct trace_info *trace_info_of(const struct trace *t) { return &t->info; }

const char *trace_string(const struct trace *t, uint32_t string, size_t *size)
{
    const struct interned_string *s = &t->names.strings[string];
    if (size != NULL)
        *size = s->size;
    return s->text;
}

size_t trace_strings(const struct trace *t) { return t->names.table.count + 1; }

struct trace_stack trace_stack_of(const struct trace *t, uint32_t stack)
{
    const struct stack_at *s = &t->stacks.stacks[stack];
    if (s->count == 0) /* then there may be no lists at all */
        return (struct trace_stack){0};
    return (struct trace_stack){.frames = t->stacks.lists + s->at, .count = s->count};
}

size_t trace_stacks(const struct trace *t) { return t->stacks.stack_table.count + 1; }

struct trace_frame trace_frame_of(const struct trace *t, uint32_t frame)
{
    return t->stacks.frames[frame];
}

const char *trace_state_name(enum trace_state s)
{
    static const char *const names[TRACE_STATES] = {
        "Undetermined", "NotExist", "Runnable", "Running", "Waiting", "Syscall", "Idle"};
    return s < TRACE_STATES ? names[s] : "Bad";
}

const char *trace_kind_name(enum trace_kind k)
{
    static const char *const names[TRACE_KINDS] = {
        "Sync",   "StateTransition", "StateTransition", "RangeBegin", "RangeActive", "RangeEnd",
        "Metric", "Label",           "TaskBegin",       "TaskEnd",    "RegionBegin", "RegionEnd",
        "Log",    "StackSample",     "Experimental"};
    return k < TRACE_KINDS ? names[k] : "Bad";
}

const char *trace_wire_name(unsigned wire)
{
    return wire < 256 && wire_types[wire].name != NULL ? wire_types[wire].name : "?";
}
