/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fail.h"

static void *checked(void *p)
{
    if (p == NULL) {
        fputs("gmpsim: the system has no more memory\n", stderr);
        exit(EXIT_USAGE);
    }
    return p;
}

void *x_alloc(size_t size) { return checked(calloc(1, size != 0 ? size : 1)); }

void *x_grow(void *p, size_t size) { return checked(realloc(p, size != 0 ? size : 1)); }

char *x_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(x_alloc(size), text, size);
}
