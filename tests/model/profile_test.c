/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a constant of a profile has a value with which a run goes well, or it is refused. Method:
 * each constant at both ends of its range, next to the lower one, and one beyond either, with a
 * program that uses what they are about: goroutines that end, channels and select, timers, mutexes,
 * system calls, collections. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"

static struct as a;

static void world(void)
{
    enum { N = 70 }; /* a P keeps 63 dead ones */
    int wg = as_object(&a, OBJ_WAITGROUP, 0), ch = as_object(&a, OBJ_CHAN, 0);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    int f = as_func(&a, "f", 0, 4);
    as_sleep(&a, 100000);
    as_obj(&a, OP_LOCK, mu);
    as_cpu(&a, 20000);
    as_obj(&a, OP_UNLOCK, mu);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 30000);
    int sel = as_select(&a, false);
    as_case(&a, true, ch, NOREG, 1);
    as_case(&a, true, ch, NOREG, 1);
    as_op(&a, OP_SELECT, 2, NOREG, 0, sel, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, N);
    for (int i = 0; i < N; i++)
        as_go(&a, f, 0, 0);
    as_plain(&a, OP_GC);
    for (int i = 0; i < N; i++)
        as_recv(&a, ch, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_plain(&a, OP_GC);
    as_print(&a, "done");
    as_ret(&a);
}

/* It ends; or, with something very slow, has not after 10 s; or there are too few threads. */
static void runs_with(const char *name, int64_t value, int release)
{
    static struct as_result r;
    as_init(&a);
    world();
    as_run(&r, &a,
           (struct as_opts){.release = release,
                            .procs = 3,
                            .rule = name,
                            .value = value,
                            .until_ms = 10000,
                            .catch_throws = true});
    if (r.end == END_STOPPED)
        CHECK_STR(r.out, "done");
    else if (r.end != END_TIME && !(r.end == END_FINDING && r.kind == FIND_THREADS))
        FAIL_CASE("go1.%d, %s: end %d, \"%s\"", release, name, r.end, r.text);
}

static void at_its_ends(const char *name, int release)
{
    struct profile p;
    int64_t min, max;
    CHECK(profile_init(&p, release));
    CHECK(profile_range(name, &min, &max));
    CHECK_EQ(profile_set(&p, name, min - 1), -2);
    CHECK_EQ(profile_set(&p, name, max + 1), -2);
    CHECK_EQ(profile_set(&p, name, max), 0);
    runs_with(name, min, release);
    if (profile_set(&p, name, min + 1) == 0)
        runs_with(name, min + 1, release);
    runs_with(name, max, release);
}

TEST_CASE(Profile, EveryConstantAtBothEnds)
{
    static const int releases[] = {13, 19, 27};
    for (size_t i = 0; i < profile_rules_count; i++)
        for (size_t k = 0; !profile_rules[i].is_switch && k < sizeof releases / sizeof *releases;
             k++)
            at_its_ends(profile_rules[i].name, releases[k]);
}

TEST_CASE(Profile, ARingIsAPowerOfTwo)
{
    struct profile p;
    int64_t min, max;
    CHECK(profile_init(&p, PROFILE_LATEST));
    CHECK_EQ(profile_set(&p, "ring_len", 6), -2);
    CHECK_EQ(profile_set(&p, "ring_len", 8), 0);
    CHECK(!profile_range("ring", &min, &max));
    CHECK_EQ(profile_set(&p, "ring", 8), -1);
}

TEST_CASE(Profile, NamesOfReleases)
{
    static const char *const bad[] = {"",         "go",     "1",    "go1.", "1.2",
                                      "1.12",     "1.28",   "1.2x", "2.20", "1.200",
                                      "gogo1.20", "Latest", "1.1:", "1.:0"};
    CHECK_EQ(profile_parse("go1.13"), PROFILE_FIRST);
    CHECK_EQ(profile_parse("1.24"), 24);
    CHECK_EQ(profile_parse("latest"), PROFILE_LATEST);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_EQ(profile_parse(bad[i]), -1);
}

/* ---- what a release is ---- */

