/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about time: CPU, sleeping, system calls, memory, timers, contexts, descriptors. */
#include <stdio.h>
#include <string.h>

#include "scenarios/stmt.h"

/* ---- time and CPU ---- */

void st_cpu(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const kinds[] = {"normal", "tight", "nopreempt", NULL};
    int kind = op_choice(c, o, "kind", kinds);
    struct amount a = op_duration(c, v);
    build_op(&c->b, OP_CPU, kind, a.b, 0, a.d, a.imm);
}

void st_sleep(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    struct amount a = op_duration(c, v);
    build_op(&c->b, OP_SLEEP, 0, a.b, 0, a.d, a.imm);
}

static const char *const call_kinds[] = {"blocking", "short", NULL};

void st_syscall(struct cc *c, const cJSON *o, const cJSON *v)
{
    int on_cpu = op_choice(c, o, "kind", call_kinds);
    struct amount a = op_duration(c, v);
    build_op(&c->b, OP_SYSCALL, !on_cpu, a.b, 0, a.d, a.imm);
}

void st_cgo(struct cc *c, const cJSON *o, const cJSON *v)
{
    int on_cpu = op_choice(c, o, "kind", call_kinds);
    struct amount a = op_duration(c, v);
    build_op(&c->b, OP_CGOCALL, !on_cpu, a.b, 0, a.d, a.imm);
}

/* C code that calls a Go function of one parameter back, on this thread or on one of its own. */
void st_cgo_callback(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const threads[] = {"same", "foreign", NULL};
    const char *name = json_string(c->doc, v);
    int32_t f = build_find_func(&c->b, name);
    if (f < 0 || c->b.funcs[f].nparams != 1)
        json_want(c->doc, v, "the name of a function with one parameter");
    int foreign = op_choice(c, o, "thread", threads);
    const cJSON *after = json_member(o, "after");
    struct amount a = {-1, NOREG, 0};
    if (after != NULL)
        a = op_drawn(c, after);
    int64_t imm;
    uint8_t arg = op_value_or(c, o, "arg", 0, &imm);
    if (arg == NOREG) {
        arg = reg_new(c, v);
        kind_is(&c->b, arg, KIND_NUMBER);
        build_op(&c->b, OP_CONST, arg, 0, 0, 0, imm);
    }
    func_use(c, f);
    kind_pass(&c->b, arg, f, 0);
    build_op(&c->b, OP_CGOCB, foreign, a.b, arg, f, a.imm);
}

void st_alloc(struct cc *c, const cJSON *o, const cJSON *v)
{
    struct amount a = op_bytes(c, v);
    build_op(&c->b, OP_ALLOC, json_bool_or(c->doc, o, "live", false), a.b, 0, a.d, a.imm);
}

void st_free(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    struct amount a = op_bytes(c, v);
    build_op(&c->b, OP_FREE, 0, a.b, 0, a.d, a.imm);
}

void st_gomaxprocs(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t old = op_into(c, o, "into", KIND_NUMBER);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "gomaxprocs", 0, &imm);
    build_op(&c->b, OP_GOMAXPROCS, old, n, 0, 0, imm);
}

void st_leak_profile(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    build_op(&c->b, OP_LEAKS, op_into(c, o, "leak_profile", KIND_NUMBER), 0, 0, 0, 0);
}

static void plain(struct cc *c, const cJSON *v, enum op op)
{
    if (!cJSON_IsTrue(v))
        json_want(c->doc, v, "true");
    build_op(&c->b, op, 0, 0, 0, 0, 0);
}
#define PLAIN(fn, op)                                     \
    void fn(struct cc *c, const cJSON *o, const cJSON *v) \
    {                                                     \
        (void)o;                                          \
        plain(c, v, op);                                  \
    }
PLAIN(st_gosched, OP_GOSCHED)
PLAIN(st_goexit, OP_GOEXIT)
PLAIN(st_lock_os_thread, OP_LOCKOS)
PLAIN(st_unlock_os_thread, OP_UNLOCKOS)
PLAIN(st_gc, OP_GC)
PLAIN(st_read_mem_stats, OP_READMEM)
PLAIN(st_trace_start, OP_TRACESTART)
PLAIN(st_trace_stop, OP_TRACESTOP)

/* ---- timers and contexts ---- */

void st_timer(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t t = op_into(c, o, "timer", KIND(OBJ_TIMER));
    struct amount a = op_drawn(c, json_need(c->doc, o, "after"));
    build_op(&c->b, OP_TIMER, t, a.b, NOREG, -1, a.imm);
}

