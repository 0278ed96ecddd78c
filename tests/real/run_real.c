/* SPDX-License-Identifier: BSD-3-Clause */
/* as_run on real threads: the same programs and checks as on the virtual host. Without until_ms, a
 * world that takes longer than RUN_LIMIT_NS hangs. */
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "sim/base/fail.h"
#include "sim/real/rt.h"

static const int64_t RUN_LIMIT_NS = 60000000000;

static void take_print(void *arg, const char *text, size_t size)
{
    struct as_result *r = arg;

    if (size > sizeof r->out - 1 - r->nout)
        size = sizeof r->out - 1 - r->nout;
    memcpy(r->out + r->nout, text, size);
    r->nout += size;
    r->out[r->nout] = 0;
}

static void set_rule(struct profile *p, const char *rule, int64_t value)
{
    if (rule != NULL && profile_set(p, rule, value) != 0)
        FAIL_CASE("no such rule: %s", rule);
}

static void take_end(struct as_result *r, enum world_end why)
{
    struct rt_stats s;

    rt_stats(&s);
    r->now_ps = (uint64_t)s.ran_ns * 1000;
    r->end = why;
    core_real.counters(r->counters);
    if (why != END_FINDING && why != END_THROWN)
        return;
    r->kind = rt_verdict()->kind;
    strncpy(r->text, rt_verdict()->text, sizeof r->text - 1);
}

void as_run(struct as_result *r, struct as *a, struct as_opts o)
{
    struct rt_opts ro = {.seed = o.seed + 1, .sighandler = core_real.sighandler};
    struct profile prof;
    struct failure f = {0};
    void *arg;

    memset(r, 0, sizeof *r);
    CHECK(profile_init(&prof, o.release != 0 ? o.release : PROFILE_LATEST));
    set_rule(&prof, o.rule, o.value);
    set_rule(&prof, o.rule2, o.value2);
    if (!rt_init(&f, &ro))
        FAIL_CASE("rt_init: %s", f.text);
    struct world_opts wo = {.profile = &prof,
                            .program = as_done(a),
                            .procs = o.procs != 0 ? o.procs : 1,
                            .print = take_print,
                            .arg = r};
    struct hostm *m0 = core_real.init(&wo, &arg);
    rt_start(m0, core_real.run_m0, arg);
    take_end(r, rt_run(o.until_ms ? o.until_ms * 1000000 : RUN_LIMIT_NS));
    rt_free();
}
