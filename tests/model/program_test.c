/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: program_check takes what its table of operands allows and nothing else. Method: every
 * instruction, with every field at both ends of what it may be and one beyond, in a program that
 * has one of everything; what is right follows here from the kind of the field. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "model/tape.h"
#include "sim/base/dist.h"

enum { REGS = 3, CODE = 16, PLACE = 1, F_LAST = 3, EVENTS = 3, KINDS_DECLARED = OBJ_DECLARED - 1 };

static struct insn code[CODE];
static struct func funcs[] = {{"f0", 0, 4, REGS, 1, 0},
                              {"f1", 4, 8, REGS, 1, 0},
                              {"main", 8, 12, REGS, 0, 0},
                              {"behind", 12, 16, REGS, 1, 0}};
static struct object_decl objects[] = {
    {"", 0, OBJ_CHAN}, {"", 0, OBJ_MUTEX}, {"", 0, OBJ_RWMUTEX}, {"", 0, OBJ_WAITGROUP},
    {"", 1, OBJ_COND}, {"", 0, OBJ_ONCE},  {"", 0, OBJ_SEMA},    {"", 0, OBJ_POOL},
    {"", 0, OBJ_VAR},  {"", -1, OBJ_FD},   {"", 0, OBJ_CHAN}, /* of no program */
};
static struct select_case cases[] = {{0, 0, 0, true}, {0, 0, NOREG, false}, {OBJ_REG, 2, 2, true}};
static struct select_table selects[] = {{0, 3, false}, {0, 0, true}};
static const char *const strings[] = {"", "s"};
static struct dist dist;
static const struct dist *const dists[] = {&dist};
static struct arrivals arrivals[] = {{.kind = ARRIVE_TIMES, .mode = 1}};
static struct program p;

static void fresh(void)
{
    memset(code, 0, sizeof code);
    for (int f = 0; f <= F_LAST; f++)
        code[funcs[f].end - 1] = (struct insn){.op = OP_RET, .a = NOREG};
    p = (struct program){.code = code,
                         .ncode = 12,
                         .funcs = funcs,
                         .nfuncs = F_LAST,
                         .main = 2,
                         .objects = objects,
                         .nobjects = KINDS_DECLARED,
                         .selects = selects,
                         .nselects = 1,
                         .cases = cases,
                         .ncases = 3,
                         .strings = strings,
                         .nstrings = 2,
                         .dists = dists,
                         .ndists = 1,
                         .arrivals = arrivals,
                         .narrivals = 1,
                         .ngroups = 1,
                         .nspans = 1,
                         .nevents = EVENTS};
}

static const char *refusal(void)
{
    static char text[300];
    text[0] = 0;
    bool good = program_check(&p, text, sizeof text);
    CHECK_EQ(good, text[0] == 0);
    return text;
}

/* ---- instructions ---- */

static int64_t kinds_of(enum op op)
{
    switch (op) {
    case OP_CPU: return 3;        /* normal, tight, not preemptible */
    case OP_SYSCALL: return 4;    /* enum syscall_kind */
    case OP_MAKE: return 11;      /* what can be declared, from 1 on */
    case OP_FDWAIT: return 3;     /* 1 read, 2 write */
    case OP_FDDEADLINE: return 4; /* 1, 2, 3 both */
    case OP_EVWAIT:
    case OP_EVLOCK: return EV_wait_Coroutine + 1;
    default: return 2;
    }
}

static bool from_one(enum op op) { return op == OP_MAKE || op == OP_FDWAIT || op == OP_FDDEADLINE; }

/* Right for the field of a, b or c; calls have one argument, which begins at `before`. */
static bool field_is_right(const struct insn *in, uint8_t kind, uint8_t v, uint8_t before)
{
    switch ((enum operand)kind) {
    case RR:
    case RW: return v < REGS;
    case RO:
    case RX: return v < REGS || v == NOREG;
    case HR: return in->d == OBJ_REG ? v < REGS : v == 0;
    case KI: return v < kinds_of((enum op)in->op) && v >= from_one((enum op)in->op);
    case RA: return true;
    case CT: return v == 0 || before + v <= REGS;
    default: return v == 0;
    }
}

