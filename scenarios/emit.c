/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree to a program. Most statements are one instruction, of which their row says where each
 * word goes; the others have a function beside their row. */
#include <string.h>

#include "scenarios/compile.h"
#include "sim/base/dist.h"

/* ---- operands ---- */

uint8_t emit_name(struct cc *c, struct name *n, struct place at, uint32_t kinds)
{
    if (!n->has_reg) {
        n->reg = build_reg(&c->b, at);
        n->has_reg = true;
        c->locals[c->nlocals++] = n;
    }
    kind_is(&c->b, n->reg, kinds);
    return n->reg;
}

uint8_t emit_into(struct cc *c, const struct stmt *s, const char *key, uint32_t kinds)
{
    const struct part *p = part_of(s, key);
    return p != NULL ? emit_name(c, p->name, p->at, kinds) : NOREG;
}

struct target emit_object(struct cc *c, const struct expr *x, uint32_t kinds)
{
    if (x->is == X_OBJECT && x->indices == NULL)
        return (struct target){x->object, 0};
    uint8_t r = emit_value(c, x);
    if (x->is != X_OBJECT) /* of an array's element the reader has seen it */
        kind_want(&c->b, x->at, r, kinds);
    return (struct target){OBJ_REG, r};
}

struct drawn emit_amount(struct cc *c, const struct part *p)
{
    const struct amount *a = p->amount;
    struct drawn d = {-1, NOREG, a->imm};
    if (a->dist != NULL) {
        d.d = build_dist(&c->b, a->dist->dist);
    } else if (a->x != NULL) {
        d.b = emit_value(c, a->x);
        kind_want(&c->b, p->at, d.b, KIND_NUMBER);
    }
    return d;
}

struct drawn emit_drawn(struct cc *c, const struct part *p)
{
    struct drawn d = emit_amount(c, p);
    if (d.d >= 0) {
        d.b = build_reg(&c->b, p->at);
        kind_is(&c->b, d.b, KIND_NUMBER);
        build_op(&c->b, OP_DRAW, d.b, 0, 0, d.d, 0);
        d.d = -1;
    }
    return d;
}

uint8_t emit_arguments(struct cc *c, const struct exprs *args)
{
    if (args->count == 0)
        return 0;
    uint8_t first = build_reg(&c->b, args->at);
    for (uint32_t i = 1; i < args->count; i++)
        (void)build_reg(&c->b, args->at);
    for (uint32_t i = 0; i < args->count; i++)
        emit_value_to(c, args->x[i], (uint8_t)(first + i));
    return first;
}

/* The names around a body in place, or arguments, in registers one after the other. */
uint8_t emit_callee(struct cc *c, const struct callee *f)
{
    uint32_t n = c->b.funcs[f->func].nparams;
    uint8_t first = 0;
    if (!f->in_place) {
        first = emit_arguments(c, &f->args);
        for (uint32_t i = 0; i < n; i++)
            kind_pass(&c->b, (uint8_t)(first + i), f->func, i);
        return first;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t r = build_reg(&c->b, c->tree.funcs[f->func].at), from = f->captured[i]->reg;
        first = i == 0 ? r : first;
        kind_pass(&c->b, from, f->func, i);
        build_op(&c->b, OP_MOVE, r, from, 0, 0, 0);
    }
    return first;
}

/* ---- statements that are one instruction ---- */

static struct insn empty(enum op op)
{
    const struct op_info *o = &op_infos[op];
    const uint8_t none = NOREG;
    struct insn in = {.op = (uint8_t)op};
    in.a = o->a == RX || o->a == RO || o->a == RW ? none : 0;
    in.b = o->b == RX || o->b == RO ? none : 0;
    in.c = o->c == RX || o->c == RO ? none : 0;
    in.d = o->d == D_DO || o->d == D_SO || o->d == D_FO ? -1 : 0;
    return in;
}

static void put(struct insn *in, enum slot slot, uint8_t value)
{
    if (slot == SLOT_A)
        in->a = value;
    else if (slot == SLOT_B)
        in->b = value;
    else if (slot == SLOT_C)
        in->c = value;
}

static void put_drawn(struct insn *in, struct drawn d)
{
    in->d = d.d >= 0 ? d.d : in->d;
    in->b = d.b;
    in->imm = d.imm;
}

static void put_callee(struct cc *c, struct insn *in, const struct callee *f)
{
    const struct op_info *o = &op_infos[in->op];
    uint8_t first = emit_callee(c, f), n = (uint8_t)c->b.funcs[f->func].nparams;
    put(in, o->a == RA ? SLOT_A : SLOT_B, first);
    put(in, o->b == CT ? SLOT_B : SLOT_C, n);
    if (o->imm == IF)
        in->imm = f->func;
    else
        in->d = f->func;
}

/* A number that stands in the file goes into the instruction. */
static void put_count(struct cc *c, struct insn *in, const struct field *f, const struct part *p)
{
    in->imm = p->given && p->x->is == X_LITERAL ? p->x->value : f->other;
    if (p->given && p->x->is != X_LITERAL)
        put(in, f->slot, emit_value(c, p->x));
}

static void put_object(struct cc *c, struct insn *in, const struct field *f, const struct part *p)
{
    struct target t = emit_object(c, p->x, f->kinds | (in->op == OP_RECV ? KIND_RECV : 0));
    in->d = t.obj;
    if (op_infos[in->op].imm == HV)
        in->imm = t.reg;
    else
        in->c = t.reg;
}

