/* SPDX-License-Identifier: BSD-3-Clause */
/* The top level of a scenario file. */
#include "scenarios/scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/compile.h"
#include "scenarios/faults.h"
#include "sim/base/text.h"

int compile_profiles(struct cc *c, const cJSON *v, int *out)
{
    int n = 0;
    const cJSON *first = cJSON_IsArray(v) ? v->child : v;
    for (const cJSON *p = first; p != NULL; p = cJSON_IsArray(v) ? p->next : NULL) {
        int release = profile_parse(json_string(c->doc, p));
        if (release < 0)
            json_bad(c->doc, p, false, "no profile \"%.40s\"; they are go1.%d to go1.%d and latest",
                     p->valuestring, PROFILE_FIRST, PROFILE_LATEST);
        if (n == SCENARIO_PROFILES_MAX)
            json_bad(c->doc, p, false, "more than %d profiles", SCENARIO_PROFILES_MAX);
        out[n++] = release;
    }
    return n;
}

/* Each rule may be all right and the release with them not. */
static void rules_go_together(struct cc *c, const cJSON *rules)
{
    for (int i = 0; i < c->s->nprofiles; i++) {
        struct profile p;
        (void)scenario_profile(NULL, c->s, c->s->profiles[i], &p);
        const char *refusal = profile_refusal(&p);
        if (refusal != NULL)
            json_bad(c->doc, rules, true, "with go1.%d: %s", p.release, refusal);
    }
}

static _Noreturn void bad_rule(struct cc *c, const cJSON *r, int64_t v)
{
    int64_t min = 0, max = 0;
    (void)profile_range(r->string, &min, &max);
    json_bad(c->doc, r, false, "%s is from %" PRId64 " to %" PRId64 "%s, not %" PRId64, r->string,
             min, max, strcmp(r->string, "ring_len") == 0 ? " and a power of two" : "", v);
}

static void compile_rules(struct cc *c, const cJSON *rules)
{
    if (rules == NULL)
        return;
    json_want_object(c->doc, rules);
    const char **names = pool_alloc(c->pool, (profile_rules_count + 1) * sizeof *names);
    for (size_t i = 0; i < profile_rules_count; i++)
        names[i] = profile_rules[i].name;
    json_keys(c->doc, rules, names);
    struct profile check;
    (void)profile_init(&check, PROFILE_LATEST);
    for (const cJSON *r = rules->child; r != NULL; r = r->next) {
        int64_t v = cJSON_IsBool(r) ? cJSON_IsTrue(r) : json_int(c->doc, r, INT64_MIN, INT64_MAX);
        if (c->s->nrules == SCENARIO_RULES_MAX)
            json_bad(c->doc, r, true, "more than %d rules", SCENARIO_RULES_MAX);
        if (profile_set(&check, r->string, v) != 0)
            bad_rule(c, r, v);
        c->s->rules[c->s->nrules++] = (struct scenario_rule){pool_text(c->pool, r->string), v};
    }
    rules_go_together(c, rules);
}

/* CPUs, or "none", as microseconds per period. */
static int64_t quota_of(struct cc *c, const cJSON *quota)
{
    if (cJSON_IsString(quota) && strcmp(quota->valuestring, "none") == 0)
        return 0;
    int64_t us = json_milli(c->doc, quota, 4096) * c->s->period_us / 1000;
    if (us < 1000)
        json_want(c->doc, quota, "a quota of at least 1 ms per period");
    return us;
}

static void compile_quota_change(struct cc *c, const cJSON *v)
{
    static const char *const keys[] = {"at", "quota", NULL};
    struct scenario *s = c->s;
    json_want_object(c->doc, v);
    json_keys(c->doc, v, keys);
    int64_t before = s->nquotas > 0 ? s->quotas[s->nquotas - 1].at_ns : 0;
    const cJSON *at = json_need(c->doc, v, "at");
    struct scenario_quota q = {json_duration(c->doc, at),
                               quota_of(c, json_need(c->doc, v, "quota"))};
    if (q.at_ns <= before)
        json_want(c->doc, at, "a time after that of the quota before");
    s->quotas[s->nquotas++] = q;
}

/* "quota": 2, or the first one and its changes: [2, {"at": "1s", "quota": 4}]. */
static void compile_quota(struct cc *c, const cJSON *quota)
{
    if (!cJSON_IsArray(quota)) {
        c->s->quota_us = quota_of(c, quota);
        return;
    }
    int n = cJSON_GetArraySize(quota);
    if (n < 1 || n > SCENARIO_QUOTAS_MAX)
        json_bad(c->doc, quota, false, "want a quota and up to %d changes of it",
                 SCENARIO_QUOTAS_MAX - 1);
    c->s->quota_us = quota_of(c, quota->child);
    c->s->quotas = pool_alloc(c->pool, (size_t)n * sizeof *c->s->quotas);
    for (const cJSON *v = quota->child->next; v != NULL; v = v->next)
        compile_quota_change(c, v);
}

