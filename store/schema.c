/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables, as a list of steps from one version to the next: PRAGMA user_version counts them.
 * g_transitions and p_transitions have the columns that sqlprof gives to recorded Go traces, and a
 * run's number in front. */
#include "store/schema.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "store/recorder.h"
#include "store/store.h"

#define RUN "run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, "

/* The codes of recorder.c: what transition n.i of a row t is. */
#define CODE(at) "t.hows >> n.bits + " at " & 7"
#define G_STATE(at)                                                                          \
    " CASE " CODE(at) " WHEN 0 THEN 'notexist' WHEN 1 THEN 'runnable' WHEN 2 THEN 'running'" \
                      " WHEN 3 THEN 'waiting' ELSE 'syscall' END"
#define P_STATE(at) " CASE " CODE(at) " WHEN 0 THEN 'idle' WHEN 1 THEN 'running' ELSE 'syscall' END"
#define DURATION    " CASE n.i WHEN 0 THEN t.d1 WHEN 1 THEN t.d2 WHEN 2 THEN t.d3 ELSE t.d4 END"
/* A row has the end of its last transition. */
#define END                                                                                     \
    " t.end_time_ns - CASE n.i WHEN 0 THEN ifnull(t.d2, 0) + ifnull(t.d3, 0) + ifnull(t.d4, 0)" \
    " WHEN 1 THEN ifnull(t.d3, 0) + ifnull(t.d4, 0) WHEN 2 THEN ifnull(t.d4, 0) ELSE 0 END"
#define SOURCE "CASE n.i WHEN 0 THEN t.s1 WHEN 1 THEN t.s2 WHEN 2 THEN t.s3 ELSE t.s4 END"
#define SRC_G  " nullif(" SOURCE " >> 32 & 4294967295, 0) AS src_g,"
#define SRC_M  " nullif(" SOURCE " >> 16 & 65535, 65535) AS src_m,"
#define SRC_P  " nullif(" SOURCE " & 65535, 65535) AS src_p,"
#define CHAIN                                                                             \
    " hows INTEGER, end_time_ns INTEGER, d1 INTEGER, d2 INTEGER, d3 INTEGER, d4 INTEGER," \
    " s1 INTEGER, s2 INTEGER, s3 INTEGER, s4 INTEGER"

