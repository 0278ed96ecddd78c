/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements, blocks and functions, from JSON to the tree. A statement is an object whose first key
 * is its word; its row (statements.h) says which other keys there are and what stands behind each.
 * Names that get something are read first: they are in scope for the rest. */
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"

static struct stmt *read_block(struct cc *c, const cJSON *list);

/* ---- names ---- */

struct name *name_new(struct cc *c, const char *text)
{
    struct name *n = pool_alloc(c->pool, sizeof *n);
    n->text = pool_text(c->pool, text);
    return n;
}

/* A new one, even where the name is in scope: the index of a loop must not count with one register
 * of an outer one. */
static struct name *read_new_name(struct cc *c, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    if (!name_ok(s))
        json_bad(c->doc, v, false, "want a name of letters, digits and _, got \"%.60s\"", s);
    if (c->nlocals == LOCALS_MAX)
        json_bad(c->doc, v, false, "more than %d names in one function", LOCALS_MAX);
    if (thing_find(c, s) != NULL)
        json_bad(c->doc, v, false, "\"%.60s\" is an object already", s);
    return c->locals[c->nlocals++] = name_new(c, s);
}

static struct name *read_name(struct cc *c, const cJSON *v)
{
    struct name *n = local_find(c, json_string(c->doc, v));
    return n != NULL ? n : read_new_name(c, v);
}

/* ---- functions ---- */

int32_t func_add(struct cc *c, const char *name, struct name **params, uint32_t nparams,
                 const cJSON *at, const cJSON *body)
{
    int32_t f = build_func(&c->b, name, nparams, json_key_at(c->doc, at));
    POOL_ROOM(c->pool, c->tree.funcs, c->tree.nfuncs, c->tree.funcs_cap);
    c->tree.funcs[c->tree.nfuncs++] = (struct function){
        .params = params, .source = body, .at = json_key_at(c->doc, at)};
    return f;
}

/* The function in work starts or calls this one. */
static void func_use(struct cc *c, int32_t f)
{
    POOL_ROOM(c->pool, c->calls, c->ncalls, c->calls_cap);
    c->calls[c->ncalls++] = f;
}

static void read_body_in_place(struct cc *c, const cJSON *body, const char *word,
                               struct callee *out)
{
    char name[80];
    uint32_t n = c->nlocals;
    snprintf(name, sizeof name, "%s.%u", word, c->tree.nfuncs);
    struct name **params = pool_alloc(c->pool, (n + 1) * sizeof *params);
    out->captured = pool_alloc(c->pool, (n + 1) * sizeof *params);
    for (uint32_t i = 0; i < n; i++) {
        out->captured[i] = c->locals[i];
        params[i] = name_new(c, c->locals[i]->text);
    }
    out->func = func_add(c, name, params, n, body, body);
    out->in_place = c->tree.funcs[out->func].in_place = true;
}

static int32_t func_named(struct cc *c, const cJSON *v)
{
    const char *name = json_string(c->doc, v);
    int32_t f = build_find_func(&c->b, name);
    if (f >= 0)
        return f;
    const char **names = pool_alloc(c->pool, (c->tree.nfuncs + 1) * sizeof *names);
    for (uint32_t i = 0; i < c->tree.nfuncs; i++)
        names[i] = c->b.funcs[i].name;
    const char *near = nearest(name, names);
    json_bad(c->doc, v, false, "no function \"%.60s\"%s%s%s", name, near ? "; did you mean \"" : "",
             near ? near : "", near ? "\"?" : "");
}

static void want_one_parameter(struct cc *c, const cJSON *v)
{
    int32_t f = build_find_func(&c->b, json_string(c->doc, v));
    if (f < 0 || c->b.funcs[f].nparams != 1)
        json_want(c->doc, v, "the name of a function with one parameter");
}

static struct expr *read_zero(struct cc *c, const cJSON *at)
{
    struct expr *e = pool_alloc(c->pool, sizeof *e);
    *e = (struct expr){.is = X_LITERAL, .at = json_at(c->doc, at)};
    return e;
}

/* A function by name with "args" (or one "arg"), or a body in place. of_one: by name, with one
 * parameter, which is 0 without "arg". */
