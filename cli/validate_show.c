/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians, errors and distances of what validate.c measured, in words and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/machine.h"
#include "cli/sheet.h"
#include "cli/validate.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { ENOUGH = 100 }; /* of a count: below, chance decides */

static const struct {
    const char *name;
    char unit;
    const char *what;
} metrics[] = {
#define METRIC(name, unit, what) {#name, unit, what},
    VALIDATE_METRICS(METRIC)
#undef METRIC
};
static const char *const dist_names[] = {"wait", "wake"};
static const char *const source_names[] = {"virtual", "threads", "virtual-go", "go"};

/* Which runs of a source. */
struct every {
    int first, stride;
};
static const struct every every_run = {0, 1}, odd_runs = {0, 2}, even_runs = {1, 2};

/* ---- numbers ---- */

bool has_source(const struct comparison *c, enum source s)
{
    static const enum part of[] = {P_VIRTUAL, P_THREADS, P_VIRTUAL_GO, P_GO};
    return c->runs[of[s]] != NULL;
}

enum source reference_of(const struct comparison *c, enum source s)
{
    return s == S_GO && has_source(c, S_VIRTUAL_GO) ? S_VIRTUAL_GO : S_VIRTUAL;
}

/* The runs in which goroutines were watched. */
const struct taken *seen_of(const struct comparison *c, enum source s)
{
    static const enum part of[] = {P_VIRTUAL_SEEN, P_THREADS_SEEN, P_VIRTUAL_GO_SEEN, P_GO_SEEN};
    return c->runs[of[s]];
}

/* What a run can count itself is taken from one that nobody watches: watching costs time. */
static bool is_plain(enum metric m)
{
    return m == V_makespan || m == V_cpu || (m >= V_steals && m <= V_threads) ||
           m == V_metrics_p50 || m == V_metrics_p99 || m == V_burst;
}

static double value_of(const struct comparison *c, enum source s, enum metric m, int run)
{
    static const enum part plain[] = {P_VIRTUAL, P_THREADS, P_VIRTUAL_GO, P_GO};
    const struct taken *of = c->runs[plain[s]], *seen = seen_of(c, s);
    if (m == V_watched)
        return seen[run].value[V_makespan];
    if (m == V_rate)
        return seen[run].value[V_switches] * 1e9 / of[run].value[V_makespan];
    if (m == V_threads && isnan(of[run].value[m]))
        return seen[run].value[m];
    return is_plain(m) ? of[run].value[m] : seen[run].value[m];
}

static int by_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? -1 : a > b;
}

