/* SPDX-License-Identifier: BSD-3-Clause */
/* defer, panic, recover, Goexit, exit; coroutines and contexts, which build on them. */
#include "each_release.h"

static void as_defer(int func, int arg0, int nargs)
{
    as_op(&a, OP_DEFER, arg0, nargs, 0, func, 0);
}
static void as_panic(const char *text) { as_op(&a, OP_PANIC, NOREG, 0, 0, as_string(&a, text), 0); }

/* show(x) prints x; recoverer(x) prints what it recovers */
static int show, recoverer;
static void helpers(void)
{
    as_init(&a);
    show = as_func(&a, "show", 1, 1);
    as_print1(&a, "%d ", 0);
    as_ret(&a);
    recoverer = as_func(&a, "recoverer", 0, 3);
    int end = as_label(&a), number = as_label(&a);
    as_op(&a, OP_RECOVER, 0, 1, 0, 0, 0);
    as_jump(&a, OP_JZ, 0, 0, 0, end);
    as_jump(&a, OP_JEQI, 0, 0, 2, number);
    as_print1(&a, "recovered(%s) ", 1);
    as_ret(&a);
    as_place(&a, number);
    as_print1(&a, "recovered(%d) ", 1);
    as_ret(&a);
    as_place(&a, end);
    as_print(&a, "nothing ");
    as_ret(&a);
}

static void defer_show(int x)
{
    as_const(&a, 0, x);
    as_defer(show, 0, 1);
}

TEST_CASE(Defer, LastInFirstOutWithArgumentsOfThen)
{
    helpers();
    int f = as_func(&a, "f", 0, 2);
    for (int i = 1; i <= 3; i++)
        defer_show(i);
    as_const(&a, 0, 77);
    as_op(&a, OP_RET, 0, 0, 0, 0, 0);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 0, 1);
    as_print1(&a, "=%d", 1);
    as_ret(&a);
    check_all("3 2 1 =77");
}

TEST_CASE(Recover, OnlyInTheDeferredCallOfAPanic)
{
    helpers();
    int f = as_func(&a, "f", 0, 2);
    as_defer(recoverer, 0, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 0, NOREG);
    as_call(&a, recoverer, 0, 0, NOREG);
    as_ret(&a);
    check_all("nothing nothing ");
}

TEST_CASE(Recover, TheDeferringFunctionReturnsAndItsOtherDefersRun)
{
    helpers();
    int thrower = as_func(&a, "thrower", 0, 2);
    defer_show(9);
    as_panic("boom");
    int f = as_func(&a, "f", 0, 2);
    defer_show(1);
    as_defer(recoverer, 0, 0);
    defer_show(2);
    as_call(&a, thrower, 0, 0, NOREG);
    as_print(&a, "never ");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_const(&a, 1, 5);
    as_call(&a, f, 0, 0, 1);
    as_print1(&a, "back %d", 1);
    as_ret(&a);
    check_all("9 2 recovered(boom) 1 back 0");
}

TEST_CASE(Recover, ValuesAndRuntimeErrors)
{
    helpers();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 1, 3);
    as_defer(recoverer, 0, 0);
    int arm[4], n = 4;
    as_op(&a, OP_SWITCH, 0, 0, 0, 0, n);
    for (int i = 0; i < n; i++) {
        arm[i] = as_label(&a);
        as_jump(&a, OP_JMP, 0, 0, 0, arm[i]);
    }
    as_ret(&a);
    as_place(&a, arm[0]);
    as_const(&a, 1, -12);
    as_op(&a, OP_PANIC, 1, 0, 0, -1, 0);
    as_place(&a, arm[1]);
    as_op(&a, OP_DIV, 1, 0, 2, 0, 0);
    as_ret(&a);
    as_place(&a, arm[2]);
    as_obj(&a, OP_CLOSE, ch);
    as_obj(&a, OP_CLOSE, ch);
    as_ret(&a);
    as_place(&a, arm[3]);
    as_send(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 3);
    for (int i = 0; i <= n; i++) {
        as_const(&a, 0, i);
        as_call(&a, f, 0, 1, NOREG);
    }
    as_ret(&a);
    check_all("recovered(-12) recovered(runtime error: integer divide by zero) recovered(close of "
              "closed channel) "
              "recovered(send on closed channel) nothing ");
}

