/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_BENCH_PROGRAMS_H
#define GMPSIM_BENCH_PROGRAMS_H

/* The programs of bench/go/programs.go, for benchmarks that run them on a host. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/build.h"
#include "run/host.h"

static struct build to;
static struct pool *pool;
static struct failure failure;
static struct mistakes mistakes = {.f = &failure};

static void op(enum op o, int ra, int rb, int rc, int32_t d, int64_t imm)
{
    build_op(&to, o, ra, rb, rc, d, imm);
}

static int object(enum object_kind kind, int64_t param)
{
    return build_object(&to, kind, param, "o");
}

/* A function ends where the next one begins; the last one is main. */
static int func(const char *name, uint32_t nparams, uint16_t nregs)
{
    if (to.p.nfuncs > 0)
        build_leave(&to);
    int f = build_func(&to, name, nparams, (struct place){0});
    build_enter(&to, f);
    to.max_regs = nregs;
    return f;
}

static int here(void)
{
    int l = build_label(&to);
    build_here(&to, l);
    return l;
}
static void jump(enum op o, int reg, int label) { build_jump(&to, o, reg, 0, 0, label); }
static void ret(void) { op(OP_RET, NOREG, 0, 0, 0, 0); }
static void set(int reg, int64_t v) { op(OP_CONST, reg, 0, 0, 0, v); }
static void loop(int reg, int label) { jump(OP_LOOP, reg, label); }
static void on(enum op o, int obj) { op(o, 0, 0, 0, obj, 0); }
static void add(int wg, int64_t n) { op(OP_WGADD, NOREG, 0, 0, wg, n); }
static void go(int f, int arg, int n) { op(OP_GO, arg, n, 0, f, -1); }

/* ---- the programs ---- */

/* One pair of goroutines per pass; channels by handle, as Go's are by pointer. */
static void pairs(int64_t ops, int n)
{
    int wg = object(OBJ_WAITGROUP, 0);
    int pong = func("pong", 2, 4);
    int top = here(), answer = build_label(&to);
    op(OP_RECV, 2, 3, 0, OBJ_REG, 0);
    jump(OP_JNZ, 3, answer);
    ret();
    build_here(&to, answer);
    op(OP_SEND, 2, 0, 1, OBJ_REG, 0);
    jump(OP_JMP, 0, top);
    int ping = func("ping", 2, 4);
    set(2, ops / n / 2);
    top = here();
    op(OP_SEND, 3, 0, 0, OBJ_REG, 0);
    op(OP_RECV, NOREG, NOREG, 1, OBJ_REG, 0);
    loop(2, top);
    op(OP_CLOSE, 0, 0, 0, OBJ_REG, 0);
    on(OP_WGDONE, wg);
    ret();
    func("main", 0, 4);
    add(wg, n);
    set(3, n);
    top = here();
    op(OP_MAKE, 0, OBJ_CHAN, NOREG, 0, 0);
    op(OP_MAKE, 1, OBJ_CHAN, NOREG, 0, 0);
    go(pong, 0, 2);
    go(ping, 0, 2);
    loop(3, top);
    on(OP_WGWAIT, wg);
    ret();
}

static void pingpong(int64_t ops, int64_t n) { pairs(ops, (int)n); }

/* n goroutines, each with body `o` on `obj` so often that it is ops in all. */
static void many(int64_t ops, int64_t n, void (*body)(int obj), int obj)
{
    int wg = object(OBJ_WAITGROUP, 0);
    int f = func("f", 0, 2);
    set(0, (ops + n - 1) / n);
    int top = here();
    body(obj);
    loop(0, top);
    on(OP_WGDONE, wg);
    ret();
    func("main", 0, 2);
    add(wg, n);
    set(0, n);
    top = here();
    go(f, 0, 0);
    loop(0, top);
    on(OP_WGWAIT, wg);
    ret();
}

static void body_gosched(int obj) { on(OP_GOSCHED, obj); }
static void body_sleep(int obj) { op(OP_SLEEP, obj, NOREG, 0, -1, 1000000); }
static void body_lock(int obj)
{
    on(OP_LOCK, obj);
    on(OP_GOSCHED, 0);
    on(OP_UNLOCK, obj);
}

static void gosched(int64_t ops, int64_t n) { many(ops, n, body_gosched, 0); }
static void sleep_storm(int64_t ops, int64_t n) { many(ops, n, body_sleep, 0); }
static void mutex_handoff(int64_t ops, int64_t n)
{
    int mutex = object(OBJ_MUTEX, 0);
    many(ops, n, body_lock, mutex);
}

static void spawn_exit(int64_t ops, int64_t n)
{
    (void)n;
    int done = object(OBJ_CHAN, 0);
    int f = func("f", 0, 1);
    op(OP_SEND, 0, 0, 0, done, 0);
    ret();
    func("main", 0, 2);
    set(0, ops);
    int top = here();
    go(f, 0, 0);
    op(OP_RECV, NOREG, NOREG, 0, done, 0);
    loop(0, top);
    ret();
}

/* Bursts of n goroutines that burn a little and are waited for. */
static void bursts(int64_t ops, int64_t n, int64_t cpu_ns)
{
    int wg = object(OBJ_WAITGROUP, 0);
    int f = func("f", 0, 1);
    if (cpu_ns > 0)
        op(OP_CPU, CPU_tight, NOREG, 0, -1, cpu_ns);
    on(OP_WGDONE, wg);
    ret();
    func("main", 0, 2);
    set(0, ops / n);
    int top = here();
    add(wg, n);
    set(1, n);
    int start = here();
    go(f, 0, 0);
    loop(1, start);
    on(OP_WGWAIT, wg);
    loop(0, top);
    ret();
}

static void fanout(int64_t ops, int64_t n) { bursts(ops, n, 0); }
static void steal_storm(int64_t ops, int64_t n) { bursts(ops, n, 100); }

static void worker_pool(int64_t ops, int64_t n)
{
    int jobs = object(OBJ_CHAN, 128), wg = object(OBJ_WAITGROUP, 0);
    int f = func("worker", 0, 2);
    int top = here();
    op(OP_RECV, 0, 1, 0, jobs, 0);
    jump(OP_JNZ, 1, top);
    on(OP_WGDONE, wg);
    ret();
    func("main", 0, 2);
    add(wg, n);
    for (int64_t i = 0; i < n; i++)
        go(f, 0, 0);
    set(0, ops);
    top = here();
    op(OP_SEND, 0, 0, 0, jobs, 0);
    loop(0, top);
    on(OP_CLOSE, jobs);
    on(OP_WGWAIT, wg);
    ret();
}

/* ---- one of them ---- */

struct program_case {
    const char *name;
    int procs;
    int64_t ops, n;
    void (*make)(int64_t ops, int64_t n);
};

static _Noreturn void programs_stop(const char *name, const char *text)
{
    fprintf(stderr, "bench: %s: %s\n", name, text);
    exit(3);
}

static const struct program *programs_make(const struct program_case *c)
{
    if (pool != NULL)
        pool_free(pool);
    pool = pool_new();
    if (setjmp(mistakes.jump) != 0)
        programs_stop(c->name, failure.text);
    build_init(&to, pool, &mistakes);
    c->make(c->ops, c->n);
    build_leave(&to);
    return build_done(&to, to.p.nfuncs - 1, (struct place){0});
}

#endif
