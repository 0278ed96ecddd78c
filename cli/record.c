/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/record.h"

#include <string.h>

#include "cli/sampler.h"

static void to_outputs(void *arg, const struct event_rec *recs, size_t count)
{
    struct outputs *out = arg;
    if (out->db != NULL)
        store_sink(out->db, recs, count);
    if (out->jsonl != NULL)
        export_sink(out->jsonl, recs, count);
    if (out->gotrace != NULL)
        simtrace_sink(out->gotrace, recs, count);
    if (out->progress != NULL)
        progress_sink(out->progress, recs, count);
}

static void to_perfetto(void *arg, struct transitions *t)
{
    perfetto_listen(((struct outputs *)arg)->perfetto, t);
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
                             .host = o->host != NULL ? o->host->name : host_virt.name,
                             .sched = machine_sched(o),
                             .procs = o->procs,
                             .cpus = o->cpus,
                             .quota_us = o->quota_us,
                             .period_us = o->period_us,
                             .warmup_ns = o->warmup_ns,
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
    if (out->db != NULL || out->jsonl != NULL || out->gotrace != NULL || out->progress != NULL)
        with.sink = to_outputs;
    with.moves = out->jsonl != NULL;
    if (out->perfetto != NULL)
        with.listen = to_perfetto;
    with.arg = out;
    if (out->db == NULL)
        return run_all(f, r, &with);
    if (!run_start(f, r, &with))
        return false;
    struct sampler s;
    sampler_init(&s, out->db, &r->analysis);
    for (uint64_t at = s.interval_ps; run_to(r, at); at = sampler_next(&s))
        sample_world(&s, at);
    run_end(r);
    if (sampler_wants_last(&s, r->result.now_ps))
        sample_world(&s, r->result.now_ps);
    return true;
}
