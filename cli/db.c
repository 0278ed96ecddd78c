/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim db, and how all commands open a store. */
#include "cli/csv.h"
#include "cli/db.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"
#include "store/keep.h"

enum { NS_PER_MS = 1000000, WAIT_MS = 300000, NAMES_MAX = 1000 };

/* ---- opening ---- */

static void tell_wait(const char *path, int64_t waited_s, int64_t left_s)
{
    fprintf(stderr,
            GMPSIM_NAME ": %s: another process has locked it for %" PRId64 " s; waiting %" PRId64
                        " s more\n",
            text_line(path), waited_s, left_s);
}

static void say_removed(const char *path, int n)
{
    if (n > 0)
        fprintf(stderr, GMPSIM_NAME ": %s: %d run%s that had been cut off %s removed\n",
                text_line(path), n, n > 1 ? "s" : "", n > 1 ? "are" : "is");
}

struct store *db_to_write(const char *path, int64_t wait_ns)
{
    struct failure f = {0};
    struct store *s = store_open(&f, path, STORE_WRITE);
    if (s == NULL)
        cli_fail(&f);
    say_removed(path, store_removed(s));
    store_wait(s, &(struct store_patience){wait_ns > 0 ? wait_ns / NS_PER_MS : WAIT_MS, tell_wait});
    return s;
}

struct store *db_to_read(const char *path)
{
    struct failure f = {0};
    struct store *s = store_open(&f, path, STORE_READ);
    if (s == NULL)
        cli_fail(&f);
    return s;
}

char *db_other_name(const char *path)
{
    size_t size = strlen(path) + 8;
    char *name = x_alloc(size);
    for (int i = 2; i < NAMES_MAX; i++) {
        snprintf(name, size, "%s.%d", path, i);
        if (access(name, F_OK) != 0)
            break;
    }
    return name;
}

/* ---- gmpsim db ---- */

struct db_args {
    const char *path;
    char **rest; /* behind it */
    int nrest;
    int64_t grid;
    bool json;
};

static void want_rest(const struct db_args *a, const char *what, int min, int max)
{
    if (a->nrest < min || a->nrest > max)
        cli_die(EXIT_USAGE, "db %s: see gmpsim db --help", what);
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static cJSON *row_json(sqlite3_stmt *st)
{
    cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < sqlite3_column_count(st); i++) {
        const char *text = (const char *)sqlite3_column_text(st, i),
                   *name = sqlite3_column_name(st, i);
        if (sqlite3_column_type(st, i) == SQLITE_INTEGER)
            cJSON_AddRawToObject(o, name, text);
        else if (text != NULL)
            cJSON_AddStringToObject(o, name, text);
        else
            cJSON_AddNullToObject(o, name);
    }
    return o;
}

static const char *cell(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);
    return text != NULL ? text_line(text) : "";
}

static void print_run(sqlite3_stmt *st)
{
    printf("%6s  %-20s  ", cell(st, 0), cell(st, 1));
    text_cell(stdout, cell(st, 2), 24);
    printf("  %-8s  P %-4s  seed %-8s  %-12s", cell(st, 3), cell(st, 4), cell(st, 5), cell(st, 7));
    if (sqlite3_column_type(st, 8) == SQLITE_INTEGER)
        printf("  %s", time_text(sqlite3_column_int64(st, 8)));
    putchar('\n');
}

static int list(const struct db_args *a)
{
    struct store *s = db_to_read(a->path);
    sqlite3_stmt *st;
    cJSON *rows = a->json ? cJSON_CreateArray() : NULL;
    want_rest(a, "list", 0, 0);
    if (sqlite3_prepare_v2(store_db(s),
                           "SELECT id, created, scenario, profile, procs, seed, host,"
                           " CASE complete WHEN 1 THEN ifnull(verdict, '') ELSE 'incomplete' END"
                           " AS verdict, makespan_ns FROM runs ORDER BY id",
                           -1, &st, NULL) != SQLITE_OK)
        cli_die(EXIT_USAGE, "db list: %s", sqlite3_errmsg(store_db(s)));
    while (sqlite3_step(st) == SQLITE_ROW)
        if (a->json)
            cJSON_AddItemToArray(rows, row_json(st));
        else
            print_run(st);
    if (sqlite3_finalize(st) != SQLITE_OK)
        cli_die(EXIT_USAGE, "db list: %s", sqlite3_errmsg(store_db(s)));
    if (a->json)
        out_json(rows);
    store_close(s);
    return EXIT_CLEAN;
}

