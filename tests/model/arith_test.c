/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: each instruction on registers computes what its row in ops.def says, and each jump is
 * taken when it says so. Method: all of them with all pairs of some numbers, in one program that
 * prints. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

static const int64_t numbers[] = {0, 1, -1, 2, 5, -7, 62, 63, 64, INT64_MAX, INT64_MIN};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const enum op on_two[] = {OP_ADD, OP_SUB, OP_MUL,  OP_DIV,  OP_MOD, OP_AND, OP_OR,
                                 OP_XOR, OP_SHL, OP_SHR,  OP_EQ,   OP_NE,  OP_LT,  OP_LE,
                                 OP_MIN, OP_MAX, OP_MOVE, OP_ADDI, OP_MULI};
static const enum op jumps[] = {OP_JMP, OP_JZ,   OP_JNZ,  OP_JEQ,  OP_JNE,  OP_JLT,
                                OP_JLE, OP_JEQI, OP_JNEI, OP_JLTI, OP_JGEI, OP_LOOP};

/* Those that panic are tests of panics. */
static bool panics(enum op op, int64_t y)
{
    return ((op == OP_DIV || op == OP_MOD) && y == 0) || ((op == OP_SHL || op == OP_SHR) && y < 0);
}

static int64_t result(enum op op, int64_t x, int64_t y)
{
    uint64_t u = (uint64_t)x, v = (uint64_t)y;
    switch (op) {
    case OP_ADD:
    case OP_ADDI: return (int64_t)(u + v);
    case OP_SUB: return (int64_t)(u - v);
    case OP_MUL:
    case OP_MULI: return (int64_t)(u * v);
    case OP_DIV: return y == -1 ? (int64_t)(0 - u) : x / y;
    case OP_MOD: return y == -1 ? 0 : x % y;
    case OP_AND: return x & y;
    case OP_OR: return x | y;
    case OP_XOR: return x ^ y;
    case OP_SHL: return y > 63 ? 0 : (int64_t)(u << y);
    case OP_SHR: return y > 63 ? (x < 0 ? -1 : 0) : x >> y;
    case OP_EQ: return x == y;
    case OP_NE: return x != y;
    case OP_LT: return x < y;
    case OP_LE: return x <= y;
    case OP_MIN: return x < y ? x : y;
    case OP_MAX: return x > y ? x : y;
    default: return y; /* MOVE of the second */
    }
}

static bool is_taken(enum op op, int64_t x, int64_t y)
{
    switch (op) {
    case OP_JZ: return x == 0;
    case OP_JNZ: return x != 0;
    case OP_JEQ:
    case OP_JEQI: return x == y;
    case OP_JNE:
    case OP_JNEI: return x != y;
    case OP_JLT:
    case OP_JLTI: return x < y;
    case OP_JLE: return x <= y;
    case OP_JGEI: return x >= y;
    case OP_LOOP: return (int64_t)((uint64_t)x - 1) > 0;
    default: return true;
    }
}

static void computes(enum op op, int64_t x, int64_t y)
{
    as_const(&a, 0, x);
    as_const(&a, 1, y);
    if (op == OP_ADDI || op == OP_MULI)
        as_op(&a, op, 2, 0, 0, 0, y);
    else if (op == OP_MOVE)
        as_op(&a, op, 2, 1, 0, 0, 0);
    else
        as_op(&a, op, 2, 0, 1, 0, 0);
    as_print1(&a, "%d ", 2);
}

/* Prints R[0] after it, and whether it was taken. */
static void jumps_over(enum op op, int64_t x, int64_t y)
{
    bool two = op == OP_JEQ || op == OP_JNE || op == OP_JLT || op == OP_JLE;
    bool imm = op == OP_JEQI || op == OP_JNEI || op == OP_JLTI || op == OP_JGEI;
    int over = as_label(&a);
    as_const(&a, 0, x);
    as_const(&a, 1, y);
    as_jump(&a, op, 0, two ? 1 : 0, imm ? y : 0, over);
    as_print(&a, "not ");
    as_place(&a, over);
    as_print1(&a, "%d ", 0);
}

TEST_CASE(Arithmetic, EveryInstructionOnPairsOfNumbers)
{
    static char want[1 << 16];
    for (size_t k = 0; k < sizeof on_two / sizeof *on_two; k++) {
        size_t at = 0;
        as_init(&a);
        as_func(&a, "main", 0, 3);
        want[0] = 0;
        for (int i = 0; i < NUMBERS * NUMBERS; i++) {
            int64_t x = numbers[i / NUMBERS], y = numbers[i % NUMBERS];
            if (panics(on_two[k], y))
                continue;
            computes(on_two[k], x, y);
            at += (size_t)snprintf(want + at, sizeof want - at, "%lld ",
                                   (long long)result(on_two[k], x, y));
        }
        as_ret(&a);
        as_run(&r, &a, (struct as_opts){0});
        CHECK_STR(r.out, want);
    }
}

TEST_CASE(Arithmetic, EveryJumpOnPairsOfNumbers)
{
    static char want[1 << 16];
    for (size_t k = 0; k < sizeof jumps / sizeof *jumps; k++) {
        size_t at = 0;
        as_init(&a);
        as_func(&a, "main", 0, 3);
        for (int i = 0; i < NUMBERS * NUMBERS; i++) {
            int64_t x = numbers[i / NUMBERS], y = numbers[i % NUMBERS];
            int64_t after = jumps[k] == OP_LOOP ? (int64_t)((uint64_t)x - 1) : x;
            jumps_over(jumps[k], x, y);
            at += (size_t)snprintf(want + at, sizeof want - at, "%s%lld ",
                                   is_taken(jumps[k], x, y) ? "" : "not ", (long long)after);
        }
        as_ret(&a);
        as_run(&r, &a, (struct as_opts){0});
        CHECK_STR(r.out, want);
    }
}
