/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about flow: loops, conditions, calls, goroutines, panics. */
#include <stdio.h>
#include <string.h>

#include "scenarios/stmt.h"

/* ---- control ---- */

/* How often, into a register. */
static void rounds(struct cc *c, const cJSON *v, uint8_t reg)
{
    if (cJSON_IsNumber(v) && v->valuedouble < 0)
        json_want(c->doc, v, "a number of times from 0 on");
    compile_value_to(c, v, reg);
    want_kind(c, v, reg, KIND_NUMBER);
}

void st_loop(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    uint32_t locals = c->nlocals;
    uint8_t index = op_index(c, o);
    bool forever = cJSON_IsString(v) && strcmp(v->valuestring, "forever") == 0;
    if (index == NOREG)
        index = reg_new(c, v);
    uint8_t limit = NOREG;
    if (!forever) {
        limit = reg_new(c, v);
        rounds(c, v, limit);
    }
    build_op(&c->b, OP_CONST, index, 0, 0, 0, 0);
    int top = build_label(&c->b), next = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    if (!forever) {
        uint8_t more = reg_new(c, v);
        build_op(&c->b, OP_LT, more, index, limit, 0, 0);
        build_jump(&c->b, OP_JZ, more, 0, 0, end);
    }
    c->loops[c->nloops++] = (struct loop){end, next};
    op_block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    build_here(&c->b, next);
    build_op(&c->b, OP_ADDI, index, index, 0, 0, 1);
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
    c->nlocals = locals;
}

void st_while(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    int top = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    compile_unless(c, v, end);
    c->loops[c->nloops++] = (struct loop){end, top};
    op_block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
}

void st_break(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (!cJSON_IsTrue(v))
        json_want(c->doc, v, "true");
    if (c->nloops == 0)
        json_bad(c->doc, o, false, "no loop around this \"%s\"", o->child->string);
    build_jump(&c->b, OP_JMP, 0, 0, 0, c->loops[c->nloops - 1].on_break);
}

void st_continue(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (!cJSON_IsTrue(v))
        json_want(c->doc, v, "true");
    if (c->nloops == 0)
        json_bad(c->doc, o, false, "no loop around this \"%s\"", o->child->string);
    build_jump(&c->b, OP_JMP, 0, 0, 0, c->loops[c->nloops - 1].on_continue);
}

void st_if(struct cc *c, const cJSON *o, const cJSON *v)
{
    int otherwise = build_label(&c->b), end = build_label(&c->b);
    compile_unless(c, v, otherwise);
    op_block(c, json_need(c->doc, o, "then"));
    const cJSON *e = json_member(o, "else");
    if (e != NULL)
        build_jump(&c->b, OP_JMP, 0, 0, 0, end);
    build_here(&c->b, otherwise);
    if (e != NULL)
        op_block(c, e);
    build_here(&c->b, end);
}

/* One of several bodies, by weight. */
void st_random(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const keys[] = {"weight", "do", NULL};
    (void)o;
    json_want_array(c->doc, v);
    int64_t total = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        total += json_int_or(c->doc, e, "weight", 1, 0, 1000000);
    }
    if (total == 0)
        json_bad(c->doc, v, false, "all weights are zero");
    uint8_t r = reg_new(c, v);
    int end = build_label(&c->b);
    build_op(&c->b, OP_RANDI, r, 0, 0, 0, total);
    int64_t below = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        int next = build_label(&c->b);
        below += json_int_or(c->doc, e, "weight", 1, 0, 1000000);
        build_jump(&c->b, OP_JGEI, r, 0, below, next);
        op_block(c, json_need(c->doc, e, "do"));
        build_jump(&c->b, OP_JMP, 0, 0, 0, end);
        build_here(&c->b, next);
    }
    build_here(&c->b, end);
}

void st_set(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t r = op_into(c, o, "set", 0);
    compile_value_to(c, json_need(c->doc, o, "value"), r);
}

