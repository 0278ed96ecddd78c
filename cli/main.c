/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: finds the command, and does what all commands need before an option is read. */
#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "sim/base/alloc.h"

static const struct command commands[] = {
#define COMMAND(fn, name, args, what, more) {name, args, what, more, fn},
#include "cli/commands.def"
#undef COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *to)
{
    fputs("usage: " GMPSIM_NAME " COMMAND [options] [arguments]\n\n"
          "The Go scheduler as a laboratory instrument: runs concurrent programs on a faithful\n"
          "copy of Go's scheduler in virtual time.\n\n",
          to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
    fputs("\n" GMPSIM_NAME " COMMAND --help explains a command; --version prints the version.\n",
          to);
}

static const struct command *find(const char *name)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    const char *near = cli_nearest(name, names);
    if (near != NULL)
        cli_die(EXIT_USAGE, "no command '%s'; did you mean %s?", name, near);
    cli_die(EXIT_USAGE, "no command '%s'; " GMPSIM_NAME " --help lists them", name);
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
        cli_die(EXIT_USAGE, "no option %s; a command comes first (" GMPSIM_NAME " --help)", word);
    const struct command *v = find(word);
    return finish(v->run(v, argc - 1, argv + 1));
}
