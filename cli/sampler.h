/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_SAMPLER_H
#define GMPSIM_CLI_SAMPLER_H

/* Samples of what there is at regular times, for pictures over time: one per virtual microsecond at
 * first, since many a run is short. After so many samples the interval doubles: after few of them
 * below a millisecond, after many from then on. */

#include "run/analysis.h"
#include "store/store.h"

struct sampler {
    struct store *db;
    struct analysis *analysis;
    uint64_t interval_ps, at_ps;
    uint64_t last_ps; /* of the last sample */
    uint64_t before[PC_COUNT], area_before;
    int count; /* since the interval is what it is */
};

void sampler_init(struct sampler *s, struct store *db, struct analysis *a);
/* sample_world: of a world that stands still at this time. sample_known: of a recording, of which
 * only what transitions say is known. */
void sample_world(struct sampler *s, uint64_t now_ps);
void sample_known(struct sampler *s, uint64_t now_ps, int64_t threads);
uint64_t sampler_next(const struct sampler *s);
/* There is something since the last one. */
bool sampler_wants_last(const struct sampler *s, uint64_t end_ps);

#endif
