/* SPDX-License-Identifier: BSD-3-Clause */
/* A generation of a trace of Go 1.22 and later: its batches, sorted by thread, and its tables.
 *
 * Nothing can be resolved before the whole generation is there: tables come last as a rule. The
 * bytes stay where they were read, batches are offsets into them. No length that the file states is
 * believed: memory is asked for what was read, never for what was promised. */
#include "replay/trace_int.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { READ_STEP = 1 << 20, PAYLOAD_MAX = 1 << 16, STRING_MAX = 1024, FRAMES_MAX = 128 };

/* clang-format off */
const struct wire_type wire_types[256] = {
#define WIRE(number, NAME, name, nargs, stack, new_stack, string, string2) \
    [number] = {name, (nargs), (stack), (new_stack), (string), (string2)},
#include "replay/wire.def"
#undef WIRE
};
/* clang-format on */

/* What every event asks for, in a table of its own that stays in the cache. */
const uint8_t wire_args[256] = {
#define WIRE(number, NAME, name, nargs, stack, new_stack, string, string2) [number] = (nargs) + 1,
#include "replay/wire.def"
#undef WIRE
};

const uint8_t wire_poison[64];

const uint8_t *wire_varint_long(const uint8_t *at, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 10; i++) {
        v |= (uint64_t)(at[i] & 0x7fU) << (7 * i);
        if (at[i] < 0x80) {
            *value = v;
            return i == 9 && at[i] > 1 ? wire_poison : at + i + 1;
        }
    }
    *value = 0;
    return wire_poison;
}

/* ---- the window ---- */

static bool window_room(struct window *w, struct failure *f, size_t size)
{
    if (size <= w->room)
        return true;
    if (size > w->max) {
        fail(f, E_LIMIT, "one generation has more than %zu MB", w->max >> 20);
        return false;
    }
    size_t room = w->room ? w->room : (size_t)READ_STEP * 2;
    while (room < size)
        room *= 2;
    w->bytes = x_grow(w->bytes, room + WINDOW_SLACK);
    memset(w->bytes + room, 0, WINDOW_SLACK);
    w->room = room;
    return true;
}

bool window_fill(struct window *w, struct failure *f, size_t want)
{
    while (w->have - w->used < want && !w->end) {
        size_t got;
        if (!window_room(w, f, w->have + READ_STEP) ||
            !input_read(w->in, f, w->bytes + w->have, READ_STEP, &got))
            return false;
        w->have += got;
        w->end = got == 0;
    }
    return true;
}

void window_drop(struct window *w)
{
    if (w->used > 0)
        memmove(w->bytes, w->bytes + w->used, w->have - w->used);
    w->base += w->used;
    w->have -= w->used;
    w->used = 0;
}

void window_release(struct window *w)
{
    input_close(w->in);
    free(w->bytes);
}

static uint64_t offset_of(const struct trace *t, const uint8_t *at)
{
    return t->window.base + (uint64_t)(at - t->window.bytes);
}

/* ---- what numbers mean ---- */

