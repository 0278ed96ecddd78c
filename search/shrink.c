/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers become 0 in ever smaller pieces, from the end (what comes late depends on what comes
 * early), as long as the run still ends with the same verdict and is smaller. After each success
 * the list is what that run really answered.
 *
 * Of operations a 0 in place of an answer mostly makes all that come after it mean something else.
 * There the same is done with who went on for how long: two stretches of one thread become one. */
#include "search/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "search/segments.h"
#include "sim/base/alloc.h"

enum { ACTORS_MAX = 1024 };
/* A budget beside the caller's: of a long finding as many runs would take minutes. */
/* A run by turns is looked at after each turn, which takes longer than its points. */
enum { POINTS_MAX = 400000000, POINTS_MAX_SYNC = 20000000 };
enum { LONGER = 2, LONGER_AT_LEAST = 1000 };

/* What is known of a run besides its answers. */
struct seen {
    struct shrink_weight weight;
    bool *preempts; /* which answers are preemptions */
    size_t room;
    uint32_t actors[ACTORS_MAX];
    uint64_t turns;
    struct segments segments; /* of operations */
};

struct shrinker {
    struct strategy s; /* answers as `inner`, and looks on */
    struct strategy *inner;
    struct strategy_replay by_answers;
    struct strategy_segments by_segments;
    struct segments joined;
    struct explored w;
    struct finding *best;
    struct seen now, of_best;
    struct answer *trial;
    size_t room;
    uint64_t runs, runs_max, points;
    bool capped; /* tries are cut where they get much longer than the best */
};

size_t answers_that_matter(const struct answer *a, size_t count)
{
    while (count > 0 && answer_pick(a[count - 1]) == 0)
        count--;
    return count;
}

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

int shrink_compare(const struct shrink_weight *a, const struct shrink_weight *b)
{
    int c = compare(a->preemptions, b->preemptions);
    if (c == 0)
        c = compare(a->actors, b->actors);
    if (c == 0)
        c = compare(a->choices, b->choices);
    return c != 0 ? c : compare(a->steps, b->steps);
}

/* ---- looking on ---- */

static bool look_begin(struct strategy *s)
{
    struct shrinker *k = (struct shrinker *)s;
    k->now.weight = (struct shrink_weight){0};
    segments_reset(&k->now.segments);
    return k->inner->begin(k->inner);
}

static uint32_t look_pick(struct strategy *s, const struct choice *c)
{
    struct shrinker *k = (struct shrinker *)s;
    struct seen *n = &k->now;
    size_t at;
    uint32_t pick = k->inner->pick(k->inner, c);
    bool preempts = c->preempts && pick != 0 && pick < c->threads;
    (void)ex_answers(&at);
    X_REACH(n->preempts, n->room, at, at * 2 + 256);
    n->preempts[at] = preempts;
    n->weight.preemptions += preempts;
    if (c->turn == NULL)
        segments_add(&n->segments, c, pick);
    return pick;
}

static void look_end(struct strategy *s, bool complete)
{
    struct shrinker *k = (struct shrinker *)s;
    k->inner->end(k->inner, complete);
}

static void look_turn(void *arg, const struct turn_does *d)
{
    struct seen *n = &((struct shrinker *)arg)->now;
    n->turns = d->turn;
    for (size_t i = 0; i < n->weight.actors; i++)
        if (n->actors[i] == d->goid)
            return;
    if (n->weight.actors < ACTORS_MAX)
        n->actors[n->weight.actors++] = d->goid;
}

static void weigh(struct shrinker *s)
{
    size_t n;
    const struct answer *a = ex_answers(&n);
    for (size_t i = 0; i < n; i++)
        s->now.weight.choices += answer_pick(a[i]) != 0;
    s->now.weight.steps = ex_steps();
    if (s->w.o.granularity == GRANULARITY_OP)
        s->now.weight.actors = (size_t)ex_threads();
}

/* ---- trying ---- */

static void keep(struct shrinker *s)
{
    size_t n;
    const struct answer *a = ex_answers(&n);
    struct finding *x = s->best;
    struct seen was = s->of_best;
    x->answers = x_grow(x->answers, n * sizeof *a + 1);
    if (n > 0)
        memcpy(x->answers, a, n * sizeof *a);
    x->count = n;
    x->verdict = s->w.verdict;
    x->fingerprint = ex_fingerprint();
    x->steps = ex_steps();
    s->of_best = s->now;
    s->now.preempts = was.preempts; /* its memory */
    s->now.room = was.room;
    s->now.segments = was.segments;
}

