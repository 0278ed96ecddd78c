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
enum { POINTS_MAX = 400000000, POINTS_MAX_SYNC = 60000000 };
enum { LONGER = 2, LONGER_AT_LEAST = 1000 };

/* What is known of a run besides its answers. */
struct seen {
    struct shrink_weight weight;
    bool *preempts; /* which answers are preemptions */
    size_t room;
    uint32_t actors[ACTORS_MAX];
    uint64_t turns;
    size_t round, again;      /* answers before a cycle's first round, and after it */
    uint64_t fair_from;       /* points before it went on fairly; 0: it did not */
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
    size_t counted; /* of a trial's answers, those that are not repetitions */
    uint64_t runs, runs_max, points;
    bool capped; /* tries are cut where they get much longer than the best */
};

size_t answers_that_matter(const struct answer *a, size_t count)
{
    while (count > 0 && answer_pick(a[count - 1]) == 0)
        count--;
    return count;
}

static size_t how_many(const struct finding *x)
{
    return x->repeat > 0 ? x->count : answers_that_matter(x->answers, x->count);
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
    n->weight.preemptions += preempts && at < k->counted;
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
    for (size_t i = 0; i < n && i < s->counted; i++)
        s->now.weight.choices += answer_pick(a[i]) != 0;
    s->now.weight.steps = explored_steps();
    s->now.fair_from = ex_fair_from();
    s->now.round = s->w.cycle.closed ? s->w.cycle.answers : 0;
    s->now.again = s->w.cycle.closed ? s->w.cycle.again : 0;
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
    x->repeat = n > s->counted ? s->by_answers.repeat : 0;
    if (n > s->counted)
        n = s->counted;
    x->answers = x_grow(x->answers, n * sizeof *a + 1);
    if (n > 0)
        memcpy(x->answers, a, n * sizeof *a);
    x->count = n;
    x->verdict = s->w.verdict;
    x->fingerprint = ex_fingerprint();
    x->steps = explored_steps();
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

/* Each repetition has to answer what the answers were first given to; draws go as they go. */
static bool repeats_itself(size_t first, size_t repeat)
{
    size_t n;
    const struct answer *a = ex_answers(&n);
    for (size_t i = first; i < n; i++) {
        struct answer x = a[i], was = a[i - repeat];
        bool draw = answer_kind(x) == CHOICE_DRAW;
        if (answer_kind(x) != answer_kind(was) || answer_n(x) != answer_n(was) ||
            (!draw && answer_pick(x) != answer_pick(was)))
            return false;
    }
    return true;
}

/* Runs the first n answers, and then the last `repeat` of them for ever, or zeros. */
static bool still_fails(struct shrinker *s, const struct answer *answers, size_t n, size_t repeat)
{
    strategy_replay_init(&s->by_answers, answers, n, /*strict*/ false);
    s->by_answers.repeat = repeat;
    s->counted = repeat > 0 ? n : SIZE_MAX;
    return fails_by(s, &s->by_answers.s) && (repeat == 0 || repeats_itself(n, repeat));
}

static bool is_smaller(const struct shrinker *s)
{
    return shrink_compare(&s->now.weight, &s->of_best.weight) < 0;
}

static bool is_larger(const struct shrinker *s)
{
    return shrink_compare(&s->now.weight, &s->of_best.weight) > 0;
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
    if (!any || !still_fails(s, s->trial, s->best->count, s->best->repeat) || !is_smaller(s))
        return false;
    keep(s);
    return true;
}

/* One pass in pieces of this size. True: something was gained. */
static bool pass(struct shrinker *s, size_t piece, bool preemptions)
{
    bool gained = false;
    for (size_t to = how_many(s->best); to > 0 && !spent(s);) {
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
    size_t piece = how_many(s->best);
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
    s->counted = SIZE_MAX;
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

/* ---- what goes round for ever ---- */

enum { PARTS_MAX = 64 };

/* The first `before` answers, then those from `round` to `again` over and over. True: that does it,
 * and is smaller. */
static bool try_round(struct shrinker *s, size_t before, size_t round, size_t again)
{
    size_t repeat = again - round;
    copy_best(s);
    memmove(s->trial + before, s->trial + round, repeat * sizeof *s->trial);
    if (spent(s) || !still_fails(s, s->trial, before + repeat, repeat) || !is_smaller(s))
        return false;
    keep(s);
    return true;
}

/* A run is told to go round after hundreds of rounds, and a schedule needs one: the fewest answers
 * that lead there, and the round. So many rounds are left out of what leads there. */
static void take_round(struct shrinker *s)
{
    size_t round = s->of_best.round, again = s->of_best.again, repeat = again - round;
    if (again <= round || again > s->best->count || s->best->repeat > 0)
        return;
    for (size_t rounds = 0; rounds * repeat < round; rounds = 2 * rounds + 1)
        if (try_round(s, round % repeat + rounds * repeat, round, again))
            return;
    (void)try_round(s, round, round, again);
}

/* A part of the round. True: that does it. */
static bool cut_round(struct shrinker *s)
{
    size_t n = s->best->count, repeat = s->best->repeat, round = n - repeat;
    for (size_t part = 1; part <= repeat / 2 && part <= PARTS_MAX; part++)
        if (try_round(s, round, round, round + part))
            return true;
    return false;
}

/* Without the answers from here to there, which lead to the round. */
static bool try_without(struct shrinker *s, size_t from, size_t to)
{
    size_t n = s->best->count, repeat = s->best->repeat;
    copy_best(s);
    memmove(s->trial + from, s->trial + to, (n - to) * sizeof *s->trial);
    if (spent(s) || !still_fails(s, s->trial, n - (to - from), repeat) || is_larger(s))
        return false;
    keep(s);
    return true;
}

static bool cut_before(struct shrinker *s, size_t piece)
{
    bool gained = false;
    size_t to = s->best->count - s->best->repeat;
    while (to > 0 && s->best->repeat > 0) {
        size_t from = to > piece ? to - piece : 0;
        gained |= try_without(s, from, to);
        to = from;
    }
    return gained;
}

/* Once there is a round: a shorter one, and less before it. */
static void cut_rounds(struct shrinker *s)
{
    while (s->best->repeat > 0 && cut_round(s))
        ;
    for (size_t piece = s->best->count; piece > 0 && !spent(s); piece /= 2)
        while (s->best->repeat > 0 && cut_before(s, piece))
            ;
}

/* ---- what goes on fairly after so many points ---- */

static bool try_limit(struct shrinker *s, uint64_t points)
{
    uint64_t was = s->best->world.steps_max;
    explored_limit(&s->w, points);
    if (!spent(s) && still_fails(s, s->best->answers, s->best->count, 0) && is_smaller(s)) {
        keep(s);
        s->best->world.steps_max = points;
        return true;
    }
    explored_limit(&s->w, was);
    return false;
}

/* Somebody starves from some point on: the schedule ends there. */
static void sooner(struct shrinker *s)
{
    for (uint64_t less = s->of_best.fair_from / 2; less > 0; less /= 2)
        while (s->of_best.fair_from > less && try_limit(s, s->of_best.fair_from - less))
            ;
}

/* A smaller one is hardly ever much longer: what then goes on and on need not be waited for. */
static uint64_t enough_steps(struct shrinker *s)
{
    bool sync = s->best->world.granularity == GRANULARITY_SYNC;
    uint64_t n = LONGER * (sync ? s->of_best.turns : s->best->steps) + LONGER_AT_LEAST;
    s->capped = n < s->best->world.steps_max && s->of_best.fair_from == 0;
    return s->capped ? n : s->best->world.steps_max;
}

/* The last pass over all answers one by one gains nothing: that is the check. */
static void make_small(struct shrinker *s, struct shrink_result *r)
{
    take_round(s);
    cut_rounds(s);
    in_pieces(s, true);
    join(s);
    sooner(s);
    struct shrink_weight was;
    size_t answers;
    do {
        was = s->of_best.weight;
        answers = s->best->count;
        cut_rounds(s);
        in_pieces(s, false);
    } while (!spent(s) && (s->best->count < answers || shrink_compare(&s->of_best.weight, &was)));
    r->minimal = !spent(s);
}

/* The finding as it is, to know what it weighs. */
static bool run_best(struct failure *f, struct shrinker *s)
{
    if (!still_fails(s, s->best->answers, s->best->count, s->best->repeat)) {
        if (!explored_refused(f, &s->w))
            fail(f, E_SCHEDULE, "the finding does not repeat: %s", s->w.verdict.what);
        return false;
    }
    keep(s);
    return true;
}

/* ---- with fewer preemptions altogether ---- */

/* Nor does it gain much to try so many schedules for each of very many bounds; and what goes round
 * is told to after thousands of turns. */
enum { FEWER_RUNS = 2000, FEWER_RUNS_ROUND = 100, FEWER_MAX = 4 };

/* Zeros alone do not move a preemption to where it would be none; a search with a bound does. */
static bool find_fewer(struct failure *f, struct shrinker *s, size_t preemptions)
{
    struct hunt_opts o = {.world = s->best->world,
                          .strategy = HUNT_DFS,
                          .preemptions = (uint32_t)preemptions,
                          .runs_max = FEWER_RUNS,
                          .points_max = points_max(s) - s->points};
    struct hunt_result r;
    if (s->of_best.again > 0) {
        o.world.steps_max = enough_steps(s);
        o.runs_max = FEWER_RUNS_ROUND;
    }
    if (!hunt(f, &o, &r))
        return false;
    s->runs += r.runs;
    s->points += r.steps;
    bool same = r.end == HUNT_FOUND && strcmp(r.finding.verdict.what, s->best->verdict.what) == 0;
    if (same) {
        r.finding.world = s->best->world;
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

/* What a run answers to all that is not written. */
static void forget_zeros(struct finding *x)
{
    for (size_t i = x->count - x->repeat; i < x->count && x->repeat > 0; i++)
        if (answer_pick(x->answers[i]) != 0 || answer_kind(x->answers[i]) == CHOICE_DRAW)
            return;
    x->repeat = 0;
    x->count = answers_that_matter(x->answers, x->count);
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
    *r = (struct shrink_result){.answers_before = how_many(x)};
    o.turn = look_turn;
    o.turn_arg = &s;
    if (!explored_open(f, &s.w, &o))
        return false;
    bool ok = run_best(f, &s);
    r->before = s.of_best.weight;
    if (ok) {
        take_round(&s);
        sooner(&s);
    }
    explored_close(&s.w);
    if (ok)
        fewest(f, &s);
    o.steps_max = enough_steps(&s);
    ok = ok && explored_open(f, &s.w, &o) && run_best(f, &s);
    if (ok)
        make_small(&s, r);
    ok = ok && !explored_refused(f, &s.w);
    forget_zeros(x);
    r->answers = x->count;
    r->after = s.of_best.weight;
    r->runs = s.runs;
    release(&s);
    return ok;
}