TEST_CASE(Panic, UnrecoveredRunsAllDefersAndPrintsTheChain)
{
    helpers();
    int second = as_func(&a, "second", 0, 2);
    as_panic("two");
    int f = as_func(&a, "f", 0, 2);
    as_defer(second, 0, 0);
    as_panic("one");
    as_func(&a, "main", 0, 2);
    defer_show(4);
    as_call(&a, f, 0, 0, NOREG);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: one\n\tpanic: two\n\ngoroutine 1 [running]:\nmain.second");
    CHECK_STR(r.out, "4 ");
}

TEST_CASE(Panic, ARaisedAgainPanicIsPrintedOnceFrom25)
{
    helpers();
    int again = as_func(&a, "again", 0, 2);
    as_op(&a, OP_RECOVER, NOREG, NOREG, 0, 0, 0);
    as_panic("boom");
    as_func(&a, "main", 0, 2);
    as_defer(again, 0, 0);
    as_panic("boom");
    as_run(&r, &a, (struct as_opts){.release = 24});
    CHECK_HAS(r.text, "panic: boom [recovered]\n\tpanic: boom\n");
    as_run(&r, &a, (struct as_opts){.release = 25});
    CHECK_HAS(r.text, "panic: boom [recovered, repanicked]\n\ngoroutine 1");
}

/* A panic in a deferred call replaces the first one; the recovery of the second ends both. */
TEST_CASE(Panic, RecoveringTheSecondEndsTheFirst)
{
    helpers();
    int second = as_func(&a, "second", 0, 2);
    as_panic("two");
    int f = as_func(&a, "f", 0, 2);
    as_defer(recoverer, 0, 0);
    as_defer(second, 0, 0);
    as_panic("one");
    as_func(&a, "main", 0, 2);
    as_defer(recoverer, 0, 0);
    as_call(&a, f, 0, 0, NOREG);
    as_print(&a, "on ");
    as_ret(&a);
    check_all("recovered(two) on nothing ");
}

/* ... but a panic that is recovered inside the deferred call leaves the first one going. */
TEST_CASE(Panic, RecoveredInsideADeferredCallTheFirstGoesOn)
{
    helpers();
    int inner = as_func(&a, "inner", 0, 2);
    as_defer(recoverer, 0, 0);
    as_panic("two");
    int deferred = as_func(&a, "deferred", 0, 2);
    as_call(&a, inner, 0, 0, NOREG);
    as_print(&a, "still ");
    as_ret(&a);
    int f = as_func(&a, "f", 0, 2);
    as_defer(deferred, 0, 0);
    as_panic("one");
    as_func(&a, "main", 0, 2);
    as_defer(recoverer, 0, 0);
    as_call(&a, f, 0, 0, NOREG);
    as_print(&a, "never");
    as_ret(&a);
    check_all("recovered(two) still recovered(one) ");
}

TEST_CASE(Panic, DeepRecursionIsStackOverflow)
{
    as_init(&a);
    int f = as_func(&a, "f", 1, 8);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_call(&a, f, 0, 1, 1); /* itself */
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 1, NOREG);
    as_ret(&a);
    check_dies(FIND_FATAL, "fatal error: stack overflow");
}

/* Frames far below keep their values while the stack is moved. */
TEST_CASE(Panic, StackGrowthKeepsTheFrames)
{
    as_init(&a);
    int f = as_func(&a, "sum", 1, 4); /* n + sum(n - 1) */
    int zero = as_label(&a);
    as_jump(&a, OP_JZ, 0, 0, 0, zero);
    as_op(&a, OP_ADDI, 1, 0, 0, 0, -1);
    as_call(&a, f, 1, 1, 2);
    as_op(&a, OP_ADD, 0, 0, 2, 0, 0);
    as_place(&a, zero);
    as_op(&a, OP_RET, 0, 0, 0, 0, 0);
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, 10000);
    as_call(&a, f, 0, 1, 1);
    as_print1(&a, "%d", 1);
    as_ret(&a);
    check_all("50005000");
}

