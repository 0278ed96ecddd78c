/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about sharing: channels, locks, variables, coroutines; and output. */
#include <stdio.h>
#include <string.h>

#include "scenarios/stmt.h"

/* ---- channels ---- */

/* Timers and contexts give channels that the program can only receive from. */
static void want_sendable(struct cc *c, const cJSON *v, struct target t)
{
    if (t.obj == OBJ_REG)
        want_kind(c, v, t.reg, KIND(OBJ_CHAN));
}

void st_send(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_CHAN);
    want_sendable(c, v, t);
    uint8_t r;
    const cJSON *value = json_member(o, "value");
    if (value != NULL) {
        r = compile_value(c, value);
    } else {
        r = reg_new(c, v);
        build_op(&c->b, OP_CONST, r, 0, 0, 0, 0);
    }
    build_op(&c->b, OP_SEND, r, 0, t.reg, t.obj, 0);
}

void st_recv(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = op_into(c, o, "into", KIND_ANY), ok = op_into(c, o, "ok", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_CHAN);
    build_op(&c->b, OP_RECV, x, ok, t.reg, t.obj, 0);
}

void st_close(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    enum object_kind kind = op_kind_named(c, v) == OBJ_FD ? OBJ_FD : OBJ_CHAN;
    struct target t = op_target(c, v, kind);
    if (kind == OBJ_CHAN)
        want_sendable(c, v, t);
    build_op(&c->b, kind == OBJ_FD ? OP_FDCLOSE : OP_CLOSE, 0, 0, t.reg, t.obj, 0);
}

/* for x := range ch */
void st_range(struct cc *c, const cJSON *o, const cJSON *v)
{
    if (c->nloops == LOOPS_MAX)
        json_bad(c->doc, o, false, "loops nested more than %d deep", LOOPS_MAX);
    uint32_t locals = c->nlocals;
    uint8_t x = op_into(c, o, "into", KIND_ANY);
    struct target t = op_target(c, v, OBJ_CHAN);
    uint8_t ok = reg_new(c, v);
    int top = build_label(&c->b), end = build_label(&c->b);
    build_here(&c->b, top);
    build_op(&c->b, OP_RECV, x, ok, t.reg, t.obj, 0);
    build_jump(&c->b, OP_JZ, ok, 0, 0, end);
    c->loops[c->nloops++] = (struct loop){end, top};
    op_block(c, json_need(c->doc, o, "do"));
    c->nloops--;
    build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    build_here(&c->b, end);
    c->nlocals = locals;
}

static const char *const case_keys[] = {"recv", "send", "value",   "into",
                                        "ok",   "do",   "default", NULL};

/* The table's entry for one case. */
static void select_case(struct cc *c, const cJSON *e)
{
    const cJSON *recv = json_member(e, "recv"), *send = json_member(e, "send");
    if ((recv != NULL) == (send != NULL))
        json_want(c->doc, e, "a case with one of \"recv\", \"send\", \"default\"");
    struct target t = op_target(c, recv != NULL ? recv : send, OBJ_CHAN);
    if (send != NULL)
        want_sendable(c, send, t);
    uint8_t reg;
    if (send != NULL) {
        const cJSON *value = json_member(e, "value");
        reg = reg_new(c, e);
        if (value != NULL)
            compile_value_to(c, value, reg);
        else
            build_op(&c->b, OP_CONST, reg, 0, 0, 0, 0);
    } else {
        reg = op_into(c, e, "into", KIND_ANY);
        (void)op_into(c, e, "ok",
                      KIND_NUMBER); /* copied from the common register in the case's body */
    }
    build_case(&c->b,
               (struct select_case){.obj = t.obj, .hreg = t.reg, .reg = reg, .send = send != NULL});
}

static void select_body(struct cc *c, const cJSON *e, uint8_t ok, int end)
{
    uint8_t named = op_into(c, e, "ok", KIND_NUMBER);
    if (named != NOREG)
        build_op(&c->b, OP_MOVE, named, ok, 0, 0, 0);
    const cJSON *body = json_member(e, "do");
    if (body != NULL)
        op_block(c, body);
    build_jump(&c->b, OP_JMP, 0, 0, 0, end);
}

