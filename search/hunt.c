/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "search/hunt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/alloc.h"
#include "sim/base/dpor.h"
#include "sim/base/states.h"

enum { NODES_MAX = 1 << 14, DONES_MAX = 1 << 16 }; /* of dpor: 8 and 5 MB */
enum { STATES_MAX = 1 << 20 };                     /* of states: 48 MB */
enum { FRAMES_MAX = 1 << 20, LOOK_EVERY = 50000 /* points */ };

static const char *const strategy_names[HUNT_STRATEGIES] = {
    "time", "random", "pct", "pos", "surw", "fair", "dfs", "delay", "dpor", "states"};

const char *hunt_strategy_name(enum hunt_strategy s)
{
    return s < HUNT_STRATEGIES ? strategy_names[s] : "?";
}

bool hunt_is_tree(enum hunt_strategy s) { return s >= HUNT_DFS && s <= HUNT_STATES; }

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
    struct strategy_pos pos;
    struct strategy_surw surw;
    struct strategy_fair fair;
    struct strategy_dfs dfs;
    struct strategy_dpor dpor;
    struct strategy_states states;
};

/* A run rarely has more questions than this that none had before. */
enum { STATES_PER_RUN = 64 };

static uint32_t states_for(uint64_t runs)
{
    uint32_t n = STATES_PER_RUN;
    while (n < STATES_MAX && (runs == 0 || n < runs * STATES_PER_RUN))
        n *= 2;
    return n;
}

/* Without a limit of their own: the hunt has one. */
static struct strategy *strategy_of(union any_strategy *a, const struct hunt_opts *o,
                                    struct explored *x)
{
    switch (o->strategy) {
    case HUNT_TIME: return strategy_time();
    case HUNT_RANDOM:
        strategy_random_init(&a->random, o->seed, UINT64_MAX);
        a->random.run = o->first_run;
        break;
    case HUNT_PCT:
        strategy_pct_init(&a->pct, o->seed, UINT64_MAX, o->depth);
        a->pct.run = o->first_run;
        a->pct.longest = o->longest;
        break;
    case HUNT_POS:
        strategy_pos_init(&a->pos, o->seed, UINT64_MAX);
        a->pos.run = o->first_run;
        break;
    case HUNT_SURW:
        strategy_surw_init(&a->surw, o->seed, UINT64_MAX);
        a->surw.run = o->first_run;
        break;
    case HUNT_FAIR:
        strategy_fair_init(&a->fair, o->seed, UINT64_MAX);
        a->fair.run = o->first_run;
        break;
    case HUNT_DFS:
    case HUNT_DELAY:
        strategy_dfs_init(&a->dfs, x_alloc(FRAMES_MAX * sizeof *a->dfs.frames), FRAMES_MAX,
                          o->preemptions);
        a->dfs.delays = o->strategy == HUNT_DELAY;
        break;
    case HUNT_DPOR:
        strategy_dpor_init(&a->dpor, x_alloc(NODES_MAX * sizeof *a->dpor.nodes), NODES_MAX,
                           x_alloc(DONES_MAX * sizeof *a->dpor.dones), DONES_MAX);
        break;
    case HUNT_STATES:
        strategy_states_init(&a->states, o->seed, states_for(o->runs_max));
        a->states.state = explored_state;
        a->states.state_arg = x;
        break;
    case HUNT_STRATEGIES: break;
    }
    return &a->s;
}

static void strategy_free(union any_strategy *a, const struct hunt_opts *o)
{
    if (o->strategy == HUNT_STATES) {
        strategy_states_free(&a->states);
    } else if (o->strategy == HUNT_DPOR) {
        free(a->dpor.nodes);
        free(a->dpor.dones);
    } else if (hunt_is_tree(o->strategy)) {
        free(a->dfs.frames);
    }
}

/* ---- the loop ---- */

static void take_finding(const struct explored *x, bool timed, struct finding *out)
{
    const struct answer *a = ex_answers(&out->count);
    out->world = x->o;
    out->verdict = x->verdict;
    out->fingerprint = ex_fingerprint();
    out->steps = explored_steps();
    out->repeat = 0;
    out->timed = timed;
    out->answers = x_alloc(out->count * sizeof *a + 1);
    if (out->count > 0)
        memcpy(out->answers, a, out->count * sizeof *a);
}

static void count_run(struct hunt_result *r, const struct explored *x, bool enough)
{
    size_t answers;
    (void)ex_answers(&answers);
    r->runs++;
    r->steps += ex_steps();
    r->redundant += enough;
    r->cut += x->verdict.kind == VERDICT_NONE && !enough;
    if (answers > r->longest)
        r->longest = answers;
    if ((uint64_t)ex_threads() > r->threads)
        r->threads = (uint64_t)ex_threads();
}

static bool spent(const struct hunt_opts *o, const struct hunt_result *r, int64_t began,
                  uint64_t *next_look)
{
    if (o->runs_max != 0 && r->runs >= o->runs_max)
        return true;
    if (o->points_max != 0 && r->steps >= o->points_max)
        return true;
    if (r->steps < *next_look)
        return false;
    *next_look = r->steps + LOOK_EVERY;
    return (o->for_ns != 0 && now_ns() - began >= o->for_ns) ||
           (o->look != NULL && o->look(o->arg, r->runs));
}

