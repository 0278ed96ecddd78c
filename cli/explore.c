/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim explore. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/finding.h"
#include "cli/machine.h"
#include "cli/progress.h"

enum { LIST_MAX = 32, RUNS_DEFAULT = 2000, SHRINK_RUNS = 5000 };

struct explore_args {
    const char *file;
    const char *strategy, *granularity, *procs, *profiles, *memory, *seeds, *expect, *schedule,
        *start;
    int64_t depth, preemptions, runs, for_ns, steps_max, late_ns, until_ns;
    struct opt_list rules;
    bool json, strict, no_shrink, checks, no_copy;
    struct scenario *scenario;
};

/* A search of one strategy in one world. */
struct slice {
    struct hunt_opts o;
};

struct explore {
    struct explore_args a;
    struct slice slices[256];
    int count;
    uint64_t runs, steps, cut;
    int exhausted, spent;
    int64_t took_ns;
    struct progress progress;
    bool found;
    struct finding finding;
    struct shrink_result shrunk;
    uint64_t found_at;
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

static enum granularity granularity_of(const char *name)
{
    if (name == NULL)
        return GRANULARITY_SYNC;
    for (int i = 0; i < GRANULARITIES; i++)
        if (strcmp(granularity_name((enum granularity)i), name) == 0)
            return (enum granularity)i;
    cli_die(EXIT_USAGE, "--granularity: want sync or op, got '%s'", name);
}

/* ---- what is searched ---- */

static void add(struct explore *e, const struct hunt_opts *o)
{
    if (e->count == (int)(sizeof e->slices / sizeof *e->slices))
        cli_die(EXIT_USAGE, "explore: more than %d combinations", e->count);
    e->slices[e->count++].o = *o;
}

static void add_strategies(struct explore *e, const struct hunt_opts *base)
{
    struct words w;
    split("strategy", e->a.strategy != NULL ? e->a.strategy : "time,random,pct,dfs", &w);
    for (int i = 0; i < w.count; i++) {
        struct hunt_opts o = *base;
        int s = hunt_strategy_parse(w.word[i]);
        if (s < 0)
            cli_die(EXIT_USAGE, "--strategy: want random, pct, dfs or time, got '%s'", w.word[i]);
        o.strategy = (enum hunt_strategy)s;
        add(e, &o);
    }
}

static void add_worlds(struct explore *e, struct hunt_opts *base)
{
    const struct explore_args *a = &e->a;
    struct failure f = {0};
    struct words profiles, procs;
    char own[20];
    snprintf(own, sizeof own, "%d", a->scenario->procs);
    split("profile", a->profiles != NULL ? a->profiles : "scenario", &profiles);
    split("procs", a->procs != NULL ? a->procs : a->scenario->procs != 0 ? own : "2", &procs);
    for (int i = 0; i < profiles.count; i++)
        for (int k = 0; k < procs.count; k++) {
            bool as_in_file = strcmp(profiles.word[i], "scenario") == 0;
            int release = as_in_file ? 0 : machine_release(profiles.word[i]);
            int64_t n;
            if (!scenario_profile(&f, a->scenario, release, &base->world.profile))
                cli_fail(&f);
            for (int r = 0; r < a->rules.count; r++)
                machine_rule(&base->world.profile, a->rules.items[r]);
            if (!parse_int(procs.word[k], &n) || n < 1 || n > PROCS_MAX)
                cli_die(EXIT_USAGE, "--procs: want numbers from 1 to %d, got '%s'", PROCS_MAX,
                        procs.word[k]);
            base->world.procs = (int32_t)n;
            add_strategies(e, base);
        }
}

/* "1-500": as many streams; anything else is one seed. */
static void seeds_of(const char *text, uint64_t *first, uint64_t *count)
{
    char *end, *end2;
    *count = 1;
    *first = seed_of_text(text);
    uint64_t a = strtoull(text, &end, 10), b;
    if (end == text || *end != '-')
        return;
    b = strtoull(end + 1, &end2, 10);
    if (end2 == end + 1 || *end2 != 0)
        return;
    if (b < a || b - a >= 100000)
        cli_die(EXIT_USAGE, "--seeds: want a range FIRST-LAST of up to 100000, got '%s'", text);
    *first = a;
    *count = b - a + 1;
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
        .runs_max = (uint64_t)a->runs};
    base.world.granularity = granularity_of(a->granularity);
    base.world.start = start_of(a->start);
    e->count = 0;
    add_worlds(e, &base);
}

