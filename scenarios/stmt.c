/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements. A statement is an object whose first key is its verb; the table at the end has every
 * verb, the other keys that it takes and the function that compiles it. */
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"

static void block(struct cc *c, const cJSON *list);

/* ---- operands ---- */

/* What an instruction on an object names: the object itself, or a register with a handle. */
struct target {
    int32_t obj;
    uint8_t reg;
};

/* An object of that kind by name, or an expression that gives a handle. */
static struct target target(struct cc *c, const cJSON *v, enum object_kind kind)
{
    const char *s = json_string(c->doc, v);
    int32_t obj = local_find(c, s) == NULL ? object_find(c, s) : -1;
    if (obj < 0)
        return (struct target){OBJ_REG, compile_value(c, v)};
    if (c->objects[obj].kind != kind)
        json_bad(c->doc, v, false, "\"%.60s\" is a %s, want a %s", s,
                 object_kind_name((enum object_kind)c->objects[obj].kind), object_kind_name(kind));
    return (struct target){obj, 0};
}

/* The kind of the object that a verb names, OBJ_KINDS for a local. */
static enum object_kind kind_named(struct cc *c, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    int32_t obj = local_find(c, s) == NULL ? object_find(c, s) : -1;
    return obj < 0 ? OBJ_KINDS : (enum object_kind)c->objects[obj].kind;
}

/* The local that a key names, NOREG without that key. */
static uint8_t into(struct cc *c, const cJSON *o, const char *key)
{
    const cJSON *v = json_member(o, key);
    if (v == NULL)
        return NOREG;
    const char *s = json_string(c->doc, v);
    bool good = s[0] != 0 && strlen(s) < 60 && !(s[0] >= '0' && s[0] <= '9');
    for (const char *p = s; *p != 0; p++)
        good = good && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                        (*p >= '0' && *p <= '9') || *p == '_');
    if (!good)
        json_bad(c->doc, v, false, "want a name of letters, digits and _");
    return local_new(c, v, s);
}

static uint8_t value_or(struct cc *c, const cJSON *o, const char *key, int64_t other, int64_t *imm)
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

/* How long: a distribution d, a register b, or imm nanoseconds (or bytes). */
struct amount {
    int32_t d;
    uint8_t b;
    int64_t imm;
};

static struct amount duration(struct cc *c, const cJSON *v)
{
    struct amount a = {-1, NOREG, 0};
    if (cJSON_IsString(v) && !json_parse_duration(v->valuestring, &a.imm))
        a.b = compile_value(c, v);
    else
        a.d = compile_duration(c, v, &a.imm);
    return a;
}

/* The same for instructions that take no distribution: it is drawn into a register first. */
static struct amount drawn(struct cc *c, const cJSON *v)
{
    struct amount a = duration(c, v);
    if (a.d >= 0) {
        a.b = reg_new(c, v);
        emit_op(c, OP_DRAW, a.b, 0, 0, a.d, 0);
        a.d = -1;
    }
    return a;
}

static struct amount bytes(struct cc *c, const cJSON *v)
{
    struct amount a = {-1, NOREG, 0};
    if (cJSON_IsNumber(v))
        a.imm = json_int(c->doc, v, 0, INT64_C(1) << 50);
    else if (!json_parse_size(json_string(c->doc, v), &a.imm))
        a.b = compile_value(c, v);
    return a;
}

/* A word out of a list; gives its index. */
static int choice(struct cc *c, const cJSON *o, const char *key, const char *const *words)
{
    const cJSON *v = json_member(o, key);
    if (v == NULL)
        return 0;
    const char *s = json_string(c->doc, v);
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], s) == 0)
            return i;
    const char *near = json_nearest(s, words);
    json_bad(c->doc, v, false, "unknown word \"%.60s\"; %s \"%s\"", s,
             near != NULL ? "did you mean" : "one of them is", near != NULL ? near : words[0]);
}

/* Arguments in registers one after the other. */
static uint8_t arguments(struct cc *c, const cJSON *list, uint32_t *n)
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
static int32_t inline_function(struct cc *c, const cJSON *body, const char *verb, uint8_t *first,
                               uint32_t *n)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%u", verb, c->s->program.nfuncs);
    int32_t f = func_add(c, name, body, body);
    struct funcdef *d = &c->defs[f];
    d->nparams = *n = c->nlocals;
    d->params = pool_alloc(c->pool, (c->nlocals + 1) * sizeof *d->params);
    *first = 0;
    for (uint32_t i = 0; i < c->nlocals; i++) {
        uint8_t r = reg_new(c, body);
        if (i == 0)
            *first = r;
        d->params[i] = c->locals[i].name;
        emit_op(c, OP_MOVE, r, c->locals[i].reg, 0, 0, 0);
    }
    return f;
}

