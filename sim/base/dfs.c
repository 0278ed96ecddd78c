/* SPDX-License-Identifier: BSD-3-Clause */
/* Depth first over all answers, with a bound on preemptions.
 *
 * The path of the present run is an array of frames. end() turns the path into the next one: drop
 * frames from the end until one has an answer left that the bound allows. A switch away from a
 * thread that could go on is a preemption; a switch because a thread waits, ended or yielded is
 * free, and so are all answers of other kinds (Musuvathi and Qadeer, PLDI 2007). Letting time jump
 * over runnable threads costs one too. */
#include "sim/base/choose.h"

#include <assert.h>
#include <string.h>

/* What an answer costs. A delay passes over one who could go on, whether or not that is a
 * preemption (Emmi, Qadeer, Rakamaric, POPL 2011). */
static uint32_t frame_cost(const struct strategy_dfs *d, const struct dfs_frame *f, uint32_t pick)
{
    if (d->delays)
        return f->clock && pick == (f->kind_n & CHOICE_N_MAX) - 1 ? 1
               : pick < f->threads                                ? pick
                                                                  : 0;
    if (f->clock && pick == (f->kind_n & CHOICE_N_MAX) - 1)
        return true;
    return f->preempts && pick != 0 && pick < f->threads;
}

static void use(struct strategy_dfs *d, uint32_t used)
{
    d->used = (uint16_t)used;
    d->s.used = used;
    d->s.spent = d->preemptions_max != DFS_UNBOUNDED && used >= d->preemptions_max;
}

static bool dfs_begin(struct strategy *s)
{
    struct strategy_dfs *d = (struct strategy_dfs *)s;

    if (d->exhausted || d->diverged || (d->runs_max != 0 && d->runs == d->runs_max))
        return false;
    d->depth = 0;
    s->enough = false;
    use(d, 0);
    d->runs++;
    return true;
}

static uint32_t push(struct strategy_dfs *d, const struct choice *c)
{
    if (d->count == d->frames_max) { /* deeper choices are all 0 and never varied */
        d->pruned = true;
        return 0;
    }
    struct dfs_frame *f = &d->frames[d->count++];
    f->kind_n = (uint32_t)c->kind << 28 | c->n;
    f->pick = 0;
    f->used = d->used;
    f->threads = (uint8_t)(c->threads < 255 ? c->threads : 255);
    f->preempts = c->preempts;
    f->clock = c->clock;
    d->depth++;
    return 0;
}

static uint32_t dfs_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_dfs *d = (struct strategy_dfs *)s;

    if (d->depth == d->count)
        return push(d, c);
    struct dfs_frame *f = &d->frames[d->depth++];
    if (f->kind_n != ((uint32_t)c->kind << 28 | c->n)) {
        d->diverged = true;
        return 0;
    }
    use(d, f->used + frame_cost(d, f, f->pick));
    return f->pick;
}

/* The next answer of f that the bounds allow; false: none. */
static bool advance(struct strategy_dfs *d, struct dfs_frame *f)
{
    uint32_t n = f->kind_n & CHOICE_N_MAX;
    enum choice_kind kind = (enum choice_kind)(f->kind_n >> 28);

    while (++f->pick < n) {
        if (kind == CHOICE_DRAW && d->draws_max != 0 && f->pick >= d->draws_max) {
            d->pruned = true;
            return false;
        }
        if (d->preemptions_max == DFS_UNBOUNDED ||
            f->used + frame_cost(d, f, f->pick) <= d->preemptions_max)
            return true;
        d->bounded = true;
    }
    return false;
}

static void dfs_end(struct strategy *s, bool complete)
{
    struct strategy_dfs *d = (struct strategy_dfs *)s;

    if (!complete && !s->enough)
        d->pruned = true;
    if (d->depth < d->count) /* the run asked less than its prefix: it did not repeat itself */
        d->diverged = true;
    while (d->count > 0 && !advance(d, &d->frames[d->count - 1]))
        d->count--;
    d->exhausted = d->count == 0;
    s->same = d->exhausted ? 0 : d->count - 1;
}

static void dfs_skip(struct strategy *s, size_t answers)
{
    struct strategy_dfs *d = (struct strategy_dfs *)s;
    const struct dfs_frame *last = answers > 0 ? &d->frames[answers - 1] : NULL;

    d->depth = answers;
    use(d, last != NULL ? last->used + frame_cost(d, last, last->pick) : 0);
}

void strategy_dfs_init(struct strategy_dfs *d, struct dfs_frame *frames, size_t frames_max,
                       uint32_t preemptions_max)
{
    *d = (struct strategy_dfs){
        .s = {.name = "dfs",
              .wants_time = false,
              .evenly = NULL,
              .begin = dfs_begin,
              .pick = dfs_pick,
              .end = dfs_end,
              .skip = dfs_skip},
        .frames = frames,
        .frames_max = frames_max,
        .preemptions_max = preemptions_max,
    };
}