/* ---- searching ---- */

static bool look(void *arg, uint64_t runs)
{
    struct explore *e = arg;
    if (progress_due(&e->progress))
        progress_draw(&e->progress, 0, 0, "%" PRIu64 " schedules", e->runs + runs);
    return e->a.for_ns > 0 && progress_seconds(&e->progress) * 1e9 >= (double)e->a.for_ns;
}

static void search_slice(struct explore *e, struct hunt_opts *o)
{
    struct failure f = {0};
    struct hunt_result r;
    o->look = look;
    o->arg = e;
    if (!hunt(&f, o, &r))
        cli_fail(&f);
    e->runs += r.runs;
    e->steps += r.steps;
    e->cut += r.cut;
    e->took_ns += r.took_ns;
    e->exhausted += r.end == HUNT_EXHAUSTED;
    e->spent += r.end == HUNT_SPENT;
    if (r.end == HUNT_DIVERGED)
        cli_die(EXIT_INTERNAL, "the world did not repeat itself: a bug of the simulator");
    if (r.end != HUNT_FOUND)
        return;
    e->found = true;
    e->found_at = e->runs;
    e->finding = r.finding;
    e->found_by = *o;
}

static void confirm(struct explore *e)
{
    struct failure f = {0};
    struct verdict v;
    bool same = false;
    if (!finding_replay(&f, &e->finding, &v, &same))
        cli_die(EXIT_INTERNAL, "the finding does not repeat: %s", f.text);
    if (!same)
        cli_die(EXIT_INTERNAL, "the finding does not repeat: another end, %s", v.what);
    if (!e->a.no_shrink && !shrink(&f, &e->finding, SHRINK_RUNS, &e->shrunk))
        cli_fail(&f);
}

static void search_seed(struct explore *e, uint64_t seed)
{
    plan(e, seed);
    for (int i = 0; i < e->count && !e->found; i++) {
        if (e->a.for_ns > 0 && look(e, 0))
            return;
        search_slice(e, &e->slices[i].o);
    }
}

/* ---- words ---- */

static void repeat_line(const struct explore *e, const char *path)
{
    printf("repeat: " GMPSIM_NAME " replay %s\n", path);
    (void)e;
}

static const char *schedule_path(const struct explore *e)
{
    static char path[300];
    if (e->a.schedule != NULL)
        return e->a.schedule;
    snprintf(path, sizeof path, "%.200s.schedule", e->a.scenario->name);
    for (char *p = path; *p != 0; p++)
        if (*p == '/' || *p == ' ')
            *p = '-';
    return path;
}

static void print_result(const struct explore *e)
{
    if (e->found) {
        finding_print(stdout, &e->finding, e->a.no_shrink ? NULL : &e->shrunk);
        printf("found by %s in schedule %" PRIu64 " after %.2f s\n",
               hunt_strategy_name(e->found_by.strategy), e->found_at, (double)e->took_ns / 1e9);
        repeat_line(e, schedule_path(e));
        return;
    }
    printf("%s: nothing found in %" PRIu64 " schedules (%.2f s)\n", e->a.scenario->name, e->runs,
           (double)e->took_ns / 1e9);
    if (e->cut > 0)
        printf("%" PRIu64 " of them were cut by a limit and say nothing\n", e->cut);
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
    if (e->found) {
        cJSON_AddStringToObject(j, "strategy", hunt_strategy_name(e->found_by.strategy));
        cJSON_AddNumberToObject(j, "schedules_to_first", (double)e->found_at);
        cJSON_AddStringToObject(j, "schedule", schedule_path(e));
        cJSON_AddItemToObject(j, "finding",
                              finding_json(&e->finding, e->a.no_shrink ? NULL : &e->shrunk));
    }
    out_json(j);
}

static int status_of(const struct explore *e)
{
    if (e->a.expect != NULL) /* finding */
        return e->found ? EXIT_CLEAN : EXIT_FINDING;
    if (e->found)
        return EXIT_FINDING;
    return e->a.strict && e->exhausted == 0 ? EXIT_BUDGET : EXIT_CLEAN;
}