static const char **function_names(struct cc *c)
{
    const char **names = pool_alloc(c->pool, (c->s->program.nfuncs + 1) * sizeof *names);
    for (uint32_t i = 0; i < c->s->program.nfuncs; i++)
        names[i] = c->defs[i].name;
    return names;
}

/* A function by name with "args", or a body in place. */
static int32_t callee(struct cc *c, const cJSON *o, const cJSON *v, const char *verb,
                      uint8_t *first, uint32_t *n)
{
    const cJSON *args = json_member(o, "args");
    if (cJSON_IsArray(v)) {
        if (args != NULL)
            json_bad(c->doc, args, true,
                     "a body in place sees the names around it and takes no args");
        return inline_function(c, v, verb, first, n);
    }
    const char *name = json_string(c->doc, v);
    int32_t f = func_find(c, name);
    if (f < 0) {
        const char *near = json_nearest(name, function_names(c));
        json_bad(c->doc, v, false, "no function \"%.60s\"%s%s%s", name,
                 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    *first = arguments(c, args, n);
    if (*n != c->defs[f].nparams)
        json_bad(c->doc, args != NULL ? args : v, false, "\"%.60s\" takes %u arguments, got %u",
                 name, c->defs[f].nparams, *n);
    return f;
}

/* ---- control ---- */

static void st_loop(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    uint32_t locals = c->nlocals;
    uint8_t index = into(c, o, "index");
    bool forever = cJSON_IsString(v) && strcmp(v->valuestring, "forever") == 0;
    if (index == NOREG)
        index = reg_new(c, v);
    uint8_t limit = NOREG;
    if (!forever) {
        limit = reg_new(c, v);
        compile_value_to(c, v, limit);
    }
    emit_op(c, OP_CONST, index, 0, 0, 0, 0);
    int top = label_new(c), next = label_new(c), end = label_new(c);
    label_place(c, top);
    if (!forever) {
        uint8_t more = reg_new(c, v);
        emit_op(c, OP_LT, more, index, limit, 0, 0);
        emit_jump(c, OP_JZ, more, 0, 0, end);
    }
    c->loops[c->nloops++] = (struct loop){end, next};
    block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    label_place(c, next);
    emit_op(c, OP_ADDI, index, index, 0, 0, 1);
    emit_jump(c, OP_JMP, 0, 0, 0, top);
    label_place(c, end);
    c->nlocals = locals;
}

static void st_while(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    int top = label_new(c), end = label_new(c);
    label_place(c, top);
    compile_unless(c, v, end);
    c->loops[c->nloops++] = (struct loop){end, top};
    block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    emit_jump(c, OP_JMP, 0, 0, 0, top);
    label_place(c, end);
}

static void st_break(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    if (c->nloops == 0)
        json_bad(c->doc, o, false, "no loop around this");
    emit_jump(c, OP_JMP, 0, 0, 0, c->loops[c->nloops - 1].on_break);
}

static void st_continue(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    if (c->nloops == 0)
        json_bad(c->doc, o, false, "no loop around this");
    emit_jump(c, OP_JMP, 0, 0, 0, c->loops[c->nloops - 1].on_continue);
}

static void st_if(struct cc *c, const cJSON *o, const cJSON *v)
{
    int otherwise = label_new(c), end = label_new(c);
    compile_unless(c, v, otherwise);
    block(c, json_need(c->doc, o, "then"));
    const cJSON *e = json_member(o, "else");
    if (e != NULL)
        emit_jump(c, OP_JMP, 0, 0, 0, end);
    label_place(c, otherwise);
    if (e != NULL)
        block(c, e);
    label_place(c, end);
}

/* One of several bodies, by weight. */
static void st_random(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const keys[] = {"weight", "do", NULL};
    (void)o;
    json_want_array(c->doc, v);
    int64_t total = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        total += json_int_or(c->doc, e, "weight", 1, 0, 1000000);
    }
    if (total == 0)
        json_bad(c->doc, v, false, "all weights are zero");
    uint8_t r = reg_new(c, v);
    int end = label_new(c);
    emit_op(c, OP_RANDI, r, 0, 0, 0, total);
    int64_t below = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        int next = label_new(c);
        below += json_int_or(c->doc, e, "weight", 1, 0, 1000000);
        emit_jump(c, OP_JGEI, r, 0, below, next);
        block(c, json_need(c->doc, e, "do"));
        emit_jump(c, OP_JMP, 0, 0, 0, end);
        label_place(c, next);
    }
    label_place(c, end);
}

static void st_set(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t r = into(c, o, "set");
    compile_value_to(c, json_need(c->doc, o, "value"), r);
}

static void st_call(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t result = into(c, o, "into"), first;
    uint32_t n;
    int32_t f = callee(c, o, v, "call", &first, &n);
    emit_op(c, OP_CALL, first, (int)n, result, f, 0);
}

static void st_return(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    emit_op(c, OP_RET, cJSON_IsNull(v) ? NOREG : compile_value(c, v), 0, 0, 0, 0);
}

