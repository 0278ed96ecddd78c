/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: no schedule and no memory model breaks a primitive: nothing is lost, nobody sleeps for
 * ever, nobody is let in twice. Method: small programs whose result does not depend on the
 * schedule, in random schedules of 2 and 3 Ps with a ring of four; every access of the scheduler
 * and of the primitives is a choice. */
#include "harness.h"
#include "run_explore.h"

static struct as a;

static void explore_runs(const char *out, uint64_t runs)
{
    static const int releases[] = {13, 19, 23, 24, 26, 27};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (int memory = MM_SC; memory < MM_KINDS; memory++)
            for (int procs = 2; procs <= 3; procs++)
                as_explore(&a, (struct as_explore){.release = releases[i],
                                                   .procs = procs,
                                                   .memory = (enum mm_kind)memory,
                                                   .seed = (uint64_t)(procs * 100 + releases[i]),
                                                   .runs = runs,
                                                   .out = out});
}

static void explore(const char *out) { explore_runs(out, 40); }

/* main waits for all, prints the variable */
static int wg, sum;
static void begin(void)
{
    as_init(&a);
    wg = as_object(&a, OBJ_WAITGROUP, 0);
    sum = as_object(&a, OBJ_VAR, 0);
}

static void done(void)
{
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
}

static void main_begin(int n)
{
    as_func(&a, "main", 0, 8);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
}

static void main_end(void)
{
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADP, 0, 0, 0, sum, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
}

/* Two senders of 1, 2, 3 and two receivers of three values each. */
static void channel(int cap)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, cap);
    int sender = as_func(&a, "sender", 0, 2);
    as_const(&a, 0, 3);
    int loop = as_here(&a);
    as_send(&a, ch, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    int receiver = as_func(&a, "receiver", 0, 2);
    as_const(&a, 0, 3);
    loop = as_here(&a);
    as_recv(&a, ch, 1);
    as_op(&a, OP_ADDA, NOREG, 1, 0, sum, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    main_begin(4);
    for (int i = 0; i < 2; i++) {
        as_go(&a, sender, 0, 0);
        as_go(&a, receiver, 0, 0);
    }
    main_end();
    explore("12");
}

TEST_CASE(ExploreChan, Unbuffered) { channel(0); }
TEST_CASE(ExploreChan, BufferOfOne) { channel(1); }

TEST_CASE(ExploreChan, CloseReachesEveryReceiver)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 1);
    int f = as_func(&a, "receiver", 0, 4);
    int loop = as_here(&a), end = as_label(&a);
    as_op(&a, OP_RECV, 0, 1, 0, ch, 0);
    as_jump(&a, OP_JZ, 1, 0, 0, end);
    as_op(&a, OP_ADDA, NOREG, 0, 0, sum, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_place(&a, end);
    done();
    main_begin(3);
    for (int i = 0; i < 3; i++)
        as_go(&a, f, 0, 0);
    as_const(&a, 0, 7);
    as_send(&a, ch, 0);
    as_send(&a, ch, 0);
    as_obj(&a, OP_CLOSE, ch);
    main_end();
    explore("14");
}

