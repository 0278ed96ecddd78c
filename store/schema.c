/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables, and the version of their format (PRAGMA user_version). g_transitions and
 * p_transitions have the columns that sqlprof gives to recorded Go traces, and a run's number in
 * front. */
#include "store/schema.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "run/transitions.h"
#include "store/codes.h"
#include "store/store.h"

#define RUN "run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, "

/* What transition n.i of a row t is, in words (codes.h says how it is packed). */
#define TEXT_OF_(x)      #x
#define TEXT_OF(x)       TEXT_OF_(x)
#define BITS(at, mask)   "(t.hows >> n.bits + " TEXT_OF(at) " & " TEXT_OF(mask) ")"
#define WHEN(code, name) " WHEN " #code " THEN '" #name "'"
#define G_STATE(at)      " CASE " BITS(at, STATE_MASK) G_STATES(WHEN) " END"
#define P_STATE(at)      " CASE " BITS(at, STATE_MASK) P_STATES(WHEN) " END"
#define PLACE(i)         "(" #i ", " TEXT_OF(HOW_AT) " + " #i " * " TEXT_OF(HOW_BITS) ")"

#define DURATION " CASE n.i WHEN 0 THEN t.d1 WHEN 1 THEN t.d2 WHEN 2 THEN t.d3 ELSE t.d4 END"
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
static const char *const tables =
    "CREATE TABLE runs("
    " id INTEGER PRIMARY KEY, created TEXT NOT NULL, version TEXT NOT NULL,"
    " scenario TEXT NOT NULL, file TEXT NOT NULL, profile TEXT NOT NULL, rules TEXT NOT NULL,"
    " procs INTEGER NOT NULL, cpus INTEGER NOT NULL, quota_us INTEGER NOT NULL,"
    " period_us INTEGER NOT NULL, warmup_ns INTEGER NOT NULL, seed TEXT NOT NULL,"
    " repeat TEXT NOT NULL,"
    " host TEXT NOT NULL, sched TEXT, complete INTEGER NOT NULL DEFAULT 0, verdict TEXT, text TEXT,"
    " complaints TEXT,"
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
    " runnable_area INTEGER NOT NULL, globrunq INTEGER, ring INTEGER,"
    " idle_ps INTEGER NOT NULL, spinning_ms INTEGER, idle_ms INTEGER,"
    " ms INTEGER NOT NULL,"
    " user_ns INTEGER NOT NULL, scheduler_ns INTEGER NOT NULL, spinning_ns INTEGER NOT NULL,"
    " gc_ns INTEGER NOT NULL, syscall_ns INTEGER NOT NULL, idle_ns INTEGER NOT NULL,"
    " throttled_ns INTEGER NOT NULL, no_cpu_ns INTEGER NOT NULL,"
    " PRIMARY KEY(run, time_ns)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE p_samples(" RUN "time_ns INTEGER NOT NULL, p INTEGER NOT NULL,"
    " ring INTEGER NOT NULL) STRICT;"

    "CREATE TABLE goroutines(" RUN "g INTEGER NOT NULL, name TEXT NOT NULL, parent INTEGER,"
    " create_time_ns INTEGER NOT NULL, end_time_ns INTEGER) STRICT;"
    /* Packed (codes.h). The views below are what people query. */
    "CREATE TABLE raw_g_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " g INTEGER," CHAIN ") STRICT;"
    "CREATE TABLE raw_p_transitions(run INTEGER REFERENCES runs(id) ON DELETE CASCADE,"
    " p INTEGER," CHAIN ") STRICT;"
    "CREATE TABLE reasons(code INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE places(i INTEGER PRIMARY KEY, bits INTEGER NOT NULL) STRICT;"
    "INSERT INTO places VALUES " PLACE(0) ", " PLACE(1) ", " PLACE(2) ", " PLACE(3) ";"
    "CREATE TABLE p_stalls(" RUN "p INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER,"
    " why TEXT NOT NULL) STRICT;"
    "CREATE TABLE p_spins(" RUN "p INTEGER NOT NULL, begin_ns INTEGER NOT NULL,"
    " end_ns INTEGER NOT NULL) STRICT;"
    "CREATE TABLE steals(" RUN "time_ns INTEGER NOT NULL, p INTEGER NOT NULL,"
    " from_p INTEGER NOT NULL, g INTEGER NOT NULL, count INTEGER NOT NULL) STRICT;"
    /* Of a recorded trace: the heap and its goal, GOMAXPROCS. Named as sqlprof names them. */
    "CREATE TABLE metrics(" RUN "end_time_ns INTEGER NOT NULL, name TEXT NOT NULL,"
    " value INTEGER NOT NULL, src_stack_id INTEGER, src_g INTEGER, src_p INTEGER,"
    " src_m INTEGER) STRICT;"
    /* what: gc (the collector marks), stop (of the world, from when it is asked for) */
    "CREATE TABLE bands(" RUN "what TEXT NOT NULL, begin_ns INTEGER NOT NULL,"
    " end_ns INTEGER NOT NULL) STRICT;"
    "CREATE TABLE spans(" RUN "name TEXT NOT NULL, key INTEGER NOT NULL, g INTEGER NOT NULL,"
    " begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL) STRICT;"

    /* Where the time of spans went: means over all and over the slow ones. */
    "CREATE TABLE span_parts(" RUN "name TEXT NOT NULL, part TEXT NOT NULL,"
    " mean_ns INTEGER NOT NULL, slow_count INTEGER NOT NULL, slow_mean_ns INTEGER NOT NULL,"
    " PRIMARY KEY(run, name, part)) STRICT, WITHOUT ROWID;"

    /* ... and the longest waits of the slow ones: on what, where, who stood before or ended it */
    "CREATE TABLE span_waits(" RUN "name TEXT NOT NULL, part TEXT NOT NULL,"
    " slow_mean_ns INTEGER NOT NULL, who TEXT, object TEXT, place TEXT) STRICT;"
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
    " max_ns INTEGER, rate REAL NOT NULL, policy TEXT NOT NULL, nr_periods INTEGER NOT NULL,"
    " nr_throttled INTEGER NOT NULL, warmup_ns INTEGER NOT NULL) STRICT;"
    /* What repeats from a seed: no run on threads, no recording, no schedule that was chosen. */
    "CREATE VIEW schedules AS SELECT id AS run, 'timed' AS strategy, seed, repeat FROM runs"
    " WHERE host = 'virtual';"
    /* CROSS JOIN: in the order of t, as SQLite keeps it for this word. */
    "CREATE VIEW g_transitions AS SELECT t.run, t.g,"
    G_STATE(0) " AS from_state,"
    G_STATE(TO_AT) " AS to_state,"
    " (SELECT text FROM reasons WHERE code = " BITS(WHY_AT, WHY_MASK) ") AS reason,"
    DURATION " AS duration_ns,"
    END " AS end_time_ns, NULL AS stack_id, NULL AS src_stack_id,"
    SRC_G SRC_M SRC_P
    " t.rowid * 4 + n.i AS id FROM raw_g_transitions t CROSS JOIN places n"
    " ON n.i < (t.hows & " TEXT_OF(COUNT_MASK) ");"
    "CREATE VIEW p_transitions AS SELECT t.run, t.p,"
    P_STATE(0) " AS from_state,"
    P_STATE(TO_AT) " AS to_state,"
    DURATION " AS duration_ns,"
    END " AS end_time_ns, t.p AS src_p,"
    SRC_G SRC_M
    " t.rowid * 4 + n.i AS id FROM raw_p_transitions t CROSS JOIN places n"
    " ON n.i < (t.hows & " TEXT_OF(COUNT_MASK) ");"
    "CREATE VIEW procs AS SELECT run, p, min(end_time_ns - duration_ns) AS start_time_ns,"
    " max(end_time_ns) AS end_time_ns,"
    " sum(duration_ns) FILTER (WHERE from_state = 'running') AS running_ns,"
    " sum(duration_ns) FILTER (WHERE from_state = 'idle') AS idle_ns,"
    " sum(duration_ns) AS total_ns, count(*) AS transitions"
    " FROM p_transitions GROUP BY run, p;"
    "CREATE VIEW goroutine_groups AS SELECT run, name, running_ns, runnable_ns, syscall_ns,"
    " waiting_ns, running_ns + runnable_ns + syscall_ns + waiting_ns AS total_ns,"
    " (SELECT count(*) FROM goroutines g JOIN g_transitions t ON t.run = g.run AND t.g = g.g"
    " WHERE g.run = groups.run AND g.name = groups.name) AS transitions,"
    " created AS count FROM groups;";
