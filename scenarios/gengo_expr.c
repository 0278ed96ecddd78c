/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions of the language as expressions of Go. Every value is an int64; comparisons are bools
 * until a number is wanted. gofmt leaves blanks out of deeper operations (nodes.go of go/printer):
 * gen_show knows the depth, so that its text is what gofmt would write. */
#include <string.h>

#include "scenarios/gengo_int.h"

struct reader {
    struct gen *g;
    const char *p;
};

static struct node *node_new(struct gen *g, const char *text)
{
    struct node *n = pool_alloc(g->pool, sizeof *n);
    n->text = text;
    return n;
}

struct node *gen_leaf(struct gen *g, const char *text) { return node_new(g, text); }

static void add_arg(struct node *n, struct node *a)
{
    if (a != NULL)
        n->args[n->nargs++] = a;
}

struct node *gen_call(struct gen *g, const char *function, struct node *a, struct node *b,
                      struct node *c)
{
    struct node *n = node_new(g, function);
    n->prec = -1;
    add_arg(n, a);
    add_arg(n, b);
    add_arg(n, c);
    return n;
}

static struct node *binary(struct gen *g, const char *op, int prec, struct node *a, struct node *b)
{
    struct node *n = node_new(g, op);
    n->prec = prec;
    n->is_bool = prec <= 3;
    add_arg(n, a);
    add_arg(n, b);
    return n;
}

struct node *gen_int(struct gen *g, struct node *n)
{
    return n->is_bool ? gen_call(g, "simInt", n, NULL, NULL) : n;
}

struct node *gen_bool(struct gen *g, struct node *n)
{
    return n->is_bool ? n : binary(g, "!=", 3, n, gen_leaf(g, "0"));
}

/* ---- printing ---- */

static const char *operand(struct gen *g, const struct node *n, int depth)
{
    if (n->prec > 0 || n->unary)
        return gen_text(g, "(%s)", gen_show(g, n, depth > 2 ? depth - 1 : 1));
    return gen_show(g, n, depth);
}

const char *gen_show(struct gen *g, const struct node *n, int depth)
{
    if (n->unary)
        return gen_text(g, "%s%s", n->text, operand(g, n->args[0], depth));
    if (n->prec > 0) {
        const char *blank = n->prec < (depth == 1 ? 6 : 4) ? " " : "";
        return gen_text(g, "%s%s%s%s%s", operand(g, n->args[0], depth + 1), blank, n->text, blank,
                        operand(g, n->args[1], depth + 1));
    }
    if (n->prec == 0)
        return n->text;
    const char *s = gen_text(g, "%s(", n->text);
    for (int i = 0; i < n->nargs; i++)
        s = gen_text(g, "%s%s%s", s, i > 0 ? ", " : "",
                     gen_show(g, n->args[i], depth + (n->nargs > 1)));
    return gen_text(g, "%s)", s);
}

/* ---- parsing, as expr.c ---- */

static struct node *parse_or(struct reader *r);

static bool accept(struct reader *r, const char *token)
{
    while (*r->p == ' ')
        r->p++;
    size_t n = strlen(token);
    if (strncmp(r->p, token, n) != 0)
        return false;
    r->p += n;
    return true;
}

static const char *word(struct reader *r)
{
    while (*r->p == ' ')
        r->p++;
    size_t n = 0;
    while ((r->p[n] >= 'a' && r->p[n] <= 'z') || (r->p[n] >= 'A' && r->p[n] <= 'Z') ||
           (r->p[n] >= '0' && r->p[n] <= '9') || r->p[n] == '_')
        n++;
    const char *s = gen_text(r->g, "%.*s", (int)n, r->p);
    r->p += n;
    return s;
}

static struct node *number(struct reader *r)
{
    size_t n = strspn(r->p, "0123456789.abcdefghijklmnopqrstuvwxyz");
    const char *s = gen_text(r->g, "%.*s", (int)n, r->p);
    int64_t ns;
    r->p += n;
    if (json_parse_duration(s, &ns))
        s = gen_text(r->g, "%lld", (long long)ns);
    while (s[0] == '0' && s[1] != 0) /* Go would read it as octal */
        s++;
    return gen_leaf(r->g, s);
}