static bool d_is_right(uint8_t kind, int32_t d)
{
    switch ((enum operand)kind) {
    case N_: return d == 0;
    case D_TG: return d >= 0 && d < 4;
    case D_FN: return d >= 0 && d < F_LAST;
    case D_FO: return d >= -1 && d < F_LAST;
    case D_DI: return d == 0;
    case D_DO: return d == -1 || d == 0;
    case D_ST: return d == 0 || d == 1;
    case D_SO: return d >= -1 && d <= 1;
    case D_SE:
    case D_SP: return d == 0;
    default: return d == OBJ_REG || (d == kind - D_OBJ - 1 && d < KINDS_DECLARED);
    }
}

static bool imm_is_right(const struct insn *in, uint8_t kind)
{
    switch ((enum operand)kind) {
    case IV: return true;
    case IP: return in->imm >= 0;
    case IG: return in->imm == -1 || in->imm == 0;
    case IF: return in->imm >= 0 && in->imm < F_LAST;
    case HV: return in->d == OBJ_REG ? in->imm >= 0 && in->imm < REGS : in->imm == 0;
    default: return in->imm == 0;
    }
}

/* What a called function wants: main nothing, the others one argument. */
static bool args_are_right(const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    int64_t func = o->imm == IF ? in->imm : in->d;
    unsigned params = func >= 0 && func < 2;
    if (in->op == OP_CGOCB)
        return (in->c != NOREG) == (params == 1);
    if (in->op == OP_TIMER)
        return in->d < 0 ? in->c == NOREG : (in->c != NOREG) == (params == 1);
    if (o->b == CT && (o->d == D_FN || o->d == D_FO || o->imm == IF))
        return in->b == params;
    return in->op != OP_CORONEW || in->c == params;
}

static bool special_is_right(const struct insn *in)
{
    switch ((enum op)in->op) {
    case OP_SWITCH: return in->imm == 0; /* no jumps follow */
    case OP_PANIC: return (in->d >= 0) == (in->a == NOREG);
    case OP_MAKE: return in->b != OBJ_FD || in->c != NOREG || (in->imm >= -1 && in->imm < 1);
    case OP_EVWAIT:
    case OP_EVLOCK:
    case OP_EVPOST: return in->imm < EVENTS;
    case OP_TAPEBEGIN:
    case OP_TAPE:
    case OP_TAPECALL:
    case OP_TAPEBACK: return false;
    default: return true;
    }
}

static bool is_right(const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    return field_is_right(in, o->a, in->a, 0) && field_is_right(in, o->b, in->b, in->a) &&
           field_is_right(in, o->c, in->c, in->b) && d_is_right(o->d, in->d) &&
           imm_is_right(in, o->imm) && args_are_right(in) && special_is_right(in);
}

static int checked[2];

static void check_one(struct insn in)
{
    char want[80];
    bool right = is_right(&in);
    code[PLACE] = in;
    const char *text = refusal();
    checked[right]++;
    snprintf(want, sizeof want, "function f0, instruction 1 (%s): ", op_infos[in.op].name);
    if (right != (text[0] == 0) || (!right && strncmp(text, want, strlen(want)) != 0))
        FAIL_CASE("%s %d %d %d %d %lld: \"%s\"", op_infos[in.op].name, in.a, in.b, in.c, in.d,
                  (long long)in.imm, text);
}

/* One that is right, where there is one. */
static struct insn usual(enum op op)
{
    const struct op_info *o = &op_infos[op];
    struct insn in = {.op = (uint8_t)op, .imm = o->imm == IG ? -1 : 0};
    in.a = o->a == RO || o->a == RX ? NOREG : o->a == KI && from_one(op) ? 1 : 0;
    in.b = o->b == RO || o->b == RX ? NOREG : o->b == CT || (o->b == KI && from_one(op)) ? 1 : 0;
    in.c = o->c == CT ? 1 : (o->c == RO && op != OP_CGOCB) || o->c == RX ? NOREG : 0;
    in.d = o->d > D_OBJ                                   ? OBJ_REG
           : o->d == D_FO || o->d == D_DO || o->d == D_TG ? o->d == D_TG ? 2 : -1
                                                          : 0;
    if (o->b == CT && o->d != D_FN && o->d != D_FO && o->imm != IF)
        in.b = 0;
    return in;
}

