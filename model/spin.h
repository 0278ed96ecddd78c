/* SPDX-License-Identifier: BSD-3-Clause */
/* Waking another M when there is work, and giving a P away. */
#ifndef MODEL_SPIN_H
#define MODEL_SPIN_H
#include "runtime2.h"

static inline void nmspinning_dec(void);
static void spun(const struct m *mp, bool found);
static void becomeSpinning(struct m *mp);
static void wakep(void);
static void resetspinning(struct m *mp);
static void wakeNetPoller(int64_t when); /* spin.c */
static void handoffp(struct p *pp);
static void injectglist(struct gList *list);
#endif