static double median_of(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n == 0 ? NAN : n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* What is known of every stride-th run, from the first on. */
static int values_of(const struct validation *v, const struct comparison *c, enum source s,
                     enum metric m, struct every every, double *all)
{
    int n = 0;
    for (int i = every.first; i < v->nruns; i += every.stride) {
        double x = value_of(c, s, m, i);
        if (!isnan(x))
            all[n++] = x;
    }
    return n;
}

/* Order statistics: no shape of the distribution is assumed. */
struct middle middle_of(const struct validation *v, const struct comparison *c, enum source s,
                        enum metric m)
{
    double all[RUNS_MAX];
    int n = values_of(v, c, s, m, every_run, all);
    if (n == 0)
        return (struct middle){NAN, NAN, NAN, 0};
    double median = median_of(all, n), reach = 0.98 * sqrt(n);
    int low = (int)floor(n / 2.0 - reach), high = (int)ceil(n / 2.0 + reach);
    return (struct middle){.median = median,
                           .low = all[low > 0 ? low : 0],
                           .high = all[high < n ? high : n - 1],
                           .n = n};
}

/* How far the simulation is off, relative to what this source says. NAN: one of the two is not
 * known, or the source says 0. */
static double error_of(const struct validation *v, const struct comparison *c, enum source s,
                       enum metric m)
{
    if (s == S_VIRTUAL || s == S_VIRTUAL_GO || !has_source(c, s))
        return NAN;
    double is = middle_of(v, c, s, m).median, said = middle_of(v, c, reference_of(c, s), m).median;
    return is > 0 ? said / is - 1 : NAN;
}

/* How far every other run of a source is from the runs between: nobody can come nearer to it. */
static double error_of_itself(const struct validation *v, const struct comparison *c, enum source s,
                              enum metric m)
{
    double odd[RUNS_MAX], even[RUNS_MAX];
    double is = median_of(odd, values_of(v, c, s, m, odd_runs, odd)),
           other = median_of(even, values_of(v, c, s, m, even_runs, even));
    return is > 0 ? other / is - 1 : NAN;
}

/* ---- distributions ---- */

struct point {
    int64_t ns;
    double weight; /* of a: above 0; of b: below */
};

static int by_ns(const void *pa, const void *pb)
{
    const struct point *a = pa, *b = pb;
    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static size_t pool(const struct validation *v, const struct taken *runs, struct every every,
                   enum waits d, double sign, struct point *to)
{
    double sum = 0;
    size_t n = 0;
    for (int i = every.first; i < v->nruns; i += every.stride)
        sum += (double)runs[i].count[d];
    for (int i = every.first; i < v->nruns && sum > 0; i += every.stride)
        for (int q = 0; q < QUANTILES && runs[i].count[d] > 0; q++)
            to[n++] = (struct point){runs[i].quantile[d][q],
                                     sign * (double)runs[i].count[d] / sum / QUANTILES};
    return n;
}

/* Kolmogorov and Smirnov's: the largest distance of the two shares that are at most so long. */
static double distance_of(const struct validation *v, enum waits d, const struct taken *a,
                          struct every of_a, const struct taken *b, struct every of_b)
{
    size_t room = (size_t)v->nruns * QUANTILES * 2, na, n;
    struct point *all = x_alloc(room * sizeof *all);
    double apart = 0, most = 0;
    na = pool(v, a, of_a, d, 1, all);
    n = na + pool(v, b, of_b, d, -1, all + na);
    if (na == 0 || n == na)
        most = NAN;
    qsort(all, n, sizeof *all, by_ns);
    for (size_t i = 0; i < n; i++) {
        apart += all[i].weight;
        if ((i + 1 == n || all[i + 1].ns != all[i].ns) && fabs(apart) > most)
            most = fabs(apart);
    }
    free(all);
    return most;
}

double distance(const struct validation *v, const struct comparison *c, enum waits d, enum source a,
                enum source b)
{
    return distance_of(v, d, seen_of(c, a), every_run, seen_of(c, b), every_run);
}

static double distance_of_itself(const struct validation *v, const struct comparison *c,
                                 enum waits d, enum source s)
{
    return distance_of(v, d, seen_of(c, s), odd_runs, seen_of(c, s), even_runs);
}

/* ---- over all comparisons ---- */

struct summary {
    double median, worst;
    int n;
    const struct comparison *of; /* the worst */
};

static bool is_worth(const struct validation *v, const struct comparison *c, enum source s,
                     enum metric m)
{
    return metrics[m].unit != 'n' || middle_of(v, c, s, m).median > ENOUGH;
}

static struct summary sum_up(const struct validation *v, enum source s, enum metric m)
{
    struct summary sum = {NAN, 0, 0, NULL};
    double *all = x_alloc((v->count + 1) * sizeof *all);
    for (size_t i = 0; i < v->count; i++) {
        const struct comparison *c = &v->of[i];
        double e = c->skipped[0] == 0 ? fabs(error_of(v, c, s, m)) : NAN;
        if (isnan(e) || !is_worth(v, c, s, m))
            continue;
        all[sum.n++] = e;
        if (sum.of == NULL || e > sum.worst) {
            sum.worst = e;
            sum.of = c;
        }
    }
    sum.median = median_of(all, sum.n);
    free(all);
    return sum;
}

bool validate_holds(const struct validation *v)
{
    return v->max_error < 0 || (sum_up(v, S_THREADS, V_makespan).worst * 100 <= v->max_error &&
                                sum_up(v, S_GO, V_makespan).worst * 100 <= v->max_error);
}

/* ---- in words ---- */

static const char *text_of(char unit, double x, char *buf, size_t size)
{
    if (isnan(x))
        return "";
    if (unit == 't')
        return time_text((int64_t)llround(x));
    snprintf(buf, size, unit == 'p' ? "%.1f%%" : "%.0f", unit == 'p' ? x / 10 : x);
    return buf;
}

static void cell_percent(struct sheet *s, double share, bool sign)
{
    char text[40];
    snprintf(text, sizeof text, sign ? "%+.1f%%" : "%.1f%%", share * 100);
    sheet_text(s, isnan(share) ? "" : text);
}

/* Half of the interval, relative to the median. */
static double spread(const struct middle *m)
{
    return m->median > 0 ? (m->high - m->low) / 2 / m->median : NAN;
}

static void row(const struct validation *v, const struct comparison *c, enum metric m,
                struct sheet *s)
{
    char text[40];
    sheet_text(s, metrics[m].name);
    for (int i = 0; i < S_COUNT; i++) {
        if (!has_source(c, (enum source)i))
            continue;
        struct middle mid = middle_of(v, c, (enum source)i, m);
        sheet_text(s, text_of(metrics[m].unit, mid.median, text, sizeof text));
        cell_percent(s, spread(&mid), false);
        if (i == S_THREADS || i == S_GO)
            cell_percent(s, error_of(v, c, (enum source)i, m), true);
    }
    sheet_text(s, metrics[m].what);
}

static void row_of_distance(const struct validation *v, const struct comparison *c, enum waits d,
                            struct sheet *s)
{
    char text[40];
    snprintf(text, sizeof text, "%s K-S", dist_names[d]);
    sheet_text(s, text);
    for (int i = 0; i < S_COUNT; i++) {
        if (!has_source(c, (enum source)i))
            continue;
        sheet_text(s, "");
        sheet_text(s, "");
        if (i != S_THREADS && i != S_GO)
            continue;
        double far = distance(v, c, d, reference_of(c, (enum source)i), (enum source)i);
        snprintf(text, sizeof text, "%.2f", far);
        sheet_text(s, isnan(far) ? "" : text);
    }
    sheet_text(s, "how far the distributions are apart, 0 to 1");
}

static bool is_known(const struct validation *v, const struct comparison *c, enum metric m)
{
    for (int i = 0; i < S_COUNT; i++)
        if (has_source(c, (enum source)i) && middle_of(v, c, (enum source)i, m).n > 0 &&
            middle_of(v, c, (enum source)i, m).high > 0)
            return true;
    return false;
}

static void columns_of(const struct comparison *c, struct sheet_column *columns, int *n)
{
    static const char *const titles[] = {"virtual", "threads", "virtual, Go's costs", NULL};
    columns[(*n)++] = (struct sheet_column){.title = "", .least = 16, .left = true};
    for (int i = 0; i < S_COUNT; i++) {
        if (!has_source(c, (enum source)i))
            continue;
        columns[(*n)++] = (struct sheet_column){.title = i == S_GO ? c->go->version : titles[i],
                                                .least = 9};
        columns[(*n)++] = (struct sheet_column){.title = "+-", .least = 6};
        if (i == S_THREADS || i == S_GO)
            columns[(*n)++] = (struct sheet_column){.title = "off", .least = 7};
    }
    columns[(*n)++] = (struct sheet_column){.title = "", .left = true};
}

static void comparison_text(const struct validation *v, const struct comparison *c)
{
    struct sheet_column columns[16];
    struct sheet s;
    int n = 0;
    printf("%s%s%s: %s, procs %d, cpus %d\n", out_bold(stdout), text_line(c->path),
           out_plain(stdout), profile_name(c->release), c->procs, c->cpus);
    if (c->skipped[0] != 0) {
        printf("  not compared: %s\n\n", text_line(c->skipped));
        return;
    }
    columns_of(c, columns, &n);
    sheet_init(&s, "comparison", columns, n);
    for (int m = 0; m < V_COUNT; m++)
        if (is_known(v, c, (enum metric)m))
            row(v, c, (enum metric)m, &s);
    for (int d = 0; d < D_COUNT; d++)
        row_of_distance(v, c, (enum waits)d, &s);
    sheet_print(stdout, &s);
    sheet_release(&s);
    if (c->note[0] != 0)
        printf("  without Go: %s\n", c->note);
    putchar('\n');
}

static void summary_text(const struct validation *v, enum source s, const char *whose)
{
    for (int m = 0; m < V_COUNT; m++) {
        struct summary sum = sum_up(v, s, (enum metric)m);
        if (sum.n > 0)
            printf("  %-15s against %s: median %.1f%%, worst %.1f%% (%s, procs %d), of %d\n",
                   metrics[m].name, whose, sum.median * 100, sum.worst * 100,
                   text_line(sum.of->path), sum.of->procs, sum.n);
    }
}

void validate_text(const struct validation *v)
{
    for (size_t i = 0; i < v->count; i++)
        comparison_text(v, &v->of[i]);
    if (v->count > 1) {
        printf("errors of all comparisons (counts of more than %d)\n", ENOUGH);
        summary_text(v, S_THREADS, "threads");
        summary_text(v, S_GO, "Go");
        putchar('\n');
    }
    printf("%d runs of each source, interleaved; ", v->nruns);
    if (v->quiet)
        printf("at least %.1f%% of the CPUs were ours\n", v->cpu_permille / 10.0);
    else
        printf("the machine was not quiet: %.1f%% of the CPUs were ours, less than 98%%%s\n",
               v->cpu_permille / 10.0, v->count == 0 ? "; nothing is shown (--anyway)" : "");
    if (!validate_holds(v))
        printf("a makespan is off by more than %g%%\n", v->max_error);
}

/* ---- JSON ---- */

static void number(cJSON *o, const char *name, double x)
{
    if (isnan(x) || isinf(x))
        cJSON_AddNullToObject(o, name);
    else
        cJSON_AddNumberToObject(o, name, x);
}

static cJSON *where(const struct comparison *c)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", c->path);
    cJSON_AddStringToObject(o, "profile", profile_name(c->release));
    cJSON_AddNumberToObject(o, "procs", c->procs);
    return o;
}

static cJSON *comparison_json(const struct comparison *c)
{
    cJSON *o = where(c);
    cJSON_AddStringToObject(o, "name", c->scenario->name);
    cJSON_AddNumberToObject(o, "cpus", c->cpus);
    cJSON_AddStringToObject(o, "go", c->go != NULL ? c->go->version : "");
    cJSON_AddStringToObject(o, "without_go", c->note);
    cJSON_AddStringToObject(o, "skipped", c->skipped);
    return o;
}

static cJSON *row_json(const struct comparison *c, enum source s, const char *metric,
                       const char *unit)
{
    cJSON *o = where(c);
    cJSON_AddStringToObject(o, "source", s == S_GO ? c->go->version : source_names[s]);
    cJSON_AddStringToObject(o, "metric", metric);
    cJSON_AddStringToObject(o, "unit", unit);
    return o;
}

static const char *unit_name(char unit)
{
    return unit == 't' ? "ns" : unit == 'p' ? "permille" : "count";
}

static void rows_json(const struct validation *v, const struct comparison *c, cJSON *rows)
{
    for (int m = 0; m < V_COUNT; m++)
        for (int s = 0; s < S_COUNT; s++) {
            struct middle mid;
            if (!has_source(c, (enum source)s) ||
                (mid = middle_of(v, c, (enum source)s, (enum metric)m)).n == 0)
                continue;
            cJSON *o = row_json(c, (enum source)s, metrics[m].name, unit_name(metrics[m].unit));
            number(o, "median", mid.median);
            number(o, "low", mid.low);
            number(o, "high", mid.high);
            cJSON_AddNumberToObject(o, "runs", mid.n);
            number(o, "error", error_of(v, c, (enum source)s, (enum metric)m));
            number(o, "itself", error_of_itself(v, c, (enum source)s, (enum metric)m));
            cJSON_AddItemToArray(rows, o);
        }
}

static void distances_json(const struct validation *v, const struct comparison *c, cJSON *list)
{
    static const enum source measured[] = {S_THREADS, S_GO};
    for (int d = 0; d < D_COUNT; d++)
        for (int i = 0; i < 2; i++) {
            if (!has_source(c, measured[i]))
                continue;
            cJSON *o = row_json(c, measured[i], dist_names[d], "ns");
            number(o, "distance",
                   distance(v, c, (enum waits)d, reference_of(c, measured[i]), measured[i]));
            number(o, "itself", distance_of_itself(v, c, (enum waits)d, measured[i]));
            cJSON_AddItemToArray(list, o);
        }
}

static void summary_json(const struct validation *v, enum source s, cJSON *list)
{
    for (int m = 0; m < V_COUNT; m++) {
        struct summary sum = sum_up(v, s, (enum metric)m);
        if (sum.n == 0)
            continue;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "against", source_names[s]);
        cJSON_AddStringToObject(o, "metric", metrics[m].name);
        number(o, "median_error", sum.median);
        number(o, "worst_error", sum.worst);
        cJSON_AddStringToObject(o, "worst_file", sum.of->path);
        cJSON_AddNumberToObject(o, "worst_procs", sum.of->procs);
        cJSON_AddNumberToObject(o, "comparisons", sum.n);
        cJSON_AddItemToArray(list, o);
    }
}

void validate_json(const struct validation *v)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "quiet", v->quiet);
    cJSON_AddNumberToObject(o, "cpu_permille", v->cpu_permille);
    cJSON_AddNumberToObject(o, "runs", v->nruns);
    number(o, "max_error", v->max_error < 0 ? NAN : v->max_error);
    cJSON_AddBoolToObject(o, "holds", validate_holds(v));
    cJSON *comparisons = cJSON_AddArrayToObject(o, "comparisons"),
          *rows = cJSON_AddArrayToObject(o, "rows"),
          *distances = cJSON_AddArrayToObject(o, "distances"),
          *summary = cJSON_AddArrayToObject(o, "summary");
    for (size_t i = 0; i < v->count; i++) {
        cJSON_AddItemToArray(comparisons, comparison_json(&v->of[i]));
        if (v->of[i].skipped[0] != 0)
            continue;
        rows_json(v, &v->of[i], rows);
        distances_json(v, &v->of[i], distances);
    }
    summary_json(v, S_THREADS, summary);
    summary_json(v, S_GO, summary);
    out_json(o);
}
