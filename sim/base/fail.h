/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_FAIL_H
#define GMPSIM_SIM_BASE_FAIL_H

/* Errors, in three classes.
 *
 *   fail()   the user's mistake or a limit that the user set: a message that goes up by
 *            return value until somebody prints it and exits with fail_exit_code().
 *   throw()  an invariant of the model or of the simulator is broken: the registered
 *            reporter prints what it knows (seed, step, M, G, last events), then the
 *            process ends with EXIT_INTERNAL. It never returns to the caller.
 *   the OS   negative errno, handled where it happens; no help from this file.
 *
 * fail() is for any thread (it touches only its argument). throw() is for any thread: the
 * first one wins, later ones wait for the end of the process. */

/* Exit statuses of every command of gmpsim. */
enum exit_code {
    EXIT_CLEAN = 0,
    EXIT_FINDING = 1,  /* the run found something: deadlock, leak, failed expectation ... */
    EXIT_USAGE = 2,    /* bad arguments, bad input, a stated limit */
    EXIT_INTERNAL = 3, /* the simulator is wrong, or a run was not deterministic */
    EXIT_BUDGET = 4,   /* budget exhausted without a verdict (only with --strict) */
};

enum fail_code {
    E_OK = 0,
    E_USAGE,    /* command line */
    E_SCENARIO, /* scenario file */
    E_COST,     /* cost table */
    E_PROFILE,  /* profile or rule override */
    E_TRACE,    /* Go execution trace */
    E_SCHEDULE, /* recorded schedule */
    E_STORE,    /* database */
    E_IO,       /* file or OS */
    E_LIMIT,    /* a stated limit was crossed: memory, Ms, events ... */
    E_FINDING,  /* not a mistake: the run found something */
    E_INTERNAL, /* ours */
    E_BUDGET,   /* no verdict within the budget */
};

struct failure {
    int code;       /* enum fail_code, E_OK while nothing failed */
    char text[500]; /* one line or a few, without a final newline */
};

/* Records the message and returns -code, so that `return fail(...)` reads well. The first
 * message is kept: what comes later is a consequence. f may be NULL. */
int fail(struct failure *f, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Puts "text: " in front of a recorded message; nothing if none is recorded. */
void fail_prefix(struct failure *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), cold));

void fail_reset(struct failure *f);

int fail_exit_code(int code); /* enum fail_code, or its negative, to enum exit_code */

/* Where and why an invariant broke. The pointers live as long as the process. */
struct throw_site {
    const char *text;
    const char *file; /* without folders */
    const char *func;
    int line;
};

/* The reporter prints to stderr whatever helps; it runs on the stack of the thrower, which may be
 * a coroutine. It may leave by longjmp or coro_switch (tests, the explorer): then the throw is
 * over and the next one is reported again. A throw inside the reporter ends the process. */
typedef void throw_reporter(void *arg, const struct throw_site *site);

/* NULL restores the default, which prints one line. Returns nothing; not for two threads at once.
 */
void throw_set_reporter(throw_reporter *fn, void *arg);

/* Declares that a reporter left by a jump; a reporter calls it just before it jumps. */
void throw_caught(void);

_Noreturn void throw_at(const char *file, int line, const char *func, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

#define throw(msg) throw_at(__FILE__, __LINE__, __func__, "%s", (msg))
#define throwf(...) throw_at(__FILE__, __LINE__, __func__, __VA_ARGS__)

#endif
