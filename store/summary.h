/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_SUMMARY_H
#define GMPSIM_STORE_SUMMARY_H

/* The tables with a few rows per run: runs, counters, latencies, quantiles, histograms, groups,
 * findings, blocked. SQLite's error is the caller's to read. */

#include "store/store.h"

/* The run's number, 0 after an error. */
int64_t summary_begin(struct sqlite3 *db, const struct store_run *info);
/* Inside of a transaction. Sets complete = 1. */
bool summary_end(struct sqlite3 *db, int64_t run, const struct run_result *r,
                 const char *complaints);

#endif
