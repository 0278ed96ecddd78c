/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/expect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/api.h"
#include "scenarios/compile.h"

/* What a condition's number is. */
enum unit { UNIT_COUNT, UNIT_TIME, UNIT_PERCENT };

/* ---- compiling ---- */

static const char *const ends[] = {"finishes", "deadlock",  "fatal", "panic",
                                   "threads",  "assert",    "exit",  "leak",
                                   "time",     "invariant", "race",  NULL};

static bool parse_number(const char *s, enum unit unit, int64_t *value)
{
    int used = 0;
    if (unit == UNIT_TIME)
        return json_parse_duration(s, value);
    if (sscanf(s, "%" SCNd64 "%n", value, &used) != 1)
        return false;
    return strcmp(s + used, unit == UNIT_PERCENT ? "%" : "") == 0;
}

/* "<= 2ms", "== 5", "< 10%". */
static void parse_condition(struct cc *c, const cJSON *v, struct condition *out, enum unit unit)
{
    const char *s = json_string(c->doc, v);
    static const char *const longest[] = {"<=", ">=", "==", "<", ">"};
    static const enum relation rel[] = {REL_LE, REL_GE, REL_EQ, REL_LT, REL_GT};
    static const char *const wants[] = {"a condition such as \">= 5\"",
                                        "a condition with a unit such as \"< 2ms\"",
                                        "a condition in percent such as \"< 10%\""};
    out->text = pool_text(c->pool, s);
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(longest[i]);
        if (strncmp(s, longest[i], n) != 0)
            continue;
        out->rel = rel[i];
        if (parse_number(s + n + strspn(s + n, " "), unit, &out->value))
            return;
    }
    json_want(c->doc, v, wants[unit]);
}

/* At the end of a list: *end is where the next one goes. */
static struct condition *add_condition(struct cc *c, struct condition ***end)
{
    struct condition *k = pool_alloc(c->pool, sizeof *k);
    **end = k;
    *end = &k->next;
    return k;
}

const char *const p_class_names[] = {
    [PC_USER] = "user",    [PC_SCHED] = "scheduler",     [PC_SPIN] = "spinning",
    [PC_GC] = "gc",        [PC_SYSCALL] = "syscall",     [PC_IDLE] = "idle",
    [PC_NOCPU] = "no cpu", [PC_THROTTLED] = "throttled", [PC_COUNT] = NULL};

/* An object of conditions by name. */
static struct condition *compile_named(struct cc *c, const cJSON *o, const char *const *names,
                                       enum unit unit)
{
    struct condition *first = NULL, **end = &first;
    json_want_object(c->doc, o);
    json_keys(c->doc, o, names);
    for (const cJSON *v = o->child; v != NULL; v = v->next) {
        struct condition *k = add_condition(c, &end);
        k->name = pool_text(c->pool, v->string);
        parse_condition(c, v, k, unit);
    }
    return first;
}

static void compile_stats(struct cc *c, const cJSON *o, const char *name, struct condition ***end)
{
    static const char *const stats[] = {"p50", "p90", "p99", "p99.9", "max", "min", "count", NULL};
    json_want_object(c->doc, o);
    json_keys(c->doc, o, stats);
    for (const cJSON *v = o->child; v != NULL; v = v->next) {
        struct condition *k = add_condition(c, end);
        k->name = pool_text(c->pool, name);
        k->stat = pool_text(c->pool, v->string);
        parse_condition(c, v, k, strcmp(k->stat, "count") != 0 ? UNIT_TIME : UNIT_COUNT);
    }
}

/* The nearest of a table's names. */
static const char *near_in(struct cc *c, const char *s, const struct texts *names)
{
    const char **list = pool_alloc(c->pool, (names->count + 1) * sizeof *list);
    for (uint32_t i = 0; i < names->count; i++)
        list[i] = names->text[i];
    return nearest(s, list);
}

static _Noreturn void unknown(struct cc *c, const cJSON *at, bool key, const char *what,
                              const char *s, const char *near)
{
    json_bad(c->doc, at, key, "%s \"%.60s\"%s%.60s%s", what, s,
             near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
             near != NULL ? "\"?" : "");
}

static void compile_spans(struct cc *c, const cJSON *o, struct expect *e)
{
    json_want_object(c->doc, o);
    struct condition **end = &e->spans;
    for (const cJSON *s = o->child; s != NULL; s = s->next) {
        if (texts_find(&c->b.spans, s->string) < 0)
            unknown(c, s, true, "no span of the program is called", s->string,
                    near_in(c, s->string, &c->b.spans));
        compile_stats(c, s, s->string, &end);
    }
}

