/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_REPORT_TABLES_H
#define GMPSIM_CLI_REPORT_TABLES_H

/* The tables of a run's report. */

#include "cli/sheet.h"
#include "run/result.h"

enum report_table {
    RT_LATENCY, /* spans as the program names them, lives of groups, the wait in run queues */
    RT_SLOW,    /* where the time of spans went */
    RT_GOROUTINES,
    RT_PS,
    RT_QUOTA,    /* as the kernel's cpu.stat has it */
    RT_COUNTERS, /* those that matter, or all */
    RT_NOT_ENDED,
    REPORT_TABLES
};

/* Ends with NULL. */
extern const char *const report_table_names[REPORT_TABLES + 1];
/* all: every counter, every goroutine. The caller releases it. */
void report_table(struct sheet *s, enum report_table which, const struct run_result *r, bool all);

#endif
