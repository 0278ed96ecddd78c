/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { LINE_MAX_BYTES = 64 << 20, NAMES_MAX = 4096 };
static const char what_it_is[] = "runs of a grid, 1";

/* ---- the first line ---- */

static void number(cJSON *o, const char *name, double v) { cJSON_AddNumberToObject(o, name, v); }

static cJSON *cell_head(const struct table_cell *c)
{
    cJSON *o = cJSON_CreateObject();
    number(o, "release", c->release);
    number(o, "procs", c->procs);
    cJSON_AddStringToObject(o, "policy", c->policy);
    number(o, "cpus", c->cpus);
    number(o, "quota_us", (double)c->quota_us);
    number(o, "rate_ppm", (double)c->rate_ppm);
    cJSON_AddBoolToObject(o, "own", c->own);
    return o;
}

static cJSON *head_of(const struct table *t, const char *hash)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "gmpsim", what_it_is);
    cJSON_AddStringToObject(o, "version", GMPSIM_VERSION);
    cJSON_AddStringToObject(o, "hash", hash);
    cJSON_AddStringToObject(o, "scenario", t->scenario);
    cJSON_AddStringToObject(o, "file", t->file);
    number(o, "period_us", (double)t->period_us);
    number(o, "until_ns", (double)t->until_ns);
    number(o, "warmup_ns", (double)t->warmup_ns);
    out_u64(o, "seed", t->seed);
    number(o, "runs", (double)t->runs);
    number(o, "precision", t->precision);
    number(o, "points", t->points);
    cJSON *names = cJSON_AddArrayToObject(o, "series");
    for (size_t i = 0; i < t->nseries; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(t->names[i]));
    cJSON *cells = cJSON_AddArrayToObject(o, "cells");
    for (size_t c = 0; c < t->ncells; c++)
        cJSON_AddItemToArray(cells, cell_head(&t->cells[c]));
    return o;
}

/* What says when a cell ends may change, and the file's name. */
static bool same_grid(cJSON *a, cJSON *b)
{
    static const char *const may_differ[] = {"runs", "precision", "points", "file"};
    for (size_t i = 0; i < sizeof may_differ / sizeof *may_differ; i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(a, may_differ[i]);
        cJSON_DeleteItemFromObjectCaseSensitive(b, may_differ[i]);
    }
    return cJSON_Compare(a, b, true);
}

/* ---- a run ---- */

static cJSON *run_json(const struct table *t, size_t cell, int64_t run, const struct whatif_run *w)
{
    cJSON *o = cJSON_CreateObject(), *ps, *series;
    number(o, "cell", (double)cell);
    number(o, "run", (double)run);
    out_u64(o, "seed", w->seed);
    out_u64(o, "fingerprint", w->fingerprint);
    number(o, "procs", w->procs);
    number(o, "makespan_ns", (double)w->makespan_ns);
    number(o, "throttled_ns", (double)w->throttled_ns);
    number(o, "nr_periods", (double)w->nr_periods);
    number(o, "nr_throttled", (double)w->nr_throttled);
    number(o, "status", w->status);
    number(o, "complaints", w->complaints);
    cJSON_AddStringToObject(o, "verdict", w->verdict);
    cJSON_AddStringToObject(o, "complaint", w->complaint);
    ps = cJSON_AddArrayToObject(o, "p_ns");
    for (int k = 0; k < PC_COUNT; k++)
        cJSON_AddItemToArray(ps, cJSON_CreateNumber((double)w->p_ns[k]));
    series = cJSON_AddArrayToObject(o, "series");
    for (size_t i = 0; i < t->nseries; i++) {
        cJSON *s = cJSON_CreateArray();
        cJSON_AddItemToArray(s, cJSON_CreateNumber((double)w->series[i].count));
        cJSON_AddItemToArray(s, cJSON_CreateNumber((double)w->series[i].open));
        for (int k = 0; k < WHATIF_POINTS; k++)
            cJSON_AddItemToArray(s, cJSON_CreateNumber((double)w->series[i].ns[k]));
        cJSON_AddItemToArray(series, s);
    }
    return o;
}

static bool read_number(const cJSON *o, const char *name, double low, double high, double *v)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    if (!cJSON_IsNumber(n) || !(n->valuedouble >= low && n->valuedouble <= high))
        return false;
    *v = n->valuedouble;
    return true;
}

static bool read_int(const cJSON *o, const char *name, int64_t low, int64_t high, int64_t *v)
{
    double d;
    if (!read_number(o, name, (double)low, (double)high, &d))
        return false;
    *v = (int64_t)d;
    return true;
}

static bool read_text(const cJSON *o, const char *name, char *buf, size_t size)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    if (s == NULL)
        return false;
    text_in(buf, size, TEXT_LINE, s);
    return true;
}

static bool read_u64(const cJSON *o, const char *name, uint64_t *v)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    char *end;
    if (s == NULL || *s < '0' || *s > '9')
        return false;
    errno = 0;
    *v = strtoull(s, &end, 10);
    return errno == 0 && *end == 0;
}

