/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a program safe to interpret? Everything an instruction can name is checked here once, so that
 * the interpreter checks nothing but handles, which are values. */
#include "prog.h"

#include <stdio.h>

const struct op_info op_infos[OPS] = {
#define OP(n, A, B, C, D, I, w) [OP_##n] = {#n, w, A, B, C, D, I},
#include "ops.def"
#undef OP
};

struct check {
    const struct program *p;
    char *text;
    size_t size;
    uint32_t func, pc;
};

static bool bad(const struct check *k, const char *what)
{
    const struct program *p = k->p;
    const struct func *f = &p->funcs[k->func];
    const char *name = f->name ? f->name : "?";
    uint8_t op = p->code[k->pc].op;
    snprintf(k->text, k->size, "function %s, instruction %u (%s): %s", name, k->pc - f->entry,
             op < OPS ? op_infos[op].name : "?", what);
    return false;
}

static bool index_ok(int64_t i, uint32_t n) { return i >= 0 && i < n; }

static bool check_reg(const struct check *k, int64_t reg, bool optional)
{
    if (optional && reg == NOREG)
        return true;
    if (reg < 0 || reg >= k->p->funcs[k->func].nregs)
        return bad(k, "no such register");
    return true;
}

/* The small numbers: how many values the field of this instruction has. */
static unsigned small_limit(enum op op)
{
    switch (op) {
    case OP_CPU: return CPU_KINDS;
    case OP_MAKE: return OBJ_DECLARED;
    case OP_FDWAIT: return 3;
    case OP_FDDEADLINE: return 4;
    default: return 2;
    }
}

static bool check_small(const struct check *k, uint8_t v)
{
    enum op op = k->p->code[k->pc].op;
    bool from_one = op == OP_MAKE || op == OP_FDWAIT || op == OP_FDDEADLINE;
    if (v >= small_limit(op) || (from_one && v == 0))
        return bad(k, "unknown kind");
    return true;
}

/* a, b, c. RA and CT are checked together at CT. */
static bool check_field(const struct check *k, enum operand kind, uint8_t v, uint8_t before)
{
    const struct insn *in = &k->p->code[k->pc];
    switch (kind) {
    case RR:
    case RW: return check_reg(k, v, false);
    case RO:
    case RX: return check_reg(k, v, true);
    case HR:
        return in->d == OBJ_REG ? check_reg(k, v, false) : v == 0 || bad(k, "unused field is set");
    case KI: return check_small(k, v);
    case RA: return true;
    case CT:
        if (v != 0 && before + v > k->p->funcs[k->func].nregs)
            return bad(k, "arguments outside of the frame");
        return true;
    default: return v == 0 || bad(k, "unused field is set");
    }
}

static bool check_object(const struct check *k, int32_t d, enum operand kind)
{
    if (d == OBJ_REG)
        return true;
    if (!index_ok(d, k->p->nobjects))
        return bad(k, "no such object");
    if (k->p->objects[d].kind != kind - D_OBJ)
        return bad(k, "object of another kind");
    return true;
}

static bool check_d(const struct check *k, enum operand kind)
{
    const struct program *p = k->p;
    const struct func *f = &p->funcs[k->func];
    int32_t d = p->code[k->pc].d;
    switch (kind) {
    case N_: return d == 0 || bad(k, "unused field is set");
    case D_TG:
        return (d >= 0 && (uint32_t)d >= f->entry && (uint32_t)d < f->end) ||
               bad(k, "jump out of the function");
    case D_FN: return index_ok(d, p->nfuncs) || bad(k, "no such function");
    case D_FO: return d == -1 || index_ok(d, p->nfuncs) || bad(k, "no such function");
    case D_DI: return index_ok(d, p->ndists) || bad(k, "no such distribution");
    case D_DO: return d == -1 || index_ok(d, p->ndists) || bad(k, "no such distribution");
    case D_ST: return index_ok(d, p->nstrings) || bad(k, "no such string");
    case D_SO: return d == -1 || index_ok(d, p->nstrings) || bad(k, "no such string");
    case D_SE: return index_ok(d, p->nselects) || bad(k, "no such select table");
    case D_SP: return index_ok(d, p->nspans) || bad(k, "no such span");
    default: return check_object(k, d, kind);
    }
}

