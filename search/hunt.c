/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "search/hunt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/alloc.h"

enum { FRAMES_MAX = 1 << 20, LOOK_EVERY = 64 };

static const char *const strategy_names[HUNT_STRATEGIES] = {"time", "random", "pct", "dfs"};

const char *hunt_strategy_name(enum hunt_strategy s)
{
    return s < HUNT_STRATEGIES ? strategy_names[s] : "?";
}

int hunt_strategy_parse(const char *name)
{
    for (int i = 0; i < HUNT_STRATEGIES; i++)
        if (strcmp(strategy_names[i], name) == 0)
            return i;
    return -1;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ---- strategies ---- */

union any_strategy {
    struct strategy s;
    struct strategy_random random;
    struct strategy_pct pct;
    struct strategy_dfs dfs;
};

static struct strategy *strategy_of(union any_strategy *a, const struct hunt_opts *o)
{
    switch (o->strategy) {
    case HUNT_TIME: return strategy_time();
    case HUNT_RANDOM: strategy_random_init(&a->random, o->seed, 0); break;
    case HUNT_PCT: strategy_pct_init(&a->pct, o->seed, 0, o->depth); break;
    case HUNT_DFS:
        strategy_dfs_init(&a->dfs, x_alloc(FRAMES_MAX * sizeof *a->dfs.frames), FRAMES_MAX,
                          o->preemptions);
        break;
    case HUNT_STRATEGIES: break;
    }
    /* Without a limit of their own: the hunt has one. */
    if (o->strategy == HUNT_RANDOM)
        a->random.runs_max = UINT64_MAX;
    if (o->strategy == HUNT_PCT)
        a->pct.runs_max = UINT64_MAX;
    return &a->s;
}

static void strategy_free(union any_strategy *a, const struct hunt_opts *o)
{
    if (o->strategy == HUNT_DFS)
        free(a->dfs.frames);
}

/* ---- the loop ---- */

static void take_finding(const struct explored *x, bool timed, struct finding *out)
{
    const struct answer *a = ex_answers(&out->count);
    out->world = x->o;
    out->verdict = x->verdict;
    out->fingerprint = ex_fingerprint();
    out->steps = ex_steps();
    out->timed = timed;
    out->answers = x_alloc(out->count * sizeof *a + 1);
    if (out->count > 0)
        memcpy(out->answers, a, out->count * sizeof *a);
}

static void count_run(struct hunt_result *r, const struct explored *x)
{
    size_t answers;
    (void)ex_answers(&answers);
    r->runs++;
    r->steps += ex_steps();
    r->cut += x->verdict.kind == VERDICT_NONE;
    if (answers > r->longest)
        r->longest = answers;
    if ((uint64_t)ex_threads() > r->threads)
        r->threads = (uint64_t)ex_threads();
}

static bool spent(const struct hunt_opts *o, const struct hunt_result *r, int64_t began)
{
    if (o->runs_max != 0 && r->runs >= o->runs_max)
        return true;
    if (r->runs % LOOK_EVERY != 0 || r->runs == 0)
        return false;
    return (o->for_ns != 0 && now_ns() - began >= o->for_ns) ||
           (o->look != NULL && o->look(o->arg, r->runs));
}

static void run_all(struct explored *x, struct strategy *s, const struct hunt_opts *o,
                    struct hunt_result *r, int64_t began)
{
    r->end = HUNT_EXHAUSTED;
    for (;;) {
        if (spent(o, r, began)) {
            r->end = HUNT_SPENT;
            return;
        }
        if (!explored_run(x, s))
            return;
        count_run(r, x);
        if (x->verdict.kind == VERDICT_FINDING) {
            r->end = HUNT_FOUND;
            take_finding(x, s->wants_time, &r->finding);
            return;
        }
        if (o->strategy == HUNT_TIME)
            return; /* always the same run */
    }
}

bool hunt(struct failure *f, const struct hunt_opts *o, struct hunt_result *r)
{
    static struct explored x;
    union any_strategy a;
    int64_t began = now_ns();
    *r = (struct hunt_result){0};
    if (!explored_open(f, &x, &o->world))
        return false;
    struct strategy *s = strategy_of(&a, o);
    run_all(&x, s, o, r, began);
    if (o->strategy == HUNT_DFS && a.dfs.diverged)
        r->end = HUNT_DIVERGED;
    if (o->strategy == HUNT_DFS && r->end == HUNT_EXHAUSTED && a.dfs.pruned)
        r->end = HUNT_SPENT;
    strategy_free(&a, o);
    r->took_ns = now_ns() - began;
    explored_close(&x);
    return true;
}

/* ---- again ---- */

bool finding_replay(struct failure *f, const struct finding *x, struct verdict *v, bool *same)
{
    static struct explored w;
    struct strategy_replay s;
    if (!explored_open(f, &w, &x->world))
        return false;
    strategy_replay_init(&s, x->answers, x->count, /*strict*/ true);
    s.s.wants_time = x->timed;
    explored_run(&w, &s.s);
    *v = w.verdict;
    *same = !s.diverged && ex_fingerprint() == x->fingerprint;
    if (s.diverged)
        fail(f, E_SCHEDULE, "answer %zu does not fit the question that is asked", s.diverged_at);
    explored_close(&w);
    return !s.diverged;
}

void finding_release(struct finding *x)
{
    free(x->answers);
    x->answers = NULL;
}
