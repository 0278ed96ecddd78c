/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/hits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

enum { STUCK_MAX = 64 };

/* Goroutines that wait at one place. */
struct stuck {
    const struct run_g_kind *is;
    uint64_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct run_g_kind *x = ((const struct stuck *)a)->is, *y = ((const struct stuck *)b)->is;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    int c = strcmp(x->group, y->group);
    return c != 0 ? c : strcmp(x->reason, y->reason);
}

/* After a leak those that are leaked; if nobody can go on, all that wait for others. */
static bool is_stuck(const struct run_result *r, const struct run_g_kind *is)
{
    bool dead = r->kind == FIND_DEADLOCK || r->end == END_IDLE;
    return is->stranded || (dead && is->blocked);
}

static size_t stuck_of(const struct run_result *r, struct stuck out[STUCK_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < r->ngs; i++) {
        const struct stuck one = {r->gs[i].is, 1};
        size_t k = 0;
        if (!is_stuck(r, one.is))
            continue;
        while (k < n && by_place(&out[k], &one) != 0)
            k++;
        if (k < n)
            out[k].count++;
        else if (n < STUCK_MAX)
            out[n++] = one;
    }
    qsort(out, n, sizeof *out, by_place);
    return n;
}

static void describe(const struct run_result *r, char *buf, size_t size)
{
    struct stuck stuck[STUCK_MAX];
    size_t n = stuck_of(r, stuck), used = (size_t)snprintf(buf, size, "%s", run_verdict(r));
    if (n == 0 && r->text[0] != 0)
        snprintf(buf + used, size - used, ": %.*s", (int)strcspn(r->text, "\n"), r->text);
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used,
                                 "%s%" PRIu64 " of %.60s [%s] at line %" PRIu32,
                                 i == 0 ? ": " : ", ", stuck[i].count, stuck[i].is->group,
                                 stuck[i].is->reason, stuck[i].is->line);
}

void hits_add(struct hits *h, const struct run_result *r, uint64_t seed)
{
    char what[sizeof h->hit[0].what];
    size_t k = 0;
    describe(r, what, sizeof what);
    h->runs++;
    while (k < h->count && strcmp(h->hit[k].what, what) != 0)
        k++;
    if (k == HITS_MAX) {
        h->others++;
        return;
    }
    if (k == h->count) {
        h->hit[h->count] = (struct hit){.first_seed = seed};
        snprintf(h->hit[h->count++].what, sizeof what, "%s", what);
    }
    h->hit[k].count++;
}

static int by_count(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first_seed < y->first_seed ? -1 : 1;
}

void hits_print(FILE *to, struct hits *h)
{
    if (h->count == 0 || (h->count == 1 && strcmp(h->hit[0].what, "finished") == 0))
        return;
    qsort(h->hit, h->count, sizeof *h->hit, by_count);
    fprintf(to, "\n%" PRIu64 " runs\n", h->runs);
    for (size_t i = 0; i < h->count; i++)
        fprintf(to, "%8" PRIu64 "  %s (first with seed %" PRIu64 ")\n", h->hit[i].count,
                text_line(h->hit[i].what), h->hit[i].first_seed);
    if (h->others > 0)
        fprintf(to, "%8" PRIu64 "  in other ways\n", h->others);
}
