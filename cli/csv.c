/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/csv.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { COLUMNS_MAX = 256, DEPTH_MAX = 4, PATH_MAX_ = 200 };

/* What is wanted of the one document that a process prints. */
static struct {
    bool on, asked;
    const char *table; /* NULL: the document itself */
} wish;

bool csv_or_json(const struct csv_wish *w, bool json, const char *main_table)
{
    bool csv = w->csv || w->table != NULL;
    if (csv && json)
        cli_die(EXIT_USAGE, "--json, --csv with --table: one of them");
    wish.on = csv;
    wish.asked = w->table != NULL;
    wish.table = w->table != NULL ? w->table : main_table;
    return csv || json;
}

/* ---- which table ---- */

/* Lists of objects or of lists, and objects with an object or a number in front. Empty ones are
 * tables without rows. */
static bool may_be_table(const cJSON *v)
{
    if (!cJSON_IsArray(v) && !cJSON_IsObject(v))
        return false;
    return v->child == NULL || cJSON_IsObject(v->child) ||
           (cJSON_IsArray(v) ? cJSON_IsArray(v->child) : cJSON_IsNumber(v->child));
}

/* An object of plain values and others, as documents are: a row, in which there may be tables. */
static bool is_row(const cJSON *v)
{
    bool plain = false, others = false;
    const cJSON *of;
    if (!cJSON_IsObject(v))
        return false;
    cJSON_ArrayForEach (of, v) {
        others |= cJSON_IsObject(of) || cJSON_IsArray(of);
        plain |= !cJSON_IsObject(of) && !cJSON_IsArray(of);
    }
    return plain && others;
}

static const cJSON *find(const cJSON *in, const char *path)
{
    char name[PATH_MAX_];
    while (in != NULL && *path != 0) {
        size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        in = cJSON_GetObjectItemCaseSensitive(in, name);
        path += n + (path[n] == '.');
    }
    return in;
}

static void list_tables(const cJSON *in, const char *before, char *buf, size_t size, int depth)
{
    const cJSON *v;
    cJSON_ArrayForEach (v, in) {
        char path[PATH_MAX_];
        size_t used = strlen(buf);
        snprintf(path, sizeof path, "%s%s", before, v->string != NULL ? v->string : "");
        if (may_be_table(v))
            snprintf(buf + used, size - used, "%s%s", used > 0 ? ", " : "", path);
        if (depth > 0 && cJSON_IsObject(v) && (!may_be_table(v) || is_row(v))) {
            char deeper[PATH_MAX_ + 1];
            snprintf(deeper, sizeof deeper, "%s.", path);
            list_tables(v, deeper, buf, size, depth - 1);
        }
    }
}

static const cJSON *choose(const cJSON *document)
{
    char all[2000] = "";
    const cJSON *t = wish.table != NULL ? find(document, wish.table) : document;
    if (t != NULL && (may_be_table(t) || t == document))
        return t;
    if (!wish.asked)
        return NULL; /* there is none this time */
    if (cJSON_IsObject(document))
        list_tables(document, "", all, sizeof all, DEPTH_MAX);
    cli_die(EXIT_USAGE, "--table: no table '%s'; there %s %s", text_line(wish.table),
            all[0] != 0 ? "are" : "is", all[0] != 0 ? all : "one without a name");
}

/* ---- columns ---- */

struct columns {
    char *names[COLUMNS_MAX];
    int count;
    bool named; /* rows have names, in a column in front */
};

static int column_of(struct columns *c, const char *name)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return i;
    if (c->count == COLUMNS_MAX)
        return -1;
    c->names[c->count] = x_strdup(name);
    return c->count++;
}

static bool has_objects(const cJSON *list)
{
    const cJSON *v;
    cJSON_ArrayForEach (v, list)
        if (cJSON_IsObject(v) || cJSON_IsArray(v))
            return true;
    return false;
}

/* Each member of a row with its column, of a list by its number; what is a table of its own is left
 * out. */
static void each_cell(struct columns *c, const cJSON *row, const char *before, int depth,
                      void (*fn)(void *arg, int column, const cJSON *v), void *arg)
{
    const cJSON *v;
    int nth = 0;
    cJSON_ArrayForEach (v, row) {
        char name[PATH_MAX_];
        if (v->string != NULL)
            snprintf(name, sizeof name, "%s%s", before, v->string);
        else
            snprintf(name, sizeof name, "%s%d", before, ++nth);
        if (cJSON_IsObject(v) && depth > 0) {
            char deeper[PATH_MAX_ + 1];
            snprintf(deeper, sizeof deeper, "%s.", name);
            each_cell(c, v, deeper, depth - 1, fn, arg);
        } else if (!cJSON_IsObject(v) && !(cJSON_IsArray(v) && has_objects(v))) {
            fn(arg, column_of(c, name), v);
        }
    }
}

