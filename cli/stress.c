/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim stress. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/csv.h"
#include "cli/interrupt.h"
#include "cli/library.h"
#include "cli/machine.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "run/judge.h"
#include "run/oracle.h"
#include "run/window.h"
#include "sim/base/text.h"
#include "sim/real/rt.h"
#include "sim/stress/stress.h"

enum { RUN_DEFAULT_S = 60, STARVED_PERCENT = 20 };
static const int64_t SECOND = 1000000000;

struct stress {
    const char *profile, *cpus;
    int64_t for_ns, runs_max, procs, hang_ns, until_ns;
    struct opt_seed seed;
    struct opt_list rules;
    bool json, strict;
    struct library files;
    struct progress progress;
    /* what came of it */
    uint64_t runs, starved, born, points, sleeps, looks;
    int64_t began, cpu_ns;
    int status;
};

/* One run, and what is wrong with it. */
struct tried {
    const char *path;
    int release;
    int32_t procs;
    uint64_t seed;
    const char *verdict; /* "starved": it says nothing */
    char text[1200];     /* "": nothing is wrong */
    bool broken;         /* the simulator is */
};

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
}

/* ---- which run ---- */

static uint64_t draw(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

/* The file's own machine every other time: then what it expects is looked at. */
static int32_t procs_of(const struct stress *s, const struct scenario *scenario, uint64_t *random)
{
    static const int32_t others[] = {1, 2, 4, 8};
    if (s->procs > 0)
        return (int32_t)s->procs;
    return draw(random, 2) == 0 ? scenario->procs : others[draw(random, 4)];
}

static int release_of(const struct stress *s, const struct scenario *scenario, uint64_t *random)
{
    if (s->profile != NULL)
        return machine_release(s->profile);
    return scenario->profiles[draw(random, (uint64_t)scenario->nprofiles)];
}

static void opts_of(const struct stress *s, const struct scenario *scenario, struct tried *t,
                    struct run_opts *o)
{
    static struct host_threads threads;
    struct failure f = {0};
    uint64_t random = t->seed;
    t->release = release_of(s, scenario, &random);
    if (!run_opts_of(&f, scenario, t->release, o))
        cli_fail(&f);
    for (int i = 0; i < s->rules.count; i++)
        machine_rule(&o->profile, s->rules.items[i]);
    o->procs = t->procs = procs_of(s, scenario, &random);
    o->cpus = s->cpus != NULL ? machine_cpus(s->cpus) : 0;
    o->seed = t->seed;
    o->until_ns = s->until_ns > 0   ? s->until_ns
                  : o->until_ns > 0 ? o->until_ns
                                    : RUN_DEFAULT_S * SECOND;
    threads.hang_ns = s->hang_ns;
    o->host = &host_stress;
    o->threads = &threads;
}

/* ---- what is wrong with it ---- */

static void complain(void *arg, const char *text)
{
    struct tried *t = arg;
    size_t n = strlen(t->text);
    if (strncmp(text, "not judged", 10) != 0)
        snprintf(t->text + n, sizeof t->text - n, "%s%s", n > 0 ? "\n" : "", text);
}

/* Born, ended and found at the end: what is between two of these when the threads are stopped is no
 * more than one per thread. */
static void check_conserved(const struct run_opts *o, const struct run *r, const struct oracle * or,
                            struct tried *t)
{
    size_t found;
    char text[160];
    free(look_gs(o->program, /*system*/ true, &found));
    uint64_t lived = or->born - or->ended, threads = r->result.threads;
    if (found <= lived + threads && lived <= found + threads)
        return;
    snprintf(text, sizeof text,
             "%" PRIu64 " goroutines were born and %" PRIu64 " ended; %zu are left", or->born,
             or->ended, found);
    complain(t, text);
}

/* The run ended at its limit for want of a CPU, which is no finding. */
static bool is_starved(const struct run_result *q)
{
    return q->end == END_TIME && q->cpu_ps < q->now_ps / 100 * STARVED_PERCENT;
}

/* On one P the order in which goroutines run is the program's own as long as none of them loses its
 * slice; that other programs had the CPU meanwhile looks like a long slice. So another output says
 * nothing then, but another end does: no order is an excuse for an assertion that does not hold. */
static void judge_expected(const struct scenario *scenario, const struct run_result *q,
                           struct tried *t)
{
    if (t->procs == scenario->procs)
        scenario_check_any(scenario, t->release, q, complain, t);
    else
        scenario_check_end(scenario, q, complain, t);
    if (t->text[0] == 0 || t->procs > 1 || q->counters[COUNTER_preempted] == 0 ||
        q->end != END_STOPPED)
        return;
    t->verdict = "starved";
    t->text[0] = 0;
}

/* An invariant says of itself which one it is; a world that hangs is its own kind. */
static const char *verdict_of(const struct run_result *q)
{
    static const char *const own[][2] = {{"work conservation: ", "conservation"},
                                         {"stuck: ", "stuck"}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(q->text, own[i][0], strlen(own[i][0])) == 0)
            return own[i][1];
    return is_starved(q) ? "starved" : run_verdict(q);
}

static void judge(const struct scenario *scenario, const struct run_opts *o, const struct run *r,
                  const struct oracle * or, struct tried *t)
{
    const struct run_result *q = &r->result;
    t->verdict = verdict_of(q);
    t->broken = run_is_broken(q);
    if (or->wrong[0] != 0)
        complain(t, or->wrong);
    check_conserved(o, r, or, t);
    if (t->broken || q->end == END_IDLE)
        complain(t, q->end == END_IDLE
                        ? "nobody will ever run again, and the runtime did not notice"
                        : q->text);
    else if (strcmp(t->verdict, "starved") != 0)
        judge_expected(scenario, q, t);
}

/* ---- runs ---- */

static void count(struct stress *s, const struct run *r, const struct oracle * or)
{
    struct stress_stats st;
    stress_stats(&st);
    s->runs++;
    s->born += or->born;
    s->points += st.points;
    s->sleeps += st.sleeps;
    s->looks += st.freezes;
    s->cpu_ns += (int64_t)(r->result.cpu_ps / 1000);
}

static void to_oracle(void *arg, const struct event_rec *recs, size_t records)
{
    oracle_feed(arg, recs, records);
}

/* The system has no threads, no descriptors: no verdict on the core. */
static bool is_refused(const struct run_result *q)
{
    return q->end == END_LIMIT || (q->end == END_FINDING && q->kind == FIND_FATAL &&
                                   strstr(q->text, "failed to create new OS thread") != NULL);
}

static void try_one(struct stress *s, struct tried *t)
{
    static struct run r;
    struct oracle oracle;
    struct failure f = {0};
    struct run_opts o;
    struct scenario *scenario = scenario_load_file(&f, t->path);
    if (scenario == NULL)
        cli_fail(&f);
    opts_of(s, scenario, t, &o);
    oracle_init(&oracle);
    o.sink = to_oracle;
    o.arg = &oracle;
    if (!run_all(&f, &r, &o))
        cli_fail(&f);
    if (is_refused(&r.result))
        cli_die(EXIT_USAGE, "%s: %s", text_line(t->path), r.result.text);
    t->verdict = "interrupted";
    if (!interrupted()) {
        judge(scenario, &o, &r, &oracle, t);
        count(s, &r, &oracle);
    }
    run_free(&r);
    oracle_release(&oracle);
    scenario_free(scenario);
}

static const char *repeat_line(const struct stress *s, const struct tried *t, char *buf,
                               size_t size)
{
    char path[2048];
    snprintf(buf, size,
             GMPSIM_NAME " stress %s --profile %s --procs %d --seed %" PRIu64 " --runs 1",
             text_in(path, sizeof path, TEXT_SHELL, t->path), profile_name(t->release), t->procs,
             t->seed);
    (void)s;
    return buf;
}

static void tell(struct stress *s, const struct tried *t, cJSON *findings)
{
    char line[4096];
    repeat_line(s, t, line, sizeof line);
    if (findings == NULL) {
        printf("%s: %s\n", text_line(t->path), t->verdict);
        text_put(stdout, TEXT_LINES, t->text);
        printf("\nlike this one: %s\n", line);
        return;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", t->path);
    cJSON_AddStringToObject(o, "profile", profile_name(t->release));
    cJSON_AddNumberToObject(o, "procs", t->procs);
    out_u64(o, "seed", t->seed);
    cJSON_AddStringToObject(o, "verdict", t->verdict);
    cJSON_AddStringToObject(o, "text", t->text);
    cJSON_AddStringToObject(o, "like", repeat_line(s, t, line, sizeof line));
    cJSON_AddItemToArray(findings, o);
}

static bool is_over(const struct stress *s)
{
    if (s->runs_max > 0 && s->runs >= (uint64_t)s->runs_max)
        return true;
    return interrupted() || (s->runs_max == 0 && now_ns() - s->began >= s->for_ns);
}

/* Until the time is over, or something was found: what was found once is found again. */
static void search(struct stress *s, cJSON *findings)
{
    uint64_t seed = s->seed.given ? s->seed.value : 1;
    while (!is_over(s) && s->status == EXIT_CLEAN) {
        struct tried t = {.path = s->files.paths[s->runs % s->files.count], .seed = seed + s->runs};
        try_one(s, &t);
        s->starved += strcmp(t.verdict, "starved") == 0;
        if (progress_due(&s->progress))
            progress_draw(&s->progress, (now_ns() - s->began) / 1000, s->for_ns / 1000,
                          "%" PRIu64 " runs", s->runs);
        if (t.text[0] == 0)
            continue;
        progress_end(&s->progress);
        s->status = t.broken ? EXIT_INTERNAL : EXIT_FINDING;
        tell(s, &t, findings);
    }
    progress_end(&s->progress);
    if (s->status == EXIT_CLEAN && s->strict && s->starved > 0)
        s->status = EXIT_BUDGET;
}

static void summary(const struct stress *s)
{
    printf("%s: %" PRIu64 " runs of %zu files in %s of CPU time, %" PRIu64 " goroutines, %" PRIu64
           " points, %" PRIu64 " sleeps, %" PRIu64 " looks",
           s->status == EXIT_CLEAN || s->status == EXIT_BUDGET ? "nothing found" : "found", s->runs,
           s->files.count, time_text(s->cpu_ns), s->born, s->points, s->sleeps, s->looks);
    if (s->starved > 0)
        printf("; %" PRIu64 " runs had too little of the machine to say anything", s->starved);
    putchar('\n');
}

static void summary_json(const struct stress *s, cJSON *findings)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"files", s->files.count}, {"runs", s->runs},
                   {"starved", s->starved},   {"goroutines", s->born},
                   {"points", s->points},     {"sleeps", s->sleeps},
                   {"looks", s->looks},       {"cpu_ns", (uint64_t)s->cpu_ns}};
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "found", cJSON_GetArraySize(findings) > 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(o, numbers[i].name, (double)numbers[i].value);
    cJSON_AddItemToObject(o, "findings", findings);
    out_json(o);
}

