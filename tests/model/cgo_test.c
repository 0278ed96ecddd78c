/* SPDX-License-Identifier: BSD-3-Clause */
/* Callbacks from threads that C made: they get an M of their own and a P like anybody who leaves a
 * system call; their M is used again. */
#include "each_release.h"

#include <string.h>

/* callback(x) adds x to sum, parks once on the way, and is done */
static int wg, sum, ch;
static int callback(void)
{
    as_init(&a);
    wg = as_object(&a, OBJ_WAITGROUP, 0);
    sum = as_object(&a, OBJ_VAR, 0);
    ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "callback", 1, 2);
    as_plain(&a, OP_GOSCHED);
    as_recv(&a, ch, 1);
    as_op(&a, OP_ADD, 0, 0, 1, 0, 0);
    as_op(&a, OP_ADDA, NOREG, 0, 0, sum, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    return f;
}

static void foreign(int f, int arg, int64_t ns) { as_op(&a, OP_CGOCB, 1, NOREG, arg, f, ns); }

static void finish(void)
{
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADA, 0, 0, 0, sum, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
}

TEST_CASE(Cgo, ForeignThreadsCallBackAndPark)
{
    int f = callback();
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 4);
    for (int i = 1; i <= 4; i++) {
        as_const(&a, 0, i);
        foreign(f, 0, 1000 * i);
    }
    as_const(&a, 0, 100);
    for (int i = 1; i <= 4; i++)
        as_send(&a, ch, 0);
    finish();
    EACH_RELEASE(rel)
    for (int procs = 1; procs <= 4; procs++) {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = procs});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "410");
    }
}

/* One after the other: the second finds the M of the first. */
TEST_CASE(Cgo, ExtraMsAreUsedAgain)
{
    int f = callback();
    as_func(&a, "main", 0, 4);
    as_const(&a, 1, 50);
    int loop = as_here(&a);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    foreign(f, 1, 1000);
    as_const(&a, 0, 0);
    as_send(&a, ch, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_sleep(&a, 1000000); /* the callback has left */
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    finish();
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, "1275");
        CHECK_LT(r.counters[COUNTER_threads], 10);
    }
}

/* Since 1.21 a thread that has called back keeps its M: the goroutine stays in a system call and
 * counts. In older releases it is dead until the next callback. */
TEST_CASE(Cgo, ABoundThreadStaysInItsSystemCall)
{
    int f = callback();
    as_func(&a, "main", 0, 4);
    for (int i = 0; i < 2; i++) {
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
        as_const(&a, 0, 1);
        foreign(f, 0, 1000);
        as_send(&a, ch, 0);
        as_obj(&a, OP_WGWAIT, wg);
        as_sleep(&a, 1000000);
        as_op(&a, OP_NUMGOROUTINE, 0, 0, 0, 0, 0);
        as_print1(&a, "%d ", 0);
    }
    finish();
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, rel >= 21 ? "2 2 4" : "1 1 4");
    }
}

/* The thread is made and burns its time while main goes on: the C call comes back at once. */
TEST_CASE(Cgo, TheMakerDoesNotWait)
{
    as_init(&a);
    int f = as_func(&a, "callback", 0, 2);
    as_print(&a, "callback ");
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    foreign(f, NOREG, 3000000);
    as_print(&a, "main ");
    as_sleep(&a, 10000000);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, "main callback ");
    }
}

TEST_CASE(Cgo, PanicAndGoexitInAForeignThread)
{
    as_init(&a);
    int f = as_func(&a, "callback", 0, 2);
    as_op(&a, OP_PANIC, NOREG, 0, 0, as_string(&a, "in C's thread"), 0);
    as_func(&a, "main", 0, 4);
    foreign(f, NOREG, 1000);
    as_sleep(&a, 10000000);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){0});
    CHECK_EQ(r.kind, FIND_PANIC);
    CHECK_HAS(r.text, "panic: in C's thread");
    as_init(&a);
    f = as_func(&a, "callback", 0, 2);
    as_plain(&a, OP_GOEXIT);
    as_func(&a, "main", 0, 4);
    foreign(f, NOREG, 1000);
    as_sleep(&a, 10000000);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.kind, FIND_FATAL);
        CHECK_HAS(r.text, rel <= 22   ? "fatal error: internal lockOSThread error\n"
                          : rel == 23 ? "exited a goroutine internally locked to the OS thread\n"
                                      : "not created by the Go runtime\n");
        CHECK_HAS(r.text, "goroutine 1 [sleep]:");
    }
}