TEST_CASE(Goexit, RunsDefersAndEndsOnlyTheGoroutine)
{
    helpers();
    int ch = as_object(&a, OBJ_CHAN, 0);
    int deep = as_func(&a, "deep", 0, 2);
    defer_show(2);
    as_plain(&a, OP_GOEXIT);
    int f = as_func(&a, "f", 0, 2);
    as_defer(recoverer, 0, 0); /* Goexit is not a panic */
    defer_show(1);
    as_call(&a, deep, 0, 0, NOREG);
    as_print(&a, "never");
    as_ret(&a);
    int g = as_func(&a, "g", 0, 2);
    as_call(&a, f, 0, 0, NOREG);
    as_print(&a, "never");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, g, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main");
    as_ret(&a);
    (void)ch;
    check_all("2 1 nothing main");
}

/* A panic during Goexit that is recovered does not bring the goroutine back. */
TEST_CASE(Goexit, GoesOnAfterARecoveredPanic)
{
    helpers();
    int boom = as_func(&a, "boom", 0, 2);
    as_panic("boom");
    int f = as_func(&a, "f", 0, 2);
    as_defer(recoverer, 0, 0);
    as_defer(boom, 0, 0);
    as_plain(&a, OP_GOEXIT);
    int g = as_func(&a, "g", 0, 2);
    defer_show(3);
    as_call(&a, f, 0, 0, NOREG);
    as_print(&a, "never");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, g, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main");
    as_ret(&a);
    check_all("recovered(boom) 3 main");
}

TEST_CASE(Goexit, OfMainWithNobodyLeft)
{
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_plain(&a, OP_GOEXIT);
    check_dies(FIND_DEADLOCK,
               "fatal error: no goroutines (main called runtime.Goexit) - deadlock!");
}

TEST_CASE(Exit, StatusAndAssert)
{
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_print(&a, "x");
    as_op(&a, OP_EXIT, 0, 0, 0, 0, 0);
    check_all("x");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_EXIT, 0, 0, 0, 0, 3);
    check_dies(FIND_EXIT, "exit status 3");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_ASSERT, 0, 0, 0, as_string(&a, "zero is not true"), 0);
    as_ret(&a);
    check_dies(FIND_ASSERT, "zero is not true");
}

TEST_CASE(Once, PanickingBodyCountsAsDone)
{
    helpers();
    int once = as_object(&a, OBJ_ONCE, 0);
    int body = as_func(&a, "body", 0, 2);
    defer_show(1);
    as_panic("body");
    int f = as_func(&a, "f", 0, 2);
    as_defer(recoverer, 0, 0);
    as_op(&a, OP_ONCE, 0, 0, 0, once, body);
    as_print(&a, "after ");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 0, NOREG);
    as_call(&a, f, 0, 0, NOREG);
    as_ret(&a);
    check_all("1 recovered(body) after nothing ");
}

TEST_CASE(Once, BodyThatRecoversCountsAsDone)
{
    helpers();
    int once = as_object(&a, OBJ_ONCE, 0);
    int body = as_func(&a, "body", 0, 2);
    as_defer(recoverer, 0, 0);
    as_panic("body");
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_ONCE, 0, 0, 0, once, body);
    as_print(&a, "after ");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 0, NOREG);
    as_call(&a, f, 0, 0, NOREG);
    as_ret(&a);
    check_all("recovered(body) after after ");
}

/* The mutex is free again, and the goroutine's own deferred calls run after it. */
TEST_CASE(Once, BodyThatGoexitsCountsAsDone)
{
    helpers();
    int once = as_object(&a, OBJ_ONCE, 0);
    int body = as_func(&a, "body", 0, 2);
    defer_show(1);
    as_plain(&a, OP_GOEXIT);
    int f = as_func(&a, "f", 0, 2);
    defer_show(2);
    as_op(&a, OP_ONCE, 0, 0, 0, once, body);
    as_print(&a, "never");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_ONCE, 0, 0, 0, once, body);
    as_print(&a, "main");
    as_ret(&a);
    check_all("1 2 main");
}

