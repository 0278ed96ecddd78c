/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to simulate what bench/go does for real: the same programs on the virtual host, one
 * world each, records off. Beside each its figure in real Go from the same run of this program, if
 * a Go is installed (bench/go/run.sh finds it; GO=/path/to/go chooses it). Arguments: names that
 * begin so.
 *
 * libs: gmpsim_build gmpsim_host_virt
 */
#include <stdbool.h>

#include "bench.h"
#include "program/build.h"
#include "run/host.h"

enum { REPS = 3, NAME_MAX_LEN = 40 };

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

/* ---- the programs of bench/go/programs.go ---- */

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

/* ---- measuring ---- */

struct program_case {
    const char *name;
    int procs;
    int64_t ops, n;
    void (*make)(int64_t ops, int64_t n);
};

/* Names, numbers of Ps and meaning as in bench/go/bench.go. */
static const struct program_case programs[] = {
    {"pingpong_p1", 1, 400000, 1, pingpong},
    {"gosched_2_p1", 1, 800000, 2, gosched},
    {"gosched_100_p1", 1, 800000, 100, gosched},
    {"gosched_1e4_p1", 1, 800000, 10000, gosched},
    {"gosched_1e5_p1", 1, 800000, 100000, gosched},
    {"spawn_exit_p1", 1, 300000, 0, spawn_exit},
    {"pingpong_32_p2", 2, 400000, 32, pingpong},
    {"fanout_1e4_p1", 1, 200000, 10000, fanout},
    {"fanout_1e4_p2", 2, 200000, 10000, fanout},
    {"worker_pool_p1", 1, 400000, 8, worker_pool},
    {"worker_pool_p2", 2, 400000, 8, worker_pool},
    {"mutex_handoff_p1", 1, 300000, 2, mutex_handoff},
    {"sleep_storm_1e4_p1", 1, 100000, 10000, sleep_storm},
    {"sleep_storm_1e4_p2", 2, 100000, 10000, sleep_storm},
    {"steal_storm_p2", 2, 100000, 200, steal_storm},
    {"steal_storm_p8", 8, 100000, 200, steal_storm},
    {"steal_storm_p64", 64, 100000, 200, steal_storm},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static _Noreturn void stop(const char *name, const char *text)
{
    fprintf(stderr, "bench_model_switch: %s: %s\n", name, text);
    exit(3);
}

static const struct program *make(const struct program_case *c)
{
    if (pool != NULL)
        pool_free(pool);
    pool = pool_new();
    if (setjmp(mistakes.jump) != 0)
        stop(c->name, failure.text);
    build_init(&to, pool, &mistakes);
    c->make(c->ops, c->n);
    build_leave(&to);
    return build_done(&to, to.p.nfuncs - 1, (struct place){0});
}

struct measured {
    double ns_op, ns_switch;
};

static struct measured run_once(const struct program_case *c, const struct program *p)
{
    struct failure f = {0};
    struct profile prof;
    const struct host_opts o = {.seed = 1,
                                .world = {.profile = &prof, .program = p, .procs = c->procs}};
    uint64_t counters[COUNTER_COUNT];
    profile_init(&prof, PROFILE_LATEST);
    profile_set(&prof, "gc_percent", -1);
    if (!world_open(&host_virt, &f, &o))
        stop(c->name, f.text);
    uint64_t t = bench_cpu_ns();
    if (host_virt.run(UINT64_MAX) != END_STOPPED)
        stop(c->name, host_virt.verdict()->text);
    t = bench_cpu_ns() - t;
    host_virt.core->counters(counters);
    host_virt.close();
    return (struct measured){(double)t / (double)c->ops,
                             (double)t / (double)counters[COUNTER_switches]};
}

static int by_op(const void *a, const void *b)
{
    double x = ((const struct measured *)a)->ns_op, y = ((const struct measured *)b)->ns_op;
    return (x > y) - (x < y);
}

static struct measured measure(const struct program_case *c)
{
    struct measured m[REPS];
    const struct program *p = make(c);
    for (int i = 0; i < REPS; i++)
        m[i] = run_once(c, p);
    qsort(m, REPS, sizeof *m, by_op);
    return m[REPS / 2];
}

/* ---- real Go ---- */

struct go_line {
    char name[NAME_MAX_LEN];
    double ns;
};

/* CPU ns per operation of real Go; the comment lines go through. */
static int run_go(struct go_line *lines)
{
    char line[300];
    int n = 0;
    FILE *in = popen("bench/go/run.sh -n 0.3 2>&1", "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (n < PROGRAMS && sscanf(line, "%39s %lf", lines[n].name, &lines[n].ns) == 2 &&
            line[0] != '#')
            n++;
        else
            fputs(line, stdout);
    }
    if (in != NULL)
        pclose(in);
    return n;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(name, argv[i], strlen(argv[i])) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    struct go_line lines[PROGRAMS];
    int n = run_go(lines);
    printf("simulated go1.%d, CPU time, middle of %d; real: Go / simulated, above 1 is faster\n",
           PROFILE_LATEST, REPS);
    printf("  %-20s %12s %12s %12s %8s\n", "", "ns/op", "ns/switch", "Go ns/op", "real");
    for (int i = 0; i < PROGRAMS; i++) {
        const struct program_case *c = &programs[i];
        if (!wanted(c->name, argc, argv))
            continue;
        struct measured m = measure(c);
        printf("  %-20s %12.1f %12.1f", c->name, m.ns_op, m.ns_switch);
        for (int k = 0; k < n; k++)
            if (strcmp(lines[k].name, c->name) == 0)
                printf(" %12.1f %8.2f", lines[k].ns, lines[k].ns / m.ns_op);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
