/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/record.h"

#include <string.h>

#include "run/window.h"

/* A sample per virtual millisecond at first; whenever there are many, the interval doubles. */
enum { INTERVAL_NS = 1000000, SAMPLES_MAX = 16384, PS_PER_NS = 1000, RINGS_MAX = 64 };

struct sampler {
    struct store *db;
    struct run *r;
    uint64_t now_ps, interval_ps;
    uint64_t before[PC_COUNT], area_before;
    int count;
};

static int64_t sample_rings(struct sampler *s, int64_t time_ns, int32_t procs)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < procs; i++) {
        struct look_p p;
        look_p(i, &p);
        int32_t length = (int32_t)p.ring + (p.runnext != 0);
        sum += length;
        if (procs <= RINGS_MAX)
            store_add_ring(s->db, time_ns, i, length);
    }
    return sum;
}

static void sample(struct sampler *s)
{
    struct look_sched look;
    uint64_t ps[PC_COUNT];
    int64_t time_ns = (int64_t)(s->now_ps / PS_PER_NS);
    look_sched(&look);
    analysis_ps_until(&s->r->analysis, s->now_ps, ps);
    struct analysis *a = &s->r->analysis;
    struct store_sample out = {.time_ns = time_ns,
                               .interval_ns = (int64_t)(s->interval_ps / PS_PER_NS),
                               .runnable = (int64_t)a->runnable,
                               .runnable_max = (int64_t)a->runnable_peak,
                               .runnable_area = (int64_t)(a->runnable_area - s->area_before),
                               .globrunq = look.globrunq,
                               .ring = sample_rings(s, time_ns, look.procs),
                               .idle_ps = look.npidle,
                               .spinning_ms = look.nmspinning,
                               .ms = look.nm};
    for (int c = 0; c < PC_COUNT; c++)
        out.p_ns[c] = (int64_t)((ps[c] - s->before[c]) / PS_PER_NS);
    memcpy(s->before, ps, sizeof ps);
    s->area_before = a->runnable_area;
    a->runnable_peak = a->runnable;
    store_add_sample(s->db, &out);
    if (++s->count % SAMPLES_MAX == 0)
        s->interval_ps *= 2;
}

static void to_outputs(void *arg, const struct event_rec *recs, size_t count)
{
    struct outputs *out = arg;
    if (out->db != NULL)
        store_sink(out->db, recs, count);
    if (out->jsonl != NULL)
        export_sink(out->jsonl, recs, count);
    if (out->chrome != NULL)
        export_sink(out->chrome, recs, count);
    if (out->gotrace != NULL)
        simtrace_sink(out->gotrace, recs, count);
    if (out->progress != NULL)
        progress_sink(out->progress, recs, count);
}

static int64_t begin(struct failure *f, const struct machine *m, const struct run_opts *o,
                     struct store *db, bool summary)
{
    char repeat[4096] = GMPSIM_NAME " run ", rules[1024] = "";
    size_t n = strlen(repeat);
    machine_line(m, o, repeat + n, sizeof repeat - n);
    for (int i = 0; i < m->rules.count; i++) {
        size_t used = strlen(rules);
        snprintf(rules + used, sizeof rules - used, "%s%s", i > 0 ? " " : "", m->rules.items[i]);
    }
    struct store_run info = {.scenario = m->scenario->name,
                             .file = m->file,
                             .profile = profile_name(o->profile.release),
                             .rules = rules,
                             .repeat = repeat,
                             .version = GMPSIM_VERSION,
                             .procs = o->procs,
                             .cpus = o->cpus,
                             .quota_us = o->quota_us,
                             .period_us = o->period_us,
                             .seed = o->seed,
                             .program = o->program,
                             .summary = summary};
    return store_begin(db, f, &info);
}

bool run_recorded(struct failure *f, struct run *r, const struct machine *m,
                  const struct run_opts *o, struct outputs *out, int64_t *id)
{
    struct run_opts with = *o;
    if (out->db != NULL && (*id = begin(f, m, o, out->db, out->summary)) == 0)
        return false;
    if (out->db != NULL || out->jsonl != NULL || out->chrome != NULL || out->gotrace != NULL ||
        out->progress != NULL)
        with.sink = to_outputs;
    with.arg = out;
    if (out->db == NULL)
        return run_all(f, r, &with);
    if (!run_start(f, r, &with))
        return false;
    struct sampler s = {.db = out->db, .r = r, .interval_ps = (uint64_t)INTERVAL_NS * PS_PER_NS};
    for (s.now_ps = s.interval_ps; run_to(r, s.now_ps); s.now_ps += s.interval_ps)
        sample(&s);
    run_end(r);
    s.now_ps = r->result.now_ps;
    sample(&s);
    return true;
}
