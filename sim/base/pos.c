/* SPDX-License-Identifier: BSD-3-Clause */
/* Two samplers that look at what is about to be done.
 *
 * POS (Yuan, Yang, Gu, CAV 2018): everybody's next operation has a random priority and the highest
 * goes first; then whoever it was, and all whose next operation conflicts with what was done, draw
 * anew. So partial orders are sampled and not interleavings: operations that do not conflict do
 * not make the rare orders rarer.
 *
 * SURW (Zhao et al., ASPLOS 2025): the next is drawn in proportion to how much everybody has still
 * to do, by the most that was counted in a run before, so that all interleavings are about as
 * likely; and only operations on one object, another in each run, are counted and kept in the order
 * that was drawn, the others go as they come. Who begins after the draw would never be the first,
 * so then there is another draw.
 *
 * Where nobody says what is about to be done (granularity op), nothing conflicts, and every
 * operation counts. */
#include "sim/base/choose.h"

#include <string.h>

enum { PRIORITY_RANGE = 1 << 27 };

static void begin_run(struct evenly *e, uint64_t seed, uint64_t run)
{
    uint64_t x = seed;
    x = rng_splitmix(&x) ^ RNG_CHOOSE;
    x = rng_splitmix(&x) ^ ~run;
    e->state = rng_splitmix(&x);
}

static bool is_about_somebody(const struct choice *c)
{
    return c->option != NULL || c->turn != NULL;
}

/* What answer k does. Unknown: whoever starts or goes on in the middle of something, and the clock.
 */
static void look(const struct choice *c, uint32_t k, struct turn_does *d)
{
    *d = (struct turn_does){0};
    if (c->turn != NULL && c->first + k < c->turn->count)
        c->turn->look(c->turn, c->first + k, d);
    else if (c->turn != NULL)
        *d = (struct turn_does){.known = true, .count = 1, .object = {TURN_OBJECT_CLOCK}};
}

bool turn_conflicts(const struct turn_does *a, const struct turn_does *b)
{
    if (!a->known || !b->known)
        return true;
    if (a->reads && b->reads)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (a->object[i] == b->object[k] || a->object[i] == TURN_OBJECT_ALL ||
                b->object[k] == TURN_OBJECT_ALL)
                return true;
    return false;
}

/* ---- POS ---- */

static bool pos_begin(struct strategy *s)
{
    struct strategy_pos *p = (struct strategy_pos *)s;
    if (p->run == p->runs_max)
        return false;
    begin_run(&p->random, p->seed, p->run++);
    memset(p->priority, 0, sizeof p->priority);
    return true;
}

static uint32_t pos_priority(struct strategy_pos *p, uint8_t place)
{
    if (p->priority[place] == 0)
        p->priority[place] = 1 + evenly_below(evenly_next(&p->random), PRIORITY_RANGE);
    return p->priority[place];
}

static uint32_t pos_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_pos *p = (struct strategy_pos *)s;
    struct turn_does done, next;
    uint32_t best = 0;
    if (!is_about_somebody(c))
        return random_answer(&p->random, c, FRESH_PERMILLE);
    for (uint32_t i = 1; i < c->n; i++)
        if (pos_priority(p, choice_place(c, i)) > pos_priority(p, choice_place(c, best)))
            best = i;
    look(c, best, &done);
    for (uint32_t i = 0; c->turn != NULL && i < c->n; i++) {
        look(c, i, &next);
        if (turn_conflicts(&done, &next))
            p->priority[choice_place(c, i)] = 0;
    }
    p->priority[choice_place(c, best)] = 0;
    return best;
}

static void pos_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

void strategy_pos_init(struct strategy_pos *p, uint64_t seed, uint64_t runs_max)
{
    *p = (struct strategy_pos){.s = {.name = "pos",
                                     .wants_time = false,
                                     .evenly = NULL,
                                     .begin = pos_begin,
                                     .pick = pos_pick,
                                     .end = pos_end},
                               .seed = seed,
                               .runs_max = runs_max};
}

/* ---- SURW ---- */

static bool surw_begin(struct strategy *s)
{
    struct strategy_surw *p = (struct strategy_surw *)s;
    if (p->run == p->runs_max)
        return false;
    begin_run(&p->random, p->seed, p->run++);
    p->one_object = p->object_count > 0 && evenly_below(evenly_next(&p->random), 4) != 0;
    if (p->one_object)
        p->object = p->objects[evenly_below(evenly_next(&p->random), p->object_count)];
    memset(p->all, 0, sizeof p->all);
    memset(p->by_object, 0, sizeof p->by_object);
    memset(p->done, 0, sizeof p->done);
    p->object_count = 0;
    p->turn = 0;
    p->intended = -1;
    return true;
}

/* Interesting operations that are still expected at the place. */
static uint32_t surw_left(const struct strategy_surw *p, uint8_t place)
{
    uint32_t most = p->one_object ? p->most_by_object[p->object % SURW_OBJECTS][place]
                                  : p->most_all[place];
    return most > p->done[place] ? (uint32_t)(most - p->done[place]) : 0;
}

