/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim explore. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/explore_ci.h"
#include "cli/explore_seeds.h"
#include "cli/finding_page.h"
#include "cli/library.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "cli/retrace.h"
#include "replay/import.h"
#include "scenarios/faults.h"
#include "search/by_turns.h"
#include "search/corpus.h"
#include "search/plan.h"
#include "sim/base/fingerprint.h"
#include "sim/base/text.h"

enum { ORDERS_SHOWN = 4, ORDERS_TOLD = 100 };
enum { LIST_MAX = 32, SHRINK_RUNS = 5000, ROWS_SHOWN = 80, FLIPS = 300 };

struct explore_args {
    const char *file;
    const char *strategy, *granularity, *procs, *profiles, *memory, *seeds, *expect, *schedule,
        *start, *out, *corpus, *journal, *shard, *faults;
    struct ci_opts ci;
    int64_t jobs, depth, preemptions, runs, for_ns, steps_max, late_ns, until_ns;
    struct opt_list rules;
    bool json, strict, no_shrink, checks, no_copy;
    struct scenario *scenario;
    const char *notes; /* of a recording: what it could not know; a line each */
    struct csv_wish csv;
};

struct explore {
    struct explore_args a;
    struct portfolio portfolio; /* of the present seed */
    uint64_t runs, steps, cut;  /* of the seeds before */
    bool exhausted;
    bool many_seeds; /* what each of them covered is not said */
    int64_t took_ns;
    struct progress progress;
    struct pairs pairs; /* orders that were seen, by turns, of all seeds */
    bool found;
    struct finding finding;
    struct shrink_result shrunk;
    struct history history;
    uint64_t found_at;
    bool told_by_turns;            /* found among operations, and met by turns again */
    char known[4096], added[4096]; /* of the corpus: what was met again, what is new */
    struct hunt_opts found_by;
};

/* ---- lists ---- */

struct words {
    char text[400];
    const char *word[LIST_MAX];
    int count;
};

static void split(const char *option, const char *text, struct words *w)
{
    w->count = 0;
    snprintf(w->text, sizeof w->text, "%s", text);
    for (char *save = NULL, *t = strtok_r(w->text, ",", &save); t != NULL;
         t = strtok_r(NULL, ",", &save)) {
        if (w->count == LIST_MAX)
            cli_die(EXIT_USAGE, "--%s: more than %d", option, LIST_MAX);
        w->word[w->count++] = t;
    }
    if (w->count == 0)
        cli_die(EXIT_USAGE, "--%s: want a list, got '%s'", option, text);
}

static enum mm_kind memory_of(const char *name)
{
    const char *names[MM_KINDS + 1] = {NULL};
    for (int i = 0; i < MM_KINDS; i++) {
        names[i] = mm_kind_name((enum mm_kind)i);
        if (strcmp(names[i], name) == 0)
            return (enum mm_kind)i;
    }
    cli_die(EXIT_USAGE, "--memory: want sc, tso, arm64 or ppc64, got '%s'", name);
}

static enum explored_start start_of(const char *name)
{
    for (int i = 0; i < START_KINDS; i++)
        if (name == NULL || strcmp(explored_start_name((enum explored_start)i), name) == 0)
            return (enum explored_start)i;
    cli_die(EXIT_USAGE, "--start: want settled, time or random, got '%s'", name);
}

/* The file's faults, and those of the command line. */
static struct faults faults_of(const struct explore_args *a)
{
    struct failure f = {0};
    struct faults x = a->scenario->faults;
    if (a->faults != NULL && !faults_add(&f, &x, a->faults))
        cli_fail(&f);
    return x;
}

/* ---- what is searched ---- */

static void add_worlds(struct explore *e, struct hunt_opts *base)
{
    const struct explore_args *a = &e->a;
    const struct plan_wish wish = {a->strategy, a->granularity, a->procs};
    struct failure f = {0};
    struct words profiles;
    split("profile", a->profiles != NULL ? a->profiles : "scenario", &profiles);
    for (int i = 0; i < profiles.count; i++) {
        bool as_in_file = strcmp(profiles.word[i], "scenario") == 0;
        int release = as_in_file ? 0 : machine_release(profiles.word[i]);
        if (!scenario_profile(&f, a->scenario, release, &base->world.profile))
            cli_fail(&f);
        for (int r = 0; r < a->rules.count; r++)
            machine_rule(&base->world.profile, a->rules.items[r]);
        if (!plan_add(&f, &e->portfolio, base, &wish))
            cli_fail(&f);
    }
}

