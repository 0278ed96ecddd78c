/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions: whole numbers, names of locals, handles of objects, operators as in C and Go, and a
 * few calls.
 *
 *   binary := unary (operator binary)*        by precedence (binary.def); one comparison at most
 *   unary  := ("-" | "!") unary | primary
 *   primary:= number | duration | local ("." field)? | object (("[" binary "]") | ("." member))*
 *           | call "(" binary ("," binary)* ")" | "(" binary ")"
 *
 * && and || evaluate both sides: no expression has an effect, except rand(). */
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"
#include "sim/base/text.h"

enum { EXPR_DEPTH_MAX = 64, EXPR_NODES_MAX = 4096 };

const char *const call_names[] = {"len", "cap",  "rand",         "min", "max",
                                  "now", "goid", "numgoroutine", NULL};
const char *const field_names[] = {"C", "Done", "Err", NULL};

static const struct {
    const char *text;
    int precedence;
} binaries[] = {
#define BINARY(id, text, precedence, op, swapped) {text, precedence},
#include "scenarios/binary.def"
#undef BINARY
};
enum { COMPARISON = 3, TIGHTEST = 5 };

struct parse {
    struct cc *c;
    const cJSON *at;
    const char *p;
    int depth, nodes;
};

static _Noreturn void bad_expr(struct parse *x, const char *what)
{
    size_t column = (size_t)(x->p - x->at->valuestring) + 1;
    json_bad(x->c->doc, x->at, false, "%s at character %zu of the expression \"%.60s\"", what,
             column, x->at->valuestring);
}

static struct expr *node(struct cc *c, const cJSON *at, enum expr_kind is)
{
    struct expr *e = pool_alloc(c->pool, sizeof *e);
    e->is = is;
    e->at = json_at(c->doc, at);
    return e;
}

