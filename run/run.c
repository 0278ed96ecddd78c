/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/window.h"
#include "sim/base/alloc.h"

static const uint64_t no_limit = UINT64_MAX;
/* No world is older than 200 days. */
static const uint64_t time_max_ps = UINT64_C(200) * 86400 * 1000000000000;
/* Where nobody says when to stop: a server that waits for ever is not simulated for ever. */
static const uint64_t until_default_ps = UINT64_C(3600) * 1000000000000;

static const struct core *core(void) { return world_host()->core; }

/* ---- words ---- */

const char *run_verdict(const struct run_result *r)
{
    static const char *const kinds[FIND_KINDS] = {
        [FIND_NONE] = "finding",
        [FIND_DEADLOCK] = "deadlock",
        [FIND_FATAL] = "fatal error",
        [FIND_PANIC] = "panic",
        [FIND_THREADS] = "thread exhaustion",
        [FIND_ASSERT] = "assertion",
        [FIND_INVARIANT] = "broken rule",
        [FIND_LIMIT] = "limit",
        [FIND_EXIT] = "exit status",
    };
    if (r->end == END_FINDING && r->kind >= 0 && r->kind < FIND_KINDS)
        return kinds[r->kind];
    if (r->stranded > 0 && (r->end == END_STOPPED || r->end == END_TIME))
        return r->gs[0].goid == 1 && r->gs[0].is->stranded ? "partial deadlock" : "leak";
    if (run_is_starved(r) && (r->end == END_STOPPED || r->end == END_TIME))
        return "starvation";
    if (r->nraces > 0 && (r->end == END_STOPPED || r->end == END_TIME))
        return "data race";
    return world_end_name(r->end);
}

bool run_is_starved(const struct run_result *r)
{
    return r->virtual_time && r->throttled_ps == 0 && r->p_ps[PC_NOCPU] == 0 &&
           r->starved.ps > STARVED_PS * (r->runnable_max > 0 ? r->runnable_max : 1);
}

double run_seconds(const struct run_result *r)
{
    return r->now_ps > r->warmup_ps ? (double)(r->now_ps - r->warmup_ps) / 1e12 : 0;
}

double run_rate(const struct run_result *r, uint64_t count)
{
    double seconds = run_seconds(r);
    return seconds > 0 ? (double)count / seconds : 0;
}

int run_exit_code(const struct run_result *r)
{
    switch (r->end) {
    case END_STOPPED:
    case END_RECORDED:
    case END_TIME: return EXIT_CLEAN;
    case END_FINDING: return r->kind == FIND_LIMIT ? EXIT_USAGE : EXIT_FINDING;
    case END_IDLE: return EXIT_FINDING;
    case END_LIMIT: return EXIT_USAGE;
    case END_DONE:
    case END_THROWN:
    case WORLD_ENDS: break;
    }
    return EXIT_INTERNAL;
}

bool run_is_broken(const struct run_result *r)
{
    return r->end == END_THROWN || (r->end == END_FINDING && r->kind == FIND_INVARIANT);
}

/* ---- sinks ---- */

static void take_print(void *arg, const char *text, size_t size)
{
    struct run *r = arg;
    if (!r->opts.output_passes)
        text_keep(&r->out, text, size);
    if (r->opts.print != NULL)
        r->opts.print(r->opts.arg, text, size);
}

static void take_sched_line(void *arg, const char *text, size_t size)
{
    struct run *r = arg;
    text_keep(&r->sched, text, size);
    if (r->opts.sched_line != NULL)
        r->opts.sched_line(r->opts.arg, text, size);
}

static void take_records(void *arg, const struct event_rec *recs, size_t count)
{
    struct run *r = arg;
    if (r->deaf)
        return;
    transitions_records(&r->transitions, recs, count);
    if (r->opts.sink != NULL)
        r->opts.sink(r->opts.arg, recs, count);
}

/* ---- life ---- */

bool run_opts_of(struct failure *f, const struct scenario *s, int release, struct run_opts *o)
{
    *o = (struct run_opts){.program = &s->program,
                           .procs = s->procs,
                           .cpus = s->cpus,
                           .quota_us = s->quota_us,
                           .quotas = s->quotas,
                           .nquotas = s->nquotas,
                           .period_us = s->period_us,
                           .seed = s->has_seed ? s->seed : 1,
                           .until_ns = s->until_ns,
                           .schedtrace_ns = s->schedtrace_ns,
                           .scheddetail = s->scheddetail};
    return scenario_profile(f, s, release, &o->profile);
}

void run_set_quota(struct run_opts *o, int64_t quota_us)
{
    o->quota_us = quota_us;
    o->nquotas = 0;
}

