/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the scheduler core loses nothing and deadlocks nowhere when its Ms are real threads.
 * Method: programs whose result is the same under every schedule, on 1 to 4 Ps and the releases at
 * which something big changed; ThreadSanitizer watches where it is built in. */
#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

/* syscalls without Psyscall 26, spinbit 24, timers 23, old timers 14 and 22, cooperative 13 */
static const int releases[] = {13, 14, 19, 22, 23, 24, 26, 27};

static void check_parallel(const char *out)
{
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        for (int procs = 1; procs <= 4; procs++) {
            as_run(&r, &a, (struct as_opts){.release = releases[i], .procs = procs});
            if (r.end != END_STOPPED || r.nout == 0)
                FAIL_CASE("go1.%d, procs %d: end %d, kind %d: %s", releases[i], procs, r.end,
                          r.kind, r.text);
            CHECK_STR(r.out, out);
        }
}

/* for i := 0; i < n; i++ { go f() }: wg has n added. Uses registers 0 and 1. */
static void spawn(int f, int wg, int64_t n)
{
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
    as_const(&a, 0, n);
    int again = as_here(&a);
    as_go(&a, f, 0, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, again);
}

static void done(int wg)
{
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
}

/* Waits for wg, prints variable v, ends. */
static void wait_and_print(int wg, int v)
{
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADA, 1, 0, 0, v, 0);
    as_print1(&a, "%d\n", 1);
    as_ret(&a);
}

/* R[0] = n; body; until R[0] is used up */
static int loop_begin(int64_t n)
{
    as_const(&a, 0, n);
    return as_here(&a);
}

static void loop_end(int top) { as_jump(&a, OP_LOOP, 0, 0, 0, top); }

TEST_CASE(Parallel, AMutexGuardsAPlainCounter)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 3);
    int top = loop_begin(50);
    as_obj(&a, OP_LOCK, mu);
    as_op(&a, OP_LOADP, 1, 0, 0, v, 0);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_op(&a, OP_STOREP, 1, 0, 0, v, 0);
    as_obj(&a, OP_UNLOCK, mu);
    loop_end(top);
    done(wg);
    as_func(&a, "main", 0, 3);
    spawn(f, wg, 20);
    wait_and_print(wg, v);
    check_parallel("1000\n");
}

/* Four producers, one unbuffered and one buffered hop, one sum. */
static void pipeline(int64_t capacity)
{
    as_init(&a);
    int in = as_object(&a, OBJ_CHAN, capacity), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int v = as_object(&a, OBJ_VAR, 0);
    int sender = as_func(&a, "sender", 0, 3);
    int top = loop_begin(100);
    as_send(&a, in, 0);
    loop_end(top);
    done(wg);
    int receiver = as_func(&a, "receiver", 0, 3);
    top = loop_begin(100);
    as_recv(&a, in, 1);
    as_op(&a, OP_ADDA, NOREG, 1, 0, v, 0);
    loop_end(top);
    done(wg);
    as_func(&a, "main", 0, 3);
    spawn(sender, wg, 4);
    spawn(receiver, wg, 4);
    wait_and_print(wg, v);
    check_parallel("20200\n"); /* 4 * (1 + ... + 100) */
}

TEST_CASE(Parallel, NothingIsLostInAnUnbufferedChannel) { pipeline(0); }
TEST_CASE(Parallel, NothingIsLostInABufferedChannel) { pipeline(7); }

/* More goroutines than a ring holds: the overflow goes through the global queue. */
TEST_CASE(Parallel, EverySpawnedGoroutineRunsOnce)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, v, 1);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, v, 1);
    done(wg);
    as_func(&a, "main", 0, 2);
    spawn(f, wg, 1000);
    wait_and_print(wg, v);
    check_parallel("2000\n");
}

