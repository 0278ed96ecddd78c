/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every switch of profile.def steers something. Method: a table with one row per switch: a
 * release, a world made for that switch, and what differs between a run with the rule and one
 * without. A switch without a row fails, and so does a row whose two runs agree. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "switches_worlds.h"

/* ---- the table ---- */

/* Finalizers, and 25 cleanups that take a while. */
static void w_specials(void)
{
    int fin = begin("fin", 0);
    as_print(&a, "finalizer ");
    end();
    int cl = begin("cl", 0);
    as_print(&a, "cleanup ");
    as_sleep(&a, 100 * US);
    end();
    begin("main", 0);
    as_op(&a, OP_FINALIZER, 0, 0, 0, fin, 0);
    int l = loop_begin(25);
    as_op(&a, OP_CLEANUP, 0, 0, 0, cl, 0);
    loop_end(l);
    as_op(&a, OP_FINALIZER, 0, 0, 0, fin, 0);
    as_plain(&a, OP_GC);
    as_sleep(&a, 10 * MS);
    end();
}

static void w_large_heap(void)
{
    begin("main", 0);
    alloc_live(16);
    as_plain(&a, OP_GC);
    end();
}

enum look { OUT, TEXT, ENDS, FIRST, TIME, COUNT };

/* The run with the rule compared to the one without: more, less, or not the same. */
enum { MORE = 1, LESS = -1, OTHER = 0 };

struct row {
    const char *rule;
    int release;
    void (*world)(void);
    enum look look; /* OUT what the program prints, TEXT of the finding, ENDS how, FIRST the first
                       record in which the runs differ (firsts), TIME when it is over, COUNT a
                       counter */
    int how;
    struct as_opts o;
    int counter;
};