/* The crash at the end tells whether the goroutine is tied to its thread. */
static void dies_unlocked(const char *out)
{
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_EQ(r.kind, FIND_PANIC);
        CHECK_STR(r.out, out);
        CHECK_HAS(r.text, "panic: the end");
        CHECK(strstr(r.text, "locked to thread") == NULL);
    }
}

static void own_callback(int f) { as_op(&a, OP_CGOCB, 0, NOREG, NOREG, f, 1000); }

static int recoverer(void)
{
    int f = as_func(&a, "recoverer", 0, 2);
    as_op(&a, OP_RECOVER, 0, 1, 0, 0, 0);
    as_print1(&a, "%d ", 0);
    as_ret(&a);
    return f;
}

static void dies(void) { as_op(&a, OP_PANIC, NOREG, 0, 0, as_string(&a, "the end"), 0); }

/* By a panic, through a callback in a callback, or by Goexit. */
TEST_CASE(Cgo, WhatLeavesACallbackUnlocksTheThread)
{
    as_init(&a);
    int rec = recoverer();
    int f = as_func(&a, "callback", 0, 2);
    dies();
    int g = as_func(&a, "outer", 0, 2); /* a callback in a callback */
    own_callback(f);
    as_ret(&a);
    int h = as_func(&a, "catches", 0, 2);
    as_op(&a, OP_DEFER, 0, 0, 0, rec, 0);
    own_callback(g);
    as_ret(&a);
    int e = as_func(&a, "leaves", 0, 2);
    as_plain(&a, OP_GOEXIT);
    int i = as_func(&a, "ends", 0, 2);
    own_callback(e);
    as_print(&a, "never ");
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_call(&a, h, 0, 0, NOREG);
    as_go(&a, i, 0, 0);
    as_sleep(&a, 1000000);
    as_print(&a, "ended ");
    dies();
    dies_unlocked("1 ended ");
}

/* Recovered in the callback itself: it returns into C as if nothing had been. */
TEST_CASE(Cgo, ACallbackThatRecoversReturns)
{
    as_init(&a);
    int rec = recoverer();
    int f = as_func(&a, "callback", 0, 2);
    as_op(&a, OP_DEFER, 0, 0, 0, rec, 0);
    dies();
    as_func(&a, "main", 0, 4);
    own_callback(f);
    as_print(&a, "back ");
    dies();
    dies_unlocked("1 back ");
}

/* ... and what the program has locked itself stays locked. */
TEST_CASE(Cgo, WhatLeavesACallbackKeepsTheProgramsLock)
{
    as_init(&a);
    int rec = recoverer();
    int f = as_func(&a, "callback", 0, 2);
    dies();
    int h = as_func(&a, "catches", 0, 2);
    as_op(&a, OP_DEFER, 0, 0, 0, rec, 0);
    own_callback(f);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_LOCKOS);
    as_call(&a, h, 0, 0, NOREG);
    dies();
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_STR(r.out, "1 ");
        CHECK_HAS(r.text, "[running, locked to thread]");
    }
}

/* A coroutine that ends while C waits below it: since 1.23 the thread is the other G's again. */
TEST_CASE(Cgo, ACoroutineEndsInACallback)
{
    as_init(&a);
    int gen = as_func(&a, "gen", 0, 2);
    as_op(&a, OP_YIELD, 0, NOREG, 0, 0, 0);
    as_ret(&a);
    int f = as_func(&a, "callback", 0, 4);
    as_op(&a, OP_CORONEW, 0, 1, 0, gen, 0);
    for (int i = 0; i < 2; i++) {
        as_op(&a, OP_CORONEXT, 1, 2, 0, -1, 0);
        as_print1(&a, "%d ", 2);
    }
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    own_callback(f);
    dies();
    for (int rel = 22; rel <= 27; rel++) {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 2});
        CHECK_STR(r.out, rel == 22 ? "1 " : "1 0 ");
        CHECK_HAS(r.text,
                  rel == 22 ? "fatal error: internal lockOSThread error" : "panic: the end");
        CHECK(strstr(r.text, "locked to thread") == NULL);
    }
}

/* Callbacks while the world is stopped again and again and Ps come and go. */
TEST_CASE(Cgo, SurvivesStopsOfTheWorld)
{
    int f = callback();
    int sender = as_func(&a, "sender", 0, 2);
    as_const(&a, 1, 20);
    int loop = as_here(&a);
    as_send(&a, ch, 0);
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 20);
    as_go(&a, sender, 0, 0);
    as_const(&a, 1, 20);
    loop = as_here(&a);
    foreign(f, 1, 5000);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 1);
    as_plain(&a, OP_GC);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 4);
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    finish();
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = 4});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "210");
    }
}
