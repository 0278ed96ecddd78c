/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/rows.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/alloc.h"

struct rows_table {
    sqlite3_vtab base;
    struct rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct rows *rows;
    size_t at;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    struct rows *r = aux;
    struct rows_table *t = sqlite3_malloc(sizeof *t);
    char sql[512];
    (void)argc;
    (void)argv;
    (void)error;
    if (t == NULL)
        return SQLITE_NOMEM;
    *t = (struct rows_table){.rows = r};
    *out = &t->base;
    snprintf(sql, sizeof sql, "CREATE TABLE x(%s)", r->columns);
    return sqlite3_declare_vtab(db, sql);
}

static int disconnect_table(sqlite3_vtab *t)
{
    sqlite3_free(t);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *t, sqlite3_index_info *info)
{
    (void)t;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    struct rows_cursor *c = sqlite3_malloc(sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    *c = (struct rows_cursor){.rows = ((struct rows_table *)t)->rows};
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    sqlite3_free(c);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *c, int number, const char *text, int argc,
                  sqlite3_value **argv)
{
    (void)number;
    (void)text;
    (void)argc;
    (void)argv;
    ((struct rows_cursor *)c)->at = 0;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *c)
{
    ((struct rows_cursor *)c)->at++;
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *c)
{
    const struct rows_cursor *cur = (const struct rows_cursor *)c;
    return cur->at >= cur->rows->count;
}

static int column(sqlite3_vtab_cursor *c, sqlite3_context *ctx, int n)
{
    const struct rows_cursor *cur = (const struct rows_cursor *)c;
    const struct rows *r = cur->rows;
    r->column(ctx, r->data + cur->at * r->size, n, r->arg);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((const struct rows_cursor *)c)->at;
    return SQLITE_OK;
}

/* Without xCreate the table is there as soon as the module is ("eponymous"), in no schema. */
static const sqlite3_module module = {.xConnect = connect_table,
                                      .xBestIndex = best_index,
                                      .xDisconnect = disconnect_table,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next,
                                      .xEof = at_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

int rows_register(sqlite3 *db, struct rows *r)
{
    int rc = sqlite3_create_module(db, r->name, &module, r);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v3(db, r->insert, -1, SQLITE_PREPARE_PERSISTENT, &r->st, NULL);
    return rc;
}

void *rows_add(struct rows *r)
{
    if (r->count == r->room) {
        r->room = r->room != 0 ? r->room * 2 : 4096;
        r->data = x_grow(r->data, r->room * r->size);
    }
    return r->data + r->count++ * r->size;
}

int rows_flush(struct rows *r, long long run)
{
    if (r->count == 0)
        return SQLITE_DONE;
    sqlite3_bind_int64(r->st, 1, run);
    int rc = sqlite3_step(r->st);
    sqlite3_reset(r->st);
    r->count = 0;
    return rc;
}

void rows_release(struct rows *r)
{
    sqlite3_finalize(r->st);
    free(r->data);
    r->st = NULL;
    r->data = NULL;
    r->count = r->room = 0;
}
