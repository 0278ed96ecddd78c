/* SPDX-License-Identifier: BSD-3-Clause */
#include "asm.h"

#include <string.h>

#include "harness.h"

/* Programs stand in a few static variables; none is freed at the end of a test. */
enum { PROGRAMS_MAX = 64 };
static struct {
    const struct as *a;
    struct pool *pool;
} programs[PROGRAMS_MAX];

static struct pool *fresh_pool(const struct as *a)
{
    int i = 0;
    while (i < PROGRAMS_MAX && programs[i].a != a && programs[i].a != NULL)
        i++;
    CHECK_LT(i, PROGRAMS_MAX);
    if (programs[i].a == a)
        pool_free(programs[i].pool);
    programs[i].a = a;
    programs[i].pool = pool_new();
    return programs[i].pool;
}

void as_init(struct as *a)
{
    memset(a, 0, sizeof *a);
    a->mistakes.f = &a->failure;
    build_init(&a->b, fresh_pool(a), &a->mistakes);
}

static void end_func(struct as *a)
{
    if (a->b.p.nfuncs > 0)
        build_leave(&a->b);
}

int as_func(struct as *a, const char *name, int nparams, int nregs)
{
    end_func(a);
    int f = build_func(&a->b, name, (uint32_t)nparams, (struct place){0});
    build_enter(&a->b, f);
    a->b.max_regs = (uint16_t)nregs;
    return f;
}

int as_object(struct as *a, enum object_kind kind, int64_t param)
{
    return build_object(&a->b, kind, param, "o");
}

int as_string(struct as *a, const char *s) { return build_string(&a->b, s); }
int as_select(struct as *a, bool has_default) { return build_select(&a->b, has_default); }

void as_case(struct as *a, bool send, int obj, int hreg, int reg)
{
    build_case(&a->b, (struct select_case){obj, (uint8_t)hreg, (uint8_t)reg, send});
}

uint32_t as_op(struct as *a, enum op op, int ra, int rb, int rc, int32_t d, int64_t imm)
{
    return build_op(&a->b, op, ra, rb, rc, d, imm);
}

int as_label(struct as *a) { return build_label(&a->b); }
void as_place(struct as *a, int l) { build_here(&a->b, l); }

int as_here(struct as *a)
{
    int l = as_label(a);
    as_place(a, l);
    return l;
}

void as_jump(struct as *a, enum op op, int ra, int rb, int64_t imm, int label)
{
    build_jump(&a->b, op, ra, rb, imm, label);
}

void as_const(struct as *a, int reg, int64_t v) { as_op(a, OP_CONST, reg, 0, 0, 0, v); }
void as_go(struct as *a, int func, int arg0, int nargs)
{
    as_op(a, OP_GO, arg0, nargs, 0, func, -1);
}
void as_call(struct as *a, int func, int arg0, int nargs, int result)
{
    as_op(a, OP_CALL, arg0, nargs, result, func, 0);
}
void as_ret(struct as *a) { as_op(a, OP_RET, NOREG, 0, 0, 0, 0); }
void as_cpu(struct as *a, int64_t ns) { as_op(a, OP_CPU, CPU_normal, NOREG, 0, -1, ns); }
void as_sleep(struct as *a, int64_t ns) { as_op(a, OP_SLEEP, 0, NOREG, 0, -1, ns); }
void as_obj(struct as *a, enum op op, int obj) { as_op(a, op, 0, 0, 0, obj, 0); }
void as_send(struct as *a, int ch, int reg) { as_op(a, OP_SEND, reg, 0, 0, ch, 0); }
void as_recv(struct as *a, int ch, int reg) { as_op(a, OP_RECV, reg, NOREG, 0, ch, 0); }
void as_print(struct as *a, const char *text)
{
    as_op(a, OP_PRINT, 0, 0, 0, as_string(a, text), 0);
}
void as_print1(struct as *a, const char *fmt, int reg)
{
    as_op(a, OP_PRINT, reg, 1, 0, as_string(a, fmt), 0);
}
void as_print2(struct as *a, const char *fmt, int reg)
{
    as_op(a, OP_PRINT, reg, 2, 0, as_string(a, fmt), 0);
}
void as_plain(struct as *a, enum op op) { as_op(a, op, 0, 0, 0, 0, 0); }

const struct program *as_done(struct as *a)
{
    if (a->done)
        return &a->b.p;
    a->done = true;
    end_func(a);
    if (setjmp(a->mistakes.jump) != 0)
        FAIL_CASE("the test's program: %s", a->failure.text);
    return build_done(&a->b, a->b.p.nfuncs - 1, (struct place){0});
}

void as_take_print(void *arg, const char *text, size_t size)
{
    struct as_result *r = arg;
    if (size > sizeof r->out - 1 - r->nout)
        size = sizeof r->out - 1 - r->nout;
    memcpy(r->out + r->nout, text, size);
    r->nout += size;
    r->out[r->nout] = 0;
}
