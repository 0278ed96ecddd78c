/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows into SQLite: the ways to insert a transition of a goroutine, and what recording everything
 * costs a service. The store's way is timed with all that goes with it: from event records to the
 * state before each, its duration, rows, commits.
 *
 * libs: gmpsim_store gmpsim_run
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "store/recorder.h"
#include "store/rows.h"
#include "store/store.h"
#include "run/run.h"

enum { ROWS = 400000, BATCH = 65536, COLUMNS = 6, MANY = 100, REPS = 5, GS = 20000 };

/* run, goroutine, states and reason, duration, end, source */
struct row {
    int64_t v[COLUMNS];
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
    sql("PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000");
    sql("CREATE TABLE t(run INTEGER, g INTEGER, how INTEGER, duration INTEGER, end INTEGER,"
        " src INTEGER) STRICT");
}

static void close_db(void)
{
    sqlite3_close(db);
    db = NULL;
}

/* Numbers as wide as those of a run. */
static struct row row_of(int64_t i)
{
    int64_t x = i * 7919 % 1000003;
    return (struct row){{1, x % GS, x % 8192, x, i * 700, x % 4 << 16 | x % 3}};
}

static void bind_row(sqlite3_stmt *st, int at, int64_t i)
{
    struct row r = row_of(i);
    for (int c = 0; c < COLUMNS; c++)
        sqlite3_bind_int64(st, at + c + 1, r.v[c]);
}

/* So many rows per statement. */
static void insert_values(void *arg)
{
    int many = *(const int *)arg;
    char text[MANY * 20 + 100] = "INSERT INTO t VALUES";
    size_t n = strlen(text);
    for (int i = 0; i < many; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s(?,?,?,?,?,?)", i > 0 ? "," : "");
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
    (void)arg;
    sqlite3_result_int64(ctx, ((const struct row *)row)->v[c]);
}

static void insert_select(void *arg)
{
    struct rows rows = {.name = "batch",
                        .columns = "a, b, c, d, e, f",
                        .insert = "INSERT INTO t SELECT * FROM batch",
                        .size = sizeof(struct row),
                        .column = column};
    (void)arg;
    open_db();
    if (rows_register(db, &rows) != SQLITE_OK)
        die("register");
    bench_begin();
    for (int64_t i = 0; i < ROWS;) {
        for (int64_t end = i + BATCH; i < end && i < ROWS; i++)
            *(struct row *)rows_add(&rows) = row_of(i);
        sql("BEGIN");
        if (rows_flush(&rows, 1) != SQLITE_DONE)
            die("flush");
        sql("COMMIT");
    }
    bench_end(ROWS);
    rows_release(&rows);
    close_db();
}

/* What the scheduler records of goroutines that run and wait in turn. */
static struct event_rec transition(int64_t i)
{
    static const uint16_t types[] = {EV_G_READY, EV_G_START, EV_G_PARK};
    struct event_rec e = {.time = (uint64_t)i * 700000,
                          .g = 1 + (uint32_t)(i / 3 * 7919 % GS),
                          .type = types[i % 3],
                          .m = (uint16_t)(i % 4),
                          .p = (uint16_t)(i % 3)};
    e.c = e.type == EV_G_PARK ? (uint16_t)(1 + i % 30) : 0;
    return e;
}

/* The store's way: its writer's work, in this thread. */
static void insert_recorded(void *arg)
{
    static struct func func = {.name = "f"};
    static const struct program program = {.funcs = &func, .nfuncs = 1};
    static struct event_rec recs[EVENT_BATCH_COUNT];
    struct recorder r;
    struct failure f = {0};
    (void)arg;
    remove_file();
    struct store *s = store_open(&f, path, STORE_WRITE);
    if (s == NULL)
        die(f.text);
    db = store_db(s);
    sql("PRAGMA foreign_keys = 0");
    if (recorder_init(&r, db, &program, 0) != SQLITE_OK)
        die("recorder");
    for (uint32_t g = 1; g <= GS; g++)
        recorder_feed(&r, &(struct event_rec){.g = g, .type = EV_G_CREATE}, 1);
    bench_begin();
    for (int64_t i = 0; i < ROWS;) {
        for (int64_t end = i + BATCH; i < end && i < ROWS;) {
            size_t n = 0;
            for (; n < EVENT_BATCH_COUNT && i < ROWS; i++)
                recs[n++] = transition(i);
            recorder_feed(&r, recs, n);
        }
        sql("BEGIN");
        if (i == ROWS)
            (void)recorder_end(&r, (uint64_t)ROWS * 1000000); /* fewer than it does at once */
        if (recorder_flush(&r, 1) != SQLITE_DONE)
            die("flush");
        sql("COMMIT");
    }
    bench_end(ROWS);
    recorder_release(&r);
    store_close(s);
    db = NULL;
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
    struct host_opts ho = {
        .world = {.profile = &o->profile, .program = o->program, .procs = o->procs},
        .seed = 1,
        .sink = records ? count_only : NULL};
    if (!world_open(&host_virt, &f, &ho))
        die(f.text);
    bench_begin();
    host_virt.run(UINT64_MAX / 2);
    uint64_t counters[COUNTER_COUNT];
    core_virt.counters(counters);
    bench_end(counters[COUNTER_switches]);
    host_virt.close();
}

static void run_stored(struct run_opts *o)
{
    static struct run r;
    struct failure f = {0};
    struct store_run info = {.scenario = "s",
                             .file = "s",
                             .profile = "p",
                             .rules = "",
                             .host = host_virt.name,
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

/* The writer has a thread of its own, which CPU time does not show. */
static double wall_of(enum how how)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    run_service(&how);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
}

static void wall_clock(int reps)
{
    double ratio[BENCH_REPS_MAX], off = 0, on = 0;
    for (int i = 0; i < reps; i++) {
        double analysed = wall_of(ANALYSED), stored = wall_of(STORED);
        ratio[i] = stored / analysed;
        off += analysed / reps;
        on += stored / reps;
    }
    qsort(ratio, (size_t)reps, sizeof *ratio, bench_compare_);
    printf("wall clock of such a run: %.0f ms, stored %.0f ms; middle of the ratios %.2f\n", off,
           on, ratio[reps / 2]);
}

int main(int argc, char **argv)
{
    static const int many[] = {1, 10, MANY};
    static const enum how hows[] = {RECORDS_OFF, RECORDS_COUNTED, ANALYSED, STORED};
    struct bench_case inserts[] = {{"a row per statement", insert_values, (void *)&many[0]},
                                   {"10 rows per statement", insert_values, (void *)&many[1]},
                                   {"100 rows per statement", insert_values, (void *)&many[2]},
                                   {"INSERT..SELECT, virtual table", insert_select, NULL},
                                   {"the store, four in a row", insert_recorded, NULL}};
    struct bench_case runs[] = {
        {"records off", run_service, (void *)&hows[0]},
        {"records to a sink that counts", run_service, (void *)&hows[1]},
        {"... analysed (gmpsim run)", run_service, (void *)&hows[2]},
        {"... and stored (CPU of both threads)", run_service, (void *)&hows[3]}};
    const char *folder = getenv("TMPDIR");
    int reps = bench_reps(argc, argv, REPS);
    snprintf(path, sizeof path, "%.40s/gmpsim-bench-%d.db", folder != NULL ? folder : "/tmp",
             (int)getpid());
    bench_table("one transition into SQLite", inserts, 5, reps);
    bench_table("one switch of an HTTP-like service, procs=4", runs, 4, reps);
    wall_clock(reps);
    remove_file();
    return 0;
}
