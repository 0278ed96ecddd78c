/* SPDX-License-Identifier: BSD-3-Clause */
/* Fair: everybody who can go on has a turn before anybody has had more than a few. A program that
 * goes round for ever under such a schedule does so by itself, and not because somebody was kept
 * from his turn (Musuvathi and Qadeer, PLDI 2008).
 *
 * Turns go round by number. In the first run the rotation begins when somebody has to wait, so that
 * all whom he has started are at their beginning, and each has one turn; in the others it begins
 * some turns later or at once, and each has one to three turns in a row: loops of which each waits
 * for the other to be elsewhere meet in one phase and not in another. */
#include "sim/base/choose.h"

#include <string.h>

enum { PHASES = 8, QUANTUM_MAX = 3 };

static bool fair_begin(struct strategy *s)
{
    struct strategy_fair *f = (struct strategy_fair *)s;
    if (f->run == f->runs_max)
        return false;
    uint64_t x = f->seed;
    x = rng_splitmix(&x) ^ RNG_CHOOSE;
    x = rng_splitmix(&x) ^ ~f->run;
    f->random.state = rng_splitmix(&x);
    memset(f->quantum, 0, sizeof f->quantum);
    f->place = 0;
    f->had = 0;
    f->goes_round = f->run % 2 != 0;
    f->phase = f->run > 1 ? evenly_below(evenly_next(&f->random), PHASES) : 0;
    f->run++;
    return true;
}

static uint32_t quantum_of(struct strategy_fair *f, uint8_t place)
{
    if (f->quantum[place] == 0)
        f->quantum[place] = f->run <= 2
                                ? 1
                                : 1 + (uint8_t)evenly_below(evenly_next(&f->random), QUANTUM_MAX);
    return f->quantum[place];
}

/* Of the first turns in a row some are left out: or loops as long were all in one phase. */
static uint32_t first_of(struct strategy_fair *f, uint8_t place)
{
    bool fresh = f->quantum[place] == 0;
    uint32_t quantum = quantum_of(f, place);
    return 1 + (fresh && f->run > 2 ? evenly_below(evenly_next(&f->random), quantum) : 0);
}

/* How far place is behind the one whose turn it was. */
static uint32_t behind(const struct strategy_fair *f, uint8_t place)
{
    return ((uint32_t)place + OPTIONS_MAX - f->place - 1) % OPTIONS_MAX;
}

/* Who comes next by number: time, if it is an answer, is nobody. */
static uint32_t next(const struct strategy_fair *f, const struct choice *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->threads; i++)
        if (behind(f, choice_place(c, i)) < behind(f, choice_place(c, best)))
            best = i;
    return best;
}

static uint32_t fair_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_fair *f = (struct strategy_fair *)s;
    if (c->option == NULL && c->turn == NULL)
        return random_answer(&f->random, c, FRESH_PERMILLE);
    if (c->threads == 0)
        return 0;
    if (!f->goes_round && c->preempts)
        return 0;
    f->goes_round = true;
    if (f->phase > 0) {
        f->phase--;
        return 0;
    }
    bool goes_on = c->preempts && choice_place(c, 0) == f->place;
    uint32_t pick = goes_on && f->had < quantum_of(f, f->place) ? 0 : next(f, c);
    uint8_t place = choice_place(c, pick);
    f->had = goes_on && pick == 0 ? f->had + 1 : first_of(f, place);
    f->place = place;
    return pick;
}

static void fair_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

void strategy_fair_init(struct strategy_fair *f, uint64_t seed, uint64_t runs_max)
{
    *f = (struct strategy_fair){.s = {.name = "fair",
                                      .wants_time = false,
                                      .evenly = NULL,
                                      .begin = fair_begin,
                                      .pick = fair_pick,
                                      .end = fair_end},
                                .seed = seed,
                                .runs_max = runs_max};
}