static struct node *channel_operand(struct reader *r)
{
    struct gen *g = r->g;
    const char *s = word(r);
    if (gen_kind(g, s) == OBJ_CHAN || gen_is_ticks(g, s))
        return gen_leaf(g, gen_name(g, s));
    return gen_call(g, "simChan", gen_leaf(g, gen_name(g, s)), NULL, NULL);
}

static struct node *call(struct reader *r, const char *name)
{
    static const char *const plain[][2] = {{"now", "simNow()"},
                                           {"goid", "simGoid()"},
                                           {"numgoroutine", "int64(runtime.NumGoroutine())"}};
    struct gen *g = r->g;
    struct node *n;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, plain[i][0]) == 0) {
            (void)accept(r, ")");
            return gen_leaf(g, plain[i][1]);
        }
    if (strcmp(name, "len") == 0 || strcmp(name, "cap") == 0) {
        n = gen_call(g, "int64", gen_call(g, name, channel_operand(r), NULL, NULL), NULL, NULL);
    } else if (strcmp(name, "rand") == 0) {
        n = gen_call(g, "simRand", gen_int(g, parse_or(r)), NULL, NULL);
    } else {
        struct node *a = gen_int(g, parse_or(r));
        (void)accept(r, ",");
        n = gen_call(g, name[1] == 'i' ? "simMin" : "simMax", a, gen_int(g, parse_or(r)), NULL);
    }
    (void)accept(r, ")");
    return n;
}

static struct node *name(struct reader *r)
{
    struct gen *g = r->g;
    const char *s = word(r);
    if (accept(r, "("))
        return call(r, s);
    if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0 || strcmp(s, "nil") == 0)
        return gen_leaf(g, s[0] == 't' ? "1" : "0");
    if (gen_kind(g, s) != OBJ_KINDS)
        return gen_leaf(g, gen_text(g, "handle_%s", s));
    struct node *n = gen_leaf(g, gen_name(g, s));
    if (!accept(r, "."))
        return n;
    const char *field = word(r);
    return gen_call(g,
                    *field == 'C'   ? "simTimerHandle"
                    : *field == 'D' ? "simDoneHandle"
                                    : "simErr",
                    n, NULL, NULL);
}

static struct node *unary(struct reader *r)
{
    struct gen *g = r->g;
    bool minus = accept(r, "-");
    while (*r->p == ' ')
        r->p++;
    if (minus || (*r->p == '!' && r->p[1] != '=')) {
        r->p += !minus;
        struct node *n = gen_leaf(g, minus ? "-" : "!"), *a = unary(r);
        n->unary = true;
        n->is_bool = !minus;
        add_arg(n, minus ? gen_int(g, a) : gen_bool(g, a));
        return n;
    }
    if (*r->p >= '0' && *r->p <= '9')
        return number(r);
    if (!accept(r, "("))
        return name(r);
    struct node *n = parse_or(r);
    (void)accept(r, ")");
    return n;
}

static struct node *term(struct reader *r)
{
    static const char *const ops[] = {"*", "/", "%"};
    struct node *a = unary(r);
    for (size_t i = 0; i < 3;)
        if (accept(r, ops[i])) {
            struct node *b = unary(r);
            a = binary(r->g, ops[i], 5, gen_int(r->g, a), gen_int(r->g, b));
            i = 0;
        } else {
            i++;
        }
    return a;
}

static struct node *sum(struct reader *r)
{
    static const char *const ops[] = {"+", "-"};
    struct node *a = term(r);
    for (size_t i = 0; i < 2;)
        if (accept(r, ops[i])) {
            struct node *b = term(r);
            a = binary(r->g, ops[i], 4, gen_int(r->g, a), gen_int(r->g, b));
            i = 0;
        } else {
            i++;
        }
    return a;
}

static struct node *comparison(struct reader *r)
{
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct node *a = sum(r);
    for (size_t i = 0; i < 6; i++)
        if (accept(r, ops[i])) {
            struct node *b = sum(r);
            return binary(r->g, ops[i], 3, gen_int(r->g, a), gen_int(r->g, b));
        }
    return a;
}

