/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/event.h"

struct check {
    const struct run_result *r;
    judge_say *say;
    void *arg;
    bool reports; /* what does not hold is said, not counted */
    int failed;
};

static __attribute__((format(printf, 2, 3))) void complain(struct check *k, const char *fmt, ...)
{
    char text[600], said[640];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (k->reports) {
        snprintf(said, sizeof said, "not judged here: %s", text);
        k->say(k->arg, said);
        return;
    }
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
    case END_STOPPED: return "finishes";
    case END_FINDING: return r->kind >= 0 && r->kind < FIND_KINDS ? by_kind[r->kind] : "finding";
    case END_IDLE: return "deadlock";
    case END_TIME: return "time";
    default: return "broken";
    }
}

enum { KINDS_SHOWN = 6 };

/* "2 of ask [chan send] at line 7, 1 of ..." */
static void kinds_text(const struct run_result *r, const struct expect *e,
                       bool (*wanted)(const struct expect *e, const struct run_g_kind *is),
                       char *text, size_t size)
{
    const struct run_g_kind *kind[KINDS_SHOWN];
    size_t count[KINDS_SHOWN], kinds = 0, n = 0;
    for (size_t i = 0; i < r->ngs; i++) {
        size_t k = 0;
        while (k < kinds && kind[k] != r->gs[i].is)
            k++;
        if (!wanted(e, r->gs[i].is) || k == KINDS_SHOWN)
            continue;
        kind[k] = r->gs[i].is;
        count[k] = k == kinds ? 1 : count[k] + 1;
        kinds = k == kinds ? k + 1 : kinds;
    }
    text[0] = 0;
    for (size_t k = 0; k < kinds && n + 1 < size; k++) {
        int used = snprintf(text + n, size - n, "%s%zu of \"%.60s\" [%s] at line %" PRIu32,
                            k > 0 ? ", " : "", count[k], kind[k]->group, kind[k]->reason,
                            kind[k]->line);
        n += used > 0 ? (size_t)used : 0;
    }
}

static bool is_stranded(const struct expect *e, const struct run_g_kind *is)
{
    (void)e;
    return is->stranded;
}

/* Where the file says nothing about who is blocked, nobody may be for ever. */
static bool says_who_is_blocked(const struct expect *e)
{
    return e->one_order || e->has_blocked || strcmp(e->end, "leak") == 0;
}

static void check_stranded(struct check *k)
{
    char text[400];
    if (k->r->stranded == 0)
        return;
    kinds_text(k->r, NULL, is_stranded, text, sizeof text);
    complain(k, "leaked: nobody can ever wake %s", text);
}

