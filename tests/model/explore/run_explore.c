/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs under the explorer: many random schedules of one program. */
#include "run_explore.h"

#include <string.h>

#include "harness.h"
#include "run/host.h"
#include "sim/explore/explore.h"

static struct as_result run;
static struct profile prof;
static struct strategy_random random_;

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

/* The first of the runs stands ready. */
static void explore_begin(struct as *a, const struct as_explore *e)
{
    static const enum cost_port ports[MM_KINDS] = {[MM_SC] = PORT_AMD64,
                                                   [MM_TSO] = PORT_AMD64,
                                                   [MM_ARM] = PORT_ARM64,
                                                   [MM_POWER] = PORT_PPC64LE};
    CHECK(profile_init(&prof, e->release));
    set(&prof, "sysmon", 0);
    set(&prof, "ring_len", 4);
    set(&prof, "sema_roots", 3);
    struct failure f = {0};
    const struct ex_opts eo = {
        .memory = e->memory, .port = ports[e->memory], .steps_max = 200000, .check = look};
    const struct host_explore explore = {.strategy = &random_.s, .opts = &eo};
    const struct host_opts o = {.seed = 1,
                                .cpus = 4,
                                .explore = &explore,
                                .world = {.profile = &prof,
                                          .program = as_done(a),
                                          .procs = e->procs,
                                          .print = as_take_print,
                                          .arg = &run}};
    strategy_random_init(&random_, e->seed, e->runs);
    if (!world_open(&host_explore, &f, &o))
        FAIL_CASE("%s", f.text);
}

static enum world_end run_one(void)
{
    run.nout = 0;
    run.out[0] = 0;
    return host_explore.run(UINT64_MAX);
}

void as_explore(struct as *a, struct as_explore e)
{
    uint64_t cut = 0, n = 0;
    explore_begin(a, &e);
    do {
        enum world_end why = run_one();
        cut += why == END_LIMIT;
        check_run(&e, n++, why);
    } while (world_again(&random_.s));
    host_explore.close();
    CHECK_EQ(n, e.runs);
    CHECK_LE(cut * 10, n); /* else the budget tests nothing */
}

uint64_t as_explore_findings(struct as *a, struct as_explore e)
{
    uint64_t found = 0;
    explore_begin(a, &e);
    do
        found += run_one() == END_FINDING;
    while (world_again(&random_.s));
    host_explore.close();
    return found;
}

/* How the run ends in which the plant is tried from this point on. */
static enum world_end run_planted(uint64_t after)
{
    planted.done = false;
    planted.after = after;
    return run_one();
}

uint64_t as_explore_plant(struct as *a, struct as_explore e, enum core_plant what,
                          const char *words)
{
    uint64_t found = 0, n = 0;
    planted.wanted = true;
    planted.what = what;
    explore_begin(a, &e);
    do {
        enum world_end why = run_planted(500 + n * 23);
        if (planted.done && (why != END_THROWN || strstr(ex_text(), words) == NULL))
            FAIL_CASE("go1.%d, %s, plant %d, run %llu: %s: %s", e.release, mm_kind_name(e.memory),
                      (int)what, (unsigned long long)n, world_end_name(why), ex_text());
        found += planted.done;
        n++;
    } while (world_again(&random_.s));
    planted.wanted = false;
    host_explore.close();
    return found;
}
