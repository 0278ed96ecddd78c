/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/capacity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gridshow.h"
#include "cli/jobs.h"
#include "cli/out.h"
#include "cli/scale.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { FACTOR_MAX = 64, PPM = 1000000 };
#define NEAR 1.05 /* between what holds and what does not */

/* What was found at one rate. */
struct probe {
    int64_t rate_ppm;
    double per_second;
    struct mean latency;
    bool held, piles_up;
};

struct search {
    int64_t at; /* the rate that is being tried, ppm; 0: it is over */
    int64_t begun, ended;
    struct probe best, worse; /* the highest that held, the lowest that did not; rate 0: none */
};

struct capacity {
    struct grid *g;
    char span[64];
    size_t series;
    int point;
    int64_t limit_ns, runs;
    struct search *of;
    int64_t all; /* runs so far */
};

/* ---- the promise ---- */

static bool parse_promise(struct capacity *c, const char *text)
{
    const char *colon = strrchr(text, ':'), *from = colon != NULL ? colon + 1 : text,
               *less = strchr(from, '<');
    if (less == NULL || (colon != NULL && (size_t)(colon - text) >= sizeof c->span))
        return false;
    if (colon != NULL)
        snprintf(c->span, sizeof c->span, "%.*s", (int)(colon - text), text);
    for (c->point = 0; c->point < WHATIF_POINTS; c->point++)
        if (strlen(point_names[c->point]) == (size_t)(less - from) &&
            strncmp(point_names[c->point], from, (size_t)(less - from)) == 0)
            break;
    return c->point < WHATIF_POINTS && parse_time(less + 1 + strspn(less + 1, " "), &c->limit_ns) &&
           c->limit_ns > 0;
}

/* Without a name: the first span, of which the others are usually parts. */
static void find_series(struct capacity *c)
{
    const struct table *t = &c->g->t;
    for (size_t i = 1; i < t->nseries && c->series == 0; i++)
        if (c->span[0] == 0 || strcmp(t->names[i], c->span) == 0)
            c->series = i;
    if (c->series == 0)
        cli_die(EXIT_USAGE, "--capacity: the scenario has no %s%s%s",
                c->span[0] != 0 ? "span '" : "spans", c->span, c->span[0] != 0 ? "'" : "");
}

/* ---- the search ---- */

/* Where spans pile up, those that ended are the quick ones. */
static bool too_many_late(const struct capacity *c, size_t cell)
{
    const struct table *t = &c->g->t;
    double late = table_stat(t, cell, c->runs, c->series, OF_LATE).mean;
    double ended = table_stat(t, cell, c->runs, c->series, OF_COUNT).mean;
    double share = c->point < WHATIF_POINTS - 1 ? 1 - point_ppm[c->point] / 1e6 : 0;
    return late > share * (ended + late);
}

/* Requests that come whether others are answered or not, and do so for longer than the run. */
static bool come_on(const struct capacity *c, size_t cell)
{
    const struct program *p = &c->g->m.scenario->program;
    for (uint32_t i = 0; i < p->narrivals; i++)
        if (p->arrivals[i].kind == ARRIVE_CLOSED)
            return false;
    return strcmp(table_run(&c->g->t, cell, 0)->verdict, "time limit") == 0;
}

/* Where half of what more comes is answered at the most, they pile up somewhere. */
static bool is_full(const struct probe *p, const struct probe *less)
{
    double more = (double)p->rate_ppm / (double)less->rate_ppm - 1;
    return more > 0 && p->per_second < less->per_second * (1 + more / 2);
}

static struct probe judge(const struct capacity *c, size_t cell, int64_t rate_ppm)
{
    const struct table *t = &c->g->t;
    struct probe p = {.rate_ppm = rate_ppm, .held = true};
    p.latency = table_stat(t, cell, c->runs, c->series, OF_POINT + (enum measure)c->point);
    p.per_second = table_stat(t, cell, c->runs, c->series, OF_RATE).mean;
    p.piles_up = too_many_late(c, cell);
    p.held = p.latency.mean < (double)c->limit_ns && p.per_second > 0 && !p.piles_up;
    for (int64_t i = 0; i < c->runs; i++) /* its own expectations are about its own rate */
        if (strcmp(table_run(t, cell, i)->verdict, "finished") != 0 &&
            strcmp(table_run(t, cell, i)->verdict, "time limit") != 0)
            p.held = false;
    return p;
}

/* The rate to try next; 0: it is found, or not to be found. */
static int64_t next_rate(const struct search *s)
{
    if (s->worse.rate_ppm == 0)
        return s->best.rate_ppm < (int64_t)FACTOR_MAX * RATE_ONE ? 2 * s->best.rate_ppm : 0;
    if (s->best.rate_ppm == 0)
        return s->worse.rate_ppm > RATE_ONE / FACTOR_MAX ? s->worse.rate_ppm / 2 : 0;
    double ratio = (double)s->worse.rate_ppm / (double)s->best.rate_ppm;
    return ratio > NEAR ? (int64_t)((double)s->best.rate_ppm * sqrt(ratio)) : 0;
}

static void step(struct capacity *c, size_t cell)
{
    struct search *s = &c->of[cell];
    struct probe p = judge(c, cell, s->at);
    if (s->best.rate_ppm > 0 && come_on(c, cell) && is_full(&p, &s->best)) {
        p.held = false;
        p.piles_up = true;
    }
    if (p.held)
        s->best = p;
    else
        s->worse = p;
    s->begun = s->ended = 0;
    s->at = next_rate(s);
}

static int64_t next(void *arg)
{
    struct capacity *c = arg;
    for (size_t cell = 0; cell < c->g->t.ncells; cell++) {
        struct search *s = &c->of[cell];
        if (s->at != 0 && s->begun < c->runs)
            return (int64_t)cell * c->runs + s->begun++;
    }
    return JOBS_NONE;
}

