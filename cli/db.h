/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_DB_H
#define GMPSIM_CLI_DB_H

/* A store as commands open it. */

#include "store/store.h"

/* For a table of options. to: int64_t, ns */
#define DB_WAIT_OPT(to)                                                                     \
    {                                                                                       \
        "db-wait", "TIME", "so long for another process that locks the store (default 5m)", \
            OPT_LENGTH, &(to)                                                               \
    }

/* To add to. Dies with the reason if that cannot be, soon; what is to be added later waits for
 * other processes for wait_ns (0: five minutes) and says so on stderr. */
struct store *db_to_write(const char *path, int64_t wait_ns);
struct store *db_to_read(const char *path);
/* A name for what cannot be written to path. The caller frees it. */
char *db_other_name(const char *path);

#endif