/* clang-format on */

/* INT64_MIN: the file cannot be read. */
static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *st;
    int64_t v = INT64_MIN;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return v;
}

static bool exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Every table and view of ours is there as we made it: what has our names and is something else
 * (a view that never ends, say) is not read. People may add what they like, but triggers. */
static bool has(sqlite3 *db, sqlite3_stmt *wanted)
{
    sqlite3_stmt *st;
    bool same = false;
    if (sqlite3_prepare_v2(db,
                           "SELECT 1 FROM main.sqlite_master WHERE type = ?1 AND name = ?2"
                           " AND sql = ?3",
                           -1, &st, NULL) != SQLITE_OK)
        return false;
    for (int i = 0; i < 3; i++)
        sqlite3_bind_value(st, i + 1, sqlite3_column_value(wanted, i));
    same = sqlite3_step(st) == SQLITE_ROW;
    return sqlite3_finalize(st) == SQLITE_OK && same;
}

static bool has_all(sqlite3 *db, sqlite3 *fresh)
{
    sqlite3_stmt *st;
    bool same = sqlite3_prepare_v2(fresh,
                                   "SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL",
                                   -1, &st, NULL) == SQLITE_OK;
    while (same && sqlite3_step(st) == SQLITE_ROW)
        same = has(db, st);
    sqlite3_finalize(st);
    return same && number(db, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == 0;
}

static bool is_unchanged(sqlite3 *db, struct failure *f)
{
    sqlite3 *fresh;
    bool same = sqlite3_open_v2(":memory:", &fresh, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                exec(fresh, tables) && has_all(db, fresh);
    sqlite3_close(fresh);
    if (!same && sqlite3_errcode(db) != SQLITE_NOMEM)
        fail(f, E_STORE, "its tables are not those of gmpsim's format %d", STORE_VERSION);
    return same;
}

static bool is_ours(sqlite3 *db, struct failure *f)
{
    int64_t mark = number(db, "PRAGMA application_id"), v = number(db, "PRAGMA user_version");
    if (mark == STORE_MARK && v == STORE_VERSION)
        return is_unchanged(db, f);
    if (mark == STORE_MARK && v != INT64_MIN)
        fail(f, E_STORE, "the store has version %" PRId64 ", this program knows version %d", v,
             STORE_VERSION);
    else if (mark != INT64_MIN && v != INT64_MIN)
        fail(f, E_STORE, "the database holds something else than gmpsim's runs");
    return false;
}

static bool is_empty(sqlite3 *db) { return number(db, "SELECT count(*) FROM sqlite_master") == 0; }

static bool make(sqlite3 *db)
{
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_MARK, STORE_VERSION);
    return exec(db, tables) && exec(db, marks);
}

/* Two may come at once: what is looked at is looked at inside of the transaction. */
static bool make_once(sqlite3 *db, const struct transitions *t, struct failure *f)
{
    return exec(db, "BEGIN IMMEDIATE") && (!is_empty(db) || make(db)) && is_ours(db, f) &&
           codes_put(db, t) && exec(db, "COMMIT");
}

bool schema_make(sqlite3 *db, struct failure *f)
{
    struct transitions t; /* for the reasons that there are */
    uint8_t why[WHY_MASK + 1];
    int64_t things = number(db, "SELECT count(*) FROM sqlite_master");
    if (things == INT64_MIN || (things > 0 && !is_ours(db, f)))
        return false;
    transitions_init(&t, NULL, 0);
    bool ok = (things > 0 && codes_get(db, &t, why)) || make_once(db, &t, f);
    transitions_release(&t);
    return ok;
}

bool schema_check(sqlite3 *db, struct failure *f)
{
    int64_t things = number(db, "SELECT count(*) FROM sqlite_master");
    if (things == 0)
        fail(f, E_STORE, "the file holds no runs of gmpsim");
    return things > 0 && is_ours(db, f);
}
