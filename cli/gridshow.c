/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/gridshow.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out.h"
#include "cli/scale.h"
#include "sim/base/text.h"

enum { NAME_COLUMNS = 20, COLUMN = 16, PPM = 1000000 };

/* ---- labels ---- */

static const char *procs_text(const struct table *t, size_t cell, char *buf, size_t size)
{
    int32_t got = t->counts[cell] > 0 ? table_run(t, cell, 0)->procs : t->cells[cell].procs;
    if (t->cells[cell].policy[0] != 0)
        snprintf(buf, size, "%d (%s)", got, t->cells[cell].policy);
    else
        snprintf(buf, size, "%d", got);
    return buf;
}

bool cells_agree(const struct table_cell *a, const struct table_cell *b, enum grid_axis axis)
{
    switch (axis) {
    case AXIS_PROCS: /* a word is one choice, whatever comes of it */
        return strcmp(a->policy, b->policy) == 0 && (a->policy[0] != 0 || a->procs == b->procs);
    case AXIS_PROFILE: return a->release == b->release;
    case AXIS_CPUS: return a->cpus == b->cpus;
    case AXIS_QUOTA: return a->quota_us == b->quota_us;
    case AXIS_RATE: return a->rate_ppm == b->rate_ppm;
    }
    return true;
}

bool table_varies(const struct table *t, enum grid_axis axis)
{
    for (size_t c = 1; c < t->ncells; c++)
        if (!cells_agree(&t->cells[0], &t->cells[c], axis))
            return true;
    return false;
}

static const char *quota_text(const struct table *t, int64_t quota_us, char *buf, size_t size)
{
    if (quota_us == 0)
        snprintf(buf, size, "no quota");
    else if (t->period_us == 0) /* a store does not say */
        snprintf(buf, size, "quota %s a period", time_text(quota_us * 1000));
    else
        snprintf(buf, size, "quota %.4g", (double)quota_us / (double)t->period_us);
    return buf;
}

const char *cell_words(const struct table *t, size_t cell, enum grid_axis axis, char *buf,
                       size_t size)
{
    const struct table_cell *c = &t->cells[cell];
    char procs[40];
    switch (axis) {
    case AXIS_PROCS:
        snprintf(buf, size, "GOMAXPROCS %s", procs_text(t, cell, procs, sizeof procs));
        break;
    case AXIS_PROFILE: snprintf(buf, size, "%s", profile_name(c->release)); break;
    case AXIS_CPUS: snprintf(buf, size, c->cpus > 0 ? "%d CPUs" : "dedicated CPUs", c->cpus); break;
    case AXIS_QUOTA: return quota_text(t, c->quota_us, buf, size);
    case AXIS_RATE: snprintf(buf, size, "rate %.3gx", (double)c->rate_ppm / PPM); break;
    }
    return buf;
}

const char *cell_label_but(const struct table *t, size_t cell, int but, char *buf, size_t size)
{
    char words[64];
    size_t used = 0;
    buf[0] = 0;
    for (int axis = 0; axis < GRID_AXES; axis++)
        if (axis != but && used < size && table_varies(t, (enum grid_axis)axis))
            used += (size_t)snprintf(
                buf + used, size - used, "%s%s", used > 0 ? ", " : "",
                cell_words(t, cell, (enum grid_axis)axis, words, sizeof words));
    if (used == 0 && (t->ncells == 1 || but >= 0)) /* nothing tells it apart */
        cell_words(t, cell, but == AXIS_PROCS ? AXIS_PROFILE : AXIS_PROCS, buf, size);
    return buf;
}

const char *cell_label(const struct table *t, size_t cell, char *buf, size_t size)
{
    return cell_label_but(t, cell, -1, buf, size);
}

/* ---- text ---- */

static const char *time_stat(struct mean s)
{
    static char ring[8][40];
    static unsigned next;
    char *out = ring[next++ % 8];
    if (s.half > 0 && s.mean > 0)
        snprintf(out, sizeof ring[0], "%s ±%.1f%%", time_text((int64_t)s.mean),
                 100 * s.half / s.mean);
    else
        snprintf(out, sizeof ring[0], "%s", time_text((int64_t)s.mean));
    return out;
}

static void column(const char *text)
{
    int width = text_columns(text);
    printf("  %*s%s", width < COLUMN ? COLUMN - width : 0, "", text);
}

static void print_series(const struct table *t, size_t cell, size_t series)
{
    int64_t n = t->counts[cell];
    double count = table_stat(t, cell, n, series, OF_COUNT).mean;
    if (count == 0)
        return;
    fputs("    ", stdout);
    text_cell(stdout, t->names[series], NAME_COLUMNS);
    printf(" %9.0f %10.1f", count, table_stat(t, cell, n, series, OF_RATE).mean);
    for (int k = 0; k < WHATIF_POINTS; k++)
        column(point_counts(count, k)
                   ? time_stat(table_stat(t, cell, n, series, OF_POINT + (enum measure)k))
                   : "-");
    putchar('\n');
}

