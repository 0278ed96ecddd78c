/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { BITS = 64 };

static size_t words(const struct pairs *p)
{
    return ((size_t)p->ncode * p->ncode + BITS - 1) / BITS;
}

void pairs_open(struct pairs *p, const struct program *program)
{
    *p = (struct pairs){0};
    if (program->ncode > PAIRS_CODE_MAX)
        return;
    p->ncode = program->ncode;
    p->seen = x_alloc(words(p) * sizeof *p->seen + 1);
    memset(p->seen, 0, words(p) * sizeof *p->seen);
}

void pairs_close(struct pairs *p)
{
    free(p->seen);
    *p = (struct pairs){0};
}

void pairs_begin(struct pairs *p) { memset(p->last, 0, sizeof p->last); }

static uint64_t place(const struct pairs *p, uint32_t first, uint32_t second)
{
    return (uint64_t)first * p->ncode + second;
}

static bool is_seen(const struct pairs *p, uint32_t first, uint32_t second)
{
    uint64_t i = place(p, first, second);
    return (p->seen[i / BITS] >> i % BITS & 1) != 0;
}

void pairs_turn(struct pairs *p, const struct turn_does *d)
{
    if (p->ncode == 0 || !d->known || d->resumes || d->pc >= p->ncode)
        return;
    for (uint32_t k = 0; k < d->count; k++) {
        if (d->object[k] <= 0)
            continue;
        struct pairs_last *l = &p->last[(uint32_t)d->object[k] % PAIRS_OBJECTS];
        if (l->object == d->object[k] && l->goid != d->goid && l->pc != d->pc &&
            !(l->reads && d->reads)) {
            uint64_t i = place(p, l->pc, d->pc);
            p->seen[i / BITS] |= UINT64_C(1) << i % BITS;
        }
        *l = (struct pairs_last){d->object[k], d->goid, d->pc, d->reads};
    }
}

bool pairs_next_one(const struct pairs *p, uint64_t *at, uint32_t *first, uint32_t *second)
{
    for (; *at < (uint64_t)p->ncode * p->ncode; (*at)++) {
        *first = (uint32_t)(*at / p->ncode);
        *second = (uint32_t)(*at % p->ncode);
        if (is_seen(p, *first, *second) && !is_seen(p, *second, *first)) {
            (*at)++;
            return true;
        }
    }
    return false;
}

struct pairs_sum pairs_count(const struct pairs *p)
{
    struct pairs_sum sum = {0};
    uint64_t at = 0;
    uint32_t a, b;
    while (pairs_next_one(p, &at, &a, &b))
        sum.one++;
    for (a = 0; a < p->ncode; a++)
        for (b = a + 1; b < p->ncode; b++)
            sum.both += is_seen(p, a, b) && is_seen(p, b, a);
    return sum;
}
