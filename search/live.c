/* SPDX-License-Identifier: BSD-3-Clause */
/* Backwards over the code until nothing changes: live before an instruction is what it reads, and
 * what is live behind it but for what it writes. What only computes a register that is not live
 * behind it reads nothing ("strongly live"), so a counter does not keep itself alive. */
#include "search/live.h"

#include <string.h>

#include "model/prog.h"
#include "sim/base/alloc.h"

static void put(struct look_live *l, unsigned reg) { l->regs[reg / 64] |= UINT64_C(1) << reg % 64; }

static void take_away(struct look_live *l, unsigned reg)
{
    l->regs[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}

static bool add(struct look_live *to, const struct look_live *more)
{
    bool changed = false;
    for (int i = 0; i < 4; i++) {
        changed |= (more->regs[i] & ~to->regs[i]) != 0;
        to->regs[i] |= more->regs[i];
    }
    return changed;
}

static void read_cases(struct look_live *l, const struct program *p, const struct insn *in)
{
    for (uint32_t k = 0; k < p->selects[in->d].ncases; k++) {
        const struct select_case *s = &p->cases[p->selects[in->d].first + k];
        if (s->obj < 0)
            put(l, s->hreg);
        if (s->send && s->reg != NOREG)
            put(l, s->reg);
    }
}

static void read_operands(struct look_live *l, const struct program *p, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    const uint8_t kind[] = {o->a, o->b, o->c}, reg[] = {in->a, in->b, in->c};
    for (int i = 0; i < 3; i++) {
        if ((kind[i] == RR || kind[i] == RO) && reg[i] != NOREG)
            put(l, reg[i]);
        if (kind[i] == HR && in->d == OBJ_REG)
            put(l, reg[i]);
        for (unsigned k = 0; kind[i] == RA && i < 2 && k < reg[i + 1]; k++)
            put(l, reg[i] + k);
    }
    if (o->imm == HV && in->d == OBJ_REG)
        put(l, (uint8_t)in->imm);
    if (o->d == D_SE)
        read_cases(l, p, in);
}

/* Computes a register, and can do nothing else. */
static bool only_computes(const struct insn *in)
{
    return in->op >= OP_CONST && in->op <= OP_MAX && in->op != OP_DIV && in->op != OP_MOD &&
           in->op != OP_SHL && in->op != OP_SHR;
}

static bool is_live(const struct look_live *l, unsigned reg)
{
    return (l->regs[reg / 64] >> reg % 64 & 1) != 0;
}

/* `l`, live behind the instruction, becomes what is live before it. */
static void before(struct look_live *l, const struct program *p, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    const uint8_t kind[] = {o->a, o->b, o->c}, reg[] = {in->a, in->b, in->c};
    if (only_computes(in) && !is_live(l, in->a))
        return;
    for (int i = 0; i < 3; i++)
        if ((kind[i] == RW || kind[i] == RX) && reg[i] != NOREG)
            take_away(l, reg[i]);
    read_operands(l, p, in);
}

static bool goes_on(const struct insn *in)
{
    return in->op != OP_JMP && in->op != OP_RET && in->op != OP_EXIT;
}

static bool look_at(struct look_live *live, const struct program *p, uint32_t pc)
{
    const struct insn *in = &p->code[pc];
    struct look_live l = {0};
    uint32_t targets = in->op == OP_SWITCH ? (uint32_t)in->imm + 1 : goes_on(in);
    for (uint32_t k = 1; k <= targets && pc + k < p->ncode; k++)
        add(&l, &live[pc + k]);
    if (op_infos[in->op].d == D_TG)
        add(&l, &live[in->d]);
    before(&l, p, in);
    return add(&live[pc], &l);
}

struct look_live *live_registers(const struct program *p)
{
    struct look_live *live = x_alloc((p->ncode + 1) * sizeof *live);
    bool changed = true;
    memset(live, 0, (p->ncode + 1) * sizeof *live);
    while (changed) {
        changed = false;
        for (uint32_t pc = p->ncode; pc-- > 0;)
            changed |= look_at(live, p, pc);
    }
    return live;
}