static int by_id(const void *a, const void *b)
{
    const struct meaning *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

uint32_t meaning_searched(const struct meanings *m, uint64_t id)
{
    size_t low = 0, high = m->ndense > 0 ? 0 : m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (id == 0)
        return 1; /* always there, and nothing */
    return low < m->count && m->ndense == 0 && m->list[low].id == id ? m->list[low].is : 0;
}

static void meaning_add(struct meanings *m, uint64_t id, uint32_t is, uint64_t offset)
{
    X_ROOM(m->list, m->count, m->room, 256);
    m->list[m->count++] = (struct meaning){.id = id, .offset = offset, .is = is + 1};
}

static bool twice(struct failure *f, const char *what, const struct meaning *m)
{
    fail(f, E_TRACE, "byte %" PRIu64 ": %s %" PRIu64 " is defined a second time", m->offset, what,
         m->id);
    return false;
}

/* Makes the list fit for questions; false: a number is defined twice. */
static bool meanings_ready(struct meanings *m, struct failure *f, const char *what)
{
    uint64_t max = 0;
    for (size_t i = 0; i < m->count; i++)
        max = m->list[i].id > max ? m->list[i].id : max;
    if (max > 4 * (uint64_t)m->count + 64) {
        m->ndense = 0;
        if (m->count > 1)
            qsort(m->list, m->count, sizeof *m->list, by_id);
        for (size_t i = 1; i < m->count; i++)
            if (m->list[i].id == m->list[i - 1].id)
                return twice(f, what, &m->list[i]);
        return true;
    }
    m->ndense = (size_t)max + 1;
    if (m->ndense > m->dense_room) {
        m->dense_room = m->ndense * 2;
        m->dense = x_grow(m->dense, m->dense_room * sizeof *m->dense);
    }
    memset(m->dense, 0, m->ndense * sizeof *m->dense);
    m->dense[0] = 1;
    for (size_t i = 0; i < m->count; i++) {
        if (m->dense[m->list[i].id] != 0)
            return twice(f, what, &m->list[i]);
        m->dense[m->list[i].id] = m->list[i].is;
    }
    return true;
}

static void meanings_release(struct meanings *m)
{
    free(m->list);
    free(m->dense);
}

/* ---- payloads ---- */

/* What is left of a batch that is no batch of events. */
struct payload {
    struct trace *t;
    const uint8_t *at, *end;
    struct failure *f;
};

static bool broken(const struct payload *p, const char *what)
{
    fail(p->f, E_TRACE, "byte %" PRIu64 ": %s", offset_of(p->t, p->at), what);
    return false;
}

static bool take(struct payload *p, uint64_t *value, const char *what)
{
    const uint8_t *next = wire_varint(p->at, value);
    if (!wire_inside(p->at, next, p->end)) {
        fail(p->f, E_TRACE, "byte %" PRIu64 ": %s is %s", offset_of(p->t, p->at), what,
             next == wire_poison ? "no number of up to 64 bits" : "cut by the end of its batch");
        return false;
    }
    p->at = next;
    return true;
}

static bool take_type(struct payload *p, uint8_t type)
{
    if (*p->at != type) {
        fail(p->f, E_TRACE, "byte %" PRIu64 ": event type %u in a batch of %s",
             offset_of(p->t, p->at), *p->at, wire_types[type].name);
        return false;
    }
    p->at++;
    p->t->info.wire_events[type]++;
    return true;
}

static bool strings_read(struct payload *p)
{
    struct gen *g = &p->t->gen;
    g->has_strings = true;
    for (p->at++; p->at < p->end;) {
        uint64_t id, size, offset = offset_of(p->t, p->at);
        if (!take_type(p, WIRE_STRING) || !take(p, &id, "a string's number") ||
            !take(p, &size, "a string's length"))
            return false;
        if (size > STRING_MAX)
            return broken(p, "a string of more than 1024 bytes");
        if (size > (uint64_t)(p->end - p->at))
            return broken(p, "a string is cut by the end of its batch");
        if (id == 0)
            return broken(p, "string 0 is defined, which is the empty one");
        meaning_add(&g->strings, id, names_put(&p->t->names, p->at, size), offset);
        p->at += size;
    }
    return true;
}

/* Frames are known by their program counter, as to Go's reader. They hold numbers of the
 * generation's strings until all strings are there: the string tables may come later. */
static void pcs_grow(struct gen *g)
{
    struct pc_slot *old = g->pcs;
    size_t count = g->pcs_capacity;
    g->pcs_capacity = count ? count * 2 : 1024;
    g->pcs = x_alloc(g->pcs_capacity * sizeof *g->pcs);
    memset(g->pcs, 0, g->pcs_capacity * sizeof *g->pcs);
    for (size_t i = 0; i < count; i++) {
        if (old[i].frame == 0)
            continue;
        size_t at = (size_t)(old[i].pc * UINT64_C(0x9e3779b97f4a7c15) >> 32);
        while (g->pcs[at & (g->pcs_capacity - 1)].frame != 0)
            at++;
        g->pcs[at & (g->pcs_capacity - 1)] = old[i];
    }
    free(old);
}

static struct pc_slot *pc_find(struct gen *g, uint64_t pc)
{
    if ((g->npcs + 1) * 2 > g->pcs_capacity)
        pcs_grow(g);
    size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (;; at++) {
        struct pc_slot *s = &g->pcs[at & (g->pcs_capacity - 1)];
        if (s->frame == 0 || s->pc == pc)
            return s;
    }
}

/* A frame whose strings are still numbers of the generation. */
static bool frame_read(struct payload *p, struct gen_frame *fr)
{
    fr->offset = offset_of(p->t, p->at);
    return take(p, &fr->pc, "a frame's program counter") &&
           take(p, &fr->func, "a frame's function") && take(p, &fr->file, "a frame's file") &&
           take(p, &fr->line, "a frame's line");
}

static uint32_t frame_number(struct trace *t, const struct gen_frame *fr)
{
    struct gen *g = &t->gen;
    struct pc_slot *s = pc_find(g, fr->pc);
    if (s->frame != 0) {
        const struct gen_frame *old = &g->frames[s->frame - 1];
        if (old->func != fr->func || old->file != fr->file || old->line != fr->line)
            trace_note(t, "a program counter has several frames in one generation; the first "
                          "counts, as for Go");
        return s->frame;
    }
    X_ROOM(g->frames, g->nframes, g->frames_room, 1024);
    g->frames[g->nframes++] = *fr;
    *s = (struct pc_slot){.pc = fr->pc, .frame = (uint32_t)g->nframes};
    g->npcs++;
    return s->frame;
}

static void stack_frame_add(struct gen *g, uint32_t frame)
{
    X_ROOM(g->lists, g->nlists, g->lists_room, 4096);
    g->lists[g->nlists++] = frame;
}

static bool stacks_read(struct payload *p)
{
    struct gen *g = &p->t->gen;
    for (p->at++; p->at < p->end;) {
        uint64_t id, count, offset = offset_of(p->t, p->at);
        if (!take_type(p, WIRE_STACK) || !take(p, &id, "a stack's number") ||
            !take(p, &count, "a stack's number of frames"))
            return false;
        if (count > FRAMES_MAX)
            return broken(p, "a stack of more than 128 frames");
        if (id == 0)
            return broken(p, "stack 0 is defined, which is no stack");
        if (g->nlists + count > UINT32_MAX)
            return broken(p, "too many stacks");
        meaning_add(&g->stacks, id, (uint32_t)g->nlists, offset);
        stack_frame_add(g, (uint32_t)count);
        for (uint64_t i = 0; i < count; i++) {
            struct gen_frame fr;
            if (!frame_read(p, &fr))
                return false;
            stack_frame_add(g, frame_number(p->t, &fr));
        }
    }
    return true;
}

static bool samples_read(struct payload *p)
{
    struct gen *g = &p->t->gen;
    for (p->at++; p->at < p->end;) {
        uint64_t time;
        struct sample s = {.offset = offset_of(p->t, p->at)};
        if (!take_type(p, WIRE_CPU_SAMPLE) || !take(p, &time, "a sample's time") ||
            !take(p, &s.m, "a sample's thread") || !take(p, &s.p, "a sample's P") ||
            !take(p, &s.g, "a sample's goroutine") || !take(p, &s.stack, "a sample's stack"))
            return false;
        if (s.g == 0)
            s.g = TRACE_NONE;
        s.time = (int64_t)time; /* in units until the frequency is known */
        X_ROOM(g->samples, g->nsamples, g->samples_room, 256);
        g->samples[g->nsamples++] = s;
    }
    return true;
}

static bool clock_read(struct payload *p, uint64_t *time)
{
    struct gen *g = &p->t->gen;
    uint64_t dt;
    if (g->has_clock)
        return broken(p, "a second clock snapshot in one generation");
    if (!take_type(p, WIRE_CLOCK_SNAPSHOT) || !take(p, &dt, "a clock snapshot's time") ||
        !take(p, &g->clock_mono, "a clock snapshot") || !take(p, &g->clock_s, "a clock snapshot") ||
        !take(p, &g->clock_ns, "a clock snapshot"))
        return false;
    g->has_clock = true;
    *time += dt;
    g->clock_time = *time;
    return true;
}

static bool sync_read(struct payload *p, uint64_t time)
{
    struct gen *g = &p->t->gen;
    bool clocks = p->t->info.version >= 25;
    if (clocks && !take_type(p, WIRE_SYNC))
        return false;
    while (p->at < p->end) {
        if (clocks && *p->at == WIRE_CLOCK_SNAPSHOT) {
            if (!clock_read(p, &time))
                return false;
            continue;
        }
        uint64_t frequency;
        if (g->has_frequency && *p->at == WIRE_FREQUENCY)
            return broken(p, "a second frequency in one generation");
        if (!take_type(p, WIRE_FREQUENCY) || !take(p, &frequency, "a frequency"))
            return false;
        g->has_frequency = true;
        if (frequency == 0)
            trace_note(p->t, "a generation has frequency 0: its times mean nothing, only the "
                             "order of events holds");
        g->ratio = frequency == 0 ? 0 : 1.0 / ((double)frequency / 1e9);
        bool whole = g->ratio >= 1 && g->ratio <= 1024 && (double)(uint64_t)g->ratio == g->ratio;
        g->ratio_whole = whole ? (uint64_t)g->ratio : 0;
    }
    return true;
}

/* ---- batches ---- */

struct header {
    uint64_t gen, m, time, size;
    size_t payload; /* where it begins in the window */
    uint8_t kind;   /* WIRE_EVENT_BATCH, WIRE_EXPERIMENTAL_BATCH, WIRE_END_OF_GENERATION */
    uint8_t experiment;
};

enum header_got { HEADER_READ, HEADER_END, HEADER_CUT, HEADER_BAD };

static enum header_got cut(struct trace *t, struct failure *f, const char *what)
{
    fail(f, E_TRACE, "byte %" PRIu64 ": the trace ends inside %s", t->window.base + t->window.have,
         what);
    return HEADER_CUT;
}

/* The header of the next batch, and its payload into the window. Takes nothing. */
static enum header_got header_read(struct trace *t, struct failure *f, struct header *h)
{
    struct window *w = &t->window;
    if (!window_fill(w, f, 64))
        return HEADER_BAD;
    if (w->have == w->used)
        return HEADER_END;
    const uint8_t *at = w->bytes + w->used, *end = w->bytes + w->have;
    memset(w->bytes + w->have, 0, WINDOW_SLACK);
    *h = (struct header){.kind = *at, .m = TRACE_NONE, .payload = w->used + 1};
    if (h->kind == WIRE_END_OF_GENERATION)
        return HEADER_READ;
    if (h->kind != WIRE_EVENT_BATCH && h->kind != WIRE_EXPERIMENTAL_BATCH) {
        fail(f, E_TRACE, "byte %" PRIu64 ": event type %u where a batch has to begin",
             offset_of(t, at), h->kind);
        return HEADER_BAD;
    }
    const uint8_t *first = at++;
    if (h->kind == WIRE_EXPERIMENTAL_BATCH)
        h->experiment = *at++;
    uint64_t *fields[] = {&h->gen, &h->m, &h->time, &h->size};
    for (int i = 0; i < 4; i++) {
        const uint8_t *next = wire_varint(at, fields[i]);
        if (next == wire_poison && at + 10 <= end) {
            fail(f, E_TRACE, "byte %" PRIu64 ": no number of up to 64 bits", offset_of(t, at));
            return HEADER_BAD;
        }
        if (!wire_inside(at, next, end))
            return cut(t, f, "a batch's header");
        at = next;
    }
    if (h->size > PAYLOAD_MAX) {
        fail(f, E_TRACE, "byte %" PRIu64 ": a batch of %" PRIu64 " bytes, 65536 is the most",
             offset_of(t, first), h->size);
        return HEADER_BAD;
    }
    size_t head = (size_t)(at - first);
    if (!window_fill(w, f, head + h->size))
        return HEADER_BAD;
    h->payload = w->used + head;
    return w->have - w->used < head + h->size ? cut(t, f, "a batch") : HEADER_READ;
}

static bool events_add(struct trace *t, struct failure *f, const struct header *h)
{
    struct gen *g = &t->gen;
    g->has_events = true;
    if (h->size == 0)
        return true;
    if (g->nbatches == NO_BATCH) {
        fail(f, E_LIMIT, "one generation has more than %u batches", NO_BATCH);
        return false;
    }
    struct thread *th = order_thread(&t->order, h->m);
    X_ROOM(g->batches, g->nbatches, g->batches_room, 256);
    uint32_t number = (uint32_t)g->nbatches++;
    g->batches[number] = (struct batch){
        .at = h->payload, .time = h->time, .size = (uint32_t)h->size, .next = NO_BATCH};
    if (th->listed) {
        g->batches[th->last].next = number;
    } else {
        th->listed = true;
        th->first = number;
        X_ROOM(g->order, g->nthreads, g->threads_room, 64);
        g->order[g->nthreads++] = th;
    }
    th->last = number;
    return true;
}

static bool batch_add(struct trace *t, struct failure *f, const struct header *h)
{
    const uint8_t *at = t->window.bytes + h->payload;
    struct payload p = {.t = t, .at = at, .end = at + h->size, .f = f};
    t->info.wire_events[h->kind]++;
    if (h->kind == WIRE_EXPERIMENTAL_BATCH && h->experiment != 0)
        return true;
    uint8_t first = h->size > 0 ? *at : 0;
    uint8_t sync = t->info.version >= 25 ? WIRE_SYNC : WIRE_FREQUENCY;
    if (first == sync)
        return sync_read(&p, h->time);
    switch (first) {
    case WIRE_STRINGS: t->info.wire_events[first]++; return strings_read(&p);
    case WIRE_STACKS: t->info.wire_events[first]++; return stacks_read(&p);
    case WIRE_CPU_SAMPLES: t->info.wire_events[first]++; return samples_read(&p);
    default: return events_add(t, f, h);
    }
}

/* ---- the generation ---- */

static void gen_begin(struct trace *t)
{
    struct gen *g = &t->gen;
    for (size_t i = 0; i < g->nthreads; i++)
        g->order[i]->listed = false;
    g->nbatches = g->nthreads = g->nsamples = g->samples_at = g->nframes = g->nlists = 0;
    g->strings.count = g->stacks.count = g->npcs = 0;
    if (g->pcs_capacity > 0)
        memset(g->pcs, 0, g->pcs_capacity * sizeof *g->pcs);
    g->any = g->has_events = g->has_strings = g->has_frequency = g->has_clock = false;
    g->number = 0;
    window_drop(&t->window);
}

static bool string_of(struct trace *t, struct failure *f, const struct gen_frame *fr, uint64_t id,
                      const char *what, uint32_t *number)
{
    uint32_t is = meaning_of(&t->gen.strings, id);
    if (is == 0) {
        fail(f, E_TRACE,
             "byte %" PRIu64 ": a frame's %s is string %" PRIu64 ", which its "
             "generation does not define",
             fr->offset, what, id);
        return false;
    }
    *number = is - 1;
    return true;
}

/* Frames and stacks get their numbers of the whole trace, now that all strings are known. */
static bool tables_ready(struct trace *t, struct failure *f)
{
    struct gen *g = &t->gen;
    if (!meanings_ready(&g->strings, f, "string"))
        return false;
    for (size_t i = 0; i < g->nframes; i++) {
        struct gen_frame *fr = &g->frames[i];
        struct trace_frame frame = {.pc = fr->pc, .line = fr->line};
        if (!string_of(t, f, fr, fr->func, "function", &frame.func) ||
            !string_of(t, f, fr, fr->file, "file", &frame.file))
            return false;
        fr->number = stacks_frame(&t->stacks, &frame);
    }
    for (size_t i = 0; i < g->stacks.count; i++) {
        uint32_t *list = &g->lists[g->stacks.list[i].is - 1], count = *list++;
        for (uint32_t k = 0; k < count; k++)
            list[k] = g->frames[list[k] - 1].number;
        g->stacks.list[i].is = 1 + stacks_put(&t->stacks, list, count);
    }
    return meanings_ready(&g->stacks, f, "stack");
}

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool gen_ready(struct trace *t, struct failure *f)
{
    struct gen *g = &t->gen;
    const char *lacks = !g->has_frequency                        ? "frequency"
                        : t->info.version >= 25 && !g->has_clock ? "clock snapshot"
                                                                 : NULL;
    if (lacks != NULL) {
        fail(f, E_TRACE, "byte %" PRIu64 ": generation %" PRIu64 " ends here and has no %s",
             t->window.base + t->window.used, g->number, lacks);
        return false;
    }
    if (!tables_ready(t, f))
        return false;
    for (size_t i = 0; i < g->nsamples; i++)
        g->samples[i].time = gen_time(g, (uint64_t)g->samples[i].time);
    if (g->nsamples > 1)
        qsort(g->samples, g->nsamples, sizeof *g->samples, by_time);
    if (g->has_clock && !t->info.has_clock) {
        t->info.has_clock = true;
        t->info.clock_ns = gen_time(g, g->clock_time);
        t->info.clock_mono_ns = g->clock_mono;
        t->info.clock_unix_s = g->clock_s;
        t->info.clock_unix_ns = g->clock_ns;
    }
    return true;
}

/* One batch more. */
static bool gen_grow(struct trace *t, struct failure *f, const struct header *h)
{
    struct gen *g = &t->gen;
    if (g->min_time == 0 || !g->any || h->time < g->min_time)
        g->min_time = h->time;
    g->number = h->gen;
    g->any = true;
    if (!batch_add(t, f, h))
        return false;
    t->window.used = h->payload + h->size;
    return true;
}

static enum gen_got bad(struct trace *t, struct failure *f, const char *what, uint64_t number)
{
    fail(f, E_TRACE, "byte %" PRIu64 ": %s %" PRIu64, t->window.base + t->window.used, what,
         number);
    return GEN_BROKEN;
}

/* The file ended inside the generation: what becomes of it. */
static enum gen_got gen_partial(struct trace *t, struct failure *f)
{
    if (t->opts.strict || t->info.generations == 0)
        return GEN_BROKEN;
    trace_note(t, "the last generation is incomplete and left out: %.120s", f->text);
    t->info.partial = true;
    fail_reset(f);
    return GEN_NONE;
}

/* Headers from 1.26 on: a byte says that a generation ends. */
static enum gen_got gen_read_marked(struct trace *t, struct failure *f)
{
    struct gen *g = &t->gen;
    for (;;) {
        struct header h;
        enum header_got got = header_read(t, f, &h);
        if (got == HEADER_END && !g->has_events) {
            if (g->any)
                trace_note(t, "after the last generation another one begins, without events");
            return GEN_NONE;
        }
        if (got == HEADER_END)
            cut(t, f, "a generation");
        if (got == HEADER_END || got == HEADER_CUT)
            return gen_partial(t, f);
        if (got == HEADER_BAD)
            return GEN_BROKEN;
        /* Go takes such a payload for the end, too. */
        bool hidden = h.kind == WIRE_EVENT_BATCH && h.size > 0 &&
                      t->window.bytes[h.payload] == WIRE_END_OF_GENERATION;
        if (h.kind == WIRE_END_OF_GENERATION || hidden) {
            t->info.wire_events[WIRE_END_OF_GENERATION]++;
            t->window.used = h.payload + h.size;
            return gen_ready(t, f) ? GEN_READ : GEN_BROKEN;
        }
        if (h.gen == 0)
            return bad(t, f, "the generation's number is", h.gen);
        if (g->any && h.gen != g->number)
            return bad(t, f, "no end of the generation before the first batch of generation",
                       h.gen);
        if (!gen_grow(t, f, &h))
            return GEN_BROKEN;
    }
}

/* The file is cut inside a batch. Go's reader takes the batches before it for the generation. */
static enum gen_got gen_cut(struct trace *t, struct failure *f)
{
    if (t->opts.strict && t->gen.any) {
        struct failure other = {.code = E_OK};
        return gen_ready(t, &other) ? GEN_READ : GEN_BROKEN;
    }
    return gen_partial(t, f);
}

/* Headers 1.22 to 1.25: a generation ends where the next one begins, or the file. */
static enum gen_got gen_read_counted(struct trace *t, struct failure *f)
{
    struct gen *g = &t->gen;
    for (;;) {
        struct header h;
        enum header_got got = header_read(t, f, &h);
        if (got == HEADER_CUT && g->any && g->has_strings && !t->opts.strict &&
            h.gen != g->number) {
            fail_reset(f);
            break; /* the first batch of the next one is cut: this one is whole */
        }
        if (got == HEADER_CUT)
            return gen_cut(t, f);
        if (got == HEADER_BAD)
            return g->any && gen_ready(t, &(struct failure){.code = E_OK}) ? GEN_READ : GEN_BROKEN;
        if (got == HEADER_END)
            break;
        if (h.kind == WIRE_END_OF_GENERATION || h.gen == 0)
            return bad(t, f, "the generation's number is", 0);
        if (g->any && h.gen == g->number + 1)
            break;
        if (g->any ? h.gen != g->number : t->info.generations > 0 && h.gen != t->next_generation)
            return bad(t, f, "out of order: generation", h.gen);
        if (!gen_grow(t, f, &h))
            return GEN_BROKEN;
    }
    if (!g->any && t->info.generations > 0)
        return GEN_NONE;
    t->next_generation = g->number + 1;
    if (t->window.end && t->window.used == t->window.have && t->info.generations > 0 &&
        t->had_strings && !g->has_strings && !t->opts.strict) {
        cut(t, f, "a generation, before its table of strings");
        return gen_partial(t, f);
    }
    t->had_strings = g->has_strings;
    return gen_ready(t, f) ? GEN_READ : GEN_BROKEN;
}

enum gen_got gen_read(struct trace *t, struct failure *f)
{
    gen_begin(t);
    enum gen_got got = t->info.version >= 26 ? gen_read_marked(t, f) : gen_read_counted(t, f);
    t->info.bytes = t->window.base + t->window.used;
    if (got == GEN_READ && t->info.generations++ == 0)
        t->info.first_generation = t->gen.number;
    return got;
}

void gen_release(struct gen *g)
{
    free(g->batches);
    free(g->order);
    free(g->samples);
    free(g->pcs);
    free(g->frames);
    free(g->lists);
    meanings_release(&g->strings);
    meanings_release(&g->stacks);
}
