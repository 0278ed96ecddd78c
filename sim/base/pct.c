/* SPDX-License-Identifier: BSD-3-Clause */
/* PCT (Burckhardt, Kothari, Musuvathi, Nagarakatti, ASPLOS 2010): everybody has a random priority,
 * and the highest who can goes on; at depth - 1 random steps of the run the one that goes on falls
 * below all others. A bug that needs depth ordered pairs of operations is met with probability
 * 1 / (n * k^(depth - 1)) at least, by n threads of k steps together.
 *
 * k is not known before: it is the longest run so far. The first run has no change but the
 * priorities. Whoever yields is asked last, or a spinning thread above the others would never let
 * them do what it waits for; the host says who that is by not offering it first. */
#include "sim/base/choose.h"

enum { PRIORITY_FIRST = 1 << 20 };

static bool pct_begin(struct strategy *s)
{
    struct strategy_pct *p = (struct strategy_pct *)s;

    if (p->run == p->runs_max)
        return false;
    uint64_t x = p->seed;
    x = rng_splitmix(&x) ^ RNG_CHOOSE;
    x = rng_splitmix(&x) ^ ~p->run++;
    p->random.state = rng_splitmix(&x);
    p->asked = p->seen = 0;
    for (uint32_t i = 0; i < OPTIONS_MAX; i++)
        p->priority[i] = 0;
    for (uint32_t i = 0; i + 1 < p->depth; i++)
        p->change[i] = p->longest != 0 ? evenly_next(&p->random) % p->longest : UINT64_MAX;
    return true;
}

/* An option that was not asked about before comes in at a random place among the priorities; equal
 * ones are told apart by their number. */
static uint32_t priority_of(struct strategy_pct *p, uint8_t option)
{
    if (p->priority[option] == 0) {
        p->seen++;
        p->priority[option] = PRIORITY_FIRST +
                              evenly_below(evenly_next(&p->random), PRIORITY_FIRST);
    }
    return p->priority[option];
}

static uint32_t highest(struct strategy_pct *p, const struct choice *c)
{
    uint32_t best = 0;

    /* Each may draw: one after the other, whatever the compiler. */
    uint32_t highest_so_far = priority_of(p, choice_place(c, 0));
    for (uint32_t i = 1; i < c->n; i++) {
        uint32_t next = priority_of(p, choice_place(c, i));
        if (next > highest_so_far) {
            highest_so_far = next;
            best = i;
        }
    }
    return best;
}

static uint32_t pct_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_pct *p = (struct strategy_pct *)s;

    if (c->option == NULL && c->turn == NULL)
        return random_answer(&p->random, c, FRESH_PERMILLE);
    uint64_t now = p->asked++;
    uint32_t best = highest(p, c);
    for (uint32_t i = 0; i + 1 < p->depth; i++)
        if (p->change[i] == now) {
            p->priority[choice_place(c, best)] = p->depth - i; /* below all that were drawn */
            best = highest(p, c);
        }
    return best;
}

static void pct_end(struct strategy *s, bool complete)
{
    struct strategy_pct *p = (struct strategy_pct *)s;

    (void)complete;
    if (p->asked > p->longest)
        p->longest = p->asked;
    if (p->seen > p->actors)
        p->actors = p->seen;
}

uint64_t strategy_pct_bound(uint64_t actors, uint64_t steps, uint32_t depth)
{
    uint64_t bound = actors;
    for (uint32_t i = 1; i < depth; i++) {
        if (steps != 0 && bound > UINT64_MAX / steps)
            return UINT64_MAX;
        bound *= steps;
    }
    return bound;
}

void strategy_pct_init(struct strategy_pct *p, uint64_t seed, uint64_t runs_max, uint32_t depth)
{
    *p = (struct strategy_pct){
        .s = {.name = "pct",
              .wants_time = false,
              .evenly = NULL,
              .begin = pct_begin,
              .pick = pct_pick,
              .end = pct_end},
        .seed = seed,
        .runs_max = runs_max,
        .depth = depth < 1               ? 1
                 : depth > PCT_DEPTH_MAX ? PCT_DEPTH_MAX
                                         : depth,
    };
}
