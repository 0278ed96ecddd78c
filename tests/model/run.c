/* SPDX-License-Identifier: BSD-3-Clause */
/* as_run: a program on the host that this test program is linked with (run_virt.c, run_real.c). */
#include "run.h"

#include <string.h>

#include "harness.h"

static void set_rule(struct profile *p, const char *rule, int64_t value)
{
    if (rule != NULL && profile_set(p, rule, value) != 0)
        FAIL_CASE("no such rule: %s", rule);
}

static void take_end(struct as_result *r, enum world_end why)
{
    struct host_stats s;
    as_host->stats(&s);
    r->fingerprint = s.fingerprint;
    r->now_ps = s.now_ps;
    r->spin_ps = s.spin_ps;
    r->end = why;
    as_host->core->counters(r->counters);
    if (why != END_FINDING && why != END_THROWN)
        return;
    const struct world_verdict *v = as_host->verdict();
    r->kind = v->kind;
    strncpy(r->text, v->text, sizeof r->text - 1);
}

static int32_t procs_of(const struct as_opts *o)
{
    return o->default_procs ? 0 : o->procs != 0 ? o->procs : 1;
}

void as_run(struct as_result *r, struct as *a, struct as_opts o)
{
    memset(r, 0, sizeof *r);
    struct profile prof;
    CHECK(profile_init(&prof, o.release != 0 ? o.release : PROFILE_LATEST));
    set_rule(&prof, o.rule, o.value);
    set_rule(&prof, o.rule2, o.value2);
    struct failure f = {0};
    const struct host_quota later = {o.later_ms * 1000000, o.later_us};
    const struct host_opts ho = {.seed = o.seed + 1,
                                 .cpus = o.cpus,
                                 .quota_us = o.quota_us,
                                 .quotas = &later,
                                 .nquotas = o.later_ms > 0,
                                 .throws_end_process = !o.catch_throws,
                                 .sink = o.sink,
                                 .sink_arg = o.sink_arg,
                                 .world = {.profile = &prof,
                                           .program = as_done(a),
                                           .procs = procs_of(&o),
                                           .schedtrace_ns = (int64_t)o.schedtrace_ms * 1000000,
                                           .scheddetail = o.scheddetail,
                                           .print = as_take_print,
                                           .sched_line = as_take_print,
                                           .arg = r}};
    if (!world_open(as_host, &f, &ho))
        FAIL_CASE("%s: %s", as_host->name, f.text);
    take_end(r, as_to_end((uint64_t)o.until_ms * 1000000000u));
    as_host->close();
}
