/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores and package sync: who is woken, in which order they run, starvation, and what dies
 * how. */
#include "each_release.h"

#include <string.h>

TEST_CASE(WaitGroup, LastWaiterRunsFirst)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), all = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 2);
    as_obj(&a, OP_WGWAIT, wg);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_WGDONE, all);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_op(&a, OP_WGADD, NOREG, 0, 0, all, 5);
    spawn_parked(f, 5);
    as_obj(&a, OP_WGDONE, wg);
    as_obj(&a, OP_WGWAIT, all);
    as_ret(&a);
    check_all("5 1 2 3 4 ");
}

TEST_CASE(WaitGroup, MisuseDies)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: sync: negative WaitGroup counter");
}

static void cond_program(enum op wake, int wakes)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0), cond = as_object(&a, OBJ_COND, mu),
        all = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 2);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_CWAIT, cond);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_UNLOCK, mu);
    as_obj(&a, OP_WGDONE, all);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, all, 5);
    spawn_parked(f, 5);
    for (int i = 0; i < wakes; i++) {
        as_obj(&a, wake, cond);
        if (wakes > 1)
            as_plain(&a, OP_GOSCHED);
    }
    as_obj(&a, OP_WGWAIT, all);
    as_ret(&a);
}

TEST_CASE(Cond, BroadcastRunsTheLastFirst)
{
    cond_program(OP_CBROADCAST, 1);
    check_all("5 1 2 3 4 ");
}

TEST_CASE(Cond, SignalIsFirstInFirstOut)
{
    cond_program(OP_CSIGNAL, 5);
    check_all("1 2 3 4 5 ");
}

TEST_CASE(Cond, SignalWithoutWaiterIsLost)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0), cond = as_object(&a, OBJ_COND, mu);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_CSIGNAL, cond);
    as_obj(&a, OP_CBROADCAST, cond);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_CWAIT, cond);
    as_ret(&a);
    check_dies(FIND_DEADLOCK, "deadlock");
}

TEST_CASE(RWMutex, UnlockReleasesReadersLastFirst)
{
    as_init(&a);
    int rw = as_object(&a, OBJ_RWMUTEX, 0), all = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "reader", 1, 2);
    as_obj(&a, OP_RLOCK, rw);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_RUNLOCK, rw);
    as_obj(&a, OP_WGDONE, all);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, all, 5);
    as_obj(&a, OP_WLOCK, rw);
    spawn_parked(f, 5);
    as_obj(&a, OP_WUNLOCK, rw);
    as_obj(&a, OP_WGWAIT, all);
    as_ret(&a);
    check_all("5 1 2 3 4 ");
}

/* A waiting writer keeps later readers out, and gets in when the readers before it are gone. */
TEST_CASE(RWMutex, WaitingWriterBlocksNewReaders)
{
    as_init(&a);
    int rw = as_object(&a, OBJ_RWMUTEX, 0), all = as_object(&a, OBJ_WAITGROUP, 0);
    int w = as_func(&a, "writer", 0, 2);
    as_obj(&a, OP_WLOCK, rw);
    as_print(&a, "writer ");
    as_obj(&a, OP_WUNLOCK, rw);
    as_obj(&a, OP_WGDONE, all);
    as_ret(&a);
    int f = as_func(&a, "reader", 0, 2);
    as_obj(&a, OP_RLOCK, rw);
    as_print(&a, "reader ");
    as_obj(&a, OP_RUNLOCK, rw);
    as_obj(&a, OP_WGDONE, all);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, all, 2);
    as_obj(&a, OP_RLOCK, rw);
    as_go(&a, w, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_TRYRLOCK, 0, 0, 0, rw, 0);
    as_op(&a, OP_TRYWLOCK, 1, 0, 0, rw, 0);
    as_print2(&a, "%d%d ", 0);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "main ");
    as_obj(&a, OP_RUNLOCK, rw);
    as_obj(&a, OP_WGWAIT, all);
    as_ret(&a);
    check_all("00 main writer reader ");
}

TEST_CASE(RWMutex, MisuseIsFatal)
{
    as_init(&a);
    int rw = as_object(&a, OBJ_RWMUTEX, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_RUNLOCK, rw);
    as_ret(&a);
    check_dies(FIND_FATAL, "fatal error: sync: RUnlock of unlocked RWMutex");
    as_init(&a);
    rw = as_object(&a, OBJ_RWMUTEX, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_WUNLOCK, rw);
    as_ret(&a);
    check_dies(FIND_FATAL, "fatal error: sync: Unlock of unlocked RWMutex");
}

TEST_CASE(Mutex, UnlockOfUnlockedIsFatal)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_UNLOCK, mu);
    as_obj(&a, OP_UNLOCK, mu);
    as_ret(&a);
    check_dies(FIND_FATAL, "fatal error: sync: unlock of unlocked mutex\n\ngoroutine 1 [running]:");
}

