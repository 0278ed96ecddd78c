/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/expect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/compile.h"

enum relation { REL_LT, REL_LE, REL_EQ, REL_GE, REL_GT };

struct condition {
    struct condition *next;
    const char *name; /* counter, or span */
    const char *stat; /* p50, p99, p99.9, max, count; NULL for a counter */
    const char *text; /* as in the file: "< 2ms" */
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
    struct lines {
        const char **line;
        size_t count;
    } order, sched; /* in this order, with others between */
    struct blocked *blocked;
    bool has_blocked;
    struct condition *counters, *ps, *spans, *runq_wait, *makespan, *throttled, *nr_throttled;
};

/* What a condition's number is. */
enum unit { UNIT_COUNT, UNIT_TIME, UNIT_PERCENT };

/* ---- compiling ---- */

static const char *const ends[] = {"finishes", "deadlock",  "fatal", "panic",
                                   "threads",  "assert",    "exit",  "leak",
                                   "time",     "invariant", NULL};

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

static const char *const counter_names[] = {
#define COUNTER(name, what) #name,
#include "model/counters.def"
#undef COUNTER
    NULL};

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
    if ((v = json_member(o, "throttled")) != NULL)
        e->throttled = compile_condition(c, v, UNIT_TIME);
    if ((v = json_member(o, "nr_throttled")) != NULL)
        e->nr_throttled = compile_condition(c, v, UNIT_COUNT);
    struct condition **end = &e->runq_wait;
    if ((v = json_member(o, "runq_wait")) != NULL)
        compile_stats(c, v, "run-queue wait", &end);
}

/* Those that this expectation is about: some of the file's. */
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

static struct expect *compile_one(struct cc *c, const cJSON *o)
{
    static const char *const keys[] = {"profiles",     "end",       "text",     "output",
                                       "order",        "blocked",   "counters", "ps",
                                       "spans",        "runq_wait", "makespan", "throttled",
                                       "nr_throttled", "why",       "sched",    NULL};
    const cJSON *v;
    json_want_object(c->doc, o);
    json_keys(c->doc, o, keys);
    struct expect *e = pool_alloc(c->pool, sizeof *e);
    if ((v = json_member(o, "profiles")) != NULL)
        e->nprofiles = compile_about(c, v, e->profiles);
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
        if (r->gs[i].is->blocked)
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

/* The next line of a text that is this one; *at moves behind it. */
static bool find_line(const char *text, size_t size, size_t *at, const char *line)
{
    size_t n = strlen(line);
    while (*at < size) {
        const char *begin = text + *at, *end = memchr(begin, '\n', size - *at);
        size_t length = end != NULL ? (size_t)(end - begin) : size - *at;
        *at += length + 1;
        if (length == n && memcmp(begin, line, n) == 0)
            return true;
    }
    return false;
}

static void check_lines(struct check *k, const struct lines *l, const char *text, size_t size)
{
    size_t at = 0, ignored = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (find_line(text, size, &at, l->line[i]))
            continue;
        if (i == 0 || !find_line(text, size, &ignored, l->line[i]))
            complain(k, "expected the line \"%.160s\"; it was not printed", l->line[i]);
        else
            complain(k, "expected the line \"%.160s\" after \"%.160s\"", l->line[i],
                     l->line[i - 1]);
        return;
    }
}

static void check_blocked(struct check *k, const struct expect *e)
{
    int64_t named = 0, all = 0;
    for (const struct blocked *b = e->blocked; b != NULL; b = b->next) {
        int64_t n = 0;
        for (size_t i = 0; i < k->r->ngs; i++) {
            const struct run_g *g = &k->r->gs[i];
            n += g->is->blocked && strcmp(g->is->group, b->group) == 0 &&
                 (b->reason == NULL || strcmp(g->is->reason, b->reason) == 0);
        }
        named += n;
        if (n != b->count)
            complain(k, "expected %" PRId64 " of \"%.60s\" blocked%s%.60s%s; there are %" PRId64,
                     b->count, b->group, b->reason ? " [" : "", b->reason ? b->reason : "",
                     b->reason ? "]" : "", n);
    }
    for (size_t i = 0; i < k->r->ngs; i++)
        all += k->r->gs[i].is->blocked;
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
            complain(k, "expected %s %s; got %" PRId64, c->name, c->text, got);
    }
}