static void st_defer(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t first;
    uint32_t n;
    int32_t f = callee(c, o, v, "defer", &first, &n);
    emit_op(c, OP_DEFER, first, (int)n, 0, f, 0);
}

static void st_panic(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    emit_op(c, OP_PANIC, NOREG, 0, 0, add_string(c, json_string(c->doc, v)), 0);
}

static void st_recover(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t kind = into(c, o, "recover"), value = into(c, o, "value");
    emit_op(c, OP_RECOVER, kind, value, 0, 0, 0);
}

static void st_exit(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    emit_op(c, OP_EXIT, 0, 0, 0, 0, json_int(c->doc, v, 0, 255));
}

static void st_assert(struct cc *c, const cJSON *o, const cJSON *v)
{
    const cJSON *text = json_member(o, "text");
    char line[300];
    snprintf(line, sizeof line, "assertion failed: %.200s",
             text != NULL        ? json_string(c->doc, text)
             : cJSON_IsString(v) ? v->valuestring
                                 : "false");
    uint8_t r = compile_value(c, v);
    emit_op(c, OP_ASSERT, r, 0, 0, add_string(c, line), 0);
}

static void st_go(struct cc *c, const cJSON *o, const cJSON *v)
{
    const cJSON *count = json_member(o, "count"), *group = json_member(o, "group");
    uint32_t locals = c->nlocals, n;
    uint8_t index = into(c, o, "index"), limit = NOREG, first;
    int top = label_new(c), end = label_new(c);
    if (count != NULL) {
        if (index == NOREG)
            index = reg_new(c, v);
        limit = reg_new(c, v);
        compile_value_to(c, count, limit);
        emit_op(c, OP_CONST, index, 0, 0, 0, 0);
        label_place(c, top);
        uint8_t more = reg_new(c, v);
        emit_op(c, OP_LT, more, index, limit, 0, 0);
        emit_jump(c, OP_JZ, more, 0, 0, end);
    } else if (index != NOREG) {
        json_bad(c->doc, o, false, "\"index\" goes with \"count\"");
    }
    int32_t f = callee(c, o, v, "go", &first, &n);
    const char *name = group != NULL ? json_string(c->doc, group) : c->defs[f].name;
    emit_op(c, OP_GO, first, (int)n, 0, f, add_group(c, name));
    if (count != NULL) {
        emit_op(c, OP_ADDI, index, index, 0, 0, 1);
        emit_jump(c, OP_JMP, 0, 0, 0, top);
    }
    label_place(c, end);
    c->nlocals = locals;
}

/* ---- time and CPU ---- */

static void st_cpu(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const kinds[] = {"normal", "tight", "nopreempt", NULL};
    int kind = choice(c, o, "kind", kinds);
    struct amount a = duration(c, v);
    emit_op(c, OP_CPU, kind, a.b, 0, a.d, a.imm);
}

static void st_sleep(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    struct amount a = duration(c, v);
    emit_op(c, OP_SLEEP, 0, a.b, 0, a.d, a.imm);
}

static const char *const call_kinds[] = {"blocking", "short", NULL};

static void st_syscall(struct cc *c, const cJSON *o, const cJSON *v)
{
    int on_cpu = choice(c, o, "kind", call_kinds);
    struct amount a = duration(c, v);
    emit_op(c, OP_SYSCALL, !on_cpu, a.b, 0, a.d, a.imm);
}

static void st_cgo(struct cc *c, const cJSON *o, const cJSON *v)
{
    int on_cpu = choice(c, o, "kind", call_kinds);
    struct amount a = duration(c, v);
    emit_op(c, OP_CGOCALL, !on_cpu, a.b, 0, a.d, a.imm);
}

/* C code that calls a Go function of one parameter back, on this thread or on one of its own. */
static void st_cgo_callback(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const threads[] = {"same", "foreign", NULL};
    const char *name = json_string(c->doc, v);
    int32_t f = func_find(c, name);
    if (f < 0 || c->defs[f].nparams != 1)
        json_bad(c->doc, v, false, "want the name of a function with one parameter");
    int foreign = choice(c, o, "thread", threads);
    const cJSON *after = json_member(o, "after");
    struct amount a = {-1, NOREG, 0};
    if (after != NULL)
        a = drawn(c, after);
    int64_t imm;
    uint8_t arg = value_or(c, o, "arg", 0, &imm);
    if (arg == NOREG) {
        arg = reg_new(c, v);
        emit_op(c, OP_CONST, arg, 0, 0, 0, imm);
    }
    emit_op(c, OP_CGOCB, foreign, a.b, arg, f, a.imm);
}

static void st_alloc(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct amount a = bytes(c, v);
    emit_op(c, OP_ALLOC, json_bool_or(c->doc, o, "live", false), a.b, 0, a.d, a.imm);
}

static void st_free(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    struct amount a = bytes(c, v);
    emit_op(c, OP_FREE, 0, a.b, 0, a.d, a.imm);
}

