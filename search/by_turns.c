/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/by_turns.h"

#include <stdlib.h>
#include <string.h>

#include "model/api.h"

enum { TREE_RUNS = 2000, DRAWN_RUNS = 4000, PREEMPTIONS = 2 };
/* Of each search: programs with long runs are not worth the wait. */
#define POINTS_MAX UINT64_C(2000000)

static bool is_about_operations(const struct finding *x)
{
    const struct explored_opts *o = &x->world;
    bool faults = o->faults.weak_count > 0;
    for (int i = 0; i < FAULT_KINDS; i++)
        faults |= o->faults.on[i];
    return faults || o->memory != MM_SC || o->checks ||
           strcmp(x->verdict.what, "broken rule") == 0 ||
           explored_no_turns(&o->scenario->program) != NULL;
}

/* True: it is found, or there is no more to try. */
static bool try_strategy(struct failure *f, struct hunt_opts *o, struct finding *x, bool *found,
                         bool *ok)
{
    struct hunt_result r;
    *ok = hunt(f, o, &r);
    if (!*ok)
        return true;
    if (r.end != HUNT_FOUND)
        return false;
    *found = strcmp(r.finding.verdict.what, x->verdict.what) == 0 &&
             r.finding.verdict.known == x->verdict.known;
    if (!*found) {
        finding_release(&r.finding);
        return false;
    }
    finding_release(x);
    *x = r.finding;
    return true;
}

bool finding_by_turns(struct failure *f, struct finding *x, bool *found)
{
    static const enum hunt_strategy drawn[] = {HUNT_RANDOM, HUNT_POS, HUNT_SURW, HUNT_PCT};
    struct hunt_opts o = {.world = x->world, .seed = x->world.seed, .depth = 3};
    bool ok = true;
    *found = false;
    if (is_about_operations(x))
        return true;
    o.world.granularity = GRANULARITY_SYNC;
    o.points_max = POINTS_MAX;
    o.strategy = HUNT_DFS;
    o.runs_max = TREE_RUNS;
    for (o.preemptions = 0; o.preemptions <= PREEMPTIONS; o.preemptions++)
        if (try_strategy(f, &o, x, found, &ok))
            return ok;
    o.runs_max = DRAWN_RUNS;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        o.strategy = drawn[i];
        if (try_strategy(f, &o, x, found, &ok))
            return ok;
    }
    return true;
}
