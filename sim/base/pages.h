/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_PAGES_H
#define GMPSIM_SIM_BASE_PAGES_H

/* Large ranges of address space, of which a world uses a little. AddressSanitizer would write the
 * shadow of the whole range at its beginning and end, an eighth of its size: 0.35 s for a world
 * that runs for 0.02 s. So these calls go past it, and whoever unmaps says what was used. */

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, committed as it is touched (usable) or not to be touched (mprotect will say what is).
 * NULL and errno: none. */
void *pages_map(size_t size, bool usable);
/* What was poisoned in this part of a mapping is forgotten: before pages_unmap. */
void pages_used(void *p, size_t size);
/* p may be NULL. */
void pages_unmap(void *p, size_t size);

#endif
