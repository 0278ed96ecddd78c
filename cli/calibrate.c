/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim calibrate: what hwmeasure.h measured, as a table to read, JSON, and a cost table. */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/hwmeasure.h"
#include "cli/machine.h"
#include "cli/out.h"
#include "sim/base/alloc.h"
#include "sim/real/rt.h"
#include "sim/virt/costs.h"

enum {
    SAMPLES_DEFAULT = 300,
    SAMPLES_MIN = 20,
    SHARE_MIN = 980,  /* permille of the CPU, or the machine was not ours */
    SPREAD_MAX = 500, /* permille of the median, between the quartiles */
    MOVED_MAX = 100,  /* permille between the medians of two passes */
    FINE_PS = 50,     /* how fine the clock is: less is no difference */
    ENTRIES_MAX = 64
};

/* What is left of an entry when its samples are gone. */
struct summary {
    const char *name;
    bool atomic, miss, in_table, disturbed;
    int n, share, spread, moved;
    int64_t median, low, high;          /* ps; the median is between them with 95 % */
    int64_t quantiles[NOISE_QUANTILES]; /* as in noise.def */
};

struct calibration {
    struct summary s[ENTRIES_MAX];
    int count, disturbed;
    const char *class;
    const struct calibration *first; /* an earlier pass: what moved since then is marked */
};

/* Where the quantiles of noise.def are, percent. */
static const int places[NOISE_QUANTILES] = {0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100};

static const struct summary *find(const struct calibration *c, const char *name, bool miss)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->s[i].name, name) == 0 && c->s[i].miss == miss)
            return &c->s[i];
    return NULL;
}

