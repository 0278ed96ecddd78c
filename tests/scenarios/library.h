/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_SCENARIOS_LIBRARY_H
#define GMPSIM_TESTS_SCENARIOS_LIBRARY_H

/* Loads a file of the library, runs it on all its profiles, checks what it expects. */
void library_case(const char *path);
/* Every release of the file breaks what the file expects of another one. */
void pair_case(const char *path);

#endif
