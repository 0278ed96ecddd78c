/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim run. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/out.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/step.h"
#include "run/broken.h"
#include "run/ops.h"
#include "sim/real/rt.h"
#include "scenarios/expect.h"
#include "sim/base/text.h"

struct run_args {
    struct machine m;
    struct run_opts o;
    int64_t runs, schedtrace_ns;
    const char *explain, *plant;
    const char *db_path, *jsonl_path, *chrome_path, *gotrace_path;
    uint64_t end_ps; /* of the run */
    struct outputs out;
    struct progress_run progress;
    bool prints, json, scheddetail, trace_ops, step;
};

static void to_stdout(void *arg, const char *text, size_t size)
{
    (void)arg;
    out_foreign(stdout, text, size);
}

static void to_stderr(void *arg, const char *text, size_t size)
{
    (void)arg;
    fwrite(text, 1, size, stderr);
}

/* The program's own output alone; what a Go program would say on stderr goes there. */
static void show_prints(const struct run_result *r)
{
    if (r->text[0] == 0)
        return;
    text_put(stderr, TEXT_LINES, r->text);
    fputc('\n', stderr);
}

static void print_op(void *arg, const struct traced_op *op)
{
    (void)arg;
    fprintf(stderr, "%s\n", op_text(op));
}

static void print_event(void *arg, const struct event_rec *rec)
{
    (void)arg;
    fprintf(stderr, "%s\n", op_event_text(rec));
}

/* One of several. */
static void show_line(const struct run_args *a, const struct run_result *r,
                      const struct complaints *c)
{
    printf("seed %-20" PRIu64 " %-12s %10s", a->o.seed, run_verdict(r),
           time_text((int64_t)(r->now_ps / 1000)));
    if (a->o.host == NULL)
        printf("  fingerprint %016" PRIx64, r->fingerprint);
    printf("%s%s\n", c->count > 0 ? "  " : "", text_line(c->text));
}

static void show(struct run_args *a, const struct run_result *r, const struct complaints *c,
                 cJSON *list)
{
    if (a->json)
        cJSON_AddItemToArray(list, report_json(&a->m, &a->o, r, c));
    else if (a->prints)
        show_prints(r);
    else if (a->runs > 1)
        show_line(a, r, c);
    else
        report_text(stdout, &a->m, &a->o, r, c);
}

static void show_broken(const struct run_args *a)
{
    if (a->o.host != NULL) {
        fputs(GMPSIM_NAME ": on real threads a run is not made again to see what broke it\n",
              stderr);
        return;
    }
    char line[4096] = GMPSIM_NAME " run ";
    size_t n = strlen(line);
    machine_line(&a->m, &a->o, line + n, sizeof line - n);
    fflush(stdout);
    broken_report(stderr, &a->o, line);
}

static int one(struct run_args *a, cJSON *list)
{
    static struct run r;
    struct failure f = {0};
    struct complaints c;
    int64_t id = 0;
    if (!run_recorded(&f, &r, &a->m, &a->o, &a->out, &id))
        cli_fail(&f);
    progress_end(&a->progress.p);
    a->end_ps = r.result.now_ps;
    complaints_of(a->m.scenario, &a->o, &r.result, &c);
    if (a->out.db != NULL && !store_finish(a->out.db, &f, &r.result, c.text))
        cli_fail(&f);
    if (!a->prints && !a->json && a->runs == 1 && r.result.out_size > 0) {
        out_foreign(stdout, r.result.out, r.result.out_size);
        fputc('\n', stdout);
    }
    show(a, &r.result, &c, list);
    if (id != 0 && !a->json && !a->prints)
        printf("recorded: run %" PRId64 " in %s\n", id, text_line(a->db_path));
    int status = report_status(&r.result, &c);
    bool broken = run_is_broken(&r.result), planted = r.plant_at == UINT64_MAX;
    run_free(&r);
    if (broken)
        show_broken(a);
    if (!planted)
        cli_die(EXIT_USAGE, "--plant: the run ended before there was anything to break");
    return status;
}

