/* SPDX-License-Identifier: BSD-3-Clause */
/* The public library: include/gmpsim.h over run.h. */
#include "include/gmpsim.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "run/run.h"
#include "run/judge.h"

struct gmpsim_scenario {
    struct scenario *s;
};

struct gmpsim_run {
    const struct scenario *s;
    struct run_opts o;
    struct run r;
    bool has_result;
    int complaints;
    char complaint_text[4096];
    char *out;
};

static const char *const counter_names[COUNTER_COUNT] = {
#define COUNTER(name, what) #name,
#include "model/counters.def"
#undef COUNTER
};

const char *gmpsim_version(void) { return GMPSIM_VERSION; }

static int say(char *error, const struct failure *f)
{
    if (error != NULL) {
        strncpy(error, f->text, GMPSIM_ERROR_MAX - 1);
        error[GMPSIM_ERROR_MAX - 1] = 0;
    }
    return fail_exit_code(f->code) == EXIT_INTERNAL ? GMPSIM_BROKEN : GMPSIM_BAD;
}

/* ---- scenarios ---- */

static gmpsim_scenario *wrap(struct scenario *s, const struct failure *f, char *error)
{
    if (s == NULL) {
        say(error, f);
        return NULL;
    }
    gmpsim_scenario *w = x_alloc(sizeof *w);
    w->s = s;
    return w;
}

gmpsim_scenario *gmpsim_scenario_open(const char *path, char *error)
{
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    return wrap(s, &f, error);
}

gmpsim_scenario *gmpsim_scenario_parse(const char *name, const char *text, size_t size, char *error)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, name, text, size);
    return wrap(s, &f, error);
}

void gmpsim_scenario_free(gmpsim_scenario *s)
{
    if (s == NULL)
        return;
    scenario_free(s->s);
    free(s);
}

const char *gmpsim_scenario_name(const gmpsim_scenario *s) { return s->s->name; }

/* ---- settings ---- */

gmpsim_run *gmpsim_run_new(const gmpsim_scenario *s)
{
    gmpsim_run *r = x_alloc(sizeof *r);
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

int gmpsim_run_set(gmpsim_run *r, const char *name, uint64_t value)
{
    int32_t *small = NULL;
    int64_t *large = NULL;
    if (r == NULL)
        return GMPSIM_BAD;
    if (strcmp(name, "seed") == 0)
        r->o.seed = value;
    else if (strcmp(name, "procs") == 0)
        small = &r->o.procs;
    else if (strcmp(name, "cpus") == 0)
        small = &r->o.cpus;
    else if (strcmp(name, "quota_us") == 0)
        large = &r->o.quota_us;
    else if (strcmp(name, "period_us") == 0)
        large = &r->o.period_us;
    else if (strcmp(name, "memory") == 0)
        large = &r->o.memory_max;
    else if (strcmp(name, "until_ns") == 0)
        large = &r->o.until_ns;
    else
        return GMPSIM_BAD;
    if ((small != NULL && value > PROCS_MAX) ||
        (large != NULL && value > INT64_MAX / 1000))
        return GMPSIM_BAD;
    if (small != NULL)
        *small = (int32_t)value;
    if (large != NULL)
        *large = (int64_t)value;
    if (large == &r->o.quota_us)
        r->o.nquotas = 0; /* one for the whole run */
    return GMPSIM_OK;
}

int gmpsim_run_set_profile(gmpsim_run *r, const char *profile)
{
    int release = profile_parse(profile);
    if (release < 0 || !scenario_profile(NULL, r->s, release, &r->o.profile))
        return GMPSIM_BAD;
    return GMPSIM_OK;
}

int gmpsim_run_set_rule(gmpsim_run *r, const char *rule, int64_t value)
{
    return profile_set(&r->o.profile, rule, value) == 0 ? GMPSIM_OK : GMPSIM_BAD;
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

int gmpsim_run_go(gmpsim_run *r, char *error)
{
    struct failure f = {0};
    drop_result(r);
    if (!run_all(&f, &r->r, &r->o))
        return say(error, &f);
    run_free_world(&r->r);
    const struct run_result *q = &r->r.result;
    r->has_result = true;
    r->complaint_text[0] = 0;
    r->complaints = scenario_check(r->s, r->o.profile.release, q, complain, r);
    r->out = x_alloc(q->out_size + 1);
    memcpy(r->out, q->out, q->out_size);
    if (q->end != END_THROWN && q->end != END_LIMIT)
        return GMPSIM_OK;
    fail(&f, q->end == END_THROWN ? E_INTERNAL : E_LIMIT, "%s", q->text);
    return say(error, &f);
}

/* ---- results ---- */

const char *gmpsim_verdict(const gmpsim_run *r) { return run_verdict(&r->r.result); }
const char *gmpsim_text(const gmpsim_run *r) { return r->r.result.text; }
int gmpsim_as_expected(const gmpsim_run *r) { return r->complaints == 0; }
const char *gmpsim_complaints(const gmpsim_run *r) { return r->complaint_text; }
uint64_t gmpsim_fingerprint(const gmpsim_run *r) { return r->r.result.fingerprint; }
int64_t gmpsim_makespan_ns(const gmpsim_run *r) { return (int64_t)(r->r.result.now_ps / 1000); }
size_t gmpsim_left_count(const gmpsim_run *r) { return r->r.result.ngs; }

const char *gmpsim_output(const gmpsim_run *r, size_t *size)
{
    if (size != NULL)
        *size = r->r.result.out_size;
    return r->out;
}

int64_t gmpsim_counter(const gmpsim_run *r, const char *name)
{
    for (int i = 0; i < COUNTER_COUNT; i++)
        if (strcmp(counter_names[i], name) == 0)
            return (int64_t)r->r.result.counters[i];
    return -1;
}

int64_t gmpsim_p_time_ns(const gmpsim_run *r, const char *name)
{
    for (int i = 0; i < PC_COUNT; i++)
        if (strcmp(p_class_names[i], name) == 0)
            return (int64_t)(r->r.result.p_ps[i] / 1000);
    return -1;
}

static struct hist *span(const gmpsim_run *r, const char *name)
{
    const struct run_result *q = &r->r.result;
    for (size_t i = 0; i < q->nspans; i++)
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
    const struct run_g *g = &r->r.result.gs[index];
    return (gmpsim_goroutine){.goid = g->goid,
                              .group = g->is->group,
                              .status = g->is->status,
                              .reason = g->is->reason,
                              .line = g->is->line,
                              .blocked = g->is->blocked};
}