static const struct row table[] = {
    {"async_preempt", 22, w_tight, OUT, OTHER, {0}, 0},
    {"per_p_timers", 22, w_sleeps, COUNT, LESS, {0}, COUNTER_gocreated},
    {"steal_gives_up", 13, w_all_idle, COUNT, LESS, {.procs = 2}, COUNTER_steals_tried},
    {"handoff_yields", 20, w_starving, OUT, OTHER, {0}, 0},
    {"injectglist_local", 16, w_net_burst, COUNT, LESS, {.procs = 2}, COUNTER_grq_puts},
    {"resetspinning_always", 15, w_spinners, COUNT, MORE, {.procs = 7}, COUNTER_wakeps},
    {"timers_steal_pass3", 15, w_busy_timer, FIRST, OTHER, {.procs = 3}, 0},
    {"sysmon_resets_delay", 15, w_work_and_rest, COUNT, MORE, {0}, COUNTER_sysmon_ticks},
    {"sysmon_sleeps_past_timers", 13, w_work_and_rest, COUNT, LESS, {0}, COUNTER_sysmon_ticks},
    {"sysmonlock", 22, w_work_and_rest, FIRST, OTHER, {0}, 0},
    {"sysmon_starts_m_for_timer", 15, w_busy_timer, FIRST, OTHER, {.procs = 3}, 0},
    {"gcsema", 15, w_gc_and_trace, OUT, OTHER, {.procs = 4}, 0},
    {"drain_stops_for_stw", 20, w_gc_and_trace, OUT, OTHER, {.procs = 4}, 0},
    {"drain_stops_for_fn", 26, w_gc_and_trace_end, OUT, OTHER, {.procs = 4}, 0},
    {"lock_ranks", 24, w_timer_chan, ENDS, OTHER, {.rule2 = "hchan_before_sched", .value2 = 0}, 0},
    {"worldsema_handoff", 20, w_two_stoppers, OUT, OTHER, {.procs = 2}, 0},
    {"gc_worker_pool", 18, w_gc, FIRST, OTHER, {.procs = 4}, 0},
    {"gc_gives_ring_away", 22, w_gc, FIRST, OTHER, {.procs = 4}, 0},
    {"fractional_stops_itself", 22, w_gc, FIRST, OTHER, {0}, 0},
    {"masks", 20, w_storm, COUNT, LESS, {.procs = 8}, COUNTER_steals_tried},
    {"netpoll_wakesig", 20, w_two_earlier, FIRST, OTHER, {.procs = 8}, 0},
    {"timer_earliest", 20, w_earlier, FIRST, OTHER, {.procs = 4}, 0},
    {"timer_earliest_reset", 20, w_earlier, FIRST, OTHER, {.procs = 4}, 0},
    {"wake_poller_wakep", 20, w_sleeps, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"recheck_only_if_spinning", 18, w_spinners, FIRST, OTHER, {.procs = 7}, 0},
    {"runqdrain", 18, w_gc_ring, FIRST, OTHER, {.procs = 4}, 0},
    {"checks_in_findrunnable", 20, w_storm, FIRST, OTHER, {.procs = 4}, 0},
    {"idle_gc_limit",
     20,
     w_forced_gc,
     FIRST,
     OTHER,
     {.procs = 8, .rule2 = "forcegc_ns", .value2 = 5 * MS},
     0},
    {"idle_clock", 22, w_sleeps, FIRST, OTHER, {.procs = 2}, 0},
    {"steal_stride_div", 20, w_storm, FIRST, OTHER, {.procs = 8}, 0},
    {"lastpoll_stale", 20, w_net_slow, COUNT, MORE, {0}, COUNTER_netpolls},
    {"needspinning", 22, w_storm, FIRST, OTHER, {.procs = 2}, 0},
    {"wakep_locked", 22, w_spawn_order, TIME, MORE, {0}, 0},
    {"trace_reader_handoff",
     24,
     w_traced,
     FIRST,
     OTHER,
     {.procs = 2, .rule2 = "trace_buf_events", .value2 = 20},
     0},
    {"trace_reader_cas",
     21,
     w_traced,
     FIRST,
     OTHER,
     {.procs = 2, .rule2 = "trace_buf_events", .value2 = 20},
     0},
    {"trace_generations", 24, w_traced_dead, ENDS, OTHER, {.until_ms = 3000}, 0},
    {"trace_reader_waits", 26, w_traced_busy, FIRST, OTHER, {.procs = 3}, 0},
    {"trace_barrier_first", 26, w_traced_long, FIRST, OTHER, {.procs = 2}, 0},
    {"goschedifbusy", 20, w_sweep, COUNT, LESS, {.procs = 2}, COUNTER_grq_puts},
    {"fing_status", 22, w_specials, FIRST, OTHER, {0}, 0},
    {"sched_bools", 22, w_schedtrace, OUT, OTHER, {.scheddetail = true, .schedtrace_ms = 10}, 0},
    {"startidle_locked", 22, w_net_burst, FIRST, OTHER, {.procs = 4}, 0},
    {"extra_m_uncounted",
     22,
     w_foreign,
     ENDS,
     OTHER,
     {.procs = 2, .rule2 = "maxmcount", .value2 = 8},
     0},
    {"cgo_m_bound", 22, w_foreign, OUT, OTHER, {.procs = 2}, 0},
    {"gdestroy_locked", 24, w_foreign_goexit, TEXT, OTHER, {0}, 0},
    {"goexit_extra_text", 25, w_foreign_goexit, TEXT, OTHER, {0}, 0},
    {"gosched_wakep", 22, w_yields, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"dropm_tick",
     24,
     w_foreign_again,
     OUT,
     OTHER,
     {.procs = 2, .rule2 = "cgo_m_bound", .value2 = 0, .scheddetail = true, .schedtrace_ms = 1},
     0},
    {"grq_recheck", 22, w_overflow, FIRST, OTHER, {.procs = 4}, 0},
    {"netpoll_delta", 22, w_net_burst, COUNT, LESS, {.procs = 2}, COUNTER_netpolls},
    {"foreachp_pseudo_wait", 22, w_gc, TIME, OTHER, {.procs = 1}, 0},
    {"timers_v2", 24, w_sleeps, FIRST, OTHER, {.procs = 2}, 0},
    {"sync_timer_chan", 24, w_stale_timer, OUT, OTHER, {0}, 0},
    {"coro_checks_thread", 24, w_pull_locked, ENDS, OTHER, {0}, 0},
    {"inject_wakep", 24, w_net_burst, COUNT, MORE, {.procs = 2}, COUNTER_wakeps},
    {"no_sysmon_no_runnext", 24, w_spawn_order, OUT, OTHER, {.rule2 = "sysmon", .value2 = 0}, 0},
    {"gc_start_by_chan", 24, w_gc, COUNT, LESS, {.procs = 2}, COUNTER_syscalls},
    {"hchan_before_sched", 24, w_timer_chan, ENDS, OTHER, {0}, 0},
    {"newproc_parked", 24, w_pull, TIME, LESS, {0}, 0},
    {"spinbit", 25, w_storm, FIRST, OTHER, {.procs = 8}, 0},
    {"goid_before_cas",
     25,
     w_storm,
     FIRST,
     OTHER,
     {.procs = 8, .rule2 = "goid_batch", .value2 = 1},
     0},
    {"gc_early_out", 25, w_gc, FIRST, OTHER, {.procs = 4}, 0},
    {"mutex_reasons", 25, w_dead_mutex, TEXT, OTHER, {0}, 0},
    {"wg_reason", 25, w_dead_waitgroup, TEXT, OTHER, {0}, 0},
    {"grq_batch_unlocked", 26, w_overflow, FIRST, OTHER, {.procs = 4}, 0},
    {"polling_net", 26, w_net_burst, FIRST, OTHER, {.procs = 4}, 0},
    {"cleanup_gs", 26, w_specials, OUT, OTHER, {0}, 0},
    {"auto_gomaxprocs",
     26,
     w_default_procs,
     OUT,
     OTHER,
     {.cpus = 8, .quota_us = 300000, .default_procs = true},
     0},
    {"stw_pseudo_wait_inside", 26, w_gc, FIRST, OTHER, {.procs = 1}, 0},
    {"schedticks_line", 26, w_schedtrace, OUT, OTHER, {.schedtrace_ms = 10}, 0},
    {"panic_repanicked", 26, w_repanic, TEXT, OTHER, {0}, 0},
    {"os_syscalls", 19, w_first_call, COUNT, LESS, {0}, COUNTER_retakes},
    {"fatal_shows_all", 25, w_fatal, TEXT, OTHER, {0}, 0},
    {"fatal_tells_panics", 26, w_fatal, TEXT, OTHER, {0}, 0},
    {"sys_block_on_exit", 26, w_syscalls, FIRST, OTHER, {.procs = 2}, 0},
    {"stw_runnext", 26, w_stops, COUNT, LESS, {.procs = 4}, COUNTER_grq_puts},
    {"m_affinity", 26, w_stops, FIRST, OTHER, {.procs = 4}, 0},
    {"pidle_reversed", 26, w_storm, FIRST, OTHER, {.procs = 4}, 0},
    {"backoff_not_in_syscall", 26, w_syscalls, FIRST, OTHER, {.procs = 4}, 0},
    {"cleanup_small_blocks", 26, w_specials, FIRST, OTHER, {.procs = 8}, 0},
    {"enlist_wakes",
     26,
     w_large_heap,
     TIME,
     LESS,
     {.procs = 8, .rule2 = "gc_fanout", .value2 = 2},
     0},
    {"gcworker_preassign", 26, w_gc, FIRST, OTHER, {.procs = 8}, 0},
    {"goroutine_leaks", 26, w_leaks, OUT, OTHER, {0}, 0},
    {"g_waiting_sema", 26, w_leaks, OUT, OTHER, {0}, 0},
    {"leaked_status",
     26,
     w_foreign,
     OUT,
     OTHER,
     {.procs = 2,
      .rule2 = "sys_block_on_exit",
      .value2 = 0,
      .scheddetail = true,
      .schedtrace_ms = 3},
     0},
    {"retake_every_p", 26, w_tight, FIRST, OTHER, {.procs = 2}, 0},
    {"async_timer_chan_gone",
     27,
     w_stale_timer,
     OUT,
     OTHER,
     {.rule2 = "async_timer_chan", .value2 = 1},
     0},
    {"rng32", 27, w_storm, FIRST, OTHER, {.procs = 8}, 0},
    {"mlocks16", 27, w_schedtrace, OUT, OTHER, {.scheddetail = true, .schedtrace_ms = 10}, 0},
};