#define TIME_TOP (INT64_C(1) << 60)

static bool read_list(const cJSON *list, int count, int64_t *to)
{
    const cJSON *v;
    int n = 0;
    if (cJSON_GetArraySize(list) != count)
        return false;
    cJSON_ArrayForEach (v, list) {
        if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= (double)TIME_TOP))
            return false;
        to[n++] = (int64_t)v->valuedouble;
    }
    return true;
}

static bool read_series(const struct table *t, const cJSON *o, struct whatif_run *w)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "series"), *s;
    size_t i = 0;
    if ((size_t)cJSON_GetArraySize(list) != t->nseries)
        return false;
    cJSON_ArrayForEach (s, list) {
        int64_t v[WHATIF_POINTS + 2] = {0};
        if (!read_list(s, WHATIF_POINTS + 2, v))
            return false;
        w->series[i].count = (uint64_t)v[0];
        w->series[i].open = (uint64_t)v[1];
        memcpy(w->series[i++].ns, v + 2, sizeof w->series[0].ns);
    }
    return true;
}

static bool read_run(const struct table *t, const cJSON *o, size_t *cell, int64_t *run,
                     struct whatif_run *w)
{
    int64_t c, procs, status, complaints;
    bool ok = read_int(o, "cell", 0, (int64_t)t->ncells - 1, &c) &&
              read_int(o, "run", 0, t->runs - 1, run) && read_u64(o, "seed", &w->seed) &&
              read_u64(o, "fingerprint", &w->fingerprint) &&
              read_int(o, "procs", 0, PROCS_MAX, &procs) &&
              read_int(o, "makespan_ns", 0, TIME_TOP, &w->makespan_ns) &&
              read_int(o, "throttled_ns", 0, TIME_TOP, &w->throttled_ns) &&
              read_int(o, "nr_periods", 0, TIME_TOP, &w->nr_periods) &&
              read_int(o, "nr_throttled", 0, TIME_TOP, &w->nr_throttled) &&
              read_int(o, "status", 0, EXIT_INTERNAL, &status) &&
              read_int(o, "complaints", 0, INT32_MAX, &complaints) &&
              read_text(o, "verdict", w->verdict, sizeof w->verdict) &&
              read_text(o, "complaint", w->complaint, sizeof w->complaint) &&
              read_list(cJSON_GetObjectItemCaseSensitive(o, "p_ns"), PC_COUNT, w->p_ns) &&
              read_series(t, o, w);
    if (!ok)
        return false;
    *cell = (size_t)c;
    w->procs = (int32_t)procs;
    w->status = (int32_t)status;
    w->complaints = (int32_t)complaints;
    w->release = t->cells[c].release;
    w->cpus = t->cells[c].cpus;
    w->quota_us = t->cells[c].quota_us;
    return true;
}

/* ---- files ---- */

struct journal_lines {
    FILE *from;
    const char *path;
    char *line;
    size_t room;
    int64_t number, good; /* offset behind the last whole line */
};

/* The next whole line as JSON; NULL: no more. What a kill cut off is no line. */
static cJSON *next_line(struct journal_lines *l)
{
    ssize_t n = getline(&l->line, &l->room, l->from);
    if (n <= 0 || l->line[n - 1] != '\n' || n > LINE_MAX_BYTES)
        return NULL;
    l->number++;
    cJSON *o = cJSON_ParseWithLength(l->line, (size_t)n);
    if (o == NULL)
        cli_die(EXIT_USAGE, "%s:%" PRId64 ": not a line of JSON", l->path, l->number);
    l->good += n;
    return o;
}

static void read_runs(struct journal_lines *l, struct table *t)
{
    struct whatif_run *w = x_alloc(t->size);
    for (cJSON *o; (o = next_line(l)) != NULL; cJSON_Delete(o)) {
        size_t cell;
        int64_t run;
        int64_t top = 0;
        if (read_int(o, "run", t->runs, TIME_TOP, &top))
            continue; /* of a larger grid */
        if (!read_run(t, o, &cell, &run, w))
            cli_die(EXIT_USAGE, "%s:%" PRId64 ": not a run of this grid", l->path, l->number);
        table_put(t, cell, run, w);
    }
    free(w);
}

static bool open_lines(struct journal_lines *l, const char *path)
{
    *l = (struct journal_lines){.from = fopen(path, "r"), .path = path};
    if (l->from == NULL && errno != ENOENT)
        cli_die(EXIT_USAGE, "%s: %s", path, strerror(errno));
    return l->from != NULL;
}

static void close_lines(struct journal_lines *l)
{
    fclose(l->from);
    free(l->line);
}

