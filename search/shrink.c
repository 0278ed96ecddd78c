/* SPDX-License-Identifier: BSD-3-Clause */
/* Shrinking: answers become 0 in ever smaller pieces, from the end (what comes late depends on
 * what comes early), as long as the run still ends with the same verdict. After each success the
 * list is what that run really answered. */
#include "search/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

struct shrinker {
    struct explored w;
    struct finding *best;
    struct answer *trial;
    size_t room;
    uint64_t runs, runs_max;
};

size_t answers_that_matter(const struct answer *a, size_t count)
{
    while (count > 0 && answer_pick(a[count - 1]) == 0)
        count--;
    return count;
}

static size_t count_choices(const struct finding *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->count; i++)
        n += answer_pick(x->answers[i]) != 0;
    return n;
}

static size_t count_switches(const struct finding *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->count; i++)
        n += answer_pick(x->answers[i]) != 0 && answer_kind(x->answers[i]) <= CHOICE_FLUSH;
    return n;
}

static void keep(struct shrinker *s)
{
    size_t n;
    const struct answer *a = ex_answers(&n);
    struct finding *x = s->best;
    x->answers = x_grow(x->answers, n * sizeof *a + 1);
    if (n > 0)
        memcpy(x->answers, a, n * sizeof *a);
    x->count = n;
    x->verdict = s->w.verdict;
    x->fingerprint = ex_fingerprint();
    x->steps = ex_steps();
}

static bool spent(const struct shrinker *s) { return s->runs >= s->runs_max; }

/* Runs the first n answers of the trial, and zeros after them. */
static bool still_fails(struct shrinker *s, size_t n)
{
    struct strategy_replay r;
    s->runs++;
    strategy_replay_init(&r, s->trial, n, /*strict*/ false);
    r.s.wants_time = s->best->timed;
    if (!explored_run(&s->w, &r.s))
        return false;
    return s->w.verdict.kind == VERDICT_FINDING &&
           strcmp(s->w.verdict.what, s->best->verdict.what) == 0;
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

/* Is the run that was just made smaller? Fewer choices; of as many, fewer steps. */
static bool smaller(const struct shrinker *s, size_t choices)
{
    size_t n, now = 0;
    const struct answer *a = ex_answers(&n);
    for (size_t i = 0; i < n; i++)
        now += answer_pick(a[i]) != 0;
    return now < choices || (now == choices && ex_steps() < s->best->steps);
}

/* Zeros in [from, to). True: that did it. */
static bool try_zeros(struct shrinker *s, size_t from, size_t to)
{
    bool any = false;
    copy_best(s);
    for (size_t i = from; i < to; i++) {
        any |= answer_pick(s->trial[i]) != 0;
        s->trial[i] = zero(s->trial[i]);
    }
    size_t choices = count_choices(s->best);
    if (!any || !still_fails(s, s->best->count) || !smaller(s, choices))
        return false;
    keep(s);
    return true;
}

/* One pass in pieces of this size. True: something was gained. */
static bool pass(struct shrinker *s, size_t piece)
{
    bool gained = false;
    for (size_t to = answers_that_matter(s->best->answers, s->best->count); to > 0 && !spent(s);) {
        if (to > s->best->count)
            to = s->best->count;
        size_t from = to > piece ? to - piece : 0;
        gained |= try_zeros(s, from, to);
        to = from;
    }
    return gained;
}

static void make_small(struct shrinker *s, struct shrink_result *r)
{
    size_t piece = answers_that_matter(s->best->answers, s->best->count);
    for (; piece > 1 && !spent(s); piece = (piece + 1) / 2)
        while (pass(s, piece) && !spent(s))
            ;
    while (!spent(s) && pass(s, 1))
        ;
    r->minimal = !spent(s);
}

bool shrink(struct failure *f, struct finding *x, uint64_t runs_max, struct shrink_result *r)
{
    static struct shrinker s;
    memset(&s, 0, sizeof s);
    s.best = x;
    s.runs_max = runs_max;
    *r = (struct shrink_result){.answers_before = answers_that_matter(x->answers, x->count),
                                .choices_before = count_choices(x),
                                .switches_before = count_switches(x),
                                .steps_before = x->steps};
    if (!explored_open(f, &s.w, &x->world))
        return false;
    make_small(&s, r);
    explored_close(&s.w);
    free(s.trial);
    x->count = answers_that_matter(x->answers, x->count);
    r->answers = x->count;
    r->choices = count_choices(x);
    r->switches = count_switches(x);
    r->steps = x->steps;
    r->runs = s.runs;
    return true;
}
