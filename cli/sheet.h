/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_SHEET_H
#define GMPSIM_CLI_SHEET_H

/* A table that a command prints: in columns for people, or as CSV with plain numbers. What is in it
 * is said once, cell by cell and row after row; columns are as wide as what stands in them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sheet_column {
    const char *title; /* for people */
    const char *csv;   /* with the unit: "p99_ns" */
    int least;         /* columns of the terminal */
    bool left;
};

enum { SHEET_TEXT_MAX = 48 }; /* columns of a text, unless it is the last of its row */

struct sheet {
    const char *name;
    const struct sheet_column *columns;
    int ncolumns;
    struct sheet_cell {
        enum { CELL_NONE, CELL_TEXT, CELL_COUNT, CELL_TIME, CELL_REAL } kind;
        char *text;
        int64_t n; /* count, or ns */
        double real;
    } * cells;
    size_t ncells, room;
};

void sheet_init(struct sheet *s, const char *name, const struct sheet_column *columns,
                int ncolumns);
void sheet_release(struct sheet *s);

/* The next cell. */
void sheet_text(struct sheet *s, const char *text);
void sheet_count(struct sheet *s, uint64_t n);
void sheet_time(struct sheet *s, int64_t ns);
void sheet_real(struct sheet *s, double v);
void sheet_none(struct sheet *s);

size_t sheet_rows(const struct sheet *s);
/* Titles, and rows that are set in by two columns. */
void sheet_print(FILE *to, const struct sheet *s);
/* header: the columns' names first. key: a column in front, with this value; NULL: none. */
void sheet_csv(FILE *to, const struct sheet *s, bool header, const char *key, const char *value);

#endif
