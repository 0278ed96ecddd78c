/* SPDX-License-Identifier: BSD-3-Clause */
/* Called wherever the last running M may be going to sleep, with sched.lock held. */
#ifndef MODEL_CHECKDEAD_H
#define MODEL_CHECKDEAD_H
#include "runtime2.h"

static void checkdead(void);
#endif