static void run_all(struct explored *x, struct strategy *s, const struct hunt_opts *o,
                    struct hunt_result *r, int64_t began)
{
    uint64_t next_look = LOOK_EVERY;
    r->end = HUNT_EXHAUSTED;
    for (;;) {
        if (spent(o, r, began, &next_look)) {
            r->end = HUNT_SPENT;
            r->stopped = (o->runs_max == 0 || r->runs < o->runs_max) &&
                         (o->points_max == 0 || r->steps < o->points_max);
            return;
        }
        if (!explored_run(x, s))
            return;
        count_run(r, x, s->enough);
        if (x->verdict.kind == VERDICT_FINDING) {
            r->end = HUNT_FOUND;
            take_finding(x, s->wants_time, &r->finding);
            return;
        }
        if (o->strategy == HUNT_TIME)
            return; /* always the same run */
    }
}

/* The strategy has nothing left: did it see every schedule, or leave out what a bound forbids? */
static void judge_tree(const union any_strategy *a, const struct hunt_opts *o,
                       struct hunt_result *r)
{
    if (!hunt_is_tree(o->strategy))
        return;
    bool dpor = o->strategy == HUNT_DPOR, states = o->strategy == HUNT_STATES;
    if (!states && (dpor ? a->dpor.diverged : a->dfs.diverged))
        r->end = HUNT_DIVERGED;
    if (r->end == HUNT_EXHAUSTED && (states ? a->states.pruned
                                     : dpor ? a->dpor.pruned
                                            : a->dfs.pruned))
        r->end = HUNT_SPENT;
    r->bounded = !dpor && !states && a->dfs.bounded;
    r->states = states ? a->states.count : 0;
}

bool hunt(struct failure *f, const struct hunt_opts *o, struct hunt_result *r)
{
    static struct explored x;
    union any_strategy a;
    int64_t began = now_ns();
    *r = (struct hunt_result){0};
    if (o->strategy == HUNT_DPOR && o->world.granularity == GRANULARITY_OP &&
        o->world.memory != MM_SC) {
        fail(f, E_USAGE, "strategy dpor: of operations it knows memory sc only, not %s",
             mm_kind_name(o->world.memory));
        return false;
    }
    if (!explored_open(f, &x, &o->world))
        return false;
    struct strategy *s = strategy_of(&a, o, &x);
    run_all(&x, s, o, r, began);
    judge_tree(&a, o, r);
    if (o->strategy == HUNT_PCT) {
        r->actors = a.pct.actors;
        r->longest = a.pct.longest; /* its bound is over questions of who goes on alone */
    }
    strategy_free(&a, o);
    r->took_ns = now_ns() - began;
    bool refused = explored_refused(f, &x);
    explored_close(&x);
    return !refused;
}

/* ---- again ---- */

void finding_answers(const struct finding *x, bool strict, struct strategy_replay *s)
{
    strategy_replay_init(s, x->answers, x->count, strict);
    s->repeat = x->repeat;
    s->s.wants_time = x->timed;
}

bool finding_replay(struct failure *f, const struct finding *x, struct verdict *v, bool *same)
{
    static struct explored w;
    struct strategy_replay s;
    if (!explored_open(f, &w, &x->world))
        return false;
    finding_answers(x, /*strict*/ true, &s);
    explored_run(&w, &s.s);
    *v = w.verdict;
    bool refused = explored_refused(f, &w);
    *same = !refused && !s.diverged && ex_fingerprint() == x->fingerprint;
    if (s.diverged)
        fail(f, E_SCHEDULE, "answer %zu does not fit the question that is asked", s.diverged_at);
    explored_close(&w);
    return !s.diverged && !refused;
}

enum { SHIFT_MAX = 4, NEAR_RUNS = 4000 };

static bool try_answers(struct explored *w, const struct finding *x, const struct answer *a,
                        size_t count)
{
    struct strategy_replay s;
    finding_answers(x, /*strict*/ false, &s);
    s.answers = a;
    s.count = count;
    if (s.repeat > count)
        s.repeat = count;
    return explored_run(w, &s.s) && w->verdict.kind == VERDICT_FINDING;
}

/* The answers with `shift` more of them at `at`, all 0, or without the -shift that begin there.
 * Gives how many. */
static size_t shifted(const struct finding *x, size_t at, int shift, struct answer *out)
{
    size_t skip = shift < 0 ? (size_t)-shift : 0, n = 0;
    for (size_t i = 0; i < at; i++)
        out[n++] = x->answers[i];
    for (int i = 0; i < shift; i++)
        out[n++] = answer_make(CHOICE_TURN, 2, 0);
    for (size_t i = at + skip; i < x->count; i++)
        out[n++] = x->answers[i];
    return n;
}

static bool try_near(struct explored *w, const struct finding *x)
{
    struct answer *a = x_alloc((x->count + SHIFT_MAX) * sizeof *a);
    bool found = false;
    int runs = 0;
    for (int k = 1; k <= SHIFT_MAX && !found; k++)
        for (size_t at = 0; at < x->count && runs < NEAR_RUNS && !found; at++, runs += 2) {
            found = try_answers(w, x, a, shifted(x, at, k, a)) ||
                    try_answers(w, x, a, shifted(x, at, -k, a));
        }
    free(a);
    return found;
}

bool finding_try(struct failure *f, const struct finding *x, bool near, struct finding *out,
                 bool *found)
{
    static struct explored w;
    *found = false;
    if (!explored_open(f, &w, &x->world))
        return false;
    *found = try_answers(&w, x, x->answers, x->count) || (near && try_near(&w, x));
    if (*found)
        take_finding(&w, x->timed, out);
    bool refused = explored_refused(f, &w);
    explored_close(&w);
    return !refused;
}

void finding_release(struct finding *x)
{
    free(x->answers);
    x->answers = NULL;
}