/* What no small program shows, and the case of rules_test.c that does. */
static const char *const elsewhere[][2] = {
    {"lock_order_graph", "Rules.WhatMayBeHeldIsTheReleasesOwn"},
    /* A schedule of operations, which a search finds: tests/search/bugs.tsv; the run queue's:
     * tests/explore/runq_test.c. */
    {"new_m_counted", "search.bugs, 40368"},
    {"waiters_after_ready", "search.bugs, 61454"},
    {"stale_send_once", "search.bugs, 80760"},
    {"batch_overflow_locked", "search.bugs, 40457"},
    {"addtimer_pinned", "search.bugs, 44868"},
    {"modtimer_pinned", "search.bugs, 38070"},
    {"template_thread_pinned", "search.bugs, 38931"},
    {"rwmutex_reader_pinned", "search.bugs, 20903"},
    {"polls_when_inited", "search.bugs, 9576"},
    {"runqempty_rereads", "Runq.ThreeLoadsOverlookAGThatMovesInside"},
    {"runnext_single_cas", "Rules.WhoLosesItsRunnextDoesNotLookAgain"},
};

static bool is_elsewhere(const char *rule)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i][0], rule) == 0)
            return true;
    return false;
}

static const struct row *row_of(const char *rule)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].rule, rule) == 0)
            return &table[i];
    return NULL;
}

