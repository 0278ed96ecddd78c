/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings made by hand: what a pass reads, without a trace.
 *
 *     rec_new();
 *     uint32_t site = rec_site(LEAF_SLEEP, "main.f");
 *     uint32_t g = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
 *     rec_wait(g, REC_NONE, site, 100, 200);      // waits from 100 to 200, woken by nobody
 *     infer_sleeps(R, &found);
 *
 * Goroutines' tapes get the entries that belong to the waits. */
#ifndef GMPSIM_TESTS_REPLAY_REC_H
#define GMPSIM_TESTS_REPLAY_REC_H

#include "replay/infer.h"
#include "replay/reason.h"
#include "replay/recording.h"

extern struct recording *R;

/* A new one; the one before is freed. */
void rec_new(void);
uint32_t rec_site(enum rec_leaf leaf, const char *func);
uint32_t rec_goroutine(uint32_t creator, const char *name, int64_t born, int64_t ended);
/* Gives the wait's number. It has run again at once when it was woken. */
uint32_t rec_wait(uint32_t g, uint32_t waker, uint32_t site, uint8_t reason, int64_t from,
                  int64_t woken);
void rec_write(uint32_t g, uint32_t site, int64_t from, int64_t until);
void rec_cpu(uint32_t g, int64_t ns);
/* Everything is said: goroutines that ended get their last entry. */
void rec_done(void);

#endif
