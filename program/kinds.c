/* SPDX-License-Identifier: BSD-3-Clause */
/* What the registers hold. Every use of a register gets a variable; values flow from one to
 * another, through assignments, arguments and bodies in place, whatever the order of statements.
 * In the end a use is wrong if nothing that it wants can ever be there. What comes out of channels,
 * variables, pools and calls may be anything. */
#include <stdio.h>
#include <string.h>

#include "program/build.h"

#define GROW(b, field, count) POOL_ROOM((b)->pool, (b)->field, count, (b)->field##_cap)

struct flow {
    uint32_t from, to;
};

struct want {
    struct place at;
    uint32_t var, fits;
};

struct either {
    struct place at;
    uint32_t var, insn, kind;
    enum op op;
};

/* From 1 on; 0 is no variable. */
static uint32_t var_new(struct build *b)
{
    uint32_t var = b->nkinds + 1;
    if (var >= b->kinds_cap) /* 0 is in use as well */
        GROW(b, kinds, b->kinds_cap);
    b->nkinds = var;
    b->kinds[var] = 0;
    return var;
}

static uint32_t param_var(struct build *b, int32_t f, uint32_t param)
{
    uint32_t *first = &b->params[f];
    if (*first == 0) {
        *first = b->nkinds + 1;
        for (uint32_t i = 0; i < b->funcs[f].nparams; i++)
            (void)var_new(b);
    }
    return *first + param;
}

static void flow(struct build *b, uint32_t from, uint32_t to)
{
    GROW(b, flows, b->nflows);
    b->flows[b->nflows++] = (struct flow){from, to};
}

void kind_new(struct build *b, uint8_t reg) { b->var_of[reg] = var_new(b); }

void kind_param(struct build *b, uint8_t reg, int32_t f, uint32_t param)
{
    b->var_of[reg] = param_var(b, f, param);
}

void kind_is(struct build *b, uint8_t reg, uint32_t kinds) { b->kinds[b->var_of[reg]] |= kinds; }

void kind_flow(struct build *b, uint8_t from, uint8_t to)
{
    flow(b, b->var_of[from], b->var_of[to]);
}

void kind_pass(struct build *b, uint8_t from, int32_t f, uint32_t param)
{
    flow(b, b->var_of[from], param_var(b, f, param));
}

void kind_want(struct build *b, struct place at, uint8_t reg, uint32_t fits)
{
    GROW(b, wants, b->nwants);
    b->wants[b->nwants++] = (struct want){at, b->var_of[reg], fits};
}

void kind_either(struct build *b, struct place at, uint8_t reg, uint32_t insn,
                 enum object_kind kind, enum op op)
{
    GROW(b, eithers, b->neithers);
    b->eithers[b->neithers++] = (struct either){at, b->var_of[reg], insn, KIND(kind), op};
}

static const struct {
    const char *name;
    enum object_kind kind;
} kind_names[] = {{"chan", OBJ_CHAN},       {"mutex", OBJ_MUTEX},
                  {"rwmutex", OBJ_RWMUTEX}, {"waitgroup", OBJ_WAITGROUP},
                  {"cond", OBJ_COND},       {"once", OBJ_ONCE},
                  {"semaphore", OBJ_SEMA},  {"pool", OBJ_POOL},
                  {"var", OBJ_VAR},         {"fd", OBJ_FD},
                  {"timer", OBJ_TIMER},     {"context", OBJ_CONTEXT},
                  {"coroutine", OBJ_CORO}};

const char *object_kind_name(enum object_kind kind)
{
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
        if (kind_names[i].kind == kind)
            return kind_names[i].name;
    return "object";
}

enum object_kind object_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
        if (strcmp(kind_names[i].name, name) == 0)
            return kind_names[i].kind;
    return OBJ_KINDS;
}

static const char *kinds_name(uint32_t kinds)
{
    for (int k = 1; k < OBJ_KINDS; k++)
        if ((kinds & KIND(k)) != 0)
            return object_kind_name((enum object_kind)k);
    return (kinds & KIND_TEXT) != 0 && (kinds & KIND_NUMBER) == 0 ? "text of recover"
           : (kinds & KIND_RECV) != 0                             ? "receive-only channel"
           : (kinds & KIND_TEXT) != 0                             ? "value of recover"
                                                                  : "number";
}

static _Noreturn void wrong(struct build *b, const struct want *w)
{
    uint32_t have = b->kinds[w->var];
    const char *want = kinds_name(w->fits);
    char quoted[80], made[100] = "";
    place_quote(w->at, quoted, sizeof quoted);
    if (b->make[0] != NULL && (w->fits & (KIND(OBJ_DECLARED) - 2)) != 0)
        snprintf(made, sizeof made, "%s%s%s", b->make[0], want, b->make[1]);
    if (have == KIND_RECV && (w->fits & KIND(OBJ_CHAN)) != 0)
        mistake(b->mistakes, w->at, "%s is receive-only: nobody can send on it or close it%s%s",
                quoted, *made != 0 ? "; a channel for that comes from " : "", made);
    mistake(b->mistakes, w->at, "want a %s, got a %s: %s%s%s%s", want, kinds_name(have), quoted,
            *made != 0 ? "; " : "", made, *made != 0 ? " makes one" : "");
}

/* One pass is enough where values flow down the text; many are needed only by a text made for
 * that, about which nothing is said. */
static bool settled(struct build *b)
{
    enum { PASSES = 64 };
    bool more = true;
    for (int i = 0; more && i < PASSES; i++) {
        more = false;
        for (uint32_t k = 0; k < b->nflows; k++) {
            uint32_t *to = &b->kinds[b->flows[k].to], both = *to | b->kinds[b->flows[k].from];
            more = more || both != *to;
            *to = both;
        }
    }
    return !more;
}

static void settle_either(struct build *b, const struct either *e)
{
    uint32_t objects = b->kinds[e->var] & (KIND(OBJ_KINDS) - 2), others = objects & ~e->kind;
    if (objects == others)
        return;
    if (others != 0)
        mistake(b->mistakes, e->at, "may be a %s or a %s", kinds_name(others), kinds_name(e->kind));
    b->code[e->insn].op = (uint8_t)e->op;
}

void kinds_check(struct build *b)
{
    if (!settled(b))
        return;
    for (uint32_t i = 0; i < b->nwants; i++) {
        uint32_t have = b->kinds[b->wants[i].var];
        if (have != 0 && (have & (b->wants[i].fits | KIND_ANY)) == 0)
            wrong(b, &b->wants[i]);
    }
    for (uint32_t i = 0; i < b->neithers; i++)
        settle_either(b, &b->eithers[i]);
}
