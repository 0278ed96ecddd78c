/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim whatif: a grid of settings, each over several seeds, in child processes. Results come back
 * in the order of the grid, whoever was ready first. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/jobs.h"
#include "cli/out.h"
#include "cli/report.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"
#include "store/store.h"
#include "store/whatif.h"

enum { AXIS_MAX = 64, CELLS_MAX = 100000, PPM = 1000000 };

struct axis {
    const char *given;
    char *copy;
    const char *values[AXIS_MAX];
    int count;
};

struct grid {
    struct machine m;
    struct run_opts o; /* of the file and the options that are not axes */
    struct axis procs, profile, cpus, quota;
    int64_t runs, jobs;
    size_t cells;   /* without seeds */
    size_t nseries; /* spans of the program, and the wait in run queues */
    const char *db;
    bool json;
};

/* ---- axes ---- */

static void split(struct axis *a, const char *name)
{
    if (a->given == NULL) {
        a->values[a->count++] = NULL; /* the scenario's own */
        return;
    }
    a->copy = x_strdup(a->given);
    for (char *save, *word = strtok_r(a->copy, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (a->count == AXIS_MAX)
            cli_die(EXIT_USAGE, "--%s: more than %d values", name, AXIS_MAX);
        a->values[a->count++] = word;
    }
    if (a->count == 0)
        cli_die(EXIT_USAGE, "--%s: want a list such as 1,2,4", name);
}

/* Settings of a cell: quota changes fastest, then procs, cpus, profile. */
static void cell_opts(const struct grid *g, size_t cell, struct run_opts *o)
{
    const char *quota = g->quota.values[cell % (size_t)g->quota.count];
    cell /= (size_t)g->quota.count;
    const char *procs = g->procs.values[cell % (size_t)g->procs.count];
    cell /= (size_t)g->procs.count;
    const char *cpus = g->cpus.values[cell % (size_t)g->cpus.count];
    const char *profile = g->profile.values[cell / (size_t)g->cpus.count];
    *o = g->o;
    if (profile != NULL) {
        struct failure f = {0};
        if (!scenario_profile(&f, g->m.scenario, machine_release(profile), &o->profile))
            cli_fail(&f);
        for (int i = 0; i < g->m.rules.count; i++)
            machine_rule(&o->profile, g->m.rules.items[i]);
    }
    int64_t n;
    if (procs != NULL && (!parse_int(procs, &n) || n < 1 || n > PROCS_MAX))
        cli_die(EXIT_USAGE, "--procs: want numbers from 1 on, got '%s'", procs);
    if (procs != NULL)
        o->procs = (int32_t)n;
    if (cpus != NULL)
        o->cpus = machine_cpus(cpus);
    int64_t quota_us;
    if (quota != NULL) {
        machine_quota(quota, o->period_us, &quota_us);
        run_set_quota(o, quota_us);
    }
}

/* ---- one run, in the child ---- */

static void take_series(struct whatif_series *s, const char *name, struct hist *h)
{
    text_in(s->name, sizeof s->name, TEXT_LINE, name);
    s->count = h->count;
    if (h->count == 0)
        return;
    s->ns[0] = hist_percentile(h, PPM / 2);
    s->ns[1] = hist_percentile(h, PPM / 10 * 9);
    s->ns[2] = hist_percentile(h, PPM / 100 * 99);
    s->ns[3] = hist_percentile(h, PPM / 1000 * 999);
    s->ns[4] = h->max;
}

/* What a file expects is about its own settings; cells with others only have to end well. */
static bool is_the_files(const struct grid *g, const struct run_opts *o)
{
    const struct scenario *s = g->m.scenario;
    bool release = s->nprofiles == 0;
    for (int i = 0; i < s->nprofiles; i++)
        release |= s->profiles[i] == o->profile.release;
    return release && o->procs == s->procs && o->cpus == s->cpus && g->m.rules.count == 0 &&
           g->m.costs == NULL && g->m.until_ns == 0 && g->m.period_ns == 0 &&
           o->nquotas == s->nquotas && (o->nquotas > 0 || o->quota_us == s->quota_us);
}

static bool run_cell(void *arg, size_t index, void *out)
{
    struct grid *g = arg;
    static struct run r;
    struct run_opts o;
    struct failure f = {0};
    struct complaints c;
    struct whatif_run *w = out;
    cell_opts(g, index / (size_t)g->runs, &o);
    o.seed = g->o.seed + index % (uint64_t)g->runs;
    if (!run_all(&f, &r, &o)) {
        fprintf(stderr, GMPSIM_NAME ": %s\n", f.text);
        return false;
    }
    const struct run_result *q = &r.result;
    if (is_the_files(g, &o))
        complaints_of(g->m.scenario, &o, q, &c);
    else
        complaints_of_end(g->m.scenario, q, &c);
    *w = (struct whatif_run){.seed = o.seed,
                             .release = o.profile.release,
                             .procs = q->procs,
                             .cpus = o.cpus,
                             .quota_us = o.quota_us,
                             .makespan_ns = (int64_t)(q->now_ps / 1000),
                             .fingerprint = q->fingerprint,
                             .complaints = c.count,
                             .status = report_status(q, &c),
                             .throttled_ns = (int64_t)(q->throttled_ps / 1000)};
    snprintf(w->verdict, sizeof w->verdict, "%s", run_verdict(q));
    c.text[strcspn(c.text, "\n")] = 0;
    text_in(w->complaint, sizeof w->complaint, TEXT_LINE, c.text);
    for (int k = 0; k < PC_COUNT; k++)
        w->p_ns[k] = (int64_t)(q->p_ps[k] / 1000);
    take_series(&w->series[0], "run-queue wait", q->runq_wait);
    for (size_t i = 0; i < q->nspans; i++)
        take_series(&w->series[i + 1], q->spans[i].name, q->spans[i].latency);
    run_free(&r);
    return true;
}

/* ---- statistics over seeds ---- */

struct stat {
    double mean, half; /* of the 95 % confidence interval of the mean */
};

/* Student's t for 97.5 %, by degrees of freedom. */
static double student(int64_t freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                               2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
                               2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    if (freedom < (int64_t)(sizeof t / sizeof *t))
        return t[freedom];
    return 1.960 + 2.4 / (double)freedom; /* within 0.2 % from there on */
}

static struct stat stat_of(const struct grid *g, const unsigned char *runs, size_t size,
                           int64_t (*value)(const struct whatif_run *, size_t), size_t what)
{
    double sum = 0, squares = 0, n = (double)g->runs;
    for (int64_t i = 0; i < g->runs; i++)
        sum += (double)value((const void *)(runs + (size_t)i * size), what);
    struct stat s = {.mean = sum / n};
    for (int64_t i = 0; i < g->runs; i++) {
        double d = (double)value((const void *)(runs + (size_t)i * size), what) - s.mean;
        squares += d * d;
    }
    if (g->runs > 1)
        s.half = student(g->runs - 1) * sqrt(squares / (n - 1) / n);
    return s;
}

static int64_t makespan(const struct whatif_run *w, size_t what)
{
    (void)what;
    return w->makespan_ns;
}

static int64_t percentile(const struct whatif_run *w, size_t what)
{
    return w->series[what / WHATIF_POINTS].ns[what % WHATIF_POINTS];
}

static int64_t count(const struct whatif_run *w, size_t what)
{
    return (int64_t)w->series[what].count;
}

/* Thousandths per second of virtual time. */
static int64_t rate(const struct whatif_run *w, size_t what)
{
    return w->makespan_ns > 0
               ? (int64_t)(1e12 * (double)w->series[what].count / (double)w->makespan_ns)
               : 0;
}

/* Share of the Ps' time in user code, in millionths. */
static int64_t user_ppm(const struct whatif_run *w, size_t what)
{
    int64_t sum = 0;
    (void)what;
    for (int c = 0; c < PC_COUNT; c++)
        sum += w->p_ns[c];
    return sum > 0 ? (int64_t)(1e6 * (double)w->p_ns[PC_USER] / (double)sum) : 0;
}

/* ---- printing ---- */

static const char *const points[WHATIF_POINTS] = {"p50", "p90", "p99", "p99.9", "max"};

static const char *cell_text(struct stat s)
{
    static char ring[8][40];
    static unsigned next;
    char *out = ring[next++ % 8];
    if (s.half > 0 && s.mean > 0)
        snprintf(out, sizeof ring[0], "%s ±%.1f%%", time_text((int64_t)s.mean),
                 100 * s.half / s.mean);
    else
        snprintf(out, sizeof ring[0], "%s", time_text((int64_t)s.mean));
    return out;
}

/* printf counts bytes; ± has two. */
static void column(const char *text)
{
    int width = text_columns(text);
    printf("  %*s%s", width < 16 ? 16 - width : 0, "", text);
}

static void print_cell(const struct grid *g, const struct run_opts *o, const unsigned char *runs,
                       size_t size)
{
    const struct whatif_run *first = (const void *)runs;
    char cpus[16] = "-", quota[16] = "-";
    int bad = 0;
    if (first->cpus > 0)
        snprintf(cpus, sizeof cpus, "%d", first->cpus);
    if (first->quota_us > 0)
        snprintf(quota, sizeof quota, "%.2f", (double)first->quota_us / (double)g->o.period_us);
    const struct whatif_run *worst = first;
    for (int64_t i = 0; i < g->runs; i++) {
        const struct whatif_run *w = (const void *)(runs + (size_t)i * size);
        if (w->status != 0 && bad++ == 0)
            worst = w;
    }
    printf("%-7s %5d %5s %6s  makespan %s, user %.1f%%, %s", profile_name(first->release),
           first->procs, cpus, quota, cell_text(stat_of(g, runs, size, makespan, 0)),
           stat_of(g, runs, size, user_ppm, 0).mean / 1e4,
           bad > 0              ? ""
           : is_the_files(g, o) ? "as expected"
                                : first->verdict);
    if (bad > 0)
        printf("%d of %" PRId64 " runs not as %s (%s; seed %" PRIu64 ": %s)", bad, g->runs,
               is_the_files(g, o) ? "the file expects" : "they should end", worst->verdict,
               worst->seed, text_line(worst->complaint));
    putchar('\n');
    for (size_t i = g->nseries; i-- > 0;) {
        if (first->series[i].count == 0)
            continue;
        fputs("    ", stdout);
        text_cell(stdout, first->series[i].name, 20);
        printf(" %9.0f %10.1f", stat_of(g, runs, size, count, i).mean,
               stat_of(g, runs, size, rate, i).mean / 1e3);
        for (size_t k = 0; k < WHATIF_POINTS; k++)
            column(cell_text(stat_of(g, runs, size, percentile, i * WHATIF_POINTS + k)));
        putchar('\n');
    }
}

static void print_table(const struct grid *g, const unsigned char *results, size_t size)
{
    printf("%s: %" PRId64 " seeds from %" PRIu64 "; mean, and the half-width of its 95 %%"
           " confidence interval\n\n%-7s %5s %5s %6s\n    %-20s %9s %10s",
           text_line(g->m.scenario->name), g->runs, g->o.seed, "profile", "procs", "cpus", "quota",
           "span", "count", "per second");
    for (int k = 0; k < WHATIF_POINTS; k++)
        column(points[k]);
    puts("\n");
    for (size_t c = 0; c < g->cells; c++) {
        struct run_opts o;
        cell_opts(g, c, &o);
        print_cell(g, &o, results + c * (size_t)g->runs * size, size);
    }
}

static cJSON *stat_json(struct stat s)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "mean", s.mean);
    cJSON_AddNumberToObject(o, "half", s.half);
    return o;
}

