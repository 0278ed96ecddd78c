/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a program safe to interpret? Everything an instruction can name is checked here once, so that
 * the interpreter checks nothing but handles, which are values. */
#include "prog.h"

#include <stdio.h>

#include "tape.h"

const struct op_info op_infos[OPS] = {
#define OP(n, A, B, C, D, I, w) [OP_##n] = {#n, w, A, B, C, D, I},
#include "ops.def"
#undef OP
};

struct check {
    const struct program *p;
    const struct insn *in; /* an instruction of func at pc, or an entry of a tape */
    char *text;
    size_t size;
    uint32_t func, pc;
    const uint8_t *tape; /* the entry, NULL: no tape */
};

static bool bad(const struct check *k, const char *what)
{
    const struct program *p = k->p;
    if (k->tape != NULL) {
        snprintf(k->text, k->size, "tapes, byte %llu (%s): %s",
                 (unsigned long long)(k->tape - p->tape), op_infos[k->in->op].name, what);
        return false;
    }
    const struct func *f = &p->funcs[k->func];
    const char *name = f->name ? f->name : "?";
    uint8_t op = k->in->op;
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

enum {
    WAIT_REASONS = 0
#define WAITREASON(name, text) +1
#include "waitreason.def"
#undef WAITREASON
};

/* The small numbers: how many values the field of this instruction has. */
static unsigned small_limit(enum op op)
{
    switch (op) {
    case OP_CPU: return CPU_KINDS;
    case OP_SYSCALL: return CALL_KINDS;
    case OP_MAKE: return OBJ_DECLARED;
    case OP_FDWAIT: return 3;
    case OP_FDDEADLINE: return 4;
    case OP_EVWAIT:
    case OP_EVLOCK: return WAIT_REASONS;
    default: return 2;
    }
}

static bool check_small(const struct check *k, uint8_t v)
{
    enum op op = k->in->op;
    bool from_one = op == OP_MAKE || op == OP_FDWAIT || op == OP_FDDEADLINE;
    if (v >= small_limit(op) || (from_one && v == 0))
        return bad(k, "unknown kind");
    return true;
}

/* a, b, c. RA and CT are checked together at CT. */
static bool check_field(const struct check *k, enum operand kind, uint8_t v, uint8_t before)
{
    const struct insn *in = k->in;
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
    int32_t d = k->in->d;
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
    const struct insn *in = k->in;
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
    const struct insn *in = k->in;
    const struct func *f = k->p->funcs;
    switch (in->op) {
    case OP_CALL:
    case OP_DEFER:
    case OP_FINALIZER:
    case OP_CLEANUP:
    case OP_GO: return in->b == f[in->d].nparams || bad(k, "wrong number of arguments");
    case OP_ONCE: return in->b == f[in->imm].nparams || bad(k, "wrong number of arguments");
    case OP_CORONEW: return in->c == f[in->d].nparams || bad(k, "wrong number of arguments");
    case OP_AFTERTO:
        return (in->b == f[in->d].nparams && in->b <= 1) || bad(k, "wrong number of arguments");
    case OP_CGOCB:
        return f[in->d].nparams == (in->c != NOREG) || bad(k, "wrong number of arguments");
    case OP_TIMER:
        if (in->d == -1)
            return in->c == NOREG || bad(k, "argument without a function");
        if ((f[in->d].nparams == 0) != (in->c == NOREG))
            return bad(k, "wrong number of arguments");
        return in->c == NOREG || in->c + f[in->d].nparams <= f[k->func].nregs ||
               bad(k, "arguments outside of the frame");
    default: return true;
    }
}

/* Numbers that mean something by themselves. */
static bool check_special(const struct check *k)
{
    const struct program *p = k->p;
    const struct insn *in = k->in;
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
    case OP_EVWAIT:
    case OP_EVLOCK:
    case OP_EVPOST: return (uint64_t)in->imm < p->nevents || bad(k, "no such event");
    default: return true;
    }
}

static bool check_insn(const struct check *k)
{
    const struct insn *in = k->in;
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
    const struct insn *in = k->in;
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
    return op == OP_RET || op == OP_JMP || op == OP_TAPEBACK || op == OP_PANIC || op == OP_GOEXIT ||
           op == OP_EXIT;
}

/* A function that plays tapes is TAPEBEGIN 0, TAPE 0, JMP to the second, so that nothing else
 * writes where on the tape it is. */
static bool check_player(const struct check *k)
{
    const struct func *f = &k->p->funcs[k->func];
    const struct insn *code = &k->p->code[f->entry];
    if (k->in->op == OP_TAPECALL || k->in->op == OP_TAPEBACK)
        return bad(k, "has its place on a tape");
    if (k->in->op != OP_TAPEBEGIN && k->in->op != OP_TAPE)
        return true;
    bool shape = f->end - f->entry == 3 && code[0].op == OP_TAPEBEGIN && code[0].a == TAPE_AT &&
                 code[1].op == OP_TAPE && code[1].a == TAPE_AT && code[2].op == OP_JMP &&
                 (uint32_t)code[2].d == f->entry + 1;
    return (shape && f->nregs == TAPE_REGS && f->nparams == 1) ||
           bad(k, "is no function that plays a tape");
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
    for (k->pc = f->entry; k->pc < f->end; k->pc++) {
        k->in = &p->code[k->pc];
        if (!check_insn(k) || !check_select(k) || !check_player(k))
            return false;
    }
    k->pc = f->end - 1;
    k->in = &p->code[k->pc];
    return ends(k->in->op) || bad(k, "the function does not end here");
}

