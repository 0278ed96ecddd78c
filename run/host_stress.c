/* SPDX-License-Identifier: BSD-3-Clause */
/* Real threads, disturbed, and looked at now and then: sim/stress as a host. */
#include <stdio.h>

#include "run/host_int.h"
#include "sim/real/rt.h"
#include "sim/stress/stress.h"

enum {
    LOOK_NS = 2000000,
    HANG_DEFAULT_NS = 2000000000,
    ASLEEP = 8,     /* of 10 looks; the others met the monitor */
    LOOKS_FEWER = 8 /* so many times fewer than on a machine that has nothing else to do */
};

static struct {
    int64_t hang_ns;   /* CPU time without a change of what is counted */
    int64_t at_cpu_ns; /* when something changed last */
    int64_t at_ns;     /* ... on the clock */
    uint64_t progress; /* what was counted then */
    uint32_t looks;    /* since then ... */
    uint32_t asleep;   /* ... those that saw everybody asleep, and nothing to wake them */
    char text[200];
    int plant; /* not done yet */
    struct core_due due;
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

static void stuck(const char *how)
{
    snprintf(watch.text, sizeof watch.text, "stuck: no goroutine moved in %lld ms %s",
             (long long)(watch.hang_ns / 1000000), how);
    rt_find(FIND_INVARIANT, watch.text);
}

/* A process that was stopped (SIGSTOP) did not look, and knows nothing. */
static bool was_asleep(void)
{
    return watch.looks > watch.hang_ns / LOOK_NS / LOOKS_FEWER &&
           watch.asleep > watch.looks / 10 * ASLEEP;
}

/* Where nothing happened, though the world had CPU time enough, or all slept but for a monitor that
 * looks now and then, it hangs. That the machine at hand gave it no CPU is another matter: then its
 * threads are not asleep, as the kernel sees them. */
static void look_for_progress(bool asleep)
{
    int64_t cpu_ns = rt_cpu_ns(), now = rt_now_ns();
    uint64_t progress = progress_made();
    if (progress != watch.progress || watch.at_cpu_ns == 0) {
        watch.progress = progress;
        watch.at_cpu_ns = cpu_ns;
        watch.at_ns = now;
        watch.looks = watch.asleep = 0;
    }
    watch.looks++;
    watch.asleep += asleep;
    if (cpu_ns - watch.at_cpu_ns > watch.hang_ns)
        stuck("of CPU time");
    else if (now - watch.at_ns > watch.hang_ns && was_asleep())
        stuck("in which all threads slept");
}

/* The world stands still, each thread at a point or in a call. */
static void look(void)
{
    if (!stress_freeze())
        return;
    bool forever, quiet = stress_quiet(&forever);
    if (watch.plant > 0 && core_stress.plant((enum core_plant)(watch.plant - 1), quiet))
        watch.plant = 0;
    const char *bad = core_stress.check(quiet);
    if (bad == NULL)
        bad = core_stress.due(&watch.due, quiet);
    if (bad != NULL) {
        rt_break(bad); /* and nobody goes on from here */
        return;
    }
    look_for_progress(forever);
    stress_thaw();
}

static bool open_stress(const struct host *h, struct failure *f, const struct host_opts *o)
{
    (void)h;
    stress_begin(o->seed);
    watch.hang_ns = o->threads != NULL && o->threads->hang_ns > 0 ? o->threads->hang_ns
                                                                  : HANG_DEFAULT_NS;
    watch.at_cpu_ns = 0;
    watch.due = (struct core_due){0};
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