static cJSON *cell_json(const struct grid *g, const unsigned char *runs, size_t size)
{
    const struct whatif_run *first = (const void *)runs;
    cJSON *o = cJSON_CreateObject(), *series = cJSON_AddObjectToObject(o, "series");
    cJSON_AddStringToObject(o, "profile", profile_name(first->release));
    cJSON_AddNumberToObject(o, "procs", first->procs);
    cJSON_AddNumberToObject(o, "cpus", first->cpus);
    cJSON_AddNumberToObject(o, "quota_us", (double)first->quota_us);
    cJSON_AddStringToObject(o, "verdict", first->verdict);
    cJSON_AddItemToObject(o, "makespan_ns", stat_json(stat_of(g, runs, size, makespan, 0)));
    for (size_t i = 0; i < g->nseries; i++) {
        cJSON *s = cJSON_AddObjectToObject(series, first->series[i].name);
        cJSON_AddNumberToObject(s, "count", stat_of(g, runs, size, count, i).mean);
        cJSON_AddNumberToObject(s, "per_second", stat_of(g, runs, size, rate, i).mean / 1e3);
        for (size_t k = 0; k < WHATIF_POINTS; k++)
            cJSON_AddItemToObject(
                s, points[k], stat_json(stat_of(g, runs, size, percentile, i * WHATIF_POINTS + k)));
    }
    return o;
}

