/* SPDX-License-Identifier: BSD-3-Clause */
/* One run as numbers. Threads and Go run as they are for the time they take and what they count
 * themselves, and a second time watched for what their goroutines did. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/validate.h"
#include "run/run.h"
#include "run/tally.h"
#include "sim/real/rt.h"

#define PS 1000.0

/* From go1.22 on a trace's clock is the system's, divided by 64. */
enum { NOISE_ALL = 1000, THREADS_UNTIL_S = 60, COARSE_SINCE = 22, GO_TICK_PS = 64000 };

static void clear(struct taken *t)
{
    memset(t, 0, sizeof *t);
    for (int i = 0; i < V_COUNT; i++)
        t->value[i] = NAN;
}

static void put_dist(struct taken *to, enum waits d, struct hist *h)
{
    to->count[d] = h->count;
    for (uint32_t i = 0; i < QUANTILES; i++)
        to->quantile[d][i] = hist_percentile(h, i * 1000 + 500);
}

void take_tally(struct tally *c, const struct run_result *q, struct taken *to)
{
    double *v = to->value;
    v[V_switches] = (double)c->switches;
    v[V_parks] = (double)c->parks;
    v[V_wakes] = (double)c->wakes;
    v[V_created] = (double)c->created;
    v[V_preempted] = (double)c->preempted;
    v[V_yielded] = (double)c->yielded;
    v[V_taken] = (double)c->taken;
    v[V_startup] = (double)c->began_ps / PS;
    v[V_running] = (double)c->running_ps / PS;
    v[V_idle] = (double)q->p_ps[PC_IDLE] / PS;
    v[V_beside] = (double)q->beside.sum_ps / PS;
    v[V_beside_longest] = (double)q->beside.longest_ps / PS;
    put_dist(to, D_WAIT, &c->wait);
    put_dist(to, D_WAKE, &c->wake);
    if (c->wait.count > 0) {
        v[V_wait_p50] = (double)hist_percentile(&c->wait, 500000);
        v[V_wait_p99] = (double)hist_percentile(&c->wait, 990000);
    }
    if (c->wake.count > 0) {
        v[V_wake_p50] = (double)hist_percentile(&c->wake, 500000);
        v[V_wake_p99] = (double)hist_percentile(&c->wake, 990000);
    }
}

static void take_counters(const struct run_result *q, struct taken *to)
{
    double *v = to->value;
    v[V_cpu] = (double)(q->cpu_ps - q->main_cpu_ps) / PS;
    v[V_steals] = (double)q->counters[COUNTER_steals_won];
    v[V_stolen] = (double)q->counters[COUNTER_stolen];
    v[V_stolen_runnext] = (double)q->counters[COUNTER_stolen_runnext];
    v[V_spins] = (double)q->counters[COUNTER_spins];
    v[V_thread_parks] = (double)q->counters[COUNTER_mparks];
    v[V_thread_wakes] = (double)q->counters[COUNTER_wakeps_started];
    v[V_threads] = (double)q->threads;
}

/* ---- the simulator's own hosts ---- */

struct watched {
    struct tally tally;
    uint64_t tick_ps;
    bool no_memory;
};

static void watch(void *arg, struct transitions *t)
{
    struct watched *w = arg;
    struct failure f = {0};
    w->no_memory = !tally_init(&w->tally, t, true, &f);
    w->tally.tick_ps = w->tick_ps;
}

static bool is_seen(enum part part)
{
    return part == P_VIRTUAL_SEEN || part == P_VIRTUAL_GO_SEEN || part == P_THREADS_SEEN ||
           part == P_GO_SEEN;
}

static void opts_of(const struct validation *v, const struct comparison *c, enum part part, int run,
                    struct run_opts *o)
{
    static struct host_threads threads;
    static struct costs costs;
    bool of_go = part == P_VIRTUAL_GO || part == P_VIRTUAL_GO_SEEN;
    const struct cost_table *table = of_go ? v->costs_go : v->costs;
    struct failure f = {0};
    if (!run_opts_of(&f, c->scenario, c->release, o))
        cli_fail(&f);
    o->procs = c->procs;
    o->cpus = c->cpus;
    o->seed = v->seed + (uint64_t)run;
    if (v->until_ns > 0)
        o->until_ns = v->until_ns;
    if (part == P_THREADS || part == P_THREADS_SEEN) {
        o->host = &host_real;
        o->threads = &threads;
        if (o->until_ns == 0)
            o->until_ns = THREADS_UNTIL_S * INT64_C(1000000000);
        return;
    }
    o->noise_permille = NOISE_ALL;
    o->records_cost = is_seen(part);
    if (table == NULL)
        return;
    costs_of_release(table, c->release, &costs);
    o->costs = &costs;
    costs_rules(&costs, &o->profile);
    scenario_rules(c->scenario, &o->profile); /* what it says goes before what was measured */
}

static void take_run(const struct validation *v, const struct comparison *c, enum part part,
                     int run, struct taken *to)
{
    static struct run r;
    static struct watched w;
    struct failure f = {0};
    struct run_opts o;
    opts_of(v, c, part, run, &o);
    bool seen = is_seen(part);
    w.tick_ps = part == P_VIRTUAL_GO_SEEN && c->release >= COARSE_SINCE ? GO_TICK_PS : 0;
    o.no_analysis = !seen;
    if (seen) {
        o.listen = watch;
        o.arg = &w;
    }
    if (!run_all(&f, &r, &o)) {
        snprintf(to->why, sizeof to->why, "%.200s", f.text);
        return;
    }
    if (r.result.end != END_STOPPED || w.no_memory)
        snprintf(to->why, sizeof to->why, "%s ended as: %s",
                 o.host != NULL ? "the run on threads" : "virtual time", run_verdict(&r.result));
    to->value[V_makespan] = (double)(r.result.now_ps - r.result.main_ps) / PS;
    if (!seen)
        take_counters(&r.result, to);
    if (seen) {
        take_tally(&w.tally, &r.result, to);
        tally_release(&w.tally);
    }
    run_free(&r);
}

bool take_part(const struct validation *v, const struct comparison *c, enum part part, int run,
               struct taken *to)
{
    clear(to);
    if (part == P_GO || part == P_GO_SEEN)
        go_take(v, c, is_seen(part), run, to);
    else
        take_run(v, c, part, run, to);
    return true;
}
