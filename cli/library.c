/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/library.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sim/base/alloc.h"

enum { PATH_LEN = 4096, DEPTH_MAX = 8 };

static bool is_scenario(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0 && strcmp(name, "schema.json") != 0;
}

static void add(struct library *l, const char *path)
{
    X_ROOM(l->paths, l->count, l->room, 64);
    l->paths[l->count++] = x_strdup(path);
}

static void walk(struct library *l, const char *folder, int depth)
{
    DIR *d = depth < DEPTH_MAX ? opendir(folder) : NULL;
    if (d == NULL)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[PATH_LEN];
        struct stat st;
        if (e->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path ||
            stat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            walk(l, path, depth + 1);
        else if (is_scenario(e->d_name))
            add(l, path);
    }
    closedir(d);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* ---- where ---- */

static void walk_each(struct library *l, const char *list)
{
    char *copy = x_strdup(list);
    for (char *save, *word = strtok_r(copy, ":", &save); word != NULL;
         word = strtok_r(NULL, ":", &save))
        walk(l, word, 0);
    free(copy);
}

/* So many folders above; false: there are none. */
static bool go_up(char *path, int levels)
{
    for (; levels > 0; levels--) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return false;
        *slash = 0;
    }
    return true;
}

/* "PREFIX/bin/gmpsim" has its library in PREFIX/share/gmpsim/scenarios, wherever PREFIX is; one
 * that was built and not installed, "TREE/build/demo/bin/gmpsim", in TREE/scenarios. */
static void walk_own(struct library *l)
{
    char exe[PATH_LEN], folder[PATH_LEN + 32];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return;
    exe[n] = 0;
    if (!go_up(exe, 2))
        return;
    snprintf(folder, sizeof folder, "%s/share/gmpsim/scenarios", exe);
    walk(l, folder, 0);
    if (l->count > 0 || !go_up(exe, 2))
        return;
    snprintf(folder, sizeof folder, "%s/scenarios/schema.json", exe);
    if (exists(folder) && go_up(folder, 1))
        walk(l, folder, 0);
}

static void collect_library(struct library *l)
{
    static const char *const places[] = {"/usr/local/share/gmpsim/scenarios",
                                         "/usr/share/gmpsim/scenarios"};
    const char *named = getenv("GMPSIM_SCENARIOS");
    if (named != NULL && *named != 0) { /* and no other */
        walk_each(l, named);
        return;
    }
    walk(l, "scenarios", 0);
    if (l->count == 0)
        walk_own(l);
    for (size_t i = 0; l->count == 0 && i < sizeof places / sizeof *places; i++)
        walk(l, places[i], 0);
}

void library_collect(struct library *l, char **args, int count)
{
    struct stat st;
    for (int i = 0; i < count; i++) {
        if (stat(args[i], &st) == 0 && S_ISDIR(st.st_mode))
            walk(l, args[i], 0);
        else {
            char *path = library_file(args[i]);
            add(l, path);
            free(path);
        }
    }
    if (count == 0)
        collect_library(l);
    if (l->count == 0)
        cli_die(EXIT_USAGE,
                "scenarios: no files; give a folder or files, or say in GMPSIM_SCENARIOS"
                " where they are");
    qsort(l->paths, l->count, sizeof *l->paths, by_name);
}

void library_release(struct library *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->paths[i]);
    free(l->paths);
}

/* ---- one ---- */

/* "a/http-service.json" is http-service. */
static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    size_t n = strlen(name);
    return strncmp(base, name, n) == 0 && (strcmp(base + n, ".json") == 0 || base[n] == 0);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

static _Noreturn void no_such_file(const struct library *l, const char *said)
{
    enum { NAMES = 512, NAME_LEN = 64 };
    static char names[NAMES][NAME_LEN];
    const char *list[NAMES + 1] = {NULL};
    for (size_t i = 0; i < l->count && i < NAMES; i++) {
        const char *slash = strrchr(l->paths[i], '/');
        snprintf(names[i], NAME_LEN, "%s", slash != NULL ? slash + 1 : l->paths[i]);
        names[i][strcspn(names[i], ".")] = 0;
        list[i] = names[i];
    }
    const char *near = cli_nearest(said, list);
    if (near != NULL)
        cli_die(EXIT_USAGE, "%s: no such file, and no scenario of that name; did you mean %s?",
                said, near);
    cli_die(EXIT_USAGE,
            "%s: no such file, and no scenario of that name; " GMPSIM_NAME
            " scenarios list shows them",
            said);
}

char *library_file(const char *said)
{
    struct library l = {0};
    if (ends_with(said, ".go") || ends_with(said, "go.mod"))
        cli_die(EXIT_USAGE,
                "%s: Go source is not what runs here, but a scenario that describes the"
                " program (docs/scenarios.md); " GMPSIM_NAME " scenarios list shows examples",
                said);
    if (exists(said) || strchr(said, '/') != NULL)
        return x_strdup(said);
    collect_library(&l);
    if (l.count > 0)
        qsort(l.paths, l.count, sizeof *l.paths, by_name);
    const char *found = NULL;
    for (size_t i = 0; i < l.count && found == NULL; i++)
        if (is_named(l.paths[i], said))
            found = l.paths[i];
    if (found == NULL)
        no_such_file(&l, said);
    char *path = x_strdup(found);
    library_release(&l);
    return path;
}
