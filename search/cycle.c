/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/cycle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "run/host.h"
#include "sim/base/alloc.h"

/* Whoever waits for a mutex for a millisecond, which is a thousand turns, gets it from the next who
 * lets it go: a cycle with such a one in it has to last for longer. */
enum { ROOM_FIRST = 64, GS_SHOWN = 8, AGES_TURNS = 2000 };

/* ---- registers that only count ---- */

static void read_by(struct look_counters *c, unsigned reg)
{
    c->regs[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}

static bool is_read(uint8_t operand) { return operand == RR || operand == RO; }

/* r = r + k reads r for itself alone. */
static void look_at(const struct program *p, struct look_counters *c, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    const uint8_t kind[] = {o->a, o->b, o->c}, reg[] = {in->a, in->b, in->c};
    bool counts = in->op == OP_ADDI && in->a == in->b;
    for (int i = 0; i < 3; i++) {
        if (is_read(kind[i]) && !counts && reg[i] != NOREG)
            read_by(c, reg[i]);
        if (kind[i] == HR && in->d == OBJ_REG)
            read_by(c, reg[i]);
        for (unsigned k = 0; kind[i] == RA && i < 2 && k < reg[i + 1]; k++)
            read_by(c, (uint8_t)(reg[i] + k));
    }
    if (o->imm == HV)
        read_by(c, (uint8_t)in->imm);
    for (uint32_t k = 0; o->d == D_SE && k < p->selects[in->d].ncases; k++) {
        const struct select_case *s = &p->cases[p->selects[in->d].first + k];
        read_by(c, s->hreg);
        if (s->send && s->reg != NOREG)
            read_by(c, s->reg);
    }
}

void cycle_open(struct cycle *c, const struct program *p)
{
    c->counters = x_alloc((p->nfuncs + 1) * sizeof *c->counters);
    for (uint32_t i = 0; i < p->nfuncs; i++) {
        memset(&c->counters[i], 0xff, sizeof *c->counters);
        for (uint32_t pc = p->funcs[i].entry; pc < p->funcs[i].end; pc++)
            look_at(p, &c->counters[i], &p->code[pc]);
    }
}

void cycle_close(struct cycle *c)
{
    free(c->counters);
    c->counters = NULL;
}

/* ---- a run ---- */

void cycle_begin(struct cycle *c)
{
    *c = (struct cycle){.counters = c->counters, .room = ROOM_FIRST};
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
}

static bool is_fair(const struct cycle *c, const struct look_state *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!has_turned(c, s->runnable[i]))
            return false;
    return true;
}

/* A state is kept for a while, then a later one for twice as long (Brent): a cycle of any length is
 * found. */
bool cycle_closes(struct cycle *c, const struct program *p, const struct turn_does *d)
{
    struct look_state s = {.counters = c->counters};
    if (d->turn < CYCLE_FROM)
        return false;
    if (!host_explore.window->state(core_explore.runtime(), p, &s)) {
        c->at = 0;
        return false;
    }
    if (c->at != 0 && c->at != d->turn && s.hash == c->hash && c->goid == d->goid &&
        c->pc == d->pc && is_fair(c, &s)) {
        if (s.ages && d->turn - c->at < AGES_TURNS) {
            c->room = 2 * AGES_TURNS;
            return false;
        }
        c->length = d->turn - c->at;
        return true;
    }
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