/* ---- the first record that differs ---- */

enum { RECORDS_MAX = 1 << 17 };

struct records {
    size_t n;
    struct event_rec at[RECORDS_MAX];
};

static void keep(void *arg, const struct event_rec *recs, size_t count)
{
    struct records *r = arg;
    for (size_t i = 0; i < count && r->n < RECORDS_MAX; i++)
        r->at[r->n++] = recs[i];
}

static bool is_time(const char *field)
{
    size_t n = strlen(field);
    return n > 3 && (strcmp(field + n - 3, "_ns") == 0 || strcmp(field + n - 3, "_us") == 0);
}

/* In what two records of one type differ; NULL: in nothing. Of the fields either the times are
 * looked at or the others. */
static const char *field_that_differs(const struct event_rec *x, const struct event_rec *y,
                                      bool times)
{
    const struct event_info *info = &event_infos[x->type];
    for (const struct event_field *f = info->fields; f->name != NULL; f++)
        if (is_time(f->name) == times && event_field(x, f) != event_field(y, f))
            return f->name;
    return x->g != y->g ? "g" : x->m != y->m ? "m" : x->p != y->p ? "p" : NULL;
}

static bool first_other(const struct event_rec *x, const struct event_rec *y, char buf[80])
{
    const char *field = x->type == y->type ? field_that_differs(x, y, /*times*/ false) : NULL;
    if (x->type != y->type)
        snprintf(buf, 80, "%s, not %s", event_infos[x->type].name, event_infos[y->type].name);
    else if (field != NULL)
        snprintf(buf, 80, "%s: %s", event_infos[x->type].name, field);
    return x->type != y->type || field != NULL;
}

static bool first_later(const struct event_rec *x, const struct event_rec *y, char buf[80])
{
    const char *field = field_that_differs(x, y, /*times*/ true);
    if (x->time != y->time)
        snprintf(buf, 80, "%s %s", event_infos[x->type].name,
                 x->time > y->time ? "later" : "earlier");
    else if (field != NULL)
        snprintf(buf, 80, "%s: %s", event_infos[x->type].name, field);
    return x->time != y->time || field != NULL;
}

/* Of the run with the rule against the one without: who did what else, or if everybody did the
 * same, who did it at another time. */
static const char *first_difference(const struct records *with, const struct records *without)
{
    static char buf[80];
    size_t n = with->n < without->n ? with->n : without->n;
    for (size_t i = 0; i < n; i++)
        if (first_other(&with->at[i], &without->at[i], buf))
            return buf;
    if (with->n != without->n)
        return with->n > without->n ? "more" : "less";
    for (size_t i = 0; i < n; i++)
        if (first_later(&with->at[i], &without->at[i], buf))
            return buf;
    return "nothing";
}

static struct records records_with, records_without;

