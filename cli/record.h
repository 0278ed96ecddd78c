/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_RECORD_H
#define GMPSIM_CLI_RECORD_H

/* A run that is recorded into a store while it runs, with samples at regular virtual times. */

#include "cli/machine.h"
#include "cli/progress.h"
#include "replay/simtrace.h"
#include "store/export.h"
#include "store/perfetto.h"
#include "store/store.h"

/* Where records go; all may be NULL. */
struct outputs {
    struct store *db;
    bool summary; /* db: no rows per record */
    struct export *jsonl;
    struct perfetto *perfetto;
    struct simtrace *gotrace;
    struct progress_run *progress;
};

/* Like run_all. With a store the caller then calls store_finish; *id is the run's number there. */
bool run_recorded(struct failure *f, struct run *r, const struct machine *m,
                  const struct run_opts *o, struct outputs *out, int64_t *id);

#endif
