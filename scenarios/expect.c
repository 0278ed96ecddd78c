/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/expect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"

enum relation { REL_LT, REL_LE, REL_EQ, REL_GE, REL_GT };
static const char *const relations[] = {"<", "<=", "==", ">=", ">"};

struct condition {
    struct condition *next;
    const char *name; /* counter, or span */
    const char *stat; /* p50, p99, p99.9, max, count; NULL for a counter */
    enum relation rel;
    int64_t value;
};

struct blocked {
    struct blocked *next;
    const char *group, *reason;
    int64_t count;
};

struct expect {
    struct expect *next;
    int profiles[SCENARIO_PROFILES_MAX];
    int nprofiles; /* 0: all */
    const char *end, *text, *output;
    struct blocked *blocked;
    bool has_blocked;
    struct condition *counters, *spans, *makespan;
};

/* ---- compiling ---- */

static const char *const ends[] = {"finishes", "deadlock", "fatal", "panic", "threads",
                                   "assert",   "exit",     "leak",  "time",  NULL};

/* "<= 2ms", "== 5". */
static void parse_condition(struct cc *c, const cJSON *v, struct condition *out, bool duration)
{
    const char *s = json_string(c->doc, v);
    static const char *const longest[] = {"<=", ">=", "==", "<", ">"};
    static const enum relation rel[] = {REL_LE, REL_GE, REL_EQ, REL_LT, REL_GT};
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(longest[i]);
        if (strncmp(s, longest[i], n) != 0)
            continue;
        out->rel = rel[i];
        s += n;
        while (*s == ' ')
            s++;
        if (duration && json_parse_duration(s, &out->value))
            return;
        int used = 0;
        if (sscanf(s, "%" SCNd64 "%n", &out->value, &used) == 1 && s[used] == 0)
            return;
    }
    json_bad(c->doc, v, false, "want a condition such as \"%s\"", duration ? "< 2ms" : ">= 5");
}

/* At the end of a list: *end is where the next one goes. */
static struct condition *add_condition(struct cc *c, struct condition ***end)
{
    struct condition *k = pool_alloc(c->pool, sizeof *k);
    **end = k;
    *end = &k->next;
    return k;
}

static const char *const counter_names[] = {
#define COUNTER(name, what) #name,
#include "model/counters.def"
#undef COUNTER
    NULL};

static void compile_counters(struct cc *c, const cJSON *o, struct expect *e)
{
    json_want_object(c->doc, o);
    json_keys(c->doc, o, counter_names);
    struct condition **end = &e->counters;
    for (const cJSON *v = o->child; v != NULL; v = v->next) {
        struct condition *k = add_condition(c, &end);
        k->name = pool_text(c->pool, v->string);
        parse_condition(c, v, k, false);
    }
}

