/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a written trace: batches, tables, generations. One buffer per thread; what is full
 * goes out, so a trace of any length takes the memory of its threads and tables. */
#include "replay/gotrace_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { FREQUENCY_NS = 1000000000, STRING_MAX = 1024, FRAMES_MAX = 128, FILE_BUFFER = 1 << 20 };

static uint8_t *put_varint(uint8_t *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

static void put_bytes(struct gotrace *w, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, w->out) != size)
        w->failed = true;
    w->generation_size += size;
}

static void batch_write(struct gotrace *w, uint64_t m, struct out_batch *b)
{
    if (b->size == 0)
        return;
    uint8_t head[64], *at = head;
    *at++ = WIRE_EVENT_BATCH;
    at = put_varint(at, w->generation);
    at = put_varint(at, m);
    at = put_varint(at, b->begin);
    at = put_varint(at, b->size);
    put_bytes(w, head, (size_t)(at - head));
    put_bytes(w, b->bytes, b->size);
    b->size = 0;
}

/* Room for `size` more bytes; a table's batch begins with its type. */
static uint8_t *batch_room(struct gotrace *w, uint64_t m, struct out_batch *b, size_t size,
                           uint8_t type)
{
    if (b->bytes == NULL)
        b->bytes = x_alloc(OUT_BATCH);
    if (b->size + size > OUT_BATCH)
        batch_write(w, m, b);
    if (b->size == 0) {
        b->begin = b->last = w->now;
        if (type != NO_CODE)
            b->bytes[b->size++] = type;
    }
    return b->bytes + b->size;
}

void out_event(struct gotrace *w, struct out_m *m, enum trace_wire type, int nargs,
               const uint64_t *args)
{
    struct out_batch *b = &m->batch;
    uint8_t *at = batch_room(w, m->id, b, OUT_EVENT_MAX, NO_CODE);
    *at++ = (uint8_t)type;
    at = put_varint(at, w->now - b->last);
    b->last = w->written = w->now;
    for (int i = 0; i < nargs; i++)
        at = put_varint(at, args[i]);
    b->size = (size_t)(at - b->bytes);
}

void out_sample(struct gotrace *w, const struct trace_event *e)
{
    struct out_batch *b = &w->samples;
    uint8_t *at = batch_room(w, TRACE_NONE, b, OUT_EVENT_MAX + 16, WIRE_CPU_SAMPLES);
    *at++ = WIRE_CPU_SAMPLE;
    at = put_varint(at, w->now);
    at = put_varint(at, e->m);
    at = put_varint(at, e->p);
    at = put_varint(at, e->g == TRACE_NONE ? 0 : e->g);
    at = put_varint(at, out_stack(w, e->stack));
    b->size = (size_t)(at - b->bytes);
}

/* ---- tables ---- */

static uint32_t id_of(struct out_ids *ids, uint32_t number)
{
    X_REACH(ids->ids, ids->room, number, (size_t)number * 2 + 1024);
    if (ids->ids[number] != 0)
        return ids->ids[number];
    if (++ids->count >= ids->used_room) {
        ids->used_room = ids->used_room ? ids->used_room * 2 : 1024;
        ids->used = x_grow(ids->used, ids->used_room * sizeof *ids->used);
    }
    ids->used[ids->count] = number;
    return ids->ids[number] = (uint32_t)ids->count;
}

static void ids_reset(struct out_ids *ids)
{
    for (size_t i = 1; i <= ids->count; i++)
        ids->ids[ids->used[i]] = 0;
    ids->count = 0;
}

uint64_t out_string(struct gotrace *w, uint32_t string)
{
    return string == 0 ? 0 : id_of(&w->strings, string);
}

uint64_t out_stack(struct gotrace *w, uint32_t stack)
{
    return stack == 0 ? 0 : id_of(&w->stack_ids, stack);
}

static void write_strings(struct gotrace *w, struct out_batch *b)
{
    for (size_t i = 1; i <= w->strings.count; i++) {
        const struct interned_string *s = &w->names->strings[w->strings.used[i]];
        size_t size = s->size < STRING_MAX ? s->size : STRING_MAX;
        uint8_t *at = batch_room(w, TRACE_NONE, b, size + 32, WIRE_STRINGS);
        *at++ = WIRE_STRING;
        at = put_varint(at, i);
        at = put_varint(at, size);
        memcpy(at, s->text, size);
        b->size = (size_t)(at + size - b->bytes);
    }
    batch_write(w, TRACE_NONE, b);
}

