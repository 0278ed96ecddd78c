/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "run/window.h"
#include "sim/base/alloc.h"
#include "sim/virt/limits.h"

static const uint64_t no_limit = UINT64_MAX;
/* Where nobody says when to stop: a server that waits for ever is not simulated for ever. */
static const uint64_t until_default_ps = UINT64_C(3600) * 1000000000000;

static const struct core *core = &core_virt;

const struct core *run_core(void) { return core; }

/* ---- words ---- */

const char *run_end_name(enum run_end end)
{
    static const char *const names[RUN_ENDS] = {"finished",   "finding", "idle",
                                                "time limit", "limit",   "internal error"};
    return end < RUN_ENDS ? names[end] : "?";
}

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
    if (r->end == RUN_FINDING && r->kind >= 0 && r->kind < FIND_KINDS)
        return kinds[r->kind];
    return run_end_name(r->end);
}

int run_exit_code(const struct run_result *r)
{
    switch (r->end) {
    case RUN_FINISHED:
    case RUN_TIME: return EXIT_CLEAN;
    case RUN_FINDING:
    case RUN_IDLE: return EXIT_FINDING;
    case RUN_LIMIT: return EXIT_USAGE;
    case RUN_BROKEN:
    case RUN_ENDS: break;
    }
    return EXIT_INTERNAL;
}

bool run_is_broken(const struct run_result *r)
{
    return r->end == RUN_BROKEN || (r->end == RUN_FINDING && r->kind == FIND_INVARIANT);
}

/* ---- sinks ---- */

static void keep(struct run_text *t, const char *text, size_t size)
{
    if (t->size + size > t->room) {
        t->room = (t->size + size) * 2 + 1024;
        t->text = x_grow(t->text, t->room);
    }
    memcpy(t->text + t->size, text, size);
    t->size += size;
}

static void take_print(void *arg, const char *text, size_t size)
{
    struct run *r = arg;
    keep(&r->out, text, size);
    if (r->opts.print != NULL)
        r->opts.print(r->opts.arg, text, size);
}

static void take_sched_line(void *arg, const char *text, size_t size)
{
    struct run *r = arg;
    keep(&r->sched, text, size);
    if (r->opts.sched_line != NULL)
        r->opts.sched_line(r->opts.arg, text, size);
}

