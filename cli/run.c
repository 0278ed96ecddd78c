/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/explain.h"
#include "cli/hits.h"
#include "cli/interrupt.h"
#include "cli/out.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/report_tables.h"
#include "cli/step.h"
#include "cli/waitsfor.h"
#include "run/broken.h"
#include "run/ops.h"
#include "sim/real/rt.h"
#include "scenarios/expect.h"
#include "sim/base/text.h"

struct run_args {
    struct machine m;
    struct run_opts o;
    int64_t runs, schedtrace_ns, db_wait_ns;
    struct hits hits;
    const char *explain, *plant, *waits_for;
    const char *db_path, *jsonl_path, *perfetto_path, *gotrace_path;
    uint64_t end_ps; /* of the run */
    struct outputs out;
    FILE *report; /* stdout, unless records go there */
    struct progress_run progress;
    const char *table;
    int table_number;
    bool one_thing; /* is wanted on standard output, not the report */
    bool prints, json, csv, counters, scheddetail, trace_ops, step;
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

/* The line of one of several runs. */
static void show_line(const struct run_args *a, const struct run_result *r,
                      const struct complaints *c)
{
    fprintf(a->report, "seed %-20" PRIu64 " %-12s %10s", a->o.seed, run_verdict(r),
            time_text((int64_t)(r->now_ps / 1000)));
    if (a->o.host == NULL)
        fprintf(a->report, "  fingerprint %016" PRIx64, r->fingerprint);
    fprintf(a->report, "%s%s\n", c->count > 0 ? "  " : "", text_line(c->text));
}

/* A run's rows of the table of several runs, each with the seed. */
static void show_table(struct run_args *a, const struct run_result *r)
{
    char seed[24];
    struct sheet s;
    snprintf(seed, sizeof seed, "%" PRIu64, a->o.seed);
    report_table(&s, (enum report_table)a->table_number, r, /*all*/ true);
    sheet_csv(a->report, &s, a->hits.runs == 0, "seed", seed);
    sheet_release(&s);
}

enum { AGAIN_MAX = 1000000 }; /* switches of a run that is made again without being asked for */

/* Makes the run again, whose world is gone, to see who waits for whom. False: nobody wants to know,
 * or it cannot be known. */
static bool find_waits(const struct run_args *a, const struct run_result *r, struct waitsfor *w)
{
    char title[400];
    if (a->runs > 1 || a->o.host != NULL || run_is_broken(r))
        return false;
    if (a->waits_for == NULL &&
        (a->one_thing || !waitsfor_any(r) || r->counters[COUNTER_switches] > AGAIN_MAX))
        return false;
    if (!waitsfor_make(&a->o, w)) {
        if (r->end != END_LIMIT)
            cli_die(EXIT_USAGE,
                    "the run cannot be made again, to see who waits for whom: no memory");
        return false;
    }
    if (a->waits_for != NULL) {
        snprintf(title, sizeof title, "Who waits for whom\n%s: %s",
                 text_cut(a->m.scenario->name, 60), run_verdict(r));
        waitsfor_write(a->waits_for, w, title);
    }
    return true;
}

static void show_text(const struct run_args *a, struct run *run, const struct complaints *c)
{
    struct waitsfor w;
    run_free_world(run);
    bool waits = find_waits(a, &run->result, &w);
    if (!a->one_thing && a->runs == 1)
        report_text(a->report, &a->m, &a->o, &run->result, c, a->counters,
                    waits && w.ngs > 0 ? &w : NULL);
    if (waits)
        waitsfor_release(&w);
}

static void show(struct run_args *a, const struct run_result *r, const struct complaints *c,
                 cJSON *list)
{
    if (a->json)
        cJSON_AddItemToArray(list, report_json(&a->m, &a->o, r, c));
    else if (a->prints)
        show_prints(r);
    else if (a->csv) {
        show_table(a, r);
        if (c->count > 0) /* a table has no place for it */
            fprintf(stderr, GMPSIM_NAME ": %s: %s\n", run_verdict(r), text_line(c->text));
    } else if (a->runs > 1)
        show_line(a, r, c);
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

/* In virtual time nothing is lost: the same line gives the same run again. */
_Noreturn static void not_recorded(const struct run_args *a, const struct failure *f)
{
    char line[4096];
    if (a->o.host != NULL)
        cli_fail(f);
    cli_die(fail_exit_code(f->code), "%s; into another file: " GMPSIM_NAME " run %s --db OTHER",
            f->text, machine_line(&a->m, &a->o, line, sizeof line));
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
        not_recorded(a, &f);
    if (!a->one_thing && a->runs == 1 && r.result.out_size > 0) {
        out_foreign(a->report, r.result.out, r.result.out_size);
        fputc('\n', a->report);
    }
    show(a, &r.result, &c, list);
    show_text(a, &r, &c);
    hits_add(&a->hits, &r.result, a->o.seed);
    if (id != 0 && !a->one_thing)
        fprintf(a->report, "recorded: run %" PRId64 " in %s\n", id, text_line(a->db_path));
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

/* One run: its report alone; several: a list of theirs. */
static void print_json(cJSON *list, int64_t runs)
{
    out_json(runs == 1 ? cJSON_DetachItemFromArray(list, 0) : cJSON_Duplicate(list, true));
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

/* Whoever reads records from standard output finds nothing else there. */
static void choose_report(struct run_args *a)
{
    const struct {
        const char *option;
        bool there;
    } all[] = {{"--jsonl -", is_stdout(a->jsonl_path)},
               {"--perfetto -", is_stdout(a->perfetto_path)},
               {"--gotrace -", is_stdout(a->gotrace_path)},
               {"--json", a->json},
               {"--csv", a->csv},
               {"--prints", a->prints},
               {"--explain", a->explain != NULL}};
    enum { RECORDS = 3, ALL = 7 };
    int records = ALL;
    for (int i = 0; i < ALL; i++) {
        if (!all[i].there)
            continue;
        if (records < ALL)
            cli_die(EXIT_USAGE, "%s and %s both want standard output", all[records].option,
                    all[i].option);
        if (i < RECORDS)
            records = i;
    }
    a->report = records < RECORDS ? stderr : stdout;
}

static void open_outputs(struct run_args *a)
{
    struct failure f = {0};
    const struct program *program = &a->m.scenario->program;
    choose_report(a);
    if (a->db_path != NULL)
        a->out.db = db_to_write(a->db_path, a->db_wait_ns);
    if (a->runs > 1 &&
        (a->jsonl_path != NULL || a->perfetto_path != NULL || a->gotrace_path != NULL))
        cli_die(EXIT_USAGE, "--jsonl, --perfetto and --gotrace hold one run: --runs 1");
    if (a->gotrace_path != NULL &&
        (a->out.gotrace = simtrace_open(&f, a->gotrace_path, program, a->m.file, a->o.procs, 0)) ==
            NULL)
        cli_fail(&f);
    if (a->jsonl_path != NULL && (a->out.jsonl = export_open(&f, a->jsonl_path, program)) == NULL)
        cli_fail(&f);
    if (a->perfetto_path != NULL &&
        (a->out.perfetto = perfetto_open(&f, a->perfetto_path, a->o.warmup_ns)) == NULL)
        cli_fail(&f);
}

static void close_outputs(struct run_args *a)
{
    struct failure f = {0};
    store_close(a->out.db);
    if (!export_close(a->out.jsonl, &f) || !perfetto_close(a->out.perfetto, &f) ||
        !simtrace_close(a->out.gotrace, &f, a->end_ps))
        cli_fail(&f);
}

static int step_run(struct run_args *a)
{
    if (a->one_thing || a->runs > 1 || a->db_path != NULL)
        cli_die(EXIT_USAGE, "--step goes through one run, without --json, --csv, --table, --db");
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
    else if (a->runs > 1 && !a->one_thing)
        hits_print(a->report, &a->hits);
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
    if (a->waits_for != NULL)
        machine_want_virtual(&a->o, "--waits-for", "the run is made again to follow its locks");
    if (a->explain != NULL)
        machine_want_virtual(&a->o, "--explain", "the run it would look at is over");
}

/* What the options come to for the run. */
static void prepare(struct run_args *a)
{
    if (a->o.host != NULL)
        interrupt_catch(rt_interrupt);
    if (a->plant != NULL)
        set_plant(a);
    if (a->schedtrace_ns > 0)
        a->o.schedtrace_ns = a->schedtrace_ns;
    a->o.scheddetail |= a->scheddetail;
    a->o.sched_line = to_stderr;
    a->o.attribution = true;
    if (a->prints) {
        a->o.print = to_stdout;
        a->o.output_passes = !scenario_expects_output(a->m.scenario);
    }
}

/* What goes to standard output. */
static void choose_form(struct run_args *a)
{
    a->csv |= a->table != NULL;
    a->one_thing = a->json || a->prints || a->csv;
    if (a->explain != NULL && a->one_thing)
        cli_die(EXIT_USAGE,
                "--explain adds to the report: without --json, --csv, --table and --prints");
    if (a->table != NULL)
        a->table_number = cli_choice("--table: no table", a->table, report_table_names);
    if (a->json + a->prints + a->csv > 1)
        cli_die(EXIT_USAGE, "--json, --prints, --csv with --table: one of them");
}

int command_run(const struct command *v, int argc, char **argv)
{
    static struct run_args a = {.runs = 1};
    const struct opt table[] = {
        MACHINE_OPTS(a.m),
        WARMUP_OPT(a.m),
        JITTER_OPT(a.m),
        {"runs", "N", "so many runs, with seeds from --seed on", OPT_COUNT, &a.runs},
        {"explain", "WHAT", "the waits of the slowest span of a name, or of goroutine g17",
         OPT_TEXT, &a.explain},
        {"waits-for", "FILE",
         "who waits for whom at the end, as a picture: .svg, .dot (Graphviz) or .json", OPT_TEXT,
         &a.waits_for},
        {"db", "FILE", "record everything into this SQLite file (docs/store.md)", OPT_TEXT,
         &a.db_path},
        DB_WAIT_OPT(a.db_wait_ns),
        {"jsonl", "FILE",
         "records as JSON lines; - is standard output, the report is on stderr then", OPT_TEXT,
         &a.jsonl_path},
        {"perfetto", "FILE", "a timeline for ui.perfetto.dev, from --warmup on; FILE.gz: packed",
         OPT_TEXT, &a.perfetto_path},
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
        {"counters", NULL, "all counters of the scheduler, each with what it counts", OPT_FLAG,
         &a.counters},
        {"csv", NULL, "a table as CSV (latency, unless --table), times in ns", OPT_FLAG, &a.csv},
        {"table", "NAME", "... this one: latency, slow, goroutines, ps, quota, counters, not-ended",
         OPT_TEXT, &a.table},
        {"json", NULL, "the report as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    choose_form(&a);
    if (a.waits_for != NULL)
        waitsfor_check_name(a.waits_for);
    machine_load(&a.m, argv[first], &a.o);
    if (a.runs > 1)
        machine_of_many(&a.m, &a.o);
    struct naming names = names_of_program(a.o.program);
    if (a.explain != NULL)
        explain_check(&names, a.explain);
    refuse_on_threads(&a);
    prepare(&a);
    if (a.step)
        return step_run(&a);
    int status = run_seeds(&a);
    if (a.explain != NULL)
        explain(&a.o, a.explain);
    machine_release_all(&a.m);
    return status;
}