/* "4", "4-9" */
static void range_of(const char *word, int64_t *first, int64_t *last)
{
    char low[24];
    size_t n = strcspn(word, "-");
    snprintf(low, sizeof low, "%.*s", (int)n, word);
    if (n >= sizeof low || !parse_int(low, first) ||
        !parse_int(word[n] == '-' ? word + n + 1 : low, last) || *first == 0 || *last < *first)
        cli_die(EXIT_USAGE, "db rm: want a run's number or FIRST-LAST, got '%s'", word);
}

static int64_t removed_or_die(int n, const struct failure *f, const char *what, const char *path)
{
    if (n < 0)
        cli_fail(f);
    if (n == 0)
        cli_die(EXIT_USAGE, "db rm: %s holds no %s", path, what);
    return n;
}

/* key: as JSON; with blanks, as text. list: what goes with it in JSON, or NULL. */
static void show_count(const struct db_args *a, const char *key, int64_t n, cJSON *list)
{
    if (a->json) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, key, (double)n);
        if (list != NULL)
            cJSON_AddItemToObject(o, "what", list);
        cJSON_AddNumberToObject(o, "bytes", (double)size_of(a->path));
        out_json(o);
        return;
    }
    for (const char *p = key; *p != 0; p++)
        putchar(*p == '_' ? ' ' : *p);
    printf(": %" PRId64 "; the file has %" PRId64 " bytes\n", n, size_of(a->path));
}

static int rm(const struct db_args *a)
{
    struct failure f = {0};
    int64_t n = 0, first, last;
    want_rest(a, "rm", a->grid > 0 ? 0 : 1, 1 << 20);
    for (int i = 0; i < a->nrest; i++)
        range_of(a->rest[i], &first, &last);
    struct store *s = db_to_write(a->path, 0);
    for (int i = 0; i < a->nrest; i++) {
        char what[64];
        range_of(a->rest[i], &first, &last);
        snprintf(what, sizeof what, "complete run %.40s", a->rest[i]);
        n += removed_or_die(store_remove(s, &f, first, last), &f, what, a->path);
    }
    if (a->grid > 0)
        (void)removed_or_die(store_remove_grid(s, &f, a->grid), &f, "grid of that number", a->path);
    store_close(s);
    show_count(a, "runs_removed", n, NULL);
    return EXIT_CLEAN;
}

static int vacuum(const struct db_args *a)
{
    struct failure f = {0};
    want_rest(a, "vacuum", 0, 0);
    struct store *s = db_to_write(a->path, 0);
    int64_t before = size_of(a->path);
    if (!store_vacuum(s, &f))
        cli_fail(&f);
    store_close(s);
    show_count(a, "bytes_given_back", before - size_of(a->path), NULL);
    return EXIT_CLEAN;
}

struct complaining {
    const struct db_args *a;
    cJSON *list;
};

static void complain(void *arg, const char *what)
{
    struct complaining *c = arg;
    if (c->list != NULL)
        cJSON_AddItemToArray(c->list, cJSON_CreateString(what));
    else
        printf("%s: %s\n", text_line(c->a->path), text_line(what));
}

static int check(const struct db_args *a)
{
    struct failure f = {0};
    struct complaining c = {a, a->json ? cJSON_CreateArray() : NULL};
    want_rest(a, "check", 0, 0);
    struct store *s = db_to_read(a->path);
    int n = store_check(s, &f, complain, &c);
    if (n < 0)
        cli_fail(&f);
    store_close(s);
    show_count(a, "complaints", n, c.list);
    return n > 0 ? EXIT_FINDING : EXIT_CLEAN;
}

int command_db(const struct command *v, int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(const struct db_args *a);
    } all[] = {{"list", list}, {"rm", rm}, {"vacuum", vacuum}, {"check", check}};
    static const char *const words[] = {"list", "rm", "vacuum", "check", NULL};
    struct db_args a = {0};
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"grid", "N", "rm: the what-if grid of this number", OPT_COUNT, &a.grid},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 2, 1 << 20);
    a.json = csv_or_json(&csv, a.json, NULL);
    a.path = argv[first + 1];
    a.rest = argv + first + 2;
    a.nrest = argc - first - 2;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[first], all[i].word) == 0)
            return all[i].run(&a);
    cli_die(EXIT_USAGE, "db: no '%s'; is it %s?", argv[first],
            cli_nearest(argv[first], words) != NULL ? cli_nearest(argv[first], words) : "list");
}
