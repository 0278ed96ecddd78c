/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about channels. */
#include "scenarios/gengo_int.h"

static void go_send(struct gen *g, const struct stmt *s)
{
    const struct part *value = part_of(s, "value");
    char kind;
    const char *to = gen_source(g, s->part[0].x, &kind);
    struct node *n = value != NULL ? gen_value(g, value->x) : gen_leaf(g, "0");
    gen_line(g, "%s <- %s", to, gen_show(g, gen_int(g, n), 1));
}

/* Into what a receive goes: a value, and whether there was one. */
struct taking {
    const struct name *into, *ok;
    char kind;
    const char *v, *flag;
};

static struct taking taking_of(struct gen *g, const struct name *into, const struct name *ok,
                               char kind)
{
    unsigned n = ++g->temps;
    bool value = into != NULL && kind != 'd';
    return (struct taking){into, ok, kind, value ? gen_text(g, "v%u_", n) : "_",
                           gen_text(g, "ok%u_", n)};
}

/* The left side of a receive, "" if nobody wants anything. */
static const char *left_side(struct gen *g, const struct taking *t)
{
    bool value = t->into != NULL && t->kind != 'd';
    return t->ok != NULL ? gen_text(g, "%s, %s := ", t->v, t->flag)
           : value       ? gen_text(g, "%s := ", t->v)
                         : "";
}

/* After a receive. */
static void take(struct gen *g, const struct taking *t)
{
    struct node *flag = gen_leaf(g, t->flag);
    flag->is_bool = true;
    if (t->into != NULL)
        gen_assign(g, t->into,
                   gen_leaf(g, t->kind == 't'   ? gen_text(g, "int64(%s.Sub(simStart))", t->v)
                               : t->kind == 'd' ? "0"
                                                : t->v));
    if (t->ok != NULL)
        gen_assign(g, t->ok, flag);
}

static const struct name *name_of(const struct stmt *s, const char *key)
{
    const struct part *p = part_of(s, key);
    return p != NULL ? p->name : NULL;
}

static void go_recv(struct gen *g, const struct stmt *s)
{
    char kind;
    const char *from = gen_source(g, s->part[0].x, &kind);
    struct taking t = taking_of(g, name_of(s, "into"), name_of(s, "ok"), kind);
    gen_line(g, "%s<-%s", left_side(g, &t), from);
    take(g, &t);
}

static void go_close(struct gen *g, const struct stmt *s)
{
    const struct expr *x = s->part[0].x;
    char kind;
    if (x->is == X_OBJECT && x->kind == OBJ_FD)
        gen_line(g, "close(%s.closed)", gen_object(g, x, OBJ_FD, 1));
    else
        gen_line(g, "close(%s)", gen_source(g, x, &kind));
}

/* for x := range ch */
static void emit_range(struct cc *c, const struct stmt *s)
{
    uint8_t x = emit_into(c, s, "into", KIND_ANY);
    struct target t = emit_object(c, s->part[0].x, KIND(OBJ_CHAN) | KIND_RECV);
    uint8_t ok = build_reg(&c->b, s->part[0].at);
    int top = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    build_op(&c->b, OP_RECV, x, ok, t.reg, t.obj, 0);
    build_jump(&c->b, OP_JZ, ok, 0, 0, end);
    emit_enter_loop(c, end, top);
    emit_block(c, part_of(s, "do")->body);
    c->nloops--;
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
}

static void go_range(struct gen *g, const struct stmt *s)
{
    char kind;
    const struct name *into = name_of(s, "into");
    const char *from = gen_source(g, s->part[0].x, &kind);
    int names = g->nnames;
    if (into == NULL) {
        gen_loop(g, s, gen_text(g, "for range %s", from), NULL);
    } else if (gen_in_scope(g, into)) {
        const char *temp = gen_text(g, "v%u_", ++g->temps);
        gen_loop(g, s, gen_text(g, "for %s := range %s", temp, from),
                 gen_text(g, "%s = %s", gen_name(g, into->text), temp));
    } else {
        const char *x = gen_name(g, into->text);
        gen_define(g, into);
        gen_loop(g, s, gen_text(g, "for %s := range %s", x, from), gen_text(g, "_ = %s", x));
    }
    g->nnames = names;
}

/* ---- select ---- */

static void emit_case(struct cc *c, const struct arm *a)
{
    struct target t;
    uint8_t reg = NOREG;
    if (a->send != NULL) {
        t = emit_object(c, a->send, KIND(OBJ_CHAN));
        reg = build_reg(&c->b, a->at);
        if (a->value != NULL)
            emit_value_to(c, a->value, reg);
        else
            build_op(&c->b, OP_CONST, reg, 0, 0, 0, 0);
    } else {
        t = emit_object(c, a->recv, KIND(OBJ_CHAN) | KIND_RECV);
        if (a->into != NULL)
            reg = emit_name(c, a->into, a->into_at, KIND_ANY);
        if (a->ok != NULL) /* copied from the common register in the case's body */
            (void)emit_name(c, a->ok, a->ok_at, KIND_NUMBER);
    }
    build_case(&c->b, (struct select_case){
                          .obj = t.obj, .hreg = t.reg, .reg = reg, .send = a->send != NULL});
}

