/* SPDX-License-Identifier: BSD-3-Clause */
/* The public library: include/gmpsim.h over run.h.
 *
 * A library is a guest: it never ends the process. Whatever may allocate stands between guest_enter
 * and guest_leave. If memory runs out there, a world that runs ends as at any other limit; all else
 * jumps back into the call, which fails. The same pair holds the lock: one world per process. */
#include "run/guest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "run/judge.h"
#include "run/run.h"
#include "sim/base/alloc.h"
#include "sim/virt/limits.h"

struct gmpsim_run {
    const struct scenario *s;
    struct run_opts o;
    struct run r;
    bool has_result;
    int complaints;
    char complaint_text[4096];
    char *out;
};

const char *gmpsim_version(void) { return GMPSIM_VERSION; }

int guest_say(char *error, const struct failure *f)
{
    if (error != NULL) {
        strncpy(error, f->text, GMPSIM_ERROR_MAX - 1);
        error[GMPSIM_ERROR_MAX - 1] = 0;
    }
    return fail_exit_code(f->code) == EXIT_INTERNAL ? GMPSIM_BROKEN : GMPSIM_BAD;
}

/* ---- one call at a time, and none that ends the process ---- */

static pthread_mutex_t one_call = PTHREAD_MUTEX_INITIALIZER;
jmp_buf guest_no_memory;

static void out_of_memory(void *arg)
{
    (void)arg;
    run_no_memory(); /* does not come back from a world */
    longjmp(guest_no_memory, 1);
}

/* Used as: guest_enter(); if (setjmp(guest_no_memory) == 0) ... ; guest_leave(); */
void guest_enter(void)
{
    pthread_mutex_lock(&one_call);
    x_on_failure(out_of_memory, NULL);
}

void guest_leave(void)
{
    x_on_failure(NULL, NULL);
    pthread_mutex_unlock(&one_call);
}

int guest_said_no_memory(char *error)
{
    struct failure f = {0};
    fail(&f, E_LIMIT, "the system has no more memory");
    return guest_say(error, &f);
}

int guest_said_null(char *error, const char *what)
{
    struct failure f = {0};
    fail(&f, E_USAGE, "%s is NULL", what);
    return guest_say(error, &f);
}

/* ---- scenarios ---- */

static gmpsim_scenario *wrap(struct scenario *s, const char *path, const struct failure *f,
                             char *error)
{
    if (s == NULL) {
        guest_say(error, f);
        return NULL;
    }
    gmpsim_scenario *w = x_alloc(sizeof *w);
    w->s = s;
    w->path = x_alloc(strlen(path) + 1);
    memcpy(w->path, path, strlen(path) + 1);
    return w;
}

gmpsim_scenario *gmpsim_scenario_open(const char *path, char *error)
{
    struct failure f = {0};
    gmpsim_scenario *volatile w = NULL; /* a longjmp may come back */
    if (path == NULL) {
        guest_said_null(error, "path");
        return NULL;
    }
    guest_enter();
    if (setjmp(guest_no_memory) == 0)
        w = wrap(scenario_load_file(&f, path), path, &f, error);
    else
        guest_said_no_memory(error);
    guest_leave();
    return w;
}

gmpsim_scenario *gmpsim_scenario_parse(const char *name, const char *text, size_t size, char *error)
{
    struct failure f = {0};
    gmpsim_scenario *volatile w = NULL; /* a longjmp may come back */
    if (name == NULL || text == NULL) {
        guest_said_null(error, "name or text");
        return NULL;
    }
    guest_enter();
    if (setjmp(guest_no_memory) == 0)
        w = wrap(scenario_load(&f, name, text, size), name, &f, error);
    else
        guest_said_no_memory(error);
    guest_leave();
    return w;
}

void gmpsim_scenario_free(gmpsim_scenario *s)
{
    if (s == NULL)
        return;
    scenario_free(s->s);
    free(s->path);
    free(s);
}

const char *gmpsim_scenario_name(const gmpsim_scenario *s) { return s != NULL ? s->s->name : ""; }

/* ---- settings ---- */

gmpsim_run *gmpsim_run_new(const gmpsim_scenario *s)
{
    gmpsim_run *r = s != NULL ? calloc(1, sizeof *r) : NULL;
    if (r == NULL)
        return NULL;
    r->s = s->s;
    (void)run_opts_of(NULL, s->s, 0, &r->o); /* the loader has checked profile and rules */
    return r;
}