static uint64_t points_max(const struct shrinker *s)
{
    return s->best->world.granularity == GRANULARITY_SYNC ? POINTS_MAX_SYNC : POINTS_MAX;
}

static bool spent(const struct shrinker *s)
{
    return s->runs >= s->runs_max || s->points >= points_max(s) || s->w.refused.code != E_OK;
}

static bool fails_by(struct shrinker *s, struct strategy *inner)
{
    s->runs++;
    s->inner = inner;
    s->s = (struct strategy){.name = "shrink",
                             .wants_time = s->best->timed,
                             .begin = look_begin,
                             .pick = look_pick,
                             .end = look_end};
    if (!explored_run(&s->w, &s->s))
        return false;
    s->points += ex_steps();
    weigh(s);
    if (s->capped && s->w.result.end == END_LIMIT && !s->w.cycle.closed)
        return false; /* only because it was cut */
    return s->w.verdict.kind == VERDICT_FINDING &&
           strcmp(s->w.verdict.what, s->best->verdict.what) == 0;
}

/* Runs the first n answers, and zeros after them. */
static bool still_fails(struct shrinker *s, const struct answer *answers, size_t n)
{
    strategy_replay_init(&s->by_answers, answers, n, /*strict*/ false);
    return fails_by(s, &s->by_answers.s);
}

static bool is_smaller(const struct shrinker *s)
{
    return shrink_compare(&s->now.weight, &s->of_best.weight) < 0;
}

static void copy_best(struct shrinker *s)
{
    if (s->best->count > s->room) {
        s->room = s->best->count * 2;
        s->trial = x_grow(s->trial, s->room * sizeof *s->trial);
    }
    if (s->best->count > 0)
        memcpy(s->trial, s->best->answers, s->best->count * sizeof *s->trial);
}

static struct answer zero(struct answer a) { return answer_make(answer_kind(a), answer_n(a), 0); }

/* Zeros in [from, to), or in place of the preemptions there. True: that did it. */
static bool try_zeros(struct shrinker *s, size_t from, size_t to, bool preemptions)
{
    bool any = false;
    copy_best(s);
    for (size_t i = from; i < to; i++) {
        if (preemptions && !s->of_best.preempts[i])
            continue;
        any |= answer_pick(s->trial[i]) != 0;
        s->trial[i] = zero(s->trial[i]);
    }
    if (!any || !still_fails(s, s->trial, s->best->count) || !is_smaller(s))
        return false;
    keep(s);
    return true;
}

/* One pass in pieces of this size. True: something was gained. */
static bool pass(struct shrinker *s, size_t piece, bool preemptions)
{
    bool gained = false;
    for (size_t to = answers_that_matter(s->best->answers, s->best->count); to > 0 && !spent(s);) {
        if (to > s->best->count)
            to = s->best->count;
        size_t from = to > piece ? to - piece : 0;
        gained |= try_zeros(s, from, to, preemptions);
        to = from;
    }
    return gained;
}

static void in_pieces(struct shrinker *s, bool preemptions)
{
    size_t piece = answers_that_matter(s->best->answers, s->best->count);
    for (; piece > 1 && !spent(s); piece = (piece + 1) / 2)
        while (pass(s, piece, preemptions) && !spent(s))
            ;
    while (!spent(s) && pass(s, 1, preemptions))
        ;
}

/* ---- of operations: stretches ---- */

static bool try_join(struct shrinker *s, size_t from, size_t to)
{
    segments_copy(&s->joined, &s->of_best.segments);
    segments_join(&s->joined, from, to);
    strategy_segments_init(&s->by_segments, &s->joined);
    if (spent(s) || !fails_by(s, &s->by_segments.s) || !is_smaller(s))
        return false;
    keep(s);
    return true;
}

/* Each stretch with the next of its thread, from the end. True: something was gained. */
static bool join_once(struct shrinker *s)
{
    const struct segments *of = &s->of_best.segments;
    bool gained = false;
    for (size_t at = of->count; at > 0 && !spent(s);) {
        size_t next = --at < of->count ? segments_next(of, at) : of->count;
        if (next < of->count)
            gained |= try_join(s, next, at) || try_join(s, at, next);
    }
    return gained;
}

