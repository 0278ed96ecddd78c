/* SPDX-License-Identifier: BSD-3-Clause */
/* as_run: a program on the virtual host. */
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "sim/base/fail.h"
#include "sim/virt/vm.h"
#include "tests/base/no_malloc.h"

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
    struct vm_stats s;
    vm_stats(&s);
    r->fingerprint = s.fingerprint;
    r->now_ps = s.now_ps;
    r->spin_ps = s.spin_ps;
    r->end = why;
    core_virt.counters(r->counters);
    if (why != END_FINDING && why != END_THROWN)
        return;
    const struct world_verdict *v = vm_verdict();
    r->kind = v->kind;
    strncpy(r->text, v->text, sizeof r->text - 1);
}

/* Runs to the end, with an allocator that ends the process while the world runs, and looks at the
 * world's invariants on the way, more often at the beginning. */
static enum world_end run_checked(uint64_t until_ps)
{
    for (uint64_t at = 0;;) {
        at += at / 8 + 2000000;
        at = at < until_ps ? at : until_ps;
        no_malloc_begin();
        enum world_end why = vm_run(at);
        no_malloc_end();
        const char *bad = why != END_LIMIT && why != END_THROWN ? core_virt.check(vm_quiet())
                                                                : NULL;
        if (bad != NULL)
            throw(bad);
        if (why != END_TIME || at == until_ps)
            return why;
    }
}

void as_run(struct as_result *r, struct as *a, struct as_opts o)
{
    memset(r, 0, sizeof *r);
    struct profile prof;
    CHECK(profile_init(&prof, o.release != 0 ? o.release : PROFILE_LATEST));
    set_rule(&prof, o.rule, o.value);
    set_rule(&prof, o.rule2, o.value2);
    const struct program *program = as_done(a);
    struct failure f = {0};
    const struct vm_quota_change later = {o.later_ms * 1000000, o.later_us};
    struct vm_opts vo = {.seed = o.seed + 1,
                         .cpus = o.cpus,
                         .quota_us = o.quota_us,
                         .quota_changes = &later,
                         .nquota_changes = o.later_ms > 0,
                         .catch_throws = o.catch_throws,
                         .sighandler = core_virt.sighandler};
    if (!vm_init(&f, &vo))
        FAIL_CASE("vm_init: %s", f.text);
    struct world_opts wo = {.profile = &prof,
                            .program = program,
                            .procs = o.default_procs ? 0
                                     : o.procs != 0  ? o.procs
                                                     : 1,
                            .schedtrace_ns = (int64_t)o.schedtrace_ms * 1000000,
                            .scheddetail = o.scheddetail,
                            .print = take_print,
                            .sched_line = take_print,
                            .arg = r};
    void *arg;
    struct hostm *m0 = core_virt.init(&wo, &arg);
    vm_start(m0, core_virt.run_m0, arg);
    enum world_end why = run_checked((uint64_t)(o.until_ms != 0 ? o.until_ms : 100000) *
                                     1000000000u);
    take_end(r, why);
    vm_free();
}