static void check_end(struct check *k, const struct expect *e)
{
    const char *got = end_of(k->r);
    bool leak = strcmp(e->end, "leak") == 0, race = strcmp(e->end, "race") == 0;
    if (race && k->r->races_sought && k->r->nraces == 0)
        complain(k, "expected a data race; there was none");
    if (strcmp(got, leak || race ? "finishes" : e->end) != 0)
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

/* Is it one of those that the file names? */
static bool is_named(const struct expect *e, const struct run_g_kind *is)
{
    for (const struct blocked *b = e->blocked; b != NULL; b = b->next)
        if (strcmp(is->group, b->group) == 0 &&
            (b->reason == NULL || strcmp(is->reason, b->reason) == 0))
            return true;
    return false;
}

static bool is_unnamed(const struct expect *e, const struct run_g_kind *is)
{
    return is->blocked && !is_named(e, is);
}

static void check_blocked(struct check *k, const struct expect *e)
{
    int64_t named = 0, all = 0;
    char text[400];
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
    if (e->has_blocked && all != named) {
        kinds_text(k->r, e, is_unnamed, text, sizeof text);
        complain(k, "%" PRId64 " goroutines are blocked that were not expected to be%s%s",
                 all - named, text[0] != 0 ? ": " : "", text);
    }
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

/* "count == N" says how often the program does something; that does not depend on time. */
static bool is_exact_count(const struct condition *c)
{
    return strcmp(c->stat, "count") == 0 && c->rel == REL_EQ;
}

static void check_spans(struct check *k, const struct expect *e)
{
    bool reports = k->reports;
    for (const struct condition *c = e->spans; c != NULL; c = c->next)
        for (size_t i = 0; i < k->r->nspans; i++)
            if (strcmp(k->r->spans[i].name, c->name) == 0) {
                k->reports = reports && (e->in_virtual == VIRTUAL_ALL || !is_exact_count(c));
                check_stat(k, c, k->r->spans[i].latency);
            }
    k->reports = reports;
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

/* It may have moved from runnext to the ring. */
static const char *place_words(const struct run_starved *s, char *buf, size_t size)
{
    buf[0] = 0;
    if (s->place == EV_place_global)
        snprintf(buf, size, ", in the global queue");
    else if (s->place != EV_place_none)
        snprintf(buf, size, ", queued on P%u", s->p);
    return buf;
}

/* A bound of the file's, or Go's. */
static void check_starved(struct check *k, const struct condition *c)
{
    const struct run_starved *s = &k->r->starved;
    char text[NUMBER], since[NUMBER], place[40], want[80];
    uint64_t most = k->r->runnable_max > 0 ? k->r->runnable_max : 1;
    if (c != NULL ? holds(c->rel, (int64_t)(s->ps / 1000), c->value) : !run_is_starved(k->r))
        return;
    if (c != NULL)
        snprintf(want, sizeof want, "%.60s", c->text);
    else
        snprintf(want, sizeof want, "<= %s", time_words((int64_t)(STARVED_PS / 1000 * most), text));
    time_words((int64_t)(s->since_ps / 1000), since);
    complain(k,
             "starved: goroutine %" PRIu64 " of \"%.60s\" %s runnable for %s, from %s on%s; "
             "expected %s",
             s->goid, s->group != NULL ? s->group : "", s->still ? "has been" : "was",
             time_words((int64_t)(s->ps / 1000), text), since, place_words(s, place, sizeof place),
             want);
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

/* What does not depend on how long things take. */
static void check_any(struct check *k, const struct expect *e)
{
    check_end(k, e);
    check_output(k, e);
    check_lines(k, &e->order, k->r->out, k->r->out_size);
    check_blocked(k, e);
}

/* All that is asked where an expectation is about one order, or about virtual time alone: a program
 * does not hang, die or break a rule because somebody else went first. */
static void check_safe(struct check *k, const struct expect *e)
{
    static const char *const safe[] = {"finishes", "time", "assert", "exit", "leak", NULL};
    const char *got = end_of(k->r);
    for (int i = 0; safe[i] != NULL; i++)
        if (strcmp(got, safe[i]) == 0)
            return;
    check_end(k, e);
}

/* One schedule of many: what may go wrong need not do so in this one. */
static void check_schedule(struct check *k, const struct expect *e)
{
    if (e->one_order || e->in_virtual == VIRTUAL_ALL || (e->on_time && k->r->may_be_late)) {
        check_safe(k, e);
        return;
    }
    bool bad = strcmp(e->end, "finishes") != 0 && strcmp(e->end, "time") != 0;
    if (!bad || k->r->end != END_STOPPED || k->r->stranded != 0)
        check_any(k, e);
}

static void check_one(struct check *k, const struct expect *e)
{
    bool elsewhere = !k->r->virtual_time;
    k->reports = elsewhere && e->in_virtual == VIRTUAL_ALL;
    check_any(k, e);
    k->reports = elsewhere && e->in_virtual != VIRTUAL_NOTHING;
    check_lines(k, &e->sched, k->r->sched, k->r->sched_size);
    check_counters(k, e);
    check_spans(k, e);
    check_ps(k, e);
    check_quota(k, e);
    check_time(k, e->makespan, "a makespan", k->r->now_ps);
    if (e->starved != NULL)
        check_starved(k, e->starved);
    k->reports = false;
}

static int check_with(const struct scenario *s, int release, struct check *k,
                      void (*check)(struct check *k, const struct expect *e))
{
    static const struct expect finishes = {.end = "finishes"};
    bool any = false, blocked = false, starved = false;
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (applies(e, release)) {
            check(k, e);
            any = true;
            blocked |= says_who_is_blocked(e);
            starved |= e->starved != NULL;
        }
    if (!any)
        check(k, &finishes); /* nothing is said about this release */
    if (!blocked)
        check_stranded(k);
    if (!starved)
        check_starved(k, NULL);
    return k->failed;
}

bool scenario_bounds_starving(const struct scenario *s, int release)
{
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (applies(e, release) && e->starved != NULL)
            return true;
    return false;
}

static void say_nothing(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

bool scenario_is_bug(const struct scenario *s, int release, const struct run_result *r)
{
    for (const struct expect *e = s->bugs; e != NULL; e = e->next) {
        struct check k = {.r = r, .say = say_nothing};
        if (!applies(e, release))
            continue;
        check_any(&k, e);
        if (k.failed == 0)
            return true;
    }
    return false;
}

int scenario_check(const struct scenario *s, int release, const struct run_result *r,
                   judge_say *say, void *arg)
{
    struct check k = {.r = r, .say = say, .arg = arg};
    if (scenario_is_bug(s, release, r))
        return 0;
    if (s->bug_always)
        check_any(&k, s->bugs); /* says what of it did not come */
    if (s->bug_always)
        return k.failed;
    return check_with(s, release, &k, check_one);
}

int scenario_check_any(const struct scenario *s, int release, const struct run_result *r,
                       judge_say *say, void *arg)
{
    struct check k = {.r = r, .say = say, .arg = arg};
    return check_with(s, release, &k, check_schedule);
}

/* "goroutine 7 writes in put at line 12" */
static void access_text(const struct program *p, const struct race_access *a, char *text,
                        size_t size)
{
    static const char *const does[RACE_KINDS] = {"reads", "writes", "reads atomically",
                                                 "writes atomically"};
    int32_t func = program_func_at(p, a->pc);
    int n = snprintf(text, size, "goroutine %" PRIu32 " %s in %.80s", a->goid, does[a->kind],
                     func >= 0 ? p->funcs[func].name : "?");
    if (p->lines != NULL && p->lines[a->pc] != 0)
        snprintf(text + n, size - (size_t)n, " at line %" PRIu32, p->lines[a->pc]);
}

static void check_races(struct check *k)
{
    const struct program *p = k->r->program;
    char first[200], second[200];
    for (uint32_t i = 0; i < k->r->nraces; i++) {
        const struct race_report *x = &k->r->races[i];
        bool named = x->object >= 0 && (uint32_t)x->object < p->nobjects;
        access_text(p, &x->first, first, sizeof first);
        access_text(p, &x->second, second, sizeof second);
        complain(k, "data race on %.80s: %s, %s, and nothing orders the two",
                 named ? p->objects[x->object].name : "a variable made while it runs", first,
                 second);
    }
}

int scenario_check_stranded(const struct scenario *s, int release, const struct run_result *r,
                            judge_say *say, void *arg)
{
    struct check k = {.r = r, .say = say, .arg = arg};
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (applies(e, release) && says_who_is_blocked(e))
            return 0;
    check_stranded(&k);
    return k.failed;
}

int scenario_check_races(const struct scenario *s, int release, const struct run_result *r,
                         judge_say *say, void *arg)
{
    struct check k = {.r = r, .say = say, .arg = arg};
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (applies(e, release) && strcmp(e->end, "race") == 0)
            return 0;
    check_races(&k);
    return k.failed;
}

int scenario_check_end(const struct scenario *s, const struct run_result *r, judge_say *say,
                       void *arg)
{
    struct check k = {.r = r, .say = say, .arg = arg};
    const char *got = end_of(r);
    if (r->end == END_STOPPED || r->end == END_TIME)
        return 0;
    for (const struct expect *e = s->expects; e != NULL; e = e->next)
        if (strcmp(got, e->end) == 0)
            return 0;
    complain(&k, "the run ended with: %s%s%.300s", got, r->text[0] != 0 ? ": " : "", r->text);
    return k.failed;
}