static void compile_spans(struct cc *c, const cJSON *o, struct expect *e)
{
    static const char *const stats[] = {"p50", "p90", "p99", "p99.9", "max", "min", "count", NULL};
    json_want_object(c->doc, o);
    struct condition **end = &e->spans;
    for (const cJSON *s = o->child; s != NULL; s = s->next) {
        if (names_find(&c->span_names, c->spans, sizeof *c->spans, s->string) < 0)
            json_bad(c->doc, s, true, "no span \"%.60s\" in the program", s->string);
        json_want_object(c->doc, s);
        json_keys(c->doc, s, stats);
        for (const cJSON *v = s->child; v != NULL; v = v->next) {
            struct condition *k = add_condition(c, &end);
            k->name = pool_text(c->pool, s->string);
            k->stat = pool_text(c->pool, v->string);
            parse_condition(c, v, k, strcmp(k->stat, "count") != 0);
        }
    }
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
        b->group = pool_text(c->pool, json_string(c->doc, json_need(c->doc, o, "group")));
        const cJSON *reason = json_member(o, "reason");
        b->reason = reason != NULL ? pool_text(c->pool, json_string(c->doc, reason)) : NULL;
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

static struct expect *compile_one(struct cc *c, const cJSON *o)
{
    static const char *const keys[] = {"profiles", "end",   "text",     "output", "blocked",
                                       "counters", "spans", "makespan", "why",    NULL};
    json_want_object(c->doc, o);
    json_keys(c->doc, o, keys);
    struct expect *e = pool_alloc(c->pool, sizeof *e);
    const cJSON *v = json_member(o, "profiles");
    if (v != NULL)
        e->nprofiles = compile_profiles(c, v, e->profiles);
    v = json_member(o, "end");
    e->end = v != NULL ? pool_text(c->pool, json_string(c->doc, v)) : "finishes";
    int i = 0;
    while (ends[i] != NULL && strcmp(ends[i], e->end) != 0)
        i++;
    if (ends[i] == NULL) {
        const char *near = json_nearest(e->end, ends);
        json_bad(c->doc, v, false, "unknown end \"%.40s\"; %s \"%s\"", e->end,
                 near ? "did you mean" : "one is", near ? near : ends[0]);
    }
    v = json_member(o, "text");
    e->text = v != NULL ? pool_text(c->pool, json_string(c->doc, v)) : NULL;
    v = json_member(o, "output");
    e->output = v != NULL ? compile_output(c, v) : NULL;
    v = json_member(o, "blocked");
    if (v != NULL)
        compile_blocked(c, v, e);
    v = json_member(o, "counters");
    if (v != NULL)
        compile_counters(c, v, e);
    v = json_member(o, "spans");
    if (v != NULL)
        compile_spans(c, v, e);
    v = json_member(o, "makespan");
    struct condition **end = &e->makespan;
    if (v != NULL)
        parse_condition(c, v, add_condition(c, &end), true);
    return e;
}

const struct expect *compile_expect(struct cc *c, const cJSON *list)
{
    if (list == NULL)
        return NULL;
    if (cJSON_IsObject(list))
        return compile_one(c, list);
    json_want_array(c->doc, list);
    struct expect *first = NULL, **at = &first;
    for (const cJSON *o = list->child; o != NULL; o = o->next) {
        *at = compile_one(c, o);
        at = &(*at)->next;
    }
    return first;
}

/* ---- checking ---- */

struct check {
    const struct run_result *r;
    expect_say *say;
    void *arg;
    int failed;
};

static __attribute__((format(printf, 2, 3))) void complain(struct check *k, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    k->say(k->arg, text);
    k->failed++;
}

static bool holds(enum relation rel, int64_t got, int64_t want)
{
    switch (rel) {
    case REL_LT: return got < want;
    case REL_LE: return got <= want;
    case REL_EQ: return got == want;
    case REL_GE: return got >= want;
    case REL_GT: return got > want;
    }
    return false;
}

static bool any_blocked(const struct run_result *r)
{
    for (size_t i = 0; i < r->ngs; i++)
        if (r->gs[i].blocked)
            return true;
    return false;
}

static const char *end_of(const struct run_result *r)
{
    static const char *const by_kind[FIND_KINDS] = {"finishes",  "deadlock", "fatal",
                                                    "panic",     "threads",  "assert",
                                                    "invariant", "limit",    "exit"};
    switch (r->end) {
    case RUN_FINISHED: return "finishes";
    case RUN_FINDING: return r->kind >= 0 && r->kind < FIND_KINDS ? by_kind[r->kind] : "finding";
    case RUN_IDLE: return "deadlock";
    case RUN_TIME: return "time";
    default: return "broken";
    }
}

static void check_end(struct check *k, const struct expect *e)
{
    const char *got = end_of(k->r);
    bool leak = strcmp(e->end, "leak") == 0;
    if (strcmp(got, leak ? "finishes" : e->end) != 0)
        complain(k, "expected the run to end with: %s; it ended with: %s%s%.300s", e->end, got,
                 k->r->text[0] ? ": " : "", k->r->text);
    else if (leak && !any_blocked(k->r))
        complain(k, "expected goroutines that stay blocked; there are none");
    if (e->text != NULL && strstr(k->r->text, e->text) == NULL)
        complain(k, "expected the text \"%.200s\"; got \"%.300s\"", e->text, k->r->text);
}

static void check_output(struct check *k, const struct expect *e)
{
    if (e->output == NULL ||
        (strlen(e->output) == k->r->out_size && memcmp(e->output, k->r->out, k->r->out_size) == 0))
        return;
    size_t i = 0, line = 1;
    while (i < k->r->out_size && e->output[i] == k->r->out[i])
        line += e->output[i++] == '\n';
    complain(k, "the output differs in line %zu: expected \"%.80s...\"; got \"%.*s...\"", line,
             e->output + i, (int)(k->r->out_size - i > 80 ? 80 : k->r->out_size - i),
             k->r->out + i);
}

static void check_blocked(struct check *k, const struct expect *e)
{
    int64_t named = 0, all = 0;
    for (const struct blocked *b = e->blocked; b != NULL; b = b->next) {
        int64_t n = 0;
        for (size_t i = 0; i < k->r->ngs; i++) {
            const struct run_g *g = &k->r->gs[i];
            n += g->blocked && strcmp(g->group, b->group) == 0 &&
                 (b->reason == NULL || strcmp(g->reason, b->reason) == 0);
        }
        named += n;
        if (n != b->count)
            complain(k, "expected %" PRId64 " of \"%.60s\" blocked%s%.60s%s; there are %" PRId64,
                     b->count, b->group, b->reason ? " [" : "", b->reason ? b->reason : "",
                     b->reason ? "]" : "", n);
    }
    for (size_t i = 0; i < k->r->ngs; i++)
        all += k->r->gs[i].blocked;
    if (e->has_blocked && all != named)
        complain(k, "%" PRId64 " goroutines are blocked that were not expected to be", all - named);
}

static int counter_index(const char *name)
{
    int i = 0;
    while (strcmp(counter_names[i], name) != 0)
        i++;
    return i;
}

static void check_counters(struct check *k, const struct expect *e)
{
    for (const struct condition *c = e->counters; c != NULL; c = c->next) {
        int64_t got = (int64_t)k->r->counters[counter_index(c->name)];
        if (!holds(c->rel, got, c->value))
            complain(k, "expected %s %s %" PRId64 "; got %" PRId64, c->name, relations[c->rel],
                     c->value, got);
    }
}

static int64_t span_stat(const struct run_span *s, const char *stat)
{
    if (strcmp(stat, "count") == 0)
        return (int64_t)s->latency->count;
    if (strcmp(stat, "max") == 0)
        return s->latency->max;
    if (strcmp(stat, "min") == 0)
        return s->latency->min;
    uint32_t ppm = strcmp(stat, "p50") == 0   ? 500000
                   : strcmp(stat, "p90") == 0 ? 900000
                   : strcmp(stat, "p99") == 0 ? 990000
                                              : 999000;
    return hist_percentile(s->latency, ppm);
}

static void check_spans(struct check *k, const struct expect *e)
{
    for (const struct condition *c = e->spans; c != NULL; c = c->next)
        for (size_t i = 0; i < k->r->nspans; i++) {
            if (strcmp(k->r->spans[i].name, c->name) != 0)
                continue;
            int64_t got = span_stat(&k->r->spans[i], c->stat);
            if (!holds(c->rel, got, c->value))
                complain(k, "expected %s(%s) %s %" PRId64 "; got %" PRId64, c->stat, c->name,
                         relations[c->rel], c->value, got);
        }
}

static bool applies(const struct expect *e, int release)
{
    for (int i = 0; i < e->nprofiles; i++)
        if (e->profiles[i] == release)
            return true;
    return e->nprofiles == 0;
}

int scenario_expects(const struct scenario *s)
{
    int n = 0;
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        n++;
    return n;
}

int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   expect_say *say, void *arg)
{
    static const struct expect finishes = {.end = "finishes"};
    struct check k = {.r = r, .say = say, .arg = arg};
    for (const struct expect *e = s->expects != NULL ? s->expects : &finishes; e != NULL;
         e = e->next) {
        if (!applies(e, release))
            continue;
        check_end(&k, e);
        check_output(&k, e);
        check_blocked(&k, e);
        check_counters(&k, e);
        check_spans(&k, e);
        if (e->makespan != NULL &&
            !holds(e->makespan->rel, (int64_t)(r->now_ps / 1000), e->makespan->value))
            complain(&k, "expected a makespan %s %" PRId64 " ns; got %" PRIu64 " ns",
                     relations[e->makespan->rel], e->makespan->value, r->now_ps / 1000);
    }
    return k.failed;
}
