/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter: arithmetic, control, variables, spawn order, preemption of loops, and the check
 * of programs. */
#include <string.h>

#include "sim/base/dist.h"

#include "each_release.h" /* last: its r is a parameter in others */

static void check_out(const char *out)
{
    as_run(&r, &a, (struct as_opts){0});
    CHECK_STR(r.text, "");
    CHECK_EQ(r.end, END_STOPPED);
    CHECK_STR(r.out, out);
}

static void binary(enum op op, int64_t x, int64_t y)
{
    as_const(&a, 1, x);
    as_const(&a, 2, y);
    as_op(&a, op, 0, 1, 2, 0, 0);
    as_print1(&a, "%d ", 0);
}

TEST_CASE(Interp, ArithmeticIsGos)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    binary(OP_ADD, INT64_MAX, 1);
    binary(OP_SUB, INT64_MIN, 1);
    binary(OP_MUL, INT64_MAX, 2);
    binary(OP_DIV, -7, 2);
    binary(OP_MOD, -7, 2);
    binary(OP_DIV, INT64_MIN, -1);
    binary(OP_MOD, INT64_MIN, -1);
    binary(OP_SHL, 1, 62);
    binary(OP_SHL, 1, 64);
    binary(OP_SHR, -8, 1);
    binary(OP_SHR, -8, 100);
    binary(OP_XOR, 6, 3);
    binary(OP_LT, -1, 0);
    binary(OP_MAX, -1, 4);
    as_ret(&a);
    check_out("-9223372036854775808 9223372036854775807 -2 -3 -1 -9223372036854775808 0 "
              "4611686018427387904 0 -4 -1 5 1 4 ");
}

TEST_CASE(Interp, ControlFlow)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    for (int k = -1; k <= 2; k++) {
        int arm[2] = {as_label(&a), as_label(&a)}, end = as_label(&a);
        as_const(&a, 0, k);
        as_op(&a, OP_SWITCH, 0, 0, 0, 0, 2);
        as_jump(&a, OP_JMP, 0, 0, 0, arm[0]);
        as_jump(&a, OP_JMP, 0, 0, 0, arm[1]);
        as_print(&a, "other ");
        as_jump(&a, OP_JMP, 0, 0, 0, end);
        as_place(&a, arm[0]);
        as_print(&a, "zero ");
        as_jump(&a, OP_JMP, 0, 0, 0, end);
        as_place(&a, arm[1]);
        as_print(&a, "one ");
        as_place(&a, end);
    }
    as_ret(&a);
    check_out("other zero one other ");
}

TEST_CASE(Interp, PrintVerbs)
{
    as_init(&a);
    as_func(&a, "main", 0, 4);
    as_const(&a, 0, INT64_MIN);
    as_const(&a, 1, 1);
    as_op(&a, OP_PRINT, 0, 2, 0, as_string(&a, "%d %t 100%% %d|"), 0);
    as_const(&a, 0, as_string(&a, "text"));
    as_print1(&a, "%s|", 0);
    as_const(&a, 0, 12345);
    as_print1(&a, "%s %", 0);
    as_ret(&a);
    check_out("-9223372036854775808 true 100% %!(MISSING)|text|%!s(BAD) %");
}

TEST_CASE(Interp, SharedVariables)
{
    as_init(&a);
    int v = as_object(&a, OBJ_VAR, 5);
    as_func(&a, "main", 0, 6);
    as_op(&a, OP_ADDA, 0, NOREG, 0, v, -7);
    as_const(&a, 1, 40);
    as_op(&a, OP_SWAPA, 2, 1, 0, v, 0);
    as_const(&a, 3, 41);
    as_op(&a, OP_CASA, 4, 1, 3, v, 0);
    as_op(&a, OP_CASA, 5, 1, 3, v, 0);
    as_op(&a, OP_LOADA, 3, 0, 0, v, 0);
    as_op(&a, OP_PRINT, 0, 6, 0, as_string(&a, "%d %d %d %d %d %d"), 0);
    as_ret(&a);
    check_out("-2 40 -2 41 1 0");
}

/* newproc puts into runnext, so the last one started runs first. */
TEST_CASE(Interp, SpawnOrder)
{
    as_init(&a);
    int f = as_func(&a, "f", 1, 2);
    as_print1(&a, "%d ", 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    for (int i = 1; i <= 3; i++) {
        as_const(&a, 0, i);
        as_go(&a, f, 0, 1);
    }
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main");
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_STR(r.out, "3 1 2 main");
    }
}

