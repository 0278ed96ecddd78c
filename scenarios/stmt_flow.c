/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about flow: loops, conditions, calls, panics. */
#include <stdio.h>

#include "scenarios/gengo_int.h"

/* ---- loops ---- */

/* How often, into a register. */
uint8_t emit_rounds(struct cc *c, const struct part *p)
{
    uint8_t limit = build_reg(&c->b, p->at);
    emit_value_to(c, p->x, limit);
    kind_want(&c->b, p->at, limit, KIND_NUMBER);
    return limit;
}

static void emit_loop(struct cc *c, const struct stmt *s)
{
    const struct part *rounds = &s->part[0];
    uint8_t index = emit_into(c, s, "index", KIND_NUMBER);
    if (index == NOREG)
        index = build_reg(&c->b, rounds->at);
    uint8_t limit = rounds->x != NULL ? emit_rounds(c, rounds) : NOREG;
    build_op(&c->b, OP_CONST, index, 0, 0, 0, 0);
    int top = build_label(&c->b), next = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    if (rounds->x != NULL) {
        uint8_t more = build_reg(&c->b, rounds->at);
        build_op(&c->b, OP_LT, more, index, limit, 0, 0);
        build_jump(&c->b, OP_JZ, more, 0, 0, end);
    }
    emit_enter_loop(c, end, next);
    emit_block(c, part_of(s, "do")->body);
    c->nloops--;
    build_here(&c->b, next);
    build_op(&c->b, OP_ADDI, index, index, 0, 0, 1);
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
}

static void go_loop(struct gen *g, const struct stmt *s)
{
    if (s->part[0].x == NULL)
        gen_loop(g, s, "for", NULL);
    else
        gen_counted(g, s, s->part[0].x, NULL);
}

static void emit_while(struct cc *c, const struct stmt *s)
{
    int top = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    emit_unless(c, s->part[0].x, end);
    emit_enter_loop(c, end, top);
    emit_block(c, part_of(s, "do")->body);
    c->nloops--;
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
}

static void go_while(struct gen *g, const struct stmt *s)
{
    const char *condition = gen_show(g, gen_bool(g, gen_value(g, s->part[0].x)), 1);
    gen_loop(g, s, gen_text(g, "for %s", condition), NULL);
}

static void emit_break(struct cc *c, const struct stmt *s)
{
    const struct loop *l = &c->loops[c->nloops - 1];
    build_jump(&c->b, OP_JMP, 0, 0, 0, s->is->leaves_loop ? l->on_break : l->on_continue);
}

static void go_break(struct gen *g, const struct stmt *s)
{
    gen_line(g, "%s %s", s->is->field[0].key, g->label);
}

/* ---- conditions ---- */

static void emit_if(struct cc *c, const struct stmt *s)
{
    const struct part *other = part_of(s, "else");
    int otherwise = build_label(&c->b), end = build_label(&c->b);
    emit_unless(c, s->part[0].x, otherwise);
    emit_block(c, part_of(s, "then")->body);
    if (other != NULL)
        build_jump(&c->b, OP_JMP, 0, 0, 0, end);
    build_here(&c->b, otherwise);
    if (other != NULL)
        emit_block(c, other->body);
    build_here(&c->b, end);
}

static void go_if(struct gen *g, const struct stmt *s)
{
    const struct part *other = part_of(s, "else");
    gen_line(g, "if %s {", gen_show(g, gen_bool(g, gen_value(g, s->part[0].x)), 1));
    gen_inner(g, part_of(s, "then")->body);
    if (other != NULL) {
        gen_line(g, "} else {");
        gen_inner(g, other->body);
    }
    gen_line(g, "}");
}

static int64_t weights(const struct arm *a)
{
    int64_t total = 0;
    for (; a != NULL; a = a->next)
        total += a->weight;
    return total;
}

/* One of several bodies, by weight. */
static void emit_random(struct cc *c, const struct stmt *s)
{
    const struct arm *arms = s->part[0].arms;
    uint8_t r = build_reg(&c->b, s->part[0].at);
    int end = build_label(&c->b);
    int64_t below = 0;
    build_op(&c->b, OP_RANDI, r, 0, 0, 0, weights(arms));
    for (const struct arm *a = arms; a != NULL; a = a->next) {
        int next = build_label(&c->b);
        below += a->weight;
        build_jump(&c->b, OP_JGEI, r, 0, below, next);
        emit_block(c, a->body);
        build_jump(&c->b, OP_JMP, 0, 0, 0, end);
        build_here(&c->b, next);
    }
    build_here(&c->b, end);
}