static bool look(void *arg, uint64_t runs)
{
    struct explore *e = arg;
    if (progress_due(&e->progress))
        progress_draw(&e->progress, 0, 0, "%" PRIu64 " schedules", e->runs + runs);
    return e->a.for_ns > 0 && progress_seconds(&e->progress) * 1e9 >= (double)e->a.for_ns;
}

static void plan(struct explore *e, uint64_t seed)
{
    const struct explore_args *a = &e->a;
    struct hunt_opts base = {
        .world = {.scenario = a->scenario,
                  .memory = a->memory != NULL ? memory_of(a->memory) : MM_SC,
                  .seed = seed,
                  .late_max_ns = a->late_ns,
                  .until_ns = a->until_ns > 0 ? a->until_ns : a->scenario->until_ns,
                  .steps_max = (uint64_t)a->steps_max,
                  .checks = a->checks,
                  .no_copy = a->no_copy},
        .seed = seed,
        .depth = (uint32_t)a->depth,
        .preemptions = (uint32_t)a->preemptions,
        .runs_max = a->runs > 0 ? (uint64_t)a->runs : PLAN_RUNS};
    if (a->runs == 0 && a->for_ns == 0)
        base.points_max = PLAN_POINTS;
    base.world.start = start_of(a->start);
    base.world.faults = faults_of(a);
    base.world.pairs = &e->pairs;
    e->portfolio = (struct portfolio){.look = look, .arg = e, .endless = a->for_ns > 0 && !a->runs};
    add_worlds(e, &base);
}

/* ---- searching ---- */

static void confirm(struct explore *e)
{
    struct failure f = {0};
    struct verdict v;
    bool same = false;
    if (!finding_replay(&f, &e->finding, &v, &same))
        cli_die_of(&f, "the finding does not repeat");
    if (!same)
        cli_die(EXIT_INTERNAL, "the finding does not repeat: another end, %s", v.what);
    bool both = plan_is_portfolio(e->a.strategy) && e->a.granularity == NULL;
    if (both && e->found_by.world.granularity == GRANULARITY_OP && e->known[0] == 0 &&
        !finding_by_turns(&f, &e->finding, &e->told_by_turns))
        cli_fail(&f);
    if (!e->a.no_shrink && !shrink(&f, &e->finding, SHRINK_RUNS, &e->shrunk))
        cli_fail(&f);
    if (!history_make(&f, &e->finding, FLIPS, &e->history))
        cli_die_of(&f, "the finding does not repeat");
}

static void search_seed(struct explore *e, uint64_t seed)
{
    struct failure f = {0};
    const struct search_slice *by;
    plan(e, seed);
    enum portfolio_end end = portfolio_search(&f, &e->portfolio, &e->finding, &by);
    e->runs += e->portfolio.runs;
    e->steps += e->portfolio.steps;
    e->cut += e->portfolio.cut;
    e->took_ns += e->portfolio.took_ns;
    e->exhausted |= portfolio_is_exhausted(&e->portfolio);
    if (end == PORTFOLIO_FAILED)
        cli_fail(&f);
    if (end == PORTFOLIO_DIVERGED)
        cli_die(EXIT_INTERNAL, "the world did not repeat itself: a bug of the simulator");
    if (end != PORTFOLIO_FOUND)
        return;
    e->found = true;
    e->found_at = e->runs;
    e->found_by = by->o;
}

/* ---- words ---- */

static const char *schedule_path(const struct explore *e)
{
    static char path[300];
    char name[220], file[220];
    if (e->a.schedule != NULL)
        return e->a.schedule;
    snprintf(name, sizeof name, "%.200s", e->a.scenario->name);
    for (char *p = name; *p != 0; p++)
        if (*p == '/' || *p == ' ')
            *p = '-';
    snprintf(path, sizeof path, "%s.schedule", text_in(file, sizeof file, TEXT_FILE, name));
    return path;
}

static const char *found_by_name(const struct explore *e)
{
    return e->known[0] != 0 ? "the corpus" : hunt_strategy_name(e->found_by.strategy);
}

