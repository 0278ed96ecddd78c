/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim query and gmpsim diff. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/csv.h"
#include "cli/db.h"
#include "cli/trace_run.h"
#include "cli/out.h"
#include "sim/base/text.h"
#include "store/store.h"

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, const char **rest)
{
    sqlite3_stmt *st;
    int rc = sqlite3_prepare_v2(db, sql, -1, &st, rest);
    if (rc != SQLITE_OK)
        cli_die(EXIT_USAGE, "query: %s%s", sqlite3_errmsg(db),
                rc == SQLITE_AUTH ? ": a query is read-only, and of this file alone" : "");
    return st;
}

/* What a damaged file says comes with the last row. */
static void done(sqlite3 *db, sqlite3_stmt *st)
{
    if (sqlite3_finalize(st) != SQLITE_OK)
        cli_die(EXIT_USAGE, "query: %s", sqlite3_errmsg(db));
}

/* ---- query ---- */

enum { LOOK_EVERY = 100000, TIMEOUT_S = 60, MEMORY_MAX = 1 << 30 };
static const int64_t rows_max = 10000000, second = 1000000000;

/* How long a query may take, and how much it may say: SQL can ask for what never ends. */
struct bounds {
    int64_t rows, timeout_ns, end_ns;
    bool asked; /* for so many rows: there may be more */
};

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second + t.tv_nsec;
}

static int is_over(void *arg)
{
    const struct bounds *b = arg;
    return clock_ns() >= b->end_ns;
}

static void bound(sqlite3 *db, struct bounds *b)
{
    b->asked = b->rows > 0;
    if (!b->asked)
        b->rows = rows_max;
    if (b->timeout_ns == 0)
        b->timeout_ns = TIMEOUT_S * second;
    b->end_ns = clock_ns() + b->timeout_ns;
    sqlite3_hard_heap_limit64(MEMORY_MAX);
    sqlite3_progress_handler(db, LOOK_EVERY, is_over, b);
}

enum query_form { QUERY_TSV, QUERY_CSV, QUERY_JSON };

static void print_row(sqlite3_stmt *st, enum query_form form)
{
    enum text_form field = form == QUERY_CSV ? TEXT_CSV : TEXT_TSV;
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        const char *text = (const char *)sqlite3_column_text(st, i);
        size_t size = (size_t)sqlite3_column_bytes(st, i);
        fputs(i == 0 ? "" : form == QUERY_CSV ? "," : "\t", stdout);
        if (text != NULL && form == QUERY_CSV && sqlite3_column_type(st, i) != SQLITE_TEXT)
            fwrite(text, 1, size, stdout); /* a number is no formula, -1 neither */
        else if (text != NULL)
            text_put_n(stdout, field, text, size);
    }
    putchar('\n');
}

static void print_header(sqlite3_stmt *st, enum query_form form)
{
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        fputs(i == 0 ? "" : form == QUERY_CSV ? "," : "\t", stdout);
        text_put(stdout, form == QUERY_CSV ? TEXT_CSV : TEXT_TSV, sqlite3_column_name(st, i));
    }
    putchar('\n');
}

static void add_value(cJSON *o, sqlite3_stmt *st, int i)
{
    const char *name = sqlite3_column_name(st, i);
    const char *text = (const char *)sqlite3_column_text(st, i);
    switch (sqlite3_column_type(st, i)) {
    case SQLITE_FLOAT:
        if (!isfinite(sqlite3_column_double(st, i))) /* JSON has no infinity */
            break;
        __attribute__((fallthrough));
    case SQLITE_INTEGER: cJSON_AddRawToObject(o, name, text); return;
    case SQLITE_TEXT: cJSON_AddStringToObject(o, name, text); return;
    }
    cJSON_AddNullToObject(o, name);
}

/* An array with a row per line, over all statements. */
static void print_json_row(sqlite3_stmt *st, int64_t row)
{
    cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < sqlite3_column_count(st); i++)
        add_value(o, st, i);
    char *text = cJSON_PrintUnformatted(o);
    puts(row > 0 ? "," : "[");
    text_put(stdout, TEXT_JSON_WHOLE, text);
    cJSON_free(text);
    cJSON_Delete(o);
}

