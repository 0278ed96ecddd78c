/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct harness_case *harness_cases;

/* Where a failed check jumps to. Set only on the thread that runs the case: to jump
 * from another thread onto its stack would be undefined. */
static _Thread_local jmp_buf *case_end;

void harness_add(struct harness_case *c)
{
    struct harness_case **p = &harness_cases;

    while (*p)
        p = &(*p)->next;
    *p = c;
}

void harness_run_body(void (*body)(void))
{
    jmp_buf env;

    case_end = &env;
    if (setjmp(env) == 0)
        body();
    case_end = NULL;
}

/* setjmp and longjmp are both in this C file, so that no C++ frame is jumped over. */
static void end_case(void)
{
    if (case_end)
        longjmp(*case_end, 1);
}

void harness_fail(struct harness_at at, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    harness_report(at, text, false);
    end_case();
}

void harness_skip(struct harness_at at, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    harness_report(at, text, true);
    end_case();
    __builtin_trap(); /* SKIP_CASE on another thread is a mistake in the test */
}

void harness_check(struct harness_at at, bool ok, const char *text)
{
    if (!ok)
        harness_fail(at, "CHECK(%s) is false", text);
}

struct harness_val harness_i(int64_t v) { return (struct harness_val){HARNESS_I, {.i = v}}; }

struct harness_val harness_u(uint64_t v) { return (struct harness_val){HARNESS_U, {.u = v}}; }

struct harness_val harness_p(const volatile void *v)
{
    return (struct harness_val){HARNESS_P, {.p = v}};
}

static bool is_negative(struct harness_val v) { return v.kind == HARNESS_I && v.as.i < 0; }

static uint64_t bits(struct harness_val v)
{
    return v.kind == HARNESS_P ? (uint64_t)(uintptr_t)v.as.p : v.as.u;
}

/* -1, 0, 1 as mathematics has it. Two's complement keeps the order among negatives. */
static int compare(struct harness_val a, struct harness_val b)
{
    if (is_negative(a) != is_negative(b))
        return is_negative(a) ? -1 : 1;
    return (bits(a) > bits(b)) - (bits(a) < bits(b));
}

static bool holds(enum harness_op op, int order)
{
    switch (op) {
    case HARNESS_EQ: return order == 0;
    case HARNESS_NE: return order != 0;
    case HARNESS_LT: return order < 0;
    case HARNESS_LE: return order <= 0;
    case HARNESS_GT: return order > 0;
    case HARNESS_GE: return order >= 0;
    }
    return false;
}

static const char *show(char *buf, size_t size, struct harness_val v)
{
    switch (v.kind) {
    case HARNESS_I: snprintf(buf, size, "%" PRId64, v.as.i); break;
    case HARNESS_U: snprintf(buf, size, "%" PRIu64 " (0x%" PRIx64 ")", v.as.u, v.as.u); break;
    case HARNESS_P: snprintf(buf, size, "0x%" PRIx64, bits(v)); break;
    }
    return buf;
}

void harness_check_op(struct harness_at at, enum harness_op op, const char *a_text,
                      const char *b_text, struct harness_val a, struct harness_val b)
{
    static const char *const sign[] = {"==", "!=", "<", "<=", ">", ">="};
    char abuf[64], bbuf[64];

    if (!holds(op, compare(a, b)))
        harness_fail(at, "want %s %s %s\n  left:  %s\n  right: %s", a_text, sign[op], b_text,
                     show(abuf, sizeof abuf, a), show(bbuf, sizeof bbuf, b));
}

static const char *quoted(const char *s) { return s ? s : "(null)"; }

void harness_check_str(struct harness_at at, const char *a_text, const char *b_text, const char *a,
                       const char *b)
{
    if (a == b || (a && b && strcmp(a, b) == 0))
        return;
    harness_fail(at, "want %s equal to %s\n  left:  \"%s\"\n  right: \"%s\"", a_text, b_text,
                 quoted(a), quoted(b));
}

void harness_check_has(struct harness_at at, const char *a_text, const char *a, const char *part)
{
    if (a && strstr(a, part))
        return;
    harness_fail(at, "want \"%s\" in %s\n  which is: \"%s\"", part, a_text, quoted(a));
}

void harness_check_mem(struct harness_at at, const char *a_text, const char *b_text, const void *a,
                       const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;

    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i]) {
            harness_fail(at, "want %s equal to %s over %zu bytes\n  at [%zu]: 0x%02x and 0x%02x",
                         a_text, b_text, size, i, x[i], y[i]);
            return;
        }
}
