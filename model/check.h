/* SPDX-License-Identifier: BSD-3-Clause */
/* What world.c asks: is every invariant whole? */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H
#include "runtime2.h"

static bool sched_locked(void);
/* Does an M spin, or have a P and no G yet: will it look for work? */
static bool somebody_looks(void);
static const char *world_check(bool quiet);
#endif
