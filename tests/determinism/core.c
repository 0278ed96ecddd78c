/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler core on the virtual host must do the same everywhere: one line per program,
 * release, procs and CPUs with the fingerprint of all events and values, the virtual
 * time at the end, and what the program printed last.
 * libs: gmpsim_build gmpsim_host_virt gmpsim_base
 */
#include "asm.h"
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/base/no_malloc.h"

/* The same with and without: a static program has one allocator only, libc's. */
void no_malloc_begin(void) {}
void no_malloc_end(void) {}

static struct as a;
static struct as_result r;

/* The harness without GoogleTest: what would fail a case ends the program. */
void harness_report(struct harness_at at, const char *text, bool skip)
{
    fprintf(stderr, "%s:%d: %s%s\n", at.file, at.line, skip ? "skipped: " : "", text);
    exit(1);
}

static void op_random(int reg, int64_t below) { as_op(&a, OP_RANDI, reg, 0, 0, 0, below); }

static void op_cpu_reg(int reg) { as_op(&a, OP_CPU, 0, reg, 0, -1, 0); }

/* for i := n; i > 0; i-- { go func(i) } with WaitGroup wg, then wait and print. */
static void spawn_and_wait(int func, int n, int wg)
{
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
    as_const(&a, 0, n);
    int loop = as_here(&a);
    as_go(&a, func, 0, 1);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_NUMGOROUTINE, 1, 0, 0, 0, 0);
    as_print1(&a, "%d left", 1);
    as_ret(&a);
}

/* Everything that queues somewhere: CPU, mutex, syscalls, sleeps, memory. */
static void make_storm(void)
{
    int mutex = as_object(&a, OBJ_MUTEX, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int worker = as_func(&a, "worker", 1, 4);

    as_const(&a, 1, 5);
    int loop = as_here(&a);
    op_random(2, 30000);
    op_cpu_reg(2);
    as_obj(&a, OP_LOCK, mutex);
    as_cpu(&a, 700);
    as_obj(&a, OP_UNLOCK, mutex);
    as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, 20000);
    op_random(2, 40000);
    as_op(&a, OP_SYSCALL, 1, 2, 0, -1, 0);
    op_random(2, 60000);
    as_op(&a, OP_SLEEP, 0, 2, 0, -1, 0);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    spawn_and_wait(worker, 60, wg);
}

/* Values through channels, chosen by select: the last print is their sum. */
static void make_select(void)
{
    int c1 = as_object(&a, OBJ_CHAN, 0), c2 = as_object(&a, OBJ_CHAN, 3);
    int sum = as_object(&a, OBJ_VAR, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int take = as_select(&a, false);
    as_case(&a, false, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    int give = as_select(&a, false);
    as_case(&a, true, c1, 0, 0);
    as_case(&a, true, c2, 0, 0);

    int giver = as_func(&a, "giver", 1, 4);
    as_const(&a, 1, 20);
    int giving = as_here(&a);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, give, 0);
    as_jump(&a, OP_LOOP, 1, 0, 0, giving);
    as_ret(&a);

    int taker = as_func(&a, "taker", 1, 4);
    as_go(&a, giver, 0, 1);
    as_const(&a, 1, 20);
    int taking = as_here(&a);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, take, 0);
    as_op(&a, OP_ADDA, NOREG, 2, 0, sum, 0);
    as_jump(&a, OP_LOOP, 1, 0, 0, taking);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    spawn_and_wait(taker, 20, wg);
}

static void run(const char *name, void (*build)(void))
{
    static const int releases[] = {13, 14, 17, 19, 21, 23, 25, 26, 27};
    static const struct {
        int procs, cpus;
    } hosts[] = {{1, 0}, {4, 0}, {8, 2}};

    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        for (size_t h = 0; h < sizeof hosts / sizeof hosts[0]; h++) {
            struct as_opts o = {
                .release = releases[i], .procs = hosts[h].procs, .cpus = hosts[h].cpus, .seed = 33};
            as_init(&a);
            build();
            as_run(&r, &a, o);
            printf("%s go1.%d procs=%d cpus=%d %016" PRIx64 " %" PRIu64 " ps, end %d, %s%s\n", name,
                   o.release, o.procs, o.cpus, r.fingerprint, r.now_ps, (int)r.end, r.out, r.text);
        }
}

int main(void)
{
    run("storm", make_storm);
    run("select", make_select);
    return 0;
}