/* How the runs ended; of those that should not have, the first. */
static void print_ends(const struct table *t, size_t cell)
{
    const struct whatif_run *first = table_run(t, cell, 0), *bad = NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < t->counts[cell]; i++) {
        const struct whatif_run *w = table_run(t, cell, i);
        if (w->status != 0 && n++ == 0)
            bad = w;
    }
    if (bad == NULL)
        fputs(t->cells[cell].own ? "as expected" : first->verdict, stdout);
    else
        printf("%" PRId64 " of %" PRId64 " runs not as %s (%s; seed %" PRIu64 ": %s)", n,
               t->counts[cell], t->cells[cell].own ? "the file expects" : "they should end",
               bad->verdict, bad->seed, text_line(bad->complaint));
}

/* Spans that had not ended, where they are many. */
static void print_open(const struct table *t, size_t cell)
{
    for (size_t i = 1; i < t->nseries; i++) {
        double open = table_stat(t, cell, t->counts[cell], i, OF_OPEN).mean;
        if (many_open(open, table_stat(t, cell, t->counts[cell], i, OF_COUNT).mean))
            printf("%.0f of %s not ended, ", open, text_cut(t->names[i], NAME_COLUMNS));
    }
}

static void print_cell(const struct table *t, size_t cell)
{
    const struct table_cell *c = &t->cells[cell];
    char cpus[16] = "-", quota[16] = "-", rate[32] = "", procs[40];
    if (c->cpus > 0)
        snprintf(cpus, sizeof cpus, "%d", c->cpus);
    if (c->quota_us > 0)
        snprintf(quota, sizeof quota, "%.2f", (double)c->quota_us / (double)t->period_us);
    if (c->rate_ppm != RATE_ONE)
        snprintf(rate, sizeof rate, ", rate %.3gx", (double)c->rate_ppm / PPM);
    printf("%-7s %5s %5s %6s  ", profile_name(c->release), procs_text(t, cell, procs, sizeof procs),
           cpus, quota);
    if (t->counts[cell] == 0) {
        puts("no runs");
        return;
    }
    printf("makespan %s, user %.1f%%%s, ",
           time_stat(table_stat(t, cell, t->counts[cell], 0, OF_MAKESPAN)),
           table_stat(t, cell, t->counts[cell], 0, OF_USER).mean / 1e4, rate);
    double throttled = table_stat(t, cell, t->counts[cell], 0, OF_THROTTLED).mean;
    if (throttled > 0)
        printf("throttled %s, ", time_text((int64_t)throttled));
    if (t->precision > 0)
        printf("%" PRId64 " runs, ", t->counts[cell]);
    print_open(t, cell);
    print_ends(t, cell);
    putchar('\n');
    for (size_t i = 1; i <= t->nseries; i++) /* the wait in run queues is the last */
        print_series(t, cell, i % t->nseries);
}

static void print_text(const struct table *t)
{
    printf("%s: ", text_line(t->scenario));
    if (t->precision > 0)
        printf("seeds from %" PRIu64 " until numbers are known to %.3g %%, at most %" PRId64,
               t->seed, 100 * t->precision, t->runs);
    else
        printf("%" PRId64 " seeds from %" PRIu64, t->runs, t->seed);
    if (t->warmup_ns > 0)
        printf(", from %s on", time_exact(t->warmup_ns));
    printf("; mean, and the half-width of its 95 %% confidence interval\n\n%-7s %5s %5s %6s\n"
           "    %-20s %9s %10s",
           "profile", "procs", "cpus", "quota", "span", "count", "per second");
    for (int k = 0; k < WHATIF_POINTS; k++)
        column(point_names[k]);
    puts("\n");
    for (size_t c = 0; c < t->ncells; c++)
        print_cell(t, c);
}

/* ---- JSON ---- */

static cJSON *stat_json(struct mean s)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "mean", s.mean);
    cJSON_AddNumberToObject(o, "half", s.half);
    return o;
}

static cJSON *series_json(const struct table *t, size_t cell, size_t series)
{
    int64_t n = t->counts[cell];
    double count = table_stat(t, cell, n, series, OF_COUNT).mean;
    cJSON *s = cJSON_CreateObject();
    cJSON_AddNumberToObject(s, "count", count);
    cJSON_AddNumberToObject(s, "per_second", table_stat(t, cell, n, series, OF_RATE).mean);
    cJSON_AddNumberToObject(s, "open", table_stat(t, cell, n, series, OF_OPEN).mean);
    for (int k = 0; k < WHATIF_POINTS; k++)
        cJSON_AddItemToObject(
            s, point_names[k],
            point_counts(count, k)
                ? stat_json(table_stat(t, cell, n, series, OF_POINT + (enum measure)k))
                : cJSON_CreateNull());
    return s;
}

