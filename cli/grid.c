/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/scale.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { PPM = 1000000, PS_PER_NS = 1000 };

const char *const point_names[WHATIF_POINTS] = {"p50", "p90", "p99", "p99.9", "max"};
const uint32_t point_ppm[WHATIF_POINTS - 1] = {500000, 900000, 990000, 999000};

/* ---- tables ---- */

static size_t place(const struct table *t, size_t cell, int64_t run)
{
    return cell * (size_t)t->runs + (size_t)run;
}

const struct whatif_run *table_run(const struct table *t, size_t cell, int64_t run)
{
    return (const void *)(t->of + place(t, cell, run) * t->size);
}

void table_put(struct table *t, size_t cell, int64_t run, const struct whatif_run *w)
{
    memcpy(t->of + place(t, cell, run) * t->size, w, t->size);
    t->have[place(t, cell, run)] = 1;
}

int64_t table_prefix(const struct table *t, size_t cell)
{
    int64_t n = 0;
    while (n < t->runs && t->have[place(t, cell, n)])
        n++;
    return n;
}

void table_alloc(struct table *t)
{
    t->size = sizeof(struct whatif_run) + t->nseries * sizeof(struct whatif_series);
    t->of = x_alloc(t->ncells * (size_t)t->runs * t->size);
    t->have = x_alloc(t->ncells * (size_t)t->runs);
    t->counts = x_alloc(t->ncells * sizeof *t->counts);
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->nseries; i++)
        free(t->names[i]);
    free(t->names);
    free(t->cells);
    free(t->of);
    free(t->have);
    free(t->counts);
    free(t->scenario);
    free(t->file);
    *t = (struct table){0};
}

/* ---- numbers ---- */

static double value(const struct table *t, const struct whatif_run *w, size_t series,
                    enum measure what)
{
    double sum = 0, ns = (double)(w->makespan_ns - t->warmup_ns);
    switch (what) {
    case OF_MAKESPAN: return (double)w->makespan_ns;
    case OF_THROTTLED: return (double)w->throttled_ns;
    case OF_COUNT: return (double)w->series[series].count;
    case OF_OPEN: return (double)w->series[series].open;
    case OF_LATE: return (double)w->series[series].late;
    case OF_RATE: return ns > 0 ? 1e9 * (double)w->series[series].count / ns : 0;
    case OF_USER:
        for (int c = 0; c < PC_COUNT; c++)
            sum += (double)w->p_ns[c];
        return sum > 0 ? 1e6 * (double)w->p_ns[PC_USER] / sum : 0;
    default: return (double)w->series[series].ns[what - OF_POINT];
    }
}

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

struct mean table_stat(const struct table *t, size_t cell, int64_t n, size_t series,
                       enum measure what)
{
    double sum = 0, squares = 0, count = (double)n;
    if (n == 0)
        return (struct mean){0};
    for (int64_t i = 0; i < n; i++)
        sum += value(t, table_run(t, cell, i), series, what);
    struct mean s = {.mean = sum / count};
    for (int64_t i = 0; i < n; i++) {
        double d = value(t, table_run(t, cell, i), series, what) - s.mean;
        squares += d * d;
    }
    if (n > 1)
        s.half = student(n - 1) * sqrt(squares / (count - 1) / count);
    return s;
}

bool point_counts(double count, int point)
{
    static const double least[WHATIF_POINTS] = {1, 10, 100, 1000, 1};
    return count >= least[point];
}

bool many_open(double open, double ended) { return open > 0 && open >= ended / 10; }

static bool is_narrow(const struct table *t, struct mean s)
{
    return s.mean <= 0 || s.half <= t->precision * s.mean;
}

