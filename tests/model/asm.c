/* SPDX-License-Identifier: BSD-3-Clause */
#include "asm.h"

#include <string.h>

#include "harness.h"

void as_init(struct as *a)
{
    memset(a, 0, sizeof *a);
    a->p = (struct program){.code = a->code,
                            .funcs = a->funcs,
                            .objects = a->objects,
                            .selects = a->selects,
                            .cases = a->cases,
                            .strings = a->strings,
                            .dists = a->dists,
                            .groups = a->groups,
                            .spans = a->spans,
                            .arrivals = a->arrivals};
}

static void end_func(struct as *a)
{
    if (a->p.nfuncs > 0)
        a->funcs[a->p.nfuncs - 1].end = a->p.ncode;
}

int as_func(struct as *a, const char *name, int nparams, int nregs)
{
    end_func(a);
    CHECK(a->p.nfuncs < AS_FUNCS);
    a->funcs[a->p.nfuncs] = (struct func){name, a->p.ncode, 0, (uint16_t)nregs, (uint16_t)nparams};
    return (int)a->p.nfuncs++;
}

int as_object(struct as *a, enum object_kind kind, int64_t param)
{
    CHECK(a->p.nobjects < AS_TABLE);
    a->objects[a->p.nobjects] = (struct object_decl){"o", param, (uint8_t)kind};
    return (int)a->p.nobjects++;
}

int as_string(struct as *a, const char *s)
{
    for (uint32_t i = 0; i < a->p.nstrings; i++)
        if (strcmp(a->strings[i], s) == 0)
            return (int)i;
    CHECK(a->p.nstrings < AS_TABLE);
    a->strings[a->p.nstrings] = s;
    return (int)a->p.nstrings++;
}

int as_group(struct as *a, const char *s)
{
    a->groups[a->p.ngroups] = s;
    return (int)a->p.ngroups++;
}

int as_select(struct as *a, bool has_default)
{
    a->selects[a->p.nselects] = (struct select_table){a->p.ncases, 0, has_default};
    return (int)a->p.nselects++;
}

void as_case(struct as *a, bool send, int obj, int hreg, int reg)
{
    CHECK(a->p.ncases < AS_TABLE * 4);
    a->cases[a->p.ncases++] = (struct select_case){obj, (uint8_t)hreg, (uint8_t)reg, send};
    a->selects[a->p.nselects - 1].ncases++;
}

uint32_t as_op(struct as *a, enum op op, int ra, int rb, int rc, int32_t d, int64_t imm)
{
    CHECK(a->p.ncode < AS_CODE);
    a->code[a->p.ncode] = (struct insn){(uint8_t)op, (uint8_t)ra, (uint8_t)rb, (uint8_t)rc, d, imm};
    return a->p.ncode++;
}

int as_label(struct as *a)
{
    CHECK(a->nlabels < AS_LABELS);
    a->label_at[a->nlabels] = -1;
    return (int)a->nlabels++;
}

void as_place(struct as *a, int l) { a->label_at[l] = (int32_t)a->p.ncode; }

int as_here(struct as *a)
{
    int l = as_label(a);
    as_place(a, l);
    return l;
}

/* Jumps hold their label until as_done. */
void as_jump(struct as *a, enum op op, int ra, int rb, int64_t imm, int label)
{
    as_op(a, op, ra, rb, 0, label, imm);
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
    char text[200];
    if (a->done)
        return &a->p;
    a->done = true;
    end_func(a);
    for (uint32_t i = 0; i < a->p.ncode; i++) {
        struct insn *in = &a->code[i];
        if (op_infos[in->op].d == D_TG)
            in->d = a->label_at[in->d];
    }
    a->p.main = a->p.nfuncs - 1;
    if (!program_check(&a->p, text, sizeof text))
        FAIL_CASE("the test's program: %s", text);
    return &a->p;
}
