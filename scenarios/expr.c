/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions: whole numbers, names of locals, handles of objects, operators as in C and Go, and a
 * few calls.
 *
 *   or     := and ("||" and)*             sum    := term (("+" | "-") term)*
 *   and    := cmp ("&&" cmp)*             term   := unary (("*" | "/" | "%") unary)*
 *   cmp    := sum (("==" | "!=" | "<" | "<=" | ">" | ">=") sum)?
 *   unary  := ("-" | "!") unary | primary
 *   primary:= number | duration | name | name ".C" | name ".Done" | name ".Err"
 *           | call "(" ... ")" | "(" or ")"
 *
 * && and || evaluate both sides: no expression has an effect, except rand(). */
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"

enum { EXPR_DEPTH_MAX = 64 };

struct parse {
    struct cc *c;
    const cJSON *at;
    const char *p;
    int depth;
};

static _Noreturn void bad_expr(struct parse *x, const char *what)
{
    size_t column = (size_t)(x->p - x->at->valuestring) + 1;
    json_bad(x->c->doc, x->at, false, "%s at character %zu of the expression \"%.60s\"", what,
             column, x->at->valuestring);
}

static void space(struct parse *x)
{
    while (*x->p == ' ')
        x->p++;
}

static bool accept(struct parse *x, const char *token)
{
    space(x);
    size_t n = strlen(token);
    if (strncmp(x->p, token, n) != 0)
        return false;
    x->p += n;
    return true;
}

static bool is_name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

static size_t name_here(struct parse *x, char *out, size_t size)
{
    size_t n = 0;
    while (is_name_char(x->p[n]))
        n++;
    if (n == 0 || n >= size)
        bad_expr(x, n == 0 ? "want a value" : "name too long");
    memcpy(out, x->p, n);
    out[n] = 0;
    return n;
}

static uint8_t parse_or(struct parse *x);

static uint8_t temp(struct parse *x) { return reg_new(x->c, x->at); }

/* A register with a new value of that kind. */
static uint8_t result(struct parse *x, uint32_t kinds)
{
    uint8_t r = temp(x);
    kind_is(&x->c->b, r, kinds);
    return r;
}

static uint8_t constant(struct parse *x, int64_t v, uint32_t kinds)
{
    uint8_t r = result(x, kinds);
    build_op(&x->c->b, OP_CONST, r, 0, 0, 0, v);
    return r;
}

/* A number, or a duration such as 5ms, which is nanoseconds. */
static uint8_t number(struct parse *x)
{
    char word[40];
    size_t n = 0;
    int64_t v = 0;
    while ((is_name_char(x->p[n]) || x->p[n] == '.') && n < sizeof word - 1) {
        word[n] = x->p[n];
        n++;
    }
    word[n] = 0;
    bool digits = true;
    for (size_t i = 0; i < n; i++)
        digits = digits && word[i] >= '0' && word[i] <= '9';
    if (digits && n <= 18)
        for (size_t i = 0; i < n; i++)
            v = v * 10 + (word[i] - '0');
    else if (!json_parse_duration(word, &v))
        bad_expr(x, "want a whole number, or a duration (ns, us, ms, s, min, h)");
    x->p += n;
    return constant(x, v, KIND_NUMBER);
}

/* The channel inside len() and cap(): an object, or a local with a handle. */
static void handle_operand(struct parse *x, enum object_kind kind, int32_t *obj, uint8_t *reg)
{
    char name[64];
    space(x);
    x->p += name_here(x, name, sizeof name);
    const struct local *l = local_find(x->c, name);
    *obj = OBJ_REG;
    *reg = 0;
    if (l != NULL) {
        *reg = l->reg;
        want_kind(x->c, x->at, l->reg, KIND(kind) | KIND_RECV);
        return;
    }
    *obj = build_find_object(&x->c->b, name);
    if (*obj < 0 || x->c->b.objects[*obj].kind != kind)
        bad_expr(x, "want a channel");
}

static uint8_t number_of(struct parse *x, uint8_t reg)
{
    want_kind(x->c, x->at, reg, KIND_NUMBER);
    return reg;
}