static bool series_is_narrow(const struct table *t, size_t cell, int64_t n, size_t series)
{
    double count = table_stat(t, cell, n, series, OF_COUNT).mean;
    if (!is_narrow(t, table_stat(t, cell, n, series, OF_RATE)))
        return false;
    for (int k = 0; k < WHATIF_POINTS; k++)
        if ((t->points >> k & 1) != 0 && point_counts(count, k) &&
            !is_narrow(t, table_stat(t, cell, n, series, OF_POINT + (enum measure)k)))
            return false;
    return true;
}

static bool cell_is_narrow(const struct table *t, size_t cell, int64_t n)
{
    size_t first = t->nseries > 1 ? 1 : 0;
    for (size_t i = first; i < t->nseries; i++)
        if (!series_is_narrow(t, cell, n, i))
            return false;
    return true;
}

int64_t table_decide(const struct table *t, size_t cell)
{
    enum { LEAST = 3 };
    int64_t have = table_prefix(t, cell);
    if (t->precision > 0)
        for (int64_t n = LEAST; n <= have; n++)
            if (cell_is_narrow(t, cell, n))
                return n;
    return have == t->runs ? have : 0;
}

void table_choose_span(struct table *t, const char *name)
{
    double most = -1;
    for (size_t i = 1; i < t->nseries; i++) {
        double sum = 0;
        for (size_t c = 0; c < t->ncells; c++)
            sum += table_stat(t, c, t->counts[c], i, OF_COUNT).mean *
                   table_stat(t, c, t->counts[c], i, OF_POINT).mean;
        if (name != NULL ? strcmp(t->names[i], name) == 0 : sum > most) {
            t->span = i;
            most = sum;
        }
    }
    if (name != NULL && (t->span == 0 || strcmp(t->names[t->span], name) != 0))
        cli_die(EXIT_USAGE, "--span: the scenario has no span '%s'", name);
}

/* ---- the cells of a grid ---- */

struct choice {
    const char *procs, *profile, *cpus, *quota, *rate;
};

/* Quota changes fastest, then procs, rate, cpus, profile. */
static struct choice choice_of(const struct grid *g, size_t cell)
{
    struct choice c;
    c.quota = g->quota.values[cell % (size_t)g->quota.count];
    cell /= (size_t)g->quota.count;
    c.procs = g->procs.values[cell % (size_t)g->procs.count];
    cell /= (size_t)g->procs.count;
    c.rate = g->rate.values[cell % (size_t)g->rate.count];
    cell /= (size_t)g->rate.count;
    c.cpus = g->cpus.values[cell % (size_t)g->cpus.count];
    c.profile = g->profile.values[cell / (size_t)g->cpus.count];
    return c;
}

static void set_procs(const char *procs, struct run_opts *o, char *policy, size_t size)
{
    int64_t n;
    if (parse_int(procs, &n)) {
        o->procs = (int32_t)n;
        return;
    }
    int64_t quota_us = o->nquotas > 0 ? o->quotas[0].quota_us : o->quota_us;
    o->procs = procs_of_policy(procs, o->cpus, quota_us, o->period_us);
    snprintf(policy, size, "%s", procs);
}

static struct run_opts opts_of(const struct grid *g, const struct choice *c, char *policy,
                               size_t size)
{
    struct run_opts o = g->o;
    int64_t quota_us;
    policy[0] = 0;
    if (c->profile != NULL) {
        struct failure f = {0};
        if (!scenario_profile(&f, g->m.scenario, machine_release(c->profile), &o.profile))
            cli_fail(&f);
        for (int i = 0; i < g->m.rules.count; i++)
            machine_rule(&o.profile, g->m.rules.items[i]);
    }
    if (c->cpus != NULL)
        o.cpus = machine_cpus(c->cpus);
    if (c->quota != NULL) {
        machine_quota(c->quota, o.period_us, &quota_us);
        run_set_quota(&o, quota_us);
    }
    if (c->procs != NULL) /* after what its words depend on */
        set_procs(c->procs, &o, policy, size);
    return o;
}

