/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_GOLDEN_GOLDEN_H
#define GMPSIM_TESTS_GOLDEN_GOLDEN_H

/* Runs scenarios/NAME.json with the profile of every release that NAME was recorded with, and
 * compares what it prints and how it dies with what real Go did. */
void golden(const char *name);

#endif
