/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim query and gmpsim diff. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "replay/store.h"

static struct store *open_store(const char *path)
{
    struct failure f = {0};
    struct store *s = store_open(&f, path, STORE_READ);
    if (s == NULL)
        cli_fail(&f);
    return s;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, const char **rest)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, sql, -1, &st, rest) != SQLITE_OK)
        cli_die(EXIT_USAGE, "query: %s", sqlite3_errmsg(db));
    return st;
}

/* ---- query ---- */

static void print_row(sqlite3_stmt *st)
{
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        const unsigned char *text = sqlite3_column_text(st, i);
        printf("%s%s", i > 0 ? "\t" : "", text != NULL ? (const char *)text : "");
    }
    putchar('\n');
}

static void print_header(sqlite3_stmt *st)
{
    for (int i = 0; i < sqlite3_column_count(st); i++)
        printf("%s%s", i > 0 ? "\t" : "", sqlite3_column_name(st, i));
    putchar('\n');
}

static void print_json_row(sqlite3_stmt *st)
{
    cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        const char *name = sqlite3_column_name(st, i);
        int type = sqlite3_column_type(st, i);
        if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
            cJSON_AddRawToObject(o, name, (const char *)sqlite3_column_text(st, i));
        else if (type == SQLITE_NULL)
            cJSON_AddNullToObject(o, name);
        else
            cJSON_AddStringToObject(o, name, (const char *)sqlite3_column_text(st, i));
    }
    char *text = cJSON_PrintUnformatted(o);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int verb_query(const struct verb *v, int argc, char **argv)
{
    bool json = false, header = false;
    const struct opt table[] = {
        {"header", NULL, "names of the columns first", OPT_FLAG, &header},
        {"json", NULL, "a JSON object per row, a row per line", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv), rc;
    opts_want(v, argc, first, 2, 2);
    struct store *s = open_store(argv[first]);
    for (const char *sql = argv[first + 1]; *sql != 0;) {
        sqlite3_stmt *st = prepare(store_db(s), sql, &sql);
        if (st == NULL)
            break; /* white space or a comment */
        if (header && !json)
            print_header(st);
        while ((rc = sqlite3_step(st)) == SQLITE_ROW)
            (json ? print_json_row : print_row)(st);
        if (rc != SQLITE_DONE)
            cli_die(EXIT_USAGE, "query: %s", sqlite3_errmsg(store_db(s)));
        sqlite3_finalize(st);
    }
    store_close(s);
    return EXIT_CLEAN;
}

/* ---- diff ---- */

struct two {
    sqlite3 *db;
    int64_t a, b;
    int lines;
};

/* The query gives name, value of a, value of b; ?1 and ?2 are the runs. */
static void print_differences(struct two *t, const char *title, const char *sql, bool times)
{
    sqlite3_stmt *st = prepare(t->db, sql, NULL);
    int shown = 0;
    sqlite3_bind_int64(st, 1, t->a);
    sqlite3_bind_int64(st, 2, t->b);
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        const char *a = (const char *)sqlite3_column_text(st, 1);
        const char *b = (const char *)sqlite3_column_text(st, 2);
        double x = sqlite3_column_double(st, 1), y = sqlite3_column_double(st, 2);
        if (shown++ == 0)
            printf("\n%s\n", title);
        if (times) {
            a = a != NULL ? time_text(sqlite3_column_int64(st, 1)) : NULL;
            b = b != NULL ? time_text(sqlite3_column_int64(st, 2)) : NULL;
        }
        printf("  %-34s %18s %18s", name, a != NULL ? a : "-", b != NULL ? b : "-");
        if (x > 0 && y > 0 && sqlite3_column_type(st, 1) == SQLITE_INTEGER)
            printf("   x %.3f", y / x);
        putchar('\n');
    }
    sqlite3_finalize(st);
    t->lines += shown;
}

static void diff_settings(struct two *t)
{
    static const char *const columns[] = {"scenario",  "file",         "version",     "profile",
                                          "rules",     "procs",        "cpus",        "quota_us",
                                          "period_us", "seed",         "verdict",     "text",
                                          "threads",   "nr_throttled", "runnable_max"};
    char sql[4096] = "";
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t n = strlen(sql);
        snprintf(sql + n, sizeof sql - n,
                 "%sSELECT '%s', a.%s, b.%s FROM runs a, runs b WHERE a.id = ?1 AND b.id = ?2"
                 " AND a.%s IS NOT b.%s",
                 i > 0 ? " UNION ALL " : "", columns[i], columns[i], columns[i], columns[i],
                 columns[i]);
    }
    print_differences(t, "settings and result", sql, false);
    print_differences(t, "time",
                      "SELECT 'makespan', a.makespan_ns, b.makespan_ns FROM runs a, runs b"
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
                 " SELECT kind || ' ' || name, a.%s_ns AS x, b.%s_ns AS y FROM k"
                 " LEFT JOIN latencies a USING (kind, name) LEFT JOIN latencies b"
                 " USING (kind, name) WHERE a.run = ?1 AND b.run = ?2 AND x IS NOT y",
                 columns[i], columns[i]);
        print_differences(t, title, sql, true);
    }
}

static const char *fingerprint(struct two *t, int64_t run, char *buf, size_t size)
{
    sqlite3_stmt *st = prepare(t->db, "SELECT fingerprint FROM runs WHERE id = ?", NULL);
    sqlite3_bind_int64(st, 1, run);
    if (sqlite3_step(st) == SQLITE_ROW)
        snprintf(buf, size, "%s", sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
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

int verb_diff(const struct verb *v, int argc, char **argv)
{
    const struct opt table[] = {{0}};
    char a[24] = "", b[24] = "";
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 3, 3);
    struct store *s = open_store(argv[first]);
    struct two t = {.db = store_db(s)};
    t.a = run_argument(s, argv[first + 1]);
    t.b = run_argument(s, argv[first + 2]);
    bool same = strcmp(fingerprint(&t, t.a, a, sizeof a), fingerprint(&t, t.b, b, sizeof b)) == 0;
    printf("run %" PRId64 " %s, run %" PRId64 " %s: %s\n", t.a, a, t.b, b,
           same ? "the same run" : "different runs");
    diff_settings(&t);
    diff_latencies(&t);
    print_differences(&t, "counters",
                      "SELECT name, a.value, b.value FROM counters a JOIN counters b USING (name)"
                      " WHERE a.run = ?1 AND b.run = ?2 AND a.value <> b.value",
                      false);
    store_close(s);
    return EXIT_CLEAN;
}