static void only_name(void *arg, int column, const cJSON *v)
{
    (void)arg;
    (void)column;
    (void)v;
}

/* Of an object's members a list is one cell, of a list's a row. */
static bool has_cells(const cJSON *table, const cJSON *row)
{
    return cJSON_IsObject(row) || (cJSON_IsArray(row) && cJSON_IsArray(table));
}

static void find_columns(struct columns *c, const cJSON *table, bool one_row)
{
    const cJSON *row;
    c->named = cJSON_IsObject(table) && !one_row;
    if (one_row) {
        each_cell(c, table, "", DEPTH_MAX, only_name, NULL);
        return;
    }
    cJSON_ArrayForEach (row, table)
        if (has_cells(table, row))
            each_cell(c, row, "", DEPTH_MAX, only_name, NULL);
        else
            (void)column_of(c, "value");
}

/* ---- rows ---- */

static void put_value(const cJSON *v)
{
    char text[64];
    if (cJSON_IsString(v))
        text_put(stdout, TEXT_CSV, v->valuestring);
    else if (cJSON_IsBool(v))
        fputs(cJSON_IsTrue(v) ? "true" : "false", stdout);
    else if (cJSON_IsRaw(v)) /* a number of a store, as SQLite says it */
        fputs(v->valuestring, stdout);
    else if (cJSON_IsNumber(v)) {
        snprintf(text, sizeof text, "%.17g", v->valuedouble);
        for (int digits = 1; digits < 17; digits++) { /* as short as it is the same number */
            snprintf(text, sizeof text, "%.*g", digits, v->valuedouble);
            if (strtod(text, NULL) == v->valuedouble)
                break;
        }
        if (strchr(text, 'e') != NULL && v->valuedouble == (double)(int64_t)v->valuedouble)
            snprintf(text, sizeof text, "%lld", (long long)v->valuedouble);
        fputs(text, stdout);
    }
}

/* Plain values of a list as one cell. */
static void put_list(const cJSON *list)
{
    size_t size = 1;
    const cJSON *v;
    cJSON_ArrayForEach (v, list)
        size += (cJSON_IsString(v) ? strlen(v->valuestring) : 32) + 1;
    char *text = x_alloc(size), *end = text;
    cJSON_ArrayForEach (v, list) {
        if (end > text)
            *end++ = ' ';
        end += cJSON_IsString(v) ? sprintf(end, "%s", v->valuestring)
                                 : sprintf(end, "%.15g", v->valuedouble);
    }
    text_put(stdout, TEXT_CSV, text);
    free(text);
}

struct row {
    const cJSON *cells[COLUMNS_MAX];
};

static void take(void *arg, int column, const cJSON *v)
{
    if (column >= 0)
        ((struct row *)arg)->cells[column] = v;
}

static void put_row(struct columns *c, const cJSON *row, bool cells)
{
    struct row r = {{NULL}};
    if (cells)
        each_cell(c, row, "", DEPTH_MAX, take, &r);
    else
        take(&r, 0, row);
    if (c->named)
        text_put(stdout, TEXT_CSV, row->string);
    for (int i = 0; i < c->count; i++) {
        fputs(i > 0 || c->named ? "," : "", stdout);
        if (r.cells[i] != NULL && cJSON_IsArray(r.cells[i]))
            put_list(r.cells[i]);
        else if (r.cells[i] != NULL)
            put_value(r.cells[i]);
    }
    putchar('\n');
}

static void put_table(const cJSON *table, bool one_row)
{
    struct columns c = {.count = 0};
    const cJSON *row;
    find_columns(&c, table, one_row);
    fputs(c.named ? "name" : "", stdout);
    for (int i = 0; i < c.count; i++) {
        fputs(i > 0 || c.named ? "," : "", stdout);
        text_put(stdout, TEXT_CSV, c.names[i]);
    }
    putchar('\n');
    if (one_row)
        put_row(&c, table, true);
    else
        cJSON_ArrayForEach (row, table)
            put_row(&c, row, has_cells(table, row));
    for (int i = 0; i < c.count; i++)
        free(c.names[i]);
}

bool csv_print(const cJSON *document)
{
    if (!wish.on)
        return false;
    const cJSON *t = choose(document);
    if (t != NULL)
        put_table(t, is_row(t) || (t == document && !cJSON_IsArray(t)));
    return true;
}
