/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim validate: what is to be run and in which order, and whether the machine was ours. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/axes.h"
#include "cli/csv.h"
#include "cli/interrupt.h"
#include "cli/jobs.h"
#include "cli/library.h"
#include "cli/machine.h"
#include "cli/out.h"
#include "cli/validate.h"
#include "sim/base/alloc.h"
#include "sim/real/rt.h"
#include "store/costs_json.h"

enum {
    RUNS_DEFAULT = 9,
    RUNS_MIN = 3,
    GOS_MAX = 16,
    SHARE_MIN = 980, /* permille, or the machine was not ours */
    PROBE_NS = 4000000,
    PATH_LEN = 4096
};
static const int64_t SECOND = 1000000000;

struct validate {
    struct validation v;
    struct opt_list gos;
    struct go_tool tools[GOS_MAX];
    struct axis procs;
    struct library files;
    const char *profile, *costs, *costs_go, *programs, *max_error, *plot;
    struct cost_table table, table_go;
    bool json, anyway;
    struct opt_seed seed;
    char own_folder[64]; /* removed at the end; "" */
    /* the order of runs */
    int64_t task, tasks;
    /* whose the machine was */
    int64_t probe_cpu, probe_wall; /* ns */
    int64_t began, own_before, others_before;
};

/* ---- whose the machine is ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void *spin(void *arg)
{
    int64_t *got = arg, cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - wall < PROBE_NS)
        ;
    got[1] = clock_ns(CLOCK_MONOTONIC) - wall;
    got[0] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    return NULL;
}

/* As many threads as CPUs compute for a moment: how much of it do they get? */
static void probe(struct validate *a)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    int64_t got[MOST][2] = {{0, 0}};
    int n = rt_cpus() < MOST ? rt_cpus() : MOST;
    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, spin, got[i]) != 0)
            n = i;
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        a->probe_cpu += got[i][0];
        a->probe_wall += got[i][1];
    }
}

/* CPU time that anybody had of the CPUs of this process, ns; -1: the system does not say. */
static int64_t cpu_of_all(void)
{
    cpu_set_t set;
    char line[400];
    int64_t sum = 0;
    FILE *f = fopen("/proc/stat", "re");
    if (f == NULL || sched_getaffinity(0, sizeof set, &set) != 0) {
        if (f != NULL)
            fclose(f);
        return -1;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned cpu;
        long long user, nice, system, idle, iowait, irq, softirq, steal;
        if (sscanf(line, "cpu%u %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice,
                   &system, &idle, &iowait, &irq, &softirq, &steal) == 9 &&
            cpu < CPU_SETSIZE && CPU_ISSET(cpu, &set))
            sum += user + nice + system + irq + softirq + steal;
    }
    fclose(f);
    return sum * SECOND / sysconf(_SC_CLK_TCK);
}

