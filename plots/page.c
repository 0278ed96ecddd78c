/* SPDX-License-Identifier: BSD-3-Clause */
#include "plots/page_int.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { SAMPLES_MAX = 2000, CLASSES = 8, PERMILLE = 1000, STALLS_MAX = 20000 };

/* ---- what the parts share ---- */

void page_fail(struct page *r, const char *fmt, ...)
{
    va_list ap;
    if (r->failed)
        return;
    r->failed = true;
    va_start(ap, fmt);
    vsnprintf(r->text, PLOT_TEXT_MAX, fmt, ap);
    va_end(ap);
}

sqlite3_stmt *page_query(struct page *r, const char *sql)
{
    sqlite3_stmt *st;
    if (r->failed)
        return NULL;
    if (sqlite3_prepare_v2(r->args->db, sql, -1, &st, NULL) != SQLITE_OK) {
        page_fail(r, "%s", sqlite3_errmsg(r->args->db));
        return NULL;
    }
    sqlite3_bind_int64(st, 1, r->run);
    return st;
}

bool page_row(struct page *r, sqlite3_stmt *st)
{
    if (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        return true;
    if (sqlite3_finalize(st) != SQLITE_OK)
        page_fail(r, "%s", sqlite3_errmsg(r->args->db));
    return false;
}

int64_t page_number(struct page *r, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *st = page_query(r, sql);
    while (page_row(r, st))
        if (sqlite3_column_type(st, 0) != SQLITE_NULL)
            otherwise = sqlite3_column_int64(st, 0);
    return otherwise;
}

bool page_has_table(struct page *r, const char *name)
{
    bool has = false;
    sqlite3_stmt *st = page_query(r, "SELECT ?1 FROM sqlite_master WHERE name = ?2");
    if (st != NULL)
        sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
    while (page_row(r, st))
        has = true;
    return has;
}

const char *page_text(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text != NULL ? text : "";
}

/* Searched one by one: there are few groups, spans and reasons. */
int32_t page_name(struct page_names *n, const char *text)
{
    for (int32_t i = 0; i < n->count; i++)
        if (strcmp(n->of[i], text) == 0)
            return i;
    X_ROOM(n->of, n->count, n->room, 32);
    n->of[n->count] = x_strdup(text);
    return n->count++;
}

void page_names_release(struct page_names *n)
{
    for (int32_t i = 0; i < n->count; i++)
        free(n->of[i]);
    free(n->of);
    *n = (struct page_names){0};
}

/* ---- JSON ---- */

void page_key(struct page *r, const char *name) { fprintf(r->to, ",\n\"%s\":", name); }

static void put_value(struct page *r, sqlite3_stmt *st, int i)
{
    switch (sqlite3_column_type(st, i)) {
    case SQLITE_INTEGER: fprintf(r->to, "%lld", sqlite3_column_int64(st, i)); break;
    case SQLITE_FLOAT: fprintf(r->to, "%.17g", sqlite3_column_double(st, i)); break;
    case SQLITE_NULL: fputs("null", r->to); break;
    default: text_put(r->to, TEXT_JSON, page_text(st, i)); break;
    }
}

static void put_row(struct page *r, sqlite3_stmt *st, bool first)
{
    fputs(first ? "[" : ",\n[", r->to);
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        fputs(i > 0 ? "," : "", r->to);
        put_value(r, st, i);
    }
    fputc(']', r->to);
}

void page_rows(struct page *r, const char *key, const char *sql)
{
    sqlite3_stmt *st = page_query(r, sql);
    page_key(r, key);
    fputc('[', r->to);
    for (bool first = true; page_row(r, st); first = false)
        put_row(r, st, first);
    fputc(']', r->to);
}

static void put_names(struct page *r, const char *key, const struct page_names *n)
{
    page_key(r, key);
    fputc('[', r->to);
    for (int32_t i = 0; i < n->count; i++) {
        fputs(i > 0 ? "," : "", r->to);
        text_put(r->to, TEXT_JSON, n->of[i]);
    }
    fputc(']', r->to);
}

/* ---- a run's numbers ---- */

/* Members of an object, by the names of the query's columns. */
static void put_members(struct page *r, sqlite3_stmt *st, bool first)
{
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        fprintf(r->to, "%s\"%s\":", i > 0 || !first ? ",\n" : "", sqlite3_column_name(st, i));
        put_value(r, st, i);
    }
}

