/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/fail.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text of a throw outlives everything: the site handed to the reporter points to it. */
static char throw_text[500];
static throw_reporter *reporter;
static void *reporter_arg;
static atomic_int throwing;
static _Thread_local int mine; /* this thread is the one that is throwing */

int fail(struct failure *f, int code, const char *fmt, ...)
{
    if (f && f->code == E_OK) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(f->text, sizeof f->text, fmt, ap);
        va_end(ap);
        f->code = code;
    }
    return -code;
}

void fail_prefix(struct failure *f, const char *fmt, ...)
{
    if (!f || f->code == E_OK)
        return;
    char old[sizeof f->text];
    memcpy(old, f->text, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof f->text)
        snprintf(f->text + n, sizeof f->text - (size_t)n, ": %s", old);
}

void fail_reset(struct failure *f)
{
    f->code = E_OK;
    f->text[0] = '\0';
}

int fail_exit_code(int code)
{
    switch ((enum fail_code)(code < 0 ? -code : code)) {
    case E_OK: return EXIT_CLEAN;
    case E_FINDING: return EXIT_FINDING;
    case E_INTERNAL: return EXIT_INTERNAL;
    case E_BUDGET: return EXIT_BUDGET;
    case E_USAGE:
    case E_SCENARIO:
    case E_COST:
    case E_PROFILE:
    case E_TRACE:
    case E_SCHEDULE:
    case E_STORE:
    case E_IO:
    case E_LIMIT: return EXIT_USAGE;
    }
    return EXIT_INTERNAL;
}

void throw_set_reporter(throw_reporter *fn, void *arg)
{
    reporter = fn;
    reporter_arg = arg;
}

void throw_caught(void)
{
    mine = 0;
    atomic_store(&throwing, 0);
}

static void report_default(const struct throw_site *site)
{
    fprintf(stderr, "gmpsim: internal error: %s (%s:%d, %s)\n", site->text, site->file, site->line,
            site->func);
}

/* _Exit and not exit: we may be on a coroutine in the middle of anything, where atexit handlers and
 * destructors have no business. */
static _Noreturn void die(void)
{
    fflush(NULL);
    _Exit(EXIT_INTERNAL);
}

_Noreturn void throw_at(const char *file, int line, const char *func, const char *fmt, ...)
{
    if (atomic_exchange(&throwing, 1)) {
        if (mine)
            die(); /* the reporter itself threw */
        for (;;)
            pause(); /* another thread is reporting and will end the process */
    }
    mine = 1;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(throw_text, sizeof throw_text, fmt, ap);
    va_end(ap);
    const char *slash = strrchr(file, '/');
    struct throw_site site = {
        .text = throw_text, .file = slash ? slash + 1 : file, .func = func, .line = line};
    if (reporter)
        reporter(reporter_arg, &site);
    else
        report_default(&site);
    die();
}
