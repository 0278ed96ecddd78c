/* SPDX-License-Identifier: BSD-3-Clause */
/* The strategies without a tree: virtual time, random, replay. */
#include "sim/base/choose.h"

#include <assert.h>

const char choice_letters[CHOICE_KINDS + 1] = "tblsdfig";

/* More answers than a choice can have are asked in two halves. */
uint64_t choose_below(uint32_t (*ask)(const struct choice *c), uint64_t n, uint64_t fallback,
                      uint64_t step)
{
    struct choice c = {.kind = CHOICE_DRAW, .step = step};

    if (n < 2)
        return 0;
    if (n > CHOICE_N_MAX) {
        uint64_t low = 1 << 16, high = choose_below(ask, (n + low - 1) / low, fallback / low, step);
        return (high * low + choose_below(ask, low, fallback % low, step)) % n;
    }
    c.n = (uint32_t)n;
    c.timed = (uint32_t)(fallback % n);
    return ask(&c);
}

uint8_t choice_place(const struct choice *c, uint32_t k)
{
    if (c->turn == NULL)
        return c->option[k];
    if (c->first + k == c->turn->count)
        return OPTION_CLOCK;
    return (uint8_t)(c->turn->goid[c->first + k] % OPTION_CLOCK);
}

/* ---- virtual time ---- */

static bool time_begin(struct strategy *s)
{
    (void)s;
    return true; /* always the same run; whoever asks for it knows how often he wants it */
}

static uint32_t time_pick(struct strategy *s, const struct choice *c)
{
    (void)s;
    return c->timed < c->n ? c->timed : 0;
}

static void nothing_end(struct strategy *s, bool complete)
{
    (void)s;
    (void)complete;
}

struct strategy *strategy_time(void)
{
    static struct strategy s = {.name = "time",
                                .wants_time = true,
                                .evenly = NULL,
                                .begin = time_begin,
                                .pick = time_pick,
                                .end = nothing_end};
    return &s;
}

/* ---- random ---- */

static bool random_begin(struct strategy *s)
{
    struct strategy_random *r = (struct strategy_random *)s;

    if (r->run == r->runs_max)
        return false;
    uint64_t x = r->stream ^ r->run++;
    r->evenly.state = rng_splitmix(&x);
    return true;
}

uint32_t random_answer(struct evenly *e, const struct choice *c, uint32_t fresh_permille)
{
    uint64_t x = evenly_next(e);

    switch (c->kind) {
    case CHOICE_LOAD:
    case CHOICE_STORE:
        if ((x & 0xffff) * 1000 >> 16 < fresh_permille)
            return 0;
        break;
    case CHOICE_FAULT: return (x & (FAULT_ONE_IN - 1)) == 0;
    case CHOICE_THREAD:
    case CHOICE_FLUSH:
    case CHOICE_DRAW:
    case CHOICE_TIE:
    case CHOICE_TURN:
    case CHOICE_KINDS: break;
    }
    return evenly_below(x, c->n);
}

static uint32_t random_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_random *r = (struct strategy_random *)s;

    return random_answer(&r->evenly, c, r->fresh_permille);
}

void strategy_random_init(struct strategy_random *r, uint64_t seed, uint64_t runs_max)
{
    uint64_t x = seed;
    x = rng_splitmix(&x) ^ RNG_CHOOSE;
    *r = (struct strategy_random){
        .s = {.name = "random",
              .wants_time = false,
              .evenly = &r->evenly,
              .begin = random_begin,
              .pick = random_pick,
              .end = nothing_end},
        .stream = rng_splitmix(&x),
        .runs_max = runs_max,
        .fresh_permille = FRESH_PERMILLE,
    };
}

/* ---- replay ---- */

static bool replay_begin(struct strategy *s)
{
    struct strategy_replay *r = (struct strategy_replay *)s;

    if (r->done)
        return false;
    r->done = true;
    r->next = 0;
    r->again = false;
    r->draws.state = 0;
    return true;
}

/* NULL: there are no more. */
static const struct answer *replay_next(struct strategy_replay *r)
{
    if (r->next == r->count && r->repeat > 0) {
        r->next = r->count - r->repeat;
        r->again = true;
    }
    return r->next < r->count ? &r->answers[r->next++] : NULL;
}

static uint32_t replay_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_replay *r = (struct strategy_replay *)s;

    const struct answer *next = replay_next(r);
    if (next == NULL)
        return 0;
    struct answer a = *next;
    bool fits = answer_kind(a) == c->kind && answer_n(a) == c->n && answer_pick(a) < c->n;
    if (r->strict && !fits && !r->diverged) {
        r->diverged = true;
        r->diverged_at = r->next - 1;
    }
    if (r->again && c->kind == CHOICE_DRAW)
        return evenly_below(evenly_next(&r->draws), c->n);
    return answer_pick(a) % c->n;
}

void strategy_replay_init(struct strategy_replay *r, const struct answer *answers, size_t count,
                          bool strict)
{
    *r = (struct strategy_replay){
        .s = {.name = "replay",
              .wants_time = false,
              .evenly = NULL,
              .begin = replay_begin,
              .pick = replay_pick,
              .end = nothing_end},
        .answers = answers,
        .count = count,
        .strict = strict,
    };
}