/* "queue@3ms": what, and from when on. */
static void set_plant(struct run_args *a)
{
    static const char *const names[] = {
#define PLANT(name, what) #name,
        CORE_PLANTS(PLANT)
#undef PLANT
            NULL};
    char name[20];
    int64_t ns = 0;
    size_t n = strcspn(a->plant, "@");
    snprintf(name, sizeof name, "%.*s", (int)n, a->plant);
    for (int i = 0; i < PLANT_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            a->o.plants = true;
            a->o.plant = (enum core_plant)i;
        }
    if (!a->o.plants)
        cli_die(EXIT_USAGE, "--plant: no invariant '%s'; is it '%s'?", name,
                cli_nearest(name, names) != NULL ? cli_nearest(name, names) : names[0]);
    if (a->plant[n] == '@' && !parse_time(a->plant + n + 1, &ns))
        cli_die(EXIT_USAGE, "--plant: want NAME@TIME, as queue@3ms, got '%s'", a->plant);
    a->o.plant_ps = (uint64_t)ns * 1000;
    a->m.plant = a->plant;
}

/* Of one run its report, of several their list. */
static void print_json(cJSON *list, int64_t runs)
{
    out_json(runs == 1 ? cJSON_DetachItemFromArray(list, 0) : cJSON_Duplicate(list, true));
}

static void open_outputs(struct run_args *a)
{
    struct failure f = {0};
    const struct program *program = &a->m.scenario->program;
    if (a->db_path != NULL && (a->out.db = store_open(&f, a->db_path, STORE_WRITE)) == NULL)
        cli_fail(&f);
    if (a->json && a->jsonl_path != NULL && strcmp(a->jsonl_path, "-") == 0)
        cli_die(EXIT_USAGE, "--json and --jsonl - both want standard output");
    if (a->runs > 1 && (a->jsonl_path != NULL || a->chrome_path != NULL || a->gotrace_path != NULL))
        cli_die(EXIT_USAGE, "--jsonl, --perfetto and --gotrace hold one run: --runs 1");
    if (a->gotrace_path != NULL &&
        (a->out.gotrace = simtrace_open(&f, a->gotrace_path, program, a->m.file, a->o.procs, 0)) ==
            NULL)
        cli_fail(&f);
    if (a->jsonl_path != NULL &&
        (a->out.jsonl = export_open(&f, a->jsonl_path, EXPORT_JSONL, program)) == NULL)
        cli_fail(&f);
    if (a->chrome_path != NULL &&
        (a->out.chrome = export_open(&f, a->chrome_path, EXPORT_CHROME, program)) == NULL)
        cli_fail(&f);
}

static void close_outputs(struct run_args *a)
{
    struct failure f = {0};
    store_close(a->out.db);
    if (!export_close(a->out.jsonl, &f) || !export_close(a->out.chrome, &f) ||
        !simtrace_close(a->out.gotrace, &f, a->end_ps))
        cli_fail(&f);
}

static int step_run(struct run_args *a)
{
    if (a->json || a->runs > 1 || a->db_path != NULL)
        cli_die(EXIT_USAGE, "--step goes through one run, without --json and --db");
    step_through(&(struct step_args){.o = &a->o,
                                     .what = {.program = a->o.program, .gs_max = LOOK_GS_DEFAULT}});
    machine_release_all(&a->m);
    return EXIT_CLEAN;
}

static int worse(int a, int b) { return a > b ? a : b; }

static void listen(struct run_args *a)
{
    static const struct traced_to to_lines = {
        .op = print_op, .event = print_event, .in_order = true};
    if (a->trace_ops)
        a->o.traced = &to_lines;
    progress_begin(&a->progress.p, GMPSIM_NAME " run");
    a->progress.until_ns = a->o.until_ns;
    a->progress.runs = a->runs;
    if (a->progress.p.on && !a->trace_ops && a->o.schedtrace_ns == 0)
        a->out.progress = &a->progress;
}

