/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim scenarios: the library. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/library.h"
#include "cli/out.h"
#include "cli/report.h"
#include "scenarios/gengo.h"
#include "scenarios/json.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

/* ---- list, show ---- */

static void print_entry(const char *path, const struct scenario *s)
{
    printf("%s\n    %s: ", text_line(path), text_line(s->name));
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
    size_t size, go_size;
    if (l->count != 1)
        cli_die(EXIT_USAGE, "scenarios gen-go: want one file, got %zu", l->count);
    char *text = read_file(l->paths[0], &size);
    FILE *out = open_memstream(&go, &go_size);
    if (out == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    if (!scenario_gen_go(&f, l->paths[0], text, size, out))
        cli_fail(&f);
    if (fclose(out) != 0 || go == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    if (json)
        print_go(l->paths[0], go);
    else
        out_foreign(stdout, go, strlen(go));
    free(go);
    free(text);
    return EXIT_CLEAN;
}

/* ---- the verb ---- */

static int which_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    const char *near = cli_nearest(word, words);
    cli_die(EXIT_USAGE, "scenarios: no '%s'; %s%s", word,
            near != NULL ? "did you mean " : "there are list, show, check and gen-go",
            near != NULL ? near : "");
}

int verb_scenarios(const struct verb *v, int argc, char **argv)
{
    enum { LIST, SHOW, CHECK, GEN_GO };
    static const char *const words[] = {"list", "show", "check", "gen-go", NULL};
    int64_t repeat = 1;
    bool json = false;
    const struct opt table[] = {
        {"repeat", "N", "check: so many times each, with the same fingerprint", OPT_COUNT, &repeat},
        {"json", NULL, "as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv), status = EXIT_CLEAN;
    opts_want(v, argc, first, 1, 1 << 20);
    struct library l = {0};
    int which = which_word(words, argv[first]);
    if ((which == SHOW || which == GEN_GO) && argc == first + 1)
        cli_die(EXIT_USAGE, "scenarios %s: which file?", words[which]);
    library_collect(&l, argv + first + 1, argc - first - 1);
    switch (which) {
    case LIST: status = list(&l, json); break;
    case SHOW: status = show(&l, json); break;
    case CHECK: status = scenarios_check(l.paths, l.count, repeat, json); break;
    case GEN_GO: status = gen_go(&l, json); break;
    }
    library_release(&l);
    return status;
}
