/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cycle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "run/host.h"
#include "search/live.h"
#include "search/starved.h"
#include "sim/base/alloc.h"
#include "sim/explore/explore.h"

/* Whoever waits for a mutex for a millisecond, which is a thousand turns, gets it from the next who
 * lets it go: a cycle with such a one in it has to last for longer. */
enum { ROOM_FIRST = 64, GS_SHOWN = 8, AGES_TURNS = 2000 };

/* Where waiting makes a mutex be handed over nobody is woken in vain so often. */
enum { WOKEN_MAX = 1000, FRAMES_MAX = 16 };

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

void cycle_open(struct cycle *c, const struct program *p, bool on_purpose)
{
    c->live = live_registers(p);
    c->on_purpose = on_purpose;
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
    *c = (struct cycle){
        .live = c->live, .off = c->off, .on_purpose = c->on_purpose, .room = ROOM_FIRST};
}

static struct cycle_g *find(struct cycle_g *list, uint32_t count, uint64_t goid)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].goid == goid)
            return &list[i];
    return NULL;
}

static bool has_turned(const struct cycle *c, uint64_t goid)
{
    return find((struct cycle_g *)(uintptr_t)c->turns, c->count, goid) != NULL;
}

/* A sleep does not begin with one. */
bool cycle_is_half(const struct turn_does *d)
{
    return d->resumes && d->op >= OP_SEND && d->op <= OP_POOLPUT;
}

static void note_turn(struct cycle *c, const struct turn_does *d)
{
    struct cycle_g *g = find(c->turns, c->count, d->goid);
    if (g == NULL && c->count == LOOK_RUNNABLE_MAX)
        return;
    if (g == NULL) {
        g = &c->turns[c->count++];
        *g = (struct cycle_g){.goid = d->goid, .pc = d->pc};
    }
    g->moved |= g->pc != d->pc || !cycle_is_half(d);
}

/* ---- who is woken in vain ---- */

/* Whoever went on in the middle of an instruction is in it again, or has done it. */
static bool is_passed_over(struct cycle *c, const struct turn_does *d)
{
    struct cycle_g *g = find(c->passed, c->passed_count, d->goid);
    if (g == NULL && (!cycle_is_half(d) || c->passed_count == LOOK_RUNNABLE_MAX))
        return false;
    if (g == NULL)
        g = &c->passed[c->passed_count++];
    if (!cycle_is_half(d) || g->pc != d->pc)
        *g = (struct cycle_g){.goid = d->goid, .pc = d->pc};
    if (!cycle_is_half(d))
        return false;
    g->woken++;
    g->answers[0] = g->answers[1];
    (void)ex_answers(&g->answers[1]);
    if (g->woken <= WOKEN_MAX)
        return false;
    c->answers = g->answers[0];
    c->again = g->answers[1];
    return true;
}

/* ---- what was read ---- */

static bool is_live(const struct cycle *c, uint32_t pc, uint8_t reg)
{
    return reg != NOREG && (c->live[pc].regs[reg / 64] >> reg % 64 & 1) != 0;
}

static bool reads_variable(const struct cycle *c, const struct program *p,
                           const struct turn_does *d)
{
    const struct insn *in = &p->code[d->pc];
    return d->op == OP_LOADP || d->op == OP_LOADA || d->op == OP_CASA || d->op == OP_SWAPA ||
           (d->op == OP_ADDA && is_live(c, d->pc + 1, in->a));
}

static void note_read(struct cycle *c, const struct program *p, const struct turn_does *d)
{
    if (!d->known || d->op == OP_NOP || !reads_variable(c, p, d))
        return;
    if (d->count == 1 && d->object[0] > 0 && d->object[0] <= LOOK_VARS_MAX)
        c->read |= UINT64_C(1) << (d->object[0] - 1);
}

static bool same_where_read(const struct cycle *c, const struct look_state *s)
{
    for (uint64_t rest = c->read; rest != 0; rest &= rest - 1)
        if (c->var[__builtin_ctzll(rest)] != s->var[__builtin_ctzll(rest)])
            return false;
    return true;
}

/* ---- the kept state ---- */

static void save(struct cycle *c, const struct look_state *s, const struct turn_does *d)
{
    c->hash = s->hash;
    memcpy(c->var, s->var, sizeof c->var);
    c->read = 0;
    c->ages = false;
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
    if (c->returns == 0)
        (void)ex_answers(&c->again);
    c->length = lasts / ++c->returns;
    if (c->returns < returns_needed(c, s) || (c->ages && lasts < AGES_TURNS)) {
        c->room = 2 * lasts > c->room ? 2 * lasts : c->room;
        c->room = c->ages && c->room < 2 * AGES_TURNS ? 2 * AGES_TURNS : c->room;
        return false;
    }
    c->closed = true;
    return true;
}

/* ---- who starves in a cycle ---- */

static bool is_end(const struct insn *in)
{
    return in->op == OP_RET || in->op == OP_EXIT || in->op == OP_GOEXIT || in->op == OP_PANIC;
}

/* Can the function that is at pc end? */
static bool can_end(const struct program *p, uint32_t pc, uint8_t *seen)
{
    while (pc < p->ncode && !seen[pc]) {
        const struct insn *in = &p->code[pc];
        seen[pc] = 1;
        if (is_end(in))
            return true;
        if (in->op == OP_SWITCH)
            for (uint32_t k = 2; k <= (uint32_t)in->imm + 1; k++)
                if (can_end(p, pc + k, seen))
                    return true;
        if (op_infos[in->op].d == D_TG && can_end(p, (uint32_t)in->d, seen))
            return true;
        if (in->op == OP_JMP)
            return false;
        pc++;
    }
    return false;
}

