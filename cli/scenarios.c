/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim scenarios: the library. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/check.h"
#include "cli/library.h"
#include "cli/out.h"
#include "cli/report.h"
#include "scenarios/gengo.h"
#include "scenarios/json.h"
#include "scenarios/statements.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

/* ---- list, show ---- */

static void print_entry(const char *path, const struct scenario *s)
{
    printf("%s\n    %s%s", text_line(path), text_line(s->name), s->why[0] != 0 ? ": " : "");
    text_put(stdout, TEXT_LINES, s->why);
    putchar('\n');
}

static cJSON *entry_json(const char *path, const struct scenario *s)
{
    cJSON *o = cJSON_CreateObject(), *profiles;
    cJSON_AddStringToObject(o, "file", path);
    cJSON_AddStringToObject(o, "name", s->name);
    cJSON_AddStringToObject(o, "why", s->why);
    profiles = cJSON_AddArrayToObject(o, "profiles");
    for (int i = 0; i < s->nprofiles; i++)
        cJSON_AddItemToArray(profiles, cJSON_CreateString(profile_name(s->profiles[i])));
    return o;
}

static int list(const struct library *l, bool json)
{
    int status = EXIT_CLEAN;
    cJSON *all = cJSON_CreateArray();
    for (size_t i = 0; i < l->count; i++) {
        struct failure f = {0};
        struct scenario *s = scenario_load_file(&f, l->paths[i]);
        if (s == NULL) {
            fputs(GMPSIM_NAME ": ", stderr);
            text_put(stderr, TEXT_LINES, f.text);
            fputc('\n', stderr);
            status = EXIT_USAGE;
            continue;
        }
        if (json)
            cJSON_AddItemToArray(all, entry_json(l->paths[i], s));
        else
            print_entry(l->paths[i], s);
        scenario_free(s);
    }
    if (json)
        out_json(all);
    else
        cJSON_Delete(all);
    return status;
}

/* The whole file, from malloc. */
static char *read_file(const char *path, size_t *size)
{
    char *text = x_malloc(JSON_SIZE_MAX + 1);
    FILE *in = fopen(path, "r");
    *size = in != NULL ? fread(text, 1, JSON_SIZE_MAX + 1, in) : 0;
    if (in == NULL || ferror(in))
        cli_die(EXIT_USAGE, "%s: cannot be read", path);
    if (*size > JSON_SIZE_MAX)
        cli_die(EXIT_USAGE, "%s: longer than %d bytes", path, JSON_SIZE_MAX);
    fclose(in);
    return x_grow(text, *size);
}

static int show(const struct library *l, bool json)
{
    cJSON *all = cJSON_CreateArray();
    for (size_t i = 0; i < l->count; i++) {
        size_t size;
        char *text = read_file(l->paths[i], &size);
        if (json) {
            cJSON *o = cJSON_CreateObject();
            cJSON_AddStringToObject(o, "file", l->paths[i]);
            cJSON_AddItemToObject(o, "scenario", cJSON_ParseWithLength(text, size));
            cJSON_AddItemToArray(all, o);
        } else {
            out_foreign(stdout, text, size);
        }
        free(text);
    }
    if (json)
        out_json(all);
    else
        cJSON_Delete(all);
    return EXIT_CLEAN;
}

static void print_go(const char *path, const char *go)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", path);
    cJSON_AddStringToObject(o, "go", go);
    out_json(o);
}

static int gen_go(const struct library *l, bool json)
{
    struct failure f = {0};
    char *go = NULL;
    size_t go_size;
    if (l->count != 1)
        cli_die(EXIT_USAGE, "scenarios gen-go: want one file, got %zu", l->count);
    struct scenario *s = scenario_load_file(&f, l->paths[0]);
    if (s == NULL)
        cli_fail(&f);
    FILE *out = x_memstream(&go, &go_size);
    scenario_gen_go(s, out);
    scenario_free(s);
    x_memstream_close(out, &go);
    if (json)
        print_go(l->paths[0], go);
    else
        out_foreign(stdout, go, strlen(go));
    free(go);
    return EXIT_CLEAN;
}

/* ---- language ---- */

static cJSON *field_json(const struct field *f)
{
    cJSON *o = cJSON_CreateObject();
    bool by_name = f->kind == F_CALLEE && f->other == 1;
    bool list = f->kind == F_OF_CALLEE && strcmp(f->key, "args") == 0;
    cJSON_AddStringToObject(o, "key", f->key);
    cJSON_AddStringToObject(o, "kind",
                            by_name ? "function"
                            : list  ? "arguments"
                                    : field_kind_name(f->kind));
    cJSON_AddBoolToObject(o, "needed", f->need);
    if (f->words != NULL) {
        cJSON *words = cJSON_AddArrayToObject(o, "words");
        for (const char *const *w = f->words; *w != NULL; w++)
            cJSON_AddItemToArray(words, cJSON_CreateString(*w));
    }
    return o;
}