/* Rules whose runs are told apart by the first record that differs: "WHAT, not OTHER" is another
 * record, "WHAT: FIELD" the same one but for a field; and where all of them agree but for times,
 * "WHAT later" or "WHAT earlier". */
static const char *const firsts[][2] = {
    {"timers_steal_pass3", "timer_fire, not p_stop"},
    {"sysmonlock", "g_preempt_request later"},
    {"sysmon_starts_m_for_timer", "g_park, not p_steal"},
    {"gc_worker_pool", "g_ready: g"},
    {"gc_gives_ring_away", "g_start: g"},
    {"fractional_stops_itself", "gc_worker, not g_preempt_request"},
    {"netpoll_wakesig", "m_spin_begin: m"},
    {"timer_earliest", "p_stop, not m_wake"},
    {"timer_earliest_reset", "timer_fire later"},
    {"recheck_only_if_spinning", "m_park, not p_start"},
    {"runqdrain", "m_signal, not g_start"},
    {"checks_in_findrunnable", "m_start, not g_gosched"},
    {"idle_gc_limit", "p_stop, not g_ready"},
    {"idle_clock", "m_create later"},
    {"steal_stride_div", "p_steal earlier"},
    {"trace_reader_handoff", "m_wake later"},
    {"trace_reader_cas", "m_park, not g_park"},
    {"needspinning", "g_start, not g_create"},
    {"fing_status", "g_start later"},
    {"startidle_locked", "p_retake, not g_syscall_exit"},
    {"grq_recheck", "m_park later"},
    {"timers_v2", "g_create earlier"},
    {"spinbit", "g_start: inherits_slice"},
    {"goid_before_cas", "g_start: waited_ns"},
    {"gc_early_out", "p_stop, not g_park"},
    {"grq_batch_unlocked", "g_start, not g_exit"},
    {"trace_reader_waits", "g_start, not p_start"},
    {"polling_net", "m_spin_begin: m"},
    {"stw_pseudo_wait_inside", "stw_begin later"},
    {"sys_block_on_exit", "g_syscall_exit earlier"},
    {"trace_barrier_first", "m_spin_end, not g_ready"},
    {"m_affinity", "m_wake: m"},
    {"pidle_reversed", "p_start: p"},
    {"backoff_not_in_syscall", "g_park later"},
    {"cleanup_small_blocks", "inject, not m_spin_end"},
    {"gcworker_preassign", "m_wake, not g_park"},
    {"retake_every_p", "g_preempt_request later"},
    {"rng32", "g_start, not g_park"},
};

static const char *first_of(const char *rule)
{
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (strcmp(firsts[i][0], rule) == 0)
            return firsts[i][1];
    return "no row of firsts";
}

static void run(struct as_result *r, const struct row *row, bool on)
{
    struct as_opts o = row->o;
    struct records *kept = on ? &records_with : &records_without;
    if (row->look == FIRST) {
        kept->n = 0;
        o.sink = keep;
        o.sink_arg = kept;
    }
    as_init(&a);
    row->world();
    o.release = row->release;
    o.rule = row->rule;
    o.value = on;
    o.catch_throws = true;
    as_run(r, &a, o);
}

static int compare(uint64_t x, uint64_t y) { return x > y ? MORE : x < y ? LESS : 2; }

/* Does the run with the rule differ from the one without as the row says? */
static bool differs(const struct row *row, const struct as_result *with,
                    const struct as_result *without)
{
    int how = 2;
    switch (row->look) {
    case OUT: return strcmp(with->out, without->out) != 0;
    case TEXT: return strcmp(with->text, without->text) != 0;
    case ENDS: return with->end != without->end;
    case FIRST:
        return strcmp(first_difference(&records_with, &records_without), first_of(row->rule)) == 0;
    case TIME: how = compare(with->now_ps, without->now_ps); break;
    case COUNT: how = compare(with->counters[row->counter], without->counters[row->counter]); break;
    }
    return row->how == OTHER ? how != 2 : how == row->how;
}

static unsigned mistakes;
static void wrong(const char *rule, const char *what, const struct as_result *with,
                  const struct as_result *without)
{
    mistakes++;
    printf("%s: %s\n", rule, what);
    if (with != NULL)
        printf(
            "  with: end %d out \"%.300s\" text \"%.200s\"\n  without: end %d out \"%.300s\" text "
            "\"%.200s\"\n",
            with->end, with->out, with->text, without->end, without->out, without->text);
}

