/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sheet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

/* ---- filling ---- */

void sheet_init(struct sheet *s, const char *name, const struct sheet_column *columns, int ncolumns)
{
    *s = (struct sheet){.name = name, .columns = columns, .ncolumns = ncolumns};
}

void sheet_release(struct sheet *s)
{
    for (size_t i = 0; i < s->ncells; i++)
        free(s->cells[i].text);
    free(s->cells);
    *s = (struct sheet){0};
}

static void put(struct sheet *s, struct sheet_cell cell)
{
    X_ROOM(s->cells, s->ncells, s->room, 64);
    s->cells[s->ncells++] = cell;
}

void sheet_text(struct sheet *s, const char *text)
{
    put(s, (struct sheet_cell){.kind = CELL_TEXT, .text = x_strdup(text)});
}

void sheet_count(struct sheet *s, uint64_t n)
{
    put(s, (struct sheet_cell){.kind = CELL_COUNT, .n = (int64_t)n});
}

void sheet_time(struct sheet *s, int64_t ns)
{
    put(s, (struct sheet_cell){.kind = CELL_TIME, .n = ns});
}

void sheet_real(struct sheet *s, double v)
{
    put(s, (struct sheet_cell){.kind = CELL_REAL, .real = v});
}

void sheet_none(struct sheet *s) { put(s, (struct sheet_cell){.kind = CELL_NONE}); }

size_t sheet_rows(const struct sheet *s) { return s->ncells / (size_t)s->ncolumns; }

/* ---- for people ---- */

/* At most four digits that say something. */
static const char *real_text(double v)
{
    static char buf[32];
    snprintf(buf, sizeof buf, v >= 1000 ? "%.0f" : v >= 10 ? "%.1f" : "%.3g", v);
    return buf;
}

static const char *cell_text(const struct sheet_cell *c)
{
    static char buf[32];
    switch (c->kind) {
    case CELL_NONE: return "-";
    case CELL_TEXT: return c->text;
    case CELL_COUNT: snprintf(buf, sizeof buf, "%" PRIu64, (uint64_t)c->n); return buf;
    case CELL_TIME: return time_text(c->n);
    case CELL_REAL: break;
    }
    return real_text(c->real);
}

static int width_of(const struct sheet *s, int column)
{
    int width = s->columns[column].least, title = text_columns(s->columns[column].title);
    for (size_t i = (size_t)column; i < s->ncells; i += (size_t)s->ncolumns) {
        int is = text_columns(cell_text(&s->cells[i]));
        if (is > SHEET_TEXT_MAX)
            is = SHEET_TEXT_MAX;
        width = is > width ? is : width;
    }
    return title > width ? title : width;
}

static void put_column(FILE *to, const struct sheet *s, int column, const char *text, int width)
{
    bool last = column == s->ncolumns - 1;
    if (column > 0)
        fputs("  ", to);
    if (s->columns[column].left && last)
        fputs(text_line(text), to);
    else if (s->columns[column].left)
        text_cell(to, text, width);
    else
        fprintf(to, "%*s", width, text);
}

void sheet_print(FILE *to, const struct sheet *s)
{
    int *widths = x_alloc((size_t)s->ncolumns * sizeof *widths);
    for (int c = 0; c < s->ncolumns; c++)
        widths[c] = width_of(s, c);
    for (int c = 0; c < s->ncolumns; c++) /* the first title stands where rows are set in */
        put_column(to, s, c, s->columns[c].title, widths[c] + (c == 0 ? 2 : 0));
    fputc('\n', to);
    for (size_t i = 0; i < s->ncells; i++) {
        int c = (int)(i % (size_t)s->ncolumns);
        fputs(c == 0 ? "  " : "", to);
        put_column(to, s, c, cell_text(&s->cells[i]), widths[c]);
        fputs(c == s->ncolumns - 1 ? "\n" : "", to);
    }
    free(widths);
}

/* ---- CSV ---- */

static void csv_cell(FILE *to, const struct sheet_cell *c)
{
    switch (c->kind) {
    case CELL_NONE: break;
    case CELL_TEXT: text_put(to, TEXT_CSV, c->text); break;
    case CELL_COUNT: fprintf(to, "%" PRIu64, (uint64_t)c->n); break;
    case CELL_TIME: fprintf(to, "%" PRId64, c->n); break;
    case CELL_REAL: fprintf(to, "%.9g", c->real); break;
    }
}

void sheet_csv(FILE *to, const struct sheet *s, bool header, const char *key, const char *value)
{
    if (header && key != NULL)
        fprintf(to, "%s,", key);
    for (int c = 0; header && c < s->ncolumns; c++)
        fprintf(to, "%s%s", s->columns[c].csv, c == s->ncolumns - 1 ? "\n" : ",");
    for (size_t i = 0; i < s->ncells; i++) {
        bool first = i % (size_t)s->ncolumns == 0;
        bool last = (i + 1) % (size_t)s->ncolumns == 0;
        if (first && key != NULL) {
            text_put(to, TEXT_CSV, value);
            fputc(',', to);
        }
        csv_cell(to, &s->cells[i]);
        fputc(last ? '\n' : ',', to);
    }
}