/* A switch is not as its release has it: what then breaks is what the user asked for. */
static bool rules_changed(const struct profile *p)
{
    struct profile own;
    if (!profile_init(&own, p->release))
        return false;
    for (size_t i = 0; i < profile_rules_count; i++) {
        const struct profile_rule *rule = &profile_rules[i];
        if (rule->is_switch && profile_get(p, rule) != profile_get(&own, rule))
            return true;
    }
    return false;
}

/* Kept in the run: the host reads the quotas while the world lives. */
static void take_quotas(struct run *r)
{
    for (int i = 0; i < r->opts.nquotas; i++)
        r->quotas[i] = (struct host_quota){r->opts.quotas[i].at_ns, r->opts.quotas[i].quota_us};
}

static const struct host *host_of(const struct run_opts *o)
{
    if (o->host != NULL && o->host != &host_virt)
        return o->host;
    return o->traced != NULL ? &host_traced : &host_virt;
}

static struct host_opts host_opts_of(struct run *r)
{
    const struct run_opts *o = &r->opts;
    return (struct host_opts){
        .world = {.profile = &o->profile,
                  .program = o->program,
                  .procs = o->procs,
                  .schedtrace_ns = o->schedtrace_ns,
                  .scheddetail = o->scheddetail,
                  .output_max = o->output_passes ? 0 : RUN_OUTPUT_MAX,
                  .print = take_print,
                  .sched_line = take_sched_line,
                  .arg = r},
        .seed = o->seed,
        .cpus = o->cpus,
        .quota_us = o->quota_us,
        .quotas = r->quotas,
        .nquotas = (uint32_t)o->nquotas,
        .period_us = o->period_us,
        .memory_max = (size_t)(o->memory_max > 0 ? o->memory_max : RUN_MEMORY_DEFAULT),
        .costs = o->costs,
        .port = o->port,
        .ties_by_seed = o->ties_by_seed,
        .fifo = o->fifo,
        .noise_permille = o->noise_permille,
        .records_cost = o->records_cost,
        .traced = o->traced,
        .explore = o->explore,
        .threads = o->threads,
        .moves = o->moves,
        .sink = o->no_analysis ? NULL : take_records,
        .sink_arg = r,
    };
}

/* What only virtual time has, asked for elsewhere. */
static const char *only_virtual(const struct run_opts *o)
{
    const struct {
        bool asked;
        const char *what;
    } only[] = {
        {o->costs != NULL, "a cost table"},
        {o->port != 0, "the costs of another machine"},
        {o->ties_by_seed, "a rule for threads due at one instant"},
        {o->noise_permille != 0, "noise"},
        {o->plants, "a planted fault"},
    };
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (only[i].asked)
            return only[i].what;
    return NULL;
}

static bool host_refuses(struct failure *f, const struct run_opts *o)
{
    const struct host *h = o->host;
    if (h == NULL || h == &host_virt || h == &host_traced)
        return false;
    const char *what = only_virtual(o);
    if (what != NULL)
        return fail(f, E_USAGE, "%s is for virtual time; the host is: %s", what, h->name), true;
    if (h != &host_real && h != &host_stress)
        return false;
    if (o->traced != NULL)
        return fail(f, E_USAGE, "real threads do not tell their operations one by one"), true;
    return false;
}

static void stop_reading(struct run *r)
{
    attribution_release(&r->attribution);
    analysis_release(&r->analysis);
    transitions_release(&r->transitions);
}

static bool start_reading(struct run *r, struct failure *f)
{
    r->names = names_of_program(r->opts.program);
    bool attributes = r->opts.attribution && !r->opts.no_analysis;
    transitions_init(&r->transitions, &r->names, attributes ? attribution_extra(&r->names) : 0);
    r->transitions.cpus = r->opts.cpus;
    uint64_t warmup_ps = (uint64_t)r->opts.warmup_ns * 1000;
    if (!analysis_init(&r->analysis, &r->transitions, warmup_ps, f)) {
        stop_reading(r);
        return false;
    }
    if (attributes)
        attribution_init(&r->attribution, &r->transitions, warmup_ps);
    if (r->opts.listen != NULL)
        r->opts.listen(r->opts.arg, &r->transitions);
    return true;
}

bool run_rules_refused(struct failure *f, const struct profile *p)
{
    const char *refusal = profile_refusal(p);
    if (refusal != NULL)
        fail(f, E_PROFILE, "go1.%d with these rules: %s", p->release, refusal);
    return refusal != NULL;
}