TEST_CASE(ProgramCheck, EveryFieldOfEveryInstruction)
{
    static const uint8_t regs[] = {0, 1, 2, 3, 4, 10, 11, 12, 250, 254, NOREG};
    static const int32_t ds[] = {-2, -1, 0, 1, 2, 3, 4, 5, 8, 9, 10, INT32_MAX, INT32_MIN};
    static const int64_t imms[] = {-2, -1, 0, 1, 2, 3, 4, INT64_MAX, INT64_MIN};
    memset(checked, 0, sizeof checked);
    for (int op = 0; op < OPS; op++)
        for (size_t k = 0; k < sizeof ds / sizeof *ds; k++) {
            struct insn in = usual((enum op)op);
            fresh();
            check_one(in);
            in.d = ds[k];
            check_one(in);
            for (size_t i = 0; i < sizeof regs; i++) {
                struct insn x = in;
                x.a = regs[i];
                check_one(x);
                x = in;
                x.b = regs[i];
                check_one(x);
                x = in;
                x.c = regs[i];
                check_one(x);
            }
            for (size_t i = 0; i < sizeof imms / sizeof *imms; i++) {
                struct insn x = in;
                x.imm = imms[i];
                check_one(x);
            }
        }
    CHECK_GT(checked[true], 2000);
    CHECK_GT(checked[false], 20000);
}

/* Arguments of a timer's function, and of one that a switch jumps to. */
TEST_CASE(ProgramCheck, JumpsOfASwitchAndArgumentsOfATimer)
{
    fresh();
    for (int64_t n = 0; n <= 3; n++) {
        for (int jumps = 0; jumps <= 2; jumps++) {
            code[0] = (struct insn){.op = OP_SWITCH, .imm = n};
            for (int i = 1; i <= 2; i++)
                code[i] = (struct insn){.op = i <= jumps ? OP_JMP : OP_NOP};
            CHECK_STR(refusal(), n > 2 ? "function f0, instruction 0 (SWITCH): its jumps go "
                                         "beyond the function"
                                 : n > jumps
                                     ? "function f0, instruction 0 (SWITCH): is not followed "
                                       "by its jumps"
                                     : "");
        }
    }
    fresh();
    for (uint8_t c = 0; c < 4; c++) {
        code[PLACE] = (struct insn){.op = OP_TIMER, .a = 0, .b = NOREG, .c = c, .d = 0};
        CHECK_EQ(refusal()[0] == 0, c < REGS);
    }
}

TEST_CASE(ProgramCheck, CasesOfASelect)
{
    static const struct select_case good[] = {
        {0, 0, 0, true}, {0, 0, 2, true},       {0, 0, NOREG, false},      {0, 0, 2, false},
        {0, 9, 2, true}, {OBJ_REG, 2, 0, true}, {OBJ_REG, 0, NOREG, false}};
    static const struct select_case bad[] = {
        {1, 0, 0, true},     {-2, 0, 0, true}, {10, 0, 0, true},      {0, 0, 3, true},
        {0, 0, NOREG, true}, {0, 0, 3, false}, {OBJ_REG, 3, 0, true}, {OBJ_REG, NOREG, 0, true}};
    fresh();
    code[PLACE] = (struct insn){.op = OP_SELECT, .a = NOREG, .b = NOREG};
    struct select_case was = cases[2];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cases[2] = good[i];
        CHECK_STR(refusal(), "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cases[2] = bad[i];
        CHECK_HAS(refusal(), "instruction 1 (SELECT)");
    }
    cases[2] = was;
}

/* ---- tables and functions ---- */

static void is_refused(const char *text) { CHECK_HAS(refusal(), text); }