static void print_json(const struct grid *g, const unsigned char *results, size_t size)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t c = 0; c < g->cells; c++)
        cJSON_AddItemToArray(list, cell_json(g, results + c * (size_t)g->runs * size, size));
    out_json(list);
}

/* ---- the verb ---- */

static void store(const struct grid *g, const unsigned char *results, size_t size)
{
    struct failure f = {0};
    struct store *s = store_open(&f, g->db, STORE_WRITE);
    if (s == NULL || !whatif_store(s, &f, g->m.scenario->name, g->m.file, results, size,
                                   g->cells * (size_t)g->runs, g->nseries))
        cli_fail(&f);
    store_close(s);
}

static int worst(const struct grid *g, const unsigned char *results, size_t size)
{
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < g->cells * (size_t)g->runs; i++) {
        const struct whatif_run *w = (const void *)(results + i * size);
        if (w->status > status)
            status = w->status;
    }
    return status;
}

static bool same_settings(const struct run_opts *a, const struct run_opts *b)
{
    return a->procs == b->procs && a->cpus == b->cpus && a->quota_us == b->quota_us &&
           a->profile.release == b->profile.release;
}

/* One setting twice would be one cell twice: "2,2", but also "latest" and the name of the latest.
 * Neighbours on the axis are `stride` cells apart. */