static void st_gomaxprocs(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t old = into(c, o, "into");
    int64_t imm;
    uint8_t n = value_or(c, o, "gomaxprocs", 0, &imm);
    emit_op(c, OP_GOMAXPROCS, old, n, 0, 0, imm);
}

static void plain(struct cc *c, const cJSON *v, enum op op)
{
    if (!cJSON_IsTrue(v))
        json_bad(c->doc, v, false, "want true");
    emit_op(c, op, 0, 0, 0, 0, 0);
}
#define PLAIN(fn, op)                                            \
    static void fn(struct cc *c, const cJSON *o, const cJSON *v) \
    {                                                            \
        (void)o;                                                 \
        plain(c, v, op);                                         \
    }
PLAIN(st_gosched, OP_GOSCHED)
PLAIN(st_goexit, OP_GOEXIT)
PLAIN(st_lock_os_thread, OP_LOCKOS)
PLAIN(st_unlock_os_thread, OP_UNLOCKOS)
PLAIN(st_gc, OP_GC)

/* ---- channels ---- */

static void st_send(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_CHAN);
    uint8_t r;
    const cJSON *value = json_member(o, "value");
    if (value != NULL) {
        r = compile_value(c, value);
    } else {
        r = reg_new(c, v);
        emit_op(c, OP_CONST, r, 0, 0, 0, 0);
    }
    emit_op(c, OP_SEND, r, 0, t.reg, t.obj, 0);
}

static void st_recv(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = into(c, o, "into"), ok = into(c, o, "ok");
    struct target t = target(c, v, OBJ_CHAN);
    emit_op(c, OP_RECV, x, ok, t.reg, t.obj, 0);
}

static void st_close(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    enum object_kind kind = kind_named(c, v) == OBJ_FD ? OBJ_FD : OBJ_CHAN;
    struct target t = target(c, v, kind);
    emit_op(c, kind == OBJ_FD ? OP_FDCLOSE : OP_CLOSE, 0, 0, t.reg, t.obj, 0);
}

/* for x := range ch */
static void st_range(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    uint32_t locals = c->nlocals;
    uint8_t x = into(c, o, "into");
    struct target t = target(c, v, OBJ_CHAN);
    uint8_t ok = reg_new(c, v);
    int top = label_new(c), end = label_new(c);
    label_place(c, top);
    emit_op(c, OP_RECV, x, ok, t.reg, t.obj, 0);
    emit_jump(c, OP_JZ, ok, 0, 0, end);
    c->loops[c->nloops++] = (struct loop){end, top};
    block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    emit_jump(c, OP_JMP, 0, 0, 0, top);
    label_place(c, end);
    c->nlocals = locals;
}

static const char *const case_keys[] = {"recv", "send", "value",   "into",
                                        "ok",   "do",   "default", NULL};

/* The table's entry for one case. */
static void select_case(struct cc *c, const cJSON *e, uint32_t at, uint8_t ok)
{
    const cJSON *recv = json_member(e, "recv"), *send = json_member(e, "send");
    if ((recv != NULL) == (send != NULL))
        json_bad(c->doc, e, false, "a case is one of \"recv\", \"send\", \"default\"");
    struct target t = target(c, recv != NULL ? recv : send, OBJ_CHAN);
    uint8_t reg;
    if (send != NULL) {
        const cJSON *value = json_member(e, "value");
        reg = reg_new(c, e);
        if (value != NULL)
            compile_value_to(c, value, reg);
    } else {
        reg = into(c, e, "into");
        uint8_t named = into(c, e, "ok");
        (void)named; /* copied from the common register in the case's body */
        (void)ok;
    }
    c->cases[at] = (struct select_case){
        .obj = t.obj, .hreg = t.reg, .reg = reg, .send = send != NULL};
}

static void select_body(struct cc *c, const cJSON *e, uint8_t ok, int end)
{
    uint8_t named = into(c, e, "ok");
    if (named != NOREG)
        emit_op(c, OP_MOVE, named, ok, 0, 0, 0);
    const cJSON *body = json_member(e, "do");
    if (body != NULL)
        block(c, body);
    emit_jump(c, OP_JMP, 0, 0, 0, end);
}