TEST_CASE(ProgramCheck, FunctionsFollowEachOther)
{
    struct func *f = &funcs[1], was = *f;
    static const struct {
        struct func f;
        const char *text;
    } rows[] = {{{"f1", 4, 8, REGS, 1, 0}, ""},
                {{"f1", 5, 8, REGS, 1, 0}, ""}, /* a gap */
                {{"f1", 7, 8, NREGS_MAX, NREGS_MAX, 0}, ""},
                {{"f1", 8, 8, REGS, 1, 0}, "code or registers out of range"},
                {{"f1", 9, 8, REGS, 1, 0}, "code or registers out of range"},
                {{"f1", 4, 13, REGS, 1, 0}, "code or registers out of range"},
                {{"f1", 4, 8, NREGS_MAX + 1, 1, 0}, "code or registers out of range"},
                {{"f1", 4, 8, REGS, REGS + 1, 0}, "code or registers out of range"},
                {{"f1", 3, 8, REGS, 1, 0}, "function f1: begins inside the one before"},
                {{"f1", 4, 9, REGS, 1, 0}, "begins inside the one before"},
                {{"f1", 4, 7, REGS, 1, 0}, "the function does not end here"},
                {{NULL, 4, 7, REGS, 1, 0}, "function ?, instruction 2 (NOP): the function"},
                {{NULL, 8, 8, REGS, 1, 0}, "function ?: code"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        *f = was;
        fresh();
        code[8].op = OP_RET;
        code[8].a = NOREG;
        *f = rows[i].f;
        if (rows[i].text[0] == 0)
            CHECK_STR(refusal(), "");
        else
            is_refused(rows[i].text);
    }
    *f = was;
    for (int op = 0; op < OPS; op++) {
        bool ends = op == OP_RET || op == OP_JMP || op == OP_PANIC || op == OP_GOEXIT ||
                    op == OP_EXIT;
        fresh();
        code[3] = usual((enum op)op);
        if (is_right(&code[3]))
            CHECK_EQ(refusal()[0] == 0, ends);
    }
}

TEST_CASE(ProgramCheck, LimitsOfAProgram)
{
    fresh();
    CHECK_STR(refusal(), "");
    p.nevents = UINT32_MAX;
    p.stack_max = STACK_WORDS_MAX;
    CHECK_STR(refusal(), "");
    p.nevents++;
    is_refused("too large");
    fresh();
    p.stack_max = STACK_WORDS_MAX + 1;
    is_refused("too large");
    fresh();
    p.ncode = (uint32_t)INT32_MAX + 1;
    is_refused("too large");
    fresh();
    p.nobjects = (uint32_t)INT32_MAX + 1;
    is_refused("too large");
    fresh();
    p.nfuncs = UINT16_MAX + 1;
    is_refused("too large");
    for (uint32_t main = 0; main <= F_LAST; main++) {
        fresh();
        p.main = main;
        if (main == 2)
            CHECK_STR(refusal(), "");
        else
            is_refused("no main function without parameters");
    }
}

TEST_CASE(ProgramCheck, ParametersOfObjects)
{
    static const struct {
        uint8_t kind;
        int64_t param;
        bool right;
    } rows[] = {
        {0, 0, 0},
        {OBJ_DECLARED, 0, 0},
        {OBJ_MUTEX, 0, 1},
        {OBJ_MUTEX, 1, 0},
        {OBJ_MUTEX, -1, 0},
        {OBJ_POOL, 0, 1},
        {OBJ_CHAN, 0, 1},
        {OBJ_CHAN, INT32_MAX, 1},
        {OBJ_CHAN, (int64_t)INT32_MAX + 1, 0},
        {OBJ_CHAN, -1, 0},
        {OBJ_SEMA, INT32_MAX, 1},
        {OBJ_SEMA, -1, 0},
        {OBJ_VAR, INT64_MIN, 1},
        {OBJ_FD, -2, 0},
        {OBJ_FD, -1, 1},
        {OBJ_FD, 0, 1},
        {OBJ_FD, 1, 0},
        {OBJ_COND, 0, 0},
        {OBJ_COND, 1, 1},
        {OBJ_COND, 2, 1},
        {OBJ_COND, 10, 0}, /* there is none */
        {OBJ_COND, -1, 0},
        {OBJ_COND, COND_RLOCKER + 1, 0},
        {OBJ_COND, COND_RLOCKER + 2, 1},
        {OBJ_COND, COND_RLOCKER + 10, 0},
        {OBJ_COND, COND_RLOCKER - 1, 0},
    };
    struct object_decl was = objects[9];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        objects[9] = (struct object_decl){"", rows[i].param, rows[i].kind};
        CHECK_STR(refusal(), rows[i].right ? "" : "object 9: out of range");
    }
    objects[9] = was;
    fresh();
    for (uint32_t first = 0; first <= 4; first++)
        for (uint16_t n = 0; n <= 4; n++) {
            selects[0] = (struct select_table){first, n, false};
            CHECK_STR(refusal(), first + n <= 3 ? "" : "select table 0: out of range");
        }
    selects[0] = (struct select_table){0, 3, false};
}