bool run_start(struct failure *f, struct run *r, const struct run_opts *o)
{
    memset(r, 0, sizeof *r);
    if (run_rules_refused(f, &o->profile) || host_refuses(f, o))
        return false;
    r->opts = *o;
    r->weakened = rules_changed(&o->profile);
    r->plant_at = o->plants ? o->plant_ps : no_limit;
    r->warm_at = o->warmup_ns > 0 ? (uint64_t)o->warmup_ns * 1000 : no_limit;
    if (!start_reading(r, f))
        return false;
    take_quotas(r);
    struct host_opts ho = host_opts_of(r);
    if (!world_open(host_of(o), f, &ho)) {
        stop_reading(r);
        return false;
    }
    r->has_world = true;
    return true;
}

static uint64_t later(uint64_t at_ps, uint64_t step_ps)
{
    return at_ps < no_limit - step_ps ? at_ps + step_ps : no_limit;
}

/* The world stands still: are its invariants whole? Looked at less and less often, because it costs
 * a look at every goroutine. */
static void check_world(struct run *r, uint64_t at_ps)
{
    const struct host *h = world_host();
    r->check_at = later(at_ps, at_ps / 4 + 1000000000);
    r->broken = h->core->check(h->quiet());
    if (r->broken != NULL)
        r->why = END_THROWN;
    else if (h->ops != NULL)
        r->good_ops = h->ops();
}

/* Breaks the invariant that it was told to, and looks at once. What cannot be broken now may be
 * soon. */
static void plant(struct run *r, uint64_t at_ps)
{
    bool done = core()->plant(r->opts.plant, world_host()->quiet());
    r->plant_at = done ? no_limit : later(at_ps, 1000000);
    if (done)
        r->check_at = at_ps;
}

static void take_tallies(struct run_tallies *t)
{
    struct host_stats s;
    world_host()->stats(&s);
    *t = (struct run_tallies){
        .nr_periods = s.nr_periods, .nr_throttled = s.nr_throttled, .throttled_ps = s.throttled_ps};
    core()->counters(t->counters);
}

static void warm(struct run *r)
{
    r->warm_at = no_limit;
    take_tallies(&r->before);
}

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Up to that time, with looks at the invariants on the way. */
static void run_checked(struct run *r, uint64_t until_ps)
{
    for (;;) {
        uint64_t at = earliest(earliest(r->check_at, r->plant_at), earliest(r->warm_at, until_ps));
        r->why = world_host()->run(at);
        if (r->why != END_TIME || run_stopped())
            return;
        if (at == r->warm_at)
            warm(r);
        if (at == r->plant_at)
            plant(r, at);
        if (at == r->check_at)
            check_world(r, at);
        if (r->why != END_TIME || at == until_ps)
            return;
    }
}

static uint64_t limit_of(const struct run_opts *o)
{
    if (o->until_ns <= 0)
        return until_default_ps;
    if ((uint64_t)o->until_ns > time_max_ps / 1000)
        return time_max_ps;
    return (uint64_t)o->until_ns * 1000;
}

/* Where a world cannot go on after a stop at a time, it runs to its end at once. */
static void run_whole(struct run *r)
{
    r->why = world_host()->run(limit_of(&r->opts));
    r->ended = r->why != END_TIME || !run_stopped();
}

bool run_to(struct run *r, uint64_t until_ps)
{
    uint64_t limit = limit_of(&r->opts);
    if (r->ended)
        return false;
    if (world_host()->resumes) {
        run_checked(r, until_ps < limit ? until_ps : limit);
        r->ended = r->why != END_TIME || (until_ps >= limit && !run_stopped());
    } else {
        run_whole(r);
    }
    return !r->ended;
}

bool run_after_op(struct run *r, uint64_t number)
{
    if (world_host()->stop_after != NULL)
        world_host()->stop_after(number);
    return run_to(r, no_limit);
}

void run_stop_now(void) { world_host()->stop_now(); }

bool run_stopped(void)
{
    const struct host *h = world_host();
    return h->stopped != NULL && h->stopped();
}

uint64_t run_now_ps(void)
{
    struct host_stats s;
    world_host()->stats(&s);
    return s.now_ps;
}

static void set_text(struct run *r, const char *text)
{
    size_t n = text != NULL ? strlen(text) : 0;
    if (n >= sizeof r->text)
        n = sizeof r->text - 1;
    memcpy(r->text, text != NULL ? text : "", n);
    while (n > 0 && r->text[n - 1] == '\n')
        n--;
    r->text[n] = 0;
}

static void fill_end(struct run *r)
{
    struct run_result *q = &r->result;
    set_text(r, NULL);
    q->text = r->text;
    q->end = r->why;
    if (r->why == END_FINDING)
        q->kind = world_host()->verdict()->kind;
    if (r->why == END_THROWN) {
        q->end = r->weakened ? END_FINDING : END_THROWN;
        q->kind = FIND_INVARIANT;
    }
    if (r->why == END_FINDING || r->why == END_THROWN || r->why == END_LIMIT)
        set_text(r, r->broken != NULL ? r->broken : world_host()->verdict()->text);
}