static bool check_imm(const struct check *k, enum operand kind)
{
    const struct insn *in = &k->p->code[k->pc];
    switch (kind) {
    case IV: return true;
    case IP: return in->imm >= 0 || bad(k, "negative number");
    case IG: return in->imm == -1 || index_ok(in->imm, k->p->ngroups) || bad(k, "no such group");
    case IF: return index_ok(in->imm, k->p->nfuncs) || bad(k, "no such function");
    case HV:
        return in->d == OBJ_REG ? check_reg(k, in->imm, false)
                                : in->imm == 0 || bad(k, "unused field is set");
    default: return in->imm == 0 || bad(k, "unused field is set");
    }
}

/* Functions that are called get what they want. */
static bool check_args(const struct check *k)
{
    const struct insn *in = &k->p->code[k->pc];
    const struct func *f = k->p->funcs;
    switch (in->op) {
    case OP_CALL:
    case OP_DEFER:
    case OP_FINALIZER:
    case OP_CLEANUP:
    case OP_GO: return in->b == f[in->d].nparams || bad(k, "wrong number of arguments");
    case OP_ONCE: return in->b == f[in->imm].nparams || bad(k, "wrong number of arguments");
    case OP_CORONEW: return in->c == f[in->d].nparams || bad(k, "wrong number of arguments");
    case OP_CGOCB:
        return f[in->d].nparams == (in->c != NOREG) || bad(k, "wrong number of arguments");
    case OP_TIMER:
        if (in->d == -1)
            return in->c == NOREG || bad(k, "argument without a function");
        return f[in->d].nparams == (in->c != NOREG) || bad(k, "wrong number of arguments");
    default: return true;
    }
}

/* Numbers that mean something by themselves. */
static bool check_special(const struct check *k)
{
    const struct program *p = k->p;
    const struct insn *in = &p->code[k->pc];
    const struct func *f = &p->funcs[k->func];
    switch (in->op) {
    case OP_SWITCH:
        if (in->imm >= (int64_t)f->end - k->pc - 1)
            return bad(k, "its jumps go beyond the function");
        for (int64_t i = 1; i <= in->imm; i++)
            if (p->code[k->pc + i].op != OP_JMP)
                return bad(k, "is not followed by its jumps");
        return true;
    case OP_PANIC:
        return (in->d >= 0) == (in->a == NOREG) || bad(k, "wants either a string or a register");
    case OP_MAKE:
        if (in->c == NOREG && in->b == OBJ_FD)
            return (in->imm >= -1 && in->imm < p->narrivals) || bad(k, "no such arrival process");
        return true;
    default: return true;
    }
}

static bool check_insn(const struct check *k)
{
    const struct insn *in = &k->p->code[k->pc];
    if (in->op >= OPS)
        return bad(k, "no such instruction");
    const struct op_info *o = &op_infos[in->op];
    return check_field(k, o->a, in->a, 0) && check_field(k, o->b, in->b, in->a) &&
           check_field(k, o->c, in->c, in->b) && check_d(k, o->d) && check_imm(k, o->imm) &&
           check_args(k) && check_special(k);
}

/* Registers of a select are those of the functions that use the table. */
static bool check_select(const struct check *k)
{
    const struct program *p = k->p;
    const struct insn *in = &p->code[k->pc];
    if (in->op != OP_SELECT)
        return true;
    const struct select_table *t = &p->selects[in->d];
    for (uint32_t i = 0; i < t->ncases; i++) {
        const struct select_case *c = &p->cases[t->first + i];
        if (c->obj == OBJ_REG ? !check_reg(k, c->hreg, false) : !check_object(k, c->obj, D_CH))
            return false;
        if (!check_reg(k, c->reg, !c->send))
            return false;
    }
    return true;
}

static bool ends(enum op op)
{
    return op == OP_RET || op == OP_JMP || op == OP_PANIC || op == OP_GOEXIT || op == OP_EXIT;
}

