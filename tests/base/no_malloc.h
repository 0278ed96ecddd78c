/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_BASE_NO_MALLOC_H
#define GMPSIM_TESTS_BASE_NO_MALLOC_H

/* A failing allocator: between no_malloc_begin and no_malloc_end every malloc, calloc, realloc and
 * aligned variant of the whole process ends the process with a message. Link no_malloc.c into the
 * test program; it replaces the C library's functions. */

#include <stdbool.h>

void no_malloc_begin(void);
void no_malloc_end(void);

/* false when a sanitizer owns the allocator: then nothing is watched, and the case should skip. */
bool no_malloc_works(void);

#endif
