/* SPDX-License-Identifier: BSD-3-Clause */
/* A mutex between its two modes. On the virtual host alone: which mode it is depends on whether a
 * waiter waited for 1 ms, and a thread that gets no CPU waits for as long as it likes. */
#include "each_release.h"

/* Normal mode: the running goroutine takes the lock again before the woken waiter gets to run,
 * until the waiter has waited for 1 ms. Then the mutex starves: the unlock hands over, and the
 * waiter runs at once. */
static void starving_program(int64_t hold_ns)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int f = as_func(&a, "waiter", 0, 2);
    as_obj(&a, OP_LOCK, mu);
    as_print(&a, "w ");
    as_obj(&a, OP_UNLOCK, mu);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_LOCK, mu);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED); /* the waiter parks */
    as_cpu(&a, hold_ns);
    as_const(&a, 0, 4);
    int loop = as_here(&a);
    as_obj(&a, OP_UNLOCK, mu); /* wakes the waiter, once */
    as_obj(&a, OP_LOCK, mu);
    as_print1(&a, "m%d ", 0);
    as_plain(&a, OP_GOSCHED); /* the woken waiter looks, and parks again or not */
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    as_obj(&a, OP_UNLOCK, mu);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
}

TEST_CASE(Mutex, RunningGoroutineBeatsTheWokenOne)
{
    starving_program(1000);
    check_all("m4 m3 m2 m1 w ");
}

TEST_CASE(Mutex, StarvingWaiterIsHandedTheLock)
{
    starving_program(2000000);
    /* Round 4 is lost to main; the waiter then finds that it waited over 1 ms and marks the mutex.
     */
    check_all("m4 w m3 m2 m1 ");
}
