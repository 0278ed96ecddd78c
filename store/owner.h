/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_OWNER_H
#define GMPSIM_STORE_OWNER_H

/* Whoever records a run holds a lock on a byte of the file that belongs to that run, far behind
 * everything that SQLite reads or locks. The kernel takes it away with the process, however that
 * ends: an incomplete run whose byte nobody holds is dead. */

#include <stdbool.h>
#include <stdint.h>

/* -1: locks are not to be had here; nobody is ever taken for dead then. */
int owner_open(const char *path);
/* Only after SQLite's connection is closed: closing any descriptor of a file ends all of SQLite's
 * own locks on it. */
void owner_close(int fd);
void owner_take(int fd, int64_t run);
void owner_release(int fd, int64_t run);
/* Does another process, or another handle of this one, hold it? */
bool owner_is_alive(int fd, int64_t run);

#endif
