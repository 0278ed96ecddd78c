/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements and blocks. A statement is an object whose first key is its verb (verbs.def). */
#include <stdio.h>
#include <string.h>

#include "scenarios/stmt.h"

/* ---- the table ---- */

const char *const statement_verbs[] = {
#define VERB(name, fn, ...) name,
#include "scenarios/verbs.def"
#undef VERB
    NULL};

static const struct verb {
    compile_fn *fn;
    const char *keys[8];
} verbs[] = {
#define VERB(name, fn, ...) {fn, {name, "why", __VA_ARGS__}},
#include "scenarios/verbs.def"
#undef VERB
};

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* A second verb among the keys: two statements in one pair of brackets. */
static void one_verb(struct cc *c, const cJSON *o, const char *const *keys)
{
    for (const cJSON *m = o->child->next; m != NULL; m = m->next)
        if (!is_one_of(m->string, keys) && is_one_of(m->string, statement_verbs))
            json_bad(c->doc, m, true, "\"%s\" is a statement of its own: {...}, {\"%s\": ...}",
                     m->string, m->string);
}

static void statement(struct cc *c, const cJSON *o)
{
    json_want_object(c->doc, o);
    const cJSON *first = o->child;
    if (first == NULL)
        json_bad(c->doc, o, false, "an empty statement");
    size_t i = 0;
    while (statement_verbs[i] != NULL && strcmp(statement_verbs[i], first->string) != 0)
        i++;
    if (statement_verbs[i] == NULL) {
        const char *near = nearest(first->string, statement_verbs);
        json_bad(c->doc, first, true, "unknown verb \"%.60s\"%s%s%s", first->string,
                 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    one_verb(c, o, verbs[i].keys);
    json_keys(c->doc, o, verbs[i].keys);
    c->b.line = json_at(c->doc, o).line;
    verbs[i].fn(c, o, first);
}

static bool list_leaves(const cJSON *list);

/* Is there a break that leaves the loop with this body? */
static bool breaks(const cJSON *list)
{
    if (!cJSON_IsArray(list) && !cJSON_IsObject(list))
        return false;
    const char *verb = cJSON_IsObject(list) && list->child != NULL ? list->child->string : "";
    if (strcmp(verb, "break") == 0)
        return true;
    if (strcmp(verb, "loop") == 0 || strcmp(verb, "while") == 0 || strcmp(verb, "range") == 0)
        return false; /* an inner break is the inner loop's */
    for (const cJSON *e = list->child; e != NULL; e = e->next)
        if (breaks(e))
            return true;
    return false;
}

/* Does every one of these blocks end what they stand in? None of them is waiting for ever. */
static bool all_leave(const cJSON *list)
{
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        const cJSON *body = json_member(e, "do"), *weight = json_member(e, "weight");
        if (weight != NULL && weight->valuedouble == 0)
            continue; /* never chosen */
        if (!list_leaves(body != NULL ? body : json_member(e, "default")))
            return false;
    }
    return true;
}

/* Is the condition of a while, or the count of a loop, one that never ends it? */
static bool for_ever(const cJSON *v)
{
    if (cJSON_IsString(v))
        return strcmp(v->valuestring, "forever") == 0 || strcmp(v->valuestring, "true") == 0 ||
               strcmp(v->valuestring, "1") == 0;
    return cJSON_IsTrue(v) || (cJSON_IsNumber(v) && v->valuedouble != 0);
}

/* Does control never come out of this statement? */
static bool leaves(const cJSON *o)
{
    static const char *const words[] = {"return", "break",  "continue", "panic",
                                        "exit",   "goexit", NULL};
    const char *verb = o->child != NULL ? o->child->string : "";
    if (is_one_of(verb, words))
        return true;
    if (strcmp(verb, "if") == 0)
        return list_leaves(json_member(o, "then")) && list_leaves(json_member(o, "else"));
    if (strcmp(verb, "select") == 0 || strcmp(verb, "random") == 0)
        return all_leave(o->child);
    if (strcmp(verb, "with_lock") == 0 || strcmp(verb, "span") == 0)
        return list_leaves(json_member(o, "do"));
    bool endless = strcmp(verb, "while") == 0 ||
                   (strcmp(verb, "loop") == 0 && cJSON_IsString(o->child));
    return endless && for_ever(o->child) && !breaks(json_member(o, "do"));
}

static bool list_leaves(const cJSON *list)
{
    if (list == NULL || list->child == NULL)
        return false;
    const cJSON *last = list->child;
    while (last->next != NULL)
        last = last->next;
    return leaves(last);
}

/* Registers above the names in scope are free between statements. */
static void drop_temporaries(struct cc *c, uint8_t floor)
{
    uint8_t next = floor;
    for (uint32_t i = 0; i < c->nlocals; i++)
        if (c->locals[i].reg >= next)
            next = (uint8_t)(c->locals[i].reg + 1);
    c->b.next_reg = next;
}

static _Noreturn void never_reached(struct cc *c, const cJSON *before)
{
    char text[80];
    place_quote(json_at(c->doc, before->next), text, sizeof text);
    json_bad(c->doc, before->next, false,
             "%s is never reached: the \"%s\" before does not come back", text,
             before->child->string);
}

void op_block(struct cc *c, const cJSON *list)
{
    json_want_array(c->doc, list);
    uint32_t locals = c->nlocals;
    uint8_t reg = c->b.next_reg;
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        statement(c, o);
        drop_temporaries(c, reg);
        if (leaves(o) && o->next != NULL)
            never_reached(c, o);
    }
    c->nlocals = locals;
    c->b.next_reg = reg;
}

