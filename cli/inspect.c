/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim inspect: the whole state at an instant, by running up to it. */
#include <inttypes.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/look.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/step.h"

struct inspect {
    struct machine m;
    struct run_opts o;
    struct look_what what;
    int64_t at_ns, step_ns, after_op;
    bool stepwise, json;
    uint64_t op_ps; /* when the last operation was */
    struct progress_run progress;
};

static void hear_op(void *arg, const struct traced_op *op)
{
    struct inspect *in = arg;
    in->op_ps = op->time_ps;
}

static void hear_records(void *arg, const struct event_rec *recs, size_t count)
{
    progress_sink(arg, recs, count);
}

static bool go(struct inspect *in, struct run *r)
{
    if (in->after_op > 0)
        return run_after_op(r, (uint64_t)in->after_op);
    return run_to(r, in->at_ns > 0 ? (uint64_t)in->at_ns * 1000 : UINT64_MAX / 2);
}

static void look(struct inspect *in)
{
    static struct run r;
    struct failure f = {0};
    const struct traced_to to = {.op = hear_op, .arg = in};
    if (in->after_op > 0)
        in->o.traced = &to;
    progress_begin(&in->progress.p, GMPSIM_NAME " inspect");
    in->progress.until_ns = in->at_ns;
    in->o.sink = in->progress.p.on ? hear_records : NULL;
    in->o.arg = &in->progress;
    if (!run_start(&f, &r, &in->o))
        cli_fail(&f);
    bool there = go(in, &r);
    run_end(&r);
    progress_end(&in->progress.p);
    uint64_t now_ps = !there ? r.result.now_ps : in->after_op > 0 ? in->op_ps : 0;
    if (r.result.end == END_LIMIT)
        cli_die(EXIT_USAGE, "%s", r.result.text);
    if (!there && in->at_ns + in->after_op > 0)
        fprintf(stderr, GMPSIM_NAME ": the run had ended before: %s\n", run_verdict(&r.result));
    (in->json ? look_print_json : look_print)(&in->what,
                                              now_ps > 0 ? (int64_t)(now_ps / 1000) : in->at_ns);
    run_free(&r);
}

static void step(struct inspect *in)
{
    if (in->json)
        cli_die(EXIT_USAGE, "inspect: steps have no --json");
    step_through(&(struct step_args){.o = &in->o,
                                     .what = in->what,
                                     .at_ns = in->at_ns,
                                     .after_op = (uint64_t)in->after_op,
                                     .step_ns = in->step_ns});
}

int command_inspect(const struct command *v, int argc, char **argv)
{
    struct inspect in = {.what.gs_max = LOOK_GS_DEFAULT};
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"at", "TIME", "virtual time to look at (default: the end of the run)", OPT_TIME,
         &in.at_ns},
        {"after-op", "N", "... or after so many atomic operations (run --trace-ops numbers them)",
         OPT_INT, &in.after_op},
        {"step", "TIME", "then go on in steps of this length, by commands", OPT_TIME, &in.step_ns},
        {"stepwise", NULL, "then go on, by commands", OPT_FLAG, &in.stepwise},
        {"gs", "N", "show so many goroutines (default 100)", OPT_INT, &in.what.gs_max},
        {"all", NULL, "the runtime's own goroutines too", OPT_FLAG, &in.what.all},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON, with all goroutines and whole rings", OPT_FLAG, &in.json},
        MACHINE_OPTS(in.m),
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    in.json = csv_or_json(&csv, in.json, "goroutines");
    if (in.at_ns > 0 && in.after_op > 0)
        cli_die(EXIT_USAGE, "inspect: --at or --after-op, not both");
    machine_load(&in.m, argv[first], &in.o);
    if (in.at_ns > 0 || in.after_op > 0 || in.step_ns > 0 || in.stepwise)
        machine_want_virtual(&in.o, "an instant", "a world stands still when it is over");
    in.what.program = in.o.program;
    if (in.step_ns > 0 || in.stepwise)
        step(&in);
    else
        look(&in);
    machine_release_all(&in.m);
    return EXIT_CLEAN;
}
