/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_TEXT_H
#define GMPSIM_SIM_BASE_TEXT_H

/* Names and texts from outside (scenarios, databases, file names, arguments) on their way out.
 *
 * Whoever prints such a text says into what, and nobody else knows how that is quoted. Of every
 * form it holds: what comes out is well-formed UTF-8, whatever bytes went in; no character that
 * steers a terminal (C0, C1, direction overrides) comes out raw, but for newline and tab where the
 * form has them; a text is never cut inside a character. A byte that is no UTF-8 becomes U+FFFD. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum text_form {
    TEXT_LINE,       /* a line for people: what steers becomes \n, \t, \x1b, \u202e */
    TEXT_LINES,      /* lines for people: as above, newline and tab stay */
    TEXT_TSV,        /* a field: \t \n \r \\ and \x1b, so that it can be taken back */
    TEXT_CSV,        /* a field of RFC 4180; no formula for a spreadsheet */
    TEXT_JSON,       /* with its quotes; fit for the inside of an HTML script, too */
    TEXT_JSON_WHOLE, /* a document that a writer has made: what it let through inside of strings */
    TEXT_XML,        /* text or attribute of XML, SVG, HTML, without quotes */
    TEXT_DOT,        /* with its quotes */
    TEXT_GNUPLOT,    /* with its quotes, single ones; a string, not a file's name */
    TEXT_SHELL,      /* a word; quoted where it has to be */
    TEXT_GO_COMMENT, /* the rest of a line after "//" */
    TEXT_FILE,       /* a part of a file's name: letters, digits, and - _ . inside */
};

void text_put(FILE *to, enum text_form form, const char *text);
void text_put_n(FILE *to, enum text_form form, const char *text, size_t size);
/* The same in a buffer of at least 16 bytes; gives it. What does not fit is left out, with an
 * ellipsis in its place. */
char *text_in(char *buf, size_t size, enum text_form form, const char *text);

/* TEXT_LINE in one of eight static buffers, at most 240 bytes long: for printf. */
const char *text_line(const char *text);
/* Columns that TEXT_LINE of it takes on a terminal. */
int text_columns(const char *text);
/* A cell of a table: TEXT_LINE of it, cut with an ellipsis or filled with spaces to `columns`. */
void text_cell(FILE *to, const char *text, int columns);
/* The same in one of eight static buffers, without the filling. */
const char *text_cut(const char *text, int columns);

/* What somebody prints piece by piece, as it is. */
struct text_kept {
    char *text; /* malloc'ed, without an end; NULL: nothing yet */
    size_t size, room;
};

void text_keep(struct text_kept *t, const char *text, size_t size);

/* A file's name can be said in one line of every format there is: no control characters. */
bool text_is_plain_name(const char *name);

#endif