static struct callee *read_callee(struct cc *c, const cJSON *o, const cJSON *v, bool of_one)
{
    const cJSON *args = json_member(o, "args"), *arg = json_member(o, "arg");
    const cJSON *given = args != NULL ? args : arg;
    struct callee *out = pool_alloc(c->pool, sizeof *out);
    if (args != NULL && arg != NULL)
        json_bad(c->doc, arg, true, "\"args\" and \"arg\" exclude each other");
    if (of_one)
        want_one_parameter(c, v);
    if (cJSON_IsArray(v)) {
        if (given != NULL)
            json_bad(c->doc, given, true,
                     "a body in place sees the names around it and takes no args");
        read_body_in_place(c, v, o->child->string, out);
        func_use(c, out->func);
        return out;
    }
    out->func = func_named(c, v);
    out->args = read_values(c, args);
    if (arg != NULL || of_one) {
        out->args.x = pool_alloc(c->pool, sizeof *out->args.x);
        out->args.x[out->args.count++] = arg != NULL ? read_value(c, arg) : read_zero(c, v);
    }
    const struct func *f = &c->b.funcs[out->func];
    if (out->args.count != f->nparams)
        json_bad(c->doc, given != NULL ? given : v, false, "\"%.60s\" takes %u arguments, got %u",
                 f->name, f->nparams, out->args.count);
    func_use(c, out->func);
    return out;
}

/* ---- operands ---- */

static const char *kinds_name(uint32_t kinds)
{
    for (int k = 1; k < OBJ_KINDS; k++)
        if ((kinds & KIND(k)) != 0)
            return object_kind_name((enum object_kind)k);
    return "object";
}

static struct expr *read_object(struct cc *c, const cJSON *v, uint32_t kinds)
{
    const char *s = json_string(c->doc, v);
    struct expr *e = read_value(c, v);
    if (e->is == X_OBJECT && (kinds & KIND(e->kind)) == 0)
        json_bad(c->doc, v, false, "\"%.60s\" is a %s, want a %s", s, object_kind_name(e->kind),
                 kinds_name(kinds));
    return e;
}

static struct amount *read_amount(struct cc *c, const cJSON *v)
{
    struct amount *a = pool_alloc(c->pool, sizeof *a);
    if (cJSON_IsObject(v))
        a->dist = read_distribution(c, v);
    else if (cJSON_IsString(v) && !json_parse_duration(v->valuestring, &a->imm))
        a->x = read_value(c, v);
    else
        a->imm = json_duration(c->doc, v);
    return a;
}

static struct amount *read_bytes(struct cc *c, const cJSON *v)
{
    struct amount *a = pool_alloc(c->pool, sizeof *a);
    if (cJSON_IsNumber(v))
        a->imm = json_int(c->doc, v, 0, INT64_C(1) << 50);
    else if (!json_parse_size(json_string(c->doc, v), &a->imm)) {
        size_t digits = strspn(v->valuestring, "0123456789.");
        if (digits > 0 && strchr("+-*/% ", v->valuestring[digits]) == NULL)
            json_want(c->doc, v, "a size such as \"64KB\", \"1.5MB\" or \"1GB\"");
        a->x = read_value(c, v);
    }
    return a;
}

static int64_t read_word(struct cc *c, const cJSON *v, const char *const *words)
{
    const char *s = json_string(c->doc, v);
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], s) == 0)
            return i;
    const char *near = nearest(s, words);
    json_bad(c->doc, v, false, "unknown word \"%.60s\"; %s \"%s\"", s,
             near != NULL ? "did you mean" : "one of them is", near != NULL ? near : words[0]);
}

static bool is_forever(const cJSON *v)
{
    return cJSON_IsString(v) && strcmp(v->valuestring, "forever") == 0;
}

static struct expr *read_times(struct cc *c, const cJSON *v)
{
    if (cJSON_IsNumber(v) && v->valuedouble < 0)
        json_want(c->doc, v, "a number of times from 0 on");
    return read_value(c, v);
}

static const char *read_text(struct cc *c, const cJSON *v)
{
    return pool_text(c->pool, json_string(c->doc, v));
}

/* ---- random and select ---- */

static struct arm *add_arm(struct cc *c, const cJSON *e, struct arm ***end)
{
    struct arm *a = pool_alloc(c->pool, sizeof *a);
    a->at = json_at(c->doc, e);
    **end = a;
    *end = &a->next;
    return a;
}

