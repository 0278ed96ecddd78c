/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time with a witness: sim/traced as a host. */
#include "run/host_int.h"
#include "sim/traced/traced.h"
#include "sim/virt/vm.h"

static bool open_traced(const struct host *h, struct failure *f, const struct host_opts *o)
{
    traced_begin(o->traced);
    return virt_open_(h, f, o);
}

static enum world_end run_traced(uint64_t until_ps)
{
    enum world_end why = virt_run_(until_ps);
    traced_settle(why != END_TIME);
    return why;
}

static void close_traced(void)
{
    vm_free();
    traced_begin(NULL);
}

const struct host host_traced = {
    .name = "virtual",
    .core = &core_traced,
    .window = &window_virt, /* the same layouts */
    .repeats = true,
    .resumes = true,
    .open = open_traced,
    .start = virt_start_,
    .run = run_traced,
    .close = close_traced,
    .stats = virt_stats_,
    .verdict = virt_verdict_,
    .quiet = vm_quiet,
    .stop_after = traced_stop_after,
    .stop_now = traced_stop_now,
    .stopped = traced_stopped,
    .ops = traced_count,
};
