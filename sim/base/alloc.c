/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "sim/base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/fail.h"

static x_failed_fn *on_failure;
static void *on_failure_arg;

void x_on_failure(x_failed_fn *fn, void *arg)
{
    on_failure = fn;
    on_failure_arg = arg;
}

/* write and _Exit: stdio may want memory itself, and we may be on the stack of a coroutine. */
_Noreturn void x_failed(void)
{
    static const char text[] =
        "gmpsim: the system has no more memory; a smaller --memory, --until or"
        " number of runs needs less\n";
    if (on_failure != NULL)
        on_failure(on_failure_arg);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _Exit(EXIT_USAGE);
    _Exit(EXIT_USAGE);
}

static void *checked(void *p)
{
    if (p == NULL)
        x_failed();
    return p;
}

void *x_alloc(size_t size) { return checked(calloc(1, size != 0 ? size : 1)); }

void *x_malloc(size_t size) { return checked(malloc(size != 0 ? size : 1)); }

void *x_grow(void *p, size_t size) { return checked(realloc(p, size != 0 ? size : 1)); }

void *x_longer(void *p, size_t was, size_t count, size_t size)
{
    char *longer = x_grow(p, count * size);
    memset(longer + was * size, 0, (count - was) * size);
    return longer;
}

char *x_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(x_malloc(size), text, size);
}

FILE *x_memstream(char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    return checked(open_memstream(text, size));
}

void x_memstream_close(FILE *f, char **text)
{
    bool whole = !ferror(f);
    if (fclose(f) != 0 || !whole || *text == NULL)
        x_failed();
}
