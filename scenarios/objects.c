/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a scenario, distributions of durations, arrival processes. */
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"
#include "sim/base/dist.h"

/* ---- durations ---- */

/* A pair ["1us", "5us"] under the key. */
static void duration_pair(struct cc *c, const cJSON *v, struct dist_spec *s)
{
    json_want_array(c->doc, v);
    if (cJSON_GetArraySize(v) != 2)
        json_want(c->doc, v, "two durations");
    s->a = json_duration(c->doc, v->child);
    s->b = json_duration(c->doc, v->child->next);
}

static void read_bins(struct cc *c, const cJSON *v, struct dist_spec *s)
{
    static const char *const keys[] = {"from", "to", "weight", NULL};
    json_want_array(c->doc, v);
    struct dist_bin *bins = pool_alloc(c->pool, ((size_t)cJSON_GetArraySize(v) + 1) * sizeof *bins);
    s->bins = bins;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        json_want_object(c->doc, e);
        json_keys(c->doc, e, keys);
        struct dist_bin *b = &bins[s->nbins++];
        b->low = json_duration(c->doc, json_need(c->doc, e, "from"));
        b->high = json_duration_or(c->doc, e, "to", b->low);
        b->weight = (uint64_t)json_int_or(c->doc, e, "weight", 1, 0, 1000000000);
    }
}

/* The key's number, as it stands there and times 1000. */
static uint32_t number_beside(struct cc *c, const cJSON *o, const char *key, int64_t max,
                              struct dist_spec *s)
{
    const cJSON *v = json_need(c->doc, o, key);
    int64_t milli = json_milli(c->doc, v, max);
    s->number = v->valuedouble;
    return (uint32_t)milli;
}

static int read_lognormal(struct cc *c, const cJSON *o, struct dist_spec *s, struct dist *d,
                          struct failure *f)
{
    const cJSON *p99 = json_member(o, "p99");
    s->a = json_duration(c->doc, o->child);
    if (p99 != NULL) {
        s->b = json_duration(c->doc, p99);
        return dist_lognormal_p99(d, s->a, s->b, f);
    }
    if (json_member(o, "sigma") == NULL)
        json_bad(c->doc, o, false, "lognormal wants \"p99\" or \"sigma\" beside the median");
    return dist_lognormal(d, s->a, number_beside(c, o, "sigma", 100, s), f);
}

static int read_parameters(struct cc *c, const cJSON *o, struct dist_spec *s, struct dist *d,
                           struct failure *f)
{
    const cJSON *v = o->child;
    switch (s->is) {
    case D_FIXED: return dist_fixed(d, s->a = json_duration(c->doc, v), f);
    case D_EXP: return dist_exponential(d, s->a = json_duration(c->doc, v), f);
    case D_UNIFORM: duration_pair(c, v, s); return dist_uniform(d, s->a, s->b, f);
    case D_LOGNORMAL: return read_lognormal(c, o, s, d, f);
    case D_PARETO:
        s->a = json_duration(c->doc, v);
        return dist_pareto(d, s->a, number_beside(c, o, "alpha", 1000, s), f);
    case D_BIMODAL:
        duration_pair(c, v, s);
        return dist_bimodal(d, s->a, s->b, number_beside(c, o, "percent", 100, s) * 10, f);
    case D_EMPIRICAL: read_bins(c, v, s); return dist_bins(d, s->bins, s->nbins, f);
    }
    return 0;
}

static void read_clamp(struct cc *c, const cJSON *o, struct dist_spec *s, struct dist *d)
{
    struct failure f = {0};
    s->has_min = json_member(o, "min") != NULL;
    s->has_max = json_member(o, "max") != NULL;
    s->min = json_duration_or(c->doc, o, "min", 0);
    s->max = json_duration_or(c->doc, o, "max", DIST_MAX);
    if ((s->has_min || s->has_max) && dist_clamp(d, s->min, s->max, &f) != 0)
        json_bad(c->doc, o, false, "%s", f.text);
}

