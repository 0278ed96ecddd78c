/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/map.h"

#include <stdlib.h>

#include "sim/base/alloc.h"

static size_t hash(uint64_t key, uint32_t key2)
{
    uint64_t h = (key ^ (uint64_t)key2 << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h ^ h >> 29);
}

static struct map_slot *probe(const struct map *m, uint64_t key, uint32_t key2)
{
    size_t mask = m->capacity - 1;
    for (size_t i = hash(key, key2) & mask;; i = (i + 1) & mask) {
        struct map_slot *s = &m->slots[i];
        if (!s->used || (s->key == key && s->key2 == key2))
            return s;
    }
}

struct map_slot *map_find(const struct map *m, uint64_t key, uint32_t key2)
{
    if (m->capacity == 0)
        return NULL;
    struct map_slot *s = probe(m, key, key2);
    return s->used ? s : NULL;
}

static void grow(struct map *m)
{
    struct map old = *m;
    m->capacity = old.capacity != 0 ? old.capacity * 2 : 64;
    m->slots = x_alloc(m->capacity * sizeof *m->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].used)
            *probe(m, old.slots[i].key, old.slots[i].key2) = old.slots[i];
    free(old.slots);
}

struct map_slot *map_put(struct map *m, uint64_t key, uint32_t key2)
{
    if (m->count * 2 >= m->capacity)
        grow(m);
    struct map_slot *s = probe(m, key, key2);
    if (!s->used) {
        *s = (struct map_slot){.key = key, .key2 = key2, .used = 1};
        m->count++;
    }
    return s;
}

/* Linear probing without tombstones: what follows moves back into the hole when it may. */
void map_take(struct map *m, struct map_slot *s)
{
    size_t mask = m->capacity - 1, hole = (size_t)(s - m->slots);
    for (size_t i = (hole + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
        size_t home = hash(m->slots[i].key, m->slots[i].key2) & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole].used = 0;
    m->count--;
}

void map_release(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}