static void compile_lines(struct cc *c, const cJSON *list, struct lines *out)
{
    if (list == NULL)
        return;
    json_want_array(c->doc, list);
    out->line = pool_alloc(c->pool, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *out->line);
    for (const cJSON *l = list->child; l != NULL; l = l->next)
        out->line[out->count++] = pool_text(c->pool, json_string(c->doc, l));
}

static const char *const wait_reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
    NULL};

/* A goroutine's group is the name it was started under, or else its function's. */
static const char *compile_group(struct cc *c, const cJSON *v)
{
    const char *s = json_string(c->doc, v);
    if (texts_find(&c->b.groups, s) >= 0 || build_find_func(&c->b, s) >= 0)
        return pool_text(c->pool, s);
    unknown(c, v, false, "no goroutine of the program is called", s, near_in(c, s, &c->b.groups));
}

static const char *compile_reason(struct cc *c, const cJSON *v)
{
    if (v == NULL)
        return NULL;
    const char *s = json_string(c->doc, v);
    for (const char *const *w = wait_reasons + 1; *w != NULL; w++)
        if (strcmp(*w, s) == 0)
            return *w;
    unknown(c, v, false, "Go has no wait reason", s, nearest(s, wait_reasons + 1));
}

static void compile_blocked(struct cc *c, const cJSON *list, struct expect *e)
{
    static const char *const keys[] = {"group", "reason", "count", NULL};
    json_want_array(c->doc, list);
    e->has_blocked = true;
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        json_want_object(c->doc, o);
        json_keys(c->doc, o, keys);
        struct blocked *b = pool_alloc(c->pool, sizeof *b);
        b->group = compile_group(c, json_need(c->doc, o, "group"));
        b->reason = compile_reason(c, json_member(o, "reason"));
        b->count = json_int_or(c->doc, o, "count", 1, 0, INT64_C(1) << 40);
        b->next = e->blocked;
        e->blocked = b;
    }
}

/* Lines, or one string as it is. */
static const char *compile_output(struct cc *c, const cJSON *v)
{
    if (cJSON_IsString(v))
        return pool_text(c->pool, v->valuestring);
    json_want_array(c->doc, v);
    size_t size = 1;
    for (const cJSON *l = v->child; l != NULL; l = l->next)
        size += strlen(json_string(c->doc, l)) + 1;
    char *text = pool_alloc(c->pool, size), *p = text;
    for (const cJSON *l = v->child; l != NULL; l = l->next)
        p += sprintf(p, "%s\n", l->valuestring);
    return text;
}

static const char *compile_end(struct cc *c, const cJSON *v)
{
    if (v == NULL)
        return ends[0];
    const char *end = json_string(c->doc, v);
    for (int i = 0; ends[i] != NULL; i++)
        if (strcmp(ends[i], end) == 0)
            return ends[i];
    const char *near = nearest(end, ends);
    json_bad(c->doc, v, false, "unknown end \"%.40s\"; %s \"%s\"", end,
             near ? "did you mean" : "one is", near ? near : ends[0]);
}

static struct condition *compile_condition(struct cc *c, const cJSON *v, enum unit unit)
{
    struct condition *k = pool_alloc(c->pool, sizeof *k);
    parse_condition(c, v, k, unit);
    return k;
}

/* The keys that are numbers of the whole run. */
static void compile_numbers(struct cc *c, const cJSON *o, struct expect *e)
{
    const cJSON *v;
    if ((v = json_member(o, "counters")) != NULL)
        e->counters = compile_named(c, v, counter_names, UNIT_COUNT);
    if ((v = json_member(o, "ps")) != NULL)
        e->ps = compile_named(c, v, p_class_names, UNIT_PERCENT);
    if ((v = json_member(o, "makespan")) != NULL)
        e->makespan = compile_condition(c, v, UNIT_TIME);
    if ((v = json_member(o, "starved")) != NULL)
        e->starved = compile_condition(c, v, UNIT_TIME);
    if ((v = json_member(o, "throttled")) != NULL)
        e->throttled = compile_condition(c, v, UNIT_TIME);
    if ((v = json_member(o, "nr_throttled")) != NULL)
        e->nr_throttled = compile_condition(c, v, UNIT_COUNT);
    struct condition **end = &e->runq_wait;
    if ((v = json_member(o, "runq_wait")) != NULL)
        compile_stats(c, v, "run-queue wait", &end);
}