/* Go keeps frames by program counter: a frame that has none gets one that nobody else has. */
static uint64_t pc_of(const struct stacks *s, uint32_t frame)
{
    uint64_t pc = s->frames[frame].pc;
    return pc != 0 || s->frames[frame].func == 0 ? pc : 0x10000 + (uint64_t)frame * 16;
}

static void write_stacks(struct gotrace *w, struct out_batch *b)
{
    const struct stacks *s = w->stacks;
    for (size_t i = 1; i <= w->stack_ids.count; i++) {
        const struct stack_at *k = &s->stacks[w->stack_ids.used[i]];
        uint32_t count = k->count < FRAMES_MAX ? k->count : FRAMES_MAX;
        uint8_t *at = batch_room(w, TRACE_NONE, b, 32 + (size_t)count * 40, WIRE_STACKS);
        *at++ = WIRE_STACK;
        at = put_varint(at, i);
        at = put_varint(at, count);
        for (uint32_t j = 0; j < count; j++) {
            uint32_t number = s->lists[k->at + j];
            const struct trace_frame *f = &s->frames[number];
            at = put_varint(at, pc_of(s, number));
            at = put_varint(at, out_string(w, f->func));
            at = put_varint(at, out_string(w, f->file));
            at = put_varint(at, f->line);
        }
        b->size = (size_t)(at - b->bytes);
    }
    batch_write(w, TRACE_NONE, b);
}

/* ---- generations ---- */

static void write_sync(struct gotrace *w)
{
    struct out_batch b = {.bytes = x_alloc(OUT_BATCH), .begin = w->now};
    uint8_t *at = b.bytes;
    if (w->opts.version >= 25)
        *at++ = WIRE_SYNC;
    *at++ = WIRE_FREQUENCY;
    at = put_varint(at, FREQUENCY_NS);
    if (w->opts.version >= 25) {
        uint64_t unix_ns = (uint64_t)w->opts.clock_unix_ns + w->now - (uint64_t)w->first_time;
        *at++ = WIRE_CLOCK_SNAPSHOT;
        at = put_varint(at, 0);
        at = put_varint(at, w->now);
        at = put_varint(at, unix_ns / FREQUENCY_NS);
        at = put_varint(at, unix_ns % FREQUENCY_NS);
    }
    b.size = (size_t)(at - b.bytes);
    batch_write(w, TRACE_NONE, &b);
    free(b.bytes);
}

void out_generation_begin(struct gotrace *w)
{
    w->generation++;
    w->generation_size = 0;
    w->generation_begin = (int64_t)w->now;
    if (w->generation == 1)
        w->first_time = (int64_t)w->now;
    w->gc_said = false;
    write_sync(w);
}

void out_generation_end(struct gotrace *w)
{
    struct out_batch b = {.bytes = NULL};
    for (struct out_m *m = w->all_ms; m != NULL; m = m->next)
        batch_write(w, m->id, &m->batch);
    batch_write(w, TRACE_NONE, &w->nobody.batch);
    batch_write(w, TRACE_NONE, &w->samples);
    write_stacks(w, &b);
    write_strings(w, &b);
    free(b.bytes);
    ids_reset(&w->strings);
    ids_reset(&w->stack_ids);
    if (w->opts.version >= 26)
        put_bytes(w, &(uint8_t){WIRE_END_OF_GENERATION}, 1);
}

bool out_open(struct gotrace *w, struct failure *f, const char *path)
{
    w->out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (w->out == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return false;
    }
    w->path = strdup(path);
    if (w->out != stdout) {
        w->buffer = x_alloc(FILE_BUFFER);
        setvbuf(w->out, w->buffer, _IOFBF, FILE_BUFFER);
    }
    char head[17] = "";
    snprintf(head, sizeof head, "go 1.%d trace", w->opts.version);
    put_bytes(w, head, 16);
    return true;
}

bool out_close(struct gotrace *w, struct failure *f)
{
    bool ok = !w->failed && fflush(w->out) == 0 && !ferror(w->out);
    if (w->out != stdout && fclose(w->out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot be written: %s", w->path, strerror(errno));
    free(w->buffer);
    free(w->path);
    return ok;
}
