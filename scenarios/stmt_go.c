/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about goroutines, threads and the scheduler; and about time and work. */
#include "scenarios/gengo_int.h"
#include "sim/base/syscall.h"

/* ---- goroutines ---- */

static void emit_go(struct cc *c, const struct stmt *s)
{
    const struct part *count = part_of(s, "count"), *group = part_of(s, "group");
    const struct callee *f = s->part[0].callee;
    uint8_t index = emit_into(c, s, "index", KIND_NUMBER);
    int top = build_label(&c->b), end = build_label(&c->b);
    if (count != NULL) {
        if (index == NOREG)
            index = build_reg(&c->b, s->part[0].at);
        uint8_t limit = emit_rounds(c, count);
        build_op(&c->b, OP_CONST, index, 0, 0, 0, 0);
        build_here(&c->b, top);
        uint8_t more = build_reg(&c->b, s->part[0].at);
        build_op(&c->b, OP_LT, more, index, limit, 0, 0);
        build_jump(&c->b, OP_JZ, more, 0, 0, end);
    }
    uint8_t first = emit_callee(c, f);
    const char *name = group != NULL ? group->text : c->b.funcs[f->func].name;
    build_op(&c->b, OP_GO, first, c->b.funcs[f->func].nparams, 0, f->func,
             build_group(&c->b, name));
    if (count != NULL) {
        build_op(&c->b, OP_ADDI, index, index, 0, 0, 1);
        build_jump(&c->b, OP_JMP, 0, 0, 0, top);
    }
    build_here(&c->b, end);
}

static void one_go(struct gen *g, const struct stmt *s)
{
    gen_call_line(g, "go ", s->part[0].callee, "");
}

static void go_go(struct gen *g, const struct stmt *s)
{
    const struct part *count = part_of(s, "count");
    if (count == NULL)
        one_go(g, s);
    else
        gen_counted(g, s, count->x, one_go);
}