/* The releases that this expectation is about: some of the file's. */
static int compile_about(struct cc *c, const cJSON *v, int *out)
{
    const struct scenario *s = c->s;
    int n = compile_profiles(c, v, out);
    const cJSON *at = cJSON_IsArray(v) ? v->child : v;
    for (int i = 0; i < n; i++, at = at->next) {
        int k = 0;
        while (k < s->nprofiles && s->profiles[k] != out[i])
            k++;
        if (k == s->nprofiles)
            json_bad(c->doc, at, false, "the file is not for \"%.40s\"; name it in \"profiles\"",
                     at->valuestring);
    }
    return n;
}

/* true, or "numbers". */
static enum expect_virtual compile_virtual(struct cc *c, const cJSON *v)
{
    if (v == NULL || cJSON_IsFalse(v))
        return VIRTUAL_NOTHING;
    if (cJSON_IsTrue(v))
        return VIRTUAL_ALL;
    if (!cJSON_IsString(v) || strcmp(v->valuestring, "numbers") != 0)
        json_want(c->doc, v, "true or \"numbers\"");
    return VIRTUAL_NUMBERS;
}

static struct expect *compile_one(struct cc *c, const cJSON *o, const char *const *keys)
{
    const cJSON *v;
    json_want_object(c->doc, o);
    json_keys(c->doc, o, keys);
    struct expect *e = pool_alloc(c->pool, sizeof *e);
    if ((v = json_member(o, "profiles")) != NULL)
        e->nprofiles = compile_about(c, v, e->profiles);
    e->in_virtual = compile_virtual(c, json_member(o, "virtual"));
    e->on_time = json_bool_or(c->doc, o, "on_time", false);
    e->one_order = !json_bool_or(c->doc, o, "any_order", true);
    e->end = compile_end(c, json_member(o, "end"));
    if ((v = json_member(o, "text")) != NULL)
        e->text = pool_text(c->pool, json_string(c->doc, v));
    if ((v = json_member(o, "output")) != NULL)
        e->output = compile_output(c, v);
    compile_lines(c, json_member(o, "order"), &e->order);
    compile_lines(c, json_member(o, "sched"), &e->sched);
    if ((v = json_member(o, "blocked")) != NULL)
        compile_blocked(c, v, e);
    if ((v = json_member(o, "spans")) != NULL)
        compile_spans(c, v, e);
    compile_numbers(c, o, e);
    return e;
}

/* One expectation, or a list of them. */
static const struct expect *compile_list(struct cc *c, const cJSON *list, const char *const *keys)
{
    if (cJSON_IsObject(list))
        return compile_one(c, list, keys);
    json_want_array(c->doc, list);
    struct expect *first = NULL, **at = &first;
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        *at = compile_one(c, o, keys);
        at = &(*at)->next;
    }
    return first;
}

const struct expect *compile_expect(struct cc *c, const cJSON *list)
{
    static const char *const keys[] = {"profiles",     "end",       "text",     "output",
                                       "order",        "blocked",   "counters", "ps",
                                       "spans",        "runq_wait", "makespan", "throttled",
                                       "nr_throttled", "why",       "sched",    "virtual",
                                       "any_order",    "on_time",   "starved",  NULL};
    return list != NULL ? compile_list(c, list, keys) : NULL;
}

/* What does not depend on how long things take: it has to hold in any schedule that is found. */
const struct expect *compile_bugs(struct cc *c, const cJSON *list)
{
    static const char *const keys[] = {"profiles", "end", "text",   "output", "order",
                                       "blocked",  "why", "always", NULL};
    if (list == NULL)
        return NULL;
    const cJSON *o = cJSON_IsArray(list) ? list->child : list;
    if (cJSON_IsArray(list) && o == NULL)
        json_want(c->doc, list, "a bug at least");
    const struct expect *bugs = compile_list(c, list, keys);
    for (; o != NULL; o = cJSON_IsArray(list) ? o->next : NULL)
        c->s->bug_always |= json_bool_or(c->doc, o, "always", false);
    return bugs;
}

bool scenario_expects_output(const struct scenario *s)
{
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (e->output != NULL || e->order.count > 0)
            return true;
    return false;
}
