/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands of statements: what a name, an amount or a list of arguments stands for. */
#include <stdio.h>
#include <string.h>

#include "scenarios/stmt.h"

/* ---- operands ---- */

static uint8_t a_handle(struct cc *c, const cJSON *v, enum object_kind kind)
{
    uint8_t r = compile_value(c, v);
    want_kind(c, v, r, KIND(kind) | (kind == OBJ_CHAN ? KIND_RECV : 0));
    return r;
}

static uint8_t a_number(struct cc *c, const cJSON *v)
{
    uint8_t r = compile_value(c, v);
    want_kind(c, v, r, KIND_NUMBER);
    return r;
}

/* An object of that kind by name, or an expression that gives a handle. */
struct target op_target(struct cc *c, const cJSON *v, enum object_kind kind)
{
    const char *s = json_string(c->doc, v);
    int32_t obj = local_find(c, s) == NULL ? build_find_object(&c->b, s) : -1;
    if (obj < 0)
        return (struct target){OBJ_REG, a_handle(c, v, kind)};
    if (c->b.objects[obj].kind != kind)
        json_bad(c->doc, v, false, "\"%.60s\" is a %s, want a %s", s,
                 object_kind_name((enum object_kind)c->b.objects[obj].kind),
                 object_kind_name(kind));
    return (struct target){obj, 0};
}

/* The kind of the object that a verb names, OBJ_KINDS for a local. */
enum object_kind op_kind_named(struct cc *c, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    int32_t obj = local_find(c, s) == NULL ? build_find_object(&c->b, s) : -1;
    return obj < 0 ? OBJ_KINDS : (enum object_kind)c->b.objects[obj].kind;
}

/* An instruction whose only operand is the object. */
void op_on_object(struct cc *c, const cJSON *v, enum object_kind kind, enum op op)
{
    struct target t = op_target(c, v, kind);
    build_op(&c->b, op, 0, 0, t.reg, t.obj, 0);
}

/* The local that a key names, and what it gets there; NOREG without that key. */
uint8_t op_into(struct cc *c, const cJSON *o, const char *key, uint32_t kinds)
{
    const cJSON *v = json_member(o, key);
    if (v == NULL)
        return NOREG;
    uint8_t r = local_new(c, v, json_string(c->doc, v));
    kind_is(&c->b, r, kinds);
    return r;
}

/* The index of a loop hides an outer one of its name: they must not count with one register. */
uint8_t op_index(struct cc *c, const cJSON *o)
{
    const cJSON *v = json_member(o, "index");
    if (v == NULL)
        return NOREG;
    uint8_t r = local_shadow(c, v, json_string(c->doc, v));
    kind_is(&c->b, r, KIND_NUMBER);
    return r;
}

uint8_t op_value_or(struct cc *c, const cJSON *o, const char *key, int64_t other, int64_t *imm)
{
    const cJSON *v = json_member(o, key);
    *imm = other;
    if (v == NULL)
        return NOREG;
    if (cJSON_IsNumber(v)) {
        *imm = json_int(c->doc, v, -(INT64_C(1) << 53), INT64_C(1) << 53);
        return NOREG;
    }
    return compile_value(c, v);
}

struct amount op_duration(struct cc *c, const cJSON *v)
{
    struct amount a = {-1, NOREG, 0};
    if (cJSON_IsString(v) && !json_parse_duration(v->valuestring, &a.imm))
        a.b = a_number(c, v);
    else
        a.d = compile_duration(c, v, &a.imm);
    return a;
}

/* The same for instructions that take no distribution: it is drawn into a register first. */
struct amount op_drawn(struct cc *c, const cJSON *v)
{
    struct amount a = op_duration(c, v);
    if (a.d >= 0) {
        a.b = reg_new(c, v);
        kind_is(&c->b, a.b, KIND_NUMBER);
        build_op(&c->b, OP_DRAW, a.b, 0, 0, a.d, 0);
        a.d = -1;
    }
    return a;
}

