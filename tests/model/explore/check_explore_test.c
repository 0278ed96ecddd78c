/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the invariants hold under every memory model, and the checks would see it if they did not.
 * Method: a program with everything going on, in random schedules, looked at before every point and
 * whenever nobody can go on; then the same with one invariant broken on purpose. */
#include "harness.h"
#include "run_explore.h"

static struct as a;

/* Goroutines that send, lock, yield, sleep and call the system; GOMAXPROCS changes. */
static void busy_program(void)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), mu = as_object(&a, OBJ_MUTEX, 0);
    int ch = as_object(&a, OBJ_CHAN, 1), end = as_object(&a, OBJ_CHAN, 0);
    int waiter = as_func(&a, "waiter", 0, 2);
    as_recv(&a, end, 1);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    int f = as_func(&a, "worker", 1, 4);
    as_send(&a, ch, 0);
    as_obj(&a, OP_LOCK, mu);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_UNLOCK, mu);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 30000);
    as_recv(&a, ch, 2);
    as_sleep(&a, 5000);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 7);
    as_go(&a, waiter, 0, 0);
    as_const(&a, 1, 6);
    int l = as_here(&a);
    as_go(&a, f, 1, 1);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 2);
    as_sleep(&a, 20000);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 3);
    as_sleep(&a, 20000);
    as_obj(&a, OP_CLOSE, end);
    as_obj(&a, OP_WGWAIT, wg);
    as_print(&a, "done");
    as_ret(&a);
}

static const int releases[] = {13, 16, 19, 22, 25, 26, 27};
enum { RELEASES = sizeof releases / sizeof *releases };

static struct as_explore of(int release, int memory, uint64_t runs)
{
    return (struct as_explore){.release = release,
                               .procs = 3,
                               .memory = (enum mm_kind)memory,
                               .seed = (uint64_t)release,
                               .runs = runs,
                               .out = "done"};
}

TEST_CASE(ExploreCheck, InvariantsHoldUnderEveryMemoryModel)
{
    busy_program();
    for (int i = 0; i < RELEASES; i++)
        for (int memory = MM_SC; memory < MM_KINDS; memory++)
            as_explore(&a, of(releases[i], memory, 30));
}

/* What the check of each invariant says when that is broken. */
static const char *const words[PLANT_COUNT] = {
    [PLANT_status] = "a status that does not exist",
    [PLANT_running] = "not what its M runs",
    [PLANT_queue] = "in two queues",
    [PLANT_wait] = "nothing would wake a waiting G",
    [PLANT_spinning] = "not the number of spinning Ms",
    [PLANT_idle_m] = "an idle M is not idle",
    [PLANT_lost_p] = "a P is in no place",
    [PLANT_locks] = "an idle M sleeps with locks",
};

TEST_CASE(ExploreCheck, EveryInvariantIsSeenBrokenUnderEveryMemoryModel)
{
    busy_program();
    for (int what = 0; what < PLANT_COUNT; what++)
        for (int memory = MM_SC; memory < MM_KINDS; memory++)
            for (int i = 0; i < RELEASES; i++) {
                struct as_explore e = of(releases[i], memory, 20);
                uint64_t found = as_explore_plant(&a, e, (enum core_plant)what, words[what]);
                if (found < e.runs / 4)
                    FAIL_CASE("go1.%d, %s, %s: only in %d runs", e.release, mm_kind_name(e.memory),
                              words[what], (int)found);
            }
}
