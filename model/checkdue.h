/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody owes the others, and when it is overdue (struct core's `due`). */
#ifndef MODEL_CHECKDUE_H
#define MODEL_CHECKDUE_H
#include "runtime2.h"
#include "api.h"

static const char *world_due(struct core_due *seen, bool quiet);
#endif