static struct node *parse_or(struct reader *r)
{
    struct gen *g = r->g;
    struct node *left = NULL;
    do {
        struct node *a = comparison(r);
        while (accept(r, "&&")) {
            struct node *b = comparison(r);
            a = binary(g, "&&", 2, gen_bool(g, a), gen_bool(g, b));
        }
        left = left == NULL ? a : binary(g, "||", 1, gen_bool(g, left), gen_bool(g, a));
    } while (accept(r, "||"));
    return left;
}

struct node *gen_value(struct gen *g, const cJSON *v)
{
    if (cJSON_IsString(v)) {
        struct reader r = {g, v->valuestring};
        return parse_or(&r);
    }
    if (cJSON_IsNumber(v))
        return gen_leaf(g, gen_text(g, "%lld", (long long)v->valuedouble));
    return gen_leaf(g, cJSON_IsTrue(v) ? "1" : "0");
}

/* ---- durations ---- */

static struct node *nanoseconds(struct gen *g, const cJSON *v)
{
    int64_t ns = 0;
    (void)json_parse_duration(v->valuestring, &ns);
    return gen_leaf(g, gen_text(g, "%lld", (long long)ns));
}

/* The standard normal's 99th percentile. */
static struct node *sigma_of(struct gen *g, const cJSON *o)
{
    const cJSON *sigma = json_member(o, "sigma"), *p99 = json_member(o, "p99");
    if (sigma != NULL)
        return gen_leaf(g, gen_text(g, "%g", sigma->valuedouble));
    return gen_leaf(g, gen_text(g, "math.Log(%s.0/%s)/2.326", nanoseconds(g, p99)->text,
                                nanoseconds(g, o->child)->text));
}

static struct node *empirical(struct gen *g, const cJSON *list)
{
    const char *s = "";
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        const cJSON *from = json_member(e, "from"), *to = json_member(e, "to"),
                    *weight = json_member(e, "weight");
        s = gen_text(g, "%s%s%s, %s, %lld", s, *s != 0 ? ", " : "", nanoseconds(g, from)->text,
                     nanoseconds(g, to != NULL ? to : from)->text,
                     weight != NULL ? (long long)weight->valuedouble : 1LL);
    }
    return gen_leaf(g, gen_text(g, "simEmpirical(%s)", s));
}

static struct node *distribution(struct gen *g, const cJSON *o)
{
    const cJSON *v = o->child;
    const char *name = v->string;
    if (strcmp(name, "fixed") == 0)
        return nanoseconds(g, v);
    if (strcmp(name, "exp") == 0)
        return gen_call(g, "simExp", nanoseconds(g, v), NULL, NULL);
    if (strcmp(name, "uniform") == 0)
        return gen_call(g, "simUniform", nanoseconds(g, v->child), nanoseconds(g, v->child->next),
                        NULL);
    if (strcmp(name, "lognormal") == 0)
        return gen_call(g, "simLognormal", nanoseconds(g, v), sigma_of(g, o), NULL);
    if (strcmp(name, "empirical") == 0)
        return empirical(g, v);
    bool pareto = strcmp(name, "pareto") == 0;
    double number = json_member(o, pareto ? "alpha" : "percent")->valuedouble;
    struct node *last = gen_leaf(g, gen_text(g, "%g", number));
    if (pareto)
        return gen_call(g, "simPareto", nanoseconds(g, v), last, NULL);
    return gen_call(g, "simBimodal", nanoseconds(g, v->child), nanoseconds(g, v->child->next),
                    last);
}

struct node *gen_amount(struct gen *g, const cJSON *v)
{
    int64_t amount;
    if (cJSON_IsString(v) && json_parse_duration(v->valuestring, &amount))
        return nanoseconds(g, v);
    if (cJSON_IsString(v) && json_parse_size(v->valuestring, &amount))
        return gen_leaf(g, gen_text(g, "%lld", (long long)amount));
    if (!cJSON_IsObject(v))
        return gen_int(g, gen_value(g, v));
    struct node *n = distribution(g, v);
    const cJSON *min = json_member(v, "min"), *max = json_member(v, "max");
    if (min != NULL)
        n = gen_call(g, "simMax", n, nanoseconds(g, min), NULL);
    if (max != NULL)
        n = gen_call(g, "simMin", n, nanoseconds(g, max), NULL);
    return n;
}