/* One of several bodies, by weight. */
static struct arm *read_arms(struct cc *c, const cJSON *list)
{
    static const char *const keys[] = {"weight", "do", NULL};
    struct arm *first = NULL, **end = &first;
    int64_t total = 0;
    json_want_array(c->doc, list);
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        struct arm *a = add_arm(c, e, &end);
        total += a->weight = json_int_or(c->doc, e, "weight", 1, 0, 1000000);
    }
    if (total == 0)
        json_bad(c->doc, list, false, "all weights are zero");
    struct arm *a = first;
    for (const cJSON *e = list->child; e != NULL; e = e->next, a = a->next)
        a->body = read_block(c, json_need(c->doc, e, "do"));
    return first;
}

static void read_case(struct cc *c, const cJSON *e, struct arm *a)
{
    const cJSON *recv = json_member(e, "recv"), *send = json_member(e, "send"),
                *value = json_member(e, "value"), *into = json_member(e, "into"),
                *ok = json_member(e, "ok");
    if ((recv != NULL) == (send != NULL))
        json_want(c->doc, e, "a case with one of \"recv\", \"send\", \"default\"");
    if (send != NULL) {
        a->send = read_object(c, send, KIND(OBJ_CHAN));
        a->value = value != NULL ? read_value(c, value) : NULL;
        return;
    }
    a->recv = read_object(c, recv, KIND(OBJ_CHAN));
    a->into = into != NULL ? read_name(c, into) : NULL;
    a->into_at = json_at(c->doc, into);
    a->ok = ok != NULL ? read_name(c, ok) : NULL;
    a->ok_at = json_at(c->doc, ok);
}

/* All heads, then all bodies. */
static struct arm *read_cases(struct cc *c, const cJSON *list)
{
    static const char *const keys[] = {"recv", "send", "value",   "into",
                                       "ok",   "do",   "default", NULL};
    struct arm *first = NULL, **end = &first;
    bool otherwise = false;
    json_want_array(c->doc, list);
    if (cJSON_GetArraySize(list) > SELECT_CASES_MAX)
        json_bad(c->doc, list, false, "more than %d cases", SELECT_CASES_MAX);
    for (const cJSON *e = list->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        struct arm *a = add_arm(c, e, &end);
        a->is_default = json_member(e, "default") != NULL;
        a->weight = 1;
        if (!a->is_default)
            read_case(c, e, a);
        else if (otherwise || cJSON_GetArraySize(e) != 1)
            json_bad(c->doc, e, false,
                     otherwise ? "a second default" : "a default is written {\"default\": [...]}");
        otherwise = otherwise || a->is_default;
    }
    struct arm *a = first;
    for (const cJSON *e = list->child; e != NULL; e = e->next, a = a->next) {
        const cJSON *body = json_member(e, a->is_default ? "default" : "do");
        a->body = body != NULL ? read_block(c, body) : NULL;
    }
    return first;
}

/* ---- statements ---- */

static void want_true(struct cc *c, const cJSON *v)
{
    if (!cJSON_IsTrue(v))
        json_want(c->doc, v, "true");
}

static bool read_bool(struct cc *c, const cJSON *v)
{
    if (!cJSON_IsBool(v))
        json_want(c->doc, v, "true or false");
    return cJSON_IsTrue(v);
}

/* What stands behind a key. */
static void read_part(struct cc *c, const cJSON *o, const struct field *f, const cJSON *v,
                      struct part *p)
{
    switch (f->kind) {
    case F_NAME: p->name = read_name(c, v); break;
    case F_INDEX: p->name = read_new_name(c, v); break;
    case F_VALUE:
    case F_OR_0:
    case F_COUNT: p->x = read_value(c, v); break;
    case F_OBJECT: p->x = read_object(c, v, f->kinds); break;
    case F_AMOUNT:
    case F_DRAWN: p->amount = read_amount(c, v); break;
    case F_BYTES: p->amount = read_bytes(c, v); break;
    case F_ROUNDS: p->x = is_forever(v) ? NULL : read_times(c, v); break;
    case F_TIMES: p->x = read_times(c, v); break;
    case F_TRUE: want_true(c, v); break;
    case F_BOOL: p->n = read_bool(c, v); break;
    case F_WORD: p->n = read_word(c, v, f->words); break;
    case F_STATUS: p->n = json_int(c->doc, v, 0, 255); break;
    case F_TEXT: p->text = read_text(c, v); break;
    case F_LABEL: p->text = read_label(c, v); break;
    case F_BLOCK: p->body = read_block(c, v); break;
    case F_CALLEE: p->callee = read_callee(c, o, v, f->other == 1); break;
    case F_ARGS: p->args = read_values(c, v); break;
    case F_ARMS: p->arms = read_arms(c, v); break;
    case F_CASES: p->arms = read_cases(c, v); break;
    case F_SHAPE: p->shape = read_shape(c, v); break;
    case F_RESULT: p->x = cJSON_IsNull(v) ? NULL : read_value(c, v); break;
    case F_CHECKED:
        p->text = cJSON_IsString(v) ? read_text(c, v) : NULL;
        p->x = read_value(c, v);
        break;
    case F_REASON:
        p->text = cJSON_IsNumber(v) ? NULL : read_text(c, v);
        p->x = cJSON_IsNumber(v) ? read_value(c, v) : NULL;
        break;
    case F_OF_CALLEE: /* read_callee has it */
    case F_NONE: break;
    }
}

