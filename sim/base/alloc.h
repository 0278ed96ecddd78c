/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_ALLOC_H
#define GMPSIM_SIM_BASE_ALLOC_H

/* Memory of whoever stands beside a world: the analysis, the store, the command. A world itself has
 * its arena.
 *
 * None of these returns NULL. Without memory x_failed is called: it tells the handler, which must
 * not come back (the library jumps to where the call came from); without a handler it prints a line
 * and ends the process with EXIT_USAGE, as a lack of memory is nobody's mistake but the machine's.
 * Structures are as they were before the call that failed. */

#include <stddef.h>
#include <stdio.h>

void *x_alloc(size_t size); /* zeros */
void *x_grow(void *p, size_t size);
char *x_strdup(const char *text);
/* Room for one more element of a table that has `count` of `room`: at first for `first`, then for
 * twice as many each time. */
#define X_ROOM(table, count, room, first)                                \
    do {                                                                 \
        if ((count) == (room)) {                                         \
            (room) = (room) != 0 ? (room)*2 : (first);                   \
            (table) = x_grow((table), (size_t)(room) * sizeof *(table)); \
        }                                                                \
    } while (0)
/* Room for the element `index`: a table that is too short has `wanted` elements then, the new ones
 * zeros. */
#define X_REACH(table, room, index, wanted)                                 \
    do {                                                                    \
        if ((index) >= (room)) {                                            \
            (table) = x_longer((table), (room), (wanted), sizeof *(table)); \
            (room) = (wanted);                                              \
        }                                                                   \
    } while (0)
void *x_longer(void *p, size_t was, size_t count, size_t size);
/* For those that want malloc's shape: cJSON's hooks. */
void *x_malloc(size_t size);

/* A stream that writes a text of its own into *text (to be freed), which is there and whole when it
 * is closed. */
FILE *x_memstream(char **text, size_t *size);
void x_memstream_close(FILE *f, char **text);

typedef void x_failed_fn(void *arg);
/* NULL: the default. */
void x_on_failure(x_failed_fn *fn, void *arg);
_Noreturn void x_failed(void);

#endif
