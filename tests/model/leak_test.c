/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the leak profile (1.26+) names the goroutines that nobody can wake, and only those.
 * Method: small programs that print what the profile counts; who is counted follows from the
 * program alone. */
#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

enum { MS = 1000000 };

/* main starts every function of fs, lets them park, and prints the profile's count. */
static void profile_of(const int *fs, int n)
{
    for (int i = 0; i < n; i++)
        as_go(&a, fs[i], 0, 0);
    as_sleep(&a, MS);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
}

static void counts(const char *want)
{
    for (int procs = 1; procs <= 4; procs += 3) {
        as_run(&r, &a, (struct as_opts){.procs = procs});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, want);
    }
}

/* A function of one instruction on one object, and nothing else. */
static int blocked_on(enum op op, int obj, int reg)
{
    int f = as_func(&a, "blocked", 0, 2);
    as_op(&a, op, (uint8_t)reg, op == OP_RECV ? NOREG : 0, 0, obj, 0);
    as_ret(&a);
    return f;
}

TEST_CASE(Leak, EveryKindOfWait)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), out = as_object(&a, OBJ_CHAN, 0);
    int mu = as_object(&a, OBJ_MUTEX, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int cmu = as_object(&a, OBJ_MUTEX, 0), cond = as_object(&a, OBJ_COND, cmu);
    int rw = as_object(&a, OBJ_RWMUTEX, 0), f[8], n = 0;
    f[n++] = blocked_on(OP_RECV, ch, NOREG);
    f[n++] = blocked_on(OP_SEND, out, 0);
    f[n++] = as_func(&a, "twice", 0, 2);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_LOCK, mu);
    as_ret(&a);
    f[n++] = as_func(&a, "waits", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    f[n++] = as_func(&a, "cond", 0, 2);
    as_obj(&a, OP_LOCK, cmu);
    as_obj(&a, OP_CWAIT, cond);
    as_ret(&a);
    f[n++] = as_func(&a, "writes", 0, 2);
    as_obj(&a, OP_RLOCK, rw);
    as_obj(&a, OP_WLOCK, rw);
    as_ret(&a);
    f[n++] = as_func(&a, "selects", 0, 2);
    int sel = as_select(&a, false);
    as_case(&a, false, ch, 0, NOREG);
    as_case(&a, true, out, 0, 0);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, sel, 0);
    as_ret(&a);
    f[n++] = as_func(&a, "forever", 0, 2);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, as_select(&a, false), 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    profile_of(f, n);
    as_ret(&a);
    counts("8");
    as_run(&r, &a, (struct as_opts){.rule = "g_waiting_sema", .value = 0});
    CHECK_STR(r.out, "4"); /* without the record of semaphores only channels are suspects */
    as_run(&r, &a, (struct as_opts){.release = 25});
    CHECK_STR(r.out, "-1");
}

/* Whoever may still be woken is not leaked: by main later on, by a function that main may start, by
 * somebody who sleeps, and by one that only these can wake. */
TEST_CASE(Leak, WhoCanBeWokenIsNone)
{
    as_init(&a);
    int later = as_object(&a, OBJ_CHAN, 0), started = as_object(&a, OBJ_CHAN, 0);
    int slept = as_object(&a, OBJ_CHAN, 0), chained = as_object(&a, OBJ_CHAN, 0);
    int lost = as_object(&a, OBJ_CHAN, 0), f[8], n = 0;
    f[n++] = blocked_on(OP_RECV, later, NOREG);
    f[n++] = blocked_on(OP_RECV, started, NOREG);
    f[n++] = blocked_on(OP_RECV, slept, NOREG);
    f[n++] = as_func(&a, "chain", 0, 2);
    as_recv(&a, slept, 0);
    as_send(&a, chained, 0);
    as_ret(&a);
    f[n++] = blocked_on(OP_RECV, chained, NOREG);
    f[n++] = as_func(&a, "sleeper", 0, 2);
    as_sleep(&a, 50 * MS);
    as_send(&a, slept, 0);
    as_send(&a, slept, 0);
    as_ret(&a);
    f[n++] = blocked_on(OP_RECV, lost, NOREG);
    int starter = as_func(&a, "starter", 0, 2);
    as_send(&a, started, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    profile_of(f, n);
    as_send(&a, later, 0);
    as_go(&a, starter, 0, 0);
    as_sleep(&a, 100 * MS);
    as_ret(&a);
    counts("1");
}

/* What AfterFunc will call may wake as long as it has not been called: then neither of the two that
 * receive is leaked, afterwards the one that it did not wake is. The third is never leaked, because
 * main may still send to it in a select. */
TEST_CASE(Leak, AFunctionOfATimerMayWake)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), sel = as_object(&a, OBJ_CHAN, 0);
    int f[3] = {blocked_on(OP_RECV, ch, NOREG), 0, blocked_on(OP_RECV, sel, NOREG)};
    f[1] = f[0];
    int fires = as_func(&a, "fires", 0, 2);
    as_send(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_TIMER, 1, NOREG, NOREG, fires, 20 * MS);
    profile_of(f, 3);
    as_sleep(&a, 40 * MS);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    int s = as_select(&a, false);
    as_case(&a, true, sel, 0, 0);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, s, 0);
    as_ret(&a);
    counts("01");
}

