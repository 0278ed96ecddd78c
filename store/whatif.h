/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_WHATIF_H
#define GMPSIM_STORE_WHATIF_H

/* Runs of a grid: what is kept of each, in one block of memory that can go through a pipe. */

#include "store/store.h"

enum { WHATIF_POINTS = 5 }; /* p50, p90, p99, p99.9, max */

struct whatif_series {
    uint64_t count;
    uint64_t open, late; /* had not ended; and were slower than was promised already */
    int64_t ns[WHATIF_POINTS];
};

struct whatif_run {
    uint64_t seed, fingerprint;
    int64_t quota_us, makespan_ns, throttled_ns;
    int64_t nr_periods, nr_throttled;
    int64_t p_ns[PC_COUNT];
    int32_t release, procs, cpus, complaints, status;
    char verdict[36];
    char complaint[120];           /* the first, "" if there is none */
    struct whatif_series series[]; /* the wait in run queues, then the spans */
};

/* What the runs of a grid have in common. */
struct whatif_info {
    const char *scenario, *file;
    char **names; /* of the series */
    size_t nseries;
    int64_t warmup_ns;
};

/* One run of a cell. policy: GOMAXPROCS as it was asked for, "" for the scenario's own. */
struct whatif_row {
    const struct whatif_run *run;
    const char *policy;
    int64_t rate_ppm;
};

/* One row per run and series into the table whatif, under one new grid number. */
bool whatif_store(struct store *s, struct failure *f, const struct whatif_info *info,
                  const struct whatif_row *rows, size_t count);

#endif