static void go_random(struct gen *g, const struct stmt *s)
{
    long long below = 0;
    gen_line(g, "switch r := simRand(%lld); {", (long long)weights(s->part[0].arms));
    for (const struct arm *a = s->part[0].arms; a != NULL; a = a->next) {
        below += a->weight;
        gen_line(g, "case r < %lld:", below);
        gen_inner(g, a->body);
    }
    gen_line(g, "}");
}

static void emit_set(struct cc *c, const struct stmt *s)
{
    emit_value_to(c, part_of(s, "value")->x, emit_into(c, s, "set", 0));
}

static void go_set(struct gen *g, const struct stmt *s)
{
    const struct name *n = s->part[0].name;
    const struct expr *value = part_of(s, "value")->x;
    const char *ticks = gen_new_ticks(g, n, value);
    if (ticks == NULL) {
        gen_assign(g, n, gen_value(g, value));
        return;
    }
    gen_line(g, "var %s = %s", gen_name(g, n->text), ticks);
    gen_line(g, "_ = %s", gen_name(g, n->text));
}

/* ---- calls ---- */

static void go_call(struct gen *g, const struct stmt *s)
{
    const struct callee *f = s->part[0].callee;
    if (f->in_place)
        gen_call_line(g, "", f, "");
    else
        gen_results(g, s,
                    gen_text(g, "%s(%s)", gen_func_name(g, f->func), gen_arguments(g, &f->args)));
}

static void emit_return(struct cc *c, const struct stmt *s)
{
    const struct expr *x = s->part[0].x;
    build_op(&c->b, OP_RET, x == NULL ? NOREG : emit_value(c, x), 0, 0, 0, 0);
}

static void go_return(struct gen *g, const struct stmt *s)
{
    const struct expr *x = s->part[0].x;
    if (g->returns)
        gen_line(g, "return %s", x == NULL ? "0" : gen_show(g, gen_int(g, gen_value(g, x)), 1));
    else
        gen_line(g, "return");
}

static void go_defer(struct gen *g, const struct stmt *s)
{
    gen_call_line(g, "defer ", s->part[0].callee, "");
}

/* ---- panics ---- */

static void emit_panic(struct cc *c, const struct stmt *s)
{
    const struct part *p = &s->part[0];
    if (p->text != NULL)
        build_op(&c->b, OP_PANIC, NOREG, 0, 0, build_string(&c->b, p->text), 0);
    else
        build_op(&c->b, OP_PANIC, emit_value(c, p->x), 0, 0, -1, 0);
}

static void go_panic(struct gen *g, const struct stmt *s)
{
    const struct part *p = &s->part[0];
    if (p->text != NULL)
        gen_line(g, "panic(%s)", gen_quote(g, p->text));
    else
        gen_line(g, "panic(int64(%lld))", (long long)p->x->value);
}

static const char *assertion(struct pool *pool, const struct stmt *s)
{
    const struct part *text = part_of(s, "text");
    char line[300];
    snprintf(line, sizeof line, "assertion failed: %.200s",
             text != NULL              ? text->text
             : s->part[0].text != NULL ? s->part[0].text
                                       : "false");
    return pool_text(pool, line);
}

static void emit_assert(struct cc *c, const struct stmt *s)
{
    uint8_t r = emit_value(c, s->part[0].x);
    kind_want(&c->b, s->part[0].at, r, KIND_NUMBER);
    build_op(&c->b, OP_ASSERT, r, 0, 0, build_string(&c->b, assertion(c->pool, s)), 0);
}

static void go_assert(struct gen *g, const struct stmt *s)
{
    gen_line(g, "simAssert(%s, %s)", gen_show(g, gen_bool(g, gen_value(g, s->part[0].x)), 2),
             gen_quote(g, assertion(g->pool, s)));
}

/* ---- the table ---- */

