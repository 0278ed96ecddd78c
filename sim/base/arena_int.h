/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_ARENA_INT_H
#define GMPSIM_SIM_BASE_ARENA_INT_H

/* What arena.c, stackpool.c and checkpoint.c share. */

#include <stddef.h>

struct arena;

/* The failure is recorded; tell the owner. */
void arena_fail_(struct arena *a);

/* Sets used; what was above is zero again if used shrinks. */
void arena_cut_(struct arena *a, size_t used);

/* The world ends: its coroutines are abandoned where they are. The stacks stay mapped. */
void stackpool_forget_(struct arena *a);

#endif
