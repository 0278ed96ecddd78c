/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_CLI_H
#define GMPSIM_CLI_CLI_H

/* What the commands of gmpsim share. A command is a function and an entry of commands.def.
 *
 * Its options are a table: parsing, --help and the suggestion for a wrong option come from it. A
 * mistake of the user ends the process with EXIT_USAGE (cli_die); what a command prints as its
 * result goes to stdout, everything else to stderr. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "run/run.h"
#include "sim/base/fail.h"

#define GMPSIM_NAME "gmpsim"

enum opt_kind {
    OPT_FLAG,     /* bool */
    OPT_INT,      /* int64_t, not negative */
    OPT_COUNT,    /* int64_t, from 1 on */
    OPT_TEXT,     /* const char * */
    OPT_TIME,     /* int64_t ns: "250us", "1.5ms", "2s" */
    OPT_LENGTH,   /* ... longer than 0 */
    OPT_SEED,     /* struct opt_seed: decimal, 0x..., or random */
    OPT_REPEATED, /* struct opt_list */
};

struct opt_seed {
    bool given, random;
    uint64_t value;
};

enum { OPT_LIST_MAX = 64 };

struct opt_list {
    const char *items[OPT_LIST_MAX];
    int count;
};

struct opt {
    const char *name;
    const char *arg; /* name of its argument for --help; NULL for a flag */
    const char *what;
    enum opt_kind kind;
    void *to;
};

struct command {
    const char *name;
    const char *args; /* for the usage line */
    const char *what; /* one line */
    const char *more; /* paragraphs for --help, ends with the example */
    int (*run)(const struct command *v, int argc, char **argv);
};

/* argv[0] is the command's name. Prints help and ends the process when asked. Returns the index of
 * the first argument that is not an option; argv is reordered so that these come last. The table
 * ends with a NULL name. */
int opts_parse(const struct command *v, const struct opt *table, int argc, char **argv);
/* Dies unless there are between min and max arguments from `first` on. */
void opts_want(const struct command *v, int argc, int first, int min, int max);

_Noreturn void cli_die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints f and ends with its exit status. */
_Noreturn void cli_fail(const struct failure *f);
/* What was recorded does not repeat: the simulator's fault, or there is no memory for it. */
_Noreturn void cli_die_of(const struct failure *f, const char *what);
bool parse_time(const char *text, int64_t *ns);
bool parse_int(const char *text, int64_t *value);
bool parse_seed(const char *text, struct opt_seed *seed);
/* The candidate nearest to text, NULL if none is near. Candidates end with NULL. */
const char *cli_nearest(const char *text, const char *const *candidates);
/* Which of them text is; else the end of the command: "what 'text'", and what is near or there. */
int cli_choice(const char *what, const char *text, const char *const *candidates);
/* "1.25ms": three to four digits and a unit, in one of eight static buffers. */
const char *time_text(int64_t ns);
/* A whole number of the largest unit that gives one: "150ms". In one of four static buffers. */
const char *time_exact(int64_t ns);

#define COMMAND(fn, name, args, what, more) int fn(const struct command *v, int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

#endif
