/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/portfolio.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Schedules of a slice in the first round; each further one has so many times as many. */
enum { FIRST_ROUND = 8, GROWTH = 4 };

bool portfolio_add(struct portfolio *p, const struct hunt_opts *o)
{
    if (p->count == SLICES_MAX)
        return false;
    p->slices[p->count++] = (struct search_slice){.o = *o, .exhausted = -1};
    return true;
}

/* ---- one slice, once more ---- */

static bool is_random(const struct search_slice *s)
{
    return !hunt_is_tree(s->o.strategy) && s->o.strategy != HUNT_TIME && s->o.strategy != HUNT_FAIR;
}

static void take_exhausted(struct search_slice *s, const struct hunt_result *r)
{
    s->exhausted = s->bound;
    s->exhausted_runs = r->runs;
    s->whole = !r->bounded;
    s->done = s->whole || s->bound >= s->o.preemptions;
    s->bound++;
}

static void take_states(struct search_slice *s, const struct hunt_result *r)
{
    s->states = r->states;
    s->done = true;
}

static void count(struct portfolio *p, struct search_slice *s, const struct hunt_result *r)
{
    p->runs += r->runs;
    p->steps += r->steps;
    p->cut += r->cut;
    p->took_ns += r->took_ns;
    s->runs += r->runs;
    s->steps += r->steps;
    if (is_random(s))
        s->random_runs += r->runs - r->cut;
    if (r->actors > s->actors)
        s->actors = r->actors;
    if (r->longest > s->longest)
        s->longest = r->longest;
    if (s->o.strategy == HUNT_TIME)
        s->done = true;
    else if (s->o.strategy == HUNT_STATES && r->end == HUNT_EXHAUSTED)
        take_states(s, r);
    else if (hunt_is_tree(s->o.strategy) && r->end == HUNT_EXHAUSTED)
        take_exhausted(s, r);
}

static bool look(void *arg, uint64_t runs)
{
    struct portfolio *p = arg;
    return p->look != NULL && p->look(p->arg, p->runs + runs);
}

/* Depth first begins again, everybody else goes on. */
static void prepare(const struct portfolio *p, const struct search_slice *s, uint64_t budget,
                    struct hunt_opts *o)
{
    uint64_t left = s->o.runs_max > s->runs ? s->o.runs_max - s->runs : 0;
    *o = s->o;
    o->look = look;
    o->arg = (void *)(uintptr_t)p;
    o->first_run = s->runs;
    o->longest = s->longest;
    o->points_max = s->o.points_max > s->steps ? s->o.points_max - s->steps : 0;
    o->runs_max = p->endless || budget < left ? budget : left;
    if (hunt_is_tree(s->o.strategy)) {
        o->first_run = 0;
        o->preemptions = s->deepens && s->o.strategy != HUNT_DPOR ? s->bound : s->o.preemptions;
    }
}

enum slice_end { SLICE_GOES_ON, SLICE_FOUND, SLICE_DIVERGED, SLICE_FAILED, SLICE_STOPPED };

static enum slice_end search_slice(struct failure *f, struct portfolio *p, struct search_slice *s,
                                   uint64_t budget, struct finding *out)
{
    struct hunt_opts o;
    struct hunt_result r;
    prepare(p, s, budget, &o);
    if (o.runs_max == 0 || (s->o.points_max != 0 && o.points_max == 0)) {
        s->done = s->spent = true;
        return SLICE_GOES_ON;
    }
    if (!hunt(f, &o, &r))
        return SLICE_FAILED;
    if (hunt_is_tree(s->o.strategy) && !s->deepens)
        s->bound = s->o.preemptions;
    count(p, s, &r);
    if (r.end == HUNT_FOUND)
        *out = r.finding;
    return r.end == HUNT_FOUND      ? SLICE_FOUND
           : r.end == HUNT_DIVERGED ? SLICE_DIVERGED
           : r.stopped              ? SLICE_STOPPED
                                    : SLICE_GOES_ON;
}

/* ---- rounds ---- */

/* The budget of a slice in this round: a schedule of the runtime's operations takes as long as ten
 * of turns, and what a fair one shows the first ones do. */
static uint64_t budget_of(const struct search_slice *s, uint64_t round)
{
    bool few = s->o.world.granularity == GRANULARITY_OP || s->o.strategy == HUNT_FAIR;
    uint64_t n = few ? round / 4 : round;
    return n > 0 ? n : 1;
}

enum portfolio_end portfolio_search(struct failure *f, struct portfolio *p, struct finding *out,
                                    const struct search_slice **by)
{
    bool any = true;
    for (uint64_t round = FIRST_ROUND; any; round *= round < (1u << 30) ? GROWTH : 1) {
        any = false;
        for (uint32_t i = 0; i < p->count; i++) {
            struct search_slice *s = &p->slices[i];
            if (s->done)
                continue;
            any = true;
            *by = s;
            switch (search_slice(f, p, s, budget_of(s, round), out)) {
            case SLICE_FOUND: return PORTFOLIO_FOUND;
            case SLICE_DIVERGED: return PORTFOLIO_DIVERGED;
            case SLICE_FAILED: return PORTFOLIO_FAILED;
            case SLICE_STOPPED: return PORTFOLIO_NOTHING;
            case SLICE_GOES_ON: break;
            }
        }
    }
    return PORTFOLIO_NOTHING;
}