static void join(struct shrinker *s)
{
    if (s->best->world.granularity != GRANULARITY_OP || s->best->timed)
        return;
    while (!spent(s) && join_once(s))
        ;
}

/* A smaller one is hardly ever much longer: what then goes on and on need not be waited for. */
static uint64_t enough_steps(struct shrinker *s)
{
    bool sync = s->best->world.granularity == GRANULARITY_SYNC;
    uint64_t n = LONGER * (sync ? s->of_best.turns : s->best->steps) + LONGER_AT_LEAST;
    s->capped = n < s->best->world.steps_max;
    return s->capped ? n : s->best->world.steps_max;
}

/* The last pass over all answers one by one gains nothing: that is the check. */
static void make_small(struct shrinker *s, struct shrink_result *r)
{
    in_pieces(s, true);
    join(s);
    in_pieces(s, false);
    r->minimal = !spent(s);
}

/* The finding as it is, to know what it weighs. */
static bool run_best(struct failure *f, struct shrinker *s)
{
    if (!still_fails(s, s->best->answers, s->best->count)) {
        if (!explored_refused(f, &s->w))
            fail(f, E_SCHEDULE, "the finding does not repeat: %s", s->w.verdict.what);
        return false;
    }
    keep(s);
    return true;
}

/* ---- with fewer preemptions altogether ---- */

/* Nor does it gain much to try so many schedules for each of very many bounds. */
enum { FEWER_RUNS = 2000, FEWER_MAX = 4 };

/* Zeros alone do not move a preemption to where it would be none; a search with a bound does. */
static bool find_fewer(struct failure *f, struct shrinker *s, size_t preemptions)
{
    struct hunt_opts o = {.world = s->best->world,
                          .strategy = HUNT_DFS,
                          .preemptions = (uint32_t)preemptions,
                          .runs_max = FEWER_RUNS,
                          .points_max = points_max(s) - s->points};
    struct hunt_result r;
    if (!hunt(f, &o, &r))
        return false;
    s->runs += r.runs;
    s->points += r.steps;
    bool same = r.end == HUNT_FOUND && strcmp(r.finding.verdict.what, s->best->verdict.what) == 0;
    if (same) {
        free(s->best->answers);
        *s->best = r.finding;
    } else if (r.end == HUNT_FOUND) {
        finding_release(&r.finding);
    }
    return same;
}

/* By turns, where a bound of a few preemptions is soon exhausted. */
static void fewest(struct failure *f, struct shrinker *s)
{
    if (s->best->world.granularity != GRANULARITY_SYNC)
        return;
    for (size_t k = 0; k < s->of_best.weight.preemptions && k < FEWER_MAX && !spent(s); k++)
        if (find_fewer(f, s, k))
            return;
}

static void release(struct shrinker *s)
{
    explored_close(&s->w);
    free(s->trial);
    free(s->now.preempts);
    free(s->of_best.preempts);
    segments_free(&s->now.segments);
    segments_free(&s->of_best.segments);
    segments_free(&s->joined);
}

bool shrink(struct failure *f, struct finding *x, uint64_t runs_max, struct shrink_result *r)
{
    static struct shrinker s;
    struct explored_opts o = x->world;
    memset(&s, 0, sizeof s);
    s.best = x;
    s.runs_max = runs_max;
    *r = (struct shrink_result){.answers_before = answers_that_matter(x->answers, x->count)};
    o.turn = look_turn;
    o.turn_arg = &s;
    if (!explored_open(f, &s.w, &o))
        return false;
    bool ok = run_best(f, &s);
    r->before = s.of_best.weight;
    explored_close(&s.w);
    if (ok)
        fewest(f, &s);
    o.steps_max = enough_steps(&s);
    ok = ok && explored_open(f, &s.w, &o) && run_best(f, &s);
    if (ok)
        make_small(&s, r);
    ok = ok && !explored_refused(f, &s.w);
    x->count = answers_that_matter(x->answers, x->count);
    r->answers = x->count;
    r->after = s.of_best.weight;
    r->runs = s.runs;
    release(&s);
    return ok;
}
