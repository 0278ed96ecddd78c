/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions of the tree as expressions of Go. Every value is an int64; comparisons are bools
 * until a number is wanted. gofmt leaves blanks out of deeper operations (nodes.go of go/printer):
 * gen_show knows the depth, so that its text is what gofmt would write. */
#include <string.h>

#include "scenarios/gengo_int.h"
#include "sim/base/dist.h"

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

/* ---- values ---- */

static const char *type_of(enum object_kind kind)
{
    static const char *const types[OBJ_KINDS] = {[OBJ_MUTEX] = "*sync.Mutex",
                                                 [OBJ_RWMUTEX] = "*sync.RWMutex",
                                                 [OBJ_WAITGROUP] = "*sync.WaitGroup",
                                                 [OBJ_COND] = "*sync.Cond",
                                                 [OBJ_ONCE] = "*sync.Once",
                                                 [OBJ_SEMA] = "*simSemaphore",
                                                 [OBJ_POOL] = "*sync.Pool",
                                                 [OBJ_VAR] = "*int64",
                                                 [OBJ_FD] = "*simFD",
                                                 [OBJ_TIMER] = "*simTimer",
                                                 [OBJ_CONTEXT] = "*simContext",
                                                 [OBJ_CORO] = "*simCoroutine",
                                                 [OBJ_CHAN] = "chan int64"};
    return types[kind];
}

/* handle_x, plus the place of an element. */
static struct node *handle(struct gen *g, const struct expr *x)
{
    const struct thing *t = gen_thing_of(g, x->object);
    struct node *n = gen_leaf(g, gen_text(g, "handle_%s", t->name));
    if (x->object != t->first)
        n = binary(g, "+", 4, n, gen_leaf(g, gen_text(g, "%d", (int)(x->object - t->first))));
    for (const struct index *i = x->indices; i != NULL; i = i->next) {
        struct node *at = gen_call(g, "simIndex", gen_int(g, gen_value(g, i->at)),
                                   gen_leaf(g, gen_text(g, "%u", i->count)), NULL);
        if (i->stride != 1)
            at = binary(g, "*", 5, at, gen_leaf(g, gen_text(g, "%u", i->stride)));
        n = binary(g, "+", 4, n, at);
    }
    return n;
}

const char *gen_object(struct gen *g, const struct expr *x, enum object_kind kind, int depth)
{
    if (x->is == X_OBJECT && x->indices == NULL)
        return gen_object_name(g, x->object);
    return gen_text(g, "simGet[%s](%s)", type_of(x->is == X_OBJECT ? x->kind : kind),
                    gen_show(g, gen_int(g, gen_value(g, x)), depth));
}

const char *gen_address(struct gen *g, const struct expr *x)
{
    bool known = x->is == X_OBJECT && x->indices == NULL;
    return gen_text(g, "%s%s", known ? "&" : "", gen_object(g, x, OBJ_VAR, 1));
}

const char *gen_variable(struct gen *g, const struct expr *x)
{
    bool known = x->is == X_OBJECT && x->indices == NULL;
    return gen_text(g, "%s%s", known ? "" : "*", gen_object(g, x, OBJ_VAR, 1));
}

const char *gen_source(struct gen *g, const struct expr *x, char *kind)
{
    *kind = 'v';
    if (gen_is_ticks(g, x)) {
        *kind = 't';
        return gen_name(g, x->name->text);
    }
    if (x->is == X_FIELD && x->which != W_ERR) {
        *kind = x->which == W_C ? 't' : 'd';
        return gen_text(g, "%s(%s)", x->which == W_C ? "simTimerC" : "simDone",
                        gen_name(g, x->a->name->text));
    }
    if (x->is == X_OBJECT && x->indices == NULL)
        return gen_object_name(g, x->object);
    return gen_text(g, "simChan(%s)", gen_show(g, gen_int(g, gen_value(g, x)), 1));
}

static struct node *call(struct gen *g, const struct expr *x)
{
    char kind;
    switch ((enum call)x->which) {
    case C_LEN:
    case C_CAP:
        return gen_call(
            g, "int64",
            gen_call(g, call_names[x->which], gen_leaf(g, gen_source(g, x->a, &kind)), NULL, NULL),
            NULL, NULL);
    case C_RAND: return gen_call(g, "simRand", gen_int(g, gen_value(g, x->a)), NULL, NULL);
    case C_MIN:
    case C_MAX:
        return gen_call(g, x->which == C_MIN ? "simMin" : "simMax", gen_int(g, gen_value(g, x->a)),
                        gen_int(g, gen_value(g, x->b)), NULL);
    case C_NOW: return gen_leaf(g, "simNow()");
    case C_GOID: return gen_leaf(g, "simGoid()");
    case C_NUMGOROUTINE: return gen_leaf(g, "int64(runtime.NumGoroutine())");
    case CALLS: break;
    }
    return NULL;
}