struct amount op_bytes(struct cc *c, const cJSON *v)
{
    struct amount a = {-1, NOREG, 0};
    if (cJSON_IsNumber(v))
        a.imm = json_int(c->doc, v, 0, INT64_C(1) << 50);
    else if (!json_parse_size(json_string(c->doc, v), &a.imm)) {
        size_t digits = strspn(v->valuestring, "0123456789.");
        if (digits > 0 && strchr("+-*/% ", v->valuestring[digits]) == NULL)
            json_want(c->doc, v, "a size such as \"64KB\", \"1.5MB\" or \"1GB\"");
        a.b = a_number(c, v);
    }
    return a;
}

/* A word out of a list; gives its index. */
int op_choice(struct cc *c, const cJSON *o, const char *key, const char *const *words)
{
    const cJSON *v = json_member(o, key);
    if (v == NULL)
        return 0;
    const char *s = json_string(c->doc, v);
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], s) == 0)
            return i;
    const char *near = nearest(s, words);
    json_bad(c->doc, v, false, "unknown word \"%.60s\"; %s \"%s\"", s,
             near != NULL ? "did you mean" : "one of them is", near != NULL ? near : words[0]);
}

/* Arguments in registers one after the other. */
uint8_t op_arguments(struct cc *c, const cJSON *list, uint32_t *n)
{
    *n = 0;
    if (list == NULL)
        return 0;
    json_want_array(c->doc, list);
    uint32_t count = (uint32_t)cJSON_GetArraySize(list);
    if (count == 0)
        return 0;
    uint8_t first = reg_new(c, list);
    for (uint32_t i = 1; i < count; i++)
        (void)reg_new(c, list);
    for (const cJSON *v = list->child; v != NULL; v = v->next)
        compile_value_to(c, v, (uint8_t)(first + (*n)++));
    return first;
}

/* ---- functions ---- */

/* A body written in place: a function whose parameters are the names visible here; it gets their
 * values. */
int32_t op_inline_function(struct cc *c, const cJSON *body, const char *verb, uint8_t *first,
                           uint32_t *n)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%u", verb, c->b.p.nfuncs);
    const char **params = pool_alloc(c->pool, (c->nlocals + 1) * sizeof *params);
    int32_t f = func_add(c, name, params, c->nlocals, body, body);
    *n = c->nlocals;
    *first = 0;
    func_use(c, f);
    for (uint32_t i = 0; i < c->nlocals; i++) {
        uint8_t r = reg_new(c, body);
        if (i == 0)
            *first = r;
        params[i] = c->locals[i].name;
        kind_pass(&c->b, c->locals[i].reg, f, i);
        build_op(&c->b, OP_MOVE, r, c->locals[i].reg, 0, 0, 0);
    }
    return f;
}

const char **op_function_names(struct cc *c)
{
    const char **names = pool_alloc(c->pool, (c->b.p.nfuncs + 1) * sizeof *names);
    for (uint32_t i = 0; i < c->b.p.nfuncs; i++)
        names[i] = c->b.funcs[i].name;
    return names;
}

/* A function by name with "args", or a body in place. */
int32_t op_callee(struct cc *c, const cJSON *o, const cJSON *v, const char *verb, uint8_t *first,
                  uint32_t *n)
{
    const cJSON *args = json_member(o, "args");
    if (cJSON_IsArray(v)) {
        if (args != NULL)
            json_bad(c->doc, args, true,
                     "a body in place sees the names around it and takes no args");
        return op_inline_function(c, v, verb, first, n);
    }
    const char *name = json_string(c->doc, v);
    int32_t f = build_find_func(&c->b, name);
    if (f < 0) {
        const char *near = nearest(name, op_function_names(c));
        json_bad(c->doc, v, false, "no function \"%.60s\"%s%s%s", name,
                 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    *first = op_arguments(c, args, n);
    if (*n != c->b.funcs[f].nparams)
        json_bad(c->doc, args != NULL ? args : v, false, "\"%.60s\" takes %u arguments, got %u",
                 name, c->b.funcs[f].nparams, *n);
    func_use(c, f);
    for (uint32_t i = 0; i < *n; i++)
        kind_pass(&c->b, (uint8_t)(*first + i), f, i);
    return f;
}