static void loop_program(bool tight)
{
    as_init(&a);
    int f = as_func(&a, "spin", 0, 2);
    int loop = as_here(&a);
    if (!tight)
        as_cpu(&a, 1000);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main");
    as_ret(&a);
}

/* for {} can only be left by a signal: never before 1.14, nor with asyncpreemptoff=1. */
TEST_CASE(Interp, TightLoopNeedsASignal)
{
    static const int releases[] = {13, 14, 27}; /* some ten million jumps each */
    loop_program(true);
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        int rel = releases[i];
        as_run(&r, &a, (struct as_opts){.release = rel, .until_ms = 30});
        CHECK_EQ(r.end, rel == 13 ? END_TIME : END_STOPPED);
        CHECK_STR(r.out, rel == 13 ? "" : "main");
    }
    as_run(&r, &a, (struct as_opts){.until_ms = 30, .rule = "async_preempt_off", .value = 1});
    CHECK_EQ(r.end, END_TIME);
}

/* It goes on where it was left, and in no other place: the loop counts to its end, and what is
 * before it happens once. The call before the loop makes none of its jumps safe to stay at. */
TEST_CASE(Interp, TightLoopGoesOnWhereItWasLeft)
{
    enum { ROUNDS = 8000000 };
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "count", 0, 4);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_op(&a, OP_NUMGOROUTINE, 1, 0, 0, 0, 0);
    as_const(&a, 1, 0);
    int loop = as_here(&a);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_jump(&a, OP_JLTI, 1, 0, ROUNDS, loop);
    as_op(&a, OP_MOVE, 2, 0, 0, 0, 0);
    as_print2(&a, "%d %d", 1);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main ");
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    for (int rel = 13; rel <= 27; rel += 7) {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "main 8000000 1"); /* 1.13: left at the call behind the loop */
        CHECK_EQ(r.counters[COUNTER_preempt_signals] > 0, rel > 13);
    }
}

/* Of the caller's registers the callee has its arguments, and zeros. */
TEST_CASE(Interp, ACalleeHasItsArgumentsOnly)
{
    as_init(&a);
    int f = as_func(&a, "callee", 2, 4);
    as_print2(&a, "%d %d ", 0);
    as_print2(&a, "%d %d", 2);
    as_ret(&a);
    as_func(&a, "main", 0, 6);
    for (int i = 0; i < 6; i++)
        as_const(&a, i, 10 + i);
    as_call(&a, f, 1, 2, NOREG);
    as_ret(&a);
    check_out("11 12 0 0");
}

TEST_CASE(Interp, LoopWithCallsIsPreemptedEverywhere)
{
    loop_program(false);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .until_ms = 60});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "main");
        CHECK_GE(r.now_ps, 10000000000u); /* not before the slice is over */
        CHECK_LT(r.now_ps, 30000000000u);
    }
}

/* A burst that may not be left delays the switch to its end. */
TEST_CASE(Interp, BurstKindsDifferInPreemption)
{
    for (int kind = 0; kind < CPU_KINDS; kind++) {
        as_init(&a);
        int f = as_func(&a, "burst", 0, 2);
        as_op(&a, OP_CPU, kind, NOREG, 0, -1, 100000000);
        as_ret(&a);
        as_func(&a, "main", 0, 2);
        as_go(&a, f, 0, 0);
        as_plain(&a, OP_GOSCHED);
        as_ret(&a);
        EACH_RELEASE(rel)
        {
            bool cut = kind == CPU_normal || (kind == CPU_tight && rel >= 14);
            as_run(&r, &a, (struct as_opts){.release = rel});
            CHECK_EQ(r.now_ps < 100000000000u, cut);
            CHECK_EQ(r.end, END_STOPPED);
        }
    }
}