static struct node *operation(struct gen *g, const struct expr *x)
{
    static const struct {
        const char *text;
        int prec;
    } ops[] = {
#define BINARY(id, text, precedence, op, swapped) {text, precedence},
#include "scenarios/binary.def"
#undef BINARY
    };
    struct node *a = gen_value(g, x->a), *b = gen_value(g, x->b);
    bool bools = ops[x->which].prec <= 2;
    return binary(g, ops[x->which].text, ops[x->which].prec, bools ? gen_bool(g, a) : gen_int(g, a),
                  bools ? gen_bool(g, b) : gen_int(g, b));
}

static struct node *prefixed(struct gen *g, const struct expr *x)
{
    bool minus = x->is == X_MINUS;
    struct node *n = gen_leaf(g, minus ? "-" : "!"), *a = gen_value(g, x->a);
    n->unary = true;
    n->is_bool = !minus;
    add_arg(n, minus ? gen_int(g, a) : gen_bool(g, a));
    return n;
}

struct node *gen_value(struct gen *g, const struct expr *x)
{
    static const char *const fields[] = {
        [W_C] = "simTimerHandle", [W_DONE] = "simDoneHandle", [W_ERR] = "simErr"};
    switch (x->is) {
    case X_LITERAL:
    case X_NUMBER: return gen_leaf(g, gen_text(g, "%lld", (long long)x->value));
    case X_NIL: return gen_leaf(g, "0");
    case X_LOCAL: return gen_leaf(g, gen_name(g, x->name->text));
    case X_OBJECT: return handle(g, x);
    case X_MINUS:
    case X_NOT: return prefixed(g, x);
    case X_BINARY: return operation(g, x);
    case X_CALL: return call(g, x);
    case X_FIELD:
        return gen_call(g, fields[x->which], gen_leaf(g, gen_name(g, x->a->name->text)), NULL,
                        NULL);
    }
    return NULL;
}

/* ---- durations ---- */

static struct node *number(struct gen *g, int64_t v)
{
    return gen_leaf(g, gen_text(g, "%lld", (long long)v));
}

/* A p99 says sigma through the standard normal's 99th percentile. */
static struct node *lognormal(struct gen *g, const struct dist_spec *d)
{
    const char *sigma = d->b != 0 ? gen_text(g, "math.Log(%lld.0/%lld)/2.326", (long long)d->b,
                                             (long long)d->a)
                                  : gen_text(g, "%g", d->number);
    return gen_call(g, "simLognormal", number(g, d->a), gen_leaf(g, sigma), NULL);
}

static struct node *empirical(struct gen *g, const struct dist_spec *d)
{
    const char *s = "";
    for (uint32_t i = 0; i < d->nbins; i++)
        s = gen_text(g, "%s%s%lld, %lld, %lld", s, i > 0 ? ", " : "", (long long)d->bins[i].low,
                     (long long)d->bins[i].high, (long long)d->bins[i].weight);
    return gen_leaf(g, gen_text(g, "simEmpirical(%s)", s));
}

static struct node *drawn(struct gen *g, const struct dist_spec *d)
{
    struct node *a = number(g, d->a), *b = number(g, d->b),
                *last = gen_leaf(g, gen_text(g, "%g", d->number));
    switch (d->is) {
    case D_FIXED: return a;
    case D_EXP: return gen_call(g, "simExp", a, NULL, NULL);
    case D_UNIFORM: return gen_call(g, "simUniform", a, b, NULL);
    case D_LOGNORMAL: return lognormal(g, d);
    case D_PARETO: return gen_call(g, "simPareto", a, last, NULL);
    case D_BIMODAL: return gen_call(g, "simBimodal", a, b, last);
    case D_EMPIRICAL: return empirical(g, d);
    }
    return a;
}

struct node *gen_amount(struct gen *g, const struct amount *a)
{
    if (a->x != NULL)
        return gen_int(g, gen_value(g, a->x));
    if (a->dist == NULL)
        return number(g, a->imm);
    struct node *n = drawn(g, a->dist);
    if (a->dist->has_min)
        n = gen_call(g, "simMax", n, number(g, a->dist->min), NULL);
    if (a->dist->has_max)
        n = gen_call(g, "simMin", n, number(g, a->dist->max), NULL);
    return n;
}
