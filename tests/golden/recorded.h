/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_GOLDEN_RECORDED_H
#define GMPSIM_TESTS_GOLDEN_RECORDED_H

/* What real Go printed, as record.sh keeps it. GOLDEN_DIR is tests/golden. */

#include <stddef.h>

#include "scenarios/scenario.h"

/* The text of a file below GOLDEN_DIR; fails the case if there is none. */
void recorded_read(char *buf, size_t size, const char *file);
/* Appends what is kept of a crash report: messages, and goroutines without their ids. */
void recorded_report(char *out, size_t size, const char *text);
/* Calls for each recording of the program, with the file's name below recorded/; how many. */
int recorded_each(const char *program, void (*fn)(void *arg, int release, const char *file),
                  void *arg);

/* A scenario below tests/golden; one that does not load fails the case. */
struct scenario *recorded_scenario(const char *file);

#endif