/* The rule is on in the row's release, so that the run with it is that release's. */
static void try_rule(const struct profile_rule *rule)
{
    static struct as_result with, without;
    const struct row *row = row_of(rule->name);
    if (row == NULL) {
        wrong(rule->name, "no world shows what it changes", NULL, NULL);
        return;
    }
    if (row->release < rule->first || row->release > rule->last)
        wrong(rule->name, "the row's release does not have it", NULL, NULL);
    run(&with, row, true);
    run(&without, row, false);
    if (!differs(row, &with, &without))
        wrong(rule->name,
              row->look == FIRST ? first_difference(&records_with, &records_without)
                                 : "the two runs do not differ as the table says",
              &with, &without);
}

TEST_CASE(Switches, EveryRuleChangesARun)
{
    mistakes = 0;
    for (size_t i = 0; i < profile_rules_count; i++)
        if (profile_rules[i].is_switch && !is_elsewhere(profile_rules[i].name))
            try_rule(&profile_rules[i]);
    CHECK_EQ(mistakes, 0);
}

/* And no row is about a rule that is gone. */
TEST_CASE(Switches, EveryRowIsOfARule)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct profile p;
        CHECK(profile_init(&p, table[i].release));
        CHECK_EQ(profile_set(&p, table[i].rule, 1), 0);
        CHECK(row_of(table[i].rule) == &table[i]); /* one row each */
    }
}

/* Worlds that end, whatever the rules. */
static void (*const robust[])(void) = {w_traced,   w_storm,     w_gc,      w_net_burst, w_syscalls,
                                       w_sleeps,   w_earlier,   w_stops,   w_foreign,   w_starving,
                                       w_overflow, w_forced_gc, w_specials};

/* What does not stand alone, and is refused. Timers in the heaps of Ps are never run by a search
 * that gives up when all others are idle, as in 1.13, and the timers of 1.23 want those heaps. */
static bool stands_alone(int release, const char *rule)
{
    if (strcmp(rule, "per_p_timers") == 0)
        return release >= 14 && release <= 22;
    if (strcmp(rule, "timers_v2") == 0)
        return release >= 14;
    return strcmp(rule, "steal_gives_up") != 0 || release == 13;
}

TEST_CASE(Switches, WhatDoesNotStandAloneIsRefused)
{
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++)
        for (size_t i = 0; i < profile_rules_count; i++) {
            const struct profile_rule *rule = &profile_rules[i];
            struct profile p;
            CHECK(profile_init(&p, release));
            CHECK(profile_refusal(&p) == NULL);
            if (!rule->is_switch)
                continue;
            CHECK_EQ(profile_set(&p, rule->name, profile_get(&p, rule) == 0), 0);
            bool refused = profile_refusal(&p) != NULL;
            if (refused == stands_alone(release, rule->name))
                FAIL_CASE("go1.%d, %s: %s", release, rule->name, refused ? "refused" : "taken");
        }
}

/* Any other rule can be taken out of any release, or put into it, and the scheduler still works. */
TEST_CASE(Switches, EachMayBeFlippedAlone)
{
    static struct as_result r;
    size_t world = 0;
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++)
        for (size_t i = 0; i < profile_rules_count; i++) {
            const struct profile_rule *rule = &profile_rules[i];
            if (!rule->is_switch || !stands_alone(release, rule->name))
                continue;
            bool on = release >= rule->first && release <= rule->last;
            as_init(&a);
            robust[world++ % (sizeof robust / sizeof *robust)]();
            as_run(&r, &a,
                   (struct as_opts){.release = release,
                                    .procs = 1 + (int)(world % 4),
                                    .rule = rule->name,
                                    .value = !on,
                                    .catch_throws = true});
            if (r.end != END_STOPPED)
                FAIL_CASE("go1.%d, %s=%d, world %d: end %d, \"%s\"", release, rule->name, !on,
                          (int)((world - 1) % (sizeof robust / sizeof *robust)), r.end, r.text);
        }
}
