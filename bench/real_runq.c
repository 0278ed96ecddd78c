/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run queue on the real host: what the seam costs (nothing: the machine code is compared, then
 * both are timed), and what the model's own runqput, runqget and runqsteal cost with all that they
 * do besides, on an M of a real world.
 *
 * libs: gmpsim_real_host gmpsim_host_real
 */
#define CORE      core_bench
#define CORE_NAME "bench"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "model/model.c"

#include "bench.h"
#include "run/host.h"
#include "tests/real/seam.h"

enum { ROUNDS = 2000000, HELD = 8 };

static struct verb_ring verb_ring, verb_other;
static struct hand_ring hand_ring, hand_other;
static struct g *gs[HELD];
static int reps;

static struct item *item(int i) { return (struct item *)(void *)gs[i % HELD]; }

static void hand_put_get(void *arg)
{
    bool next = arg != NULL;

    bench_begin();
    for (int i = 0; i < ROUNDS; i++) {
        hand_put(&hand_ring, item(i), next);
        bench_keep(hand_get(&hand_ring));
    }
    bench_end(ROUNDS);
}

static void verb_put_get(void *arg)
{
    bool next = arg != NULL;

    bench_begin();
    for (int i = 0; i < ROUNDS; i++) {
        verb_put(&verb_ring, item(i), next);
        bench_keep(verb_get(&verb_ring));
    }
    bench_end(ROUNDS);
}

static void model_put_get(void *arg)
{
    struct p *pp = rt->allp[0];
    bool next = arg != NULL, inherit;

    bench_begin();
    for (int i = 0; i < ROUNDS; i++) {
        runqput(pp, gs[i % HELD], next);
        bench_keep(runqget(pp, &inherit));
    }
    bench_end(ROUNDS);
}

static void hand_steal(void *arg)
{
    (void)arg;
    bench_begin();
    for (int i = 0; i < ROUNDS; i++)
        bench_keep(hand_grab(&hand_ring, &hand_other, 0));
    bench_end(ROUNDS);
}

static void verb_steal(void *arg)
{
    (void)arg;
    bench_begin();
    for (int i = 0; i < ROUNDS; i++)
        bench_keep(verb_grab(&verb_ring, &verb_other, 0));
    bench_end(ROUNDS);
}

static void model_steal(void *arg)
{
    (void)arg;
    bench_begin();
    for (int i = 0; i < ROUNDS; i++)
        bench_keep(runqsteal(rt->allp[0], rt->allp[1], /*stealRunNext*/ false));
    bench_end(ROUNDS);
}

static void tables(void)
{
    static int yes;
    const struct bench_case ring[] = {{"hand-written C11", hand_put_get, NULL},
                                      {"the same with verbs", verb_put_get, NULL},
                                      {"model runqput + runqget", model_put_get, NULL}};
    const struct bench_case next[] = {{"hand-written C11", hand_put_get, &yes},
                                      {"the same with verbs", verb_put_get, &yes},
                                      {"model runqput + runqget", model_put_get, &yes}};
    const struct bench_case steal[] = {{"hand-written C11", hand_steal, NULL},
                                       {"the same with verbs", verb_steal, NULL},
                                       {"model runqsteal", model_steal, NULL}};

    bench_table("put + get through the ring", ring, 3, reps);
    bench_table("put + get through runnext", next, 3, reps);
    bench_table("steal from an empty queue", steal, 3, reps);
}

/* m0 of a world that only measures: after schedinit it holds P 0. */
static void measure(void *arg)
{
    schedinit(arg);
    for (int i = 0; i < HELD; i++)
        gs[i] = host_alloc(sizeof *gs[i], 64);
    tables();
    host_stop();
}

static void compare_code(void)
{
    bool same = seam_verb_size() == seam_hand_size() &&
                memcmp(__start_seam_verb, __start_seam_hand, seam_hand_size()) == 0;

    printf("machine code of put, get and grab: verbs %zu bytes, hand-written %zu bytes: %s\n",
           seam_verb_size(), seam_hand_size(), same ? "identical" : "DIFFERENT");
}

int main(int argc, char **argv)
{
    static const struct insn code[] = {{.op = OP_RET, .a = NOREG}};
    static const struct func main_func = {.name = "main", .entry = 0, .end = 1, .nregs = 1};
    static const struct program program = {
        .code = code, .ncode = 1, .funcs = &main_func, .nfuncs = 1};
    struct profile profile;
    struct failure f = {0};
    struct core core = core_bench;
    struct host host = host_real;

    reps = bench_reps(argc, argv, 11);
    compare_code();
    core.run_m0 = measure;
    core.sighandler = NULL;
    host.core = &core;
    profile_init(&profile, PROFILE_LATEST);
    if (!world_open(
            &host, &f,
            &(struct host_opts){.world = {.profile = &profile, .program = &program, .procs = 2}})) {
        fprintf(stderr, "bench: %s\n", f.text);
        return 2;
    }
    enum world_end why = host.run(UINT64_MAX);

    if (why != END_STOPPED)
        fprintf(stderr, "bench: %s: %s\n", world_end_name(why), host.verdict()->text);
    host.close();
    return why == END_STOPPED ? 0 : 3;
}
