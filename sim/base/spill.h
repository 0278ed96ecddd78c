/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_SPILL_H
#define GMPSIM_SIM_BASE_SPILL_H

/* A table that grows at its end and may be larger than what a process wants to have in memory.
 * While it is small it is memory like any other. From SPILL_FROM bytes on it lies in a file without
 * a name (in TMPDIR, else /var/tmp), mapped, so whoever uses it notices nothing; spill_rest takes
 * out of memory what nobody has touched lately, and it comes back when it is touched. Where no file
 * can be made, or the disk is full, it stays in memory.
 *
 * Whoever goes through such tables says so now and then: spill_is_much, then spill_rest. */

#include <stdbool.h>
#include <stddef.h>

struct spill {
    void *at; /* moves when it grows */
    size_t room;
    int file;     /* + 1; 0: it is in memory */
    bool refused; /* no file: it stays there */
};

/* Room for so many bytes at least; what is new is not said to be anything. */
void spill_grow(struct spill *s, size_t size);
/* All of it out of memory, if it lies in a file. */
void spill_rest(const struct spill *s);
void spill_free(struct spill *s);

/* Is more of this process' files in memory than it should have? */
bool spill_is_much(void);

/* For tests, which have small tables: from so many bytes on; 0: as ever. */
void spill_from(size_t size);

#endif
