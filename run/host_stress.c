/* SPDX-License-Identifier: BSD-3-Clause */
/* Real threads, disturbed, and looked at now and then: sim/stress as a host. */
#include <stdio.h>

#include "run/host_int.h"
#include "sim/real/rt.h"
#include "sim/stress/stress.h"

enum { LOOK_NS = 20000000, HANG_DEFAULT_NS = 2000000000 };

static struct {
    int64_t hang_ns;   /* CPU time without a change of what is counted */
    int64_t at_cpu_ns; /* when something changed last */
    uint64_t progress; /* what was counted then */
    char text[200];
    int plant; /* not done yet */
} watch;

static void sighandler(void *arg) { stress_sighandler(arg, core_stress.sighandler); }

/* All that goroutines do, but for what an M does while it looks for work. */
static uint64_t progress_made(void)
{
    uint64_t counters[COUNTER_COUNT];
    core_stress.counters(counters);
    return counters[COUNTER_switches] + counters[COUNTER_parks] + counters[COUNTER_gocreated] +
           counters[COUNTER_goexited] + counters[COUNTER_preempted] + counters[COUNTER_syscalls];
}

/* Where nothing happened, though the world had CPU time enough, it hangs. That the machine at hand
 * gave it none is another matter. */
static void look_for_progress(void)
{
    int64_t cpu_ns = rt_cpu_ns();
    uint64_t progress = progress_made();
    if (progress != watch.progress || watch.at_cpu_ns == 0) {
        watch.progress = progress;
        watch.at_cpu_ns = cpu_ns;
    } else if (cpu_ns - watch.at_cpu_ns > watch.hang_ns) {
        snprintf(watch.text, sizeof watch.text, "stuck: no goroutine moved in %lld ms of CPU time",
                 (long long)(watch.hang_ns / 1000000));
        rt_find(FIND_INVARIANT, watch.text);
    }
}

/* The world stands still, each thread at a point or in a call. */
static void look(void)
{
    if (!stress_freeze())
        return;
    if (watch.plant > 0 && core_stress.plant((enum core_plant)(watch.plant - 1), /*quiet*/ false))
        watch.plant = 0;
    const char *bad = core_stress.check(/*quiet*/ false);
    if (bad != NULL) {
        rt_break(bad); /* and nobody goes on from here */
        return;
    }
    look_for_progress();
    stress_thaw();
}

static bool open_stress(const struct host *h, struct failure *f, const struct host_opts *o)
{
    (void)h;
    stress_begin(o->seed);
    watch.hang_ns = o->threads != NULL && o->threads->hang_ns > 0 ? o->threads->hang_ns
                                                                  : HANG_DEFAULT_NS;
    watch.at_cpu_ns = 0;
    watch.plant = o->threads != NULL ? o->threads->plant : 0;
    return real_open_with_(
        f, o, (struct rt_opts){.sighandler = sighandler, .tick = look, .tick_ns = LOOK_NS});
}

const struct host host_stress = {
    .name = "stress",
    .core = &core_stress,
    .open = open_stress,
    REAL_HOST_,
};