/* clang-format off */
static const char *const steps[STORE_VERSION] = {
    "CREATE TABLE runs("
    " id INTEGER PRIMARY KEY, created TEXT NOT NULL, version TEXT NOT NULL,"
    " scenario TEXT NOT NULL, file TEXT NOT NULL, profile TEXT NOT NULL, rules TEXT NOT NULL,"
    " procs INTEGER NOT NULL, cpus INTEGER NOT NULL, quota_us INTEGER NOT NULL,"
    " period_us INTEGER NOT NULL, seed TEXT NOT NULL, repeat TEXT NOT NULL,"
    " complete INTEGER NOT NULL DEFAULT 0, verdict TEXT, text TEXT, complaints TEXT,"
    " makespan_ns INTEGER, fingerprint TEXT, threads INTEGER, runnable_max INTEGER,"
    " nr_periods INTEGER, nr_throttled INTEGER, throttled_ns INTEGER) STRICT;"

    "CREATE TABLE counters(" RUN "name TEXT NOT NULL, value INTEGER NOT NULL,"
    " PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"

    /* kind: span, life (of goroutines), wait (from runnable to running), runq_wait (all) */
    "CREATE TABLE latencies(" RUN "kind TEXT NOT NULL, name TEXT NOT NULL,"
    " count INTEGER NOT NULL, exact INTEGER NOT NULL, min_ns INTEGER, mean_ns INTEGER,"
    " p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER, max_ns INTEGER,"
    " PRIMARY KEY(run, kind, name)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE quantiles(" RUN "kind TEXT NOT NULL, name TEXT NOT NULL,"
    " ppm INTEGER NOT NULL, ns INTEGER NOT NULL,"
    " PRIMARY KEY(run, kind, name, ppm)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE histograms(" RUN "kind TEXT NOT NULL, name TEXT NOT NULL,"
    " low_ns INTEGER NOT NULL, count INTEGER NOT NULL,"
    " PRIMARY KEY(run, kind, name, low_ns)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE groups(" RUN "name TEXT NOT NULL, created INTEGER NOT NULL,"
    " ended INTEGER NOT NULL, running_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL,"
    " waiting_ns INTEGER NOT NULL, syscall_ns INTEGER NOT NULL,"
    " PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE samples(" RUN "time_ns INTEGER NOT NULL, interval_ns INTEGER NOT NULL,"
    " runnable INTEGER NOT NULL, runnable_max INTEGER NOT NULL,"
    " runnable_area INTEGER NOT NULL, globrunq INTEGER NOT NULL, ring INTEGER NOT NULL,"
    " idle_ps INTEGER NOT NULL, spinning_ms INTEGER NOT NULL, ms INTEGER NOT NULL,"
    " user_ns INTEGER NOT NULL, scheduler_ns INTEGER NOT NULL, spinning_ns INTEGER NOT NULL,"
    " gc_ns INTEGER NOT NULL, syscall_ns INTEGER NOT NULL, idle_ns INTEGER NOT NULL,"
    " throttled_ns INTEGER NOT NULL, no_cpu_ns INTEGER NOT NULL,"
    " PRIMARY KEY(run, time_ns)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE p_samples(" RUN "time_ns INTEGER NOT NULL, p INTEGER NOT NULL,"
    " ring INTEGER NOT NULL) STRICT;"

    "CREATE TABLE goroutines(" RUN "g INTEGER NOT NULL, name TEXT NOT NULL, parent INTEGER,"
    " create_time_ns INTEGER NOT NULL, end_time_ns INTEGER) STRICT;"
    /* The views over the two are in step 3. */
    "CREATE TABLE raw_g_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " g INTEGER, how INTEGER, duration_ns INTEGER, end_time_ns INTEGER, src INTEGER) STRICT;"
    "CREATE TABLE raw_p_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " how INTEGER, duration_ns INTEGER, end_time_ns INTEGER, src INTEGER) STRICT;"
    "CREATE TABLE reasons(code INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"
    "CREATE TABLE spans(" RUN "name TEXT NOT NULL, key INTEGER NOT NULL, g INTEGER NOT NULL,"
    " begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL) STRICT;"

    "CREATE TABLE findings(" RUN "kind TEXT NOT NULL, text TEXT NOT NULL,"
    " time_ns INTEGER NOT NULL) STRICT;"
    "CREATE TABLE blocked(" RUN "g INTEGER NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,"
    " reason TEXT NOT NULL, since_ns INTEGER NOT NULL, line INTEGER, blocked INTEGER NOT NULL,"
    " PRIMARY KEY(run, g)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE whatif(grid INTEGER NOT NULL, scenario TEXT NOT NULL, file TEXT NOT NULL,"
    " profile TEXT NOT NULL, procs INTEGER NOT NULL, cpus INTEGER NOT NULL,"
    " quota_us INTEGER NOT NULL, seed TEXT NOT NULL, verdict TEXT NOT NULL,"
    " as_expected INTEGER NOT NULL, makespan_ns INTEGER NOT NULL, user_ns INTEGER NOT NULL,"
    " throttled_ns INTEGER NOT NULL, fingerprint TEXT NOT NULL, name TEXT NOT NULL,"
    " count INTEGER NOT NULL, p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, p999_ns INTEGER,"
    " max_ns INTEGER) STRICT;"
    "CREATE TABLE schedules(" RUN "seed TEXT NOT NULL, strategy TEXT NOT NULL,"
    " choices BLOB NOT NULL) STRICT;",

    /* 2: a timed run makes no choices to list; its schedule is the line and the seed. */
    "DROP TABLE schedules;"
    "CREATE VIEW schedules AS SELECT id AS run, 'timed' AS strategy, seed, repeat FROM runs;",

    /* 3: four transitions in a row. */
    "DROP VIEW IF EXISTS procs; DROP VIEW IF EXISTS g_transitions;"
    "DROP VIEW IF EXISTS p_transitions;"
    "ALTER TABLE raw_g_transitions RENAME TO old_g; ALTER TABLE raw_p_transitions RENAME TO old_p;"
    /* Packed: recorder.c says how. The views below are what people query. */
    "CREATE TABLE raw_g_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " g INTEGER," CHAIN ") STRICT;"
    "CREATE TABLE raw_p_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " p INTEGER," CHAIN ") STRICT;"
    "INSERT INTO raw_g_transitions(run, g, hows, end_time_ns, d1, s1) SELECT run, g,"
    " 1 + ((how & 7) + ((how >> 4 & 7) << 3) + (how >> 8 << 6) << 4), end_time_ns, duration_ns, src"
    " FROM old_g ORDER BY rowid; DROP TABLE old_g;"
    "INSERT INTO raw_p_transitions(run, p, hows, end_time_ns, d1, s1) SELECT run, how & 65535,"
    " 1 + ((how >> 16 & 7) + (how >> 20 << 3) << 4), end_time_ns, duration_ns, src"
    " FROM old_p ORDER BY rowid; DROP TABLE old_p;"
    /* CROSS JOIN: in the order of t, as SQLite keeps it for this word. */
    "CREATE TABLE places(i INTEGER PRIMARY KEY, bits INTEGER NOT NULL) STRICT;"
    "INSERT INTO places VALUES(0, 4), (1, 16), (2, 28), (3, 40);"
    "CREATE VIEW g_transitions AS SELECT t.run, t.g,"
    G_STATE("0") " AS from_state,"
    G_STATE("3") " AS to_state,"
    " (SELECT text FROM reasons WHERE code = (t.hows >> n.bits + 6 & 63)) AS reason,"
    DURATION " AS duration_ns,"
    END " AS end_time_ns, NULL AS stack_id, NULL AS src_stack_id,"
    SRC_G SRC_M SRC_P
    " t.rowid * 4 + n.i AS id FROM raw_g_transitions t CROSS JOIN places n ON n.i < (t.hows & 7);"
    "CREATE VIEW p_transitions AS SELECT t.run, t.p,"
    P_STATE("0") " AS from_state,"
    P_STATE("3") " AS to_state,"
    DURATION " AS duration_ns,"
    END " AS end_time_ns, t.p AS src_p,"
    SRC_G SRC_M
    " t.rowid * 4 + n.i AS id FROM raw_p_transitions t CROSS JOIN places n ON n.i < (t.hows & 7);"
    "CREATE VIEW procs AS SELECT run, p, min(end_time_ns - duration_ns) AS start_time_ns,"
    " max(end_time_ns) AS end_time_ns,"
    " sum(duration_ns) FILTER (WHERE from_state = 'running') AS running_ns,"
    " sum(duration_ns) FILTER (WHERE from_state = 'idle') AS idle_ns"
    " FROM p_transitions GROUP BY run, p;",

    /* 4: when a P's M had no CPU. */
    "CREATE TABLE p_stalls(" RUN "p INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER,"
    " why TEXT NOT NULL) STRICT;",

    /* 5: what else a grid varies. */
    "ALTER TABLE whatif ADD COLUMN rate REAL NOT NULL DEFAULT 1.0;"
    "ALTER TABLE whatif ADD COLUMN policy TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE whatif ADD COLUMN nr_periods INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE whatif ADD COLUMN nr_throttled INTEGER NOT NULL DEFAULT 0;",
};
/* clang-format on */