void st_select(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    json_want_array(c->doc, v);
    if (cJSON_GetArraySize(v) > SELECT_CASES_MAX)
        json_bad(c->doc, v, false, "more than %d cases", SELECT_CASES_MAX);
    int32_t table = build_select(&c->b, false);
    const cJSON *otherwise = NULL;
    uint32_t locals = c->nlocals;
    uint8_t chosen = reg_new(c, v), ok = reg_new(c, v);
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, case_keys);
        if (json_member(e, "default") == NULL) {
            select_case(c, e);
        } else if (otherwise != NULL || cJSON_GetArraySize(e) != 1) {
            json_bad(c->doc, e, false,
                     otherwise != NULL ? "a second default"
                                       : "a default is written {\"default\": [...]}");
        } else {
            otherwise = json_member(e, "default");
        }
    }
    c->b.selects[table].has_default = otherwise != NULL;
    build_op(&c->b, OP_SELECT, chosen, ok, 0, table, 0);
    int end = build_label(&c->b);
    int64_t index = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        if (json_member(e, "default") != NULL)
            continue;
        int next = build_label(&c->b);
        build_jump(&c->b, OP_JNEI, chosen, 0, index++, next);
        select_body(c, e, ok, end);
        build_here(&c->b, next);
    }
    if (otherwise != NULL)
        op_block(c, otherwise);
    build_here(&c->b, end);
    c->nlocals = locals;
}

void st_make(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t r = op_into(c, o, "make", 0);
    enum object_kind kind;
    int64_t param;
    compile_make(c, json_need(c->doc, o, "as"), &kind, &param);
    kind_is(&c->b, r, KIND(kind));
    build_op(&c->b, OP_MAKE, r, (int)kind, NOREG, 0, kind == OBJ_COND ? param + 1 : param);
}

/* ---- locks and waiting ---- */

void st_lock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool rw = op_kind_named(c, v) == OBJ_RWMUTEX;
    op_on_object(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX, rw ? OP_WLOCK : OP_LOCK);
}

void st_unlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool rw = op_kind_named(c, v) == OBJ_RWMUTEX;
    op_on_object(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX, rw ? OP_WUNLOCK : OP_UNLOCK);
}

void st_trylock(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = op_into(c, o, "into", KIND_NUMBER);
    bool rw = op_kind_named(c, v) == OBJ_RWMUTEX;
    struct target t = op_target(c, v, rw ? OBJ_RWMUTEX : OBJ_MUTEX);
    build_op(&c->b, rw ? OP_TRYWLOCK : OP_TRYLOCK, ok, 0, t.reg, t.obj, 0);
}

void st_tryrlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = op_into(c, o, "into", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_RWMUTEX);
    build_op(&c->b, OP_TRYRLOCK, ok, 0, t.reg, t.obj, 0);
}

void st_rlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_RWMUTEX, OP_RLOCK);
}

void st_runlock(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_RWMUTEX, OP_RUNLOCK);
}

/* Body between lock and unlock. */
void st_with_lock(struct cc *c, const cJSON *o, const cJSON *v)
{
    st_lock(c, o, v);
    op_block(c, json_need(c->doc, o, "do"));
    st_unlock(c, o, v);
}

void st_add(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_WAITGROUP);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "n", 1, &imm);
    build_op(&c->b, OP_WGADD, n, 0, t.reg, t.obj, imm);
}

void st_done(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_WAITGROUP, OP_WGDONE);
}

void st_wait(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    bool cond = op_kind_named(c, v) == OBJ_COND;
    op_on_object(c, v, cond ? OBJ_COND : OBJ_WAITGROUP, cond ? OP_CWAIT : OP_WGWAIT);
}

void st_signal(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_COND, OP_CSIGNAL);
}

void st_broadcast(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_COND, OP_CBROADCAST);
}

void st_once(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_ONCE);
    uint8_t first;
    uint32_t n;
    int32_t f = op_callee(c, o, json_need(c->doc, o, "do"), "once", &first, &n);
    build_op(&c->b, OP_ONCE, first, (int)n, t.reg, t.obj, f);
}

void st_acquire(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_SEMA);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "n", 1, &imm);
    build_op(&c->b, OP_ACQUIRE, n, 0, t.reg, t.obj, imm);
}

void st_tryacquire(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = op_into(c, o, "into", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_SEMA);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "n", 1, &imm);
    build_op(&c->b, OP_TRYACQUIRE, ok, n, t.reg, t.obj, imm);
}

void st_release(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_SEMA);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "n", 1, &imm);
    build_op(&c->b, OP_RELEASE, n, 0, t.reg, t.obj, imm);
}

void st_pool_get(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = op_into(c, o, "into", KIND_ANY), ok = op_into(c, o, "ok", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_POOL);
    build_op(&c->b, OP_POOLGET, x == NOREG ? reg_new(c, v) : x, ok, t.reg, t.obj, 0);
}

void st_pool_put(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_POOL);
    uint8_t r = compile_value(c, json_need(c->doc, o, "value"));
    build_op(&c->b, OP_POOLPUT, r, 0, t.reg, t.obj, 0);
}

