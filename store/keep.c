/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/keep.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/owner.h"
#include "store/store_int.h"

/* Every table with rows of runs; schema.c has them. */
static const char *const tables[] = {
    "counters", "latencies",         "quantiles",         "histograms",
    "groups",   "samples",           "p_samples",         "goroutines",
    "spans",    "span_parts",        "p_stalls",          "findings",
    "blocked",  "raw_g_transitions", "raw_p_transitions", "steals",
    "bands",    "metrics",           "p_spins",           "span_waits",
};

/* ---- removal ---- */

static bool run_sql(struct store *s, const char *sql, int64_t a, int64_t b)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(store_db(s), sql, -1, &st, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(st, 1, a);
    sqlite3_bind_int64(st, 2, b);
    int rc = sqlite3_step(st);
    return sqlite3_finalize(st) == SQLITE_OK && (rc == SQLITE_DONE || rc == SQLITE_ROW);
}

/* Removes the rows of every run in the table `doomed`: one pass over each table. ON DELETE CASCADE
 * would take one pass for each run. */
static bool remove_doomed(struct store *s)
{
    char sql[128];
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run IN (SELECT id FROM temp.doomed)",
                 tables[i]);
        ok = run_sql(s, sql, 0, 0);
    }
    return ok && run_sql(s, "DELETE FROM runs WHERE id IN (SELECT id FROM temp.doomed)", 0, 0);
}

static int changed(struct store *s, bool ok) { return ok ? sqlite3_changes(store_db(s)) : -1; }

/* In a transaction: what choose() puts into the table `doomed`. */
static int remove_chosen(struct store *s, struct failure *f,
                         bool (*choose)(struct store *s, int64_t a, int64_t b), int64_t a,
                         int64_t b)
{
    if (!store_exec_(s, f,
                     "CREATE TEMP TABLE IF NOT EXISTS doomed(id INTEGER PRIMARY KEY);"
                     "PRAGMA foreign_keys = 0; BEGIN IMMEDIATE; DELETE FROM temp.doomed"))
        return -1;
    int n = changed(s, choose(s, a, b) && remove_doomed(s));
    if (n < 0 || sqlite3_exec(store_db(s), "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        store_error_(s, f);
        n = -1;
        sqlite3_exec(store_db(s), "ROLLBACK", NULL, NULL, NULL);
    }
    sqlite3_exec(store_db(s), "PRAGMA foreign_keys = 1", NULL, NULL, NULL);
    return n;
}

/* ---- the dead ---- */

static bool choose_dead(struct store *s, int64_t a, int64_t b)
{
    sqlite3_stmt *st;
    bool ok = sqlite3_prepare_v2(store_db(s), "SELECT id FROM runs WHERE complete = 0", -1, &st,
                                 NULL) == SQLITE_OK;
    (void)a;
    (void)b;
    while (ok && sqlite3_step(st) == SQLITE_ROW) {
        int64_t run = sqlite3_column_int64(st, 0);
        ok = owner_is_alive(store_owner_(s), run) ||
             run_sql(s, "INSERT OR IGNORE INTO temp.doomed VALUES(?)", run, 0);
    }
    return sqlite3_finalize(st) == SQLITE_OK && ok;
}

static bool is_any_dead(struct store *s)
{
    sqlite3_stmt *st;
    bool any = false;
    if (sqlite3_prepare_v2(store_db(s), "SELECT id FROM runs WHERE complete = 0", -1, &st, NULL) ==
        SQLITE_OK)
        while (!any && sqlite3_step(st) == SQLITE_ROW)
            any = !owner_is_alive(store_owner_(s), sqlite3_column_int64(st, 0));
    sqlite3_finalize(st);
    return any;
}

int store_remove_dead(struct store *s, struct failure *f)
{
    return is_any_dead(s) ? remove_chosen(s, f, choose_dead, 0, 0) : 0;
}

/* ---- what a user names ---- */

static bool choose_range(struct store *s, int64_t first, int64_t last)
{
    return run_sql(s,
                   "INSERT INTO temp.doomed SELECT id FROM runs"
                   " WHERE id BETWEEN ? AND ? AND complete = 1",
                   first, last);
}

int store_remove(struct store *s, struct failure *f, int64_t first, int64_t last)
{
    return remove_chosen(s, f, choose_range, first, last);
}

int store_remove_grid(struct store *s, struct failure *f, int64_t grid)
{
    int n = changed(s, run_sql(s, "DELETE FROM whatif WHERE grid = ?", grid, 0));
    if (n < 0)
        store_error_(s, f);
    return n;
}

bool store_vacuum(struct store *s, struct failure *f)
{
    return store_exec_(s, f, "VACUUM") && store_exec_(s, f, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/* ---- is it whole? ---- */

/* A row is a complaint: its columns one after the other. */
static const char *const questions[] = {
    "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
    "SELECT 'a row of ' || \"table\" || ' is of no run' FROM pragma_foreign_key_check",
    "SELECT 'run ' || id || ' is complete and has no counters' FROM runs"
    " WHERE complete = 1 AND host <> 'recorded' AND id NOT IN (SELECT run FROM counters)",
    "SELECT 'run ' || run || ': ' || count(*) || ' transitions without a reason''s name'"
    " FROM g_transitions WHERE to_state = 'waiting' AND from_state <> 'notexist'"
    " AND reason IS NULL AND run NOT IN (SELECT id FROM runs WHERE host = 'recorded')"
    " GROUP BY run",
    "SELECT 'run ' || run || ': the transitions of g' || g || ' have gaps' FROM"
    " (SELECT run, g, from_state, end_time_ns - duration_ns - lag(end_time_ns) OVER w AS gap,"
    " from_state <> lag(to_state) OVER w AS other FROM g_transitions"
    " WINDOW w AS (PARTITION BY run, g ORDER BY id))"
    " WHERE from_state <> 'notexist' AND (abs(gap) > 1 OR other) GROUP BY run, g LIMIT 10",
};

/* What the look at the pages says as if it were a complaint. */
static const char no_memory[] = "out of memory";

int store_check(struct store *s, struct failure *f, void (*tell)(void *arg, const char *what),
                void *arg)
{
    int n = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        sqlite3_stmt *st;
        if (sqlite3_prepare_v2(store_db(s), questions[i], -1, &st, NULL) != SQLITE_OK) {
            store_error_(s, f);
            return -1;
        }
        bool refused = false;
        while (!refused && sqlite3_step(st) == SQLITE_ROW) {
            const char *what = (const char *)sqlite3_column_text(st, 0);
            refused = what == NULL || strcmp(what, no_memory) == 0;
            if (!refused)
                tell(arg, what);
            n++;
        }
        int rc = sqlite3_finalize(st);
        if (refused || rc == SQLITE_NOMEM || rc == SQLITE_IOERR || rc == SQLITE_FULL ||
            rc == SQLITE_CANTOPEN) {
            fail(f, E_STORE, "cannot be checked: %s", refused ? no_memory : sqlite3_errstr(rc));
            return -1;
        }
        if (rc != SQLITE_OK) {
            tell(arg, sqlite3_errmsg(store_db(s)));
            n++;
        }
        if (n > 0 && i == 0) /* the next questions would stumble over the same pages */
            break;
    }
    return n;
}