static int64_t print_rows(struct store *s, sqlite3_stmt *st, bool header, enum query_form form,
                          int64_t rows, const struct bounds *b)
{
    int rc;
    if (header && form != QUERY_JSON)
        print_header(st, form);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        if (rows == b->rows && b->asked)
            return rows;
        if (rows == b->rows)
            cli_die(EXIT_USAGE,
                    "query: there are more than %" PRId64 " rows; --limit says how many", b->rows);
        if (form == QUERY_JSON)
            print_json_row(st, rows);
        else
            print_row(st, form);
        rows++;
    }
    if (rc == SQLITE_INTERRUPT)
        cli_die(EXIT_USAGE, "query: not done after %s; --timeout says how long it may take",
                time_exact(b->timeout_ns));
    if (rc != SQLITE_DONE)
        cli_die(EXIT_USAGE, "query: %s", sqlite3_errmsg(store_db(s)));
    return rows;
}

int command_query(const struct command *v, int argc, char **argv)
{
    bool json = false, csv = false, header = false;
    struct bounds b = {0};
    const struct opt table[] = {
        {"limit", "N", "so many rows at the most (default 10000000)", OPT_COUNT, &b.rows},
        {"timeout", "TIME", "so long at the most (default 1m)", OPT_LENGTH, &b.timeout_ns},
        {"header", NULL, "names of the columns first", OPT_FLAG, &header},
        {"csv", NULL, "as CSV, names of the columns first", OPT_FLAG, &csv},
        {"json", NULL, "a JSON array of an object per row, a row per line", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    int64_t rows = 0;
    opts_want(v, argc, first, 2, 2);
    if (json && csv)
        cli_die(EXIT_USAGE, "--json and --csv: one of them");
    enum query_form form = json ? QUERY_JSON : csv ? QUERY_CSV : QUERY_TSV;
    struct store *s = db_to_read(store_of(argv[first]));
    bound(store_db(s), &b);
    for (const char *sql = argv[first + 1]; *sql != 0;) {
        sqlite3_stmt *st = prepare(store_db(s), sql, &sql);
        if (st == NULL)
            break; /* white space or a comment */
        rows = print_rows(s, st, header || csv, form, rows, &b);
        sqlite3_finalize(st);
    }
    if (json)
        puts(rows > 0 ? "\n]" : "[]");
    store_close(s);
    return EXIT_CLEAN;
}

/* ---- diff ---- */

struct two {
    sqlite3 *db;
    int64_t a, b;
    cJSON *list; /* NULL: text */
};

static void print_difference(sqlite3_stmt *st, bool times)
{
    const char *a = (const char *)sqlite3_column_text(st, 1);
    const char *b = (const char *)sqlite3_column_text(st, 2);
    double x = sqlite3_column_double(st, 1), y = sqlite3_column_double(st, 2);
    if (times) {
        a = a != NULL ? time_text(sqlite3_column_int64(st, 1)) : NULL;
        b = b != NULL ? time_text(sqlite3_column_int64(st, 2)) : NULL;
    }
    const char *name = (const char *)sqlite3_column_text(st, 0);
    fputs("  ", stdout);
    text_cell(stdout, name != NULL ? name : "", 34);
    printf(" %18s %18s", a != NULL ? text_line(a) : "-", b != NULL ? text_line(b) : "-");
    if (x > 0 && y > 0 && sqlite3_column_type(st, 1) == SQLITE_INTEGER)
        printf("   x %.3f", y / x);
    putchar('\n');
}

static cJSON *difference_json(sqlite3_stmt *st, const char *title)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "section", title);
    add_value(o, st, 0);
    add_value(o, st, 1);
    add_value(o, st, 2);
    return o;
}

/* The query gives name, value of a, value of b; ?1 and ?2 are the runs. */
static void differences(struct two *t, const char *title, const char *sql, bool times)
{
    sqlite3_stmt *st = prepare(t->db, sql, NULL);
    int shown = 0;
    sqlite3_bind_int64(st, 1, t->a);
    sqlite3_bind_int64(st, 2, t->b);
    while (sqlite3_step(st) == SQLITE_ROW) {
        if (t->list != NULL) {
            cJSON_AddItemToArray(t->list, difference_json(st, title));
            continue;
        }
        if (shown++ == 0)
            printf("\n%s\n", title);
        print_difference(st, times);
    }
    done(t->db, st);
}