/* ---- what was covered ---- */

bool portfolio_is_exhausted(const struct portfolio *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->slices[i].exhausted >= 0 &&
            (p->slices[i].whole || p->slices[i].exhausted >= p->slices[i].o.preemptions))
            return true;
    return false;
}

static bool same_world(const struct explored_opts *a, const struct explored_opts *b)
{
    return a->granularity == b->granularity && a->memory == b->memory && a->procs == b->procs &&
           a->profile.release == b->profile.release && a->seed == b->seed;
}

static const char *world_words(const struct explored_opts *o)
{
    static char text[120];
    if (o->granularity == GRANULARITY_SYNC)
        snprintf(text, sizeof text, "turns of goroutines, go1.%d", o->profile.release);
    else
        snprintf(text, sizeof text, "operations, go1.%d, procs %" PRId32 "%s%s", o->profile.release,
                 o->procs, o->memory != MM_SC ? ", " : "",
                 o->memory != MM_SC ? mm_kind_name(o->memory) : "");
    return text;
}

/* How rare a bug so many schedules would have met with 99.9 %: one in x schedules, where
 * 1 - (1 - 1/x)^runs is 99.9 %, and ln 1000 is 6.9. */
static uint64_t rarest(uint64_t runs) { return runs * 10 / 69; }

static size_t say_random(const struct portfolio *p, const struct search_slice *first, char *text,
                         size_t size)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (same_world(&p->slices[i].o.world, &first->o.world))
            runs += p->slices[i].random_runs;
    if (runs == 0)
        return 0;
    int n = snprintf(text, size, "%" PRIu64 " random schedules", runs);
    if (rarest(runs) >= 2)
        n += snprintf(text + n, size - (size_t)n,
                      ": a bug that one in %" PRIu64 " shows would have been met with 99.9 %%",
                      rarest(runs));
    return (size_t)n;
}

static size_t say_exhausted(const struct portfolio *p, const struct search_slice *first, char *text,
                            size_t size)
{
    const struct search_slice *best = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct search_slice *s = &p->slices[i];
        if (same_world(&s->o.world, &first->o.world) && s->exhausted >= 0 &&
            (best == NULL || s->whole > best->whole ||
             (s->whole == best->whole && s->exhausted > best->exhausted)))
            best = s;
    }
    if (best == NULL)
        return 0;
    if (best->o.strategy == HUNT_DPOR)
        return (size_t)snprintf(
            text, size,
            "every schedule, one of those that differ in the order of what does "
            "not conflict (%" PRIu64 ")",
            best->exhausted_runs);
    return (size_t)(best->whole
                        ? snprintf(text, size, "every schedule (%" PRIu64 ")", best->exhausted_runs)
                        : snprintf(text, size,
                                   "every schedule with up to %" PRId64 " %s%s (%" PRIu64 ")",
                                   best->exhausted,
                                   best->o.strategy == HUNT_DELAY ? "delay" : "preemption",
                                   best->exhausted == 1 ? "" : "s", best->exhausted_runs));
}

static size_t say_states(const struct portfolio *p, const struct search_slice *first, char *text,
                         size_t size)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (same_world(&p->slices[i].o.world, &first->o.world) && p->slices[i].states > 0)
            return (size_t)snprintf(text, size, "every step from each of %" PRIu64 " states",
                                    p->slices[i].states);
    return 0;
}

/* PCT's own promise. */
static size_t say_pct(const struct portfolio *p, const struct search_slice *first, char *text,
                      size_t size)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct search_slice *s = &p->slices[i];
        uint64_t bound = strategy_pct_bound(s->actors, s->longest, s->o.depth);
        if (same_world(&s->o.world, &first->o.world) && s->o.strategy == HUNT_PCT &&
            bound != UINT64_MAX && s->random_runs > 0)
            return (size_t)snprintf(text, size,
                                    "%" PRIu64 " by pct, which meets a bug of depth %" PRIu32
                                    " in one of %" PRIu64 " at least",
                                    s->random_runs, s->o.depth, bound);
    }
    text[0] = 0;
    return 0;
}

static bool is_first_of_world(const struct portfolio *p, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++)
        if (same_world(&p->slices[i].o.world, &p->slices[at].o.world))
            return false;
    return true;
}

bool portfolio_says(const struct portfolio *p, uint32_t *at, char *text, size_t size)
{
    static size_t (*const says[])(const struct portfolio *, const struct search_slice *, char *,
                                  size_t) = {say_exhausted, say_states, say_random, say_pct};
    for (; *at < p->count; (*at)++) {
        char part[200];
        const struct search_slice *s = &p->slices[*at];
        size_t said = 0;
        if (!is_first_of_world(p, *at))
            continue;
        snprintf(text, size, "%s: ", world_words(&s->o.world));
        for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
            size_t used = strlen(text);
            if (says[i](p, s, part, sizeof part) > 0)
                snprintf(text + used, size - used, "%s%s", said++ > 0 ? "; " : "", part);
        }
        if (said == 0)
            continue;
        (*at)++;
        return true;
    }
    return false;
}
