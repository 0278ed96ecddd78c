/* SPDX-License-Identifier: BSD-3-Clause */
/* The fixed point: what goroutines run in the replay, at the recorded settings, is what they ran in
 * the recording, less what the tracer took. Running time on a tape holds what the program's
 * operations took and what waking threads took, and the model adds its own of both. So the replay
 * is run, and what a kind of goroutine (a function that they begin with) ran too long is taken out
 * of its demand, until there is nothing to speak of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/numbers.h"
#include "replay/replay.h"
#include "run/run.h"
#include "sim/base/alloc.h"

enum {
    PERMILLE = 1000,
    LEAST = 500,       /* of the demand is left, whatever the replay says */
    SMALL_NS = 100000, /* kinds that run less are left alone */
    NEAR = 10,         /* permille: this near is near enough */
    ROUNDS = 3
};

static int64_t tracer_of(const struct recording *r, uint32_t g, int64_t event_ns)
{
    struct rec_reader rd;
    struct rec_entry e;
    int64_t percent = TAPE_START_PERCENT;
    for (rec_rewind(&rd, r, g); rec_next(&rd, &e);)
        percent += tape_event_percent(r, &e) + tape_event_after(&e);
    return percent * event_ns / 100;
}

/* The replay's main goroutine is of a kind of its own, called main. */
static const char *kind_name(const struct recording *r, uint32_t g, uint32_t root)
{
    return g == root ? "main" : r->gs[g].name[0] != 0 ? r->gs[g].name : "goroutine";
}

void infer_fixpoint(struct recording *r, struct infer_found *f)
{
    struct numbers names = {0};
    uint32_t root = tape_root(r), room = 0;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_g *x = &r->gs[g];
        if (x->system)
            continue;
        uint32_t k = texts_number(&names, kind_name(r, g, root));
        if (k == r->nkinds) {
            X_ROOM(r->kinds, r->nkinds, room, 16);
            r->kinds[r->nkinds++] = (struct rec_kind){.name = names.text[k], .demand = PERMILLE};
        }
        x->kind = k;
        r->kinds[k].ran += x->cpu;
    }
    texts_numbers_release(&names);
    f->of = r->nkinds;
}

static int64_t ran(const struct run_result *q, const char *name)
{
    for (size_t i = 0; i < q->ngroups; i++)
        if (strcmp(q->groups[i].name, name) == 0)
            return (int64_t)(q->groups[i].running_ps / 1000);
    return 0;
}

/* By how much kinds ran too long, in permille of all that ran. */
static int too_long(const struct recording *r, const struct run_result *q)
{
    int64_t wrong = 0, all = 1;
    for (uint32_t k = 0; k < r->nkinds; k++) {
        const struct rec_kind *x = &r->kinds[k];
        int64_t more = ran(q, x->name) - x->target;
        all += x->target > 0 ? x->target : 0;
        wrong += more > 0 && x->target >= SMALL_NS ? more : 0;
    }
    return (int)(wrong * PERMILLE / all);
}

static void correct(struct recording *r, const struct run_result *q)
{
    for (uint32_t k = 0; k < r->nkinds; k++) {
        struct rec_kind *x = &r->kinds[k];
        if (x->target < SMALL_NS)
            continue;
        int64_t demand = x->demand - (ran(q, x->name) - x->target) * PERMILLE / x->target;
        x->demand = (int)(demand < LEAST ? LEAST : demand > PERMILLE ? PERMILLE : demand);
    }
}

/* Runs it once, and corrects; gives how much was wrong. < 0: it did not come to its end, and says
 * nothing of how long it should run; or it could not be run. */
static int again(struct failure *f, struct replay *rp)
{
    static struct run run;
    struct run_opts o;
    int wrong = -1;
    if (!run_opts_of(f, rp->scenario, 0, &o))
        return wrong;
    o.costs = &rp->costs;
    if (!run_all(f, &run, &o))
        return wrong;
    if (run.result.end == END_LIMIT)
        fail(f, E_LIMIT, "%s", run.result.text);
    if (run.result.end == END_STOPPED)
        wrong = too_long(rp->rec, &run.result);
    if (wrong > NEAR)
        correct(rp->rec, &run.result);
    run_free(&run);
    return wrong;
}

static void targets(struct replay *rp)
{
    struct recording *r = rp->rec;
    for (uint32_t k = 0; k < r->nkinds; k++)
        r->kinds[k].target = r->kinds[k].ran;
    for (uint32_t g = 0; g < r->ngs; g++)
        if (!r->gs[g].system)
            r->kinds[r->gs[g].kind].target -= tracer_of(r, g, rp->tape.event_ns);
}

static void leave_alone(struct replay *rp)
{
    for (uint32_t k = 0; k < rp->rec->nkinds; k++)
        rp->rec->kinds[k].demand = PERMILLE;
    replay_make(rp);
}

void replay_fixpoint(struct failure *failed, struct replay *rp)
{
    struct infer_found *f = &rp->infer.found[INFER_fixpoint];
    struct recording *r = rp->rec;
    if (r->nkinds == 0 || r->gc.replayed || r->nbytes > REPLAY_TWICE_MAX)
        return;
    targets(rp);
    int first = again(failed, rp), wrong = first;
    for (int round = 1; round < ROUNDS && wrong > NEAR; round++) {
        replay_make(rp);
        wrong = again(failed, rp);
    }
    if (wrong < 0) {
        if (first >= 0)
            leave_alone(rp);
        return;
    }
    if (wrong > NEAR)
        replay_make(rp);
    f->confidence = PERMILLE - (wrong < PERMILLE ? wrong : PERMILLE);
    if (first <= NEAR)
        return;
    f->count = r->nkinds;
    snprintf(f->text, sizeof f->text, "kinds of goroutines; they ran %d.%d %% longer than recorded",
             first / 10, first % 10);
}
