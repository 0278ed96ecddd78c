/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api.h"

/* A schedule of granularity op takes as long as about so many of granularity sync. */
enum { OP_SHARE = 10, WORD_MAX = 40 };

static const char portfolio[] = "time,fair,random,pct,pos,surw,states,dpor,dfs";

/* The first word of the list, and the list behind it. False: there is none. */
static bool next_word(const char **list, char word[WORD_MAX])
{
    *list += strspn(*list, ",");
    size_t n = strcspn(*list, ",");
    snprintf(word, WORD_MAX, "%.*s", (int)(n < WORD_MAX ? n : WORD_MAX), *list);
    *list += n;
    return n > 0;
}

static bool is_list(struct failure *f, const char *option, const char *text)
{
    if (text == NULL || text[strspn(text, ",")] != 0)
        return true;
    return fail(f, E_USAGE, "--%s: want a list, got '%s'", option, text), false;
}

bool plan_is_portfolio(const char *strategy)
{
    return strategy == NULL || strcmp(strategy, "portfolio") == 0;
}

static bool strategy_at(struct failure *f, const char *word, enum hunt_strategy *out)
{
    int s = hunt_strategy_parse(word);
    if (s < 0)
        return fail(f, E_USAGE,
                    "--strategy: want portfolio, random, pct, pos, surw, fair, dfs, delay, dpor, "
                    "states or time, got '%s'",
                    word),
               false;
    *out = (enum hunt_strategy)s;
    return true;
}

bool plan_strategies(struct failure *f, const char *list)
{
    char word[WORD_MAX];
    enum hunt_strategy s;
    if (plan_is_portfolio(list))
        return true;
    for (const char *rest = list; next_word(&rest, word);)
        if (!strategy_at(f, word, &s))
            return false;
    return true;
}

/* Operations are too many to try all orders of; to be fair to threads shows nothing. */
static bool is_left_out(const struct hunt_opts *o)
{
    return o->world.granularity == GRANULARITY_OP &&
           (hunt_is_tree(o->strategy) || o->strategy == HUNT_FAIR);
}

static bool add(struct failure *f, struct portfolio *p, const struct hunt_opts *base,
                const struct plan_wish *w, enum hunt_strategy s)
{
    const bool usual = plan_is_portfolio(w->strategy);
    struct hunt_opts o = *base;
    o.strategy = s;
    if (usual && is_left_out(&o))
        return true;
    if (usual && o.world.granularity == GRANULARITY_OP)
        o.runs_max = o.runs_max / OP_SHARE + (o.runs_max % OP_SHARE > 0);
    if (!portfolio_add(p, &o))
        return fail(f, E_USAGE, "explore: more than %d combinations", SLICES_MAX), false;
    p->slices[p->count - 1].deepens = usual;
    return true;
}

static bool add_strategies(struct failure *f, struct portfolio *p, const struct hunt_opts *base,
                           const struct plan_wish *w)
{
    char word[WORD_MAX];
    enum hunt_strategy s;
    const char *list = plan_is_portfolio(w->strategy) ? portfolio : w->strategy;
    while (next_word(&list, word))
        if (!strategy_at(f, word, &s) || !add(f, p, base, w, s))
            return false;
    return true;
}

static bool granularity_at(struct failure *f, const char *word, enum granularity *out)
{
    for (int i = 0; i < GRANULARITIES; i++)
        if (strcmp(granularity_name((enum granularity)i), word) == 0) {
            *out = (enum granularity)i;
            return true;
        }
    return fail(f, E_USAGE, "--granularity: want sync or op, got '%s'", word), false;
}

/* By turns there is one P. */
static bool add_granularities(struct failure *f, struct portfolio *p, struct hunt_opts *base,
                              const struct plan_wish *w, bool first_procs)
{
    char word[WORD_MAX];
    enum granularity *g = &base->world.granularity;
    const bool said = w->granularity != NULL;
    const char *list = said ? w->granularity : plan_is_portfolio(w->strategy) ? "sync,op" : "sync";
    const bool no_turns = explored_no_turns(&base->world.scenario->program) != NULL;
    while (next_word(&list, word)) {
        if (!granularity_at(f, word, g))
            return false;
        if (*g == GRANULARITY_SYNC && ((!said && no_turns) || !first_procs))
            continue;
        if (!add_strategies(f, p, base, w))
            return false;
    }
    return true;
}

static bool procs_at(struct failure *f, const char *word, int32_t *out)
{
    char *end;
    errno = 0;
    long n = strtol(word, &end, 10);
    if (errno != 0 || end == word || *end != 0 || n < 1 || n > PROCS_MAX)
        return fail(f, E_USAGE, "--procs: want numbers from 1 to %d, got '%s'", PROCS_MAX, word),
               false;
    *out = (int32_t)n;
    return true;
}

bool plan_add(struct failure *f, struct portfolio *p, const struct hunt_opts *base,
              const struct plan_wish *w)
{
    struct hunt_opts o = *base;
    char own[WORD_MAX], word[WORD_MAX];
    const int32_t procs = base->world.scenario->procs;
    bool first = true;
    if (!is_list(f, "strategy", w->strategy) || !is_list(f, "granularity", w->granularity) ||
        !is_list(f, "procs", w->procs))
        return false;
    snprintf(own, sizeof own, "%" PRId32, procs);
    const char *list = w->procs != NULL ? w->procs : procs != 0 ? own : "1,2,3,4";
    for (; next_word(&list, word); first = false)
        if (!procs_at(f, word, &o.world.procs) || !add_granularities(f, p, &o, w, first))
            return false;
    return true;
}
