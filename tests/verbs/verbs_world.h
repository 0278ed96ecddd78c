/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world on the host at hand, for the tests of the verbs. The bodies know <host.h> and this.
 *
 *     s = verbs_begin(sizeof *s, NULL);         zeroed memory in the world, 64-byte aligned
 *     verbs_thread(fn, &s->x);                  any number; the first is m0
 *     CHECK_EQ(verbs_run(), END_IDLE);        until everybody ended, or somebody ended it
 *     CHECK_EQ(s->y, 3);                        the world stands still: plain reads
 *     verbs_end();
 *
 * A check belongs on the controlling thread, after verbs_run: on a pthread a failed check cannot
 * end the case. verbs_begin ends a world that a failed case left.
 */
#ifndef GMPSIM_VERBS_WORLD_H
#define GMPSIM_VERBS_WORLD_H

#include <host.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/ending.h"

struct verbs_opts {
    uint64_t seed;
    void (*sighandler)(void *arg);
    int64_t quota_us, period_us;
    bool pin;         /* on real threads: the next thread on the next CPU */
    int64_t limit_ns; /* for verbs_run; 0: a time no healthy case needs */
};

enum { VERBS_THREADS_MAX = 64 };

void *verbs_begin(size_t size, const struct verbs_opts *opts);
void verbs_thread(void (*fn)(void *), void *arg);
enum world_end verbs_run(void);
void verbs_end(void);

/* After END_FINDING or END_THROWN. */
int verbs_kind(void);
const char *verbs_text(void);
/* Events of one type that were emitted. */
uint64_t verbs_events(uint32_t type);
/* Time passes by the costs alone, so that a case may say how long something takes at most. */
bool verbs_exact(void);

/* The hostm of the n-th verbs_thread, and spare ones for newosproc behind them. */
struct hostm *verbs_hostm(int n);

#endif