static void drop_result(gmpsim_run *r)
{
    if (r->has_result)
        run_free(&r->r);
    free(r->out);
    r->out = NULL;
    r->has_result = false;
}

void gmpsim_run_free(gmpsim_run *r)
{
    if (r == NULL)
        return;
    drop_result(r);
    free(r);
}

static void set_quota(struct run_opts *o, uint64_t v) { run_set_quota(o, (int64_t)v); }
static void set_procs(struct run_opts *o, uint64_t v) { o->procs = (int32_t)v; }
static void set_cpus(struct run_opts *o, uint64_t v) { o->cpus = (int32_t)v; }
static void set_period(struct run_opts *o, uint64_t v) { o->period_us = (int64_t)v; }
static void set_memory(struct run_opts *o, uint64_t v) { o->memory_max = (int64_t)v; }
static void set_until(struct run_opts *o, uint64_t v) { o->until_ns = (int64_t)v; }
static void set_seed(struct run_opts *o, uint64_t v) { o->seed = v; }

/* 0 is allowed besides: the default. */
static const struct setting {
    const char *name;
    uint64_t min, max;
    void (*set)(struct run_opts *o, uint64_t value);
} settings[] = {
    {"procs", 1, PROCS_MAX, set_procs},
    {"cpus", 1, VM_CPUS_MAX, set_cpus},
    {"quota_us", VM_QUOTA_MIN_US, VM_QUOTA_MAX_US, set_quota},
    {"period_us", VM_PERIOD_MIN_US, VM_PERIOD_MAX_US, set_period},
    {"memory", VM_MEMORY_MIN, VM_MEMORY_MAX, set_memory},
    {"until_ns", 1, VM_TIME_MAX_PS / 1000, set_until},
    {"seed", 0, UINT64_MAX, set_seed},
};

int gmpsim_run_set(gmpsim_run *r, const char *name, uint64_t value)
{
    for (size_t i = 0; r != NULL && name != NULL && i < sizeof settings / sizeof *settings; i++) {
        const struct setting *t = &settings[i];
        if (strcmp(t->name, name) != 0)
            continue;
        if (value != 0 && (value < t->min || value > t->max))
            return GMPSIM_BAD;
        t->set(&r->o, value);
        return GMPSIM_OK;
    }
    return GMPSIM_BAD;
}

int gmpsim_run_set_profile(gmpsim_run *r, const char *profile)
{
    int release = r != NULL && profile != NULL ? profile_parse(profile) : -1;
    if (release < 0 || !scenario_profile(NULL, r->s, release, &r->o.profile))
        return GMPSIM_BAD;
    return GMPSIM_OK;
}

int gmpsim_run_set_rule(gmpsim_run *r, const char *rule, int64_t value)
{
    if (r == NULL || rule == NULL)
        return GMPSIM_BAD;
    return profile_set(&r->o.profile, rule, value) == 0 ? GMPSIM_OK : GMPSIM_BAD;
}

int gmpsim_run_set_host(gmpsim_run *r, const char *host)
{
    if (r == NULL || host == NULL)
        return GMPSIM_BAD;
    if (strcmp(host, "virtual") == 0)
        r->o.host = NULL;
    else if (strcmp(host, "threads") == 0)
        r->o.host = &host_real;
    else
        return GMPSIM_BAD;
    return GMPSIM_OK;
}

/* ---- running ---- */

static void complain(void *arg, const char *text)
{
    gmpsim_run *r = arg;
    size_t used = strlen(r->complaint_text), room = sizeof r->complaint_text - used;
    if (used > 0 && room > 1) {
        r->complaint_text[used++] = '\n';
        room--;
    }
    strncpy(r->complaint_text + used, text, room - 1);
    r->complaint_text[sizeof r->complaint_text - 1] = 0;
}

static void judge(gmpsim_run *r)
{
    const struct run_result *q = &r->r.result;
    r->complaint_text[0] = 0;
    r->complaints = scenario_check(r->s, r->o.profile.release, q, complain, r);
    r->out = x_alloc(q->out_size + 1);
    memcpy(r->out, q->out, q->out_size);
    r->has_result = true;
}