static void emit_case_body(struct cc *c, const struct arm *a, uint8_t ok, int end)
{
    if (a->ok != NULL)
        build_op(&c->b, OP_MOVE, emit_name(c, a->ok, a->ok_at, KIND_NUMBER), ok, 0, 0, 0);
    emit_block(c, a->body);
    build_jump(&c->b, OP_JMP, 0, 0, 0, end);
}

static void emit_select(struct cc *c, const struct stmt *s)
{
    const struct arm *arms = s->part[0].arms, *otherwise = NULL;
    uint8_t chosen = build_reg(&c->b, s->part[0].at), ok = build_reg(&c->b, s->part[0].at);
    int64_t index = 0;
    int32_t table = build_select(&c->b, false);
    for (const struct arm *a = arms; a != NULL; a = a->next) {
        if (a->is_default)
            otherwise = a;
        else
            emit_case(c, a);
    }
    c->b.selects[table].has_default = otherwise != NULL;
    build_op(&c->b, OP_SELECT, chosen, ok, 0, table, 0);
    int end = build_label(&c->b);
    for (const struct arm *a = arms; a != NULL; a = a->next) {
        if (a->is_default)
            continue;
        int next = build_label(&c->b);
        build_jump(&c->b, OP_JNEI, chosen, 0, index++, next);
        emit_case_body(c, a, ok, end);
        build_here(&c->b, next);
    }
    if (otherwise != NULL)
        emit_block(c, otherwise->body);
    build_here(&c->b, end);
}

static void go_case(struct gen *g, const struct arm *a)
{
    char kind;
    int names = g->nnames;
    struct taking t = {0};
    if (a->is_default) {
        gen_line(g, "default:");
    } else if (a->recv != NULL) {
        const char *from = gen_source(g, a->recv, &kind);
        t = taking_of(g, a->into, a->ok, kind);
        gen_line(g, "case %s<-%s:", left_side(g, &t), from);
    } else {
        const char *to = gen_source(g, a->send, &kind);
        struct node *value = a->value != NULL ? gen_value(g, a->value) : gen_leaf(g, "0");
        gen_line(g, "case %s <- %s:", to, gen_show(g, gen_int(g, value), 1));
    }
    g->indent++;
    if (a->recv != NULL)
        take(g, &t);
    gen_block(g, a->body);
    g->indent--;
    g->nnames = names;
}

static void go_select(struct gen *g, const struct stmt *s)
{
    const struct arm *arms = s->part[0].arms;
    if (arms == NULL) {
        gen_line(g, "select {}");
        return;
    }
    gen_line(g, "select {");
    for (const struct arm *a = arms; a != NULL; a = a->next)
        go_case(g, a);
    gen_line(g, "}");
}

static const struct statement channels_statements[] = {
    {.field = {OBJECT("send", KIND(OBJ_CHAN)), {.key = "value", .kind = F_OR_0, .slot = SLOT_A}},
     .what = "Sends value on a channel. 0 without `value`.",
     .example = "{\"send\": \"ch\", \"value\": \"i + 1\"}",
     .op = OP_SEND,
     .gen = go_send},
    {.field = {OBJECT("recv", KIND(OBJ_CHAN)), NAME("into", SLOT_A, KIND_ANY),
               NAME("ok", SLOT_B, KIND_NUMBER)},
     .what = "Receives from a channel.",
     .example = "{\"recv\": \"ch\", \"into\": \"x\", \"ok\": \"open\"}",
     .op = OP_RECV,
     .gen = go_recv},
    {.field = {OBJECT("close", KIND(OBJ_CHAN) | KIND(OBJ_FD))},
     .what = "Closes a channel or a descriptor.",
     .example = "{\"close\": \"ch\"}",
     .op = OP_CLOSE,
     .op2 = OP_FDCLOSE,
     .kind2 = OBJ_FD,
     .gen = go_close},
    {.field = {OBJECT("range", KIND(OBJ_CHAN)), NAME("into", SLOT_A, KIND_ANY), BLOCK("do")},
     .what = "Receives until the channel is closed.",
     .example = "{\"range\": \"jobs\", \"into\": \"j\", \"do\": [{\"cpu\": \"j\"}]}",
     .flow = FLOW_LOOP,
     .forgets = true,
     .emit = emit_range,
     .gen = go_range},
    {.field = {SPECIAL("select", F_CASES)},
     .what = "select with a block per case. `do` may be left out.",
     .example = "{\"select\": [{\"recv\": \"a\", \"into\": \"x\", \"ok\": \"open\", \"do\": "
                "[{\"print\": \"%d\", \"args\": [\"x\"]}]}, {\"send\": \"b\", \"value\": 1}, "
                "{\"default\": [{\"gosched\": true}]}]}",
     .flow = FLOW_ARMS,
     .forgets = true,
     .emit = emit_select,
     .gen = go_select},
};
GROUP(channels, "Channels");