static void compile_host(struct cc *c, const cJSON *host)
{
    static const char *const keys[] = {"cpus", "quota", "period", NULL};
    if (host == NULL)
        return;
    json_want_object(c->doc, host);
    json_keys(c->doc, host, keys);
    const cJSON *cpus = json_member(host, "cpus"), *quota = json_member(host, "quota");
    if (cpus != NULL && !(cJSON_IsString(cpus) && strcmp(cpus->valuestring, "dedicated") == 0))
        c->s->cpus = (int32_t)json_int(c->doc, cpus, 1, SCENARIO_CPUS_MAX);
    c->s->period_us = json_duration_or(c->doc, host, "period", 100000000) / 1000;
    if (c->s->period_us < 1000 || c->s->period_us > 1000000)
        json_want(c->doc, json_need(c->doc, host, "period"), "a period from 1ms to 1s");
    if (quota != NULL)
        compile_quota(c, quota);
}

/* The names of a function's parameters; gives how many. */
static uint32_t parameters(struct cc *c, const cJSON *list, struct name ***out)
{
    uint32_t n = 0;
    json_want_array(c->doc, list);
    struct name **names = pool_alloc(c->pool,
                                     ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *names);
    for (const cJSON *p = list->child; p != NULL; p = p->next) {
        const char *name = json_string(c->doc, p);
        if (n == 64)
            json_bad(c->doc, p, false, "more than 64 parameters");
        if (!name_ok(name))
            json_bad(c->doc, p, false, "want a name of letters, digits and _, got \"%.60s\"", name);
        if (thing_find(c, name) != NULL)
            json_bad(c->doc, p, false, "\"%.60s\" is an object already", name);
        for (uint32_t i = 0; i < n; i++)
            if (strcmp(names[i]->text, name) == 0)
                json_bad(c->doc, p, false, "a second parameter \"%.60s\"", name);
        names[n++] = name_new(c, name);
    }
    *out = names;
    return n;
}

/* { "name": {"params": [...], "do": [...]} } or { "name": [...] } */
static void declare_functions(struct cc *c, const cJSON *funcs)
{
    static const char *const keys[] = {"params", "do", "why", NULL};
    if (funcs == NULL)
        return;
    json_want_object(c->doc, funcs);
    for (const cJSON *f = funcs->child; f != NULL; f = f->next) {
        struct name **params = NULL;
        if (strcmp(f->string, "main") == 0)
            json_bad(c->doc, f, true, "main is a key of its own");
        if (!text_is_plain_name(f->string))
            json_bad(c->doc, f, true, "a name with a control character, or none");
        if (cJSON_IsArray(f)) {
            func_add(c, f->string, NULL, 0, f, f);
            continue;
        }
        json_want_object(c->doc, f);
        json_keys(c->doc, f, keys);
        const cJSON *body = json_need(c->doc, f, "do"), *list = json_member(f, "params");
        uint32_t n = list != NULL ? parameters(c, list, &params) : 0;
        func_add(c, f->string, params, n, f, body);
    }
}

static void compile_seed(struct cc *c, const cJSON *v)
{
    if (v == NULL)
        return;
    c->s->has_seed = true;
    c->s->seed = (uint64_t)json_int(c->doc, v, 0, INT64_C(1) << 53);
}

static void compile_faults(struct cc *c, const cJSON *list)
{
    const cJSON *v;
    struct failure f = {0};
    if (list == NULL)
        return;
    json_want_array(c->doc, list);
    cJSON_ArrayForEach (v, list) {
        const char *text = json_string(c->doc, v);
        if (strchr(text, ',') != NULL || text[0] == 0)
            json_want(c->doc, v, "one fault");
        if (!faults_add(&f, &c->s->faults, text))
            json_bad(c->doc, v, false, "%s", f.text);
    }
}