/* What a file expects is about its own settings; cells with others only have to end well. */
static bool is_the_files(const struct grid *g, const struct run_opts *o, int64_t rate_ppm)
{
    const struct scenario *s = g->m.scenario;
    bool release = s->nprofiles == 0;
    for (int i = 0; i < s->nprofiles; i++)
        release |= s->profiles[i] == o->profile.release;
    return release && o->procs == s->procs && o->cpus == s->cpus && rate_ppm == RATE_ONE &&
           g->m.rules.count == 0 && g->m.costs == NULL && g->m.until_ns == 0 &&
           g->m.warmup_ns == 0 && g->m.period_ns == 0 && o->nquotas == s->nquotas &&
           (o->nquotas > 0 || o->quota_us == s->quota_us);
}

static void make_cell(struct grid *g, size_t cell)
{
    struct table_cell *to = &g->t.cells[cell];
    struct choice c = choice_of(g, cell);
    struct run_opts o = opts_of(g, &c, to->policy, sizeof to->policy);
    to->release = o.profile.release;
    to->cpus = o.cpus;
    to->procs = o.procs;
    to->quota_us = o.nquotas > 0 ? o.quotas[0].quota_us : o.quota_us;
    to->rate_ppm = c.rate != NULL ? rate_of(c.rate) : RATE_ONE;
    to->own = is_the_files(g, &o, to->rate_ppm);
}

static bool same(const struct table_cell *a, const struct table_cell *b)
{
    return a->release == b->release && a->cpus == b->cpus && a->procs == b->procs &&
           a->quota_us == b->quota_us && a->rate_ppm == b->rate_ppm &&
           strcmp(a->policy, b->policy) == 0;
}

/* One setting twice would be one cell twice: "2,2", but also "latest" and the name of the latest.
 * Neighbours on the axis are `stride` cells apart. */
static void refuse_twice(const struct grid *g, const char *name, const struct axis *a,
                         size_t stride)
{
    for (int i = 1; i < a->count; i++)
        for (int j = 0; j < i; j++)
            if (same(&g->t.cells[(size_t)i * stride], &g->t.cells[(size_t)j * stride]))
                cli_die(EXIT_USAGE, "--%s: '%s' and '%s' are the same setting", name, a->values[j],
                        a->values[i]);
}

static void check_axes(const struct grid *g)
{
    const struct {
        const char *name;
        const struct axis *a;
    } order[] = {{"quota", &g->quota},
                 {"procs", &g->procs},
                 {"rate", &g->rate},
                 {"cpus", &g->cpus},
                 {"profile", &g->profile}};
    size_t stride = 1;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        refuse_twice(g, order[i].name, order[i].a, stride);
        stride *= (size_t)order[i].a->count;
    }
}

static void name_series(struct grid *g)
{
    const struct program *p = &g->m.scenario->program;
    g->t.nseries = p->nspans + 1;
    g->t.names = x_alloc(g->t.nseries * sizeof *g->t.names);
    g->t.names[0] = x_strdup("run-queue wait");
    for (uint32_t i = 0; i < p->nspans; i++)
        g->t.names[i + 1] = x_strdup(p->spans[i]);
}

void grid_build(struct grid *g, int64_t runs)
{
    axis_procs(&g->procs);
    axis_profiles(&g->profile);
    axis_plain(&g->cpus, "cpus");
    axis_plain(&g->quota, "quota");
    axis_rates(&g->rate);
    struct table *t = &g->t;
    t->ncells = (size_t)g->procs.count * (size_t)g->profile.count * (size_t)g->cpus.count *
                (size_t)g->quota.count * (size_t)g->rate.count;
    if (t->ncells > GRID_RUNS_MAX || (int64_t)t->ncells * runs > GRID_RUNS_MAX)
        cli_die(EXIT_USAGE, "whatif: from 1 to %d runs in all", GRID_RUNS_MAX);
    if (g->rate.given != NULL && scale_count(&g->m.scenario->program) == 0)
        cli_die(EXIT_USAGE,
                "--rate: nothing arrives in this scenario; descriptors with \"every\" or"
                " \"clients\" do (docs/scenarios.md, Arrivals)");
    t->cells = x_alloc(t->ncells * sizeof *t->cells);
    for (size_t c = 0; c < t->ncells; c++) /* mistakes before the first run */
        make_cell(g, c);
    check_axes(g);
    name_series(g);
    t->runs = runs;
    t->scenario = x_strdup(g->m.scenario->name);
    t->file = x_strdup(g->m.file);
    t->period_us = g->o.period_us;
    t->until_ns = g->m.until_ns;
    t->warmup_ns = g->o.warmup_ns;
    t->seed = g->o.seed;
    table_alloc(t);
}