TEST_CASE(ProgramCheck, ArrivalProcesses)
{
    static const int64_t up[] = {0, 0, 5, 5, 6}, down[] = {0, 5, 4}, below[] = {-1};
    static const struct {
        struct arrivals a;
        bool right;
    } rows[] = {
        {{.kind = ARRIVE_EVERY, .mode = 1}, 1},
        {{.kind = ARRIVE_EVERY, .mode = 3, .start_ns = 1, .end_ns = 1, .count = 1}, 1},
        {{.kind = ARRIVE_EVERY, .mode = 0}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 4}, 0},
        {{.kind = ARRIVE_KINDS, .mode = 1, .size = 1}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 1, .start_ns = -1}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 1, .end_ns = -1}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 1, .count = -1}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 1, .gap = 1}, 0},
        {{.kind = ARRIVE_EVERY, .mode = 1, .gap = -1}, 0},
        {{.kind = ARRIVE_BURSTS, .mode = 1, .size = 0}, 0},
        {{.kind = ARRIVE_BURSTS, .mode = 1, .size = 1}, 1},
        {{.kind = ARRIVE_BURSTS, .mode = 1, .size = INT32_MAX}, 1},
        {{.kind = ARRIVE_CLOSED, .mode = 1, .size = (int64_t)INT32_MAX + 1}, 0},
        {{.kind = ARRIVE_CLOSED, .mode = 2, .size = 1, .gap = 1}, 0},
        {{.kind = ARRIVE_POSTED, .mode = 1, .size = 1, .gap = 7}, 1},
        {{.kind = ARRIVE_POSTED, .mode = 2, .size = 1}, 0},
        {{.kind = ARRIVE_POSTED, .mode = 1, .size = 0}, 0},
        {{.kind = ARRIVE_TIMES, .mode = 1, .gap = 7}, 1},
        {{.kind = ARRIVE_TIMES, .mode = 1, .times = up, .ntimes = 5}, 1},
        {{.kind = ARRIVE_TIMES, .mode = 1, .times = down, .ntimes = 2}, 1},
        {{.kind = ARRIVE_TIMES, .mode = 1, .times = down, .ntimes = 3}, 0},
        {{.kind = ARRIVE_TIMES, .mode = 1, .times = below, .ntimes = 1}, 0},
    };
    struct arrivals was = arrivals[0];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fresh();
        arrivals[0] = rows[i].a;
        CHECK_STR(refusal(), rows[i].right ? "" : "arrival process 0: out of range");
    }
    arrivals[0] = was;
}

TEST_CASE(ProgramCheck, TheFunctionOfEachInstruction)
{
    static const struct func some[] = {{"a", 1, 3, 0, 0, 0},
                                       {"b", 3, 4, 0, 0, 0},
                                       {"c", 6, 9, 0, 0, 0},
                                       {"d", 9, 10, 0, 0, 0},
                                       {"e", 12, 20, 0, 0, 0}};
    fresh();
    p.funcs = some;
    for (p.nfuncs = 0; p.nfuncs <= 5; p.nfuncs++)
        for (uint32_t pc = 0; pc < 22; pc++) {
            int32_t want = -1;
            for (uint32_t f = 0; f < p.nfuncs; f++)
                if (pc >= some[f].entry && pc < some[f].end)
                    want = (int32_t)f;
            CHECK_EQ(program_func_at(&p, pc), want);
        }
}

/* ---- tapes ---- */

static struct func player[] = {{"player", 0, 3, TAPE_REGS, 1, 0}, {"main", 3, 4, REGS, 0, 0}};
static uint8_t tape[256];
static uint64_t tapes[3];

static void fresh_player(void)
{
    fresh();
    p.funcs = player;
    p.nfuncs = 2;
    p.ncode = 4;
    p.main = 1;
    code[0] = (struct insn){.op = OP_TAPEBEGIN, .a = TAPE_AT};
    code[1] = (struct insn){.op = OP_TAPE, .a = TAPE_AT};
    code[2] = (struct insn){.op = OP_JMP, .d = 1};
    code[3] = (struct insn){.op = OP_RET, .a = NOREG};
    player[0] = (struct func){"player", 0, 3, TAPE_REGS, 1, 0};
}