/* What a program draws does not depend on the schedule. */
TEST_CASE(Interp, DrawsAreTheGoroutinesOwn)
{
    static struct dist burst;
    char first[200] = "";
    CHECK_EQ(dist_exponential(&burst, 50000, NULL), 0);
    as_init(&a);
    build_dist(&a.b, &burst);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), sum = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 4);
    as_op(&a, OP_RANDI, 0, 0, 0, 0, 1000000);
    as_op(&a, OP_DRAW, 1, 0, 0, 0, 0);
    as_op(&a, OP_CPU, CPU_normal, 1, 0, -1, 0);
    as_op(&a, OP_ADDA, NOREG, 1, 0, sum, 0);
    as_op(&a, OP_ADDA, NOREG, 0, 0, sum, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 20);
    for (int i = 0; i < 20; i++)
        as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADA, 0, 0, 0, sum, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
    for (int rel = 13; rel <= 27; rel += 7)
        for (int procs = 1; procs <= 8; procs *= 2) {
            as_run(&r, &a, (struct as_opts){.release = rel, .procs = procs});
            CHECK_EQ(r.end, END_STOPPED);
            if (first[0] == 0)
                memcpy(first, r.out, sizeof first - 1);
            CHECK_STR(r.out, first);
        }
    as_run(&r, &a, (struct as_opts){.seed = 99});
    CHECK(strcmp(r.out, first) != 0);
}

TEST_CASE(Interp, SyscallsAndCgo)
{
    as_init(&a);
    int back = as_func(&a, "callback", 1, 2);
    as_print1(&a, "callback%d ", 0);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
    int f = as_func(&a, "f", 0, 2);
    as_print(&a, "f ");
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_SYSCALL, 0, NOREG, 0, -1, 500);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 5000000);
    as_op(&a, OP_CGOCALL, 0, NOREG, 0, -1, 500);
    as_go(&a, f, 0, 0);
    as_const(&a, 1, 6);
    as_op(&a, OP_CGOCB, 0, NOREG, 1, back, 1000);
    as_print(&a, "main");
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, "callback6 f main");
    }
}

TEST_CASE(Interp, RunsAreTheSameTwice)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 2);
    int f = as_func(&a, "f", 0, 4);
    int loop = as_here(&a);
    as_recv(&a, ch, 0);
    as_op(&a, OP_RANDI, 1, 0, 0, 0, 3000);
    as_op(&a, OP_CPU, CPU_normal, 1, 0, -1, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_func(&a, "main", 0, 4);
    for (int i = 0; i < 6; i++)
        as_go(&a, f, 0, 0);
    as_const(&a, 1, 200);
    loop = as_here(&a);
    as_send(&a, ch, 1);
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 4});
        uint64_t print = r.fingerprint;
        CHECK_EQ(r.end, END_STOPPED);
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 4});
        CHECK_EQ(r.fingerprint, print);
    }
}

/* NumGoroutine counts the user's, LockOSThread nests, GOMAXPROCS gives the old value, memory and
 * marks just pass. */
TEST_CASE(Interp, RuntimeCalls)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    build_span(&a.b, "request");
    int f = as_func(&a, "f", 0, 2);
    as_recv(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_SPANB, NOREG, NOREG, 0, 0, 0);
    as_go(&a, f, 0, 0);
    as_op(&a, OP_NUMGOROUTINE, 0, 0, 0, 0, 0);
    as_plain(&a, OP_LOCKOS);
    as_plain(&a, OP_LOCKOS);
    as_plain(&a, OP_GOSCHED);
    as_plain(&a, OP_UNLOCKOS);
    as_plain(&a, OP_UNLOCKOS);
    as_plain(&a, OP_UNLOCKOS);
    as_op(&a, OP_GOMAXPROCS, 1, NOREG, 0, 0, 3);
    as_op(&a, OP_GOMAXPROCS, 2, NOREG, 0, 0, 0);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 1000);
    as_op(&a, OP_FREE, 0, NOREG, 0, -1, 1000);
    as_plain(&a, OP_GC);
    as_op(&a, OP_MARK, NOREG, 0, 0, as_string(&a, "here"), 0);
    as_op(&a, OP_SPANE, NOREG, 0, 0, 0, 0);
    as_op(&a, OP_PRINT, 0, 3, 0, as_string(&a, "%d %d %d"), 0);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "2 2 3");
    }
}

/* ---- program_check ---- */

static const char *check_text(void)
{
    static char text[200];
    build_leave(&a.b);
    const struct program *p = build_tables(&a.b, a.b.p.nfuncs - 1);
    return program_check(p, text, sizeof text) ? "" : text;
}

static void main_with(struct insn in)
{
    as_init(&a);
    as_object(&a, OBJ_MUTEX, 0);
    as_string(&a, "s");
    as_func(&a, "main", 0, 2);
    as_op(&a, in.op, in.a, in.b, in.c, in.d, in.imm);
    as_ret(&a);
}

