/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim replay and gmpsim shrink: a schedule that was kept; replay of a recorded trace is
 * retrace.c's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/finding_page.h"
#include "cli/finding_step.h"
#include "cli/machine.h"
#include "cli/retrace.h"
#include "replay/import.h"
#include "sim/base/text.h"

enum { SHRINK_RUNS = 50000, ROWS_SHOWN = 400, FLIPS = 300 };

struct kept_args {
    const char *scenario, *out, *perfetto;
    int64_t runs;
    bool anyway, json, explain, step, trace_ops;
};

/* A schedule, its scenario and its finding; dies of mistakes. */
struct kept {
    struct schedule schedule;
    struct scenario *scenario;
    const char *file;
    struct finding finding;
};

static void kept_load(struct kept *k, const char *path, const struct kept_args *a)
{
    struct failure f = {0};
    schedule_init(&k->schedule);
    if (schedule_load(&k->schedule, &f, path) < 0)
        cli_fail(&f);
    k->file = a->scenario != NULL ? a->scenario : schedule_scenario(&k->schedule);
    if (k->file == NULL)
        cli_die(EXIT_USAGE, "%s: names no scenario; --scenario FILE does", path);
    const char *notes;
    k->scenario = is_trace(k->file) ? import_load(&f, k->file, /*sure=*/true, &notes)
                                    : scenario_load_file(&f, k->file);
    if (k->scenario == NULL)
        cli_fail(&f);
    if (!finding_load(&f, &k->schedule, k->scenario, a->anyway, &k->finding))
        cli_die(EXIT_USAGE, "%s: %s", path, f.text);
}

static void kept_release(struct kept *k)
{
    finding_release(&k->finding);
    schedule_release(&k->schedule);
    scenario_free(k->scenario);
}

/* What a file is, by its first bytes: schedules say so. */
static bool is_schedule(const char *path)
{
    static const char magic[] = "gmpsim-schedule";
    char head[sizeof magic] = {0};
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        cli_die(EXIT_USAGE, "%s: cannot read", path);
    size_t n = fread(head, 1, sizeof magic - 1, f);
    fclose(f);
    return n == sizeof magic - 1 && memcmp(head, magic, n) == 0;
}

/* What the options ask for beyond the verdict. */
static void look_closer(const struct kept *k, const struct kept_args *a, cJSON *json)
{
    struct failure f = {0};
    struct history h;
    bool page = a->explain || a->perfetto != NULL || a->out != NULL || a->step || json != NULL;
    if (a->trace_ops)
        finding_trace_ops(stdout, &k->finding);
    if (!page)
        return;
    if (!history_make(&f, &k->finding, a->step ? 0 : FLIPS, &h))
        cli_die_of(&f, k->file);
    if (json != NULL)
        finding_page_json(json, &h, k->file);
    else if (a->explain)
        finding_page_tell(stdout, k->scenario, &h, k->file, ROWS_SHOWN);
    if (a->perfetto != NULL)
        finding_perfetto_file(a->perfetto, &k->finding, &h);
    if (a->out != NULL)
        finding_out(a->out, &k->finding, &h, NULL, k->file);
    if (a->step)
        finding_step(&h, k->file);
    history_free(&h);
}

static int replay_schedule(const char *path, const struct kept_args *a)
{
    static struct kept k;
    struct failure f = {0};
    struct verdict v;
    bool same = false;
    kept_load(&k, path, a);
    if (!finding_replay(&f, &k.finding, &v, &same) && !a->anyway)
        cli_die_of(&f, path);
    const char *then = k.finding.verdict.what;
    if (a->json) {
        cJSON *j = cJSON_CreateObject();
        cJSON_AddStringToObject(j, "verdict", v.what);
        cJSON_AddStringToObject(j, "text", v.text);
        cJSON_AddStringToObject(j, "recorded", then);
        cJSON_AddBoolToObject(j, "same", same);
        if (v.kind == VERDICT_FINDING && a->explain)
            look_closer(&k, a, j);
        out_json(j);
    } else {
        printf("%s: %s\n\n", text_line(k.scenario->name),
               v.kind == VERDICT_FINDING ? v.what : "nothing wrong");
        text_put(stdout, TEXT_LINES, v.text);
        printf("\n\n%s\n%s\n", world_text(&k.finding.world),
               same ? "the same run as recorded" : "not the run that was recorded");
        if (v.kind == VERDICT_FINDING) {
            k.finding.verdict = v;
            look_closer(&k, a, NULL);
        }
    }
    kept_release(&k);
    if (!same && !a->anyway)
        return EXIT_INTERNAL;
    return v.kind == VERDICT_FINDING ? EXIT_FINDING : EXIT_CLEAN;
}