static int version_of(sqlite3 *db)
{
    sqlite3_stmt *st;
    int v = -1;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    return v;
}

static bool exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool newer(struct failure *f, int v)
{
    fail(f, E_STORE, "the store has version %d, this program knows up to %d", v, STORE_VERSION);
    return false;
}

/* Wait reasons may be added at any time: their codes are those of this program. */
static bool put_reasons(sqlite3 *db)
{
    sqlite3_stmt *st;
    bool ok = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO reasons VALUES(?, ?)", -1, &st,
                                 NULL) == SQLITE_OK;
    for (int code = 1; ok && recorder_reason(code) != NULL; code++) {
        sqlite3_bind_int(st, 1, code);
        sqlite3_bind_text(st, 2, recorder_reason(code), -1, SQLITE_STATIC);
        ok = sqlite3_step(st) == SQLITE_DONE;
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    return ok;
}

static bool step(sqlite3 *db, int from)
{
    char pragma[48];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", from + 1);
    return exec(db, steps[from]) && put_reasons(db) && exec(db, pragma);
}

/* A file that holds something else is left alone. */
static bool is_foreign(sqlite3 *db)
{
    sqlite3_stmt *st;
    bool any = false;
    if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master LIMIT 1", -1, &st, NULL) == SQLITE_OK)
        any = sqlite3_step(st) == SQLITE_ROW;
    sqlite3_finalize(st);
    return any;
}

bool schema_migrate(sqlite3 *db, struct failure *f)
{
    int v = version_of(db);
    if (v > STORE_VERSION)
        return newer(f, v);
    if (v == STORE_VERSION)
        return true;
    if (!exec(db, "BEGIN IMMEDIATE"))
        goto failed;
    v = version_of(db); /* somebody else may have been faster */
    if (v == 0 && is_foreign(db)) {
        exec(db, "ROLLBACK");
        fail(f, E_STORE, "the database holds something else than gmpsim's runs");
        return false;
    }
    while (v >= 0 && v < STORE_VERSION)
        if (!step(db, v++))
            goto failed;
    if (v == STORE_VERSION && exec(db, "COMMIT"))
        return true;
failed:
    fail(f, E_STORE, "%s", sqlite3_errmsg(db));
    exec(db, "ROLLBACK");
    return false;
}

bool schema_check(sqlite3 *db, struct failure *f)
{
    int v = version_of(db);
    if (v > STORE_VERSION)
        return newer(f, v);
    if (v > 0)
        return true;
    fail(f, E_STORE, "%s", v < 0 ? sqlite3_errmsg(db) : "the file holds no runs of gmpsim");
    return false;
}
