/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/gtable.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { CHUNK = GTABLE_CHUNK, ROOM_MIN = 64 };

static void *entry(const struct gtable *t, struct gchunk *c, uint32_t goid)
{
    return (unsigned char *)c->entries + goid % CHUNK * t->size;
}

static uint64_t bit(uint32_t goid) { return UINT64_C(1) << goid % CHUNK; }

void gtable_init(struct gtable *t, size_t size) { *t = (struct gtable){.size = size}; }

static void grow(struct gtable *t, size_t index)
{
    size_t room = t->room != 0 ? t->room : ROOM_MIN;
    while (room <= index)
        room *= 2;
    t->chunks = x_grow(t->chunks, room * sizeof(struct gchunk *));
    memset(t->chunks + t->room, 0, (room - t->room) * sizeof(struct gchunk *));
    t->room = room;
}

void *gtable_put(struct gtable *t, uint32_t goid)
{
    size_t i = goid / CHUNK;
    if (i >= t->room)
        grow(t, i);
    struct gchunk *c = t->chunks[i];
    if (c == NULL) {
        c = t->chunks[i] = x_grow(NULL, sizeof *c + CHUNK * t->size);
        c->used = 0;
    }
    if ((c->used & bit(goid)) == 0) {
        c->used |= bit(goid);
        t->count++;
        memset(entry(t, c, goid), 0, t->size);
    }
    return entry(t, c, goid);
}

void gtable_take(struct gtable *t, uint32_t goid)
{
    if (gtable_find(t, goid) == NULL)
        return;
    struct gchunk **c = &t->chunks[goid / CHUNK];
    (*c)->used &= ~bit(goid);
    t->count--;
    if ((*c)->used == 0) {
        free(*c);
        *c = NULL;
    }
}

void *gtable_next(const struct gtable *t, uint64_t *goid)
{
    uint64_t end = (uint64_t)t->room * CHUNK;
    while (*goid < end) {
        struct gchunk *c = t->chunks[*goid / CHUNK];
        uint64_t rest = c != NULL ? c->used >> *goid % CHUNK : 0;
        if (rest != 0) {
            *goid += (uint64_t)__builtin_ctzll(rest);
            return entry(t, c, (uint32_t)*goid);
        }
        *goid = (*goid / CHUNK + 1) * CHUNK;
    }
    return NULL;
}

void gtable_release(struct gtable *t)
{
    for (size_t i = 0; i < t->room; i++)
        free(t->chunks[i]);
    free(t->chunks);
    *t = (struct gtable){.size = t->size};
}
