/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PROGRAM_PLACE_H
#define GMPSIM_PROGRAM_PLACE_H

/* Where something of a program stands in what it is made from: a scenario file, Go source, a
 * recorded trace, a test. A place is small and costs nothing to make; line and column are counted
 * when somebody complains.
 *
 * A mistake leaves by longjmp to whoever began the work: the message, with file:line:column in
 * front, is in mistakes.f. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/fail.h"

struct source {
    const char *file; /* for messages */
    const char *text; /* NULL: there is none, places have lines alone; text[size] is 0 */
    size_t size;
};

struct place {
    const struct source *in; /* NULL: nowhere */
    uint32_t offset;         /* in the text */
    uint32_t line;           /* from 1; 0: not known */
};

struct mistakes {
    struct failure *f;
    jmp_buf jump; /* set by whoever begins: `if (setjmp(m.jump)) -> failed` */
};

_Noreturn void mistake(struct mistakes *m, struct place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void mistake_of(struct mistakes *m, struct place at, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* What stands there, at most `size` - 1 bytes of one line: a word, a string, or what brackets hold;
 * "" without a text. */
void place_quote(struct place at, char *out, size_t size);

/* The nearest of the names to what was written, or NULL. names ends with NULL. */
const char *nearest(const char *written, const char *const *names);

#endif
