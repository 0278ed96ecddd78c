/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_RECORDED_H
#define GMPSIM_CLI_RECORDED_H

/* A database of recorded runs that a command draws: which of the runs, and on stderr a line that
 * shows that it is still being read. */

#include <cjson/cJSON.h>

#include "cli/progress.h"
#include "store/store.h"

struct sqlite3;

struct recorded {
    struct store *store;
    struct progress reading;
};

/* Opens it, or ends the command; `runs` gets the numbers that were named, else the latest's. */
struct sqlite3 *recorded_open(struct recorded *r, const char *path, const struct opt_list *wanted,
                              int64_t *runs, int *nruns, int runs_max);
/* From here on it takes time. */
void recorded_read(struct recorded *r, const char *command);
void recorded_close(struct recorded *r);

cJSON *recorded_runs_json(const int64_t *runs, int nruns);

#endif
