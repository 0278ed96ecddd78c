/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_SCHEMA_H
#define GMPSIM_STORE_SCHEMA_H

#include <stdbool.h>

#include "sim/base/fail.h"

struct sqlite3;

/* Makes or migrates the tables; an open write transaction is not needed. */
bool schema_migrate(struct sqlite3 *db, struct failure *f);
/* Can this program read the file's version? */
bool schema_check(struct sqlite3 *db, struct failure *f);

#endif
