/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from the rows that a store has of a grid. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { NAMES_MAX = 4096, CELLS_MAX = 4096, BYTES_MAX = 1 << 28 };

struct reading {
    sqlite3 *db;
    int64_t grid;
    struct table *t;
    int64_t *met; /* per cell: its runs so far */
};

static sqlite3_stmt *query(const struct reading *r, const char *sql)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(r->db, sql, -1, &st, NULL) != SQLITE_OK)
        cli_die(EXIT_USAGE, "%s", sqlite3_errmsg(r->db));
    sqlite3_bind_int64(st, 1, r->grid);
    return st;
}

/* What a damaged file says comes with the last row. */
static void done(const struct reading *r, sqlite3_stmt *st)
{
    if (sqlite3_finalize(st) != SQLITE_OK)
        cli_die(EXIT_USAGE, "%s", sqlite3_errmsg(r->db));
}

static const char *text_of(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text != NULL ? text : "";
}

static _Noreturn void damaged(const struct reading *r)
{
    cli_die(EXIT_USAGE, "grid %" PRId64 " of the store is damaged", r->grid);
}

static int64_t bounded(const struct reading *r, sqlite3_stmt *st, int column, int64_t high)
{
    int64_t v = sqlite3_column_int64(st, column);
    if (v < 0 || v > high)
        damaged(r);
    return v;
}

static void read_names(struct reading *r)
{
    struct table *t = r->t;
    sqlite3_stmt *st = query(r, "SELECT name, min(scenario), min(file) FROM whatif WHERE grid = ?1"
                                " GROUP BY name ORDER BY name <> 'run-queue wait', min(rowid)");
    t->names = x_alloc(NAMES_MAX * sizeof *t->names);
    while (sqlite3_step(st) == SQLITE_ROW) {
        if (t->nseries == NAMES_MAX)
            damaged(r);
        if (t->nseries == 0) {
            t->scenario = x_strdup(text_of(st, 1));
            t->file = x_strdup(text_of(st, 2));
        }
        t->names[t->nseries++] = x_strdup(text_of(st, 0));
    }
    done(r, st);
    if (t->nseries == 0)
        cli_die(EXIT_USAGE,
                r->grid == 0 ? "the store has no what-if grid (gmpsim whatif --db)"
                             : "the store has no grid %" PRId64,
                r->grid);
}

#define CELL "profile, procs, policy, cpus, quota_us, rate"

static int release_of(const struct reading *r, const char *profile)
{
    int64_t n;
    if (strncmp(profile, "go1.", 4) != 0 || !parse_int(profile + 4, &n) || n < 0 || n > 99)
        damaged(r);
    return (int)n;
}

static struct table_cell cell_of(const struct reading *r, sqlite3_stmt *st)
{
    double rate = sqlite3_column_double(st, 5);
    struct table_cell c = {.release = release_of(r, text_of(st, 0)),
                           .procs = (int32_t)bounded(r, st, 1, PROCS_MAX),
                           .cpus = (int32_t)bounded(r, st, 3, INT32_MAX),
                           .quota_us = bounded(r, st, 4, INT64_MAX / 1000)};
    if (!(rate >= 0 && rate <= 1e9))
        damaged(r);
    c.rate_ppm = (int64_t)(rate * 1e6 + 0.5);
    snprintf(c.policy, sizeof c.policy, "%s", text_line(text_of(st, 2)));
    if (c.policy[0] != 0) /* as it was asked for; what came of it is the run's */
        c.procs = 0;
    return c;
}

static bool same_but_procs(const struct table_cell *a, const struct table_cell *b)
{
    return a->release == b->release && a->cpus == b->cpus && a->quota_us == b->quota_us &&
           a->rate_ppm == b->rate_ppm && strcmp(a->policy, b->policy) == 0;
}

/* If no two cells differ in GOMAXPROCS alone, it followed from the others: nobody chose it. */
static void forget_procs(struct table *t)
{
    for (size_t c = 0; c < t->ncells; c++)
        for (size_t k = 0; k < c; k++)
            if (same_but_procs(&t->cells[k], &t->cells[c]))
                return;
    for (size_t c = 0; t->ncells > 1 && c < t->ncells; c++)
        t->cells[c].procs = 0;
}

