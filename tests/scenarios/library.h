/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_SCENARIOS_LIBRARY_H
#define GMPSIM_TESTS_SCENARIOS_LIBRARY_H

#include <stdint.h>

/* Loads a file of the library, runs it on all its profiles, checks what it expects. */
void library_case(const char *path);
/* Hears what the runs of a file came to when all expectations are met. Who links these cases may
 * have a stronger one: tests/wrong compares a mutant's runs with the model's. */
void library_saw(const char *path, uint64_t fingerprint);
/* Every release of the file breaks what the file expects of another one. */
void pair_case(const char *path);

#endif
