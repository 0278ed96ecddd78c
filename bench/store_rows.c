/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows into SQLite: four ways to insert a million transitions, and what recording costs a run.
 *
 * libs: gmpsim_store gmpsim_run
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "replay/rows.h"
#include "replay/store.h"
#include "run/run.h"

enum { ROWS = 400000, BATCH = 8192, COLUMNS = 8, MANY = 100, REPS = 3 };

struct row {
    int64_t v[COLUMNS - 1];
};

static sqlite3 *db;
static char path[64];

static void die(const char *what)
{
    fprintf(stderr, "bench_store_rows: %s: %s\n", what, db != NULL ? sqlite3_errmsg(db) : "");
    exit(1);
}

static void sql(const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        die(text);
}

static void remove_file(void)
{
    char name[80];
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void open_db(void)
{
    remove_file();
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die(path);
    sql("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    sql("CREATE TABLE t(run INTEGER, a INTEGER, b TEXT, c TEXT, d INTEGER, e INTEGER, f INTEGER,"
        " g INTEGER) STRICT");
}

static void close_db(void)
{
    sqlite3_close(db);
    db = NULL;
}

static int64_t value(int64_t row, int column) { return row * (column + 3) % 1000003; }

static void bind_row(sqlite3_stmt *st, int at, int64_t row)
{
    for (int c = 0; c < COLUMNS; c++)
        if (c == 2 || c == 3)
            sqlite3_bind_text(st, at + c + 1, c == 2 ? "running" : "waiting", 7, SQLITE_STATIC);
        else
            sqlite3_bind_int64(st, at + c + 1, value(row, c));
}

/* So many rows per statement. */
static void insert_values(void *arg)
{
    int many = *(const int *)arg;
    char text[MANY * 20 + 100] = "INSERT INTO t VALUES";
    size_t n = strlen(text);
    for (int i = 0; i < many; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s(?,?,?,?,?,?,?,?)", i > 0 ? "," : "");
    open_db();
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
        die("prepare");
    bench_begin();
    for (int64_t row = 0; row < ROWS;) {
        sql("BEGIN");
        for (int64_t end = row + BATCH; row < end && row < ROWS; row += many) {
            for (int i = 0; i < many; i++)
                bind_row(st, i * COLUMNS, row + i);
            if (sqlite3_step(st) != SQLITE_DONE)
                die("step");
            sqlite3_reset(st);
        }
        sql("COMMIT");
    }
    bench_end(ROWS);
    sqlite3_finalize(st);
    close_db();
}

static void column(sqlite3_context *ctx, const void *row, int c, void *arg)
{
    const struct row *r = row;
    (void)arg;
    if (c == 1 || c == 2)
        sqlite3_result_text(ctx, c == 1 ? "running" : "waiting", 7, SQLITE_STATIC);
    else
        sqlite3_result_int64(ctx, r->v[c]);
}

/* The store's way. */
static void insert_select(void *arg)
{
    struct rows rows = {.name = "batch",
                        .columns = "a, b, c, d, e, f, g",
                        .insert = "INSERT INTO t SELECT ?1, * FROM batch",
                        .size = sizeof(struct row),
                        .column = column};
    (void)arg;
    open_db();
    if (rows_register(db, &rows) != SQLITE_OK)
        die("register");
    bench_begin();
    for (int64_t row = 0; row < ROWS;) {
        for (int64_t end = row + BATCH; row < end && row < ROWS; row++) {
            struct row *r = rows_add(&rows);
            for (int c = 0; c < COLUMNS - 1; c++)
                r->v[c] = value(row, c + 1);
        }
        sql("BEGIN");
        if (rows_flush(&rows, 1) != SQLITE_DONE)
            die("flush");
        sql("COMMIT");
    }
    bench_end(ROWS);
    rows_release(&rows);
    close_db();
}

/* ---- a run, recorded or not ---- */

static const char *const scenario =
    "{\"name\": \"s\", \"why\": \"s\", \"procs\": 4, \"objects\": {\"wg\": \"waitgroup\","
    " \"conn\": {\"fd\": {\"every\": {\"exp\": \"24us\"}, \"end\": \"500ms\"}}, \"mu\": \"mutex\"},"
    " \"funcs\": {\"handle\": {\"params\": [\"at\"], \"do\": [{\"span\": \"request\", \"since\":"
    " \"at\", \"do\": [{\"alloc\": 8192}, {\"cpu\": {\"exp\": \"12us\"}}, {\"lock\": \"mu\"},"
    " {\"cpu\": \"1us\"}, {\"unlock\": \"mu\"}, {\"sleep\": {\"exp\": \"300us\"}}, {\"cpu\":"
    " {\"exp\": \"30us\"}}, {\"syscall\": \"3us\", \"kind\": \"short\"}]}, {\"done\": \"wg\"}]}},"
    " \"main\": [{\"deadline\": \"conn\", \"after\": \"500ms\"}, {\"loop\": \"forever\", \"do\":"
    " [{\"read\": \"conn\", \"into\": \"n\", \"time\": \"at\"}, {\"if\": \"n < 0\", \"then\":"
    " [{\"break\": true}]}, {\"add\": \"wg\"}, {\"go\": \"handle\", \"args\": [\"at\"]}]},"
    " {\"wait\": \"wg\"}]}";

enum how { RECORDS_OFF, RECORDS_COUNTED, ANALYSED, STORED };
static uint64_t counted;

static void count_only(void *arg, const struct event_rec *recs, size_t count)
{
    (void)arg;
    counted += recs[0].type != EV_NONE ? count : 0;
}

/* Only the world: what a sink that does nothing costs. */
static void run_plain(struct run_opts *o, bool records)
{
    struct failure f = {0};
    struct vm_opts vo = {
        .seed = 1, .sink = records ? count_only : NULL, .sighandler = core_virt.sighandler};
    struct world_opts wo = {.profile = &o->profile, .program = o->program, .procs = o->procs};
    void *arg;
    if (!vm_init(&f, &vo))
        die(f.text);
    struct hostm *m0 = core_virt.init(&wo, &arg);
    vm_start(m0, core_virt.run_m0, arg);
    bench_begin();
    vm_run(UINT64_MAX / 2);
    struct vm_stats s;
    vm_stats(&s);
    uint64_t counters[COUNTER_COUNT];
    core_virt.counters(counters);
    bench_end(counters[COUNTER_switches]);
    vm_free();
}

static void run_stored(struct run_opts *o)
{
    static struct run r;
    struct failure f = {0};
    struct store_run info = {.scenario = "s",
                             .file = "s",
                             .profile = "p",
                             .rules = "",
                             .repeat = "",
                             .version = "",
                             .program = o->program};
    remove_file();
    struct store *s = store_open(&f, path, STORE_WRITE);
    if (s == NULL || store_begin(s, &f, &info) == 0)
        die(f.text);
    o->sink = store_sink;
    o->arg = s;
    bench_begin();
    if (!run_all(&f, &r, o) || !store_finish(s, &f, &r.result, ""))
        die(f.text);
    bench_end(r.result.counters[COUNTER_switches]);
    run_free(&r);
    store_close(s);
}

static void run_service(void *arg)
{
    static struct run r;
    enum how how = *(const enum how *)arg;
    struct failure f = {0};
    struct run_opts o;
    struct scenario *s = scenario_load(&f, "s", scenario, strlen(scenario));
    if (s == NULL || !run_opts_of(&f, s, 0, &o))
        die(f.text);
    if (how == RECORDS_OFF || how == RECORDS_COUNTED) {
        run_plain(&o, how == RECORDS_COUNTED);
    } else if (how == ANALYSED) {
        bench_begin();
        if (!run_all(&f, &r, &o))
            die(f.text);
        bench_end(r.result.counters[COUNTER_switches]);
        run_free(&r);
    } else {
        run_stored(&o);
    }
    scenario_free(s);
}

int main(void)
{
    static const int many[] = {1, 10, MANY};
    static const enum how hows[] = {RECORDS_OFF, RECORDS_COUNTED, ANALYSED, STORED};
    struct bench_case inserts[] = {{"a row per statement", insert_values, (void *)&many[0]},
                                   {"10 rows per statement", insert_values, (void *)&many[1]},
                                   {"100 rows per statement", insert_values, (void *)&many[2]},
                                   {"INSERT..SELECT, virtual table", insert_select, NULL}};
    struct bench_case runs[] = {
        {"records off", run_service, (void *)&hows[0]},
        {"records to a sink that counts", run_service, (void *)&hows[1]},
        {"... analysed (gmpsim run)", run_service, (void *)&hows[2]},
        {"... and stored (CPU of both threads)", run_service, (void *)&hows[3]}};
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.40s/gmpsim-bench-%d.db", folder != NULL ? folder : "/tmp",
             (int)getpid());
    bench_table("one row of 8 columns into SQLite", inserts, 4, REPS);
    bench_table("one switch of an HTTP-like service, procs=4", runs, 4, REPS);
    remove_file();
    return 0;
}
