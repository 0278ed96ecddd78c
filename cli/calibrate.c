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

enum {
    SAMPLES_DEFAULT = 300,
    SAMPLES_MIN = 20,
    SHARE_MIN = 980,  /* permille of the CPU, or the machine was not ours */
    SPREAD_MAX = 500, /* permille of the median, between the quartiles */
    ENTRIES_MAX = 64
};

/* What is left of an entry when its samples are gone. */
struct summary {
    const char *name;
    bool atomic, miss, in_table, disturbed;
    int n, share, spread;
    int64_t median, low, high; /* ps; the median is between them with 95 % */
};

struct calibration {
    struct summary s[ENTRIES_MAX];
    int count, disturbed;
    const char *class;
};

/* Order statistics: no shape of the distribution is assumed. */
static void summarise(void *arg, const struct hw_entry *e)
{
    struct calibration *c = arg;
    if (e->n == 0 || c->count == ENTRIES_MAX)
        return;
    int64_t median = e->ps[e->n / 2], between = e->ps[e->n * 3 / 4] - e->ps[e->n / 4];
    int reach = (int)(0.98 * sqrt(e->n)) + 1, mid = e->n / 2;
    struct summary *s = &c->s[c->count++];
    *s = (struct summary){.name = e->name,
                          .atomic = e->atomic,
                          .miss = e->miss,
                          .in_table = e->in_table,
                          .spread = (int)(between * 1000 / (median > 0 ? median : 1)),
                          .n = e->n,
                          .share = e->share,
                          .median = median,
                          .low = e->ps[mid > reach ? mid - reach : 0],
                          .high = e->ps[mid + reach < e->n ? mid + reach : e->n - 1]};
    /* Less than 50 ps apart is how fine the clock is. */
    s->disturbed = (e->share >= 0 && e->share < SHARE_MIN) ||
                   (s->spread > SPREAD_MAX && between > 50);
    c->disturbed += s->disturbed;
}

static const struct summary *find(const struct calibration *c, const char *name, bool miss)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->s[i].name, name) == 0 && c->s[i].miss == miss)
            return &c->s[i];
    return NULL;
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
        cJSON_AddBoolToObject(e, "disturbed", s->disturbed);
        cJSON_AddBoolToObject(e, "in_table", s->in_table);
        cJSON_AddItemToArray(list, e);
    }
    return o;
}

static void print(const struct calibration *c)
{
    printf("class %s, %d CPUs\n\n%-32s %12s %12s %12s %8s\n", c->class, rt_cpus(), "", "median ns",
           "from", "to", "samples");
    for (int i = 0; i < c->count; i++) {
        const struct summary *s = &c->s[i];
        printf("%-27s %-4s %12.3f %12.3f %12.3f %8d%s\n", s->name,
               s->atomic ? s->miss ? "miss" : "hit" : "", (double)s->median / 1000,
               (double)s->low / 1000, (double)s->high / 1000, s->n,
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
    static struct calibration c;
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
    hw_measure((int)samples, summarise, &c);
    add_rests(&c);
    if (out != NULL)
        write_table(&c, out);
    if (json)
        out_json(json_of(&c));
    else
        print(&c);
    return c.disturbed == 0 ? EXIT_CLEAN : EXIT_BUDGET;
}
