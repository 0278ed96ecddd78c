/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_SCHEMA_H
#define GMPSIM_STORE_SCHEMA_H

/* The tables and views of a database, one format; docs/store.md says what they hold. */

#include <stdbool.h>

#include "sim/base/fail.h"

struct sqlite3;

/* False: f says why, or it says nothing, and SQLite's error is the caller's to read. */

/* Makes the tables of an empty file; a file that holds something else is left alone. */
bool schema_make(struct sqlite3 *db, struct failure *f);
/* Is it a file of this format? */
bool schema_check(struct sqlite3 *db, struct failure *f);

#endif