static void take_records(void *arg, const struct event_rec *recs, size_t count)
{
    struct run *r = arg;
    analysis_feed(&r->analysis, recs, count);
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

/* The host reads them while the world lives. */
static void take_quotas(struct run *r)
{
    for (int i = 0; i < r->opts.nquotas; i++)
        r->quotas[i] = (struct vm_quota_change){r->opts.quotas[i].at_ns,
                                                r->opts.quotas[i].quota_us};
}

bool run_start(struct failure *f, struct run *r, const struct run_opts *o)
{
    memset(r, 0, sizeof *r);
    const char *refusal = profile_refusal(&o->profile);
    if (refusal != NULL) {
        fail(f, E_PROFILE, "go1.%d with these rules: %s", o->profile.release, refusal);
        return false;
    }
    r->opts = *o;
    r->weakened = rules_changed(&o->profile);
    r->plant_at = o->plants ? o->plant_ps : no_limit;
    if (!analysis_init(&r->analysis, o->program, f))
        return false;
    r->analysis.cpus = o->cpus;
    take_quotas(r);
    core = o->traced != NULL ? &core_traced : &core_virt;
    traced_begin(o->traced);
    struct vm_opts vo = {
        .seed = o->seed,
        .cpus = o->cpus,
        .quota_us = o->quota_us,
        .quota_changes = r->quotas,
        .nquota_changes = (uint32_t)o->nquotas,
        .period_us = o->period_us,
        .memory_max = (size_t)(o->memory_max > 0 ? o->memory_max : RUN_MEMORY_DEFAULT),
        .costs = o->costs,
        .port = o->port,
        .ties = o->ties_by_seed ? VM_TIES_BY_SEED : VM_TIES_BY_ID,
        .noise_permille = o->noise_permille,
        .sink = o->no_analysis ? NULL : take_records,
        .sink_arg = r,
        .catch_throws = true,
        .sighandler = core->sighandler};
    if (!vm_init(f, &vo)) {
        analysis_release(&r->analysis);
        return false;
    }
    struct world_opts wo = {.profile = &r->opts.profile,
                            .program = o->program,
                            .procs = o->procs,
                            .schedtrace_ns = o->schedtrace_ns,
                            .scheddetail = o->scheddetail,
                            .print = take_print,
                            .sched_line = take_sched_line,
                            .arg = r};
    void *arg;
    struct hostm *m0 = core->init(&wo, &arg);
    vm_start(m0, core->run_m0, arg);
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
    r->check_at = later(at_ps, at_ps / 4 + 1000000000);
    r->broken = core->check(vm_quiet());
    if (r->broken != NULL)
        r->why = VM_THROWN;
    else
        r->good_ops = traced_count();
}

/* Breaks what it was told to, and looks at once. Where that is not possible now, it may be soon. */
static void plant(struct run *r, uint64_t at_ps)
{
    bool done = core->plant(r->opts.plant, vm_quiet());
    r->plant_at = done ? no_limit : later(at_ps, 1000000);
    if (done)
        r->check_at = at_ps;
}

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* vm_run with looks at the invariants on the way. */
static void run_checked(struct run *r, uint64_t until_ps)
{
    for (;;) {
        uint64_t at = earliest(earliest(r->check_at, r->plant_at), until_ps);
        r->why = vm_run(at);
        if (r->why != VM_TIME || traced_stopped())
            return;
        if (at == r->plant_at)
            plant(r, at);
        if (at == r->check_at)
            check_world(r, at);
        if (r->why != VM_TIME || at == until_ps)
            return;
    }
}

/* No world is older than VM_TIME_MAX_PS. */
static uint64_t limit_of(const struct run_opts *o)
{
    if (o->until_ns <= 0)
        return until_default_ps;
    if ((uint64_t)o->until_ns > VM_TIME_MAX_PS / 1000)
        return VM_TIME_MAX_PS;
    return (uint64_t)o->until_ns * 1000;
}

bool run_to(struct run *r, uint64_t until_ps)
{
    uint64_t limit = limit_of(&r->opts);
    if (r->ended)
        return false;
    run_checked(r, until_ps < limit ? until_ps : limit);
    r->ended = r->why != VM_TIME || (until_ps >= limit && !traced_stopped());
    return !r->ended;
}

bool run_after_op(struct run *r, uint64_t number)
{
    traced_stop_after(number);
    return run_to(r, no_limit);
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
    switch (r->why) {
    case VM_STOPPED: q->end = RUN_FINISHED; break;
    case VM_IDLE: q->end = RUN_IDLE; break;
    case VM_TIME: q->end = RUN_TIME; break;
    case VM_LIMIT:
        q->end = RUN_LIMIT;
        set_text(r, vm_failure()->text);
        break;
    case VM_FINDING:
        q->end = RUN_FINDING;
        q->kind = vm_verdict()->kind;
        set_text(r, vm_verdict()->text);
        break;
    case VM_THROWN:
        q->end = r->weakened ? RUN_FINDING : RUN_BROKEN;
        q->kind = FIND_INVARIANT;
        set_text(r, r->broken != NULL ? r->broken : vm_verdict()->text);
        break;
    }
}

static void fill_stats(struct run *r)
{
    struct run_result *q = &r->result;
    struct vm_stats s;
    vm_stats(&s);
    q->now_ps = s.now_ps;
    q->fingerprint = s.fingerprint;
    q->records = s.events;
    q->threads = s.threads;
    q->nr_periods = s.nr_periods;
    q->nr_throttled = s.nr_throttled;
    q->throttled_ps = s.throttled_ps;
    q->cpu_ps = s.cpu_ps;
    q->procs = core->gomaxprocs();
    core->counters(q->counters);
}

static void fill_times(struct run *r)
{
    struct run_result *q = &r->result;
    struct analysis *a = &r->analysis;
    analysis_until(a, q->now_ps);
    gtable_release(&a->gs); /* the list of goroutines to come needs room */
    q->spans = a->span_stats;
    q->nspans = a->program->nspans;
    q->runq_wait = &a->runq_wait;
    q->runnable_max = a->runnable_max;
    q->runnable_area = a->runnable_area;
    q->groups = x_alloc(a->ngroups * sizeof *q->groups);
    for (size_t i = 0; i < a->ngroups; i++)
        if (a->groups[i].created > 0)
            q->groups[q->ngroups++] = a->groups[i];
    for (size_t i = 0; i < a->nps; i++)
        for (int c = 0; c < PC_COUNT; c++)
            q->p_ps[c] += a->ps[i].ps[c];
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
    r->result.gs = look_gs(r->opts.program, /*system*/ false, &r->result.ngs);
}

void run_free_world(struct run *r)
{
    if (r->has_world)
        vm_free();
    r->has_world = false;
}

void run_free(struct run *r)
{
    run_free_world(r);
    analysis_release(&r->analysis);
    free(r->result.groups);
    free(r->result.gs);
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