static int run_seeds(struct run_args *a)
{
    int status = EXIT_CLEAN;
    uint64_t seed = a->o.seed;
    cJSON *list = cJSON_CreateArray();
    open_outputs(a);
    listen(a);
    for (int64_t i = 0; i < a->runs; i++) {
        a->o.seed = seed + (uint64_t)i;
        if (a->runs > 1)
            snprintf(a->progress.of, sizeof a->progress.of, "run %" PRId64 " of %" PRId64, i + 1,
                     a->runs);
        a->progress.run_at = i;
        status = worse(status, one(a, list));
    }
    if (a->json)
        print_json(list, a->runs);
    cJSON_Delete(list);
    close_outputs(a);
    a->o.seed = seed;
    return status;
}

static void refuse_on_threads(const struct run_args *a)
{
    if (a->step)
        machine_want_virtual(&a->o, "--step", "there is no way back, and no standing still");
    if (a->trace_ops)
        machine_want_virtual(&a->o, "--trace-ops",
                             "whoever listened would be slower than all else");
    if (a->plant != NULL)
        machine_want_virtual(&a->o, "--plant", "a world is not looked at on its way");
    if (a->explain != NULL)
        machine_want_virtual(&a->o, "--explain", "the run it would look at is over");
}

/* Once: the report so far. Once more: the end. */
static void on_interrupt(int sig)
{
    (void)sig;
    rt_interrupt();
}

int verb_run(const struct verb *v, int argc, char **argv)
{
    struct run_args a = {.runs = 1};
    const struct opt table[] = {
        MACHINE_OPTS(a.m),
        {"runs", "N", "so many runs, with seeds from --seed on", OPT_COUNT, &a.runs},
        {"explain", "WHAT", "the waits of the slowest span of a name, or of goroutine g17",
         OPT_TEXT, &a.explain},
        {"db", "FILE", "record everything into this SQLite file (docs/store.md)", OPT_TEXT,
         &a.db_path},
        {"jsonl", "FILE", "records as JSON lines; - is standard output", OPT_TEXT, &a.jsonl_path},
        {"perfetto", "FILE", "records for ui.perfetto.dev (Chrome JSON)", OPT_TEXT, &a.chrome_path},
        {"gotrace", "FILE", "a Go execution trace, for go tool trace", OPT_TEXT, &a.gotrace_path},
        {"schedtrace", "TIME", "SCHED lines as GODEBUG=schedtrace prints them, on stderr",
         OPT_LENGTH, &a.schedtrace_ns},
        {"scheddetail", NULL, "... with GODEBUG=scheddetail=1", OPT_FLAG, &a.scheddetail},
        {"trace-ops", NULL, "every atomic operation and record as a line on stderr", OPT_FLAG,
         &a.trace_ops},
        {"step", NULL, "go through the run, forwards and backwards, by commands", OPT_FLAG,
         &a.step},
        {"prints", NULL, "print only what the program prints", OPT_FLAG, &a.prints},
        {"plant", "WHAT@TIME", "break an invariant on purpose: status, running, queue, wait, ...",
         OPT_TEXT, &a.plant},
        {"json", NULL, "the report as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    if (a.explain != NULL && (a.json || a.prints))
        cli_die(EXIT_USAGE, "--explain adds to the report: without --json and --prints");
    machine_load(&a.m, argv[first], &a.o);
    if (a.explain != NULL)
        explain_check(a.o.program, a.explain);
    refuse_on_threads(&a);
    if (a.o.host != NULL)
        /* The second one ends the process. */
        sigaction(SIGINT,
                  &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND},
                  NULL);
    if (a.plant != NULL)
        set_plant(&a);
    if (a.schedtrace_ns > 0)
        a.o.schedtrace_ns = a.schedtrace_ns;
    a.o.scheddetail |= a.scheddetail;
    a.o.sched_line = to_stderr;
    if (a.prints) {
        a.o.print = to_stdout;
        a.o.output_passes = !scenario_expects_output(a.m.scenario);
    }
    if (a.step)
        return step_run(&a);
    int status = run_seeds(&a);
    if (a.explain != NULL)
        explain(&a.o, a.explain);
    machine_release_all(&a.m);
    return status;
}
