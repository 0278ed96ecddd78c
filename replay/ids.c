/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables by id. Ids are whatever the file says, up to 64 bits: nothing is indexed by them. */
#include "replay/trace_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

static void id_insert(struct id_table *t, uint64_t key, void *state)
{
    size_t at = slot_of(t, key);
    while (t->slots[at].state != NULL)
        at = (at + 1) & (t->capacity - 1);
    t->slots[at] = (struct id_slot){.key = key, .state = state};
}

void id_init(struct id_table *t)
{
    *t = (struct id_table){.capacity = 64, .slots = x_alloc(64 * sizeof *t->slots)};
    memset(t->slots, 0, 64 * sizeof *t->slots);
}

void id_put(struct id_table *t, uint64_t key, void *state)
{
    if ((t->count + 1) * 2 > t->capacity) {
        struct id_table old = *t;
        t->capacity = old.capacity * 2;
        t->slots = x_alloc(t->capacity * sizeof *t->slots);
        memset(t->slots, 0, t->capacity * sizeof *t->slots);
        for (size_t i = 0; i < old.capacity; i++)
            if (old.slots[i].state != NULL)
                id_insert(t, old.slots[i].key, old.slots[i].state);
        free(old.slots);
    }
    id_insert(t, key, state);
    t->count++;
}

/* What follows the hole moves up, so that no search stops short of it. */
void id_take(struct id_table *t, uint64_t key)
{
    size_t mask = t->capacity - 1, hole = slot_of(t, key);
    while (t->slots[hole].key != key)
        hole = (hole + 1) & mask;
    for (size_t at = (hole + 1) & mask; t->slots[at].state != NULL; at = (at + 1) & mask) {
        size_t home = slot_of(t, t->slots[at].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            t->slots[hole] = t->slots[at];
            hole = at;
        }
    }
    t->slots[hole].state = NULL;
    t->count--;
}