static void function(struct cc *c, int32_t f)
{
    build_enter(&c->b, f);
    c->nlocals = 0;
    c->nloops = 0;
    c->defs[f].first_call = c->ncalls;
    for (uint32_t i = 0; i < c->b.funcs[f].nparams; i++)
        kind_param(&c->b, local_shadow(c, c->defs[f].at, c->defs[f].params[i]), f, i);
    op_block(c, c->defs[f].body);
    build_op(&c->b, OP_RET, NOREG, 0, 0, 0, 0);
    build_leave(&c->b);
    c->defs[f].end_call = c->ncalls;
}

void func_use(struct cc *c, int32_t f)
{
    POOL_ROOM(c->pool, c->calls, c->ncalls, c->calls_cap);
    c->calls[c->ncalls++] = f;
}

/* Marks what main can come to; each function is on the stack once. */
static void reach(struct cc *c, int32_t main)
{
    uint32_t *stack = pool_alloc(c->pool, c->b.p.nfuncs * sizeof *stack), n = 1;
    stack[0] = (uint32_t)main;
    c->defs[stack[0]].reached = true;
    while (n > 0) {
        const struct funcdef *d = &c->defs[stack[--n]];
        for (uint32_t i = d->first_call; i < d->end_call; i++) {
            struct funcdef *to = &c->defs[c->calls[i]];
            if (!to->reached)
                stack[n++] = (uint32_t)c->calls[i];
            to->reached = true;
        }
    }
}

static void all_reached(struct cc *c, int32_t main)
{
    reach(c, main);
    for (uint32_t f = 0; f < c->b.p.nfuncs; f++)
        if (!c->defs[f].reached)
            json_bad(
                c->doc, c->defs[f].at, true,
                "nothing that main comes to starts or calls \"%.60s\"; {\"go\": \"%.60s\"} does",
                c->b.funcs[f].name, c->b.funcs[f].name);
}

void compile_functions(struct cc *c, int32_t main)
{
    for (uint32_t f = 0; f < c->b.p.nfuncs; f++)
        function(c, (int32_t)f);
    all_reached(c, main);
    kinds_check(&c->b);
}
