/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a scenario, distributions of durations, arrival processes. */
#include <string.h>

#include "scenarios/compile.h"
#include "sim/base/dist.h"

/* ---- durations ---- */

/* A pair ["1us", "5us"] under the key. */
static void duration_pair(struct cc *c, const cJSON *v, int64_t *a, int64_t *b)
{
    json_want_array(c->doc, v);
    if (cJSON_GetArraySize(v) != 2)
        json_want(c->doc, v, "two durations");
    *a = json_duration(c->doc, v->child);
    *b = json_duration(c->doc, v->child->next);
}

static int empirical(struct cc *c, const cJSON *v, struct dist *d, struct failure *f)
{
    json_want_array(c->doc, v);
    uint32_t n = (uint32_t)cJSON_GetArraySize(v), i = 0;
    struct dist_bin *bins = pool_alloc(c->pool, (n + 1) * sizeof *bins);
    static const char *const keys[] = {"from", "to", "weight", NULL};
    for (const cJSON *e = v->child; e != NULL; e = e->next, i++) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        bins[i].low = json_duration(c->doc, json_need(c->doc, e, "from"));
        bins[i].high = json_duration_or(c->doc, e, "to", bins[i].low);
        bins[i].weight = (uint64_t)json_int_or(c->doc, e, "weight", 1, 0, 1000000000);
    }
    return dist_bins(d, bins, n, f);
}

static int one_distribution(struct cc *c, const cJSON *o, struct dist *d, struct failure *f)
{
    struct json *doc = c->doc;
    const cJSON *v = o->child;
    const char *name = v->string;
    int64_t a, b;
    if (strcmp(name, "fixed") == 0)
        return dist_fixed(d, json_duration(doc, v), f);
    if (strcmp(name, "exp") == 0)
        return dist_exponential(d, json_duration(doc, v), f);
    if (strcmp(name, "uniform") == 0) {
        duration_pair(c, v, &a, &b);
        return dist_uniform(d, a, b, f);
    }
    if (strcmp(name, "lognormal") == 0) {
        const cJSON *p99 = json_member(o, "p99"), *sigma = json_member(o, "sigma");
        a = json_duration(doc, v);
        if (p99 != NULL)
            return dist_lognormal_p99(d, a, json_duration(doc, p99), f);
        if (sigma == NULL)
            json_bad(doc, o, false, "lognormal wants \"p99\" or \"sigma\" beside the median");
        return dist_lognormal(d, a, (uint32_t)json_milli(doc, sigma, 100), f);
    }
    if (strcmp(name, "pareto") == 0)
        return dist_pareto(d, json_duration(doc, v),
                           (uint32_t)json_milli(doc, json_need(doc, o, "alpha"), 1000), f);
    if (strcmp(name, "bimodal") == 0) {
        duration_pair(c, v, &a, &b);
        return dist_bimodal(d, a, b,
                            (uint32_t)json_milli(doc, json_need(doc, o, "percent"), 100) * 10, f);
    }
    return empirical(c, v, d, f);
}

static const struct dist *distribution(struct cc *c, const cJSON *o)
{
    static const char *const names[] = {"fixed",   "exp",       "uniform", "lognormal", "pareto",
                                        "bimodal", "empirical", "p99",     "sigma",     "alpha",
                                        "percent", "min",       "max",     NULL};
    struct failure f = {0};
    json_keys(c->doc, o, names);
    if (o->child == NULL || nearest(o->child->string, names) == NULL)
        json_want(c->doc, o, "a distribution such as {\"exp\": \"1ms\"}");
    for (int i = 7; names[i] != NULL; i++)
        if (strcmp(o->child->string, names[i]) == 0)
            json_bad(c->doc, o->child, true, "the distribution's own key comes first");
    struct dist *d = pool_alloc(c->pool, sizeof *d);
    if (one_distribution(c, o, d, &f) != 0)
        json_bad(c->doc, o, false, "%s", f.text);
    if (json_member(o, "min") != NULL || json_member(o, "max") != NULL) {
        int64_t min = json_duration_or(c->doc, o, "min", 0),
                max = json_duration_or(c->doc, o, "max", DIST_MAX);
        if (dist_clamp(d, min, max, &f) != 0)
            json_bad(c->doc, o, false, "%s", f.text);
    }
    return d;
}

int32_t compile_duration(struct cc *c, const cJSON *value, int64_t *ns)
{
    *ns = 0;
    if (cJSON_IsObject(value))
        return build_dist(&c->b, distribution(c, value));
    *ns = json_duration(c->doc, value);
    return -1;
}

/* ---- arrivals ---- */

static void arrival_times(struct cc *c, const cJSON *v, struct arrivals *a)
{
    json_want_array(c->doc, v);
    uint32_t n = (uint32_t)cJSON_GetArraySize(v), i = 0;
    int64_t *times = pool_alloc(c->pool, (n + 1) * sizeof *times);
    for (const cJSON *e = v->child; e != NULL; e = e->next, i++) {
        times[i] = json_duration(c->doc, e);
        if (i > 0 && times[i] < times[i - 1])
            json_bad(c->doc, e, false, "times must not go back, to \"%.40s\"", e->valuestring);
    }
    a->times = times;
    a->ntimes = n;
}