/* time.AfterFunc */
void st_after_func(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t t = op_into(c, o, "timer", KIND(OBJ_TIMER));
    const char *name = json_string(c->doc, v);
    int32_t f = build_find_func(&c->b, name);
    if (f < 0 || c->b.funcs[f].nparams > 1)
        json_want(c->doc, v, "the name of a function with at most one parameter");
    struct amount a = op_drawn(c, json_need(c->doc, o, "after"));
    uint8_t arg = NOREG;
    func_use(c, f);
    if (c->b.funcs[f].nparams == 1) {
        arg = reg_new(c, v);
        compile_value_to(c, json_need(c->doc, o, "arg"), arg);
        kind_pass(&c->b, arg, f, 0);
    }
    build_op(&c->b, OP_TIMER, t, a.b, arg, f, a.imm);
}

void st_ticker(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    uint8_t t = op_into(c, o, "ticker", KIND(OBJ_TIMER));
    struct amount a = op_drawn(c, json_need(c->doc, o, "every"));
    build_op(&c->b, OP_TICKER, t, a.b, 0, 0, a.imm);
}

void st_after(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ch = op_into(c, o, "into", KIND_RECV);
    struct amount a = op_drawn(c, v);
    build_op(&c->b, OP_AFTER, ch == NOREG ? reg_new(c, v) : ch, a.b, 0, 0, a.imm);
}

void st_stop(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = op_into(c, o, "into", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_TIMER);
    build_op(&c->b, OP_TSTOP, ok, 0, t.reg, t.obj, 0);
}

void st_reset(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t ok = op_into(c, o, "into", KIND_NUMBER);
    struct target t = op_target(c, v, OBJ_TIMER);
    struct amount a = op_drawn(c, json_need(c->doc, o, "after"));
    build_op(&c->b, OP_TRESET, ok, a.b, t.reg, t.obj, a.imm);
}

void st_context(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)v;
    const cJSON *parent = json_member(o, "parent"), *timeout = json_member(o, "timeout");
    uint8_t ctx = op_into(c, o, "context", KIND(OBJ_CONTEXT)),
            p = parent != NULL ? compile_value(c, parent) : NOREG;
    if (p != NOREG)
        want_kind(c, parent, p, KIND(OBJ_CONTEXT));
    if (timeout == NULL) {
        build_op(&c->b, OP_CTXNEW, ctx, p, 0, 0, 0);
        return;
    }
    struct amount a = op_drawn(c, timeout);
    build_op(&c->b, OP_CTXTMO, ctx, p, a.b, 0, a.imm);
}

void st_cancel(struct cc *c, const cJSON *o, const cJSON *v)
{
    (void)o;
    op_on_object(c, v, OBJ_CONTEXT, OP_CTXCANCEL);
}

/* ---- descriptors ---- */

void st_read(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t n = op_into(c, o, "into", KIND_NUMBER), t = op_into(c, o, "time", KIND_NUMBER);
    struct target fd = op_target(c, v, OBJ_FD);
    build_op(&c->b, OP_FDREAD, n, t, fd.reg, fd.obj, 0);
}

void st_write(struct cc *c, const cJSON *o, const cJSON *v)
{
    uint8_t r = op_into(c, o, "into", KIND_NUMBER);
    struct target fd = op_target(c, v, OBJ_FD);
    int64_t imm;
    uint8_t n = op_value_or(c, o, "value", 0, &imm);
    build_op(&c->b, OP_FDWRITE, r, n, fd.reg, fd.obj, imm);
}

void st_poll(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const modes[] = {"read", "write", NULL};
    uint8_t r = op_into(c, o, "into", KIND_NUMBER);
    int mode = op_choice(c, o, "for", modes) + 1;
    struct target fd = op_target(c, v, OBJ_FD);
    build_op(&c->b, OP_FDWAIT, r, mode, fd.reg, fd.obj, 0);
}

void st_deadline(struct cc *c, const cJSON *o, const cJSON *v)
{
    static const char *const modes[] = {"both", "read", "write", NULL};
    static const int bits[] = {3, 1, 2};
    int mode = bits[op_choice(c, o, "for", modes)];
    struct target fd = op_target(c, v, OBJ_FD);
    struct amount a = op_drawn(c, json_need(c->doc, o, "after"));
    build_op(&c->b, OP_FDDEADLINE, mode, a.b, fd.reg, fd.obj, a.imm);
}
