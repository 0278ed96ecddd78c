/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/broken.h"

#include <inttypes.h>
#include <string.h>

#include "run/ops.h"
#include "run/window.h"
#include "sim/base/text.h"

enum { OPS_SHOWN = 20, OPS_SEARCHED = 5000000, PS_PER_US = 1000000 };

struct last_ops {
    const struct program *program;
    struct traced_op op[OPS_SHOWN]; /* by number % OPS_SHOWN */
    uint64_t count;                 /* heard */
    uint64_t max;                   /* the later ones are not kept; 0: all are */
    struct look_where where;        /* who made the last one, just after it */
};

static struct run world;

static void hear(void *arg, const struct traced_op *op)
{
    struct last_ops *l = arg;
    if (l->max != 0 && op->number > l->max)
        return;
    l->count = op->number;
    l->op[op->number % OPS_SHOWN] = *op;
    if (op->number == l->max)
        look_where(l->program, op->m, &l->where);
}

/* Makes the run again, to its end. True: it broke again. */
static bool run_again(const struct run_opts *o)
{
    if (!run_start(NULL, &world, o))
        return false;
    while (run_to(&world, UINT64_MAX))
        ;
    return world.why == END_THROWN;
}

static bool broken_after(const struct run_opts *o, uint64_t op)
{
    if (!run_start(NULL, &world, o))
        return false;
    bool bad = !run_after_op(&world, op) ||
               world_host()->core->check(world_host()->quiet()) != NULL;
    run_free(&world);
    return bad;
}

/* The invariants were whole after operation `good` and broken after `bad`: which one broke them? */
static uint64_t culprit(const struct run_opts *o, uint64_t good, uint64_t bad)
{
    while (bad - good > 1 && bad < OPS_SEARCHED) {
        uint64_t middle = good + (bad - good) / 2;
        if (broken_after(o, middle))
            bad = middle;
        else
            good = middle;
    }
    return bad;
}

static void print_where(FILE *to, const struct look_where *w)
{
    if (w->m >= 0)
        fprintf(to, "M %" PRId32 "%s, ", w->m, w->spinning ? " spinning" : "");
    else
        fputs("M - (the environment), ", to);
    if (w->p >= 0)
        fprintf(to, "P %" PRId32 " %s, ", w->p, w->p_status);
    else
        fputs("P -, ", to);
    if (w->g != 0)
        fprintf(to, "G %" PRIu64 " %s (%s, line %" PRIu32 ")\n", w->g, w->g_status,
                text_line(w->g_group), w->line);
    else
        fputs("G - (the M is in the scheduler)\n", to);
}

static void print_ops(FILE *to, const struct last_ops *l)
{
    uint64_t first = l->count > OPS_SHOWN ? l->count - OPS_SHOWN + 1 : 1;
    fputs("last operations: number, time, M and P, operation, order, object, value, place\n", to);
    for (uint64_t i = first; i <= l->count; i++)
        fprintf(to, "%s\n", op_text(&l->op[i % OPS_SHOWN]));
}

static void print(FILE *to, const struct run_opts *o, const struct last_ops *l, uint64_t time_ps)
{
    const struct throw_site *site = &world_host()->verdict()->site;
    const char *what = world.weakened ? "broken rule" : "internal error";
    if (world.broken != NULL)
        fprintf(to, "gmpsim: %s: %s\n", what, world.broken);
    else
        fprintf(to, "gmpsim: %s: %s (%s:%d, %s)\n", what, site->text, site->file, site->line,
                site->func);
    fprintf(to, "seed %" PRIu64 ", step %" PRIu64 ", time %" PRIu64 ".%06" PRIu64 " us\n", o->seed,
            l->count, time_ps / PS_PER_US, time_ps % PS_PER_US);
    print_where(to, &l->where);
    print_ops(to, l);
}

/* The look that found it came late: the operation that broke it is searched for, and the run made
 * once more up to that one. */
static bool find_culprit(const struct run_opts *o, struct last_ops *l)
{
    uint64_t good = world.good_ops;
    run_free(&world);
    l->max = culprit(o, good, l->count);
    return run_again(o);
}

void broken_report(FILE *to, const struct run_opts *opts, const char *repeat)
{
    struct last_ops l = {.program = opts->program};
    struct traced_to listener = {.op = hear, .arg = &l};
    struct run_opts o = *opts;
    o.traced = &listener;
    o.no_analysis = true;
    o.print = NULL;
    o.sched_line = NULL;
    o.sink = NULL;
    bool again = run_again(&o);
    if (again && world.broken != NULL)
        again = find_culprit(&o, &l);
    else if (again)
        look_where(l.program, world_host()->verdict()->m, &l.where);
    if (again)
        print(to, &o, &l,
              world.broken != NULL ? l.op[l.count % OPS_SHOWN].time_ps
                                   : world_host()->verdict()->at_ps);
    else
        fputs("gmpsim: made again, the run did not break: it is not deterministic\n", to);
    run_free(&world);
    fprintf(to, "repeat: %s\n", repeat);
}