int command_stress(const struct command *v, int argc, char **argv)
{
    struct stress s = {.for_ns = 10 * SECOND};
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"for", "TIME", "how long (default 10s)", OPT_LENGTH, &s.for_ns},
        {"runs", "N", "... or how many runs", OPT_COUNT, &s.runs_max},
        {"seed", "SEED", "of the first run; each has the next", OPT_SEED, &s.seed},
        {"procs", "N", "GOMAXPROCS (default: the file's, and every other time another)", OPT_COUNT,
         &s.procs},
        {"profile", "RELEASE", "Go release (default: any of the file's)", OPT_TEXT, &s.profile},
        {"rule", "NAME=VALUE", "one rule of the profile; repeatable", OPT_REPEATED, &s.rules},
        {"cpus", "N", "of this machine (default: all that there are)", OPT_TEXT, &s.cpus},
        {"hang", "TIME", "CPU time without any progress that is a finding (default 2s)", OPT_LENGTH,
         &s.hang_ns},
        {"until", "TIME", "of one run (default: the file's, or 1m)", OPT_LENGTH, &s.until_ns},
        {"strict", NULL, "runs that had too little of the machine: exit status 4", OPT_FLAG,
         &s.strict},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &s.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    s.json = csv_or_json(&csv, s.json, "findings");
    if (s.procs > PROCS_MAX)
        cli_die(EXIT_USAGE, "--procs: want 1 to %d, got %" PRId64, PROCS_MAX, s.procs);
    library_collect(&s.files, argv + first, argc - first);
    cJSON *findings = s.json ? cJSON_CreateArray() : NULL;
    s.began = now_ns();
    progress_begin(&s.progress, GMPSIM_NAME " stress");
    interrupt_catch(rt_interrupt);
    search(&s, findings);
    if (s.json)
        summary_json(&s, findings);
    else
        summary(&s);
    library_release(&s.files);
    return s.status;
}