void st_call(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t result = op_into(c, o, "into", KIND_ANY), first;
    uint32_t n;
    int32_t f = op_callee(c, o, v, "call", &first, &n);
    build_op(&c->b, OP_CALL, first, (int)n, result, f, 0);
}

void st_return(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    build_op(&c->b, OP_RET, cJSON_IsNull(v) ? NOREG : compile_value(c, v), 0, 0, 0, 0);
}

/* A function that runs later, with the arguments of now. */
static void later(struct cc *c, const cJSON *o, const cJSON *v, enum op op)
{
    uint8_t first;
    uint32_t n;
    int32_t f = op_callee(c, o, v, o->child->string, &first, &n);
    build_op(&c->b, op, first, (int)n, 0, f, 0);
}

void st_defer(struct cc *c, const cJSON *o, const cJSON *v) { later(c, o, v, OP_DEFER); }
void st_finalizer(struct cc *c, const cJSON *o, const cJSON *v) { later(c, o, v, OP_FINALIZER); }
void st_cleanup(struct cc *c, const cJSON *o, const cJSON *v) { later(c, o, v, OP_CLEANUP); }

/* With a text, or with a number. */
void st_panic(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    if (cJSON_IsNumber(v))
        build_op(&c->b, OP_PANIC, compile_value(c, v), 0, 0, -1, 0);
    else
        build_op(&c->b, OP_PANIC, NOREG, 0, 0, build_string(&c->b, json_string(c->doc, v)), 0);
}

void st_recover(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t kind = op_into(c, o, "recover", KIND_NUMBER),
            value = op_into(c, o, "value", KIND_NUMBER | KIND_TEXT);
    build_op(&c->b, OP_RECOVER, kind, value, 0, 0, 0);
}

void st_exit(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    build_op(&c->b, OP_EXIT, 0, 0, 0, 0, json_int(c->doc, v, 0, 255));
}

void st_assert(struct cc *c, const cJSON *o, const cJSON *v)
{
    const cJSON *text = json_member(o, "text");
    char line[300];
    snprintf(line, sizeof line, "assertion failed: %.200s",
             text != NULL        ? json_string(c->doc, text)
             : cJSON_IsString(v) ? v->valuestring
                                 : "false");
    uint8_t r = compile_value(c, v);
    want_kind(c, v, r, KIND_NUMBER);
    build_op(&c->b, OP_ASSERT, r, 0, 0, build_string(&c->b, line), 0);
}

void st_go(struct cc *c, const cJSON *o, const cJSON *v)
{
    const cJSON *count = json_member(o, "count"), *group = json_member(o, "group");
    uint32_t locals = c->nlocals, n;
    uint8_t index = op_index(c, o), limit = NOREG, first;
    int top = build_label(&c->b), end = build_label(&c->b);
    if (count != NULL) {
        if (index == NOREG)
            index = reg_new(c, v);
        limit = reg_new(c, v);
        rounds(c, count, limit);
        build_op(&c->b, OP_CONST, index, 0, 0, 0, 0);
        build_here(&c->b, top);
        uint8_t more = reg_new(c, v);
        build_op(&c->b, OP_LT, more, index, limit, 0, 0);
        build_jump(&c->b, OP_JZ, more, 0, 0, end);
    } else if (index != NOREG) {
        json_bad(c->doc, o, false, "\"index\" goes with \"count\"");
    }
    int32_t f = op_callee(c, o, v, "go", &first, &n);
    const char *name = group != NULL ? json_string(c->doc, group) : c->b.funcs[f].name;
    build_op(&c->b, OP_GO, first, (int)n, 0, f, build_group(&c->b, name));
    if (count != NULL) {
        build_op(&c->b, OP_ADDI, index, index, 0, 0, 1);
        build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    }
    build_here(&c->b, end);
    c->nlocals = locals;
}