static void compile(struct cc *c)
{
    static const char *const keys[] = {
        "name",   "why",   "profile", "profiles",   "rules",       "procs", "host",
        "seed",   "until", "objects", "schedtrace", "scheddetail", "funcs", "main",
        "expect", "bug",   "faults",  "$schema",    NULL};
    struct json *doc = c->doc;
    struct scenario *s = c->s;
    const cJSON *root = doc->root;
    json_want_object(doc, root);
    json_keys(doc, root, keys);
    s->name = read_label(c, json_need(doc, root, "name"));
    const cJSON *why = json_member(root, "why");
    s->why = why != NULL ? pool_text(c->pool, json_string(doc, why)) : "";
    const cJSON *one = json_member(root, "profile"), *many = json_member(root, "profiles");
    if (one != NULL && many != NULL)
        json_bad(doc, many, true, "\"profile\" and \"profiles\" exclude each other");
    if (one != NULL || many != NULL)
        s->nprofiles = compile_profiles(c, one != NULL ? one : many, s->profiles);
    if (s->nprofiles == 0)
        s->profiles[s->nprofiles++] = PROFILE_LATEST;
    compile_rules(c, json_member(root, "rules"));
    compile_host(c, json_member(root, "host"));
    compile_seed(c, json_member(root, "seed"));
    compile_faults(c, json_member(root, "faults"));
    s->procs = (int32_t)json_int_or(doc, root, "procs", 0, 1, PROCS_MAX);
    s->until_ns = json_duration_or(doc, root, "until", 0);
    if (s->until_ns == 0 && json_member(root, "until") != NULL)
        json_want(doc, json_member(root, "until"), "a time longer than 0");
    s->schedtrace_ns = json_duration_or(doc, root, "schedtrace", 0);
    s->scheddetail = json_bool_or(doc, root, "scheddetail", false);
    read_objects(c, json_member(root, "objects"));
    const cJSON *main_body = json_need(doc, root, "main");
    c->main = func_add(c, "main", NULL, 0, main_body, main_body);
    (void)build_group(&c->b, "main");
    declare_functions(c, json_member(root, "funcs"));
    read_functions(c);
    emit_program(c);
    s->program = *build_done(&c->b, (uint32_t)c->main, json_at(doc, NULL));
    s->expects = compile_expect(c, json_member(root, "expect"));
    s->bugs = compile_bugs(c, json_member(root, "bug"));
}

static void load(struct json *doc, struct scenario *s)
{
    json_open(doc);
    struct cc *c = pool_alloc(s->pool, sizeof *c);
    c->doc = doc;
    c->s = s;
    c->pool = s->pool;
    s->compiled = c;
    build_init(&c->b, c->pool, &doc->mistakes);
    c->b.make[0] = "{\"make\": ..., \"as\": \"";
    c->b.make[1] = "\"}";
    compile(c);
}

static struct scenario *load_text(struct failure *f, const char *path, const char *text,
                                  size_t size, int64_t jitter_ns)
{
    struct pool *pool = pool_new();
    struct scenario *s = pool_alloc(pool, sizeof *s);
    s->pool = pool;
    s->jitter_ns = jitter_ns;
    struct json *doc = pool_alloc(pool, sizeof *doc);
    char *copy = pool_alloc(pool, size + 1);
    memcpy(copy, text, size);
    doc->mistakes.f = f;
    doc->source = (struct source){path, copy, size};
    if (setjmp(doc->mistakes.jump) != 0) {
        json_close(doc);
        pool_free(pool);
        return NULL;
    }
    load(doc, s);
    json_close(doc);
    return s;
}

struct scenario *scenario_load(struct failure *f, const char *path, const char *text, size_t size)
{
    return load_text(f, path, text, size, /*jitter_ns*/ 0);
}

static struct scenario *load_stream(struct failure *f, const char *path, FILE *in,
                                    int64_t jitter_ns)
{
    size_t size = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text != NULL && size <= JSON_SIZE_MAX) {
        size_t n = fread(text + size, 1, cap - size, in);
        size += n;
        if (n == 0)
            break;
        if (size == cap) {
            char *more = realloc(text, cap *= 2);
            if (more == NULL)
                free(text);
            text = more;
        }
    }
    struct scenario *s = NULL;
    if (text == NULL)
        fail(f, E_IO, "%s: out of memory", path);
    else if (ferror(in))
        fail(f, E_IO, "%s: %s", path, strerror(errno));
    else
        s = load_text(f, path, text, size, jitter_ns);
    free(text);
    return s;
}

struct scenario *scenario_load_file(struct failure *f, const char *path)
{
    return scenario_load_jittered(f, path, 0);
}

struct scenario *scenario_load_jittered(struct failure *f, const char *path, int64_t jitter_ns)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct scenario *s = load_stream(f, path, in, jitter_ns);
    fclose(in);
    return s;
}

void scenario_free(struct scenario *s)
{
    if (s != NULL)
        pool_free(s->pool);
}

void scenario_rules(const struct scenario *s, struct profile *out)
{
    for (int i = 0; i < s->nrules; i++)
        (void)profile_set(out, s->rules[i].name, s->rules[i].value); /* checked when it was read */
}

bool scenario_profile(struct failure *f, const struct scenario *s, int release, struct profile *out)
{
    if (!profile_init(out, release != 0 ? release : s->profiles[0])) {
        fail(f, E_PROFILE, "no profile go1.%d", release);
        return false;
    }
    scenario_rules(s, out);
    return true;
}