static void read_field(struct cc *c, const cJSON *o, const struct field *f, struct part *p)
{
    const cJSON *v = json_member(o, f->key);
    if (v == NULL && f->need)
        (void)json_need(c->doc, o, f->key);
    p->at = json_at(c->doc, v != NULL ? v : o);
    if (v == NULL)
        return;
    p->given = true;
    read_part(c, o, f, v, p);
}

static bool makes_name(const struct field *f) { return f->kind == F_NAME || f->kind == F_INDEX; }

static void read_fields(struct cc *c, const cJSON *o, struct stmt *s)
{
    const struct field *field = s->is->field;
    for (int names = 1; names >= 0; names--)
        for (int i = 0; field[i].key != NULL; i++)
            if (makes_name(&field[i]) == names)
                read_field(c, o, &field[i], &s->part[i]);
}

/* A second word among the keys: two statements in one pair of brackets. */
static void one_word(struct cc *c, const cJSON *o, const char *const *keys)
{
    for (const cJSON *m = o->child->next; m != NULL; m = m->next) {
        const char *const *k = keys;
        while (*k != NULL && strcmp(*k, m->string) != 0)
            k++;
        if (*k == NULL && statement_find(m->string) != NULL)
            json_bad(c->doc, m, true, "\"%s\" is a statement of its own: {...}, {\"%s\": ...}",
                     m->string, m->string);
    }
}

static void check_keys(struct cc *c, const cJSON *o, const struct statement *is)
{
    const char *keys[STATEMENT_FIELDS_MAX + 2] = {"why"};
    for (int i = 0; is->field[i].key != NULL; i++)
        keys[i + 1] = is->field[i].key;
    one_word(c, o, keys);
    json_keys(c->doc, o, keys);
}