static void read_cells(struct reading *r)
{
    struct table *t = r->t;
    sqlite3_stmt *st = query(r, "SELECT " CELL ", count(DISTINCT seed) FROM whatif WHERE grid = ?1"
                                " GROUP BY " CELL " ORDER BY min(rowid)");
    t->cells = x_alloc(CELLS_MAX * sizeof *t->cells);
    for (; sqlite3_step(st) == SQLITE_ROW; t->ncells++) {
        int64_t runs = sqlite3_column_int64(st, 6);
        if (t->ncells == CELLS_MAX)
            damaged(r);
        t->cells[t->ncells] = cell_of(r, st);
        t->runs = runs > t->runs ? runs : t->runs;
    }
    done(r, st);
    size_t run = sizeof(struct whatif_run) + t->nseries * sizeof(struct whatif_series);
    if ((double)t->ncells * (double)t->runs * (double)run > BYTES_MAX)
        damaged(r);
    table_alloc(t);
}

/* The place of a name; a run has all of them, in their order. */
static size_t series_of(const struct reading *r, const char *name)
{
    for (size_t i = 0; i < r->t->nseries; i++)
        if (strcmp(r->t->names[i], name) == 0)
            return i;
    damaged(r);
}

/* A run's rows stand together, so the cell is most often the one of the row before. */
static size_t find_cell(const struct reading *r, const struct table_cell *c, size_t guess)
{
    for (size_t i = 0; i < r->t->ncells; i++) {
        size_t at = (guess + i) % r->t->ncells;
        const struct table_cell *b = &r->t->cells[at];
        if (same_but_procs(b, c) && b->procs == c->procs)
            return at;
    }
    damaged(r);
}

static void begin_run(const struct reading *r, sqlite3_stmt *st, const struct table_cell *c,
                      struct whatif_run *w)
{
    memset(w, 0, r->t->size);
    w->release = c->release;
    w->procs = sqlite3_column_int(st, 1);
    w->cpus = c->cpus;
    w->quota_us = c->quota_us;
    snprintf(w->verdict, sizeof w->verdict, "%s", text_line(text_of(st, 7)));
    w->status = sqlite3_column_int(st, 8) != 0 ? EXIT_CLEAN : EXIT_FINDING;
    w->makespan_ns = bounded(r, st, 9, INT64_MAX);
    w->throttled_ns = bounded(r, st, 10, INT64_MAX);
}

static void end_run(struct reading *r, size_t cell, const struct whatif_run *w)
{
    if (r->met[cell] == r->t->runs)
        damaged(r);
    table_put(r->t, cell, r->met[cell]++, w);
}

static void read_runs(struct reading *r)
{
    sqlite3_stmt *st = query(r, "SELECT " CELL ", seed, verdict, as_expected, makespan_ns,"
                                " throttled_ns, name, count, p50_ns, p90_ns, p99_ns, p999_ns,"
                                " max_ns FROM whatif WHERE grid = ?1 ORDER BY rowid");
    struct whatif_run *w = x_alloc(r->t->size);
    size_t cell = SIZE_MAX;
    char seed[32] = "";
    while (sqlite3_step(st) == SQLITE_ROW) {
        struct table_cell c = cell_of(r, st);
        size_t here = find_cell(r, &c, cell != SIZE_MAX ? cell : 0);
        if (here != cell || strcmp(seed, text_of(st, 6)) != 0) {
            if (cell != SIZE_MAX)
                end_run(r, cell, w);
            begin_run(r, st, &c, w);
            cell = here;
            snprintf(seed, sizeof seed, "%.31s", text_of(st, 6));
        }
        struct whatif_series *s = &w->series[series_of(r, text_of(st, 11))];
        s->count = (uint64_t)bounded(r, st, 12, INT64_MAX);
        for (int k = 0; k < WHATIF_POINTS; k++)
            s->ns[k] = bounded(r, st, 13 + k, INT64_MAX);
    }
    if (cell != SIZE_MAX)
        end_run(r, cell, w);
    free(w);
    done(r, st);
}

void grid_load(struct store *s, int64_t wanted, struct table *t)
{
    struct reading r = {.db = store_db(s), .grid = wanted, .t = t};
    if (wanted == 0) {
        sqlite3_stmt *st = query(&r, "SELECT max(grid) FROM whatif WHERE ?1 = ?1");
        if (sqlite3_step(st) == SQLITE_ROW)
            r.grid = sqlite3_column_int64(st, 0);
        done(&r, st);
    }
    read_names(&r);
    read_cells(&r);
    r.met = x_alloc(t->ncells * sizeof *r.met);
    read_runs(&r);
    for (size_t c = 0; c < t->ncells; c++)
        t->counts[c] = r.met[c];
    free(r.met);
    forget_procs(t);
}
