/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: while a program executes another one, no thread is made, and nobody else does it; who would
 * has to wait with his P.
 * Method: how long programs take that have the processors for more. */
#include "asm.h"

#include "harness.h"

static struct as a;
static struct as_result r;

static const int64_t MS = 1000000;
static const uint64_t MS_PS = 1000000000;

static int works_for(const char *name, enum op op, int64_t ns, int wg)
{
    int f = as_func(&a, name, 0, 0);
    if (op == OP_EXEC)
        as_op(&a, OP_EXEC, 0, NOREG, 0, -1, ns);
    else
        as_op(&a, OP_CPU, CPU_nopreempt, NOREG, 0, -1, ns);
    if (wg >= 0)
        as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    return f;
}

/* One goroutine computes or executes for 5 ms; six that come after 1 ms take 300 us each. */
static uint64_t six_beside(enum op op, int release)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int longer = works_for("longer", op, 5 * MS, -1), f = works_for("short", OP_CPU, 300000, wg);
    as_func(&a, "main", 0, 1);
    as_go(&a, longer, 0, 0);
    as_sleep(&a, MS);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 6);
    for (int i = 0; i < 6; i++)
        as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 8});
    CHECK_EQ(r.end, END_STOPPED);
    return r.now_ps;
}

TEST_CASE(Rwmutex, NoThreadIsMadeWhileAProgramIsExecuted)
{
    CHECK_LT(six_beside(OP_CPU, 27), 3 * MS_PS);
    for (int rel = 13; rel <= 27; rel++)
        CHECK_GE(six_beside(OP_EXEC, rel), 5 * MS_PS);
}

TEST_CASE(Rwmutex, OneProgramIsExecutedAtATime)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0);
        int f = works_for("executes", OP_EXEC, 5 * MS, wg);
        as_func(&a, "main", 0, 1);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2);
        as_go(&a, f, 0, 0);
        as_sleep(&a, MS); /* there are threads by now */
        as_go(&a, f, 0, 0);
        as_obj(&a, OP_WGWAIT, wg);
        as_ret(&a);
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 4});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_GE(r.now_ps, 10 * MS_PS);
    }
}

/* A reader that may be preempted mostly is not. */
TEST_CASE(Rwmutex, TheTemplateThreadIsMadeUnderTheLock)
{
    for (int64_t pinned = 0; pinned <= 1; pinned++) {
        as_init(&a);
        as_func(&a, "main", 0, 1);
        as_plain(&a, OP_LOCKOS);
        as_op(&a, OP_EXEC, 0, NOREG, 0, -1, MS);
        as_plain(&a, OP_UNLOCKOS);
        as_ret(&a);
        as_run(&r, &a,
               (struct as_opts){.release = 14,
                                .rule = "template_thread_pinned",
                                .value = 0,
                                .rule2 = "rwmutex_reader_pinned",
                                .value2 = pinned});
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_GE(r.now_ps, MS_PS);
    }
}