/* Is it in a loop without an end? In any of its frames. */
static bool goes_on_for_ever(const struct program *p, uint64_t goid)
{
    uint32_t pcs[FRAMES_MAX];
    size_t n = host_explore.window->frames(core_explore.runtime(), goid, pcs, FRAMES_MAX);
    bool ends = true;
    uint8_t *seen = x_alloc(p->ncode + 1);
    for (size_t i = 0; i < n && i < FRAMES_MAX && ends; i++) {
        memset(seen, 0, p->ncode + 1);
        ends = can_end(p, pcs[i], seen);
    }
    free(seen);
    return !ends;
}

/* Who cannot get past one instruction while others go round. */
static uint32_t who_is_stuck(const struct cycle *c)
{
    for (uint32_t i = 0; i < c->count && c->count > 1; i++)
        if (!c->turns[i].moved)
            return c->turns[i].goid;
    return 0;
}

/* Who waits though somebody could still end it; main last, which mostly waits for another. */
static uint32_t who_waits(const struct run_result *r)
{
    uint32_t main_waits = 0;
    for (size_t i = 0; i < r->ngs; i++) {
        const struct run_g *g = &r->gs[i];
        if (!g->is->blocked || g->is->stranded)
            continue;
        if (g->goid != 1)
            return (uint32_t)g->goid;
        main_waits = 1;
    }
    return main_waits;
}

/* Where some go round for ever by what they are: who would come to an end. */
void cycle_judge(struct cycle *c, const struct program *p, const struct run_result *r)
{
    uint32_t wants = 0, others = 0;
    for (uint32_t i = 0; i < c->count && c->starved == 0; i++) {
        if (goes_on_for_ever(p, c->turns[i].goid))
            others++;
        else if (wants == 0)
            wants = c->turns[i].goid;
    }
    if (others > 0)
        c->starved = wants != 0 ? wants : who_waits(r);
}

/* A state is kept for a while, then a later one for twice as long (Brent): a cycle of any length is
 * found. */
static bool comes_back(struct cycle *c, const struct program *p, const struct turn_does *d)
{
    struct look_state s = {.live = c->live, .apart = true, .now_ns = ex_turn_now()};
    if (!host_explore.window->state(core_explore.runtime(), p, &s)) {
        c->at = 0;
        return false;
    }
    c->ages |= s.ages;
    if (c->at != 0 && c->at != d->turn && s.hash == c->hash && c->goid == d->goid &&
        c->pc == d->pc && same_where_read(c, &s) && is_fair(c, &s) && returns(c, &s, d->turn)) {
        c->starved = who_is_stuck(c);
        if (c->starved != 0 || !c->on_purpose)
            return true;
        c->closed = false;
        c->at = 0;
    }
    if (c->at == 0 || d->turn - c->at >= c->room) {
        c->room *= c->at != 0 ? 2 : 1;
        save(c, &s, d);
    }
    c->ages |= s.ages;
    note_turn(c, d);
    note_read(c, p, d);
    return false;
}

bool cycle_closes(struct cycle *c, const struct program *p, const struct turn_does *d)
{
    if (is_passed_over(c, d)) {
        c->starved = d->goid;
        c->length = 0;
        return c->closed = true;
    }
    if (c->off || d->turn < CYCLE_FROM)
        return false;
    if (!cycle_is_half(d))
        return comes_back(c, p, d);
    c->ages = true;
    note_turn(c, d);
    return false;
}

uint64_t cycle_state(const struct cycle *c, const struct program *p)
{
    struct look_state s = {.live = c->live, .now_ns = ex_turn_now()};
    return !c->off && host_explore.window->state(core_explore.runtime(), p, &s) ? s.hash : 0;
}

/* ---- words ---- */

const char *cycle_what(const struct cycle *c)
{
    return c->starved != 0 ? "starvation" : "livelock";
}

static size_t say_starved(const struct cycle *c, const struct run_result *r, char *buf, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < r->ngs; i++)
        if (r->gs[i].goid == c->starved)
            n = say_goroutine(&r->gs[i], "starvation: ", buf, size);
    if (c->length == 0)
        return n + (size_t)snprintf(buf + n, size - n,
                                    " was woken %d times and had to wait again each time",
                                    WOKEN_MAX);
    return n + (size_t)snprintf(buf + n, size - n,
                                " does not get on: the state of turn %" PRIu64
                                " comes back after %" PRIu64 " turns",
                                c->at, c->length);
}

void cycle_text(const struct cycle *c, const struct run_result *r, char *buf, size_t size)
{
    size_t n = c->starved != 0 ? say_starved(c, r, buf, size)
                               : (size_t)snprintf(buf, size,
                                                  "livelock: the state of turn %" PRIu64
                                                  " comes back after %" PRIu64 " turns",
                                                  c->at, c->length);
    for (size_t i = 0, shown = 0; i < r->ngs && shown < GS_SHOWN && n < size; i++)
        if (has_turned(c, r->gs[i].goid) && r->gs[i].goid != c->starved)
            n += say_goroutine(&r->gs[i],
                               shown++ == 0 ? (c->starved ? "; meanwhile: " : ": ") : ", ", buf + n,
                               size - n);
    for (size_t i = 0, shown = 0; i < r->ngs && shown < GS_SHOWN && n < size; i++) {
        if (!r->gs[i].is->blocked || r->gs[i].goid == c->starved)
            continue;
        n += say_goroutine(&r->gs[i], shown++ == 0 ? "; blocked meanwhile: " : ", ", buf + n,
                           size - n);
        n += n < size ? (size_t)snprintf(buf + n, size - n, " [%.40s]", r->gs[i].is->reason) : 0;
    }
}