static uint8_t call(struct parse *x, const char *name)
{
    struct cc *c = x->c;
    uint8_t r;
    if (strcmp(name, "len") == 0 || strcmp(name, "cap") == 0) {
        int32_t obj;
        uint8_t h;
        handle_operand(x, OBJ_CHAN, &obj, &h);
        r = result(x, KIND_NUMBER);
        build_op(&c->b, name[0] == 'l' ? OP_LEN : OP_CAP, r, 0, h, obj, 0);
    } else if (strcmp(name, "rand") == 0) {
        uint8_t n = number_of(x, parse_or(x));
        r = result(x, KIND_NUMBER);
        build_op(&c->b, OP_RANDN, r, n, 0, 0, 0);
    } else if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0) {
        uint8_t a = number_of(x, parse_or(x));
        if (!accept(x, ","))
            bad_expr(x, "want a comma");
        uint8_t b = number_of(x, parse_or(x));
        r = result(x, KIND_NUMBER);
        build_op(&c->b, name[1] == 'i' ? OP_MIN : OP_MAX, r, a, b, 0, 0);
    } else {
        static const struct {
            const char *name;
            enum op op;
        } nullary[] = {{"now", OP_NOW}, {"goid", OP_GOID}, {"numgoroutine", OP_NUMGOROUTINE}};
        size_t i = 0;
        while (i < 3 && strcmp(nullary[i].name, name) != 0)
            i++;
        if (i == 3)
            bad_expr(
                x,
                "unknown function before this (len, cap, rand, min, max, now, goid, numgoroutine)");
        r = result(x, KIND_NUMBER);
        build_op(&c->b, nullary[i].op, r, 0, 0, 0, 0);
    }
    if (!accept(x, ")"))
        bad_expr(x, "want )");
    return r;
}

static uint8_t field(struct parse *x, uint8_t handle)
{
    static const struct {
        const char *name;
        enum op op;
        enum object_kind of;
        uint32_t gives;
    } fields[] = {{"C", OP_TIMERC, OBJ_TIMER, KIND_RECV},
                  {"Done", OP_CTXDONE, OBJ_CONTEXT, KIND_RECV},
                  {"Err", OP_CTXERR, OBJ_CONTEXT, KIND_NUMBER}};
    char name[16];
    x->p += name_here(x, name, sizeof name);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, fields[i].name) == 0) {
            want_kind(x->c, x->at, handle, KIND(fields[i].of));
            uint8_t r = result(x, fields[i].gives);
            build_op(&x->c->b, fields[i].op, r, 0, handle, OBJ_REG, 0);
            return r;
        }
    bad_expr(x, "want .C, .Done or .Err before this");
}

static _Noreturn void unknown_name(struct parse *x, const char *word)
{
    char text[160];
    const char *near = name_nearest(x->c, word);
    snprintf(text, sizeof text, "unknown name \"%.60s\"%s%.60s%s", word,
             near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
             near != NULL ? "\"?" : "");
    bad_expr(x, text);
}

static uint8_t name(struct parse *x)
{
    char word[64];
    size_t n = name_here(x, word, sizeof word);
    const struct local *l = local_find(x->c, word);
    int32_t obj = build_find_object(&x->c->b, word);
    if (l == NULL && x->p[n] == '(') {
        x->p += n + 1;
        return call(x, word);
    }
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0 || strcmp(word, "nil") == 0) {
        x->p += n;
        return constant(x, word[0] == 't', word[0] == 'n' ? KIND_ANY : KIND_NUMBER);
    }
    if (l == NULL && obj < 0)
        unknown_name(x, word);
    x->p += n;
    if (l == NULL)
        return constant(x, (int64_t)obj + 1, KIND(x->c->b.objects[obj].kind)); /* a handle */
    if (*x->p != '.')
        return l->reg;
    x->p++;
    return field(x, l->reg);
}

static uint8_t primary(struct parse *x)
{
    space(x);
    if (*x->p >= '0' && *x->p <= '9')
        return number(x);
    if (!accept(x, "("))
        return name(x);
    uint8_t r = parse_or(x);
    if (!accept(x, ")"))
        bad_expr(x, "want )");
    return r;
}

static uint8_t binary(struct parse *x, enum op op, uint8_t a, uint8_t b)
{
    if (op != OP_EQ && op != OP_NE) {
        number_of(x, a);
        number_of(x, b);
    }
    uint8_t r = result(x, KIND_NUMBER);
    build_op(&x->c->b, op, r, a, b, 0, 0);
    return r;
}

