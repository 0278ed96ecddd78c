/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_NS = 110, WAKE_NS = 4300, UNTIL_FACTOR = 10 };

/* What `gmpsim record` wrote down, else the release that writes such a header; of two releases the
 * older one. */
static int release_of(const struct replay *rp)
{
    int release = 0;
    if (rp->has_side && sscanf(rp->side.go, "go1.%d", &release) == 1 && release >= PROFILE_FIRST)
        return release < PROFILE_LATEST ? release : PROFILE_LATEST;
    return rp->rec->version > PROFILE_FIRST ? rp->rec->version : PROFILE_FIRST;
}

static uint32_t ps(int64_t ns)
{
    uint64_t p = (uint64_t)ns * 1000;
    return p < COST_MAX_PS ? (uint32_t)p : COST_MAX_PS;
}

static void machine_as_recorded(struct replay *rp)
{
    if (rp->rec->wake_latency_ns == 0)
        return;
    rp->costs.kind[COST_futex_wake] = ps(rp->rec->wake_call_ns);
    rp->costs.kind[COST_wake_latency] = ps(rp->rec->wake_latency_ns);
}

/* What waking a thread costs on the recording's machine decides more of a replay than anything
 * else. */
static void machine_of(struct replay *rp)
{
    const struct sidecar *s = &rp->side;
    if (s->futex_wake_ns <= 0) {
        machine_as_recorded(rp);
        return;
    }
    rp->costs.kind[COST_futex_wake] = ps(s->futex_wake_ns);
    rp->costs.kind[COST_wake_latency] = ps(s->wake_latency_ns);
    rp->costs.kind[COST_wake_latency_deep] = ps(s->wake_deep_ns);
    rp->costs.kind[COST_deep_after] = ps(s->deep_after_ns);
    if (s->pause_ps > 0)
        rp->costs.kind[COST_pause] = (uint32_t)(s->pause_ps < COST_MAX_PS ? s->pause_ps
                                                                          : COST_MAX_PS);
    /* In how late a sleep of 200 us was is the wake of a CPU that had been idle for long. */
    int64_t late = s->sleep_late_ns - s->wake_latency_ns - s->wake_deep_ns;
    rp->costs.kind[COST_timer_wake] = 0;
    if (s->sleep_late_ns > 0)
        rp->costs.kind[COST_timer_slack] = ps(late > 0 ? late : 0);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static struct scenario *make_scenario(const struct replay *rp, const char *path)
{
    const struct recording *r = rp->rec;
    struct pool *pool = pool_new();
    struct scenario *s = pool_alloc(pool, sizeof *s);
    *s = (struct scenario){.name = pool_text(pool, base_name(path)),
                           .why = "a recorded trace",
                           .profiles = {release_of(rp)},
                           .nprofiles = 1,
                           .procs = r->procs,
                           .until_ns = r->length * UNTIL_FACTOR + INT64_C(10000000000),
                           .pool = pool};
    if (r->gc.replayed) {
        s->rules[s->nrules++] = (struct scenario_rule){"gc_percent", r->gc.percent};
        s->rules[s->nrules++] = (struct scenario_rule){"gc_mark_ns_per_kb", r->gc.ns_per_kb};
    }
    s->program = *tape_program(r, &rp->tape, pool);
    return s;
}

bool replay_open(struct failure *f, const char *path, const struct replay_opts *o,
                 struct replay *out)
{
    char text[200];
    struct rec_opts ro = {.window = o->window};
    *out = (struct replay){.infer = {.off = o->off}, .costs = costs_builtin};
    out->tape = (struct tape_opts){.event_ns = o->event_ns >= 0 ? o->event_ns : EVENT_NS,
                                   .wake_ns = o->wake_ns >= 0 ? o->wake_ns : WAKE_NS};
    out->rec = recording_load(f, path, &ro);
    if (out->rec == NULL)
        return false;
    out->path = path;
    out->has_side = sidecar_read(f, path, &out->side);
    if (f->code != 0) {
        replay_close(out);
        return false;
    }
    out->tape.alloc_ns = (out->costs.work[W_alloc] + out->costs.work[W_mcache_refill]) / 1000;
    infer_all(out->rec, &out->infer);
    machine_of(out);
    if (o->wake_ns < 0 && (out->side.futex_wake_ns > 0 || out->rec->wake_latency_ns > 0))
        out->tape.wake_ns = out->costs.kind[COST_futex_wake] / 1000; /* the model adds the same */
    replay_make(out);
    if (!program_check(&out->scenario->program, text, sizeof text)) {
        fail(f, E_INTERNAL, "%s: the program made of it is not safe: %s", path, text);
        replay_close(out);
        return false;
    }
    replay_settle(f, out);
    if (f->code == E_OK)
        replay_fixpoint(f, out);
    if (f->code != E_OK)
        replay_close(out);
    return f->code == E_OK;
}

void replay_make(struct replay *rp)
{
    scenario_free(rp->scenario);
    rp->scenario = make_scenario(rp, rp->path);
}

struct scenario *replay_take_scenario(struct replay *rp)
{
    struct scenario *s = rp->scenario;
    rp->scenario = NULL;
    return s;
}

void replay_close(struct replay *rp)
{
    recording_free(rp->rec);
    scenario_free(rp->scenario);
    *rp = (struct replay){0};
}