const struct dist_spec *read_distribution(struct cc *c, const cJSON *o)
{
    static const char *const names[] = {"fixed",   "exp",       "uniform", "lognormal", "pareto",
                                        "bimodal", "empirical", "p99",     "sigma",     "alpha",
                                        "percent", "min",       "max",     NULL};
    struct failure f = {0};
    json_keys(c->doc, o, names);
    if (o->child == NULL)
        json_want(c->doc, o, "a distribution such as {\"exp\": \"1ms\"}");
    int word = 0;
    while (strcmp(o->child->string, names[word]) != 0)
        word++;
    if (word > D_EMPIRICAL)
        json_bad(c->doc, o->child, true, "the distribution's own key comes first");
    struct dist *d = pool_alloc(c->pool, sizeof *d);
    struct dist_spec *s = pool_alloc(c->pool, sizeof *s);
    s->is = (enum dist_word)word;
    s->dist = d;
    if (read_parameters(c, o, s, d, &f) != 0)
        json_bad(c->doc, o, false, "%s", f.text);
    read_clamp(c, o, s, d);
    return s;
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

static void read_gap(struct cc *c, const cJSON *v, struct arrivals_spec *s)
{
    struct failure f = {0};
    if (cJSON_IsObject(v)) {
        s->gap = read_distribution(c, v);
        s->dist = s->gap->dist;
        return;
    }
    struct dist *fixed = pool_alloc(c->pool, sizeof *fixed);
    s->gap_ns = json_duration(c->doc, v);
    if (dist_fixed(fixed, s->gap_ns, &f) != 0)
        json_bad(c->doc, v, false, "%s", f.text);
    s->dist = fixed;
}

/* {"every": gap} | {"burst": n, "every": gap} | {"times": [...]} | {"clients": n, "think": gap},
 * with start, end, count. */
static const struct arrivals_spec *read_arrivals(struct cc *c, const cJSON *o)
{
    static const char *const keys[] = {"every", "burst", "times", "clients", "think",
                                       "start", "end",   "count", NULL};
    struct json *doc = c->doc;
    json_want_object(doc, o);
    json_keys(doc, o, keys);
    struct arrivals_spec *s = pool_alloc(c->pool, sizeof *s);
    s->a = (struct arrivals){.mode = 1, .gap = -1, .size = 1};
    const cJSON *every = json_member(o, "every"), *times = json_member(o, "times"),
                *clients = json_member(o, "clients");
    if ((every != NULL) + (times != NULL) + (clients != NULL) != 1)
        json_want(doc, o, "one of \"every\", \"times\", \"clients\"");
    if (times != NULL) {
        s->a.kind = ARRIVE_TIMES;
        arrival_times(c, times, &s->a);
    } else if (clients != NULL) {
        s->a.kind = ARRIVE_CLOSED;
        s->a.size = json_int(doc, clients, 1, 1000000);
        read_gap(c, json_need(doc, o, "think"), s);
    } else {
        s->a.size = json_int_or(doc, o, "burst", 1, 1, 1000000);
        s->a.kind = json_member(o, "burst") != NULL ? ARRIVE_BURSTS : ARRIVE_EVERY;
        read_gap(c, every, s);
    }
    s->a.start_ns = json_duration_or(doc, o, "start", 0);
    s->a.end_ns = json_duration_or(doc, o, "end", 0);
    s->a.count = json_int_or(doc, o, "count", 0, 0, INT64_C(1) << 53);
    return s;
}

/* ---- kinds of objects ---- */

static enum object_kind kind_of(struct cc *c, const cJSON *at, const char *name)
{
    static const char *const names[] = {"chan", "mutex", "rwmutex",   "waitgroup",
                                        "cond", "once",  "semaphore", "pool",
                                        "var",  "fd",    NULL};
    enum object_kind kind = object_kind_of(name);
    if (kind < OBJ_DECLARED)
        return kind;
    const char *near = nearest(name, names);
    json_bad(c->doc, at, false, "unknown kind of object \"%.60s\"%s%s%s", name,
             near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* The lock of a cond: an object that stands before it, in the same struct or in the file; of an
 * RWMutex also its RLocker, "rw.RLocker". */
static int64_t lock_of(struct cc *c, const cJSON *v, const struct member *beside, bool *rlocker)
{
    static const char suffix[] = ".RLocker";
    char *name = pool_text(c->pool, json_string(c->doc, v));
    size_t n = strlen(name), dot = n > sizeof suffix - 1 ? n - (sizeof suffix - 1) : n;
    *rlocker = strcmp(name + dot, suffix) == 0;
    if (*rlocker)
        name[dot] = 0;
    const struct shape *s = NULL;
    int64_t at = 0;
    for (; beside != NULL; beside = beside->next)
        if (strcmp(beside->name, name) == 0) {
            s = beside->shape;
            at = beside->at;
        }
    const struct thing *t = s == NULL ? thing_find(c, name) : NULL;
    if (t != NULL) {
        s = t->shape;
        at = -1 - (int64_t)t->first;
    }
    if (s == NULL || s->is != S_ONE ||
        !(s->kind == OBJ_RWMUTEX || (s->kind == OBJ_MUTEX && !*rlocker)))
        json_bad(c->doc, v, false,
                 "a cond wants the name of a mutex that stands before it, got \"%.60s\"",
                 v->valuestring);
    return at;
}

static void read_param(struct cc *c, struct shape *s, const cJSON *v, const struct member *beside)
{
    switch (s->kind) {
    case OBJ_CHAN: s->param = json_int(c->doc, v, 0, 1 << 24); return;
    case OBJ_SEMA: s->param = json_int(c->doc, v, 1, INT64_C(1) << 40); return;
    case OBJ_VAR: s->param = json_int(c->doc, v, -(INT64_C(1) << 53), INT64_C(1) << 53); return;
    case OBJ_COND: s->param = lock_of(c, v, beside, &s->rlocker); return;
    case OBJ_FD:
        if (!cJSON_IsNull(v))
            s->arrivals = read_arrivals(c, v);
        return;
    default: json_bad(c->doc, v, true, "this kind has no parameter; write its name as a string");
    }
}

static const struct shape *shape_among(struct cc *c, const cJSON *spec,
                                       const struct member *beside);

/* {"array": 5, "of": OBJECT} */
static void read_array(struct cc *c, const cJSON *o, struct shape *s)
{
    static const char *const keys[] = {"array", "of", NULL};
    json_keys(c->doc, o, keys);
    s->is = S_ARRAY;
    s->count = (uint32_t)json_int(c->doc, json_need(c->doc, o, "array"), 1, OBJECTS_MAX);
    s->of = shape_among(c, json_need(c->doc, o, "of"), NULL);
    uint64_t size = (uint64_t)s->count * s->of->size;
    if (size > OBJECTS_MAX)
        json_bad(c->doc, o, false, "more than %d objects", OBJECTS_MAX);
    s->size = (uint32_t)size;
}

/* {"struct": {"mu": "mutex", "full": {"cond": "mu"}}} */
static void read_struct(struct cc *c, const cJSON *members, struct shape *s)
{
    json_want_object(c->doc, members);
    if (members->child == NULL)
        json_want(c->doc, members, "a member at least");
    s->is = S_STRUCT;
    struct member **end = &s->members;
    for (const cJSON *v = members->child; v != NULL; v = v->next) {
        if (!name_ok(v->string))
            json_bad(c->doc, v, true, "want a name of letters, digits and _, got \"%.60s\"",
                     v->string);
        struct member *m = pool_alloc(c->pool, sizeof *m);
        *m = (struct member){.name = pool_text(c->pool, v->string), .at = s->size};
        m->shape = shape_among(c, v, s->members);
        s->size += m->shape->size;
        if (s->size > OBJECTS_MAX)
            json_bad(c->doc, v, true, "more than %d objects", OBJECTS_MAX);
        *end = m;
        end = &m->next;
    }
}

/* "mutex" or {"chan": 2}; an array, a struct. */
static const struct shape *shape_among(struct cc *c, const cJSON *spec, const struct member *beside)
{
    struct shape *s = pool_alloc(c->pool, sizeof *s);
    s->is = S_ONE;
    s->size = 1;
    if (cJSON_IsString(spec)) {
        s->kind = kind_of(c, spec, spec->valuestring);
        if (s->kind == OBJ_SEMA || s->kind == OBJ_COND)
            json_bad(c->doc, spec, false, "a %s needs a parameter: {\"%s\": ...}",
                     spec->valuestring, spec->valuestring);
        return s;
    }
    json_want_object(c->doc, spec);
    if (json_member(spec, "array") != NULL) {
        read_array(c, spec, s);
        return s;
    }
    if (cJSON_GetArraySize(spec) != 1)
        json_want(c->doc, spec, "one kind, such as {\"chan\": 0}");
    if (strcmp(spec->child->string, "struct") == 0) {
        s->size = 0;
        read_struct(c, spec->child, s);
        return s;
    }
    s->kind = kind_of(c, spec, spec->child->string);
    read_param(c, s, spec->child, beside);
    return s;
}

const struct shape *read_shape(struct cc *c, const cJSON *spec)
{
    const struct shape *s = shape_among(c, spec, NULL);
    if (s->is != S_ONE)
        json_bad(c->doc, spec, false, "arrays and structs are declared in \"objects\"");
    return s;
}

/* ---- objects ---- */

bool name_ok(const char *s)
{
    bool good = s[0] != 0 && strlen(s) < 60 && !(s[0] >= '0' && s[0] <= '9');
    for (const char *p = s; *p != 0; p++)
        good = good && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                        (*p >= '0' && *p <= '9') || *p == '_');
    return good && strcmp(s, "true") != 0 && strcmp(s, "false") != 0 && strcmp(s, "nil") != 0;
}

const struct thing *thing_find(const struct cc *c, const char *name)
{
    int32_t found = texts_find(&c->thing_names, name);
    return found >= 0 ? &c->tree.things[found] : NULL;
}

int32_t build_arrivals_of(struct cc *c, const struct arrivals_spec *s)
{
    struct arrivals a = s->a;
    if (s->dist != NULL)
        a.gap = build_dist(&c->b, s->dist);
    return build_arrivals(&c->b, &a);
}

/* The objects of a shape, in a row, named as the language names them. */
static void build_row(struct cc *c, const struct shape *s, const char *name, int32_t row)
{
    char text[200];
    int64_t param = s->param;
    switch (s->is) {
    case S_ONE:
        if (s->kind == OBJ_FD)
            param = s->arrivals != NULL ? build_arrivals_of(c, s->arrivals) : -1;
        if (s->kind == OBJ_COND)
            param = (param < 0 ? -1 - param : row + param) + (s->rlocker ? COND_RLOCKER : 0);
        (void)build_object(&c->b, s->kind, param, name);
        return;
    case S_ARRAY:
        for (uint32_t i = 0; i < s->count; i++) {
            snprintf(text, sizeof text, "%s[%u]", name, i);
            build_row(c, s->of, text, (int32_t)c->b.p.nobjects);
        }
        return;
    case S_STRUCT:
        row = (int32_t)c->b.p.nobjects;
        for (const struct member *m = s->members; m != NULL; m = m->next) {
            snprintf(text, sizeof text, "%s.%s", name, m->name);
            build_row(c, m->shape, text, row);
        }
    }
}

void read_objects(struct cc *c, const cJSON *objects)
{
    if (objects == NULL)
        return;
    json_want_object(c->doc, objects);
    for (const cJSON *o = objects->child; o != NULL; o = o->next) {
        if (!name_ok(o->string))
            json_bad(c->doc, o, true, "want a name of letters, digits and _, got \"%.60s\"",
                     o->string);
        const struct shape *s = shape_among(c, o, NULL);
        if (c->b.p.nobjects + s->size > OBJECTS_MAX)
            json_bad(c->doc, o, true, "more than %d objects", OBJECTS_MAX);
        struct tree *t = &c->tree;
        POOL_ROOM(c->pool, t->things, t->nthings, t->things_cap);
        t->things[t->nthings++] = (struct thing){pool_text(c->pool, o->string), s,
                                                 (int32_t)c->b.p.nobjects};
        (void)texts_add(c->pool, &c->thing_names, o->string);
        build_row(c, s, o->string, (int32_t)c->b.p.nobjects);
    }
}