/* What a recording could not know. */
static void print_notes(const char *notes)
{
    if (notes == NULL)
        return;
    printf("\nthe recording does not say everything:\n");
    for (const char *p = notes; *p != 0; p += strcspn(p, "\n") + 1)
        printf("  - %.*s\n", (int)strcspn(p, "\n"), p);
}

static uint32_t line_of(const struct explore *e, uint32_t pc)
{
    const struct program *p = &e->a.scenario->program;
    return p->lines != NULL ? p->lines[pc] : 0;
}

/* By turns: what may have been tried in one order only. */
static void print_orders(const struct explore *e)
{
    struct pairs_sum sum = pairs_count(&e->pairs);
    uint64_t at = 0;
    uint32_t a, b;
    if (e->many_seeds || sum.both + sum.one == 0)
        return;
    printf("  of %" PRIu64 " pairs of places that touch one object in turn, %" PRIu64
           " were seen in both orders",
           sum.both + sum.one, sum.both);
    if (sum.one > 0)
        printf("; only like this:");
    for (uint32_t i = 0; i < ORDERS_SHOWN && pairs_next_one(&e->pairs, &at, &a, &b); i++)
        printf("%s line %" PRIu32 " before %" PRIu32, i > 0 ? "," : "", line_of(e, a),
               line_of(e, b));
    printf("%s\n", sum.one > ORDERS_SHOWN ? ", ..." : "");
}

static void print_result(const struct explore *e)
{
    if (e->found) {
        finding_print(stdout, &e->finding, e->a.no_shrink ? NULL : &e->shrunk);
        printf("\n");
        finding_page_tell(stdout, e->a.scenario, &e->history, e->a.file, ROWS_SHOWN);
        if (e->known[0] != 0)
            printf("met again: %s of the corpus\n", text_line(e->known));
        else if (e->added[0] != 0)
            printf("added to the corpus: %s\n", text_line(e->added));
        printf("found by %s in schedule %" PRIu64 " after %.2f s%s\n", found_by_name(e),
               e->found_at, (double)e->took_ns / 1e9,
               e->told_by_turns ? ", among operations; told by turns, which show it too" : "");
        printf("repeat: " GMPSIM_NAME " replay %s\n", finding_word(schedule_path(e)));
        return;
    }
    printf("%s: nothing found in %" PRIu64 " schedules (%.2f s)\n", text_line(e->a.scenario->name),
           e->runs, (double)e->took_ns / 1e9);
    char text[500];
    for (uint32_t at = 0; !e->many_seeds && portfolio_says(&e->portfolio, &at, text, sizeof text);)
        printf("  %s\n", text);
    print_orders(e);
    if (e->cut > 0)
        printf("%" PRIu64 " of them were cut by a limit%s and say nothing\n", e->cut,
               e->a.scenario->unknown_status != 0
                   ? ", or came to where the recording does not say what comes next,"
                   : "");
}

/* A row per strategy and world. */
static void add_coverage(cJSON *j, const struct explore *e)
{
    if (e->many_seeds)
        return;
    cJSON *list = cJSON_AddArrayToObject(j, "coverage");
    for (uint32_t i = 0; i < e->portfolio.count; i++) {
        const struct search_slice *s = &e->portfolio.slices[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "granularity", granularity_name(s->o.world.granularity));
        cJSON_AddNumberToObject(row, "procs", s->o.world.procs);
        cJSON_AddStringToObject(row, "profile", profile_name(s->o.world.profile.release));
        cJSON_AddStringToObject(row, "strategy", hunt_strategy_name(s->o.strategy));
        cJSON_AddNumberToObject(row, "schedules", (double)s->runs);
        if (s->exhausted >= 0)
            cJSON_AddNumberToObject(row, "preemptions", (double)s->exhausted);
        cJSON_AddBoolToObject(row, "every_schedule", s->whole);
        cJSON_AddItemToArray(list, row);
    }
}

static void add_orders(cJSON *j, const struct explore *e)
{
    struct pairs_sum sum = pairs_count(&e->pairs);
    uint64_t at = 0;
    uint32_t a, b;
    if (e->many_seeds)
        return;
    cJSON *orders = cJSON_AddObjectToObject(j, "orders");
    cJSON_AddNumberToObject(orders, "both", (double)sum.both);
    cJSON_AddNumberToObject(orders, "one", (double)sum.one);
    cJSON *list = cJSON_AddArrayToObject(orders, "only");
    while (cJSON_GetArraySize(list) < ORDERS_TOLD && pairs_next_one(&e->pairs, &at, &a, &b)) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddNumberToObject(row, "first", line_of(e, a));
        cJSON_AddNumberToObject(row, "second", line_of(e, b));
        cJSON_AddItemToArray(list, row);
    }
}

