/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions, from the tree to instructions. */
#include "scenarios/compile.h"

static uint8_t reg(struct cc *c, const struct expr *x, uint32_t kinds)
{
    uint8_t r = build_reg(&c->b, x->at);
    kind_is(&c->b, r, kinds);
    return r;
}

static uint8_t constant(struct cc *c, const struct expr *x, int64_t v, uint32_t kinds)
{
    uint8_t r = reg(c, x, kinds);
    build_op(&c->b, OP_CONST, r, 0, 0, 0, v);
    return r;
}

static uint8_t wanted(struct cc *c, const struct expr *x, uint8_t r, uint32_t kinds)
{
    kind_want(&c->b, x->at, r, kinds);
    return r;
}

static uint8_t number(struct cc *c, const struct expr *x)
{
    return wanted(c, x, emit_value(c, x), KIND_NUMBER);
}

static uint8_t operation(struct cc *c, const struct expr *x, enum op op, uint8_t a, uint8_t b)
{
    if (op != OP_EQ && op != OP_NE) {
        wanted(c, x, a, KIND_NUMBER);
        wanted(c, x, b, KIND_NUMBER);
    }
    uint8_t r = reg(c, x, KIND_NUMBER);
    build_op(&c->b, op, r, a, b, 0, 0);
    return r;
}

/* Turns any value into 0 or 1. */
static uint8_t truth(struct cc *c, const struct expr *x, uint8_t v)
{
    uint8_t zero = constant(c, x, 0, KIND_NUMBER);
    return operation(c, x, OP_NE, wanted(c, x, v, KIND_NUMBER), zero);
}

static uint8_t binary(struct cc *c, const struct expr *x)
{
    static const struct {
        enum op op;
        bool swapped;
    } ops[] = {
#define BINARY(id, text, precedence, op, swapped) {op, swapped},
#include "scenarios/binary.def"
#undef BINARY
    };
    uint8_t a = emit_value(c, x->a);
    if (x->which == B_AND)
        a = truth(c, x, a);
    uint8_t b = emit_value(c, x->b);
    if (x->which == B_AND)
        b = truth(c, x, b);
    bool swapped = ops[x->which].swapped;
    uint8_t r = operation(c, x, ops[x->which].op, swapped ? b : a, swapped ? a : b);
    return x->which == B_OR ? truth(c, x, r) : r;
}

/* -x is 0 - x, !x is 0 == x. */
static uint8_t unary(struct cc *c, const struct expr *x)
{
    uint8_t zero = constant(c, x, 0, KIND_NUMBER), v = emit_value(c, x->a);
    if (x->is == X_NOT)
        wanted(c, x, v, KIND_NUMBER);
    return operation(c, x, x->is == X_MINUS ? OP_SUB : OP_EQ, zero, v);
}

static uint8_t call(struct cc *c, const struct expr *x)
{
    static const enum op ops[] = {[C_LEN] = OP_LEN,    [C_CAP] = OP_CAP,
                                  [C_RAND] = OP_RANDN, [C_MIN] = OP_MIN,
                                  [C_MAX] = OP_MAX,    [C_NOW] = OP_NOW,
                                  [C_GOID] = OP_GOID,  [C_NUMGOROUTINE] = OP_NUMGOROUTINE};
    enum op op = ops[x->which];
    if (x->which <= C_CAP) {
        struct target t = emit_object(c, x->a, KIND(OBJ_CHAN) | KIND_RECV);
        uint8_t r = reg(c, x, KIND_NUMBER);
        build_op(&c->b, op, r, 0, t.reg, t.obj, 0);
        return r;
    }
    uint8_t a = x->a != NULL ? number(c, x->a) : 0, b = x->b != NULL ? number(c, x->b) : 0;
    uint8_t r = reg(c, x, KIND_NUMBER);
    build_op(&c->b, op, r, a, b, 0, 0);
    return r;
}

static uint8_t field(struct cc *c, const struct expr *x)
{
    static const struct {
        enum op op;
        enum object_kind of;
        uint32_t gives;
    } fields[] = {[W_C] = {OP_TIMERC, OBJ_TIMER, KIND_RECV},
                  [W_DONE] = {OP_CTXDONE, OBJ_CONTEXT, KIND_RECV},
                  [W_ERR] = {OP_CTXERR, OBJ_CONTEXT, KIND_NUMBER}};
    uint8_t of = wanted(c, x, emit_value(c, x->a), KIND(fields[x->which].of));
    uint8_t r = reg(c, x, fields[x->which].gives);
    build_op(&c->b, fields[x->which].op, r, 0, of, OBJ_REG, 0);
    return r;
}

/* The handle of an object is its number + 1; of an array's element it is computed. */
static uint8_t handle(struct cc *c, const struct expr *x)
{
    if (x->indices == NULL)
        return constant(c, x, (int64_t)x->object + 1, KIND(x->kind));
    uint8_t sum = reg(c, x, KIND(x->kind));
    int64_t base = (int64_t)x->object + 1;
    for (const struct index *i = x->indices; i != NULL; i = i->next) {
        uint8_t at = number(c, i->at), part = reg(c, x, KIND_NUMBER);
        build_op(&c->b, OP_INDEX, part, at, 0, 0, i->count);
        if (i->stride != 1)
            build_op(&c->b, OP_MULI, part, part, 0, 0, i->stride);
        if (i == x->indices)
            build_op(&c->b, OP_ADDI, sum, part, 0, 0, base);
        else
            build_op(&c->b, OP_ADD, sum, sum, part, 0, 0);
    }
    return sum;
}

uint8_t emit_value(struct cc *c, const struct expr *x)
{
    switch (x->is) {
    case X_LITERAL:
    case X_NUMBER: return constant(c, x, x->value, KIND_NUMBER);
    case X_NIL: return constant(c, x, 0, KIND_ANY);
    case X_LOCAL: return x->name->reg;
    case X_OBJECT: return handle(c, x);
    case X_MINUS:
    case X_NOT: return unary(c, x);
    case X_BINARY: return binary(c, x);
    case X_CALL: return call(c, x);
    case X_FIELD: return field(c, x);
    }
    return NOREG;
}

void emit_value_to(struct cc *c, const struct expr *x, uint8_t to)
{
    uint8_t next = c->b.next_reg, r = emit_value(c, x);
    if (r != to) {
        kind_flow(&c->b, r, to);
        build_op(&c->b, OP_MOVE, to, r, 0, 0, 0);
    }
    c->b.next_reg = next;
}

void emit_unless(struct cc *c, const struct expr *condition, int label)
{
    uint8_t next = c->b.next_reg, r = number(c, condition);
    build_jump(&c->b, OP_JZ, r, 0, 0, label);
    c->b.next_reg = next;
}