void grid_release(struct grid *g)
{
    table_release(&g->t);
    axis_release(&g->procs);
    axis_release(&g->profile);
    axis_release(&g->cpus);
    axis_release(&g->quota);
    axis_release(&g->rate);
    machine_release_all(&g->m);
}

/* ---- one run ---- */

static void take_series(struct whatif_series *s, struct hist *h)
{
    s->count = h->count;
    if (h->count == 0)
        return;
    for (int i = 0; i < WHATIF_POINTS - 1; i++)
        s->ns[i] = hist_percentile(h, point_ppm[i]);
    s->ns[WHATIF_POINTS - 1] = h->max;
}

static void take(const struct grid *g, const struct table_cell *cell, const struct run_opts *o,
                 const struct run_result *q, struct whatif_run *w)
{
    struct complaints c;
    if (cell->own)
        complaints_of(g->m.scenario, o, q, &c);
    else
        complaints_of_end(g->m.scenario, q, &c);
    *w = (struct whatif_run){.seed = o->seed,
                             .release = o->profile.release,
                             .procs = q->procs,
                             .cpus = o->cpus,
                             .quota_us = cell->quota_us,
                             .makespan_ns = (int64_t)(q->now_ps / PS_PER_NS),
                             .fingerprint = q->fingerprint,
                             .complaints = c.count,
                             .status = report_status(q, &c),
                             .nr_periods = (int64_t)q->nr_periods,
                             .nr_throttled = (int64_t)q->nr_throttled,
                             .throttled_ns = (int64_t)(q->throttled_ps / PS_PER_NS)};
    snprintf(w->verdict, sizeof w->verdict, "%s", run_verdict(q));
    c.text[strcspn(c.text, "\n")] = 0;
    text_in(w->complaint, sizeof w->complaint, TEXT_LINE, c.text);
    for (int k = 0; k < PC_COUNT; k++)
        w->p_ns[k] = (int64_t)(q->p_ps[k] / PS_PER_NS);
    take_series(&w->series[0], q->runq_wait);
    for (size_t i = 0; i < q->nspans; i++)
        take_series(&w->series[i + 1], q->spans[i].latency);
    for (size_t i = 0; i < q->nspans; i++) {
        w->series[i + 1].open = q->spans[i].open->count;
        w->series[i + 1].late = hist_from(q->spans[i].open, g->promise_ns);
    }
}

bool grid_run(const struct grid *g, size_t cell, int64_t run, int64_t rate_ppm,
              struct whatif_run *out)
{
    static struct run r;
    struct scaled scaled = {0};
    struct failure f = {0};
    char policy[32];
    struct choice c = choice_of(g, cell);
    struct run_opts o = opts_of(g, &c, policy, sizeof policy);
    o.seed = g->o.seed + (uint64_t)run;
    if (rate_ppm != RATE_ONE) {
        scale_program(&scaled, o.program, rate_ppm);
        o.program = &scaled.program;
    }
    if (!run_all(&f, &r, &o)) {
        fprintf(stderr, GMPSIM_NAME ": %s\n", text_line(f.text));
        return false;
    }
    take(g, &g->t.cells[cell], &o, &r.result, out);
    run_free(&r);
    if (rate_ppm != RATE_ONE)
        scale_release(&scaled);
    return true;
}
