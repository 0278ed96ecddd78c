/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: which finalizers and cleanups run, when, and on how many goroutines. Method: small programs
 * whose prints follow from the rules of the release. What real Go prints is in tests/golden. */
#include <string.h>

#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

enum { US = 1000, MS = 1000000, MB = 1 << 20 };

static void prints(int release, int procs, const char *want)
{
    as_run(&r, &a, (struct as_opts){.release = release, .procs = procs});
    CHECK_STR(r.text, "");
    CHECK_EQ(r.end, END_STOPPED);
    if (strcmp(r.out, want) != 0)
        FAIL_CASE("go1.%d, %d Ps: \"%s\", not \"%s\"", release, procs, r.out, want);
}

/* A function that prints its argument if it is one of these. */
static int prints_some(const int *which, int n)
{
    int f = as_func(&a, "f", 1, 2), yes = as_label(&a);
    for (int i = 0; i < n; i++)
        as_jump(&a, OP_JEQI, 0, 0, which[i], yes);
    as_ret(&a);
    as_place(&a, yes);
    as_print1(&a, "%d ", 0);
    as_ret(&a);
    return f;
}

/* n specials with the arguments 0 to n - 1. */
static void drop(enum op op, int f, int n)
{
    as_const(&a, 0, 0);
    int l = as_here(&a);
    as_op(&a, op, 0, 1, 0, f, 0);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_jump(&a, OP_JLTI, 0, 0, n, l);
}

/* The last 44 of 300 are in the span from which the P allocates: swept as marking ends. The others
 * fill two spans: runtime.GC sweeps one and yields, the sweeper has the other. (Up to 1.18
 * nobody looks for queued finalizers as long as there is somebody in the ring.) */
TEST_CASE(Finalizer, AFullSpanIsSweptLater)
{
    static const int which[] = {299, 256, 255, 128, 127, 0};
    as_init(&a);
    int f = prints_some(which, 6);
    as_func(&a, "main", 0, 2);
    drop(OP_FINALIZER, f, 300);
    as_plain(&a, OP_GC);
    as_sleep(&a, MS);
    as_ret(&a);
    for (int release = 19; release <= 27; release++)
        prints(release, 1, "299 256 127 0 255 128 ");
}

/* What is dropped while the collector marks is found by the next collection, and what the first has
 * found is queued before the next begins to mark. */
TEST_CASE(Finalizer, RunsOfWhatWasDroppedBefore)
{
    as_init(&a);
    int late = as_func(&a, "late", 0, 2);
    as_print(&a, "late ");
    as_ret(&a);
    int collector = as_func(&a, "collector", 0, 2);
    as_plain(&a, OP_GC);
    as_print(&a, "one ");
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 64 * MB);
    as_plain(&a, OP_GC); /* the allocation has started one as well */
    as_go(&a, collector, 0, 0);
    as_sleep(&a, 5 * MS);
    as_op(&a, OP_FINALIZER, 0, 0, 0, late, 0);
    as_sleep(&a, 200 * MS);
    as_print(&a, "two ");
    as_plain(&a, OP_GC);
    as_sleep(&a, MS);
    as_ret(&a);
    for (int release = 13; release <= 27; release++)
        prints(release, 2, "one two late ");
}

/* Its function may do all that a goroutine does; one that panics and recovers has returned. */
TEST_CASE(Finalizer, FunctionsBlockPanicAndStartGoroutines)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    int rescue = as_func(&a, "rescue", 0, 2);
    as_op(&a, OP_RECOVER, 0, NOREG, 0, 0, 0);
    as_print1(&a, "recovered %d ", 0);
    as_ret(&a);
    int f = as_func(&a, "f", 0, 2);
    as_op(&a, OP_DEFER, 0, 0, 0, rescue, 0);
    as_sleep(&a, MS);
    as_op(&a, OP_PANIC, NOREG, 0, 0, as_string(&a, "no"), 0);
    int child = as_func(&a, "child", 0, 2);
    as_const(&a, 0, 5);
    as_send(&a, ch, 0);
    as_ret(&a);
    int g = as_func(&a, "g", 0, 2);
    as_go(&a, child, 0, 0);
    as_recv(&a, ch, 1);
    as_print1(&a, "got %d ", 1);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_FINALIZER, 0, 0, 0, g, 0);
    as_op(&a, OP_FINALIZER, 0, 0, 0, f, 0);
    as_plain(&a, OP_GC);
    as_sleep(&a, 5 * MS);
    as_ret(&a);
    for (int release = 13; release <= 27; release++)
        prints(release, 1 + release % 2, "recovered 1 got 5 ");
}

/* ---- cleanups ---- */

/* Two rounds of 300 that take 20 us each; prints the largest number that ran at once in the second.
 * The first tells how many goroutines are needed, the next AddCleanup makes them. */
static void two_rounds(void)
{
    as_init(&a);
    int now = as_object(&a, OBJ_VAR, 0), most = as_object(&a, OBJ_VAR, 0);
    int f = as_func(&a, "f", 1, 4), less = as_label(&a);
    as_op(&a, OP_ADDA, 1, NOREG, 0, now, 1);
    as_op(&a, OP_LOADA, 2, 0, 0, most, 0);
    as_jump(&a, OP_JLE, 1, 2, 0, less);
    as_op(&a, OP_STOREA, 1, 0, 0, most, 0);
    as_place(&a, less);
    as_sleep(&a, 20 * US);
    as_op(&a, OP_ADDA, NOREG, NOREG, 0, now, -1);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    for (int round = 0; round < 2; round++) {
        as_const(&a, 1, 0);
        as_op(&a, OP_STOREA, 1, 0, 0, most, 0);
        drop(OP_CLEANUP, f, 300);
        as_plain(&a, OP_GC);
        as_sleep(&a, 500 * MS);
    }
    as_op(&a, OP_LOADA, 0, 0, 0, most, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
}

TEST_CASE(Cleanup, BlocksGoToAQuarterOfThePs)
{
    two_rounds();
    prints(23, 16, "1");
    prints(24, 16, "1");
    for (int release = 25; release <= 27; release++) {
        prints(release, 1, "1");
        prints(release, 7, "1");
        prints(release, 8, "2");
        prints(release, 16, "4");
    }
}

/* 40 Ps may have 10 goroutines. 300 are 5 blocks of 60 in 1.25, too few for these, and 15 blocks of
 * 20 since 1.26: with one goroutine for every two Ps there would be use for more than 10. */
TEST_CASE(Cleanup, ABlockIsOneGoroutines)
{
    two_rounds();
    prints(25, 40, "5");
    prints(26, 40, "10");
}

/* ---- enlisting ---- */

/* The heap is found while it is marked, so that most workers find nothing at first and go; since
 * 1.26 they are called back. */
TEST_CASE(Enlist, AMarkerWakesAnIdleP)
{
    uint64_t took[2];
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 64 * MB);
    as_plain(&a, OP_GC);
    as_ret(&a);
    for (int i = 0; i < 2; i++) {
        as_run(&r, &a,
               (struct as_opts){.release = 25 + i, .procs = 8, .rule = "gc_fanout", .value = 2});
        CHECK_EQ(r.end, END_STOPPED);
        took[i] = r.now_ps;
    }
    CHECK(took[1] < took[0] / 3);
}