/* ---- coroutines ---- */

/* gen(n): yields n, n - 1, ... 1; prints when it is told to stop */
static int generator(void)
{
    int gen = as_func(&a, "gen", 1, 3);
    int loop = as_here(&a), stopped = as_label(&a);
    as_op(&a, OP_YIELD, 0, 1, 0, 0, 0);
    as_jump(&a, OP_JZ, 1, 0, 0, stopped);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    as_print(&a, "end ");
    as_ret(&a);
    as_place(&a, stopped);
    as_print(&a, "stopped ");
    as_ret(&a);
    return gen;
}

static void next(int co) { as_op(&a, OP_CORONEXT, 4, 5, co, OBJ_REG, 0); }

TEST_CASE(Coroutine, PullsValuesThenTheEnd)
{
    as_init(&a);
    int gen = generator();
    as_func(&a, "main", 0, 8);
    as_const(&a, 0, 3);
    as_op(&a, OP_CORONEW, 1, 0, 1, gen, 0);
    for (int i = 0; i < 5; i++) {
        next(1);
        as_print2(&a, "%d%t ", 4);
    }
    as_op(&a, OP_COROSTOP, 0, 0, 1, OBJ_REG, 0);
    as_ret(&a);
    check_all("3true 2true 1true end 0false 0false ");
}

TEST_CASE(Coroutine, StopTellsTheGenerator)
{
    as_init(&a);
    int gen = generator();
    as_func(&a, "main", 0, 8);
    as_const(&a, 0, 3);
    as_op(&a, OP_CORONEW, 1, 0, 1, gen, 0);
    as_op(&a, OP_CORONEW, 2, 0, 1, gen, 0); /* never started */
    next(1);
    as_print2(&a, "%d%t ", 4);
    as_op(&a, OP_COROSTOP, 0, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_COROSTOP, 0, 0, 2, OBJ_REG, 0);
    next(1);
    as_print2(&a, "%d%t ", 4);
    next(2);
    as_print2(&a, "%d%t", 4);
    as_ret(&a);
    check_all("3true stopped 0false 0false");
}

TEST_CASE(Coroutine, PanicInsideArrivesOutside)
{
    helpers();
    int gen = as_func(&a, "gen", 0, 2);
    defer_show(8);
    as_panic("inside");
    int f = as_func(&a, "f", 0, 8);
    as_defer(recoverer, 0, 0);
    as_op(&a, OP_CORONEW, 1, 0, 0, gen, 0);
    next(1);
    as_print(&a, "never");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, f, 0, 0, NOREG);
    as_ret(&a);
    check_all("8 recovered(inside) ");
}

/* Goexit inside is a Goexit of whoever called next. */
TEST_CASE(Coroutine, GoexitInsideEndsTheCaller)
{
    helpers();
    int gen = as_func(&a, "gen", 0, 2);
    defer_show(8);
    as_plain(&a, OP_GOEXIT);
    int f = as_func(&a, "f", 0, 8);
    defer_show(7);
    as_op(&a, OP_CORONEW, 1, 0, 0, gen, 0);
    next(1);
    as_print(&a, "never");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main");
    as_ret(&a);
    check_all("8 7 main");
}

/* A switch is no visit to the scheduler: nobody else runs, the tick does not advance. */
TEST_CASE(Coroutine, SwitchesDoNotSchedule)
{
    as_init(&a);
    int gen = generator();
    int other = as_func(&a, "other", 0, 2);
    as_print(&a, "other ");
    as_ret(&a);
    as_func(&a, "main", 0, 8);
    as_go(&a, other, 0, 0);
    as_const(&a, 0, 100);
    as_op(&a, OP_CORONEW, 1, 0, 1, gen, 0);
    int loop = as_here(&a);
    next(1);
    as_jump(&a, OP_JNZ, 5, 0, 0, loop);
    as_print(&a, "main ");
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
    check_all("end main other ");
    CHECK_LT(r.counters[COUNTER_switches], 20);
}

