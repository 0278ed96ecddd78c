/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests written in C and run by GoogleTest.
 *
 *     #include "harness.h"
 *
 *     TEST_CASE(Runq, ThiefNeverTakesAGTwice)
 *     {
 *         CHECK_EQ(taken, 1);
 *         CHECK(head <= tail);
 *     }
 *
 * C++ cannot read _Atomic, so bodies are C and only harness.cc is C++. A check
 * that fails prints file:line, both expressions and both values, and ends the
 * case by longjmp: what the case allocated is then leaked, and the process goes
 * on with the next case. On a thread other than the one that runs the case a
 * failed check is reported too, but the thread goes on; on a coroutine of the
 * case's own thread the jump leaves the coroutine for good.
 *
 * Arguments are evaluated exactly once. Integers of any type and sign may be
 * compared with each other; -1 is less than 0u here. Pointers compare by address.
 */
#ifndef GMPSIM_HARNESS_H
#define GMPSIM_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cases ---- */

struct harness_case {
    const char *suite, *name, *file;
    int line;
    void (*body)(void);
    struct harness_case *next;
};

void harness_add(struct harness_case *c); /* before main; keeps the pointer */

#define TEST_CASE(suite_, name_)                                              \
    static void suite_##_##name_(void);                                       \
    __attribute__((constructor)) static void suite_##_##name_##_add(void)     \
    {                                                                         \
        static struct harness_case c = {#suite_,  #name_,           __FILE__, \
                                        __LINE__, suite_##_##name_, NULL};    \
        harness_add(&c);                                                      \
    }                                                                         \
    static void suite_##_##name_(void)

/* ---- values and checks ---- */

enum harness_kind { HARNESS_I, HARNESS_U, HARNESS_P };
enum harness_op { HARNESS_EQ, HARNESS_NE, HARNESS_LT, HARNESS_LE, HARNESS_GT, HARNESS_GE };

struct harness_val {
    enum harness_kind kind;
    union {
        int64_t i;
        uint64_t u;
        const volatile void *p;
    } as;
};

struct harness_val harness_i(int64_t v);
struct harness_val harness_u(uint64_t v);
struct harness_val harness_p(const volatile void *v);

/* clang-format off */
#define HARNESS_VAL(x) _Generic((x),                                            \
    char: harness_i, signed char: harness_i, short: harness_i, int: harness_i,  \
    long: harness_i, long long: harness_i,                                      \
    bool: harness_u, unsigned char: harness_u, unsigned short: harness_u,       \
    unsigned: harness_u, unsigned long: harness_u, unsigned long long: harness_u, \
    default: harness_p)(x)
/* clang-format on */

struct harness_at {
    const char *file;
    int line;
};
#define HARNESS_HERE ((struct harness_at){__FILE__, __LINE__})

void harness_check(struct harness_at at, bool ok, const char *text);
void harness_check_op(struct harness_at at, enum harness_op op, const char *a_text,
                      const char *b_text, struct harness_val a, struct harness_val b);
void harness_check_str(struct harness_at at, const char *a_text, const char *b_text, const char *a,
                       const char *b);
void harness_check_has(struct harness_at at, const char *a_text, const char *a, const char *part);
void harness_check_mem(struct harness_at at, const char *a_text, const char *b_text, const void *a,
                       const void *b, size_t size);
void harness_fail(struct harness_at at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void harness_skip(struct harness_at at, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Stringified here and not one macro deeper, so that the text is what the test says. */
#define HARNESS_OP(op, a_text, b_text, a, b) \
    harness_check_op(HARNESS_HERE, op, a_text, b_text, HARNESS_VAL(a), HARNESS_VAL(b))

#define CHECK(x)       harness_check(HARNESS_HERE, (x), #x)
#define CHECK_EQ(a, b) HARNESS_OP(HARNESS_EQ, #a, #b, a, b)
#define CHECK_NE(a, b) HARNESS_OP(HARNESS_NE, #a, #b, a, b)
#define CHECK_LT(a, b) HARNESS_OP(HARNESS_LT, #a, #b, a, b)
#define CHECK_LE(a, b) HARNESS_OP(HARNESS_LE, #a, #b, a, b)
#define CHECK_GT(a, b) HARNESS_OP(HARNESS_GT, #a, #b, a, b)
#define CHECK_GE(a, b) HARNESS_OP(HARNESS_GE, #a, #b, a, b)
/* Strings; NULL equals only NULL. */
#define CHECK_STR(a, b) harness_check_str(HARNESS_HERE, #a, #b, a, b)
/* String a contains string part. */
#define CHECK_HAS(a, part)    harness_check_has(HARNESS_HERE, #a, a, part)
#define CHECK_MEM(a, b, size) harness_check_mem(HARNESS_HERE, #a, #b, a, b, size)
/* Ends the case as failed, as skipped: printf arguments. */
#define FAIL_CASE(...) harness_fail(HARNESS_HERE, __VA_ARGS__)
#define SKIP_CASE(...) harness_skip(HARNESS_HERE, __VA_ARGS__)

/* ---- child processes ---- */

/* What a child did. `code` is its exit status, or -1 if `signal` ended it; `out` and
 * `err` are what it wrote, cut at the size of the buffers, NUL-terminated. */
struct harness_child {
    int code, signal;
    char out[1 << 16], err[1 << 16];
};

/* Runs fn(arg) in a forked child: for what must exit or abort. Coming back from fn is exit 0. */
void harness_fork(struct harness_child *c, void (*fn)(void *), void *arg);
/* Runs a program, argv[0] found through PATH, stdin empty. */
void harness_exec(struct harness_child *c, const char *const argv[]);

/* ---- for harness.cc ---- */

extern struct harness_case *harness_cases;
/* Runs one body; a failed check or a skip comes back here. */
void harness_run_body(void (*body)(void));
void harness_report(struct harness_at at, const char *text, bool skip);

#ifdef __cplusplus
}
#endif
#endif