static void write_line(struct journal *j, cJSON *o)
{
    char *text = cJSON_PrintUnformatted(o);
    if (text == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    text_put(j->to, TEXT_JSON_WHOLE, text);
    fputc('\n', j->to);
    fflush(j->to);
    cJSON_free(text);
    cJSON_Delete(o);
}

void journal_open(struct journal *j, const char *path, struct table *t, const char *hash)
{
    struct journal_lines l;
    bool begun = false;
    *j = (struct journal){.path = path, .t = t};
    if (open_lines(&l, path)) {
        cJSON *head = next_line(&l), *want = head_of(t, hash);
        begun = head != NULL;
        if (begun && !same_grid(head, want))
            cli_die(EXIT_USAGE,
                    "%s: holds the runs of another grid (of another scenario, other"
                    " settings or another version); name another file",
                    path);
        cJSON_Delete(head);
        cJSON_Delete(want);
        if (begun)
            read_runs(&l, t);
        if (ftello(l.from) > l.good && truncate(path, l.good) != 0)
            cli_die(EXIT_USAGE, "%s: %s", path, strerror(errno));
        close_lines(&l);
    }
    j->to = fopen(path, "a");
    if (j->to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", path, strerror(errno));
    if (!begun)
        write_line(j, head_of(t, hash));
}

void journal_put(struct journal *j, size_t cell, int64_t run, const struct whatif_run *w)
{
    if (j->to != NULL)
        write_line(j, run_json(j->t, cell, run, w));
}

void journal_close(struct journal *j)
{
    if (j->to == NULL)
        return;
    bool ok = !ferror(j->to);
    if (fclose(j->to) != 0 || !ok)
        cli_die(EXIT_USAGE, "%s: cannot be written", j->path);
    j->to = NULL;
}

/* ---- merging ---- */

static bool read_cell(const cJSON *o, struct table_cell *c)
{
    int64_t release, procs, cpus;
    if (!read_int(o, "release", PROFILE_FIRST, PROFILE_LATEST, &release) ||
        !read_int(o, "procs", 0, PROCS_MAX, &procs) || !read_int(o, "cpus", 0, INT32_MAX, &cpus) ||
        !read_int(o, "quota_us", 0, TIME_TOP, &c->quota_us) ||
        !read_int(o, "rate_ppm", 1, TIME_TOP, &c->rate_ppm) ||
        !read_text(o, "policy", c->policy, sizeof c->policy))
        return false;
    c->release = (int32_t)release;
    c->procs = (int32_t)procs;
    c->cpus = (int32_t)cpus;
    c->own = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "own"));
    return true;
}

static bool read_names(struct table *t, const cJSON *list)
{
    const cJSON *v;
    int n = cJSON_GetArraySize(list);
    if (n < 1 || n > NAMES_MAX)
        return false;
    t->names = x_alloc((size_t)n * sizeof *t->names);
    cJSON_ArrayForEach (v, list) {
        if (!cJSON_IsString(v))
            return false;
        t->names[t->nseries++] = x_strdup(v->valuestring);
    }
    return true;
}

static bool read_head(struct table *t, const cJSON *o)
{
    const cJSON *cells = cJSON_GetObjectItemCaseSensitive(o, "cells"), *c;
    const char *scenario = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "scenario")),
               *file = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "file")),
               *what = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "gmpsim"));
    int64_t points, n = cJSON_GetArraySize(cells);
    size_t i = 0;
    if (what == NULL || strcmp(what, what_it_is) != 0 || scenario == NULL || file == NULL ||
        n < 1 || n > GRID_RUNS_MAX || !read_int(o, "runs", 1, GRID_RUNS_MAX / n, &t->runs) ||
        !read_int(o, "period_us", 1, TIME_TOP, &t->period_us) ||
        !read_int(o, "until_ns", 0, TIME_TOP, &t->until_ns) ||
        !read_int(o, "warmup_ns", 0, TIME_TOP, &t->warmup_ns) || !read_u64(o, "seed", &t->seed) ||
        !read_number(o, "precision", 0, 1, &t->precision) ||
        !read_int(o, "points", 0, UINT32_MAX, &points) ||
        !read_names(t, cJSON_GetObjectItemCaseSensitive(o, "series")))
        return false;
    t->points = (uint32_t)points;
    t->scenario = x_strdup(scenario);
    t->file = x_strdup(file);
    t->ncells = (size_t)n;
    t->cells = x_alloc(t->ncells * sizeof *t->cells);
    cJSON_ArrayForEach (c, cells)
        if (!read_cell(c, &t->cells[i++]))
            return false;
    return true;
}

void journals_merge(struct table *t, char *const *paths, int count)
{
    cJSON *first = NULL;
    for (int i = 0; i < count; i++) {
        struct journal_lines l;
        if (!open_lines(&l, paths[i]))
            cli_die(EXIT_USAGE, "%s: %s", paths[i], strerror(ENOENT));
        cJSON *head = next_line(&l);
        if (i == 0) {
            if (head == NULL || !read_head(t, head))
                cli_die(EXIT_USAGE, "%s: no journal of gmpsim whatif", paths[i]);
            table_alloc(t);
            first = head;
        } else {
            if (head == NULL || !same_grid(first, head))
                cli_die(EXIT_USAGE, "%s: is of another grid than %s", paths[i], paths[0]);
            cJSON_Delete(head);
        }
        read_runs(&l, t);
        close_lines(&l);
    }
    cJSON_Delete(first);
}