/* Selects on both sides of two channels. */
TEST_CASE(ExploreSelect, MeetsSelect)
{
    begin();
    int c = as_object(&a, OBJ_CHAN, 0), d = as_object(&a, OBJ_CHAN, 0);
    int send = as_select(&a, false);
    as_case(&a, true, c, 0, 0);
    as_case(&a, true, d, 0, 0);
    int recv = as_select(&a, false);
    as_case(&a, false, d, 0, 1);
    as_case(&a, false, c, 0, 1);
    int f = as_func(&a, "sender", 0, 4);
    as_const(&a, 0, 3);
    int loop = as_here(&a);
    as_op(&a, OP_SELECT, 2, 3, 0, send, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    int g = as_func(&a, "receiver", 0, 4);
    as_const(&a, 0, 3);
    loop = as_here(&a);
    as_op(&a, OP_SELECT, 2, 3, 0, recv, 0);
    as_op(&a, OP_ADDA, NOREG, 1, 0, sum, 0);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    main_begin(4);
    for (int i = 0; i < 2; i++) {
        as_go(&a, f, 0, 0);
        as_go(&a, g, 0, 0);
    }
    main_end();
    explore("12");
}

/* v++ by plain accesses under the lock */
static void add_one(enum op lock, enum op unlock, int obj)
{
    as_obj(&a, lock, obj);
    as_op(&a, OP_LOADP, 1, 0, 0, sum, 0);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_op(&a, OP_STOREP, 1, 0, 0, sum, 0);
    as_obj(&a, unlock, obj);
}

TEST_CASE(ExploreMutex, Excludes)
{
    begin();
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int f = as_func(&a, "f", 0, 2);
    as_const(&a, 0, 3);
    int loop = as_here(&a);
    add_one(OP_LOCK, OP_UNLOCK, mu);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    main_begin(3);
    for (int i = 0; i < 3; i++)
        as_go(&a, f, 0, 0);
    main_end();
    explore("9");
}

/* Readers check that two variables, which a writer keeps equal, are. */
TEST_CASE(ExploreRWMutex, ReadersSeeNoHalfWrites)
{
    begin();
    int rw = as_object(&a, OBJ_RWMUTEX, 0), twin = as_object(&a, OBJ_VAR, 0);
    int w = as_func(&a, "writer", 0, 2);
    as_const(&a, 0, 2);
    int loop = as_here(&a);
    as_obj(&a, OP_WLOCK, rw);
    as_op(&a, OP_LOADP, 1, 0, 0, sum, 0);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_op(&a, OP_STOREP, 1, 0, 0, sum, 0);
    as_op(&a, OP_STOREP, 1, 0, 0, twin, 0);
    as_obj(&a, OP_WUNLOCK, rw);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    int r = as_func(&a, "reader", 0, 4);
    as_const(&a, 0, 2);
    loop = as_here(&a);
    as_obj(&a, OP_RLOCK, rw);
    as_op(&a, OP_LOADP, 1, 0, 0, sum, 0);
    as_op(&a, OP_LOADP, 2, 0, 0, twin, 0);
    as_op(&a, OP_EQ, 3, 1, 2, 0, 0);
    as_op(&a, OP_ASSERT, 3, 0, 0, as_string(&a, "half a write"), 0);
    as_obj(&a, OP_RUNLOCK, rw);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    done();
    main_begin(4);
    for (int i = 0; i < 2; i++) {
        as_go(&a, w, 0, 0);
        as_go(&a, r, 0, 0);
    }
    main_end();
    explore("4");
}

/* A queue of one under a Cond: waits while it is as it should not be. */
TEST_CASE(ExploreCond, NoSignalIsLost)
{
    begin();
    int mu = as_object(&a, OBJ_MUTEX, 0), c = as_object(&a, OBJ_COND, mu),
        full = as_object(&a, OBJ_VAR, 0);
    int f[2];
    for (int want = 0; want <= 1;
         want++) { /* 0: the producer waits for empty, 1: the consumer for full */
        f[want] = as_func(&a, want ? "consumer" : "producer", 0, 4);
        as_const(&a, 0, 2);
        int loop = as_here(&a), go = as_label(&a);
        as_obj(&a, OP_LOCK, mu);
        int look = as_here(&a);
        as_op(&a, OP_LOADP, 1, 0, 0, full, 0);
        as_jump(&a, OP_JEQI, 1, 0, want, go);
        as_obj(&a, OP_CWAIT, c);
        as_jump(&a, OP_JMP, 0, 0, 0, look);
        as_place(&a, go);
        as_const(&a, 1, !want);
        as_op(&a, OP_STOREP, 1, 0, 0, full, 0);
        as_op(&a, OP_ADDA, NOREG, NOREG, 0, sum, want);
        as_obj(&a, OP_CBROADCAST, c);
        as_obj(&a, OP_UNLOCK, mu);
        as_jump(&a, OP_LOOP, 0, 0, 0, loop);
        done();
    }
    main_begin(4);
    for (int i = 0; i < 2; i++) {
        as_go(&a, f[0], 0, 0);
        as_go(&a, f[1], 0, 0);
    }
    main_end();
    explore("4");
}

TEST_CASE(ExploreSemaphore, TwoAtATime)
{
    begin();
    int sem = as_object(&a, OBJ_SEMA, 2), inside = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 4);
    as_op(&a, OP_ACQUIRE, NOREG, 0, 0, sem, 1);
    as_op(&a, OP_ADDA, 1, NOREG, 0, inside, 1);
    as_const(&a, 2, 3);
    as_op(&a, OP_LT, 3, 1, 2, 0, 0);
    as_op(&a, OP_ASSERT, 3, 0, 0, as_string(&a, "three inside"), 0);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, inside, -1);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, sum, 1);
    as_op(&a, OP_RELEASE, NOREG, 0, 0, sem, 1);
    done();
    main_begin(4);
    for (int i = 0; i < 4; i++)
        as_go(&a, f, 0, 0);
    main_end();
    explore("4");
}

TEST_CASE(ExploreOnce, BodyHappensOnceAndBefore)
{
    begin();
    int once = as_object(&a, OBJ_ONCE, 0);
    int body = as_func(&a, "body", 0, 2);
    as_op(&a, OP_LOADP, 0, 0, 0, sum, 0);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_op(&a, OP_STOREP, 0, 0, 0, sum, 0);
    as_ret(&a);
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_ONCE, 0, 0, 0, once, body);
    as_op(&a, OP_LOADP, 0, 0, 0, sum, 0);
    as_op(&a, OP_ASSERT, 0, 0, 0, as_string(&a, "Do came back before the body"), 0);
    done();
    main_begin(3);
    for (int i = 0; i < 3; i++)
        as_go(&a, f, 0, 0);
    main_end();
    explore("1");
}