static void st_select(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    json_want_array(c->doc, v);
    uint32_t count = (uint32_t)cJSON_GetArraySize(v), ncases = 0, first = c->s->program.ncases;
    const cJSON *otherwise = NULL;
    uint32_t locals = c->nlocals;
    for (uint32_t i = 0; i < count; i++) {
        GROW(c, cases, c->s->program.ncases);
        c->s->program.ncases++;
    }
    uint8_t chosen = reg_new(c, v), ok = reg_new(c, v);
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, case_keys);
        if (json_member(e, "default") == NULL) {
            select_case(c, e, first + ncases++, ok);
        } else if (otherwise != NULL) {
            json_bad(c->doc, e, false, "a second default");
        } else {
            otherwise = json_member(e, "default");
        }
    }
    if (ncases > SELECT_CASES_MAX)
        json_bad(c->doc, v, false, "more than %d cases", SELECT_CASES_MAX);
    GROW(c, selects, c->s->program.nselects);
    c->selects[c->s->program.nselects] = (struct select_table){
        .first = first, .ncases = (uint16_t)ncases, .has_default = otherwise != NULL};
    emit_op(c, OP_SELECT, chosen, ok, 0, (int32_t)c->s->program.nselects++, 0);
    int end = label_new(c);
    int64_t index = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        if (json_member(e, "default") != NULL)
            continue;
        int next = label_new(c);
        emit_jump(c, OP_JNEI, chosen, 0, index++, next);
        select_body(c, e, ok, end);
        label_place(c, next);
    }
    if (otherwise != NULL)
        block(c, otherwise);
    label_place(c, end);
    c->nlocals = locals;
}

static void st_make(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const forms[] = {"make", "as", NULL};
    (void)forms;
    (void)v;
    uint8_t r = into(c, o, "make");
    enum object_kind kind;
    int64_t param;
    compile_make(c, json_need(c->doc, o, "as"), &kind, &param);
    emit_op(c, OP_MAKE, r, kind, NOREG, 0, kind == OBJ_COND ? param + 1 : param);
}

/* ---- locks and waiting ---- */

static void on_object(struct cc *c, const cJSON *v, enum object_kind kind, enum op op)
{
    struct target t = target(c, v, kind);
    emit_op(c, op, 0, 0, t.reg, t.obj, 0);
}

static void st_lock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool rw = kind_named(c, v) == OBJ_RWMUTEX;
    on_object(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX, rw ? OP_WLOCK : OP_LOCK);
}

static void st_unlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool rw = kind_named(c, v) == OBJ_RWMUTEX;
    on_object(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX, rw ? OP_WUNLOCK : OP_UNLOCK);
}

static void st_trylock(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = into(c, o, "into");
    bool rw = kind_named(c, v) == OBJ_RWMUTEX;
    struct target t = target(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX);
    emit_op(c, rw ? OP_TRYWLOCK : OP_TRYLOCK, ok, 0, t.reg, t.obj, 0);
}

static void st_rlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_RWMUTEX, OP_RLOCK);
}

static void st_runlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_RWMUTEX, OP_RUNLOCK);
}

/* Body between lock and unlock. */
static void st_with_lock(struct cc *c, const cJSON *o, const cJSON *v)
{
    st_lock(c, o, v);
    block(c, json_need(c->doc, o, "do"));
    st_unlock(c, o, v);
}

static void st_add(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_WAITGROUP);
    int64_t imm;
    uint8_t n = value_or(c, o, "n", 1, &imm);
    emit_op(c, OP_WGADD, n, 0, t.reg, t.obj, imm);
}

static void st_done(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_WAITGROUP, OP_WGDONE);
}

static void st_wait(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool cond = kind_named(c, v) == OBJ_COND;
    on_object(c, v, cond ? OBJ_COND : OBJ_WAITGROUP, cond ? OP_CWAIT : OP_WGWAIT);
}

static void st_signal(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_COND, OP_CSIGNAL);
}

static void st_broadcast(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_COND, OP_CBROADCAST);
}

static void st_once(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_ONCE);
    uint8_t first;
    uint32_t n;
    int32_t f = callee(c, o, json_need(c->doc, o, "do"), "once", &first, &n);
    emit_op(c, OP_ONCE, first, (int)n, t.reg, t.obj, f);
}

static void st_acquire(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_SEMA);
    int64_t imm;
    uint8_t n = value_or(c, o, "n", 1, &imm);
    emit_op(c, OP_ACQUIRE, n, 0, t.reg, t.obj, imm);
}

static void st_release(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_SEMA);
    int64_t imm;
    uint8_t n = value_or(c, o, "n", 1, &imm);
    emit_op(c, OP_RELEASE, n, 0, t.reg, t.obj, imm);
}

static void st_pool_get(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = into(c, o, "into"), ok = into(c, o, "ok");
    struct target t = target(c, v, OBJ_POOL);
    emit_op(c, OP_POOLGET, x == NOREG ? reg_new(c, v) : x, ok, t.reg, t.obj, 0);
}

static void st_pool_put(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_POOL);
    uint8_t r = compile_value(c, json_need(c->doc, o, "value"));
    emit_op(c, OP_POOLPUT, r, 0, t.reg, t.obj, 0);
}

/* ---- timers and contexts ---- */

static void st_timer(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t t = into(c, o, "timer");
    struct amount a = drawn(c, json_need(c->doc, o, "after"));
    emit_op(c, OP_TIMER, t, a.b, NOREG, -1, a.imm);
}