/* A channel that goes from hand to hand: a number that may be its handle is enough. */
TEST_CASE(Leak, AHandleIsAReference)
{
    as_init(&a);
    int box = as_object(&a, OBJ_CHAN, 1);
    int f = as_func(&a, "receiver", 1, 2);
    as_op(&a, OP_RECV, NOREG, NOREG, 0, OBJ_REG, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 3);
    as_op(&a, OP_MAKE, 1, OBJ_CHAN, NOREG, 0, 0);
    as_go(&a, f, 1, 1);
    as_send(&a, box, 1);
    as_const(&a, 1, 0);
    as_sleep(&a, MS);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d ", 0);
    as_recv(&a, box, 1);
    as_const(&a, 1, 0);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
    counts("0 1");
}

/* A leaked goroutine stays leaked, is counted again, and says so when the program dies. */
TEST_CASE(Leak, ItIsSaidInTheReport)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), mu = as_object(&a, OBJ_MUTEX, 0);
    int f = blocked_on(OP_RECV, ch, NOREG);
    as_func(&a, "main", 0, 2);
    profile_of(&f, 1);
    as_plain(&a, OP_GC);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, "%d", 0);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_LOCK, mu);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){0});
    CHECK_STR(r.out, "11");
    CHECK_EQ(r.kind, FIND_DEADLOCK);
    CHECK_HAS(r.text, "[sync.Mutex.Lock]:");
    CHECK_HAS(r.text, "[chan receive (leaked)]:");
}

/* What a finalizer may send to is not lost, as long as the finalizer has yet to run. */
TEST_CASE(Leak, AFinalizerMayWake)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), other = as_object(&a, OBJ_CHAN, 0);
    int f[2] = {blocked_on(OP_RECV, ch, NOREG), blocked_on(OP_RECV, other, NOREG)};
    int fin = blocked_on(OP_SEND, ch, 0);
    int sets = as_func(&a, "sets", 0, 2);
    as_op(&a, OP_FINALIZER, 0, 0, 0, fin, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_call(&a, sets, 0, 0, NOREG);
    profile_of(f, 2);
    as_sleep(&a, MS);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_print1(&a, " %d", 0);
    as_ret(&a);
    counts("1 1");
}

/* Detection takes another stop of the world for every goroutine that only a found one can wake. */
TEST_CASE(Leak, EachRoundStopsTheWorld)
{
    uint64_t stops[2];
    for (int deep = 0; deep < 2; deep++) {
        as_init(&a);
        int c[3];
        for (int i = 0; i < 3; i++)
            c[i] = as_object(&a, OBJ_CHAN, 0);
        int f[2] = {as_func(&a, "near", 0, 2)};
        as_recv(&a, c[0], 0);
        as_send(&a, c[1], 0);
        as_ret(&a);
        f[1] = as_func(&a, "far", 0, 2);
        as_recv(&a, c[deep], 0);
        as_ret(&a);
        as_func(&a, "main", 0, 2);
        profile_of(f, 2);
        as_send(&a, c[0], 0);
        as_ret(&a);
        counts("0");
        stops[deep] = r.counters[COUNTER_stws];
    }
    CHECK_EQ(stops[1], stops[0] + 1);
}