/* Who starts or goes on in the middle of something may come to such an operation at once. */
static bool is_interesting(const struct strategy_surw *p, const struct turn_does *d, uint8_t place)
{
    if (!p->one_object)
        return true;
    if (!d->known)
        return surw_left(p, place) > 0;
    for (uint32_t i = 0; i < d->count; i++)
        if ((uint32_t)d->object[i] == p->object)
            return true;
    return false;
}

/* In a run that a limit cut not all operations were counted: at least one is taken to be left. */
static uint32_t surw_weight(const struct strategy_surw *p, const struct choice *c, uint32_t k)
{
    uint32_t left = surw_left(p, choice_place(c, k));
    return left == 0 && c->turn == NULL ? 1 : left;
}

/* In proportion to what is left; evenly, if nothing is. */
static uint32_t surw_draw(struct strategy_surw *p, const struct choice *c)
{
    uint32_t sum = 0, i = 0;
    for (uint32_t k = 0; k < c->n; k++)
        sum += surw_weight(p, c, k);
    if (sum == 0)
        return evenly_below(evenly_next(&p->random), c->n);
    uint32_t x = evenly_below(evenly_next(&p->random), sum);
    for (; x >= surw_weight(p, c, i); i++)
        x -= surw_weight(p, c, i);
    return i;
}

static void count_one(uint16_t *count) { *count = (uint16_t)(*count + (*count < UINT16_MAX)); }

static void keep_most(uint16_t *most, const uint16_t *count)
{
    for (uint32_t i = 0; i < OPTIONS_MAX; i++)
        most[i] = count[i] > most[i] ? count[i] : most[i];
}

/* Later runs draw by the highest counts so far. */
static void surw_end(struct strategy *s, bool complete)
{
    struct strategy_surw *p = (struct strategy_surw *)s;
    (void)complete;
    keep_most(p->most_all, p->all);
    for (uint32_t i = 0; i < p->object_count; i++)
        keep_most(p->most_by_object[p->objects[i] % SURW_OBJECTS],
                  p->by_object[p->objects[i] % SURW_OBJECTS]);
}

static void surw_note_object(struct strategy_surw *p, uint32_t object)
{
    for (uint32_t i = 0; i < p->object_count; i++)
        if (p->objects[i] == object)
            return;
    if (p->object_count < SURW_OBJECTS)
        p->objects[p->object_count++] = object;
}

/* Were all whom c offers there when `intended` was drawn? Who has begun since, or was woken, has to
 * have the chance that the others had. */
static bool surw_were_asked(const struct strategy_surw *p, const struct choice *c)
{
    for (uint32_t k = 0; k < c->n; k++)
        if (!p->asked[choice_place(c, k)])
            return false;
    return true;
}

static void surw_intend(struct strategy_surw *p, const struct choice *c)
{
    p->intended = choice_place(c, surw_draw(p, c));
    memset(p->asked, 0, sizeof p->asked);
    for (uint32_t k = 0; k < c->n; k++)
        p->asked[choice_place(c, k)] = true;
}

static void surw_count(struct strategy_surw *p, const struct turn_does *d, uint8_t place)
{
    count_one(&p->all[place]);
    for (uint32_t i = 0; i < d->count; i++) {
        surw_note_object(p, (uint32_t)d->object[i]);
        count_one(&p->by_object[(uint32_t)d->object[i] % SURW_OBJECTS][place]);
    }
    if (is_interesting(p, d, place)) {
        count_one(&p->done[place]);
        p->intended = -1;
    }
}

/* By turns everything that is done counts, also what was no question. */
static void surw_did(struct strategy *s, const struct turn_does *d)
{
    struct strategy_surw *p = (struct strategy_surw *)s;
    if (d->turn != p->turn)
        surw_count(p, d, (uint8_t)(d->goid % OPTION_CLOCK));
    p->turn = d->turn;
}

static uint32_t surw_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_surw *p = (struct strategy_surw *)s;
    struct turn_does d;
    uint32_t may[OPTIONS_MAX], n = 0;
    if (!is_about_somebody(c))
        return random_answer(&p->random, c, FRESH_PERMILLE);
    if (p->intended < 0 || (c->turn != NULL && !surw_were_asked(p, c)))
        surw_intend(p, c);
    for (uint32_t i = 0; i < c->n; i++) {
        look(c, i, &d);
        if (!is_interesting(p, &d, choice_place(c, i)) || choice_place(c, i) == p->intended)
            may[n++] = i;
    }
    uint32_t pick = n > 0 ? may[evenly_below(evenly_next(&p->random), n)] : surw_draw(p, c);
    look(c, pick, &d);
    if (c->turn == NULL || choice_place(c, pick) == OPTION_CLOCK)
        surw_count(p, &d, choice_place(c, pick));
    return pick;
}

void strategy_surw_init(struct strategy_surw *p, uint64_t seed, uint64_t runs_max)
{
    *p = (struct strategy_surw){.s = {.name = "surw",
                                      .wants_time = false,
                                      .evenly = NULL,
                                      .begin = surw_begin,
                                      .pick = surw_pick,
                                      .did = surw_did,
                                      .did_turns = true,
                                      .end = surw_end},
                                .seed = seed,
                                .runs_max = runs_max};
}
