/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_ROWS_H
#define GMPSIM_STORE_ROWS_H

/* Rows from memory into SQLite, as fast as plain SQLite takes them: an array is shown to it as a
 * virtual table and copied by one INSERT ... SELECT, so that there is no step and no binding per
 * row (bench/store_rows.c compares the ways). */

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;

struct rows {
    const char *name;    /* of the virtual table */
    const char *columns; /* "g, from_state, ..." */
    const char *insert;  /* INSERT INTO t SELECT ?1, * FROM name; ?1 is the run */
    size_t size;         /* of one row */
    void (*column)(struct sqlite3_context *ctx, const void *row, int column, void *arg);
    void *arg;
    /* the array */
    unsigned char *data;
    size_t count, room;
    struct sqlite3_stmt *st;
};

/* Rows of type row_ for this table; the virtual one has its name behind "batch_". */
#define ROWS_OF(arg_, table_, columns_, row_, column_)                                            \
    (struct rows)                                                                                 \
    {                                                                                             \
        .name = "batch_" table_, .columns = columns_,                                             \
        .insert = "INSERT INTO " table_ " SELECT ?1, * FROM batch_" table_, .size = sizeof(row_), \
        .column = column_, .arg = arg_                                                            \
    }

/* SQLite's code, SQLITE_OK when done. The rows must stay where they are until the connection is
 * closed. */
int rows_register(struct sqlite3 *db, struct rows *r);
/* Room for one more row, not cleared. */
void *rows_add(struct rows *r);
/* Inserts all and forgets them. SQLITE_DONE when done. */
int rows_flush(struct rows *r, long long run);
void rows_release(struct rows *r);

#endif
