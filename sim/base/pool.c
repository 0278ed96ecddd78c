/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

struct block {
    struct block *next;
    void (*release)(void *arg); /* pool_at_end; else NULL */
    void *arg;
    max_align_t data[];
};

struct pool {
    struct block *blocks;
};

struct pool *pool_new(void) { return x_alloc(sizeof(struct pool)); }

void *pool_alloc(struct pool *p, size_t size)
{
    struct block *b = x_alloc(sizeof *b + size);
    b->next = p->blocks;
    p->blocks = b;
    return b->data;
}

void *pool_grow(struct pool *p, void *old, size_t old_size, size_t size)
{
    void *fresh = pool_alloc(p, size);
    if (old_size != 0)
        memcpy(fresh, old, old_size);
    return fresh;
}

void pool_at_end(struct pool *p, void (*release)(void *arg), void *arg)
{
    pool_alloc(p, 0);
    p->blocks->release = release;
    p->blocks->arg = arg;
}

char *pool_text(struct pool *p, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(pool_alloc(p, n), s, n);
}

void pool_free(struct pool *p)
{
    while (p->blocks != NULL) {
        struct block *b = p->blocks;
        p->blocks = b->next;
        if (b->release != NULL)
            b->release(b->arg);
        free(b);
    }
    free(p);
}