/* Gives the place of the file's name. */
static int parse(struct explore_args *a, const struct verb *v, int argc, char **argv)
{
    const struct opt table[] = {
        {"strategy", "LIST", "random, pct, dfs, time; several with commas", OPT_TEXT, &a->strategy},
        {"granularity", "HOW", "sync: goroutines take turns (default); op: every operation",
         OPT_TEXT, &a->granularity},
        {"depth", "D", "of pct: so many ordered pairs of operations (default 3)", OPT_COUNT,
         &a->depth},
        {"preemptions", "K", "of dfs: at most so many in a schedule (default 2)", OPT_INT,
         &a->preemptions},
        {"runs", "N", "schedules per strategy and world (default 2000)", OPT_COUNT, &a->runs},
        {"for", "TIME", "real time for all of it, such as 60s", OPT_LENGTH, &a->for_ns},
        {"max-steps", "N", "points of one schedule (default 100000)", OPT_COUNT, &a->steps_max},
        {"memory", "MODEL", "sc (default), tso, arm64 or ppc64", OPT_TEXT, &a->memory},
        {"procs", "LIST", "GOMAXPROCS, several with commas", OPT_TEXT, &a->procs},
        {"profile", "LIST", "Go releases, several with commas", OPT_TEXT, &a->profiles},
        {"rule", "NAME=VALUE", "one rule of the profile; repeatable", OPT_REPEATED, &a->rules},
        {"seeds", "SEEDS", "FIRST-LAST, a number, or any text, such as a commit's id", OPT_TEXT,
         &a->seeds},
        {"start", "HOW", "start-up: settled (default; all other threads rest), time or random",
         OPT_TEXT, &a->start},
        {"late", "TIME", "by how much who could run may be late in all (default 500ms)", OPT_TIME,
         &a->late_ns},
        {"until", "TIME", "a schedule ends at this virtual time", OPT_LENGTH, &a->until_ns},
        {"checks", NULL, "the runtime's invariants before every point", OPT_FLAG, &a->checks},
        {"no-shrink", NULL, "the first schedule as it was found", OPT_FLAG, &a->no_shrink},
        {"no-copy", NULL, "start-up is done again for each schedule", OPT_FLAG, &a->no_copy},
        {"schedule", "FILE", "where the finding's schedule goes (default NAME.schedule)", OPT_TEXT,
         &a->schedule},
        {"expect", "WHAT", "finding: exit status 0 if there is one, 1 if not", OPT_TEXT,
         &a->expect},
        {"strict", NULL, "exit status 4 if the budget ends before the search does", OPT_FLAG,
         &a->strict},
        {"json", NULL, "the result as JSON", OPT_FLAG, &a->json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    if (a->expect != NULL && strcmp(a->expect, "finding") != 0)
        cli_die(EXIT_USAGE, "--expect: want finding, got '%s'", a->expect);
    return first;
}

int verb_explore(const struct verb *v, int argc, char **argv)
{
    static struct explore e;
    struct explore_args *a = &e.a;
    *a = (struct explore_args){.depth = 3,
                               .preemptions = 2,
                               .runs = RUNS_DEFAULT,
                               .steps_max = 100000,
                               .late_ns = 500000000};
    struct failure f = {0};
    uint64_t seed, seeds;
    a->file = argv[parse(a, v, argc, argv)];
    a->scenario = scenario_load_file(&f, a->file);
    if (a->scenario == NULL)
        cli_fail(&f);
    seeds_of(a->seeds != NULL ? a->seeds : "1", &seed, &seeds);
    progress_begin(&e.progress, GMPSIM_NAME " explore");
    for (uint64_t i = 0; i < seeds && !e.found; i++)
        search_seed(&e, seed + i);
    if (e.found)
        confirm(&e);
    progress_end(&e.progress);
    if (e.found)
        finding_write(&e.finding, a->file, schedule_path(&e));
    if (a->json)
        print_json(&e);
    else
        print_result(&e);
    finding_release(&e.finding);
    scenario_free(a->scenario);
    return status_of(&e);
}