static cJSON *cell_json(const struct table *t, size_t cell)
{
    const struct table_cell *c = &t->cells[cell];
    int64_t n = t->counts[cell];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "profile", profile_name(c->release));
    cJSON_AddNumberToObject(o, "procs", n > 0 ? table_run(t, cell, 0)->procs : c->procs);
    cJSON_AddStringToObject(o, "policy", c->policy);
    cJSON_AddNumberToObject(o, "cpus", c->cpus);
    cJSON_AddNumberToObject(o, "quota_us", (double)c->quota_us);
    cJSON_AddNumberToObject(o, "rate", (double)c->rate_ppm / PPM);
    cJSON_AddNumberToObject(o, "runs", (double)n);
    cJSON_AddStringToObject(o, "verdict", n > 0 ? table_run(t, cell, 0)->verdict : "");
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        bad += table_run(t, cell, i)->status != 0;
    cJSON_AddNumberToObject(o, "bad", (double)bad);
    cJSON_AddItemToObject(o, "makespan_ns", stat_json(table_stat(t, cell, n, 0, OF_MAKESPAN)));
    cJSON_AddItemToObject(o, "throttled_ns", stat_json(table_stat(t, cell, n, 0, OF_THROTTLED)));
    cJSON *series = cJSON_AddObjectToObject(o, "series");
    for (size_t k = 1; k <= t->nseries; k++) {
        size_t i = k % t->nseries;
        cJSON_AddItemToObject(series, t->names[i], series_json(t, cell, i));
    }
    return o;
}

static cJSON *table_json(const struct table *t)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "scenario", t->scenario);
    cJSON_AddStringToObject(o, "file", t->file);
    cJSON_AddNumberToObject(o, "period_us", (double)t->period_us);
    cJSON_AddNumberToObject(o, "warmup_ns", (double)t->warmup_ns);
    out_u64(o, "seed", t->seed);
    cJSON_AddStringToObject(o, "span", t->names[t->span]);
    cJSON *cells = cJSON_AddArrayToObject(o, "cells");
    for (size_t c = 0; c < t->ncells; c++)
        cJSON_AddItemToArray(cells, cell_json(t, c));
    return o;
}

/* ---- CSV ---- */

static void print_csv(const struct table *t)
{
    fputs("profile,procs,policy,cpus,quota_us,rate,runs,span,count,per_second,makespan_ns,"
          "throttled_ns",
          stdout);
    for (int k = 0; k < WHATIF_POINTS; k++)
        printf(",%s_ns,%s_half_ns", point_names[k], point_names[k]);
    puts(",open");
    for (size_t c = 0; c < t->ncells; c++)
        for (size_t k = 1; k <= t->nseries; k++) {
            const struct table_cell *cell = &t->cells[c];
            size_t i = k % t->nseries;
            int64_t n = t->counts[c];
            printf("%s,%d,%s,%d,%" PRId64 ",%.6g,%" PRId64 ",", profile_name(cell->release),
                   n > 0 ? table_run(t, c, 0)->procs : cell->procs, cell->policy, cell->cpus,
                   cell->quota_us, (double)cell->rate_ppm / PPM, n);
            text_put(stdout, TEXT_CSV, t->names[i]);
            double count = table_stat(t, c, n, i, OF_COUNT).mean;
            printf(",%.1f,%.3f,%.0f,%.0f", count, table_stat(t, c, n, i, OF_RATE).mean,
                   table_stat(t, c, n, 0, OF_MAKESPAN).mean,
                   table_stat(t, c, n, 0, OF_THROTTLED).mean);
            for (int p = 0; p < WHATIF_POINTS; p++) {
                struct mean s = table_stat(t, c, n, i, OF_POINT + (enum measure)p);
                if (point_counts(count, p))
                    printf(",%.0f,%.0f", s.mean, s.half);
                else
                    fputs(",,", stdout);
            }
            printf(",%.1f\n", table_stat(t, c, n, i, OF_OPEN).mean);
        }
}

/* ---- all ---- */

int grid_status(const struct table *t)
{
    int status = EXIT_CLEAN;
    for (size_t c = 0; c < t->ncells; c++)
        for (int64_t i = 0; i < t->counts[c]; i++)
            if (table_run(t, c, i)->status > status)
                status = table_run(t, c, i)->status;
    return status;
}

int grid_decisive(const struct table *t)
{
    enum { P50 = 0, P99 = 2, P999 = 3 };
    if ((t->points >> P999 & 1) != 0 && (t->points >> P99 & 1) == 0)
        return P999;
    for (size_t c = 0; c < t->ncells; c++)
        if (t->counts[c] > 0 &&
            !point_counts(table_stat(t, c, t->counts[c], t->span, OF_COUNT).mean, P99))
            return P50;
    return P99;
}

void grid_show(const struct table *t, enum grid_form form)
{
    if (form == GRID_CSV) {
        print_csv(t);
    } else if (form == GRID_JSON) {
        cJSON *o = table_json(t);
        advice_show(t, grid_decisive(t), NULL, cJSON_AddArrayToObject(o, "advice"));
        out_json(o);
    } else {
        print_text(t);
        advice_show(t, grid_decisive(t), stdout, NULL);
    }
}
