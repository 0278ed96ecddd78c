/* SPDX-License-Identifier: BSD-3-Clause */
/* Real threads: sim/real as a host. */
#include "run/host_int.h"
#include "sim/real/rt.h"

static const uint64_t no_limit = UINT64_MAX;
static const uint64_t records_max = UINT64_C(1) << 22; /* on their way: 128 MB */

/* ---- prints: several threads, which may be stopped anywhere ---- */

static struct world_opts user;

static void print(void *unused, const char *text, size_t size)
{
    (void)unused;
    rt_outside_begin();
    user.print(user.arg, text, size);
    rt_outside_end();
}

static void sched_line(void *unused, const char *text, size_t size)
{
    (void)unused;
    rt_outside_begin();
    user.sched_line(user.arg, text, size);
    rt_outside_end();
}

void real_prepare_(struct world_opts *o)
{
    user = *o;
    o->print = o->print != NULL ? print : NULL;
    o->sched_line = o->sched_line != NULL ? sched_line : NULL;
}

/* ---- the host ---- */

static struct rt_quota changes[HOST_QUOTAS_MAX]; /* read while the world lives */

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

bool real_open_with_(struct failure *f, const struct host_opts *o, struct rt_opts ro)
{
    ro.seed = o->seed;
    ro.fatal_kind = FIND_FATAL;
    ro.memory_max = o->memory_max;
    ro.cpus = least(o->cpus, rt_cpus());
    ro.pin = o->threads != NULL && o->threads->pin;
    ro.sched = o->threads != NULL ? (enum rt_sched)o->threads->sched : RT_SCHED_OWN;
    ro.quota_us = o->quota_us;
    ro.period_us = o->period_us;
    ro.group = o->quota_us > 0 || o->nquotas > 0;
    for (uint32_t i = 0; i < o->nquotas && i < HOST_QUOTAS_MAX; i++)
        changes[i] = (struct rt_quota){o->quotas[i].at_ns, o->quotas[i].quota_us};
    ro.quotas = changes;
    ro.nquotas = o->nquotas < HOST_QUOTAS_MAX ? o->nquotas : HOST_QUOTAS_MAX;
    ro.sink = o->sink;
    ro.sink_arg = o->sink_arg;
    ro.records_max = o->sink != NULL ? records_max : 0;
    return rt_init(f, &ro);
}

static bool open_real(const struct host *h, struct failure *f, const struct host_opts *o)
{
    return real_open_with_(f, o, (struct rt_opts){.sighandler = h->core->sighandler});
}

enum world_end real_run_(uint64_t until_ps)
{
    return rt_run(until_ps < no_limit ? (int64_t)(until_ps / 1000) : -1);
}

void real_stats_(struct host_stats *s)
{
    struct rt_stats r;
    rt_stats(&r);
    *s = (struct host_stats){.now_ps = (uint64_t)r.ran_ns * 1000,
                             .main_ps = (uint64_t)r.main_ns * 1000,
                             .main_cpu_ps = (uint64_t)r.main_cpu_ns * 1000,
                             .events = r.records,
                             .records_lost = r.records_lost,
                             .record_waits_ps = (uint64_t)r.record_waits_ns * 1000,
                             .voluntary = r.voluntary,
                             .involuntary = r.involuntary,
                             .steal_ps = (uint64_t)r.steal_ns * 1000,
                             .stopped_ps = (uint64_t)r.stopped_ns * 1000,
                             .nr_periods = r.nr_periods,
                             .nr_throttled = r.nr_throttled,
                             .throttled_ps = r.throttled_ns * 1000,
                             .cpu_ps = (uint64_t)r.cpu_ns * 1000,
                             .threads = (uint32_t)r.threads,
                             .memory = r.memory};
}

uint64_t real_p_cpu_ps_(int32_t pid) { return (uint64_t)rt_p_cpu_ns(pid) * 1000; }

/* Never: when this world stands still, its threads were stopped wherever they were. */
bool real_quiet_(void) { return false; }

const struct host host_real = {
    .name = "threads",
    .core = &core_real,
    .open = open_real,
    REAL_HOST_,
};
