/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of the locks, checked on every acquisition. */
#ifndef MODEL_LOCKRANK_H
#define MODEL_LOCKRANK_H
#include "runtime2.h"

static void lockInit(struct mutex *l, enum lockrank rank);
static inline bool lockrank_acquire(struct m *mp, const struct mutex *l);
static COLD void lockrank_ask(struct m *mp, const struct mutex *l);
static inline void lockrank_release(struct m *mp, const struct mutex *l);
#endif