static const struct statement goroutines_statements[] = {
    {.field = {CALLEE("go"), ARGS, OPTIONAL("count", F_TIMES), OPTIONAL("index", F_INDEX),
               OPTIONAL("group", F_LABEL)},
     .what = "Starts goroutines. `count` of them, each with its `index`; `group` is their name in "
             "reports (default: the function's).",
     .example = "{\"go\": \"worker\", \"count\": 8, \"index\": \"i\", \"args\": [\"i\"], "
                "\"group\": \"pool\"}",
     .forgets = true,
     .emit = emit_go,
     .gen = go_go},
    {.field = {YES("gosched")},
     .what = "runtime.Gosched.",
     .example = "{\"gosched\": true}",
     .op = OP_GOSCHED,
     .go = "runtime.Gosched()"},
    {.field = {YES("goexit")},
     .what = "runtime.Goexit.",
     .example = "{\"goexit\": true}",
     .flow = FLOW_ENDS,
     .op = OP_GOEXIT,
     .go = "runtime.Goexit()"},
    {.field = {COUNT("gomaxprocs", SLOT_B, 0), NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "runtime.GOMAXPROCS; into gets the old value. 0 asks.",
     .example = "{\"gomaxprocs\": 4, \"into\": \"old\"}",
     .op = OP_GOMAXPROCS,
     .go = "runtime.GOMAXPROCS(int({gomaxprocs}))",
     .wrap = "int64"},
    {.field = {YES("lock_os_thread")},
     .what = "runtime.LockOSThread.",
     .example = "{\"lock_os_thread\": true}",
     .op = OP_LOCKOS,
     .go = "runtime.LockOSThread()"},
    {.field = {YES("unlock_os_thread")},
     .what = "runtime.UnlockOSThread.",
     .example = "{\"unlock_os_thread\": true}",
     .op = OP_UNLOCKOS,
     .go = "runtime.UnlockOSThread()"},
};
GROUP(goroutines, "Goroutines and the scheduler");

/* ---- time and work ---- */

static void go_cpu(struct gen *g, const struct stmt *s)
{
    const struct part *kind = part_of(s, "kind");
    gen_line(g, "%s(%s)", kind == NULL || kind->n == 0 ? "simCPU" : "simTight",
             gen_show(g, gen_amount(g, s->part[0].amount), 1));
}

/* C code that calls a Go function of one parameter back, on this thread or on one of its own. */
static void emit_cgo_callback(struct cc *c, const struct stmt *s)
{
    const struct part *after = part_of(s, "after"), *thread = part_of(s, "thread");
    const struct callee *f = s->part[0].callee;
    struct drawn d = {-1, NOREG, 0};
    if (after != NULL)
        d = emit_drawn(c, after);
    uint8_t arg = emit_value(c, f->args.x[0]);
    kind_pass(&c->b, arg, f->func, 0);
    build_op(&c->b, OP_CGOCB, thread != NULL ? (int)thread->n : 0, d.b, arg, f->func, d.imm);
}

static void go_cgo_callback(struct gen *g, const struct stmt *s)
{
    const struct part *after = part_of(s, "after");
    if (after != NULL)
        gen_line(g, "simSyscall(%s)", gen_show(g, gen_amount(g, after->amount), 1));
    gen_call_line(g, "", s->part[0].callee, "");
}

static void go_syscall(struct gen *g, const struct stmt *s)
{
    const struct part *kind = part_of(s, "kind");
    const char *f = kind != NULL && kind->n == SYSCALL_PIPE   ? "simPipeRead"
                    : kind != NULL && kind->n == SYSCALL_FILE ? "simFileRead"
                                                              : "simSyscall";
    gen_line(g, "%s(%s)", f, gen_show(g, gen_amount(g, s->part[0].amount), 1));
}

static void go_later(struct gen *g, const struct stmt *s)
{
    gen_later_line(g,
                   s->is->op == OP_FINALIZER
                       ? "simFinalizer("
                       : "runtime.AddCleanup(new(simObject), func(f func()) { f() }, ",
                   s->part[0].callee);
}

static const char *const cpu_kinds[] = {"normal", "tight", "nopreempt", NULL},
                         *const call_kinds[] = {"blocking", "short", NULL},
                         *const syscall_kinds[] = {"blocking", "short", "pipe", "file", NULL},
                         *const threads[] = {"same", "foreign", NULL};
static const uint8_t off_the_cpu[] = {SYSCALL_SLEEP, SYSCALL_SPIN},
                     what_it_does[] = {SYSCALL_SLEEP, SYSCALL_SPIN, SYSCALL_PIPE, SYSCALL_FILE};

static const struct statement work_statements[] = {
    {.field = {AMOUNT("cpu"), WORD("kind", SLOT_A, cpu_kinds, NULL)},
     .what =
         "Computes for that long. `kind`: `normal` has calls and is asked to stop; `tight` is a "
         "loop without calls, stopped by a signal only (never up to 1.13); `nopreempt` has no "
         "safe point.",
     .example = "{\"cpu\": {\"exp\": \"50us\"}, \"kind\": \"tight\"}",
     .op = OP_CPU,
     .gen = go_cpu},
    {.field = {AMOUNT("sleep")},
     .what = "time.Sleep.",
     .example = "{\"sleep\": {\"uniform\": [\"1ms\", \"5ms\"]}}",
     .op = OP_SLEEP,
     .go = "time.Sleep(time.Duration({sleep}))"},
    {.field = {AMOUNT("syscall"), WORD("kind", SLOT_A, syscall_kinds, what_it_does)},
     .what = "A system call of that duration. Off the CPU: `kind` `blocking` (default, a sleep) or "
             "`pipe` (a read that waits for a writer). On it: `short`, or `file` (a read from the "
             "page cache).",
     .example = "{\"syscall\": \"10us\", \"kind\": \"short\"}",
     .op = OP_SYSCALL,
     .gen = go_syscall},
    {.field = {AMOUNT("exec")},
     .what = "syscall.Exec of something that cannot be executed: it fails after that long. No "
             "thread is made meanwhile.",
     .example = "{\"exec\": \"100us\"}",
     .op = OP_EXEC,
     .go = "simExec({exec})"},
    {.field = {AMOUNT("cgo"), WORD("kind", SLOT_A, call_kinds, off_the_cpu)},
     .what = "A C call of that duration. `kind`: `blocking` (default) or `short`, as `syscall`.",
     .example = "{\"cgo\": \"20us\"}",
     .op = OP_CGOCALL,
     .go = "simSyscall({cgo})"},
    {.field = {{.key = "cgo_callback", .kind = F_CALLEE, .need = true, .other = 1},
               OPTIONAL("arg", F_OF_CALLEE),
               OPTIONAL("after", F_DRAWN),
               WORD("thread", SLOT_A, threads, NULL)},
     .what = "C code that calls a Go function of one parameter back. `thread`: `same` (default) or "
             "`foreign`, a thread made by C; `after`: how long the C code runs first.",
     .example = "{\"cgo_callback\": \"back\", \"arg\": 7, \"after\": \"50us\", \"thread\": "
                "\"foreign\"}",
     .op = OP_CGOCB,
     .emit = emit_cgo_callback,
     .gen = go_cgo_callback},
    {.field = {BYTES("alloc"), FLAG("live", SLOT_A)},
     .what = "Allocates bytes. Garbage at once, or live until `free`. Drives the collector. A heap "
             "above 1024GB ends the run: `runtime: out of memory`.",
     .example = "{\"alloc\": \"64KB\", \"live\": true}",
     .op = OP_ALLOC,
     .go = "simAlloc({alloc:2}, {live})"},
    {.field = {BYTES("free")},
     .what = "So many live bytes become garbage.",
     .example = "{\"free\": \"64KB\"}",
     .op = OP_FREE,
     .go = "simFree({free})"},
    {.field = {YES("gc")},
     .what = "runtime.GC.",
     .example = "{\"gc\": true}",
     .op = OP_GC,
     .go = "runtime.GC()"},
    {.field = {CALLEE("finalizer"), ARGS},
     .what =
         "An object is made and dropped; the function is its finalizer (runtime.SetFinalizer): it "
         "runs on the one finalizer goroutine once a collection that began later has swept. A "
         "body in place is possible as well.",
     .example = "{\"finalizer\": \"close\", \"args\": [\"i\"]}",
     .op = OP_FINALIZER,
     .gen = go_later},
    {.field = {CALLEE("cleanup"), ARGS},
     .what =
         "An object is made and dropped; the function is its cleanup (runtime.AddCleanup): since "
         "1.25 on up to a quarter as many goroutines as there are Ps; 1.24, and releases before "
         "it that have no AddCleanup, use the finalizer goroutine.",
     .example = "{\"cleanup\": [{\"atomic_add\": \"n\"}]}",
     .op = OP_CLEANUP,
     .gen = go_later},
    {.field = {NEW_NAME("leak_profile", SLOT_A, KIND_NUMBER)},
     .what = "Collects and looks for leaked goroutines (1.26+); n gets how many, -1 before.",
     .example = "{\"leak_profile\": \"n\"}",
     .op = OP_LEAKS,
     .go = "simLeakProfile()"},
    {.field = {YES("read_mem_stats")},
     .what = "runtime.ReadMemStats: stops the world, also during a collection.",
     .example = "{\"read_mem_stats\": true}",
     .op = OP_READMEM,
     .go = "runtime.ReadMemStats(new(runtime.MemStats))"},
    {.field = {YES("trace_start")},
     .what = "runtime/trace.Start: a goroutine reads the trace and writes it (`trace_write_ns` a "
             "buffer of `trace_buf_events`). A second one does nothing.",
     .example = "{\"trace_start\": true}",
     .op = OP_TRACESTART,
     .go = "simTraceStart()"},
    {.field = {YES("trace_stop")},
     .what = "runtime/trace.Stop: waits until everything was read.",
     .example = "{\"trace_stop\": true}",
     .op = OP_TRACESTOP,
     .go = "trace.Stop()"},
};
GROUP(work, "Time and work");
