/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_TRACE_RUN_H
#define GMPSIM_CLI_TRACE_RUN_H

/* A recorded trace as a run: summed up, stored, explained as one that was simulated. All end the
 * command when the trace cannot be read, with what trace info says then. */

#include "replay/account.h"
#include "replay/trace.h"
#include "store/store.h"

struct trace_file {
    const char *path; /* a file: it is read more than once */
    bool strict;
};

/* For tracks_open; arg: a struct trace_file. */
struct trace *trace_file_open(struct failure *f, void *arg);

/* The caller closes *a. db: also a run of this store, whose number comes back; NULL: 0. */
int64_t trace_account(struct account *a, const struct trace_file *file, struct store *db);

/* The waits of a goroutine (g17) or of the slowest task or region of a name, in words. */
void trace_explain(const struct trace_file *file, const char *what);

/* For a command that reads a store: the path of one that holds this trace as its only run and is
 * removed when the process ends; of what is no trace the path itself. */
const char *store_of(const char *path);

#endif