static uint8_t unary(struct parse *x)
{
    space(x);
    if (*x->p == '-') {
        x->p++;
        uint8_t zero = constant(x, 0, KIND_NUMBER);
        uint8_t v = unary(x);
        return binary(x, OP_SUB, zero, v);
    }
    if (*x->p == '!' && x->p[1] != '=') {
        x->p++;
        uint8_t zero = constant(x, 0, KIND_NUMBER);
        uint8_t v = number_of(x, unary(x));
        return binary(x, OP_EQ, zero, v);
    }
    return primary(x);
}

static uint8_t term(struct parse *x)
{
    uint8_t a = unary(x);
    for (;;) {
        enum op op = accept(x, "*")   ? OP_MUL
                     : accept(x, "/") ? OP_DIV
                     : accept(x, "%") ? OP_MOD
                                      : OP_NOP;
        if (op == OP_NOP)
            return a;
        uint8_t b = unary(x);
        a = binary(x, op, a, b);
    }
}

static uint8_t sum(struct parse *x)
{
    uint8_t a = term(x);
    for (;;) {
        enum op op = accept(x, "+") ? OP_ADD : accept(x, "-") ? OP_SUB : OP_NOP;
        if (op == OP_NOP)
            return a;
        uint8_t b = term(x);
        a = binary(x, op, a, b);
    }
}

static uint8_t comparison(struct parse *x)
{
    uint8_t a = sum(x);
    enum op op = OP_NOP;
    bool swap = false;
    if (accept(x, "==")) {
        op = OP_EQ;
    } else if (accept(x, "!=")) {
        op = OP_NE;
    } else if (accept(x, "<=")) {
        op = OP_LE;
    } else if (accept(x, ">=")) {
        op = OP_LE;
        swap = true;
    } else if (accept(x, "<")) {
        op = OP_LT;
    } else if (accept(x, ">")) {
        op = OP_LT;
        swap = true;
    }
    if (op == OP_NOP)
        return a;
    uint8_t b = sum(x);
    return swap ? binary(x, op, b, a) : binary(x, op, a, b);
}

/* Turns any value into 0 or 1. */
static uint8_t truth(struct parse *x, uint8_t v)
{
    uint8_t zero = constant(x, 0, KIND_NUMBER);
    return binary(x, OP_NE, number_of(x, v), zero);
}

static uint8_t conjunction(struct parse *x)
{
    uint8_t a = comparison(x);
    while (accept(x, "&&")) {
        a = truth(x, a);
        uint8_t b = comparison(x);
        b = truth(x, b);
        a = binary(x, OP_AND, a, b);
    }
    return a;
}

static uint8_t parse_or(struct parse *x)
{
    if (++x->depth > EXPR_DEPTH_MAX)
        bad_expr(x, "nested too deep");
    uint8_t a = conjunction(x);
    while (accept(x, "||")) {
        uint8_t b = conjunction(x);
        a = binary(x, OP_OR, a, b);
        a = truth(x, a);
    }
    x->depth--;
    return a;
}

bool constant_value(const cJSON *value, int64_t *out)
{
    if (cJSON_IsBool(value)) {
        *out = cJSON_IsTrue(value);
        return true;
    }
    return false;
}

static bool is_unit(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "min", "h"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i]) == 0)
            return true;
    return false;
}

uint8_t compile_value(struct cc *c, const cJSON *value)
{
    int64_t v;
    if (cJSON_IsString(value)) {
        struct parse x = {c, value, value->valuestring, 0};
        uint8_t r = parse_or(&x);
        space(&x);
        if (*x.p != 0)
            bad_expr(&x, is_unit(x.p) ? "a unit follows its number without a space"
                                      : "unexpected text");
        return r;
    }
    uint8_t r = reg_new(c, value);
    kind_is(&c->b, r, KIND_NUMBER);
    if (!constant_value(value, &v))
        v = json_int(c->doc, value, -(INT64_C(1) << 53), INT64_C(1) << 53);
    build_op(&c->b, OP_CONST, r, 0, 0, 0, v);
    return r;
}

void compile_value_to(struct cc *c, const cJSON *value, uint8_t reg)
{
    uint8_t next = c->b.next_reg, r = compile_value(c, value);
    if (r != reg) {
        kind_flow(&c->b, r, reg);
        build_op(&c->b, OP_MOVE, reg, r, 0, 0, 0);
    }
    c->b.next_reg = next;
}

void compile_unless(struct cc *c, const cJSON *condition, int label)
{
    uint8_t next = c->b.next_reg, r = compile_value(c, condition);
    want_kind(c, condition, r, KIND_NUMBER);
    build_jump(&c->b, OP_JZ, r, 0, 0, label);
    c->b.next_reg = next;
}