/* ---- tapes ---- */

static bool writes(const struct check *k, uint8_t reg)
{
    const struct op_info *o = &op_infos[k->in->op];
    return ((o->a == RW || o->a == RX) && k->in->a == reg) ||
           ((o->b == RW || o->b == RX) && k->in->b == reg);
}

/* Not what would leave the function's three instructions, or is one that they are made of. */
static bool on_tape(enum op op)
{
    switch (op) {
    case OP_TAPE:
    case OP_TAPEBEGIN:
    case OP_CALL:
    case OP_DEFER:
    case OP_RECOVER:
    case OP_SWITCH:
    case OP_CGOCALL: /* a program with C is another kind of program (objs.c) */
    case OP_CGOCB:
    case OP_LOOP: return false;
    default: return op_infos[op].d != D_TG && (op <= OP_CONST || op > OP_RANDN);
    }
}

static bool check_entry(struct check *k)
{
    if (!on_tape((enum op)k->in->op))
        return bad(k, "has no place on a tape");
    if (writes(k, TAPE_AT) || writes(k, TAPE_NEXT) || writes(k, TAPE_BACK))
        return bad(k, "changes where the tape is read");
    return check_insn(k) && check_select(k);
}

/* From one tape's beginning to its end. */
static bool check_tape(struct check *k, const uint8_t *at, const uint8_t *end)
{
    struct insn in = {0};
    k->in = &in;
    do {
        k->tape = at;
        in.op = OP_NOP;
        const uint8_t *next = tape_read(at, end, &in);
        if (next == NULL)
            return bad(k, "no whole instruction");
        if (!check_entry(k))
            return false;
        at = next;
    } while (at != end);
    return ends((enum op)in.op) || bad(k, "the tape does not end here");
}

/* Registers on tapes are those of every function that plays tapes: all have as many. */
static bool check_tapes(struct check *k)
{
    const struct program *p = k->p;
    for (k->func = 0; k->func < p->nfuncs; k->func++)
        if (p->code[p->funcs[k->func].entry].op == OP_TAPEBEGIN)
            break;
    if (p->ntapes > 0 && k->func == p->nfuncs) {
        snprintf(k->text, k->size, "tapes that no function plays");
        return false;
    }
    for (uint64_t i = 0; i < p->ntapes; i++) {
        if (p->tapes[i] >= p->tapes[i + 1] || p->tapes[0] != 0) {
            snprintf(k->text, k->size, "tape %llu: out of range", (unsigned long long)i);
            return false;
        }
        if (!check_tape(k, p->tape + p->tapes[i], p->tape + p->tapes[i + 1]))
            return false;
    }
    return true;
}

size_t tape_put(uint8_t *to, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    uint8_t *at = to;
    bool all = in->op < TAPE_SHORT_FROM || in->a != tape_default(o->a) ||
               in->b != tape_default(o->b) || in->c != tape_default(o->c) ||
               (tape_d_absent(o->d) && o->d != N_ && in->d != -1);
    *at++ = all ? in->op : (uint8_t)(in->op - TAPE_SHORT_FROM + TAPE_SHORT);
    if (all && o->a != N_)
        *at++ = in->a;
    if (all && o->b != N_)
        *at++ = in->b;
    if (all && o->c != N_)
        *at++ = in->c;
    if (all ? o->d != N_ : !tape_d_absent(o->d))
        at = tape_put_number(at, (uint64_t)((int64_t)in->d + 1));
    if (o->imm != N_)
        at = tape_put_number(at, (uint64_t)in->imm << 1 ^ (in->imm < 0 ? UINT64_MAX : 0));
    return (size_t)(at - to);
}

const uint8_t *tape_read(const uint8_t *at, const uint8_t *end, struct insn *in)
{
    uint8_t copy[TAPE_ENTRY_MAX + 8] = {0}; /* what follows the end reads as 0, and ends numbers */
    size_t left = (size_t)(end - at);
    if (left == 0 || *at >= (unsigned)TAPE_CODES)
        return NULL;
    if (left >= sizeof copy)
        return tape_get(at, in);
    for (size_t i = 0; i < left; i++)
        copy[i] = at[i];
    size_t size = (size_t)(tape_get(copy, in) - copy);
    return size <= left ? at + size : NULL;
}

static bool table(char *text, size_t size, const char *what, uint32_t i)
{
    snprintf(text, size, "%s %u: out of range", what, i);
    return false;
}

static bool cond_ok(const struct program *p, int64_t param)
{
    bool reader = param >= COND_RLOCKER;
    int64_t lock = reader ? param - COND_RLOCKER : param;
    if (!index_ok(lock, p->nobjects))
        return false;
    return p->objects[lock].kind == OBJ_RWMUTEX || (!reader && p->objects[lock].kind == OBJ_MUTEX);
}

static bool param_ok(const struct program *p, const struct object_decl *o)
{
    switch (o->kind) {
    case OBJ_CHAN:
    case OBJ_SEMA: return o->param >= 0 && o->param <= INT32_MAX;
    case OBJ_COND: return cond_ok(p, o->param);
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
    if (a->kind == ARRIVE_POSTED)
        return sized && a->mode == 1;
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
        p->nevents > UINT32_MAX || p->stack_max > STACK_WORDS_MAX) {
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
    return check_tapes(&k);
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