TEST_CASE(Parallel, SleepersWake)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 2);
    int top = loop_begin(3);
    as_sleep(&a, 300000);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, v, 1);
    loop_end(top);
    done(wg);
    as_func(&a, "main", 0, 2);
    spawn(f, wg, 30);
    wait_and_print(wg, v);
    check_parallel("90\n");
}

/* Short ones and some long enough for sysmon to take the P away. */
TEST_CASE(Parallel, SystemCallsGiveTheirPBack)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 2);
    int top = loop_begin(3);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 500000);
    as_op(&a, OP_SYSCALL, 0, NOREG, 0, -1, 1000);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, v, 1);
    loop_end(top);
    done(wg);
    as_func(&a, "main", 0, 2);
    spawn(f, wg, 12);
    wait_and_print(wg, v);
    check_parallel("36\n");
}

/* More spinning loops than Ps: main gets on only by preemption, by signal where there is no call.
 */
static void preemption(int kind, int first)
{
    as_init(&a);
    int v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 2);
    int top = as_here(&a);
    as_op(&a, OP_CPU, kind, NOREG, 0, -1, 50000000);
    as_jump(&a, OP_JMP, 0, 0, 0, top);
    as_func(&a, "main", 0, 2);
    for (int i = 0; i < 3; i++)
        as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_ADDA, 1, NOREG, 0, v, 5);
    as_print1(&a, "%d\n", 1);
    as_ret(&a);
    for (int release = first; release <= 27; release += 27 - first)
        for (int procs = 1; procs <= 2; procs++) {
            as_run(&r, &a, (struct as_opts){.release = release, .procs = procs});
            CHECK_STR(r.text, "");
            CHECK_EQ(r.end, END_STOPPED);
            CHECK_STR(r.out, "5\n");
            if (procs == 1) /* with two, main may be stolen before all loops have begun */
                CHECK_GT(r.counters[COUNTER_preempted], 0);
        }
}

TEST_CASE(Parallel, LoopsWithCallsArePreemptedByRequest) { preemption(CPU_normal, 13); }
TEST_CASE(Parallel, TightLoopsArePreemptedBySignal) { preemption(CPU_tight, 14); }

TEST_CASE(Parallel, LockedThreadsHandTheirPOn)
{
    as_init(&a);
    int ping = as_object(&a, OBJ_CHAN, 0), pong = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 3);
    as_plain(&a, OP_LOCKOS);
    int top = loop_begin(30);
    as_recv(&a, ping, 1);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_send(&a, pong, 1);
    loop_end(top);
    as_ret(&a);
    as_func(&a, "main", 0, 3);
    as_plain(&a, OP_LOCKOS);
    as_go(&a, f, 0, 0);
    as_const(&a, 1, 0);
    top = loop_begin(30);
    as_send(&a, ping, 1);
    as_recv(&a, pong, 1);
    loop_end(top);
    as_print1(&a, "%d\n", 1);
    as_ret(&a);
    check_parallel("30\n");
}

/* Each stops the world, in the middle of others' work. */
TEST_CASE(Parallel, TheWorldStopsAndStartsAgain)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), v = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 2);
    int top = loop_begin(20);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, v, 1);
    as_cpu(&a, 20000);
    loop_end(top);
    done(wg);
    as_func(&a, "main", 0, 2);
    spawn(f, wg, 10);
    as_plain(&a, OP_GC);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 3);
    as_plain(&a, OP_GC);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 2);
    wait_and_print(wg, v);
    check_parallel("200\n");
}

TEST_CASE(Parallel, ADeadlockIsFoundOnEveryNumberOfPs)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 2);
    as_recv(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_go(&a, f, 0, 0);
    as_recv(&a, ch, 0);
    as_ret(&a);
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        for (int procs = 1; procs <= 4; procs++) {
            as_run(&r, &a, (struct as_opts){.release = releases[i], .procs = procs});
            CHECK_EQ(r.end, END_FINDING);
            CHECK_EQ(r.kind, FIND_DEADLOCK);
            CHECK_HAS(r.text, "all goroutines are asleep - deadlock!");
        }
}