/* Who is shown, and which panics are named. */
TEST_CASE(Mutex, FatalShowsTheOthersAndThePanics)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int other = as_func(&a, "other", 0, 1);
    as_ret(&a);
    int dies = as_func(&a, "dies", 0, 1);
    as_obj(&a, OP_UNLOCK, mu);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, other, 0, 0);
    as_op(&a, OP_DEFER, 0, 0, 0, dies, 0);
    as_const(&a, 1, 7);
    as_op(&a, OP_PANIC, 1, 0, 0, -1, 0);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.kind, FIND_FATAL);
        CHECK_EQ(strstr(r.text, "[runnable]:") != NULL, rel <= 25);
        CHECK_EQ(strncmp(r.text, "panic: 7\n\tfatal error: ", 23) == 0, rel >= 26);
    }
}

TEST_CASE(Mutex, TryLockAndNil)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    as_func(&a, "main", 0, 3);
    as_op(&a, OP_TRYLOCK, 0, 0, 0, mu, 0);
    as_op(&a, OP_TRYLOCK, 1, 0, 0, mu, 0);
    as_print2(&a, "%d%d", 0);
    as_ret(&a);
    check_all("10");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_LOCK, 0, 0, 0, OBJ_REG, 0);
    as_ret(&a);
    check_dies(FIND_PANIC,
               "panic: runtime error: invalid memory address or nil pointer dereference");
}

TEST_CASE(Mutex, CountsAreRightOnManyPs)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0), wg = as_object(&a, OBJ_WAITGROUP, 0),
        n = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 0, 4);
    as_const(&a, 0, 50);
    int loop = as_here(&a);
    as_obj(&a, OP_LOCK, mu);
    as_op(&a, OP_LOADP, 1, 0, 0, n, 0);
    as_cpu(&a, 300);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    as_op(&a, OP_STOREP, 1, 0, 0, n, 0);
    as_obj(&a, OP_UNLOCK, mu);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 10);
    for (int i = 0; i < 10; i++)
        as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_LOADP, 1, 0, 0, n, 0);
    as_print1(&a, "%d", 1);
    as_ret(&a);
    EACH_RELEASE(rel)
    for (int procs = 1; procs <= 8; procs *= 2) {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = procs});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, "500");
    }
}

TEST_CASE(Once, RunsOnceAndOthersWaitForIt)
{
    as_init(&a);
    int once = as_object(&a, OBJ_ONCE, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int body = as_func(&a, "body", 1, 2);
    as_print1(&a, "body%d ", 0);
    as_sleep(&a, 1000);
    as_print(&a, "done ");
    as_ret(&a);
    int f = as_func(&a, "f", 1, 2);
    as_op(&a, OP_ONCE, 0, 1, 0, once, body);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
    spawn_parked(f, 3);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_ONCE, 0, 1, 0, once, body);
    as_ret(&a);
    check_all("body1 done 1 2 3 ");
}

TEST_CASE(Semaphore, WeightedIsFirstInFirstOut)
{
    as_init(&a);
    int sem = as_object(&a, OBJ_SEMA, 3), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 2); /* takes its number */
    as_op(&a, OP_ACQUIRE, 0, 0, 0, sem, 0);
    as_print1(&a, "%d ", 0);
    as_op(&a, OP_RELEASE, 0, 0, 0, sem, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
    as_op(&a, OP_ACQUIRE, NOREG, 0, 0, sem, 2);
    for (int i = 3; i > 0; i--) { /* 3 does not fit, so 2 and 1 wait behind it */
        as_const(&a, 0, i);
        as_go(&a, f, 0, 1);
        as_plain(&a, OP_GOSCHED);
    }
    as_op(&a, OP_TRYACQUIRE, 1, NOREG, 0, sem, 1);
    as_print1(&a, "try%d ", 1);
    as_op(&a, OP_RELEASE, NOREG, 0, 0, sem, 2);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_TRYACQUIRE, 1, NOREG, 0, sem, 3);
    as_print1(&a, "try%d", 1);
    as_ret(&a);
    check_all("try0 3 1 2 try1");
}

TEST_CASE(Pool, GivesBackWhatWasPut)
{
    as_init(&a);
    int pool = as_object(&a, OBJ_POOL, 0);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_POOLGET, 0, 1, 0, pool, 0);
    as_print2(&a, "%d%t ", 0);
    for (int i = 1; i <= 3; i++) {
        as_const(&a, 0, i);
        as_op(&a, OP_POOLPUT, 0, 0, 0, pool, 0);
    }
    for (int i = 1; i <= 4; i++) {
        as_op(&a, OP_POOLGET, 0, 1, 0, pool, 0);
        as_print2(&a, "%d%t ", 0);
    }
    as_ret(&a);
    check_all("0false 1true 3true 2true 0false ");
}

/* The reasons that a dump shows, by release. */
TEST_CASE(Sync, WaitReasonsFollowTheRelease)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_LOCK, mu);
    as_ret(&a);
    check_dies(FIND_DEADLOCK, "deadlock");
    as_run(&r, &a, (struct as_opts){.release = 19});
    CHECK_HAS(r.text, "goroutine 1 [semacquire");
    as_run(&r, &a, (struct as_opts){.release = 20});
    CHECK_HAS(r.text, "goroutine 1 [sync.Mutex.Lock");
}