static void put_run(struct page *r)
{
    bool any = false;
    sqlite3_stmt *st = page_query(
        r, "SELECT id, scenario, profile, rules, procs, cpus, quota_us, period_us, seed, repeat,"
           " version, host, ifnull(verdict, '') AS verdict, ifnull(text, '') AS text,"
           " ifnull(complaints, '') AS complaints, ifnull(makespan_ns, 0) AS makespan,"
           " ifnull(fingerprint, '') AS fingerprint, threads, ifnull(nr_periods, 0) AS nr_periods,"
           " ifnull(nr_throttled, 0) AS nr_throttled, ifnull(throttled_ns, 0) AS throttled_ns,"
           " warmup_ns AS warmup"
           " FROM runs WHERE id = ?1");
    while (page_row(r, st)) {
        any = true;
        r->procs = sqlite3_column_int(st, 4);
        r->makespan_ns = sqlite3_column_int64(st, 15);
        if (r->procs < 1 || r->procs > 4096 || r->makespan_ns < 0 || r->makespan_ns > PLOT_TIME_MAX)
            page_fail(r, "run %" PRId64 " is damaged", r->run);
        put_members(r, st, true);
    }
    if (!any)
        page_fail(r, "no run %" PRId64, r->run);
}

static void put_quantiles(struct page *r, const char *kind, const char *name)
{
    sqlite3_stmt *st = page_query(r, "SELECT ppm, ns FROM quantiles WHERE run = ?1 AND kind = ?2"
                                     " AND name = ?3 ORDER BY ppm");
    if (st != NULL) {
        sqlite3_bind_text(st, 2, kind, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(st, 3, name, -1, SQLITE_TRANSIENT);
    }
    fputs(",\"quantiles\":[", r->to);
    for (bool first = true; page_row(r, st); first = false)
        fprintf(r->to, "%s%lld,%lld", first ? "" : ",", sqlite3_column_int64(st, 0),
                sqlite3_column_int64(st, 1));
    fputc(']', r->to);
}

/* Without the waits per group, of which the page draws no curve. */
static void put_latencies(struct page *r)
{
    sqlite3_stmt *st = page_query(
        r, "SELECT kind, name, count, p50_ns AS p50, p90_ns AS p90, p99_ns AS p99, p999_ns AS p999,"
           " max_ns AS max FROM latencies WHERE run = ?1 AND kind <> 'wait' ORDER BY kind, name");
    page_key(r, "latencies");
    fputc('[', r->to);
    for (bool first = true; page_row(r, st); first = false) {
        fputs(first ? "{" : ",\n{", r->to);
        put_members(r, st, true);
        char *kind = x_strdup(page_text(st, 0)), *name = x_strdup(page_text(st, 1));
        put_quantiles(r, kind, name);
        free(kind);
        free(name);
        fputc('}', r->to);
    }
    fputc(']', r->to);
}

static void find_groups(struct page *r)
{
    sqlite3_stmt *st = page_query(r, "SELECT name FROM groups WHERE run = ?1 AND name <> 'runtime'"
                                     " ORDER BY running_ns DESC, name LIMIT 8");
    while (page_row(r, st))
        r->groups[r->ngroups++] = x_strdup(page_text(st, 0));
}

/* ---- samples ---- */

/* A column after the other; the last sample is shorter than its interval. */
static const char *const samples_sql =
    "WITH s AS (SELECT *, lag(time_ns, 1, 0) OVER (ORDER BY time_ns) AS begin_ns FROM samples"
    " WHERE run = ?1) SELECT min(begin_ns), sum(runnable_area) / sum(time_ns - begin_ns + 0.0),"
    " max(runnable_max), sum(user_ns), sum(gc_ns), sum(scheduler_ns), sum(spinning_ns),"
    " sum(syscall_ns), sum(no_cpu_ns), sum(throttled_ns), sum(idle_ns) FROM s"
    " WHERE time_ns > begin_ns GROUP BY (time_ns - 1) / ?2 ORDER BY 1";

enum { MEAN = 1, MOST = 2, FIRST_CLASS = 3 };

static double of_all(sqlite3_stmt *st, int column)
{
    double sum = 0;
    for (int k = 0; k < CLASSES; k++)
        sum += sqlite3_column_double(st, FIRST_CLASS + k);
    return sum > 0 ? PERMILLE * sqlite3_column_double(st, column) / sum : 0;
}

static void put_series(struct page *r, const char *name, int column)
{
    sqlite3_stmt *st = page_query(r, samples_sql);
    if (st != NULL)
        sqlite3_bind_int64(st, 2, r->makespan_ns / SAMPLES_MAX + 1);
    if (name != NULL)
        fprintf(r->to, "\"%s\":", name);
    fputc('[', r->to);
    for (bool first = true; page_row(r, st); first = false)
        fprintf(r->to, "%s%.6g", first ? "" : ",",
                column >= FIRST_CLASS ? of_all(st, column) : sqlite3_column_double(st, column));
    fputc(']', r->to);
}

/* Times are whole numbers. */
static void put_times(struct page *r)
{
    sqlite3_stmt *st = page_query(r, samples_sql);
    if (st != NULL)
        sqlite3_bind_int64(st, 2, r->makespan_ns / SAMPLES_MAX + 1);
    fputs("\"at\":[", r->to);
    for (bool first = true; page_row(r, st); first = false)
        fprintf(r->to, "%s%lld", first ? "" : ",", sqlite3_column_int64(st, 0));
    fputs("],", r->to);
}

static void put_samples(struct page *r)
{
    page_key(r, "samples");
    fputc('{', r->to);
    put_times(r);
    put_series(r, "mean", MEAN);
    fputc(',', r->to);
    put_series(r, "most", MOST);
    fputs(",\"share\":[", r->to);
    for (int k = 0; k < CLASSES; k++) {
        fputs(k > 0 ? "," : "", r->to);
        put_series(r, NULL, FIRST_CLASS + k);
    }
    fputs("]}", r->to);
}

/* ---- the whole ---- */

static void put_stalls(struct page *r)
{
    char sql[400];
    if (!page_has_table(r, "p_stalls")) {
        page_key(r, "stalls");
        fputs("[]", r->to);
        return;
    }
    snprintf(sql, sizeof sql,
             "SELECT p, begin_ns, ifnull(end_ns, %" PRId64 "), why FROM p_stalls WHERE run = ?1"
             " ORDER BY ifnull(end_ns, %" PRId64 ") - begin_ns DESC LIMIT %d",
             r->makespan_ns, r->makespan_ns, STALLS_MAX);
    page_rows(r, "stalls", sql);
}

/* When some P was out of quota: stretches that overlap are one. Those that nobody could see are
 * left out where there are many. */
static void put_throttled(struct page *r, bool *any)
{
    int64_t from = -1, to = -1;
    sqlite3_stmt *st = page_query(
        r, "SELECT begin_ns, ifnull(end_ns, (SELECT makespan_ns FROM runs WHERE id = ?1)),"
           " count(*) OVER () > 5000 FROM p_stalls WHERE run = ?1 AND why = 'throttled'"
           " ORDER BY begin_ns");
    for (bool more = true; more;) {
        more = page_row(r, st);
        int64_t begin = more ? sqlite3_column_int64(st, 0) : INT64_MAX;
        int64_t end = more ? sqlite3_column_int64(st, 1) : 0;
        bool many = more && sqlite3_column_int(st, 2) != 0;
        if (begin <= to) {
            to = end > to ? end : to;
            continue;
        }
        if (from >= 0 && to > from && (!many || to - from > r->makespan_ns / 10000)) {
            fprintf(r->to, "%s[\"throttled\",%" PRId64 ",%" PRId64 "]", *any ? "," : "", from, to);
            *any = true;
        }
        from = begin;
        to = end;
    }
}

/* What concerns all Ps. */
static void put_bands(struct page *r)
{
    bool any = false;
    page_key(r, "bands");
    fputc('[', r->to);
    sqlite3_stmt *st = page_query(r,
                                  "SELECT what = 'gc', begin_ns, end_ns FROM bands WHERE run = ?1"
                                  " ORDER BY end_ns - begin_ns DESC, begin_ns LIMIT 5000");
    for (; page_row(r, st); any = true)
        fprintf(r->to, "%s[\"%s\",%" PRId64 ",%" PRId64 "]", any ? "," : "",
                sqlite3_column_int(st, 0) != 0 ? "GC" : "stop",
                (int64_t)sqlite3_column_int64(st, 1), (int64_t)sqlite3_column_int64(st, 2));
    put_throttled(r, &any);
    fputc(']', r->to);
}

/* Where the time of the slow ones went, span by span: sums. */
static void put_attribution(struct page *r)
{
    char last[256] = "";
    bool any = false;
    page_key(r, "attribution");
    fputc('[', r->to);
    sqlite3_stmt *st = page_query(
        r, "SELECT name, part, slow_count, slow_mean_ns * slow_count FROM span_parts p"
           " WHERE run = ?1 AND slow_count > 0 AND slow_mean_ns > 0"
           " AND slow_mean_ns < 1000000000000000 AND slow_count < 1000000000"
           " ORDER BY (SELECT sum(slow_mean_ns * 1.0 * slow_count) FROM span_parts q"
           " WHERE q.run = ?1 AND q.name = p.name) DESC, name, 4 DESC, part");
    while (page_row(r, st)) {
        char name[256];
        snprintf(name, sizeof name, "%s", page_text(st, 0));
        bool same = any && strcmp(name, last) == 0;
        if (!same) {
            fputs(any ? "]},{\"name\":" : "{\"name\":", r->to);
            text_put(r->to, TEXT_JSON, page_text(st, 0));
            fprintf(r->to, ",\"count\":%" PRId64 ",\"parts\":[",
                    (int64_t)sqlite3_column_int64(st, 2));
        }
        fputs(same ? ",[" : "[", r->to);
        text_put(r->to, TEXT_JSON, page_text(st, 1));
        fprintf(r->to, ",%" PRId64 "]", (int64_t)sqlite3_column_int64(st, 3));
        snprintf(last, sizeof last, "%s", name);
        any = true;
    }
    fputs(any ? "]}]" : "]", r->to);
}

static void put_waits(struct page *r)
{
    if (!page_has_table(r, "span_waits")) {
        page_key(r, "waits");
        fputs("[]", r->to);
        return;
    }
    page_rows(r, "waits",
              "SELECT name, part, slow_mean_ns, who, object, place FROM span_waits WHERE run = ?1"
              " AND slow_mean_ns > 0 AND slow_mean_ns < 1000000000000000 ORDER BY rowid"
              " LIMIT 1000");
}

static void put_one(struct page *r, int64_t run)
{
    r->run = run;
    fputs("{", r->to);
    put_run(r);
    find_groups(r);
    put_latencies(r);
    page_rows(r, "groups",
              "SELECT name, created, ended, running_ns, runnable_ns, waiting_ns, syscall_ns"
              " FROM groups WHERE run = ?1 ORDER BY running_ns DESC, name");
    page_rows(r, "counters", "SELECT name, value FROM counters WHERE run = ?1 ORDER BY name");
    page_rows(r, "blocked",
              "SELECT g, name, status, reason, since_ns, line FROM blocked WHERE run = ?1"
              " ORDER BY since_ns, g LIMIT 200");
    put_samples(r);
    put_stalls(r);
    put_bands(r);
    put_attribution(r);
    put_waits(r);
    page_lanes(r);
    put_names(r, "names", &r->names);
    put_names(r, "reasons", &r->reasons);
    fputs("}", r->to);
    page_names_release(&r->names);
    page_names_release(&r->reasons);
    for (int i = 0; i < r->ngroups; i++)
        free(r->groups[i]);
    r->ngroups = 0;
}

/* The latest grid that was recorded. */
static void put_whatif(struct page *r)
{
    sqlite3_stmt *st = page_query(
        r, "SELECT scenario, profile, procs, policy, cpus, quota_us, rate AS load, name,"
           " count(*) AS runs,"
           " avg(count * 1e9 / (makespan_ns - warmup_ns)) AS rate, avg(p50_ns) AS p50, avg(p90_ns) "
           "AS p90,"
           " avg(p99_ns) AS p99, avg(p999_ns) AS p999, avg(max_ns) AS max,"
           " CASE WHEN count(*) > 1 AND avg(p99_ns) > 0 THEN 1.96 / avg(p99_ns) * sqrt(max(0,"
           " (avg(p99_ns * 1.0 * p99_ns) - avg(p99_ns) * avg(p99_ns))) / (count(*) - 1)) END"
           " AS half FROM whatif WHERE grid = (SELECT max(grid) FROM whatif) AND ?1 = ?1"
           " AND name <> 'run-queue wait' AND makespan_ns > warmup_ns"
           " GROUP BY profile, procs, policy, cpus, quota_us, whatif.rate, name"
           " ORDER BY min(rowid)");
    fputs(",\n\"whatif\":", r->to);
    bool any = false;
    for (; page_row(r, st); any = true) {
        if (!any) {
            fputs("{\"scenario\":", r->to);
            text_put(r->to, TEXT_JSON, page_text(st, 0));
            fputs(",\"rows\":[", r->to);
        }
        fputs(any ? ",\n{" : "{", r->to);
        put_members(r, st, true);
        fputc('}', r->to);
    }
    fputs(any ? "]}" : "null", r->to);
}

static void put_data(struct page *r)
{
    fputs("{\"runs\":[", r->to);
    for (int i = 0; i < r->args->nruns; i++) {
        fputs(i > 0 ? ",\n" : "", r->to);
        put_one(r, r->args->runs[i]);
    }
    fputc(']', r->to);
    put_whatif(r);
    fputc('}', r->to);
}

/* The page up to a mark such as @CSS@; what follows it. */
static const char *put_until(FILE *to, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    fwrite(page, 1, (size_t)(at - page), to);
    return at + strlen(mark);
}

bool page_write(const struct page_args *a, FILE *to, char text[PLOT_TEXT_MAX])
{
    struct page r = {.args = a, .to = to, .text = text};
    const char *rest = put_until(to, page_html, "@CSS@");
    fwrite(page_css, 1, (size_t)(page_css_end - page_css), to);
    rest = put_until(to, rest, "@DATA@");
    put_data(&r);
    rest = put_until(to, rest, "@JS@");
    fwrite(page_js, 1, (size_t)(page_js_end - page_js), to);
    fputs(rest, to); /* up to the 0 that the build puts behind the page */
    return !r.failed;
}