/* What was to be said of the run cannot be said. */
static void lost(struct run *r, uint64_t records)
{
    snprintf(r->text, sizeof r->text, "%" PRIu64 " records were lost: the report would be wrong",
             records);
    r->result.end = END_LIMIT;
    r->result.kind = FIND_NONE;
}

/* What was counted since the warm-up. A run that was over before: nothing. */
static void fill_tallies(struct run *r)
{
    struct run_result *q = &r->result;
    struct run_tallies now;
    take_tallies(&now);
    q->warmup_ps = (uint64_t)r->opts.warmup_ns * 1000;
    q->tallies_whole = q->warmup_ps > 0 && !world_host()->resumes;
    const struct run_tallies *from = q->tallies_whole || r->warm_at == no_limit ? &r->before : &now;
    for (int c = 0; c < COUNTER_COUNT; c++)
        q->counters[c] = now.counters[c] - from->counters[c];
    q->nr_periods = now.nr_periods - from->nr_periods;
    q->nr_throttled = now.nr_throttled - from->nr_throttled;
    q->throttled_ps = now.throttled_ps - from->throttled_ps;
}

/* Of every P that there may have been: GOMAXPROCS changes. */
static void fill_p_cpu(struct run_result *q)
{
    const struct host *h = world_host();
    if (h->p_cpu_ps == NULL)
        return;
    q->np_cpu = q->procs;
    for (int32_t i = q->procs; i < PROCS_MAX; i++)
        if (h->p_cpu_ps(i) > 0)
            q->np_cpu = i + 1;
    q->p_cpu_ps = x_alloc((size_t)q->np_cpu * sizeof *q->p_cpu_ps + 1);
    for (int32_t i = 0; i < q->np_cpu; i++)
        q->p_cpu_ps[i] = h->p_cpu_ps(i);
}

static void fill_stats(struct run *r)
{
    struct run_result *q = &r->result;
    struct host_stats s;
    world_host()->stats(&s);
    q->now_ps = s.now_ps;
    q->fingerprint = s.fingerprint;
    q->records = s.events;
    q->virtual_time = world_host()->resumes;
    q->voluntary = s.voluntary;
    q->involuntary = s.involuntary;
    q->steal_ps = s.steal_ps;
    q->stopped_ps = s.stopped_ps;
    q->record_waits_ps = s.record_waits_ps;
    if (s.records_lost > 0)
        lost(r, s.records_lost);
    q->threads = s.threads;
    q->cpu_ps = s.cpu_ps;
    q->main_ps = s.main_ps;
    q->main_cpu_ps = s.main_cpu_ps;
    q->procs = core()->gomaxprocs();
    fill_p_cpu(q);
    fill_tallies(r);
}

static void fill_times(struct run *r)
{
    struct run_result *q = &r->result;
    struct analysis *a = &r->analysis;
    analysis_after_warmup(a, q->now_ps, q);
    transitions_end(&r->transitions, q->now_ps);
    if (r->opts.attribution)
        attribution_fill(&r->attribution, a->span_stats, a->nspans);
    attribution_release(&r->attribution);
    transitions_release(&r->transitions); /* the list of goroutines to come needs room */
    analysis_fill(a, q);
}

void run_end(struct run *r)
{
    fill_end(r);
    fill_stats(r);
    fill_times(r);
    r->result.out = r->out.text != NULL ? r->out.text : "";
    r->result.out_size = r->out.size;
    r->result.sched = r->sched.text != NULL ? r->sched.text : "";
    r->result.sched_size = r->sched.size;
    if (r->why == END_STOPPED || r->why == END_TIME || r->why == END_IDLE)
        r->result.stranded = core()->strand(r->why == END_STOPPED);
    r->result.exit_status = core()->exit_status();
    r->result.gs = look_gs(r->opts.program, /*system*/ false, &r->result.ngs);
}

void run_free_world(struct run *r)
{
    if (r->has_world)
        world_host()->close();
    r->has_world = false;
}

void run_free(struct run *r)
{
    run_free_world(r);
    stop_reading(r);
    free(r->result.groups);
    free(r->result.gs);
    free(r->result.p_cpu_ps);
    free(r->out.text);
    free(r->sched.text);
    memset(r, 0, sizeof *r);
}

bool run_all(struct failure *f, struct run *r, const struct run_opts *o)
{
    if (!run_start(f, r, o))
        return false;
    while (run_to(r, no_limit))
        ;
    run_end(r);
    return true;
}