static bool task(void *arg, int64_t index, void *out)
{
    struct capacity *c = arg;
    size_t cell = (size_t)(index / c->runs);
    return grid_run(c->g, cell, index % c->runs, c->of[cell].at, out);
}

static void done(void *arg, int64_t index, const void *result)
{
    struct capacity *c = arg;
    size_t cell = (size_t)(index / c->runs);
    table_put(&c->g->t, cell, index % c->runs, result);
    c->all++;
    if (++c->of[cell].ended == c->runs)
        step(c, cell);
}

static void far(void *arg, int64_t *how, int64_t *total)
{
    *how = ((struct capacity *)arg)->all;
    *total = 0;
}

/* ---- printing ---- */

static void print_probe(const struct capacity *c, const struct probe *p)
{
    printf("%.0f per second (%.3gx), %s %s", p->per_second, (double)p->rate_ppm / PPM,
           point_names[c->point], time_text((int64_t)p->latency.mean));
    if (p->latency.half > 0 && p->latency.mean > 0)
        printf(" ±%.1f%%", 100 * p->latency.half / p->latency.mean);
    if (p->piles_up)
        fputs(", and they pile up", stdout);
}

static void print_cell(const struct capacity *c, size_t cell)
{
    const struct search *s = &c->of[cell];
    char label[200];
    printf("  ");
    text_cell(stdout, cell_label(&c->g->t, cell, label, sizeof label), 40);
    if (s->best.rate_ppm == 0) {
        fputs("  it never holds: ", stdout);
        print_probe(c, &s->worse);
    } else {
        fputs("  ", stdout);
        print_probe(c, &s->best);
        if (s->worse.rate_ppm != 0) {
            fputs("; no more at ", stdout);
            print_probe(c, &s->worse);
        } else {
            printf("; and more, which was not tried");
        }
    }
    putchar('\n');
}

static cJSON *probe_json(const struct capacity *c, const struct probe *p)
{
    cJSON *o = cJSON_CreateObject(), *l;
    if (p->rate_ppm == 0) {
        cJSON_Delete(o);
        return cJSON_CreateNull();
    }
    cJSON_AddNumberToObject(o, "rate", (double)p->rate_ppm / PPM);
    cJSON_AddNumberToObject(o, "per_second", p->per_second);
    l = cJSON_AddObjectToObject(o, point_names[c->point]);
    cJSON_AddNumberToObject(l, "mean", p->latency.mean);
    cJSON_AddNumberToObject(l, "half", p->latency.half);
    cJSON_AddBoolToObject(o, "piles_up", p->piles_up);
    return o;
}

static void print_json(const struct capacity *c, const char *promise)
{
    const struct table *t = &c->g->t;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "scenario", t->scenario);
    cJSON_AddStringToObject(o, "file", t->file);
    cJSON_AddStringToObject(o, "span", t->names[c->series]);
    cJSON_AddStringToObject(o, "promise", promise);
    cJSON_AddNumberToObject(o, "period_us", (double)t->period_us);
    cJSON *cells = cJSON_AddArrayToObject(o, "cells");
    for (size_t i = 0; i < t->ncells; i++) {
        cJSON *cell = cJSON_CreateObject();
        cJSON_AddStringToObject(cell, "profile", profile_name(t->cells[i].release));
        cJSON_AddNumberToObject(cell, "procs", table_run(t, i, 0)->procs);
        cJSON_AddStringToObject(cell, "policy", t->cells[i].policy);
        cJSON_AddNumberToObject(cell, "cpus", t->cells[i].cpus);
        cJSON_AddNumberToObject(cell, "quota_us", (double)t->cells[i].quota_us);
        cJSON_AddItemToObject(cell, "holds", probe_json(c, &c->of[i].best));
        cJSON_AddItemToObject(cell, "breaks", probe_json(c, &c->of[i].worse));
        cJSON_AddItemToArray(cells, cell);
    }
    out_json(o);
}

int capacity_search(struct grid *g, const char *promise, int at_once, bool json)
{
    struct capacity c = {.g = g, .runs = g->t.runs};
    if (!parse_promise(&c, promise))
        cli_die(EXIT_USAGE, "--capacity: want a promise such as request:p99<20ms, got '%s'",
                promise);
    if (scale_count(&g->m.scenario->program) == 0)
        cli_die(EXIT_USAGE, "--capacity: nothing arrives in this scenario; descriptors with"
                            " \"every\" or \"clients\" do (docs/scenarios.md, Arrivals)");
    find_series(&c);
    g->promise_ns = c.limit_ns;
    c.of = x_alloc(g->t.ncells * sizeof *c.of);
    for (size_t i = 0; i < g->t.ncells; i++) {
        c.of[i].at = g->t.cells[i].rate_ppm;
        g->t.counts[i] = c.runs;
    }
    struct jobs j = {.at_once = at_once,
                     .size = g->t.size,
                     .what = GMPSIM_NAME " whatif",
                     .arg = &c,
                     .next = next,
                     .task = task,
                     .done = done,
                     .far = far};
    int status = jobs_run(&j);
    if (status != EXIT_CLEAN)
        cli_die(status, "whatif: a run failed");
    if (json)
        print_json(&c, promise);
    else {
        printf("%s: the most load at which %s of %s is below %s, means of %" PRId64 " seeds\n\n",
               text_line(g->t.scenario), point_names[c.point], text_line(g->t.names[c.series]),
               time_text(c.limit_ns), c.runs);
        for (size_t i = 0; i < g->t.ncells; i++)
            print_cell(&c, i);
    }
    free(c.of);
    return EXIT_CLEAN;
}
