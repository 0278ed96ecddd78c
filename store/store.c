/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/alloc.h"
#include "store/keep.h"
#include "store/owner.h"
#include "store/recorder.h"
#include "store/schema.h"
#include "store/summary.h"
#include "store/store_int.h"

enum { ROWS_WAIT_MAX = 1 << 16 };
enum { BUSY_MS = 5000, PATH_ROOM = 4096, QUEUE_MAX = 32, SAMPLE_FIELDS = 11, PS_PER_NS = 1000 };
/* While somebody else has the lock: how often it is tried, after how long that is said, how often
 * again. */
enum { BUSY_LOOK_MS = 20, BUSY_FIRST_S = 2, BUSY_NEXT_S = 10 };

/* A batch of records on its way to the writer. */
struct batch {
    struct batch *next;
    size_t count, room;
    struct event_rec recs[];
};

struct writer {
    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct batch *head, **tail;
    struct batch *spare; /* to be used again: the threads have no heap in common */
    size_t queued;
    bool over;    /* no more batches will come */
    bool gave_up; /* `f` says why */
    struct failure f;
};

struct store {
    sqlite3 *db;
    char *path;
    int64_t run; /* being recorded, 0: none */
    int owner;   /* owner.h */
    int removed; /* dead runs */
    struct store_patience patience;
    bool patient; /* there is something to lose */
    int64_t busy_since_ms, busy_told_s;
    struct store_run info;
    struct recorder recorder;
    struct writer w;
    struct rows samples, rings;
};

/* ---- errors ---- */

/* EFBIG comes as a failed write, and SQLite has forgotten errno by then. */
static void io_error(struct store *s, struct failure *f)
{
    if (sqlite3_extended_errcode(s->db) == SQLITE_IOERR_WRITE)
        fail(f, E_STORE,
             "%s: cannot be written: the disk is full or broken, or a file may not grow", s->path);
    else
        fail(f, E_STORE, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

void store_error_(struct store *s, struct failure *f)
{
    int rc = sqlite3_errcode(s->db);
    switch (rc & 0xff) {
    case SQLITE_FULL: fail(f, E_STORE, "%s: the disk is full", s->path); break;
    case SQLITE_IOERR: io_error(s, f); break;
    case SQLITE_READONLY: fail(f, E_STORE, "%s: the file cannot be written", s->path); break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        fail(f, E_STORE, "%s: another process has locked the database", s->path);
        break;
    case SQLITE_CANTOPEN: fail(f, E_STORE, "%s: cannot be opened", s->path); break;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        fail(f, E_STORE, "%s: %s", s->path, "not a database, or a damaged one");
        break;
    default: fail(f, E_STORE, "%s: %s", s->path, sqlite3_errmsg(s->db)); break;
    }
}

sqlite3 *store_db(struct store *s) { return s->db; }
int store_owner_(struct store *s) { return s->owner; }
int store_removed(const struct store *s) { return s->removed; }

bool store_exec_(struct store *s, struct failure *f, const char *sql)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    store_error_(s, f);
    return false;
}

/* ---- somebody else's lock ---- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* SQLite asks for the n-th time; 0: no more waiting. */
static int on_busy(void *arg, int n)
{
    struct store *s = arg;
    const struct store_patience short_one = {.ms = BUSY_MS};
    const struct store_patience *p = s->patient ? &s->patience : &short_one;
    if (n == 0) {
        s->busy_since_ms = now_ms();
        s->busy_told_s = 0;
    }
    int64_t waited = now_ms() - s->busy_since_ms, seconds = waited / 1000;
    if (waited >= p->ms)
        return 0;
    if (p->tell != NULL &&
        seconds >= (s->busy_told_s == 0 ? BUSY_FIRST_S : s->busy_told_s + BUSY_NEXT_S)) {
        s->busy_told_s = seconds;
        p->tell(s->path, seconds, (p->ms - waited) / 1000);
    }
    usleep(BUSY_LOOK_MS * 1000);
    return 1;
}

void store_be_patient_(struct store *s) { s->patient = true; }

void store_wait(struct store *s, const struct store_patience *patience) { s->patience = *patience; }

/* ---- opening ---- */

static bool is_old_enough(struct failure *f)
{
    if (sqlite3_libversion_number() >= 3037000)
        return true;
    fail(f, E_STORE, "SQLite %s is too old: 3.37 or newer is needed", sqlite3_libversion());
    return false;
}

/* What may be asked of a store that is only read. SQLite itself refuses to write to it; this is for
 * what reaches other files, or the settings that say so. */
static int may_read(void *arg, int action, const char *a, const char *b, const char *db,
                    const char *trigger)
{
    static const char *const pragmas[] = {"application_id",    "compile_options",  "database_list",
                                          "foreign_key_check", "foreign_key_list", "freelist_count",
                                          "function_list",     "index_info",       "index_list",
                                          "index_xinfo",       "integrity_check",  "page_count",
                                          "page_size",         "quick_check",      "table_info",
                                          "table_list",        "table_xinfo",      "user_version"};
    (void)arg;
    (void)db;
    (void)trigger;
    switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH: return SQLITE_DENY; /* VACUUM INTO comes here too */
    case SQLITE_FUNCTION:
        return strcmp(b, "load_extension") == 0 || strcmp(b, "fts3_tokenizer") == 0 ? SQLITE_DENY
                                                                                    : SQLITE_OK;
    case SQLITE_PRAGMA:
        for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++)
            if (sqlite3_stricmp(a, pragmas[i]) == 0)
                return SQLITE_OK;
        return SQLITE_DENY;
    default: return SQLITE_OK;
    }
}