int command_replay(const struct command *v, int argc, char **argv)
{
    struct kept_args a = {0};
    struct retrace_args t = {.event_ns = -1, .wake_ns = -1};
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"scenario", "FILE", "the schedule's scenario (default: the one that it names)", OPT_TEXT,
         &a.scenario},
        {"anyway", NULL, "although program, profile or simulator differ; worthless answers",
         OPT_FLAG, &a.anyway},
        {"explain", NULL, "of a schedule: the page of the finding", OPT_FLAG, &a.explain},
        {"step", NULL, "of a schedule: turn by turn, forwards and backwards", OPT_FLAG, &a.step},
        {"trace-ops", NULL, "of a schedule: every atomic operation, a column per M", OPT_FLAG,
         &a.trace_ops},
        {"perfetto", "FILE", "of a schedule: its turns for ui.perfetto.dev", OPT_TEXT, &a.perfetto},
        {"out", "DIR", "of a schedule: all of it, as files in this folder", OPT_TEXT, &a.out},
        CSV_OPTS(csv),
        {"json", NULL, "the result as JSON", OPT_FLAG, &a.json},
        MACHINE_OPTS(t.m),
        RETRACE_OPTS(t),
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    a.json = csv_or_json(&csv, a.json, NULL);
    if (is_trace(argv[first])) {
        if (a.scenario != NULL || a.explain || a.step || a.trace_ops || a.perfetto != NULL ||
            a.out != NULL)
            cli_die(EXIT_USAGE, "--scenario, --explain, --step, --trace-ops, --perfetto and --out "
                                "are about a schedule, not a trace");
        t.json = a.json;
        t.anyway = a.anyway;
        return replay_trace(&t, argv[first]);
    }
    if (!is_schedule(argv[first]))
        cli_die(EXIT_USAGE,
                "%s: not a schedule (its first line is \"gmpsim-schedule 1\"), and not a trace",
                argv[first]);
    if (t.window != NULL || t.without != NULL || t.event_ns >= 0 || t.wake_ns >= 0 ||
        machine_is_said(&t.m))
        cli_die(EXIT_USAGE, "a schedule says on which machine it was made; options of the machine"
                            " are about a trace");
    if (a.out != NULL)
        finding_out_folder(a.out);
    return replay_schedule(argv[first], &a);
}

int command_shrink(const struct command *v, int argc, char **argv)
{
    static struct kept k;
    struct kept_args a = {.runs = SHRINK_RUNS};
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"out", "FILE", "where the smaller schedule goes (default: the same file)", OPT_TEXT,
         &a.out},
        {"runs", "N", "try at most so many schedules (default 50000)", OPT_COUNT, &a.runs},
        {"scenario", "FILE", "the scenario (default: the one that the schedule names)", OPT_TEXT,
         &a.scenario},
        {"anyway", NULL, "although program, profile or simulator differ", OPT_FLAG, &a.anyway},
        CSV_OPTS(csv),
        {"json", NULL, "the result as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    struct failure f = {0};
    struct shrink_result r;
    struct verdict verdict;
    bool same = false;
    opts_want(v, argc, first, 1, 1);
    a.json = csv_or_json(&csv, a.json, NULL);
    kept_load(&k, argv[first], &a);
    if (!finding_replay(&f, &k.finding, &verdict, &same))
        cli_die_of(&f, argv[first]);
    if (verdict.kind != VERDICT_FINDING)
        cli_die(EXIT_USAGE, "%s: its run finds nothing", argv[first]);
    k.finding.verdict = verdict;
    if (!shrink(&f, &k.finding, (uint64_t)a.runs, &r))
        cli_fail(&f);
    finding_write(&k.finding, k.file, a.out != NULL ? a.out : argv[first]);
    if (a.json)
        out_json(finding_json(&k.finding, &r));
    else
        finding_print(stdout, &k.finding, &r);
    kept_release(&k);
    return EXIT_FINDING;
}