static const struct statement flow_statements[] = {
    {.field = {NEW_NAME("set", SLOT_NONE, 0), VALUE("value", SLOT_NONE)},
     .what = "Gives a name a value. Makes the name if there is none.",
     .example = "{\"set\": \"n\", \"value\": \"n + 1\"}",
     .emit = emit_set,
     .gen = go_set},
    {.field = {VALUE("if", SLOT_NONE), BLOCK("then"), OPTIONAL("else", F_BLOCK)},
     .what = "Does one of two blocks.",
     .example =
         "{\"if\": \"x > 3\", \"then\": [{\"gosched\": true}], \"else\": [{\"break\": true}]}",
     .flow = FLOW_BRANCH,
     .emit = emit_if,
     .gen = go_if},
    {.field = {SPECIAL("loop", F_ROUNDS), BLOCK("do"), OPTIONAL("index", F_INDEX)},
     .what = "Does a block so many times, or for ever. `forever` instead of the number: until "
             "`break`.",
     .example = "{\"loop\": 10, \"index\": \"i\", \"do\": [{\"send\": \"ch\", \"value\": \"i\"}]}",
     .flow = FLOW_LOOP,
     .forgets = true,
     .emit = emit_loop,
     .gen = go_loop},
    {.field = {VALUE("while", SLOT_NONE), BLOCK("do")},
     .what = "Does a block while the condition holds.",
     .example = "{\"while\": \"n < 4\", \"do\": [{\"load\": \"v\", \"into\": \"n\"}]}",
     .flow = FLOW_LOOP,
     .emit = emit_while,
     .gen = go_while},
    {.field = {YES("break")},
     .what = "Leaves the innermost loop.",
     .example = "{\"break\": true}",
     .flow = FLOW_ENDS,
     .in_loop = true,
     .leaves_loop = true,
     .emit = emit_break,
     .gen = go_break},
    {.field = {YES("continue")},
     .what = "Goes on with the next round of the innermost loop.",
     .example = "{\"continue\": true}",
     .flow = FLOW_ENDS,
     .in_loop = true,
     .emit = emit_break,
     .gen = go_break},
    {.field = {SPECIAL("random", F_ARMS)},
     .what = "One of several blocks, by weight. Weights default to 1.",
     .example = "{\"random\": [{\"weight\": 9, \"do\": [{\"cpu\": \"5us\"}]}, {\"do\": [{\"cpu\": "
                "\"1ms\"}]}]}",
     .flow = FLOW_ARMS,
     .emit = emit_random,
     .gen = go_random},
    {.field = {CALLEE("call"), ARGS, NAME("into", SLOT_C, KIND_ANY)},
     .what = "Calls a function; into gets its result. A body in place is possible as well.",
     .example = "{\"call\": \"square\", \"args\": [\"x\"], \"into\": \"y\"}",
     .op = OP_CALL,
     .gen = go_call},
    {.field = {SPECIAL("return", F_RESULT)},
     .what = "Ends the function, with a result or null. `null`: no result.",
     .example = "{\"return\": \"x * x\"}",
     .flow = FLOW_ENDS,
     .emit = emit_return,
     .gen = go_return},
    {.field = {CALLEE("defer"), ARGS},
     .what = "Runs when the function ends.",
     .example = "{\"defer\": [{\"unlock\": \"mu\"}]}",
     .op = OP_DEFER,
     .gen = go_defer},
    {.field = {SPECIAL("panic", F_REASON)},
     .what = "Panics with this text or number.",
     .example = "{\"panic\": \"disk full\"}",
     .flow = FLOW_ENDS,
     .emit = emit_panic,
     .gen = go_panic},
    {.field = {NEW_NAME("recover", SLOT_A, KIND_NUMBER),
               NAME("value", SLOT_B, KIND_NUMBER | KIND_TEXT)},
     .what = "The name gets 0 (no panic), 1 (text) or 2 (number); value what it was.",
     .example = "{\"recover\": \"kind\", \"value\": \"what\"}",
     .op = OP_RECOVER,
     .go = "simRecovered(recover())"},
    {.field = {SPECIAL("assert", F_CHECKED), OPTIONAL("text", F_TEXT)},
     .what = "A finding if the condition is false.",
     .example = "{\"assert\": \"x == 2 * i\", \"text\": \"doubled\"}",
     .emit = emit_assert,
     .gen = go_assert},
    {.field = {SPECIAL("exit", F_STATUS)},
     .what = "os.Exit.",
     .example = "{\"exit\": 0}",
     .flow = FLOW_ENDS,
     .op = OP_EXIT,
     .go = "os.Exit({exit})"},
};
GROUP(flow, "Flow");
