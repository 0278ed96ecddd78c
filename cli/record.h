/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_RECORD_H
#define GMPSIM_CLI_RECORD_H

/* A run that is recorded into a store while it runs, with samples at regular virtual times. */

#include "cli/machine.h"
#include "replay/store.h"

/* Like run_all; with db NULL it is just that. The caller then calls store_finish. summary: no rows
 * per record. Gives the run's number in *id. */
bool run_recorded(struct failure *f, struct run *r, const struct machine *m,
                  const struct run_opts *o, struct store *db, bool summary, int64_t *id);

#endif
