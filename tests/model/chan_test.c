/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: what a send, a receive and a close do to whom, and in which order waiters run afterwards (facts 4.1, 4.2, 9). */
#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

/* go worker(1..n), each with its number */
static void spawn(int func, int n)
{
    for (int i = 1; i <= n; i++) {
        as_const(&a, 0, i);
        as_go(&a, func, 0, 1);
    }
}

TEST_CASE(Chan, SpawnOrderOfFive)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 2);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 5);
    spawn(f, 5);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    for (int rel = 13; rel <= 27; rel++) {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.end, AS_STOPPED);
        CHECK_STR(r.out, "5 1 2 3 4 ");
    }
}
