/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_CIRCLE_H
#define GMPSIM_SEARCH_CIRCLE_H

/* Goroutines that keep locks from each other in a circle. */

#include <stdbool.h>
#include <stddef.h>

struct run_result;

/* Is there, in the explored world as it stands, a circle of goroutines each of which waits for a
 * lock that the next one has? It lasts, whatever anybody else may do. */
bool circle_of_locks(const struct run_result *r, char *text, size_t size); /* who they are */

#endif
