/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/scale.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/dist.h"

/* A time at rate 1 becomes this at another; never 0, which many processes would never get past. */
static int64_t nearer(int64_t ns, int64_t rate_ppm)
{
    __extension__ __int128 v = (__int128)ns * RATE_ONE / rate_ppm;
    if (v > DIST_MAX)
        return DIST_MAX;
    return v < 1 && ns > 0 ? 1 : (int64_t)v;
}

/* All kinds scale with their lengths; what is a probability or a shape stays. */
static struct dist scale_dist(const struct dist *d, int64_t rate_ppm, struct dist_bin *bins)
{
    struct dist out = *d;
    out.low = nearer(d->low, rate_ppm);
    out.high = nearer(d->high, rate_ppm);
    out.min = nearer(d->min, rate_ppm);
    if (d->max != DIST_MAX)
        out.max = nearer(d->max, rate_ppm);
    for (uint32_t i = 0; i < d->bins_count; i++) {
        bins[i] = d->bins[i];
        bins[i].low = nearer(bins[i].low, rate_ppm);
        bins[i].high = nearer(bins[i].high, rate_ppm);
    }
    if (d->bins_count > 0)
        out.bins = bins;
    return out;
}

static bool has_rate(const struct arrivals *a) { return a->kind != ARRIVE_POSTED; }

uint32_t scale_count(const struct program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->narrivals; i++)
        n += has_rate(&p->arrivals[i]);
    return n;
}

static void scale_times(struct arrivals *a, int64_t **next, int64_t rate_ppm)
{
    for (uint64_t i = 0; i < a->ntimes; i++)
        (*next)[i] = nearer(a->times[i], rate_ppm);
    a->times = *next;
    *next += a->ntimes;
}

static int64_t more_clients(int64_t clients, int64_t rate_ppm)
{
    __extension__ __int128 n = (__int128)clients * rate_ppm / RATE_ONE;
    return n > 0 ? (int64_t)n : 1;
}

/* Each process with a gap gets a distribution of its own, with bins of its own. */
static void scale_gap(struct scaled *s, struct arrivals *a, uint32_t at, int64_t rate_ppm)
{
    const struct dist *d = s->list[a->gap];
    struct dist_bin *bins = d->bins_count > 0 ? x_alloc(d->bins_count * sizeof *bins) : NULL;
    s->dists[at] = scale_dist(d, rate_ppm, bins);
    a->gap = (int32_t)(s->program.ndists + at);
    s->list[a->gap] = &s->dists[at];
}

void scale_program(struct scaled *s, const struct program *p, int64_t rate_ppm)
{
    uint64_t ntimes = 0;
    for (uint32_t i = 0; i < p->narrivals; i++)
        ntimes += p->arrivals[i].ntimes;
    *s = (struct scaled){.program = *p,
                         .arrivals = x_alloc(p->narrivals * sizeof *s->arrivals),
                         .dists = x_alloc(p->narrivals * sizeof *s->dists),
                         .list = x_alloc((p->ndists + p->narrivals) * sizeof *s->list),
                         .times = x_alloc(ntimes * sizeof *s->times)};
    if (p->ndists > 0)
        memcpy(s->list, p->dists, p->ndists * sizeof *s->list);
    int64_t *next = s->times;
    for (uint32_t i = 0; i < p->narrivals; i++) {
        struct arrivals *a = &s->arrivals[i];
        *a = p->arrivals[i];
        s->list[p->ndists + i] = &s->dists[i];
        switch ((enum arrival_kind)a->kind) {
        case ARRIVE_EVERY:
        case ARRIVE_BURSTS: scale_gap(s, a, i, rate_ppm); break;
        case ARRIVE_TIMES: scale_times(a, &next, rate_ppm); break;
        case ARRIVE_CLOSED: a->size = more_clients(a->size, rate_ppm); break;
        case ARRIVE_POSTED:
        case ARRIVE_KINDS: break;
        }
    }
    s->program.arrivals = s->arrivals;
    s->program.dists = s->list;
    s->program.ndists += p->narrivals;
}

void scale_release(struct scaled *s)
{
    for (uint32_t i = 0; i < s->program.narrivals; i++)
        free((void *)(uintptr_t)s->dists[i].bins);
    free(s->arrivals);
    free(s->dists);
    free(s->list);
    free(s->times);
    *s = (struct scaled){0};
}
