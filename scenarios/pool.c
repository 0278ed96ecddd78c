/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fail.h"

struct block {
    struct block *next;
    max_align_t data[];
};

struct pool {
    struct block *blocks;
};

static void *want(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "gmpsim: out of memory\n");
        exit(EXIT_USAGE);
    }
    return p;
}

struct pool *pool_new(void) { return want(calloc(1, sizeof(struct pool))); }

void *pool_alloc(struct pool *p, size_t size)
{
    struct block *b = want(calloc(1, sizeof *b + size));
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
        free(b);
    }
    free(p);
}