static bool check_func(struct check *k)
{
    const struct program *p = k->p;
    const struct func *f = &p->funcs[k->func];
    const char *name = f->name ? f->name : "?";
    if (f->entry >= f->end || f->end > p->ncode || f->nregs > NREGS_MAX || f->nparams > f->nregs) {
        snprintf(k->text, k->size, "function %s: code or registers out of range", name);
        return false;
    }
    uint32_t next = k->func > 0 ? p->funcs[k->func - 1].end : 0;
    if (f->entry < next) {
        snprintf(k->text, k->size, "function %s: begins inside the one before", name);
        return false;
    }
    for (k->pc = f->entry; k->pc < f->end; k->pc++)
        if (!check_insn(k) || !check_select(k))
            return false;
    k->pc = f->end - 1;
    return ends(p->code[k->pc].op) || bad(k, "the function does not end here");
}

static bool table(char *text, size_t size, const char *what, uint32_t i)
{
    snprintf(text, size, "%s %u: out of range", what, i);
    return false;
}

static bool param_ok(const struct program *p, const struct object_decl *o)
{
    switch (o->kind) {
    case OBJ_CHAN:
    case OBJ_SEMA: return o->param >= 0 && o->param <= INT32_MAX;
    case OBJ_COND: return index_ok(o->param, p->nobjects) && p->objects[o->param].kind == OBJ_MUTEX;
    case OBJ_FD: return o->param >= -1 && o->param < p->narrivals;
    case OBJ_VAR: return true;
    default: return o->kind > 0 && o->kind < OBJ_DECLARED && o->param == 0;
    }
}

static bool arrivals_ok(const struct program *p, const struct arrivals *a)
{
    if (a->kind >= ARRIVE_KINDS || a->mode < 1 || a->mode > 3 || a->start_ns < 0 || a->end_ns < 0 ||
        a->count < 0)
        return false;
    if (a->kind == ARRIVE_TIMES) {
        for (uint64_t i = 0; i < a->ntimes; i++)
            if (a->times[i] < (i > 0 ? a->times[i - 1] : 0))
                return false;
        return true;
    }
    bool sized = a->kind == ARRIVE_EVERY || (a->size > 0 && a->size <= INT32_MAX);
    return index_ok(a->gap, p->ndists) && sized;
}

static bool check_tables(const struct program *p, char *text, size_t size)
{
    for (uint32_t i = 0; i < p->nobjects; i++)
        if (!param_ok(p, &p->objects[i]))
            return table(text, size, "object", i);
    for (uint32_t i = 0; i < p->nselects; i++) {
        const struct select_table *t = &p->selects[i];
        if (t->first > p->ncases || t->ncases > p->ncases - t->first)
            return table(text, size, "select table", i);
    }
    for (uint32_t i = 0; i < p->narrivals; i++)
        if (!arrivals_ok(p, &p->arrivals[i]))
            return table(text, size, "arrival process", i);
    return true;
}

bool program_check(const struct program *p, char *text, size_t size)
{
    if (p->ncode > INT32_MAX || p->nfuncs > UINT16_MAX || p->nobjects > INT32_MAX ||
        p->stack_max > STACK_WORDS_MAX) {
        snprintf(text, size, "the program is too large");
        return false;
    }
    if (!index_ok(p->main, p->nfuncs) || p->funcs[p->main].nparams != 0) {
        snprintf(text, size, "no main function without parameters");
        return false;
    }
    if (!check_tables(p, text, size))
        return false;
    struct check k = {.p = p, .text = text, .size = size};
    for (k.func = 0; k.func < p->nfuncs; k.func++)
        if (!check_func(&k))
            return false;
    return true;
}

int32_t program_func_at(const struct program *p, uint32_t pc)
{
    uint32_t low = 0, high = p->nfuncs;
    while (low < high) { /* the first function that ends after pc */
        uint32_t mid = low + (high - low) / 2;
        if (p->funcs[mid].end > pc)
            high = mid;
        else
            low = mid + 1;
    }
    return low < p->nfuncs && p->funcs[low].entry <= pc ? (int32_t)low : -1;
}
