/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/states.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/fingerprint.h"

enum { ANSWERS_MAX = 64, DEPTH_MAX = 1 << 16 };

/* ---- what is known ---- */

static void forget_all(struct strategy_states *s)
{
    memset(s->index, 0, 2 * sizeof *s->index * s->nodes_max);
    s->count = s->open_count = 0;
}

static uint32_t *slot_of(const struct strategy_states *s, uint64_t key)
{
    uint32_t mask = 2 * s->nodes_max - 1, i = (uint32_t)key & mask;
    while (s->index[i] != 0 && s->nodes[s->index[i] - 1].key != key)
        i = (i + 1) & mask;
    return &s->index[i];
}

static uint64_t all_of(uint32_t n)
{
    return n >= ANSWERS_MAX ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* The question with this key. It is new where its slot is empty. */
static uint32_t node_of(struct strategy_states *s, uint64_t key, uint32_t n)
{
    uint32_t *slot = slot_of(s, key);
    if (*slot != 0)
        return *slot - 1;
    s->pruned |= n > ANSWERS_MAX;
    s->nodes[s->count] = (struct states_node){.key = key,
                                              .untried = all_of(n),
                                              .parent = s->at,
                                              .pick = s->pick,
                                              .depth = s->asked,
                                              .n = n};
    s->open[s->open_count++] = s->count;
    *slot = ++s->count;
    return s->count - 1;
}

/* What happened since the last question is decided by it and its answer. */
static uint64_t key_of(const struct strategy_states *s, const struct choice *c)
{
    struct fingerprint h;
    uint64_t state = c->turn != NULL && s->state != NULL ? s->state(s->state_arg) : 0;
    fp_init(&h);
    fp_mix4(&h, c->kind, c->n, c->first, c->preempts);
    if (state != 0)
        fp_mix(&h, state);
    else if (s->asked > 0)
        fp_mix2(&h, s->nodes[s->at].key, s->pick);
    return fp_value(&h);
}

/* ---- a run ---- */

/* One of those with something untried, all as likely; false: there are none. */
static bool draw_target(struct strategy_states *s)
{
    while (s->open_count > 0) {
        uint32_t i = evenly_below(evenly_next(&s->random), s->open_count);
        s->target = s->open[i];
        if (s->nodes[s->target].untried != 0)
            return true;
        s->open[i] = s->open[--s->open_count];
    }
    return false;
}

static bool states_begin(struct strategy *st)
{
    struct strategy_states *s = (struct strategy_states *)st;
    if (s->exhausted)
        return false;
    s->at = s->pick = s->asked = s->way_length = 0;
    s->lost = s->s.enough = false;
    if (s->count == 0)
        return true;
    if (!draw_target(s)) {
        s->exhausted = true;
        return false;
    }
    uint32_t x = s->target;
    for (s->way_length = s->nodes[x].depth; s->nodes[x].depth > 0; x = s->nodes[x].parent)
        s->way[s->nodes[x].depth - 1] = s->nodes[x].pick;
    return true;
}

/* The world is not where it was when it was answered like this: what is untried there stays so. */
static uint32_t lose(struct strategy_states *s)
{
    s->nodes[s->target].untried = 0;
    s->pruned = s->lost = s->s.enough = true;
    return 0;
}

static uint32_t one_of(struct strategy_states *s, uint64_t answers)
{
    uint32_t k = evenly_below(evenly_next(&s->random), (uint32_t)__builtin_popcountll(answers));
    while (k-- > 0)
        answers &= answers - 1;
    return (uint32_t)__builtin_ctzll(answers);
}

/* Something that was not done here, or, if all was, anything: then this run has nothing new. */
static uint32_t go_on(struct strategy_states *s)
{
    struct states_node *x = &s->nodes[s->at];
    if (x->untried == 0) {
        s->s.enough = true;
        return one_of(s, all_of(x->n));
    }
    uint32_t k = one_of(s, x->untried);
    x->untried &= ~(UINT64_C(1) << k);
    return k;
}

static uint32_t answer(struct strategy_states *s, const struct choice *c)
{
    if (s->asked < s->way_length)
        return s->way[s->asked] < c->n ? s->way[s->asked] : lose(s);
    if (s->asked == s->way_length && s->count > 0)
        s->at = s->target;
    else if (s->count < s->nodes_max && s->asked < s->way_max)
        s->at = node_of(s, key_of(s, c), c->n);
    else {
        s->pruned = s->lost = true;
        return random_answer(&s->random, c, FRESH_PERMILLE);
    }
    return s->nodes[s->at].n == c->n ? go_on(s) : lose(s);
}

static uint32_t states_pick(struct strategy *st, const struct choice *c)
{
    struct strategy_states *s = (struct strategy_states *)st;
    if (s->lost)
        return random_answer(&s->random, c, FRESH_PERMILLE);
    uint32_t pick = answer(s, c);
    s->pick = pick;
    s->asked++;
    return pick;
}

static uint32_t states_step(struct strategy *st, const struct choice *c, bool slept)
{
    (void)slept;
    return c->n > 1 ? states_pick(st, c) : 0;
}

static void states_end(struct strategy *st, bool complete)
{
    struct strategy_states *s = (struct strategy_states *)st;
    s->pruned |= !complete && !s->s.enough;
    if (s->count == 0)
        s->exhausted = true; /* nothing is asked */
    if (s->count == s->nodes_max)
        forget_all(s);
}

void strategy_states_init(struct strategy_states *s, uint64_t seed, uint32_t nodes_max)
{
    uint64_t x = seed;
    *s = (struct strategy_states){.s = {.name = "states",
                                        .begin = states_begin,
                                        .pick = states_pick,
                                        .step = states_step,
                                        .end = states_end},
                                  .seed = seed,
                                  .nodes_max = nodes_max,
                                  .way_max = DEPTH_MAX};
    x = rng_splitmix(&x) ^ RNG_CHOOSE;
    s->random.state = rng_splitmix(&x);
    s->nodes = x_alloc(nodes_max * sizeof *s->nodes);
    s->index = x_alloc(2 * nodes_max * sizeof *s->index);
    s->open = x_alloc(nodes_max * sizeof *s->open);
    s->way = x_alloc(s->way_max * sizeof *s->way);
    forget_all(s);
}

void strategy_states_free(struct strategy_states *s)
{
    free(s->nodes);
    free(s->index);
    free(s->open);
    free(s->way);
}
