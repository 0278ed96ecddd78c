/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* Texts of one hash are told apart by how many come before them. */
uint32_t texts_number(struct numbers *n, const char *text)
{
    uint64_t h = hash(text);
    for (uint32_t i = 0;; i++) {
        struct map_slot *s = map_find(&n->by_hash, h, i);
        if (s == NULL) {
            X_ROOM(n->text, n->count, n->room, 64);
            n->text[n->count] = text;
            map_put(&n->by_hash, h, i)->a = n->count;
            return n->count++;
        }
        if (strcmp(n->text[s->a], text) == 0)
            return s->a;
    }
}

void texts_numbers_release(struct numbers *n)
{
    free(n->text);
    map_release(&n->by_hash);
}
