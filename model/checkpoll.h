/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of check.c that looks at timers and the poller. */
#ifndef MODEL_CHECKPOLL_H
#define MODEL_CHECKPOLL_H
#include "runtime2.h"

static const char *check_polling(void);
/* When the first timer of a heap wants to run; 0: none does. */
static int64_t heap_first(const struct timers *ts);
#endif