/* time.AfterFunc */
static void st_after_func(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t t = into(c, o, "timer");
    const char *name = json_string(c->doc, v);
    int32_t f = func_find(c, name);
    if (f < 0 || c->defs[f].nparams > 1)
        json_bad(c->doc, v, false, "want the name of a function with at most one parameter");
    struct amount a = drawn(c, json_need(c->doc, o, "after"));
    uint8_t arg = NOREG;
    if (c->defs[f].nparams == 1) {
        arg = reg_new(c, v);
        compile_value_to(c, json_need(c->doc, o, "arg"), arg);
    }
    emit_op(c, OP_TIMER, t, a.b, arg, f, a.imm);
}

static void st_ticker(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t t = into(c, o, "ticker");
    struct amount a = drawn(c, json_need(c->doc, o, "every"));
    emit_op(c, OP_TICKER, t, a.b, 0, 0, a.imm);
}

static void st_after(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ch = into(c, o, "into");
    struct amount a = drawn(c, v);
    emit_op(c, OP_AFTER, ch == NOREG ? reg_new(c, v) : ch, a.b, 0, 0, a.imm);
}

static void st_stop(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = into(c, o, "into");
    struct target t = target(c, v, OBJ_TIMER);
    emit_op(c, OP_TSTOP, ok, 0, t.reg, t.obj, 0);
}

static void st_reset(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = into(c, o, "into");
    struct target t = target(c, v, OBJ_TIMER);
    struct amount a = drawn(c, json_need(c->doc, o, "after"));
    emit_op(c, OP_TRESET, ok, a.b, t.reg, t.obj, a.imm);
}

static void st_context(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    const cJSON *parent = json_member(o, "parent"), *timeout = json_member(o, "timeout");
    uint8_t ctx = into(c, o, "context"), p = parent != NULL ? compile_value(c, parent) : NOREG;
    if (timeout == NULL) {
        emit_op(c, OP_CTXNEW, ctx, p, 0, 0, 0);
        return;
    }
    struct amount a = drawn(c, timeout);
    emit_op(c, OP_CTXTMO, ctx, p, a.b, 0, a.imm);
}

static void st_cancel(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_CONTEXT, OP_CTXCANCEL);
}

/* ---- descriptors ---- */

static void st_read(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t n = into(c, o, "into"), t = into(c, o, "time");
    struct target fd = target(c, v, OBJ_FD);
    emit_op(c, OP_FDREAD, n, t, fd.reg, fd.obj, 0);
}

static void st_write(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = into(c, o, "into");
    struct target fd = target(c, v, OBJ_FD);
    int64_t imm;
    uint8_t n = value_or(c, o, "value", 0, &imm);
    emit_op(c, OP_FDWRITE, r, n, fd.reg, fd.obj, imm);
}

static void st_poll(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const modes[] = {"read", "write", NULL};
    uint8_t r = into(c, o, "into");
    int mode = choice(c, o, "for", modes) + 1;
    struct target fd = target(c, v, OBJ_FD);
    emit_op(c, OP_FDWAIT, r, mode, fd.reg, fd.obj, 0);
}

static void st_deadline(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const modes[] = {"both", "read", "write", NULL};
    static const int bits[] = {3, 1, 2};
    int mode = bits[choice(c, o, "for", modes)];
    struct target fd = target(c, v, OBJ_FD);
    struct amount a = drawn(c, json_need(c->doc, o, "after"));
    emit_op(c, OP_FDDEADLINE, mode, a.b, fd.reg, fd.obj, a.imm);
}

/* ---- shared variables ---- */

static void st_load(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = into(c, o, "into");
    struct target t = target(c, v, OBJ_VAR);
    emit_op(c, json_bool_or(c->doc, o, "atomic", false) ? OP_LOADA : OP_LOADP, r, 0, t.reg, t.obj,
            0);
}

static void st_store(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = target(c, v, OBJ_VAR);
    uint8_t r = compile_value(c, json_need(c->doc, o, "value"));
    emit_op(c, json_bool_or(c->doc, o, "atomic", false) ? OP_STOREA : OP_STOREP, r, 0, t.reg, t.obj,
            0);
}

static void st_atomic_add(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = into(c, o, "into");
    struct target t = target(c, v, OBJ_VAR);
    int64_t imm;
    uint8_t n = value_or(c, o, "value", 1, &imm);
    emit_op(c, OP_ADDA, r, n, t.reg, t.obj, imm);
}

static void st_swap(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = into(c, o, "into");
    struct target t = target(c, v, OBJ_VAR);
    uint8_t n = compile_value(c, json_need(c->doc, o, "value"));
    emit_op(c, OP_SWAPA, r, n, t.reg, t.obj, 0);
}

static void st_cas(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = into(c, o, "into");
    struct target t = target(c, v, OBJ_VAR);
    uint8_t old = compile_value(c, json_need(c->doc, o, "old"));
    uint8_t new = compile_value(c, json_need(c->doc, o, "new"));
    emit_op(c, OP_CASA, r, old, new, t.obj, t.obj == OBJ_REG ? t.reg : 0);
}

