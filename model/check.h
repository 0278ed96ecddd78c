/* SPDX-License-Identifier: BSD-3-Clause */
/* What world.c asks: is every invariant whole? */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H
#include "runtime2.h"

static bool sched_locked(void);
static const char *world_check(bool quiet);
#endif