/* By release, in the order of profile.def: what it has (+) and has no more (-). */
static const struct {
    int release;
    const char *changes;
} changes[] = {
    {13, " +template_thread_pinned +rwmutex_reader_pinned +polls_when_inited +gc_gives_ring_away "
         "+fractional_stops_itself +steal_gives_up +runqempty_rereads +sysmon_resets_delay "
         "+sysmon_sleeps_past_timers +os_syscalls +fatal_shows_all"},
    {14, " +async_preempt +addtimer_pinned +modtimer_pinned +new_m_counted +per_p_timers "
         "-steal_gives_up +handoff_yields "
         "-sysmon_sleeps_past_timers +sysmon_starts_m_for_timer"},
    {15, " +injectglist_local +batch_overflow_locked +resetspinning_always +timers_steal_pass3 "
         "+sysmonlock +gcsema +drain_stops_for_stw +lock_ranks +netpoll_wakesig"},
    {16, " -timers_steal_pass3 -sysmon_resets_delay -sysmon_starts_m_for_timer +worldsema_handoff "
         "+gc_worker_pool +masks +timer_earliest +wake_poller_wakep"},
    {17, " +timer_earliest_reset +recheck_only_if_spinning +runqdrain"},
    {18, " +runnext_single_cas"},
    {19, " +checks_in_findrunnable +idle_gc_limit +idle_clock +steal_stride_div +lastpoll_stale "
         "+trace_reader_handoff"},
    {20, " +trace_reader_cas +needspinning +wakep_locked +goschedifbusy +sched_bools +fing_status "
         "+lock_order_graph +startidle_locked +mutex_reasons"},
    {21, " -lastpoll_stale +extra_m_uncounted +cgo_m_bound -os_syscalls"},
    {22, " +drain_stops_for_fn +trace_generations +gosched_wakep +dropm_tick +grq_recheck "
         "+netpoll_delta +waiters_after_ready +foreachp_pseudo_wait"},
    {23, " +timers_v2 +sync_timer_chan +coro_checks_thread +inject_wakep +no_sysmon_no_runnext "
         "+gc_start_by_chan +gdestroy_locked +hchan_before_sched +newproc_parked"},
    {24, " +spinbit +goid_before_cas +goexit_extra_text +gc_early_out +wg_reason"},
    {25, " -batch_overflow_locked +grq_batch_unlocked +trace_reader_waits +polling_net +cleanup_gs "
         "+auto_gomaxprocs +stw_pseudo_wait_inside +schedticks_line +panic_repanicked"},
    {26,
     " -fatal_shows_all +fatal_tells_panics +sys_block_on_exit +trace_barrier_first +stw_runnext "
     "+m_affinity +pidle_reversed +backoff_not_in_syscall +cleanup_small_blocks +enlist_wakes "
     "+gcworker_preassign +goroutine_leaks +g_waiting_sema +leaked_status +retake_every_p"},
    {27, " +async_timer_chan_gone +rng32 +mlocks16"},
};

TEST_CASE(Profile, WhatEachReleaseChanged)
{
    static struct profile before; /* of none: all off */
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++) {
        static struct profile p;
        char text[2048];
        size_t at = 0;
        CHECK(profile_init(&p, release));
        for (size_t i = 0; i < profile_rules_count; i++) {
            const struct profile_rule *r = &profile_rules[i];
            int64_t is = profile_get(&p, r), was = profile_get(&before, r);
            if (r->is_switch && is != was)
                at += (size_t)snprintf(text + at, sizeof text - at, " %c%s", is ? '+' : '-',
                                       r->name);
        }
        CHECK_EQ(changes[release - PROFILE_FIRST].release, release);
        CHECK_STR(text, changes[release - PROFILE_FIRST].changes);
        before = p;
    }
}

static const struct {
    const char *name;
    int64_t value;
    const char *where;
} constants[] = {
    {"ring_len", 256, "runtime2.go p.runq"},
    {"steal_passes", 4, "proc.go stealWork: stealTries"},
    {"fair_period", 61, "proc.go findRunnable: schedtick%61"},
    {"runnext_backoff_ns", 3000, "proc.go runqgrab: usleep(3)"},
    {"slice_ns", 10000000, "proc.go forcePreemptNS"},
    {"sysmon_min_us", 20, "proc.go sysmon: delay = 20"},
    {"sysmon_idle", 50, "proc.go sysmon: idle > 50"},
    {"sysmon_max_us", 10000, "proc.go sysmon: 10*1000"},
    {"netpoll_stale_ns", 10000000, "proc.go sysmon: lastpoll+10*1000*1000"},
    {"syscall_slack_ns", 10000000, "proc.go retake: syscallwhen+10*1000*1000"},
    {"forcegc_ns", 120000000000, "proc.go forcegcperiod"},
    {"gomaxprocs_check_ns", 1000000000, "proc.go sysmon: 1e9"},
    {"stw_repreempt_ns", 100000, "proc.go stopTheWorldWithSema: notetsleep(100*1000)"},
    {"goid_batch", 16, "proc.go _GoidCacheBatch"},
    {"gfree_max", 64, "proc.go gfput: 64"},
    {"gfree_keep", 32, "proc.go gfput, gfget: 32"},
    {"sudog_cap", 128, "runtime2.go sudogbuf"},
    {"netpoll_batch", 128, "netpoll_epoll.go: events [128]"},
    {"maxmcount", 10000, "proc.go schedinit: 10000"},
    {"mutex_spin", 4, "proc.go active_spin"},
    {"mutex_spin_cnt", 30, "proc.go active_spin_cnt"},
    {"starve_ns", 1000000, "mutex.go starvationThresholdNs"},
    {"sema_roots", 251, "sema.go semTabSize"},
    {"lock_active_spin", 4, "lock_futex.go active_spin"},
    {"lock_active_cnt", 30, "lock_futex.go active_spin_cnt"},
    {"lock_passive_spin", 1, "lock_futex.go passive_spin"},
    {"spinbit_tail_period", 16, "lock_spinbit.go mutexTailWakePeriod"},
    {"gc_percent", 100, "GOGC"},
    {"gc_util_percent", 25, "mgcpacer.go gcBackgroundUtilization"},
};

TEST_CASE(Profile, ConstantsAreGos)
{
    static struct profile p;
    CHECK(profile_init(&p, PROFILE_LATEST));
    for (size_t k = 0; k < sizeof constants / sizeof *constants; k++)
        for (size_t i = 0; i < profile_rules_count; i++)
            if (strcmp(profile_rules[i].name, constants[k].name) == 0 &&
                profile_get(&p, &profile_rules[i]) != constants[k].value)
                FAIL_CASE("%s is not that of %s", constants[k].name, constants[k].where);
}
