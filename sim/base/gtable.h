/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_GTABLE_H
#define GMPSIM_SIM_BASE_GTABLE_H

/* What somebody keeps of every living goroutine, by goid: an entry of a fixed size each. Goids are
 * handed out nearly in order, so entries lie in chunks of 64 and a chunk goes back to malloc when
 * its last goroutine ends: memory is that of the living, plus one word for 64 goroutines that
 * ever were. Rejected: a hash map, which needs twice the entries and the keys besides. Without
 * memory x_failed is called (alloc.h). */

#include <stddef.h>
#include <stdint.h>

struct gtable {
    size_t size;            /* of an entry, a multiple of 8 */
    struct gchunk **chunks; /* by goid / 64; NULL: nobody lives there */
    size_t room, count;
};

enum { GTABLE_CHUNK = 64 };

struct gchunk {
    uint64_t used; /* a bit per entry */
    uint64_t entries[];
};

void gtable_init(struct gtable *t, size_t size);

/* NULL: not there. In line: it is asked for every record. */
static inline void *gtable_find(const struct gtable *t, uint32_t goid)
{
    size_t i = goid / GTABLE_CHUNK;
    struct gchunk *c = i < t->room ? t->chunks[i] : NULL;
    if (c == NULL || (c->used >> goid % GTABLE_CHUNK & 1) == 0)
        return NULL;
    return (unsigned char *)c->entries + goid % GTABLE_CHUNK * t->size;
}

/* The goroutine's entry, made with zeros if need be. It stays where it is. */
void *gtable_put(struct gtable *t, uint32_t goid);
void gtable_take(struct gtable *t, uint32_t goid);
/* The first goroutine with *goid or a higher one: its entry, and its goid; NULL: no more. */
void *gtable_next(const struct gtable *t, uint64_t *goid);
void gtable_release(struct gtable *t);

#endif