static cJSON *statement_json(const struct statement *s)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "word", s->field[0].key);
    cJSON_AddStringToObject(o, "what", s->what);
    cJSON_AddStringToObject(o, "example", s->example);
    cJSON *fields = cJSON_AddArrayToObject(o, "fields");
    for (const struct field *f = s->field; f->key != NULL; f++)
        cJSON_AddItemToArray(fields, field_json(f));
    return o;
}

static void language_json(void)
{
    cJSON *all = cJSON_CreateArray();
    for (const struct group *const *g = groups; *g != NULL; g++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "group", (*g)->title);
        cJSON *list = cJSON_AddArrayToObject(o, "statements");
        for (size_t i = 0; i < (*g)->count; i++)
            cJSON_AddItemToArray(list, statement_json(&(*g)->row[i]));
        cJSON_AddItemToArray(all, o);
    }
    out_json(all);
}

static void print_statement(const struct statement *s)
{
    printf("%s\n    %s\n    %s\n", s->field[0].key, s->example, s->what);
}

/* The statements of the language, or some of them. */
static int language(char **words, int count, bool json)
{
    const char *all[STATEMENT_WORDS_MAX];
    statement_words(all, STATEMENT_WORDS_MAX);
    for (int i = 0; i < count; i++) {
        const struct statement *s = statement_find(words[i]);
        const char *near = s == NULL ? cli_nearest(words[i], all) : NULL;
        if (s == NULL)
            cli_die(EXIT_USAGE, "scenarios language: no statement '%s'%s%s", words[i],
                    near != NULL ? "; did you mean " : "", near != NULL ? near : "");
        print_statement(s);
    }
    if (json)
        language_json();
    for (const struct group *const *g = groups; !json && count == 0 && *g != NULL; g++) {
        printf("%s%s\n\n", g == groups ? "" : "\n", (*g)->title);
        for (size_t i = 0; i < (*g)->count; i++)
            print_statement(&(*g)->row[i]);
    }
    return EXIT_CLEAN;
}

/* ---- the command ---- */

static int check(const struct library *l, int64_t repeat, bool json, const char *part,
                 const char *journal)
{
    if (part == NULL && journal == NULL)
        return scenarios_check(l->paths, l->count, repeat, json);
    if (part == NULL || journal == NULL || json)
        cli_die(EXIT_USAGE, "check: --shard and --journal come together, and without --json and"
                            " --csv, which gmpsim merge has");
    struct shard shard = shard_of(part);
    return scenarios_check_part(l->paths, l->count, repeat, &shard, journal);
}

int command_scenarios(const struct command *v, int argc, char **argv)
{
    enum { LIST, SHOW, CHECK, GEN_GO, LANGUAGE };
    static const char *const words[] = {"list", "show", "check", "gen-go", "language", NULL};
    int64_t repeat = 1;
    const char *shard = NULL, *journal = NULL;
    bool json = false;
    struct csv_wish csv = {0};
    const struct opt table[] = {
        {"shard", "I/N", "check: only part I of N, or auto; with --journal", OPT_TEXT, &shard},
        {"journal", "FILE", "... keeps what is done there, and goes on from what it has", OPT_TEXT,
         &journal},
        {"repeat", "N", "check: so many times each, with the same fingerprint", OPT_COUNT, &repeat},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv), status = EXIT_CLEAN;
    opts_want(v, argc, first, 1, 1 << 20);
    struct library l = {0};
    int which = cli_choice("scenarios: no", argv[first], words);
    if ((which == SHOW || which == GEN_GO) && argc == first + 1)
        cli_die(EXIT_USAGE, "scenarios %s: which file?", words[which]);
    json = csv_or_json(&csv, json, which == CHECK ? "results" : NULL);
    if (which == LANGUAGE)
        return language(argv + first + 1, argc - first - 1, json);
    library_collect(&l, argv + first + 1, argc - first - 1);
    switch (which) {
    case LIST: status = list(&l, json); break;
    case SHOW: status = show(&l, json); break;
    case CHECK: status = check(&l, repeat, json, shard, journal); break;
    case GEN_GO: status = gen_go(&l, json); break;
    }
    library_release(&l);
    return status;
}
