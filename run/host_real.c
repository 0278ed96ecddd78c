/* SPDX-License-Identifier: BSD-3-Clause */
/* Real threads: sim/real as a host. */
#include "run/host_int.h"
#include "sim/real/rt.h"

static const uint64_t no_limit = UINT64_MAX;
static const uint64_t records_max = UINT64_C(1) << 26;

static event_sink_fn *sink;
static void *sink_arg;

static bool open_real(const struct host *h, struct failure *f, const struct host_opts *o)
{
    sink = o->sink;
    sink_arg = o->sink_arg;
    return rt_init(f, &(struct rt_opts){.seed = o->seed,
                                        .sighandler = h->core->sighandler,
                                        .memory_max = o->memory_max,
                                        .cpus = o->cpus,
                                        .pin = o->threads != NULL && o->threads->pin,
                                        .quota_us = o->quota_us,
                                        .period_us = o->period_us,
                                        .records_max = sink != NULL ? records_max : 0});
}

static void to_sink(void *unused, const struct event_rec *rec)
{
    (void)unused;
    sink(sink_arg, rec, 1);
}

static enum world_end run(uint64_t until_ps)
{
    enum world_end end = rt_run(until_ps < no_limit ? (int64_t)(until_ps / 1000) : -1);
    if (sink != NULL)
        rt_records(to_sink, NULL);
    return end;
}

static void stats(struct host_stats *s)
{
    struct rt_stats r;
    rt_stats(&r);
    *s = (struct host_stats){.now_ps = (uint64_t)r.ran_ns * 1000,
                             .events = r.records,
                             .records_lost = r.records_lost,
                             .cpu_ps = (uint64_t)r.cpu_ns * 1000,
                             .threads = (uint32_t)r.threads,
                             .memory = r.memory};
}

/* It stands still because its threads were stopped, wherever they were. */
static bool quiet(void) { return false; }

const struct host host_real = {
    .name = "threads",
    .core = &core_real,
    .window = &window_real,
    .open = open_real,
    .start = rt_start,
    .run = run,
    .close = rt_free,
    .stats = stats,
    .verdict = rt_verdict,
    .quiet = quiet,
};
