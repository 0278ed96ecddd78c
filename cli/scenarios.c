/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim scenarios: the library, and whether it gives what it expects. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report.h"
#include "scenarios/gengo.h"

enum { PATH_LEN = 4096, DEPTH_MAX = 8 };

struct library {
    char **paths;
    size_t count, room;
};

/* ---- files ---- */

static bool is_scenario(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0 && strcmp(name, "schema.json") != 0;
}

static void add(struct library *l, const char *path)
{
    if (l->count == l->room) {
        l->room = l->room != 0 ? l->room * 2 : 64;
        l->paths = run_grow(l->paths, l->room * sizeof *l->paths);
    }
    l->paths[l->count++] = strdup(path);
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

static void collect(struct library *l, char **args, int count)
{
    static const char *const places[] = {"scenarios", "/usr/local/share/gmpsim/scenarios",
                                         "/usr/share/gmpsim/scenarios"};
    struct stat st;
    for (int i = 0; i < count; i++) {
        if (stat(args[i], &st) == 0 && S_ISDIR(st.st_mode))
            walk(l, args[i], 0);
        else
            add(l, args[i]);
    }
    for (size_t i = 0; count == 0 && l->count == 0 && i < sizeof places / sizeof *places; i++)
        walk(l, places[i], 0);
    if (l->count == 0)
        cli_die(EXIT_USAGE, "scenarios: no files; give a folder or files");
    qsort(l->paths, l->count, sizeof *l->paths, by_name);
}

static void release(struct library *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->paths[i]);
    free(l->paths);
}

/* ---- list, show ---- */

static int list(const struct library *l)
{
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < l->count; i++) {
        struct failure f = {0};
        struct scenario *s = scenario_load_file(&f, l->paths[i]);
        if (s == NULL) {
            fprintf(stderr, GMPSIM_NAME ": %s\n", f.text);
            status = EXIT_USAGE;
            continue;
        }
        printf("%s\n    %s: %s\n", l->paths[i], s->name, s->why);
        scenario_free(s);
    }
    return status;
}

static int show(const struct library *l)
{
    for (size_t i = 0; i < l->count; i++) {
        char buf[1 << 16];
        FILE *in = fopen(l->paths[i], "r");
        if (in == NULL)
            cli_die(EXIT_USAGE, "%s: cannot be read", l->paths[i]);
        for (size_t n; (n = fread(buf, 1, sizeof buf, in)) > 0;)
            fwrite(buf, 1, n, stdout);
        fclose(in);
    }
    return EXIT_CLEAN;
}

static int gen_go(const struct library *l)
{
    struct failure f = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(l->paths[0], "r");
    if (in == NULL)
        cli_die(EXIT_USAGE, "%s: cannot be read", l->paths[0]);
    ssize_t n = getdelim(&text, &size, EOF, in);
    fclose(in);
    if (!scenario_gen_go(&f, l->paths[0], text, n > 0 ? (size_t)n : 0, stdout))
        cli_fail(&f);
    free(text);
    return EXIT_CLEAN;
}

/* ---- check ---- */

static int check_release(struct scenario *s, const char *path, int release_, int64_t repeat)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    struct complaints c;
    uint64_t fingerprint = 0;
    int status = EXIT_CLEAN;
    if (!run_opts_of(&f, s, release_, &o))
        cli_fail(&f);
    o.catch_throws = true;
    for (int64_t i = 0; i < repeat && status == EXIT_CLEAN; i++) {
        if (!run_all(&f, &r, &o))
            cli_fail(&f);
        complaints_of(s, &o, &r.result, &c);
        status = report_status(&r.result, &c);
        if (status != EXIT_CLEAN)
            printf("%s: %s: %s%s%s\n%s\n", path, profile_name(release_), run_verdict(&r.result),
                   r.result.text[0] != 0 ? ": " : "", r.result.text, c.text);
        else if (i > 0 && r.result.fingerprint != fingerprint) {
            printf("%s: %s: does not repeat\n", path, profile_name(release_));
            status = EXIT_INTERNAL;
        }
        fingerprint = r.result.fingerprint;
        run_free(&r);
    }
    return status;
}

static int check(const struct library *l, int64_t repeat)
{
    int worst = EXIT_CLEAN, runs = 0, bad = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct failure f = {0};
        struct scenario *s = scenario_load_file(&f, l->paths[i]);
        if (s == NULL) {
            printf("%s\n", f.text);
            worst = worst > EXIT_USAGE ? worst : EXIT_USAGE;
            bad++;
            continue;
        }
        for (int k = 0; k < s->nprofiles; k++, runs++) {
            int status = check_release(s, l->paths[i], s->profiles[k], repeat);
            bad += status != EXIT_CLEAN;
            worst = worst > status ? worst : status;
        }
        scenario_free(s);
    }
    printf("%zu scenarios, %d of %d runs not as expected\n", l->count, bad, runs);
    return worst;
}

int verb_scenarios(const struct verb *v, int argc, char **argv)
{
    static const char *const words[] = {"list", "show", "check", "gen-go", NULL};
    int64_t repeat = 1;
    const struct opt table[] = {
        {"repeat", "N", "check: so many times each, with the same fingerprint", OPT_INT, &repeat},
        {0},
    };
    int first = opts_parse(v, table, argc, argv), status;
    opts_want(v, argc, first, 1, 1 << 20);
    struct library l = {0};
    const char *word = argv[first];
    int which = 0;
    while (words[which] != NULL && strcmp(words[which], word) != 0)
        which++;
    if (words[which] == NULL) {
        const char *near = cli_nearest(word, words);
        cli_die(EXIT_USAGE, "scenarios: no '%s'; %s%s", word,
                near != NULL ? "did you mean " : "there are list, show, check and gen-go",
                near != NULL ? near : "");
    }
    if (which % 2 == 1 && argc == first + 1) /* show, gen-go */
        cli_die(EXIT_USAGE, "scenarios %s: which file?", word);
    collect(&l, argv + first + 1, argc - first - 1);
    status = which == 0   ? list(&l)
             : which == 1 ? show(&l)
             : which == 2 ? check(&l, repeat)
                          : gen_go(&l);
    release(&l);
    return status;
}
