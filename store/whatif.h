/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_WHATIF_H
#define GMPSIM_STORE_WHATIF_H

/* Runs of a grid: what is kept of each, in one block of memory that can go through a pipe. */

#include "store/store.h"

enum { WHATIF_POINTS = 5 }; /* p50, p90, p99, p99.9, max */

struct whatif_series {
    char name[64];
    uint64_t count;
    int64_t ns[WHATIF_POINTS];
};

struct whatif_run {
    uint64_t seed, fingerprint;
    int64_t quota_us, makespan_ns, throttled_ns;
    int64_t p_ns[PC_COUNT];
    int32_t release, procs, cpus, complaints, status;
    char verdict[36];
    char complaint[120];           /* the first, "" if there is none */
    struct whatif_series series[]; /* the wait in run queues, then the spans */
};

/* One row per run and series into the table whatif, under one new grid number. */
bool whatif_store(struct store *s, struct failure *f, const char *scenario, const char *file,
                  const void *runs, size_t size, size_t count, size_t nseries);

#endif