static struct expr *new_node(struct parse *x, enum expr_kind is)
{
    if (++x->nodes > EXPR_NODES_MAX)
        bad_expr(x, "too long");
    return node(x->c, x->at, is);
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

static void want(struct parse *x, const char *token)
{
    char text[16];
    snprintf(text, sizeof text, "want %s", *token == ',' ? "a comma" : token);
    if (!accept(x, token))
        bad_expr(x, text);
}

static bool is_name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

/* The name that stands here, without going on behind it. */
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

static struct expr *binary(struct parse *x, int precedence);

static struct expr *whole(struct parse *x)
{
    if (++x->depth > EXPR_DEPTH_MAX)
        bad_expr(x, "nested too deep");
    struct expr *e = binary(x, 1);
    x->depth--;
    return e;
}

/* A number, or a duration such as 5ms, which is nanoseconds. */
static struct expr *number(struct parse *x)
{
    char word[40];
    size_t n = 0;
    int64_t v = 0;
    while ((is_name_char(x->p[n]) || x->p[n] == '.') && n < sizeof word - 1) {
        word[n] = x->p[n];
        n++;
    }
    word[n] = 0;
    if (strspn(word, "0123456789") == n && n <= 18)
        for (size_t i = 0; i < n; i++)
            v = v * 10 + (word[i] - '0');
    else if (!json_parse_duration(word, &v))
        bad_expr(x, "want a whole number, or a duration (ns, us, ms, s, min, h)");
    x->p += n;
    struct expr *e = new_node(x, X_NUMBER);
    e->value = v;
    return e;
}

static int word_among(const char *word, const char *const *words)
{
    int i = 0;
    while (words[i] != NULL && strcmp(words[i], word) != 0)
        i++;
    return words[i] != NULL ? i : -1;
}

/* ---- names ---- */

struct name *local_find(const struct cc *c, const char *text)
{
    for (uint32_t i = c->nlocals; i > 0; i--)
        if (strcmp(c->locals[i - 1]->text, text) == 0)
            return c->locals[i - 1];
    return NULL;
}

/* The name in scope (local or object) nearest to a wrong one, NULL. */
static const char *name_nearest(struct cc *c, const char *wrong)
{
    uint32_t n = c->nlocals, things = c->tree.nthings;
    const char **names = pool_alloc(c->pool, (n + things + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = c->locals[i]->text;
    for (uint32_t i = 0; i < things; i++)
        names[n + i] = c->tree.things[i].name;
    return nearest(wrong, names);
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

/* [i] behind an array. */
static const struct shape *element(struct parse *x, struct expr *e, const struct shape *s)
{
    struct expr *i = whole(x);
    want(x, "]");
    if (i->is == X_NUMBER && i->value >= s->count)
        bad_expr(x, "an index beyond the array before this");
    if (i->is == X_NUMBER) {
        e->object += (int32_t)(i->value * s->of->size);
        return s->of;
    }
    struct index *in = pool_alloc(x->c->pool, sizeof *in), **end = &e->indices;
    *in = (struct index){.at = i, .count = s->count, .stride = s->of->size};
    while (*end != NULL)
        end = &(*end)->next;
    *end = in;
    return s->of;
}

/* .name behind a struct. */
static const struct shape *member(struct parse *x, struct expr *e, const struct shape *s)
{
    char word[64];
    size_t n = name_here(x, word, sizeof word);
    const struct member *m = s->members;
    while (m != NULL && strcmp(m->name, word) != 0)
        m = m->next;
    if (m == NULL)
        bad_expr(x, "no such member");
    x->p += n;
    e->object += (int32_t)m->at;
    return m->shape;
}

/* An object, down to one that is neither array nor struct. */
static struct expr *object(struct parse *x, const struct thing *t)
{
    struct expr *e = new_node(x, X_OBJECT);
    const struct shape *s = t->shape;
    e->object = t->first;
    while (s->is != S_ONE) {
        bool array = s->is == S_ARRAY;
        if (*x->p != (array ? '[' : '.'))
            bad_expr(x, array ? "want [ and an index into the array"
                              : "want . and a member of the struct");
        x->p++;
        s = array ? element(x, e, s) : member(x, e, s);
    }
    e->kind = s->kind;
    return e;
}

static struct expr *call(struct parse *x, const char *name)
{
    int which = word_among(name, call_names);
    if (which < 0)
        bad_expr(
            x, "unknown function before this (len, cap, rand, min, max, now, goid, numgoroutine)");
    struct expr *e = new_node(x, X_CALL);
    e->which = (uint8_t)which;
    if (which <= C_MAX)
        e->a = whole(x);
    if (which <= C_CAP && e->a->is == X_OBJECT && e->a->kind != OBJ_CHAN)
        bad_expr(x, "want a channel");
    if (which == C_MIN || which == C_MAX) {
        want(x, ",");
        e->b = whole(x);
    }
    want(x, ")");
    return e;
}

static struct expr *field(struct parse *x, struct expr *of)
{
    char word[64];
    size_t n = name_here(x, word, sizeof word);
    int which = word_among(word, field_names);
    x->p += n;
    if (which < 0)
        bad_expr(x, "want .C, .Done or .Err before this");
    struct expr *e = new_node(x, X_FIELD);
    e->which = (uint8_t)which;
    e->a = of;
    return e;
}

static struct expr *constant(struct parse *x, const char *word)
{
    struct expr *e = new_node(x, word[0] == 'n' ? X_NIL : X_NUMBER);
    e->value = word[0] == 't';
    return e;
}

static struct expr *name(struct parse *x)
{
    char word[64];
    size_t n = name_here(x, word, sizeof word);
    struct name *l = local_find(x->c, word);
    const struct thing *t = thing_find(x->c, word);
    if (l == NULL && x->p[n] == '(') {
        x->p += n + 1;
        return call(x, word);
    }
    bool is_constant = strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ||
                       strcmp(word, "nil") == 0;
    if (!is_constant && l == NULL && t == NULL)
        unknown_name(x, word);
    x->p += n;
    if (is_constant)
        return constant(x, word);
    if (l == NULL)
        return object(x, t);
    struct expr *e = new_node(x, X_LOCAL);
    e->name = l;
    if (*x->p != '.')
        return e;
    x->p++;
    return field(x, e);
}

/* ---- operators ---- */

static struct expr *primary(struct parse *x)
{
    space(x);
    if (*x->p >= '0' && *x->p <= '9')
        return number(x);
    if (!accept(x, "("))
        return name(x);
    struct expr *e = whole(x);
    want(x, ")");
    return e;
}

static struct expr *unary(struct parse *x)
{
    space(x);
    bool minus = *x->p == '-';
    if (!minus && (*x->p != '!' || x->p[1] == '='))
        return primary(x);
    if (++x->depth > EXPR_DEPTH_MAX)
        bad_expr(x, "nested too deep");
    x->p++;
    struct expr *e = new_node(x, minus ? X_MINUS : X_NOT);
    e->a = unary(x);
    x->depth--;
    return e;
}

static int operator_here(struct parse *x, int precedence)
{
    for (int i = 0; i < BINARIES; i++)
        if (binaries[i].precedence == precedence && accept(x, binaries[i].text))
            return i;
    return -1;
}

static struct expr *binary(struct parse *x, int precedence)
{
    if (precedence > TIGHTEST)
        return unary(x);
    struct expr *a = binary(x, precedence + 1);
    for (int op; (op = operator_here(x, precedence)) >= 0;) {
        struct expr *e = new_node(x, X_BINARY);
        e->which = (uint8_t)op;
        e->a = a;
        e->b = binary(x, precedence + 1);
        a = e;
        if (precedence == COMPARISON)
            break;
    }
    return a;
}

/* ---- values ---- */

static bool is_unit(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "min", "h", NULL};
    return word_among(text, units) >= 0;
}

struct expr *read_value(struct cc *c, const cJSON *value)
{
    if (cJSON_IsString(value)) {
        struct parse x = {.c = c, .at = value, .p = value->valuestring};
        struct expr *e = whole(&x);
        space(&x);
        if (*x.p != 0)
            bad_expr(&x, is_unit(x.p) ? "a unit follows its number without a space"
                                      : "unexpected text");
        return e;
    }
    struct expr *e = node(c, value, cJSON_IsBool(value) ? X_NUMBER : X_LITERAL);
    e->value = cJSON_IsBool(value) ? cJSON_IsTrue(value)
                                   : json_int(c->doc, value, -(INT64_C(1) << 53), INT64_C(1) << 53);
    return e;
}

struct exprs read_values(struct cc *c, const cJSON *list)
{
    struct exprs out = {.at = json_at(c->doc, list)};
    if (list == NULL)
        return out;
    json_want_array(c->doc, list);
    out.x = pool_alloc(c->pool, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *out.x);
    for (const cJSON *v = list->child; v != NULL; v = v->next)
        out.x[out.count++] = read_value(c, v);
    return out;
}

const char *read_label(struct cc *c, const cJSON *value)
{
    const char *s = json_string(c->doc, value);
    if (*s != 0 && !text_is_plain_name(s))
        json_bad(c->doc, value, false, "a name with a control character");
    return pool_text(c->pool, s);
}
