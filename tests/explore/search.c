/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/explore/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_once(const struct search *s)
{
    ex_run();
    if (s->check != NULL)
        s->check(s->arg);
    ex_end();
}

static bool is_finding(void) { return ex_why() == END_FINDING || ex_why() == END_THROWN; }

static void keep(struct search_result *r)
{
    const struct answer *a = ex_answers(&r->count);

    r->found = true;
    r->why = ex_why();
    r->fingerprint = ex_fingerprint();
    snprintf(r->text, sizeof(r->text), "%s", ex_text());
    r->answers = malloc(r->count * sizeof(*a) + 1);
    if (r->answers != NULL)
        memcpy(r->answers, a, r->count * sizeof(*a));
}

static bool kept; /* of the world that was built once */

/* A new world, or as it was when it was built. */
static bool begin(const struct search *s, struct strategy *st)
{
    if (kept)
        return ex_again(st);
    if (!ex_begin(st))
        return false;
    s->build(s->arg);
    return true;
}

/* False: this build cannot copy worlds. */
static bool build_once(const struct search *s)
{
    ex_begin_start(strategy_time());
    s->build(s->arg);
    return ex_keep(NULL) == 0;
}

static void run_all(const struct search *s, struct strategy *st, struct search_result *r)
{
    kept = s->once && build_once(s);
    while ((s->runs_max == 0 || r->runs < s->runs_max) && begin(s, st)) {
        run_once(s);
        r->runs++;
        r->cut += ex_why() == END_LIMIT;
        r->steps += ex_steps();
        if (is_finding()) {
            keep(r);
            return;
        }
    }
}

bool search_run(const struct search *s, struct strategy *st, struct search_result *r)
{
    *r = (struct search_result){0};
    run_all(s, st, r);
    ex_totals(&r->totals);
    r->cut -= r->totals.known;
    return r->found;
}

bool search_replay(const struct search *s, const struct search_result *r)
{
    struct strategy_replay replay;

    strategy_replay_init(&replay, r->answers, r->count, true);
    if (!begin(s, &replay.s))
        return false;
    run_once(s);
    return !replay.diverged && ex_why() == r->why && ex_fingerprint() == r->fingerprint &&
           strcmp(ex_text(), r->text) == 0;
}

void search_result_release(struct search_result *r)
{
    free(r->answers);
    r->answers = NULL;
}