TEST_CASE(Program, EveryKindOfNonsenseIsRefused)
{
    static const struct {
        struct insn in;
        const char *text;
    } bad[] = {
        {{OPS, 0, 0, 0, 0, 0}, "no such instruction"},
        {{255, 0, 0, 0, 0, 0}, "no such instruction"},
        {{OP_NOP, 1, 0, 0, 0, 0}, "unused field is set"},
        {{OP_NOP, 0, 0, 0, 0, 1}, "unused field is set"},
        {{OP_CONST, 2, 0, 0, 0, 0}, "no such register"},
        {{OP_CONST, NOREG, 0, 0, 0, 0}, "no such register"},
        {{OP_JMP, 0, 0, 0, 2, 0}, "jump out of the function"},
        {{OP_JMP, 0, 0, 0, -1, 0}, "jump out of the function"},
        {{OP_SWITCH, 0, 0, 0, 0, 1}, "beyond the function"},
        {{OP_SWITCH, 0, 0, 0, 0, INT64_MAX}, "beyond the function"},
        {{OP_CALL, 0, 0, NOREG, 1, 0}, "no such function"},
        {{OP_CALL, 0, 1, NOREG, 0, 0}, "wrong number of arguments"},
        {{OP_CALL, 1, 2, NOREG, 0, 0}, "arguments outside of the frame"},
        {{OP_GO, 0, 0, 0, 0, 0}, "no such group"},
        {{OP_CPU, CPU_KINDS, NOREG, 0, -1, 0}, "unknown kind"},
        {{OP_SYSCALL, CALL_KINDS, NOREG, 0, -1, 0}, "unknown kind"},
        {{OP_CPU, 0, NOREG, 0, 0, 0}, "no such distribution"},
        {{OP_SEND, 0, 0, 0, 0, 0}, "object of another kind"},
        {{OP_SEND, 0, 0, 0, 1, 0}, "no such object"},
        {{OP_SEND, 0, 0, 9, OBJ_REG, 0}, "no such register"},
        {{OP_LOCK, 0, 0, 1, 0, 0}, "unused field is set"},
        {{OP_SELECT, 0, 0, 0, 0, 0}, "no such select table"},
        {{OP_PRINT, 0, 0, 0, 1, 0}, "no such string"},
        {{OP_PANIC, 0, 0, 0, 0, 0}, "wants either a string or a register"},
        {{OP_PANIC, NOREG, 0, 0, -1, 0}, "wants either a string or a register"},
        {{OP_MAKE, 0, OBJ_TIMER, NOREG, 0, 0}, "unknown kind"},
        {{OP_EXIT, 0, 0, 0, 0, -1}, "negative number"},
        {{OP_SPANB, NOREG, NOREG, 0, 0, 0}, "no such span"},
        {{OP_TIMER, 0, NOREG, 0, -1, 1}, "argument without a function"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        main_with(bad[i].in);
        CHECK_HAS(check_text(), bad[i].text);
    }
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    CHECK_STR(check_text(), "");
}

TEST_CASE(Program, FunctionsMustEnd)
{
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_plain(&a, OP_NOP);
    CHECK_HAS(check_text(), "does not end");
    as_init(&a);
    as_func(&a, "main", 1, 2);
    as_ret(&a);
    CHECK_HAS(check_text(), "no main function");
    as_init(&a);
    as_func(&a, "main", 0, 251);
    as_ret(&a);
    CHECK_HAS(check_text(), "out of range");
}

TEST_CASE(Program, TablesAreChecked)
{
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    as_object(&a, OBJ_CHAN, -1);
    CHECK_STR(check_text(), "object 1: out of range");
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    as_object(&a, OBJ_COND, 9); /* the lock of a condition: there is none */
    CHECK_STR(check_text(), "object 1: out of range");
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    as_object(&a, OBJ_FD, 0); /* what arrives at a descriptor: nothing does */
    CHECK_STR(check_text(), "object 1: out of range");
    for (int64_t lock = 0; lock < 4; lock++) {
        main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0}); /* object 0 is a mutex */
        as_object(&a, OBJ_RWMUTEX, 0);
        as_object(&a, OBJ_CHAN, 0);
        as_object(&a, OBJ_COND, lock);
        CHECK_STR(check_text(), lock < 2 ? "" : "object 3: out of range");
        as_object(&a, OBJ_COND, lock + COND_RLOCKER);
        CHECK_STR(check_text(), lock == 1  ? ""
                                : lock > 1 ? "object 3: out of range"
                                           : "object 4: out of range");
    }
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    as_select(&a, false);
    a.b.selects[0].ncases = 1;
    CHECK_STR(check_text(), "select table 0: out of range");
    main_with((struct insn){OP_NOP, 0, 0, 0, 0, 0});
    build_arrivals(&a.b, &(struct arrivals){.kind = ARRIVE_TIMES, .mode = 4});
    CHECK_STR(check_text(), "arrival process 0: out of range");
}

