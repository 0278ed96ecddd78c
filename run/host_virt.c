/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time: sim/virt as a host. */
#include "run/host_int.h"
#include "run/run.h"
#include "sim/virt/vm.h"

static struct vm_quota_change changes[HOST_QUOTAS_MAX]; /* read while the world lives */
static enum world_end why;

bool virt_open_(const struct host *h, struct failure *f, const struct host_opts *o)
{
    if (o->nquotas > HOST_QUOTAS_MAX)
        return fail(f, E_LIMIT, "more than %d changes of the quota", HOST_QUOTAS_MAX), false;
    for (uint32_t i = 0; i < o->nquotas; i++)
        changes[i] = (struct vm_quota_change){o->quotas[i].at_ns, o->quotas[i].quota_us};
    return vm_init(f, &(struct vm_opts){.seed = o->seed,
                                        .cpus = o->cpus,
                                        .quota_us = o->quota_us,
                                        .period_us = o->period_us,
                                        .quota_changes = changes,
                                        .nquota_changes = o->nquotas,
                                        .memory_max = o->memory_max,
                                        .costs = o->costs,
                                        .port = (enum cost_port)o->port,
                                        .sched = {.fifo = o->fifo},
                                        .ties = o->ties_by_seed ? VM_TIES_BY_SEED : VM_TIES_BY_ID,
                                        .noise_permille = o->noise_permille,
                                        .records_cost = o->records_cost,
                                        .records_moves = o->moves,
                                        .sink = o->sink,
                                        .sink_arg = o->sink_arg,
                                        .catch_throws = !o->throws_end_process,
                                        .sighandler = h->core->sighandler});
}

void virt_start_(struct hostm *hm, void (*fn)(void *), void *arg) { vm_start(hm, fn, arg); }

enum world_end virt_run_(uint64_t until_ps)
{
    why = vm_run(until_ps);
    return why;
}

void virt_stats_(struct host_stats *s)
{
    struct vm_stats v;
    vm_stats(&v);
    *s = (struct host_stats){.now_ps = v.now_ps,
                             .fingerprint = v.fingerprint,
                             .events = v.events,
                             .cpu_ps = v.cpu_ps,
                             .spin_ps = v.spin_ps,
                             .main_ps = v.main_ps,
                             .main_cpu_ps = v.main_cpu_ps,
                             .nr_periods = v.nr_periods,
                             .nr_throttled = v.nr_throttled,
                             .throttled_ps = v.throttled_ps,
                             .threads = v.threads,
                             .memory = v.memory};
}

const struct world_verdict *virt_verdict_(void)
{
    static struct world_verdict limit;
    if (why != END_LIMIT)
        return vm_verdict();
    limit = (struct world_verdict){.text = vm_failure()->text, .m = -1};
    return &limit;
}

const struct host host_virt = {
    .name = "virtual",
    .core = &core_virt,
    .window = &window_virt,
    .repeats = true,
    .resumes = true,
    .open = virt_open_,
    .start = virt_start_,
    .run = virt_run_,
    .close = vm_free,
    .stats = virt_stats_,
    .verdict = virt_verdict_,
    .quiet = vm_quiet,
};

void run_no_memory(void) { vm_limit("the system has no more memory"); }
