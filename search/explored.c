/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/explored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api.h"
#include "run/host.h"
#include "run/judge.h"
#include "run/window.h"
#include "sim/base/alloc.h"

/* Longer than a thread without work looks for some. */
enum { SETTLE_NS = 200000 };

/* Up to 1.15 an idle P has sysmon wake it for its timers. */
enum { SYSMON_NEEDED_BELOW = 16 };
/* Points of the runtime between two turns, on average at most. */
enum { STEPS_PER_TURN = 1000 };

static const char *const start_names[START_KINDS] = {"settled", "time", "random"};

static const char *const granularity_names[GRANULARITIES] = {"op", "sync"};

const char *granularity_name(enum granularity g)
{
    return g < GRANULARITIES ? granularity_names[g] : "?";
}

const char *explored_start_name(enum explored_start s)
{
    return s < START_KINDS ? start_names[s] : "?";
}

/* ---- the world ---- */

static void take_print(void *arg, const char *text, size_t size)
{
    struct explored_text *t = arg;
    if (t->size + size > t->room) {
        t->room = (t->size + size) * 2 + 1024;
        t->text = x_grow(t->text, t->room);
    }
    memcpy(t->text + t->size, text, size);
    t->size += size;
}

static void build(struct explored *x)
{
    struct world_opts wo = {.profile = &x->profile,
                            .program = &x->o.scenario->program,
                            .procs = x->o.granularity == GRANULARITY_SYNC ? 1 : x->o.procs,
                            .print = take_print,
                            .arg = &x->out};
    void *m0_arg;
    struct hostm *m0 = core_explore.init(&wo, &m0_arg);
    ex_start(m0, core_explore.run_m0, m0_arg);
}

/* Start-up, up to the program's first instruction. False: it ended before. */
static bool start(struct explored *x)
{
    struct strategy_random r;
    strategy_random_init(&r, x->o.seed, 1);
    x->out.size = 0;
    bool drawn = x->o.start == START_RANDOM && x->o.granularity == GRANULARITY_OP;
    if (!ex_begin_start(drawn ? &r.s : strategy_time()))
        return false;
    build(x);
    return ex_run_start();
}

static enum cost_port port_of(enum mm_kind memory)
{
    return memory == MM_ARM ? PORT_ARM64 : memory == MM_POWER ? PORT_PPC64LE : PORT_AMD64;
}

bool explored_open(struct failure *f, struct explored *x, const struct explored_opts *o)
{
    memset(x, 0, sizeof *x);
    const char *refusal = profile_refusal(&o->profile);
    if (refusal != NULL) {
        fail(f, E_PROFILE, "go1.%d with these rules: %s", o->profile.release, refusal);
        return false;
    }
    x->o = *o;
    x->profile = o->profile;
    bool sync = o->granularity == GRANULARITY_SYNC;
    if (sync && o->profile.release >= SYSMON_NEEDED_BELOW)
        x->profile.sysmon = 0; /* nobody is too long in a call, and nobody's slice ends */
    struct ex_opts eo = {.sync = sync,
                         .turns_max = sync ? o->steps_max : 0,
                         .memory = o->memory,
                         .port = port_of(o->memory),
                         .ctrl = true,
                         .eager_clock = o->late_max_ns > 0,
                         .late_max_ns = o->late_max_ns,
                         .settle_ns = o->start == START_SETTLED && !sync ? SETTLE_NS : 0,
                         .seed = o->seed,
                         .steps_max = sync ? STEPS_PER_TURN * o->steps_max : o->steps_max,
                         .until_ns = o->until_ns,
                         .sighandler = core_explore.sighandler,
                         .check = o->checks ? core_explore.check : NULL};
    if (!ex_init(f, &eo))
        return false;
    if (!start(x)) {
        fail(f, E_LIMIT, "the runtime's start does not end: %s", ex_text());
        ex_free();
        return false;
    }
    x->started = true;
    x->copied = !o->no_copy && ex_keep(NULL) == 0;
    return true;
}

void explored_close(struct explored *x)
{
    ex_free();
    free(x->result.gs);
    free(x->out.text);
    memset(x, 0, sizeof *x);
}

/* ---- what came of it ---- */

/* A thrown invariant is what was looked for, and a limit of the world no verdict. */
static enum world_end end_of(void)
{
    switch (ex_why()) {
    case END_DONE: return END_STOPPED;
    case END_THROWN: return END_FINDING;
    case END_FINDING: return ex_finding_kind() == FIND_LIMIT ? END_LIMIT : END_FINDING;
    case END_STOPPED:
    case END_IDLE:
    case END_TIME:
    case END_LIMIT:
    case WORLD_ENDS: break;
    }
    return ex_why();
}

static void take_words(struct explored *x)
{
    snprintf(x->words, sizeof x->words, "%s", ex_text());
    size_t n = strlen(x->words);
    while (n > 0 && x->words[n - 1] == '\n')
        x->words[--n] = 0;
}

static void take_result(struct explored *x)
{
    struct run_result *q = &x->result;
    free(q->gs);
    take_words(x);
    *q = (struct run_result){
        .end = end_of(),
        .kind = ex_why() == END_THROWN ? FIND_INVARIANT : ex_finding_kind(),
        .text = x->words,
        .out = x->out.size > 0 ? x->out.text : "",
        .out_size = x->out.size,
        .now_ps = (uint64_t)ex_now() * 1000,
        .fingerprint = ex_fingerprint(),
        .threads = (uint32_t)ex_threads(),
    };
    if (ex_why() == END_STOPPED || ex_why() == END_TIME || ex_why() == END_LIMIT)
        q->stranded = core_explore.strand(ex_why() == END_STOPPED);
    q->gs = host_explore.window->gs(core_explore.runtime(), &x->o.scenario->program,
                                    /*system*/ false, &q->ngs);
}

static void complain(void *arg, const char *text)
{
    struct verdict *v = arg;
    size_t used = strlen(v->text);
    snprintf(v->text + used, sizeof v->text - used, "%s%s", used > 0 ? "\n" : "", text);
}

static void judge(struct explored *x)
{
    struct verdict *v = &x->verdict;
    struct run_result *q = &x->result;
    v->kind = VERDICT_CLEAN;
    v->what[0] = v->text[0] = 0;
    bool cut = q->end == END_LIMIT || (q->end == END_TIME && x->o.scenario->expects == NULL);
    if (cut && q->stranded == 0) {
        v->kind = VERDICT_NONE;
        return;
    }
    if (q->end == END_LIMIT)
        q->end = END_TIME; /* who is stuck then is so for ever */
    if (scenario_check_any(x->o.scenario, x->o.profile.release, q, complain, v) == 0)
        return;
    v->kind = VERDICT_FINDING;
    v->known = scenario_is_bug(x->o.scenario, x->o.profile.release, q);
    snprintf(v->what, sizeof v->what, "%s", q->end == END_IDLE ? "hang" : run_verdict(q));
    if (q->end == END_STOPPED && q->stranded == 0)
        snprintf(v->what, sizeof v->what, "not as expected");
    if (x->o.scenario->expects == NULL && q->text[0] != 0)
        snprintf(v->text, sizeof v->text, "%s", q->text);
}

bool explored_run(struct explored *x, struct strategy *s)
{
    x->out.size = 0;
    if (x->copied) {
        if (!ex_again(s))
            return false;
    } else if ((!x->started && !start(x)) || !ex_go_on(s)) {
        return false;
    }
    x->started = false;
    ex_run();
    take_result(x);
    judge(x);
    ex_end();
    return true;
}