/* A file may come from anybody: its views and triggers get no functions that do something, and
 * nothing makes SQLite trust its pages. */
static bool distrust(struct store *s, struct failure *f)
{
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store_exec_(s, f, "PRAGMA cell_size_check = 1");
}

/* What SQLite says is put into words here. */
static bool is_good(struct store *s, struct failure *f, bool ok)
{
    if (!ok && f->code == 0)
        store_error_(s, f);
    if (!ok && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

static bool prepare_file(struct store *s, struct failure *f, enum store_mode mode)
{
    if (!distrust(s, f))
        return false;
    if (mode == STORE_READ)
        return store_exec_(s, f, "PRAGMA query_only = 1") &&
               is_good(s, f, schema_check(s->db, f)) &&
               sqlite3_set_authorizer(s->db, may_read, NULL) == SQLITE_OK;
    if (sqlite3_db_readonly(s->db, "main") == 1) {
        fail(f, E_STORE, "the file cannot be written");
        return false;
    }
    return store_exec_(s, f, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL") &&
           store_exec_(s, f,
                       "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = 1; "
                       "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000") &&
           is_good(s, f, schema_make(s->db, f));
}

/* Only ours begin with "file:" as SQLite reads it. */
static bool open_as(struct store *s, struct failure *f, const char *name, enum store_mode mode)
{
    int flags = mode == STORE_READ ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                   : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(name, &s->db, flags, NULL) != SQLITE_OK) {
        store_error_(s, f);
        return false;
    }
    sqlite3_busy_handler(s->db, on_busy, s);
    return prepare_file(s, f, mode);
}

/* A name by which SQLite takes the file for one that nobody changes. */
static char *immutable(const char *path)
{
    static const char head[] = "file:", tail[] = "?immutable=1";
    char *name = x_alloc(sizeof head + 3 * strlen(path) + sizeof tail), *to = name;
    to += sprintf(to, "%s", head);
    for (const char *p = path; *p != 0; p++)
        to += sprintf(to, strchr("%?#", *p) != NULL ? "%%%02X" : "%c", (unsigned char)*p);
    sprintf(to, "%s", tail);
    return name;
}

/* A file in WAL mode needs two others beside it even to be read. Where they cannot be made nobody
 * can write, so it is read as it is: unless there is a log, then not all of it is in the file. */
static bool open_unwritable(struct store *s, struct failure *f)
{
    char log[PATH_ROOM];
    struct stat st;
    snprintf(log, sizeof log, "%s-wal", s->path);
    if (stat(log, &st) == 0 && st.st_size > 0) {
        fail(f, E_STORE, "a run left it in the middle, and its folder cannot be written");
        return false;
    }
    char *name = immutable(s->path);
    sqlite3_close(s->db);
    bool ok = open_as(s, f, name, STORE_READ);
    free(name);
    return ok;
}

/* What SQLite would take for something else: a name without a file, a URI. */
static bool is_file_name(struct failure *f, const char *path)
{
    struct stat st;
    if (*path == 0 || strcmp(path, ":memory:") == 0)
        fail(f, E_STORE, "'%s' is not the name of a file", path);
    else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        fail(f, E_STORE, "%s: is not a file", path);
    else
        return true;
    return false;
}

static char *plain_name(const char *path)
{
    bool special = strncmp(path, "file:", 5) == 0 || *path == ':';
    char *name = x_alloc(strlen(path) + 3);
    sprintf(name, "%s%s", special ? "./" : "", path);
    return name;
}

struct store *store_open(struct failure *f, const char *path, enum store_mode mode)
{
    if (!is_old_enough(f))
        return NULL;
    struct failure inner = {0};
    if (!is_file_name(f, path))
        return NULL;
    struct store *s = x_alloc(sizeof *s);
    s->path = x_strdup(path);
    s->owner = -1;
    s->patience.ms = BUSY_MS;
    char *name = plain_name(path);
    bool ok = open_as(s, &inner, name, mode);
    free(name);
    int code = sqlite3_errcode(s->db) & 0xff;
    if (!ok && mode == STORE_READ && (code == SQLITE_READONLY || code == SQLITE_CANTOPEN) &&
        access(path, R_OK) == 0) {
        inner = (struct failure){0};
        ok = open_unwritable(s, &inner);
    }
    if (ok && mode == STORE_WRITE) {
        s->owner = owner_open(path);
        s->removed = store_remove_dead(s, &inner);
        ok = s->removed >= 0;
    }
    if (ok)
        return s;
    if (strncmp(inner.text, path, strlen(path)) != 0)
        fail_prefix(&inner, "%s", path);
    fail(f, E_STORE, "%s", inner.text);
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (s == NULL)
        return;
    rows_release(&s->samples);
    rows_release(&s->rings);
    sqlite3_close(s->db);
    owner_close(s->owner);
    free(s->path);
    free(s);
}

int64_t store_run_id(struct store *s, struct failure *f, int64_t wanted)
{
    sqlite3_stmt *st;
    int64_t id = 0;
    if (sqlite3_prepare_v2(s->db,
                           "SELECT id FROM runs WHERE complete = 1 AND (?1 = 0 OR id = ?1)"
                           " ORDER BY id DESC LIMIT 1",
                           -1, &st, NULL) != SQLITE_OK) {
        store_error_(s, f);
        return 0;
    }
    sqlite3_bind_int64(st, 1, wanted);
    if (sqlite3_step(st) == SQLITE_ROW)
        id = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    if (id == 0 && wanted != 0)
        fail(f, E_STORE, "%s: no complete run %lld", s->path, (long long)wanted);
    else if (id == 0)
        fail(f, E_STORE, "%s: no complete run", s->path);
    return id;
}

/* ---- the writer ---- */

static void give_up(struct store *s)
{
    struct failure f = {0};
    store_error_(s, &f);
    pthread_mutex_lock(&s->w.lock);
    s->w.f = f;
    s->w.gave_up = true;
    pthread_cond_broadcast(&s->w.changed);
    pthread_mutex_unlock(&s->w.lock);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static bool write_rows(struct store *s)
{
    return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
           recorder_flush(&s->recorder, s->run) == SQLITE_DONE &&
           sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

void store_write_some(struct store *s)
{
    if (!s->w.gave_up && recorder_waits(&s->recorder) >= ROWS_WAIT_MAX && !write_rows(s))
        give_up(s);
}

/* All batches that wait, NULL when there are none and none will come. */
static struct batch *take_batches(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->head == NULL && !w->over)
        pthread_cond_wait(&w->changed, &w->lock);
    struct batch *b = w->head;
    w->head = NULL;
    w->tail = &w->head;
    w->queued = 0;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return b;
}

static void give_back(struct writer *w, struct batch *b)
{
    pthread_mutex_lock(&w->lock);
    b->next = w->spare;
    w->spare = b;
    pthread_mutex_unlock(&w->lock);
}

static void *writer_main(void *arg)
{
    struct store *s = arg;
    struct batch *b;
    pthread_setname_np(pthread_self(), "store");
    while ((b = take_batches(&s->w)) != NULL) {
        for (struct batch *next; b != NULL; b = next) {
            next = b->next;
            if (!s->w.gave_up)
                recorder_feed(&s->recorder, b->recs, b->count);
            give_back(&s->w, b);
        }
        if (!s->w.gave_up && !write_rows(s))
            give_up(s);
    }
    return NULL;
}

/* An empty batch, once the writer is not too far behind. Comes back with the lock held. */
static struct batch *lock_batch(struct writer *w, size_t count)
{
    pthread_mutex_lock(&w->lock);
    while (w->queued >= QUEUE_MAX && !w->gave_up)
        pthread_cond_wait(&w->changed, &w->lock);
    struct batch *b = w->spare;
    if (b != NULL && b->room >= count) {
        w->spare = b->next;
    } else {
        size_t room = count > EVENT_BATCH_COUNT ? count : EVENT_BATCH_COUNT;
        b = x_grow(NULL, sizeof *b + room * sizeof b->recs[0]);
        b->room = room;
    }
    return b;
}

void store_sink(void *store, const struct event_rec *recs, size_t count)
{
    struct store *s = store;
    struct writer *w = &s->w;
    if (!w->running)
        return;
    struct batch *b = lock_batch(w, count);
    b->next = NULL;
    b->count = count;
    memcpy(b->recs, recs, count * sizeof *recs);
    *w->tail = b;
    w->tail = &b->next;
    w->queued++;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static bool writer_start(struct store *s, struct failure *f)
{
    struct writer *w = &s->w;
    memset(w, 0, sizeof *w);
    w->tail = &w->head;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->running = pthread_create(&w->thread, NULL, writer_main, s) == 0;
    if (!w->running)
        fail(f, E_STORE, "%s: the system has no more threads", s->path);
    return w->running;
}

static void writer_stop(struct store *s)
{
    struct writer *w = &s->w;
    if (!w->running)
        return;
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    w->running = false;
    for (struct batch *next; w->spare != NULL; w->spare = next) {
        next = w->spare->next;
        free(w->spare);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

/* ---- samples: few, so they wait in memory for the end of the run ---- */

static void sample_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    int64_t values[SAMPLE_FIELDS + PC_COUNT];
    (void)arg;
    memcpy(values, row, sizeof values);
    if (values[column] != STORE_UNKNOWN)
        sqlite3_result_int64(ctx, values[column]);
}
_Static_assert(sizeof(struct store_sample) == (SAMPLE_FIELDS + PC_COUNT) * sizeof(int64_t),
               "no padding");

static void ring_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    int64_t values[3];
    (void)arg;
    memcpy(values, row, sizeof values);
    sqlite3_result_int64(ctx, values[column]);
}

static int samples_init(struct store *s)
{
    s->samples = ROWS_OF(
        NULL, "samples",
        "time_ns, interval_ns, runnable, runnable_max, runnable_area, globrunq, ring, idle_ps, "
        "spinning_ms, idle_ms, ms, user_ns, scheduler_ns, spinning_ns, gc_ns, syscall_ns, idle_ns, "
        "throttled_ns, no_cpu_ns",
        struct store_sample, sample_column);
    s->rings = ROWS_OF(NULL, "p_samples", "time_ns, p, ring", int64_t[3], ring_column);
    int rc = rows_register(s->db, &s->samples);
    return rc == SQLITE_OK ? rows_register(s->db, &s->rings) : rc;
}

void store_add_sample(struct store *s, const struct store_sample *sample)
{
    memcpy(rows_add(&s->samples), sample, sizeof *sample);
}

void store_add_ring(struct store *s, int64_t time_ns, int32_t p, int32_t length)
{
    int64_t values[3] = {time_ns, p, length};
    memcpy(rows_add(&s->rings), values, sizeof values);
}

/* ---- a run ---- */

/* In one transaction: nobody sees the run before its owner's lock is held. */
static int64_t begin_run(struct store *s, const struct store_run *info)
{
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return 0;
    int64_t run = summary_begin(s->db, info);
    if (run == 0)
        return 0;
    owner_take(s->owner, run);
    return sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? run : 0;
}

int64_t store_begin(struct store *s, struct failure *f, const struct store_run *info)
{
    s->info = *info;
    s->run = begin_run(s, info);
    if (s->run == 0 || samples_init(s) != SQLITE_OK ||
        (info->program != NULL &&
         recorder_init(&s->recorder, s->db, info->program, info->cpus) != SQLITE_OK)) {
        store_error_(s, f);
        return 0;
    }
    /* The rows to come all belong to this run, which is there: looking that up for each of a
     * million rows would cost as much as the rows. */
    if (!store_exec_(s, f, "PRAGMA foreign_keys = 0"))
        return 0;
    if (info->program != NULL && !info->summary && !writer_start(s, f))
        return 0;
    s->patient = true;
    return s->run;
}

bool store_listen(struct store *s, struct failure *f, struct transitions *t, size_t extra_at)
{
    s->w.gave_up = false;
    bool ok = recorder_listen(&s->recorder, s->db, t, extra_at) == SQLITE_OK;
    if (!ok)
        store_error_(s, f);
    return ok;
}

size_t store_extra(void) { return recorder_extra(); }

/* The rows of what was open at the end, in batches: goroutines that did not end may be millions. */
static bool write_living(struct store *s, uint64_t now_ps)
{
    bool more = true, ok = true;
    if (s->recorder.t != &s->recorder.own) { /* they are told to the end by whoever tells them */
        recorder_ended(&s->recorder, now_ps);
        return recorder_flush(&s->recorder, s->run) == SQLITE_DONE;
    }
    while (ok && more) {
        more = recorder_end(&s->recorder, now_ps);
        ok = recorder_flush(&s->recorder, s->run) == SQLITE_DONE;
    }
    return ok;
}

static bool write_end(struct store *s, const struct run_result *r, const char *complaints)
{
    return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
           write_living(s, r->now_ps) && rows_flush(&s->samples, s->run) == SQLITE_DONE &&
           rows_flush(&s->rings, s->run) == SQLITE_DONE &&
           summary_end(s->db, s->run, r, complaints) &&
           sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

bool store_finish(struct store *s, struct failure *f, const struct run_result *r,
                  const char *complaints)
{
    bool ok = true;
    writer_stop(s);
    if (s->w.gave_up) {
        fail(f, E_STORE, "%s", s->w.f.text);
        ok = false;
    } else {
        ok = write_end(s, r, complaints);
        if (!ok)
            store_error_(s, f);
    }
    if (!ok) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        fail_prefix(f, "run %lld is incomplete", (long long)s->run);
    }
    recorder_release(&s->recorder);
    rows_release(&s->samples);
    rows_release(&s->rings);
    sqlite3_exec(s->db, "PRAGMA foreign_keys = 1", NULL, NULL, NULL);
    owner_release(s->owner, s->run);
    s->run = 0;
    s->patient = false;
    return ok;
}
