/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_MAP_H
#define GMPSIM_SIM_BASE_MAP_H

/* A hash map from a 64-bit number and a small one to two words: open spans by (key, span). Open
 * addressing; its memory comes from malloc, and without any x_failed is called (alloc.h). Nothing
 * depends on the order of its slots. */

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    uint32_t key2; /* below UINT32_MAX */
    uint32_t used; /* 1 when taken */
    uint64_t at;
    uint32_t a;
};

struct map {
    struct map_slot *slots; /* a power of two, at most half full */
    size_t capacity, count;
};

/* NULL: not there. Pointers are good until the next put or take. */
struct map_slot *map_find(const struct map *m, uint64_t key, uint32_t key2);
/* The slot of the key, made if need be with zero values. */
struct map_slot *map_put(struct map *m, uint64_t key, uint32_t key2);
void map_take(struct map *m, struct map_slot *s);
void map_release(struct map *m);

#endif