TEST_CASE(Program, FindsTheFunctionOfAnInstruction)
{
    as_init(&a);
    as_func(&a, "one", 0, 0);
    as_plain(&a, OP_NOP);
    as_ret(&a);
    as_func(&a, "two", 0, 0);
    as_ret(&a);
    CHECK_STR(check_text(), "");
    CHECK_EQ(program_func_at(&a.b.p, 0), 0);
    CHECK_EQ(program_func_at(&a.b.p, 1), 0);
    CHECK_EQ(program_func_at(&a.b.p, 2), 1);
    CHECK_EQ(program_func_at(&a.b.p, 3), -1);
}

/* ---- random programs: what passes the check is safe to run ---- */

static uint64_t random_state;
static uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* An instruction that is often legal: fields that must be 0 are. */
static void random_insn(int func)
{
    uint32_t x = random_bits();
    struct insn in = {(uint8_t)(x % OPS),
                      (uint8_t)(x >> 11 & 3),
                      (uint8_t)(x >> 13 & 3),
                      (uint8_t)(x >> 15 & 3),
                      0,
                      0};
    const struct op_info *o = &op_infos[in.op];
    if (o->d > D_OBJ)
        in.d = (int32_t)(x >> 8 & 7) - 1;
    else if (o->d == D_TG)
        in.d = (int32_t)a.b.funcs[func].entry + (int32_t)(x >> 20 & 7);
    else if (o->d == D_FN)
        in.d = (int32_t)(x >> 20 & 3);
    else if (o->d == D_DO || o->d == D_SO || o->d == D_FO)
        in.d = -1;
    if (o->a == N_)
        in.a = 0;
    if (o->b == N_ || o->b == CT)
        in.b = 0;
    if (o->c == N_ || o->c == CT || (o->c == HR && in.d >= 0))
        in.c = 0;
    if (o->imm != N_)
        in.imm = o->imm == IG ? -1 : (int64_t)(x >> 24 & 3);
    as_op(&a, (enum op)in.op, in.a, in.b, in.c, in.d, in.imm);
}

static void random_program(void)
{
    static const enum object_kind kinds[] = {OBJ_CHAN,    OBJ_MUTEX, OBJ_VAR, OBJ_WAITGROUP,
                                             OBJ_RWMUTEX, OBJ_ONCE,  OBJ_POOL};
    as_init(&a);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        as_object(&a, kinds[i], i == 0);
    as_string(&a, "");
    as_select(&a, true);
    as_case(&a, true, 0, 0, 1);
    as_case(&a, false, OBJ_REG, 1, 1);
    for (int f = 0; f < 3; f++) {
        as_func(&a, "f", 0, 3);
        for (int i = 0; i < 6; i++)
            random_insn(f);
        as_ret(&a);
    }
}

/* Replaces what is refused, one instruction after the other. */
static bool repair(void)
{
    for (uint32_t i = 0; i < a.b.p.ncode && check_text()[0] != 0; i++) {
        struct insn before = a.b.code[i];
        a.b.code[i] = (struct insn){OP_NOP, 0, 0, 0, 0, 0};
        if (check_text()[0] != 0 && strstr(check_text(), "does not end") != NULL)
            a.b.code[i] = before;
    }
    return check_text()[0] == 0;
}

TEST_CASE(Program, WhatPassesTheCheckIsSafe)
{
    int ran = 0;
    random_state = 1;
    for (int round = 0; round < 2000; round++) {
        random_program();
        if (!repair())
            continue;
        a.done = true;
        ran++;
        int release = 13 + round % 15;
        as_run(&r, &a, (struct as_opts){.release = release, .procs = 1 + round % 3, .until_ms = 1});
        if (r.end == END_THROWN)
            FAIL_CASE("round %d, release %d: %s", round, release, r.text);
    }
    CHECK_GT(ran, 1500);
}
