/* SPDX-License-Identifier: BSD-3-Clause */
/* Exploration: sim/explore as a host. A world is one run of a strategy. */
#include "run/host_int.h"
#include "sim/explore/explore.h"

static const struct host *host;
static struct world_opts world; /* for the runs after the first */
static bool begun;
static const uint64_t an_hour_ps = UINT64_C(3600) * 1000000000000;

static bool begin(struct strategy *s)
{
    begun = ex_begin(s);
    return begun;
}

static bool open_explore(const struct host *h, struct failure *f, const struct host_opts *o)
{
    const struct host_explore *e = o->explore;
    struct ex_opts eo = e->opts != NULL ? *e->opts : (struct ex_opts){0};
    eo.seed = o->seed;
    eo.ncpu = o->cpus;
    eo.quota_us = o->quota_us;
    eo.period_us = o->period_us;
    eo.memory_max = o->memory_max;
    eo.sighandler = h->core->sighandler;
    eo.sink = o->sink;
    eo.sink_arg = o->sink_arg;
    if (o->costs != NULL)
        eo.costs = o->costs;
    if (!e->unchecked && eo.check == NULL)
        eo.check = h->core->check;
    if (!ex_init(f, &eo))
        return false;
    ex_listen(o->traced);
    ex_stop_after(0);
    host = h;
    world = o->world;
    if (begin(e->strategy))
        return true;
    fail(f, E_USAGE, "explore: the strategy has nothing to try");
    ex_free();
    return false;
}

static void end(void)
{
    if (begun)
        ex_end();
    begun = false;
}

bool world_again(struct strategy *s)
{
    end();
    if (!begin(s))
        return false;
    world_build(host, &world);
    return true;
}

static enum world_end run(uint64_t until_ps)
{
    ex_until(until_ps < an_hour_ps ? until_ps : UINT64_MAX); /* looking at the clock costs */
    return ex_run();
}

static void close_explore(void)
{
    end();
    ex_free();
}

static void stats(struct host_stats *s)
{
    *s = (struct host_stats){.now_ps = (uint64_t)ex_now() * 1000,
                             .fingerprint = ex_fingerprint(),
                             .events = ex_steps(),
                             .threads = (uint32_t)ex_threads()};
}

static bool quiet(void) { return false; }

const struct host host_explore = {
    .name = "explore",
    .core = &core_explore,
    .window = &window_explore,
    .repeats = true,
    .open = open_explore,
    .start = ex_start,
    .run = run,
    .close = close_explore,
    .stats = stats,
    .verdict = ex_verdict,
    .quiet = quiet,
    .stop_after = ex_stop_after,
    .stop_now = ex_stop_now,
    .stopped = ex_stopped,
    .ops = ex_steps,
};
