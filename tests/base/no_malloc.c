/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "no_malloc.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/coro.h" /* which sanitizer */

static bool forbidden;

void no_malloc_begin(void) { forbidden = true; }
void no_malloc_end(void) { forbidden = false; }

#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)

bool no_malloc_works(void) { return false; }

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static unsigned long calls;

/* Valgrind puts its own functions in place of ours: seen by ours not being called. */
bool no_malloc_works(void)
{
    unsigned long before = calls;
    void *volatile p = malloc(1);
    free(p);
    return calls != before;
}

static void check(void)
{
    static const char text[] = "malloc inside a running world\n";
    calls++;
    if (!forbidden)
        return;
    forbidden = false;
    if (write(2, text, sizeof text - 1) < 0)
        _exit(98);
    abort();
}

void *malloc(size_t size)
{
    check();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    check();
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    check();
    return __libc_realloc(p, size);
}

void *memalign(size_t align, size_t size)
{
    check();
    return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    check();
    return __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    check();
    *p = __libc_memalign(align, size);
    return *p ? 0 : ENOMEM;
}

#endif