/* ---- shared variables ---- */

void st_load(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = op_into(c, o, "into", KIND_ANY);
    struct target t = op_target(c, v, OBJ_VAR);
    build_op(&c->b, json_bool_or(c->doc, o, "atomic", false) ? OP_LOADA : OP_LOADP, r, 0, t.reg,
             t.obj, 0);
}

void st_store(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct target t = op_target(c, v, OBJ_VAR);
    uint8_t r = compile_value(c, json_need(c->doc, o, "value"));
    build_op(&c->b, json_bool_or(c->doc, o, "atomic", false) ? OP_STOREA : OP_STOREP, r, 0, t.reg,
             t.obj, 0);
}

void st_atomic_add(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = op_into(c, o, "into", KIND_ANY);
    struct target t = op_target(c, v, OBJ_VAR);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "value", 1, &imm);
    build_op(&c->b, OP_ADDA, r, n, t.reg, t.obj, imm);
}

void st_swap(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = op_into(c, o, "into", KIND_ANY);
    struct target t = op_target(c, v, OBJ_VAR);
    uint8_t n = compile_value(c, json_need(c->doc, o, "value"));
    build_op(&c->b, OP_SWAPA, r, n, t.reg, t.obj, 0);
}

void st_cas(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = op_into(c, o, "into", KIND_ANY);
    struct target t = op_target(c, v, OBJ_VAR);
    uint8_t old = compile_value(c, json_need(c->doc, o, "old"));
    uint8_t new = compile_value(c, json_need(c->doc, o, "new"));
    build_op(&c->b, OP_CASA, r, old, new, t.obj, t.obj == OBJ_REG ? t.reg : 0);
}

/* ---- coroutines ---- */

void st_pull(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t r = op_into(c, o, "pull", KIND(OBJ_CORO)), first;
    uint32_t n;
    int32_t f = op_callee(c, o, json_need(c->doc, o, "from"), "pull", &first, &n);
    build_op(&c->b, OP_CORONEW, r, first, (int)n, f, 0);
}

void st_next(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t x = op_into(c, o, "into", KIND_ANY), ok = op_into(c, o, "ok", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_CORO);
    build_op(&c->b, OP_CORONEXT, x, ok, t.reg, t.obj, 0);
}

void st_stop_pull(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_CORO, OP_COROSTOP);
}

void st_yield(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t more = op_into(c, o, "into", KIND_NUMBER);
    uint8_t r = compile_value(c, v);
    build_op(&c->b, OP_YIELD, r, more, 0, 0, 0);
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

/* %s prints what recover gave. */
static void want_texts(struct cc *c, const char *s, uint8_t reg, const cJSON *args)
{
    const cJSON *arg = args != NULL ? args->child : NULL;
    for (; arg != NULL && *s != 0; s++) {
        if (*s != '%' || *++s == '%')
            continue;
        if (*s == 's')
            want_kind(c, arg, reg, KIND_TEXT);
        arg = arg->next;
        reg++;
    }
}

void st_print(struct cc *c, const cJSON *o, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    const cJSON *end = json_member(o, "end");
    char *line = pool_alloc(c->pool,
                            strlen(s) + (end != NULL ? strlen(json_string(c->doc, end)) : 1) + 1);
    strcpy(line, s);
    strcat(line, end != NULL ? end->valuestring : "\n");
    uint32_t n, wanted = format_args(c, v, line);
    uint8_t first = op_arguments(c, json_member(o, "args"), &n);
    if (n != wanted)
        json_bad(c->doc, v, false, "the format takes %u arguments, got %u", wanted, n);
    want_texts(c, line, first, json_member(o, "args"));
    build_op(&c->b, OP_PRINT, first, (int)n, 0, build_string(&c->b, line), 0);
}

void st_span(struct cc *c, const cJSON *o, const cJSON *v)
{
    int32_t span = build_span(&c->b, json_string(c->doc, v));
    int64_t imm;
    uint8_t since = op_value_or(c, o, "since", 0, &imm);
    build_op(&c->b, OP_SPANB, NOREG, since, 0, span, 0);
    op_block(c, json_need(c->doc, o, "do"));
    build_op(&c->b, OP_SPANE, NOREG, 0, 0, span, 0);
}

void st_mark(struct cc *c, const cJSON *o, const cJSON *v)
{
    int64_t imm;
    uint8_t r = op_value_or(c, o, "value", 0, &imm);
    build_op(&c->b, OP_MARK, r, 0, 0, build_string(&c->b, json_string(c->doc, v)), 0);
}