/* ---- coroutines ---- */

static void st_pull(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t r = into(c, o, "pull"), first;
    uint32_t n;
    int32_t f = callee(c, o, json_need(c->doc, o, "from"), "pull", &first, &n);
    emit_op(c, OP_CORONEW, r, first, (int)n, f, 0);
}

static void st_next(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = into(c, o, "into"), ok = into(c, o, "ok");
    struct target t = target(c, v, OBJ_CORO);
    emit_op(c, OP_CORONEXT, x, ok, t.reg, t.obj, 0);
}

static void st_stop_pull(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    on_object(c, v, OBJ_CORO, OP_COROSTOP);
}

static void st_yield(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t more = into(c, o, "into");
    uint8_t r = compile_value(c, v);
    emit_op(c, OP_YIELD, r, more, 0, 0, 0);
}

/* ---- output ---- */

static uint32_t format_args(struct cc *c, const cJSON *at, const char *s)
{
    uint32_t n = 0;
    for (; *s != 0; s++) {
        if (*s != '%')
            continue;
        s++;
        if (*s == '%')
            continue;
        if (*s != 'd' && *s != 's' && *s != 't')
            json_bad(c->doc, at, false, "a format has %%d, %%s, %%t and %%%%");
        n++;
    }
    return n;
}

static void st_print(struct cc *c, const cJSON *o, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    const cJSON *end = json_member(o, "end");
    char *line = pool_alloc(c->pool,
                            strlen(s) + (end != NULL ? strlen(json_string(c->doc, end)) : 1) + 1);
    strcpy(line, s);
    strcat(line, end != NULL ? end->valuestring : "\n");
    uint32_t n, wanted = format_args(c, v, line);
    uint8_t first = arguments(c, json_member(o, "args"), &n);
    if (n != wanted)
        json_bad(c->doc, v, false, "the format takes %u arguments, got %u", wanted, n);
    emit_op(c, OP_PRINT, first, (int)n, 0, add_string(c, line), 0);
}

static void st_span(struct cc *c, const cJSON *o, const cJSON *v)
{
    int32_t span = add_span(c, json_string(c->doc, v));
    int64_t imm;
    uint8_t since = value_or(c, o, "since", 0, &imm);
    emit_op(c, OP_SPANB, NOREG, since, 0, span, 0);
    block(c, json_need(c->doc, o, "do"));
    emit_op(c, OP_SPANE, NOREG, 0, 0, span, 0);
}

static void st_mark(struct cc *c, const cJSON *o, const cJSON *v)
{
    int64_t imm;
    uint8_t r = value_or(c, o, "value", 0, &imm);
    emit_op(c, OP_MARK, r, 0, 0, add_string(c, json_string(c->doc, v)), 0);
}

/* ---- the table ---- */

typedef void compile_fn(struct cc *c, const cJSON *o, const cJSON *v);

