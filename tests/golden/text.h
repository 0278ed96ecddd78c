/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goroutine programs as text, for the golden tests: one statement per line, blocks closed by
 * `end`, `#` begins a comment. Every word has one meaning; text.c holds the table of them.
 *
 *     wg all                            objects: chan NAME CAP, mutex, rwmutex, wg, once, pool
 * NAME, func worker i                     cond NAME MUTEX, var NAME VALUE, fd NAME TIME... print
 * "worker %d" i             a line is printed, the newline is added done all func main last add all
 * 3 loop i 1 3                      from .. to, both included go worker i end wait all
 *
 * Values are integers, durations (2ms, 30us, 1s), variables of the function, names of objects
 * (their handle) and nil. A variable begins to exist where it is first assigned.
 */
#ifndef GMPSIM_TESTS_GOLDEN_TEXT_H
#define GMPSIM_TESTS_GOLDEN_TEXT_H

#include "asm.h"

struct text_opts {
    char rule[64]; /* `rule NAME VALUE` at the top; "" none */
    int64_t value;
    bool prints_p; /* `prints-p` at the top: lines end with the id of the P they are printed on */
};

/* Compiles the file into a. Anything wrong fails the test case with file and line. The strings of
 * the program live until the next call. */
void text_compile(struct as *a, struct text_opts *o, const char *file); /* below GOLDEN_DIR */

#endif
