/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings, frames and stacks of a whole trace, each content once. A generation defines them anew
 * under other numbers; whoever reads events wants one number for one thing. */
#include "replay/trace_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { CHUNK = 1 << 16 };

static uint32_t hash_of(const void *data, size_t size)
{
    const uint8_t *b = data;
    uint64_t h = size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; b += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, b, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (; size > 0; b++, size--)
        h = (h ^ *b) * UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

static void table_grow(struct interned *t)
{
    size_t capacity = t->capacity ? t->capacity * 2 : 256;
    free(t->slots);
    t->slots = x_alloc(capacity * sizeof *t->slots);
    memset(t->slots, 0, capacity * sizeof *t->slots);
    t->capacity = capacity;
    for (size_t i = 1; i <= t->count; i++) {
        size_t at = t->hashes[i] & (capacity - 1);
        while (t->slots[at] != 0)
            at = (at + 1) & (capacity - 1);
        t->slots[at] = (uint32_t)i;
    }
}

/* Where an entry of this hash would go; *at moves over those that have it. */
static uint32_t table_next(const struct interned *t, uint32_t hash, size_t *at)
{
    for (;; *at = (*at + 1) & (t->capacity - 1)) {
        uint32_t number = t->slots[*at];
        if (number == 0 || t->hashes[number] == hash)
            return number;
    }
}

/* A new number, whose slot is `at`. True: arrays by number must grow to `room`. */
static bool table_add(struct interned *t, uint32_t hash, size_t at)
{
    bool grew = t->count + 1 >= t->room;
    if (grew) {
        t->room = t->room ? t->room * 2 : 128;
        t->hashes = x_grow(t->hashes, t->room * sizeof *t->hashes);
    }
    t->count++;
    t->hashes[t->count] = hash;
    t->slots[at] = (uint32_t)t->count;
    return grew;
}

static void table_ready(struct interned *t)
{
    if ((t->count + 1) * 2 > t->capacity)
        table_grow(t);
}

static void table_release(struct interned *t)
{
    free(t->slots);
    free(t->hashes);
}

void names_init(struct names *n)
{
    memset(n, 0, sizeof *n);
    n->table.room = 128;
    n->table.hashes = x_alloc(n->table.room * sizeof *n->table.hashes);
    n->strings = x_alloc(n->table.room * sizeof *n->strings);
    n->strings[0] = (struct interned_string){.text = ""};
}

void names_release(struct names *n)
{
    for (size_t i = 0; i < n->nchunks; i++)
        free(n->chunks[i]);
    free(n->chunks);
    free(n->strings);
    table_release(&n->table);
}

/* Room for the text and a NUL. */
static char *names_room(struct names *n, size_t size)
{
    if (size + 1 > n->left) {
        size_t chunk = size + 1 > CHUNK ? size + 1 : CHUNK;
        n->chunks = x_grow(n->chunks, (n->nchunks + 1) * sizeof *n->chunks);
        n->chunks[n->nchunks++] = x_alloc(chunk);
        n->left = chunk;
        if (chunk > CHUNK) { /* a chunk of its own; it is full, the next one begins anew */
            n->left = 0;
            return n->chunks[n->nchunks - 1];
        }
    }
    char *at = n->chunks[n->nchunks - 1] + (CHUNK - n->left);
    n->left -= size + 1;
    return at;
}

uint32_t names_put(struct names *n, const void *text, size_t size)
{
    if (size == 0)
        return 0;
    table_ready(&n->table);
    uint32_t hash = hash_of(text, size);
    size_t at = hash & (n->table.capacity - 1);
    for (;;) {
        uint32_t number = table_next(&n->table, hash, &at);
        if (number == 0)
            break;
        const struct interned_string *s = &n->strings[number];
        if (s->size == size && memcmp(s->text, text, size) == 0)
            return number;
        at = (at + 1) & (n->table.capacity - 1);
    }
    if (table_add(&n->table, hash, at))
        n->strings = x_grow(n->strings, n->table.room * sizeof *n->strings);
    char *copy = names_room(n, size);
    memcpy(copy, text, size);
    copy[size] = '\0';
    n->strings[n->table.count] = (struct interned_string){.text = copy, .size = (uint32_t)size};
    return (uint32_t)n->table.count;
}

void stacks_init(struct stacks *s)
{
    memset(s, 0, sizeof *s);
    struct interned *tables[] = {&s->frame_table, &s->stack_table};
    for (int i = 0; i < 2; i++) {
        tables[i]->room = 128;
        tables[i]->hashes = x_alloc(128 * sizeof *tables[i]->hashes);
    }
    s->frames = x_alloc(128 * sizeof *s->frames);
    s->frames[0] = (struct trace_frame){.pc = 0};
    s->stacks = x_alloc(128 * sizeof *s->stacks);
    s->stacks[0] = (struct stack_at){.count = 0};
}

void stacks_release(struct stacks *s)
{
    free(s->frames);
    free(s->stacks);
    free(s->lists);
    table_release(&s->frame_table);
    table_release(&s->stack_table);
}

uint32_t stacks_frame(struct stacks *s, const struct trace_frame *f)
{
    struct interned *t = &s->frame_table;
    table_ready(t);
    uint64_t key[] = {f->pc, f->line, (uint64_t)f->func << 32 | f->file};
    uint32_t hash = hash_of(key, sizeof key);
    size_t at = hash & (t->capacity - 1);
    for (;;) {
        uint32_t number = table_next(t, hash, &at);
        if (number == 0)
            break;
        const struct trace_frame *g = &s->frames[number];
        if (g->pc == f->pc && g->line == f->line && g->func == f->func && g->file == f->file)
            return number;
        at = (at + 1) & (t->capacity - 1);
    }
    if (table_add(t, hash, at))
        s->frames = x_grow(s->frames, t->room * sizeof *s->frames);
    s->frames[t->count] = *f;
    return (uint32_t)t->count;
}

uint32_t stacks_put(struct stacks *s, const uint32_t *frames, size_t count)
{
    if (count == 0)
        return 0;
    struct interned *t = &s->stack_table;
    table_ready(t);
    uint32_t hash = hash_of(frames, count * sizeof *frames);
    size_t at = hash & (t->capacity - 1);
    for (;;) {
        uint32_t number = table_next(t, hash, &at);
        if (number == 0)
            break;
        const struct stack_at *k = &s->stacks[number];
        if (k->count == count && memcmp(&s->lists[k->at], frames, count * sizeof *frames) == 0)
            return number;
        at = (at + 1) & (t->capacity - 1);
    }
    if (table_add(t, hash, at))
        s->stacks = x_grow(s->stacks, t->room * sizeof *s->stacks);
    if (s->nlists + count > s->lists_room) {
        s->lists_room = s->lists_room ? s->lists_room * 2 : 4096;
        while (s->nlists + count > s->lists_room)
            s->lists_room *= 2;
        s->lists = x_grow(s->lists, s->lists_room * sizeof *s->lists);
    }
    if (count > 0)
        memcpy(&s->lists[s->nlists], frames, count * sizeof *frames);
    s->stacks[t->count] = (struct stack_at){.at = s->nlists, .count = (uint32_t)count};
    s->nlists += count;
    return (uint32_t)t->count;
}