static int64_t apart(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

static int permille_of(int64_t part, int64_t whole)
{
    return (int)(part * 1000 / (whole > 0 ? whole : 1));
}

/* Order statistics: no shape of the distribution is assumed. */
static void summarise(void *arg, const struct hw_entry *e)
{
    struct calibration *c = arg;
    if (e->n == 0 || c->count == ENTRIES_MAX)
        return;
    int64_t median = e->ps[e->n / 2], between = e->ps[e->n * 3 / 4] - e->ps[e->n / 4];
    int reach = (int)(0.98 * sqrt(e->n)) + 1, mid = e->n / 2;
    struct summary *s = &c->s[c->count++];
    const struct summary *before;
    *s = (struct summary){.name = e->name,
                          .atomic = e->atomic,
                          .miss = e->miss,
                          .in_table = e->in_table,
                          .spread = permille_of(between, median),
                          .n = e->n,
                          .share = e->share,
                          .median = median,
                          .low = e->ps[mid > reach ? mid - reach : 0],
                          .high = e->ps[mid + reach < e->n ? mid + reach : e->n - 1]};
    for (int q = 0; q < NOISE_QUANTILES; q++)
        s->quantiles[q] = e->ps[(int64_t)(e->n - 1) * places[q] / 100];
    s->quantiles[NOISE_QUANTILES / 2] = median;
    before = c->first != NULL ? find(c->first, e->name, e->miss) : NULL;
    if (before != NULL && apart(before->median, median) > FINE_PS)
        s->moved = permille_of(apart(before->median, median), before->median);
    s->disturbed = (e->share >= 0 && e->share < SHARE_MIN) ||
                   (s->spread > SPREAD_MAX && between > FINE_PS) || s->moved > MOVED_MAX;
    c->disturbed += s->disturbed;
}

/* What one entry has beyond another, which the table has apart. */
static void add_rest(struct calibration *c, const char *name, const struct summary *of,
                     const struct summary *less)
{
    if (of == NULL || less == NULL || c->count == ENTRIES_MAX)
        return;
    struct summary s = *of;
    s.name = name;
    s.in_table = true;
    s.disturbed = of->disturbed || less->disturbed;
    int64_t *const all[] = {&s.median, &s.low, &s.high};
    for (int i = 0; i < 3; i++)
        *all[i] = *all[i] > less->median ? *all[i] - less->median : 0;
    for (int q = 0; q < NOISE_QUANTILES; q++)
        s.quantiles[q] = s.quantiles[q] > less->median ? s.quantiles[q] - less->median : 0;
    c->disturbed += s.disturbed;
    c->s[c->count++] = s;
}

/* A CPU that was idle for longer takes longer to wake; after a sleep of 1 ms it was. */
static void add_rests(struct calibration *c)
{
    const struct summary *later = find(c, HW_WAKE_LATER, false);
    add_rest(c, "wake_latency_deep", later, find(c, "wake_latency", false));
    add_rest(c, "timer_slack", find(c, "sleep of 1 ms, late", false), later);
}

/* ---- the table of costs ---- */

static int64_t clamp(int64_t ps) { return ps < 1 ? 1 : ps > COST_MAX_PS ? COST_MAX_PS : ps; }

static void source(cJSON *o, const struct calibration *c, const struct summary *s)
{
    char text[160];
    snprintf(text, sizeof text,
             "measured: median of %d, between %" PRId64 " and %" PRId64 " ps with 95 %%, class %s",
             s->n, s->low, s->high, c->class);
    cJSON_AddStringToObject(o, "source", text);
}

/* A table has a hit and a miss together: with one of them disturbed or not measured, neither. */
static void add_atomic(cJSON *port, const struct calibration *c, const struct summary *hit)
{
    const struct summary *miss = find(c, hit->name, true);
    if (miss == NULL || miss->disturbed)
        return;
    cJSON *o = cJSON_AddObjectToObject(port, hit->name);
    int64_t least = clamp(hit->median), most = clamp(miss->median);
    cJSON_AddNumberToObject(o, "hit", (double)least);
    cJSON_AddNumberToObject(o, "miss", (double)(most > least ? most : least));
    source(o, c, miss);
}

static void add_cost(cJSON *costs, const struct calibration *c, const struct summary *s)
{
    cJSON *o = cJSON_AddObjectToObject(costs, s->name);
    cJSON_AddNumberToObject(o, "ps", (double)clamp(s->median));
    source(o, c, s);
}

static void add_deep_after(cJSON *costs)
{
    cJSON *o = cJSON_AddObjectToObject(costs, "deep_after");
    cJSON_AddNumberToObject(o, "ps", HW_DEEP_NS * 1000.0);
    cJSON_AddStringToObject(o, "source", "estimate: between the two that are measured");
}

/* Thousandths of the median, for who draws instead of taking that. */
static void add_noise(cJSON *noise, const struct calibration *c, const struct summary *s)
{
    cJSON *o = cJSON_AddObjectToObject(noise, s->name),
          *list = cJSON_AddArrayToObject(o, "permille");
    for (int q = 0; q < NOISE_QUANTILES; q++)
        cJSON_AddItemToArray(list,
                             cJSON_CreateNumber((double)clamp(s->quantiles[q] * 1000 / s->median)));
    source(o, c, s);
}

static void add_noises(cJSON *table, const struct calibration *c)
{
    cJSON *noise = cJSON_AddObjectToObject(table, "noise");
    for (int k = 0; k < NOISE_COUNT; k++) {
        enum cost_kind of = cost_noise_of((enum cost_noise)k);
        const struct summary *s = of < COST_COUNT ? find(c, cost_kind_name(of), false) : NULL;
        if (s != NULL && s->in_table && !s->disturbed && s->median > 0) /* there are parts of it */
            add_noise(noise, c, s);
    }
}

static cJSON *table_of(const struct calibration *c)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "version", 1);
    cJSON_AddStringToObject(o, "name", "calibrated");
    cJSON_AddStringToObject(o, "unit", "ps");
    cJSON_AddStringToObject(o, "inherits", "reference");
    cJSON *ports = cJSON_AddObjectToObject(o, "ports"),
          *port = hw_port() != NULL ? cJSON_AddObjectToObject(ports, hw_port()) : NULL,
          *costs = cJSON_AddObjectToObject(o, "costs");
    cJSON_AddObjectToObject(o, "work");
    for (int i = 0; i < c->count; i++) {
        const struct summary *s = &c->s[i];
        if (!s->in_table || s->disturbed || s->miss)
            continue;
        if (!s->atomic)
            add_cost(costs, c, s);
        else if (port != NULL)
            add_atomic(port, c, s);
    }
    if (cJSON_HasObjectItem(costs, "wake_latency_deep"))
        add_deep_after(costs);
    add_noises(o, c);
    return o;
}

static void write_table(const struct calibration *c, const char *path)
{
    cJSON *o = table_of(c);
    char *text = cJSON_Print(o);
    FILE *f = fopen(path, "we");
    if (f == NULL || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0)
        cli_die(EXIT_USAGE, "%s: cannot be written", path);
    cJSON_free(text);
    cJSON_Delete(o);
}