static void diff_settings(struct two *t)
{
    static const char *const columns[] = {"scenario",  "file",         "version",      "profile",
                                          "rules",     "procs",        "cpus",         "quota_us",
                                          "period_us", "seed",         "verdict",      "text",
                                          "threads",   "nr_throttled", "runnable_max", "host"};
    char sql[4096] = "";
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t n = strlen(sql);
        snprintf(sql + n, sizeof sql - n,
                 "%sSELECT '%s' AS name, a.%s AS a, b.%s AS b FROM runs a, runs b WHERE a.id = ?1 "
                 "AND b.id = ?2"
                 " AND a.%s IS NOT b.%s",
                 i > 0 ? " UNION ALL " : "", columns[i], columns[i], columns[i], columns[i],
                 columns[i]);
    }
    differences(t, "settings and result", sql, false);
    differences(
        t, "time",
        "SELECT 'makespan' AS name, a.makespan_ns AS a, b.makespan_ns AS b FROM runs a, runs b"
        " WHERE a.id = ?1 AND b.id = ?2 AND a.makespan_ns <> b.makespan_ns",
        true);
}

static void diff_latencies(struct two *t)
{
    static const char *const columns[] = {"p50", "p90", "p99", "p999", "max"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char sql[600], title[40];
        snprintf(title, sizeof title, "latency: %s", columns[i]);
        snprintf(sql, sizeof sql,
                 "WITH k AS (SELECT DISTINCT kind, name FROM latencies WHERE run IN (?1, ?2)"
                 " AND kind IN ('span', 'runq_wait', 'life'))"
                 " SELECT kind || ' ' || name AS name, x.%s_ns AS a, y.%s_ns AS b FROM k"
                 " LEFT JOIN latencies x USING (kind, name) LEFT JOIN latencies y"
                 " USING (kind, name) WHERE x.run = ?1 AND y.run = ?2 AND a IS NOT b",
                 columns[i], columns[i]);
        differences(t, title, sql, true);
    }
}

static const char *fingerprint(struct two *t, int64_t run, char *buf, size_t size)
{
    sqlite3_stmt *st = prepare(t->db, "SELECT fingerprint FROM runs WHERE id = ?", NULL);
    sqlite3_bind_int64(st, 1, run);
    if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0) != NULL)
        snprintf(buf, size, "%s", sqlite3_column_text(st, 0));
    done(t->db, st);
    return buf;
}

static int64_t run_argument(struct store *s, const char *text)
{
    struct failure f = {0};
    int64_t id;
    if (!parse_int(text, &id) || id == 0)
        cli_die(EXIT_USAGE, "diff: want a run's number, got '%s'", text);
    if (store_run_id(s, &f, id) == 0)
        cli_fail(&f);
    return id;
}

static cJSON *diff_json(struct two *t, const char *a, const char *b, bool same)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "run1", (double)t->a);
    cJSON_AddNumberToObject(o, "run2", (double)t->b);
    cJSON_AddStringToObject(o, "fingerprint1", a);
    cJSON_AddStringToObject(o, "fingerprint2", b);
    cJSON_AddBoolToObject(o, "same", same);
    t->list = cJSON_AddArrayToObject(o, "differences");
    return o;
}

static void diff(struct two *t)
{
    diff_settings(t);
    diff_latencies(t);
    differences(t, "counters",
                "SELECT name, a.value AS a, b.value AS b FROM counters a JOIN counters b"
                " USING (name) WHERE a.run = ?1 AND b.run = ?2 AND a.value <> b.value",
                false);
}

int command_diff(const struct command *v, int argc, char **argv)
{
    bool json = false;
    struct csv_wish csv = {0};
    const struct opt table[] = {
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &json},
        {0},
    };
    char a[24] = "", b[24] = "";
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 3, 3);
    json = csv_or_json(&csv, json, "differences");
    struct store *s = db_to_read(argv[first]);
    struct two t = {.db = store_db(s)};
    t.a = run_argument(s, argv[first + 1]);
    t.b = run_argument(s, argv[first + 2]);
    bool same = strcmp(fingerprint(&t, t.a, a, sizeof a), fingerprint(&t, t.b, b, sizeof b)) == 0 &&
                (a[0] != 0 || t.a == t.b); /* without one nobody can say */
    cJSON *o = json ? diff_json(&t, a, b, same) : NULL;
    if (!json)
        printf("run %" PRId64 " %s, run %" PRId64 " %s: %s\n", t.a, a, t.b, b,
               same ? "the same run" : "different runs");
    diff(&t);
    if (json)
        out_json(o);
    store_close(s);
    return EXIT_CLEAN;
}