static const struct statement *statement_of(struct cc *c, const cJSON *o)
{
    json_want_object(c->doc, o);
    const cJSON *first = o->child;
    if (first == NULL)
        json_bad(c->doc, o, false, "an empty statement");
    const struct statement *is = statement_find(first->string);
    if (is != NULL)
        return is;
    const char *words[STATEMENT_WORDS_MAX];
    statement_words(words, STATEMENT_WORDS_MAX);
    const char *near = nearest(first->string, words);
    json_bad(c->doc, first, true, "unknown statement \"%.60s\"%s%s%s", first->string,
             near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static struct stmt *read_statement(struct cc *c, const cJSON *o)
{
    const struct statement *is = statement_of(c, o);
    size_t fields = 0;
    while (is->field[fields].key != NULL)
        fields++;
    check_keys(c, o, is);
    struct stmt *s = pool_alloc(c->pool, sizeof *s + fields * sizeof s->part[0]);
    s->is = is;
    s->at = json_at(c->doc, o);
    bool loop = is->flow == FLOW_LOOP;
    if (loop && c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    uint32_t locals = c->nlocals;
    c->nloops += loop;
    read_fields(c, o, s);
    c->nloops -= loop;
    if (is->forgets)
        c->nlocals = locals;
    const struct part *index = part_of(s, "index");
    if (index != NULL && s->is->flow != FLOW_LOOP && part_of(s, "count") == NULL)
        json_bad(c->doc, o, false, "\"index\" goes with \"count\"");
    if (is->in_loop && c->nloops == 0)
        json_bad(c->doc, o, false, "no loop around this \"%s\"", o->child->string);
    return s;
}

/* ---- what is never reached ---- */

static bool list_leaves(const struct stmt *list);

/* Is there a break that leaves the loop with this body? An inner break is the inner loop's. */
static bool breaks(const struct stmt *list)
{
    for (; list != NULL; list = list->next) {
        if (list->is->leaves_loop)
            return true;
        for (int i = 0; list->is->flow != FLOW_LOOP && list->is->field[i].key != NULL; i++) {
            enum field_kind kind = list->is->field[i].kind;
            const struct part *p = &list->part[i];
            if (kind == F_BLOCK && breaks(p->body))
                return true;
            if (kind == F_ARMS || kind == F_CASES)
                for (const struct arm *a = p->arms; a != NULL; a = a->next)
                    if (breaks(a->body))
                        return true;
        }
    }
    return false;
}

/* Does control leave through every one of these blocks? True without any: that waits for ever. A
 * block without weight is never chosen. */
static bool all_leave(const struct arm *a)
{
    for (; a != NULL; a = a->next)
        if (a->weight != 0 && !list_leaves(a->body))
            return false;
    return true;
}

/* Is it a loop that only a break ends? */
static bool endless(const struct stmt *s)
{
    const struct expr *x = s->part[0].x;
    switch (s->is->field[0].kind) {
    case F_ROUNDS: return x == NULL;
    case F_VALUE: return (x->is == X_NUMBER || x->is == X_LITERAL) && x->value != 0;
    default: return false;
    }
}

/* Does control never come out of this statement? */
static bool leaves(const struct stmt *s)
{
    const struct part *body = part_of(s, "do"), *then = part_of(s, "then"),
                      *other = part_of(s, "else");
    switch (s->is->flow) {
    case FLOW_ON: return false;
    case FLOW_ENDS: return true;
    case FLOW_BRANCH: return other != NULL && list_leaves(then->body) && list_leaves(other->body);
    case FLOW_ARMS: return all_leave(s->part[0].arms);
    case FLOW_LOOP: return endless(s) && !breaks(body->body);
    case FLOW_BLOCK: return list_leaves(body->body);
    }
    return false;
}

static bool list_leaves(const struct stmt *list)
{
    while (list != NULL && list->next != NULL)
        list = list->next;
    return list != NULL && leaves(list);
}

static _Noreturn void never_reached(struct cc *c, const cJSON *before)
{
    char text[80];
    place_quote(json_at(c->doc, before->next), text, sizeof text);
    json_bad(c->doc, before->next, false,
             "%s is never reached: the \"%s\" before does not come back", text,
             before->child->string);
}

/* ---- blocks and functions ---- */

static struct stmt *read_block(struct cc *c, const cJSON *list)
{
    struct stmt *first = NULL, **end = &first;
    uint32_t locals = c->nlocals;
    json_want_array(c->doc, list);
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        struct stmt *s = *end = read_statement(c, o);
        end = &s->next;
        if (o->next != NULL && leaves(s))
            never_reached(c, o);
    }
    c->nlocals = locals;
    return first;
}

static void read_function(struct cc *c, uint32_t f)
{
    struct function *fn = &c->tree.funcs[f];
    c->nlocals = c->b.funcs[f].nparams;
    c->nloops = 0;
    for (uint32_t i = 0; i < c->nlocals; i++)
        c->locals[i] = fn->params[i];
    fn->first_call = c->ncalls;
    struct stmt *body = read_block(c, fn->source);
    fn = &c->tree.funcs[f]; /* the table may have moved */
    fn->body = body;
    fn->end_call = c->ncalls;
}

/* Marks what main can come to; each function is on the stack once. */
static void reach(struct cc *c)
{
    struct function *funcs = c->tree.funcs;
    uint32_t *stack = pool_alloc(c->pool, c->tree.nfuncs * sizeof *stack), n = 1;
    stack[0] = (uint32_t)c->main;
    funcs[c->main].reached = true;
    while (n > 0) {
        const struct function *f = &funcs[stack[--n]];
        for (uint32_t i = f->first_call; i < f->end_call; i++) {
            struct function *to = &funcs[c->calls[i]];
            if (!to->reached)
                stack[n++] = (uint32_t)c->calls[i];
            to->reached = true;
        }
    }
}

void read_functions(struct cc *c)
{
    for (uint32_t f = 0; f < c->tree.nfuncs; f++)
        read_function(c, f);
    reach(c);
    for (uint32_t f = 0; f < c->tree.nfuncs; f++)
        if (!c->tree.funcs[f].reached)
            mistake(
                &c->doc->mistakes, c->tree.funcs[f].at,
                "nothing that main comes to starts or calls \"%.60s\"; {\"go\": \"%.60s\"} does",
                c->b.funcs[f].name, c->b.funcs[f].name);
}