/* ---- contexts ---- */

TEST_CASE(Context, CancelEndsTheTreeBelow)
{
    as_init(&a);
    as_func(&a, "main", 0, 16);
    as_op(&a, OP_CTXNEW, 1, NOREG, 0, 0, 0);
    as_op(&a, OP_CTXNEW, 2, 1, 0, 0, 0);
    as_op(&a, OP_CTXNEW, 3, 2, 0, 0, 0);
    as_op(&a, OP_CTXNEW, 4, 1, 0, 0, 0);
    as_op(&a, OP_CTXDONE, 5, 0, 3, OBJ_REG, 0);
    as_op(&a, OP_CTXCANCEL, 0, 0, 2, OBJ_REG, 0);
    as_op(&a, OP_RECV, 6, 7, 5, OBJ_REG, 0);
    as_print1(&a, "%t ", 7);
    for (int i = 1; i <= 4; i++) {
        as_op(&a, OP_CTXERR, 8, 0, i, OBJ_REG, 0);
        as_print1(&a, "%d", 8);
    }
    as_op(&a, OP_CTXNEW, 9, 3, 0, 0, 0); /* below an ended one */
    as_op(&a, OP_CTXDONE, 5, 0, 9, OBJ_REG, 0);
    as_op(&a, OP_RECV, 6, 7, 5, OBJ_REG, 0);
    as_op(&a, OP_CTXERR, 8, 0, 9, OBJ_REG, 0);
    as_print1(&a, " %d", 8);
    as_ret(&a);
    check_all("false 0110 1");
}

TEST_CASE(Context, DeadlineEndsItAndCancelStopsTheTimer)
{
    as_init(&a);
    as_func(&a, "main", 0, 16);
    as_op(&a, OP_CTXTMO, 1, NOREG, NOREG, 0, 1000000);
    as_op(&a, OP_CTXTMO, 2, 1, NOREG, 0, 50000000); /* ends with its parent */
    as_op(&a, OP_CTXDONE, 5, 0, 2, OBJ_REG, 0);
    as_op(&a, OP_RECV, 6, 7, 5, OBJ_REG, 0);
    for (int i = 1; i <= 2; i++) {
        as_op(&a, OP_CTXERR, 8, 0, i, OBJ_REG, 0);
        as_print1(&a, "%d", 8);
    }
    as_op(&a, OP_CTXTMO, 3, NOREG, NOREG, 0, 1000000);
    as_op(&a, OP_CTXCANCEL, 0, 0, 3, OBJ_REG, 0);
    as_sleep(&a, 5000000);
    as_op(&a, OP_CTXERR, 8, 0, 3, OBJ_REG, 0);
    as_print1(&a, "%d", 8);
    as_op(&a, OP_CTXTMO, 3, NOREG, NOREG, 0, 0);
    as_op(&a, OP_CTXERR, 8, 0, 3, OBJ_REG, 0);
    as_print1(&a, "%d", 8);
    as_ret(&a);
    check_all("2212");
}

TEST_CASE(Context, DeepTreeIsNoRecursion)
{
    as_init(&a);
    as_func(&a, "main", 0, 16);
    as_op(&a, OP_CTXNEW, 1, NOREG, 0, 0, 0);
    as_op(&a, OP_MOVE, 2, 1, 0, 0, 0);
    as_const(&a, 3, 100000);
    int loop = as_here(&a);
    as_op(&a, OP_CTXNEW, 2, 2, 0, 0, 0);
    as_jump(&a, OP_LOOP, 3, 0, 0, loop);
    as_op(&a, OP_CTXCANCEL, 0, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_CTXERR, 8, 0, 2, OBJ_REG, 0);
    as_print1(&a, "%d", 8);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){0});
    CHECK_STR(r.out, "1");
}