TEST_CASE(ExploreContext, DoneAndCancelRace)
{
    begin();
    int f = as_func(&a, "f", 1, 4);
    as_op(&a, OP_CTXNEW, 1, 0, 0, 0, 0);
    as_op(&a, OP_CTXDONE, 2, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_RECV, NOREG, NOREG, 2, OBJ_REG, 0);
    as_op(&a, OP_CTXERR, 3, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_ADDA, NOREG, 3, 0, sum, 0);
    done();
    main_begin(3);
    as_op(&a, OP_CTXNEW, 0, NOREG, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        as_go(&a, f, 0, 1);
    as_op(&a, OP_CTXCANCEL, 0, 0, 0, OBJ_REG, 0);
    main_end();
    explore("3");
}

/* A coroutine is pulled by goroutines that may run on any M. */
TEST_CASE(ExploreCoroutine, PulledFromDifferentThreads)
{
    begin();
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int gen = as_func(&a, "gen", 0, 3);
    as_const(&a, 0, 1);
    int loop = as_here(&a);
    as_op(&a, OP_YIELD, 0, 1, 0, 0, 0);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_jump(&a, OP_JNZ, 1, 0, 0, loop);
    as_ret(&a);
    int f = as_func(&a, "f", 1, 4);
    as_const(&a, 3, 2);
    loop = as_here(&a);
    as_obj(&a, OP_LOCK, mu);
    as_op(&a, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    as_op(&a, OP_ADDA, NOREG, 1, 0, sum, 0);
    as_obj(&a, OP_UNLOCK, mu);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 3, 0, 0, loop);
    done();
    main_begin(2);
    as_op(&a, OP_CORONEW, 0, 1, 0, gen, 0);
    as_go(&a, f, 0, 1);
    as_go(&a, f, 0, 1);
    main_end();
    explore("10");
}

/* The other direction: what is wrong is found. Plain increments without a lock lose one some time.
 */
TEST_CASE(ExploreMutex, WithoutItAnUpdateIsLost)
{
    begin();
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_LOADP, 1, 0, 0, sum, 0);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_op(&a, OP_STOREP, 1, 0, 0, sum, 0);
    done();
    as_func(&a, "main", 0, 8);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2);
    as_go(&a, f, 0, 0);
    as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADP, 0, 0, 0, sum, 0);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, -1);
    as_op(&a, OP_ASSERT, 0, 0, 0, as_string(&a, "lost"), 0);
    as_ret(&a);
    CHECK_GT(as_explore_findings(&a, (struct as_explore){.release = 27, .procs = 2, .runs = 500}),
             0);
}

/* Add beside a Wait whose counter came to zero is misuse, and some schedules show it: the waiter
 * does not have to be there, or is let go first. */
TEST_CASE(ExploreWaitGroup, MisuseIsSeen)
{
    begin();
    int f = as_func(&a, "done", 0, 2);
    done();
    int add = as_func(&a, "add", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 8);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_go(&a, f, 0, 0);
    as_go(&a, add, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    CHECK_GT(as_explore_findings(&a, (struct as_explore){.release = 27, .procs = 2, .runs = 3000}),
             0);
}

/* A receive that does not wait never takes a channel for closed while there is a value in it. */
TEST_CASE(ExploreChan, AValueComesBeforeTheClose)
{
    begin();
    int ch = as_object(&a, OBJ_CHAN, 1);
    int look = as_select(&a, true);
    as_case(&a, false, ch, 0, 2);
    int f = as_func(&a, "receiver", 0, 4);
    int loop = as_here(&a), end = as_label(&a);
    as_op(&a, OP_SELECT, 0, 1, 0, look, 0);
    as_jump(&a, OP_JLTI, 0, 0, 0, loop); /* nothing there */
    as_jump(&a, OP_JZ, 1, 0, 0, end);
    as_op(&a, OP_ADDA, NOREG, 2, 0, sum, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_place(&a, end);
    done();
    main_begin(1);
    as_go(&a, f, 0, 0);
    as_const(&a, 0, 7);
    as_send(&a, ch, 0);
    as_obj(&a, OP_CLOSE, ch);
    main_end();
    explore_runs("7", 150); /* both have to come between two loads */
}

/* Two finalizers and two cleanups, found by one collection: each runs, once, whoever looks for it.
 */
TEST_CASE(ExploreFinalizers, AllRun)
{
    static const int releases[] = {18, 19, 20, 25, 27};
    begin();
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, sum, 1);
    done();
    main_begin(4);
    for (int i = 0; i < 2; i++) {
        as_op(&a, OP_FINALIZER, 0, 0, 0, f, 0);
        as_op(&a, OP_CLEANUP, 0, 0, 0, f, 0);
    }
    as_plain(&a, OP_GC);
    main_end();
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (int memory = MM_SC; memory < MM_KINDS; memory++)
            as_explore(&a, (struct as_explore){.release = releases[i],
                                               .procs = 2,
                                               .memory = (enum mm_kind)memory,
                                               .seed = (uint64_t)releases[i],
                                               .runs = 10,
                                               .out = "4"});
}
