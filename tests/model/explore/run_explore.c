/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs under the explorer: many random schedules of one program. */
#include "run_explore.h"

#include <string.h>

#include "harness.h"
#include "sim/base/fail.h"
#include "sim/explore/explore.h"

static struct as_result run;
static const struct profile *profile;
static const struct program *program;
static int32_t procs;

static void take_print(void *arg, const char *text, size_t size)
{
    struct as_result *r = arg;
    if (size > sizeof r->out - 1 - r->nout)
        size = sizeof r->out - 1 - r->nout;
    memcpy(r->out + r->nout, text, size);
    r->nout += size;
    r->out[r->nout] = 0;
}

static void build(void)
{
    struct world_opts wo = {
        .profile = profile, .program = program, .procs = procs, .print = take_print, .arg = &run};
    void *arg;
    run.nout = 0;
    run.out[0] = 0;
    struct hostm *m0 = core_explore.init(&wo, &arg);
    ex_start(m0, core_explore.run_m0, arg);
}

static void set(struct profile *p, const char *rule, int64_t value)
{
    CHECK_EQ(profile_set(p, rule, value), 0);
}

/* A cut run says nothing; every other one has to end as it should. */
static void check_run(const struct as_explore *e, uint64_t number, enum world_end why)
{
    bool cut = why == END_LIMIT;
    bool good = why == END_STOPPED && strcmp(run.out, e->out) == 0;
    if (!cut && !good)
        FAIL_CASE("go1.%d, %s, procs %d, run %llu of seed %llu: %s: %s; printed \"%s\"", e->release,
                  mm_kind_name(e->memory), e->procs, (unsigned long long)number,
                  (unsigned long long)e->seed, world_end_name(why), ex_text(), run.out);
}

static struct profile prof;

static struct {
    bool wanted, done;
    enum core_plant what;
    uint64_t after; /* points */
} planted;

static const char *look(bool quiet)
{
    if (planted.wanted && !planted.done && ex_steps() >= planted.after)
        planted.done = core_explore.plant(planted.what, quiet);
    return core_explore.check(quiet);
}

static void explore_begin(struct as *a, const struct as_explore *e, struct strategy_random *random)
{
    static const enum cost_port ports[MM_KINDS] = {[MM_SC] = PORT_AMD64,
                                                   [MM_TSO] = PORT_AMD64,
                                                   [MM_ARM] = PORT_ARM64,
                                                   [MM_POWER] = PORT_PPC64LE};
    CHECK(profile_init(&prof, e->release));
    set(&prof, "sysmon", 0);
    set(&prof, "ring_len", 4);
    set(&prof, "sema_roots", 3);
    profile = &prof;
    program = as_done(a);
    procs = e->procs;
    struct failure f = {0};
    struct ex_opts o = {.memory = e->memory,
                        .port = ports[e->memory],
                        .seed = 1,
                        .steps_max = 200000,
                        .ncpu = 4,
                        .sighandler = core_explore.sighandler,
                        .check = look};
    strategy_random_init(random, e->seed, e->runs);
    if (!ex_init(&f, &o))
        FAIL_CASE("ex_init: %s", f.text);
}

void as_explore(struct as *a, struct as_explore e)
{
    struct strategy_random random;
    uint64_t cut = 0, n = 0;
    explore_begin(a, &e, &random);
    for (; ex_begin(&random.s); n++) {
        build();
        enum world_end why = ex_run();
        cut += why == END_LIMIT;
        check_run(&e, n, why);
        ex_end();
    }
    ex_free();
    CHECK_EQ(n, e.runs);
    CHECK_LE(cut * 10, n); /* else the budget tests nothing */
}

uint64_t as_explore_findings(struct as *a, struct as_explore e)
{
    struct strategy_random random;
    uint64_t found = 0;
    explore_begin(a, &e, &random);
    while (ex_begin(&random.s)) {
        build();
        found += ex_run() == END_FINDING;
        ex_end();
    }
    ex_free();
    return found;
}

uint64_t as_explore_plant(struct as *a, struct as_explore e, enum core_plant what,
                          const char *words)
{
    struct strategy_random random;
    uint64_t found = 0;
    explore_begin(a, &e, &random);
    planted.wanted = true;
    planted.what = what;
    for (uint64_t n = 0; ex_begin(&random.s); n++) {
        planted.done = false;
        planted.after = 500 + n * 23;
        build();
        enum world_end why = ex_run();
        if (planted.done && (why != END_THROWN || strstr(ex_text(), words) == NULL))
            FAIL_CASE("go1.%d, %s, plant %d, run %llu: %s: %s", e.release, mm_kind_name(e.memory),
                      (int)what, (unsigned long long)n, world_end_name(why), ex_text());
        found += planted.done;
        ex_end();
    }
    planted.wanted = false;
    ex_free();
    return found;
}