static int64_t cpu_of(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * SECOND +
           (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static int64_t own_cpu(void) { return cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN); }

static void begin_watch(struct validate *a)
{
    a->began = clock_ns(CLOCK_MONOTONIC);
    a->own_before = own_cpu();
    a->others_before = cpu_of_all();
}

/* How quiet the machine was, the worse of two answers: what part of the CPUs the threads of the
 * probe got, and what part of them no other process took. */
static void end_watch(struct validate *a)
{
    int64_t all = cpu_of_all(), could = (clock_ns(CLOCK_MONOTONIC) - a->began) * rt_cpus();
    int share = 1000;
    if (a->probe_wall > 0)
        share = (int)(a->probe_cpu * 1000 / a->probe_wall);
    if (all >= 0 && a->others_before >= 0 && could > 0) {
        int64_t others = all - a->others_before - (own_cpu() - a->own_before);
        int left = (int)(1000 - (others > 0 ? others : 0) * 1000 / could);
        share = left < share ? left : share;
    }
    a->v.cpu_permille = share;
    a->v.quiet = share >= SHARE_MIN;
}

/* ---- the order: every source of every comparison once, then all again ---- */

static struct comparison *comparison_of(struct validate *a, int64_t task, enum part *part, int *run)
{
    *part = (enum part)(task % P_COUNT);
    *run = (int)(task / P_COUNT / (int64_t)a->v.count);
    return &a->v.of[task / P_COUNT % (int64_t)a->v.count];
}

static int64_t next_task(void *arg)
{
    struct validate *a = arg;
    while (a->task < a->tasks) {
        enum part part;
        int run;
        int64_t task = a->task;
        struct comparison *c = comparison_of(a, task, &part, &run);
        if (interrupted() && task % ((int64_t)a->v.count * P_COUNT) == 0) {
            a->v.nruns = run;
            return JOBS_NONE;
        }
        a->task++;
        if (part == 0)
            probe(a);
        if (c->skipped[0] == 0 && c->runs[part] != NULL)
            return task;
    }
    return JOBS_NONE;
}

static bool do_task(void *arg, int64_t task, void *result)
{
    struct validate *a = arg;
    enum part part;
    int run;
    struct comparison *c = comparison_of(a, task, &part, &run);
    return take_part(&a->v, c, part, run, result);
}

static void put_task(void *arg, int64_t task, const void *result)
{
    struct validate *a = arg;
    const struct taken *got = result;
    enum part part;
    int run;
    struct comparison *c = comparison_of(a, task, &part, &run);
    if (got->why[0] != 0)
        snprintf(c->skipped, sizeof c->skipped, "%s", got->why);
    else
        c->runs[part][run] = *got;
}

static void how_far(void *arg, int64_t *done, int64_t *total)
{
    struct validate *a = arg;
    *done = a->task;
    *total = a->tasks;
}

static void measure(struct validate *a)
{
    struct jobs jobs = {.at_once = 1,
                        .size = sizeof(struct taken),
                        .what = GMPSIM_NAME " validate",
                        .arg = a,
                        .next = next_task,
                        .task = do_task,
                        .done = put_task,
                        .far = how_far};
    a->tasks = (int64_t)a->v.count * P_COUNT * a->v.nruns;
    begin_watch(a);
    interrupt_catch(NULL); /* the round under way is the last one */
    int status = jobs_run(&jobs);
    end_watch(a);
    if (status != EXIT_CLEAN)
        cli_die(status, "validate: a run was lost");
    if (a->v.nruns < RUNS_MIN)
        cli_die(EXIT_BUDGET, "validate: interrupted in round %d; want %d at least", a->v.nruns + 1,
                RUNS_MIN);
}

/* ---- what is compared ---- */

/* Real Go has settings for few of the rules that a scenario may change. */
static const char *why_no_go(const struct scenario *s)
{
    if (s->nrules > 0)
        return "it changes rules of the scheduler: no real Go does";
    return "";
}

static const char *why_not(const struct scenario *s)
{
    if (s->quota_us > 0 || s->nquotas > 0)
        return "it has a CPU quota";
    if (s->bug_always)
        return "it does not finish";
    return "";
}

static bool is_run(const struct validate *a, const struct comparison *c, enum part part)
{
    if (part == P_VIRTUAL_GO || part == P_VIRTUAL_GO_SEEN)
        return c->go != NULL && a->costs_go != NULL;
    return (part != P_GO && part != P_GO_SEEN) || c->go != NULL;
}

static void add_comparison(struct validate *a, const char *path, int32_t procs,
                           const struct go_tool *go)
{
    struct failure f = {0};
    struct comparison c = {.path = path, .procs = procs, .cpus = rt_cpus()};
    struct scenario *s = c.scenario = scenario_load_file(&f, path);
    if (s == NULL)
        cli_fail(&f);
    if (s->cpus > 0 && s->cpus < c.cpus)
        c.cpus = s->cpus;
    if (go != NULL && *why_no_go(s) == 0)
        c.go = go;
    snprintf(c.note, sizeof c.note, "%s", go != NULL ? why_no_go(s) : "");
    snprintf(c.skipped, sizeof c.skipped, "%s", why_not(s));
    c.release = go != NULL ? go->release : s->profiles[0];
    if (a->profile != NULL)
        c.release = machine_release(a->profile);
    if (c.procs == 0)
        c.procs = s->procs > 0 ? s->procs : c.cpus;
    for (int p = 0; p < P_COUNT; p++)
        if (is_run(a, &c, (enum part)p))
            c.runs[p] = x_alloc((size_t)a->v.nruns * sizeof **c.runs);
    a->v.of = x_grow(a->v.of, (a->v.count + 1) * sizeof *a->v.of);
    a->v.of[a->v.count++] = c;
}

static void plan(struct validate *a)
{
    for (size_t f = 0; f < a->files.count; f++)
        for (int p = 0; p < a->procs.count || p == 0; p++)
            for (int g = 0; g < a->gos.count || g == 0; g++)
                add_comparison(a, a->files.paths[f],
                               a->procs.count > 0 ? atoi(a->procs.values[p]) : 0,
                               a->gos.count > 0 ? &a->tools[g] : NULL);
}

static void make_folder(struct validate *a)
{
    const char *tmp = getenv("TMPDIR");
    if (a->programs != NULL) {
        (void)mkdir(a->programs, 0777);
        return;
    }
    snprintf(a->own_folder, sizeof a->own_folder, "%.40s/gmpsim-XXXXXX",
             tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
    if (mkdtemp(a->own_folder) == NULL)
        cli_die(EXIT_USAGE, "%s: cannot make a folder", a->own_folder);
    a->programs = a->own_folder;
}

static void build(struct validate *a)
{
    char *folder;
    if (a->gos.count == 0)
        return;
    make_folder(a);
    if ((folder = realpath(a->programs, NULL)) == NULL)
        cli_die(EXIT_USAGE, "%s: no such folder", a->programs);
    for (size_t i = 0; i < a->v.count; i++)
        if (a->v.of[i].go != NULL && a->v.of[i].skipped[0] == 0)
            go_build(&a->v.of[i], folder);
    free(folder);
}

static void clean(struct validate *a)
{
    for (size_t i = 0; i < a->v.count; i++) {
        for (int p = 0; p < P_COUNT; p++)
            free(a->v.of[i].runs[p]);
        scenario_free(a->v.of[i].scenario);
    }
    free(a->v.of);
    library_release(&a->files);
    if (a->own_folder[0] != 0)
        go_remove(a->own_folder);
}

/* ---- options ---- */

static void load_costs(const char *path, struct cost_table *table, const struct cost_table **to)
{
    struct failure f = {0};
    if (path == NULL)
        return;
    if (!costs_load(&f, path, table))
        cli_fail(&f);
    *to = table;
}

static void read_options(struct validate *a, int64_t runs)
{
    char *end;
    a->v.nruns = (int)runs;
    a->v.seed = a->seed.given ? a->seed.value : 1;
    a->v.max_error = -1;
    if (runs < RUNS_MIN || runs > RUNS_MAX)
        cli_die(EXIT_USAGE, "--runs: want %d to %d, got %" PRId64, RUNS_MIN, RUNS_MAX, runs);
    if (a->max_error != NULL) {
        a->v.max_error = strtod(a->max_error, &end);
        if (end == a->max_error || strcmp(end, *end == '%' ? "%" : "") != 0 ||
            !(a->v.max_error >= 0))
            cli_die(EXIT_USAGE, "--max-error: want percent, got '%s'", a->max_error);
    }
    if (a->procs.given != NULL)
        axis_procs(&a->procs);
    for (int i = 0; i < a->procs.count; i++)
        if (atoi(a->procs.values[i]) <= 0)
            cli_die(EXIT_USAGE, "--procs: want numbers, got '%s'", a->procs.values[i]);
    if (a->gos.count > GOS_MAX)
        cli_die(EXIT_USAGE, "--go: at most %d", GOS_MAX);
    load_costs(a->costs, &a->table, &a->v.costs);
    load_costs(a->costs_go, &a->table_go, &a->v.costs_go);
}

static int status_of(const struct validate *a)
{
    if (!a->v.quiet)
        return EXIT_BUDGET;
    return validate_holds(&a->v) ? EXIT_CLEAN : EXIT_FINDING;
}

static void tell(struct validate *a)
{
    if (!a->v.quiet && !a->anyway)
        a->v.count = 0;
    if (a->json)
        validate_json(&a->v);
    else
        validate_text(&a->v);
    if (a->plot != NULL && a->v.count > 0)
        validate_plot(&a->v, a->plot);
}

int command_validate(const struct command *v, int argc, char **argv)
{
    static struct validate a;
    int64_t runs = RUNS_DEFAULT;
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"go", "PATH", "a go command, go1.19 or newer, to compare with; repeatable", OPT_REPEATED,
         &a.gos},
        {"runs", "N", "of each source, 3 to 1000 (default 9)", OPT_COUNT, &runs},
        {"procs", "LIST", "GOMAXPROCS: 1,2 or 1-4 (default: the file's)", OPT_TEXT, &a.procs.given},
        {"profile", "RELEASE", "Go release (default: that of --go, else the file's)", OPT_TEXT,
         &a.profile},
        {"max-error", "P", "exit status 1 if a makespan is off by more percent", OPT_TEXT,
         &a.max_error},
        {"costs", "FILE", "cost table of virtual time", OPT_TEXT, &a.costs},
        {"costs-go", "FILE", "... for comparing with real Go (default: that of --costs)", OPT_TEXT,
         &a.costs_go},
        {"seed", "SEED", "of the first run of each; others have the next", OPT_SEED, &a.seed},
        {"until", "TIME", "no run is longer (default: the file's, or 1m)", OPT_LENGTH,
         &a.v.until_ns},
        {"programs", "FOLDER", "keep the Go programs there, and take those that are there",
         OPT_TEXT, &a.programs},
        {"plot", "FILE", "draw the waits in run queues, .svg or .png", OPT_TEXT, &a.plot},
        {"anyway", NULL, "show the numbers also of a machine that was not quiet", OPT_FLAG,
         &a.anyway},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    a.json = csv_or_json(&csv, a.json, "rows");
    if (first == argc)
        cli_die(EXIT_USAGE, "validate: want a scenario, or a folder of them");
    read_options(&a, runs);
    library_collect(&a.files, argv + first, argc - first);
    for (int i = 0; i < a.gos.count; i++)
        go_ask(&a.tools[i], a.gos.items[i]);
    size_t planned;
    plan(&a);
    planned = a.v.count;
    build(&a);
    measure(&a);
    tell(&a);
    int status = status_of(&a);
    a.v.count = planned;
    clean(&a);
    return status;
}