static void print_json(const struct explore *e)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "scenario", e->a.scenario->name);
    cJSON_AddBoolToObject(j, "found", e->found);
    cJSON_AddNumberToObject(j, "schedules", (double)e->runs);
    cJSON_AddNumberToObject(j, "points", (double)e->steps);
    cJSON_AddNumberToObject(j, "cut", (double)e->cut);
    cJSON_AddNumberToObject(j, "seconds", (double)e->took_ns / 1e9);
    if (e->a.notes != NULL)
        cJSON_AddStringToObject(j, "not_known", e->a.notes);
    add_coverage(j, e);
    add_orders(j, e);
    if (e->found) {
        cJSON_AddStringToObject(j, "granularity", granularity_name(e->found_by.world.granularity));
        cJSON_AddStringToObject(j, "told", granularity_name(e->finding.world.granularity));
        cJSON_AddStringToObject(j, "strategy", found_by_name(e));
        cJSON_AddNumberToObject(j, "schedules_to_first", (double)e->found_at);
        cJSON_AddStringToObject(j, "schedule", schedule_path(e));
        if (e->known[0] != 0)
            cJSON_AddStringToObject(j, "known", e->known);
        if (e->added[0] != 0)
            cJSON_AddStringToObject(j, "added", e->added);
        cJSON *found = finding_json(&e->finding, e->a.no_shrink ? NULL : &e->shrunk);
        finding_page_json(found, &e->history, e->a.file);
        cJSON_AddItemToObject(j, "finding", found);
    }
    out_json(j);
}

static int status_of(const struct explore *e)
{
    if (e->a.expect != NULL) /* finding */
        return e->found ? EXIT_CLEAN : EXIT_FINDING;
    if (e->found)
        return EXIT_FINDING;
    return e->a.strict && !e->exhausted ? EXIT_BUDGET : EXIT_CLEAN;
}