/* Every verb: its name, the function, the other keys. "why" may stand in any statement. */
#define VERBS                                                       \
    VERB("acquire", st_acquire, "n")                                \
    VERB("add", st_add, "n")                                        \
    VERB("after", st_after, "into")                                 \
    VERB("after_func", st_after_func, "after", "arg", "timer")      \
    VERB("alloc", st_alloc, "live")                                 \
    VERB("assert", st_assert, "text")                               \
    VERB("atomic_add", st_atomic_add, "value", "into")              \
    VERB("break", st_break, NULL)                                   \
    VERB("broadcast", st_broadcast, NULL)                           \
    VERB("call", st_call, "args", "into")                           \
    VERB("cancel", st_cancel, NULL)                                 \
    VERB("cas", st_cas, "old", "new", "into")                       \
    VERB("cgo", st_cgo, "kind")                                     \
    VERB("cgo_callback", st_cgo_callback, "arg", "after", "thread") \
    VERB("close", st_close, NULL)                                   \
    VERB("context", st_context, "parent", "timeout")                \
    VERB("continue", st_continue, NULL)                             \
    VERB("cpu", st_cpu, "kind")                                     \
    VERB("deadline", st_deadline, "after", "for")                   \
    VERB("defer", st_defer, "args")                                 \
    VERB("done", st_done, NULL)                                     \
    VERB("exit", st_exit, NULL)                                     \
    VERB("free", st_free, NULL)                                     \
    VERB("gc", st_gc, NULL)                                         \
    VERB("go", st_go, "args", "count", "index", "group")            \
    VERB("goexit", st_goexit, NULL)                                 \
    VERB("gomaxprocs", st_gomaxprocs, "into")                       \
    VERB("gosched", st_gosched, NULL)                               \
    VERB("if", st_if, "then", "else")                               \
    VERB("load", st_load, "into", "atomic")                         \
    VERB("lock", st_lock, NULL)                                     \
    VERB("lock_os_thread", st_lock_os_thread, NULL)                 \
    VERB("loop", st_loop, "do", "index")                            \
    VERB("make", st_make, "as")                                     \
    VERB("mark", st_mark, "value")                                  \
    VERB("next", st_next, "into", "ok")                             \
    VERB("panic", st_panic, NULL)                                   \
    VERB("poll", st_poll, "for", "into")                            \
    VERB("pool_get", st_pool_get, "into", "ok")                     \
    VERB("pool_put", st_pool_put, "value")                          \
    VERB("print", st_print, "args", "end")                          \
    VERB("pull", st_pull, "from", "args")                           \
    VERB("random", st_random, NULL)                                 \
    VERB("range", st_range, "into", "do")                           \
    VERB("read", st_read, "into", "time")                           \
    VERB("recover", st_recover, "value")                            \
    VERB("recv", st_recv, "into", "ok")                             \
    VERB("release", st_release, "n")                                \
    VERB("reset", st_reset, "after", "into")                        \
    VERB("return", st_return, NULL)                                 \
    VERB("rlock", st_rlock, NULL)                                   \
    VERB("runlock", st_runlock, NULL)                               \
    VERB("select", st_select, NULL)                                 \
    VERB("send", st_send, "value")                                  \
    VERB("set", st_set, "value")                                    \
    VERB("signal", st_signal, NULL)                                 \
    VERB("sleep", st_sleep, NULL)                                   \
    VERB("span", st_span, "do", "since")                            \
    VERB("stop", st_stop, "into")                                   \
    VERB("stop_pull", st_stop_pull, NULL)                           \
    VERB("store", st_store, "value", "atomic")                      \
    VERB("swap", st_swap, "value", "into")                          \
    VERB("syscall", st_syscall, "kind")                             \
    VERB("ticker", st_ticker, "every")                              \
    VERB("timer", st_timer, "after")                                \
    VERB("trylock", st_trylock, "into")                             \
    VERB("once", st_once, "do", "args")                             \
    VERB("unlock", st_unlock, NULL)                                 \
    VERB("unlock_os_thread", st_unlock_os_thread, NULL)             \
    VERB("wait", st_wait, NULL)                                     \
    VERB("while", st_while, "do")                                   \
    VERB("with_lock", st_with_lock, "do")                           \
    VERB("write", st_write, "value", "into")                        \
    VERB("yield", st_yield, "into")

const char *const statement_verbs[] = {
#define VERB(name, fn, ...) name,
    VERBS
#undef VERB
        NULL};

static const struct verb {
    compile_fn *fn;
    const char *keys[8];
} verbs[] = {
#define VERB(name, fn, ...) {fn, {name, "why", __VA_ARGS__}},
    VERBS
#undef VERB
};

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
        const char *near = json_nearest(first->string, statement_verbs);
        json_bad(c->doc, first, true, "unknown verb \"%.60s\"%s%s%s", first->string,
                 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    json_keys(c->doc, o, verbs[i].keys);
    c->line = json_line(c->doc, o);
    verbs[i].fn(c, o, first);
}

/* Does control never come out of this statement? */
static bool leaves(const cJSON *o)
{
    static const char *const words[] = {"return", "break", "continue", "panic", "exit", "goexit"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (o->child != NULL && strcmp(o->child->string, words[i]) == 0)
            return true;
    return false;
}

/* Registers above the names in scope are free between statements. */
static void drop_temporaries(struct cc *c, uint8_t floor)
{
    uint8_t next = floor;
    for (uint32_t i = 0; i < c->nlocals; i++)
        if (c->locals[i].reg >= next)
            next = (uint8_t)(c->locals[i].reg + 1);
    c->next_reg = next;
}

static void block(struct cc *c, const cJSON *list)
{
    json_want_array(c->doc, list);
    uint32_t locals = c->nlocals;
    uint8_t reg = c->next_reg;
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        statement(c, o);
        drop_temporaries(c, reg);
        if (leaves(o) && o->next != NULL)
            json_bad(c->doc, o->next, false,
                     "never reached: the statement before does not come back");
    }
    c->nlocals = locals;
    c->next_reg = reg;
}

static void function(struct cc *c, uint32_t f)
{
    struct func *out = &c->funcs[f];
    out->entry = c->s->program.ncode;
    out->nparams = (uint16_t)c->defs[f].nparams;
    c->nlocals = 0;
    c->next_reg = 0;
    c->max_regs = 0;
    c->nloops = 0;
    for (uint32_t i = 0; i < c->defs[f].nparams; i++)
        (void)local_new(c, c->defs[f].at, c->defs[f].params[i]);
    block(c, c->defs[f].body);
    emit_op(c, OP_RET, NOREG, 0, 0, 0, 0);
    labels_resolve(c);
    out = &c->funcs[f]; /* the table may have moved */
    out->end = c->s->program.ncode;
    out->nregs = c->max_regs;
}

void compile_functions(struct cc *c)
{
    for (uint32_t f = 0; f < c->s->program.nfuncs; f++)
        function(c, f);
}