static int run_and_judge(gmpsim_run *r, char *error)
{
    struct failure f = {0};
    if (!run_all(&f, &r->r, &r->o))
        return guest_say(error, &f);
    run_free_world(&r->r);
    judge(r);
    const struct run_result *q = &r->r.result;
    int status = run_exit_code(q);
    if (status == EXIT_CLEAN || status == EXIT_FINDING)
        return GMPSIM_OK;
    fail(&f, status == EXIT_INTERNAL ? E_INTERNAL : E_LIMIT, "%s", q->text);
    return guest_say(error, &f);
}

int gmpsim_run_go(gmpsim_run *r, char *error)
{
    volatile int status;
    if (r == NULL)
        return guest_said_null(error, "run");
    guest_enter();
    drop_result(r);
    if (setjmp(guest_no_memory) == 0) {
        status = run_and_judge(r, error);
    } else {
        r->r.deaf = true;
        run_free(&r->r);
        status = guest_said_no_memory(error);
    }
    guest_leave();
    return status;
}

/* ---- results ---- */

/* NULL: there is none yet. */
static const struct run_result *result_of(const gmpsim_run *r)
{
    return r != NULL && r->has_result ? &r->r.result : NULL;
}

const char *gmpsim_verdict(const gmpsim_run *r)
{
    const struct run_result *q = result_of(r);
    return q != NULL ? run_verdict(q) : "not run";
}

const char *gmpsim_text(const gmpsim_run *r)
{
    const struct run_result *q = result_of(r);
    return q != NULL ? q->text : "";
}

int gmpsim_as_expected(const gmpsim_run *r) { return result_of(r) != NULL && r->complaints == 0; }

const char *gmpsim_complaints(const gmpsim_run *r)
{
    return result_of(r) != NULL ? r->complaint_text : "";
}

uint64_t gmpsim_fingerprint(const gmpsim_run *r)
{
    const struct run_result *q = result_of(r);
    return q != NULL ? q->fingerprint : 0;
}

int64_t gmpsim_makespan_ns(const gmpsim_run *r)
{
    const struct run_result *q = result_of(r);
    return q != NULL ? (int64_t)(q->now_ps / 1000) : -1;
}

size_t gmpsim_left_count(const gmpsim_run *r)
{
    const struct run_result *q = result_of(r);
    return q != NULL ? q->ngs : 0;
}

const char *gmpsim_output(const gmpsim_run *r, size_t *size)
{
    const struct run_result *q = result_of(r);
    if (size != NULL)
        *size = q != NULL ? q->out_size : 0;
    return q != NULL ? r->out : "";
}

int64_t gmpsim_counter(const gmpsim_run *r, const char *name)
{
    const struct run_result *q = result_of(r);
    for (int i = 0; q != NULL && name != NULL && i < COUNTER_COUNT; i++)
        if (strcmp(counter_names[i], name) == 0)
            return (int64_t)q->counters[i];
    return -1;
}

int64_t gmpsim_p_time_ns(const gmpsim_run *r, const char *name)
{
    const struct run_result *q = result_of(r);
    for (int i = 0; q != NULL && name != NULL && i < PC_COUNT; i++)
        if (strcmp(p_class_names[i], name) == 0)
            return (int64_t)(q->p_ps[i] / 1000);
    return -1;
}

static struct hist *span(const gmpsim_run *r, const char *name)
{
    const struct run_result *q = result_of(r);
    for (size_t i = 0; q != NULL && name != NULL && i < q->nspans; i++)
        if (strcmp(q->spans[i].name, name) == 0)
            return q->spans[i].latency;
    return NULL;
}

int64_t gmpsim_span_count(const gmpsim_run *r, const char *name)
{
    const struct hist *h = span(r, name);
    return h != NULL ? (int64_t)h->count : -1;
}

int64_t gmpsim_span_percentile(gmpsim_run *r, const char *name, uint32_t ppm)
{
    struct hist *h = span(r, name);
    if (h == NULL || h->count == 0)
        return -1;
    return hist_percentile(h, ppm < 1000000 ? ppm : 1000000);
}

gmpsim_goroutine gmpsim_left(const gmpsim_run *r, size_t index)
{
    if (index >= gmpsim_left_count(r))
        return (gmpsim_goroutine){.group = "", .status = "", .reason = ""};
    const struct run_g *g = &r->r.result.gs[index];
    return (gmpsim_goroutine){.goid = g->goid,
                              .group = g->is->group,
                              .status = g->is->status,
                              .reason = g->is->reason,
                              .line = g->is->line,
                              .blocked = g->is->blocked};
}