/* A tape of one instruction and its end. */
static void one_tape(const struct insn *in)
{
    const struct insn ret = {.op = OP_RET, .a = NOREG};
    size_t n = in != NULL ? tape_put(tape, in) : 0;
    n += tape_put(tape + n, &ret);
    p.tape = tape;
    p.tapes = tapes;
    p.ntapes = 1;
    tapes[0] = 0;
    tapes[1] = n;
}

TEST_CASE(ProgramCheck, AFunctionThatPlaysATapeHasOneShape)
{
    for (int i = 0; i < 10; i++) {
        fresh_player();
        one_tape(NULL);
        switch (i) {
        case 1: code[0].a = TAPE_NEXT; break;
        case 2: code[1].a = TAPE_NEXT; break;
        case 3: code[2].d = 0; break;
        case 4: code[2].d = 2; break;
        case 5: code[0] = (struct insn){.op = OP_NOP}; break;
        case 6: code[1] = (struct insn){.op = OP_TAPEBEGIN, .a = TAPE_AT}; break;
        case 7: player[0].nregs = TAPE_REGS + 1; break;
        case 8: player[0].nparams = 0; break;
        case 9: player[0].nparams = 2; break;
        }
        if (i == 0)
            CHECK_STR(refusal(), "");
        else
            is_refused("is no function that plays a tape");
    }
    fresh();
    one_tape(NULL);
    is_refused("tapes that no function plays");
    fresh_player();
    one_tape(NULL);
    tapes[1] = 0;
    is_refused("tape 0: out of range");
    tapes[0] = 1;
    tapes[1] = 2;
    is_refused("tape 0: out of range");
}

/* Not what has targets in code, changes registers by themselves, or calls. */
static bool may_be_on_tape(enum op op)
{
    if (op == OP_CONST)
        return true;
    if (op >= OP_CONST && op <= OP_RANDN)
        return false; /* arithmetic */
    switch (op) {
    case OP_JMP:
    case OP_JZ:
    case OP_JNZ:
    case OP_JEQ:
    case OP_JNE:
    case OP_JLT:
    case OP_JLE:
    case OP_JEQI:
    case OP_JNEI:
    case OP_JLTI:
    case OP_JGEI:
    case OP_LOOP:
    case OP_SWITCH:
    case OP_CALL:
    case OP_DEFER:
    case OP_RECOVER:
    case OP_CGOCALL:
    case OP_CGOCB:
    case OP_TAPEBEGIN:
    case OP_TAPE: return false;
    default: return true;
    }
}

TEST_CASE(ProgramCheck, WhatMayBeOnATape)
{
    for (int op = 0; op < OPS; op++) {
        fresh_player();
        struct insn in = usual((enum op)op);
        const struct op_info *o = &op_infos[op];
        if (o->b == CT && (o->d == D_FN || o->d == D_FO || o->imm == IF))
            in.b = 0, in.d = o->d == D_FN || o->d == D_FO ? 1 : in.d,
            in.imm = o->imm == IF ? 1 : in.imm;
        if (op == OP_CORONEW)
            in.c = 0, in.d = 1;
        bool writes_a = o->a == RW || o->a == RX, writes_b = o->b == RW || o->b == RX;
        for (uint8_t reg = 0; reg < TAPE_REGS + 1; reg++) {
            struct insn x = in;
            if (writes_a)
                x.a = reg;
            else if (writes_b)
                x.b = reg;
            bool reserved = (writes_a || writes_b) && reg != TAPE_SITE && reg < TAPE_FREE;
            one_tape(&x);
            if (!may_be_on_tape((enum op)op))
                is_refused("has no place on a tape");
            else if (reserved)
                is_refused("changes where the tape is read");
            else if ((writes_a || writes_b) && reg == TAPE_REGS)
                is_refused("no such register");
            else if (refusal()[0] != 0)
                FAIL_CASE("%s: %s", o->name, refusal());
        }
    }
    fresh_player();
    one_tape(NULL);
    tapes[1]--; /* cut */
    is_refused(tapes[1] == 0 ? "tape 0: out of range" : "no whole instruction");
    const struct insn nop = {.op = OP_NOP};
    tapes[1] = tape_put(tape, &nop);
    is_refused("the tape does not end here");
}