static int64_t stat_of(struct hist *h, const char *stat)
{
    if (strcmp(stat, "count") == 0)
        return (int64_t)h->count;
    if (strcmp(stat, "max") == 0)
        return h->max;
    if (strcmp(stat, "min") == 0)
        return h->min;
    uint32_t ppm = strcmp(stat, "p50") == 0   ? 500000
                   : strcmp(stat, "p90") == 0 ? 900000
                   : strcmp(stat, "p99") == 0 ? 990000
                                              : 999000;
    return hist_percentile(h, ppm);
}

enum { NUMBER = 32 };

/* "614.104ms" */
static const char *time_words(int64_t ns, char buf[NUMBER])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int64_t scale = 1;
    int u = 0;
    while (u < 3 && ns / scale >= 1000) {
        scale *= 1000;
        u++;
    }
    if (u == 0)
        snprintf(buf, NUMBER, "%" PRId64 "ns", ns);
    else
        snprintf(buf, NUMBER, "%" PRId64 ".%03d%s", ns / scale, (int)(ns % scale / (scale / 1000)),
                 units[u]);
    return buf;
}

static void check_stat(struct check *k, const struct condition *c, struct hist *h)
{
    char text[NUMBER];
    int64_t got = stat_of(h, c->stat);
    if (holds(c->rel, got, c->value))
        return;
    if (strcmp(c->stat, "count") == 0)
        snprintf(text, sizeof text, "%" PRId64, got);
    else
        time_words(got, text);
    complain(k, "expected %s(%s) %s; got %s", c->stat, c->name, c->text, text);
}

static void check_spans(struct check *k, const struct expect *e)
{
    for (const struct condition *c = e->spans; c != NULL; c = c->next)
        for (size_t i = 0; i < k->r->nspans; i++)
            if (strcmp(k->r->spans[i].name, c->name) == 0)
                check_stat(k, c, k->r->spans[i].latency);
    for (const struct condition *c = e->runq_wait; c != NULL; c = c->next)
        check_stat(k, c, k->r->runq_wait);
}

/* Shares of the time of all Ps, to a hundredth of a percent. */
static void check_ps(struct check *k, const struct expect *e)
{
    uint64_t total = 0;
    for (int i = 0; i < PC_COUNT; i++)
        total += k->r->p_ps[i] / 1000;
    for (const struct condition *c = e->ps; c != NULL && total > 0; c = c->next) {
        int i = 0;
        while (strcmp(p_class_names[i], c->name) != 0)
            i++;
        int64_t got = (int64_t)(k->r->p_ps[i] / 1000 / (total / 10000 + 1));
        if (!holds(c->rel, got, c->value * 100))
            complain(k, "expected the Ps %s %s; got %" PRId64 ".%02d%%", c->name, c->text,
                     got / 100, (int)(got % 100));
    }
}

static void check_time(struct check *k, const struct condition *c, const char *what, uint64_t ps)
{
    char text[NUMBER];
    int64_t ns = (int64_t)(ps / 1000);
    if (c != NULL && !holds(c->rel, ns, c->value))
        complain(k, "expected %s %s; got %s", what, c->text, time_words(ns, text));
}

static void check_quota(struct check *k, const struct expect *e)
{
    const struct condition *c = e->nr_throttled;
    check_time(k, e->throttled, "a throttled time", k->r->throttled_ps);
    if (c != NULL && !holds(c->rel, (int64_t)k->r->nr_throttled, c->value))
        complain(k, "expected nr_throttled %s; got %" PRIu64, c->text, k->r->nr_throttled);
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

static void check_one(struct check *k, const struct expect *e)
{
    check_end(k, e);
    check_output(k, e);
    check_lines(k, &e->order, k->r->out, k->r->out_size);
    check_lines(k, &e->sched, k->r->sched, k->r->sched_size);
    check_blocked(k, e);
    check_counters(k, e);
    check_spans(k, e);
    check_ps(k, e);
    check_quota(k, e);
    check_time(k, e->makespan, "a makespan", k->r->now_ps);
}

int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   expect_say *say, void *arg)
{
    static const struct expect finishes = {.end = "finishes"};
    struct check k = {.r = r, .say = say, .arg = arg};
    bool any = false;
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (applies(e, release)) {
            check_one(&k, e);
            any = true;
        }
    if (!any)
        check_one(&k, &finishes); /* nothing is said about this release */
    return k.failed;
}