static int32_t gap(struct cc *c, const cJSON *v)
{
    int64_t ns;
    int32_t d = compile_duration(c, v, &ns);
    if (d >= 0)
        return d;
    struct failure f = {0};
    struct dist *fixed = pool_alloc(c->pool, sizeof *fixed);
    if (dist_fixed(fixed, ns, &f) != 0)
        json_bad(c->doc, v, false, "%s", f.text);
    return build_dist(&c->b, fixed);
}

/* {"every": gap} | {"burst": n, "every": gap} | {"times": [...]} | {"clients": n, "think": gap},
 * with start, end, count. */
static int32_t compile_arrivals(struct cc *c, const cJSON *o)
{
    static const char *const keys[] = {"every", "burst", "times", "clients", "think",
                                       "start", "end",   "count", NULL};
    struct json *doc = c->doc;
    json_want_object(doc, o);
    json_keys(doc, o, keys);
    struct arrivals a = {.mode = 1, .gap = -1};
    const cJSON *every = json_member(o, "every"), *times = json_member(o, "times"),
                *clients = json_member(o, "clients");
    if ((every != NULL) + (times != NULL) + (clients != NULL) != 1)
        json_want(doc, o, "one of \"every\", \"times\", \"clients\"");
    a.size = 1;
    if (times != NULL) {
        a.kind = ARRIVE_TIMES;
        arrival_times(c, times, &a);
    } else if (clients != NULL) {
        a.kind = ARRIVE_CLOSED;
        a.size = json_int(doc, clients, 1, 1000000);
        a.gap = gap(c, json_need(doc, o, "think"));
    } else {
        a.size = json_int_or(doc, o, "burst", 1, 1, 1000000);
        a.kind = json_member(o, "burst") != NULL ? ARRIVE_BURSTS : ARRIVE_EVERY;
        a.gap = gap(c, every);
    }
    a.start_ns = json_duration_or(doc, o, "start", 0);
    a.end_ns = json_duration_or(doc, o, "end", 0);
    a.count = json_int_or(doc, o, "count", 0, 0, INT64_C(1) << 53);
    return build_arrivals(&c->b, &a);
}

/* ---- objects ---- */

static const char *const kind_names[] = {"chan", "mutex", "rwmutex",   "waitgroup",
                                         "cond", "once",  "semaphore", "pool",
                                         "var",  "fd",    NULL};

static enum object_kind kind_of(struct cc *c, const cJSON *at, const char *name)
{
    enum object_kind kind = object_kind_of(name);
    if (kind < OBJ_DECLARED)
        return kind;
    const char *near = nearest(name, kind_names);
    json_bad(c->doc, at, false, "unknown kind of object \"%.60s\"%s%s%s", name,
             near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int64_t object_param(struct cc *c, enum object_kind kind, const cJSON *v)
{
    switch (kind) {
    case OBJ_CHAN: return json_int(c->doc, v, 0, 1 << 24);
    case OBJ_SEMA: return json_int(c->doc, v, 1, INT64_C(1) << 40);
    case OBJ_VAR: return json_int(c->doc, v, -(INT64_C(1) << 53), INT64_C(1) << 53);
    case OBJ_COND: {
        int32_t mu = build_find_object(&c->b, json_string(c->doc, v));
        if (mu < 0 || c->b.objects[mu].kind != OBJ_MUTEX)
            json_bad(c->doc, v, false,
                     "a cond wants the name of a mutex that stands before it, got \"%.60s\"",
                     v->valuestring);
        return mu;
    }
    case OBJ_FD: return cJSON_IsNull(v) ? -1 : compile_arrivals(c, v);
    default: json_bad(c->doc, v, true, "this kind has no parameter; write its name as a string");
    }
}

static bool needs_param(enum object_kind kind) { return kind == OBJ_SEMA || kind == OBJ_COND; }

/* "mutex" or {"chan": 2}. */
bool compile_make(struct cc *c, const cJSON *spec, enum object_kind *kind, int64_t *param)
{
    *param = 0;
    if (cJSON_IsString(spec)) {
        *kind = kind_of(c, spec, spec->valuestring);
        if (needs_param(*kind))
            json_bad(c->doc, spec, false, "a %s needs a parameter: {\"%s\": ...}",
                     spec->valuestring, spec->valuestring);
        if (*kind == OBJ_FD)
            *param = -1;
        return true;
    }
    json_want_object(c->doc, spec);
    if (cJSON_GetArraySize(spec) != 1)
        json_want(c->doc, spec, "one kind, such as {\"chan\": 0}");
    *kind = kind_of(c, spec->child, spec->child->string);
    *param = object_param(c, *kind, spec->child);
    return true;
}

void compile_objects(struct cc *c, const cJSON *objects)
{
    if (objects == NULL)
        return;
    json_want_object(c->doc, objects);
    for (const cJSON *o = objects->child; o != NULL; o = o->next) {
        enum object_kind kind;
        int64_t param;
        if (!name_ok(o->string))
            json_bad(c->doc, o, true, "want a name of letters, digits and _, got \"%.60s\"",
                     o->string);
        compile_make(c, o, &kind, &param);
        (void)build_object(&c->b, kind, param, o->string);
    }
}
