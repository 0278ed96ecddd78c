/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "sim/base/alloc.h"

static const struct verb verbs[] = {
#define VERB(fn, name, args, what, more) {name, args, what, more, fn},
#include "cli/verbs.def"
#undef VERB
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_usage(FILE *to)
{
    fputs("usage: " GMPSIM_NAME " VERB [options] [arguments]\n\n"
          "The Go scheduler as a laboratory instrument: runs concurrent programs on a faithful\n"
          "copy of Go's scheduler in virtual time.\n\n",
          to);
    for (int i = 0; i < VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].what);
    fputs("\n" GMPSIM_NAME " VERB --help explains a verb; --version prints the version.\n", to);
}

static const struct verb *find(const char *name)
{
    const char *names[VERBS + 1] = {NULL};
    for (int i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
        names[i] = verbs[i].name;
    }
    const char *near = cli_nearest(name, names);
    if (near != NULL)
        cli_die(EXIT_USAGE, "no verb '%s'; did you mean %s?", name, near);
    cli_die(EXIT_USAGE, "no verb '%s'; " GMPSIM_NAME " --help lists them", name);
}

static int finish(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        cli_die(EXIT_USAGE, "standard output: cannot write");
    return status;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error of the write, which says so */
    /* cJSON answers a lack of memory with NULL, and what is added to NULL is silently lost. */
    cJSON_InitHooks(&(cJSON_Hooks){x_malloc, free});
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word == NULL) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_usage(stdout);
        return finish(EXIT_CLEAN);
    }
    if (strcmp(word, "--version") == 0) {
        puts(GMPSIM_NAME " " GMPSIM_VERSION);
        return finish(EXIT_CLEAN);
    }
    if (*word == '-')
        cli_die(EXIT_USAGE, "no option %s; a verb comes first (" GMPSIM_NAME " --help)", word);
    const struct verb *v = find(word);
    return finish(v->run(v, argc - 1, argv + 1));
}