/* Gives the place of the file's name. */
static int parse(struct explore_args *a, const struct command *v, int argc, char **argv)
{
    const struct opt table[] = {
        {"strategy", "LIST",
         "portfolio (default), random, pct, pos, surw, fair, dfs, delay, dpor, states, time; a "
         "list",
         OPT_TEXT, &a->strategy},
        {"granularity", "LIST",
         "sync: goroutines take turns; op: every operation (default: both, sync with --strategy)",
         OPT_TEXT, &a->granularity},
        {"depth", "D", "of pct: so many ordered pairs of operations (default 3)", OPT_COUNT,
         &a->depth},
        {"preemptions", "K", "of dfs: at most so many in a schedule (default 2); of delay, delays",
         OPT_INT, &a->preemptions},
        {"runs", "N", "schedules per strategy and world (default 2000, or as many as --for allows)",
         OPT_COUNT, &a->runs},
        {"for", "TIME", "real time for all of it, such as 60s", OPT_LENGTH, &a->for_ns},
        {"max-steps", "N", "points of one schedule (default 100000)", OPT_COUNT, &a->steps_max},
        {"memory", "MODEL", "sc (default), tso, arm64 or ppc64", OPT_TEXT, &a->memory},
        {"procs", "LIST",
         "GOMAXPROCS at op, several with commas (default: the file's, else 1 to 4)", OPT_TEXT,
         &a->procs},
        {"profile", "LIST", "Go releases, several with commas", OPT_TEXT, &a->profiles},
        {"rule", "NAME=VALUE", "one rule of the profile; repeatable", OPT_REPEATED, &a->rules},
        {"seeds", "SEEDS", "FIRST-LAST, a number, 0x..., or any text, such as a commit's id",
         OPT_TEXT, &a->seeds},
        {"start", "HOW", "start-up: settled (default; all other threads rest), time or random",
         OPT_TEXT, &a->start},
        {"late", "TIME", "how late who could run may be (default 500ms)", OPT_TIME, &a->late_ns},
        {"faults", "LIST", "what may go wrong, such as syscall=10s", OPT_TEXT, &a->faults},
        {"until", "TIME", "a schedule ends at this virtual time", OPT_LENGTH, &a->until_ns},
        {"checks", NULL, "the runtime's invariants before every point", OPT_FLAG, &a->checks},
        {"no-shrink", NULL, "the first schedule as it was found", OPT_FLAG, &a->no_shrink},
        {"no-copy", NULL, "start-up is done again for each schedule", OPT_FLAG, &a->no_copy},
        {"schedule", "FILE", "where the finding's schedule goes (default NAME.schedule)", OPT_TEXT,
         &a->schedule},
        {"out", "DIR", "the finding as text, JSON, SVG and for Perfetto, as files in this folder",
         OPT_TEXT, &a->out},
        {"corpus", "DIR", "schedules that were findings: tried first; a new one is added", OPT_TEXT,
         &a->corpus},
        {"jobs", "J", "processes, each a seed of --seeds at a time (default 1; 0: all CPUs)",
         OPT_INT, &a->jobs},
        {"shard", "I/N", "part I of N of --seeds, or auto; with --journal", OPT_TEXT, &a->shard},
        {"journal", "FILE", "notes which seeds are done: goes on there when started again",
         OPT_TEXT, &a->journal},
        {"junit", "FILE", "the result as JUnit's XML", OPT_TEXT, &a->ci.junit},
        {"summary", "FILE", "the result as Markdown", OPT_TEXT, &a->ci.summary},
        {"github", NULL, "annotations, and a summary of the step, in a GitHub workflow", OPT_FLAG,
         &a->ci.github},
        {"expect", "WHAT", "finding: status 0 if there is one, 1 if not", OPT_TEXT, &a->expect},
        {"strict", NULL, "exit status 4 if the budget ends before the search does", OPT_FLAG,
         &a->strict},
        CSV_OPTS(a->csv),
        {"json", NULL, "the result as JSON", OPT_FLAG, &a->json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    a->json = csv_or_json(&a->csv, a->json, "coverage");
    return first;
}

/* ---- many seeds ---- */

static uint64_t search_hash(const struct explore_args *a)
{
    struct fingerprint h;
    const char *words[] = {a->strategy, a->granularity, a->procs, a->profiles,
                           a->memory,   a->start,       a->faults};
    const int64_t numbers[] = {a->depth,   a->preemptions, a->runs,   a->steps_max,
                               a->late_ns, a->until_ns,    a->checks, a->no_copy};
    fp_init(&h);
    fp_mix(&h, program_hash(&a->scenario->program));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        fp_mix_bytes(&h, words[i] != NULL ? words[i] : "-",
                     words[i] != NULL ? strlen(words[i]) + 1 : 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fp_mix(&h, (uint64_t)numbers[i]);
    for (int i = 0; i < a->rules.count; i++)
        fp_mix_bytes(&h, a->rules.items[i], strlen(a->rules.items[i]) + 1);
    return fp_value(&h);
}

/* For one seed, in a process of its own. */
static void search_alone(void *arg, uint64_t seed, struct seed_result *r)
{
    struct explore *e = arg;
    e->progress.on = false;
    search_seed(e, seed);
    *r = (struct seed_result){.runs = e->runs,
                              .steps = e->steps,
                              .cut = e->cut,
                              .exhausted = e->exhausted,
                              .found = e->found,
                              .whole = e->found || e->a.for_ns == 0 || !look(e, 0)};
}

/* The seed that has a finding is searched once more, here: it is the same search. */
static void search_in_jobs(struct explore *e, uint64_t seed, uint64_t seeds)
{
    struct seed_result sum;
    struct seeds s = {.first = seed,
                      .count = seeds,
                      .jobs = e->a.jobs,
                      .journal = e->a.journal,
                      .shard = shard_of(e->a.shard),
                      .hash = search_hash(&e->a),
                      .arg = e,
                      .search = search_alone};
    uint64_t found = seeds_search(&s, &sum);
    e->runs = sum.runs;
    e->steps = sum.steps;
    e->cut = sum.cut;
    e->exhausted += sum.exhausted > 0;
    e->took_ns = (int64_t)(progress_seconds(&e->progress) * 1e9);
    if (s.shard.count > 0) {
        progress_end(&e->progress);
        printf("%" PRIu64 " schedules into %s%s; gmpsim merge puts the parts together\n", sum.runs,
               text_line(e->a.journal), found < seeds ? ", and a finding" : "");
        exit(EXIT_CLEAN);
    }
    if (found == seeds)
        return;
    e->a.for_ns = 0;
    search_seed(e, seed + found);
}

static void search(struct explore *e)
{
    uint64_t seed, seeds;
    seeds_parse(e->a.seeds != NULL ? e->a.seeds : "1", &seed, &seeds);
    if (e->a.shard != NULL && (e->a.journal == NULL || e->a.for_ns > 0 || e->a.json))
        cli_die(EXIT_USAGE, "--shard: a part is written to --journal FILE, without --for and"
                            " --json; gmpsim merge then says what all of them found");
    e->many_seeds = seeds > 1 || e->a.jobs != 1 || e->a.journal != NULL;
    if (e->a.jobs != 1 || e->a.journal != NULL) {
        search_in_jobs(e, seed, seeds);
        return;
    }
    for (uint64_t i = 0; i < seeds && !e->found; i++)
        search_seed(e, seed + i);
}

/* ---- what is known ---- */

static void search_corpus(struct explore *e, struct corpus *c)
{
    struct failure f = {0};
    if (!corpus_open(&f, c, e->a.corpus))
        cli_fail(&f);
    long at = corpus_replay(c, e->a.scenario, e->a.file, &e->finding);
    e->runs += c->tried;
    if (c->broken > 0)
        fprintf(stderr, GMPSIM_NAME ": %zu schedules of the corpus cannot be used: %s\n", c->broken,
                c->why.text);
    if (at < 0)
        return;
    snprintf(e->known, sizeof e->known, "%s", c->paths[at]);
    e->found = true;
    e->found_at = c->tried;
    e->found_by = (struct hunt_opts){.world = e->finding.world};
}

static void add_to_corpus(struct explore *e, struct corpus *c)
{
    struct failure f = {0};
    if (!corpus_add(&f, c, e->a.corpus, e->a.file, &e->finding, e->added, sizeof e->added))
        cli_fail(&f);
}

static void report_to_ci(const struct explore *e)
{
    const struct ci_result r = {.file = e->a.file,
                                .schedule = schedule_path(e),
                                .scenario = e->a.scenario,
                                .finding = e->found ? &e->finding : NULL,
                                .history = &e->history,
                                .shrunk = e->a.no_shrink ? NULL : &e->shrunk,
                                .runs = e->runs,
                                .seconds = progress_seconds(&e->progress),
                                .status = status_of(e)};
    ci_report(&e->a.ci, &r);
}

int command_explore(const struct command *v, int argc, char **argv)
{
    static struct explore e;
    struct explore_args *a = &e.a;
    struct corpus corpus = {0};
    *a = (struct explore_args){
        .depth = 3, .preemptions = 2, .jobs = 1, .steps_max = 100000, .late_ns = 500000000};
    struct failure f = {0};
    char *file = library_file(argv[parse(a, v, argc, argv)]);
    a->file = file;
    if (a->expect != NULL && strcmp(a->expect, "finding") != 0)
        cli_die(EXIT_USAGE, "--expect: want finding, got '%s'", a->expect);
    a->scenario = is_trace(a->file) ? import_load(&f, a->file, /*sure=*/false, &a->notes)
                                    : scenario_load_file(&f, a->file);
    if (a->scenario == NULL)
        cli_fail(&f);
    if (a->out != NULL)
        finding_out_folder(a->out);
    pairs_open(&e.pairs, &a->scenario->program);
    progress_begin(&e.progress, GMPSIM_NAME " explore");
    if (!a->json)
        ci_begin(&a->ci);
    if (a->corpus != NULL)
        search_corpus(&e, &corpus);
    if (!e.found)
        search(&e);
    if (e.found)
        confirm(&e);
    progress_end(&e.progress);
    if (e.found)
        finding_write(&e.finding, a->file, schedule_path(&e));
    if (e.found && a->corpus != NULL)
        add_to_corpus(&e, &corpus);
    if (e.found && a->out != NULL)
        finding_out(a->out, &e.finding, &e.history, a->no_shrink ? NULL : &e.shrunk, a->file);
    if (a->json)
        print_json(&e);
    else {
        print_result(&e);
        report_to_ci(&e);
        corpus_close(&corpus);
        print_notes(a->notes);
    }
    history_free(&e.history);
    finding_release(&e.finding);
    pairs_close(&e.pairs);
    scenario_free(a->scenario);
    free(file);
    return status_of(&e);
}
