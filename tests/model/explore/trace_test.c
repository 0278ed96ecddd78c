/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: whoever traces is found, and the end of a trace comes, in whatever order. Method: a trace
 * around a hand-over between two goroutines and a sleep, in random schedules under every memory
 * model and in the releases that do it differently. */
#include "harness.h"
#include "run_explore.h"

static struct as a;

static void world(void)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 4);
    as_recv(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_plain(&a, OP_TRACESTART);
    as_go(&a, f, 0, 0);
    as_const(&a, 0, 7);
    as_send(&a, ch, 0);
    as_sleep(&a, 100000); /* the reader has read all there is, and parks */
    as_plain(&a, OP_TRACESTOP);
    as_print(&a, "stopped");
    as_ret(&a);
}

TEST_CASE(ExploreTrace, ComesToItsEnd)
{
    static const int releases[] = {13, 19, 21, 22, 25, 27};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (int memory = 0; memory < MM_KINDS; memory++) {
            world();
            as_explore(&a, (struct as_explore){.release = releases[i],
                                               .procs = 2,
                                               .memory = (enum mm_kind)memory,
                                               .seed = i,
                                               .runs = 40,
                                               .out = "stopped"});
        }
}
