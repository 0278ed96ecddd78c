/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_SHARD_H
#define GMPSIM_CLI_SHARD_H

/* A part of the work: "2/8", the second of eight, or "auto", from what Slurm arrays, Kubernetes'
 * indexed Jobs and MPI say in the environment. */

#include <stdbool.h>
#include <stdint.h>

struct shard {
    int64_t index, count; /* from 0; count 0: all of it */
};

/* text NULL: all. Dies. */
struct shard shard_of(const char *text);
/* Is piece number i this part's? */
bool shard_has(const struct shard *s, int64_t i);

#endif
