/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/explored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api.h"
#include "run/host.h"
#include "run/judge.h"
#include "run/run.h"
#include "run/window.h"
#include "scenarios/places.h"
#include "search/circle.h"
#include "sim/base/alloc.h"

/* Start-up is settled after so long: no thread without work looks for some longer than that. */
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

static void take_print(void *arg, const char *text, size_t size) { text_keep(arg, text, size); }

static void build(struct explored *x)
{
    struct world_opts wo = {.profile = &x->profile,
                            .program = &x->o.scenario->program,
                            .procs = x->o.granularity == GRANULARITY_SYNC ? 1 : x->o.procs,
                            .print = take_print,
                            .arg = &x->out};
    world_build(&host_explore, &wo);
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

/* False: f says which site there is not. */
static bool weaken(struct failure *f, const struct faults *x, bool weakened)
{
    for (uint32_t i = 0; i < x->weak_count; i++) {
        const struct fault_weak *w = &x->weak[i];
        uint32_t found = 0;
        for (int v = 0; v < VERB_COUNT; v++)
            if (strcmp(verb_name((enum ex_verb)v), w->verb) == 0)
                found += site_weaken(w->func, (enum ex_verb)v, weakened);
        if (found == 0) {
            fail(f, E_USAGE, "faults: %s of the runtime has no %s", w->func, w->verb);
            return false;
        }
    }
    return true;
}

static enum cost_port port_of(enum mm_kind memory)
{
    return memory == MM_ARM ? PORT_ARM64 : memory == MM_POWER ? PORT_PPC64LE : PORT_AMD64;
}

const char *explored_no_turns(const struct program *p)
{
    for (uint32_t pc = 0; pc < p->ncode; pc++)
        if (p->code[pc].op == OP_CGOCB && p->code[pc].a != 0)
            return "a thread that C has made calls back, and turns are of goroutines alone";
    return NULL;
}

static bool one_turn(void *arg, const struct turn_does *d)
{
    struct explored *x = arg;
    if (cycle_is_half(d))
        return !cycle_closes(&x->cycle, &x->o.scenario->program, d);
    if (x->o.turn != NULL)
        x->o.turn(x->o.turn_arg, d);
    if (x->o.pairs != NULL)
        pairs_turn(x->o.pairs, d);
    return !cycle_closes(&x->cycle, &x->o.scenario->program, d);
}

bool explored_open(struct failure *f, struct explored *x, const struct explored_opts *o)
{
    memset(x, 0, sizeof *x);
    const char *refusal = NULL;
    if (run_rules_refused(f, &o->profile))
        return false;
    if (o->granularity == GRANULARITY_SYNC)
        refusal = explored_no_turns(&o->scenario->program);
    if (refusal != NULL) {
        fail(f, E_USAGE, "granularity sync: %s", refusal);
        return false;
    }
    if (!weaken(f, &o->faults, true)) {
        (void)weaken(NULL, &o->faults, false);
        return false;
    }
    x->o = *o;
    x->profile = o->profile;
    bool sync = o->granularity == GRANULARITY_SYNC;
    if (sync && o->profile.release >= SYSMON_NEEDED_BELOW)
        x->profile.sysmon = 0; /* nobody is too long in a call, and nobody's slice ends */
    struct ex_opts eo = {.sync = sync,
                         .turns_max = sync ? o->steps_max : 0,
                         .turn = one_turn,
                         .turn_arg = x,
                         .memory = o->memory,
                         .port = port_of(o->memory),
                         .ctrl = true,
                         .races = !o->no_races,
                         .faults = o->faults,
                         .fatal_kind = FIND_FATAL,
                         .eager_clock = o->late_max_ns > 0,
                         .late_max_ns = o->late_max_ns,
                         .rests = !sync,
                         .settle_ns = o->start == START_SETTLED && !sync ? SETTLE_NS : 0,
                         .seed = o->seed,
                         .steps_max = sync ? STEPS_PER_TURN * o->steps_max : o->steps_max,
                         .until_ns = o->until_ns,
                         .sighandler = core_explore.sighandler,
                         .check = o->checks ? core_explore.check : NULL};
    if (!ex_init(f, &eo)) {
        (void)weaken(NULL, &o->faults, false);
        return false;
    }
    if (!start(x)) {
        if (!ex_refused(f))
            fail(f, E_LIMIT, "the runtime's start does not end: %s", ex_text());
        ex_free();
        (void)weaken(NULL, &o->faults, false);
        return false;
    }
    cycle_open(&x->cycle, &o->scenario->program, o->until_ns != 0);
    if (o->scenario->unknown_status != 0) /* a recording has an end, and goes round nowhere */
        x->cycle.off = true;
    x->started = true;
    x->copied = !o->no_copy && ex_keep(NULL) == 0;
    return true;
}

void explored_close(struct explored *x)
{
    ex_free();
    (void)weaken(NULL, &x->o.faults, false);
    free(x->result.gs);
    free(x->out.text);
    cycle_close(&x->cycle);
    memset(x, 0, sizeof *x);
}

bool explored_refused(struct failure *f, const struct explored *x)
{
    if (x->refused.code != E_OK)
        fail(f, x->refused.code, "%s", x->refused.text);
    return x->refused.code != E_OK;
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
    case END_RECORDED:
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
        .exit_status = core_explore.exit_status(),
        .text = x->words,
        .out = x->out.size > 0 ? x->out.text : "",
        .out_size = x->out.size,
        .now_ps = (uint64_t)ex_now() * 1000,
        .fingerprint = ex_fingerprint(),
        .threads = (uint32_t)ex_threads(),
        .may_be_late = x->o.granularity == GRANULARITY_SYNC || x->o.late_max_ns > 0,
        .races_sought = !x->o.no_races,
        .program = &x->o.scenario->program,
    };
    q->races = ex_races(&q->nraces);
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

/* Go has no assertions, and so no words for whose assertion it was: they are made here. */
static void tell_assertion(const struct explored *x, struct verdict *v)
{
    const struct program *p = &x->o.scenario->program;
    for (size_t i = 0; i < x->result.ngs; i++) {
        const struct run_g *g = &x->result.gs[i];
        for (uint32_t pc = 0; strcmp(g->is->status, "running") == 0 && pc < p->ncode; pc++) {
            if (p->code[pc].op != OP_ASSERT || p->lines == NULL || p->lines[pc] != g->is->line ||
                strcmp(p->strings[p->code[pc].d], x->result.text) != 0)
                continue;
            size_t n = strlen(v->text);
            snprintf(v->text + n, sizeof v->text - n,
                     "\n\ngoroutine %" PRIu64 " [running]:\nmain.%s (line %" PRIu32 ")", g->goid,
                     g->is->func, g->is->line);
            return;
        }
    }
}

/* Who got on there was only passed over, and how the program ended after that is no matter: time is
 * another one there. True: it is judged. */
static bool judge_fair(struct explored *x)
{
    struct verdict *v = &x->verdict;
    const char *what = starved_judge(&x->starved, &x->result, v->text, sizeof v->text);
    v->kind = VERDICT_NONE;
    if (what == NULL)
        return x->result.end != END_LIMIT;
    v->kind = VERDICT_FINDING;
    snprintf(v->what, sizeof v->what, "%s", what);
    scenario_tell(x->o.scenario, v->text, sizeof v->text);
    return true;
}

/* It came to where nobody knows what comes next. */
static bool is_unknown(const struct explored *x)
{
    return x->o.scenario->unknown_status != 0 &&
           x->result.exit_status == x->o.scenario->unknown_status;
}

/* What others may do then nobody knows, either; but not that they end a circle of locks. */
static void judge_unknown(struct explored *x)
{
    struct verdict *v = &x->verdict;
    v->kind = VERDICT_NONE;
    if (!circle_of_locks(&x->result, v->text, sizeof v->text))
        return;
    v->kind = VERDICT_FINDING;
    snprintf(v->what, sizeof v->what, "deadlock");
    scenario_tell(x->o.scenario, v->text, sizeof v->text);
}

static void judge(struct explored *x)
{
    struct verdict *v = &x->verdict;
    struct run_result *q = &x->result;
    v->kind = VERDICT_CLEAN;
    v->what[0] = v->text[0] = 0;
    if (q->end == END_LIMIT && x->cycle.closed) {
        cycle_judge(&x->cycle, &x->o.scenario->program, q);
        v->kind = VERDICT_FINDING;
        snprintf(v->what, sizeof v->what, "%s", cycle_what(&x->cycle));
        cycle_text(&x->cycle, q, v->text, sizeof v->text);
        scenario_tell(x->o.scenario, v->text, sizeof v->text);
        return;
    }
    if (ex_fair_from() != 0 && judge_fair(x))
        return;
    if (is_unknown(x)) {
        judge_unknown(x);
        return;
    }
    bool cut = q->end == END_LIMIT || (q->end == END_TIME && x->o.scenario->expects == NULL);
    if (cut && q->stranded == 0) {
        v->kind = VERDICT_NONE;
        return;
    }
    if (q->end == END_LIMIT) { /* who is stuck then is so for ever */
        q->end = END_TIME;
        v->kind = scenario_check_stranded(x->o.scenario, x->o.profile.release, q, complain, v) > 0
                      ? VERDICT_FINDING
                      : VERDICT_NONE;
        snprintf(v->what, sizeof v->what, "%s", v->kind == VERDICT_FINDING ? run_verdict(q) : "");
        v->known = scenario_is_bug(x->o.scenario, x->o.profile.release, q);
        return;
    }
    int release = x->o.profile.release;
    bool good = scenario_check_any(x->o.scenario, release, q, complain, v) == 0;
    if (scenario_check_races(x->o.scenario, release, q, complain, v) == 0 && good)
        return;
    v->kind = VERDICT_FINDING;
    v->known = scenario_is_bug(x->o.scenario, release, q);
    snprintf(v->what, sizeof v->what, "%s", q->end == END_IDLE ? "hang" : run_verdict(q));
    if (good)
        snprintf(v->what, sizeof v->what, "data race");
    else if (q->end == END_STOPPED && q->stranded == 0)
        snprintf(v->what, sizeof v->what, "not as expected");
    if (!good && x->o.scenario->expects == NULL && q->text[0] != 0)
        snprintf(v->text, sizeof v->text, "%s", q->text);
    if (q->end == END_FINDING && q->kind == FIND_ASSERT)
        tell_assertion(x, v);
    scenario_tell(x->o.scenario, v->text, sizeof v->text);
}

/* At its limit somebody may be stuck for ever: that is said of the world as it is then. */
static void go_on_fairly(struct explored *x)
{
    if (x->o.scenario->unknown_status == 0 &&
        !scenario_bounds_starving(x->o.scenario, x->o.profile.release) &&
        core_explore.strand(/*ended*/ false) == 0 &&
        starved_begin(&x->starved, &x->o.scenario->program))
        ex_run();
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
    cycle_begin(&x->cycle);
    if (x->o.pairs != NULL)
        pairs_begin(x->o.pairs);
    ex_run();
    if (ex_rests())
        go_on_fairly(x);
    take_result(x);
    judge(x);
    ex_end();
    return !ex_refused(&x->refused);
}

void explored_limit(struct explored *x, uint64_t points)
{
    x->o.steps_max = points;
    ex_steps_max(points);
}

uint64_t explored_steps(void) { return ex_fair_from() != 0 ? ex_fair_from() : ex_steps(); }

uint64_t explored_state(void *arg)
{
    const struct explored *x = arg;
    return x->o.granularity == GRANULARITY_SYNC ? cycle_state(&x->cycle, &x->o.scenario->program)
                                                : 0;
}
