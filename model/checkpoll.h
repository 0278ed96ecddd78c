/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of check.c that looks at timers and the poller. */
#ifndef MODEL_CHECKPOLL_H
#define MODEL_CHECKPOLL_H
#include "runtime2.h"

static const char *check_polling(void);
#endif
