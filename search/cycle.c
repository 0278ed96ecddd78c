/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cycle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "run/host.h"
#include "search/live.h"
#include "sim/explore/explore.h"

/* Whoever waits for a mutex for a millisecond, which is a thousand turns, gets it from the next who
 * lets it go: a cycle with such a one in it has to last for longer. */
enum { ROOM_FIRST = 64, GS_SHOWN = 8, AGES_TURNS = 2000 };

/* So often a state has to come back: where somebody sleeps, because sleeps are compared to the
 * microsecond; where draws are made, because another one may lead out of the cycle. */
enum { RETURNS = 1, RETURNS_ASLEEP = 20, RETURNS_DRAWN = 200, DRAWN_OTHERWISE = 8 };

/* Time is no part of a state: a loop until some instant comes back to none that was. */
static bool reads_clock(const struct program *p)
{
    for (uint32_t pc = 0; pc < p->ncode; pc++)
        if (p->code[pc].op == OP_NOW)
            return true;
    return false;
}

void cycle_open(struct cycle *c, const struct program *p)
{
    c->live = live_registers(p);
    c->off = reads_clock(p);
}

void cycle_close(struct cycle *c)
{
    free(c->live);
    c->live = NULL;
}

/* ---- a run ---- */

void cycle_begin(struct cycle *c)
{
    *c = (struct cycle){.live = c->live, .off = c->off, .room = ROOM_FIRST};
}

static bool has_turned(const struct cycle *c, uint64_t goid)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->turns[i] == goid)
            return true;
    return false;
}

static void save(struct cycle *c, const struct look_state *s, const struct turn_does *d)
{
    c->hash = s->hash;
    c->at = d->turn;
    c->goid = d->goid;
    c->pc = d->pc;
    c->count = 0;
    c->returns = 0;
    (void)ex_answers(&c->answers);
}

static bool is_fair(const struct cycle *c, const struct look_state *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!has_turned(c, s->runnable[i]))
            return false;
    return true;
}

/* How often the kept state has to come back. UINT32_MAX: draws were made, and always the same. */
static uint32_t returns_needed(const struct cycle *c, const struct look_state *s)
{
    size_t n, draws = 0, otherwise = 0;
    const struct answer *a = ex_answers(&n);
    for (size_t i = c->answers; i < n; i++) {
        draws += answer_kind(a[i]) == CHOICE_DRAW;
        otherwise += answer_kind(a[i]) == CHOICE_DRAW && answer_pick(a[i]) != 0;
    }
    if (draws > 0)
        return otherwise * DRAWN_OTHERWISE < draws ? UINT32_MAX : RETURNS_DRAWN;
    return s->sleepers > 0 ? RETURNS_ASLEEP : RETURNS;
}

/* The kept state is there again. */
static bool returns(struct cycle *c, const struct look_state *s, uint64_t turn)
{
    uint64_t lasts = turn - c->at;
    c->length = lasts / ++c->returns;
    if (c->returns < returns_needed(c, s) || (s->ages && lasts < AGES_TURNS)) {
        c->room = 2 * lasts > c->room ? 2 * lasts : c->room;
        c->room = s->ages && c->room < 2 * AGES_TURNS ? 2 * AGES_TURNS : c->room;
        return false;
    }
    c->closed = true;
    return true;
}

/* A state is kept for a while, then a later one for twice as long (Brent): a cycle of any length is
 * found. */
bool cycle_closes(struct cycle *c, const struct program *p, const struct turn_does *d)
{
    if (c->off || d->turn < CYCLE_FROM)
        return false;
    struct look_state s = {.live = c->live, .now_ns = ex_turn_now()};
    if (!host_explore.window->state(core_explore.runtime(), p, &s)) {
        c->at = 0;
        return false;
    }
    if (c->at != 0 && c->at != d->turn && s.hash == c->hash && c->goid == d->goid &&
        c->pc == d->pc && is_fair(c, &s) && returns(c, &s, d->turn))
        return true;
    if (c->at == 0 || d->turn - c->at >= c->room) {
        c->room *= c->at != 0 ? 2 : 1;
        save(c, &s, d);
    }
    if (!has_turned(c, d->goid) && c->count < LOOK_RUNNABLE_MAX)
        c->turns[c->count++] = d->goid;
    return false;
}

void cycle_text(const struct cycle *c, const struct run_result *r, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(
        buf, size, "livelock: the state of turn %" PRIu64 " comes back after %" PRIu64 " turns",
        c->at, c->length);
    for (size_t i = 0, shown = 0; i < r->ngs && shown < GS_SHOWN && n < size; i++) {
        if (!has_turned(c, r->gs[i].goid))
            continue;
        n += (size_t)snprintf(
            buf + n, size - n, "%sgoroutine %" PRIu64 " in %.60s at line %" PRIu32,
            shown++ == 0 ? ": " : ", ", r->gs[i].goid, r->gs[i].is->group, r->gs[i].is->line);
    }
    for (size_t i = 0, shown = 0; i < r->ngs && shown < GS_SHOWN && n < size; i++) {
        if (!r->gs[i].is->blocked)
            continue;
        n += (size_t)snprintf(buf + n, size - n,
                              "%sgoroutine %" PRIu64 " in %.60s at line %" PRIu32 " [%.40s]",
                              shown++ == 0 ? "; blocked meanwhile: " : ", ", r->gs[i].goid,
                              r->gs[i].is->group, r->gs[i].is->line, r->gs[i].is->reason);
    }
}
