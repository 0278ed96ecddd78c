/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants hold at every moment: worlds with everything going on are stopped every few
 * nanoseconds of virtual time and looked at from outside. */
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "sim/base/fail.h"
#include "run/host.h"

static struct as a;

/* Goroutines that compute, send, sleep, lock, yield, call the system and start others; GOMAXPROCS
 * changes; garbage is made. */
static void busy_program(void)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), mu = as_object(&a, OBJ_MUTEX, 0);
    int ch = as_object(&a, OBJ_CHAN, 2);
    int leaf = as_func(&a, "leaf", 0, 2);
    as_cpu(&a, 3000);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    int f = as_func(&a, "worker", 1, 4);
    as_const(&a, 1, 6);
    int l = as_here(&a);
    as_send(&a, ch, 1);
    as_cpu(&a, 1700);
    as_obj(&a, OP_LOCK, mu);
    as_cpu(&a, 900);
    as_obj(&a, OP_UNLOCK, mu);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_go(&a, leaf, 0, 0);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 21000);
    as_recv(&a, ch, 2);
    as_sleep(&a, 5000);
    as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, 128 << 10);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 12);
    as_const(&a, 1, 12);
    l = as_here(&a);
    as_go(&a, f, 1, 1);
    as_jump(&a, OP_LOOP, 1, 0, 0, l);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 2);
    as_sleep(&a, 40000);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 6);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

/* Runs the world in slices; gives how often it was quiet. */
static unsigned check_world(int release, int procs, uint64_t seed, uint64_t slice_ps)
{
    struct profile prof;
    CHECK(profile_init(&prof, release));
    CHECK_EQ(profile_set(&prof, "ring_len", 4), 0);
    struct failure f = {0};
    const struct host_opts o = {
        .seed = seed,
        .throws_end_process = true,
        .world = {.profile = &prof, .program = as_done(&a), .procs = procs}};
    CHECK(world_open(&host_virt, &f, &o));
    unsigned quiet = 0;
    enum world_end why = END_TIME;
    const char *bad = NULL;
    uint64_t at = 2000000; /* the boot is not a world yet */
    for (; why == END_TIME && bad == NULL; at += slice_ps) {
        why = host_virt.run(at);
        bool q = host_virt.quiet();
        quiet += q;
        bad = host_virt.core->check(q);
    }
    host_virt.close();
    if (bad != NULL)
        FAIL_CASE("go1.%d procs %d seed %d at %d ns: %s", release, procs, (int)seed,
                  (int)(at / 1000), bad);
    CHECK_EQ(why, END_STOPPED);
    return quiet;
}

TEST_CASE(Check, InvariantsHoldAtEveryMoment)
{
    busy_program();
    unsigned quiet = 0;
    for (int release = 13; release <= 27; release++)
        for (int procs = 1; procs <= 4; procs++)
            quiet += check_world(release, procs, (uint64_t)(release * 10 + procs), 17301);
    CHECK(quiet > 1000); /* work conservation was looked at as well */
}