/* ---- for who reads ---- */

static cJSON *json_of(const struct calibration *c)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "sched", c->class);
    cJSON_AddNumberToObject(o, "cpus", rt_cpus());
    cJSON_AddBoolToObject(o, "quiet", c->disturbed == 0);
    cJSON *list = cJSON_AddArrayToObject(o, "entries");
    for (int i = 0; i < c->count; i++) {
        const struct summary *s = &c->s[i];
        cJSON *e = cJSON_CreateObject();
        cJSON_AddStringToObject(e, "name", s->name);
        cJSON_AddStringToObject(e, "of", s->atomic ? s->miss ? "miss" : "hit" : "cost");
        cJSON_AddNumberToObject(e, "median_ps", (double)s->median);
        cJSON_AddNumberToObject(e, "low_ps", (double)s->low);
        cJSON_AddNumberToObject(e, "high_ps", (double)s->high);
        cJSON_AddNumberToObject(e, "samples", s->n);
        cJSON_AddNumberToObject(e, "cpu_permille", s->share);
        cJSON_AddNumberToObject(e, "spread_permille", s->spread);
        cJSON_AddNumberToObject(e, "moved_permille", s->moved);
        cJSON_AddBoolToObject(e, "disturbed", s->disturbed);
        cJSON_AddBoolToObject(e, "in_table", s->in_table);
        cJSON_AddItemToArray(list, e);
    }
    return o;
}

static void print(const struct calibration *c)
{
    printf("class %s, %d CPUs, twice\n\n%-32s %12s %12s %12s %8s %7s\n", c->class, rt_cpus(), "",
           "median ns", "from", "to", "samples", "moved");
    for (int i = 0; i < c->count; i++) {
        const struct summary *s = &c->s[i];
        printf("%-27s %-4s %12.3f %12.3f %12.3f %8d %6.1f%%%s\n", s->name,
               s->atomic ? s->miss ? "miss" : "hit" : "", (double)s->median / 1000,
               (double)s->low / 1000, (double)s->high / 1000, s->n, s->moved / 10.0,
               s->disturbed ? "  disturbed" : "");
    }
    if (c->disturbed > 0)
        printf("\nthe machine was not ours alone: %d disturbed, and in no table\n", c->disturbed);
}

static void set_class(const char *name)
{
    if (name == NULL)
        return;
    bool fifo = strcmp(name, "fifo") == 0;
    if (!fifo && strcmp(name, "other") != 0)
        cli_die(EXIT_USAGE, "--sched: want other or fifo, got '%s'", name);
    if (sched_setscheduler(0, fifo ? SCHED_FIFO : SCHED_OTHER,
                           &(struct sched_param){.sched_priority = fifo}) != 0)
        cli_die(EXIT_USAGE, "--sched: the system refuses the class '%s'", name);
}

int command_calibrate(const struct command *v, int argc, char **argv)
{
    static struct calibration once, c = {.first = &once};
    const char *out = NULL, *class = NULL;
    int64_t samples = SAMPLES_DEFAULT;
    bool json = false;
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"out", "FILE", "write a cost table, for --costs", OPT_TEXT, &out},
        {"sched", "CLASS", "measure in this scheduling class, other or fifo", OPT_TEXT, &class},
        {"samples", "N", "of each, 20 to 2000 (default 300)", OPT_COUNT, &samples},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 0, 0);
    json = csv_or_json(&csv, json, "entries");
    if (samples < SAMPLES_MIN || samples > HW_SAMPLES_MAX)
        cli_die(EXIT_USAGE, "--samples: want %d to %d, got %" PRId64, SAMPLES_MIN, HW_SAMPLES_MAX,
                samples);
    set_class(class);
    c.class = rt_sched_name(RT_SCHED_OWN);
    if (!hw_measure((int)samples, summarise, &once) || !hw_measure((int)samples, summarise, &c))
        cli_die(EXIT_USAGE, "calibrate: the system gives no more threads or descriptors");
    add_rests(&c);
    if (out != NULL)
        write_table(&c, out);
    if (json)
        out_json(json_of(&c));
    else
        print(&c);
    return c.disturbed == 0 ? EXIT_CLEAN : EXIT_BUDGET;
}