static void refuse_twice(const struct grid *g, const char *name, const struct axis *a,
                         size_t stride)
{
    struct run_opts one, other;
    for (int i = 1; i < a->count; i++)
        for (int j = 0; j < i; j++) {
            cell_opts(g, (size_t)i * stride, &one);
            cell_opts(g, (size_t)j * stride, &other);
            if (same_settings(&one, &other))
                cli_die(EXIT_USAGE, "--%s: '%s' and '%s' are the same setting", name, a->values[j],
                        a->values[i]);
        }
}

static void check_axes(const struct grid *g)
{
    size_t stride = 1;
    refuse_twice(g, "quota", &g->quota, stride);
    refuse_twice(g, "procs", &g->procs, stride *= (size_t)g->quota.count);
    refuse_twice(g, "cpus", &g->cpus, stride *= (size_t)g->procs.count);
    refuse_twice(g, "profile", &g->profile, stride * (size_t)g->cpus.count);
}

static void check_grid(struct grid *g)
{
    struct run_opts o;
    split(&g->procs, "procs");
    split(&g->profile, "profile");
    split(&g->cpus, "cpus");
    split(&g->quota, "quota");
    g->cells = (size_t)g->procs.count * (size_t)g->profile.count * (size_t)g->cpus.count *
               (size_t)g->quota.count;
    if (g->runs < 1 || g->cells * (size_t)g->runs > CELLS_MAX)
        cli_die(EXIT_USAGE, "whatif: from 1 to %d runs in all", CELLS_MAX);
    g->nseries = g->m.scenario->program.nspans + 1;
    for (size_t c = 0; c < g->cells; c++) /* mistakes before the first run */
        cell_opts(g, c, &o);
    check_axes(g);
}

static void free_axes(struct grid *g)
{
    free(g->procs.copy);
    free(g->profile.copy);
    free(g->cpus.copy);
    free(g->quota.copy);
}

int verb_whatif(const struct verb *v, int argc, char **argv)
{
    struct grid g = {.runs = 5};
    const struct opt table[] = {
        {"procs", "LIST", "values of GOMAXPROCS, e.g. 1,2,4,8", OPT_TEXT, &g.procs.given},
        {"profile", "LIST", "Go releases, e.g. go1.19,go1.24,latest", OPT_TEXT, &g.profile.given},
        {"cpus", "LIST", "CPUs of the host; dedicated: one per thread", OPT_TEXT, &g.cpus.given},
        {"quota", "LIST", "CPU quotas: CPUs (1.5, 500m), time per period (150ms), none", OPT_TEXT,
         &g.quota.given},
        {"period", "TIME", "period of the quota (default 100ms)", OPT_LENGTH, &g.m.period_ns},
        {"rule", "NAME=VALUE", "one rule of every profile; repeatable", OPT_REPEATED, &g.m.rules},
        {"runs", "N", "seeds per cell (default 5)", OPT_COUNT, &g.runs},
        {"seed", "SEED", "the first seed", OPT_SEED, &g.m.seed},
        {"costs", "FILE", "cost table (default: the reference table)", OPT_TEXT, &g.m.costs},
        {"memory", "SIZE", "what a simulated world may take of yours (default 2GB)", OPT_TEXT,
         &g.m.memory},
        {"until", "TIME", "stop each run at this virtual time", OPT_LENGTH, &g.m.until_ns},
        {"jobs", "J", "processes at a time (default: one per CPU)", OPT_COUNT, &g.jobs},
        {"db", "FILE", "add the runs to this store, table whatif", OPT_TEXT, &g.db},
        {"json", NULL, "the table as JSON", OPT_FLAG, &g.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    g.m.quota_later = g.quota.given != NULL;
    machine_load(&g.m, argv[first], &g.o);
    if (g.o.host != NULL && g.jobs > 1)
        cli_die(EXIT_USAGE, "--jobs: on threads one run at a time has the machine");
    if (g.o.host != NULL)
        g.jobs = 1;
    check_grid(&g);
    size_t size = sizeof(struct whatif_run) + g.nseries * sizeof(struct whatif_series);
    struct jobs j = {.count = g.cells * (size_t)g.runs,
                     .at_once = (int)g.jobs,
                     .size = size,
                     .results = x_alloc(g.cells * (size_t)g.runs * size),
                     .what = "whatif",
                     .task = run_cell,
                     .arg = &g};
    int ran = jobs_run(&j);
    if (ran != EXIT_CLEAN)
        cli_die(ran, "whatif: a run failed");
    if (g.json)
        print_json(&g, j.results, size);
    else
        print_table(&g, j.results, size);
    if (g.db != NULL)
        store(&g, j.results, size);
    int status = worst(&g, j.results, size);
    free(j.results);
    free_axes(&g);
    machine_release_all(&g.m);
    return status;
}
