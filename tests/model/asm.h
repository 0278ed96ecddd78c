/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs for tests, built instruction by instruction, and a runner for them.
 *
 *     struct as a;
 *     as_init(&a);
 *     int ch = as_object(&a, OBJ_CHAN, 0);
 *     int worker = as_func(&a, "worker", 1, 4);   // name, parameters, registers
 *         as_op(&a, OP_RECV, 1, NOREG, 0, ch, 0);
 *         as_print1(&a, "%d\n", 1);
 *         as_ret(&a);
 *     int main_ = as_func(&a, "main", 0, 4);
 *         ...
 *     as_run(&r, &a, (struct as_opts){.release = 27, .procs = 1});
 *     CHECK_STR(r.out, "5\n");
 *
 * A function ends where the next one begins; the last one is main. */
#ifndef GMPSIM_TESTS_MODEL_ASM_H
#define GMPSIM_TESTS_MODEL_ASM_H

#include "sim/base/event.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/api.h"
#include "program/build.h"
#include "sim/base/ending.h"

struct as {
    struct build b;
    struct mistakes mistakes;
    struct failure failure;
    bool done;
};

/* The memory of a program that stood there before is given back. */
void as_init(struct as *a);
int as_func(struct as *a, const char *name, int nparams, int nregs);
int as_object(struct as *a, enum object_kind kind, int64_t param);
int as_string(struct as *a, const char *s);
int as_select(struct as *a, bool has_default); /* the cases follow */
void as_case(struct as *a, bool send, int obj, int hreg, int reg);
/* All fields; gives the index of the instruction. */
uint32_t as_op(struct as *a, enum op op, int ra, int rb, int rc, int32_t d, int64_t imm);

int as_label(struct as *a);         /* a new one, not placed */
void as_place(struct as *a, int l); /* here */
int as_here(struct as *a);          /* new and placed */
void as_jump(struct as *a, enum op op, int ra, int rb, int64_t imm, int label);

/* Shorthands. */
void as_const(struct as *a, int reg, int64_t v);
void as_go(struct as *a, int func, int arg0, int nargs);
void as_call(struct as *a, int func, int arg0, int nargs, int result);
void as_ret(struct as *a);
void as_cpu(struct as *a, int64_t ns);
void as_sleep(struct as *a, int64_t ns);
void as_obj(struct as *a, enum op op, int obj); /* one without registers: LOCK, WGDONE, ... */
void as_send(struct as *a, int ch, int reg);
void as_recv(struct as *a, int ch, int reg);
void as_print(struct as *a, const char *text);
void as_print1(struct as *a, const char *fmt, int reg);
void as_print2(struct as *a, const char *fmt, int reg); /* reg, reg + 1 */
void as_plain(struct as *a, enum op op);                /* no operands: GOSCHED, LOCKOS, ... */

/* Finishes the program: main is the function defined last. Checks it. */
const struct program *as_done(struct as *a);

/* ---- running, on the host that the test program is linked with ---- */

struct as_opts {
    int release;     /* 0: the latest */
    int procs, cpus; /* 0: 1, dedicated */
    uint64_t seed;
    int64_t until_ms; /* 0: 100 s */
    const char *rule; /* one override, NULL none */
    int64_t value;
    const char *rule2;
    int64_t value2;
    int64_t quota_us;   /* of the CPU, per 100 ms; 0: none */
    int64_t later_us;   /* ... from later_ms on; 0: none any more */
    int64_t later_ms;   /* 0: no change */
    bool catch_throws;  /* a throw ends the run, not the test */
    bool default_procs; /* not `procs`: what the release takes for the machine */
    int schedtrace_ms;  /* SCHED lines into r.out; 0: none */
    bool scheddetail;
    event_sink_fn *sink; /* records go here; NULL: off */
    void *sink_arg;
};

struct as_result {
    enum world_end end;
    int kind;          /* enum finding_kind */
    char text[2048];   /* of the finding */
    char out[1 << 16]; /* prints */
    size_t nout;
    uint64_t fingerprint, now_ps, spin_ps;
    uint64_t counters[COUNTER_COUNT];
};

void as_run(struct as_result *r, struct as *a, struct as_opts o);

/* world_opts.print of who runs a program by itself; arg is a struct as_result. */
void as_take_print(void *arg, const char *text, size_t size);

#endif