static void put_value(struct cc *c, struct insn *in, const struct field *f, const struct part *p)
{
    if (p->given) {
        put(in, f->slot, emit_value(c, p->x));
    } else if (f->kind == F_OR_0) {
        uint8_t zero = build_reg(&c->b, p->at);
        build_op(&c->b, OP_CONST, zero, 0, 0, 0, 0);
        put(in, f->slot, zero);
    }
}

static void put_part(struct cc *c, struct insn *in, const struct field *f, const struct part *p)
{
    uint8_t number = f->map != NULL ? f->map[p->n] : (uint8_t)p->n;
    switch (f->kind) {
    case F_VALUE:
    case F_OR_0: put_value(c, in, f, p); break;
    case F_COUNT: put_count(c, in, f, p); break;
    case F_OBJECT: put_object(c, in, f, p); break;
    case F_AMOUNT:
    case F_BYTES: put_drawn(in, emit_amount(c, p)); break;
    case F_DRAWN: put_drawn(in, emit_drawn(c, p)); break;
    case F_BOOL:
    case F_WORD: put(in, f->slot, number); break;
    case F_STATUS: in->imm = p->n; break;
    case F_LABEL: in->d = build_string(&c->b, p->text); break;
    case F_CALLEE: put_callee(c, in, p->callee); break;
    default: break;
    }
}

/* The row's first opcode; the second where the object is of its kind, or its flag is given. */
static enum op op_of(const struct stmt *s)
{
    for (int i = 0; s->is->op2 != OP_NOP && s->is->field[i].key != NULL; i++) {
        const struct field *f = &s->is->field[i];
        const struct part *p = &s->part[i];
        if (f->kind == F_OBJECT && p->x->is == X_OBJECT && p->x->kind == s->is->kind2)
            return s->is->op2;
        if (f->kind == F_BOOL && f->slot == SLOT_NONE && p->n != 0)
            return s->is->op2;
    }
    return s->is->op;
}

static void emit_instruction(struct cc *c, struct stmt *s)
{
    struct insn in = empty(op_of(s));
    const struct field *field = s->is->field;
    for (int i = 0; field[i].key != NULL; i++)
        if (field[i].kind == F_NAME && s->part[i].given)
            put(&in, field[i].slot, emit_name(c, s->part[i].name, s->part[i].at, field[i].kinds));
    for (int i = 0; field[i].key != NULL; i++)
        put_part(c, &in, &field[i], &s->part[i]);
    if (op_infos[in.op].a == RW && in.a == NOREG)
        in.a = build_reg(&c->b, s->at);
    s->insn = build_op(&c->b, (enum op)in.op, in.a, in.b, in.c, in.d, in.imm);
    if (in.op == s->is->op && s->is->kind2 != 0 && in.d == OBJ_REG)
        kind_either(&c->b, s->part[0].at, in.c, s->insn, s->is->kind2, s->is->op2);
}

/* ---- blocks and functions ---- */

void emit_enter_loop(struct cc *c, int on_break, int on_continue)
{
    c->loops[c->nloops++] = (struct loop){on_break, on_continue};
}

/* Registers above the names in scope are free between statements. */
static void drop_temporaries(struct cc *c, uint8_t floor)
{
    uint8_t next = floor;
    for (uint32_t i = 0; i < c->nlocals; i++)
        if (c->locals[i]->reg >= next)
            next = (uint8_t)(c->locals[i]->reg + 1);
    c->b.next_reg = next;
}

/* Statement jitter: who computes before a statement lets others come first. */
static void emit_jitter(struct cc *c)
{
    int64_t mean = c->s->jitter_ns;
    if (mean == 0)
        return;
    if (!c->has_jitter) {
        struct dist *d = pool_alloc(c->pool, sizeof *d);
        if (dist_exponential(d, mean, NULL) < 0 ||
            dist_clamp(d, 0, mean * JITTER_TIMES_MAX, NULL) < 0)
            throw("a jitter that is no time");
        c->jitter = build_dist(&c->b, d);
        c->has_jitter = true;
    }
    build_op(&c->b, OP_CPU, CPU_normal, NOREG, 0, c->jitter, 0);
}

void emit_block(struct cc *c, struct stmt *list)
{
    uint32_t locals = c->nlocals;
    uint8_t reg = c->b.next_reg;
    for (struct stmt *s = list; s != NULL; s = s->next) {
        uint32_t before = c->nlocals;
        c->b.line = s->at.line;
        emit_jitter(c);
        if (s->is->emit != NULL)
            s->is->emit(c, s);
        else
            emit_instruction(c, s);
        if (s->is->forgets)
            c->nlocals = before;
        drop_temporaries(c, reg);
    }
    c->nlocals = locals;
    c->b.next_reg = reg;
}

static void function(struct cc *c, int32_t f)
{
    const struct function *fn = &c->tree.funcs[f];
    build_enter(&c->b, f);
    c->nlocals = 0;
    c->nloops = 0;
    for (uint32_t i = 0; i < c->b.funcs[f].nparams; i++) {
        uint8_t r = emit_name(c, fn->params[i], fn->at, 0);
        kind_param(&c->b, r, f, i);
    }
    emit_block(c, fn->body);
    build_op(&c->b, OP_RET, NOREG, 0, 0, 0, 0);
    build_leave(&c->b);
}

void emit_program(struct cc *c)
{
    for (uint32_t f = 0; f < c->tree.nfuncs; f++)
        function(c, (int32_t)f);
    kinds_check(&c->b);
}
